"""Work where the rows are: rows are dealt to the tasks of one barrier stage, which hold them and exchange sums.

What travels between tasks is whole numbers, added up by each (`BarrierTaskContext.allGather`), so that all of them know
the same. Where a task or an executor is lost, Spark begins the stage again, and the answer has the same bits.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from likely.errors import LikelyError
from likely.intake.summarize import classes_and_weights, closed_encoder
from likely.models.contracts import Sweep, Together
from likely.spark.parcel import error_parts, packed, unpacked
from likely.spark.session import failures
from likely.spark.spread import LETTER, Spread, check_letters, unstable
from likely.spark.tasks import SOUND, WRONG, Answer
from likely.sums import state
from likely.sums.exact import plus_tuples
from likely.sums.summary import Summary
from likely.table.source import Source
from likely.table.wrappers import letter, read_letters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.table.arrow import ArrowBatch

LEAST_ROWS, MOST_PLACES = 250_000, 32
"""Rows of a task at least, and tasks at most: each is told what every other says, so that four times as much goes
through the driver where there are twice as many (benchmarks/together.py)."""
DEALT = 1 << 18
"""Rows that are dealt at once."""
PAUSE, PATIENCE = 5.0, 12
"""Seconds after which it is asked whether all tasks can still run; they cannot where the answer is no so many times."""
SHARES = 1 << 40
"""The weight of all rows, when it is asked whether they are still the same."""


def count_places(spark: Any, rows: int) -> int:
    """How many tasks shall work together: no more than can run at the same time. 0: none can."""
    try:
        context = spark.sparkContext
        if context.getConf().get("spark.dynamicAllocation.enabled", "false") == "true":
            return 0  # Spark has no barrier stages then
        return max(min(_slots(context), rows // LEAST_ROWS, MOST_PLACES), 1)
    except Exception:  # Spark Connect keeps its slots to itself
        return 0


def _slots(context: Any) -> int:
    scheduler = context._jsc.sc()
    return int(scheduler.maxNumConcurrentTasks(scheduler.resourceProfileManager().defaultResourceProfile()))


def work_together(spread: Spread, sweep: Sweep, summary: Summary, places: int) -> tuple[Any, ...]:
    """What the places answer, added up: of any number of them the same. Where slots are lost for good, fewer work."""
    assert sweep.together is not None
    with failures(spread.title.name):
        while True:
            deal = DealRows(sweep, summary, _keys(spread.spark, places))
            dealt = spread.letters(deal, summary.schema.stored).repartition(places, "key")
            job = packed((sweep.together, spread.title.name))
            # Spark begins a barrier stage again that is followed by another stage, and gives up one that is the last.
            answers = dealt.mapInArrow(partial(in_step, job), LETTER, barrier=True).repartition(1)
            with SlotWatch(spread.spark.sparkContext, places) as watch:
                try:
                    found = check_letters(answers.collect())
                    break
                except Exception:
                    if not watch.slots:
                        raise
            places = watch.slots
    return reduce(plus_tuples, (unpacked(data) for _, _, data in found))


class SlotWatch:
    """Cancels a job whose tasks cannot all run any more: Spark would wait for them for ever."""

    def __init__(self, context: Any, places: int) -> None:
        self._context, self._places, self._tag = context, places, f"likely-{uuid4()}"
        self._done = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self.slots = 0
        """How many tasks can run, where the job was cancelled."""

    def __enter__(self) -> SlotWatch:
        self._context.addJobTag(self._tag)
        self._thread.start()
        return self

    def __exit__(self, *what: object) -> None:
        self._done.set()
        self._thread.join()
        self._context.removeJobTag(self._tag)

    def _watch(self) -> None:
        missing = 0
        while not self._done.wait(PAUSE):
            slots = _slots(self._context)
            missing = missing + 1 if 0 < slots < self._places else 0
            if missing == PATIENCE:
                self.slots = slots
                self._context.cancelJobsWithTag(self._tag)
                return


def _keys(spark: Any, places: int) -> tuple[int, ...]:
    """For each place a number that Spark's hash sends there."""
    found: dict[int, int] = {}
    start, size = 0, 16 * places
    while len(found) < places:
        rows = spark.range(start, start + size, 1, 1).selectExpr("id", f"pmod(hash(id), {places}) AS place").collect()
        for row in rows:
            found.setdefault(row[1], row[0])
        start += size
    return tuple(found[place] for place in range(places))


