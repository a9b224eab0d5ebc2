"""The search for the fewest changes: exact where scores are sums of terms, else by trying combinations in turn.

Knows tables of terms and how to ask for decisions; not where either comes from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NODES = 40_000
"""Places that the exact search looks at before it gives up."""
CHUNK = 8192
SLACK = 1e-9
"""What rounding may have taken from a sum of terms; whatever is found so is put to the model itself."""

Pick = tuple[tuple[int, int], ...]
"""Changes: the number of an attribute and the number of a candidate of it."""


@dataclass
class Budget:
    """How much may still be tried."""

    left: int

    def spend(self, steps: int = 1) -> bool:
        self.left -= steps
        return self.left >= 0


def fewest_by_terms(
    fixed: NDArray[np.float64],
    current: NDArray[np.float64],
    tables: Sequence[NDArray[np.float64]],
    towards: int,
    holds: Callable[[Pick], bool],
    budget: Budget,
    most: int,
) -> Pick | None:
    """The fewest changes under which class `towards` has the highest score; None where at most `most` cannot do it.

    Scores are `fixed` + one row for each attribute: of `current` (attributes, classes), or of its table (candidates,
    classes) if it is changed. Branch and bound, size after size: with so many changes left, no class can fall further
    behind than by the largest gains on it that are left. Of two classes this takes the largest gains first.
    """
    order = _Order.of(fixed, current, tables, towards)
    if order is None:
        return None
    for size in range(max(order.forced, 1), min(most, len(order.places)) + 1):
        found = order.search(size, holds, budget)
        if found is not None or budget.left < 0:
            return found
    return None


@dataclass
class _Order:
    """What each attribute can do for one class, attributes that must change first, then those that can do most."""

    places: list[int]
    forced: int
    finite: NDArray[np.float64]
    """How far the class is ahead of each other one, what is impossible there left out."""
    infinite: NDArray[np.intp]
    """How many pieces make each other class impossible."""
    own: NDArray[np.float64]
    """(attributes, others): what each attribute contributes as it is; 0 where it must change."""
    options: list[tuple[NDArray[np.intp], NDArray[np.float64]]]
    """Of each attribute the candidates that no other beats, and what they contribute."""
    gains: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        fixed: NDArray[np.float64],
        current: NDArray[np.float64],
        tables: Sequence[NDArray[np.float64]],
        towards: int,
    ) -> _Order | None:
        others = [c for c in range(len(fixed)) if c != towards]
        if fixed[towards] == -math.inf:
            return None

        def ahead(logs: NDArray[np.float64]) -> NDArray[np.float64]:
            return logs[..., [towards]] - logs[..., others]

        must = np.isneginf(current[:, towards]) if len(current) else np.zeros(0, np.bool_)
        with np.errstate(invalid="ignore"):
            own = np.where(must[:, None], 0.0, ahead(current)) if len(current) else np.zeros((0, len(others)))
            start = ahead(fixed)
        options, gains = [], []
        for k, table in enumerate(tables):
            alive = np.flatnonzero(table[:, towards] > -math.inf)
            best = _undominated(ahead(table[alive]))
            options.append((alive[best], ahead(table[alive[best]])))
            with np.errstate(invalid="ignore"):
                gain = options[-1][1].max(axis=0, initial=-math.inf) - own[k]
            gains.append(np.where(np.isposinf(own[k]), 0.0, gain))
        if any(must[k] and not len(options[k][0]) for k in range(len(tables))):
            return None
        total = start + own.sum(axis=0) if len(own) else start
        need = np.maximum(np.where(np.isfinite(total), -total, 0.0), 0.0)
        worth = [float(np.clip(g, 0, need).sum()) for g in gains]
        able = [k for k in range(len(tables)) if len(options[k][0])]
        places = sorted(able, key=lambda k: (not must[k], -worth[k], k))
        pieces = np.concatenate([start[None], own])
        return cls(
            places,
            int(must.sum()),
            np.where(np.isposinf(pieces), 0.0, pieces).sum(axis=0),
            np.isposinf(pieces).sum(axis=0),
            own,
            options,
            np.array(gains).reshape(len(tables), len(others)),
        )

    def search(self, size: int, holds: Callable[[Pick], bool], budget: Budget) -> Pick | None:
        """Changes of exactly so many attributes that do it."""
        bounds = self._bounds(size)
        slack = SLACK * (1 + float(np.abs(self.finite).max(initial=0.0)))

        def deeper(start: int, finite: NDArray[np.float64], infinite: NDArray[np.intp], picked: Pick) -> Pick | None:
            left = size - len(picked)
            if not left:
                return picked if bool(((infinite > 0) | (finite >= -slack)).all()) and holds(picked) else None
            for at in range(start, len(self.places) - left + 1):
                if len(picked) < self.forced and at > len(picked):
                    return None  # an attribute that must change was passed over
                reach = np.where(infinite > 0, math.inf, finite + bounds[at, left - 1])
                if not budget.spend() or bool((reach < -slack).any()):
                    return None  # nor can any attribute after this one do it
                place = self.places[at]
                own = self.own[place]
                without = finite - np.where(np.isposinf(own), 0.0, own)
                fewer = infinite - np.isposinf(own)
                codes, values = self.options[place]
                for code, value in zip(codes.tolist(), values, strict=True):
                    with_it = without + np.where(np.isposinf(value), 0.0, value)
                    found = deeper(at + 1, with_it, fewer + np.isposinf(value), (*picked, (place, code)))
                    if found is not None or budget.left < 0:
                        return found
            return None

        return deeper(0, self.finite, self.infinite, ())

    def _bounds(self, size: int) -> NDArray[np.float64]:
        """[place, r - 1]: the most that r changes among the attributes from `place` on can gain on each other class."""
        count, others = len(self.places), self.gains.shape[1]
        top = np.full((size, others), -math.inf)
        out = np.empty((count + 1, size, others))
        out[count] = top
        for at in range(count - 1, -1, -1):
            top = -np.sort(-np.concatenate([top, self.gains[self.places[at]][None]]), axis=0)[:size]
            with np.errstate(invalid="ignore"):
                out[at] = np.cumsum(np.where(np.isneginf(top), 0.0, top), axis=0)
        return out


def _undominated(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """The rows that no other row equals or beats everywhere, the largest sums first; of equal rows the first."""
    with np.errstate(invalid="ignore"):
        sums = np.where(np.isposinf(values), 1e300, values).sum(axis=1)
    kept: list[int] = []
    for k in np.argsort(-sums, kind="stable").tolist():
        if not kept or not bool((values[kept] >= values[k]).all(axis=1).any()):
            kept.append(k)
    return np.array(kept, np.intp)


def fewest_by_trying(
    sizes: Sequence[int],
    wanted: Callable[[Sequence[int], NDArray[np.intp]], NDArray[np.bool_]],
    budget: Budget,
    most: int,
) -> Pick | None:
    """The fewest changes that do it, every combination of candidates tried, smaller sets of attributes first.

    `sizes` says how many candidates each attribute has; `wanted(attributes, codes)` which rows of codes do it.
    """
    for size in range(1, min(most, len(sizes)) + 1):
        for some in combinations(range(len(sizes)), size):
            for codes in _products([sizes[k] for k in some]):
                if not budget.spend(len(codes)):
                    return None
                hits = np.flatnonzero(wanted(some, codes))
                if len(hits):
                    return tuple(zip(some, codes[hits[0]].tolist(), strict=True))
    return None


def _products(sizes: Sequence[int]) -> Iterator[NDArray[np.intp]]:
    """All rows of codes below `sizes`, in chunks; the last code runs fastest."""
    total = math.prod(sizes)
    for start in range(0, total, CHUNK):
        flat = np.arange(start, min(start + CHUNK, total))
        yield np.column_stack(np.unravel_index(flat, sizes)).astype(np.intp)
