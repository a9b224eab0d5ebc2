"""How a table is to be read: the schema as a first draft, and the last word on it once its numbers are tallied.

Inference is a sweep over the whole table, so it cannot depend on the order of rows. Knows no model and no learner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from likely.errors import ColumnError, InputError, LikelyError, SettingError, nearest, shown
from likely.intake.observe import Observation, ObservationPlan, observe_source
from likely.intake.options import COLUMNS, NAMES, Reading, option_flag, options_about, said_options
from likely.sums.columns.counts import Counts, Profile
from likely.sums.columns.numbers import ColumnStatistic, Numbers
from likely.sums.summary import Summary
from likely.sums.words.counting import Words
from likely.table.infer import (
    IN_PARTS,
    MANY_CLASSES,
    NUMERIC_CLASSES,
    date_parts,
    finalize_number_column,
    infer_text_column,
    parse_kind,
    said_unit,
    type_option,
)
from likely.table.labels import shortest_between
from likely.table.schema import MISSING, Column, Reason, Schema
from likely.table.source import Source
from likely.table.texts.numbers import column_form
from likely.table.words import Tokens

USUAL = "usual"
"""Among the cells that mean "not known": those that do where nobody says anything."""
FIRST_ROWS = 1 << 10
"""Rows by which is guessed how a table is read."""


@dataclass(frozen=True)
class Draft:
    """A schema before the last word on its numbers, and the columns on which it is still to be said."""

    schema: Schema
    open: frozenset[str]
    reading: Reading
    """What was said; some of it is done once all rows are summed."""


def draft_schema(source: Source, reading: Reading, seen: Observation | None = None) -> Draft:
    """The schema of a source: given, or inferred from what was seen of all its rows; without that they are swept.

    A text column that was not profiled is taken to be nominal.
    """
    if reading.schema is not None:
        _check_alone(reading, reading.schema)
        return Draft(_given(source, reading.schema), frozenset(), reading)
    if seen is None:
        seen = observe_source(source, plan_observation(source, reading), reading.threads, reading.progress)
    columns, still_open = [], set()
    for name in source.schema.names:
        if name == reading.target:
            columns.append(_target(source, reading, seen))
        elif name == reading.weight:
            columns.append(Column(name, "number", "weight", "number", reason=Reason("weight")))
        else:
            column, fixed = _attribute(source, reading, name, seen.profiles.get(name))
            columns.append(column)
            if not fixed and column.kind in ("number", "date"):
                still_open.add(name)
            asked = reading.dates == "parts" or (reading.types or {}).get(name) == IN_PARTS
            if column.kind == "date" and (asked or (reading.dates == "auto" and reading.tries_dates)):
                parts = date_parts(name, source.schema.names, not asked)
                columns += parts
                still_open |= {part.name for part in parts if part.kind == "number"}
    return Draft(
        Schema(tuple(_with_tokens(columns, reading.tokens)), missing_tokens(reading)),
        frozenset(still_open),
        reading,
    )


def plan_observation(source: Source, reading: Reading, guess: Schema | None = None) -> ObservationPlan:
    """What must be seen of a source to draft its schema; it is summed under a guess meanwhile."""
    names = source.schema.names
    for name in [*(reading.types or {}), *(n for n in (reading.target, reading.weight) if n is not None)]:
        if name not in names:
            raise ColumnError(f"{source.name} has no column {shown(name)}. {nearest(name, names)}")
    for name, kind in (reading.types or {}).items():
        parse_kind(kind, name, "text")  # what nobody can say is refused before any work is done
    if reading.target is not None and reading.target == reading.weight:
        raise SettingError(f"Column {shown(reading.target)} cannot be both the target and the weight.")
    return ObservationPlan(
        tuple(_text_columns(source, reading)), _tallied_target(source, reading), guess, missing_tokens(reading)
    )


def _text_columns(source: Source, reading: Reading) -> list[str]:
    """The text columns whose kind nobody has said."""
    declared = {n for n, d in source.declared.items() if d.kind != "text"} - {reading.target}
    # A column that is said to be a number is looked at too, as its numbers may have a unit.
    types = (name for name, kind in (reading.types or {}).items() if kind != "number" or name == reading.target)
    said = {*types, *declared, reading.weight}
    return [n for n in source.schema.names if n not in said and column_form(source.schema.field(n).type) == "text"]


def _tallied_target(source: Source, reading: Reading) -> str | None:
    """The target, where its numbers decide how it is read."""
    name, bins = reading.target, reading.target_bins
    if name is None or isinstance(bins, int):
        return name
    form, said, declared = column_form(source.schema.field(name).type), (reading.types or {}).get(name), source.declared
    nominal = said is not None and parse_kind(said, name, form)[0] == "nominal"
    nominal = nominal or (name in declared and declared[name].kind == "nominal")
    return name if form in ("text", "number") and bins is None and not nominal else None


def draft_first_rows(source: Source, reading: Reading, first: Source) -> Draft | None:
    """The draft that the first rows alone call for; None where they cannot say."""
    if isinstance(reading.target_bins, int):
        return None  # bins follow from all rows
    seen = Observation(plan_observation(source, reading))
    try:
        batch = next(first.batches(seen.plan.columns), None) if seen.plan.columns else None
        if batch is not None:
            seen.update(batch.slice(0, FIRST_ROWS))
        return draft_schema(source, reading, seen)
    except LikelyError:
        return None  # what is wrong will be told by the whole table


def guess_schema(source: Source, reading: Reading, first: Source) -> Schema | None:
    """How a source is probably read: as its first rows say, but texts that these would leave out are counted as levels,
    which are given up if they prove too many. None where they cannot say, or where there are no others."""
    few = source.rows is not None and source.rows <= FIRST_ROWS
    draft = None if few else draft_first_rows(source, reading, first)
    if draft is None:
        return None
    texts = _text_columns(source, reading)
    return draft.schema.with_columns(
        Column(c.name, "nominal", "attribute", "text") if c.role == "left out" and c.name in texts else c
        for c in draft.schema.columns
    )


def missing_tokens(reading: Reading) -> tuple[str, ...]:
    """The cells that mean "not known"."""
    if reading.schema is not None:
        return reading.schema.missing
    given = reading.missing
    if given is None:
        return MISSING
    tokens = (part for token in given for part in (MISSING if token.strip() == USUAL else [token.strip()]))
    return tuple(dict.fromkeys(["", *tokens]))


def _with_tokens(columns: Sequence[Column], said: Tokens | Mapping[str, Tokens] | None) -> list[Column]:
    """The columns with what counts as a word of them; refused where a column that is named is no text."""
    by_name = said if isinstance(said, Mapping) else {}
    texts = [c.name for c in columns if c.kind == "text"]
    for name in by_name:
        if name not in texts:
            kind = next((c.kind for c in columns if c.name == name), None)
            rest = nearest(name, [c.name for c in columns]) if kind is None else type_option(name, "text")
            told = "there is no such column." if kind is None else f"the column is {kind}. To read it as text, say"
            raise ColumnError(f"It is said what counts as a word of {shown(name)}, but {told} {rest}")
    if isinstance(said, Tokens):
        by_name = dict.fromkeys(texts, said)
    return [replace(c, tokens=by_name[c.name]) if c.name in by_name else c for c in columns]


def _check_alone(reading: Reading, schema: Schema) -> None:
    """A given schema says everything; what contradicts it is refused rather than passed over."""
    for what, asked, column in (("target", reading.target, schema.target), ("weight", reading.weight, schema.weight)):
        if asked is not None and (column is None or column.name != asked):
            other = f"has the {what} {shown(column.name)}" if column is not None else f"has no {what}"
            raise SettingError(
                f"The given schema {other}, but {shown(asked)} was asked for. Say the same, or leave the schema out."
            )
    for name in said_options(reading, {*options_about(COLUMNS, NAMES)} - {"weight", "schema"}):
        raise SettingError(
            f"The schema already says how every column is read. Leave out either --schema or {option_flag(name)}."
        )


def _given(source: Source, schema: Schema) -> Schema:
    for name in schema.stored:
        if name not in source.schema.names:
            raise ColumnError(
                f"{source.name} has no column {shown(name)}, which the schema uses. "
                f"{nearest(name, source.schema.names)}"
            )
    return schema


def _attribute(source: Source, reading: Reading, name: str, profile: Profile | None) -> tuple[Column, bool]:
    """How an attribute is read, and whether that is the last word."""
    said = (reading.types or {}).get(name)
    form = column_form(source.schema.field(name).type)
    declared = source.declared.get(name)
    if declared is not None and declared.kind == "number":
        form = "number"  # whatever the file keeps it in, its levels are numbers
    if said is not None and not (said == "nominal" and declared is not None and declared.kind == "nominal"):
        column = _as_said(name, said, form, "attribute")
        unit = None if profile is None or column.kind != "number" else profile.read().unit
        return column if unit is None else replace(column, unit=unit), True
    if declared is not None and declared.kind != "text":
        reading_of = "text" if declared.kind == "nominal" else declared.kind
        return Column(name, declared.kind, "attribute", reading_of, declared.levels, reason=Reason("declared")), (
            declared.kind == "nominal"
        )
    if profile is not None:
        return infer_text_column(name, profile.read()), False
    if form == "text":
        return Column(name, "nominal", "attribute", "text"), True
    if form == "number":
        return Column(name, "number", "attribute", "number", reason=Reason("stored numbers")), False
    if form == "date":
        return Column(name, "date", "attribute", "date", reason=Reason("stored dates")), False
    if form == "boolean":
        return Column(name, "nominal", "attribute", "text", reason=Reason("booleans")), True
    if form == "empty":
        return Column(name, "constant", "left out", reason=Reason("empty")), True
    return Column(name, "ignored", "left out", reason=Reason("unusable")), True


def _as_said(name: str, said: str, form: str, role: str) -> Column:
    kind, reading = parse_kind(said, name, form)
    used = kind in ("nominal", "number", "date", "text")
    tokens = Tokens() if kind == "text" else None
    place, unit = role if used else "left out", said_unit(said)
    return Column(name, kind, place, reading, reason=Reason("asked"), tokens=tokens, unit=unit)  # type: ignore[arg-type]


def _target(source: Source, reading: Reading, seen: Observation) -> Column:
    name = reading.target
    assert name is not None
    profile, tally = seen.profiles.get(name), Numbers(1) if seen.tally is None else seen.tally
    form = column_form(source.schema.field(name).type)
    said = (reading.types or {}).get(name)
    kind = None if said is None else parse_kind(said, name, form)[0]
    if kind not in (None, "nominal", "number"):
        raise ColumnError(
            f"The target {shown(name)} cannot be read as {said}. It must be nominal, or a number in bins."
        )
    declared = source.declared.get(name)
    if reading.target_bins is not None:
        unit = None if profile is None else profile.read().unit
        if unit is not None and isinstance(reading.target_bins, int):
            told = f"The target {shown(name)} has numbers in {unit}, of which only given edges make bins"
            raise ColumnError(f"{told}: --target-bins 10,20,30. To predict the number itself: `likely regress`.")
        return replace(_binned(reading.target_bins, name, tally), unit=unit)
    if form in ("other", "date"):
        raise ColumnError(
            f"The target {shown(name)} holds {form if form == 'date' else 'nested '}cells. Choose another target."
        )
    if form == "boolean":
        return Column(name, "nominal", "target", "text", reason=Reason("booleans"))
    if declared is not None and declared.kind == "nominal":
        return Column(name, "nominal", "target", "text", declared.levels, reason=Reason("declared"))
    if kind == "nominal" or form == "empty":
        return _as_said(name, said if said and kind == "nominal" else "nominal", form, "target")
    if form == "text" and profile is None:
        return Column(name, "nominal", "target", "text")
    column = (
        Column(name, "number", "target", "number")
        if profile is None
        else infer_text_column(name, profile.read(), target=True)
    )
    if column.kind == "date":
        column = replace(column, kind="nominal", reading="text")
    if column.kind == "number":
        values, _ = tally.tally()
        if len(values) > NUMERIC_CLASSES:
            raise ColumnError(
                f"The target {shown(name)} is a number with many values (more than {NUMERIC_CLASSES}). "
                "Cut it into bins, e.g. --target-bins 4, or say "
                f"{type_option(name, 'nominal')} if each value is a class of its own. "
                "To predict the number itself: `likely regress`."
            )
        return replace(column, kind="nominal", reading="number", reason=Reason("numeric classes", len(values)))
    if profile is not None and profile.distinct() > MANY_CLASSES:
        raise ColumnError(
            f"The target {shown(name)} has {profile.distinct():,} different values, too many for classes "
            f"(at most {MANY_CLASSES:,}). Is it an identifier? Choose another column."
        )
    return column


def _binned(bins: int | Sequence[float], name: str, tally: Numbers) -> Column:
    if isinstance(bins, int):
        if bins < 2:
            raise SettingError(f"target_bins is {bins}. A target needs at least 2 bins.")
        if bins > MANY_CLASSES:
            raise SettingError(
                f"target_bins is {bins}. Each bin is a class, and there may be {MANY_CLASSES:,} at most."
            )
        values, table = tally.tally()
        if len(values) < 2:
            raise ColumnError(
                f"The target {shown(name)} cannot be cut into bins: it has {len(values)} different numbers. "
                "Leave the bins out, or choose a target of numbers."
            )
        below = np.cumsum(table.sum(1).floats())
        wanted = below[-1] * np.arange(1, bins) / bins
        places = np.clip(np.searchsorted(below, wanted), 0, len(values) - 2)
        edges = tuple(shortest_between(float(values[p]), float(values[p + 1])) for p in np.unique(places))
        reason = Reason("equal bins", len(edges) + 1)
    else:
        edges, reason = given_edges(bins), Reason("given bins")
    return Column(name, "nominal", "target", "number", edges=edges, reason=reason)


def given_edges(bins: Sequence[float]) -> tuple[float, ...]:
    """The edges of a target's bins; refused where they are none."""
    edges = tuple(float(e) for e in bins)
    if not edges or sorted(set(edges)) != list(edges) or not np.isfinite(edges).all():
        raise SettingError("The edges of the target's bins must be finite numbers that increase, e.g. 10,20,30.")
    return edges


