"""Troubles with rows: duplicates, and rows whose class may be wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.apply.explain.explaining import explained
from likely.apply.explain.row import QueryRow, state_of
from likely.evaluate.kernels import rows_by_fold
from likely.intake.engine import Piece
from likely.machinery.arrays import Ints
from likely.models.contracts import Model
from likely.models.heldout.kept_rows import (
    FEW_COPIES,
    TIMES,
    count_values,
    equal_pairs,
    has_few_levels,
    is_even,
    value_tables,
)
from likely.models.posterior import Posterior
from likely.sums.columns.numbers import Numbers
from likely.sums.rows.rows import row_hashes, text_hashes
from likely.sums.summary import Summary
from likely.table.batch import Batch, Codes, Texts
from likely.table.labels import number_label
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Rows, and texts, that a table has more than once: one tally of equal hashes, found in one sweep with bounded
# memory.

BOUND = 1 << 20
"""Different hashes that are kept at most."""
EXAMPLES = 10
_ANY = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class Copies:
    """How many texts (or rows) occur more than once, whatever their class."""

    texts: int
    """Those that were compared; where there are too many, a sample of all by their hashes."""
    copied: int
    """Those that have at least one copy."""
    across: int
    """Those of them that have a copy in another fold: it was learned from when they were predicted."""
    disputed: int
    """Those of them that have a copy of another class."""
    sampled: bool = False


@dataclass(frozen=True)
class RepeatedRows:
    """How many rows occur more than once, and how many would if attributes were independent given the class."""

    rows: int
    copied: int
    across: int
    """Those that have a copy in another fold."""
    disputed: int
    """Those that have a copy of another class."""
    expected: float
    """Pairs of equal rows of one class that chance would make."""
    pairs: int
    sampled: bool = False
    few_levels: bool = False
    """Whether rows are made of few levels alone, and so repeat by nature."""
    even: bool = False
    """Whether all occur about equally often, twice or more: chance does not do that."""

    @property
    def unexplained(self) -> bool:
        """Whether chance does not explain so many copies."""
        unexplained = self.pairs > TIMES * self.expected or (self.even and not self.few_levels)
        return self.copied >= FEW_COPIES * self.rows and self.copied > 1 and unexplained

    @property
    def matters(self) -> bool:
        """Whether the score may be flattered: copies that chance does not explain are in other folds."""
        return self.unexplained and self.across >= FEW_COPIES * self.rows and self.across > 1

    @property
    def belong_together(self) -> bool:
        """Whether copies are to be held out together, as in `dealing.are_copies`."""
        return self.unexplained and not self.few_levels


@dataclass(frozen=True)
class Contradiction:
    """Two rows that are equal in all attributes and of different classes; numbers of rows begin at 1."""

    row: int
    label: str
    other: int
    other_label: str
    rows: int
    """All rows that are equal to them."""


@dataclass(frozen=True)
class EqualRows:
    """What equal rows say of a table, class by class."""

    rows: int
    """Rows that were compared; where there are too many, those of some hashes."""
    copied: int
    """Rows that another row of the same class equals."""
    across: int
    """Those of them for which such a row is in another fold: it was learned from when they were predicted."""
    contradicted: int
    """Rows that a row of another class equals."""
    ceiling: float
    """The greatest accuracy on these rows of anyone who sees the attributes alone: equal rows get the same answer."""
    examples: tuple[Contradiction, ...]
    sampled: bool = False


class Duplicates:
    """Keys (hash, class) with how many rows have them, their least and greatest fold, and the first of them."""

    def __init__(self, bound: int = BOUND) -> None:
        self._bound, self._level = bound, 0
        self._hashes, self._about = np.empty(0, np.uint64), np.empty((5, 0), np.int64)
        self._waiting: list[tuple[NDArray[np.uint64], NDArray[np.int64]]] = []
        self._more = 0

    def take_rows(self, batch: Batch, names: Sequence[str], fold: Ints, start: int = 0) -> None:
        """Take in the cells of some rows in these columns; the first is row `start` of the table."""
        self.take(row_hashes(batch, names), batch, fold, start)

    def take_texts(self, batch: Batch, name: str, fold: Ints, start: int = 0) -> None:
        """Take in the texts of one column."""
        cells = batch.cells[name]
        assert isinstance(cells, Texts)
        self.take(text_hashes(cells), batch, fold, start)

    def take(self, hashes: NDArray[np.uint64], batch: Batch, fold: Ints, start: int) -> None:
        """Take in rows by their hashes; keep what has one other than 0, a class and a weight."""
        assert batch.target is not None
        counts = (hashes > 0) & (batch.target.codes >= 0) & (hashes <= self._most)
        if batch.weight is not None:
            counts &= batch.weight > 0
        kept = np.flatnonzero(counts)
        folds, group = fold[kept].astype(np.int64), batch.target.codes[kept].astype(np.int64)
        self._put(hashes[kept], np.stack([group, np.ones_like(folds), folds, folds, start + kept]))
        if self._more > self._bound:
            self._merge()

    @property
    def _most(self) -> np.uint64:
        """The greatest hash that is kept."""
        return np.uint64(_ANY >> np.uint64(self._level))

    def _put(self, hashes: NDArray[np.uint64], about: NDArray[np.int64]) -> None:
        self._waiting.append((hashes, about))
        self._more += len(hashes)

    def _merge(self) -> None:
        """Each key once, in order, and no more hashes than may be kept."""
        if not self._waiting:
            return
        hashes = np.concatenate([self._hashes, *(h for h, _ in self._waiting)])
        about = np.concatenate([self._about, *(a for _, a in self._waiting)], axis=1)
        self._waiting, self._more = [], 0
        order = _order(hashes, about[0])
        hashes, about = hashes[order], about[:, order]
        if len(hashes):
            new = (hashes[1:] != hashes[:-1]) | (about[0, 1:] != about[0, :-1])
            first = np.flatnonzero(np.concatenate([[True], new]))
            joins = (np.minimum, np.add, np.minimum, np.maximum, np.minimum)
            about = np.stack([join.reduceat(row, first) for join, row in zip(joins, about, strict=True)])
            hashes = hashes[first]
        if len(hashes) > self._bound:
            different = np.unique(hashes)
            while np.searchsorted(different, self._most, side="right") > self._bound:
                self._level += 1
        upto = int(np.searchsorted(hashes, self._most, side="right"))
        self._hashes, self._about = hashes[:upto], about[:, :upto]

    def __add__(self, other: Duplicates) -> Duplicates:
        out = Duplicates(min(self._bound, other._bound))
        for one in (self, other):
            out._level = max(out._level, one._level)
            for hashes, about in ((one._hashes, one._about), *one._waiting):
                out._put(hashes, about)
        out._merge()
        return out

    def _groups(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where the keys of each hash begin, and how many classes it has."""
        new = self._hashes[1:] != self._hashes[:-1]
        first = np.flatnonzero(np.concatenate([[True], new])) if len(self._hashes) else np.empty(0, np.intp)
        return first, np.diff(np.append(first, len(self._hashes)))

    def by_class(self, classes: int) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
        """The different hashes, in order, and how many rows of each class have them, (hashes, classes)."""
        self._merge()
        first, often = self._groups()
        table = np.zeros((len(first), classes))
        table[np.repeat(np.arange(len(first)), often), self._about[0]] = self._about[1]
        return self._hashes[first], table

    def copies(self) -> Copies:
        """What occurs more than once, whatever the class."""
        self._merge()
        first, classes = self._groups()
        if not len(first):
            return Copies(0, 0, 0, 0)
        _, rows, low, high, _ = self._about
        rows, low, high = (
            join.reduceat(row, first)
            for join, row in ((np.add, rows), (np.minimum, low), (np.maximum, high))
        )  # fmt: skip
        more = rows > 1
        copied, across, disputed = (
            int(rows[which].sum()) for which in (more, more & (low < high), more & (classes > 1))
        )
        return Copies(int(rows.sum()), copied, across, disputed, self._level > 0)

    def often(self) -> NDArray[np.float64]:
        """How often each that is different occurs, whatever the class."""
        self._merge()
        first, _ = self._groups()
        return np.asarray(np.add.reduceat(self._about[1], first) if len(first) else np.empty(0), np.float64)

    def equal_rows(self, names: tuple[str, ...]) -> EqualRows:
        """What occurs more than once in one class, and what contradicts itself; `names` are the classes."""
        self._merge()
        first, classes = self._groups()
        if not len(first):
            return EqualRows(0, 0, 0, 0, 1.0, ())
        group, rows, low, high, at = self._about
        total, earliest = int(rows.sum()), np.minimum.reduceat(at, first)
        clashes = np.flatnonzero(classes > 1)
        examples = []
        for g in clashes[np.argsort(earliest[clashes], kind="stable")][:EXAMPLES].tolist():
            own = np.arange(first[g], first[g] + classes[g])
            a, b = own[np.argsort(at[own], kind="stable")][:2].tolist()
            same = int(rows[own].sum())
            examples.append(Contradiction(int(at[a]) + 1, names[group[a]], int(at[b]) + 1, names[group[b]], same))
        return EqualRows(
            total,
            int(rows[rows > 1].sum()),
            int(rows[(rows > 1) & (low < high)].sum()),
            int(rows[np.repeat(classes > 1, classes)].sum()),
            float(np.maximum.reduceat(rows, first).sum() / total),
            tuple(examples),
            self._level > 0,
        )


