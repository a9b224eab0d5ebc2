"""`joint`: the joint table of some columns of a table, counted in one sweep, and what is asked of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from math import floor, prod
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from likely.classroom.distribution import names_of as distinct
from likely.classroom.distribution import sorted_levels
from likely.classroom.hypotheses import bayes_error
from likely.classroom.joint import Conditional, Independence, Joint, QueryAnswer
from likely.classroom.pages import read_joint
from likely.classroom.query import Query, ending, parse_event, parse_names, probability_writer, write_number
from likely.classroom.writing import event_text
from likely.errors import ColumnError, InputError, SettingError, nearest, shown
from likely.intake.engine import sweep_sum
from likely.intake.reading import CellOptions, Reading, with_encoding
from likely.intake.schema import check_strays, draft_schema
from likely.machinery.words import clean, finite, number, plural
from likely.models.factors.bins import least_of_bins
from likely.models.fractions import Number, as_float, log, rounded, spell
from likely.models.settings import Closed
from likely.models.shapes import bin_names, bin_of
from likely.present.document import Document, Table, numbers_from
from likely.sums import state
from likely.sums.contracts import weights
from likely.sums.rows.pairs import Cells
from likely.table.batch import Batch, Codes
from likely.table.encode import Encoder
from likely.table.labels import Labels
from likely.table.source import Source

if TYPE_CHECKING:
    from likely.classroom.distribution import Cell
    from likely.models.fractions import Given
    from likely.table.schema import Schema


# `joint`: the joint table of some columns of a file or table, counted in one sweep. Knows sums and probability.


def joint(
    data: object,
    variables: Sequence[str] | None = None,
    *,
    probability: str | None = None,
    edges: Mapping[str, Sequence[float]] | None = None,
    closed: Closed = "left",
    pseudo_count: Given = 0,
    **reading: Unpack[CellOptions],
) -> Joint:
    """The joint distribution of some columns, counted from a file or any table: a sample, with exact fractions.

    Every different cell of a column is a value; a column of numbers named in `edges` is cut there, each edge belonging
    to the bin above it, or below it (`closed="right"`). A row that lacks a value is left out; `left_out` counts them.
    `reading` takes what `summarize` does of missing, weight, encoding, encoding_errors, delimiter, sheet, threads and
    progress.

    A table typed by hand goes the same way. `probability` names the column that holds the probability of each cell
    (exactly, they must sum to 1), and the other columns, or those named, are the variables. A file that ends in .toml
    is a page that holds the table (docs/probability.md). Neither is a sample: it is the whole truth.

    >>> week = {"hours": [38, 40, 60], "sex": ["f", "m", "m"]}
    >>> j = joint(week, ["sex", "hours"], edges={"hours": [40]}, closed="right")
    >>> j.p(hours="above 40"), j.levels["hours"]
    (Fraction(1, 3), ('up to 40', 'above 40'))
    """
    for option in reading:
        if option not in CellOptions.__annotations__:
            raise SettingError(f"joint does not take {shown(option)}. Give edges for numbers; all else are levels.")
    if is_page(data):
        if edges or pseudo_count or probability is not None or reading.get("weight") or reading.get("missing"):
            raise SettingError(f"{shown(data)} is a TOML file, which is complete. Name only variables besides it.")
        whole = read_joint(str(data))
        return whole if not variables else whole.marginal(*variables)
    how = Reading(**reading)
    if probability is not None:
        if edges or pseudo_count or how.weight is not None:
            raise SettingError("A table of probabilities takes no edges, weight or pseudo-count. Leave them out.")
        return with_encoding(data, how, lambda source: _typed(source, variables, probability, how))
    wanted = distinct(variables or ())
    cuts = _cuts(edges or {}, wanted, closed)
    bins = {name: bin_names(np.array((edges or {})[name], np.float64), closed) for name in cuts}

    def work(source: Source) -> Joint:
        return _count_joint(source, wanted, cuts, bins, how, pseudo_count)

    return with_encoding(data, how, work)


def is_page(data: object) -> bool:
    """Whether a table is named that stands in a TOML file."""
    return isinstance(data, (str, PathLike)) and str(data).lower().endswith(".toml")


def _typed(source: Source, variables: Sequence[str] | None, probability: str, how: Reading) -> Joint:
    """A table whose cells have a column of probabilities: each is read as a level, so that 0.1 is one tenth."""
    names = source.schema.names
    if probability not in names:
        raise ColumnError(f"{source.name} has no column {shown(probability)}. {nearest(probability, names)}")
    own = tuple(n for n in names if n != probability)
    for name in variables or ():
        if name not in own:
            raise ColumnError(f"{source.name} has no variable {shown(name)}. {nearest(name, own)}")
    if not own:
        raise ColumnError(f"{source.name} has no column beside {shown(probability)}. Give the values of each cell.")
    counted = _count_joint(source, (*own, probability), {}, {}, how, 0)
    if counted.left_out:
        raise InputError(f"{source.name} has a cell without a value or probability. Fill it in.")
    cells: dict[tuple[Any, ...], Any] = {}
    for (*cell, p), rows in (counted.counts or {}).items():
        if tuple(cell) in cells or rows != 1:
            where = event_text(dict(zip(own, cell, strict=True)))
            raise InputError(f"{source.name} gives the cell {where} more than once. Give it once.")
        cells[tuple(cell)] = p
    whole = Joint(cells, own, levels={n: counted.levels[n] for n in own})
    return whole if not variables else whole.marginal(*variables)


def _cuts(edges: Mapping[str, Sequence[float]], wanted: tuple[str, ...], closed: Closed) -> dict[str, Any]:
    if not wanted:
        raise SettingError("No variable is named. Name at least one column.")
    if closed not in ("left", "right"):
        raise SettingError(f"closed is {shown(closed)}. Say 'left' or 'right'.")
    out = {}
    for name, given in edges.items():
        if name not in wanted:
            raise SettingError(f"Edges are given for {shown(name)}, which is not a variable. {nearest(name, wanted)}")
        try:
            held = np.array([float(e) for e in given])
        except (TypeError, ValueError):
            held = np.array([np.nan])
        if not len(held) or not np.isfinite(held).all() or (np.diff(held) <= 0).any():
            raise SettingError(f"The edges of {shown(name)} must be finite numbers that increase, such as [20, 40].")
        out[name] = least_of_bins(held, closed)
    return out


class _Counter:
    def __init__(self, schema: Schema, wanted: tuple[str, ...], cuts: dict[str, Any], bins: dict[str, Labels]) -> None:
        self.encoder, self.cells = Encoder(schema), Cells(list(wanted), 1)
        self.rows = 0
        self._cuts, self._bins = cuts, bins

    def take(self, batch: Any, start: int) -> None:
        read = self.encoder.encode(batch, start)
        cells = dict(read.cells)
        for name, edges in self._cuts.items():
            cells[name] = Codes(bin_of(edges, cells[name]), self._bins[name])
        group = np.zeros(read.rows, np.int32)
        if read.weight is not None:
            group[read.weight <= 0] = -1
        self.rows += int(np.count_nonzero(group >= 0))
        self.cells.update(Batch(read.rows, cells), group, weights(read.weight))

    def __add__(self, other: _Counter) -> _Counter:
        out = copy(self)
        strays = {**self.encoder.strays, **other.encoder.strays}
        both = {n: self.encoder.strays.get(n, 0) + other.encoder.strays.get(n, 0) for n in strays}
        out.encoder = replace(self.encoder, strays=both)
        out.cells, out.rows = self.cells + other.cells, self.rows + other.rows
        return out


def _count_joint(
    source: Source,
    wanted: tuple[str, ...],
    cuts: dict[str, Any],
    bins: dict[str, list[str]],
    reading: Reading,
    pseudo_count: Given,
) -> Joint:
    names = source.schema.names
    for name in wanted:
        if name not in names:
            raise ColumnError(f"{source.name} has no column {shown(name)}. {nearest(name, names)}")
        if name == reading.weight:
            raise SettingError(f"Column {shown(name)} cannot be both a variable and the weight.")
    kinds = {n: "number" if n in cuts else "nominal" if n in wanted else "ignore" for n in names}
    draft = draft_schema(source, replace(reading, types={n: k for n, k in kinds.items() if n != reading.weight}))
    labels = {name: Labels(own) for name, own in bins.items()}
    counter = sweep_sum(
        source.batches(draft.schema.stored),
        lambda: _Counter(draft.schema, wanted, cuts, labels),
        reading.threads,
        reading.progress,
    )
    check_strays(draft, counter.encoder.strays, counter.rows)
    whole = counter.cells.canonical()
    weighed = whole.counts.table.sum(1).fractions()
    tally: dict[tuple[str, ...], Fraction] = {}
    lacking = Fraction(0)
    for levels, weight in zip(whole.rows(), weighed, strict=True):
        if None in levels:
            lacking += weight
        else:
            tally[tuple(levels)] = weight  # type: ignore[arg-type]
    if not tally:
        every = "has no rows" if not lacking else "has no row in which every variable has a value"
        raise InputError(f"{source.name} {every}. Give a table with at least one, or fewer variables.")
    order = {**sorted_levels(wanted, tally), **bins}
    out = Joint.from_counts(tally, wanted, sample=True, pseudo_count=pseudo_count, levels=order)  # type: ignore[arg-type]
    out.left_out = lacking
    return out


# What is asked of a joint table in one go: a condition, queries, independence, the best rule for a target.

MOST_VARIABLES = 4
"""Of so many variables every pair is tested for independence without being asked."""


@dataclass(frozen=True)
class BestRule:
    """The rule that errs least: what it says of each case, and how often it errs."""

    target: str
    error: Number
    """Σ over the cases of P(case) · (1 − max P(value | case)): the Bayes error."""
    cases: tuple[tuple[Cell, Number, object, Number], ...]
    """Values of the other variables, P(case), the value to say, and P(that value | case)."""


@dataclass(frozen=True)
class JointStudy:
    """A joint table, and the answers to what was asked of it."""

    source: str
    joint: Joint
    """Under the condition, if there is one."""
    given: str
    """The condition as a query writes it; empty without one."""
    answers: tuple[QueryAnswer, ...]
    independence: tuple[Independence, ...]
    rule: BestRule | None
    log_likelihood: float | None
    """Of a sample: Σ n · log P(cell), natural, of the rows under their own table."""
    fractions: bool = False
    """Whether numbers are written as fractions throughout."""


def study_joint(
    joint: Joint,
    source: str = "the table",
    *,
    queries: Sequence[str] = (),
    given: str | None = None,
    independent: Sequence[str] = (),
    target: str | None = None,
    fractions: bool = False,
) -> JointStudy:
    """Ask a joint table: queries are text like "P(a=x | b=y)", `independent` like "a, b | c".

    With `given` ("c=z") everything is asked under that condition. Without `independent` every pair of up to four
    variables is tested, and with three of them every pair given the third.

    >>> urns = Joint.listed({"first": "rb", "second": "rb"}, ["4/9", "2/9", "2/9", "1/9"])
    >>> found = study_joint(urns, queries=["P(first=r | second=b)"], target="second")
    >>> found.answers[0].value, str(found.independence[0]), found.rule.error
    (Fraction(2, 3), 'first and second are independent.', Fraction(1, 3))
    """
    known = ""
    if given is not None:
        event = parse_event(given, joint)
        known = str(Query((event,)))[2:-1]
        if all(len(event.get(name, ())) == 1 for name in joint.variables):
            raise SettingError(f"{shown(given)} leaves no variable open. Ask for its probability with a query.")
        joint = joint.given(event)
    answers = tuple(joint.query(text, fractions) for text in queries)
    wanted = [_named(text, joint) for text in independent] or _pairs(joint)
    tests = tuple(joint.independent(a, b, c) for a, b, c in wanted)
    rule = None if target is None else _best_rule(joint, target)
    return JointStudy(source, joint, known, answers, tests, rule, _log_likelihood(joint), fractions)


def _named(text: str, joint: Joint) -> tuple[str, str, tuple[str, ...]]:
    names, given = parse_names(text, joint)
    if len(names) != 2:
        raise SettingError(f"{shown(text)} does not name two variables. Write it like a, b or a, b | c.")
    return names[0], names[1], given


def _pairs(joint: Joint) -> list[tuple[str, str, tuple[str, ...]]]:
    names = joint.variables
    if len(names) > MOST_VARIABLES:
        return []
    pairs: list[tuple[str, str, tuple[str, ...]]] = [(a, b, ()) for a, b in combinations(names, 2)]
    if len(names) == 3:
        pairs += [(a, b, tuple(n for n in names if n not in (a, b))) for a, b in combinations(names, 2)]
    return pairs


def _best_rule(joint: Joint, target: str) -> BestRule:
    error, place = bayes_error(joint, target), joint.variables.index(target)
    cases: dict[Cell, dict[object, Number]] = {}
    for cell, p in joint.cells.items():
        cases.setdefault(cell[:place] + cell[place + 1 :], {})[cell[place]] = p
    rows = []
    for cell, beliefs in cases.items():
        whole = sum(beliefs.values())
        best = max(beliefs, key=lambda v: beliefs[v])
        rows.append((cell, whole, best, beliefs[best] / whole))
    return BestRule(target, error, tuple(rows))


def _log_likelihood(joint: Joint) -> float | None:
    if joint.counts is None:
        return None
    return sum(as_float(n) * log(joint._share(joint.weights[cell])) for cell, n in joint.counts.items())


# What `likely joint` says: counts and probabilities with margins, answers, independence. Knows the record alone.

MOST_ACROSS = 8
"""A variable of more values than this is not put side by side."""
MOST_LINES = 64
"""Lines of a table, unless all are asked for."""
SUM = "sum"


def present_joint(study: JointStudy, *, across: str | None = None, everything: bool = False) -> Document:
    """Counts (of a sample) and probabilities with margins, the margin of each variable, then sentences."""
    joint, most = study.joint, None if everything else MOST_LINES
    side = _across(joint, across)
    # Decimals for a sample, whose fractions hide how large they are; a table typed by hand as it reads best.
    write = probability_writer(joint, True if study.fractions else None if joint.counts is None else False)
    given = f" given {clean(study.given, 200)}" if study.given else ""
    tables = []
    if joint.counts is not None:
        tables.append(_cells("Counts", joint, joint.counts, side, lambda n: number(as_float(n), 6), most))
    tables.append(_cells(f"Probabilities{given}", joint, joint.weights, side, write, most))
    if len(joint.variables) > 2 or (side is None and len(joint.variables) > 1):
        tables.append(_margins(joint, write, most))
    if study.rule is not None:
        tables.append(_best_rule_table(study, most))
    remarks = [clean(line, 4000) for answer in study.answers for line in answer.working.split("\n")]
    remarks += [str(test) for test in study.independence]
    if study.rule is not None:
        name, error = clean(study.rule.target, 40), study.rule.error
        remarks.append(f"Bayes error of {name}: {ending(error, study.fractions)}. No rule has a lower error.")
    if study.log_likelihood is not None and not given:
        remarks.append(_likelihood(study.log_likelihood))
    shown_lines = max((len(table.rows) for table in tables), default=0)
    if most is not None and shown_lines > MOST_LINES:
        remarks.append("Tables are shortened; --all shows every line.")
    return Document(_headline(study), (*tables, *remarks))


def show_joint(joint: Joint) -> Document:
    """The table alone, for a notebook."""
    document = present_joint(JointStudy("the table", joint, "", (), (), None, None))
    return Document(repr(joint).strip("<>"), document.tables)


def _headline(study: JointStudy) -> str:
    joint = study.joint
    names = ", ".join(clean(v, 40) for v in joint.variables)
    size = prod(len(v) for v in joint.levels.values())
    given = f" | {clean(study.given, 200)}" if study.given else ""
    rows = "" if joint.rows is None else f"{plural(as_float(joint.rows), 'row')}, "
    lacking = f" {plural(as_float(joint.left_out), 'row')} without a value left out." if joint.left_out else ""
    possible = f"{len(joint.weights):,} of {size:,} cells {'are possible' if joint.counts is None else 'occur'}"
    return f"P({names}{given}) in {clean(study.source)}: {rows}{possible}.{lacking}"


def _likelihood(log_likelihood: float) -> str:
    """log P(data), and P(data) itself, which may be far below what a float can hold."""
    tens = log_likelihood / math.log(10)
    power = floor(tens)
    near = f"{10 ** (tens - power):.2g}e{power}" if power < -4 else f"{10**tens:.3g}"
    return f"Log-likelihood of these rows under their own table: {log_likelihood:.6g} nats, so P(rows) is {near}."


def _across(joint: Joint, asked: str | None) -> str | None:
    if asked is not None:
        return joint.variables[joint._place(asked)]
    last = joint.variables[-1]
    return last if len(joint.variables) > 1 and len(joint.levels[last]) <= MOST_ACROSS else None


def _cells(
    title: str,
    joint: Joint,
    values: Mapping[Any, Any],
    side: str | None,
    write: Callable[[Any], str],
    most: int | None,
) -> Table:
    """A line for each combination of the other variables, the values of one side by side, and the sums of both."""
    down = [v for v in joint.variables if v != side]
    places = [joint.variables.index(v) for v in down]
    small = prod(len(joint.levels[v]) for v in down) <= (most or MOST_LINES)
    held: dict[Any, dict[Any, Any]] = {line: {} for line in product(*(joint.levels[v] for v in down))} if small else {}
    for cell in joint.weights:  # in order of the levels
        held.setdefault(tuple(cell[k] for k in places), {})
    for cell, value in values.items():
        row = held.setdefault(tuple(cell[k] for k in places), {})
        at = None if side is None else cell[joint.variables.index(side)]
        row[at] = row.get(at, 0) + value
    columns = [None] if side is None else list(joint.levels[side])
    rows = []
    for line, row in list(held.items())[:most]:
        cells = [write(row.get(c, 0)) for c in columns]
        total = [] if side is None else [write(sum(row.values()))]
        rows.append((*(clean(spell(v), 40) for v in line), *cells, *total))
    if most is not None and len(held) > most:
        rows.append((f"… {len(held) - most:,} more", *[""] * (len(rows[0]) - 1)))
    below = [write(sum(row.get(c, 0) for row in held.values())) for c in columns]
    total = [] if side is None else [write(sum(sum(row.values()) for row in held.values()))]
    rows.append((SUM, *[""] * (len(down) - 1), *below, *total))
    heads = (
        [title.split()[0].lower()] if side is None else [f"{clean(side, 30)}={clean(spell(c), 30)}" for c in columns]
    )
    header = (*(clean(v, 40) for v in down), *heads, *([] if side is None else [SUM]))
    return Table(title, header, tuple(rows), numbers_from(len(down), len(header)))


def _margins(joint: Joint, write: Callable[[Any], str], most: int | None) -> Table:
    """The distribution of each variable by itself."""
    rows = []
    for name in joint.variables:
        own = joint.marginal(name)
        for level in list(joint.levels[name])[:most]:
            rows.append((clean(name, 40), clean(spell(level), 40), write(own.weights.get((level,), 0))))
    return Table("Margins", ("variable", "value", "P"), tuple(rows), frozenset({2}))


def _best_rule_table(study: JointStudy, most: int | None) -> Table:
    rule = study.rule
    assert rule is not None
    others = [v for v in study.joint.variables if v != rule.target]
    rows = []
    for cell, p, best, belief in rule.cases[:most]:
        right = write_number(belief, True) if study.fractions else rounded(belief, 4)
        case = (clean(spell(v), 40) for v in cell)
        rows.append((*case, write_number(p, study.fractions), clean(spell(best), 40), right))
    header = (*(clean(v, 40) for v in others), "P(case)", "say", "P(right)")
    numbers = frozenset({len(others), len(others) + 2})
    return Table(f"The best rule for {clean(rule.target, 40)}", header, tuple(rows), numbers)


# -- JSON -----------------------------------------------------------------------------------------------------------


def joint_json(study: JointStudy) -> bytes:
    """The same as JSON: numbers as floats, and as fractions where they are exact. Cells not listed are impossible."""
    return state.as_json(joint_record(study))


def joint_record(study: JointStudy) -> dict[str, Any]:
    """The study as plain values."""
    joint, zero = study.joint, Fraction(0)
    margins: dict[str, Any] = {}
    for name in joint.variables:
        own = joint.marginal(name)
        p, counts, levels = own.cells, own.counts, joint.levels[name]
        margins[name] = [
            {"value": spell(v), **_number(p.get((v,), zero)), **_count_record(counts, (v,))} for v in levels
        ]
    rule = study.rule
    return {
        "source": study.source,
        "variables": list(joint.variables),
        "levels": {name: [spell(v) for v in values] for name, values in joint.levels.items()},
        "rows": None if joint.rows is None else as_float(joint.rows),
        "left_out": as_float(joint.left_out),
        "given": study.given or None,
        "cells": [
            {"values": _values(joint, cell), **_number(p), **_count_record(joint.counts, cell)}
            for cell, p in joint.cells.items()
        ],
        "margins": margins,
        "queries": [_answer(a) for a in study.answers],
        "independence": [
            {
                "a": list(t.a),
                "b": list(t.b),
                "given": list(t.given),
                "independent": t.independent,
                "bits": t.bits,
                "g": t.statistic,
                "degrees": t.degrees,
                "p_value": t.p_value,
                "sentence": str(t),
            }
            for t in study.independence
        ],
        "rule": None
        if rule is None
        else {
            "target": rule.target,
            "bayes_error": _number(rule.error),
            "cases": [
                {
                    "values": dict(
                        zip([v for v in joint.variables if v != rule.target], map(spell, cell), strict=True)
                    ),
                    **_number(p),
                    "say": spell(best),
                    "right": _number(belief),
                }
                for cell, p, best, belief in rule.cases
            ],
        },
        "log_likelihood": None if study.log_likelihood is None else finite(study.log_likelihood),
    }


def _number(value: Number) -> dict[str, Any]:
    exact = not isinstance(value, float) and value.denominator < 10**1000
    return {"p": as_float(value), "exact": str(value) if exact else None}


def _count_record(counts: Mapping[Any, Number] | None, cell: Any) -> dict[str, float]:
    return {} if counts is None else {"count": as_float(counts.get(cell, 0))}


def _values(joint: Joint, cell: Any) -> dict[str, str]:
    return {name: spell(v) for name, v in zip(joint.variables, cell, strict=True)}


def _answer(answer: Any) -> dict[str, Any]:
    out: dict[str, Any] = {"query": str(answer.query), "working": answer.working}
    if answer.value is not None:
        return {**out, **_number(answer.value)}
    if isinstance(answer.table, Conditional):
        out["table"] = [
            {
                "given": dict(zip(answer.table.parents, map(spell, key), strict=True)),
                "cells": [{"values": _values(table, cell), **_number(p)} for cell, p in table.cells.items()],
            }
            for key, table in answer.table.tables.items()
        ]
    else:
        out["table"] = [{"values": _values(answer.table, cell), **_number(p)} for cell, p in answer.table.cells.items()]
    return out
