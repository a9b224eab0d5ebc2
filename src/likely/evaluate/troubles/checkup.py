"""What a check-up finds beyond a first look: missing cells, order, groups, contradictions, dependencies, idle columns.

Knows the records of this room, looks at no rows. Everything that came from data is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from likely.errors import shown
from likely.evaluate.attributes.information import AttributeInformation
from likely.evaluate.attributes.redundancy import RepeatedPair
from likely.evaluate.troubles.columns import CHANCE, AttributeTests, Dependency, OneClassGroups, placeholder_findings
from likely.evaluate.troubles.findings import (
    MANY_COPIES,
    MOST_ALIKE,
    Finding,
    TextFinding,
    gap_findings,
    identifier_findings,
    is_leak,
    leak,
    list_names,
    rare_findings,
    reading_findings,
    repeat_findings,
    share,
    share_told,
    text_findings,
)
from likely.evaluate.troubles.rows import EqualRows
from likely.machinery.words import chance
from likely.sums.summary import Summary
from likely.table.infer import type_option
from likely.table.schema import Schema

WORTH = 0.02
"""Of the target's entropy: what being missing, or the order of rows, must tell to be worth a word."""
ROWS_A_LEVEL = 5
"""Levels of fewer rows each, in the mean, say little."""
NEARLY_CONSTANT = 0.99
SORTED = 0.8
"""Of the target's entropy: what the place of a row tells where the table is sorted by class, but for a few rows."""
MARKS = 0.95
"""A level marks a class where this share of its rows are of the class, and this share of the class has it."""
MANY_VALUES = 20


@dataclass(frozen=True)
class RowOrder:
    """What the place of a row in the table tells about its class."""

    share: float
    """Of the target's entropy."""
    p: float
    blocks: int
    """The table was cut into so many runs of rows."""


def checkup_findings(
    total: Summary,
    tests: Sequence[AttributeTests],
    cut: Sequence[AttributeInformation],
    order: RowOrder | None,
    bonds: Sequence[Dependency],
    grouped: Sequence[OneClassGroups],
    pairs: Sequence[RepeatedPair],
    texts: Sequence[TextFinding],
    equal: EqualRows,
    by_chance: bool,
) -> tuple[Finding, ...]:
    """All that was found, grave first; `by_chance` says that chance explains how many rows are equal."""
    schema, classes, target = total.schema, total.classes, total.schema.target
    assert target is not None
    of = shown(target.name)
    out = list(_leaks(tests, total, cut, of))
    known = {name for f in out for name in f.columns}
    for f in identifier_findings(total, cut):
        if f.columns[0] not in known:
            out.append(replace(f, words=f"{f.words} To leave it out: {type_option(f.columns[0], 'ignore')}"))
    leaks = {name for f in out for name in f.columns}
    out += _marks([a for a in cut if a.name not in leaks], classes, of)
    out += _missing(tests, classes, of)
    out += gap_findings({t.name: t.missing for t in tests}, False)
    out += _time(tests, order, of)
    out += _groups([g for g in grouped if g.name not in leaks and schema[g.name].kind != "text"], of)
    for text in texts:
        out += text_findings(text)
    out += _equal_rows(equal, by_chance)
    out += reading_findings(schema, False)
    out += _constant_or_thin(schema, tests, total.rows)
    out += _bound(bonds)
    out += repeat_findings(pairs, of, False, {frozenset((b.name, by)) for b in bonds for by in b.by})
    out += _idle(tests, of)
    out += rare_findings(total)
    out += placeholder_findings(total)
    return tuple(sorted(out, key=lambda f: not f.grave))


def _leaks(
    tests: Sequence[AttributeTests], total: Summary, cut: Sequence[AttributeInformation], of: str
) -> Iterator[Finding]:
    by_cut = {a.name: share_told(total, a) for a in cut if a.words is None}
    for t in tests:
        most = max(t.share, by_cut.get(t.name, 0.0))
        if t.kind != "text" and t.p_of_all < CHANCE and is_leak(most, t.missing):
            then = f"it carries {share(most)} of the information. Is it known before {of}, or does it follow "
            yield leak(t.name, of, f"{then}from it? To leave it out: {type_option(t.name, 'ignore')}")


