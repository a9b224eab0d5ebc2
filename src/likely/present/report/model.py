"""Tables of words: what `show` says, ready to be printed in any way. Knows models, no rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from likely.errors import ColumnError, SettingError, nearest, shown
from likely.models.contracts import Factor, Model, setting_of
from likely.models.factors.categorical import shares_in_training
from likely.models.factors.gaussian import root_of
from likely.models.quotient import Quotient
from likely.models.settings import changed_settings
from likely.models.shapes import BinTable, Density, Exhibit, LevelTable
from likely.present.report.terms import NOT_APART, present_effect, term_tables
from likely.present.sections import Report, Table, numbers_from
from likely.present.words import Figure, clean, duration, finite, moment, number, plural, weighed_rows
from likely.sums import state
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.words.words import Words
from likely.table.batch import MISSING_CODE, UNSEEN_CODE
from likely.table.labels import date_within

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


# -- show ---------------------------------------------------------------------------------------------------


def present_model(model: Model, fractions: bool = False, everything: bool = False) -> Report:
    """What `likely show` says of a whole model; `everything` leaves no term out."""
    summary, target = model.summary, model.schema.target
    weights = summary.total.floats()
    shares = [Quotient(w, sum(summary.total.fractions(), Fraction(0))) for w in summary.total.fractions()]
    priors = model.prior or shares
    classes = Table(
        "Classes",
        ("class", "weight", "P(class)"),
        tuple(
            (clean(c), number(w), str(p) if fractions else number(float(p)))
            for c, w, p in zip(model.classes, weights, priors, strict=True)
        ),
        numbers_from(1, 3),
    )
    rows: list[tuple[str, ...]] = []
    for column in model.schema.columns:
        if column.role != "attribute":
            rows.append((clean(column.name, 40), column.kind, column.role, clean(column.why, 70)))
            continue
        statistic = summary.columns[column.name]
        if isinstance(statistic, Counts):
            about = plural(len(model.levels(column.name)), "level")
        elif isinstance(statistic, Words):
            about = f"{plural(len(statistic.tally().vocabulary) - 1, 'different word')}"
        else:
            values, _ = statistic.tally()
            tell = _moment_of(statistic) if column.kind == "date" else number
            about = f"{tell(values[0])} to {tell(values[-1])}" if len(values) else "no values"
            about = f"about {about}" if len(values) and column.kind == "date" and statistic.level else about
            about = f"{about} {column.unit}" if column.unit else about
        rows.append((clean(column.name, 40), column.kind, "attribute", about))
    columns = Table("Columns", ("column", "kind", "role", "about"), tuple(rows))
    name = clean(target.name) if target else "a density"
    # Words are many: `likely show MODEL COLUMN` has them.
    apart = {e.title for text in model.texts for e in text.exhibits(model.classes)}
    exhibits = [e for e in model.exhibits() if e.title not in apart]
    decimal = fractions and not all(e.has_quotients for e in exhibits)
    remarks = ("Only counts have fractions; weights and densities stay decimal.",) if decimal else ()
    return Report(
        f"{name} by {_settings(model.learner)}, from {weighed_rows(summary.rows, float(weights.sum()))}"
        + (f" ({plural(summary.left_out, 'row')} left out)" if summary.left_out else ""),
        (
            *((classes,) if target else ()),
            columns,
            *term_tables(model, everything),
            *(exhibit_table(e, fractions) for e in exhibits),
        ),
        (*remarks, *model.notes, *((NOT_APART,) if any(len(names) > 2 for names in model.term_strengths()) else ())),
    )


def exhibit_table(exhibit: Exhibit, fractions: bool = False) -> Table:
    """What a model shows of itself, as a table of words; what was counted in `fractions`, if asked."""
    cells = exhibit.cells(fractions)
    rows = tuple(tuple(clean(c) if isinstance(c, str) else number(c) for c in row) for row in cells)
    right = frozenset(k for row in exhibit.rows for k, c in enumerate(row) if not isinstance(c, str))
    return Table(exhibit.title, tuple(clean(h, 40) for h in exhibit.header), rows, right)


def _settings(learner: Any) -> str:
    """A learner's name, with the settings that are not the usual ones."""
    name, said = type(learner).__name__, changed_settings(learner)
    if "members" in said:
        said["members"] = setting_of(learner, "titles")
    pieces = len(said.pop("knowledge", ()))
    known = f" and {plural(pieces, 'piece')} of knowledge" if pieces else ""
    listed = ", ".join(f"{k}={clean(repr(v), 80)}" for k, v in said.items())
    return (f"{name}({listed})" if said else f"{name} with the usual settings") + known


