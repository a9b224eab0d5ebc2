"""What may be wrong with a table or flatter its scores, as findings: a kind, columns and a sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from likely.errors import shown
from likely.evaluate.attributes.information import (
    NEARLY_ALL,
    AttributeInformation,
    WordStatistics,
    best_cut,
    entropy,
    information,
    rows_a_weight,
)
from likely.evaluate.attributes.redundancy import RepeatedPair
from likely.evaluate.scores.intervals import Measure
from likely.evaluate.troubles.rows import Copies, RepeatedRows
from likely.machinery.arrays import Floats
from likely.machinery.words import chance
from likely.models.heldout.kept_rows import copies_sentence
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import CAP, Numbers
from likely.sums.summary import Summary
from likely.table.infer import remark, type_option
from likely.table.schema import Schema

# What may be wrong with a table or flatter its scores: findings, each with its kind, its columns and a sentence.

LEAK = 0.95
"""An attribute that tells this share of the target alone may be an effect of it rather than a cause."""
MUCH_MISSING = 0.5
NEARLY_MISSING = 0.9
"""Too few cells to say that an attribute decides anything."""
FEW_ROWS = 100
MANY_COPIES = 0.01
"""A share of copied texts, or of rows that contradict each other, from which on they matter."""
MOST, MOST_WORDS = 5, 6
"""Names, and words, that one sentence lists."""
MOST_ALIKE = 3
"""Findings of one kind that are told one by one."""


@dataclass(frozen=True)
class TextFinding:
    """What was counted of a text column: words that tell something, and copies of texts."""

    words: WordStatistics
    copies: Copies


@dataclass(frozen=True)
class Finding:
    """One thing that may be wrong."""

    kind: str
    """leak, missing, order, date, group, identifier, thin, constant, copy, function, repeat, idle, copies,
    contradiction, text, gaps, reading, rare, left out, few rows, small class, infinite, placeholder."""
    columns: tuple[str, ...]
    grave: bool
    """Whether scores or models may be wrong because of it; else it is good to know."""
    words: str


# -- what both look for -------------------------------------------------------------------------------------


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


def list_names(names: Sequence[str], most: int = MOST, limit: int = 30) -> str:
    return ", ".join(shown(name, limit) for name in names[:most]) + (" …" if len(names) > most else "")


def is_leak(share_told: float, missing: float) -> bool:
    return missing < NEARLY_MISSING and share_told >= LEAK * (1 - missing)


def leak(name: str, of: str, then: str) -> Finding:
    return Finding("leak", (name,), True, f"{shown(name)} alone nearly determines {of}: {then}")


def gap_findings(missing: Mapping[str, float], grave: bool) -> Iterator[Finding]:
    names = [name for name, gone in missing.items() if gone >= MUCH_MISSING]
    if names:
        count = "1 attribute is" if len(names) == 1 else f"{len(names)} attributes are"
        words = f"{count} missing in at least half of the rows: {list_names(names)}."
        yield Finding("gaps", tuple(names), grave, words)


def reading_findings(schema: Schema, grave: bool) -> Iterator[Finding]:
    """What is left out, and cells unlike the rest."""
    for column in schema.columns:
        if words := remark(column):
            kind = "identifier" if column.kind == "identifier" else "reading"
            yield Finding(kind, (column.name,), grave, words)


def repeat_findings(
    pairs: Iterable[RepeatedPair], of: str, grave: bool, but: Collection[frozenset[str]] = ()
) -> Iterator[Finding]:
    """Pairs that naive Bayes counts twice; where that is grave, with how far they push the odds."""
    worst = [p for p in pairs if p.matters and frozenset((p.one, p.other)) not in but]
    for k, p in enumerate(worst[:MOST_ALIKE]):
        then = "see likely repeats."
        if grave:
            more = "" if k else f" To see what joining them or dropping one would change, {then}"
            # Dependent attributes may say less together than by themselves, or more: only copies always say less.
            how = "counting both overstates" if p.same else "taking them as independent misstates"
            then = f"{how} the odds by {p.push:.1f} bits.{more}"
        if p.same:
            words = f"{shown(p.other)} has the same value as {shown(p.one)} in all {p.rows:,} rows checked: {then}"
            yield Finding("repeat", (p.one, p.other), grave, words)
            continue
        words = (
            f"{shown(p.one)} and {shown(p.other)} depend on each other given {of} ({p.bits:.2f} bits, "
            f"{chance(p.p_of_all)}): {then}"
        )
        yield Finding("repeat", (p.one, p.other), grave, words)
    if len(worst) > MOST_ALIKE:
        names = tuple(dict.fromkeys(n for p in worst[MOST_ALIKE:] for n in (p.one, p.other)))
        yield Finding(
            "repeat", names, grave, f"{len(worst) - MOST_ALIKE} more pairs of attributes depend on each other."
        )


def text_findings(text: TextFinding) -> Iterator[Finding]:
    """Words that give a class away, words of headers, and copies of texts; few copies do little harm."""
    name, own, copies = shown(text.words.name), (text.words.name,), text.copies
    for word in text.words.deciding[:MOST_ALIKE]:
        yield Finding(
            "text",
            own,
            True,
            f"The word {shown(word.word)} alone nearly determines whether {name} is of class {shown(word.label)}: "
            f"{share(word.share)} of its texts have it, and {share(word.elsewhere)} of the others. Is it part of the "
            "text, or was it put there with the class?",
        )
    if len(text.words.deciding) > MOST_ALIKE:
        more = len(text.words.deciding) - MOST_ALIKE
        yield Finding("text", own, True, f"{more} more words of {name} each nearly determine a class.")
    if text.words.in_nearly_all:
        words = [w.word for w in text.words.in_nearly_all]
        yield Finding(
            "text",
            own,
            True,
            f"{'1 word is' if len(words) == 1 else f'{len(words)} words are'} in at least {100 * NEARLY_ALL:.0f} % of "
            f"the texts of {name}: {list_names(words, MOST_WORDS, 20)}. If they belong to a header or a form, what is "
            "filled in there may leak the class, which will not help on other texts.",
        )
    if copies.copied:
        of = f"{copies.texts:,}" + (" compared" if copies.sampled else "")
        out = f"{copies.copied:,} of {of} texts of {name} ({share(copies.copied / copies.texts)}) occur more than once"
        if copies.across:
            each = "each" if copies.across == copies.copied else f"{copies.across:,} of them"
            out += f", {each} with a copy in another fold, so not really unseen there"
        if copies.disputed:
            out += f"; {copies.disputed:,} have a copy of another class"
        yield Finding("text", own, copies.copied >= MANY_COPIES * copies.texts, f"{out}.")


# -- what a first look warns of -----------------------------------------------------------------------------


def rare_findings(total: Summary) -> Iterator[Finding]:
    """Levels that may be names of people: texts that occur in one row only, and are kept and shown all the same."""
    single: dict[str, int] = {}
    for column in total.schema.attributes:
        held = total.columns[column.name]
        if isinstance(held, Counts) and column.reading == "text" and column.kept is None:
            single[column.name] = int(np.count_nonzero(held.canonical().table.sum(1).floats() <= 1))
    found = {name: count for name, count in single.items() if count}
    if found:
        one = sum(found.values()) == 1
        listed = [f"{count:,} of {shown(name, 30)}" for name, count in found.items()][:MOST]
        more = " and of other attributes" if len(found) > MOST else ""
        words = (
            f"{'One level occurs' if one else 'Some levels occur'} in a single row ({', '.join(listed)}{more}); "
            f"{'it is' if one else 'they are'} shown on the page and kept in the model: --least-count 5 hides them."
        )
        yield Finding("rare", tuple(found), False, words)


def look_findings(
    total: Summary,
    told: Sequence[AttributeInformation],
    texts: Sequence[TextFinding],
    copies: RepeatedRows,
    pairs: Sequence[RepeatedPair],
    accuracy: Measure | None,
    classes: Mapping[str, float],
    least: int,
    schema: Schema,
) -> Iterator[Finding]:
    """Everything that may mislead after a first look. `pairs` are those that the learner counts twice;
    `accuracy` is None where costs count in its place; a class of fewer than `least` rows
    is small; `schema` is as the learner reads the columns.
    """
    assert total.schema.target is not None
    of = shown(total.schema.target.name)
    if total.left_out:
        rows = "1 row has" if total.left_out == 1 else f"{total.left_out:,} rows have"
        yield Finding("left out", (), True, f"{rows} no class or no weight and cannot be used.")
    if total.rows < FEW_ROWS and accuracy is not None:
        low, high = accuracy.low or 0.0, 1.0 if accuracy.high is None else accuracy.high
        words = f"With only {total.rows} rows, the true accuracy may be from {100 * low:.0f} % to {100 * high:.0f} %."
        yield Finding("few rows", (), True, words)
    small = [c for c, weight in classes.items() if weight < least]
    if small and total.rows >= FEW_ROWS:
        named = f"{len(small)} classes, such as {shown(small[0])}, have"
        named = f"Class {shown(small[0])} has" if len(small) == 1 else named
        whose = "its" if len(small) == 1 else "their"
        words = f"{named} fewer than {least} rows, so {whose} scores are uncertain."
        yield Finding("small class", (), True, words)
    if copies.belong_together and not copies.across:
        yield Finding("copies", (), True, copies_sentence(copies.copied / copies.rows))
    elif copies.matters:
        compared = f"{copies.rows:,}" + (" compared" if copies.sampled else "")
        yield Finding(
            "copies",
            (),
            True,
            f"{copies.across:,} of {compared} rows ({100 * copies.across / copies.rows:.1f} %) have a copy in another "
            "fold, so they are not really unseen: the scores may be too optimistic. If copies belong together, use "
            "--group.",
        )
    for text in texts:
        yield from text_findings(text)
    yield from gap_findings({a.name: a.missing for a in told}, True)
    yield from repeat_findings(pairs, of, True)
    yield from reading_findings(schema, True)
    yield from rare_findings(total)
    for name, statistic in total.columns.items():
        if isinstance(statistic, Numbers):
            infinite = float(statistic.other[1:].sum(0).floats().sum())
            if infinite:
                words = f"{shown(name)} has {infinite:g} infinite numbers, which count as missing."
                yield Finding("infinite", (name,), True, words)


# Columns that give the class away: those that alone nearly determine it, and identifiers in blocks by class.

UNIQUE = 0.5
"""Numbers of which there are so many different ones, for each row, may be identifiers."""
EVEN = 0.25
"""And whose rows are spread over them so evenly: the number of equally frequent ones over that of all."""
AGREE, BEYOND = 0.5, 0.1
"""What neighbours in the order of the numbers say of the class, beyond guessing; and beyond what a few bins say: what a
number measures changes gradually, so that bins say nearly as much."""
LEAST_ROWS = 100
STRONG_DATE = 0.02
"""Of the target's entropy: what a date must tell to be worth a word."""


