"""What was known before the rows, set beside what the rows say: as a table, and as sentences on what no row has.

Knows factors and counts; believes nothing of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from likely.errors import nearest, shown
from likely.models.contracts import Factor
from likely.models.factors.categorical import Categorical
from likely.models.factors.normal import root_of, variance_of
from likely.models.fractions import Quotient
from likely.models.knowledge import Knowledge
from likely.models.prior import Shares, known_normals, known_prior
from likely.models.settings import Variance
from likely.models.shapes import Exhibit, Gaussian
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary

Row = tuple[str | float, ...]
NOTHING = "–"


def known_exhibits(
    learner: Any, summary: Summary, prior: Sequence[Quotient], factors: Sequence[Factor]
) -> tuple[Exhibit, ...]:
    """What was known and what it was worth, what the rows say and what they weigh, and what comes of both."""
    knowledge: tuple[Knowledge, ...] = getattr(learner, "knowledge", ())
    if not knowledge:
        return ()
    rows = [*_classes(knowledge, summary, prior)]
    for factor in factors:
        if isinstance(factor, Categorical) and factor.settings.known:
            rows += _levels(factor, summary)
        elif isinstance(factor, Gaussian):
            rows += _normals(factor, knowledge, summary, learner.variance)
    header = ("of", "in class", "known", "worth", "rows say", "rows weigh", "together")
    return (Exhibit("Prior knowledge, compared with the rows", header, tuple(rows)),)


def _classes(knowledge: Sequence[Knowledge], summary: Summary, prior: Sequence[Quotient]) -> Iterator[Row]:
    known = known_prior(knowledge, summary.schema)
    if known is None:
        return
    counts = summary.total.fractions()
    whole = sum(counts, Fraction(0))
    for name, said, n, found in zip(summary.classes, _shares(known, summary.classes), counts, prior, strict=True):
        yield f"P({name})", NOTHING, said, float(known.worth), _share(n, whole), float(whole), float(found)


def _shares(known: Shares, names: Sequence[str]) -> list[float]:
    return [float(rows / known.worth) for rows in known.spread(names)]


def _share(n: Fraction, whole: Fraction) -> str | float:
    return float(n / whole) if whole else NOTHING


def _levels(factor: Categorical, summary: Summary) -> Iterator[Row]:
    names, counts = factor.labels.names, factor.counts
    sums = counts.table[: len(counts.labels)].sum(0).fractions()
    found = [factor.quotients(code) or () for code in range(len(names))]
    for group, (label, known) in enumerate(zip(summary.classes, factor.settings.known, strict=True)):
        if known is None:
            continue
        for code, (name, said) in enumerate(zip(names, _shares(known, names), strict=True)):
            if name not in known.shares:
                continue  # it only takes its part of what is left
            place = counts.labels.index.get(name)
            seen = Fraction(0) if place is None else counts.table[place].fractions()[group]
            whole = sums[group]
            together = float(found[code][group])
            yield f"{factor.name}={name}", label, said, float(known.worth), _share(seen, whole), float(whole), together


def _normals(factor: Gaussian, knowledge: Sequence[Knowledge], summary: Summary, kind: Variance) -> Iterator[Row]:
    numbers = summary.column(factor.name, Numbers)
    known = known_normals(knowledge, factor.name, summary.classes, summary.schema)
    for group, belief in enumerate(known):
        if belief is None:
            continue
        moments = numbers.moments()[group]
        weight, first, _ = moments
        spread = variance_of(moments, kind) if weight else None
        label, worth = summary.classes[group], float(belief.worth)
        mean = float(first / weight) if weight else NOTHING
        deviation = NOTHING if spread is None else root_of(spread) if spread else 0.0
        for what, said, seen, found in (
            ("mean", float(belief.mean), mean, factor.mean[group]),
            ("deviation", root_of(belief.variance), deviation, factor.deviation[group]),
        ):
            yield f"{factor.name}, {what}", label, said, worth, seen, float(weight), float(found)


def known_notes(summary: Summary, factors: Sequence[Factor], prior: Sequence[Quotient]) -> list[str]:
    """What a person should know of classes and levels that no row has: one of them may be misspelt."""
    if not summary.rows:
        told = "There are no rows yet: the model rests on knowledge alone."
        nothing = all(q.value == prior[0].value for q in prior) and len(prior) > 1
        return [told + (" All classes count as equally frequent." if nothing else "")]
    out = []
    empty = summary.total.is_zero()
    there = [name for name, none in zip(summary.classes, empty, strict=True) if not none]
    for name, none, chance in zip(summary.classes, empty, prior, strict=True):
        if none:
            rest = (
                " and its prior is 0, as nothing says how frequent it is (Knowledge.prior)" if not chance.value else ""
            )
            out.append(
                f"No row has the class {shown(name)}, which knowledge names{rest}. {_close(name, there)}".rstrip()
            )
    for factor in factors:
        if isinstance(factor, Categorical) and factor.settings.known:
            seen = factor.counts.labels.names
            for name in dict.fromkeys(n for s in factor.settings.known if s is not None for n in s.shares):
                if name not in seen:
                    told = f"No row has the level {shown(name)} of {shown(factor.name)}, which knowledge names."
                    out.append(f"{told} {_close(name, seen)}".rstrip())
    return out


def _close(name: str, names: Sequence[str]) -> str:
    """The nearest name, where one is near; a list of others would say nothing here."""
    found = nearest(name, names)
    return found if found.startswith("Did you mean") else ""