# -- the last word ------------------------------------------------------------------------------------------


def check_strays(draft: Draft, strays: Mapping[str, int], rows: int) -> None:
    """Refuse a column that a given schema calls a number when many of its cells are not."""
    for column in draft.schema.used:
        count = strays.get(column.name, 0)
        if count > 0.5 * rows and column.name not in draft.open:
            raise InputError(
                f"{count:,} of {rows:,} cells of column {shown(column.name)} are not {column.reading}s, as the schema "
                f"or --type says they should be. Say how to read it, e.g. {type_option(column.name, 'nominal')}."
            )


def check_rows(summary: Summary, source: Source) -> Summary:
    """Refuse a table from which nothing can be learned."""
    target = summary.schema.target
    if summary.rows == 0:
        if summary.left_out == 0:
            raise InputError(f"{source.name} has no rows. Give a table with at least one row below its header.")
        weight = summary.schema.weight
        wanted = [] if target is None else [f"a class in column {shown(target.name)}"]
        wanted += [] if weight is None else [f"a weight above zero in column {shown(weight.name)}"]
        what = " and ".join(wanted) or "a weight above zero"
        raise InputError(f"None of the {summary.left_out:,} rows of {source.name} has {what}. Check the table.")
    return summary


def _is_constant(counts: Counts) -> bool:
    return bool(np.count_nonzero(counts.table.sum(1).floats()) < 2)


