"""What a check-up found, as sentences for people: each with its kind, its columns, and whether to beware of it.

Knows the records of this room, looks at no rows. Everything that came from data is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from likely.errors import shown
from likely.evaluate.attributes.information import Attribute
from likely.evaluate.attributes.redundancy import Pair, chance
from likely.evaluate.troubles.beware import LEAK, MUCH_MISSING, NEARLY_MISSING
from likely.evaluate.troubles.cautions import TextSeen, beware, notes
from likely.evaluate.troubles.functions import Bond, Grouped
from likely.evaluate.troubles.telling import CHANCE, Told
from likely.evaluate.troubles.twins import Twinned
from likely.intake.schema import AS_ASKED, type_option
from likely.sums.summary import Summary
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
MANY_COPIES = 0.01
MOST = 5
MOST_ALIKE = 3
"""Findings of one kind that are told one by one."""


@dataclass(frozen=True)
class Order:
    """What the place of a row in the table tells about its class."""

    share: float
    """Of the target's entropy."""
    p: float
    blocks: int
    """The table was cut into so many runs of rows."""


@dataclass(frozen=True)
class Finding:
    """One thing that may be wrong."""

    kind: str
    """leak, missing, order, date, group, identifier, thin, constant, copy, function, repeat, idle, copies,
    contradiction, text, gaps, reading."""
    columns: tuple[str, ...]
    grave: bool
    """Whether scores or models may be wrong because of it; else it is good to know."""
    words: str


def findings(
    total: Summary,
    told: Sequence[Told],
    cut: Sequence[Attribute],
    order: Order | None,
    bonds: Sequence[Bond],
    grouped: Sequence[Grouped],
    pairs: Sequence[Pair],
    texts: Sequence[TextSeen],
    twins: Twinned,
    twice: bool,
) -> tuple[Finding, ...]:
    """All that was found, grave first; `twice` says that chance does not explain how many rows are equal."""
    schema, classes, target = total.schema, total.classes, total.schema.target
    assert target is not None
    of = shown(target.name)
    out = list(_leaks(told, of))
    leaks = {name for f in out for name in f.columns}
    out += _marks([a for a in cut if a.name not in leaks], classes, of)
    out += _missing(told, classes, of)
    out += _time(told, order, of)
    out += _groups([g for g in grouped if g.name not in leaks and schema[g.name].kind != "text"], of)
    for text in texts:
        out += [Finding("text", (text.words.name,), True, words) for words in beware(text)]
        out += [Finding("text", (text.words.name,), False, words) for words in notes(text)]
    out += _equal_rows(twins, twice)
    out += _useless(schema, told, total.rows)
    out += _bound(bonds)
    out += _repeated(pairs, {frozenset((b.name, by)) for b in bonds for by in b.by}, of)
    out += _idle(told, of)
    return tuple(sorted(out, key=lambda f: not f.grave))


def _listed(names: Sequence[str], most: int = MOST) -> str:
    return ", ".join(shown(name, 30) for name in names[:most]) + (" …" if len(names) > most else "")


def share(value: float) -> str:
    """A share in per cent, never 0 or 100 where it is not.

    >>> share(0.5), share(0.99996), share(1)
    ('50 %', '> 99.9 %', '100 %')
    """
    if value in (0, 1):
        return f"{100 * value:.0f} %"
    if value > 0.999:
        return "> 99.9 %"
    return "< 0.1 %" if value < 0.001 else f"{100 * value:.2g} %" if value < 0.1 else f"{100 * value:.3g} %"


def _leaks(told: Sequence[Told], of: str) -> Iterator[Finding]:
    for t in told:
        if t.kind == "text" or t.p_of_all >= CHANCE or t.missing >= NEARLY_MISSING:
            continue
        if t.share >= LEAK * (1 - t.missing):
            yield Finding(
                "leak",
                (t.name,),
                True,
                f"{shown(t.name)} alone nearly decides {of}: it tells {share(t.share)} of what there is to know. Is it "
                f"known before {of} is, or does it follow from it? Without it: {type_option(t.name, 'ignore')}",
            )


