"""What `likely diff` says of two models' sums, or of two tables: small tables and remarks. Knows records, no rows."""

from __future__ import annotations

from collections.abc import Sequence

from likely.evaluate.drift.changes import Amount, Change, Changes
from likely.evaluate.drift.tables import Difference, Drift
from likely.machinery.words import chance, clean, duration, moment, number, percent, plural
from likely.present.document import Document, Table

MOST, MOST_OF_TABLES = 10, 20
"""Attributes that changed, of two models and of two tables."""
MOST_VALUES, MOST_VALUES_OF_TABLES = 4, 3
MOST_CLASSES = 20
NOTHING = "No significant change."


def present_difference(found: Difference, one: str, two: str, everything: bool = False) -> Document:
    """What the two assume differently, then what changed in what they learned."""
    assumed, tables = "", tuple[Table, ...]()
    if found.assumptions is not None and not found.assumptions:
        assumed = "Both make the same assumptions."
    elif found.assumptions:
        assumed = plural(len(found.assumptions), "difference")
        rows = tuple((clean(k, 50), clean(a), clean(b)) for k, a, b in found.assumptions)
        tables = (Table("Assumptions", ("of", clean(one, 40), clean(two, 40)), rows),)
    if found.same_sums:
        assumed = f"{assumed}\nTheir sums are identical, to the last bit.".strip()
    if found.changes is None:
        return Document(assumed, tables)
    rest = present_changes(found.changes, one, two, everything)
    return Document(f"{assumed}\n{rest.headline}".strip(), (*tables, *rest.parts))


def present_changes(record: Changes, one: str = "one", two: str = "two", everything: bool = False) -> Document:
    """A verdict, the classes, the attributes that changed, and which of their values did."""
    before, after = clean(one, 30), clean(two, 30)
    count = len(record.significant)
    shifted = record.p_classes < record.chance
    what = [*(["the class frequencies"] if shifted else []), *([plural(count, "attribute")] if count else [])]
    verdict = f"Changed: {' and '.join(what)}." if what else NOTHING
    tables = [_classes(record, "Classes", before, after, len(record.classes))] if shifted or everything else []
    picked = record.attributes if everything else record.significant[:MOST]
    if picked:
        header = ("attribute", "moved", "given the class", "in all", "note")
        rows = tuple(
            (clean(c.name, 40), percent(c.moved), chance(c.p_given_class), chance(c.p_overall), "; ".join(_levels(c)))
            for c in picked
        )
        tables.append(Table("Attributes", header, rows, frozenset({1})))
        tables += [t for c in picked if (t := _values_of(c, before, after)) is not None]
    headline = f"{_sizes(record, before, after)}\n{verdict}"
    return Document(headline, (*tables, *_change_remarks(record, before, after, count - len(picked))))


def present_drift(record: Drift, everything: bool = False) -> Document:
    """A verdict, the classes, each attribute that changed, and which of its values did."""
    found, before, after = record.changes, clean(record.one, 30), clean(record.two, 30)
    if before == after:
        before, after = f"{before} (one)", f"{after} (two)"
    tables = []
    if record.target is not None and (found.p_classes < found.chance or everything):
        title = f"Classes of {clean(record.target, 30)}"
        tables.append(_classes(found, title, before, after, len(found.classes) if everything else MOST_CLASSES))
    both = [(c, a) for c, a in zip(found.attributes, record.amounts, strict=True) if everything or _moved(record, c, a)]
    shown = both if everything else both[:MOST_OF_TABLES]
    if shown:
        tables.append(_attributes(record, shown))
        values = _values(record, shown, before, after)
        tables += [values] if values.rows else []
    headline = f"{_sizes(found, before, after)}\n{_verdict(record)}"
    return Document(headline, (*tables, *_drift_remarks(record, before, after, len(both) - len(shown))))


# -- what both show -----------------------------------------------------------------------------------------


def _sizes(record: Changes, before: str, after: str) -> str:
    return f"{before}: {plural(record.rows_before, 'row')}. {after}: {plural(record.rows_after, 'row')}."


def _classes(record: Changes, title: str, before: str, after: str, most: int) -> Table:
    rows = tuple((clean(s.name, 40), percent(s.before), percent(s.after)) for s in record.classes[:most])
    return Table(f"{title} ({chance(record.p_classes)})", ("class", before, after), rows, frozenset({1, 2}))


def _levels(change: Change, counted: bool = False) -> list[str]:
    """Levels that only one of the two has; `counted` says how many more there are."""
    out = []
    for levels, word in ((change.new_levels, "new"), (change.gone_levels, "gone")):
        if levels:
            rest = "" if len(levels) <= 3 else f" and {len(levels) - 3:,} more" if counted else ", …"
            out.append(f"{word}: {', '.join(clean(n, 20) for n in levels[:3])}{rest}")
    return out


def _listed(names: Sequence[str], most: int) -> str:
    return ", ".join(clean(n, 30) for n in names[:most]) + (" …" if len(names) > most else "")


# -- of two models ------------------------------------------------------------------------------------------


