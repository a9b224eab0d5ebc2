"""What is remarked of rows that training had nothing like: ranges and levels are recomputed from the rows, and what
hardly occurred together is made so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likely

BEYOND = "height is beyond training ({:.12g} to {:.12g})"
TOGETHER = "its values hardly occurred together"


@pytest.fixture(scope="module")
def table() -> dict[str, list[Any]]:
    """Height and weight follow each other, and kinds of hair go with them."""
    rng = np.random.default_rng(4)
    height = np.round(rng.normal(size=600), 2)
    weight = np.round(3 * height + rng.normal(scale=0.2, size=600), 2)
    hair = np.where(height > 0.3, "long", np.where(height < -0.3, "short", "none"))
    wins = np.where(height * rng.normal(1, 0.5, 600) + rng.normal(scale=0.5, size=600) > 0, "yes", "no")
    return {"height": [*height], "weight": [*weight], "hair": [*map(str, hair)], "wins": [*map(str, wins)]}


@pytest.fixture(scope="module", params=["default", "naive", "logistic"])
def model(request: pytest.FixtureRequest, table: dict[str, list[Any]]) -> likely.Model:
    learner = {"default": None, "naive": likely.NaiveBayes(), "logistic": likely.Logistic()}[request.param]
    return likely.fit(table, "wins", learner)


def test_ranges_are_those_of_training(model: likely.Model, table: dict[str, list[Any]]) -> None:
    low, high = min(table["height"]), max(table["height"])
    told = BEYOND.format(low, high)
    rows = {"height": [low, low - 0.01, high, high + 5, None], "weight": [0.0] * 5, "hair": ["none"] * 5}
    found = [text.split("; ")[0] for text in likely.remarks(model, rows)]
    assert [text.replace(TOGETHER, "") for text in found] == ["", told, "", told, ""]
    ledger = likely.explain(model, {"height": high + 5})
    assert f"height={high + 5:.12g} is beyond all values of training ({low:.12g} to {high:.12g})." in ledger.remarks
    assert not any("beyond" in remark for remark in likely.explain(model, {"height": high}).remarks)


def test_levels_that_training_did_not_have(model: likely.Model) -> None:
    assert likely.remarks(model, {"hair": ["long", "green", None]})[1] == "hair has a level that training did not have"


def test_what_hardly_occurs_together(table: dict[str, list[Any]]) -> None:
    """A tall one that weighs little, and hair that does not go with height; with one value known nothing is unlike."""
    model = likely.fit(table, "wins")
    row = {"height": [1.5, 1.5, -1.5, 1.5, None], "weight": [4.5, -4.5, None, None, None]}
    row["hair"] = ["long", "long", "long", None, "long"]  # type: ignore[list-item]
    assert likely.remarks(model, row) == ["", TOGETHER, TOGETHER, "", ""]
    said = likely.explain(model, {"height": 1.5, "weight": -4.5}).remarks
    assert "These values hardly occurred together in training: take this answer with care." in said


def test_rows_of_training_are_seldom_unlike(table: dict[str, list[Any]]) -> None:
    found = likely.remarks(likely.fit(table, "wins"), table)
    assert len(found) == 600
    assert sum(text != "" for text in found) <= 12
