"""Files and addresses: which files a path stands for, their format and state, and what of an address may be shown."""

from __future__ import annotations

import os
import re
import tempfile
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from glob import escape, glob, has_magic
from typing import Any
from urllib.parse import unquote_plus

import numpy as np
import pyarrow as pa

from likely.errors import InputError, shown
from likely.machinery.arrays import Hashes
from likely.machinery.jit import kernel

# Addresses of databases: what may be shown of them, and what must never be. Knows text only; opens nothing.

_ADDRESS = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*)://(.*)$", re.DOTALL)
_SECRET = re.compile(r"(?:^|[\s;?&,])(?:\w*password|passwd|pwd|passfile|token|secret)\s*=", re.IGNORECASE)
_SHORT = 4
"""A secret of fewer characters cannot be taken out of a sentence without spoiling it: the sentence is left out."""


@dataclass(frozen=True)
class Address:
    """Where a database is. `shown` leaves user, password and options out; `whole` is for its driver alone."""

    scheme: str
    whole: str = field(repr=False)
    shown: str
    secrets: tuple[str, ...] = field(repr=False, default=())

    def mask_secrets(self, message: object) -> str:
        """What a driver says, on one line, without anything that only this address knows."""
        text = str(message)
        for secret in self.secrets:
            if secret not in text and " ".join(secret.split()) not in " ".join(text.split()):
                continue
            if len(" ".join(secret.split())) < _SHORT:
                return "its message is left out, as it may hold the password"
            text = " ".join(text.replace(secret, "***").split()).replace(" ".join(secret.split()), "***")
        return " ".join(text.split())


def parse_address(text: str) -> Address | None:
    """The parts of scheme://user:password@host/name?option=value; None for what is no address."""
    match = _ADDRESS.match(text)
    if match is None:
        return None
    scheme, rest = match[1].lower(), match[2]
    # Whoever forgets to encode a slash or an @ of a password must not see the half of it in a sentence.
    private, at, public = rest.rpartition("@")
    if not at:
        public = rest
    place, _, options = public.partition("?")
    place = place.partition("#")[0]
    name = f"{scheme}://{place}"
    if re.search(r"[/?#@\s]", private) or re.search(r"%(?![0-9A-Fa-f]{2})", private):
        raise InputError(
            f"The user or password in the address of {shown(name, 100)} holds a character that must be written "
            "otherwise there: %40 for the at sign, %2F for /, %3A for :, %3F for ?, %23 for #, %25 for %."
        )
    password = private.partition(":")[2]
    values = [value.partition("=")[2] for value in re.split("[&;]", options)]
    # The user is no secret to a sentence of the database itself, but the address as a whole is.
    raw = [text, private if password else "", password, options, *values]
    secrets = {s for value in raw for s in (value, unquote_plus(value), unquote_plus(value.replace("+", "%2B"))) if s}
    return Address(scheme, text, name, tuple(sorted(secrets, key=lambda s: (-len(s), s))))


def refuse_connection_string(text: str) -> None:
    """Refuse what is no address but the way other programs say where a database is; it is not shown, for its password.

    >>> refuse_connection_string("host=db password=hunter2")
    Traceback (most recent call last):
    ...
    likely.errors.InputError: This is a connection string with a password, which cannot be read ...
    """
    jdbc = text[:5].lower() == "jdbc:"
    if jdbc or _SECRET.search(text):
        what = "an address of JDBC" if jdbc else "a connection string with a password"
        raise InputError(
            f"This is {what}, which cannot be read (it is not shown here, as it may hold a secret). "
            "Write where the database is as an address: postgresql://user:password@host/name."
        )


# Files on disk: which ones a path stands for, their format by content and name, their bytes without compression.

PACKED = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bz2", ".xz": "xz", ".zip": "zip"}
WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
FORMATS = {
    ".csv": "delimited", ".tsv": "delimited", ".tab": "delimited", ".psv": "delimited",
    ".jsonl": "json", ".ndjson": "json", ".json": "json",
    ".arff": "arff",
    ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc", ".arrows": "ipc",
}  # fmt: skip
MAGIC = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh", "bz2"))
_FOREIGN = (
    (b"\x89likely\n", "a model file, not a table: give it to likely show, or to likely predict before the table"),
    (b"PK\x03\x04", "packed twice, the inner time by zip: unpack it once"),
    (b"\xfd7zXZ\x00", "packed twice, the inner time by xz: unpack it once"),
    (b"\xd0\xcf\x11\xe0", "a packed workbook: unpack it first"),
    (b"PARE", "an encrypted Parquet file: decrypt it first"),
    (b"FEA1", "a Feather file of version 1: write it again as version 2"),
    (b"ORC", "an ORC file: convert it to Parquet"),
    (b"%PDF", "a PDF: export the table as CSV"),
    (b"\x89HDF", "an HDF5 file: export the table as Parquet or CSV"),
)