def _marks(cut: Sequence[AttributeInformation], classes: tuple[str, ...], of: str) -> Iterator[Finding]:
    """Levels that are there in rows of one class, and hardly elsewhere; of two classes this is a leak already."""
    if len(classes) < 3:
        return
    for a in cut:
        if a.words is not None or a.edges or not a.table.size:
            continue
        cells, whole = a.table.sum(axis=1), a.table.sum(axis=0)
        for k, c in zip(*a.table.nonzero(), strict=True):
            both = a.table[k, c]
            if both >= 10 and both >= MARKS * cells[k] and both >= MARKS * whole[c] and whole[c] < whole.sum():
                yield Finding(
                    "leak",
                    (a.name,),
                    False,
                    f"{shown(a.name)} = {shown(a.cells[k], 30)} nearly defines class {shown(classes[c], 30)} of {of}: "
                    f"{share(both / cells[k])} of these rows have that class, and {share(both / whole[c])} of the "
                    "class has this value. Is it part of how the class is defined?",
                )


def _missing(tests: Sequence[AttributeTests], classes: tuple[str, ...], of: str) -> Iterator[Finding]:
    telling = sorted((t for t in tests if t.p_missing_of_all < CHANCE and t.missing_share >= WORTH),
                     key=lambda t: -t.missing_share)  # fmt: skip
    for k, t in enumerate(telling[:MOST_ALIKE]):
        order = sorted(range(len(classes)), key=lambda c: t.missing_by_class[c])
        low, high = order[0], order[-1]
        then = " If it is filled in once the class is known, it is a leak; if not, --missing-as level uses it."
        yield Finding(
            "missing",
            (t.name,),
            True,
            f"Whether {shown(t.name)} is missing carries {share(t.missing_share)} of the information about {of}: it "
            f"is missing in {share(t.missing_by_class[high])} of the rows of class {shown(classes[high], 30)} and in "
            f"{share(t.missing_by_class[low])} of class {shown(classes[low], 30)}.{'' if k else then}",
        )
    if len(telling) > MOST_ALIKE:
        names = tuple(t.name for t in telling[MOST_ALIKE:])
        words = f"The same holds for {len(names)} more attributes, each on its own: {list_names(names)}."
        yield Finding("missing", names, True, words)


def _time(tests: Sequence[AttributeTests], order: RowOrder | None, of: str) -> Iterator[Finding]:
    if order is not None and order.p < CHANCE and order.share >= WORTH:
        sorted_by = order.share >= SORTED
        yield Finding(
            "order",
            (),
            True,
            f"The position of a row in the table carries {share(order.share)} of the information about {of} "
            f"({chance(order.p)}): "
            + (
                "the table is sorted by class. A row number or entry time would leak the class, and the "
                "first rows are not a representative sample."
                if sorted_by
                else "the class frequencies change from start to end. Cross-validation with random folds may "
                "then be too optimistic about future rows."
            ),
        )
    for t in tests:
        if t.kind == "date" and t.p_of_all < CHANCE and t.share >= WORTH:
            yield Finding(
                "date",
                (t.name,),
                True,
                f"The date {shown(t.name)} carries {share(t.share)} of the information about {of}: {of} changes with "
                "time, and future rows have dates not seen here. See likely look --time.",
            )


def _groups(grouped: Sequence[OneClassGroups], of: str) -> Iterator[Finding]:
    for g in grouped:
        if g.values >= MANY_VALUES:
            yield Finding(
                "group",
                (g.name,),
                True,
                f"Rows with the same {shown(g.name)} always have the same class of {of}, in all {g.repeats:,} "
                f"repetitions of the {g.values:,} values checked. If it identifies whom a row is about, keep the rows "
                "of each one in the same fold: likely look --group, likely compare --group.",
            )