@dataclass(frozen=True)
class DealRows:
    """What the rows of a part add to a sweep, dealt to places; each letter with the share of the weight in it."""

    sweep: Sweep
    summary: Summary
    keys: tuple[int, ...]

    def __call__(self, source: Source, part: int) -> Iterator[Answer]:
        encoder, whole = closed_encoder(self.summary), float(self.summary.total.sum().floats()[()])
        sums, start, rows, share = None, 0, 0, 0.0
        for batch in source.batches(self.summary.schema.stored):
            encoded = encoder.encode(batch, start)
            group, weight = classes_and_weights(self.summary, encoded)
            seen = self.sweep.look_at(encoded, group, weight)
            sums = seen if sums is None else plus_tuples(sums, seen)
            start, rows = start + batch.num_rows, rows + batch.num_rows
            share += float(weight[group >= 0].sum()) / whole
            if rows >= DEALT:
                yield from self._letters(sums, share)
                sums, rows, share = None, 0, 0.0
        if sums is not None:
            yield from self._letters(sums, share)

    def _letters(self, sums: tuple[Any, ...], share: float) -> Iterator[Answer]:
        assert self.sweep.together is not None
        for key, own in zip(self.keys, self.sweep.together.deal(sums, len(self.keys)), strict=True):
            yield key, packed((share, own))
            share = 0.0


def in_step(job: bytes, batches: Iterable[ArrowBatch]) -> Iterator[ArrowBatch]:
    """The work of one place. Only what all places find wrong is answered; whatever else is wrong ends the stage, since
    the others would wait for this one."""
    from pyspark import BarrierTaskContext

    together: Together
    together, name = unpacked(job)
    exchange = BarrierExchange(BarrierTaskContext.get())
    dealt, wrong, share = [], [], 0.0
    for part, key, data in read_letters(batches):
        if data[:1] == WRONG:
            wrong.append((part, key, data))
            continue
        more, own = unpacked(data[1:])
        dealt.append(own)
        share += more
    bad, shares = exchange(np.array([len(wrong), round(share * SHARES)], np.int64)).tolist()
    if bad:
        yield from (letter(*one) for one in wrong)
    elif abs(shares - SHARES) > SHARES >> 26:
        yield letter(exchange.place, -1, WRONG + _sentence(unstable(name)))
    else:
        found = together.work(dealt, exchange)
        if found is not None:
            yield letter(exchange.place, 0, SOUND + packed(found))


def _sentence(error: LikelyError) -> bytes:
    return state.dump(dict(error_parts(error)))


class BarrierExchange:
    """Sums over the tasks of a barrier stage: each tells all others its own, as text."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self.place, self.places = int(context.partitionId()), len(context.getTaskInfos())
        self.threads: int | None = int(context.cpus())

    def __call__(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        if self.places == 1:
            return sums
        out = np.zeros(sums.shape, np.int64)
        for said in self._context.allGather(to_text(sums)):
            out += from_text(said).reshape(sums.shape)
        return out


def to_text(sums: NDArray[np.int64]) -> str:
    """Whole numbers as text: all first bytes, then all second ones …, which compresses well.

    >>> from_text(to_text(np.array([3, -4]))).tolist()
    [3, -4]
    """
    planes = np.ascontiguousarray(sums).view(np.uint8).reshape(-1, 8).T
    return base64.b64encode(zlib.compress(planes.tobytes(), 1)).decode("ascii")


def from_text(text: str) -> NDArray[np.int64]:
    """The numbers that `to_text` wrote, in a row."""
    planes = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8).reshape(8, -1)
    return np.ascontiguousarray(planes.T).view(np.int64).reshape(-1)
