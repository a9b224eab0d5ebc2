"""Decisions about a whole table, streamed from a source to a file, to standard output or to whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.apply.answers import Answers, answer_table
from likely.apply.decide.decider import Decider
from likely.apply.decide.decision import STRANGE, UNDECIDED, Decision, make_decision, reasons
from likely.intake.reading import Reading
from likely.models.posterior import Posterior
from likely.table.output.sink import decision_names
from likely.table.source import Source

if TYPE_CHECKING:
    from likely.table.arrow import ArrowBatch


@dataclass(frozen=True)
class Decided:
    """What happened on the way: rows, how often each action was chosen, and remarks for people."""

    rows: int
    chosen: dict[str, int]
    undecided: int
    strange: int
    remarks: tuple[str, ...]


class Decisions(Answers[Decision]):
    """The action of each row, with what each action is expected to cost; `each` is handed those of every batch."""

    def __init__(self, how: Decider, each: Callable[[Decision], None] | None = None) -> None:
        super().__init__(how.model)
        self.how, self.names, self._each = how, decision_names(how.loss.actions), each
        self.times = np.zeros(len(how.loss.actions), np.int64)
        self.undecided = self.strange = 0

    def batches(self, source: Source, columns: list[str] | None) -> Iterator[tuple[ArrowBatch, Decision]]:
        return self.how.decisions(source, columns)

    def add(self, answer: Decision) -> None:
        if self._each is not None:
            self._each(answer)
        self.mismatches.add(answer.posterior)
        self.times += np.bincount(answer.codes[answer.codes >= 0], minlength=len(self.times))
        self.undecided += int((answer.codes == UNDECIDED).sum())
        self.strange += int((answer.codes == STRANGE).sum())

    def empty(self) -> Decision:
        return make_decision(Posterior.of(self.model.classes, np.empty((0, len(self.model.classes)))), self.how.loss)

    def columns(self, answer: Decision, kept: ArrowBatch | None) -> ArrowBatch:
        return answer.batch(kept)

    def decided(self) -> Decided:
        """What all rows come to."""
        proper = self.model.proper
        remarks = [*self.how.notes, *self.mismatches.remarks()]
        if not proper and self.rows:
            name = type(self.model.learner).__name__
            remarks.append(f"{name} outputs scores, not probabilities, so expected losses are rough.")
        for count, reason in zip((self.undecided, self.strange), reasons(proper), strict=True):
            if count:
                number = "1 row has" if count == 1 else f"{count:,} rows have"
                remarks.append(f"{number} no action of the loss: {reason}.")
        chosen = dict(zip(self.how.loss.actions, self.times.tolist(), strict=True))
        return Decided(self.rows, chosen, self.undecided, self.strange, tuple(remarks))


def decide_table(
    how: Decider,
    data: object,
    path: str | None,
    reading: Reading | None = None,
    *,
    keep: bool = False,
    each: Callable[[Decision], None] | None = None,
    quote_formulas: bool = False,
) -> Decided:
    """Write the action of every row of `data`, with what each action is expected to cost; without a path, to standard
    output. With `each` nothing is written: it is handed the decision of every batch. `quote_formulas` is as in
    `predict_table`.
    """
    written = None if each is not None else "-" if path is None else path
    done = answer_table(
        lambda: Decisions(how, each),
        data,
        written,
        reading or Reading(),
        keep=keep,
        once=each is not None,
        quote_formulas=quote_formulas,
    )
    return done.decided()
