"""Terms of one attribute: tables over levels or bins, densities over a line, words, a line in standard units."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from likely.machinery.arrays import Floats
from likely.models import kernels
from likely.models.fractions import Quotient
from likely.models.settings import Closed
from likely.sums.words.vocabulary import Vocabulary
from likely.table.batch import MISSING_CODE, UNSEEN_CODE, Batch, Codes, Texts
from likely.table.labels import Labels, number_label
from likely.table.words import Tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Parts = tuple[Sequence[str], Floats]


FEW = 2
"""Rows up to which numpy adds from a table: a kernel would take longer to call."""
Presence: TypeAlias = tuple[tuple[Quotient, Quotient], ...]
"""Where being missing is evidence: P(known | class) and P(missing | class), for each class."""


# How far from its mean a number may count: beyond that it counts as if it stood there, so that every score is
# finite. docs/decisions/0110 says why these limits and no others.

FARTHEST = 1e150
"""On a line: standard deviations beyond which a cell is taken to be exactly so far away."""
REACH = 4.0
"""With squares, a number farther than so many standard deviations from its mean is taken to be exactly so far."""
FARTHEST_OF_LARGEST, FARTHEST_OF_OWN = 1e100, 1e130
"""In a density: multiples of the largest standard deviation of any class, and of the class's own."""


def limit_distances(deviation: Floats) -> Floats:
    """The distance from the mean, for each class (the first axis), from which on a density stays as it is.

    The limit is the same distance in all classes, so that far away the class of the largest deviation has the greatest
    density, as it does short of the limit. That of a class whose deviation is 1e30 times smaller is less: squares stay
    finite, and so do sums of a million of them.

    >>> limit_distances(np.array([1.0, 20.0])).tolist()
    [2e+101, 2e+101]
    """
    with np.errstate(over="ignore"):
        shared = FARTHEST_OF_LARGEST * deviation.max(axis=0, initial=0.0)
        own = FARTHEST_OF_OWN * deviation
    # At most the largest double: the distance of two doubles may be infinite, and the least of both is not.
    return np.asarray(np.minimum(np.minimum(shared, own), np.finfo(np.float64).max))


@dataclass(frozen=True)
class Exhibit:
    """One table of what is believed, for people: cells are words, numbers, or counted probabilities."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str | float | Quotient, ...], ...]

    @property
    def has_quotients(self) -> bool:
        """Whether it has probabilities that were counted, which can be written as fractions."""
        return any(isinstance(c, Quotient) for row in self.rows for c in row)

    def cells(self, fractions: bool = False) -> tuple[tuple[str | float, ...], ...]:
        """The rows as words and numbers; what was counted as fractions, if asked."""

        def plain(cell: str | float | Quotient) -> str | float:
            if not isinstance(cell, Quotient):
                return cell
            return str(cell) if fractions else float(cell)

        return tuple(tuple(map(plain, row)) for row in self.rows)


@dataclass(frozen=True, eq=False)
class Column(ABC):
    """The term of one attribute."""

    name: str

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that it covers."""
        return (self.name,)

    def add(self, batch: Batch, out: Floats) -> tuple[int, int] | None:
        """Add the term of each row to `out`, (rows, classes). A text says how many words it had, how many unknown."""
        return self.add_cells(batch.cells[self.name], out)

    @abstractmethod
    def add_cells(self, cells: Any, out: Floats) -> tuple[int, int] | None:
        """The same for the cells of the attribute alone."""

    def parts(self, cells: Any) -> Parts | None:
        """Names and (parts, classes) logs that add up to the term of the first cell, where it has parts."""
        return None

    def exhibits(self, classes: tuple[str, ...]) -> tuple[Exhibit, ...]:
        """What is believed, as tables of its own; an attribute by itself is usually shown by its shape."""
        return ()


