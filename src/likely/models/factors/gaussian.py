"""The Gaussian factor: a normal density of one number for each class, from exact sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from likely.errors import SettingError, shown
from likely.models.knowledge.known import Normal
from likely.models.quotient import Quotient, as_written, log_of
from likely.models.setting_values import Variance
from likely.models.shapes import Gaussian, Presence, limit_distances
from likely.sums.columns.numbers import Numbers

Moments = tuple[Fraction, Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class NormalSettings:
    """How sums become a normal density."""

    variance: Variance
    floor: float
    missing_is_level: bool
    pseudo_count: float


def mean_of(moments: Moments) -> Fraction:
    weight, first, _ = moments
    return first / weight


def variance_of(moments: Moments, kind: Variance, worth: Fraction = Fraction(0)) -> Fraction | None:
    """The variance, exact; None where the rows are too few to have one.

    So much of the weight, `worth`, is knowledge. Its deviation is known, not estimated: it costs no degree of freedom.
    """
    weight, first, second = moments
    below = weight
    if kind == "unbiased":
        below = max(weight - worth - 1, Fraction(0)) + worth if worth else weight - 1
    if below <= 0:
        return None
    return (second - first * first / weight) / below


def with_known(moments: Moments, known: Normal | None) -> Moments:
    """The sums of a class's rows and of the rows that knowledge of it is worth."""
    if known is None:
        return moments
    weight, first, second = moments
    worth, mean = known.worth, known.mean
    return weight + worth, first + worth * mean, second + worth * (known.variance + mean * mean)


def root_of(variance: Fraction) -> float:
    """The square root, also where the variance is beyond a double's range; never less than the least normal double."""
    shift = (variance.numerator.bit_length() - variance.denominator.bit_length()) // 2
    root = math.sqrt(variance / Fraction(4) ** shift)
    least, most = float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).max)
    # Least: 1 / root must be finite. Most: the spread of -1.7e308 and 1.7e308 is more than a double holds.
    return most if shift > 1023 else max(math.ldexp(root, shift), least)


def gaussian(
    name: str,
    numbers: Numbers,
    settings: NormalSettings,
    classes: tuple[str, ...],
    knowledge: Sequence[Normal | None] = (),
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
    knowledge: Sequence[Normal | None],
) -> Gaussian | None:
    believed = knowledge or (None,) * len(classes)
    per_class = [with_known(m, k) for m, k in zip(numbers.moments(), believed, strict=True)]
    worths = [Fraction(0) if k is None else k.worth for k in believed]
    whole: Moments = tuple(sum(part, Fraction(0)) for part in zip(*per_class, strict=True))  # type: ignore[assignment]
    overall = variance_of(whole, settings.variance, sum(worths, Fraction(0))) if whole[0] else None
    if not overall:
        return None
    floor = Fraction(settings.floor) * overall
    means, roots, borrowed = [], [], []
    for moments, label, belief, worth in zip(per_class, classes, believed, worths, strict=True):
        least = floor if belief is None else min(floor, belief.variance)
        own = variance_of(moments, settings.variance, worth) if moments[0] else None
        if settings.variance == "ml" and own == 0 and moments[0] <= 1:
            own = None
        means.append(float(mean_of(moments if moments[0] else whole)))
        borrowed.append(own is None)
        variance = overall if own is None else max(own, least)
        if variance == 0:
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
