"""The held-out engine: what is said of a row comes from rows of other parts alone, by whichever learner."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likely
from likely.errors import SettingError
from likely.intake.summarize import row_sweeper
from likely.models.heldout.search import HeldOutParts, keep_rows, log_posterior
from likely.models.learning import run
from likely.table.open import open_source

ROWS, PARTS = 240, 4


def some_table(seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], ROWS, p=[0.6, 0.38, 0.02])
    return {"x": rng.normal(size=ROWS) + (y == "a"), "k": np.where(rng.random(ROWS) < 0.7, y, "b"), "y": y}


def kept(table: dict[str, Any], requests: tuple[str, ...] = ()) -> tuple[likely.Summary, HeldOutParts]:
    summary = likely.summarize(table, "y", types={"x": "number"}, more=requests)
    rows = run(keep_rows(summary, PARTS), row_sweeper(open_source(table), summary))
    return summary, HeldOutParts.of(summary, rows, requests)


def without(table: dict[str, Any], parts: HeldOutParts, part: int) -> dict[str, Any]:
    """The rows of a table that are not in a part, which goes by what rows hold."""
    place = {float(x): int(p) for x, p in zip(parts.rows.batch.cells["x"], parts.rows.part, strict=True)}
    mine = np.array([place[float(x)] != part for x in table["x"]])
    return {name: column[mine] for name, column in table.items()}


@pytest.mark.parametrize("learner", [likely.NaiveBayes(), likely.Neighbors(k=5), likely.Logistic(numbers="binned")])
def test_a_part_is_scored_by_the_model_of_the_others(learner: Any) -> None:
    table = some_table()
    schema = likely.summarize(table, "y", types={"x": "number"}).schema
    summary, parts = kept(table, tuple(learner.needs(schema)))
    assert list(parts.training) == list(range(PARTS)) and len(parts.rows) == ROWS
    places = parts.places()
    assert sorted(places.tolist()) == list(range(ROWS))

    def logs(model: Any, batch: Any, truth: Any) -> Any:
        return log_posterior(model, batch, summary.classes)

    (found,) = parts.scores([learner], places, logs, lambda h: SettingError("improper"))
    evidence, same = parts.evidence(learner, places)
    assert same is learner
    for part, own in parts.training.items():
        rest = without(table, parts, part)
        model = likely.fit(rest, learner=learner, schema=summary.schema)
        assert own.total == model.summary.total and own.columns == model.summary.columns
        inside = parts.rows.part[places] == part
        wanted = log_posterior(model, parts.rows.take(places[inside]).batch, summary.classes)
        np.testing.assert_allclose(found[inside], wanted, rtol=1e-9, atol=1e-9)
        share = np.array([np.mean(rest["y"] == c) for c in summary.classes])
        known = share > 0
        np.testing.assert_allclose(
            evidence[inside][:, known], (wanted - np.log(np.where(known, share, 1.0)))[:, known], rtol=1e-9, atol=1e-9
        )


def test_a_class_that_no_other_part_has_is_not_known() -> None:
    table = some_table()
    table["y"][0] = "z"
    _, parts = kept(table)
    odd = parts.classes.index("z")
    assert not parts.known[parts.rows.group == odd].any() and parts.known[parts.rows.group != odd].all()
    assert set(parts.sample(3).tolist()) == set(np.flatnonzero(parts.known).tolist())


def test_parts_are_taken_from_the_sums_of_more_rows() -> None:
    table, other = some_table(), some_table(1)
    summary, parts = kept(table)
    more = summary + likely.summarize(other, schema=summary.schema)
    taken = HeldOutParts.of(summary, parts.rows, whole=more)
    for part, own in taken.training.items():
        rest = likely.summarize(without(table, parts, part), schema=summary.schema)
        assert own == rest + likely.summarize(other, schema=summary.schema)
    alone = HeldOutParts.of(summary, parts.rows.take(np.flatnonzero(parts.rows.part == 0)))
    assert not alone.training and not len(alone.places())


def test_scores_that_are_no_probabilities_are_refused() -> None:
    table = some_table()
    _, parts = kept(table, ("products",))
    with pytest.raises(SettingError, match="improper 1"):
        parts.scores(
            [likely.NaiveBayes(), likely.LeastSquares()],
            parts.places(),
            lambda model, batch, truth: model.log_joint(batch),
            lambda h: SettingError(f"improper {h}"),
        )
