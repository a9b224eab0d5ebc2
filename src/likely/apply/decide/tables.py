"""Decisions about a whole table, streamed from a source to a file, to standard output or to whoever asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from likely.apply.decide.decider import Decider
from likely.apply.decide.decision import NONE_OF_THESE, STRANGE, UNDECIDED, Decision, decided, reasons
from likely.apply.predict import remarks_on
from likely.errors import ColumnError, shown
from likely.intake.reading import Reading, open_table, with_encoding
from likely.models.posterior import Posterior
from likely.table.output.sink import Sink, decision_names, decisions, empty_batch
from likely.table.source import Source


@dataclass(frozen=True)
class Decided:
    """What happened on the way: rows, how often each action was chosen, and remarks for people."""

    rows: int
    chosen: dict[str, int]
    undecided: int
    strange: int
    remarks: tuple[str, ...]


def decide_table(
    how: Decider,
    data: object,
    path: str | None,
    *,
    keep: bool = False,
    each: Callable[[Decision], None] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    progress: Callable[[int], None] | None = None,
    encoding_errors: str = "strict",
) -> Decided:
    """Write the action of every row of `data`, with what each action is expected to cost.

    Memory does not grow with the rows. With `each` nothing is written: it is handed the decision of every batch.
    """

    def work(source: Source) -> Decided:
        return _decided(how, source, path, keep, each, progress)

    reading = Reading(encoding=encoding, delimiter=delimiter, encoding_errors=encoding_errors)
    if each is not None or path in (None, "-"):
        # What has gone to standard output cannot be taken back, so the encoding is not tried twice.
        return work(open_table(data, reading))
    return with_encoding(data, reading, work)  # type: ignore[no-any-return]


def _decided(
    how: Decider,
    source: Source,
    path: str | None,
    keep: bool,
    each: Callable[[Decision], None] | None,
    progress: Callable[[int], None] | None,
) -> Decided:
    model, actions = how.model, how.loss.actions
    if keep:
        clash = sorted(set(decision_names(actions)) & set(source.schema.names))
        if clash:
            raise ColumnError(f"{source.name} already has a column {shown(clash[0])}. Rename it, or leave --keep out.")
    model.columns_in(source)
    others, why = (None, NONE_OF_THESE), reasons(model.proper)
    times = np.zeros(len(actions), np.int64)
    rows = undecided = strange = 0
    unseen: Counter[str] = Counter()
    strays: Counter[str] = Counter()
    absent: set[str] = set()
    with ExitStack() as stack:
        sink = stack.enter_context(Sink(path)) if each is None else None
        for arrow, found in how.decisions(source, list(source.schema.names) if keep else None):
            if each is not None:
                each(found)
            if sink is not None:
                kept = arrow if keep else None
                sink.write(decisions(actions, others, why, found.codes, found.expected, found.margins, kept))
            rows += len(found)
            times += np.bincount(found.codes[found.codes >= 0], minlength=len(actions))
            undecided += int((found.codes == UNDECIDED).sum())
            strange += int((found.codes == STRANGE).sum())
            unseen.update(found.posterior.unseen)
            strays.update(found.posterior.strays)
            absent.update(found.posterior.absent)
            if progress is not None:
                progress(rows)
        if sink is not None and not rows:
            none = decided(Posterior.of(model.classes, np.empty((0, len(model.classes)))), how.loss)
            kept = empty_batch(source.schema) if keep else None
            sink.write(decisions(actions, others, why, none.codes, none.expected, none.margins, kept))
    remarks = [*how.notes, *remarks_on(absent, unseen, strays)]
    if not model.proper and rows:
        remarks.append(
            f"{type(model.learner).__name__} gives scores that are no probabilities, so expected losses are rough."
        )
    for count, reason in ((undecided, why[0]), (strange, why[1])):
        if count:
            number = "1 row has" if count == 1 else f"{count:,} rows have"
            remarks.append(f"{number} no action of the loss: {reason}.")
    return Decided(rows, dict(zip(actions, times.tolist(), strict=True)), undecided, strange, tuple(remarks))
