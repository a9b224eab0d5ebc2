"""Normal densities, one number or several, for each class: means and products about them, from exact sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.errors import SettingError, shown
from likely.models.fractions import Quotient, as_float, as_written, log_of
from likely.models.prior import NormalKnowledge
from likely.models.settings import Shrinkage, Variance
from likely.models.shapes import ExactMoments, Gaussian, MultivariateNormal, Presence, limit_distances
from likely.sums.columns.numbers import Numbers
from likely.sums.contracts import request
from likely.sums.rows.products import Products
from likely.sums.summary import Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Means and products about them, exact, from sums of products: for each class, over the pairs of cells that are
# there.


@dataclass(frozen=True)
class Covariances:
    """top / bottom is the covariance of each pair of attributes, where `known`; `rows` is n - 1."""

    top: Any
    bottom: Any
    known: NDArray[np.bool_]
    rows: NDArray[np.float64]

    def variance(self, i: int) -> Fraction | None:
        """The variance of one attribute, exact; None where the rows are too few to have one."""
        return Fraction(self.top[i, i], self.bottom[i, i]) if self.known[i, i] else None

    def correlations(self, deviation: NDArray[np.float64]) -> NDArray[np.float64]:
        """Covariances in units of the deviations, each rounded once; 0 where unknown, 1 on the diagonal."""
        parts = [d.as_integer_ratio() for d in deviation.tolist()]
        tops, bottoms = (np.array([p[k] for p in parts], object) for k in (0, 1))
        above = np.where(self.known, self.top * np.multiply.outer(bottoms, bottoms), 0)
        below = np.where(self.known, self.bottom * np.multiply.outer(tops, tops), 1)
        out = np.array(above / below, np.float64).reshape(self.known.shape)
        np.fill_diagonal(out, 1.0)
        return out


@dataclass(frozen=True)
class Scatter:
    """Sums over classes: `weight[i, j, c]` of rows that have both cells, `first[i, j, c]` of cell i over them, and
    `second[i, j, c]` of their products; all in units of 1 / `one`."""

    names: tuple[str, ...]
    one: int
    weight: Any
    first: Any
    second: Any

    def mean(self, i: int, c: int) -> float | None:
        """The mean of attribute i in class c over the cells that are there; None where there are none."""
        weight = self.weight[i, i, c]
        return float(Fraction(self.first[i, i, c], weight)) if weight else None

    def whole(self) -> Scatter:
        """All classes as one."""
        sums = (np.sum(part, axis=2, keepdims=True) for part in (self.weight, self.first, self.second))
        return Scatter(self.names, self.one, *sums)

    def covariances(self, c: int, variance: Variance) -> Covariances:
        """(sum of xy - sum of x * sum of y / n) / (n - 1 or n) within class c."""
        weight, first, second = (part[:, :, c] for part in (self.weight, self.first, self.second))
        top = weight * second - first * first.T
        return self._known(top, weight, weight, self.one, variance)

    def pooled(self, variance: Variance) -> Covariances:
        """The same products added over the classes, each about its own means: / (n - classes) or / n."""
        some = np.array(self.weight != 0, np.bool_)
        weight = np.where(some, self.weight, self.one)
        multiple = reduce(np.lcm, np.moveaxis(weight, 2, 0))
        tops = weight * self.second - self.first * np.swapaxes(self.first, 0, 1)
        top = np.sum(tops * (multiple[:, :, None] // weight), axis=2)
        lost = some.sum(axis=2).astype(object) * self.one
        return self._known(top, multiple, np.sum(self.weight, axis=2), lost, variance)

    def _known(self, top: Any, divisor: Any, weight: Any, lost: Any, variance: Variance) -> Covariances:
        below = weight - lost if variance == "unbiased" else weight
        known = np.array(below > 0, np.bool_)
        if variance == "ml":
            # One row has no spread, though its sums say zero; rows of little weight do have one (as in Gaussian).
            lone = np.array((weight <= lost) & (top == 0), np.bool_).diagonal()
            known &= ~(lone[:, None] | lone)
        bottom = np.where(known, divisor * below, 1)
        rows = np.array(np.maximum(weight - lost, 0) / self.one, np.float64).reshape(known.shape)
        return Covariances(top, bottom, known, rows)


def scatter(summary: Summary, columns: tuple[str, ...] | None = None) -> Scatter:
    """Read the numbers' sums (of these columns alone, if any are named) out of a summary's sums of products."""
    names = columns or tuple(c.name for c in summary.schema.attributes if c.kind != "nominal")
    size, groups = len(names), len(summary.classes)
    if not names:
        empty = np.zeros((0, 0, groups), object)
        return Scatter((), 1, empty, empty, empty)
    products = summary.more.get(request("products", columns), summary.more.get("products"))
    if not isinstance(products, Products):
        raise SettingError(
            "This summary keeps no sums of products, which a covariance is made of. Fit the table itself, or "
            f"summarize it with more=['{request('products', columns)}']."
        )
    index = {feature: k for k, feature in enumerate(products.features)}
    values, there = (np.array([index[kind, name, ""] for name in names], np.intp) for kind in ("value", "there"))
    i, j = np.triu_indices(size)
    # Sums of pairs are the same either way round: they are turned into Python's integers once.
    rows = np.concatenate([there[i], values[i], np.repeat(values, size)])
    across = np.concatenate([there[j], values[j], np.tile(there, size)])
    held, exponent = products.table[rows, across].wholes()
    sums = np.array(held, object).reshape(-1, groups) * (1 << max(exponent, 0))
    one = 1 << max(-exponent, 0)
    weight, second = (np.empty((size, size, groups), object) for _ in range(2))
    weight[i, j] = weight[j, i] = sums[: len(i)]
    second[i, j] = second[j, i] = sums[len(i) : 2 * len(i)]
    return Scatter(names, one, weight, sums[2 * len(i) :].reshape(size, size, groups), second)


# The Gaussian factor: a normal density of one number for each class, from exact sums.

Rational: TypeAlias = "Fraction | int"
Moments: TypeAlias = "tuple[Rational, Rational, Rational]"
"""A weight, the sum of x, and that of x*x."""
LEAST, MOST = float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True)
class NormalSettings:
    """How sums become a normal density."""

    variance: Variance
    floor: float
    missing_is_level: bool
    pseudo_count: float


def mean_of(moments: Moments) -> Fraction:
    weight, first, _ = moments
    return Fraction(first, weight)


def variance_of(moments: Moments, kind: Variance, worth: Rational = 0, one: int = 1) -> Fraction | None:
    """The variance, exact; None where the rows are too few to have one. Moments and `worth` are in units of 1 / one.

    So much of the weight, `worth`, is knowledge. Its deviation is known, not estimated: it costs no degree of freedom.
    """
    weight, first, second = moments
    below = weight
    if kind == "unbiased":
        below = max(weight - worth - one, 0) + worth if worth else weight - one
    if below <= 0:
        return None
    return Fraction(second * weight - first * first, weight * below)  # reduced once: that takes most of the time


def with_known(moments: Moments, known: NormalKnowledge | None) -> Moments:
    """The sums of a class's rows and of the rows that knowledge of it is worth."""
    if known is None:
        return moments
    weight, first, second = moments
    worth, mean = known.worth, known.mean
    return weight + worth, first + worth * mean, second + worth * (known.variance + mean * mean)


