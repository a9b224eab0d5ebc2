"""Sums kept on disk by file, so that a folder that grows is read only where it is new."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar
from unicodedata import unidata_version

from likely.errors import EncodingError, FileFormatError, InputError, LikelyError, SettingError, shown
from likely.intake.observe import Observation, ObservationPlan
from likely.intake.options import COLUMNS, FILE, options_about
from likely.intake.reading import Progress, Reading, opening_of, tell_left_out
from likely.intake.schema import draft_first_rows, draft_schema, missing_tokens, plan_observation
from likely.intake.summarize import LocalEngine, More, Sweeper, Wanted, row_sweeper, summarize_table
from likely.machinery.threads import default_threads, in_order
from likely.sums import state
from likely.sums.contracts import RowStatistic, State
from likely.sums.exact import add_in_order
from likely.sums.summary import Summary
from likely.table.formats.files import Stamp, fingerprint, list_files, split_inside
from likely.table.open import open_file
from likely.table.schema import Column, Reason, Schema
from likely.table.source import Source
from likely.table.wrappers import ConcatenatedSource, DeferredSource, Repaired, split_agreeing

# The folder in which sums of files are kept between runs: one entry for each file's content and way of reading.

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


# Files summed one by one: their sums are kept between runs, or files that cannot be read are left out whole.

A = TypeVar("A")
B = TypeVar("B")


def summarize_by_file(data: object, reading: Reading, wanted: Wanted) -> tuple[Source, Summary]:
    """The files that `data` stands for as one source, and their summary: from what is kept, and sweeps of the rest."""
    if not isinstance(data, (str, os.PathLike)) or os.fspath(data) == "-":
        raise SettingError("Sums are kept of files. Give a path, a folder or a pattern.")
    path = str(os.fspath(data))
    with _folder(reading) as folder, SumFolder(folder) as kept:
        try:
            return FileEngine(path, reading, kept).summarize(wanted)
        except EncodingError:
            if reading.encoding is not None:
                raise
            return FileEngine(path, replace(reading, encoding="latin-1"), kept).summarize(wanted)


@contextmanager
def _folder(reading: Reading) -> Iterator[str | os.PathLike[str]]:
    if reading.keep is not None:
        yield reading.keep
        return
    with tempfile.TemporaryDirectory(prefix="likely-") as folder:
        yield folder


@dataclass(frozen=True)
class _Part:
    """One file, with what it says of itself, as a source of the types that all files share."""

    file: File
    heading: DeferredSource
    source: Source


class _BadFiles(Exception):
    """Files turned out to be bad: begin again without them. Nothing that was kept is lost. Never leaves this room."""


class _Progress:
    """Rows drawn by several sweeps at once, counted together."""

    def __init__(self, tell: Progress | None) -> None:
        self._tell, self._rows, self._lock = tell, 0, threading.Lock()

    def of_sweep(self) -> Progress | None:
        """What one sweep tells its rows to."""
        before, tell = 0, self._tell
        if tell is None:
            return None

        def count(rows: int) -> None:
            nonlocal before
            with self._lock:
                self._rows, before = self._rows + rows - before, rows
                tell(self._rows)

        return count


@dataclass
class FileEngine:
    """Sweeps file by file what is not kept of it."""

    path: str
    reading: Reading
    kept: SumFolder
    bad: dict[str, str] = field(default_factory=dict)
    """What is wrong with each file that is left out, by its path."""
    swept: set[str] = field(default_factory=set)
    """The paths of files whose rows were read."""

    def __post_init__(self) -> None:
        how = self.reading
        self._progress = _Progress(how.progress)
        said = {name: getattr(how, name) for name in options_about(FILE, COLUMNS)}
        said |= {"missing": missing_tokens(how), "schema": None if how.schema is None else _bare(how.schema)}
        self._key = key_of(how.target, *(state.plain(value) for value in said.values()))
        self._parts: list[_Part] = []
        self._fresh: list[_Part] = []
        """Files of which it is not kept how they look."""
        self._known: Observation | None = None
        """How all others look."""
        self._before: Schema | None = None
        """How the files of which something is kept were read."""
        self.title: Source

    def summarize(self, wanted: Wanted) -> tuple[Source, Summary]:
        """The source of all files that can be read, and its summary."""
        files = list_files(self.path)
        while True:
            try:
                self._open_all([f for f in files if f[0] not in self.bad])
                summary = summarize_table(self, self.reading, wanted)
                break
            except _BadFiles:
                if len(self.bad) == len(files):
                    tell_left_out(self.reading, list(self.bad.values()), len(files))
        tell_left_out(self.reading, list(self.bad.values()), len(files))
        if self.reading.keep is not None:
            self._tell_kept()
            self.kept.tidy([p.file for p in self._parts], {self._own(p.file) for p in self._parts})
        return self.title, summary

    def _each(
        self, items: Sequence[A], place: Callable[[A], tuple[str, str]], work: Callable[[A, Reading], B]
    ) -> Iterator[B]:
        """Work on files, several at a time where there are many; what is wrong with one names it.

        Where bad files are to be left out, all begins again without them once each was looked at.
        """
        threads = self.reading.threads or default_threads()
        together = threads if len(items) >= 2 * threads else 1

        def attempt(item: A) -> B | LikelyError:
            own = self.reading.threads if together == 1 else 1
            try:
                return work(item, replace(self.reading, threads=own, progress=self._progress.of_sweep()))
            except EncodingError:
                raise
            except LikelyError as error:
                name = place(item)[1]
                named = error if name in str(error) else type(error)(f"{name}: {error}")
                if not self.reading.skip_bad or isinstance(error, SettingError):
                    raise named from error
                return named

        before = len(self.bad)
        for item, result in zip(items, in_order(items, attempt, together), strict=True):
            if isinstance(result, LikelyError):
                self.bad[place(item)[0]] = str(result)
            else:
                yield result
        if len(self.bad) > before:
            raise _BadFiles

    def _each_part(self, parts: list[_Part], work: Callable[[_Part, LocalEngine], B]) -> Iterator[B]:
        """Work on files, each with an engine of its own."""

        def place(part: _Part) -> tuple[str, str]:
            return part.file.path, part.file.name

        return self._each(parts, place, lambda part, reading: work(part, LocalEngine(part.source, reading)))

    # -- files and their headings ---------------------------------------------------------------------------

    def _open_all(self, files: Sequence[tuple[str, str]]) -> None:
        """All files as one table, and each with the types that all share."""
        parts = [*self._each(files, lambda file: file, lambda file, _: self._open(*file))]
        if self.reading.skip_bad:
            _, others = split_agreeing([p.source for p in parts])
            self.bad |= {parts[k].file.path: str(error) for k, error in others.items()}
            if others:
                raise _BadFiles
        if len(parts) == 1:
            self.title, self._parts = parts[0].source, parts
            return
        self.title = many = ConcatenatedSource([p.source for p in parts], os.path.expanduser(self.path))
        self._parts = [replace(p, source=s) for p, s in zip(parts, many.parts(), strict=True)]

    def _open(self, path: str, name: str) -> _Part:
        file = self.kept.identify(path, name)

        def opened() -> Source:
            self.swept.add(path)
            source = open_file(path, name, opening_of(self.reading))
            return Repaired(source) if self.reading.encoding_errors == "replace" else source

        def restore(tree: State) -> DeferredSource:
            return DeferredSource.from_state(name, tree["heading"], opened)

        heading = self.kept.get(file, self._own(file), "profile", restore) or DeferredSource.describe(opened(), opened)
        return _Part(file, heading, heading)

    def _own(self, file: File) -> str:
        """The way of reading a file, which depends on how its name ends: .tsv is not .csv."""
        inside = split_inside(file.path)[1]
        ends = os.path.basename(file.path).lower().split(".")[1:][-2:]
        return key_of(self._key, ends, *([] if inside is None else [inside]))

    # -- what an engine does --------------------------------------------------------------------------------

    def guess(self, reading: Reading) -> Schema | None:
        """As the files of which something is kept are read together; else as the first rows say."""
        plan_observation(self.title, reading)
        self._fresh, self._before = [], None
        self._known = add_in_order(self._recall())
        if self._known is None:
            draft = draft_first_rows(self.title, reading, self._fresh[0].source)
            return None if draft is None else draft.schema
        try:
            self._before = draft_schema(self.title, reading, self._known).schema
        except LikelyError:
            if not self._fresh:
                raise
        return self._before

    def _recall(self) -> Iterator[Observation]:
        """What is kept of how files look; a file of which nothing is kept, in the types all now share, is fresh."""
        for part in self._parts:
            known = self.kept.get(
                part.file, self._own(part.file), "profile", lambda tree: (tree["types"], Observation.from_state(tree))
            )
            if known is None or known[0] != _types(part.source):
                self._fresh.append(part)
            else:
                yield known[1]

    def observe(self, plan: ObservationPlan) -> Observation:
        if plan.schema is not None and not plan.is_guess:
            if self._before is not None:
                self._tell_changes(self._before, plan.schema)
            whole = add_in_order(self._each_part(self._parts, lambda part, engine: self._sum(part, plan, engine)))
        else:
            seen = self._each_part(self._fresh, lambda part, engine: self._look(part, plan, engine))
            whole = add_in_order(each for some in ([self._known] if self._known else [], seen) for each in some)
        assert whole is not None
        return whole

    def _look(self, part: _Part, plan: ObservationPlan, engine: LocalEngine) -> Observation:
        """How a file looks; its sums under the guess are kept for when they prove right."""
        seen = engine.observe(plan)
        self.kept.check(part.file)
        if plan.schema is not None and seen.sums_under(plan.schema) is not None:
            sums = Observation(ObservationPlan.under(plan.schema))
            sums.summary = seen.summary
            sums.strays.update(seen.strays)
            self.kept.put(part.file, self._own(part.file), "likely", sums.state(), self._under(part, plan.schema))
        look = Observation(plan.without_sums())
        look.profiles, look.tally = seen.profiles, seen.tally
        tree = {"heading": part.heading.state(), "types": _types(part.source), **look.state()}
        self.kept.put(part.file, self._own(part.file), "profile", tree)
        return look

    def _under(self, part: _Part, schema: Schema) -> str:
        return key_of(_bare(schema), _types(part.source))

    def _sum(self, part: _Part, plan: ObservationPlan, engine: LocalEngine) -> Observation:
        """The sums of a file, kept or swept."""
        assert plan.schema is not None
        own, under = self._own(part.file), self._under(part, plan.schema)
        seen = self.kept.get(part.file, own, "likely", Observation.from_state, under)
        if seen is not None:
            seen.summary = seen.sums_under(plan.schema)  # the same, but for its whys
            return seen
        seen = engine.observe(plan)
        self.kept.check(part.file)
        self.kept.put(part.file, own, "likely", seen.state(), under)
        return seen

    def extend(self, summary: Summary, names: frozenset[str], like: More | None) -> More:
        more: dict[str, RowStatistic] = {}
        for name in sorted(names):
            held = add_in_order(self._each_part(self._parts, lambda p, e: self._more(p, summary, name, e)))  # noqa: B023
            assert held is not None
            more[name] = held
        return more

    def _more(self, part: _Part, summary: Summary, name: str, engine: LocalEngine) -> RowStatistic:
        """A statistic of a file beyond the first order, begun as the whole summary begins it: kept or swept."""
        empty = summary.empty_statistic(name)
        under = key_of(_bare(summary.schema), _types(part.source), state.dump({name: empty.state()}).hex())
        known = self.kept.get(
            part.file, self._own(part.file), "more", lambda tree: type(empty).from_state(tree["more"]), under
        )
        if known is not None:
            return known
        more = engine.extend(summary, frozenset([name]), None)[name]
        self.kept.check(part.file)
        self.kept.put(part.file, self._own(part.file), "more", {"more": more.state()}, under)
        return more

    def sweeper(self, summary: Summary) -> Sweeper:
        return row_sweeper(self.title, summary, self.reading.threads)

    # -- what is told ---------------------------------------------------------------------------------------

    def _tell_kept(self) -> None:
        count = len(self._parts)
        old = count - len({p.file.path for p in self._parts} & self.swept)
        gone = self.kept.gone({os.path.dirname(os.path.abspath(p.file.path)) for p in self._parts})
        sentence = f"{count - old:,} of {count:,} files were read; the sums of {old:,} were kept."
        if gone:
            one, many = " 1 that is gone no longer counts.", f" {len(gone):,} that are gone no longer count."
            sentence += one if len(gone) == 1 else many
        self.reading.tell(sentence)

    def _tell_changes(self, before: Schema, now: Schema) -> None:
        """Say which columns new files made to be read otherwise: the sums that were kept do not fit any more."""
        for old, new in zip(before.columns, now.columns, strict=True):
            if old != new:
                self.reading.tell(
                    f"With the new files {shown(new.name)} is read otherwise ({_words(new)}; before: {_words(old)}), "
                    "so all files are swept again. To go on as before, name the old model: --schema."
                )


def _words(column: Column) -> str:
    return f"{column.kind}, {column.why}" if column.why else column.kind


def _bare(schema: Schema) -> object:
    """A schema as plain values, without the sentences that say why."""
    return state.plain(replace(schema, columns=tuple(replace(c, reason=Reason()) for c in schema.columns)))


def _types(source: Source) -> dict[str, str]:
    return {column.name: str(column.type) for column in source.schema}
