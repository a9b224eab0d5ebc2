"""What `likely joint` says: counts and probabilities with margins, answers, independence. Knows the record alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
import math
from math import floor, prod
from typing import Any

from likely.apply.joint_study import JointStudy
from likely.present.sections import Report, Table, numbers_from
from likely.present.words import clean, finite, number, plural
from likely.probability.joint import Conditional, Joint
from likely.probability.numbers import Number, as_float, rounded
from likely.probability.table_text import ending, probability_writer, write_number
from likely.probability.writing import spell
from likely.sums import state

MOST_ACROSS = 8
"""A variable of more values than this is not put side by side."""
MOST_LINES = 64
"""Lines of a table, unless all are asked for."""
SUM = "sum"


def present_joint(study: JointStudy, *, across: str | None = None, everything: bool = False) -> Report:
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
        tables.append(_best_rule(study, most))
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
    return Report(_headline(study), tuple(tables), tuple(remarks))


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


def _best_rule(study: JointStudy, most: int | None) -> Table:
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
        margins[name] = [{"value": spell(v), **_number(p.get((v,), zero)), **_counted(counts, (v,))} for v in levels]
    rule = study.rule
    return {
        "source": study.source,
        "variables": list(joint.variables),
        "levels": {name: [spell(v) for v in values] for name, values in joint.levels.items()},
        "rows": None if joint.rows is None else as_float(joint.rows),
        "left_out": as_float(joint.left_out),
        "given": study.given or None,
        "cells": [
            {"values": _values(joint, cell), **_number(p), **_counted(joint.counts, cell)}
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


def _counted(counts: Mapping[Any, Number] | None, cell: Any) -> dict[str, float]:
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