@dataclass(frozen=True, eq=False)
class Ratio:
    """P(level | class) = top / bottom for each class, of which so much was seen in rows."""

    top: Floats
    bottom: Floats
    seen: Floats
    cases: Floats
    """What was seen, or where knowledge has a say, what both are worth."""
    alone: bool = False
    """Whether there is no other level, so that nothing is in doubt."""


Ratios: TypeAlias = Callable[[int], Ratio | None]
"""By the code of a level; None where a cell is left out."""


@dataclass(frozen=True, eq=False)
class LevelTable(Column):
    """A table over levels. `log_table` has a row for each level, then one for an unseen level, one for a missing cell.

    >>> table = LevelTable("sky", Labels(["rain", "sun"]), np.log([[0.2, 0.5], [0.8, 0.5], [1.0, 1.0], [1.0, 1.0]]))
    >>> out = np.zeros((2, 2))
    >>> table.add_cells(Codes(np.array([1, -1], np.int32), table.labels), out)
    >>> np.exp(out).round(3).tolist()
    [[0.8, 0.5], [1.0, 1.0]]
    """

    labels: Labels
    log_table: Floats

    def add_cells(self, cells: Codes, out: Floats) -> None:
        """Add the row of each cell."""
        add_rows(self.translated(cells), self.log_table, out)

    def translated(self, cells: Codes) -> NDArray[np.int32]:
        """The codes of cells, which may have been read with other labels, as places of this table."""
        if cells.labels is self.labels or cells.labels.names == self.labels.names:
            return cells.codes
        places = [self.labels.index.get(name, UNSEEN_CODE) for name in cells.labels.names]
        # The last two places serve the codes -1 and -2 themselves.
        return np.array([*places, UNSEEN_CODE, MISSING_CODE], np.int32)[cells.codes]

    def quotients(self, code: int) -> tuple[Quotient, ...] | None:
        """P(level number `code` | class) as it was counted, where it was; negative codes as in a batch."""
        return None

    def ratios(self) -> Ratios | None:
        """The same rounded, with the rows behind it, by code; None where the table was not counted."""
        return None


@dataclass(frozen=True, eq=False)
class BinTable(Column):
    """A table over bins of a number. `log_table` has a row for each bin; its last row serves missing cells."""

    starts: Floats
    """The least number of each bin but the first."""
    log_table: Floats

    @property
    def levels(self) -> LevelTable | None:
        """The bins as levels with names, where their probabilities were counted."""
        return None

    def called(self, tell: Callable[[float], str]) -> list[str]:
        """What the bins are called, their edges written by `tell`."""
        return bin_names(self.starts, "left", tell)

    def add_cells(self, cells: Floats, out: Floats) -> None:
        """Add the row of each cell's bin."""
        add_rows(bin_of(self.starts, cells), self.log_table, out)


def bin_of(starts: Floats, cells: Floats) -> NDArray[np.int32]:
    """The bin of each cell; -1 where it is missing or infinite. A number beyond the values falls into an end bin."""
    return np.where(np.isfinite(cells), starts.searchsorted(cells, side="right"), -1).astype(np.int32)


def add_rows(codes: NDArray[np.int32], table: Floats, out: Floats) -> None:
    """out[i] += table[code of i]; negative codes count from the end of the table, as numpy has them."""
    if len(codes) <= FEW:
        out += table[codes]
    else:
        kernels.add_levels(codes, table, out)


def bin_names(edges: NDArray[np.float64], closed: Closed, tell: Callable[[float], str] = number_label) -> list[str]:
    """What the bins are called.

    >>> bin_names(np.array([10.0, 20.0]), "right")
    ['up to 10', 'above 10 to 20', 'above 20']
    """
    told = [tell(e) for e in edges.tolist()]
    if not told:
        return ["any"]
    pairs = list(pairwise(told))
    if closed == "left":
        return [f"below {told[0]}", *(f"{a} to below {b}" for a, b in pairs), f"{told[-1]} or more"]
    return [f"up to {told[0]}", *(f"above {a} to {b}" for a, b in pairs), f"above {told[-1]}"]


