"""Makes the benchmarks' table: 8 nominal and 8 numeric attributes that really depend on a target of 5 classes.

Written block by block, so that no table is ever whole in memory. Knows nothing of likely.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

TARGET = "class"
CLASSES = ("azure", "coral", "ivory", "olive", "umber")
SHARES = (0.35, 0.25, 0.2, 0.12, 0.08)
LEVELS = (2, 3, 5, 10, 30, 100, 300, 1000)
NOMINAL = tuple(f"nominal_{n}" for n in LEVELS)
NUMERIC = ("normal_a", "normal_b", "normal_c", "skewed", "cents_a", "cents_b", "whole", "billion")
MISSING = 0.03
ROW_GROUP = 131_072

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Files:
    """The same rows twice; `rows` counts them."""

    rows: int
    parquet: Path
    csv: Path


class _Law:
    """The distribution that every row is drawn from, itself drawn from the seed."""

    def __init__(self, seed: int) -> None:
        draw = np.random.default_rng(seed)
        self.cumulated = []
        for levels in LEVELS:
            weight = 1 / np.arange(1, levels + 1) ** 0.7 * np.exp(0.4 * draw.normal(size=(len(CLASSES), levels)))
            self.cumulated.append(np.cumsum(weight, axis=1) / weight.sum(axis=1, keepdims=True))
        self.names = [pa.array([f"{name} {k}" for k in range(n)]) for name, n in zip(NOMINAL, LEVELS, strict=True)]
        self.shift = 0.4 * draw.normal(size=(len(NUMERIC), len(CLASSES)))
        self.spread = np.exp(0.1 * draw.normal(size=(len(NUMERIC), len(CLASSES))))

    def block(self, draw: np.random.Generator, rows: int) -> pa.RecordBatch:
        group: Ints = np.searchsorted(np.cumsum(SHARES)[:-1], draw.random(rows), side="right")
        columns = {}
        for name, names, cumulated in zip(NOMINAL, self.names, self.cumulated, strict=True):
            chance, code = draw.random(rows), np.empty(rows, np.int32)
            for k in range(len(CLASSES)):
                of_class = group == k
                code[of_class] = np.searchsorted(cumulated[k, :-1], chance[of_class], side="right")
            index = pa.array(code, mask=draw.random(rows) < MISSING)
            columns[name] = pa.DictionaryArray.from_arrays(index, names).cast(pa.string())
        for k, name in enumerate(NUMERIC):
            z = self.shift[k, group] + self.spread[k, group] * draw.normal(size=rows)
            columns[name] = pa.array(_scaled(name, z), mask=draw.random(rows) < MISSING)
        target = pa.DictionaryArray.from_arrays(pa.array(group.astype(np.int32)), pa.array(CLASSES))
        columns[TARGET] = target.cast(pa.string())
        return pa.RecordBatch.from_pydict(columns)


def _scaled(name: str, z: NDArray[np.float64]) -> NDArray[np.float64] | Ints:
    """A standard normal number as the column has it."""
    if name == "skewed":
        return np.asarray(np.exp(z / 2))
    if name.startswith("cents"):
        return np.round((50 if name == "cents_a" else 1000) + 25 * z, 2)
    if name == "whole":
        return np.rint(5000 + 800 * z).astype(np.int64)
    if name == "billion":
        return 1e9 + 0.01 * z
    return z * 3 + 10


def blocks(rows: int, seed: int = 0) -> Iterator[pa.RecordBatch]:
    """`rows` rows, a row group at a time."""
    law, draw = _Law(seed), np.random.default_rng(seed + 1)
    for start in range(0, rows, ROW_GROUP):
        yield law.block(draw, min(ROW_GROUP, rows - start))


def make(folder: Path, sizes: list[int], seed: int = 0) -> list[Files]:
    """The first sizes[k] rows of one table as Parquet and CSV, for each k; files that are there already are kept."""
    sizes = sorted(sizes)
    made = [Files(n, folder / f"table_{n}.parquet", folder / f"table_{n}.csv") for n in sizes]
    if all(f.parquet.exists() and f.csv.exists() for f in made):
        return made
    final, made = made, [Files(f.rows, _part(f.parquet), _part(f.csv)) for f in made]
    done, ends = 0, {}
    with ExitStack() as stack:
        schema = next(blocks(1, seed)).schema
        parquet = {
            n: stack.enter_context(pq.ParquetWriter(f.parquet, schema)) for n, f in zip(sizes, made, strict=True)
        }
        csv = stack.enter_context(pa.OSFile(str(made[-1].csv), "wb"))
        csv.write((",".join(schema.names) + "\n").encode())
        plain = pc.WriteOptions(include_header=False, quoting_style="none")
        for whole in blocks(sizes[-1], seed):
            cuts = [0, *(n - done for n in sizes if done < n < done + whole.num_rows), whole.num_rows]
            for start, end in pairwise(cuts):
                block = whole.slice(start, end - start)
                pc.write_csv(block, csv, plain)
                done += block.num_rows
                if done in sizes:
                    ends[done] = csv.tell()
                for n, writer in parquet.items():
                    if done <= n:
                        writer.write_batch(block, row_group_size=ROW_GROUP)
    for files in made[:-1]:
        _copy_head(made[-1].csv, files.csv, ends[files.rows])
    for part, whole_files in zip(made, final, strict=True):  # a run that was stopped leaves no half file to be kept
        part.parquet.replace(whole_files.parquet)
        part.csv.replace(whole_files.csv)
    return final


def _part(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def _copy_head(source: Path, to: Path, size: int) -> None:
    shutil.copyfile(source, to)
    with open(to, "r+b") as file:
        file.truncate(size)


def make_census(path: Path, rows: int = 48_842, seed: int = 0) -> Path:
    """A made CSV of the shape of the Adult census: 8 nominal and 6 numeric attributes, 2 classes."""
    whole = pa.Table.from_batches(blocks(rows, seed))
    two = pa.array(["<=50K" if c in CLASSES[:2] else ">50K" for c in whole[TARGET].to_pylist()])
    kept = whole.select([*NOMINAL, "cents_a", "cents_b", "whole"])
    for k in range(3):
        values = np.random.default_rng(k).integers(0, 100, rows)
        kept = kept.append_column(f"integer_{k}", pa.array(values))
    pc.write_csv(kept.append_column("income", two), path)
    return path
