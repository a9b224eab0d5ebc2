"""What is announced on held-out rows is what the model that is made would say of such rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import likely


def table(rows: int, seed: int, outlier: float | None = None) -> dict[str, list[Any]]:
    """Two classes that overlap; with an outlier, the first row is far from all others, and of the class that a normal
    density learned without it holds impossible there."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b"], rows)
    x = rng.normal(size=(rows, 3)) + np.where(y == "a", 0, 1.2)[:, None] * np.array([1, 0.8, 0])
    if outlier is not None:
        x[0, :2], y[0] = outlier, "a"
    return {**{f"x{k}": x[:, k].tolist() for k in range(3)}, "y": y.tolist()}


FRESH = table(4000, 99)


def log_loss(model: Any, rows: dict[str, list[Any]]) -> float:
    said = model.posterior(rows)
    own = said.matrix[np.arange(len(rows["y"])), [said.classes.index(label) for label in rows["y"]]]
    return float(-np.log(own).mean())


@pytest.mark.parametrize("outlier", [30.0, 200.0, 2000.0])
def test_one_outlier_does_not_decide_what_is_announced(outlier: float) -> None:
    """It was 17.6, 8,093 and 390,761 nats, and of these rows, when outliers were told by what is announced, 150 nats at
    2000, where .56 is true."""
    model = likely.fit(table(120, 7, outlier), "y")
    assert model.held_out is not None
    assert -model.held_out.score == pytest.approx(log_loss(model, FRESH), abs=0.1)
    assert log_loss(model, {k: v[:1] for k, v in table(120, 7, outlier).items()}) < 25, "nor is it impossible to it"


def test_one_outlier_changes_little_of_what_is_announced() -> None:
    """Of a lucky sample (.39 is announced, .59 is true) as well: one row of 120 costs no more than what members may
    say, 25 nats, and it took thousands before."""
    plain, odd = likely.fit(table(120, 1), "y"), likely.fit(table(120, 1, 200.0), "y")
    assert plain.held_out is not None and odd.held_out is not None
    assert odd.held_out.score == pytest.approx(plain.held_out.score, abs=25 / 120)


def test_look_and_fit_announce_the_same() -> None:
    record, model = likely.look(table(120, 1, 200.0), "y"), likely.fit(table(120, 1, 200.0), "y")
    assert record.scores.log_loss is not None and model.held_out is not None
    assert record.scores.log_loss == pytest.approx(-model.held_out.score / math.log(2), rel=1e-9)
    assert record.scores.accuracy == pytest.approx(model.held_out.hits)


def test_naive_bayes_beside_it_is_announced_as_it_is() -> None:
    """The outlier is nearly impossible to naive Bayes, which has no weights: its log loss says so, without a floor."""
    record = likely.look(table(120, 1, 2000.0), "y")
    beside = record.baselines.naive_bayes
    assert beside is not None and (beside.log_loss is None or beside.log_loss > 1000)
