"""DataFrames cut as a test wants, of awkward rows. Executors import this file, so it stands apart from the tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from likely.spark.session import quiet


def _slices(data: bytes, bounds: Sequence[int], batches: Any) -> Iterator[Any]:
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        table = reader.read_all()
    for batch in batches:
        for part in batch.column(0).to_pylist():
            yield from table.slice(bounds[part], bounds[part + 1] - bounds[part]).to_batches(max_chunksize=3000)


def frame(spark: Any, table: pa.Table, bounds: Sequence[int]) -> Any:
    """A DataFrame whose part k holds the rows bounds[k] … bounds[k + 1], each time it is asked."""
    from pyspark.sql.pandas.types import from_arrow_schema

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data, parts = sink.getvalue().to_pybytes(), len(bounds) - 1
    with quiet():
        numbers = spark.range(0, parts, 1, parts)
        return numbers.mapInArrow(partial(_slices, data, list(bounds)), from_arrow_schema(table.schema))


def awkward(rows: int, seed: int = 0) -> pa.Table:
    """Odd names, missing cells, skewed levels, numbers far from zero, an identifier, a weight, and unequal classes."""
    rng = np.random.default_rng(seed)

    def some(values: Any, gone: float) -> list[Any]:
        return [None if u < gone else v for u, v in zip(rng.random(rows), values, strict=True)]

    skewed = np.where(rng.random(rows) < 0.97, "usual", rng.choice(["", "[red]", "a=b", "ü", "'q\"", "NA"], rows))
    wide = rng.normal(1e9, 1e-3, rows) * np.where(rng.random(rows) < 0.01, 1e-200, 1.0)
    return pa.table(
        {
            "a.b": some(skewed.tolist(), 0.02),
            "`t i c k`": some(wide.tolist(), 0.1),
            "few": rng.integers(0, 4, rows),
            "A": [bool(v) for v in rng.random(rows) < 0.3],
            "who": [f"user-{k}" for k in rng.permutation(rows)],
            "weight": rng.choice([0.0, 1.0, 2.5], rows),
            "<y>": some(rng.choice(["no", "yes", "per haps"], rows, p=[0.6, 0.39, 0.01]).tolist(), 0.01),
        }
    )


def unsteady(batches: Any) -> Iterator[Any]:
    """Other rows each time."""
    import time

    for batch in batches:
        more = time.time_ns() % 97 + 1
        columns = {"x": np.arange(more) % 7 / 7, "y": np.where(np.arange(more) % 2, "a", "b")}
        yield pa.RecordBatch.from_pydict(columns)
        del batch