def _order(hashes: NDArray[np.uint64], group: NDArray[np.int64]) -> NDArray[np.intp]:
    """The order of keys by hash, then by class: few hashes are equal, so that classes are compared of these alone."""
    order = np.argsort(hashes)
    same = hashes[order[1:]] == hashes[order[:-1]]
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same)) if len(order) else order
    some = order[tied]
    order[tied] = some[np.lexsort((group[some], hashes[some]))]
    return order


def repeated_rows(rows: Duplicates, total: Summary, copies: Copies | None = None) -> RepeatedRows:
    """Copies of rows, beside what chance would make."""
    copies = rows.copies() if copies is None else copies
    weight = total.total.floats()
    # Rows, whatever they weigh; equal ones are in a sample together or not at all.
    by = total.rows / max(float(weight.sum()), 1e-300)
    tables = list(value_tables(total))
    expected = equal_pairs((by * table for table in tables), by * weight)
    expected *= min(copies.texts / max(total.rows, 1), 1.0)
    found = copies.texts, copies.copied, copies.across, copies.disputed
    even = is_even(rows.often(), count_values(tables))
    return RepeatedRows(*found, expected, copies.copied // 2, copies.sampled, has_few_levels(total), even)


# Rows whose class may be wrong: those to whose class models that have not seen them give the least probability.

BELOW = (0.001, 0.01, 0.1)
"""How improbable the classes are that are counted."""
SUSPICIOUS = 0.2
"""A class that is more probable than this is no suspect: one row in five is as surprising by nature."""
MOST_EVIDENCE, LEAST_EVIDENCE = 3, 0.05
"""Values that are named for each suspect, and bits that each must say at least."""


@dataclass(frozen=True)
class Against:
    """A value that speaks against the class that a row is given."""

    attribute: str
    cell: str
    bits: float
    """By how much it raises the odds of the class that the model holds for right, over the one given."""


@dataclass(frozen=True)
class Suspect:
    """A row whose class the other rows make improbable."""

    row: int
    """The first is 1."""
    label: str
    probability: float
    """Of the class it is given, by a model that has not seen it."""
    log_probability: float
    """In nats; minus infinity where the class was held impossible. It orders what rounds to the same probability."""
    likely: str
    """The class that is most probable."""
    likely_probability: float
    against: tuple[Against, ...]


@dataclass(frozen=True)
class Surprise:
    """Rows whose class has at most this probability: as many as there are, and as many as the models expect."""

    below: float
    rows: float
    expected: float
    """In the mean, if every probability is what it says: the sum of all so small ones, over all rows and classes."""


class SuspectFinder:
    """Scores rows by the models that have not seen their fold, and keeps the `most` doubtful; one for each thread."""

    def __init__(self, models: Sequence[Model], classes: tuple[str, ...], most: int) -> None:
        self._models, self._classes, self._most = models, classes, most
        self._bar = 0.0
        self.kept: list[tuple[float, int, int, NDArray[np.float64], Batch]] = []
        """Log probability of the given class, row, fold, probabilities of all classes, and the row itself."""
        self.rows = [0] * len(BELOW)
        self.expected = [Numbers(1, cap=64) for _ in BELOW]

    def take(self, piece: Piece, start: int) -> None:
        """Score some rows."""
        for fold, index in enumerate(rows_by_fold(piece.fold, len(self._models) + 1)[: len(self._models)]):
            if len(index):
                self._score(piece.batch.take(index), fold, start + index)

    def _score(self, batch: Batch, fold: int, numbers: NDArray[np.intp]) -> None:
        model = self._models[fold]
        joint = np.full((batch.rows, len(self._classes)), -np.inf)
        joint[:, [self._classes.index(c) for c in model.classes]] = model.log_joint(batch)
        found = Posterior.of(self._classes, joint, one=False)
        assert batch.target is not None
        own = joint[np.arange(batch.rows), batch.target.codes]
        with np.errstate(invalid="ignore"):
            logs = np.where(found.undefined | np.isneginf(own), -np.inf, own - found.log_evidence)
        logs = np.where(found.undefined, 0.0, logs)  # a row that no class explains says nothing of its own
        given = np.exp(logs)
        nothing = np.zeros(batch.rows, np.int32)
        for k, below in enumerate(BELOW):
            self.rows[k] += int(np.count_nonzero(given <= below))
            self.expected[k].update(np.where(found.matrix <= below, found.matrix, 0.0).sum(axis=1), nothing)
        bar = self._bar
        chosen = np.flatnonzero((logs < bar) | ((logs == bar) & (len(self.kept) < self._most)))
        chosen = chosen[np.lexsort((numbers[chosen], logs[chosen]))][: self._most]
        for k in chosen.tolist():
            row = batch.take(np.array([k]))
            self.kept.append((float(logs[k]), int(numbers[k]), fold, found.matrix[k], row))
        self._prune()

    def _prune(self) -> None:
        self.kept = sorted(self.kept, key=lambda s: s[:2])[: self._most]
        if len(self.kept) == self._most and self.kept:
            self._bar = self.kept[-1][0]

    def __add__(self, other: SuspectFinder) -> SuspectFinder:
        out = SuspectFinder(self._models, self._classes, self._most)
        out.kept = self.kept + other.kept
        out._prune()
        out.rows = [a + b for a, b in zip(self.rows, other.rows, strict=True)]
        out.expected = [a + b for a, b in zip(self.expected, other.expected, strict=True)]
        return out

    def surprises(self) -> tuple[Surprise, ...]:
        """How many rows have so improbable a class, beside how many the models expect."""
        expected = [float(n.moments()[0][1]) for n in self.expected]
        return tuple(Surprise(*each) for each in zip(BELOW, map(float, self.rows), expected, strict=True))

    def suspects(self) -> tuple[Suspect, ...]:
        """The rows whose class is least probable, the worst first; where another class is more probable."""
        out = []
        for log, row, fold, chances, batch in self.kept:
            assert batch.target is not None
            given, best = int(batch.target.codes[0]), int(chances.argmax())
            if best != given and chances[given] <= SUSPICIOUS:
                names = self._classes
                why = against(self._models[fold], batch, names[given], names[best])
                known = float(chances[given]), log, names[best], float(chances[best])
                out.append(Suspect(row + 1, names[given], *known, why))
        return tuple(out)


def against(model: Model, batch: Batch, given: str, best: str) -> tuple[Against, ...]:
    """The values of a row that speak loudest against its class; none where the score is no sum over attributes."""
    if given not in model.classes or best not in model.classes:
        return ()
    schema = model.schema
    cells = {name: _cell(batch.cells[name], schema, name) for name in schema.names if name in batch.cells}
    states = {column.name: state_of(batch, column.name) for column in schema.attributes}
    ledger = explained(model, QueryRow(batch, cells, states), of=best, against=given)
    found = [
        Against(e.name, e.cell or "", e.log_ratio / math.log(2))
        for e in ledger.entries
        if e.kind in ("value", "block") and e.log_ratio is not None
    ]
    return tuple(sorted((a for a in found if a.bits >= LEAST_EVIDENCE), key=lambda a: -a.bits)[:MOST_EVIDENCE])


def _cell(cells: object, schema: Schema, name: str) -> str | None:
    """The first cell as people read it; None where it is missing."""
    if isinstance(cells, Codes):
        code = int(cells.codes[0])
        return cells.labels.names[code] if code >= 0 else None
    if isinstance(cells, Texts):
        return cells.text(0) or None
    value = float(np.asarray(cells)[0])
    if not math.isfinite(value):
        return None
    if schema[name].kind == "date":
        return str(np.datetime64(round(value), "s")).removesuffix("T00:00:00") if abs(value) < 1e11 else f"{value:g}"
    return number_label(value)