@dataclass(frozen=True)
class Place:
    """One file: where it is, how to call it in a sentence, and how it is compressed."""

    path: str
    name: str
    packed: str | None = None
    holder: TemporaryFile | None = None
    """The temporary file that `path` is in, which must live as long as anyone reads it."""

    def stream(self) -> pa.NativeFile:
        """The bytes, decompressed, from the beginning."""
        raw = pa.OSFile(self.path, "rb")
        packed: Any = self.packed
        return pa.CompressedInputStream(raw, packed) if packed else raw

    def head(self, size: int) -> tuple[bytes, bool]:
        """The first bytes, decompressed, and whether they are all there are."""
        with file_errors(self.name), self.stream() as stream:
            data: bytes = stream.read(size)
            return data, len(data) < size or not stream.read(1)


@contextmanager
def file_errors(name: str) -> Iterator[None]:
    """Turns what the operating system or a decompressor says into a sentence that names the file."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"{name} no longer exists. Check the path and run again.") from error
    except PermissionError as error:
        raise InputError(f"{name} may not be read by this user. Change its permissions, or copy it.") from error
    except OSError as error:
        message = " ".join(str(error).split())
        if "runcated compressed" in message:
            raise InputError(f"{name} ends in the middle of its compressed data. Fetch or make it again.") from error
        if any(word in message.lower() for word in ("inflate", "decompress", "compressed")):
            raise InputError(f"{name} has damaged compressed data ({shown(message, 160)}). Fetch it again.") from error
        raise InputError(f"{name} cannot be read ({shown(message, 160)}). Check it, or fetch it again.") from error


def read_start(path: str, name: str) -> bytes:
    """The first bytes of a file, by which its kind is told."""
    with file_errors(name), open(path, "rb") as file:
        return file.read(64)


def detect_format(
    path: str, name: str, holder: TemporaryFile | None = None, unpacked: bool = False
) -> tuple[Place, str, str]:
    """A file with its compression, its format ("database" and those of FORMATS), and its suffix but for compression.

    `unpacked` tells that what its name says of packing is done already.
    """
    start = read_start(path, name)
    packed = next((kind for magic, kind in MAGIC if start.startswith(magic)), None)
    place = Place(path, name, packed, holder)
    if is_database(start):
        return place, "database", ""
    head = place.head(1 << 16)[0] if packed else start
    stem, suffix = os.path.splitext(name.lower())
    if suffix in PACKED:
        if start and not packed and not unpacked:
            raise InputError(f"{name} is named as if it were compressed, but its content is not. Correct the name.")
        suffix = os.path.splitext(stem)[1]
    if not head:
        raise InputError(f"{name} is empty. It needs a header line and rows.")
    format = _detect(place, head, FORMATS.get(suffix))
    if format in ("parquet", "ipc"):
        if packed:
            raise InputError(f"{name} is a compressed {format} file. Decompress it; the format compresses itself.")
        return place, format, suffix
    for magic, what in _FOREIGN:
        if head.startswith(magic) and (b"\0" in head or not FORMATS.get(suffix)):
            raise InputError(f"{name} is {what}.")
    return place, format, suffix


def is_database(start: bytes) -> bool:
    """Whether a file that begins so is a database of SQLite or DuckDB."""
    return start.startswith(b"SQLite format 3") or start[8:12] == b"DUCK"


def _detect(place: Place, head: bytes, named: str | None) -> str:
    """Magic bytes first; then the name; a name that says nothing leaves it to the first character."""
    if head.startswith(b"PAR1") and named in (None, "parquet"):
        return "parquet"
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "ipc"
    if named:
        return named
    text = place.head(1 << 16)[0].removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{") or (text.startswith(b"[") and text[1:].lstrip().startswith(b"{")):
        return "json"
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"%")), b"")
    return "arff" if first.lower().startswith(b"@relation") else "delimited"


def list_files(path: str) -> list[tuple[str, str]]:
    """The files that a path, a folder or a glob stands for, in order, each with what to call it in a sentence."""
    path = os.path.expanduser(path)
    if "\0" in path or not path:
        raise InputError("The path is empty." if not path else f"The path {shown(path)} contains a NUL character.")
    paths = [path]
    if os.path.isdir(path):
        paths = _tables_in(path)
    elif not os.path.exists(path) and split_inside(path)[1] is None:
        refuse_connection_string(path)
        if not has_magic(path):
            raise InputError(_missing(path))
        paths = sorted(p for p in glob(path, recursive=True) if os.path.isfile(p))
        if not paths:
            raise InputError(f"No file matches {shown(path, 200)}. Check the pattern and the folder.")
    if paths == [path]:
        file, inside = split_inside(path)
        name = os.path.basename(file)
        return [(path, name if inside is None else f"{name}/{inside}")]
    names = [_name_in_table(p) for p in paths]
    if len(set(names)) < len(names):  # files of the same name in several folders
        names = [os.path.relpath(p, os.path.commonpath(paths)) for p in paths]
    return list(zip(paths, names, strict=True))


def split_inside(path: str) -> tuple[str, str | None]:
    """The file that a path leads to, and what it names within it: a file of an archive, a sheet of a workbook.

    >>> split_inside("no such folder/data.csv")
    ('no such folder/data.csv', None)
    """
    file, inside = path, ""
    while file and not os.path.lexists(file):
        file, last = os.path.split(file)
        if not last:
            break
        inside = f"{last}/{inside}" if inside else last
    if inside and os.path.isfile(file) and os.path.splitext(file.lower())[1] in (*WORKBOOKS, ".zip"):
        return file, inside
    return path, None


def _name_in_table(path: str) -> str:
    """The name of a file among others: with the folders above it that say the values of columns, such as year=2024."""
    folder, name = os.path.split(path)
    while "=" in os.path.basename(folder):
        folder, above = os.path.split(folder)
        name = os.path.join(above, name)
    return name


def _tables_in(folder: str) -> list[str]:
    _refuse_logged(folder)
    return choose_tables([*_files_in(folder)], folder)


def choose_tables(paths: Sequence[str], folder: str) -> list[str]:
    """Of the files of a folder those that are tables, all of one format."""
    kinds: dict[str, list[str]] = {}
    for path in paths:
        stem, suffix = os.path.splitext(path.lower())
        format = FORMATS.get(os.path.splitext(stem)[1] if suffix in PACKED else suffix)
        format = format or (suffix if suffix == ".zip" else "workbook" if suffix in WORKBOOKS else None)
        if format:
            kinds.setdefault(format, []).append(path)
    if not kinds:
        raise InputError(
            f"The folder {shown(folder, 200)} holds no table. Name a file, or a folder of Parquet or CSV files."
        )
    if len(kinds) > 1:
        first = next(iter(kinds.values()))[0]
        pattern = os.path.join(folder, "*" + os.path.splitext(first)[1])
        raise InputError(
            f"The folder {shown(folder, 200)} holds tables of different formats. "
            f"Name one kind with a pattern, for example {shown(pattern, 200)}."
        )
    return next(iter(kinds.values()))


def _files_in(folder: str) -> list[str]:
    """The files of a folder and of folders in it that say the value of a column (year=2024).

    A folder that has neither is looked into: the files of its folders are its files.
    """
    with file_errors(folder):
        # Names that start with '.' or '_' are other programs' marks (_SUCCESS, .crc).
        names = sorted(name for name in os.listdir(folder) if not name.startswith((".", "_")))
    paths = [os.path.join(folder, name) for name in names]
    found = []
    for path, name in zip(paths, names, strict=True):
        if os.path.isfile(path):
            found.append(path)
        elif "=" in name.strip("=") and os.path.isdir(path):
            _refuse_logged(path)
            found += _files_in(path)
    if found:
        return found
    for path in paths:
        if os.path.isdir(path) and not os.path.islink(path):  # a link may lead back up
            _refuse_logged(path)
            found += _files_in(path)
    return found


def is_logged(folder: str) -> str | None:
    """Whether a folder is a Delta or an Iceberg table; their logs say which files count."""
    if os.path.isdir(os.path.join(folder, "_delta_log")):
        return "Delta"
    return "Iceberg" if glob(os.path.join(escape(folder), "metadata", "*.metadata.json")) else None


def _refuse_logged(folder: str) -> None:
    """Refuse a table whose log says which of its files count, where that log is not read."""
    kind = is_logged(folder)
    if kind is not None:
        raise InputError(
            f"The folder {shown(folder, 200)} is a table of {kind}: its log says which files count; others hold rows "
            "that were deleted. Name that folder alone, without keep or skip_bad, or export its rows to Parquet."
        )


def _missing(path: str) -> str:
    folder, name = os.path.split(path)
    if folder and not os.path.isdir(folder):
        return f"There is no folder {shown(folder, 200)}, so {shown(name, 100)} cannot be read. Check the path."
    names: list[str] = []
    with suppress(OSError):
        names = os.listdir(folder or ".")
    close = get_close_matches(name, names, n=1, cutoff=0.6) or [n for n in names if n.lower() == name.lower()]
    end = f"Did you mean {shown(os.path.join(folder, close[0]), 200)}?" if close else "Check the path."
    return f"There is no file {shown(path, 200)}. {end}"


class TemporaryFile:
    """A file of our own, for rows that can be read only once or must be recoded. It is gone when this object is.

    Where the system shows open files as paths of their own (Linux), `hide` takes its name away at once: then nothing is
    left behind even if the program is killed (tests/table/test_temporary.py).
    """

    def __init__(self) -> None:
        self._handle, self.path = tempfile.mkstemp(prefix="likely-")
        self._end = weakref.finalize(self, _remove, self._handle, self.path)

    def hide(self) -> None:
        """Take the name away; the file is reached by the path of the open file from now on."""
        own = f"/proc/self/fd/{self._handle}"
        if self.path != own and os.path.exists(own):
            self._end.detach()
            os.unlink(self.path)
            self.path, self._end = own, weakref.finalize(self, _remove, self._handle, None)


def _remove(handle: int, path: str | None) -> None:
    os.close(handle)
    if path is not None:
        with suppress(OSError):
            os.unlink(path)


# What tells one state of a file from another: its stamp (size and times) and a fingerprint of all its bytes.

_BLOCK = 1 << 20
RECENT = 2_000_000_000
"""Nanoseconds: a file written so shortly before may change again without its times saying so."""


@dataclass(frozen=True)
class Stamp:
    """What the operating system says of a file without reading it."""

    size: int
    written: int
    changed: int

    @classmethod
    def read(cls, path: str, name: str) -> Stamp:
        with file_errors(name):
            status = os.stat(split_inside(path)[0])
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    def same_content(self, other: Stamp) -> bool:
        """Whether nothing speaks for other bytes. A new name or other permissions change a file's times, but not it."""
        return (self.size, self.written) == (other.size, other.written)

    def is_reliable(self, at: int | None = None) -> bool:
        """Whether the times were old enough at that time to tell of every change since."""
        return max(self.written, self.changed) + RECENT < (time.time_ns() if at is None else at)


