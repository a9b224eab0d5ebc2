"""All folds searched together find what each finds alone: the maximum is unique, and both stop within a hair of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likely
from likely import Logistic
from likely.evaluate.crossval.dealing import deal_stratified, k_fold
from likely.evaluate.crossval.folds import LookAtLessons, sum_folds
from likely.evaluate.crossval.validate import FoldedRows, teach_folds, validate
from likely.intake import engine as holding
from likely.intake.reading import Reading
from likely.intake.schema import draft_schema
from likely.models.learning import in_step, learning, run
from likely.models.linear import newton
from likely.table.open import open_source

TYPES = {"x": "number", "z": "number", "far": "number", "k": "nominal", "rare": "nominal"}


def some_table(seed: int, rows: int = 600) -> dict[str, Any]:
    """Missing cells, a mean far above the spread, rare levels, a level of one row, row weights."""
    rng = np.random.default_rng(seed)
    y = rng.choice(list("abc"), rows, p=[0.5, 0.3, 0.2])
    x = rng.normal(size=rows) + (y == "a")
    far = 1e9 + rng.normal(size=rows) + (y == "b")
    k = np.array([f"l{min(int(v), 5)}" for v in rng.exponential(size=rows) + (y == "c")], object)
    k[rng.random(rows) < 0.1] = None
    rare = np.array(["usual"] * (rows - 3) + ["odd", "odd", "once"], object)
    x[rng.random(rows) < 0.1] = np.nan
    z = rng.normal(size=rows)
    z[5] = np.nan  # missing in one fold alone
    return {"x": x, "z": z, "far": far, "k": k, "rare": rare, "w": rng.integers(0, 5, rows) / 2, "y": y}


def searched(table: dict[str, Any], learner: Logistic, folds: int = 5, threads: int = 2) -> tuple[Any, Any, Any]:
    """The models that all folds find together, those that cross-validation found, and those of each fold alone."""
    reading = Reading("y", types={n: t for n, t in TYPES.items() if n in table}, weight="w", threads=threads)
    source = open_source(table)
    sums = sum_folds(source, draft_schema(source, reading), reading, deal_stratified(folds, 0))
    rows = FoldedRows(source, sums.total, reading, deal_stratified(folds, 0))
    training = [sums.rest(k) for k in range(folds)]
    models, refused = teach_folds(rows, {"it": learner}, sums)
    assert not refused
    seen = np.pad(k_fold(folds).seen, ((0, 0), (0, 1)))
    begun = {("it", k): learning(learner, s) for k, s in enumerate(training)}
    alone = run(in_step(begun), lambda wanted: rows.sum_pieces(LookAtLessons(wanted, seen, tuple(training))))
    steps = learner.learn_folds(sums.total, training)
    together = None if steps is None else run(steps, rows.fold_sweeper())
    return together, models["it"], [alone["it", k] for k in range(folds)]


@pytest.mark.parametrize("ridge", [1.0, 0.01, 30.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_together_is_alone(seed: int, ridge: float) -> None:
    found, together, alone = searched(some_table(seed), Logistic(ridge=ridge))
    assert found is not None and (len(found) == 5 or ridge < 1)  # steps along chords may come near too slowly
    for one, other in zip(together, alone, strict=True):
        assert one.weights.shape == other.weights.shape and one.notes == other.notes
        np.testing.assert_allclose(one.weights, other.weights, rtol=1e-6, atol=1e-7)
        assert one.facts["log_likelihood"] == pytest.approx(other.facts["log_likelihood"], rel=1e-6)


def test_most_folds_need_no_search_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    plain = newton._newton_sums
    monkeypatch.setattr(newton, "_newton_sums", lambda *given: looks.append(1) or plain(*given))
    likely.compare(some_table(3), "y", {"it": Logistic()}, types=TYPES, weight="w")
    assert not looks


def test_threads_change_no_bit() -> None:
    table = some_table(4, 40_000)
    one, three = (searched(table, Logistic(), 4, threads)[1] for threads in (1, 3))
    assert all(a.weights.tobytes() == b.weights.tobytes() for a, b in zip(one, three, strict=True))


def test_rows_that_are_read_again_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    table = some_table(5, 40_000)
    learners = {"it": Logistic(), "near": likely.LeastSquares(), "alone": Logistic(ridge=0.0)}
    kept = likely.compare(table, "y", learners, types=TYPES, weight="w", folds=3).json()
    monkeypatch.setattr(holding, "MOST_BYTES", 0)
    assert likely.compare(table, "y", learners, types=TYPES, weight="w", folds=3).json() == kept


def test_what_cannot_be_done_together_is_done_alone() -> None:
    table = some_table(6, 200)
    assert searched(table, Logistic(ridge=0.0))[0] is None
    assert searched(table, Logistic(max_sweeps=3))[0] is None
    # One number so far out that the spread of its column is its own: the other folds know the column otherwise.
    table["z"][0] = 1e12
    found, together, alone = searched(table, Logistic())
    assert found is None or len(found) < 5
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one.weights, other.weights, rtol=1e-6, atol=1e-7)
    # A class of one row: the fold that has it has no such class to learn.
    table = some_table(7, 200)
    table["y"] = np.array(["single", *table["y"][1:]])
    table["w"][0] = 1.0
    found, together, alone = searched(table, Logistic())
    assert found is not None and len(found) == 4
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one.weights, other.weights, rtol=1e-6, atol=1e-7)


def test_notes_of_folds_are_told() -> None:
    table = {"x": [1.0, 2.0, 3.0, 11.0, 12.0, 13.0] * 4, "y": list("aaabbb") * 4}
    source, reading = open_source(table), Reading("y", {"x": "number"})
    learners = {"held": Logistic(), "free": Logistic(ridge=0.0), "early": Logistic(max_sweeps=2)}
    found = validate(source, draft_schema(source, reading), reading, learners, 4, 0)
    only = "The classes are perfectly separable: only the ridge penalty keeps the weights finite."
    assert found.notes["held"] == (only,)
    assert "no finite weights" in found.notes["free"][0] and "stopped after 2 sweeps" in found.notes["early"][0]
    record = likely.look(table, "y", Logistic(), types={"x": "number"}, folds=4)
    assert any("perfectly separable" in note for note in record.notes)
