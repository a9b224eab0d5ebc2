"""The prior: how probable each class is before anything is known of a row; and what every kind of draw shares."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from math import fsum
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.errors import SettingError, nearest, shown
from likely.models.fractions import Quotient, as_written
from likely.models.known import Shares
from likely.models.settings import Prior
from likely.sums.summary import Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The prior: how probable each class is before anything is known of a row. From counts, or as given.

TOLERANCE = 1e-9
"""How far given probabilities may be from summing to one."""


def prior_quotients(
    summary: Summary, prior: Prior, pseudo_count: float, known: Shares | None = None
) -> tuple[Quotient, ...]:
    """P(class), exact: (pseudo_count + n_c) / (pseudo_count * classes + n), or as given.

    Knowledge takes the place of the pseudo-count: (worth * p_c + n_c) / (worth + n). Where there is neither a row nor
    anything else to go by, all classes are alike.
    """
    classes = summary.classes
    if known is not None:
        _check_known(classes, prior, known)
    if prior == "uniform":
        return (Quotient(Fraction(1), Fraction(len(classes))),) * len(classes)
    if isinstance(prior, Mapping):
        return tuple(Quotient(Fraction(p.numerator), Fraction(p.denominator)) for p in _given(classes, prior))
    if prior != "observed":
        raise SettingError(
            f"There is no prior {shown(prior)}. Say 'observed', 'uniform' or give a probability per class."
        )
    extra = [as_written(pseudo_count)] * len(classes) if known is None else known.spread(classes)
    counts = [n + more for n, more in zip(summary.total.fractions(), extra, strict=True)]
    whole = sum(counts, Fraction(0))
    if not whole:
        return prior_quotients(summary, "uniform", 0.0)
    return tuple(Quotient(n, whole) for n in counts)


def _check_known(classes: tuple[str, ...], prior: Prior, known: Shares) -> None:
    if prior != "observed":
        raise SettingError(
            "There is knowledge of the classes, but the prior is uniform or given, so that it would have no say. "
            "Leave one of them out."
        )
    if known.held(classes):
        total = float(sum(known.shares.values()))
        raise SettingError(
            f"The classes that knowledge names sum to {total:.10g}, and there is no other class for the rest. "
            "Name them all."
        )


def _given(classes: tuple[str, ...], prior: Mapping[str, float]) -> list[Fraction]:
    for name in prior:
        if name not in classes:
            raise SettingError(f"The prior names {shown(name)}, which is not a class. {nearest(name, classes)}")
    for name in classes:
        if name not in prior:
            raise SettingError(f"The prior does not say how probable {shown(name)} is. Give every class a probability.")
        if not 0 <= prior[name] <= 1:
            raise SettingError(f"The prior of {shown(name)} is {prior[name]}. Probabilities lie between 0 and 1.")
    total = fsum(prior.values())
    if abs(total - 1) > TOLERANCE:
        raise SettingError(f"The given prior sums to {total:.10g}, not to 1. Correct the probabilities.")
    return [as_written(prior[name]) for name in classes]


# What every kind of draw shares: a checked number of rows, a seeded source of chance, cells as people write them.

DrawnRows: TypeAlias = dict[str, list[Any]]
"""Columns of cells as people write them."""
_DATES = (-62_135_596_800.0, 253_402_300_799.0)
"""The first and the last second of a date, counted from 1970."""


def chance(rows: int, seed: int) -> np.random.Generator:
    """What to draw this many rows with: the same seed, the same rows."""
    if not isinstance(rows, Integral) or rows < 0:
        raise SettingError(f"{shown(rows)} rows cannot be drawn. Ask for a whole number, zero or more.")
    if not isinstance(seed, Integral) or seed < 0:
        raise SettingError(f"seed is {shown(seed)}. It must be a whole number, zero or more.")
    return np.random.default_rng(int(seed))


def number_cells(cells: NDArray[np.float64], kind: str) -> list[Any]:
    """Drawn numbers as cells of a column of this kind; a missing one is None."""
    if kind == "date":
        # NaN becomes "not a time", which reads as None; beyond the years 1 to 9999 there are no dates.
        return (cells.clip(*_DATES) * 1e6).round().astype("datetime64[us]").tolist()  # type: ignore[no-any-return]
    return [None if math.isnan(x) else x for x in cells.tolist()]
