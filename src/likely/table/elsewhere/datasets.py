"""Datasets of pyarrow, swept as they are read: as often as need be, batch by batch, wanted columns alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from likely.errors import InputError, shown
from likely.table.arrow import ROWS, plain_batch, plain_schema
from likely.table.source import Source, check_names

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

_AHEAD = 2
"""Batches and files that are read ahead: memory does not grow with the rows."""


class DatasetSource(Source):
    """A dataset of pyarrow. Text from files of another's making is checked before any kernel follows it."""

    def __init__(self, dataset: Dataset, name: str = "the dataset") -> None:
        check_names(name, tuple(dataset.schema.names))
        self.name, self._dataset = name, dataset
        self.schema = plain_schema(dataset.schema)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.resolve_columns(columns)
        read = names or [self.schema.names[0]]
        try:
            scanner = self._dataset.scanner(
                columns=read, batch_size=ROWS, batch_readahead=_AHEAD, fragment_readahead=_AHEAD
            )
            for batch in scanner.to_batches():
                if batch.num_rows:
                    batch.validate(full=True)
                    yield plain_batch(batch.select(read)) if names else batch.select([])
        except (pa.ArrowException, OSError, ValueError) as error:
            said = shown(" ".join(str(error).split()), 160)
            raise InputError(f"{self.name} cannot be read ({said}). Check its files.") from error
