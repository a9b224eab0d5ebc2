"""What rows say of weights of logistic regression: log-likelihood, gradient and Hessian. Knows arrays, no search.

Several sets of weights are looked at together (those of all folds, say), so that BLAS has something to multiply. A
level is an index: it costs one addition for each set of weights, however many levels its attribute has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats, Ints, Longs
from likely.machinery.jit import kernel
from likely.models import kernels
from likely.sums.rows.products import tiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST, MOST, ROOM = 32, 2048, 1 << 18
"""Rows looked at together: so many that what is made of them, at most ROOM numbers, stays in the processor's cache."""


@dataclass(frozen=True)
class Sheet:
    """Some rows: `dense` (rows, columns that are numbers, the first 1 throughout), `codes` (nominal attributes, rows)
    with `levels` of them each, the code `levels` meaning none; class and weight of each row."""

    dense: NDArray[np.float64]
    codes: NDArray[np.int32]
    levels: tuple[int, ...]
    own: NDArray[np.int32]
    weight: NDArray[np.float64]

    @property
    def rows(self) -> int:
        return len(self.own)

    def sliced(self, rows: slice) -> Sheet:
        codes = np.ascontiguousarray(self.codes[:, rows])
        return Sheet(self.dense[rows], codes, self.levels, self.own[rows], self.weight[rows])


@kernel("f8[][], i4[], i8, f8[][], f8[][], f8[][], i8[]")
def _centred(scores: Floats, own: Ints, sets: int, first: Floats, true: Floats, second: Floats, wrong: Longs) -> None:
    """Scores relative to the largest of the row (and set); `first` is that of the class without weights, 0 before.

    `true` is that of the row's own class, and wrong[k] counts rows in which it is not larger than all others.
    """
    others = scores.shape[1] // sets
    for i in range(own.size):
        for k in range(sets):
            first[i, k] = 0.0
            true[i, k] = 0.0
            second[i, k] = 0.0
        if own[i] == 0:
            for k in range(sets):
                second[i, k] = -np.inf
        for c in range(others):
            at = c * sets
            if own[i] == c + 1:
                for k in range(sets):
                    true[i, k] = scores[i, at + k]
            else:
                for k in range(sets):
                    second[i, k] = max(second[i, k], scores[i, at + k])
        for k in range(sets):
            if not true[i, k] > second[i, k]:
                wrong[k] += 1
            top = max(true[i, k], second[i, k])
            first[i, k] = -top
            true[i, k] -= top
            second[i, k] = top
        for c in range(others):
            at = c * sets
            for k in range(sets):
                scores[i, at + k] -= second[i, k]


@kernel("f8[][], f8[][], f8[][], i4[], f8[], i8, f8[]")
def _residuals(share: Floats, total: Floats, true: Floats, own: Ints, weight: Floats, sets: int, value: Floats) -> None:
    """exp(scores) become weight * (1 in the row's own class, less the probability); `total` holds logs of sums by now
    and comes with the reciprocals behind them; value[k] gets what the rows' log-probabilities weigh."""
    others = share.shape[1] // sets
    for i in range(own.size):
        w = weight[i]
        for k in range(sets):
            value[k] += w * (true[i, k] - total[i, k])
        for c in range(others):
            at = c * sets
            mine = 1.0 if own[i] == c + 1 else 0.0
            for k in range(sets):
                share[i, at + k] = w * (mine - share[i, at + k] * total[i, sets + k])


@kernel("f8[][], f8[][], i8")
def _totals(share: Floats, total: Floats, sets: int) -> None:
    """total[i] = for each set the sum over classes, begun with that of the first; behind it, its reciprocal."""
    others = share.shape[1] // sets
    for i in range(share.shape[0]):
        for c in range(others):
            at = c * sets
            for k in range(sets):
                total[i, k] += share[i, at + k]
        for k in range(sets):
            total[i, sets + k] = 1.0 / total[i, k]


@kernel("i4[], f8[][], f8[][]")
def add_rows(codes: Ints, rows: Floats, out: Floats) -> None:
    """out[code of i] += rows[i]."""
    for i in range(np.uint64(codes.size)):
        c = np.uint64(codes[i])
        for k in range(np.uint64(rows.shape[1])):
            out[c, k] += rows[i, k]


