"""One file, swept: how its text looks and what values its target has, and its sums under a schema. Keeps nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

from likely.errors import EncodingError, InputError
from likely.intake.engine import sweep
from likely.intake.reading import Reading
from likely.intake.schema import Draft, Tallier, missing_tokens
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.columns.profile import Profile
from likely.sums.summary import Summary
from likely.table.encode import Encoder, column_form, token_hashes
from likely.table.infer import MANY_LEVELS
from likely.table.schema import Schema
from likely.table.source import Source


@dataclass(frozen=True)
class Seen:
    """How the text columns of some rows look, and a tally of the target's numbers where it may be numeric. A sum."""

    profiles: Mapping[str, Profile] = field(default_factory=dict)
    tally: Numbers | None = None

    def __add__(self, other: Seen) -> Seen:
        tally = None if self.tally is None or other.tally is None else self.tally + other.tally
        return Seen({name: profile + other.profiles[name] for name, profile in self.profiles.items()}, tally)

    def state(self) -> dict[str, Any]:
        names = list(self.profiles)
        tally = {} if self.tally is None else {"tally": self.tally.state()}
        return {"names": names, "profiles": [self.profiles[n].state() for n in names], **tally}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Seen:
        profiles = (Profile.from_state(p) for p in state["profiles"])
        tally = Numbers.from_state(state["tally"]) if "tally" in state else None
        return cls(dict(zip(state["names"], profiles, strict=True)), tally)


@dataclass(frozen=True)
class Partial:
    """The sums of some rows, and how many cells of which column were not what the schema says."""

    summary: Summary
    strays: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Partial) -> Partial:
        both = {n: self.strays.get(n, 0) + other.strays.get(n, 0) for n in {**self.strays, **other.strays}}
        return Partial(self.summary + other.summary, both)

    def state(self) -> dict[str, Any]:
        return {"summary": self.summary.state(), "strays": dict(self.strays)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Partial:
        return cls(Summary.from_state(state["summary"]), state["strays"])


def tallied_target(source: Source, reading: Reading) -> str | None:
    """The target, where a tally of its numbers may be asked for before its kind is known."""
    if reading.target not in source.schema.names or reading.target is None:
        return None
    form = column_form(source.schema.field(reading.target).type)
    return reading.target if form in ("text", "number") else None


class _Viewer:
    """Looks at text and tallies the target; sums under a guess, unless a column proves to have too many levels."""

    def __init__(self, names: Sequence[str], target: str | None, guess: Schema | None, tokens: tuple[str, ...]) -> None:
        self.profiles = {name: Profile() for name in names}
        self.target, self.tallier = target, Tallier(tokens)
        self.encoder = None if guess is None else Encoder(guess)
        self.summary = None if guess is None else Summary(guess)
        self._tokens = token_hashes(tokens)

    def take(self, batch: Any, start: int) -> None:
        for name, profile in self.profiles.items():
            profile.update(batch.column(name), self._tokens)
        if self.target is not None:
            self.tallier.add(batch.column(self.target))
        if self.summary is not None and self.encoder is not None:
            self.summary.update(self.encoder.encode(batch, start))
            for name in self.profiles:
                statistic: Any = self.summary.columns.get(name)
                if isinstance(statistic, Counts) and len(statistic.labels) > MANY_LEVELS:
                    self.summary = None  # an identifier, which nobody wants to sum
                    break

    def rest(self) -> None:
        if self.summary is not None:
            self.summary = self.summary.canonical()


def viewed(
    source: Source,
    reading: Reading,
    names: Sequence[str],
    guess: Draft | None,
    threads: int | None,
    progress: Callable[[int], None] | None,
) -> tuple[Seen, Partial | None]:
    """How a source looks, and its sums under a guess where there is one that can be followed."""
    target, schema = tallied_target(source, reading), None if guess is None else guess.schema
    tokens = missing_tokens(reading)
    columns = [*names, *([target] if target is not None else [])]
    columns += [] if schema is None else [c.name for c in schema.used]
    if not columns:
        return Seen(), None
    try:
        workers = sweep(
            source.batches(list(dict.fromkeys(columns))),
            lambda: _Viewer(names, target, schema, tokens),
            threads,
            progress=progress,
            finish=_Viewer.rest,
        )
    except EncodingError:
        raise
    except InputError:
        if guess is None:
            raise
        return viewed(source, reading, names, None, threads, progress)  # a cell cannot be read as was guessed
    profiles = {n: reduce(add, (w.profiles[n] for w in workers)) for n in names}
    seen = Seen(profiles, reduce(add, (w.tallier.numbers for w in workers)) if target is not None else None)
    parts = [Partial(w.summary, w.encoder.strays) for w in workers if w.summary is not None and w.encoder is not None]
    return seen, reduce(add, parts) if len(parts) == len(workers) else None


class _Summarizer:
    def __init__(self, schema: Schema) -> None:
        self.encoder = Encoder(schema)
        self.summary = Summary(schema)

    def take(self, batch: Any, start: int) -> None:
        self.summary.update(self.encoder.encode(batch, start))

    def rest(self) -> None:
        self.summary = self.summary.canonical()


def summed(
    source: Source, schema: Schema, threads: int | None, progress: Callable[[int], None] | None = None
) -> Partial:
    """The sums of a source under a schema, before the last word on its numbers."""
    workers = sweep(
        source.batches([c.name for c in schema.used]),
        lambda: _Summarizer(schema),
        threads,
        progress=progress,
        finish=_Summarizer.rest,
    )
    return reduce(add, (Partial(w.summary, w.encoder.strays) for w in workers))
