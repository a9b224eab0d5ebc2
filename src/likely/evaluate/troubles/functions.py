"""Attributes that others determine: renamed copies, functions of one, rising with one, linear in several.

Looks at a sample of rows, chosen by their numbers, so that it is repeatable. What holds in all of them, and would be
broken many times by chance, is told; it may still have an exception among rows that were not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate.sampling import sample_rows, sample_share
from likely.intake.row_cache import Piece
from likely.sums.rows.row_hashes import cell_bits
from likely.sums.summary import Summary
from likely.table.batch import Codes, Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLE = 5000
MOST_COLUMNS = 300
BROKEN = 20.0
"""So many rows would disagree, were the two independent: less, and chance may explain that none does."""
NEAR = 0.99
"""Rank correlation from which on two numbers are nearly the same."""
LEFT = 1e-6
"""Of the variance of a number, what may be left unexplained where others determine it: files round their numbers."""
MATTERS = 1e-3
"""A number takes part in an equation where it moves the other by this share of its deviation."""
ROWS_A_COLUMN = 5


@dataclass(frozen=True)
class Dependency:
    """An attribute that others determine in every row of a sample (or nearly, where `exact` is False)."""

    name: str
    by: tuple[str, ...]
    how: str
    """'copy' (one to one), 'function' (of one), 'rank' (one rises or falls with the other), 'linear' (in several)."""
    rows: int
    """Rows that were looked at and have all of them."""
    exact: bool = True
    correlation: float | None = None
    """Of ranks, where two numbers rise or fall together."""


@dataclass(frozen=True)
class OneClassGroups:
    """Values that occur more than once, always in rows of the same class."""

    name: str
    values: int
    repeats: int


class CellSample:
    """Cells of some rows as 64 bits each, and of numbers as doubles; one for each thread."""

    def __init__(self, total: Summary) -> None:
        self.names = [c.name for c in total.schema.attributes][:MOST_COLUMNS]
        self._share = sample_share(total, SAMPLE)
        self.parts: list[tuple[int, NDArray[np.uint64], NDArray[np.bool_], NDArray[np.float64], NDArray[np.int32]]] = []

    def take(self, piece: Piece, start: int) -> None:
        """Keep those rows that their numbers choose."""
        batch = piece.batch
        assert batch.target is not None
        rows = sample_rows(batch, start, self._share)
        bits = np.empty((len(rows), len(self.names)), np.uint64)
        there = np.empty(bits.shape, np.bool_)
        numbers = np.full(bits.shape, np.nan)
        chosen = batch.take(rows)
        for k, name in enumerate(self.names):
            cells = chosen.cells[name]
            bits[:, k] = cell_bits(cells)
            if isinstance(cells, Codes):
                there[:, k] = cells.codes >= 0
            elif isinstance(cells, Texts):
                there[:, k] = bits[:, k] > 0
            else:
                there[:, k] = np.isfinite(cells)
                numbers[there[:, k], k] = cells[there[:, k]]
        self.parts.append((start, bits, there, numbers, batch.target.codes[rows]))

    def __add__(self, other: CellSample) -> CellSample:
        self.parts = self.parts + other.parts
        return self

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
        """Codes (rows, columns; -1 is missing), numbers and classes, in the order of the table."""
        held = sorted(self.parts, key=lambda p: p[0])
        bits, there, numbers, group = (np.concatenate([p[k] for p in held]) for k in (1, 2, 3, 4))
        codes = np.full(bits.shape, -1, np.int32)
        for k in range(bits.shape[1]):
            codes[there[:, k], k] = np.unique(bits[there[:, k], k], return_inverse=True)[1]
        return codes, numbers, group


def dependencies(kept: CellSample) -> tuple[tuple[Dependency, ...], tuple[OneClassGroups, ...]]:
    """What determines what, each attribute at most once; and attributes whose equal values have equal classes."""
    names = kept.names
    if not kept.parts or not names:
        return (), ()
    codes, numbers, group = kept.arrays()
    out: list[Dependency] = []
    bound: set[int] = set()
    grouped = []
    follows = np.zeros((len(names), len(names)), np.bool_)
    cells = np.column_stack([codes, group])
    for a in range(len(names)):
        held, repeats, disagree = _determined(codes[:, a], cells)
        follows[a] = held[:-1] & (disagree[:-1] >= BROKEN)
        if held[-1] and disagree[-1] >= BROKEN:
            grouped.append(OneClassGroups(names[a], int(codes[:, a].max()) + 1, int(repeats[-1])))
    np.fill_diagonal(follows, False)
    both = (codes >= 0).astype(np.int64)
    together = both.T @ both
    for b in range(len(names)):
        for a in (a for a in np.flatnonzero(follows[:, b]).tolist() if a not in bound):
            one_to_one = bool(follows[b, a])
            if one_to_one and a > b:
                continue  # told of the later one
            out.append(Dependency(names[b], (names[a],), "copy" if one_to_one else "function", int(together[a, b])))
            bound.add(b)
            break
    out += _by_rank(names, numbers, bound)
    out += _linear(names, numbers, bound)
    return tuple(out), tuple(grouped)


def _gini(codes: NDArray[np.int32]) -> float:
    """How often two cells, drawn at random, differ."""
    present = codes[codes >= 0]
    if not len(present):
        return 0.0
    share = np.bincount(present) / len(present)
    return float(1 - share @ share)


def _determined(
    one: NDArray[np.int32], others: NDArray[np.int32]
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.float64]]:
    """For each of the others: whether equal cells of `one` have equal cells of it, in how many repeats that was seen,
    and how many of these would disagree by chance.
    """
    rows = np.flatnonzero(one >= 0)
    if not len(rows):
        nothing = np.zeros(others.shape[1])
        return nothing.astype(np.bool_), nothing.astype(np.int64), nothing
    rows = rows[np.argsort(one[rows], kind="stable")]
    first = np.flatnonzero(np.concatenate([[True], np.diff(one[rows]) > 0]))
    cells = others[rows]
    high = np.maximum.reduceat(cells, first, axis=0)
    low = np.minimum.reduceat(np.where(cells < 0, np.int32(2**31 - 1), cells), first, axis=0)
    same = ((high == low) | (high < 0)).all(axis=0)
    repeats = (cells >= 0).sum(axis=0) - (high >= 0).sum(axis=0)
    disagree = np.zeros(others.shape[1])
    for k in np.flatnonzero(same & (repeats > BROKEN)):
        # Among the rows that have `one`: what is constant there is no function of it.
        disagree[k] = repeats[k] * _gini(cells[:, k])
    return same, repeats, disagree


def _by_rank(names: list[str], numbers: NDArray[np.float64], bound: set[int]) -> list[Dependency]:
    """Numbers that rise or fall together, strictly or nearly. (Where values repeat, they are functions by then.)"""
    some = [k for k in range(len(names)) if k not in bound and np.isfinite(numbers[:, k]).sum() >= 3 * BROKEN]
    if len(some) < 2:
        return []
    ranks = np.column_stack([_ranks(numbers[:, k]) for k in some])
    length = np.sqrt((ranks**2).sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.abs(np.nan_to_num(ranks.T @ ranks / np.outer(length, length)))
    out = []
    for j in range(1, len(some)):
        for i in (i for i in range(j) if some[i] not in bound and near[i, j] >= NEAR - 0.05):
            x, y = numbers[:, some[i]], numbers[:, some[j]]
            good = np.isfinite(x) & np.isfinite(y)
            if good.sum() < max(3 * BROKEN, 0.5 * np.isfinite(y).sum()):
                continue
            a, b = _ranks(x[good]), _ranks(y[good])
            r = float(a @ b / np.sqrt((a @ a) * (b @ b))) if a.any() and b.any() else 0.0
            if abs(r) < NEAR:
                continue
            exact = bool(np.array_equal(a, b) or np.array_equal(a, -b))
            name, by = names[some[j]], (names[some[i]],)
            out.append(
                Dependency(name, by, "rank", int(good.sum()), exact, 1.0 if exact and r > 0 else -1.0 if exact else r)
            )
            bound.add(some[j])
            break
    return out


def _ranks(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from their middle, ties in the middle of theirs; 0 where there is no number."""
    good = np.isfinite(x)
    out = np.zeros(len(x))
    _, place, times = np.unique(x[good], return_inverse=True, return_counts=True)
    out[good] = (np.cumsum(times) - (times - 1) / 2)[place] - (good.sum() + 1) / 2
    return out