def _marks(cut: Sequence[Attribute], classes: tuple[str, ...], of: str) -> Iterator[Finding]:
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
                    f"{shown(a.name)} = {shown(a.cells[k], 30)} marks the class {shown(classes[c], 30)} of {of}: "
                    f"{share(both / cells[k])} of these rows are of it, and {share(both / whole[c])} of its rows have "
                    "it. Is it part of how the class is defined?",
                )


def _missing(told: Sequence[Told], classes: tuple[str, ...], of: str) -> Iterator[Finding]:
    telling = sorted((t for t in told if t.p_missing_of_all < CHANCE and t.missing_share >= WORTH),
                     key=lambda t: -t.missing_share)  # fmt: skip
    for k, t in enumerate(telling[:MOST_ALIKE]):
        order = sorted(range(len(classes)), key=lambda c: t.missing_by_class[c])
        low, high = order[0], order[-1]
        then = " If it is filled in when the class is known, it is a leak; if not, --missing-as level counts it."
        yield Finding(
            "missing",
            (t.name,),
            True,
            f"Whether {shown(t.name)} is missing tells {share(t.missing_share)} of what there is to know of {of}: it "
            f"is missing in {share(t.missing_by_class[high])} of the rows of class {shown(classes[high], 30)}, in "
            f"{share(t.missing_by_class[low])} of class {shown(classes[low], 30)}.{'' if k else then}",
        )
    if len(telling) > MOST_ALIKE:
        names = tuple(t.name for t in telling[MOST_ALIKE:])
        words = f"So does whether {len(names)} more attributes are missing, each by itself: {_listed(names)}."
        yield Finding("missing", names, True, words)
    gaps = [t.name for t in told if t.missing >= MUCH_MISSING]
    if gaps:
        count = "1 attribute is" if len(gaps) == 1 else f"{len(gaps)} attributes are"
        yield Finding("gaps", tuple(gaps), False, f"{count} missing in at least half of the rows: {_listed(gaps)}.")


def _time(told: Sequence[Told], order: Order | None, of: str) -> Iterator[Finding]:
    if order is not None and order.p < CHANCE and order.share >= WORTH:
        sorted_by = order.share >= SORTED
        yield Finding(
            "order",
            (),
            True,
            f"The place of a row in the table tells {share(order.share)} of what there is to know of {of} "
            f"({chance(order.p)}): "
            + (
                "the table is sorted by class. A running number or a time of entry would give the class away, and the "
                "first rows are no sample of all."
                if sorted_by
                else "the classes' shares change from its beginning to its end. Scores of rows dealt at random may "
                "then be better than those of rows to come."
            ),
        )
    for t in told:
        if t.kind == "date" and t.p_of_all < CHANCE and t.share >= WORTH:
            yield Finding(
                "date",
                (t.name,),
                True,
                f"The date {shown(t.name)} tells {share(t.share)} of what there is to know of {of}: {of} changes with "
                "time, and rows to come have dates that no row has had. See likely look --time.",
            )


def _groups(grouped: Sequence[Grouped], of: str) -> Iterator[Finding]:
    for g in grouped:
        if g.values >= MANY_VALUES:
            yield Finding(
                "group",
                (g.name,),
                True,
                f"Rows with the same {shown(g.name)} always have the same class of {of}, in all {g.repeats:,} "
                f"repetitions of {g.values:,} values that were looked at. If it names whom rows are about, hold "
                "all rows of one out together: likely look --group, likely compare --group.",
            )


def _equal_rows(twins: Twinned, twice: bool) -> Iterator[Finding]:
    """Rows of a few levels each repeat by nature; those with measurements, or texts, hardly do."""
    of = f"{twins.rows:,} rows" + (" that were compared" if twins.sampled else "")
    if twins.copied:
        across = (
            "" if not twins.across else ", each with such a row in another fold: it was learned before it was predicted"
            if twins.across == twins.copied
            else f", {twins.across:,} of them with such a row in another fold: learned before they were predicted"
        )  # fmt: skip
        yield Finding(
            "copies",
            (),
            twice,
            f"{twins.copied:,} of {of} ({share(twins.copied / twins.rows)}) equal another row in all attributes and in "
            f"class{across}.",
        )
    if twins.contradicted:
        yield Finding(
            "contradiction",
            (),
            twins.contradicted >= MANY_COPIES * twins.rows,
            f"{twins.contradicted:,} of {of} ({share(twins.contradicted / twins.rows)}) equal a row of another class "
            f"in all attributes. Who sees these attributes alone can be right about {100 * twins.ceiling:.4g} % of the "
            "rows at most.",
        )


