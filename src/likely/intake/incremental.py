"""A table that arrives in pieces: sums under every reading of it that is still open, so that the last word on its
columns can be said of all pieces together. Knows no learner; keeps no rows.

Texts may turn out to be levels, numbers, dates or free text; numbers may turn out to be levels. Each is summed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from likely.errors import ColumnError, shown
from likely.intake.engine import sweep
from likely.intake.reading import Reading
from likely.intake.schema import check_rows, check_strays, draft_schema, finalize_schema
from likely.sums import state
from likely.sums.columns.counts import Counts
from likely.sums.columns.profile import Profile
from likely.sums.summary import Summary
from likely.table.arrow import pack_schema, unpack_schema
from likely.table.encode import Encoder, column_form, token_hashes
from likely.table.infer import MANY_LEVELS
from likely.table.schema import Column, Schema
from likely.table.source import Declaration, Source
from likely.table.words.tokens import Tokens

LAYERS = ("nominal", "number", "date", "text")
"""What an open column of texts may turn out to be. The first layer also sums every other column."""


class _Forms(Source):
    """The columns that all pieces have, with the types by which they can be told apart; it has no rows."""

    name = "the table"
    rows = None
    notes = ()

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self.declared: dict[str, Declaration] = {}

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        return iter(())


class _Taker:
    """One thread's share of a piece: a summary for each layer, and profiles of the texts."""

    def __init__(self, schemas: dict[str, Schema], open: list[str]) -> None:
        self.encoders = {layer: Encoder(schema) for layer, schema in schemas.items()}
        self.sums = {layer: Summary(schema) for layer, schema in schemas.items()}
        self.profiles = {name: Profile() for name in open}
        self._tokens = token_hashes(next(iter(schemas.values())).missing)

    def take(self, batch: Any, start: int) -> None:
        for name, profile in self.profiles.items():
            if column_form(batch.column(name).type) == "text":
                profile.update(batch.column(name), self._tokens)
        for layer, encoder in self.encoders.items():
            self.sums[layer].update(encoder.encode(batch, start))


