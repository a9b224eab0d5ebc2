"""Sums of logistic regression against plain arithmetic on a dense design; equations against numpy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.models.linear import squares
from likely.models.linear.softmax import Sheet, gradient_sums, hessian_matrix, hessian_size
from likely.models.linear.squares import cholesky_factor, cholesky_solve


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
