"""Tables as bytes, on their way over a network: CSV, JSON lines or Arrow in, and out again. Knows no model."""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, cast

import pyarrow as pa

from likely.errors import InputError, TooLarge, shown
from likely.table.arrow import ArrowBatch, decode_batch
from likely.table.formats.columnar import read_ipc
from likely.table.formats.files import MAGIC, TemporaryFile, detect_format, file_errors
from likely.table.formats.ipc_size import measure_ipc
from likely.table.open import open_format
from likely.table.output.sink import Sink
from likely.table.source import Source

Format = Literal["csv", "json", "arrow"]
_SUFFIX: dict[Format, str] = {"csv": ".csv", "json": ".jsonl", "arrow": ".arrow"}


_HOLDS: dict[Format, str] = {"csv": "delimited", "json": "json", "arrow": "ipc"}


@contextmanager
def read_payload(data: bytes, format: Format, unpacked: int) -> Iterator[Source]:
    """The table that these bytes hold, of at most `unpacked` bytes once decompressed; it is gone when the block ends.

    Bytes are read as the format that they were sent as and no other: what is found in them by its first bytes could be
    a database, whose views may read any file of this machine.
    """
    name = f"request{_SUFFIX[format]}"
    if format == "arrow":
        stream = data[8:] if data.startswith(b"ARROW1") else data  # a file is its stream, between magic and footer
        try:
            size = measure_ipc(stream)
        except (pa.ArrowException, ValueError, OSError, struct.error) as error:
            message = shown(" ".join(str(error).split()), 160)
            raise InputError(f"{name} is not a sound Arrow stream ({message}). Send it again.") from error
        if size.bytes > unpacked:
            raise _too_large(unpacked)
        yield read_ipc(stream, name)
        return
    body = TemporaryFile()
    body.hide()
    with open(body.path, "wb") as file:
        file.write(_unpack(data, name, unpacked))
    if detect_format(body.path, name)[1] != _HOLDS[format]:
        raise InputError(f"{name} does not hold what it was sent as. Send CSV, JSON lines or an Arrow stream.")
    yield open_format(body.path, name, None, None, body)


def _unpack(data: bytes, name: str, most: int) -> bytes:
    """The bytes, decompressed where they are compressed."""
    packed: Any = next((kind for magic, kind in MAGIC if data.startswith(magic)), None)
    if packed is not None:
        with file_errors(name), pa.CompressedInputStream(pa.BufferReader(data), packed) as stream:
            data = stream.read(most + 1)
        if data.startswith(tuple(magic for magic, _ in MAGIC)):
            raise InputError(f"{name} is compressed twice. Compress it once.")
    if len(data) > most:
        raise _too_large(most)
    return data


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"The table is larger than {most:,} bytes once decompressed. Send fewer rows at a time.")


def write_payload(batches: Iterable[ArrowBatch], format: Format) -> bytes:
    """Batches of one table (at least one, with or without rows) as bytes."""
    batches = map(decode_batch, batches)
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
