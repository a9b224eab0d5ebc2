"""What kept documents say of weights of words: scores, log loss and its gradient. Knows arrays, no search.

Entries are sorted by word, so the gradient of a word is one short sum. What a document adds is a whole number (its
residual times how much the word counts there), so the sum is exact: documents may come in any order.
"""

from __future__ import annotations

import math

import numpy as np

from likely.machinery.arrays import Floats, Ints, Longs
from likely.machinery.jit import kernel

SHARES_AT = 16
"""What a word counts in a document is a multiple of 2**-16, and at most 1."""
MOST_BITS = 30
"""Residuals are multiples of 2**-30 of the largest weight of a row, or of a larger power of two if rows are many."""


def residual_bits(rows: int) -> int:
    """Binary digits of a residual with which no sum over so many rows leaves 63."""
    return min(MOST_BITS, 62 - SHARES_AT - max(rows, 1).bit_length())


@kernel("i8[], i4[], i4[], f8[][], f8[][]")
def add_scores(starts: Longs, row: Ints, share: Ints, table: Floats, out: Floats) -> None:
    """out[row] += share * table[word], for every entry; always in the order of words."""
    for w in range(starts.size - 1):
        for e in range(starts[w], starts[w + 1]):
            i, x = row[e], float(share[e])
            for c in range(table.shape[1]):
                out[i, c] += x * table[w, c]


@kernel("f8[][], i4[], f8[], f8[], i4[][], i8[]")
def find_residuals(scores: Floats, own: Ints, weight: Floats, unit: Floats, residual: Ints, loss: Longs) -> None:
    """residual = weight * (P(class | row) - 1 in the row's own class), in whole units; weights are at most 1.

    loss[0] is the log loss of all rows in units of 2**-20, loss[1] how many rows of some weight are classified wrongly.
    """
    for i in range(own.size):
        w = weight[i]
        if w == 0.0:
            for c in range(scores.shape[1]):
                residual[i, c] = 0
            continue
        top = -np.inf
        best = 0
        for c in range(scores.shape[1]):
            if scores[i, c] > top:
                top, best = scores[i, c], c
        total = 0.0
        for c in range(scores.shape[1]):
            total += math.exp(scores[i, c] - top)
        loss[0] += np.int64(np.rint(w * (top + math.log(total) - scores[i, own[i]]) * 1048576.0))
        loss[1] += best != own[i]
        for c in range(scores.shape[1]):
            chance = math.exp(scores[i, c] - top) / total
            residual[i, c] = np.int32(np.rint(w * (chance - (1.0 if c == own[i] else 0.0)) * unit[0]))


@kernel("i8[], i4[], i4[], i4[][], i8[][]")
def sum_gradient(starts: Longs, row: Ints, share: Ints, residual: Ints, out: Longs) -> None:
    """out[word] = sum of share * residual[row] over the entries of the word."""
    for w in range(starts.size - 1):
        for c in range(out.shape[1]):
            out[w, c] = 0
        for e in range(starts[w], starts[w + 1]):
            i, x = row[e], np.int64(share[e])
            for c in range(out.shape[1]):
                out[w, c] += x * np.int64(residual[i, c])


@kernel("i8[][], f8[], f8[], f8[], f8[]")
def penalised_gradient(sums: Longs, spread: Floats, at: Floats, by: Floats, out: Floats) -> None:
    """The gradient by weights in units of their spread: spread * sums / unit + ridge * weight.

    `by` is (unit, ridge).
    """
    classes = sums.shape[1]
    for w in range(sums.shape[0]):
        scaled = spread[w] / by[0]
        for c in range(classes):
            k = w * classes + c
            out[k] = scaled * float(sums[w, c]) + by[1] * at[k]


@kernel("f8[], f8[], f8[], f8[][]")
def scale_weights(at: Floats, spread: Floats, unit: Floats, out: Floats) -> None:
    """out[word] = spread * weight / unit."""
    classes = out.shape[1]
    for w in range(out.shape[0]):
        scaled = spread[w] / unit[0]
        for c in range(classes):
            out[w, c] = scaled * at[w * classes + c]
