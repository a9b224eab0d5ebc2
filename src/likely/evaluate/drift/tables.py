"""Two tables, models or specs beside each other: what changed from the one to the other."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

from likely.apply.fitting import load_any, summarize
from likely.apply.spec import differences, parse_spec, spec_of
from likely.errors import ColumnError, InputError, SettingError, nearest, shown
from likely.evaluate.drift.changes import CHANCE, Amount, Changes, amounts, changes
from likely.intake.options import FILE, WORKING, options_about
from likely.intake.reading import Reading, ReadingOptions, open_table
from likely.machinery.presented import Presented
from likely.machinery.text_files import read_toml_text
from likely.models.contracts import Model
from likely.sums import state
from likely.sums.summary import Summary
from likely.table.schema import Column, Schema
from likely.table.source import Source

# Two tables beside each other, or a model and a table: what changed from the rows of the one to those of the other.


@dataclass(frozen=True)
class Retyped:
    """A column whose cells are of another kind than before."""

    name: str
    before: str
    after: str
    why: str
    """What its cells look like now."""


@dataclass(frozen=True, repr=False)
class Drift(Presented):
    """Everything `likely diff` says of two tables. Holds no rows."""

    one: str
    two: str
    target: str | None
    changes: Changes
    amounts: tuple[Amount, ...]
    """How much each attribute changed, in the order of the changes."""
    retyped: tuple[Retyped, ...]
    only_one: tuple[str, ...]
    """Columns that the second does not have."""
    only_two: tuple[str, ...]
    """Columns that the first does not have."""
    remarks: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything changed that chance does not explain."""
        found, chance = self.changes, self.changes.chance
        columns = self.only_one or self.only_two or self.retyped
        shares = found.p_classes < chance or any(a.p_missing < chance for a in self.amounts)
        return bool(found.significant or columns or shares)

    def json(self) -> bytes:
        """The whole record as JSON."""
        return state.as_json({"changed": self.changed, **state.plain(self)})


def drift(
    one: object, two: object, target: str | None = None, *, chance: float = CHANCE, **reading: Unpack[ReadingOptions]
) -> Drift:
    """What changed from one table to another; either may be the file of a model (.likely) or a summary.

    Both are read alike, as the first one asks for. `reading` takes what `summarize` takes.

    >>> jan = {"sky": ["sun", "rain"] * 60, "t": [float(k % 30) for k in range(120)], "play": ["y", "n"] * 60}
    >>> feb = {"sky": ["sun", "fog"] * 60, "t": [float(k % 30) for k in range(120)], "play": ["y", "n"] * 60}
    >>> found = drift(jan, feb, "play")
    >>> [(c.name, c.new_levels, round(a.bits, 1)) for c, a in zip(found.changes.significant, found.amounts)]
    [('sky', ('fog',), 0.5)]
    """
    sides = [_Side(data, {"progress": None, "threads": None, **reading}) for data in (one, two)]
    if target is not None and any(side.held is not None for side in sides):
        raise SettingError("A model has its target already. Leave --target out, or compare two tables.")
    second = sides[1].held
    if second is not None and sides[0].held is None:
        first = sides[0].like(second.schema)
    else:
        first = sides[0].inferred(target)
    schema = first.schema
    own = sides[1].alone().schema if second is None else second.schema
    wanted = schema.target
    remarks = []
    if wanted is not None and wanted.name not in own.names:
        if second is not None:
            raise SettingError("The two have different targets. Only tables with the same target can be compared.")
        remarks.append(
            f"{sides[1].name} has no column {shown(wanted.name)}. {nearest(wanted.name, own.names)} The classes, and "
            "the attributes given the class, are not compared."
        )
        first = _without_target(first)
        schema, wanted = first.schema, None
    alike, retyped = _read_alike(schema, own, reading.get("types") or {}, reread=sides[0].held is None)
    if sides[0].held is None and any(c != schema[c.name] for c in alike if c.name in schema.names):
        first = sides[0].like(schema.with_columns(alike))
    if second is None:
        second = sides[1].like(schema.with_columns(alike))
    found = changes(first, second, chance=chance)
    found = replace(found, only_before=(), only_after=(), read_differently=(), contained=False)
    return Drift(
        sides[0].name,
        sides[1].name,
        None if wanted is None else wanted.name,
        found,
        amounts(first, second, found.attributes),
        retyped,
        tuple(n for n in first.schema.names if n not in own.names),
        tuple(n for n in own.names if n not in first.schema.names and n != (target or "")),
        tuple(remarks),
    )


class _Side:
    """One of the two: a table that can be read again, or sums that cannot."""

    def __init__(self, data: object, reading: dict[str, Any]) -> None:
        self.reading, self.held = reading, None
        if isinstance(data, (Model, Summary)):
            self.held, self.name = data.summary if isinstance(data, Model) else data, "the model"
        elif isinstance(data, (str, os.PathLike)) and os.fspath(data).endswith(".likely"):
            held = load_any(data)
            self.held = held.summary if isinstance(held, Model) else held
            self.name = os.path.basename(os.fspath(data))
        else:
            how = Reading(**{name: reading[name] for name in options_about(FILE) if name in reading})
            self.source: Source = open_table(data, how)
            self.name = self.source.name

    def inferred(self, target: str | None) -> Summary:
        """The sums, read as the table itself suggests, or as was asked for."""
        return summarize(self.source, target, **self._known()) if self.held is None else self.held

    def alone(self) -> Summary:
        """The sums read as if nothing else were known: the target is a column like any other."""
        skipped = ("target_bins", "schema")
        return summarize(self.source, **{k: v for k, v in self._known().items() if k not in skipped})

    def _known(self) -> dict[str, Any]:
        names = self.source.schema.names
        types = {n: kind for n, kind in (self.reading.get("types") or {}).items() if n in names}
        return {**self.reading, "types": types or None}

    def like(self, schema: Schema) -> Summary:
        """The sums of the columns that there are, read as the schema says."""
        names = set(self.source.schema.names)
        kept = [c if c.stored_as in names else replace(c, role="left out") for c in schema.columns]
        for column in schema.columns:
            if column.role in ("target", "weight") and column.name not in names:
                known = nearest(column.name, self.source.schema.names)
                raise ColumnError(f"{self.name} has no column {shown(column.name)}. {known}")
        own = {k: v for k, v in self.reading.items() if k in options_about(FILE, WORKING)}
        return summarize(self.source, schema=schema.with_columns(kept), **own)


