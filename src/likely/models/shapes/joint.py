"""What is believed of several attributes together: a joint table or a normal density for each class; blocks of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from likely.machinery.arrays import Floats
from likely.models import kernels
from likely.models.fractions import Quotient, log_fraction
from likely.models.shapes.block import Axis
from likely.models.shapes.column import Exhibit, Presence, limit_distances
from likely.sums.exact import Exact
from likely.table.batch import Batch
from likely.table.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

TABLE_ROOM, NORMAL_ROOM = 1 << 23, 1 << 22
"""Numbers (64 MB, 32 MB) that tables and densities of patterns of missing cells may take, kept for the next batch."""

# Rows that lack the same cells, together: so that a model works once for each pattern and never row by row.


def patterns(there: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """For each pattern of cells that are there: their columns, and the rows that have just these.

    >>> [(c.tolist(), r.tolist()) for c, r in patterns(np.array([[True, True], [True, False], [True, True]]))]
    [([0], [1]), ([0, 1], [0, 2])]
    """
    if not len(there):
        return
    if there.all():
        yield np.arange(there.shape[1]), np.arange(len(there))
        return
    packed = np.packbits(there, axis=1)
    _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    which = which.reshape(-1)
    order = np.argsort(which, kind="stable")
    for k, rows in enumerate(np.split(order, np.cumsum(np.bincount(which))[:-1])):
        yield np.flatnonzero(there[first[k]]), rows


ExactMoments: TypeAlias = tuple[tuple[Fraction, ...], tuple[tuple[Fraction, ...], ...]]
"""The mean and the covariance of a class."""


@dataclass(frozen=True)
class TablePart:
    """The table over some of the attributes: the cells as paths of sorted steps, and log P(cell | class)."""

    steps: tuple[tuple[NDArray[np.int64], int], ...]
    """For each attribute: the sorted values of path * size + code that some row has, and size."""
    log_table: NDArray[np.float64]
    """(cells + 1, classes); the last row is for cells that no row has."""

    def find(self, codes: NDArray[np.int64]) -> NDArray[np.intp]:
        """The place of each row of codes in `log_table`."""
        path = np.zeros(len(codes), np.int64)
        lost = np.zeros(len(codes), np.bool_)
        for column, (known, size) in zip(codes.T, self.steps, strict=True):
            wanted = path * size + column
            path = np.searchsorted(known, wanted).astype(np.int64)
            lost |= path == len(known)
            path[lost] = 0
            lost |= known[path] != wanted if len(known) else True
        return np.where(lost, len(self.log_table) - 1, path).astype(np.intp)


@dataclass(frozen=True)
class JointTable:
    """(n + extra) / (N + extra * cells) for each combination of levels, N being the complete rows of the class."""

    names: tuple[str, ...]
    labels: tuple[Labels, ...]
    reserve: bool
    """Whether each domain has one more level, for all that training did not have."""
    codes: NDArray[np.int64]
    """(combinations that some row has, attributes)"""
    counts: Exact
    """(those combinations, classes)"""
    extra: Fraction
    """The pseudo-count of a combination."""
    missing_is_level: bool = False
    """Whether each domain has one more level, the last, for a cell that is missing."""
    starts: tuple[NDArray[np.float64] | None, ...] = ()
    """For each attribute that is a number cut into bins, the least number of each bin but the first; None: levels.
    Empty where all have levels."""
    ends: tuple[tuple[float, float] | None, ...] = ()
    """The least and the greatest value of each such number in training."""
    _parts: dict[bytes, TablePart] = field(default_factory=dict, repr=False)

    def starts_of(self, k: int) -> Floats | None:
        """Where attribute k is cut into bins; None where it has levels."""
        return self.starts[k] if self.starts else None

    def other_codes(self, k: int) -> tuple[int, int]:
        """The codes of an unseen level and of a missing cell in domain k; -1 where such a cell is left out."""
        size, reserve = len(self.labels[k]), self.reserve and self.starts_of(k) is None
        return (size if reserve else -1), (size + reserve if self.missing_is_level else -1)

    @property
    def sizes(self) -> list[int]:
        """How many levels each domain has."""
        return [len(names) + sum(c >= 0 for c in self.other_codes(k)) for k, names in enumerate(self.labels)]

    @property
    def cells(self) -> int:
        """How many combinations there are."""
        return math.prod(self.sizes)

    def totals(self) -> list[Fraction]:
        """What the complete rows of each class weigh."""
        return self.counts.sum(0).fractions()

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The domains."""
        each = zip(self.names, self.labels, self.sizes, strict=True)
        others = [self.other_codes(k) for k in range(len(self.names))]
        return tuple(
            Axis(name, labels, self.starts_of(k), missing=others[k][1], unseen=others[k][0], count=size)
            for k, (name, labels, size) in enumerate(each)
        )

    def translated(self, batch: Batch) -> NDArray[np.int64]:
        """The codes of rows in each domain, -1 where they have none, (rows, attributes)."""
        out = np.empty((batch.rows, len(self.names)), np.int64)
        for k, axis in enumerate(self.axes):
            out[:, k] = axis.codes(batch.cells[axis.name])
        return out

    @property
    def log_totals(self) -> Floats:
        """log(N + extra * cells) of each class; 0 where that is 0: every cell is impossible then, not undefined."""
        whole = self.extra * self.cells
        return np.array([log_fraction(n + whole) if n + whole else 0.0 for n in self.totals()])

    def part(self, places: NDArray[np.intp]) -> TablePart:
        """The table summed over all attributes but those at `places`."""
        key = places.tobytes()
        found = self._parts.get(key)
        if found is None:
            found = self._summed(places)
            size = self.codes.size + self.counts.shape[0] * self.counts.shape[1]
            if (len(self._parts) + 1) * size <= TABLE_ROOM or not self._parts:
                self._parts[key] = found
        return found

    def _summed(self, places: NDArray[np.intp]) -> TablePart:
        steps, path = [], np.zeros(len(self.codes), np.int64)
        for place in places.tolist():
            size = self.sizes[place]
            known, path = np.unique(path * size + self.codes[:, place], return_inverse=True)
            path = path.reshape(-1).astype(np.int64)
            steps.append((known, size))
        cells = int(path.max()) + 1 if len(path) else 0
        counts = self.counts.scattered(path.astype(np.intp), 0, cells + 1)
        # Each cell of the part stands for so many of the whole, and has the pseudo-counts of all of them.
        others = math.prod(size for k, size in enumerate(self.sizes) if k not in set(places.tolist()))
        return TablePart(tuple(steps), self._logs(counts, self.extra * others))

    def _logs(self, counts: Exact, extra: Fraction) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            try:
                tops: NDArray[np.float64] = np.log(counts.floats() + float(extra))
            except OverflowError:  # beyond a double, where no count is felt
                tops = np.full(counts.shape, log_fraction(extra))
        logs: NDArray[np.float64] = tops - self.log_totals
        return logs

    def add(self, batch: Batch, out: NDArray[np.float64]) -> None:
        """Add log P(the cells that are there | class) to each row of `out`."""
        codes = self.translated(batch)
        for places, rows in patterns(codes >= 0):
            if len(places):
                part = self.part(places)
                out[rows] += part.log_table[part.find(codes[np.ix_(rows, places)])]

    def quotients(self, batch: Batch) -> tuple[Quotient, ...] | None:
        """P(the cells of the first row that are there | class), exact; None where none is."""
        codes = self.translated(batch)[0]
        places = np.flatnonzero(codes >= 0)
        if not len(places):
            return None
        same = np.flatnonzero((self.codes[:, places] == codes[places]).all(axis=1))
        others = math.prod(size for k, size in enumerate(self.sizes) if codes[k] < 0)
        tops = self.counts[same].sum(0).fractions() if len(same) else [Fraction(0)] * self.counts.shape[1]
        whole = self.extra * self.cells
        return tuple(Quotient(n + self.extra * others, t + whole) for n, t in zip(tops, self.totals(), strict=True))

    def draw(self, group: NDArray[np.intp], rng: np.random.Generator) -> dict[str, list[Any] | NDArray[np.float64]]:
        """A row of levels for each class in `group`: a cell that was counted, or, by the pseudo-counts, any cell.

        A number is uniform within its bin; the end bins end with the values of training, NaN is a missing cell.
        """
        known = [len(names) + self.missing_is_level for names in self.labels]
        out = np.column_stack([rng.integers(0, max(n, 1), len(group)) for n in known]) if known else group[:, None]
        free, counts = self.extra * math.prod(known), self.counts.floats()
        for k, total in enumerate(self.totals()):
            rows = np.flatnonzero(group == k)
            if not total:
                continue
            rows = rows[rng.random(len(rows)) < float(total / (total + free))]
            chosen = rng.choice(len(counts), len(rows), p=counts[:, k] / counts[:, k].sum())
            # A missing cell comes after all levels, whether one of them is reserved for others or not.
            out[rows, : len(known)] = np.minimum(self.codes[chosen], np.array(known, np.int64) - 1)
        return {name: self._cells_of(k, out[:, k], rng) for k, name in enumerate(self.names)}

    def _cells_of(self, k: int, codes: NDArray[np.int64], rng: np.random.Generator) -> list[Any] | NDArray[np.float64]:
        """Codes of attribute k as levels, or as numbers of its bins."""
        starts = self.starts_of(k)
        if starts is None:
            return np.array([*self.labels[k].names, None], object)[codes].tolist()  # type: ignore[no-any-return]
        least, greatest = self.ends[k] or (0.0, 0.0)
        lows = np.concatenate([[least], starts])
        highs = np.concatenate([np.nextafter(starts, -np.inf), [greatest]])
        if len(starts):  # an end bin that no value of training fell into is the one number next to its edge
            lows[0], highs[-1] = min(least, highs[0]), max(greatest, lows[-1])
        inside = np.minimum(codes, len(starts))
        at = rng.random(len(codes))
        return np.where(codes > len(starts), np.nan, lows[inside] * (1 - at) + highs[inside] * at)