def root_of(variance: Fraction) -> float:
    """The square root, also where the variance is beyond a double's range; never less than the least normal double."""
    top, bottom = variance.as_integer_ratio()
    shift = (top.bit_length() - bottom.bit_length()) // 2
    root = math.sqrt(top / (bottom << 2 * shift) if shift >= 0 else (top << -2 * shift) / bottom)
    # Least: 1 / root must be finite. Most: the spread of -1.7e308 and 1.7e308 is more than a double holds.
    return MOST if shift > 1023 else max(math.ldexp(root, shift), LEAST)


def gaussian(
    name: str,
    numbers: Numbers,
    settings: NormalSettings,
    classes: tuple[str, ...],
    knowledge: Sequence[NormalKnowledge | None] = (),
) -> Gaussian | None:
    """Derive the factor; None where the attribute has no spread at all and so says nothing.

    A class without a spread of its own (one value, or none) borrows the attribute's; one without a value also its mean.
    A variance below floor * the attribute's variance is raised to it, but to no more than knowledge says it is.
    """
    if not knowledge:
        return numbers.cached(
            ("gaussian", name, settings, classes), lambda own: _gaussian(name, own, settings, classes, ())
        )
    return _gaussian(name, numbers, settings, classes, knowledge)


def _gaussian(
    name: str,
    numbers: Numbers,
    settings: NormalSettings,
    classes: tuple[str, ...],
    knowledge: Sequence[NormalKnowledge | None],
) -> Gaussian | None:
    believed = knowledge or (None,) * len(classes)
    # Knowledge comes in fractions. Sums alone are whole numbers of 1 / one, with which Python is far quicker.
    one, sums = (1, numbers.moments()) if knowledge else numbers.whole_moments()
    per_class: list[Moments] = [with_known(m, k) for m, k in zip(sums, believed, strict=True)]  # type: ignore[arg-type]
    worths: list[Rational] = [0 if k is None else k.worth for k in believed]
    whole: Moments = tuple(map(sum, zip(*per_class, strict=True)))  # type: ignore[assignment]
    overall = variance_of(whole, settings.variance, sum(worths), one) if whole[0] else None
    if not overall:
        return None
    floor = Fraction(settings.floor) * overall
    means, roots, borrowed = [], [], []
    for moments, label, belief, worth in zip(per_class, classes, believed, worths, strict=True):
        least = floor if belief is None else min(floor, belief.variance)
        own = variance_of(moments, settings.variance, worth, one) if moments[0] else None
        if settings.variance == "ml" and own == 0 and moments[0] <= one:
            own = None
        weight, first, _ = moments if moments[0] else whole
        means.append(float(first / weight))
        borrowed.append(own is None)
        variance = overall if own is None else max(own, least)
        if not variance:
            raise SettingError(
                f"Every value of {shown(name)} in class {shown(label)} is the same, so its variance is zero. "
                "Set variance_floor above 0."
            )
        roots.append(root_of(variance))
    deviation = np.array(roots)
    peak = -0.5 * math.log(2 * math.pi) - np.log(deviation)
    absent = np.zeros(len(deviation))
    known = known_shares(numbers, settings.pseudo_count) if settings.missing_is_level else None
    if known is not None:
        there, gone = (log_of(column) for column in zip(*known, strict=True))
        peak, absent = peak + there, gone
    rate = math.sqrt(0.5) / deviation
    return Gaussian(
        name,
        np.array(means),
        deviation,
        peak,
        rate,
        limit_distances(deviation),
        absent,
        np.array(borrowed),
        known,
        tuple(knowledge),
        settings.variance == "unbiased",
    )


