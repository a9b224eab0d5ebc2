"""What `likely diff` says of two tables, as small tables and remarks. Knows the record, no rows."""

from __future__ import annotations

from collections.abc import Callable

from likely.evaluate.attributes.redundancy import chance
from likely.evaluate.drift.changes import Change
from likely.evaluate.drift.divergence import Amount
from likely.evaluate.drift.tables import Drift
from likely.present.report.tables import Page, Table
from likely.present.report.words import clean, duration, moment, number, percent, plural

MOST = 20
MOST_VALUES = 3
MOST_CLASSES = 20


def of_drift(record: Drift, everything: bool = False) -> Page:
    """A verdict, the classes, each attribute that changed, and which of its values did."""
    found, before, after = record.changes, clean(record.one, 30), clean(record.two, 30)
    if before == after:
        before, after = f"{before} (one)", f"{after} (two)"
    headline = f"{before}: {plural(found.rows_before, 'row')}. {after}: {plural(found.rows_after, 'row')}.\n"
    headline += _verdict(record)
    tables = []
    if record.target is not None and (found.p_classes < found.chance or everything):
        some = found.classes if everything else found.classes[:MOST_CLASSES]
        rows = tuple((clean(s.name, 40), percent(s.before), percent(s.after)) for s in some)
        title = f"Classes of {clean(record.target, 30)} ({chance(found.p_classes)})"
        tables.append(Table(title, ("class", before, after), rows, frozenset({1, 2})))
    both = [(c, a) for c, a in zip(found.attributes, record.amounts, strict=True) if everything or _moved(record, c, a)]
    if both:
        tables.append(_attributes(record, both if everything else both[:MOST]))
        values = _values(record, both if everything else both[:MOST], before, after)
        tables += [values] if values.rows else []
    return Page(headline, tuple(tables), _remarks(record, before, after, 0 if everything else len(both) - MOST))


def _moved(record: Drift, change: Change, amount: Amount) -> bool:
    return change.significant or amount.p_missing < record.changes.chance


def _verdict(record: Drift) -> str:
    found = record.changes
    count = sum(_moved(record, c, a) for c, a in zip(found.attributes, record.amounts, strict=True))
    shares = record.target is not None and found.p_classes < found.chance
    columns = len(record.only_one) + len(record.only_two) + len(record.retyped)
    what = [
        *(["the shares of the classes"] if shares else []),
        *([f"{count} of {plural(len(found.attributes), 'attribute')}"] if count else []),
        *([f"the columns ({plural(columns, 'remark')} below)"] if columns else []),
    ]
    return f"Changed: {', '.join(what)}." if what else "Nothing changed that chance would not explain."


def _attributes(record: Drift, both: list[tuple[Change, Amount]]) -> Table:
    known = record.target is not None
    rows = []
    for change, amount in both:
        given = (chance(change.p_given_class),) if known else ()
        bits = f"{amount.bits:.3f}"
        how = _how(record, change, amount)
        rows.append((clean(change.name, 40), bits, percent(change.moved), chance(change.p_overall), *given, how))
    header = ("attribute", "bits", "rows moved", "by chance", *(("given the class",) if known else ()), "how")
    return Table("Attributes", header, tuple(rows), frozenset({1, 2}))


def _how(record: Drift, change: Change, amount: Amount) -> str:
    notes = []
    if amount.mean_before is not None and amount.mean_after is not None:
        show: Callable[[float], str] = moment if change.kind == "date" else number
        wide: Callable[[float], str] = duration if change.kind == "date" else number
        notes.append(f"mean {show(amount.mean_before)} → {show(amount.mean_after)}")
        if amount.deviation_before is not None and amount.deviation_after is not None:
            notes.append(f"deviation {wide(amount.deviation_before)} → {wide(amount.deviation_after)}")
    for levels, word in ((change.new_levels, "new"), (change.gone_levels, "gone")):
        if levels:
            some = ", ".join(clean(n, 20) for n in levels[:MOST_VALUES])
            more = f" and {len(levels) - MOST_VALUES:,} more" if len(levels) > MOST_VALUES else ""
            notes.append(f"{word}: {some}{more}")
    if amount.p_missing < record.changes.chance:
        notes.append(f"missing {percent(amount.missing_before)} → {percent(amount.missing_after)}")
    return "; ".join(notes)


def _values(record: Drift, both: list[tuple[Change, Amount]], before: str, after: str) -> Table:
    """The values that moved most, of each attribute that did."""
    rows = []
    known = record.target is not None
    for change, _ in both:
        for cell in change.cells[:MOST_VALUES] if change.significant else ():
            label = ((clean(cell.label, 20) if cell.label else "all"),) if known else ()
            shares = percent(cell.before), percent(cell.after)
            rows.append((clean(change.name, 30), clean(cell.cell, 40), *label, *shares))
    header = ("attribute", "value", *(("of class",) if known else ()), before, after)
    right = frozenset({3, 4} if known else {2, 3})
    return Table("What moved most, in shares of the rows of a class" if known else "What moved most", header,
                 tuple(rows), right)  # fmt: skip


def _remarks(record: Drift, before: str, after: str, hidden: int) -> tuple[str, ...]:
    out = [*record.remarks]
    if hidden > 0:
        out.append(f"Not shown: {plural(hidden, 'attribute')} that changed; --all shows them.")
    for kind in record.retyped:
        why = f" ({clean(kind.why, 80)})" if kind.why else ""
        out.append(
            f"{clean(kind.name, 40)} is of another kind: {kind.before} in {before}, {kind.after} in {after}{why}."
        )
    for names, where in ((record.only_one, before), (record.only_two, after)):
        if names:
            listed = ", ".join(clean(n, 30) for n in names[:10]) + (" …" if len(names) > 10 else "")
            out.append(f"Only {where} has {listed}.")
    found = record.changes
    gone = [s.name for s in found.classes if s.before and not s.after]
    new = [s.name for s in found.classes if s.after and not s.before]
    for classes, word in ((new, after), (gone, before)):
        if classes and record.target is not None:
            some = ", ".join(clean(n, 30) for n in classes[:5]) + (" …" if len(classes) > 5 else "")
            out.append(f"Only {word} has the class{'es' if len(classes) > 1 else ''} {some}.")
    if found.attributes:
        out.append(
            f"A change is named where chance would give any of them less often than {found.chance:g} (Holm). Bits: how "
            "much a value tells of which of the two it is from, 0 to 1."
            + (" Rows moved: how many would need another value, given the class." if record.target is not None else "")
        )
    return tuple(out)
