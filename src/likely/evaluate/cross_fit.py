"""Cross-fitting: what a learner that chooses no more answers to rows it did not learn from, whole and partly known.

Knows models and the rows that are kept in memory; what follows from the answers is said in models/shapes/guarantee.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import LikelyError
from likely.machinery.arrays import Bools, Floats, Longs
from likely.machinery.threads import teller
from likely.models.completing import with_references
from likely.models.contracts import Model
from likely.models.heldout.search import HeldOutParts, log_posterior
from likely.models.judgement import HeldOutAnswers, group_cells
from likely.models.shapes.guarantee import GAPS, Guarantee, gap_counts, masked_names
from likely.table.batch import MISSING_CODE, Batch, Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

WANTED = 800
"""Held-out rows: parts are held out in turn until there are so many."""
MOST_MASKED, MOST_SCORES = 800, 8000
"""Rows of which some cells are made unknown, at most, and scores of classes for them, of many classes."""


class CrossFit:
    """Models of all parts of some rows but one, as often as gives enough rows that were held out."""

    def __init__(self, model: Model) -> None:
        rows = model.kept_rows
        assert rows is not None
        self.model, self.rows = model, rows
        self.learner = model.frozen
        parts = HeldOutParts.of(model.summary, rows, sorted(self.learner.needs(model.schema)))
        held, count = [], 0
        for part in parts.training:
            if count < WANTED:
                held.append(part)
                count += int(rows.inside(part).sum())
        self.parts = parts.holding(held)
        self.places = self.parts.places(self.parts.known)
        self._models: dict[int, Model] = {}

    def model_without(self, part: int) -> Model:
        """What is learned from the other parts, and answers from part of a row if the whole model does."""
        if part not in self._models:
            teller()("Learning without some rows, to find out how sure answers are")
            found = self.parts.model(self.learner, part)
            if self.model.references is not None:
                found = with_references(found, self.rows.take(np.flatnonzero(~self.rows.inside(part))))
            self._models[part] = found
        return self._models[part]

    def answers(self) -> HeldOutAnswers:
        """What is said of rows that were held out, as they are."""
        rows, places = self.rows, self.places
        logs = self._logs(places, rows.batch.take(places))
        learned = len(rows) - round(len(places) / max(len(self.parts.training), 1))
        return HeldOutAnswers(
            logs,
            rows.group[places].astype(np.int64),
            rows.weight[places],
            rows.part[places],
            learned,
            {},
            len(self.parts.training),
            rows.squares[places],
            group_cells(rows.batch, places),
        )

    def partly(self) -> tuple[Guarantee, ...]:
        """What comes of rows of which a few, some, most cells are unknown (`GAPS`): each held-out row with other cells
        made unknown, by lots that its content alone decides."""
        names = masked_names(self.model.schema)
        places = self.places[np.argsort(self.rows.hashes[self.places], kind="stable")[: self._most_masked]]
        places = np.sort(places)
        draw, found = np.random.default_rng(0), dict[int, Guarantee]()
        lots = draw.random((GAPS, len(places), len(names))).argsort(axis=2).argsort(axis=2)
        for gap in range(1, GAPS + 1):
            counts = gap_counts(gap, len(names))
            if not len(counts):
                continue
            many = counts[(draw.random(len(places)) * len(counts)).astype(np.intp)]
            batch = with_unknown(self.rows.batch.take(places), names, lots[gap - 1] < many[:, None])
            rows = self.rows
            said = np.exp(self._logs(places, batch))
            truth = rows.group[places].astype(np.int64)
            found[gap] = Guarantee.of(said, truth, rows.weight[places], rows.squares[places])
            if gap == GAPS:  # whatever their answer: it is that of all rows
                found[gap] = found[gap].as_one()
        # Of few attributes no row has some of the gaps: what stands there is never asked.
        return tuple(found.get(gap, found[GAPS]) for gap in range(1, GAPS + 1)) if found else ()

    @property
    def _most_masked(self) -> int:
        return min(MOST_MASKED, max(MOST_SCORES // len(self.parts.classes), MOST_MASKED // 4))

    def _logs(self, places: Longs | NDArray[np.intp], batch: Batch) -> Floats:
        classes = self.parts.classes
        out = np.empty((len(places), len(classes)))
        for part in self.parts.training:
            own = np.flatnonzero(self.rows.part[places] == part)
            if len(own):
                out[own] = log_posterior(self.model_without(part), batch.take(own), classes)
        return out


def with_unknown(batch: Batch, names: list[str], gone: Bools) -> Batch:
    """The rows with some cells unknown, (rows, names)."""
    cells = dict(batch.cells)
    for name, own in zip(names, gone.T, strict=True):
        held = cells[name]
        if isinstance(held, Codes):
            cells[name] = Codes(np.where(own, np.int32(MISSING_CODE), held.codes), held.labels)
        else:
            cells[name] = np.where(own, np.nan, held)
    return replace(batch, cells=cells)


def cross_fit(model: Model) -> CrossFit | None:
    """The models without some of the rows; None where no rows are at hand, or too few, or it answers by lot."""
    rows = model.kept_rows
    if rows is None or not len(rows) or model.random or not model.proper or len(model.classes) < 2:
        return None
    try:
        found = CrossFit(model)
    except LikelyError:
        return None
    return found if len(found.places) else None
