"""What `likely diff` says of two models' sums, as small tables. Knows the record, no rows."""

from __future__ import annotations

from likely.evaluate.attributes.redundancy import chance
from likely.evaluate.drift.changes import Change, Changes
from likely.evaluate.drift.models import Difference
from likely.evaluate.drift.shifts import Moved
from likely.present.report.tables import Page, Table
from likely.present.report.words import clean, moment, number, percent, plural

MOST = 10
MOST_VALUES = 4


def of_difference(found: Difference, one: str, two: str, everything: bool = False) -> Page:
    """What the two assume differently, then what changed in what they learned."""
    assumed, tables = "", tuple[Table, ...]()
    if found.assumptions is not None and not found.assumptions:
        assumed = "The two assume the same."
    elif found.assumptions:
        assumed = plural(len(found.assumptions), "difference")
        rows = tuple((clean(k, 50), clean(a), clean(b)) for k, a, b in found.assumptions)
        tables = (Table("Assumptions", ("of", clean(one, 40), clean(two, 40)), rows),)
    if found.same_sums:
        assumed = f"{assumed}\nThey hold the same sums, to the last bit.".strip()
    if found.changes is None:
        return Page(assumed, tables)
    rest = of_changes(found.changes, one, two, everything)
    return Page(f"{assumed}\n{rest.headline}".strip(), (*tables, *rest.tables), rest.remarks)


def of_changes(record: Changes, one: str = "one", two: str = "two", everything: bool = False) -> Page:
    """A verdict, the classes, the attributes that changed, and which of their values did."""
    before, after = clean(one, 30), clean(two, 30)
    count = len(record.significant)
    shifted = record.p_classes < record.chance
    what = [*(["the shares of the classes"] if shifted else []), *([plural(count, "attribute")] if count else [])]
    verdict = f"Changed: {' and '.join(what)}." if what else "Nothing changed that chance would not explain."
    headline = f"{before}: {plural(record.rows_before, 'row')}. {after}: {plural(record.rows_after, 'row')}.\n{verdict}"
    tables: list[Table] = []
    if shifted or everything:
        shares = tuple((clean(s.name, 40), percent(s.before), percent(s.after)) for s in record.classes)
        title = f"Classes ({chance(record.p_classes)})"
        tables.append(Table(title, ("class", before, after), shares, frozenset({1, 2})))
    picked = record.attributes if everything else record.significant[:MOST]
    if picked:
        header = ("attribute", "moved", "given the class", "in all", "note")
        tables.append(Table("Attributes", header, tuple(map(_attribute, picked)), frozenset({1})))
        tables += [t for c in picked if (t := _values(c, before, after)) is not None]
    return Page(headline, tuple(tables), _remarks(record, before, after, count - len(picked)))


def _attribute(change: Change) -> tuple[str, ...]:
    notes = []
    for levels, word in ((change.new_levels, "new"), (change.gone_levels, "gone")):
        if levels:
            rest = ", …" if len(levels) > 3 else ""
            notes.append(f"{word}: {', '.join(clean(n, 20) for n in levels[:3])}{rest}")
    note = "; ".join(notes)
    return clean(change.name, 40), percent(change.moved), chance(change.p_given_class), chance(change.p_overall), note


def _values(change: Change, before: str, after: str) -> Table | None:
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
    rows = tuple(_moved(m) for m in change.cells[:MOST_VALUES])
    return Table(f"{name}: what moved", ("value", "of class", before, after), rows, frozenset({2, 3}))


def _moved(moved: Moved) -> tuple[str, ...]:
    return (
        clean(moved.cell, 40),
        clean(moved.label, 30) if moved.label else "all",
        *map(percent, (moved.before, moved.after)),
    )


def _remarks(record: Changes, before: str, after: str, hidden: int) -> tuple[str, ...]:
    out = []
    if hidden > 0:
        out.append(f"Not shown: {plural(hidden, 'attribute')}; --all shows them.")
    out += [f"{clean(name, 40)} cannot be compared: {how}." for name, how in record.read_differently]
    for names, where in ((record.only_before, before), (record.only_after, after)):
        if names:
            out.append(
                f"Only {where} has {', '.join(clean(n, 30) for n in names[:5])}{' …' if len(names) > 5 else ''}."
            )
    if record.contained:
        out.append(
            f"{after} may have learned all rows of {before}. If it learned on from it, --grown compares the rows that "
            "are new."
        )
    if record.significant or record.p_classes < record.chance:
        out.append(
            f"Changes are named where chance would give any of them less often than {record.chance:g} (Holm). Moved: "
            "the share of rows that would need another value, given the class."
        )
    return tuple(out)
