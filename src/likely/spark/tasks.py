"""What executors do: a task takes the rows of one part of a table, or letters of other tasks, and answers in letters.

A letter is (part, key, bytes): sums in the form of the model file, or a sentence that says what is wrong. Imports
pyspark only to ask which part this is; sends no object but as bytes (parcel.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import numpy as np

from likely.errors import LikelyError
from likely.intake.engine import sweep_sum
from likely.intake.observe import ObservationPlan, observe_source
from likely.intake.summarize import Extension, More
from likely.models.contracts import Model
from likely.spark.parcel import error_parts, packed, unpacked
from likely.sums import state
from likely.sums.contracts import State
from likely.sums.exact import add_in_order
from likely.sums.summary import Summary
from likely.table.arrow import decode_batch, unpack_schema
from likely.table.fragments import Fragment, TextOptions, cut_text, open_fragment
from likely.table.output.sink import prediction_batch
from likely.table.source import Source
from likely.table.wrappers import OneSweepSource, letter, read_letters, read_numbers

if TYPE_CHECKING:
    from likely.table.arrow import ArrowBatch

SOUND, WRONG = b"+", b"!"
Answer = tuple[int, bytes]
"""A key and bytes."""
Task = Callable[[Source, int], Iterator[Answer]]
"""What to do with the rows of a part, given its number."""


def of_frame(job: bytes, batches: Iterable[ArrowBatch]) -> Iterator[ArrowBatch]:
    """A task on the rows of one partition of a DataFrame."""
    from pyspark import TaskContext

    part = TaskContext.get().partitionId()  # type: ignore[union-attr]

    def work() -> Iterator[Answer]:
        task, name, names, schema = unpacked(job)
        yield from task(OneSweepSource(name, names, unpack_schema(schema), iter(batches)), part)

    yield from _answered(part, work, f"part {part + 1} of the table")


def of_files(job: bytes, batches: Iterable[ArrowBatch]) -> Iterator[ArrowBatch]:
    """A task on fragments of files, which it opens itself; `batches` hold their numbers."""
    for part in read_numbers(batches):

        def work(part: int = part) -> Iterator[Answer]:
            task, fragments, how, schema = unpacked(job)
            yield from task(open_fragment(fragments[part], how, schema), part)

        yield from _answered(part, work)


def of_letters(job: bytes, batches: Iterable[ArrowBatch]) -> Iterator[ArrowBatch]:
    """A task on letters; those that say what is wrong go on as they are."""
    wrong: list[tuple[int, int, bytes]] = []

    def kept() -> Iterator[tuple[int, int, bytes]]:
        for part, key, data in read_letters(batches):
            if data[:1] == SOUND:
                yield part, key, data[1:]
            else:
                wrong.append((part, key, data))

    yield from _answered(0, lambda: unpacked(job)(kept()))
    for one in wrong:
        yield letter(*one)


def _answered(part: int, work: Callable[[], Iterator[Answer]], where: str = "") -> Iterator[ArrowBatch]:
    """Letters of what work gives. A person's mistake is an answer too: Spark would try a failure again and again."""
    try:
        for key, data in work():
            yield letter(part, key, SOUND + data)
    except LikelyError as error:
        said = error_parts(error)
        if where and "row " in said["said"].lower():  # its number is that in the part
            said["said"] = f"In {where}: {said['said']}"
        yield letter(part, -1, WRONG + state.dump(dict(said)))


# -- sums that travel -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bundle:
    """Any nest of dicts and lists of sums."""

    held: Any

    def __add__(self, other: Bundle) -> Bundle:
        return Bundle(_plus(self.held, other.held))

    def state(self) -> State:
        return {"held": np.frombuffer(packed(self.held), np.uint8)}

    @classmethod
    def from_state(cls, tree: State) -> Bundle:
        return cls(unpacked(tree["held"].tobytes()))


def _plus(one: Any, two: Any) -> Any:
    if isinstance(one, dict):
        return {key: _plus(value, two[key]) for key, value in one.items()}
    if isinstance(one, list):
        return [_plus(a, b) for a, b in zip(one, two, strict=True)]
    return one + two


class TaskAnswer(Protocol):
    """What tasks answer: it can be added, and travels as its state."""

    def __add__(self, other: Self) -> Self: ...
    def state(self) -> State: ...
    @classmethod
    def from_state(cls, state: State) -> Self: ...


S = TypeVar("S", bound=TaskAnswer)


def to_bytes(sums: TaskAnswer) -> bytes:
    return state.dump(sums.state())


def from_bytes(kind: type[S], data: bytes) -> S:
    """The sums that `to_bytes` wrote."""
    return kind.from_state(state.parse(data, "an executor's answer"))


@dataclass(frozen=True)
class Join:
    """Letters of sums become one."""

    kind: type[TaskAnswer]

    def __call__(self, sent: Iterable[tuple[int, int, bytes]]) -> Iterator[Answer]:
        whole = add_in_order(from_bytes(self.kind, data) for _, _, data in sent)
        if whole is not None:
            yield 0, to_bytes(whole)


# -- tasks on rows ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Count:
    """How many rows there are."""

    columns: tuple[str, ...]

    def __call__(self, source: Source, part: int) -> Iterator[Answer]:
        yield sum(batch.num_rows for batch in source.batches(list(self.columns))), b""


@dataclass(frozen=True)
class Observe:
    """The observation of a part."""

    plan: ObservationPlan

    def __call__(self, source: Source, part: int) -> Iterator[Answer]:
        yield 0, to_bytes(observe_source(source, self.plan, 1))


@dataclass(frozen=True)
class Extend:
    """Statistics beyond the first order, begun as the whole summary begins them."""

    summary: Summary
    names: frozenset[str]
    like: More | None = None

    def __call__(self, source: Source, part: int) -> Iterator[Answer]:
        batches = source.batches(self.summary.schema.stored)
        yield 0, to_bytes(Bundle(sweep_sum(batches, lambda: Extension(self.summary, self.names, self.like), 1).more))


@dataclass(frozen=True)
class Ranges:
    """Where large texts can be cut: not a task on rows, but on whole files."""

    fragments: tuple[Fragment, ...]
    how: TextOptions
    size: int

    def __call__(self, source: Source, part: int) -> Iterator[Answer]:
        yield 0, packed(cut_text(self.fragments[part], self.how, self.size))


def predicted(job: bytes, batches: Iterable[ArrowBatch]) -> Iterator[ArrowBatch]:
    """The rows of a partition with prediction and probabilities."""
    model: Model
    model, names, read, keep = unpacked(job)
    start = 0
    for batch in batches:
        own = batch.rename_columns(names)
        _, found = model.read(own.select(read), start)
        start += batch.num_rows
        made = decode_batch(prediction_batch(model.classes, found.codes, found.matrix, batch if keep else None))
        yield made.rename_columns([f"c{k}" for k in range(made.num_columns)])
