"""How a file is replaced whole, by one rename, and what may be replaced: never an input, nor another person's file."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from likely.errors import InputError, shown

# How a file is replaced whole: written beside its place first, then put there by one rename.

_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM)
"""What systems say that cannot flush a folder."""


class PartFile:
    """A file on its way to its place: for nobody else to read, and gone unless it is finished.

    With `alone`, one writer of `target` waits for the other, as far as the system has locks.
    """

    def __init__(self, target: Path, *, alone: bool = False) -> None:
        self.target = target
        self._finished = False
        self.handle, self.path = _claim(target, wait=alone)

    def __enter__(self) -> PartFile:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._finished:
            self.path.unlink(missing_ok=True)  # while it is locked, so that it is nobody else's
        self._close()

    def finish(self) -> None:
        """Let it become the target, with the permissions that an ordinary write would have left, and flush it."""
        os.fsync(self.handle)
        os.chmod(self.path, _mode(self.target))
        if os.name == "nt":
            self._close()  # an open file cannot be renamed there
        os.replace(self.path, self.target)
        self._finished = True
        _sync_folder(self.target.parent)

    def _close(self) -> None:
        if self.handle >= 0:
            with suppress(OSError):
                os.close(self.handle)
            self.handle = -1


def _claim(target: Path, wait: bool) -> tuple[int, Path]:
    """An open, empty file in the folder of `target` that nobody else writes: a new one, or one that was left behind."""
    number = 0
    while True:
        path = target.parent / f".{target.name[:40]}.{number}.part"
        handle, locked = _open_part(path), False
        if handle is not None:
            try:
                locked = _lock(handle, wait and not number)
                # It may have been renamed or removed by its writer before it was locked here: then its name is free.
                if locked and _is_at(handle, path):
                    os.ftruncate(handle, 0)
                    return handle, path
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)
        number += not locked


def _open_part(path: Path) -> int | None:
    """A file of this user's alone, new or left behind; None where something else has its name."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    if os.name == "nt":
        with suppress(OSError):  # what a living process has open cannot be removed there
            path.unlink()
        flags |= os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EEXIST, errno.EISDIR) or path.exists():
            return None
        raise
    status = os.fstat(handle)
    own = not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & 0o077)
    if own and stat.S_ISREG(status.st_mode) and status.st_nlink <= 1:
        return handle
    os.close(handle)
    return None


def _lock(handle: int, wait: bool) -> bool:
    """Hold a file as long as it is open; where the system has no such locks, all may pass."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _mode(target: Path) -> int:
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Flush a folder, so that a rename in it outlives a loss of power."""
    if os.name == "nt":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


class Revision:
    """What a file held when it was read, for who means to write it again: another's change meanwhile is not lost.

    >>> Revision.of("no such file") == Revision.of("nor this one")
    True
    """

    def __init__(self, digest: bytes) -> None:
        self._digest = digest

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Revision:
        """The content of a file as it is now; of a file that is not there, that it is not."""
        try:
            with open(path, "rb") as file:
                return cls(hashlib.file_digest(file, "sha256").digest())
        except FileNotFoundError:
            return cls(b"")
        except OSError as error:
            raise InputError(f"Cannot read {shown(path)}: {error.strerror}.") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Revision) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def check(self, path: str | os.PathLike[str]) -> None:
        """Refuse to go on where the file holds something else by now."""
        if Revision.of(path) != self:
            raise InputError(
                f"{shown(path)} was changed by another command while this one worked on what it held before, so "
                "nothing was written: one of the two changes would be lost. Run the command again."
            )


# What may be replaced by a file that is written: an older output of the same kind, never an input, nor another
# thing.

MODEL = b"\x89likely\n"
"""How a model's file begins."""
PAGE = b'<meta name="generator" content="likely'
"""What the head of every page of likely holds."""
_HEAD = 4096
_STARTS: dict[str, tuple[bytes, ...]] = {
    "a model": (MODEL,),
    "a Parquet table": (b"PAR1",),
    "a table packed by gzip": (b"\x1f\x8b",),
    "a table packed by zstd": (b"\x28\xb5\x2f\xfd",),
    "a PNG picture": (b"\x89PNG",),
    "an SVG picture": (b"<svg",),
    "an export to ONNX": (b"\x08\n\x12\x06likely", b"\x08\x09\x12\x06likely", b"\x08\x08\x12\x06likely"),
    "an export to JSON": (b'{\n  "likely"', b'{"form":"Portable"'),
    "an export to Python": (b'"""A model that ',),
    "an export to JavaScript": (b"// A model that ",),
    "JSON": (b"{", b"[{", b"[\n"),
}
"""How files begin, by what they are."""
_TABLE = "a table of text"
_OTHER_TEXTS = {
    "a program": ".bat .c .cc .cpp .cs .css .go .h .hpp .java .jl .js .lua .m .php .pl .ps1 .py .pyi .r .rb .rs .sas "
    ".scala .sh .sql .stan .ts",
    "a document": ".adoc .bib .htm .html .ipynb .md .qmd .rmd .rst .rtf .svg .tex .xml",
    "settings": ".cfg .conf .env .ini .json .jsonl .lock .ndjson .toml .yaml .yml",
}
_ENDINGS = {ending: kind for kind, endings in _OTHER_TEXTS.items() for ending in endings.split()}
"""What text is by the end of its file's name, where that is no table. Other endings may be tables of text."""
_forced: ContextVar[bool] = ContextVar("forced", default=False)