def leak_findings(total: Summary, told: Sequence[AttributeInformation]) -> Iterator[Finding]:
    """Columns that give the class away, each in a sentence."""
    assert total.schema.target is not None
    of = shown(total.schema.target.name)
    deciding = [a.name for a in told if a.words is None and is_leak(share_told(total, a), a.missing)]
    for name in deciding:
        yield leak(name, of, "is it known before the target?")
    yield from identifier_findings(total, [a for a in told if a.name not in deciding])


def share_told(total: Summary, attribute: AttributeInformation) -> float:
    """What an attribute tells, of all there is to know: by its bins, or, of few rows, by the one cut that tells most
    (the more bins, the more of what they tell is put down to chance)."""
    held = total.columns[attribute.name]
    if not isinstance(held, Numbers):
        return attribute.share
    values, weights = held.tally()
    rows = weights.floats()
    below = np.searchsorted(values, best_cut(values, rows))
    if not len(below) or rows.sum() * rows_a_weight(total) < LEAST_ROWS:
        return attribute.share
    table = np.stack([rows[: below[0]].sum(axis=0), rows[below[0] :].sum(axis=0)])
    bits = information(table, rows_a_weight(total)) * (1 - attribute.missing)
    return max(attribute.share, bits / (entropy(total.total.floats()) or 1.0))