def present_attribute(model: Model, name: str, fractions: bool = False, everything: bool = False) -> Report:
    """What `likely show` says of one attribute: counts and probabilities, or the densities, or its term."""
    column = model.schema[name]
    if column.role == "target":
        return Report(f"{clean(name)} is the target.", present_model(model, fractions).tables[:1])
    if column.role != "attribute":
        known = [c.name for c in model.schema.attributes]
        role = "the weight" if column.role == "weight" else column.role
        raise ColumnError(f"{shown(name)} is {role}, so the model does not use it. {nearest(name, known)}")
    page = _attribute(model, name, fractions)
    effect = present_effect(model, name, everything)
    if effect is not None:
        return replace(effect, tables=(*effect.tables, *page.tables), remarks=(*effect.remarks, *page.remarks))
    block = model.block_of(name)
    if block is None:
        return page
    others = " & ".join(clean(n, 30) for n in block.names if n != name)
    told = f"The model takes {clean(name, 30)} together with {others}; this is {clean(name, 30)} by itself."
    tables = tuple(exhibit_table(e) for e in block.exhibits(model.classes))
    return replace(page, tables=(*page.tables, *tables), remarks=(*page.remarks, told))


def _attribute(model: Model, name: str, fractions: bool) -> Report:
    """What is to be said of one attribute by itself."""
    column, statistic = model.schema[name], model.summary.columns[name]
    factor = model.factor_of(name)
    if isinstance(statistic, Counts):
        own = factor if isinstance(factor, LevelTable) else None
        return _levels(model, own or shares_in_training(column, statistic), own is not None, fractions)
    if isinstance(factor, BinTable) and factor.levels is not None:
        names = factor.called(moment) if column.kind == "date" else None
        return _levels(model, factor.levels, True, fractions, "bin", names)
    if fractions:
        raise SettingError(
            f"{shown(name)} is a number: it has a density, which is not a fraction. Leave --fractions out."
        )
    return _densities(model, column.kind == "date", factor, model.summary.column(name, Numbers), name)


def _levels(
    model: Model, factor: LevelTable, own: bool, fractions: bool, word: str = "level", told: list[str] | None = None
) -> Report:
    """Levels, or bins as levels; `told` says how they are called where that is not by their names."""
    names, ratios = factor.labels.names, factor.ratios()
    rows = []
    for code, level in [*enumerate(told or names), (UNSEEN_CODE, "(any other)"), (MISSING_CODE, "(missing)")]:
        ratio, quotients = ratios(code) if ratios is not None else None, factor.quotients(code)
        if quotients is None and (ratios is not None or code < 0):
            continue
        seen = ["–"] * len(model.classes) if ratio is None else [number(n) for n in ratio.seen]
        chances = np.exp(factor.log_table[code]) if quotients is None else quotients
        rows.append((clean(level, 40), *seen, *(str(q) if fractions else number(float(q)) for q in chances)))
    classes = [clean(c, 20) for c in model.classes]
    header: tuple[str, ...] = (word, *(f"n({c})" for c in classes), *(f"P({word}|{c})" for c in classes))
    if model.schema.target is None:
        header = (word, "n", f"P({word})")
    statistic = model.summary.columns[factor.name]
    assert isinstance(statistic, (Counts, Numbers))
    missing = statistic.other.floats()[0] if isinstance(statistic, Counts) else statistic.other.sum(0).floats()
    remarks = []
    if missing.any() and factor.quotients(MISSING_CODE) is None:
        each = ", ".join(f"{c} {number(m)}" for c, m in zip(classes, missing, strict=True) if m)
        remarks.append(f"Missing, and left out: {each}.")
    title = f"Counts, and the {'probability' if own else 'share in training'} of each {word}"
    title += " in each class" if model.schema.target is not None else ""
    table = Table(title, header, tuple(rows), numbers_from(1, len(header)))
    return Report(f"{clean(factor.name)}: {plural(len(names), word)}", (table,), tuple(remarks))