def _equal_rows(equal: EqualRows, by_chance: bool) -> Iterator[Finding]:
    """Rows of a few levels each repeat by nature; those with measurements, or texts, hardly do."""
    of = f"{equal.rows:,} rows" + (" compared" if equal.sampled else "")
    if equal.copied:
        across = (
            "" if not equal.across else ", each with a copy in another fold, so it is not really unseen there"
            if equal.across == equal.copied
            else f", {equal.across:,} of them with a copy in another fold, so they are not really unseen there"
        )  # fmt: skip
        yield Finding(
            "copies",
            (),
            not by_chance,
            f"{equal.copied:,} of {of} ({share(equal.copied / equal.rows)}) equal another row in all attributes and "
            f"class{across}.",
        )
    if equal.contradicted:
        yield Finding(
            "contradiction",
            (),
            equal.contradicted >= MANY_COPIES * equal.rows,
            f"{equal.contradicted:,} of {of} ({share(equal.contradicted / equal.rows)}) equal a row of another class "
            f"in all attributes. From these attributes alone, accuracy can be at most "
            f"{100 * equal.ceiling:.4g} %.",
        )


def _constant_or_thin(schema: Schema, tests: Sequence[AttributeTests], rows: int) -> Iterator[Finding]:
    names = [c.name for c in schema.columns if c.kind == "constant"]
    if names:
        have, tell = ("has", "carries") if len(names) == 1 else ("have", "carry")
        words = f"{list_names(names)} {have} a single value (or none) and {tell} no information."
        yield Finding("constant", tuple(names), False, words)
    for t in tests:
        if t.usual is not None and NEARLY_CONSTANT <= t.usual_share < 1:
            yet = "" if t.idle else " The few other values do carry information."
            yield Finding(
                "constant",
                (t.name,),
                False,
                f"{shown(t.name)} is nearly constant: {share(t.usual_share)} of its cells are {shown(t.usual, 30)}."
                f"{yet}",
            )
        if t.kind == "nominal" and t.values >= MANY_VALUES and t.values * ROWS_A_LEVEL > rows * (1 - t.missing):
            each = rows * (1 - t.missing) / t.values
            yield Finding(
                "thin",
                (t.name,),
                False,
                f"{shown(t.name)} has {t.values:,} levels, {each:.1f} rows each: too few to learn what a level means. "
                f"Is it a name? To leave it out: {type_option(t.name, 'ignore')}",
            )


def _bound(bonds: Sequence[Dependency]) -> Iterator[Finding]:
    for b in bonds:
        one, other, seen = shown(b.name), shown(b.by[0]), f"in all {b.rows:,} rows compared"
        if b.how == "copy":
            words = f"{one} is {other} under other names: each determines the other {seen}."
            yield Finding("copy", (b.name, *b.by), True, f"{words} Keep one: {type_option(b.name, 'ignore')}")
        elif b.how == "function":
            words = f"{one} is a function of {other}: equal values of {other} always have equal values of {one} {seen}."
            yield Finding("function", (b.name, *b.by), False, words)
        elif b.how == "rank" and b.exact:
            way = "rises" if (b.correlation or 0) > 0 else "falls"
            words = f"{one} {way} with {other} without exception {seen}: each determines the other."
            yield Finding("copy", (b.name, *b.by), True, f"{words} Keep one: {type_option(b.name, 'ignore')}")
        elif b.how == "rank":
            words = f"{one} is nearly {other}: rank correlation {b.correlation:.4f} ({b.rows:,} rows compared)."
            yield Finding("copy", (b.name, *b.by), True, words)
        else:
            words = f"{one} can be computed from {list_names(b.by)}: it is linear in them {seen}."
            yield Finding("function", (b.name, *b.by), False, words)


def _idle(tests: Sequence[AttributeTests], of: str) -> Iterator[Finding]:
    idle = [t.name for t in tests if t.idle]
    if idle:
        has = "1 attribute has" if len(idle) == 1 else f"{len(idle)} attributes have"
        yield Finding(
            "idle",
            tuple(idle),
            False,
            f"{has} no relation to {of} beyond chance: {list_names(idle)}. (Each on its own; two "
            "together may still be informative.)",
        )
