"""What is compiled once and kept on disk between processes: where, who may have written it, and whether it is whole.

Knows bytes and names; not what they mean. Code that is kept is trusted like a module, so a folder or file that anybody
but this user or root could have changed is passed over (docs/security.md).
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_DIGEST = 32
_OPENS_SAFELY = hasattr(os, "O_NOFOLLOW") and os.open in os.supports_dir_fd
"""Where links cannot be told from files nothing is kept: every process then compiles for itself."""


def cache_folders() -> list[Path]:
    """Where things may be kept: LIKELY_CACHE alone if it is set; else beside the package, or the user's cache."""
    asked = os.environ.get("LIKELY_CACHE")
    if asked:
        return [Path(asked)]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return [Path(__file__).parents[2] / "__pycache__", Path(home) / "likely"]


def read_cached(name: str) -> bytes | None:
    """What was kept under this name; None where nothing was, or what is there is not to be trusted."""
    for folder in cache_folders() if _OPENS_SAFELY else ():
        with suppress(OSError), _open_trusted(folder) as place:
            # One descriptor is opened, judged and read, so that no other file can take its place in between.
            handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place)
            with os.fdopen(handle, "rb") as file:
                status = os.fstat(handle)
                if not stat.S_ISREG(status.st_mode) or not _is_ours_alone(status):
                    continue
                data = file.read()
            body, digest = data[:-_DIGEST], data[-_DIGEST:]
            if _digest(name, body) == digest:
                return body
    return None


def write_cached(name: str, body: bytes) -> None:
    """Write atomically into the first folder that can be written; if none can, the next process works it out again."""
    for folder in cache_folders() if _OPENS_SAFELY else ():
        part = f"{name}.{secrets.token_hex(8)}.part"
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _open_trusted(folder) as place:
                handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644, dir_fd=place)
                try:
                    with os.fdopen(handle, "wb") as file:
                        os.fchmod(handle, 0o644)
                        file.write(body + _digest(name, body))
                    os.rename(part, name, src_dir_fd=place, dst_dir_fd=place)
                except OSError:
                    with suppress(OSError):
                        os.unlink(part, dir_fd=place)
                    raise
            return


@contextmanager
def _open_trusted(folder: Path) -> Iterator[int]:
    """A folder that is no link, and that only this user or root can write; an OSError otherwise."""
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not _is_ours_alone(os.fstat(place)):
            raise PermissionError(f"{folder} can be written by others")
        yield place
    finally:
        os.close(place)


def _is_ours_alone(status: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user or root, and nobody else may write it."""
    return status.st_uid in (0, os.getuid()) and not status.st_mode & 0o022


def _digest(name: str, body: bytes) -> bytes:
    """The name is part of it: the code of one kernel is never taken for that of another."""
    return hashlib.sha256(name.encode() + b"\0" + body).digest()
