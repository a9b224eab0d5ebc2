"""One sweep instead of two: guess how text is read, sum under the guess, profile the text on the way, and keep the sums
if the profiles say that the guess was right. The result is the same either way.

Where a table keeps types, text is guessed to be nominal; where its first rows have free text, all is guessed by these.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

from likely.errors import EncodingError, InputError, LikelyError
from likely.intake.engine import sweep
from likely.intake.reading import Reading
from likely.intake.schema import Draft, draft_schema, text_columns
from likely.sums.columns.counts import Counts
from likely.sums.columns.profile import Profile
from likely.sums.summary import Summary
from likely.table.encode import Encoder, column_form, token_hashes
from likely.table.infer import MANY_LEVELS
from likely.table.schema import MISSING
from likely.table.source import Source

_FIRST = 1 << 10
"""Rows by which is guessed how a table with free text is read."""


class _Guesser:
    """Sums under the guess and profiles the text; gives a column up that has more levels than any nominal one."""

    def __init__(self, guess: Draft, names: list[str]) -> None:
        self.encoder = Encoder(guess.schema)
        self.summary = Summary(guess.schema)
        self.profiles = {name: Profile() for name in names}
        self.given_up: set[str] = set()
        self._tokens = token_hashes(guess.schema.missing)

    def take(self, batch: Any, start: int) -> None:
        for name, profile in self.profiles.items():
            profile.update(batch.column(name), self._tokens)
        self.summary.update(self.encoder.encode(batch, start))
        for name in self.profiles:
            statistic: Any = self.summary.columns.get(name)
            if isinstance(statistic, Counts) and len(statistic.labels) > MANY_LEVELS:
                self.given_up.add(name)
                del self.summary.columns[name]
                kept = (c for c in self.encoder.schema.columns if c.name != name)
                self.encoder.schema = self.encoder.schema.with_columns(kept)

    def rest(self) -> None:
        self.summary = self.summary.canonical()


def guessed(source: Source, reading: Reading) -> tuple[Draft, Summary | None, list[Encoder]]:
    """The draft of a source's schema and, where the guess was right, the sums under it (before the last word)."""
    names = text_columns(source, reading)
    forms = {column_form(source.schema.field(n).type) for n in source.schema.names}
    target = reading.target
    plain_target = target is None or target in names or target not in source.schema.names
    if reading.schema is not None or not names or not plain_target or reading.target_bins:
        return draft_schema(source, reading), None, []
    guess = _by_first_rows(source, reading, names)
    if guess is None:
        if forms == {"text"}:
            return draft_schema(source, reading), None, []
        return _tried(source, reading, names, draft_schema(source, reading, {}))
    try:
        return _tried(source, reading, names, guess)
    except EncodingError:
        raise
    except InputError:  # a cell cannot be read as guessed; perhaps it can as it should be
        return draft_schema(source, reading), None, []


def _by_first_rows(source: Source, reading: Reading, names: list[str]) -> Draft | None:
    """How the first rows would be read, if there is free text among them."""
    profiles = {name: Profile() for name in names}
    batches = source.batches(names)
    first = next(batches, None)
    if first is None or not first.num_rows:
        return None
    for name, array in zip(first.schema.names, first.slice(0, _FIRST).columns, strict=True):
        profiles[name].update(array, token_hashes(MISSING if reading.missing is None else ("", *reading.missing)))
    try:
        guess = draft_schema(source, reading, profiles)
    except LikelyError:
        return None
    return guess if any(c.kind == "text" for c in guess.schema.used) else None


def _tried(
    source: Source, reading: Reading, names: list[str], guess: Draft
) -> tuple[Draft, Summary | None, list[Encoder]]:
    columns = [c.name for c in guess.schema.used]
    columns += [n for n in names if n not in columns]
    workers = sweep(
        source.batches(columns),
        lambda: _Guesser(guess, names),
        reading.threads,
        progress=reading.progress,
        finish=_Guesser.rest,
    )
    first = draft_schema(source, reading, {n: reduce(add, (w.profiles[n] for w in workers)) for n in names})
    given_up = set().union(*(w.given_up for w in workers))
    known = {c.name for c in guess.schema.used}
    if any(c.name in given_up or c.name not in known or not _same(c, guess.schema[c.name]) for c in first.schema.used):
        return first, None, []
    left = (replace(c, role="left out") if c.name in given_up else c for c in guess.schema.columns)
    schema = guess.schema.with_columns(left)
    summary = reduce(add, (w.summary.with_schema(schema) for w in workers))
    return first, summary.with_schema(first.schema), [w.encoder for w in workers]


def _same(column: Any, guess: Any) -> bool:
    return (column.kind, column.role, column.reading, column.levels) == (
        guess.kind,
        guess.role,
        guess.reading,
        guess.levels,
    )