@dataclass(frozen=True, eq=False)
class CellTable:
    """A joint table as numbers: log(counts of the cells that match + extra * combinations left out) - log_totals.

    Matching are those whose codes are the row's on all axes where it has one; nothing is added where it has none.
    `combinations left out` is the product of the sizes of the axes without a code.
    """

    name: str
    axes: tuple[Axis, ...]
    codes: NDArray[np.int64]
    """(cells, axes); no two the same."""
    counts: Floats
    """(cells, classes)"""
    extra: float
    log_extra: float
    """Its log, for where extra * combinations is beyond a double."""
    log_totals: Floats

    @classmethod
    def of(cls, name: str, table: JointTable) -> CellTable:
        """The numbers of a table that was counted."""
        log_extra = log_fraction(table.extra) if table.extra else -math.inf
        parts = table.codes, table.counts.floats(), float(table.extra), log_extra, table.log_totals
        return cls(name, table.axes, *parts)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that it covers."""
        return tuple(axis.name for axis in self.axes)

    def add(self, batch: Batch, out: Floats) -> None:
        """Add the term of each row."""
        for row, codes in enumerate(np.stack([axis.codes(batch.cells[axis.name]) for axis in self.axes], axis=1)):
            there = codes >= 0
            if there.any():
                matching = (self.codes[:, there] == codes[there]).all(axis=1)
                left = [float(axis.size) for axis, known in zip(self.axes, there, strict=True) if not known]
                extra = math.prod([self.extra, *left])
                with np.errstate(divide="ignore"):
                    top = np.log(self.counts[matching].sum(axis=0) + extra)
                beyond = extra == math.inf  # where no count is felt
                out[row] += (self.log_extra + sum(map(math.log, left)) if beyond else top) - self.log_totals


@dataclass(frozen=True)
class MultivariateNormal:
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
    pooled: bool = False
    """Whether all classes have one covariance: what tells them apart is then a sum over attributes."""
    most: float = math.inf
    """The density falls no more than so many nats below the lowest peak of any class."""
    ends: NDArray[np.float64] | None = None
    """(2, attributes): a number counts as no less and no more than these, where they are there."""
    exact: tuple[ExactMoments | None, ...] = ()
    """For each class its mean and covariance as fractions, where a working wants them and they are the model's own."""
    _parts: dict[bytes, list[tuple[NDArray[np.float64], float]]] = field(default_factory=dict, repr=False)

    @property
    def covariance(self) -> NDArray[np.float64]:
        """(classes, attributes, attributes); infinite where a double does not reach."""
        with np.errstate(over="ignore"):
            unit = self.deviation[:, :, None] * self.deviation[:, None, :]
            return np.multiply(self.correlation, unit, out=np.zeros_like(unit), where=self.correlation != 0)

    def add(self, batch: Batch, out: NDArray[np.float64]) -> None:
        """Add log density of the cells of each row that are there, given each class."""
        self.add_points(self._points(batch), out)

    def _points(self, batch: Batch) -> NDArray[np.float64]:
        cells: list[Any] = [batch.cells[name] for name in self.names]
        return self._within(np.column_stack(cells))

    def _within(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The points, each cell within `ends`; those that are not there stay so."""
        return x if self.ends is None else np.where(np.isfinite(x), np.clip(x, *self.ends), x)

    @property
    def share_names(self) -> tuple[str, ...]:
        """The attributes, where the density can be told attribute by attribute but for what all classes share."""
        return self.names if self.pooled else ()

    adds_up: ClassVar[bool] = False

    def shares(self, batch: Batch) -> NDArray[np.float64]:
        """For each attribute its weight times how far the cell is from half way to the class, (attributes, rows,
        classes).

        Measured from m, the middle of the means of all classes, P the inverse of the covariance and u the mean of a
        class, both of the cells that are there: -(x - u) P (x - u) / 2 is the sum over attributes j of
        (P (u - m))_j * (x_j - m_j - (u - m)_j / 2), less (x - m) P (x - m) / 2, in which no class occurs.
        """
        x = self._points(batch)
        out = np.zeros((len(self.names), batch.rows, len(self.mean)))
        for places, rows in patterns(np.isfinite(x)):
            if len(places):
                out[np.ix_(places, rows)] = self._linear(x[np.ix_(rows, places)], places).transpose(2, 0, 1)
        return out

    def _linear(self, x: NDArray[np.float64], places: NDArray[np.intp]) -> NDArray[np.float64]:
        """The shares of some cells, (rows, classes, attributes)."""
        middle, deviation = self.mean.mean(axis=0)[places], self.deviation[0, places]
        (whitening, _), *_ = self.whitened(places)
        apart = (self.mean[:, places] - middle) / deviation
        weights = apart @ whitening @ whitening.T
        with np.errstate(over="ignore", invalid="ignore"):
            out: NDArray[np.float64] = weights * (((x - middle) / deviation)[:, None, :] - apart / 2)
        out[~np.isfinite(out).all(axis=(1, 2))] = 0.0  # of numbers like 1e300 there is no sum: all is left over
        return out

    def add_points(self, x: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """The same of points, (rows, attributes); cells that are not finite are not there."""
        x, farthest = self._within(x), limit_distances(self.deviation)
        for places, rows in patterns(np.isfinite(x)):
            if not len(places):
                continue
            part, room = np.ascontiguousarray(out[rows]), np.empty(len(places))
            cells = np.ascontiguousarray(x[np.ix_(rows, places)])
            each = self.whitened(places)
            largest = max(log_volume for _, log_volume in each)
            for k, (whitening, log_volume) in enumerate(each):
                mean, rate, peak = self.mean[k, places], 1 / self.deviation[k, places], np.array([-log_volume])
                limits, most = np.ascontiguousarray(farthest[k, places]), np.array([self.most + (largest - log_volume)])
                kernels.add_quadratic(cells, mean, rate, limits, whitening, peak, most, room, k, part)
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
            if (len(self._parts) + 1) * self.correlation.size <= NORMAL_ROOM or not self._parts:
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


@dataclass(frozen=True, eq=False)
class Block(ABC):
    """The term of several attributes that are modelled together given the class."""

    name: str

    @property
    @abstractmethod
    def joint(self) -> JointTable | MultivariateNormal:
        """What is believed of them."""

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that it covers."""
        return self.joint.names

    @property
    def presence(self) -> tuple[Presence, ...]:
        """Where being missing is evidence: for each attribute, P(known | class) and P(missing | class)."""
        return ()

    @abstractmethod
    def add(self, batch: Batch, out: Floats) -> None:
        """Add log P(the cells that are there | class) to each row of `out`."""

    @abstractmethod
    def exhibits(self, classes: tuple[str, ...]) -> tuple[Exhibit, ...]:
        """What is believed of them together, as tables."""
