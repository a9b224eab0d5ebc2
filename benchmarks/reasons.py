"""Measures what docs/decisions/ claims: start-up without numba, CSV parsers, exact sums, sizes of blocks, dictionaries,
intervals.

Prints one table of best times, or of coverage; writes nothing. Knows likely only as a user of its kernels and sources.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import making
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

STARTS = {
    "0003 numpy, then numba and its registries": (
        "import numba\nfrom numba.core.registry import cpu_target\n"
        "cpu_target.target_context.refresh()\ncpu_target.typing_context.refresh()"
    ),
    "0003 numpy, then one kernel as object code": (
        "import numpy\nfrom likely.sums.kernels import exponents\nexponents(numpy.ones(1))"
    ),
    "0004 numpy and pyarrow, then duckdb": "import duckdb",
    "0004 numpy and pyarrow, then pyarrow.csv": "import pyarrow.csv",
    "0010 numpy and pyarrow, then one pa.array of a list": "import pyarrow\npyarrow.array(['a'], pyarrow.string())",
}


def best(repeats: int, work: Callable[[], Any]) -> float:
    """The shortest of several times, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def start(statement: str, repeats: int) -> float:
    """How long a statement takes in a fresh process that has imported numpy (and pyarrow where it is about tables)."""
    before = "import numpy" if "numba" in statement or "likely" in statement else "import numpy, pyarrow"
    lines = [before, "import time", "at = time.perf_counter()", statement, "print(time.perf_counter() - at)"]
    program = "\n".join(lines)
    taken = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True) for _ in range(repeats)]
    return min(float(done.stdout) for done in taken)


def by_arrow(path: Path) -> int:
    """Every cell as text, as likely reads a CSV."""
    from likely.table.open import open_source

    return sum(batch.num_rows for batch in open_source(path).batches())


def by_duckdb(path: Path) -> int:
    """The same with duckdb's reader, all columns as text."""
    import duckdb

    database = duckdb.connect(config={"threads": 2})
    table = database.sql("from read_csv(?, all_varchar=true)", params=[str(path)])
    return sum(batch.num_rows for batch in table.to_arrow_reader(1 << 16))


BLOCKS = """
import sys
import fresh
import likely.table.formats.delimited as delimited
from likely.table.open import open_source
delimited.BLOCK = int(sys.argv[1]) << 20
before = fresh.memory("VmHWM")
for batch in open_source(sys.argv[2]).batches():
    pass
print((fresh.memory("VmHWM") - before) / 2**20)
"""


def memory_of_blocks(path: Path, megabytes: int) -> float:
    """Peak memory above imports, in MB, of a sweep over a CSV in blocks of this size."""
    program = [sys.executable, "-c", BLOCKS, str(megabytes), str(path.resolve())]
    here = Path(__file__).resolve().parent
    return float(subprocess.run(program, cwd=here, capture_output=True, text=True, check=True).stdout)


def dictionaries(folder: Path, repeats: int) -> dict[str, float]:
    """Milliseconds to decode a Parquet column of texts, as they are and as a dictionary."""
    draw = np.random.default_rng(0)
    short = np.array([f"level {k}" for k in range(300)])[draw.integers(0, 300, 1_000_000)]
    columns = {"short, repeated": short.tolist(), "long, all different": [f"{k:0100}" for k in range(100_000)]}
    out = {}
    for what, texts in columns.items():
        path = folder / "texts.parquet"
        pq.write_table(pa.table({"k": pa.array(texts)}), path)
        for how, coded in (("as they are", []), ("as a dictionary", ["k"])):

            def decode(path: Path = path, coded: list[str] = coded) -> int:
                return sum(b.num_rows for b in pq.ParquetFile(path, read_dictionary=coded).iter_batches(1 << 16))

            out[f"0016 {what} texts, {how}"] = 1000 * best(repeats, decode)
    return out


