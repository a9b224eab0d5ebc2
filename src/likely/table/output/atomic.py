"""How a file is replaced whole: written beside its place first, then put there by one rename.

A kill at any moment leaves the old file or the new one. The file beside it, `.NAME.0.part`, is locked while somebody
writes it; what a killed process left is taken over by the next that writes the same file. Knows paths only.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from likely.errors import InputError, shown

_TRIES = 20
"""So many writers of one file may be at work at once before names are drawn by lot."""
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
    while number < _TRIES:
        path = target.parent / f".{target.name[:40]}.{number}.part"
        handle = _open_part(path)
        if handle is None:
            number += 1
            continue
        try:
            locked = _lock(handle, wait and not number)
            # It may have been renamed or removed by its writer before it was locked here.
            here = locked and _is_at(handle, path)
        except BaseException:
            os.close(handle)
            raise
        if here:
            os.ftruncate(handle, 0)
            return handle, path
        os.close(handle)
        number += not locked
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".part", dir=target.parent)
    return handle, Path(name)


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