@kernel("f8[][], f8[], f8[][]")
def _class_hessians(share: Floats, weight: Floats, out: Floats) -> None:
    """out[i] = weight * p_a * ([a = b] - p_b) for all classes a <= b but the first."""
    for i in range(weight.size):
        at = 0
        for a in range(share.shape[1]):
            for b in range(a, share.shape[1]):
                out[i, at] = weight[i] * share[i, a] * ((1.0 if a == b else 0.0) - share[i, b])
                at += 1


@kernel("f8[][], f8[][], f8[][]")
def _spread(dense: Floats, hessians: Floats, out: Floats) -> None:
    """out[i] = all products of a dense column with a bend."""
    size = hessians.shape[1]
    for i in range(dense.shape[0]):
        for j in range(dense.shape[1]):
            x = dense[i, j]
            for k in range(size):
                out[i, j * size + k] = x * hessians[i, k]


def split_weights(theta: NDArray[np.float64], dense: int, levels: Sequence[int]) -> list[NDArray[np.float64]]:
    """Weights (columns, outputs): those of dense columns, then those of each nominal attribute with a row of 0 more."""
    out, at = [np.ascontiguousarray(theta[:dense])], dense
    for count in levels:
        out.append(np.concatenate([theta[at : at + count], np.zeros((1, theta.shape[1]))]))
        at += count
    return out