@dataclass(frozen=True, eq=False)
class Kernels:
    """A sum of small normal densities: peak + log of the sum of weight * exp(-((x - point) * rate)**2), by class.

    |x - point| counts as no more than `farthest`.
    """

    bandwidth: Floats
    starts: NDArray[np.int64]
    """The points of class k are starts[k] … starts[k+1]-1, in order."""
    points: Floats
    weights: Floats
    peak: Floats
    rate: Floats
    farthest: Floats
    floor: Floats | None = None
    """The least log density of each class, where there is one."""

    def of(self, group: int) -> tuple[Floats, Floats]:
        """The points of a class that weigh something, and what they weigh."""
        own = slice(self.starts[group], self.starts[group + 1])
        some = self.weights[own] > 0
        return self.points[own][some], self.weights[own][some]


class KnownNormal(Protocol):
    """A normal density that is believed before data, and how many rows that is worth."""

    @property
    def mean(self) -> Fraction: ...
    @property
    def variance(self) -> Fraction: ...
    @property
    def worth(self) -> Fraction: ...


@dataclass(frozen=True, eq=False)
class Density(Column):
    """A density over a line for each class; `add_cells` gives its log."""

    @property
    @abstractmethod
    def normal(self) -> Gaussian:
        """Mean and deviation of each class, and what a missing cell says: the density itself, where it is normal."""

    @property
    def kernels(self) -> Kernels | None:
        """Where it is not normal but a sum of kernels."""
        return None

    def bounded(self, nats: float) -> Density:
        """The same density, falling no more than so many nats below the lowest peak of any class; here as it is."""
        return self


@dataclass(frozen=True, eq=False)
class Gaussian(Density):
    """log density = peak - ((x - mean) * rate)**2 for each class; `absent` is the term of a missing cell.

    |x - mean| counts as no more than `farthest` (`limits.limit_distances`), so that the log is finite for every double.
    Standard deviations are kept rather than variances: those of 1e200 or 1e-200 are out of a double's range.
    """

    mean: Floats
    deviation: Floats
    peak: Floats
    rate: Floats
    farthest: Floats
    absent: Floats
    borrowed: NDArray[np.bool_]
    """Classes with too few values to have a spread of their own: they borrow the attribute's."""
    known: Presence | None = None
    knowledge: tuple[KnownNormal | None, ...] = ()
    """What was known of each class before data; empty where nothing was."""
    unbiased: bool = True
    """Whether deviations divide by n-1."""

    @property
    def normal(self) -> Gaussian:
        return self

    def bounded(self, nats: float) -> Gaussian:
        """The same density, falling no more than so many nats below the lowest peak of any class.

        The level is that of all classes: where all have come to it, none is ahead.
        """
        deviation = self.deviation
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            above = np.log(np.nanmax(deviation, initial=0.0)) - np.log(deviation)
            return replace(self, farthest=np.fmin(self.farthest, np.sqrt(2 * (nats + above)) * deviation))

    def add_cells(self, cells: Floats, out: Floats) -> None:
        """Add log P(cell | class) to each row of `out`."""
        kernels.add_normal(cells, self.peak, self.mean, self.rate, self.farthest, self.absent, out)


class WordSettings(Protocol):
    """How the words of a text count: factor is `scale`, divided by the root of the known words if `length`."""

    @property
    def model(self) -> str: ...
    @property
    def damping(self) -> str: ...
    @property
    def scale(self) -> float | str: ...
    @property
    def length(self) -> bool | str: ...
    @property
    def is_likelihood(self) -> bool: ...
    def written(self) -> str: ...


class WordScores(Protocol):
    """The known words, the weight of each for each class, and what counts as a word."""

    @property
    def vocabulary(self) -> Vocabulary: ...
    @property
    def weights(self) -> Floats: ...
    @property
    def tokens(self) -> Tokens: ...
    def words(self, text: str) -> list[tuple[str, int, int]]:
        """The different words of a text, each with its place in the vocabulary (-1: unknown) and its frequency."""
        ...


