"""Naive Bayes of all rows but one, for each row: its own contribution is taken out of the sums, in closed form.

Knows counts and normal densities that stand alone; who joins, bins or knows beforehand has to learn anew instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Ints
from likely.models.factors.categorical import Categorical, categorical
from likely.models.naive.naive import NaiveBayes
from likely.models.naive.one_rule import Prior
from likely.models.posterior import Matrix
from likely.models.shapes import limit_distances
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats = Any
CLOSE = 1e-6
"""A sum of squares that falls to this share of what it was is worked out in fractions: doubles would cancel."""


@dataclass(frozen=True)
class LeaveOneOut:
    """log P(class, row) under naive Bayes (or the prior alone) learned from all rows but that row."""

    summary: Summary
    prior: str
    prior_pseudo_count: float
    factors: tuple[tuple[_Levels | _Normal, float], ...] = ()
    """With the weight of each."""
    temperature: float = 1.0

    def log_joint(self, batch: Batch, group: Ints, weight: NDArray[np.float64]) -> Matrix:
        """(rows, classes); a class of which this is the only row is impossible."""
        own = np.zeros((batch.rows, len(self.summary.classes)))
        own[np.arange(batch.rows), group] = weight
        total = self.summary.total.floats()
        rest = total - own
        left = rest > 0
        if self.prior == "uniform":
            counts = np.ones_like(rest)
        else:
            counts = rest + self.prior_pseudo_count
        counts = np.where(left, counts, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            out: Matrix = np.log(counts / counts.sum(axis=1, keepdims=True))
            for factor, share in self.factors:
                if share:
                    out += share * factor.terms(batch, own, group, weight)
        out[~left] = -np.inf
        return out if self.temperature == 1.0 else np.where(left, self.temperature * out, -np.inf)


def leave_one_out(learner: object, summary: Summary) -> LeaveOneOut | None:
    """The closed form for a learner and the summary of all rows; None where there is none."""
    if isinstance(learner, Prior):
        if learner.prior not in ("observed", "uniform"):
            return None
        return LeaveOneOut(summary, str(learner.prior), learner.pseudo_count)
    if type(learner) is not NaiveBayes or not _is_plain(learner, summary):
        return None
    temperature = getattr(learner, "temperature", 1.0)
    if not isinstance(temperature, float):
        return None
    settings, weights = learner.number_settings().normal, learner.attribute_weights or {}
    factors: list[tuple[_Levels | _Normal, float]] = []
    for column in summary.schema.attributes:
        held = summary.columns[column.name]
        if isinstance(held, Counts):
            own = categorical(column, held, learner.level_settings(column.name, summary))
            declared = np.isin(own.labels.names, column.levels) if column.levels else np.zeros(len(own.labels), bool)
            factors.append((_Levels(own, declared), weights.get(column.name, 1.0)))
        else:
            assert isinstance(held, Numbers)
            normal = _normal(column.name, held, settings)
            if normal is None:
                return None
            factors.append((normal, weights.get(column.name, 1.0)))
    return LeaveOneOut(summary, str(learner.prior), learner.prior_pseudo_count, tuple(factors), temperature)


def _is_plain(learner: NaiveBayes, summary: Summary) -> bool:
    """Whether every attribute stands alone, as counts or a normal density, and the rows are all there is to know."""
    said = learner.blocks or learner.knowledge or learner.level_weights is not None or learner.unseen == "error"
    numbers = [c for c in summary.schema.attributes if c.kind in ("number", "date")]
    kinds = all(learner.number_settings().kind(c.name) == "gaussian" for c in numbers)
    known = all(c.kind in ("nominal", "number", "date") for c in summary.schema.attributes)
    return not said and kinds and known and learner.prior in ("observed", "uniform")


# -- levels -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Levels:
    """Counts of levels."""

    factor: Categorical
    declared: NDArray[np.bool_]

    def terms(self, batch: Batch, own: Matrix, group: Ints, weight: NDArray[np.float64]) -> Matrix:
        """log P(cell | class), each row's own count taken out; a level that no other row has is unseen."""
        factor, settings = self.factor, self.factor.settings
        codes, table = factor.translated(batch.cells[factor.name]), factor.seen()
        known, levels = codes >= 0, len(factor.labels)
        place = np.maximum(codes, 0)
        gone, sums = factor.counts.other.floats()[0], table.sum(axis=0)
        alone = np.zeros(batch.rows, bool)
        if levels:
            alone = known & (table.sum(axis=1)[place] == weight) & ~self.declared[place]
        left = (levels - alone).astype(np.float64)
        extra = settings.pseudo_count if settings.m_estimate is None else settings.m_estimate / np.maximum(left, 1)
        one = np.broadcast_to(np.asarray(extra, np.float64), left.shape)
        below = sums - own * known[:, None] + (one * left)[:, None]
        if settings.missing_is_level:
            below = below + gone - own * ~known[:, None] + one[:, None]
        if settings.reserve:
            below = below + one[:, None]
        above = (table[place] if levels else np.zeros_like(own)) - own + one[:, None]
        if settings.missing_is_level:
            above = np.where(known[:, None], above, gone - own + one[:, None])
        above = np.where(alone[:, None], one[:, None], above)
        out = np.log(np.divide(above, below, out=np.zeros_like(above), where=below > 0))
        skipped = (~known & (not settings.missing_is_level)) | (alone & (not settings.reserve))
        return np.where(skipped[:, None], 0.0, out)