def fingerprint(path: str, name: str) -> str:
    """128 bits of all bytes of a file, as 32 hexadecimal digits. Not made to withstand someone who wants two alike."""
    lanes = np.array([0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89], np.uint64)
    block, size = np.zeros(_BLOCK // 8, np.uint64), 0
    view = block.data.cast("B")
    with file_errors(name), open(split_inside(path)[0], "rb", buffering=0) as file:
        while True:
            filled = 0
            while filled < _BLOCK and (more := file.readinto(view[filled:])):
                filled += more
            if filled < _BLOCK:
                view[filled:] = bytes(_BLOCK - filled)  # zeros; the size tells them from zeros of the file
            size += filled
            if filled:
                mix(block[: -(-filled // 32) * 4], lanes)
            if filled < _BLOCK:
                break
    mix(np.full(8, size, np.uint64), lanes)
    ends = np.empty(2, np.uint64)
    finish(lanes, ends)
    return "".join(f"{int(end):016x}" for end in ends)


@kernel("u8[], u8[]")
def mix(words: Hashes, lanes: Hashes) -> None:
    """Stir words into four lanes, four words at a time: each step can be undone, so no word is ever lost on others."""
    a, b, c, d = lanes[0], lanes[1], lanes[2], lanes[3]
    odd, turn, back = np.uint64(0x9E3779B97F4A7C15), np.uint64(29), np.uint64(35)
    for k in range(0, words.size, 4):
        a = (a ^ words[k]) * odd
        a = (a << turn) | (a >> back)
        b = (b ^ words[k + 1]) * odd
        b = (b << turn) | (b >> back)
        c = (c ^ words[k + 2]) * odd
        c = (c << turn) | (c >> back)
        d = (d ^ words[k + 3]) * odd
        d = (d << turn) | (d >> back)
    lanes[0], lanes[1], lanes[2], lanes[3] = a, b, c, d


@kernel("u8[], u8[]")
def finish(lanes: Hashes, ends: Hashes) -> None:
    """Fold four lanes into two words in which every bit of the lanes tells."""
    odd, half = np.uint64(0xD6E8FEB86659FD93), np.uint64(32)
    for end in range(2):
        x = np.uint64(end + 1)
        for k in range(4):
            x ^= lanes[(k + 2 * end) & 3]
            x = (x ^ (x >> half)) * odd
            x = (x ^ (x >> half)) * odd
        ends[end] = x ^ (x >> half)
