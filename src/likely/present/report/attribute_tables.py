"""Tables of words for `likely show --all`: every attribute at once, as books print it; and planes between classes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from likely.apply.tables import AnyTable, AttributeTable, NumberTable
from likely.models.contracts import Model
from likely.models.quotient import Quotient
from likely.models.shapes import Plane, graph_of
from likely.present.report.model import exhibit_table
from likely.present.sections import Report, Table, numbers_from
from likely.present.words import clean, number, plural
from likely.sums import state

MOST_ROWS = 60
"""Of levels, bins or words so many are printed; JSON has all."""


def present_tables(model: Model, found: Sequence[AnyTable], fractions: bool, whole: bool = True) -> Report:
    """Counts, counts with pseudo-counts, P and smoothed P side by side; means and deviations of numbers."""
    tables = [_number_table(t) if isinstance(t, NumberTable) else _level_table(t, fractions) for t in found]
    remarks = []
    if any(isinstance(t, AttributeTable) and t.is_smoothed for t in found):
        remarks.append(
            "n+ is the count with what smoothing adds to it; P is n over all rows of the class, P+ is smoothed."
        )
    long = [t.name for t in found if isinstance(t, AttributeTable) and len(t.rows) > MOST_ROWS]
    if long:
        remarks.append(f"Only the first {MOST_ROWS} of {', '.join(clean(n) for n in long)}; --json has all.")
    if whole:
        blocks = [factor for factor in model.factors if len(factor.names) > 1]
        tables += [exhibit_table(e) for factor in blocks for e in factor.exhibits(model.classes)]
        tables += [exhibit_table(e) for e in model.cell_tables()]
        remarks += _graph(model)
    target = clean(model.schema.target.name) if model.schema.target is not None else "a density"
    return Report(f"{target}: {plural(len(found), 'table')}", tuple(tables), tuple(remarks))


def _graph(model: Model) -> list[str]:
    """What hangs on what, in a line."""
    shape, target = model.shape(), model.schema.target
    graph = None if shape is None or target is None else graph_of(shape)
    if graph is None or target is None:
        return []
    lines = [f"{clean(target.name)} → {', '.join(clean(n) for n in graph.names)}"]
    lines += [f"{clean(parent)} → {clean(child)}" for parent, child in graph.arrows]
    return [f"The graph: {'; '.join(lines)}."]


def _level_table(table: AttributeTable, fractions: bool) -> Table:
    def chance(value: Quotient) -> str:
        return str(value) if fractions else number(float(value))

    classes = [f"({clean(c, 20)})" if c else "" for c in table.classes]
    given = [f"({table.kind}|{clean(c, 20)})" if c else "(class)" for c in table.classes]
    smoothed = table.is_smoothed
    header = [table.kind, *(f"n{c}" for c in classes)]
    header += [f"n+{c}" for c in classes] if smoothed else []
    header += [f"P{g}" for g in given]
    header += [f"P+{g}" for g in given] if smoothed else []
    rows = []
    for row in table.rows[:MOST_ROWS]:
        cells = [clean(row.level, 40), *(_count(n) for n in row.counts)]
        cells += [_count(n) for n in row.added] if smoothed else []
        cells += [chance(p) for p in row.plain]
        cells += [chance(p) for p in row.smoothed] if smoothed else []
        rows.append(tuple(cells))
    return Table(clean(table.name, 60), tuple(header), tuple(rows), numbers_from(1, len(header)))


def _count(value: Fraction) -> str:
    return number(float(value))


def _number_table(table: NumberTable) -> Table:
    rows = tuple(
        (clean(c, 30), number(m), number(d))
        for c, m, d in zip(table.classes, table.means, table.deviations, strict=True)
    )
    return Table(f"{clean(table.name, 60)}: a normal density", ("class", "mean", "sd"), rows, numbers_from(1, 3))


def tables_json(model: Model, found: Sequence[AnyTable]) -> bytes:
    """The same as JSON: counts as numbers, probabilities as fractions and decimals."""

    def chances(table: AttributeTable, values: Sequence[Quotient]) -> dict[str, object]:
        each = ({"fraction": str(v), "value": float(v)} for v in values)
        return dict(zip(table.classes, each, strict=True))

    def one(table: AnyTable) -> dict[str, object]:
        if isinstance(table, NumberTable):
            pairs = zip(table.classes, table.means, table.deviations, strict=True)
            return {"name": table.name, "kind": "number", "classes": {c: {"mean": m, "sd": d} for c, m, d in pairs}}
        rows = [
            {
                table.kind: row.level,
                "counts": {c: float(n) for c, n in zip(table.classes, row.counts, strict=True)},
                "smoothed_counts": {c: float(n) for c, n in zip(table.classes, row.added, strict=True)},
                "shares": chances(table, row.plain),
                "probabilities": chances(table, row.smoothed),
            }
            for row in table.rows
        ]
        return {"name": table.name, "kind": table.kind, "rows": rows}

    given = [
        {"title": e.title, "header": list(e.header), "rows": [list(r) for r in e.rows]} for e in model.cell_tables()
    ]
    return state.as_json({"tables": [one(t) for t in found], "given_parents": given, "remarks": _graph(model)})


def present_plane(plane: Plane) -> Report:
    """The hyperplane between two classes: its equation, and the weights."""
    rows = [("(constant)", number(plane.constant, 6))]
    for name, level, weight in plane.weights:
        rows.append((clean(name, 40) + (f" {level}" if level == "(missing)" else f" = {clean(level)}" if level else ""),
                     number(weight, 6)))  # fmt: skip
    first, second = clean(plane.first), clean(plane.second)
    return Report(
        f"{first} where this is above 0, {second} where it is below: {clean(plane.equation(), 2000)}",
        (
            Table(
                f"The hyperplane between {first} and {second}", ("attribute", "weight"), tuple(rows), numbers_from(1, 2)
            ),
        ),
    )


def plane_json(plane: Plane) -> bytes:
    """The same as JSON."""
    weights = [{"attribute": name, "level": level, "weight": w} for name, level, w in plane.weights]
    return state.as_json(
        {
            "first": plane.first,
            "second": plane.second,
            "constant": plane.constant,
            "weights": weights,
            "equation": plane.equation(),
        }
    )