def _linear(names: list[str], numbers: NDArray[np.float64], bound: set[int]) -> list[Dependency]:
    """Numbers that are a sum of multiples of others that come before them."""
    some = [k for k in range(len(names)) if k not in bound and np.isfinite(numbers[:, k]).mean() > 0.9]
    rows = np.isfinite(numbers[:, some]).all(axis=1) if some else np.zeros(0, np.bool_)
    n = int(rows.sum())
    some = some[: n // ROWS_A_COLUMN]
    if len(some) < 3:
        return []
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        x = numbers[rows][:, some]
        x = x - x.mean(axis=0)
        x = x / np.sqrt((x**2).mean(axis=0))
    usable = [k for k in range(len(some)) if np.isfinite(x[:, k]).all()]
    basis: list[int] = []
    out = []
    for k in usable:
        if len(basis) > 1:
            factor, *_ = np.linalg.lstsq(x[:, basis], x[:, k], rcond=None)
            left = float(((x[:, k] - x[:, basis] @ factor) ** 2).mean())
            part = [b for b, f in zip(basis, factor, strict=True) if abs(f) >= MATTERS]
            if left < LEFT and len(part) > 1:
                out.append(Dependency(names[some[k]], tuple(names[some[b]] for b in part), "linear", n))
                bound.add(some[k])
                continue
        basis.append(k)
    return out
