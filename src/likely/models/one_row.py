"""The posterior of one row without a table around it: making the table takes longer than scoring it.

Knows what each model's encoder made of values that it has met; a row is scored as a batch of one, as any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol
from weakref import WeakKeyDictionary

from likely.models.posterior import Matrix, Posterior, RowPosterior
from likely.table.batch import Batch
from likely.table.encode import Encoder
from likely.table.rows import RowReader


class ScoresRows(Protocol):
    """What a model must be able to do: read rows as those of training, and score them."""

    @property
    def classes(self) -> tuple[str, ...]: ...
    @property
    def proper(self) -> bool: ...
    def encoder(self) -> Encoder: ...
    def scored(self, batch: Batch) -> tuple[Matrix, dict[str, tuple[int, int]]]: ...


_READERS: WeakKeyDictionary[ScoresRows, RowReader] = WeakKeyDictionary()
"""Beside the models, which are plain data that may be copied and pickled."""


def answer_row(model: ScoresRows, row: object) -> RowPosterior | None:
    """The posterior of a row whose values were met before, or are plain numbers; None where a table must be made."""
    read = _reader(model).read(row)
    if read is None:
        return None
    batch, unseen = read
    joint, words = model.scored(batch)
    found = Posterior.of(model.classes, joint, one=True, proper=model.proper)
    return RowPosterior(found.classes, found.matrix, found.log_evidence, True, found.proper, unseen=unseen, words=words)


def remember_row(model: ScoresRows, row: object, batch: Batch, strays: Mapping[str, int]) -> None:
    """Remember what a table of this row was read as."""
    _reader(model).keep(row, batch, strays)


def _reader(model: ScoresRows) -> RowReader:
    reader = _READERS.get(model)
    if reader is None:
        reader = _READERS[model] = RowReader(model.encoder())
    return reader
