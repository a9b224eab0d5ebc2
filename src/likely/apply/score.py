"""The density of every row of a table under a model, streamed from a source to a file, and what they come to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.apply.predict import remarks_on, together
from likely.errors import ColumnError, SettingError, shown
from likely.intake.reading import Reading, open_table, with_encoding
from likely.models.model import Model
from likely.table.output.sink import DENSITY, Sink, densities, empty_batch
from likely.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Scored:
    """log P(row) of all rows together, in nats, and the rows that are least like those of training."""

    rows: int
    impossible: int
    """Rows that the model holds to be impossible; log P of the data is then minus infinity."""
    total: float
    """log P(data): the sum of log P(row)."""
    lowest: tuple[tuple[int, float], ...]
    """Row number (the first is 1) and log P(row) of the rows of lowest density, the lowest first."""
    remarks: tuple[str, ...]

    @property
    def mean(self) -> float:
        return self.total / self.rows if self.rows else math.nan


def score_table(
    model: Model,
    data: object,
    path: str | None = None,
    *,
    lowest: int = 10,
    keep: bool = False,
    encoding: str | None = None,
    delimiter: str | None = None,
    progress: Callable[[int], None] | None = None,
    encoding_errors: str = "strict",
) -> Scored:
    """Score every row of `data`; memory does not grow with the rows. With a path, the densities are written there.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "sun"]}, learner=likely.Density(pseudo_count=0))
    >>> found = score_table(model, {"sky": ["rain", "sun"]}, lowest=1)
    >>> found.rows, round(math.exp(found.total), 4), found.lowest[0][0]
    (2, 0.1875, 1)
    """
    model.check_generative()
    if lowest < 0:
        raise SettingError(f"lowest is {lowest}. Say how many rows to name, zero or more.")

    def work(source: Source) -> Scored:
        return _scored(model, source, path, lowest, keep, progress)

    reading = Reading(encoding=encoding, delimiter=delimiter, encoding_errors=encoding_errors)
    if path == "-":
        # What has gone to standard output cannot be taken back, so the encoding is not tried twice.
        return work(open_table(data, reading))
    return with_encoding(data, reading, work)  # type: ignore[no-any-return]


class _Sum:
    """What the rows come to, batch by batch in their order."""

    def __init__(self, most: int) -> None:
        self.rows, self.impossible, self._most = 0, 0, most
        self._sums: list[float] = []
        self._places, self._values = np.empty(0, np.int64), np.empty(0)

    def take(self, values: NDArray[np.float64]) -> None:
        self._sums.append(math.fsum(values.tolist()) if np.isfinite(values).all() else float(values.sum()))
        places = np.concatenate([self._places, np.arange(self.rows + 1, self.rows + 1 + len(values))])
        every = np.concatenate([self._values, values])
        order = np.argsort(every, kind="stable")[: self._most]  # stable: of equal rows the first
        self._places, self._values = places[order], every[order]
        self.rows += len(values)
        self.impossible += int(np.isneginf(values).sum())

    @property
    def total(self) -> float:
        return sum(self._sums) if self.impossible else math.fsum(self._sums)

    @property
    def lowest(self) -> tuple[tuple[int, float], ...]:
        return tuple(zip(self._places.tolist(), self._values.tolist(), strict=True))


def _scored(
    model: Model, source: Source, path: str | None, lowest: int, keep: bool, progress: Callable[[int], None] | None
) -> Scored:
    if keep and DENSITY in source.schema.names:
        raise ColumnError(f"{source.name} already has a column {shown(DENSITY)}. Rename it, or leave --keep out.")
    columns = list(source.schema.names) if keep else None
    model.columns_in(source)
    found = _Sum(lowest)
    unseen: Counter[str] = Counter()
    strays: Counter[str] = Counter()
    absent: set[str] = set()
    words: dict[str, tuple[int, int]] = {}
    with ExitStack() as stack:
        sink = None if path is None else stack.enter_context(Sink(path))
        for arrow, posterior in model.posteriors(source, columns, densities=True):
            found.take(posterior.log_evidence)
            unseen.update(posterior.unseen)
            strays.update(posterior.strays)
            absent.update(posterior.absent)
            words = together(words, posterior.words)
            if sink is not None:
                sink.write(densities(posterior.log_evidence, arrow if keep else None))
            if progress is not None:
                progress(found.rows)
        if sink is not None and not found.rows:
            sink.write(densities(np.empty(0), empty_batch(source.schema) if keep else None))
    remarks = remarks_on(absent, unseen, strays, words)
    if found.impossible:
        many = "1 row is" if found.impossible == 1 else f"{found.impossible:,} rows are"
        remarks.append(f"{many} impossible under the model, so log P of all rows is minus infinity.")
    return Scored(found.rows, found.impossible, found.total, found.lowest, tuple(remarks))
