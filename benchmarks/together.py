"""What boosting where the rows are costs on Spark: how long tasks wait for each other, how often, and what they send.

`python benchmarks/together.py` measures an exchange of two tasks on this machine (`BarrierTaskContext.allGather`), and
the exchanges of trees over 20 columns of 255 codes; from these it computes what so many machines, a task on each, would
do with a billion rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from likely.models.additive.coding import CodedRows, hash_codes
from likely.models.additive.exchange import Alone
from likely.models.additive.recipe import Recipe, units_of
from likely.models.additive.shards import SharedBoosting
from likely.spark.session import session
from likely.spark.together import BarrierExchange, to_text

COLUMNS, CODES, LEAVES, TREES = 20, 255, 255, 6
CASES = ((100, 600), (32, 600), (10, 600))
"""Machines, trees."""
ROWS, CORES, NETWORK = 1_000_000_000, 16, 1.25e9
"""Rows in all; cores of a machine; bytes that the driver's machine sends in a second (10 Gbit/s)."""


def gather(cells: int, times: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Seconds of an exchange, as a task sees it."""
    import pyarrow as pa
    from pyspark import BarrierTaskContext

    for _ in batches:
        pass
    exchange, sums = BarrierExchange(BarrierTaskContext.get()), np.arange(cells)
    exchange(sums)  # the first one begins when the last task does
    start = time.perf_counter()
    for _ in range(times):
        exchange(sums)
    yield pa.RecordBatch.from_pydict({"seconds": [(time.perf_counter() - start) / times]})


def latency(spark: Any, cells: int, times: int = 10) -> float:
    rows = spark.range(0, 2, 1, 2).mapInArrow(partial(gather, cells, times), "seconds double", barrier=True)
    return max(row[0] for row in rows.collect())


class Counting(Alone):
    """What one machine would send."""

    def __init__(self) -> None:
        super().__init__(threads=1)
        object.__setattr__(self, "sent", [])

    sent: list[int]

    def __call__(self, sums: Any) -> Any:
        self.sent.append(len(to_text(sums)))
        return sums


def trees(rows: int) -> tuple[float, float, float]:
    """Of a tree: exchanges, bytes that a machine sends, and seconds of a core for each million rows."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, CODES, (rows, COLUMNS)).astype(np.uint8)
    told = (codes[:, 0] % 2 ^ codes[:, 1] % 2) * 1.5 + codes[:, 2] / CODES + rng.normal(size=rows) / 2
    hashes = np.empty(rows, np.uint64)
    hash_codes(codes, hashes)
    own = CodedRows(codes, (told > 1).astype(np.int32), np.ones(rows), hashes, rows).tallied()
    sizes = np.full(COLUMNS, CODES + 1)
    nominal, direction = np.zeros(COLUMNS, np.bool_), np.zeros(COLUMNS, np.int64)
    apart, start = np.zeros((0, 0), np.bool_), np.zeros(1)
    recipe = Recipe(sizes, nominal, direction, apart, start, COLUMNS, LEAVES, 0.2, 1.0, 1.0, TREES)
    exchange = Counting()
    boosting = SharedBoosting(recipe, own, None, units_of(own.total, len(own)), None, exchange)
    boosting.grow(2)  # with what is compiled or found once
    exchange.sent.clear()
    began = time.perf_counter()
    boosting.grow(TREES)
    spent = (time.perf_counter() - began) / TREES
    return len(exchange.sent) / TREES, sum(exchange.sent) / TREES, spent / rows * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows that one machine is given here")
    rows = parser.parse_args().rows
    spark = session("local[2]")
    empty, large = latency(spark, 1), latency(spark, 1 << 20)
    exchanges, sent, seconds = trees(rows)
    print(f"an exchange of two tasks: {empty:.2f} s; of 8 MB each, {large:.2f} s")
    print(f"a tree of {LEAVES} leaves, {COLUMNS} columns of {CODES} codes, {rows:,} rows: {exchanges:.1f} exchanges,")
    print(f"  {sent / 1e6:.1f} MB of text from each machine, {seconds:.2f} s of one core for a million rows")
    for machines, count in CASES:
        work = ROWS / machines / 1e6 * seconds / CORES
        wait, network = exchanges * empty, machines * machines * sent / NETWORK
        total = count * (work + wait + network) / 3600
        print(
            f"{machines} machines of {CORES} cores, {ROWS:,} rows, {count} trees (computed): {work:.1f} s of "
            f"work, {wait:.0f} s of waiting and {network:.1f} s of network "
            f"({machines * machines * sent / 1e9:.1f} GB from the "
            f"driver) for each tree; {total:.1f} h"
        )


if __name__ == "__main__":
    main()
