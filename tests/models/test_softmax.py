"""Gradients, curvature and steps of linear models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import likely
from likely import Logistic
from likely.errors import SettingError
from likely.evaluate.crossval.dealing import deal_stratified, k_fold
from likely.evaluate.crossval.folds import LookAtLessons, sum_folds
from likely.evaluate.crossval.validate import FoldedRows, teach_folds, validate
from likely.intake import engine as holding
from likely.intake.reading import Reading
from likely.intake.schema import draft_schema
from likely.models.learning import in_step, learning, run
from likely.models.linear import logistic, newton, squares
from likely.models.linear import newton as climbing
from likely.models.linear.softmax import Sheet, gradient_sums, hessian_matrix, hessian_size
from likely.models.linear.squares import cholesky_factor, cholesky_solve
from likely.models.shapes import REACH
from likely.table.open import open_source


def some_sheet(rng: np.random.Generator, rows: int, numbers: int, levels: tuple[int, ...], classes: int) -> Sheet:
    dense = np.concatenate([np.ones((rows, 1)), rng.normal(size=(rows, numbers))], axis=1)
    codes = np.array([rng.integers(0, n + 1, rows) for n in levels], np.int32).reshape(len(levels), rows)
    own = rng.integers(0, classes, rows).astype(np.int32)
    return Sheet(dense, codes, levels, own, rng.integers(1, 8, rows) / 4)


def as_matrix(sheet: Sheet) -> np.ndarray:
    blocks = [np.eye(n + 1)[codes][:, :n] for codes, n in zip(sheet.codes, sheet.levels, strict=True)]
    return np.concatenate([sheet.dense, *blocks], axis=1)


@given(
    seed=st.integers(0, 1000),
    rows=st.sampled_from([0, 1, 7, 5000]),
    numbers=st.integers(0, 4),
    levels=st.sampled_from([(), (1,), (3, 0), (2, 5, 3)]),
    classes=st.integers(2, 4),
    sets=st.sampled_from([1, 3]),
)
def test_sums_are_those_of_a_dense_design(
    seed: int, rows: int, numbers: int, levels: tuple[int, ...], classes: int, sets: int
) -> None:
    rng = np.random.default_rng(seed)
    sheet = some_sheet(rng, rows, numbers, levels, classes)
    x = as_matrix(sheet)
    others, size = classes - 1, x.shape[1]
    theta = rng.normal(size=(size, others, sets)) * rng.choice([0.0, 1.0, 30.0])
    hessian = np.zeros(hessian_size(1 + numbers, levels, others)) if sets == 1 else None
    ends, gradient = gradient_sums(sheet, theta, hessian)
    for k in range(sets):
        scores = np.concatenate([np.zeros((rows, 1)), x @ theta[:, :, k]], axis=1)
        logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        true = logs[np.arange(rows), sheet.own]
        assert ends[0, k] == pytest.approx(sheet.weight @ true, rel=1e-10, abs=1e-10)
        rest = np.where(np.arange(classes) == sheet.own[:, None], -np.inf, scores).max(axis=1, initial=-np.inf)
        assert ends[1, k] == np.count_nonzero(scores[np.arange(rows), sheet.own] <= rest)
        share = np.exp(logs)
        left = (np.eye(classes)[sheet.own] - share) * sheet.weight[:, None]
        np.testing.assert_allclose(gradient[:, :, k], x.T @ left[:, 1:], rtol=1e-9, atol=1e-9)
        if hessian is not None:
            found = hessian_matrix(hessian, 1 + numbers, levels, others)
            for a in range(others):
                for b in range(others):
                    by = sheet.weight * share[:, a + 1] * ((a == b) - share[:, b + 1])
                    np.testing.assert_allclose(found[a, b], x.T @ (x * by[:, None]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [1, 2, 50, squares.SMALL + 1])
def test_equations(size: int) -> None:
    rng = np.random.default_rng(size)
    half = rng.normal(size=(size, size))
    matrix, right = half @ half.T + np.eye(size), rng.normal(size=size)
    before = matrix.copy()
    factor = cholesky_factor(matrix)
    assert factor is not None
    np.testing.assert_array_equal(matrix, before)
    np.testing.assert_allclose(cholesky_solve(factor, right), np.linalg.solve(matrix, right), rtol=1e-8, atol=1e-10)
    for count in (1, 3, 4, 9):
        many = rng.normal(size=(size, count))
        each = [cholesky_solve(factor, np.ascontiguousarray(column)) for column in many.T]
        np.testing.assert_array_equal(cholesky_solve(factor, many), np.stack(each, axis=1))  # to the bit
    matrix[-1, -1] = -1.0
    assert cholesky_factor(matrix) is None
    matrix[-1, -1] = np.nan
    assert size > squares.SMALL or cholesky_factor(matrix) is None


# Logistic regression with squares, products and bins, and by gradients: the maximum that scikit-learn finds, too.


def numbers(rows: int = 400, seed: int = 0) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(3, rows))
    score = np.stack([x[0] * x[1], x[2] ** 2 - 1, np.zeros(rows)]) + rng.gumbel(size=(3, rows)) / 2
    return {**{f"n{k}": x[k].tolist() for k in range(3)}, "t": [("a", "b", "c")[k] for k in score.argmax(axis=0)]}


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(climbing, "LEAST_DECREMENT", 1e-10)


@pytest.mark.usefixtures("exact")
def test_squares_reach_the_maximum_that_scikit_learn_finds() -> None:
    data = numbers()
    model = likely.fit(data, "t", likely.Logistic(numbers="squares", ridge=2.0))
    x = np.stack([data[f"n{k}"] for k in range(3)], axis=1)
    z = np.clip((x - x.mean(axis=0)) / x.std(axis=0), -REACH, REACH)
    columns = [z, z * z, *((z[:, i] * z[:, j])[:, None] for i in range(3) for j in range(i + 1, 3))]
    design = np.concatenate(columns, axis=1)
    scaled = design / design.std(axis=0)
    other = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000).fit(scaled, data["t"])
    np.testing.assert_allclose(model.posterior(data).matrix, other.predict_proba(scaled), atol=1e-4)


@pytest.mark.usefixtures("exact")
def test_bins_reach_the_maximum_that_scikit_learn_finds() -> None:
    data = numbers()
    model: Any = likely.fit(data, "t", likely.Logistic(numbers="binned", ridge=2.0))
    blocks = [np.searchsorted(part.starts, data[part.name], side="right") for part in model.parts]
    hot = np.concatenate([np.eye(8)[b] for b in blocks], axis=1)
    assert all(np.bincount(b).min() >= 49 for b in blocks)
    other = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000).fit(hot, data["t"])
    np.testing.assert_allclose(model.posterior(data).matrix, other.predict_proba(hot), atol=1e-4)


@pytest.mark.usefixtures("exact")
def test_steps_by_gradients_end_where_newton_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {**numbers(), "c": [f"l{k % 30}" for k in range(400)]}
    newton = likely.fit(data, "t", likely.Logistic())
    monkeypatch.setattr(logistic, "QUICK", 1)
    steps = likely.fit(data, "t", likely.Logistic(tolerance=1e-10))
    assert steps.search_state()["facts"]["sweeps"] > newton.search_state()["facts"]["sweeps"]
    np.testing.assert_allclose(steps.posterior(data).matrix, newton.posterior(data).matrix, atol=1e-4)


def test_kept_rows_and_sweeps_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {**numbers(), "c": [f"l{k % 5}" for k in range(400)]}
    learner = likely.Logistic(numbers="squares")
    kept = likely.fit(data, "t", learner).posterior(data).matrix
    monkeypatch.setattr(climbing, "KEPT", 0)
    np.testing.assert_array_equal(likely.fit(data, "t", learner).posterior(data).matrix, kept)


def test_many_columns_are_measured_by_the_diagonal(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {**numbers(), "c": [f"l{k % 5}" for k in range(400)]}
    learner = likely.Logistic(numbers="binned")
    whole = likely.fit(data, "t", learner).posterior(data).matrix
    monkeypatch.setattr(climbing, "WIDEST", 3)
    np.testing.assert_allclose(likely.fit(data, "t", learner).posterior(data).matrix, whole, atol=0.01)


@pytest.mark.parametrize("how", ["squares", "binned"])
def test_terms_add_up_missing_cells_are_known_and_files_keep_all(how: Any, tmp_path: Path) -> None:
    data = {**numbers(), "c": [None if k % 7 == 0 else f"l{k % 5}" for k in range(400)]}
    data["n0"] = [None if k % 5 == 0 else v for k, v in enumerate(data["n0"])]
    model = likely.fit(data, "t", likely.Logistic(numbers=how))
    asked = {"n0": [0.5, None, 1e300, np.inf], "n1": [None, 1.0, -1e300, 2.0], "c": ["new", None, "l1", "l2"]}
    (batch,) = model.batches(asked)
    terms = model.terms(batch)
    total = terms.array[:, 0].copy()
    for k in range(1, len(terms.names)):
        total = total + terms.array[:, k]
    np.testing.assert_allclose(total, model.log_joint(batch), atol=1e-12)
    assert set(terms.names[1:-1]) >= {"n0", "n1", "n2", "c"}
    np.testing.assert_allclose(model.posterior(asked).matrix.sum(axis=1), 1)
    model.save(tmp_path / "m.likely")
    np.testing.assert_array_equal(
        likely.load(tmp_path / "m.likely").posterior(asked).matrix, model.posterior(asked).matrix
    )
    assert "Weights" in model.exhibits()[0].title


def test_squares_without_ridge_are_refused() -> None:
    with pytest.raises(SettingError, match="needs ridge above 0"):
        likely.Logistic(numbers="squares", ridge=0)
    with pytest.raises(SettingError, match="one of linear, squares, binned"):
        likely.Logistic(numbers="cubes")  # type: ignore[arg-type]


# All folds searched together find what each finds alone: the maximum is unique, and both stop within a hair of it.


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