def without_rare(summary: Summary, least: int) -> Summary:
    """The sums in which levels and words that weigh less than `least` rows have no name. Which have one is written into
    the schema, so that rows that are learned later are read alike: sums under one schema stay exact (decision 0109).
    """
    columns = []
    for column in summary.schema.columns:
        reason = replace(column.reason, examples=())  # cells unlike the rest, which may be anything
        kept = frequent_names(summary.columns[column.name], least) if column.name in summary.columns else None
        levels = column.levels if kept is None else tuple(level for level in column.levels if level in kept)
        columns.append(replace(column, kept=kept, levels=levels, reason=reason))
    return summary.with_schema(summary.schema.with_columns(columns)).canonical()


def frequent_names(statistic: ColumnStatistic, least: int) -> tuple[str, ...] | None:
    """The levels or words that weigh at least so many rows; None of a column of numbers."""
    if isinstance(statistic, Counts):
        weight = statistic.table.sum(1).floats()
        return tuple(n for n, w in zip(statistic.labels.names, weight, strict=False) if w >= least)
    if isinstance(statistic, Words):
        held = statistic.tally()
        weight = held.having(statistic.groups).sum(axis=1)
        return tuple(word for word, w in zip(held.vocabulary, weight, strict=True) if word and w >= least)
    return None


def finalize_schema(draft: Draft, total: Summary) -> Summary:
    """The sums under the final schema: the last word on columns of numbers, said from the sums of all rows."""
    columns = []
    for column in draft.schema.columns:
        if column.name in draft.open:
            statistic = total.column(column.name, Numbers)
            column = finalize_number_column(
                column, statistic.values(), statistic.value_weights, not statistic.level, draft.reading.keep_row_numbers
            )
        elif (
            column.part is not None and draft.reading.schema is None and _is_constant(total.column(column.name, Counts))
        ):
            column = replace(column, kind="constant", role="left out", reason=Reason("constant"))
        columns.append(column)
    whole = total.with_schema(draft.schema.with_columns(columns)).canonical()
    least = draft.reading.least_count
    return without_rare(whole, least) if least > 1 else whole