def identifier_findings(total: Summary, told: Sequence[AttributeInformation]) -> Iterator[Finding]:
    """Numbers that look like identifiers, and give the class away because they were given class by class."""
    assert total.schema.target is not None
    of = shown(total.schema.target.name)
    for a in told:
        held = total.columns[a.name]
        if isinstance(held, Numbers) and total.schema[a.name].kind == "number" and stands_in_blocks(held, a.table):
            words = (
                f"{shown(a.name)} looks like an identifier: whole numbers, most of them different, in blocks by {of}. "
                f"A model learns the blocks by heart, which will not help on new rows."
            )
            yield Finding("leak", (a.name,), True, words)


def stands_in_blocks(held: Numbers, bins: Floats) -> bool:
    """Whether numbers are whole, nearly all different, and tell the class by those next to them far better than by a
    few `bins` (bins, classes), as identifiers do that were given class by class."""
    values, table = held.tally()
    rows = table.floats()
    each, whole = rows.sum(axis=1), float(rows.sum())
    if whole < LEAST_ROWS or bool((values != np.floor(values)).any()) or bool((values < 0).any()):
        return False
    many = CAP / 4 if held.level else UNIQUE * whole  # of more than CAP different numbers the low bits are dropped
    if len(values) < many or whole**2 / float((each**2).sum()) < EVEN * len(values):
        return False
    guessing = float(rows.sum(axis=0).max()) / whole
    by_bins = float(bins.max(axis=1).sum() / bins.sum())
    beside = neighbour_accuracy(rows)
    return beside - guessing >= AGREE * (1 - guessing) and beside - by_bins >= BEYOND


