"""From a table to a summary and a model: open, infer the schema, sweep, settle, learn. Knows no learner's insides."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from likely.engines.local import sweep
from likely.errors import ColumnError, EncodingError, FileFormatError, InputError, SettingError, nearest, shown
from likely.models.model import Learner, Model
from likely.models.naive import NaiveBayes
from likely.sums import state
from likely.sums.numbers import Numbers
from likely.sums.profile import Profile
from likely.sums.summary import Summary
from likely.table.encode import Encoder, column_form, numbers, token_hashes
from likely.table.infer import MANY_CLASSES, NUMERIC_CLASSES, of_text, settled
from likely.table.schema import MISSING, Column, Schema
from likely.table.source import Source, open_source

LEARNERS: dict[str, type[Any]] = {"NaiveBayes": NaiveBayes}
"""Learners by the name that a file gives them."""

TYPES = ("nominal", "number", "text", "date", "ignore")
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Reading:
    """How a table is to be read: what the user said about it."""

    target: str | None = None
    types: Mapping[str, str] | None = None
    missing: Sequence[str] | None = None
    weight: str | None = None
    target_bins: int | Sequence[float] | None = None
    schema: Schema | None = None
    encoding: str | None = None
    delimiter: str | None = None
    threads: int | None = None
    progress: Progress | None = None


# -- the schema ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Draft:
    """A schema before the last word on its numbers, and the columns on which it is still to be said."""

    schema: Schema
    open: frozenset[str]


def opened(data: object, reading: Reading) -> Source:
    """The source of the data, in the encoding asked for."""
    return open_source(data, encoding=reading.encoding, delimiter=reading.delimiter)


def draft(source: Source, reading: Reading) -> Draft:
    """The schema of a source: given, or inferred by a sweep over its text columns."""
    names = source.schema.names
    if reading.schema is not None:
        return Draft(_given(source, reading.schema), frozenset())
    for name in [*(reading.types or {}), *(n for n in (reading.target, reading.weight) if n)]:
        if name not in names:
            raise ColumnError(f"{source.name} has no column {shown(name)}. {nearest(name, names)}")
    for name, kind in (reading.types or {}).items():
        if kind not in TYPES:
            raise SettingError(f"Column {shown(name)} cannot be read as {shown(kind)}. Say one of {', '.join(TYPES)}.")
    if reading.target is not None and reading.target == reading.weight:
        raise SettingError(f"Column {shown(reading.target)} cannot be both the target and the weight.")
    tokens = MISSING if reading.missing is None else tuple(dict.fromkeys(["", *(t.strip() for t in reading.missing)]))
    profiles = _profiles(source, reading, tokens)
    columns, still_open = [], set()
    for name in names:
        if name == reading.target:
            columns.append(_target(source, reading, profiles.get(name), tokens))
        elif name == reading.weight:
            columns.append(Column(name, "number", "weight", "number", why="the weight of a row"))
        else:
            column, fixed = _attribute(source, reading, name, profiles.get(name))
            columns.append(column)
            if not fixed and column.kind in ("number", "date"):
                still_open.add(name)
    return Draft(Schema(tuple(columns), tokens), frozenset(still_open))


def _given(source: Source, schema: Schema) -> Schema:
    for column in schema.used:
        if column.name not in source.schema.names:
            raise ColumnError(
                f"{source.name} has no column {shown(column.name)}, which the schema uses. "
                f"{nearest(column.name, source.schema.names)}"
            )
    return schema


class _Profiler:
    def __init__(self, names: list[str], tokens: tuple[str, ...]) -> None:
        self.profiles = {name: Profile() for name in names}
        self._tokens = token_hashes(tokens)

    def take(self, batch: Any, start: int) -> None:
        for name, array in zip(batch.schema.names, batch.columns, strict=True):
            self.profiles[name].update(array, self._tokens)


def _profiles(source: Source, reading: Reading, tokens: tuple[str, ...]) -> dict[str, Profile]:
    """Profiles of the text columns whose kind nobody has said."""
    said = {*(reading.types or {}), *(n for n, d in source.declared.items() if d.kind != "text"), reading.weight}
    names = [n for n in source.schema.names if n not in said and column_form(source.schema.field(n).type) == "text"]
    if reading.target in source.schema.names and reading.target not in names:
        form = column_form(source.schema.field(reading.target).type)
        names += [reading.target] if form == "text" and not _is_said(reading, reading.target) else []
    if not names:
        return {}
    workers = sweep(
        source.batches(names), lambda: _Profiler(names, tokens), reading.threads, progress=reading.progress
    )
    return {n: reduce(add, (w.profiles[n] for w in workers)) for n in names}


def _is_said(reading: Reading, name: str) -> bool:
    return name in (reading.types or {})


def _attribute(source: Source, reading: Reading, name: str, profile: Profile | None) -> tuple[Column, bool]:
    """How an attribute is read, and whether that is the last word."""
    said = (reading.types or {}).get(name)
    form = column_form(source.schema.field(name).type)
    declared = source.declared.get(name)
    if said is not None:
        return _as_said(name, said, form, "attribute"), True
    if declared is not None and declared.kind != "text":
        reading_of = "text" if declared.kind == "nominal" else declared.kind
        return Column(name, declared.kind, "attribute", reading_of, declared.levels, why="the file says so"), (
            declared.kind == "nominal"
        )
    if profile is not None:
        return of_text(name, profile.read()), False
    if form in ("number", "date"):
        return Column(name, form, "attribute", form, why=f"the table keeps {form}s here"), False  # type: ignore[arg-type]
    if form == "boolean":
        return Column(name, "nominal", "attribute", "boolean", why="true or false"), True
    why = "every cell is missing" if form == "empty" else "cells of this type cannot be used"
    return Column(name, "constant" if form == "empty" else "ignored", "left out", why=why), True


def _as_said(name: str, said: str, form: str, role: str) -> Column:
    why = "as asked"
    if said == "ignore":
        return Column(name, "ignored", "left out", why=why)
    if said == "text":
        return Column(name, "text", "left out", why=why)
    reading = said
    if said == "nominal":
        reading = "text" if form in ("text", "boolean", "empty") else "number"
    return Column(name, said, role, reading, why=why)  # type: ignore[arg-type]


def _target(source: Source, reading: Reading, profile: Profile | None, tokens: tuple[str, ...]) -> Column:
    name = reading.target
    assert name is not None
    form = column_form(source.schema.field(name).type)
    said = (reading.types or {}).get(name)
    if said is not None and said not in ("nominal", "number"):
        raise ColumnError(f"The target {shown(name)} cannot be read as {said}. It must be nominal, or a number in bins.")
    declared = source.declared.get(name)
    if reading.target_bins is not None:
        return _binned(source, reading, name, tokens)
    if form in ("other", "date"):
        raise ColumnError(f"The target {shown(name)} holds {form if form == 'date' else 'nested '}cells. Choose another target.")
    if form == "boolean":
        return Column(name, "nominal", "target", "boolean", why="true or false")
    if declared is not None and declared.kind == "nominal":
        return Column(name, "nominal", "target", "text", declared.levels, why="the file says so")
    if said == "nominal" or form == "empty":
        return _as_said(name, "nominal", form, "target")
    column = Column(name, "number", "target", "number") if profile is None else of_text(name, profile.read(), target=True)
    if column.kind == "date":
        column = replace(column, kind="nominal", reading="text")
    if column.kind == "number":
        values, _ = _tally(source, reading, name, tokens).tally()
        if len(values) > NUMERIC_CLASSES:
            raise ColumnError(
                f"The target {shown(name)} is a number with many values (more than {NUMERIC_CLASSES}). "
                "Cut it into bins, e.g. --target-bins 4, or say --type "
                f"{name}=nominal if each value is a class of its own."
            )
        return replace(column, kind="nominal", reading="number", why=f"numbers with {len(values)} values")
    if profile is not None and profile.distinct() > MANY_CLASSES:
        raise ColumnError(
            f"The target {shown(name)} has {profile.distinct():,} different values, too many for classes "
            f"(at most {MANY_CLASSES:,}). Is it an identifier? Choose another column."
        )
    return column


class _Tallier:
    def __init__(self, name: str, tokens: tuple[str, ...]) -> None:
        self.numbers = Numbers(1)
        self._name, self._tokens = name, token_hashes(tokens)

    def take(self, batch: Any, start: int) -> None:
        values, _ = numbers(batch.column(0), self._tokens)
        self.numbers.update(values, np.zeros(len(values), np.int32))


def _tally(source: Source, reading: Reading, name: str, tokens: tuple[str, ...]) -> Numbers:
    workers = sweep(source.batches([name]), lambda: _Tallier(name, tokens), reading.threads)
    return reduce(add, (w.numbers for w in workers))


def _binned(source: Source, reading: Reading, name: str, tokens: tuple[str, ...]) -> Column:
    bins = reading.target_bins
    if isinstance(bins, int):
        if bins < 2:
            raise SettingError(f"target_bins is {bins}. A target needs at least 2 bins.")
        values, table = _tally(source, reading, name, tokens).tally()
        if len(values) < 2:
            raise ColumnError(f"The target {shown(name)} cannot be cut into bins: it has {len(values)} different numbers.")
        below = np.cumsum(table.sum(1).floats())
        wanted = below[-1] * np.arange(1, bins) / bins
        places = np.clip(np.searchsorted(below, wanted), 0, len(values) - 2)
        edges = tuple(float(v) for v in np.unique(values[places + 1]))
        why = f"numbers in {len(edges) + 1} bins of about equal weight"
    else:
        edges = tuple(float(e) for e in bins or ())
        if not edges or sorted(set(edges)) != list(edges) or not np.isfinite(edges).all():
            raise SettingError("The edges of the target's bins must be finite numbers that increase, e.g. 10,20,30.")
        why = "numbers in the given bins"
    return Column(name, "nominal", "target", "number", edges=edges, why=why)


# -- the sweep ----------------------------------------------------------------------------------------------


class _Summarizer:
    def __init__(self, schema: Schema) -> None:
        self.encoder = Encoder(schema)
        self.summary = Summary(schema)

    def take(self, batch: Any, start: int) -> None:
        self.summary.update(self.encoder.encode(batch, start))


def with_encoding(data: object, reading: Reading, work: Callable[[Source, Reading], Any]) -> Any:
    """Do `work`; where the text proves not to be UTF-8 after all, once more as latin-1."""
    source = opened(data, reading)
    try:
        return work(source, reading)
    except EncodingError:
        if reading.encoding is not None:
            raise
        again = replace(reading, encoding="latin-1")
        return work(opened(data, again), again)


def summarize(
    data: object,
    target: str | None = None,
    *,
    types: Mapping[str, str] | None = None,
    missing: Sequence[str] | None = None,
    weight: str | None = None,
    target_bins: int | Sequence[float] | None = None,
    schema: Schema | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Summary:
    """One sweep over a table: everything that any learner needs.

    `data` is a path, a glob, a folder, "-", a dict, a list of dicts, or any DataFrame.

    >>> s = summarize({"sky": ["sun", "rain", "sun"], "play": ["yes", "no", "yes"]}, target="play")
    >>> s.classes, s.rows
    (('no', 'yes'), 3)
    """
    reading = Reading(
        target, types, missing, weight, target_bins, schema, encoding, delimiter, threads, progress
    )
    return with_encoding(data, reading, _summarized)  # type: ignore[no-any-return]


def _summarized(source: Source, reading: Reading) -> Summary:
    first = draft(source, reading)
    columns = [c.name for c in first.schema.used]
    workers = sweep(
        source.batches(columns), lambda: _Summarizer(first.schema), reading.threads, progress=reading.progress
    )
    check_strays([w.encoder for w in workers], first, sum(w.summary.rows + w.summary.left_out for w in workers))
    (summary,) = settle(first, [reduce(add, (w.summary for w in workers))])
    return check_rows(summary, source)


def check_strays(encoders: Sequence[Encoder], first: Draft, rows: int) -> None:
    """Refuse a column that a given schema calls a number when many of its cells are not."""
    for column in first.schema.used:
        strays = sum(e.strays.get(column.name, 0) for e in encoders)
        if strays > 0.2 * rows and column.name not in first.open:
            raise InputError(
                f"{strays:,} of {rows:,} cells of column {shown(column.name)} are not {column.reading}s, as the schema "
                f"or --type says they should be. Say how to read it, e.g. --type {column.name}=nominal."
            )


def check_rows(summary: Summary, source: Source) -> Summary:
    """Refuse a table from which nothing can be learned."""
    target = summary.schema.target
    if summary.rows == 0:
        if summary.left_out == 0:
            raise InputError(f"{source.name} has no rows. Give a table with at least one row below its header.")
        what = f"a class in column {shown(target.name)}" if target is not None else "a weight above zero"
        raise InputError(f"None of the {summary.left_out:,} rows of {source.name} has {what}. Check the table.")
    return summary


def settle(first: Draft, summaries: Sequence[Summary]) -> list[Summary]:
    """The last word on columns of numbers, said once for all parts of a table from their sum."""
    if not first.open:
        return [s.canonical() for s in summaries]
    columns = []
    for column in first.schema.columns:
        if column.name in first.open:
            tallied = reduce(add, (_grouped(s.columns[column.name]) for s in summaries))
            values, table = tallied.tally()
            column = settled(column, values, table.sum(1).floats(), tallied.level == 0)
        columns.append(column)
    schema = first.schema.with_columns(columns)
    return [s.with_schema(schema).canonical() for s in summaries]


def _grouped(statistic: Any) -> Numbers:
    """All classes as one group."""
    assert isinstance(statistic, Numbers)
    return statistic.regrouped(np.zeros(statistic.groups, np.intp), 1)


# -- the model ----------------------------------------------------------------------------------------------


def fit(data: object, target: str, learner: Learner | None = None, **reading: Any) -> Model:
    """Sweep and learn in one call; `reading` takes what `summarize` takes.

    >>> model = fit({"sky": ["sun", "rain", "sun"], "play": ["yes", "no", "yes"]}, target="play")
    >>> model.predict({"sky": "sun"})
    'yes'
    """
    return (learner or NaiveBayes()).learn(summarize(data, target, **reading))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model file, or a summary that was saved by itself."""
    tree = state.read(path)
    if "summary" not in tree:
        raise FileFormatError(f"{shown(path)} holds neither a model nor a summary.")
    try:
        summary = Summary.from_state(tree["summary"])
        if "learner" not in tree:
            return summary
        name = tree["learner"]["name"]
        if name not in LEARNERS:
            raise FileFormatError(
                f"{shown(path)} was made by the learner {shown(name)}, which this version does not have. Upgrade likely."
            )
        learner: Learner = state.built(LEARNERS[name], tree["learner"]["settings"])
    except (AttributeError, LookupError, TypeError, ValueError):
        raise FileFormatError(f"{shown(path)} holds something that this version cannot read. Make it again.") from None
    return learner.learn(summary)


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file; a summary alone is learned from with the usual settings."""
    held = load(path)
    return held if isinstance(held, Model) else NaiveBayes().learn(held)


def merged(paths: Sequence[str | os.PathLike[str]]) -> Any:
    """Several model files as one, with the settings of the first."""
    held = [load(path) for path in paths]
    whole = reduce(add, (h.summary if isinstance(h, Model) else h for h in held))
    return held[0].learner.learn(whole) if isinstance(held[0], Model) else whole


def unlearned(held: Model | Summary, data: object, **reading: Any) -> Any:
    """A model (or summary) without the rows of a table, or without those of another model's file."""
    summary = held.summary if isinstance(held, Model) else held
    if isinstance(data, (str, os.PathLike)) and os.fspath(data).endswith(".likely"):
        other = load(data)
        less = summary - (other.summary if isinstance(other, Model) else other)
    else:
        less = summary - summarize(data, schema=summary.schema, **reading)
    return held.learner.learn(less) if isinstance(held, Model) else less
