"""The loops over rows and classes when a model scores, compiled. They add terms in one fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats, Ints, Longs
from likely.machinery.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]


@kernel("i4[], f8[][], f8[][]")
def add_levels(codes: Ints, table: Floats, out: Floats) -> None:
    """out[i] += table[code of i]; the last row of the table serves -1 (missing), the one before -2 (unseen)."""
    for i in range(np.uint64(codes.size)):
        row = np.int64(codes[i])
        c = np.uint64(row if row >= 0 else row + table.shape[0])
        for k in range(np.uint64(out.shape[1])):
            out[i, k] += table[c, k]


@kernel("f8[], f8[], f8[], f8[], f8[], f8[], f8[][]")
def add_normal(
    x: Floats, peak: Floats, mean: Floats, rate: Floats, farthest: Floats, absent: Floats, out: Floats
) -> None:
    """out[i] += peak - ((x - mean) * rate)**2 per class, or `absent` where x is missing or infinite.

    |x - mean| counts as no more than `farthest`: infinite scores would drop the evidence of all other cells.
    """
    for i in range(x.size):
        if np.isfinite(x[i]):
            for k in range(out.shape[1]):
                d = min(abs(x[i] - mean[k]), farthest[k]) * rate[k]
                out[i, k] += peak[k] - d * d
        else:
            for k in range(out.shape[1]):
                out[i, k] += absent[k]


TIE = 2.0**-40
"""Log scores that are below the best by no more than this are equal to it. Products of counts that are equal as
fractions differ in their logs by rounding, which is less (tests/models/test_ties.py); so the first class in schema
order is the answer, not the one that rounding favours. The same number is in `likely.portable` and its languages."""


@kernel("f8[][], f8[]")
def normalise(scores: Floats, evidence: Floats) -> None:
    """Turn log joint scores into probabilities, in place; evidence[i] = log of their sum. Ties with the best are exact.

    A row that is impossible under every class is all zero, and its evidence is -inf.
    """
    for i in range(scores.shape[0]):
        top = -np.inf
        for k in range(scores.shape[1]):
            top = max(top, scores[i, k])
        if top == -np.inf:
            evidence[i] = -np.inf
            for k in range(scores.shape[1]):
                scores[i, k] = 0.0
            continue
        total = 0.0
        for k in range(scores.shape[1]):
            below = top - scores[i, k]
            scores[i, k] = 1.0 if below <= TIE else np.exp(-below)
            total += scores[i, k]
        for k in range(scores.shape[1]):
            scores[i, k] /= total
        evidence[i] = top + np.log(total)


@kernel("f8[][], f8[], f8[], f8[], f8[][], f8[], f8[], f8[], i8, f8[][]")
def add_quadratic(
    x: Floats,
    mean: Floats,
    rate: Floats,
    farthest: Floats,
    whitening: Floats,
    peak: Floats,
    most: Floats,
    room: Floats,
    k: int,
    out: Floats,
) -> None:
    """out[i, k] += peak - |z|**2 / 2 with z = ((x[i] - mean) * rate) @ whitening; `room` is for one z.

    |x - mean| counts as no more than `farthest`, cell by cell, and |z|**2 / 2 as no more than `most`.

    By hand rather than by BLAS: a row's score must not depend on the rows beside it (tests/models/test_full.py).
    """
    for i in range(x.shape[0]):
        for m in range(room.size):
            room[m] = 0.0
        for j in range(mean.size):
            d = max(min(x[i, j] - mean[j], farthest[j]), -farthest[j]) * rate[j]
            for m in range(room.size):
                room[m] += d * whitening[j, m]
        total = 0.0
        for m in range(room.size):
            total += room[m] * room[m]
        out[i, k] += peak[0] - min(0.5 * total, most[0])


@kernel("i4[][], i8[], i8[], i8[], i8[], i8[], f8[], f8[][], i8[], f8[][][]")
def tree_terms(
    codes: Ints,
    order: Longs,
    parent: Longs,
    first: Longs,
    sizes: Longs,
    at: Longs,
    table: Floats,
    up: Floats,
    told: Longs,
    out: Floats,
) -> None:
    """out[i, v] = the share of node v in the log probability of row i, per class: see models/dependence/tree.py.

    `order` lists every node after its parent (-1: none). table[at[v] + (a*width + b)*classes + k] is the log of
    P(a | b, class k), of a parent with `width` levels. `up` and `told` are room to work in: what the cells below a
    missing node say for each of its levels, and whether they say anything.
    """
    nodes, classes = codes.shape[1], out.shape[2]
    for i in range(codes.shape[0]):
        for v in range(nodes):
            told[v] = 0
            for k in range(classes):
                out[i, v, k] = 0.0
            if codes[i, v] < 0:
                for c in range(first[v], first[v] + sizes[v]):
                    for k in range(classes):
                        up[c, k] = 0.0
        for step in range(nodes):
            v = order[nodes - 1 - step]
            u = parent[v]
            width = np.int64(1)
            low, high = np.int64(0), np.int64(1)
            hidden = False
            if u >= 0:
                width = sizes[u]
                hidden = codes[i, u] < 0
                low = np.int64(0) if hidden else np.int64(codes[i, u])
                high = width if hidden else low + np.int64(1)
            a = np.int64(codes[i, v])
            if a < 0 and told[v] == 0:
                continue  # its levels sum to one
            if hidden:
                told[u] = 1
            for b in range(low, high):
                for k in range(classes):
                    if a >= 0:
                        value = table[at[v] + (a * width + b) * classes + k]
                    else:
                        top = -np.inf
                        for c in range(sizes[v]):
                            top = max(top, table[at[v] + (c * width + b) * classes + k] + up[first[v] + c, k])
                        value = top
                        if top > -np.inf:
                            total = 0.0
                            for c in range(sizes[v]):
                                total += np.exp(
                                    table[at[v] + (c * width + b) * classes + k] + up[first[v] + c, k] - top
                                )
                            value = top + np.log(total)
                    if hidden:
                        up[first[u] + b, k] += value
                    else:
                        out[i, v, k] = value


@kernel("f8[][][], f8[][]")
def add_shares(shares: Floats, out: Floats) -> None:
    """out[i] += the shares of row i, in order."""
    for i in range(shares.shape[0]):
        for v in range(shares.shape[1]):
            for k in range(out.shape[1]):
                out[i, k] += shares[i, v, k]


@kernel("i4[][], i4[], f8[][], f8[][][], f8[], f8[][], i4[], f8[], f8[], f8[], f8[][]")
def one_dependence(
    codes: Ints,
    serves: Ints,
    joint: Floats,
    given: Floats,
    prior: Floats,
    alone: Floats,
    there: Ints,
    top: Floats,
    total: Floats,
    score: Floats,
    out: Floats,
) -> None:
    """out[i] = log of the mean, over the cells of row i that may serve as parents, of P(class, cell) P(others | both).

    codes are cells (-1: missing); joint[a] and given[a, b] are logs per class. Where no cell serves: prior plus
    alone[b], naive Bayes. `there`, `top`, `total` and `score` are room to work in.
    """
    classes = out.shape[1]
    for i in range(codes.shape[0]):
        known = 0
        for v in range(codes.shape[1]):
            if codes[i, v] >= 0:
                there[known] = codes[i, v]
                known += 1
        for k in range(classes):
            top[k] = -np.inf
            total[k] = 0.0
        parents = 0
        for v in range(known):
            a = there[v]
            if serves[a] == 0:
                continue
            parents += 1
            for k in range(classes):
                score[k] = joint[a, k]
            for w in range(known):
                if w != v:
                    b = there[w]
                    for k in range(classes):
                        score[k] += given[a, b, k]
            for k in range(classes):
                if score[k] > top[k]:
                    total[k] = total[k] * np.exp(top[k] - score[k]) + 1.0
                    top[k] = score[k]
                elif score[k] > -np.inf:
                    total[k] += np.exp(score[k] - top[k])
        for k in range(classes):
            if parents == 0:
                out[i, k] = prior[k]
                for w in range(known):
                    out[i, k] += alone[there[w], k]
            elif top[k] == -np.inf:
                out[i, k] = -np.inf
            else:
                out[i, k] = top[k] + np.log(total[k] / parents)


@kernel("f8[][], i8, f8[][], b1[], f8[], f8[], f8[][]")
def add_curve(z: Floats, own: int, weights: Floats, there: Flags, known: Floats, absent: Floats, out: Floats) -> None:
    """out[i] += known + z of one number * (its weight + sum over all of weight * z), or `absent` where it is missing.

    Sums in one fixed order, and no BLAS: a row's score must not depend on the rows beside it.
    """
    last = weights.shape[0] - 1
    for i in range(z.shape[0]):
        for k in range(out.shape[1]):
            if there[i]:
                slope = weights[last, k]
                for j in range(last):
                    slope += z[i, j] * weights[j, k]
                out[i, k] += known[k] + z[i, own] * slope
            else:
                out[i, k] += absent[k]


@kernel("i4[], i4[], i4[], i4[], f8[][][], f8[][]")
def add_pairs(first: Ints, second: Ints, rows: Ints, columns: Ints, table: Floats, out: Floats) -> None:
    """out[i] += table[place of the first code, place of the second]; nothing where a code is unknown (-1)."""
    for i in range(first.size):
        if first[i] >= 0 and second[i] >= 0:
            a, b = rows[first[i]], columns[second[i]]
            for k in range(out.shape[1]):
                out[i, k] += table[a, b, k]


@kernel("i4[][], i4[], i4[], i4[], i4[], u1[][], f8[][], f8[], f8[][][]")
def add_trees(
    codes: Ints,
    roots: Ints,
    bounds: Ints,
    axis: Ints,
    below: Ints,
    left: NDArray[np.uint8],
    values: Floats,
    room: Floats,
    out: Floats,
) -> None:
    """out[s, i] += the sum of what the trees of set s say of row i, each followed down to a leaf or to an unknown code
    (-1). The roots of set s are those from bounds[s] to bounds[s + 1]. Where `out` has one place, it serves all sets.
    """
    for s in range(bounds.size - 1):
        at = s if out.shape[0] > 1 else 0
        for i in range(np.uint64(codes.shape[0])):
            for k in range(room.size):
                room[k] = 0.0
            for t in range(bounds[s], bounds[s + 1]):
                n = np.uint64(roots[t])  # places are unsigned: one that may be below zero is looked at twice
                while axis[n] >= 0:
                    c = codes[i, np.uint64(axis[n])]
                    if c < 0:
                        break
                    n = np.uint64(below[n]) + (np.uint64(0) if left[n, np.uint64(c)] else np.uint64(1))
                for k in range(room.size):
                    room[k] += values[n, k]
            for k in range(room.size):
                out[at, i, k] += room[k]


@kernel("i4[][], i4[], i4[], i4[], u1[][], f8[][], i4[], f8[][][][]")
def share_trees(
    codes: Ints,
    roots: Ints,
    axis: Ints,
    below: Ints,
    left: NDArray[np.uint8],
    values: Floats,
    path: Ints,
    out: Floats,
) -> None:
    """out[i, j] += the share of axis j in what row i's way down each tree changes; it ends as in add_trees.

    A step down a tree is taken only where every axis that parted the nodes so far is known: in the game in which
    axes become known they share equally what the step changes, their Shapley value. `path` is room for axes of a way.
    Where `out` has a place for each partner, an axis's share of a step is parted equally among the others of the way,
    and what it changes alone stands at its own place.
    """
    for i in range(np.uint64(codes.shape[0])):
        for t in range(roots.size):
            n, count = np.uint64(roots[t]), np.uint64(0)
            while axis[n] >= 0:
                j = axis[n]
                c = codes[i, np.uint64(j)]
                if c < 0:
                    break
                known = False
                for m in range(count):
                    known = known or path[m] == j
                if not known:
                    path[count] = j
                    count += np.uint64(1)
                to = np.uint64(below[n]) + (np.uint64(0) if left[n, np.uint64(c)] else np.uint64(1))
                for k in range(out.shape[3]):
                    each = (values[to, k] - values[n, k]) / count
                    for m in range(count):
                        if out.shape[2] == 1:
                            out[i, np.uint64(path[m]), 0, k] += each
                        elif count == 1:
                            out[i, np.uint64(path[m]), np.uint64(path[m]), k] += each
                        else:
                            for q in range(count):
                                if q != m:
                                    out[i, np.uint64(path[m]), np.uint64(path[q]), k] += each / (count - 1)
                n = to