def _without_target(summary: Summary) -> Summary:
    """The same sums over all classes."""
    out = summary.regrouped([0] * len(summary.labels), [""])
    out.schema = summary.schema.with_columns(c for c in summary.schema.columns if c.role != "target")
    if not out.rows:
        raise InputError("The first has no rows, so there is nothing to compare.")
    return out


def _read_alike(
    schema: Schema, own: Schema, types: Mapping[str, str], reread: bool
) -> tuple[list[Column], tuple[Retyped, ...]]:
    """How both are read: the columns of the first schema, some of them otherwise, and those that cannot be compared.

    What is constant in one of the two is read as the other has it, so that a change from or to it is seen.
    """
    out, retyped = [], []
    for column in schema.columns:
        if column.role in ("target", "weight") or column.name not in own.names:
            out.append(column)
            continue
        other = own[column.name]
        chosen = _read_as(column, other, reread)
        said = column.name in types or column.asked
        words_no_more = (column.kind, column.reading, other.kind) == ("nominal", "text", "number") and not said
        if (chosen is None or words_no_more) and _kind(column) != _kind(other):
            retyped.append(Retyped(column.name, _kind(column), _kind(other), other.why))
        out.append(replace(column, role="left out") if chosen is None else chosen)
    return out, tuple(retyped)


def _kind(column: Column) -> str:
    of_numbers = column.kind == "nominal" and column.reading == "number"
    return "nominal of numbers" if of_numbers else column.kind


def _read_as(one: Column, two: Column, reread: bool) -> Column | None:
    """How both can be read; None where they cannot be compared."""
    used = ("nominal", "number", "date", "text")
    if one.kind == "constant" and two.kind == "constant":
        plain = reread and not one.is_empty and not two.is_empty
        return replace(one, kind="nominal", role="attribute", reading="text") if plain else one
    if one.kind == "constant":
        fits = two.kind == "nominal" or one.reading == two.reading or one.is_empty
        return two if reread and two.kind in used and fits else None
    if one.kind not in used:
        return one if one.kind == two.kind else None
    if one.kind == two.kind and one.reading == two.reading:
        return one
    if two.kind == "constant":
        fits = one.kind in ("nominal", "text") or one.reading == two.reading or two.is_empty
        return one if fits else None
    if one.kind == "nominal" and one.reading == "text" and two.kind in ("nominal", "number"):
        return one
    if one.kind == two.kind == "nominal" and two.reading == "text" and reread:
        return two
    numbers = one.reading == two.reading == "number" and two.kind in ("nominal", "number")
    return one if numbers else None


# Two files of models or specs beside each other: what they assume differently, and what changed in their rows.


@dataclass(frozen=True)
class Difference:
    """What `likely diff` found."""

    assumptions: tuple[tuple[str, str, str], ...] | None
    """A name and what each of the two says of it; None where one is a summary, which assumes nothing."""
    changes: Changes | None
    """None where one of the two has learned no rows, or both have learned the same."""
    same_sums: bool

    def json(self) -> bytes:
        """The whole record as JSON."""
        rows = [{"of": k, "one": a, "two": b} for k, a, b in self.assumptions or ()]
        return state.as_json(
            {
                "headline": f"{len(rows)} differences" if rows else "Both make the same assumptions.",
                "tables": [{"title": "Assumptions", "rows": rows}] if rows else [],
                "same_sums": self.same_sums,
                "changes": None if self.changes is None else state.plain(self.changes),
            }
        )


def compare_files(one: str, two: str, *, grown: bool = False, chance: float = CHANCE) -> Difference:
    """Two files, each a spec (.toml) or a model (.likely)."""
    held: list[Any] = [load_any(path) if path.endswith(".likely") else None for path in (one, two)]
    specs = [
        parse_spec(read_toml_text(path), path) if h is None else spec_of(h) if isinstance(h, Model) else None
        for path, h in zip((one, two), held, strict=True)
    ]
    assumptions = None if specs[0] is None or specs[1] is None else tuple(differences(specs[0], specs[1]))
    if held[0] is None or held[1] is None:
        return Difference(assumptions, None, False)
    sums: list[Summary] = [h.summary if isinstance(h, Model) else h for h in held]
    if not grown and sums[0].schema == sums[1].schema and sums[0] == sums[1]:
        return Difference(assumptions, None, True)
    if not sums[0].rows or not sums[1].rows:  # a model of knowledge alone
        return Difference(assumptions, None, False)
    return Difference(assumptions, changes(sums[0], sums[1], grown=grown, chance=chance), False)
