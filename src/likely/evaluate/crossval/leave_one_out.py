"""Leave-one-out in closed form: every row is scored by sums from which its own contribution was taken, in one sweep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from likely.evaluate.scores.scores import Chosen, HeldOutCollector, Scorer
from likely.intake.engine import PIECE, Piece
from likely.models.contracts import Learner
from likely.models.loss import Loss
from likely.models.model import learnable
from likely.models.naive.leave_one_out import LeaveOneOut, leave_one_out
from likely.sums.summary import Summary


def closed_forms(learners: Mapping[str, Learner], total: Summary) -> dict[str, LeaveOneOut]:
    """Those learners that have a closed form, by name."""
    own = learnable(total, text=True)
    found = {name: leave_one_out(learner, own) for name, learner in learners.items()}
    return {name: held for name, held in found.items() if held is not None}


class LeaveOneOutJudge:
    """Scores rows, each by what all others taught. One for each thread."""

    def __init__(
        self, held: Mapping[str, LeaveOneOut], rows: int, classes: tuple[str, ...], loss: Loss | None, extra: Any
    ) -> None:
        self._held, self._classes, self.extra = held, classes, extra
        self.scorers = {n: Scorer(len(classes), None if loss is None else Chosen(loss, classes)) for n in held}
        self.gathered = {n: HeldOutCollector(rows, classes) for n in held}

    def take(self, piece: Piece, start: int) -> None:
        """Score some rows."""
        if self.extra is not None:
            self.extra.take(piece, start)
        batch = piece.batch
        assert batch.target is not None
        counts = batch.target.codes >= 0
        if batch.weight is not None:
            counts &= batch.weight > 0
        index = np.flatnonzero(counts)
        for begin in range(0, len(index), PIECE):
            rows = index[begin : begin + PIECE]
            part = batch.take(rows)
            assert part.target is not None
            weight = np.ones(part.rows) if part.weight is None else part.weight
            for name, held in self._held.items():
                joint = held.log_joint(part, part.target.codes, weight)
                self.scorers[name].update(joint, part.target.codes, part.weight, self._classes)
                self.gathered[name].take(batch.start + rows, part.target.codes, part.weight, joint)