def neighbour_accuracy(rows: Floats) -> float:
    """How often the class that most rows of the same value and of the two next to it have, the row itself left out, is
    the row's own; ties count half. `rows` are (values in order, classes).

    >>> neighbour_accuracy(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    0.75
    """
    near = rows.copy()
    near[1:] += rows[:-1]
    near[:-1] += rows[1:]
    hits = 0.0
    for k in range(rows.shape[1]):
        others = np.delete(near, k, axis=1).max(axis=1, initial=0.0)
        own = near[:, k] - 1
        hits += float(rows[:, k] @ ((own > others) + 0.5 * (own == others)))
    return hits / float(rows.sum())


def without_sentence(names: Sequence[str], accuracy: Measure) -> str:
    """What the accuracy is without these columns, and how to leave them out."""
    bounds = ""
    if accuracy.low is not None and accuracy.high is not None:
        bounds = f" ({100 * accuracy.low:.1f} to {100 * accuracy.high:.1f} %)"
    options = " ".join(type_option(name, "ignore") for name in names)
    them = "it" if len(names) == 1 else "them"
    return f"Without {list_names(names)}: {100 * (accuracy.value or 0.0):.1f} %{bounds}. To leave {them} out: {options}"


def date_findings(total: Summary, told: Sequence[AttributeInformation]) -> list[Finding]:
    """That a date tells most: what comes later is then to be predicted from what came before."""
    if not told or total.schema[told[0].name].kind != "date" or told[0].share < STRONG_DATE:
        return []
    name, target = told[0].name, total.schema.target
    assert target is not None
    words = (
        f"The date {shown(name)} tells most about {shown(target.name)} of all columns, and rows to come have dates not "
        f"seen here. To predict them from earlier rows, say --time {shown(name)}."
    )
    return [Finding("date", (name,), True, words)]
