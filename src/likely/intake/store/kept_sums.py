"""The folder in which sums of files are kept between runs: one entry for each file's content and way of reading.

Knows names of entries, when a file is the one that was seen before, and who may write; never what an entry says.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from unicodedata import unidata_version

from likely.errors import FileFormatError, InputError, shown
from likely.sums import state
from likely.sums.contracts import State
from likely.table.formats.fingerprint import Stamp, fingerprint

T = TypeVar("T")
RULES = 3
"""To be raised whenever cells are read otherwise than before: sums kept under other rules are then made anew."""
_JOURNAL = "files.jsonl"
_LOCK = ".lock"
_ENTRY = re.compile(r"^([0-9a-f]{32})-([0-9a-f]{16})(-[0-9a-f]{16})?\.(profile|likely|more)$")


def key_of(*said: object) -> str:
    """Sixteen digits that stand for everything that was said: equal for equal things, on every machine."""
    text = json.dumps([RULES, unidata_version, *said], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class File:
    """One file of data as it is now: where, what to call it, its stamp, and the fingerprint of its content."""

    path: str
    name: str
    stamp: Stamp
    content: str


class SumFolder:
    """A folder of kept sums. `with SumFolder(folder) as keep` holds it for one run at a time."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).expanduser()
        self._seen: dict[str, tuple[Stamp, int, str]] = {}
        self._used: set[str] = set()
        self._lock: Any = None
        self._journal: Any = None

    def __enter__(self) -> SumFolder:
        with self._failures():
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = open(self.folder / _LOCK, "ab")
        if not _locked(self._lock):
            self._lock.close()
            raise InputError(f"Another run is keeping sums in {shown(self.folder, 200)}. Wait, or name another folder.")
        for half in self.folder.glob(".*.part"):  # left by a run that was killed
            half.unlink(missing_ok=True)
        self._recall()
        with self._failures():
            self._journal = open(self.folder / _JOURNAL, "a", encoding="utf-8", buffering=1)
            self._journal.write("\n")  # a line that a kill cut short ends here
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._journal.close()
        self._lock.close()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(
                f"Sums cannot be kept in {shown(self.folder, 200)}: {error.strerror or error}. Name another folder."
            ) from None

    # -- which file is which --------------------------------------------------------------------------------

    def _recall(self) -> None:
        """What was known of files when last seen. A line cut short by a kill, or written otherwise, is passed over."""
        with suppress(OSError):
            for line in (self.folder / _JOURNAL).read_text("utf-8", "replace").splitlines():
                with suppress(ValueError, TypeError, KeyError):
                    said = json.loads(line)
                    stamp = Stamp(int(said["size"]), int(said["written"]), int(said["changed"]))
                    self._seen[str(said["path"])] = (stamp, int(said["seen"]), str(said["content"]))

    def identify(self, path: str, name: str) -> File:
        """A file with the fingerprint of its content, which is not read where its stamp says that it is as it was."""
        place, stamp = os.path.abspath(path), Stamp.read(path, name)
        known = self._seen.get(place)
        # Written just before it was last seen: it may have changed once more without its times telling.
        if known is None or known[0] != stamp or not stamp.is_reliable(known[1]):
            known = (stamp, time.time_ns(), fingerprint(path, name))
            if not Stamp.read(path, name).same_content(stamp):
                raise _changed(name)
            self._seen[place] = known
            with self._failures():
                self._journal.write(_line(place, *known))
        return File(path, name, stamp, known[2])

    def check(self, file: File) -> None:
        """Refuse what has been read of a file if it is no longer the one that was identified."""
        stamp = Stamp.read(file.path, file.name)
        certain = stamp == file.stamp and stamp.is_reliable()
        same = stamp.same_content(file.stamp) and (certain or fingerprint(file.path, file.name) == file.content)
        if not same:
            raise _changed(file.name)

    # -- entries --------------------------------------------------------------------------------------------

    def _path(self, file: File, reading: str, kind: str, more: str = "") -> Path:
        return self.folder / f"{file.content}-{reading}{more and '-' + more}.{kind}"

    def get(self, file: File, reading: str, kind: str, restore: Callable[[State], T], more: str = "") -> T | None:
        """What an entry that was kept comes to; None where there is none, or none that is whole and sound. An entry
        that was asked for is not tidied away."""
        path = self._path(file, reading, kind, more)
        self._used.add(path.name)
        if not path.exists():
            return None
        try:
            with state.unsound(path.name):
                return restore(state.read(path))
        except (FileFormatError, InputError):
            return None

    def put(self, file: File, reading: str, kind: str, tree: State, more: str = "") -> None:
        """Keep an entry, whole or not at all."""
        state.write(self._path(file, reading, kind, more), state.dump(tree), cache=True)

    def gone(self, folders: Collection[str]) -> list[str]:
        """Files of these folders that were there when last seen."""
        return [p for p in self._seen if os.path.dirname(p) in folders and not os.path.exists(p)]

    def tidy(self, files: Iterable[File], readings: Collection[str]) -> None:
        """Take away entries of content that no file has any more, and those of these files that are out of date."""
        self._seen = {place: known for place, known in self._seen.items() if os.path.exists(place)}
        self._journal.close()
        state.write(
            self.folder / _JOURNAL, "".join(_line(p, *k) for p, k in sorted(self._seen.items())).encode(), cache=True
        )
        live, own = {content for _, _, content in self._seen.values()}, {f.content for f in files}
        for path in self.folder.iterdir():
            found = _ENTRY.match(path.name)
            if found is None or path.name in self._used:
                continue
            if found[1] not in live or (found[1] in own and found[2] in readings):
                path.unlink(missing_ok=True)


def _line(place: str, stamp: Stamp, seen: int, content: str) -> str:
    said = {"path": place, "size": stamp.size, "written": stamp.written, "changed": stamp.changed}
    return json.dumps({**said, "seen": seen, "content": content}) + "\n"


def _changed(name: str) -> InputError:
    return InputError(
        f"{name} changed while it was read. Run again when whoever writes it is done; what was swept of others is kept."
    )


def _locked(file: Any) -> bool:
    """Hold a file for this process, as long as it lives; where the system has no such locks, all may pass."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
