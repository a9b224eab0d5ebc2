"""Tables as bytes, on their way over a network: CSV, JSON lines or Arrow in, and out again. Knows no model."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, cast

import pyarrow as pa

from likely.table.arrow import ArrowBatch
from likely.table.formats.columnar import read_ipc
from likely.table.open import open_file
from likely.table.output.sink import Sink
from likely.table.source import Source

Format = Literal["csv", "json", "arrow"]
_SUFFIX: dict[Format, str] = {"csv": ".csv", "json": ".jsonl", "arrow": ".arrow"}


@contextmanager
def read_payload(data: bytes, format: Format) -> Iterator[Source]:
    """The table that these bytes hold; it is gone when the block ends."""
    if format == "arrow":
        yield read_ipc(data, "request.arrow")
        return
    handle, path = tempfile.mkstemp(prefix="likely-", suffix=_SUFFIX[format])
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        yield open_file(path, f"request{_SUFFIX[format]}", None, None)
    finally:
        Path(path).unlink(missing_ok=True)


def write_payload(batches: Iterable[ArrowBatch], format: Format) -> bytes:
    """Batches of one table (at least one, with or without rows) as bytes."""
    if format == "json":
        rows = (row for batch in batches for row in batch.to_pylist())
        return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows).encode()
    if format == "arrow":
        stream, writer = pa.BufferOutputStream(), None
        for batch in batches:
            writer = writer or pa.ipc.new_stream(stream, batch.schema)
            writer.write_batch(batch)
        cast(Any, writer).close()
        return stream.getvalue().to_pybytes()
    with tempfile.TemporaryDirectory(prefix="likely-") as folder:
        path = Path(folder) / "answer.csv"
        with Sink(str(path)) as sink:
            for batch in batches:
                sink.write(batch)
        return path.read_bytes()
