"""Rows whose class may be wrong: those to whose class models that have not seen them give the least probability.

Keeps few rows, whatever the size of the table, and counts how many so improbable classes the models expect themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.apply.explain.explaining import explained
from likely.apply.explain.row import QueryRow, state_of
from likely.evaluate.sampling import rows_by_fold
from likely.intake.row_cache import Piece
from likely.models.contracts import Model
from likely.models.posterior import Posterior
from likely.sums.columns.numbers import Numbers
from likely.table.batch import Batch, Codes, Texts
from likely.table.labels import number_label
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
