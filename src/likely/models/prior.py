"""The prior: how probable each class is before anything is known of a row. From counts, or as given."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import fsum
from typing import Literal

from likely.errors import SettingError, nearest, shown
from likely.models.quotient import Quotient, as_written
from likely.sums.summary import Summary

Prior = Literal["observed", "uniform"] | Mapping[str, float]
TOLERANCE = 1e-9
"""How far given probabilities may be from summing to one."""


def prior_quotients(summary: Summary, prior: Prior, pseudo_count: float) -> tuple[Quotient, ...]:
    """P(class), exact: (pseudo_count + n_c) / (pseudo_count * classes + n), or as given."""
    classes = summary.classes
    if prior == "uniform":
        return (Quotient(Fraction(1), Fraction(len(classes))),) * len(classes)
    if isinstance(prior, Mapping):
        return tuple(Quotient(Fraction(p.numerator), Fraction(p.denominator)) for p in _given(classes, prior))
    if prior != "observed":
        raise SettingError(
            f"There is no prior {shown(prior)}. Say 'observed', 'uniform' or give a probability per class."
        )
    extra = as_written(pseudo_count)
    counts = [n + extra for n in summary.total.fractions()]
    whole = sum(counts, Fraction(0))
    return tuple(Quotient(n, whole) for n in counts)


def _given(classes: tuple[str, ...], prior: Mapping[str, float]) -> list[Fraction]:
    for name in prior:
        if name not in classes:
            raise SettingError(f"The prior names {shown(name)}, which is no class. {nearest(name, classes)}")
    for name in classes:
        if name not in prior:
            raise SettingError(f"The prior does not say how probable {shown(name)} is. Give every class a probability.")
        if not 0 <= prior[name] <= 1:
            raise SettingError(f"The prior of {shown(name)} is {prior[name]}. Probabilities lie between 0 and 1.")
    total = fsum(prior.values())
    if abs(total - 1) > TOLERANCE:
        raise SettingError(f"The given prior sums to {total:.10g}, not to 1. Mend the probabilities.")
    return [as_written(prior[name]) for name in classes]