def known_shares(numbers: Numbers, pseudo_count: float) -> Presence:
    """P(known | class) and P(missing | class): two levels, smoothed like any. An infinite cell counts as missing."""
    extra = as_written(pseudo_count)
    there, gone = numbers.weight().fractions(), numbers.other.sum(0).fractions()
    return tuple(
        (Quotient(t + extra, t + g + 2 * extra), Quotient(g + extra, t + g + 2 * extra))
        for t, g in zip(there, gone, strict=True)
    )


# The normal factor: a multivariate normal density of the numbers for each class, from exact sums of products.


@dataclass(frozen=True, slots=True)
class CovarianceSettings:
    """How sums of products become covariances."""

    variance: Variance
    floor: float
    shrinkage: Shrinkage


def normal(sums: Scatter, classes: tuple[str, ...], settings: CovarianceSettings, pooled: bool) -> MultivariateNormal:
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
    return MultivariateNormal(
        tuple(sums.names[i] for i in kept),
        np.array(means).reshape(len(classes), len(kept)),
        np.array(deviations * times).reshape(len(classes), len(kept)),
        np.array(correlations * times).reshape(len(classes), len(kept), len(kept)),
        np.array(least * times),
        tuple(dict.fromkeys(notes)),
    )


def exact_moments(summary: Summary, density: MultivariateNormal, variance: Variance) -> tuple[ExactMoments | None, ...]:
    """Mean and covariance of each class as fractions; None where the density went by others: borrowed, shrunk, mended.

    Sums are exact, so this is what a person works out by hand from the rows.
    """
    sums = scatter(summary)
    at = [sums.names.index(name) for name in density.names]
    pooled = sums.pooled(variance) if density.pooled else None
    out: list[ExactMoments | None] = []
    for c in range(len(summary.classes)):
        part = _part(sums.covariances(c, variance) if pooled is None else pooled, at)
        weights = [sums.weight[i, i, c] for i in at]
        if not (part.known.all() and all(weights)):
            out.append(None)
            continue
        mean = tuple(Fraction(sums.first[i, i, c], w) for i, w in zip(at, weights, strict=True))
        each = zip(part.top.tolist(), part.bottom.tolist(), strict=True)
        covariance = tuple(tuple(map(Fraction, tops, bottoms)) for tops, bottoms in each)
        near = np.array([[as_float(v) for v in row] for row in covariance])
        rounding = 1e-12 * float(np.abs(near).max(initial=0))
        same = math.isfinite(rounding) and np.allclose(near, density.covariance[c], rtol=1e-9, atol=rounding)
        out.append((mean, covariance) if same else None)
    return tuple(out)


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
