"""A table that arrives in pieces: sums under every reading of it that is still open, so that the last word on its
columns can be said of all pieces together. Knows no learner; keeps no rows.

Texts may turn out to be levels, numbers (with a unit or without), dates or free text; numbers may turn out to be
levels. Each is summed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import ColumnError, shown
from likely.intake.engine import sweep_sum
from likely.intake.observe import Observation, ObservationPlan, assemble_summary
from likely.intake.reading import Reading
from likely.intake.schema import check_rows, check_strays, draft_schema, finalize_schema, plan_observation
from likely.sums import state
from likely.sums.summary import Summary
from likely.table.arrow import pack_schema, unpack_schema
from likely.table.schema import Column, Schema
from likely.table.source import Source
from likely.table.texts.numbers import ANY_UNIT, column_form
from likely.table.words import Tokens
from likely.table.wrappers import DeferredSource

if TYPE_CHECKING:
    from likely.table.arrow import ArrowBatch

LAYERS = ("nominal", "number", "date", "text", "amount")
"""What an open column of texts may turn out to be. The first layer also sums every other column."""


class _Layers:
    """One thread's share of a piece: an observation for each layer."""

    def __init__(self, layers: dict[str, Observation]) -> None:
        self.layers = layers

    def take(self, batch: ArrowBatch, start: int) -> None:
        for observation in self.layers.values():
            observation.update(batch, start)

    def __add__(self, other: _Layers) -> _Layers:
        return _Layers({layer: seen + other.layers[layer] for layer, seen in self.layers.items()})


class IncrementalSummary:
    """The sums of all pieces so far. `summary()` is what one sweep over all their rows would have given, bit for bit.

    >>> pieces = IncrementalSummary(Reading(target="play", types={"play": "nominal"}))
    >>> from likely.table.open import open_source
    >>> pieces.update(open_source({"sky": ["sun"], "play": ["yes"]}))
    >>> pieces.update(open_source({"sky": ["rain", "sun"], "play": ["no", "yes"]}))
    >>> pieces.summary().schema["sky"].kind
    'nominal'
    """

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._title: DeferredSource | None = None
        """The columns that all pieces have, with the types by which they can be told apart."""
        self._open: list[str] = []
        """Columns of texts, or without any value so far, whose kind nobody has said."""
        self._layers: dict[str, Observation] = {}

    def update(self, source: Source) -> None:
        """Take in the rows of one piece; one that is refused leaves nothing behind."""
        title, still_open, closed = self._merged(source)
        draft = draft_schema(title, replace(self.reading, tokens=None), Observation(ObservationPlan()))
        plans = {
            layer: ObservationPlan.under(schema) for layer, schema in self._schemas(draft.schema, still_open).items()
        }
        plans["nominal"] = replace(plans["nominal"], profiled=tuple(still_open))
        piece = sweep_sum(
            source.batches(plans["nominal"].columns),
            lambda: _Layers({layer: Observation(plan) for layer, plan in plans.items()}),
            self.reading.threads,
        ).layers
        check_strays(draft, piece["nominal"].strays, source.rows or 0)
        if self._layers:
            piece = {layer: self._carried(layer, plan, closed) + piece[layer] for layer, plan in plans.items()}
        self._title, self._open, self._layers = title, still_open, piece

    def _merged(self, source: Source) -> tuple[DeferredSource, list[str], dict[str, str]]:
        """The columns of this piece and of those before; those whose kind is open; and those that no longer are, as all
        cells before were missing and this piece has something else than texts."""
        if self._title is None:
            plan_observation(source, self.reading)  # refuses names that are not there
            fixed = {*(self.reading.types or {}), self.reading.target, self.reading.weight}
            forms = {n: column_form(source.schema.field(n).type) for n in source.schema.names}
            still_open = [n for n, f in forms.items() if f in ("text", "empty") and n not in fixed]
            return DeferredSource("the table", source.schema), still_open, {}
        schema, closed = self._title.schema, {}
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
        return DeferredSource("the table", schema), [name for name in self._open if name not in closed], closed

    def _schemas(self, schema: Schema, still_open: list[str]) -> dict[str, Schema]:
        """For each layer, how its columns are read."""
        columns = [self._read_as(c.name, "nominal") if c.name in still_open else c for c in schema.columns]
        others = [c for c in columns if c.role in ("target", "weight")]
        layers = {"nominal": schema.with_columns(columns)}
        for layer in LAYERS[1:] if still_open else ():
            layers[layer] = schema.with_columns([*(self._read_as(name, layer) for name in still_open), *others])
        return layers

    def _read_as(self, name: str, layer: str) -> Column:
        """An open column as one layer reads it."""
        if layer == "text":
            given = self.reading.tokens
            tokens = given if isinstance(given, Tokens) else (given or {}).get(name, Tokens())
            return Column(name, "text", "attribute", "text", tokens=tokens)
        if layer == "amount":  # numbers with a unit, of which the profile says whether all share it
            return Column(name, "number", "attribute", "number", unit=ANY_UNIT)
        reading = "text" if layer == "nominal" else layer
        return Column(name, layer, "attribute", reading)  # type: ignore[arg-type]

    def _carried(self, layer: str, plan: ObservationPlan, closed: dict[str, str]) -> Observation:
        """What is known of the pieces before, as a layer of all pieces reads them."""
        before = self._layers[layer]
        out = Observation(plan, before.given_up)
        assert before.summary is not None and out.plan.schema is not None
        out.profiles = {name: before.profiles[name] for name in out.profiles}
        out.summary = before.summary.with_schema(out.plan.schema)
        for name, form in closed.items() if layer == "nominal" else ():
            known = self._layers[form if form in self._layers else layer].summary
            assert known is not None
            out.summary.columns[name] = known.columns[name]
        return out

    def summary(self) -> Summary:
        """The sums of all rows, under the schema that they all together call for."""
        assert self._title is not None, "nothing has arrived yet"
        draft = draft_schema(self._title, self.reading, self._layers["nominal"])
        sums = {layer: seen.summary for layer, seen in self._layers.items() if seen.summary is not None}
        layers = {c.name: c.kind if c.unit is None else "amount" for c in draft.schema.attributes}
        own = {name: sums[layer if name in self._open else "nominal"] for name, layer in layers.items()}
        whole = assemble_summary(draft.schema, sums["nominal"], own)
        return check_rows(finalize_schema(draft, whole.canonical()), self._title)

    def with_reading(self, reading: Reading) -> IncrementalSummary:
        """The same sums, to be read on otherwise (rows may have weights from now on); taking in leaves these alone."""
        out = IncrementalSummary(reading)
        out._title, out._open, out._layers = self._title, self._open, self._layers
        return out

    def to_bytes(self) -> bytes:
        """All of it but the reading, as plain bytes."""
        assert self._title is not None, "nothing has arrived yet"
        tree = {
            "title": np.frombuffer(pack_schema(self._title.schema), np.uint8),
            "open": self._open,
            "layers": {layer: seen.state() for layer, seen in self._layers.items()},
        }
        return state.dump(tree)

    @classmethod
    def from_bytes(cls, data: bytes, reading: Reading) -> IncrementalSummary:
        """The sums that `to_bytes` wrote, read on as `reading` says."""
        tree, out = state.parse(data, "the sums"), cls(reading)
        out._title = DeferredSource("the table", unpack_schema(tree["title"].tobytes()))
        out._open = list(tree["open"])
        out._layers = {n: Observation.from_state(tree["layers"][n]) for n in LAYERS if n in tree["layers"]}
        return out