class IncrementalSummary:
    """The sums of all pieces so far. `summary()` is what one sweep over all their rows would have given, bit for bit.

    >>> pieces = IncrementalSummary(Reading(target="play", types={"play": "nominal"}))
    >>> from likely.table.open import open_source
    >>> pieces.take(open_source({"sky": ["sun"], "play": ["yes"]}))
    >>> pieces.take(open_source({"sky": ["rain", "sun"], "play": ["no", "yes"]}))
    >>> pieces.summary().schema["sky"].kind
    'nominal'
    """

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._forms: _Forms | None = None
        self._open: list[str] = []
        """Columns of texts, or without any value so far, whose kind nobody has said."""
        self._given_up: set[str] = set()
        """Those with too many levels to be nominal."""
        self._profiles: dict[str, Profile] = {}
        self._sums: dict[str, Summary] = {}

    def take(self, source: Source) -> None:
        """Take in the rows of one piece; one that is refused leaves nothing behind."""
        forms, open, closed = self._merged(source)
        schemas = self._schemas(forms, open)
        columns = [c.name for c in schemas["nominal"].used]
        columns += [name for name in open if name not in columns]
        workers = sweep(source.batches(columns), lambda: _Taker(schemas, open), self.reading.threads)
        check_strays([w.encoders["nominal"] for w in workers], draft_schema(forms, self.reading, {}), source.rows or 0)
        sums, profiles, given_up = {}, {}, set(self._given_up)
        for layer, schema in schemas.items():
            sums[layer] = reduce(add, (w.sums[layer] for w in workers))
            if layer in self._sums:
                held = self._sums[layer].with_schema(schema)
                for name, form in closed.items() if layer == "nominal" else ():
                    held.columns[name] = self._sums[form if form in self._sums else layer].columns[name]
                sums[layer] = held + sums[layer]
        for name in open:
            profiles[name] = reduce(add, (w.profiles[name] for w in workers), self._profiles.get(name, Profile()))
            levels = sums["nominal"].columns.get(name)
            if isinstance(levels, Counts) and len(levels.labels) > MANY_LEVELS:
                given_up.add(name)  # whatever it is, it is no nominal column
        self._forms, self._open, self._given_up = forms, open, given_up
        self._sums, self._profiles = sums, profiles

    def _merged(self, source: Source) -> tuple[_Forms, list[str], dict[str, str]]:
        """The columns of this piece and of those before; those whose kind is open; and those that no longer are, as all
        cells before were missing and this piece has something else than texts."""
        if self._forms is None:
            fixed = {*(self.reading.types or {}), self.reading.target, self.reading.weight}
            forms = {n: column_form(source.schema.field(n).type) for n in source.schema.names}
            return _Forms(source.schema), [n for n, f in forms.items() if f in ("text", "empty") and n not in fixed], {}
        schema, closed = self._forms.schema, {}
        for k, name in enumerate(schema.names):
            if name not in source.schema.names:
                raise ColumnError(f"This piece has no column {shown(name)}, which those before had.")
            before, now = column_form(schema.field(k).type), column_form(source.schema.field(name).type)
            if now in (before, "empty"):
                continue
            if before != "empty":
                raise ColumnError(
                    f"Column {shown(name)} was {before} in the pieces before and is {now} in this one. "
                    "Give all pieces the same types."
                )
            schema = schema.set(k, source.schema.field(name))
            if now != "text" and name in self._open:
                closed[name] = now
        weight = self.reading.weight
        if weight is not None and weight not in schema.names:  # rows before weighed one each
            schema = schema.append(source.schema.field(weight))
        return _Forms(schema), [name for name in self._open if name not in closed], closed

    def _schemas(self, forms: _Forms, open: list[str]) -> dict[str, Schema]:
        """For each layer, how its columns are read."""
        schema = draft_schema(forms, replace(self.reading, tokens=None), {}).schema
        columns = [self._read_as(c.name, "nominal") if c.name in open else c for c in schema.columns]
        others = [c for c in columns if c.role in ("target", "weight")]
        layers = {"nominal": schema.with_columns(columns)}
        for layer in LAYERS[1:] if open else ():
            layers[layer] = schema.with_columns([*(self._read_as(name, layer) for name in open), *others])
        return layers

    def _read_as(self, name: str, layer: str) -> Column:
        """An open column as one layer reads it."""
        if layer == "text":
            said = self.reading.tokens
            tokens = said if isinstance(said, Tokens) else (said or {}).get(name, Tokens())
            return Column(name, "text", "attribute", "text", tokens=tokens)
        if layer == "nominal":
            return Column(name, "nominal", "left out" if name in self._given_up else "attribute", "text")
        return Column(name, layer, "attribute", layer)  # type: ignore[arg-type]

    def summary(self) -> Summary:
        """The sums of all rows, under the schema that they all together call for."""
        assert self._forms is not None, "nothing has arrived yet"
        texts = {n: p for n, p in self._profiles.items() if column_form(self._forms.schema.field(n).type) == "text"}
        first = draft_schema(self._forms, self.reading, texts)
        base = self._sums["nominal"]
        whole = Summary(first.schema)
        whole.labels, whole.total, whole.rows, whole.left_out = base.labels, base.total, base.rows, base.left_out
        for column in first.schema.attributes:
            layer = column.kind if column.name in self._open else "nominal"
            whole.columns[column.name] = self._sums[layer].columns[column.name]
        summary, _ = finalize_schema(first, whole.canonical())
        return check_rows(summary, self._forms)

    def read_as(self, reading: Reading) -> IncrementalSummary:
        """The same sums, to be read on otherwise (rows may have weights from now on); taking in leaves these alone."""
        out = IncrementalSummary(reading)
        out._forms, out._open, out._given_up = self._forms, self._open, self._given_up
        out._sums, out._profiles = self._sums, self._profiles
        return out

    def to_bytes(self) -> bytes:
        """All of it but the reading, as plain bytes."""
        assert self._forms is not None, "nothing has arrived yet"
        tree = {
            "forms": np.frombuffer(pack_schema(self._forms.schema), np.uint8),
            "open": self._open,
            "given_up": sorted(self._given_up),
            "profiles": [self._profiles[name].state() for name in self._open],
            "sums": {layer: summary.state() for layer, summary in self._sums.items()},
        }
        return state.dump(tree)

    @classmethod
    def from_bytes(cls, data: bytes, reading: Reading) -> IncrementalSummary:
        """The sums that `to_bytes` wrote, read on as `reading` says."""
        tree, out = state.parse(data, "the sums"), cls(reading)
        out._forms = _Forms(unpack_schema(tree["forms"].tobytes()))
        out._open, out._given_up = list(tree["open"]), set(tree["given_up"])
        out._profiles = dict(zip(out._open, map(Profile.from_state, tree["profiles"]), strict=True))
        out._sums = {layer: Summary.from_state(tree["sums"][layer]) for layer in LAYERS if layer in tree["sums"]}
        return out
