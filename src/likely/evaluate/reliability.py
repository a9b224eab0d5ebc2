"""Whether probabilities keep their word: of rows that were given 80 %, 80 % should be so. Exact sums; keeps no rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likely.models.posterior import Posterior
from likely.sums.counts import add_counts
from likely.sums.exact import Exact
from likely.sums.numbers import Numbers
from likely.sums.weights import Weights
from likely.table.batch import Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

BINS = 20
"""Of equal width, from 0 to 1."""
ENOUGH = 10
"""Rows of a point of the curve: neighbouring bins with fewer are taken together."""
NORMAL = 1.959963984540054
"""Standard errors to both sides that hold 95 % of a normal distribution."""


@dataclass(frozen=True)
class Bin:
    """The rows whose probability lay in one bin: what was said of them, and how often it was so."""

    said: float
    """The mean probability."""
    happened: float
    low: float
    high: float
    """95 % bounds (Wilson) of how often it was so."""
    weight: float


@dataclass(frozen=True)
class Reliable:
    """A reliability curve: of the second of two classes, or of the class that was named where there are more."""

    of: str | None
    """The class whose probability it is; None: whichever class was named."""
    bins: tuple[Bin, ...]
    """Those that have rows."""
    error: float
    """The mean distance of what was said from what happened (expected calibration error)."""


class Reliability:
    """Adds up what was said and what happened; exact, so that threads cannot change a bit of it."""

    def __init__(self, classes: int) -> None:
        self.classes = classes
        self.said = Numbers(BINS, cap=64)
        self.happened = Exact.zeros(2, BINS)
        self._none = Exact.zeros(1, BINS)

    def update(self, found: Posterior, truth: Ints, share: Weights) -> None:
        """Take in the posteriors of rows and their true classes; rows without an answer are passed over."""
        codes = found.codes
        if self.classes == 2:
            chance, right = found.matrix[:, 1], truth == 1
        else:
            chance, right = found.matrix.max(axis=1, initial=0.0), codes == truth
        place: NDArray[np.int32] = np.minimum(chance * BINS, BINS - 1).astype(np.int32)
        place = np.where(codes < 0, np.int32(-1), place)
        self.said.update(np.ascontiguousarray(chance), place, share)
        add_counts(right.astype(np.int32), place, share, self.happened, self._none)

    def __add__(self, other: Reliability) -> Reliability:
        out = Reliability(self.classes or other.classes)
        out.said = self.said + other.said
        out.happened = self.happened + other.happened
        out._none = self._none + other._none
        return out

    def read(self, classes: tuple[str, ...], rows: float) -> Reliable:
        """The curve; `rows` says for how many rows the weight of all stands."""
        moments, happened = self.said.moments(), self.happened.fractions()
        parts = [(m[0], m[1], right) for m, right in zip(moments, happened[BINS:], strict=True) if m[0]]
        total = float(sum(weight for weight, _, _ in parts))
        scale = rows / total if total else 0.0
        bins: list[Bin] = []
        held: list[tuple[Fraction, Fraction, Fraction]] = []
        for k, part in enumerate(parts):
            held.append(part)
            left = float(sum(p[0] for p in parts[k + 1 :]))
            weight, said, right = (sum(column, Fraction(0)) for column in zip(*held, strict=True))
            if k + 1 < len(parts) and min(float(weight), left) * scale < ENOUGH:
                continue
            share = float(right / weight)
            low, high = wilson(share, scale * float(weight))
            bins.append(Bin(float(said / weight), share, low, high, float(weight)))
            held = []
        error = sum(b.weight * abs(b.said - b.happened) for b in bins) / total if total else 0.0
        return Reliable(classes[1] if self.classes == 2 else None, tuple(bins), error)


def wilson(share: float, rows: float) -> tuple[float, float]:
    """95 % bounds of a share of so many rows: never empty, also where all or none were so.

    >>> [round(b, 3) for b in wilson(0.5, 100)]
    [0.404, 0.596]
    """
    if rows <= 0:
        return 0.0, 1.0
    z = NORMAL * NORMAL / rows
    middle = (share + z / 2) / (1 + z)
    half = NORMAL / (1 + z) * float(np.sqrt(max(share * (1 - share), 0.0) / rows + z / (4 * rows)))
    return max(middle - half, 0.0), min(middle + half, 1.0)
