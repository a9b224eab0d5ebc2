"""What an Arrow stream says that it holds: rows, and bytes once decompressed. Reads headers; decompresses nothing.

A message of Arrow is a flatbuffer (https://arrow.apache.org/docs/format/Columnar.html): in a table of it, entry i of
the vtable is the place of field i. Offsets are checked by pyarrow when it opens a message.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3  # MessageHeader
_LENGTH, _BUFFERS, _COMPRESSION = 0, 2, 3  # fields of a RecordBatch
_OLD_COMPRESSION = b"ARROW:experimental_compression"  # how Arrow 0.17 said it
_DATA = 1  # field of a DictionaryBatch


@dataclass(frozen=True)
class IpcSize:
    """The rows of a stream of Arrow, and the bytes of its buffers once decompressed, dictionaries included."""

    rows: int
    bytes: int


def measure_ipc(data: bytes) -> IpcSize:
    """What a stream declares; pyarrow allocates as much as is declared before it looks further."""
    rows = size = 0
    for header, is_batch, body in _batches(data):
        if is_batch:
            rows += header.number(_LENGTH)
        packed = header.has(_COMPRESSION) or _OLD_COMPRESSION in header.data
        for offset, length in header.buffers(_BUFFERS):
            size += _unpacked(body, offset, length) if packed else length
    return IpcSize(rows, size)


def _batches(data: bytes) -> Iterator[tuple[_Table, bool, memoryview]]:
    """Header and body of each batch of rows or of levels."""
    for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(data)):
        metadata = bytes(message.metadata)
        root = _Table(metadata, struct.unpack_from("<I", metadata)[0])
        kind, body = root.small(1), memoryview(message.body or b"")
        if kind == _RECORD_BATCH:
            yield root.table(2), True, body
        elif kind == _DICTIONARY_BATCH:
            yield root.table(2).table(_DATA), False, body


def _unpacked(body: memoryview, offset: int, length: int) -> int:
    """A compressed buffer begins with its length once decompressed; -1 where it was left as it is."""
    if length < 8:
        return length
    (declared,) = struct.unpack_from("<q", body, offset)
    return int(declared) if declared >= 0 else length


class _Table:
    """A table of a flatbuffer."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at
        self.fields = at - struct.unpack_from("<i", data, at)[0]
        self.size: int = struct.unpack_from("<H", data, self.fields)[0]

    def place(self, field: int) -> int | None:
        entry = 4 + 2 * field
        offset: int = struct.unpack_from("<H", self.data, self.fields + entry)[0] if entry < self.size else 0
        return self.at + offset if offset else None

    def has(self, field: int) -> bool:
        return self.place(field) is not None

    def number(self, field: int) -> int:
        at = self.place(field)
        return 0 if at is None else int(struct.unpack_from("<q", self.data, at)[0])

    def small(self, field: int) -> int:
        at = self.place(field)
        return 0 if at is None else self.data[at]

    def table(self, field: int) -> _Table:
        at = self.place(field)
        if at is None:
            raise ValueError("a batch without its header")
        return _Table(self.data, at + struct.unpack_from("<I", self.data, at)[0])

    def buffers(self, field: int) -> Iterator[tuple[int, int]]:
        """Offset and length of each buffer."""
        at = self.place(field)
        if at is not None:
            start = at + struct.unpack_from("<I", self.data, at)[0]
            (count,) = struct.unpack_from("<I", self.data, start)
            yield from struct.iter_unpack("<qq", self.data[start + 4 : start + 4 + 16 * count])
