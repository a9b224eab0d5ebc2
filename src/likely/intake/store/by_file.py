"""File by file: a partial summary of each file, kept between runs, and all of them as one summary.

What is kept is joined exactly, so the whole is the same to the last bit as that of one sweep over every file (decision
0090). Knows no learner; how one file is swept is told in pieces of its own, below the flow.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from likely.errors import EncodingError, LikelyError, SettingError, shown
from likely.intake.engine import sweep
from likely.intake.further import Extension
from likely.intake.observe import Partial, Seen, summed, viewed
from likely.intake.reading import Reading, check_reading, tell_left_out
from likely.intake.schema import (
    Draft,
    check_rows,
    check_strays,
    draft_schema,
    finalize_schema,
    missing_tokens,
    text_columns,
)
from likely.intake.store.kept_sums import File, SumFolder, key_of
from likely.machinery.threads import default_threads, in_order
from likely.sums import state
from likely.sums.summary import Summary
from likely.sums.trees import add_in_order
from likely.table.encode import Encoder
from likely.table.formats.files import list_files
from likely.table.open import open_file
from likely.table.schema import Column, Reason, Schema
from likely.table.source import Source
from likely.table.wrappers.concatenated import ConcatenatedSource, split_agreeing
from likely.table.wrappers.remote import DeferredSource
from likely.table.wrappers.repair import Repaired

Wanted = Callable[[Schema], frozenset[str]]
A = TypeVar("A")
B = TypeVar("B")


def summarize_by_file(data: object, reading: Reading, wanted: Wanted) -> tuple[Source, Summary]:
    """The files that `data` stands for as one source, and their summary: from what is kept, and sweeps of the rest."""
    check_reading(reading)
    if not isinstance(data, (str, os.PathLike)) or os.fspath(data) == "-":
        raise SettingError("Sums are kept of files. Give a path, a folder or a pattern.")
    path = str(os.fspath(data))
    with _folder(reading) as folder, SumFolder(folder) as keep:
        try:
            return _Run(path, reading, keep).whole(wanted)
        except EncodingError:
            if reading.encoding is not None:
                raise
            return _Run(path, replace(reading, encoding="latin-1"), keep).whole(wanted)


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


class _Another(Exception):
    """A file turned out to be bad: begin again without it. Nothing that was kept is lost. Never leaves this room."""


class _Progress:
    """Rows drawn by several sweeps at once, counted together."""

    def __init__(self, tell: Callable[[int], None] | None) -> None:
        self._tell, self._rows, self._lock = tell, 0, threading.Lock()

    def one(self) -> Callable[[int], None] | None:
        """What one sweep tells its rows to."""
        before, tell = 0, self._tell
        if tell is None:
            return None

        def told(rows: int) -> None:
            nonlocal before
            with self._lock:
                self._rows, before = self._rows + rows - before, rows
                tell(self._rows)

        return told


@dataclass
class _Run:
    """One run over the files of a path."""

    path: str
    reading: Reading
    keep: SumFolder
    bad: dict[str, str] = field(default_factory=dict)
    """What is wrong with each file that is left out, by its path."""
    swept: set[str] = field(default_factory=set)
    """The paths of files whose rows were read."""

    def __post_init__(self) -> None:
        how = self.reading
        self._progress = _Progress(how.progress)
        self._key = key_of(
            how.encoding, how.delimiter, how.encoding_errors, missing_tokens(how), how.target, how.weight,
            state.plain(how.types), state.plain(how.target_bins), state.plain(how.tokens),
            None if how.schema is None else _bare(how.schema),
        )  # fmt: skip

    def whole(self, wanted: Wanted) -> tuple[Source, Summary]:
        """Everything: the source of all files that can be read, and its summary."""
        found = list_files(self.path)
        while True:
            try:
                source, parts, summary = self._summarized([f for f in found if f[0] not in self.bad], wanted)
                break
            except _Another:
                if len(self.bad) == len(found):
                    tell_left_out(self.reading, list(self.bad.values()), len(found))
        tell_left_out(self.reading, list(self.bad.values()), len(found))
        if self.reading.keep is not None:
            self._tell_kept(parts)
            self.keep.tidy([p.file for p in parts], {self._own(p.file) for p in parts})
        return source, summary

    def _summarized(self, found: Sequence[tuple[str, str]], wanted: Wanted) -> tuple[Source, list[_Part], Summary]:
        source, parts = self._together([*self._each(found, lambda f: f, self._opened)])
        first = self._drafted(source, parts)
        whole = add_in_order(self._each(parts, _place, lambda part, threads: self._sums(part, first, threads)))
        assert whole is not None
        check_strays([Encoder(first.schema, strays=dict(whole.strays))], first, _rows(whole.summary))
        summary, _ = finalize_schema(first, whole.summary)
        check_rows(summary, source)
        for name in sorted(wanted(summary.schema) - summary.more.keys()):
            held = add_in_order(self._each(parts, _place, lambda part, n: self._more(part, summary, name, n)))  # noqa: B023
            assert held is not None
            summary.more[name] = held
        return source, parts, summary

    def _each(
        self, items: Sequence[A], place: Callable[[A], tuple[str, str]], work: Callable[[A, int | None], B]
    ) -> Iterator[B]:
        """Work on files, several at a time where there are many; what is wrong with one names it.

        Where bad files are to be left out, all begins again without them once each was looked at.
        """
        threads = self.reading.threads or default_threads()
        together = threads if len(items) >= 2 * threads else 1

        def judged(item: A) -> B | LikelyError:
            try:
                return work(item, self.reading.threads if together == 1 else 1)
            except EncodingError:
                raise
            except LikelyError as error:
                name = place(item)[1]
                said = error if name in str(error) else type(error)(f"{name}: {error}")
                if not self.reading.skip_bad or isinstance(error, SettingError):
                    raise said from error
                return said

        before = len(self.bad)
        for item, result in zip(items, in_order(items, judged, together), strict=True):
            if isinstance(result, LikelyError):
                self.bad[place(item)[0]] = str(result)
            else:
                yield result
        if len(self.bad) > before:
            raise _Another

    # -- files and their headings ---------------------------------------------------------------------------

    def _opened(self, found: tuple[str, str], threads: int | None) -> _Part:
        file = self.keep.identified(*found)
        kept = self.keep.get(file, self._own(file), "profile")

        def opened() -> Source:
            self.swept.add(file.path)
            source = open_file(file.path, file.name, self.reading.encoding, self.reading.delimiter)
            return Repaired(source) if self.reading.encoding_errors == "replace" else source

        if kept is None:
            heading = DeferredSource.describe(opened(), opened)
        else:
            heading = DeferredSource.from_state(file.name, kept["heading"], opened)
        return _Part(file, heading, heading)

    def _own(self, file: File) -> str:
        """The way of reading a file, which depends on how its name ends: .tsv is not .csv."""
        return key_of(self._key, os.path.basename(file.path).lower().split(".")[1:][-2:])

    def _together(self, parts: list[_Part]) -> tuple[Source, list[_Part]]:
        """All files as one table, and each with the types that all share."""
        if self.reading.skip_bad:
            _, others = split_agreeing([p.source for p in parts])
            self.bad |= {parts[k].file.path: str(error) for k, error in others.items()}
            if others:
                raise _Another
        if len(parts) == 1:
            return parts[0].source, parts
        many = ConcatenatedSource([p.source for p in parts], os.path.expanduser(self.path))
        return many, [replace(p, source=s) for p, s in zip(parts, many.parts(), strict=True)]

    # -- how they are read ----------------------------------------------------------------------------------

    def _drafted(self, source: Source, parts: list[_Part]) -> Draft:
        """The draft of the schema, from how all files look; new ones are summed on the way under a guess."""
        how = self.reading
        if how.schema is not None:
            return draft_schema(source, how)
        names, fresh = text_columns(source, how), list[_Part]()

        def look_at(some: Sequence[_Part], guess: Draft | None) -> Iterator[Seen]:
            return self._each(some, _place, lambda part, threads: self._viewed(part, names, guess, threads))

        old = known = add_in_order(self._recalled(parts, names, fresh))
        if known is None:  # the first file says how the others are probably to be read
            known = add_in_order(look_at(fresh[:1], None))
            fresh = fresh[1:]
        assert known is not None
        guess = None
        try:
            guess = draft_schema(source, how, known.profiles, known.tally)
        except LikelyError:
            if not fresh:
                raise
        if not fresh:
            assert guess is not None
            return guess
        seen = add_in_order(part for some in ([known], look_at(fresh, guess)) for part in some)
        assert seen is not None
        first = draft_schema(source, how, seen.profiles, seen.tally)
        if old is not None and guess is not None:
            self._tell_changes(guess.schema, first.schema)
        return first

    def _recalled(self, parts: list[_Part], names: list[str], fresh: list[_Part]) -> Iterator[Seen]:
        """What is kept of how files look; a file of which nothing is kept, in the types all now share, is fresh."""
        for part in parts:
            kept = self.keep.get(part.file, self._own(part.file), "profile")
            if kept is None or kept["types"] != _types(part.source):
                fresh.append(part)
            else:
                yield Seen.from_state(kept)

    def _viewed(self, part: _Part, names: list[str], guess: Draft | None, threads: int | None) -> Seen:
        seen, sums = viewed(part.source, self.reading, names, guess, threads, self._progress.one())
        self.keep.check(part.file)
        if sums is not None and guess is not None:
            self.keep.put(part.file, self._own(part.file), "likely", sums.state(), self._under(part, guess))
        tree = {"heading": part.heading.state(), "types": _types(part.source), **seen.state()}
        self.keep.put(part.file, self._own(part.file), "profile", tree)
        return seen

    # -- their sums -----------------------------------------------------------------------------------------

    def _under(self, part: _Part, first: Draft) -> str:
        return key_of(_bare(first.schema), _types(part.source))

    def _sums(self, part: _Part, first: Draft, threads: int | None) -> Partial:
        """The sums of a file, kept or swept."""
        own, under = self._own(part.file), self._under(part, first)
        kept = self.keep.get(part.file, own, "likely", under)
        if kept is not None:
            found = Partial.from_state(kept)
            return replace(found, summary=found.summary.with_schema(first.schema))  # the same, but for its whys
        found = summed(part.source, first.schema, threads, self._progress.one())
        self.keep.check(part.file)
        self.keep.put(part.file, own, "likely", found.state(), under)
        return found

    def _more(self, part: _Part, summary: Summary, name: str, threads: int | None) -> Any:
        """A statistic of a file beyond the first order, begun as the whole summary begins it: kept or swept."""
        begun = summary.empty_statistic(name)
        under = key_of(_bare(summary.schema), _types(part.source), state.dump({name: begun.state()}).hex())
        kept = self.keep.get(part.file, self._own(part.file), "more", under)
        if kept is not None:
            return type(begun).from_state(kept["more"])
        columns = [c.name for c in summary.schema.used]
        workers = sweep(
            part.source.batches(columns),
            lambda: Extension(summary, frozenset([name])),
            threads,
            progress=self._progress.one(),
        )
        self.keep.check(part.file)
        held = add_in_order(worker.more[name] for worker in workers)
        assert held is not None
        self.keep.put(part.file, self._own(part.file), "more", {"more": held.state()}, under)
        return held

    # -- what is told ---------------------------------------------------------------------------------------

    def _tell_kept(self, parts: Sequence[_Part]) -> None:
        old = len(parts) - len({p.file.path for p in parts} & self.swept)
        gone = self.keep.gone({os.path.dirname(os.path.abspath(p.file.path)) for p in parts})
        told = f"{len(parts) - old:,} of {len(parts):,} files were read; the sums of {old:,} were kept."
        if gone:
            told += (
                " 1 that is gone no longer counts."
                if len(gone) == 1
                else f" {len(gone):,} that are gone no longer count."
            )
        self.reading.tell(told)

    def _tell_changes(self, before: Schema, now: Schema) -> None:
        """Say which columns new files made to be read otherwise: the sums that were kept do not fit any more."""
        for old, new in zip(before.columns, now.columns, strict=True):
            if old != new:
                self.reading.tell(
                    f"With the new files {shown(new.name)} is read otherwise ({_said(new)}; before: {_said(old)}), "
                    "so all files are swept again. To go on as before, name the old model: --schema."
                )


def _said(column: Column) -> str:
    return f"{column.kind}, {column.why}" if column.why else column.kind


def _place(part: _Part) -> tuple[str, str]:
    return part.file.path, part.file.name


def _rows(summary: Summary) -> int:
    return summary.rows + summary.left_out


def _bare(schema: Schema) -> Any:
    """A schema as plain values, without the sentences that say why."""
    return state.plain(replace(schema, columns=tuple(replace(c, reason=Reason()) for c in schema.columns)))


def _types(source: Source) -> dict[str, str]:
    return {column.name: str(column.type) for column in source.schema}