def class_quantiles(numbers: Numbers) -> list[tuple[float, list[float | None]]]:
    """For each class the weight of its rows that have a number, and its least, quartiles and greatest value."""
    values, table = numbers.tally()
    out: list[tuple[float, list[float | None]]] = []
    for below in np.cumsum(table.floats(), axis=0).T:
        if not len(below) or below[-1] <= 0:
            out.append((0.0, [None] * len(QUANTILES)))
            continue
        places = np.searchsorted(below, np.maximum(np.array(QUANTILES) * below[-1], np.nextafter(0, 1)))
        out.append((float(below[-1]), [float(values[min(i, len(values) - 1)]) for i in places]))
    return out


def _moment_of(numbers: Numbers) -> Callable[[float], str]:
    """How times of a tally are written: where it has dropped low bits, the shortest date in the stretch that is left.

    A time is known to begin that stretch, and would else be told as one before the first row.
    """
    if not numbers.level:
        return moment
    return lambda at: date_within(at, at + abs(float(np.spacing(at))) * 2.0**numbers.level)


def _densities(model: Model, dates: bool, factor: Factor | None, numbers: Numbers, name: str) -> Report:
    at, length = (moment, duration) if dates else (number, number)
    tallied = _moment_of(numbers) if dates else number
    moments = numbers.moments()
    bandwidth = factor.kernels.bandwidth if isinstance(factor, Density) and factor.kernels is not None else None
    rows = []
    for k, (label, (weighed, spread)) in enumerate(zip(model.classes, class_quantiles(numbers), strict=True)):
        mean, sd, width = "–", "–", []
        if isinstance(factor, Density):
            mean, sd = at(float(factor.normal.mean[k])), length(float(factor.normal.deviation[k]))
        elif factor is None and moments[k][0] > 1:
            weight, first, second = moments[k]
            mean, sd = at(float(first / weight)), length(root_of((second - first * first / weight) / (weight - 1)))
        if bandwidth is not None:
            width = [length(float(bandwidth[k]))]
        gone = numbers.other[:, k].sum(0).floats()
        rows.append(
            (
                clean(label, 20),
                number(weighed),
                number(float(gone)),
                mean,
                sd,
                *width,
                *("–" if v is None else tallied(v) for v in spread),
            )
        )
    kernels = ["bandwidth"] if bandwidth is not None else []
    header = ("class", "weight", "missing", "mean", "sd", *kernels, "min", "25 %", "median", "75 %", "max")
    left_out = factor is None and model.factored and model.generative and model.block_of(name) is None
    remarks = ["All values are equal, so the model leaves this attribute out."] if left_out else []
    if numbers.level:
        remarks.append("Quantiles are from rounded values; mean and sd are exact.")
    kind = "kernel" if bandwidth is not None else "normal"
    title = f"A {kind} density for each class" if factor is not None else "Values"
    return Report(
        f"{clean(name)}: numbers", (Table(title, header, tuple(rows), numbers_from(1, len(header))),), tuple(remarks)
    )


def page_json(page: Report) -> bytes:
    """A page as JSON: its tables as lists of records, with numbers as numbers; a fraction stays as it is written."""

    def value(cell: str, numeric: bool) -> object:
        if isinstance(cell, Figure):
            return finite(cell.value)
        return None if numeric and cell == "–" else str(cell)

    tables = []
    for t in page.tables:
        numeric = [k in t.right for k in range(len(t.header))]
        rows = [{h: value(c, n) for h, c, n in zip(t.header, r, numeric, strict=True) if h} for r in t.rows]
        tables.append({"title": t.title, "rows": rows})
    return state.as_json({"headline": page.headline, "tables": tables, "remarks": list(page.remarks)})
