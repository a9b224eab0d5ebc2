"""The loop over all training rows that finds the nearest ones, compiled. Knows arrays of distances, no schema.

Distances are added up column by column for a tile of rows at a time, which the processor does several at once; then
the tile is looked through for rows that are near enough. Measured, on one core: a row against a training row takes
about 1.5 ns with 4 numbers, 3 ns with 16, and 2.5 ns with the 6 numbers and 8 nominal columns of the Adult census.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from likely.jit import inner, kernel

TILE = 512
"""Rows whose distances are added up at a time: they stay in the processor's nearest cache."""
QUERIES = 32
"""Queries that look through a tile before the next is fetched: many rows do not fit into any cache."""


@inner
def _measure(
    i: Any,
    query: Any,
    query_codes: Any,
    first: Any,
    rows: Any,
    codes: Any,
    unknown: Any,
    far: Any,
    apart: Any,
    city: Any,
    out: Any,
) -> None:
    """The distance of query i from each of the rows that begin with `first`, column by column."""
    for r in range(out.size):
        out[r] = 0.0
    for j in range(rows.shape[0]):
        q, none, gone = query[i, j], unknown[j], far[j]
        column = rows[j, first : first + out.size]
        if q != q:
            for r in range(out.size):
                out[r] += none
        elif city:
            for r in range(out.size):
                x = column[r] - q
                out[r] += abs(x) if x == x else gone
        else:
            for r in range(out.size):
                x = column[r] - q
                out[r] += x * x if x == x else gone
    for j in range(codes.shape[0]):
        level, step = query_codes[i, j], apart[j]
        cells = codes[j, first : first + out.size]
        if level < 0:
            for r in range(out.size):
                out[r] += step
        else:
            for r in range(out.size):
                out[r] += 0.0 if cells[r] == level else step


@inner
def _put(d: Any, group: Any, weight: Any, k: Any, grow: Any, used: Any, at: Any, held: Any) -> Any:
    """Put a row at distance d into its slot, drop slots that are not needed any more; how many are used then."""
    last = held.shape[1] - 1
    s = used
    while s > 0 and at[s - 1] >= d:
        s -= 1
    if s == used or at[s] != d:
        for t in range(used, s, -1):
            at[t] = at[t - 1]
            for c in range(last + 1):
                held[t, c] = held[t - 1, c]
        at[s] = d
        for c in range(last + 1):
            held[s, c] = 0.0
        used += 1
    held[s, group] += weight
    held[s, last] += weight
    total = 0.0
    for t in range(used):
        total += held[t, last]
        if total >= k and (at[t] > 0.0 or not grow):
            return t + 1
    return used


@inner
def _count(k: Any, city: Any, inverse: Any, used: Any, at: Any, held: Any, votes: Any) -> None:
    """The votes of the rows in the slots; the last slot is taken in part."""
    last = held.shape[1] - 1
    before = 0.0
    for t in range(used - 1):
        before += held[t, last]
    for c in range(last):
        votes[c] = 0.0
    for t in range(used):
        share = 1.0
        if t == used - 1 and before < k and before + held[t, last] > k:
            share = (k - before) / held[t, last]
        if inverse and at[0] < np.inf:
            if at[0] == 0.0:
                if t > 0:
                    break
            elif city:
                share *= at[0] / at[t]
            else:
                share *= np.sqrt(at[0] / at[t])
        for c in range(last):
            votes[c] += share * held[t, c]


@kernel(
    "f8[][], i4[][], f8[][], i4[][], i4[], f8[], f8[], f8[], f8[], i8, i8, i8, i8, "
    "f8[], i8[], f8[], f8[][], f8[][][], f8[][], f8[]"
)
def nearest(
    query: Any,
    query_codes: Any,
    rows: Any,
    codes: Any,
    group: Any,
    weight: Any,
    unknown: Any,
    far: Any,
    apart: Any,
    k: int,
    city: int,
    grow: int,
    inverse: int,
    tile: Any,
    used: Any,
    bound: Any,
    at: Any,
    held: Any,
    votes: Any,
    radius: Any,
) -> None:
    """votes[i] = what the k nearest rows of query i weigh in each class; radius[i] = the distance of the k-th.

    `rows` and `codes` are (columns, rows). Distances are squared unless `city`; columns are scaled already. A column
    adds `unknown` where the query has no number, `far` where the row has none, and `apart` where codes differ or
    either is missing. Rows at one distance share one slot: `at` holds the distances in order, `held` what each class
    weighs there and, last, their sum; both need one slot more than can be filled. The last slot is taken in part, so
    that exactly k are counted. `grow`: slots at distance zero never close the ball. `inverse`: votes are divided by
    the distance, and rows at distance zero decide alone.

    Room to work in: `tile` for the distances of some rows; `used`, `bound`, `at` and `held` for some queries.
    """
    for base in range(0, votes.shape[0], used.size):
        some = min(used.size, votes.shape[0] - base)
        for i in range(some):
            used[i] = 0
            bound[i] = np.inf
        for first in range(0, weight.size, tile.size):
            size = min(tile.size, weight.size - first)
            for i in range(some):
                near = tile[:size]
                _measure(base + i, query, query_codes, first, rows, codes, unknown, far, apart, city, near)
                farthest = bound[i]
                for r in range(size):
                    if near[r] <= farthest:
                        who = first + r
                        count = _put(near[r], group[who], weight[who], k, grow, used[i], at[i], held[i])
                        used[i] = count
                        total = 0.0
                        for t in range(count):
                            total += held[i, t, held.shape[2] - 1]
                        if total >= k and (at[i, count - 1] > 0.0 or not grow):
                            farthest = at[i, count - 1]
                bound[i] = farthest
        for i in range(some):
            _count(k, city, inverse, used[i], at[i], held[i], votes[base + i])
            reach = at[i, used[i] - 1]
            radius[base + i] = reach if city else np.sqrt(reach)
