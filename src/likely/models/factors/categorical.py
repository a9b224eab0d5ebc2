"""The categorical factor: P(level | class) of one nominal attribute, from counts with a pseudo-count or m-estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from likely.errors import SettingError, nearest, shown
from likely.models.fractions import Quotient, as_written
from likely.models.prior import Shares
from likely.models.shapes import LevelTable, Ratio, Ratios
from likely.sums.columns.counts import Counts
from likely.table.batch import MISSING_CODE, UNSEEN_CODE
from likely.table.labels import Labels
from likely.table.schema import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class LevelSettings:
    """How counts become probabilities."""

    pseudo_count: float
    m_estimate: float | None
    level_weights: Mapping[str, float] | None
    missing_is_level: bool
    reserve: bool
    known: tuple[Shares | None, ...] = ()
    """Knowledge of the levels in each class, which takes the place of smoothing there; empty where there is none."""


@dataclass(frozen=True, eq=False)
class Categorical(LevelTable):
    """log P(level | class) from counts."""

    counts: Counts
    settings: LevelSettings
    """Where the table came from, so that its numbers can be shown as they were counted."""

    def shares(self, group: int) -> list[float]:
        """What smoothing or knowledge adds to the count of each level in class number `group`."""
        return [float(s) for s in _exact_shares(self.labels.names, self.settings, group)]

    def held(self, group: int) -> float:
        """What knowledge keeps for levels yet to come."""
        return float(_reserved(self.labels.names, self.settings, group))

    def seen(self) -> NDArray[np.float64]:
        """What each level weighs in each class, (levels, classes)."""
        return observed_counts(self.labels.names, self.counts)

    def quotients(self, code: int) -> tuple[Quotient, ...] | None:
        """P(level number `code` | class) for each class, exact; None where the factor is left out.

        Negative codes as in a batch: a missing cell, an unseen level.
        """
        settings, counts, names = self.settings, self.counts, self.labels.names
        if (code == MISSING_CODE and not settings.missing_is_level) or (code == UNSEEN_CODE and not settings.reserve):
            return None
        gone, sums = counts.other[0].fractions(), counts.table[: len(counts.labels)].sum(0).fractions()
        place = counts.labels.index.get(names[code]) if code >= 0 else None
        seen = [Fraction(0)] * counts.groups if place is None else counts.table[place].fractions()
        out = []
        every = None if settings.known else _exact_shares(names, settings, 0)
        for group in range(counts.groups):
            shares = _exact_shares(names, settings, group) if every is None else every
            one = sum(shares, Fraction(0)) / len(shares) if shares else _equal_share(0, settings)
            held = _reserved(names, settings, group)
            bottom = sums[group] + sum(shares, Fraction(0)) + held
            bottom += one * (settings.missing_is_level + settings.reserve)
            bottom += gone[group] if settings.missing_is_level else 0
            if code == MISSING_CODE:
                top = gone[group] + one
            elif code == UNSEEN_CODE:
                top = one + held
            else:
                top = seen[group] + shares[code]
            out.append(Quotient(top, bottom))
        return tuple(out)

    def ratios(self) -> Ratios:
        """As rows and knowledge have it: what knowledge is worth counts as so many rows."""
        names, settings, counts = self.labels.names, self.settings, self.counts
        levels, unseen, missing = table(names, counts, settings, self.name)
        seen = self.seen()
        known = np.array([shares is not None for shares in settings.known or (None,) * counts.groups])
        alone = len(names) + settings.missing_is_level + settings.reserve < 2

        def ratio(code: int) -> Ratio | None:
            if code >= 0:
                top, bottom = levels[0][code], levels[1][code]
                return Ratio(top, bottom, seen[code], np.where(known, top, seen[code]), alone)
            found = missing if code == MISSING_CODE else unseen
            if found is None:
                return None
            there = counts.other[0].floats() if code == MISSING_CODE else np.zeros(counts.groups)
            return Ratio(found[0][0], found[1][0], there, there)

        return ratio


def domain(column: Column, counts: Counts, known: Sequence[Shares | None] = ()) -> list[str]:
    """All levels: those that rows have, those that the file declared, and those that knowledge names."""
    named = (name for shares in known if shares is not None for name in shares.shares)
    return sorted({*counts.labels.names, *column.levels, *named})


def categorical(column: Column, counts: Counts, settings: LevelSettings) -> Categorical:
    """Derive the factor. Rounding happens here, once for each probability, before its log."""
    return categorical_over(column.name, domain(column, counts, settings.known), counts, settings)


def shares_in_training(column: Column, counts: Counts, pseudo_count: float = 0.0) -> Categorical:
    """The shares of levels as training had them, for a model that says nothing of the attribute by itself."""
    return categorical(column, counts, LevelSettings(pseudo_count, None, None, False, False))


def categorical_over(name: str, names: list[str], counts: Counts, settings: LevelSettings) -> Categorical:
    """The factor over these levels, in this order."""
    levels, unseen, missing = table(names, counts, settings, name)
    with np.errstate(divide="ignore"):
        rows = [np.log(_round_ratio(levels))]
        none = np.zeros((1, counts.groups))
        rows.append(none if unseen is None else np.log(_round_ratio(unseen)))
        rows.append(none if missing is None else np.log(_round_ratio(missing)))
    return Categorical(name, Labels(names), np.ascontiguousarray(np.concatenate(rows)), counts, settings)


_Ratio: TypeAlias = "tuple[NDArray[np.float64], NDArray[np.float64]]"
"""Numerators and denominators of probabilities, each rounded once."""


def _round_ratio(ratio: _Ratio) -> NDArray[np.float64]:
    top, bottom = ratio
    # A class that never shows this attribute, without smoothing: 0/0. Its levels are then impossible, not undefined.
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def table(
    names: list[str], counts: Counts, settings: LevelSettings, column: str
) -> tuple[_Ratio, _Ratio | None, _Ratio | None]:
    """P(level | class) as ratios: the levels, the mass reserved for others, the missing cells."""
    seen, gone = observed_counts(names, counts), counts.other.floats()[:1]
    # One column for each class where knowledge tells them apart, else one for all of them.
    groups = range(counts.groups if settings.known else 1)
    columns = [_shares(names, settings, column, group) for group in groups]
    held = np.array([float(_reserved(names, settings, group)) for group in groups])
    # What smoothing adds to one more level.
    one = np.array([float(s.mean()) if len(s) else float(_equal_share(0, settings)) for s in columns])
    total = counts.table[: len(counts.labels)].sum(0).floats() + np.array([s.sum() for s in columns]) + held
    if settings.missing_is_level:
        total = total + gone[0] + one
    if settings.reserve:
        total = total + one
    row = np.broadcast_to(total, gone.shape)
    levels = (seen + np.stack(columns, axis=1), np.broadcast_to(total, seen.shape))
    unseen = (np.broadcast_to(one + held, gone.shape), row) if settings.reserve else None
    missing = (gone + one, row) if settings.missing_is_level else None
    return levels, unseen, missing


def observed_counts(names: list[str], counts: Counts) -> NDArray[np.float64]:
    """What each of these levels weighs in each class, (levels, classes)."""
    out = np.zeros((len(names), counts.groups))
    places = {name: k for k, name in enumerate(names)}
    rows = np.array([places[n] for n in counts.labels.names], np.intp)
    out[rows] = counts.table[: len(counts.labels)].floats()
    return out


def _shares(names: list[str], settings: LevelSettings, column: str, group: int) -> NDArray[np.float64]:
    """What is added to the count of each level: the pseudo-count, or p(level) times m (of the m-estimate) or the worth
    of knowledge."""
    given = settings.level_weights
    if settings.known and settings.known[group] is not None:
        return np.array([float(s) for s in _exact_shares(names, settings, group)], np.float64)
    if settings.m_estimate is None or given is None:
        return np.full(len(names), float(_equal_share(len(names), settings)))
    for name in given:
        if name not in names:
            raise SettingError(f"The level weights of {shown(column)} name {shown(name)}. {nearest(name, names)}")
    total = fsum(given.values())
    if not abs(total - 1) <= 1e-9 or min(given.values()) < 0:  # "not <=", so that NaN is refused too
        raise SettingError(
            f"The level weights of {shown(column)} must not be negative and must sum to 1, not {total:.10g}."
        )
    return np.array([float(s) for s in _exact_shares(names, settings, group)])


def _exact_shares(names: list[str], settings: LevelSettings, group: int) -> list[Fraction]:
    given, known = settings.level_weights, settings.known[group] if settings.known else None
    if known is not None:
        return known.spread(names)
    if settings.m_estimate is None or given is None:
        return [_equal_share(len(names), settings)] * len(names)
    return [as_written(settings.m_estimate) * as_written(given.get(name, 0.0)) for name in names]


def _reserved(names: list[str], settings: LevelSettings, group: int) -> Fraction:
    """What knowledge keeps for levels yet to come, where it names all of `names` and they do not sum to 1."""
    known = settings.known[group] if settings.known else None
    return Fraction(0) if known is None else known.held(names)


def _equal_share(levels: int, settings: LevelSettings) -> Fraction:
    """What smoothing adds to each of `levels` levels; also to one more, where training had no level at all."""
    if settings.m_estimate is None:
        return as_written(settings.pseudo_count)
    return as_written(settings.m_estimate) / max(levels, 1)