def _useless(schema: Schema, told: Sequence[Told], rows: int) -> Iterator[Finding]:
    for column in schema.columns:
        if column.kind == "identifier" and column.why != AS_ASKED:
            yield Finding(
                "identifier",
                (column.name,),
                False,
                f"{shown(column.name)} looks like an identifier and is left out: {column.why}.",
            )
        elif " other cell" in column.why:
            other = "number" if column.kind == "nominal" else "nominal"
            how = type_option(column.name, other)
            words = f"{shown(column.name)} is mixed: {column.why}. If that is wrong, say {how}."
            yield Finding("reading", (column.name,), False, words)
    constant = [c.name for c in schema.columns if c.kind == "constant"]
    if constant:
        said = "has one value, or none," if len(constant) == 1 else "have one value each, or none,"
        yield Finding("constant", tuple(constant), False, f"{_listed(constant)} {said} and tells nothing."
                      if len(constant) == 1 else f"{_listed(constant)} {said} and tell nothing.")  # fmt: skip
    for t in told:
        if t.usual is not None and NEARLY_CONSTANT <= t.usual_share < 1:
            yet = "" if t.idle else " The few others do tell something."
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
                f"Is it a name? Without it: {type_option(t.name, 'ignore')}",
            )


def _bound(bonds: Sequence[Bond]) -> Iterator[Finding]:
    for b in bonds:
        one, other, seen = shown(b.name), shown(b.by[0]), f"in all {b.rows:,} rows that were compared"
        if b.how == "copy":
            words = f"{one} is {other} under other names: one tells the other {seen}."
            yield Finding("copy", (b.name, *b.by), True, f"{words} Keep one: {type_option(b.name, 'ignore')}")
        elif b.how == "function":
            words = f"{one} is a function of {other}: equal values of {other} have equal ones of {one} {seen}."
            yield Finding("function", (b.name, *b.by), False, words)
        elif b.how == "rank" and b.exact:
            way = "rises" if (b.correlation or 0) > 0 else "falls"
            words = f"{one} {way} with {other} without exception {seen}: one tells the other."
            yield Finding("copy", (b.name, *b.by), True, f"{words} Keep one: {type_option(b.name, 'ignore')}")
        elif b.how == "rank":
            words = f"{one} is nearly {other}: their ranks correlate by {b.correlation:.4f} ({b.rows:,} rows compared)."
            yield Finding("copy", (b.name, *b.by), True, words)
        else:
            words = f"{one} can be computed from {_listed(b.by)}: it is linear in them {seen}."
            yield Finding("function", (b.name, *b.by), False, words)


def _repeated(pairs: Sequence[Pair], known: set[frozenset[str]], of: str) -> Iterator[Finding]:
    worst = [p for p in pairs if p.matters and frozenset((p.one, p.other)) not in known]
    for p in worst[:3]:
        words = (
            f"{shown(p.one)} and {shown(p.other)} repeat each other given {of} ({p.bits:.2f} bits, "
            f"{chance(p.p_of_all)}): see likely repeats."
        )
        yield Finding("repeat", (p.one, p.other), False, words)
    if len(worst) > 3:
        names = tuple(dict.fromkeys(n for p in worst[3:] for n in (p.one, p.other)))
        yield Finding("repeat", names, False, f"{len(worst) - 3} more pairs of attributes repeat each other.")


def _idle(told: Sequence[Told], of: str) -> Iterator[Finding]:
    idle = [t.name for t in told if t.idle]
    if idle:
        has = "1 attribute has" if len(idle) == 1 else f"{len(idle)} attributes have"
        yield Finding(
            "idle",
            tuple(idle),
            False,
            f"{has} nothing to do with {of} that chance would not explain: {_listed(idle)}. (Each by itself; two "
            "together may still tell something.)",
        )
