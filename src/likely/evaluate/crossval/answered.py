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
from likely.evaluate.scores.intervals import Parts, of_one_side, of_scorer
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

    def scored(one: str, logs: NDArray[np.float64]) -> Scorer:
        out = Scorer(len(classes), None if loss is None else Chosen(loss, classes), len(sides))
        out.update(np.ascontiguousarray(logs), truth, answers.weight, classes, fold.astype(np.int32), answers.squares)
        guesses = one in found.scorers and found.scorers[one].always is not None
        return out.always_guessing() if guesses else out

    def gathered(logs: NDArray[np.float64]) -> HeldOut:
        places = np.arange(len(truth), dtype=np.int64)
        odds, some = log_odds(np.ascontiguousarray(logs)), len(truth) < found.total.rows
        return HeldOut(classes, places, truth, answers.weight, odds, fold.astype(np.int32), some)

    def parts(logs: NDArray[np.float64], scorer: Scorer) -> Parts:
        # Of one fold there is no spread, and halves of it by which weights were found share their members: there rows
        # are what scores are compared on.
        return of_scorer(scorer, ratio) if answers.folds > 1 else of_one_side(gathered(logs), scorer.always)

    said = {name: answers.logs, **answers.beside}
    scorers = {one: scored(one, logs) for one, logs in said.items()}
    left: Mapping[str, Scorer] = {n: s for n, s in found.scorers.items() if n not in scorers}
    return replace(
        found,
        scorers={**left, **scorers},
        parts={**found.parts, **{one: parts(logs, scorers[one]) for one, logs in said.items()}},
        gathered={**found.gathered, name: gathered(answers.logs)},
        classes=classes,
        folds=len(sides),
        told=(),
        together=False,
    )
