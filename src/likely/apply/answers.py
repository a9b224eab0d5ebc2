"""Answers about a whole table, batch by batch: rows in, columns added, rows out. Memory does not grow with the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from likely.errors import ColumnError, list_names, shown
from likely.intake.reading import Reading, open_table, with_encoding
from likely.models.contracts import Model
from likely.models.posterior import Posterior
from likely.table.output.files import check_output, kind_of_table
from likely.table.output.sink import (
    Sink,
    empty_batch,
    formula_remarks,
)
from likely.table.source import Source

if TYPE_CHECKING:
    from likely.table.arrow import ArrowBatch


A = TypeVar("A")
S = TypeVar("S", bound="AnswerStream[Any]")


class Mismatches:
    """What was unlike training, over all batches of a table."""

    def __init__(self) -> None:
        self.unseen: Counter[str] = Counter()
        self.strays: Counter[str] = Counter()
        self.absent: set[str] = set()
        self.words: Counter[str] = Counter()
        self.unknown_words: Counter[str] = Counter()
        self.formulas: set[str] = set()

    def add(self, posterior: Posterior) -> None:
        self.unseen.update(posterior.unseen)
        self.strays.update(posterior.strays)
        self.absent.update(posterior.absent)
        for name, (total, unknown) in posterior.words.items():
            self.words[name] += total
            self.unknown_words[name] += unknown

    def remarks(self) -> list[str]:
        """The same as sentences."""
        out = []
        if self.absent:
            named = list_names(sorted(self.absent)).removeprefix("There are: ").removesuffix(".")
            lacks = "a column" if len(self.absent) == 1 else f"{len(self.absent):,} columns"
            out.append(f"The table lacks {lacks} of the model, whose cells count as missing: {named}.")
        for name, count in sorted(self.unseen.items()):
            out.append(f"Levels not seen in training: {_cells(count)} of {shown(name)}.")
        for name, count in sorted(self.strays.items()):
            out.append(f"Not the kind of value seen in training, so missing: {_cells(count)} of {shown(name)}.")
        out += formula_remarks(self.formulas)
        for name, unknown in sorted(self.unknown_words.items()):
            if unknown:
                total = self.words[name]
                out.append(f"{unknown:,} of {total:,} words of {shown(name)} are unknown to the model, so skipped.")
        return out


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count:,} cells"


class AnswerStream(ABC, Generic[A]):
    """What is answered about each batch of rows, the columns that say it, and what all answers come to."""

    names: Sequence[str]
    """The columns that are added."""

    def __init__(self, model: Model) -> None:
        self.model, self.rows, self.mismatches = model, 0, Mismatches()

    @abstractmethod
    def batches(self, source: Source, columns: list[str] | None) -> Iterator[tuple[ArrowBatch, A]]:
        """Each batch of these columns (None: those that the model reads) with its answer, in order."""

    @abstractmethod
    def add(self, answer: A) -> None:
        """Take in the answer about one batch."""

    @abstractmethod
    def empty(self) -> A:
        """The answer about no rows."""

    @abstractmethod
    def columns(self, answer: A, kept: ArrowBatch | None) -> ArrowBatch:
        """The answer as columns, after those of `kept`."""

    def stream(self, source: Source, keep: bool = False) -> Iterator[tuple[A, ArrowBatch | None]]:
        """The answer about each batch, and the batch where it is kept; of a table without rows, the empty one."""
        clash = sorted(set(self.names) & set(source.schema.names)) if keep else []
        if clash:
            raise ColumnError(f"{source.name} already has a column {shown(clash[0])}. Rename it, or leave --keep out.")
        self.model.columns_in(source)
        for batch, answer in self.batches(source, list(source.schema.names) if keep else None):
            self.rows += batch.num_rows
            self.add(answer)
            yield answer, batch if keep else None
        if not self.rows:
            yield self.empty(), empty_batch(source.schema) if keep else None


def answer_table(
    make: Callable[[], S],
    data: object,
    path: str | None,
    reading: Reading,
    *,
    keep: bool = False,
    once: bool = False,
    quote_formulas: bool = False,
) -> S:
    """Answer every row of `data` and write the columns to `path`: '-' is standard output, None writes nothing.

    With `once` the rows are not read a second time in another encoding: what was handed on cannot be taken back.
    """

    check_output(path, None if path is None else kind_of_table(path), [data])

    def work(source: Source) -> S:
        answers = make()
        with nullcontext() if path is None else Sink(path, quote_formulas) as sink:
            for answer, kept in answers.stream(source, keep):
                if sink is not None:
                    sink.write(answers.columns(answer, kept))
                if reading.progress is not None and answers.rows:
                    reading.progress(answers.rows)
        if sink is not None:
            answers.mismatches.formulas |= sink.formulas
        return answers

    return work(open_table(data, reading)) if once or path == "-" else with_encoding(data, reading, work)