def _product(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """left @ right by BLAS in this thread alone: it calls others for products of more steps than this."""
    return left @ right if left.size * right.shape[1] <= 1 << 18 else tiled(left, right)


def gradient_sums(
    sheet: Sheet, theta: NDArray[np.float64], hessian: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(ends, gradient) of weights (columns, classes but one, sets). With `hessian`, which is for a single set, what the
    rows add to the Hessian, as `hessian_matrix` reads it, is added there."""
    size, others, sets = theta.shape
    weights = split_weights(theta.reshape(size, others * sets), sheet.dense.shape[1], sheet.levels)
    sums = [np.zeros_like(part) for part in weights]
    ends = np.zeros((2, sets))
    pairs = others * (others + 1) // 2
    wide = others * sets if hessian is None else sheet.dense.shape[1] * pairs
    step = ROOM // (wide if hessian is not None else wide * sheet.dense.shape[1])
    step = min(max(step if step > MOST // 4 else ROOM // wide, LEAST), MOST)
    views = None if hessian is None else hessian_blocks(hessian, sheet.dense.shape[1], sheet.levels, pairs)
    for start in range(0, sheet.rows, step):
        some = sheet.sliced(slice(start, start + step))
        scores = _product(some.dense, weights[0])
        for codes, table in zip(some.codes, weights[1:], strict=True):
            kernels.add_levels(codes, table, scores)
        total, true, top = np.empty((some.rows, 2 * sets)), np.empty((some.rows, sets)), np.empty((some.rows, sets))
        first, wrong = np.empty((some.rows, sets)), np.zeros(sets, np.int64)
        _centred(scores, some.own, sets, first, true, top, wrong)
        ends[1] += wrong
        np.exp(scores, out=scores)
        total[:, :sets] = np.exp(first)
        _totals(scores, total, sets)
        if views is not None:
            _add_hessian(some, scores * total[:, sets:], views, pairs)
        total[:, :sets] = np.log(total[:, :sets])
        value = np.zeros(sets)
        _residuals(scores, total, true, some.own, some.weight, sets, value)
        ends[0] += value
        sums[0] += _product(some.dense.T, scores)
        for codes, out in zip(some.codes, sums[1:], strict=True):
            add_rows(codes, scores, out)
    whole = np.concatenate([sums[0], *(part[:-1] for part in sums[1:])])
    return ends, whole.reshape(size, others, sets)


# -- the Hessian ----------------------------------------------------------------------------------------------


def hessian_size(dense: int, levels: Sequence[int], others: int) -> int:
    """How many sums there are of products of two columns with a pair of classes."""
    every = dense * dense + sum((a + 1) * dense for a in levels)
    every += sum((a + 1) * (b + 1) for k, a in enumerate(levels) for b in levels[k + 1 :])
    return every * (others * (others + 1) // 2)


def hessian_blocks(
    flat: NDArray[np.float64], dense: int, levels: Sequence[int], pairs: int
) -> list[NDArray[np.float64]]:
    """The sums as views: dense by dense, each attribute's levels by dense, then levels by levels of two attributes."""
    shapes = [(dense, dense * pairs), *((a + 1, dense * pairs) for a in levels)]
    shapes += [((a + 1) * (b + 1), pairs) for k, a in enumerate(levels) for b in levels[k + 1 :]]
    out, at = [], 0
    for rows, columns in shapes:
        out.append(flat[at : at + rows * columns].reshape(rows, columns))
        at += rows * columns
    return out


def _add_hessian(some: Sheet, share: NDArray[np.float64], views: list[NDArray[np.float64]], pairs: int) -> None:
    hessians = np.empty((some.rows, pairs))
    _class_hessians(share, some.weight, hessians)
    spread = np.empty((some.rows, some.dense.shape[1] * pairs))
    _spread(np.ascontiguousarray(some.dense), hessians, spread)
    views[0] += tiled(some.dense.T, spread, symmetric=pairs == 1)
    for codes, out in zip(some.codes, views[1:], strict=False):
        add_rows(codes, spread, out)
    at = 1 + len(some.levels)
    for k, codes in enumerate(some.codes):
        for b, more in zip(some.levels[k + 1 :], some.codes[k + 1 :], strict=True):
            add_rows(codes * np.int32(b + 1) + more, hessians, views[at])
            at += 1


def add_shared_hessian(
    sheet: Sheet, theta: NDArray[np.float64], out: NDArray[np.float64], whole: bool
) -> NDArray[np.float64]:
    """Adds the Hessian that all classes share, sum of weight * x x' * sum over classes of p (1 - p), to `out`: as
    `hessian_matrix` reads it with one class but the first, or only its diagonal. Gives the sum of weight * p (1 - p) of
    each class."""
    weights = split_weights(theta, sheet.dense.shape[1], sheet.levels)
    classes = np.zeros(theta.shape[1] + 1)
    views = hessian_blocks(out, sheet.dense.shape[1], sheet.levels, 1) if whole else []
    for start in range(0, sheet.rows, MOST):
        some = sheet.sliced(slice(start, start + MOST))
        scores = np.zeros((some.rows, len(classes)))
        scores[:, 1:] = _product(some.dense, weights[0])
        for codes, table in zip(some.codes, weights[1:], strict=True):
            scores[:, 1:] += table[codes]
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        scores *= 1.0 - scores
        scores *= some.weight[:, None]
        classes += scores.sum(axis=0)
        share = scores.sum(axis=1)
        if whole:  # a half and four times the weight: `_class_hessians` multiplies weight * p (1 - p)
            half = np.full((some.rows, 1), 0.5)
            _add_hessian(Sheet(some.dense, some.codes, some.levels, some.own, 4.0 * share), half, views, 1)
            continue
        at = some.dense.shape[1]
        out[:at] += (some.dense * some.dense * share[:, None]).sum(axis=0)
        for codes, count in zip(some.codes, some.levels, strict=True):
            out[at : at + count] += np.bincount(codes, share, count + 1)[:count]
            at += count
    return classes


def hessian_matrix(flat: NDArray[np.float64], dense: int, levels: Sequence[int], others: int) -> NDArray[np.float64]:
    """Minus the second derivatives of the log-likelihood, (others, others, columns, columns), from its sums."""
    pairs = others * (others + 1) // 2
    size = dense + sum(levels)
    starts = np.concatenate([[dense], dense + np.cumsum(levels)]).astype(int)
    views = hessian_blocks(flat, dense, levels, pairs)
    out = np.zeros((pairs, size, size))
    out[:, :dense, :dense] = views[0].reshape(dense, dense, pairs).transpose(2, 0, 1)
    at = 1 + len(levels)
    for k, count in enumerate(levels):
        own = slice(starts[k], starts[k] + count)
        block = views[1 + k][:-1].reshape(count, dense, pairs).transpose(2, 0, 1)
        out[:, own, :dense], out[:, :dense, own] = block, block.transpose(0, 2, 1)
        diagonal = np.arange(starts[k], starts[k] + count)
        out[:, diagonal, diagonal] = block[:, :, 0]  # the first dense column is 1
        for r in range(k + 1, len(levels)):
            there = slice(starts[r], starts[r] + levels[r])
            joint = views[at].reshape(count + 1, levels[r] + 1, pairs)[:-1, :-1].transpose(2, 0, 1)
            out[:, own, there], out[:, there, own] = joint, joint.transpose(0, 2, 1)
            at += 1
    whole = np.empty((others, others, size, size))
    for k, (a, b) in enumerate(zip(*np.triu_indices(others), strict=True)):
        whole[a, b] = whole[b, a] = out[k]
    return whole
