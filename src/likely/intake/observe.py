"""What some rows show before their schema is known, and how observing is cut into shares."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import EncodingError, InputError
from likely.intake.engine import crew_for, sweep_pieces, sweep_shares, sweep_sum
from likely.sums.columns.counts import Counts, Profile, update_profiles
from likely.sums.columns.numbers import Numbers
from likely.sums.contracts import State, weights
from likely.sums.summary import Summary
from likely.table.arrow import RowBatch, TextColumn
from likely.table.batch import Batch
from likely.table.encode import Encoder
from likely.table.infer import MANY_CLASSES, MANY_LEVELS
from likely.table.schema import MISSING, Schema
from likely.table.source import Source
from likely.table.texts.numbers import (
    Described,
    column_form,
    find_strays,
    find_unit_strays,
    parse_numbers,
    token_hashes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


# What is to be observed of the rows of a table, and how that is cut into shares of a few columns. Knows no rows.

WIDE = 64
"""Attributes from which on a table is swept in shares of columns, where its source can read columns apart."""
LEAST_COLUMNS, MOST_COLUMNS = 8, 32
"""Attributes of a share: the target is read again for each; many more would leave few rows in a batch."""
FEW_ROWS, FEW_WIDE, FEW_LEAST = 1 << 18, 8, 4
"""Of no more rows than this, putting together what threads keep of a column costs more than its cells: such a table is
swept in shares from so many attributes on, of so many at least."""
NEIGHBOURS = 16
"""Columns of a text that go to a share together: cells beside each other are in one line of the processor's cache, and
who reads every fourth column fetches each line four times."""
SHARES = 2
"""Shares for each thread, so that threads end at about the same time."""


@dataclass(frozen=True)
class ObservationPlan:
    """What is to be observed of rows."""

    profiled: tuple[str, ...] = ()
    """Text columns whose kind nobody has said."""
    tallied: str | None = None
    """The target, where its numbers decide how it is read."""
    schema: Schema | None = None
    """How rows are summed; a guess where something is profiled or tallied as well."""
    missing: tuple[str, ...] = MISSING
    is_share: bool = False
    """Whether it is a share of another plan, whose schema may be a guess though nothing is profiled here."""

    @classmethod
    def under(cls, schema: Schema) -> ObservationPlan:
        """Sums alone, under a schema that is known."""
        return cls(schema=schema, missing=schema.missing)

    @property
    def columns(self) -> list[str]:
        """What a sweep has to read."""
        used = [] if self.schema is None else self.schema.stored
        return list(dict.fromkeys([*self.profiled, *([] if self.tallied is None else [self.tallied]), *used]))

    @property
    def is_guess(self) -> bool:
        return self.schema is not None and (bool(self.profiled) or self.tallied is not None or self.is_share)

    def without_sums(self) -> ObservationPlan:
        return replace(self, schema=None)

    def without(self, names: frozenset[str]) -> ObservationPlan:
        """The same, but these columns are not summed."""
        if self.schema is None or not names:
            return self
        columns = (replace(c, role="left out") if c.name in names else c for c in self.schema.columns)
        return replace(self, schema=self.schema.with_columns(columns))

    def split(self, threads: int, apart: bool = True, rows: int | None = None) -> list[ObservationPlan]:
        """Plans of a few columns each, which together are this one; itself where there are not many columns.

        Every share has the target and the weights of rows; only the first profiles and tallies the target. Where
        columns are not read `apart`, nothing is gained by more shares than keep the threads at work. `rows` is the
        number of rows, where it is known.
        """
        columns = () if self.schema is None else self.schema.columns
        everywhere = {c.name for c in columns if c.role in ("target", "weight")} | {self.tallied}
        names = [name for name in self.columns if name not in everywhere]
        few = apart and rows is not None and rows <= FEW_ROWS and threads > 1
        wide, least = (FEW_WIDE, FEW_LEAST) if few else (WIDE, LEAST_COLUMNS)
        if len(names) < wide:
            return [self]
        count = min(SHARES * threads, len(names) // least)
        if apart:
            count = max(count, -(-len(names) // MOST_COLUMNS))
        run = 1 if apart else min(NEIGHBOURS, len(names) // count)
        dealt = [frozenset(n for i, n in enumerate(names) if i // run % count == k) for k in range(count)]
        return [self._share(own, everywhere if k == 0 else set()) for k, own in enumerate(dealt)]

    def _share(self, names: frozenset[str], target: set[str | None]) -> ObservationPlan:
        schema = self.schema
        if schema is not None:
            kept = (c for c in schema.columns if c.stored_as in names or c.role in ("target", "weight"))
            schema = schema.with_columns(kept)
        profiled = tuple(name for name in self.profiled if name in names or name in target)
        tallied = self.tallied if self.tallied in target else None
        return replace(self, profiled=profiled, tallied=tallied, schema=schema, is_share=self.is_guess)


# What some rows show before their schema is known: profiles of text, a tally of the target's numbers, sums under a
# schema (given, or a guess), and cells that do not fit it. One mergeable observation, whoever sweeps the rows:
# threads, files, executors, a database that counts, or pieces that arrive one after the other. Keeps no row.


class Observation:
    """Some rows, observed by a plan. `a + b` merges, exactly and in any order.

    A profiled column that proves to have more levels than any nominal one is given up: it is no longer summed.
    """

    def __init__(self, plan: ObservationPlan, given_up: frozenset[str] = frozenset()) -> None:
        self.plan, self.given_up = plan.without(given_up), given_up
        self._profiles = {name: Profile() for name in plan.profiled}
        self._tally = None if plan.tallied is None else Numbers(1)
        self.summary = None if self.plan.schema is None else Summary(self.plan.schema)
        self._encoder = None if self.plan.schema is None else self._make_encoder(self.plan.schema)
        self._tokens = token_hashes(plan.missing)

    _described: frozenset[str] = frozenset()
    """Columns of text whose cells the encoder describes."""
    _pending = False
    """Whether the encoder has met levels since they were last taken in."""

    def _make_encoder(self, schema: Schema) -> Encoder:
        """An encoder that tells on the way what cells look like, so that they need not be looked at twice."""
        kinds = {c.name: c.kind for c in schema.attributes if c.name in self._profiles}
        numbers = [name for name, kind in kinds.items() if kind in ("number", "date")]
        levels = [name for name, kind in kinds.items() if kind == "nominal"]
        target = schema.target
        if target is not None and not target.edges and target.name in self._profiles:
            levels.append(target.name)
        self._described = frozenset([*numbers, *levels])
        return Encoder(schema, witnessed=frozenset(numbers), witness=self._take_described, crosses=True)

    def _take_described(self, seen: Mapping[str, Described]) -> None:
        update_profiles([self._profiles[name] for name in seen], [*seen.values()])

    @property
    def profiles(self) -> dict[str, Profile]:
        """What the cells of each profiled column look like."""
        self._drain()
        return self._profiles

    @profiles.setter
    def profiles(self, profiles: dict[str, Profile]) -> None:
        self._profiles = profiles

    @property
    def tally(self) -> Numbers | None:
        """The numbers of the target, where they decide how it is read."""
        self._drain()
        return self._tally

    @tally.setter
    def tally(self, tally: Numbers | None) -> None:
        self._tally = tally

    def _drain(self) -> None:
        """Take in what the encoder has met of levels: each text once, with how often it was met."""
        if self._encoder is None or not self._pending:
            return
        self._pending = False
        seen = {}
        for name in self._described:
            held = self._encoder.take_description(name)
            if held is not None:
                seen[name], texts, times = held
                if name == self.plan.tallied and self._tally is not None:
                    some = times > 0
                    values, _ = parse_numbers(TextColumn(texts.take(some)), self._tokens)
                    group = np.zeros(len(values), np.int32)
                    self._tally.update(values, group, weights(times[some].astype(np.float64)))
        self._take_described(seen)

    @property
    def strays(self) -> dict[str, int]:
        """How many cells of which column are not what the schema says."""
        return {} if self._encoder is None else self._encoder.strays

    @property
    def rows(self) -> int:
        """Rows that were summed, those left out too."""
        return 0 if self.summary is None else self.summary.rows + self.summary.left_out

    def update(
        self,
        batch: RowBatch,
        start: int = 0,
        times: NDArray[np.int64] | None = None,
        regroup: Callable[[Batch], Batch] | None = None,
    ) -> None:
        """Take in rows, the first of which is row number `start` of the table.

        `times` says how often each row is there, where that is not once; `regroup` gives rows other classes.
        """
        looked_at = frozenset([*self._profiles, *([] if self.plan.tallied is None else [self.plan.tallied])])
        if self.summary is None or self._encoder is None:
            self._look_at(batch, looked_at, times)
            return
        if times is None:
            later = frozenset(n for n in self._described if column_form(batch.column(n).type) == "text")
            self._look_at(batch, looked_at - later)
            self._pending = True
            encoded = self._encode(self._encoder, batch, start, later)
        else:  # cells are there as often as is said, so the encoder must not count them
            self._look_at(batch, looked_at, times)
            encoded = self._encode(Encoder(self._encoder.schema, strays=self.strays), batch, start, frozenset())
        if encoded is None:
            self._drain()
            self.summary = self._encoder = None
            return
        if regroup is not None:
            encoded = regroup(encoded)
        if times is None:
            self.summary.update(encoded)
        else:
            weighed = replace(encoded, weight=times.astype(np.float64))
            self._update_counted(self.summary, batch, weighed, times)
        self._give_up()

    def _encode(self, encoder: Encoder, batch: RowBatch, start: int, later: frozenset[str]) -> Batch | None:
        """The rows under the schema; None where that is a guess and cannot be right. The encoder describes `later`."""
        try:
            out = encoder.encode(batch, start)
        except EncodingError:
            raise
        except InputError:
            if not self.plan.is_guess:
                raise
            self._look_at(batch, later - encoder.described)  # how columns look is wanted of all rows nonetheless
            return None
        many = out.target is not None and len(out.target.labels) > MANY_CLASSES
        return None if many and self.plan.is_guess else out

    def _look_at(self, batch: RowBatch, names: Collection[str], times: NDArray[np.int64] | None = None) -> None:
        """Profile and tally these columns."""
        for name, profile in self._profiles.items():
            if name in names and column_form(batch.column(name).type) == "text":
                profile.update(batch.column(name), self._tokens, times)
        if self.plan.tallied in names and self.plan.tallied is not None and self._tally is not None:
            values, _ = parse_numbers(batch.column(self.plan.tallied), self._tokens)
            share = None if times is None else times.astype(np.float64)
            self._tally.update(values, np.zeros(len(values), np.int32), weights(share))

    def _update_counted(self, summary: Summary, batch: RowBatch, encoded: Batch, times: NDArray[np.int64]) -> None:
        """Rows with counts: each weighs, is counted and strays as often as it is there."""
        rows, left_out = summary.rows, summary.left_out
        summary.update(encoded)
        kept = int((times if encoded.target is None else times[encoded.target.codes >= 0]).sum())
        summary.rows, summary.left_out = rows + kept, left_out + int(times.sum()) - kept
        for column in summary.schema.attributes:
            if column.kind in ("number", "date") and column.part is None:
                cells = batch.column(column.name)
                if column.unit is None:
                    odd = find_strays(cells, self._tokens, column.reading == "date")
                else:
                    odd = find_unit_strays(cells, self._tokens, column.unit)
                # The encoder has counted each of them once.
                self.strays[column.name] = self.strays.get(column.name, 0) + int((times[odd] - 1).sum())

    def take(self, batch: RowBatch, start: int) -> None:
        """`update`, as a sweep calls it."""
        self.update(batch, start)

    def _give_up(self) -> None:
        """Sum no longer what has too many levels, such as an identifier. In the end only all rows together matter."""
        assert self.summary is not None and self._encoder is not None
        for name in self._profiles:
            statistic = self.summary.columns.get(name)
            if isinstance(statistic, Counts) and len(statistic.labels) > MANY_LEVELS:
                self.given_up |= {name}
                self.plan = self.plan.without(self.given_up)
                self.summary = self._sums_without(self.given_up)
                assert self.summary is not None and self.plan.schema is not None
                self._drain()
                self._described -= {name}
                self._encoder.schema = self.plan.schema

    def _sums_without(self, names: frozenset[str]) -> Summary | None:
        if self.summary is None or not any(name in self.summary.columns for name in names):
            return self.summary
        columns = (replace(c, role="left out") if c.name in names else c for c in self.summary.schema.columns)
        return self.summary.with_schema(self.summary.schema.with_columns(columns))

    def __add__(self, other: Observation) -> Observation:
        out = Observation(self.plan, self.given_up | other.given_up)
        out.profiles = {name: profile + other.profiles[name] for name, profile in self.profiles.items()}
        out.tally = None if self.tally is None or other.tally is None else self.tally + other.tally
        one, two = self._sums_without(out.given_up), other._sums_without(out.given_up)
        if one is None or two is None or out._encoder is None:
            out.summary = out._encoder = None
            return out
        out.summary = one + two
        both = {**self.strays, **other.strays}
        out.strays.update({name: self.strays.get(name, 0) + other.strays.get(name, 0) for name in both})
        out._give_up()
        return out

    @classmethod
    def join_shares(cls, plan: ObservationPlan, parts: Sequence[Observation]) -> Observation:
        """The observation by a plan, from those of the same rows by its shares."""
        out = cls(plan, frozenset[str]().union(*(part.given_up for part in parts)))
        for part in parts:
            out.profiles |= part.profiles
            out.strays.update(part.strays)
        out.tally = parts[0].tally
        by_column = {name: part.summary for part in parts if part.summary for name in part.summary.columns}
        if out.plan.schema is None or any(part.summary is None for part in parts):
            out.summary = out._encoder = None
        else:
            whole = parts[0].summary
            assert whole is not None
            out.summary = assemble_summary(out.plan.schema, whole, by_column)
        return out

    def canonicalize(self) -> None:
        """Come to the form in which sums are added quickest; each thread does it for its own."""
        self._drain()
        if self.summary is not None:
            self.summary = self.summary.canonical()

    def sums_under(self, schema: Schema) -> Summary | None:
        """The sums under this schema; None where rows were summed otherwise than it says."""
        own = self.plan.schema
        if self.summary is None or own is None or own.missing != schema.missing:
            return None
        known = {c.name: c for c in own.used}
        return self.summary.with_schema(schema) if all(known.get(c.name) == c for c in schema.used) else None

    def state(self) -> State:
        names = list(self.profiles)
        out: State = {
            "names": names,
            "profiles": [self.profiles[n].state() for n in names],
            "missing": list(self.plan.missing),
            "given_up": sorted(self.given_up),
            "strays": dict(self.strays),
        }
        if self.tally is not None:
            out |= {"tallied": self.plan.tallied, "tally": self.tally.state()}
        return out if self.summary is None else {**out, "summary": self.summary.state()}

    @classmethod
    def from_state(cls, state: State) -> Observation:
        summary = Summary.from_state(state["summary"]) if "summary" in state else None
        schema = None if summary is None else summary.schema
        plan = ObservationPlan(tuple(state["names"]), state.get("tallied"), schema, tuple(state["missing"]))
        out = cls(plan, frozenset(state["given_up"]))
        out.profiles = dict(zip(state["names"], map(Profile.from_state, state["profiles"]), strict=True))
        out.tally = Numbers.from_state(state["tally"]) if "tally" in state else None
        out.summary = summary
        out.strays.update(state["strays"])
        return out


def assemble_summary(schema: Schema, whole: Summary, parts: Mapping[str, Summary]) -> Summary:
    """The classes and rows of one summary with columns of others, each of the same rows."""
    out = Summary(schema, {})
    out.labels, out.total, out.rows, out.left_out = whole.labels, whole.total, whole.rows, whole.left_out
    for column in schema.attributes:
        assert parts[column.name].classes == whole.classes
        out.columns[column.name] = parts[column.name].columns[column.name]
    return out


def observe_source(
    source: Source, plan: ObservationPlan, threads: int | None = None, progress: Callable[[int], None] | None = None
) -> Observation:
    """Sweep a source."""
    if not plan.columns and plan.schema is None:
        return Observation(plan)
    count = crew_for(source, threads)
    # One thread keeps everything once as it is; from text it would only read the target more often.
    in_shares = source.reads_columns_apart or (count > 1 and source.piece_count >= count)
    shares = plan.split(count, source.reads_columns_apart, source.rows) if in_shares else [plan]
    if len(shares) > 1:
        makers = [(share.columns, partial(Observation, share)) for share in shares]
        parts = sweep_shares(source, makers, count, progress, Observation.canonicalize)
        if parts is None:
            return sweep_sum(source.batches(plan.columns), lambda: Observation(plan), count, progress)
        return Observation.join_shares(plan, parts)
    return sweep_pieces(source, plan.columns, lambda: Observation(plan), count, progress, Observation.canonicalize)