class WordWeights(Column):
    """A text: factor * (base + sum of damped(times) * weight over its known words); a missing text adds nothing."""

    settings: WordSettings
    scores: WordScores
    base: Floats
    """What every text has before its words."""

    @property
    @abstractmethod
    def having(self) -> Floats:
        """What the texts of each class weigh that have each known word."""

    @property
    @abstractmethod
    def evidence(self) -> Floats:
        """What one occurrence of each known word adds to a class against the mean of the others, in nats."""

    @abstractmethod
    def strongest(self, group: int, most: int = ...) -> list[int]:
        """The known words that speak most for class number `group`."""

    @abstractmethod
    def only_in(self, group: int, most: int = ...) -> list[int]:
        """Words that no other class has, those of most texts first."""

    @abstractmethod
    def log_orders(self, cells: Texts) -> Floats:
        """What the log probability of each text has besides its score, the same for all classes."""

    def word_quotients(self, k: int, smoothed: bool = True) -> tuple[Quotient, ...] | None:
        """P(known word k | class) as it was counted, with or without pseudo-counts; None where weights of words are no
        probabilities."""
        return None

    @abstractmethod
    def parts(self, cells: Texts) -> Parts:
        """The known words of the first text, in the order in which it has them, and the share of each in its score."""


@dataclass(frozen=True)
class Standard:
    """A number in standard units: z = (x - mean) / sd over all classes, with sd (by n) = spread * 2**shift.

    The mean is kept in two parts, so that 1e9 + 1e-7 and 1e9 stay apart; the power of two, so that no sd overflows.
    """

    name: str
    mean: Fraction
    shift: int
    spread: float
    center: float
    rest: float
    gone: bool
    """Whether cells were missing (or infinite) in training: there is a column for that as well."""

    def z(self, cells: Floats) -> Floats:
        """Standard units; 0, the mean, where a cell is missing."""
        there = np.isfinite(cells)
        with np.errstate(over="ignore"):
            far = ((np.ldexp(np.where(there, cells, 0.0), -self.shift) - self.center) - self.rest) / self.spread
        return np.where(there, np.clip(far, -FARTHEST, FARTHEST), 0.0)

    def near(self, cells: Floats) -> Floats:
        """Standard units, no farther than REACH; 0 where a cell is missing."""
        return np.clip(self.z(cells), -REACH, REACH)

    def raw(self, weight: float) -> float:
        """A weight on z as a weight on x itself."""
        try:
            return math.ldexp(weight / self.spread, -self.shift)
        except OverflowError:
            return math.copysign(math.inf, weight)

    def distance(self, other: Standard) -> float:
        """How far the mean of the same column in other rows is from this one's, in standard units of this one."""
        try:
            return float((other.mean - self.mean) / Fraction(2) ** self.shift) / self.spread
        except OverflowError:
            return math.inf

    def at_zero(self, weight: float) -> Fraction:
        """What a weight on z adds where x is 0."""
        return -Fraction(weight) / Fraction(self.spread) * self.mean / Fraction(2) ** self.shift


@dataclass(frozen=True, eq=False)
class Slope(Column):
    """A line: adds known + z * weights, or `absent` where the cell is missing."""

    standard: Standard
    weights: Floats
    known: Floats
    """What it says of the mean, z = 0."""
    absent: Floats
    reach: float = FARTHEST
    """|z| counts as no more than this."""

    def add_cells(self, cells: Floats, out: Floats) -> None:
        """Add the term of each cell."""
        # One product and two sums a cell, and no BLAS: a row's score must not depend on the rows beside it.
        each = np.clip(self.standard.z(cells), -self.reach, self.reach)[:, None] * self.weights
        each += self.known
        each[~np.isfinite(cells)] = self.absent
        out += each
