"""Files within files: the one table of a zip archive, and what xz has packed, unpacked to a file of our own.

Knows containers, never rows. Nothing is written under a name that an archive chose, and nothing grows without a limit.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, NoReturn

from likely.errors import InputError, shown
from likely.table.formats.files import FORMATS, PACKED, WORKBOOKS, TemporaryFile, file_errors

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

_BLOCK = 1 << 20
_HARMLESS = 1 << 30
"""Bytes that anything may unpack to."""
_RATIO = 200
"""What grows beyond that must not grow by more than this: tables hardly do, and what is made to fill a disk does."""
_XZ_MEMORY = 512 << 20
"""Bytes that xz may ask for; its strongest setting asks for 65 MB."""
_LISTED = 8
_unpacked: weakref.WeakValueDictionary[tuple[object, ...], TemporaryFile] = weakref.WeakValueDictionary()
"""What was unpacked and is still in use, by file, its size and time, and the name within it."""


def is_archive(start: bytes) -> bool:
    """Whether a file that begins so must be unpacked here: zip or xz."""
    return start.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\xfd7zXZ\x00"))


def is_workbook(path: str, start: bytes) -> bool:
    """Whether a file that begins so is a workbook of a spreadsheet program, which is often a zip archive."""
    if start.startswith(b"\xd0\xcf\x11\xe0"):
        return True
    if not start.startswith(b"PK\x03\x04"):
        return False
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if names & {"xl/workbook.xml", "xl/workbook.bin"}:
                return True
            return "mimetype" in names and b"opendocument.spreadsheet" in archive.open("mimetype").read(100)
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError):
        return False


def unpack(path: str, name: str, inside: str | None) -> tuple[TemporaryFile, str]:
    """The table in an archive as a file of our own, and what to call it; `inside` names it where there are several."""
    with file_errors(name), open(path, "rb") as file:
        packed_by_zip = file.read(2) == b"PK"
        status = os.fstat(file.fileno())
    key = (os.path.realpath(path), status.st_ino, status.st_size, status.st_mtime_ns, inside)
    if packed_by_zip:
        import zipfile

        with _sound(name), zipfile.ZipFile(path) as archive:
            member = _choose(archive, name, path if path.endswith(name) else name, inside)
            title = f"{name}/{member.filename}"
            made = _unpacked.get(key) or _write(_read_member(archive, member, title), title, member.compress_size)
    else:
        if inside is not None:
            raise InputError(f"{name} is one packed file, which has no {shown(inside)} within it. Name it alone.")
        title = name
        made = _unpacked.get(key) or _write(_read_xz(path, name), name, status.st_size)
    _unpacked[key] = made
    return made, title


@contextmanager
def _sound(name: str) -> Iterator[None]:
    """What the module for zip says, as a sentence."""
    import zipfile
    import zlib

    try:
        with file_errors(name):
            yield
    except (zipfile.BadZipFile, zlib.error, EOFError, UnicodeError, ValueError) as error:
        said = shown(" ".join(str(error).split()), 160)
        raise InputError(f"{name} is not a sound zip archive ({said}). Fetch or make it again.") from error
    except (NotImplementedError, RuntimeError) as error:
        said = shown(" ".join(str(error).split()), 160)
        raise InputError(f"{name} is packed in a way that cannot be read here ({said}). Unpack it first.") from error


def _choose(archive: ZipFile, name: str, path: str, inside: str | None) -> ZipInfo:
    """The one table of an archive, or the one that was named; `path` is what another may be named by."""
    files = [m for m in archive.infolist() if not m.is_dir() and not _is_mark(m.filename)]
    if inside is not None:
        return _find(files, name, inside)
    if not files:
        raise InputError(f"{name} is an archive without files. It needs one table.")
    tables = [m for m in files if _is_table(m.filename)] or files
    if len(tables) > 1:
        example = f"{path}/{tables[0].filename}"
        raise InputError(
            f"{name} holds {len(tables):,} {'tables' if _is_table(tables[0].filename) else 'files'}: "
            f"{_listed([m.filename for m in tables])}. Name one, such as {shown(example, 200)}."
        )
    return tables[0]


def _find(files: Sequence[ZipInfo], name: str, inside: str) -> ZipInfo:
    named = [m for m in files if m.filename == inside]
    if named:
        return named[-1]  # of two by one name the later one counts, as for every program that unpacks
    names = [m.filename for m in files]
    close = get_close_matches(inside, names, n=1, cutoff=0.6)
    end = f"Did you mean {shown(close[0], 100)}?" if close else f"It holds {_listed(names) or 'no files'}."
    raise InputError(f"{name} has no {shown(inside, 100)} within it. {end}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(shown(n, 60) for n in names[:_LISTED]) + (" …" if len(names) > _LISTED else "")


def _is_mark(name: str) -> bool:
    """Whether a file is another program's mark, by the rule for folders; macOS adds a folder of them."""
    return name.startswith("__MACOSX/") or os.path.basename(name).startswith((".", "_"))


def _is_table(name: str) -> bool:
    stem, suffix = os.path.splitext(name.lower())
    if suffix in PACKED:
        suffix = os.path.splitext(stem)[1]
    return suffix in FORMATS or suffix in WORKBOOKS


def _read_member(archive: ZipFile, member: ZipInfo, title: str) -> Iterator[bytes]:
    if member.flag_bits & 1:
        raise InputError(f"{title} is encrypted. Unpack it with its password, then name the file.")
    if member.file_size > _limit(member.compress_size):
        _refuse_size(title, member.file_size)
    with archive.open(member) as stream:
        while block := stream.read(_BLOCK):
            yield block


def _read_xz(path: str, name: str) -> Iterator[bytes]:
    """The bytes of all streams of a file, one after the other."""
    import lzma

    try:
        with open(path, "rb") as file:
            data = file.read(_BLOCK)
            while data:
                packed = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
                while not packed.eof:
                    if block := packed.decompress(data, _BLOCK):
                        yield block
                    data = file.read(_BLOCK) if packed.needs_input and not packed.eof else b""
                    if packed.needs_input and not packed.eof and not data:
                        raise InputError(f"{name} ends in the middle of its compressed data. Fetch or make it again.")
                data = packed.unused_data or file.read(_BLOCK)
                while data and not (data := data.lstrip(b"\0")):  # padding between streams
                    data = file.read(_BLOCK)
    except lzma.LZMAError as error:
        said = shown(" ".join(str(error).split()), 160)
        raise InputError(f"{name} has damaged compressed data ({said}). Fetch it again.") from error


def _write(blocks: Iterator[bytes], title: str, packed: int) -> TemporaryFile:
    """Blocks in a file of our own, as far as the disk and the limit allow."""
    limit, free, size = _limit(packed), shutil.disk_usage(tempfile.gettempdir()).free, 0
    made = TemporaryFile()
    made.hide()
    with file_errors(title), open(made.path, "wb") as file:
        for block in blocks:
            size += len(block)
            if size > limit:
                _refuse_size(title, size)
            if size > free:
                raise InputError(f"{title} needs more room than the temporary folder has. Free some, or unpack it.")
            file.write(block)
    return made


def _limit(packed: int) -> int:
    return max(_HARMLESS, _RATIO * packed)


def _refuse_size(title: str, size: int) -> NoReturn:
    raise InputError(
        f"{title} unpacks to more than {size >> 20:,} MB, over {_RATIO} times its size, as archives do that are made "
        "to fill a disk. If it is sound, unpack it yourself, then name the file."
    )
