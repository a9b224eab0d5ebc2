"""The normal factor: a multivariate normal density of the numbers for each class, from exact sums of products.

A missing cell is integrated out exactly: rows are scored by the part of the covariance that their cells have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import SettingError, shown
from likely.models import kernels
from likely.models.factors.gaussian import root_of
from likely.models.factors.patterns import patterns
from likely.models.factors.scatter import Covariances, Scatter
from likely.models.setting_values import Shrinkage, Variance
from likely.models.shapes import MultivariateNormal, limit_distances

if TYPE_CHECKING:
    from numpy.typing import NDArray

HELD = 1 << 22
"""Numbers (32 MB) that decompositions of patterns of missing cells may take, kept for the next batch."""


@dataclass(frozen=True, slots=True)
class CovarianceSettings:
    """How sums of products become covariances."""

    variance: Variance
    floor: float
    shrinkage: Shrinkage


@dataclass(frozen=True)
class Normal(MultivariateNormal):
    """covariance[i, j] = correlation[i, j] * deviation[i] * deviation[j] within each class.

    Kept apart, because variances of numbers like 1e200 are out of a double's range.
    """

    names: tuple[str, ...]
    mean: NDArray[np.float64]
    """(classes, attributes)"""
    deviation: NDArray[np.float64]
    """(classes, attributes)"""
    correlation: NDArray[np.float64]
    """(classes, attributes, attributes), positive definite."""
    least: NDArray[np.float64]
    """The least eigenvalue of each class's correlations; no part of them has a smaller one."""
    notes: tuple[str, ...] = ()
    _parts: dict[bytes, list[tuple[NDArray[np.float64], float]]] = field(default_factory=dict, repr=False)

    @property
    def covariance(self) -> NDArray[np.float64]:
        """(classes, attributes, attributes); infinite where a double does not reach."""
        with np.errstate(over="ignore"):
            unit = self.deviation[:, :, None] * self.deviation[:, None, :]
            return np.multiply(self.correlation, unit, out=np.zeros_like(unit), where=self.correlation != 0)

    def add(self, x: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Add log density of the cells of each row that are there, given each class; infinite cells are not."""
        farthest = limit_distances(self.deviation)
        for places, rows in patterns(np.isfinite(x)):
            if not len(places):
                continue
            part, room = np.ascontiguousarray(out[rows]), np.empty(len(places))
            cells = np.ascontiguousarray(x[np.ix_(rows, places)])
            for k, (whitening, log_volume) in enumerate(self.whitened(places)):
                mean, rate, peak = self.mean[k, places], 1 / self.deviation[k, places], np.array([-log_volume])
                limits = np.ascontiguousarray(farthest[k, places])
                kernels.add_quadratic(cells, mean, rate, limits, whitening, peak, room, k, part)
            out[rows] = part

    def whitened(self, places: NDArray[np.intp]) -> list[tuple[NDArray[np.float64], float]]:
        """For each class: what turns standardised cells into independent ones, and log of the peak's inverse."""
        key = places.tobytes()
        found = self._parts.get(key)
        if found is None:
            found = []
            for correlation, deviation, least in zip(self.correlation, self.deviation, self.least, strict=True):
                values, vectors = np.linalg.eigh(correlation[np.ix_(places, places)])
                values = np.maximum(values, least)  # a part's eigenvalues lie between the whole's; rounding may stray
                volume = 0.5 * len(places) * math.log(2 * math.pi) + 0.5 * np.log(values).sum()
                log_volume = float(volume + np.log(deviation[places]).sum())
                found.append((np.ascontiguousarray(vectors / np.sqrt(values)), log_volume))
            if (len(self._parts) + 1) * self.correlation.size <= HELD or not self._parts:
                self._parts[key] = found
        return found

    def draw(self, group: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.float64]:
        """A row of numbers for each class in `group`."""
        out = rng.standard_normal((len(group), len(self.names)))
        for k in range(len(self.mean)):
            rows = np.flatnonzero(group == k)
            values, vectors = np.linalg.eigh(self.correlation[k])
            root = vectors * np.sqrt(np.maximum(values, self.least[k]))
            out[rows] = self.mean[k] + (out[rows] @ root.T) * self.deviation[k]
        return out


def normal(sums: Scatter, classes: tuple[str, ...], settings: CovarianceSettings, pooled: bool) -> Normal:
    """Derive the factor. Attributes without any spread are left out.

    A class borrows from all rows the spread of an attribute of which it has one value or none, the correlation of two
    attributes that too few of its rows have both of, and the mean of an attribute of which it has no value.
    """
    whole = sums.whole()
    overall = whole.covariances(0, settings.variance)
    spread = [overall.variance(i) for i in range(len(sums.names))]
    kept = [i for i, v in enumerate(spread) if v]
    notes = [
        f"{shown(name)} is left out: it has too few different values for a variance."
        for i, name in enumerate(sums.names)
        if i not in kept
    ]
    each = (sums.covariances(c, settings.variance) for c in range(len(classes)))
    own = [sums.pooled(settings.variance)] if pooled else list(each)
    at = np.ix_(kept, kept)
    every = np.array([root_of(v) for v in spread if v])
    shared = np.where(overall.known[at], _part(overall, kept).correlations(every), 0.0) if kept else np.zeros((0, 0))
    deviations, correlations, least = [], [], []
    for c, covariances in enumerate(own):
        who = "The classes together have" if pooled else _who(classes[c])
        part = _part(covariances, kept)
        deviation, borrowed = _deviations(part, [v for v in spread if v], settings, who)
        known = part.known & ~(borrowed[:, None] | borrowed)
        if not known.all():
            notes.append(f"{who} too few rows for some variances or covariances; those of all rows are used.")
        correlation = np.where(known, part.correlations(deviation), shared)
        np.fill_diagonal(correlation, 1.0)
        rows = np.where(known, part.rows, overall.rows[at])
        correlation = _shrunk(correlation, rows, settings.shrinkage)
        correlation, smallest = _mended(correlation, rows, settings.floor, who, notes)
        deviations.append(deviation)
        correlations.append(correlation)
        least.append(smallest)
    means = [[_mean(sums, whole, i, c) for i in kept] for c in range(len(classes))]
    times = len(classes) if pooled else 1
    return Normal(
        tuple(sums.names[i] for i in kept),
        np.array(means).reshape(len(classes), len(kept)),
        np.array(deviations * times).reshape(len(classes), len(kept)),
        np.array(correlations * times).reshape(len(classes), len(kept), len(kept)),
        np.array(least * times),
        tuple(dict.fromkeys(notes)),
    )


def _who(label: str) -> str:
    return f"Class {shown(label)} has" if label else "The rows have"


def _mean(sums: Scatter, whole: Scatter, i: int, c: int) -> float:
    own = sums.mean(i, c)
    mean = whole.mean(i, 0) if own is None else own
    assert mean is not None  # the attribute has a spread, so it has values
    return mean


def _part(whole: Covariances, kept: list[int]) -> Covariances:
    at = np.ix_(kept, kept)
    return Covariances(whole.top[at], whole.bottom[at], whole.known[at], whole.rows[at])


def _deviations(
    part: Covariances, spread: list[Fraction], settings: CovarianceSettings, who: str
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Standard deviations, and which are borrowed; no variance is below floor * that of all rows."""
    out, borrowed = [], []
    for i, overall in enumerate(spread):
        own = part.variance(i)
        borrowed.append(own is None)
        value = overall if own is None else max(own, Fraction(settings.floor) * overall)
        if value == 0:
            raise SettingError(f"{who} an attribute whose values are all the same. Set variance_floor above 0.")
        out.append(root_of(value))
    return np.array(out), np.array(borrowed, np.bool_)


def _shrunk(correlation: NDArray[np.float64], rows: NDArray[np.float64], shrinkage: Shrinkage) -> NDArray[np.float64]:
    """Toward the diagonal: r becomes (1 - s) * r off the diagonal, and variances stay.

    's' is given, or, if "auto", the one of least expected squared error for normal numbers (Schäfer and Strimmer 2005):
    sum of Var(r) / sum of r**2 over the pairs, at most 1, with Var(r) = (1 - r**2)**2 / (n - 1).
    """
    apart = ~np.eye(len(correlation), dtype=np.bool_)
    share = 0.0
    if shrinkage != "auto":
        share = float(shrinkage)
    elif apart.any():
        r, n = correlation[apart], rows[apart]
        unsure = np.divide(np.maximum(1 - r * r, 0) ** 2, n, out=np.full_like(r, np.inf), where=n > 0)
        strength = float((r * r).sum())
        share = min(1.0, float(unsure.sum()) / strength) if strength > 0 else 1.0
    return np.where(apart, (1 - share) * correlation, correlation)


def _mended(
    correlation: NDArray[np.float64], rows: NDArray[np.float64], floor: float, who: str, notes: list[str]
) -> tuple[NDArray[np.float64], float]:
    """Correlations whose eigenvalues are not below the floor, and the least of them."""
    if not len(correlation):
        return correlation, 1.0
    values, vectors = np.linalg.eigh(correlation)
    rounding = len(correlation) * float(np.finfo(np.float64).eps) * float(values[-1])
    if values[0] >= floor and values[0] > rounding:
        return correlation, float(values[0])
    if floor <= rounding:
        raise SettingError(
            f"{who} attributes that follow from each other, so the covariance has no inverse. Set variance_floor to "
            "1e-9 or more, or shrinkage above 0."
        )
    if values[0] < -rounding and np.ptp(rows) > 0:
        notes.append(
            f"{who} cells missing in such a way that covariances taken pair by pair contradict each other; they were "
            "mended (variance_floor)."
        )
    else:
        notes.append(
            f"{who} attributes that follow from each other, or fewer rows than attributes; the covariance was held up "
            "by variance_floor. Consider shrinkage."
        )
    clipped = (vectors * np.maximum(values, floor)) @ vectors.T
    return (clipped + clipped.T) / 2, floor