# -- normal densities ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Normal:
    """Moments of a number by class, and of all rows last; sums of squares about the means."""

    name: str
    settings: Any
    middle: Floats
    """The means, rounded; what they were rounded by is in `offset`, so that no digits are lost."""
    exact: tuple[tuple[Fraction, Fraction, Fraction], ...]
    weight: Floats
    offset: Floats
    squares: Floats
    there: Floats
    gone: Floats

    def terms(self, batch: Batch, own: Matrix, group: Ints, weight: NDArray[np.float64]) -> Matrix:
        """log density of the cell in each class, each row's own value taken out of the moments."""
        x = batch.cells[self.name]
        finite = np.isfinite(x)
        value = np.where(finite, x, self.middle[-1])
        n, offset, squares = self._without(value, np.where(finite, weight, 0.0), group)
        unbiased = self.settings.variance == "unbiased"
        below = n - 1 if unbiased else n
        variance = np.divide(squares, below, out=np.full_like(squares, np.nan), where=below > 0)
        if not unbiased:
            variance[(variance == 0) & (n <= 1)] = np.nan
        overall = variance[:, -1:]
        told = (np.nan_to_num(overall) > 0)[:, 0]
        each = np.fmax(variance[:, :-1], self.settings.floor * overall)
        each = np.where(np.isnan(variance[:, :-1]), overall, each)
        mean = self.middle + offset
        mean = np.where(n[:, :-1] > 0, mean[:, :-1], mean[:, -1:])
        left = (self.summary_weight(own) > 0) & told[:, None]
        if (left & (each == 0)).any():
            raise SettingError(
                f"Every value of {shown(self.name)} in some class is the same once a row is left out, so its variance "
                "is zero. Set variance_floor above 0."
            )
        deviation = np.sqrt(np.where(told[:, None], each, 1.0))
        out = -0.5 * np.log(2 * np.pi) - np.log(deviation)
        apart = np.minimum(np.abs(value[:, None] - mean), limit_distances(deviation.T).T)
        out = out - (apart * (np.sqrt(0.5) / deviation)) ** 2
        absent = np.zeros_like(out)
        if self.settings.missing_is_level:
            there, gone = self.there - own * finite[:, None], self.gone - own * ~finite[:, None]
            more = self.settings.pseudo_count
            out = out + np.log((there + more) / (there + gone + 2 * more))
            absent = np.log((gone + more) / (there + gone + 2 * more))
        return np.where(told[:, None], np.where(finite[:, None], out, absent), 0.0)

    def summary_weight(self, own: Matrix) -> Matrix:
        """What is left of each class."""
        return np.asarray(self.there + self.gone - own)

    def _without(self, x: Floats, weight: Floats, group: Ints) -> tuple[Floats, Floats, Floats]:
        """Weight, mean (less the middle) and sum of squares of each class and of all, without each row."""
        rows, here = len(x), np.arange(len(x))
        n, offset, squares = (np.tile(a, (rows, 1)) for a in (self.weight, self.offset, self.squares))
        for column in (group, np.full(rows, len(self.weight) - 1)):
            before, m, s = n[here, column], offset[here, column], squares[here, column]
            away = x - self.middle[column]
            after = before - weight
            some = (weight > 0) & (after > 0)
            step = np.divide(weight, after, out=np.zeros(rows), where=some)
            n[here, column] = np.where(weight > 0, np.maximum(after, 0.0), before)
            offset[here, column] = m - step * (away - m) * some
            fallen = s - step * before * (away - m) ** 2
            squares[here, column] = np.where(weight > 0, np.where(after > 0, np.maximum(fallen, 0.0), 0.0), s)
            close = np.flatnonzero(some & (fallen < CLOSE * s))
            for i in close.tolist():
                total, first, second = self.exact[int(column[i])]
                value, gone = Fraction(float(x[i])), Fraction(float(weight[i]))
                total, first, second = total - gone, first - gone * value, second - gone * value * value
                offset[i, column[i]] = float(first / total - Fraction(float(self.middle[column[i]])))
                squares[i, column[i]] = float(second - first * first / total)
        return n, offset, squares


def _normal(name: str, numbers: Numbers, settings: Any) -> _Normal | None:
    """The moments, rounded; None where doubles do not hold them."""
    each = numbers.moments()
    whole: Any = tuple(sum(part, Fraction(0)) for part in zip(*each, strict=True))
    exact = (*each, whole)
    try:
        middle = np.array([float(a / n) if n else 0.0 for n, a, _ in exact])
        weight = np.array([float(n) for n, _, _ in exact])
        offset = np.array(
            [float(a / n - Fraction(float(m))) if n else 0.0 for (n, a, _), m in zip(exact, middle, strict=True)]
        )
        squares = np.array([float(b - a * a / n) if n else 0.0 for n, a, b in exact])
    except OverflowError:
        return None
    if not (np.isfinite(squares).all() and np.isfinite(offset).all()) or ((squares > 0) & (squares < 1e-280)).any():
        return None
    there, gone = numbers.weight().floats(), numbers.other.sum(0).floats()
    return _Normal(name, settings, middle, exact, weight, offset, squares, there, gone)