def _values_of(change: Change, before: str, after: str) -> Table | None:
    """The values that moved most; of numbers, how mean and deviation did, class by class."""
    name = clean(change.name, 40)
    if change.spreads:
        show = moment if change.kind == "date" else number
        rows = tuple(
            (clean(s.label, 30), *("–" if v is None else show(v) for v in (s.mean_before, s.mean_after)),
             *("–" if v is None else number(v) for v in (s.deviation_before, s.deviation_after)))
            for s in change.spreads
        )  # fmt: skip
        header = ("class", f"mean in {before}", f"in {after}", "deviation", "now")
        return Table(f"{name}: mean and standard deviation", header, rows, frozenset({1, 2, 3, 4}))
    if not change.cells:
        return None
    rows = tuple(
        (clean(m.cell, 40), clean(m.label, 30) if m.label else "all", percent(m.before), percent(m.after))
        for m in change.cells[:MOST_VALUES]
    )
    return Table(f"{name}: what moved", ("value", "of class", before, after), rows, frozenset({2, 3}))


def _change_remarks(record: Changes, before: str, after: str, hidden: int) -> tuple[str, ...]:
    out = []
    if hidden > 0:
        out.append(f"Not shown: {plural(hidden, 'attribute')}; --all shows them.")
    out += [f"{clean(name, 40)} cannot be compared: {how}." for name, how in record.read_differently]
    for names, where in ((record.only_before, before), (record.only_after, after)):
        if names:
            out.append(f"Only {where} has {_listed(names, 5)}.")
    if record.contained:
        out.append(f"{after} may contain all rows of {before}. If it does, --grown compares only the new rows.")
    if record.significant or record.p_classes < record.chance:
        out.append(
            f"Changes are listed if p is below {record.chance:g} (Holm). Moved: the share of rows that would "
            "need another value, given the class."
        )
    return tuple(out)


# -- of two tables ------------------------------------------------------------------------------------------


def _moved(record: Drift, change: Change, amount: Amount) -> bool:
    return change.significant or amount.p_missing < record.changes.chance


def _verdict(record: Drift) -> str:
    found = record.changes
    count = sum(_moved(record, c, a) for c, a in zip(found.attributes, record.amounts, strict=True))
    shares = record.target is not None and found.p_classes < found.chance
    columns = len(record.only_one) + len(record.only_two) + len(record.retyped)
    what = [
        *(["the class frequencies"] if shares else []),
        *([f"{count} of {plural(len(found.attributes), 'attribute')}"] if count else []),
        *([f"the columns ({plural(columns, 'remark')} below)"] if columns else []),
    ]
    return f"Changed: {', '.join(what)}." if what else NOTHING


def _attributes(record: Drift, both: list[tuple[Change, Amount]]) -> Table:
    known = record.target is not None
    rows = tuple(
        (clean(change.name, 40), f"{amount.bits:.3f}", percent(change.moved), chance(change.p_overall),
         *((chance(change.p_given_class),) if known else ()), _how(record, change, amount))
        for change, amount in both
    )  # fmt: skip
    header = ("attribute", "bits", "rows moved", "by chance", *(("given the class",) if known else ()), "how")
    return Table("Attributes", header, rows, frozenset({1, 2}), spare=("given the class", "by chance"))


def _how(record: Drift, change: Change, amount: Amount) -> str:
    notes = []
    if amount.mean_before is not None and amount.mean_after is not None:
        show, wide = (moment, duration) if change.kind == "date" else (number, number)
        notes.append(f"mean {show(amount.mean_before)} → {show(amount.mean_after)}")
        if amount.deviation_before is not None and amount.deviation_after is not None:
            notes.append(f"deviation {wide(amount.deviation_before)} → {wide(amount.deviation_after)}")
    notes += _levels(change, counted=True)
    if amount.p_missing < record.changes.chance:
        notes.append(f"missing {percent(amount.missing_before)} → {percent(amount.missing_after)}")
    return "; ".join(notes)


def _values(record: Drift, both: list[tuple[Change, Amount]], before: str, after: str) -> Table:
    """The values that moved most, of each attribute that did."""
    known = record.target is not None
    rows = tuple(
        (clean(change.name, 30), clean(m.cell, 40), *((clean(m.label, 20) if m.label else "all",) if known else ()),
         percent(m.before), percent(m.after))
        for change, _ in both
        for m in (change.cells[:MOST_VALUES_OF_TABLES] if change.significant else ())
    )  # fmt: skip
    header = ("attribute", "value", *(("of class",) if known else ()), before, after)
    title = "What moved most, as shares of the rows of a class" if known else "What moved most"
    return Table(title, header, rows, frozenset({3, 4} if known else {2, 3}))


def _drift_remarks(record: Drift, before: str, after: str, hidden: int) -> tuple[str, ...]:
    out, found = [*record.remarks], record.changes
    if hidden > 0:
        out.append(f"Not shown: {plural(hidden, 'attribute')} that changed; --all shows them.")
    for kind in record.retyped:
        why = f" ({clean(kind.why, 80)})" if kind.why else ""
        out.append(
            f"{clean(kind.name, 40)} is of another kind: {kind.before} in {before}, {kind.after} in {after}{why}."
        )
    for names, where in ((record.only_one, before), (record.only_two, after)):
        if names:
            out.append(f"Only {where} has {_listed(names, 10)}.")
    new = [s.name for s in found.classes if s.after and not s.before]
    gone = [s.name for s in found.classes if s.before and not s.after]
    for classes, where in ((new, after), (gone, before)):
        if classes and record.target is not None:
            out.append(f"Only {where} has the class{'es' if len(classes) > 1 else ''} {_listed(classes, 5)}.")
    if found.attributes:
        out.append(
            f"A change is listed if p is below {found.chance:g} (Holm). Bits: how well a value reveals which of "
            "the two it is from, 0 to 1."
            + (" Rows moved: how many would need another value, given the class." if record.target is not None else "")
        )
    return tuple(out)
