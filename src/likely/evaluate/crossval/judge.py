"""Scores rows by models that have not learned from them. Knows which part each row is in, and who has not seen it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likely.evaluate.crossval.lessons import Lessons
from likely.evaluate.crossval.row_folds import FoldedRows
from likely.evaluate.sampling import rows_by_fold
from likely.evaluate.scores.held_out import HeldOutCollector
from likely.evaluate.scores.losses import Chosen
from likely.evaluate.scores.scores import Scorer
from likely.intake.engine import Worker
from likely.intake.row_cache import Piece
from likely.models.contracts import Model
from likely.probability.loss import Loss
from likely.sums.summary import Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Judged = tuple[Model, list[int], Scorer, HeldOutCollector | None, int]
"""A model, the places of its classes among all, who adds up its scores, who keeps what it says, and its lesson."""
Models = dict[tuple[str, int], Model]
"""Of each learner, by name, for each lesson, by number."""


def all_classes(total: Summary, models: Models) -> tuple[str, ...]:
    """The classes of the rows, then those that only knowledge names: they take their share of the probability."""
    more = {c for model in models.values() for c in model.classes}
    return (*total.classes, *sorted(more - set(total.classes)))


class Judge:
    """Scores rows by the models that have not seen their fold; `slot` says under which key the scores are added up."""

    def __init__(
        self,
        rows: FoldedRows,
        models: Models,
        lessons: Lessons,
        slot: Callable[[str, int], Hashable],
        extra: Worker | None = None,
        loss: Loss | None = None,
        gather: Mapping[str, HeldOutCollector] | None = None,
        folds_apart: bool = False,
    ) -> None:
        classes = all_classes(rows.total, models)
        apart = len(lessons.fold) if folds_apart else 1
        self.scorers = {
            key: Scorer(len(classes), None if loss is None else Chosen(loss, classes), apart)
            for key in dict.fromkeys(slot(*k) for k in models)
        }
        self.extra = extra
        self._classes, self._count = classes, lessons.folds
        self._fold = np.append(lessons.fold_of, np.int32(lessons.folds))
        self.gathered = {} if gather is None else gather
        self._by: list[list[_Judged]] = [[] for _ in range(lessons.folds)]
        for (name, k), model in models.items():
            places = [classes.index(c) for c in model.classes]
            found = model, places, self.scorers[slot(name, k)], self.gathered.get(name), k if folds_apart else 0
            self._by[lessons.fold[k]].append(found)

    def take(self, piece: Piece, start: int) -> None:
        if self.extra is not None:
            self.extra.take(piece, start)
        said: dict[int, list[_Said]] = {}
        for models, index in zip(self._by, rows_by_fold(self._fold[piece.fold], self._count + 1), strict=False):
            if not len(index) or not models:
                continue
            part = piece.batch.take(index)
            for model, places, scorer, gatherer, lesson in models:
                joint = np.full((part.rows, len(self._classes)), -np.inf)
                joint[:, places] = model.log_joint(part)
                said.setdefault(id(scorer), []).append(_Said(scorer, gatherer, joint, index, lesson))
        target, weight = piece.batch.target, piece.batch.weight
        assert target is not None
        # What the models of all folds say is added up at once: sums of few rows cost as much as those of many.
        for some in said.values():
            index, joint = np.concatenate([s.rows for s in some]), np.concatenate([s.joint for s in some])
            lessons = np.repeat(np.array([s.lesson for s in some], np.int32), [len(s.rows) for s in some])
            truth, share = target.codes[index], None if weight is None else weight[index]
            some[0].scorer.update(joint, truth, share, self._classes, lessons)
            if some[0].gatherer is not None:
                some[0].gatherer.take(piece.batch.start + index, truth, share, joint, lessons)


class _Said(NamedTuple):
    """What a model says of the rows of its fold in a piece."""

    scorer: Scorer
    gatherer: HeldOutCollector | None
    joint: NDArray[np.float64]
    rows: NDArray[np.intp]
    lesson: int