def sums(repeats: int, count: int = 1_000_000) -> dict[str, float]:
    """Nanoseconds a cell for the sums of x and x*x of five classes."""
    from likely.sums.columns.numbers import Numbers

    draw = np.random.default_rng(0)
    x, group = draw.normal(size=count), draw.integers(0, 5, count).astype(np.int32)

    def exact() -> None:
        numbers = Numbers(5)
        numbers.update(x, group)
        numbers.moments()

    def rounded() -> None:
        np.bincount(group, x, 5)
        np.bincount(group, x * x, 5)

    few = x[: count // 100].tolist()

    def rational() -> None:
        whole = [Fraction(v) for v in few]
        sum(whole)
        sum(v * v for v in whole)

    exact()  # loads the kernels
    return {
        "0001 exact sums and the tally of values": best(repeats, exact) / count * 1e9,
        "0001 sums of doubles, numpy.bincount": best(repeats, rounded) / count * 1e9,
        "0001 fractions.Fraction, one class": best(repeats, rational) / len(few) * 1e9,
    }


def coverage(cache: Path, splits: int) -> dict[str, float]:
    """How often announced intervals hold what test rows say, of sets of KEEL of 200 to 900 rows, 70 % of them learned.

    Test rows are a sample too: a difference is within bounds if the two intervals, Wilson's of the test rows, allow it
    (Newcombe's of a difference of shares; of log loss, the root of the sum of squares).
    """
    from sets import TARGET, all_places

    import likely
    from likely.evaluate.scores.intervals import wilson

    found = []
    for data in (place.read() for place in all_places(cache) if place.kin == "KEEL"):
        for seed in range(splits if 200 <= data.rows <= 900 else 0):
            order = np.random.default_rng(1000 + seed).permutation(data.rows)
            train, test = np.split(order, [round(0.7 * data.rows)])
            record = likely.look(data.table(np.sort(train), True), TARGET, threads=1)
            said, truth = record.model.posterior(data.table(test, False)), data.codes[test]
            chance = np.zeros((len(test), len(data.classes)))
            chance[:, [data.classes.index(name) for name in said.classes]] = said.matrix
            bits = -np.log2(np.maximum(chance[np.arange(len(test)), truth], 1e-300))
            share = float((chance.argmax(axis=1) == truth).mean())
            low, high = wilson(share, len(test))
            one, loss = record.intervals.accuracy, record.intervals.log_loss
            above, below = np.hypot(one.high - one.value, share - low), np.hypot(one.value - one.low, high - share)
            reach = np.hypot((loss.high - loss.low) / 2, 1.96 * bits.std(ddof=1) / len(test) ** 0.5)
            plain = np.subtract(*wilson(one.value, record.scores.rows)[::-1])
            inside = -below <= share - one.value <= above
            found.append((inside, (one.high - one.low) / plain, abs(bits.mean() - loss.value) <= reach))
    covered, width, of_loss = np.mean(found, axis=0)
    figures = {"accuracies in their interval, %": 100 * covered, "width in Wilson's of the rows": width}
    return figures | {"log losses in their interval, %": 100 * of_loss, "splits": len(found)}


def main() -> None:
    options = argparse.ArgumentParser(description="Measure what docs/decisions/ claims.")
    options.add_argument("--rows", type=int, default=1_000_000, help="rows of the CSV file (default 1,000,000)")
    options.add_argument("--csv", type=Path, metavar="FILE", help="take this file instead of making one")
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--coverage", type=int, metavar="SPLITS", help="measure intervals alone, so many splits a set")
    options.add_argument("--cache", type=Path, metavar="DIR", help="where the sets of the quality benchmark are kept")
    asked = options.parse_args()
    if asked.coverage:
        for what, figure in coverage(asked.cache, asked.coverage).items():
            print(f"{'0064 ' + what:<55} {figure:8.2f}")
        return
    for what, statement in STARTS.items():
        print(f"{what:<55} {start(statement, asked.repeats):8.3f} s")
    for what, nanoseconds in sums(asked.repeats).items():
        print(f"{what:<55} {nanoseconds:8.1f} ns a cell")
    with tempfile.TemporaryDirectory() as folder:
        path = asked.csv or making.make(Path(folder), [asked.rows])[-1].csv
        print(f"{'0004 CSV by likely (pyarrow.csv)':<55} {best(asked.repeats, lambda: by_arrow(path)):8.2f} s")
        print(f"{'0004 CSV by duckdb':<55} {best(asked.repeats, lambda: by_duckdb(path)):8.2f} s")
        for megabytes in (1, 4):
            what = f"0016 memory of a sweep over the CSV, blocks of {megabytes} MB"
            print(f"{what:<55} {memory_of_blocks(path, megabytes):8.0f} MB")
        for what, milliseconds in dictionaries(Path(folder), asked.repeats).items():
            print(f"{what:<55} {milliseconds:8.1f} ms")


if __name__ == "__main__":
    main()
