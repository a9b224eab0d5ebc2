"""Settings of text chosen on rows held out: a part of the rows is kept, its sums are taken from the total, and every
candidate is scored by the log probability that it gives to the classes of these rows. Changes nothing by threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from likely.machinery.arrays import Ints
from likely.models.contracts import Learner, Model, Search
from likely.models.heldout.dealing import recode_target, sum_rows
from likely.models.heldout.kept_rows import GatheredRows, KeptRows
from likely.models.knowledge.knowledge import Knowledge
from likely.models.knowledge.known import known_classes
from likely.models.model import learnable
from likely.models.text.settings import Text
from likely.models.text.sums import WordSums
from likely.models.text.trial import Column, Trial, choose_text, joint_scales
from likely.sums.summary import Summary
from likely.sums.weights import weights
from likely.sums.words.words import Words
from likely.table.batch import Batch, Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ROWS = 5_000
"""Rows that are held out at most (different ones; those with the smallest hashes of their content)."""
FEW_ROWS, SOME_ROWS = 1_000, 20_000
FEW_SCORES = 1 << 23
"""Where there are few rows, or some and so few words times classes, all are held out in turn, a fifth at a time."""
LEAST_ROWS = 50
"""Where there are fewer, nothing is chosen."""
LONGEST = 1 << 20
"""Texts of more bytes are not held out, so that what is kept stays small."""
PARTS = 5


class LearnsText(Learner, Protocol):
    """A learner whose settings of text columns may be left to be chosen."""

    @property
    def knowledge(self) -> Sequence[Knowledge]: ...
    def text_settings(self, name: str) -> Text:
        """What was said of a text column."""
        ...

    def model(self, summary: Summary, chosen: Mapping[str, Text] | None = None) -> Model:
        """The model with settings of text as they were chosen; without, the plain ones."""
        ...


def start_text_search(learner: LearnsText, summary: Summary) -> Search | None:
    """The search for the settings of text, where any are open and rows are enough to choose by."""
    columns = [name for name, s in summary.columns.items() if isinstance(s, Words)]
    some = [name for name in columns if learner.text_settings(name).is_open]
    weighty = int((~summary.total.is_zero()).sum())
    if not some or summary.rows < LEAST_ROWS or weighty < 2:
        return None
    return TextSearch(learner, summary, tuple(some))


@dataclass(frozen=True)
class TextSearch(Search):
    """One sweep, to keep some rows."""

    learner: LearnsText
    summary: Summary
    names: tuple[str, ...]
    """The columns of which something is to be chosen."""

    @cached_property
    def in_turn(self) -> bool:
        """Whether all rows are held out, a part at a time: a choice by few rows would be a matter of luck."""
        if not FEW_ROWS <= self.summary.rows <= SOME_ROWS:
            return self.summary.rows < FEW_ROWS
        classes, words = len(self.summary.classes), 0.0
        for name in self.names:
            _, times, weight = WordSums(self.summary.column(name, Words), classes).lengths
            words += float(times @ weight)
        return words * classes <= FEW_SCORES

    def blind(self) -> Model:
        """The plain model, where there are sums alone."""
        return self.learner.model(self.summary)

    def look_at(self, batch: Batch, group: Ints, weight: NDArray[np.float64]) -> tuple[Any, ...]:
        """The rows that are held out, with the part of each."""
        batch, group = recode_target(self.summary.classes, batch, group)
        counts = (group >= 0) & (weight > 0)
        for name in self.names:
            cells: Texts = batch.cells[name]
            counts &= cells.ends - cells.starts <= LONGEST
        most = self.summary.rows if self.in_turn else int(min(self.summary.rows / PARTS, MOST_ROWS))
        return (GatheredRows.of(self.summary, batch, np.where(counts, group, np.int32(-1)), weight, max(most, 1)),)

    def step(self, sums: tuple[Any, ...]) -> Model:
        """The settings that gave the held-out rows' classes the greatest log probability, and the model of all rows."""
        rows = sums[0].dealt(self.summary, PARTS if self.in_turn else 1)
        trials = self._trials(rows)
        if not trials:
            return self.blind()
        chosen = {name: choose_text(self.learner.text_settings(name), name, trials) for name in self.names}
        chosen = joint_scales({n: self.learner.text_settings(n) for n in self.names}, chosen, trials)
        return self.learner.model(self.summary, chosen)

    def _trials(self, rows: KeptRows) -> list[Trial]:
        """For each part: what its rows say, and the sums of all other rows."""
        batches, parts = [rows.batch], rows.part
        columns = [self.summary.schema[name] for name in self.names]
        words = {c.name: Words(0, c.tokens, c.kept) for c in columns}
        weight = np.concatenate([np.ones(b.rows) if b.weight is None else b.weight for b in batches])
        group = np.concatenate([np.zeros(b.rows, np.int32) if b.target is None else b.target.codes for b in batches])
        start = 0
        for batch in batches:
            numbers = np.arange(start, start + batch.rows, dtype=np.int32)
            start += batch.rows
            for name, held in words.items():
                held.make_room(start)
                held.update(batch.cells[name], numbers, weights(batch.weight))
        out = []
        for p in np.unique(parts).tolist():
            trial = self._trial(batches, parts == p, group, weight, words)
            out += [] if trial is None else [trial]
        return out

    def _trial(
        self,
        batches: list[Batch],
        mine: NDArray[np.bool_],
        group: Ints,
        weight: NDArray[np.float64],
        words: Mapping[str, Words],
    ) -> Trial | None:
        whole, classes = self.summary, len(self.summary.classes)
        if unused := set(whole.more) - self.learner.needs(whole.schema):  # what other learners asked for
            whole = whole.without(unused)
        ends = np.cumsum([b.rows for b in batches])
        some = [b.take(np.flatnonzero(mine[end - b.rows : end])) for b, end in zip(batches, ends, strict=True)]
        places = np.where(mine, group, -1).astype(np.intp)
        by_class = {name: w.regrouped(places, classes) for name, w in words.items()}
        plain = self._plain(whole)
        rest = plain - sum_rows(plain, some, plain.more)
        if len(rest.classes) < 2:
            return None
        rest = learnable(rest, known_classes(self.learner.knowledge, rest.schema), text=True)
        index = {name: k for k, name in enumerate(rest.classes)}
        own = np.array([index.get(name, -1) for name in whole.classes], np.intp)
        # Rows of a class that no other row has cannot be told by it: they are not scored.
        truth = own[group[mine]]
        base = self.learner.model(rest)
        offset = np.concatenate([base.log_joint(b) for b in some])
        number = np.cumsum(mine) - 1
        columns = {}
        for name, w in words.items():
            others = (whole.column(name, Words) - by_class[name]).regrouped(own, len(rest.classes))
            columns[name] = Column.of(others, w, np.where(mine, number, -1), int(mine.sum()))
        return Trial(offset, truth, weight[mine], columns)

    def _plain(self, summary: Summary) -> Summary:
        """Without the columns that are tried, which are summed by document."""
        kept = (replace(c, role="left out") if c.name in self.names else c for c in summary.schema.columns)
        out = summary.with_schema(summary.schema.with_columns(kept))
        out.more = dict(summary.more)
        return out
