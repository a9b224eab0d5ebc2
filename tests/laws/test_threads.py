"""A sweep gives the same bits on any number of threads; who sweeps alone, and who with a crew."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.nasty import LEVELS, TABLE, VALUES, of_summary

import likely
from likely import Summary
from likely.intake.engine import crew_for, sweep
from likely.table.batch import Batch
from likely.table.formats.memory import SMALL, TableSource
from likely.testing import bits, check_shards, some_rows, swept


class Worker:
    """Sums the batches of one thread."""

    def __init__(self) -> None:
        self.summary = Summary(TABLE)

    def take(self, batch: Batch, start: int) -> None:
        self.summary.update(batch)


class Drawn:
    """A batch as the engine draws it: something with a number of rows."""

    def __init__(self, batch: Batch) -> None:
        self.batch, self.num_rows = batch, batch.rows


@settings(max_examples=20)
@given(case=of_summary(), seed=st.integers(0, 2**32))
def test_the_engine_deals_batches_to_any_number_of_threads(case: object, seed: int) -> None:
    whole = swept(case.make, [case.batch])
    parts = np.array_split(np.random.default_rng(seed).permutation(case.rows), 7)
    for threads in (1, 2, 4):
        drawn = (Drawn(some_rows(case.batch, part)) for part in parts)
        workers = sweep(drawn, Worker, threads, prepare=lambda drawn, start: drawn.batch)
        check_shards([w.summary for w in workers], whole)


def table(rows: int, seed: int) -> dict[str, np.ndarray]:
    """Columns of every kind, with strays, gaps, and weights that no double sum would get right."""
    rng = np.random.default_rng(seed)
    numbers = np.where(rng.random(rows) < 0.3, rng.choice(VALUES, rows), 1e9 + rng.standard_normal(rows) * 1e-6)
    strings = rng.choice(
        ["1", "2.5", "-3e5", "0.1234567890123456789", "n/a", "stray", "1,234", "?"], rows, p=[0.2] * 4 + [0.05] * 4
    )
    return {
        "number": numbers,
        "text": strings,
        "level": rng.choice([*LEVELS, None], rows),
        "few": rng.integers(0, 4, rows),
        "day": rng.choice(["2020-01-01", "2020-02-30", "2021-12-31T10:00:00Z", ""], rows, p=[0.5, 0.05, 0.4, 0.05]),
        "weight": rng.choice([0.0, 0.1, 1.0, 1e300, 5e-324], rows),
        "class": rng.choice(["1", "2", "10", None], rows),
    }


def arranged(columns: dict[str, np.ndarray], order: np.ndarray, pieces: int) -> pa.Table:
    """The table with its rows in this order, in so many chunks."""
    parts = [
        pa.table({name: pa.array(values[part].tolist()) for name, values in columns.items()})
        for part in np.array_split(order, pieces)
        if len(part)
    ]
    return pa.concat_tables(parts, promote_options="permissive")


@settings(max_examples=12)
@given(rows=st.integers(1, 400), seed=st.integers(0, 2**32), weighted=st.booleans())
def test_summarize_does_not_see_threads_order_or_chunks(rows: int, seed: int, weighted: bool) -> None:
    columns = table(rows + 20, seed)
    rng = np.random.default_rng(seed)
    order, weight = np.arange(rows + 20), "weight" if weighted else None
    columns["class"][:2], columns["weight"][:2] = ["1", "10"], 1.0  # at least two rows that count
    whole = likely.summarize(arranged(columns, order, 1), "class", weight=weight, threads=1)
    for threads in (1, 2, 4):
        mixed = arranged(columns, rng.permutation(order), int(rng.integers(1, 15)))
        assert bits(likely.summarize(mixed, "class", weight=weight, threads=threads)) == bits(whole)
    shards = np.array_split(rng.permutation(order[2:]), 3)
    parts = [
        likely.summarize(arranged(columns, np.append(part, k), 2), "class", weight=weight, schema=whole.schema)
        for k, part in zip((0, 1), shards, strict=False)
    ]
    rest = Summary(whole.schema)
    if usable(columns, shards[2], weighted):
        rest = likely.summarize(arranged(columns, shards[2], 1), "class", weight=weight, schema=whole.schema)
        check_shards([*parts, rest], whole)
        assert (parts[0] + parts[1] + rest) - rest == parts[0] + parts[1]


def usable(columns: dict[str, np.ndarray], rows: np.ndarray, weighted: bool) -> bool:
    some = np.array([c is not None for c in columns["class"][rows]], bool)
    return bool((some & (columns["weight"][rows] > 0)).any() if weighted else some.any())


def test_a_worker_that_fails_stops_the_sweep_and_is_heard() -> None:
    class Failing(Worker):
        def take(self, batch: object, start: int) -> None:
            raise ValueError("no such cell")

    for threads in (1, 4):
        batches = iter([pa.record_batch({"x": [1]})] * 8)
        with pytest.raises(ValueError, match="no such cell"):
            sweep(batches, Failing, threads)


# How many threads sweep a table: small ones are not worth a second.


def test_only_few_bytes_are_left_to_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKELY_THREADS", "3")
    small = TableSource(pa.table({"x": np.zeros(1000)}))
    long = TableSource(pa.table({"x": ["a rather long text " * 1000] * (SMALL // 10_000)}))  # few rows, many bytes
    many = TableSource(pa.table({"x": np.zeros(SMALL // 8)}))
    assert [crew_for(source, None) for source in (small, long, many)] == [1, 3, 3]
    assert [crew_for(source, 2) for source in (small, long, many)] == [2, 2, 2]
