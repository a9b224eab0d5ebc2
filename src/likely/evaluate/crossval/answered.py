"""Scores of a model from what it said while it was made: of rows that nothing of it had seen. No row is swept again.

Learners that were judged beside it are scored on the same rows, so that differences are not those of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate.crossval.validate import Validation
from likely.evaluate.scores.held_out import HeldOut, log_odds
from likely.evaluate.scores.intervals import of_scorer
from likely.evaluate.scores.losses import Chosen
from likely.evaluate.scores.scores import Scorer
from likely.models.contracts import HeldOutAnswers
from likely.probability.loss import Loss

if TYPE_CHECKING:
    from numpy.typing import NDArray


def with_answers(found: Validation, name: str, answers: HeldOutAnswers, loss: Loss | None) -> Validation:
    """The validation with the scores of these answers for the learner of this name, and of those judged beside it."""
    classes, truth = found.total.classes, answers.truth.astype(np.int32)
    sides, fold = np.unique(answers.side, return_inverse=True)
    ratio = len(truth) / len(sides) / answers.learned

    def scored(logs: NDArray[np.float64]) -> Scorer:
        out = Scorer(len(classes), None if loss is None else Chosen(loss, classes), len(sides))
        out.update(np.ascontiguousarray(logs), truth, answers.weight, classes, fold.astype(np.int32))
        return out

    scorers = {name: scored(answers.logs)} | {other: scored(logs) for other, logs in answers.beside.items()}
    rows = HeldOut(
        classes,
        np.arange(len(truth), dtype=np.int64),
        truth,
        answers.weight,
        log_odds(np.ascontiguousarray(answers.logs)),
        fold.astype(np.int32),
        len(truth) < found.total.rows,
    )
    left: Mapping[str, Scorer] = {n: s for n, s in found.scorers.items() if n not in scorers}
    return replace(
        found,
        scorers={**left, **scorers},
        parts={**found.parts, **{n: of_scorer(scorer, ratio) for n, scorer in scorers.items()}},
        gathered={**found.gathered, name: rows},
        classes=classes,
        folds=len(sides),
        told=(),
    )
