"""The ruler of nearest neighbours: how numbers of different ranges become distances. Knows arrays, no rows' classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Ruler:
    """How numbers become distances: which of them take part, the range of each in training, and what it counts."""

    places: NDArray[np.intp]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    weight: NDArray[np.float64]
    city: bool
    scale: bool

    @property
    def factor(self) -> NDArray[np.float64]:
        """What a difference is multiplied by before it is squared, or taken as it is."""
        return self.weight if self.city else np.sqrt(self.weight)

    @property
    def far(self) -> NDArray[np.float64]:
        """What a missing number adds to the sum of distances."""
        with np.errstate(over="ignore"):
            widest = np.ones_like(self.low) if self.scale else self.high - self.low
            return self.weight * (widest if self.city else widest**2)

    def to_units(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """The numbers that take part, scaled and weighed, so that differences can be added up; NaN where missing."""
        picked = numbers[:, self.places]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            if self.scale:
                part = np.where(np.isinf(self.high - self.low), 0.5, 1.0)  # a range beyond a double is halved
                scaled = (picked * part - self.low * part) / (self.high * part - self.low * part)
                # A constant attribute tells nothing, whatever the new value is.
                scaled = np.where(self.high == self.low, 0.0, scaled)
                picked = np.where(np.isnan(picked), np.nan, scaled)
            return np.ascontiguousarray(picked * self.factor)


def make_ruler(
    numbers: NDArray[np.float64],
    names: list[str],
    share: dict[str, float],
    notes: list[str],
    *,
    city: bool,
    scale: bool,
    density: bool,
) -> Ruler:
    """The ranges of the numbers that take part; a note for each that does not."""
    kept, low, high = [], [], []
    for k, name in enumerate(names):
        if share[name] == 0:
            continue
        known = numbers[~np.isnan(numbers[:, k]), k]
        if not len(known):
            notes.append(f"{shown(name)} is left out: it is missing in every row.")
            continue
        least, most = float(known.min()), float(known.max())
        if density and least == most:
            notes.append(f"{shown(name)} is left out: it is constant, so it has no density.")
            continue
        kept.append(k)
        low.append(least)
        high.append(most)
    weight = np.array([share[names[k]] for k in kept])
    return Ruler(np.array(kept, np.intp), np.array(low), np.array(high), weight, city, scale)