@contextmanager
def allow_overwriting() -> Iterator[None]:
    """Let whatever is written replace whatever is there: --force."""
    token = _forced.set(True)
    try:
        yield
    finally:
        _forced.reset(token)


def kind_of(start: bytes) -> str:
    """What a file is, by its first bytes; "" for an empty one.

    >>> kind_of(b"a,b\\n1,2\\n"), kind_of(b"PAR1..."), kind_of(b"")
    ('text', 'a Parquet table', '')
    """
    start = start[:_HEAD].removeprefix(b"\xef\xbb\xbf")
    for kind, beginnings in _STARTS.items():
        if start.startswith(beginnings):
            return kind
    low = start.lower()
    if low.startswith((b"<!doctype html", b"<html")):
        return "a page of likely" if PAGE in start else "a page of another program"
    if low.startswith((b"<?xml", b"<pmml")):
        return "an SVG picture" if b"<svg" in low else "an export to PMML" if b"<pmml" in low else "XML"
    if low.startswith((b"-- a model that ", b"with likely_", b'with "likely_', b"with `likely_", b"with [likely_")):
        return "an export to SQL"
    if start.startswith(b"#!"):
        return "a script"
    if not start:
        return ""
    return "data of another kind" if b"\0" in start else "text"


def kind_of_table(path: str) -> str:
    """What a table written to this path will be, by the end of its name."""
    ends = {".parquet": "a Parquet table", ".pq": "a Parquet table"}
    ends |= {".gz": "a table packed by gzip", ".zst": "a table packed by zstd"}
    return ends.get(os.path.splitext(path.lower())[1], _TABLE)


def kind_of_picture(path: str) -> str:
    """What a picture written to this path will be, by the end of its name."""
    return "a PNG picture" if path.lower().endswith(".png") else "an SVG picture"


def check_output(path: str | os.PathLike[str] | None, kind: str | None, inputs: Iterable[object] = ()) -> None:
    """Refuse to write a file over an input, or over a file of another kind; `kind` None is any.

    A link is the file that it leads to, and a name in other letters is the same file where the system says so. A pipe
    or a device is written as it is.
    """
    if path is None or os.fspath(path) == "-" or _forced.get():
        return
    try:
        there = os.stat(path)
        if not os.path.isfile(path):
            return
        with open(path, "rb") as file:
            found = kind_of(file.read(_HEAD))
    except (OSError, ValueError):  # nothing is there, or writing it says why it cannot be read
        return
    remedy = "Choose another name, or give --force to replace it."
    if any(os.path.samestat(there, status) for status in _statuses(inputs)):
        raise InputError(f"Cannot write {shown(path, 200)}: it is an input of this command and would be lost. {remedy}")
    if found == "text" and kind == _TABLE:
        found = _ENDINGS.get(os.path.splitext(os.fspath(path).lower())[1], _TABLE)
    if kind and found and kind != found:
        raise InputError(f"Cannot write {shown(path, 200)}: it holds {found}, to be replaced by {kind}. {remedy}")


def check_unedited(files: Mapping[Path, bytes]) -> None:
    """Refuse to write files where one of them is there with other content: somebody may have worked on it."""
    for path, data in files.items():
        if not _forced.get() and path.exists() and (path.is_dir() or path.read_bytes() != data):
            raise InputError(
                f"Cannot write {shown(path, 200)}: a file of this name with other content is there, and would be lost. "
                "Choose another folder, or give --force to replace it."
            )


def _statuses(inputs: Iterable[object]) -> Iterator[os.stat_result]:
    """What the system says of each file that is read; what cannot be found is for its reader to say."""
    for given in inputs:
        if isinstance(given, (list, tuple)):
            yield from _statuses(given)
        elif given == "-" or hasattr(given, "fileno"):
            with suppress(OSError, ValueError, AttributeError):
                yield os.fstat((sys.stdin if given == "-" else given).fileno())
        elif isinstance(given, (str, os.PathLike)):
            for place in _places(str(os.fspath(given))):
                with suppress(OSError, ValueError):
                    yield os.stat(place)


def _places(path: str) -> Iterator[str]:
    """The files that a path, a folder, a pattern or an address of this machine stands for."""
    from likely.table.formats.files import list_files, split_inside

    scheme, separated, rest = path.partition("://")
    if separated and not os.path.exists(path):
        if scheme in ("file", "sqlite", "duckdb"):
            from urllib.parse import unquote

            yield unquote(rest.removeprefix("localhost"))
        return
    with suppress(InputError, OSError):
        for place, _ in list_files(path):
            yield split_inside(place)[0]
