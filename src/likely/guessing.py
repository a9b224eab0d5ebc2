"""One sweep instead of two, where a table keeps types: guess that text is nominal, sum under the guess, profile the
text on the way, and keep the sums if the profiles say that the guess was right. The result is the same either way.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

from likely.drafting import Draft, Reading, draft, text_columns
from likely.engines.local import sweep
from likely.sums.profile import Profile
from likely.sums.summary import Summary
from likely.table.encode import Encoder, column_form, token_hashes
from likely.table.infer import MANY_LEVELS
from likely.table.source import Source


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
            if statistic is not None and len(statistic.labels) > MANY_LEVELS:
                self.given_up.add(name)
                del self.summary.columns[name]
                kept = (c for c in self.encoder.schema.columns if c.name != name)
                self.encoder.schema = self.encoder.schema.with_columns(kept)


def guessed(source: Source, reading: Reading) -> tuple[Draft, Summary | None, list[Encoder]]:
    """The draft of a source's schema and, where the guess was right, the sums under it (before the last word)."""
    names = text_columns(source, reading)
    forms = {column_form(source.schema.field(n).type) for n in source.schema.names}
    target = reading.target
    plain_target = target is None or target in names or target not in source.schema.names
    if reading.schema is not None or not names or forms == {"text"} or not plain_target or reading.target_bins:
        return draft(source, reading), None, []
    guess = draft(source, reading, {})
    columns = [c.name for c in guess.schema.used]
    workers = sweep(source.batches(columns), lambda: _Guesser(guess, names), reading.threads, progress=reading.progress)
    first = draft(source, reading, {n: reduce(add, (w.profiles[n] for w in workers)) for n in names})
    given_up = set().union(*(w.given_up for w in workers))
    if any(c.name in given_up or not _same(c, guess.schema[c.name]) for c in first.schema.used):
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
