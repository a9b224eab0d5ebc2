"""Columns that give the class away: those that alone nearly determine it, and identifiers in blocks by class.

Knows sums, looks at no rows. `look` and `doctor` share what is found here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import shown
from likely.evaluate.attributes.information import Attribute, best_cut, entropy, information, rows_a_weight
from likely.evaluate.scores.intervals import Measure
from likely.evaluate.troubles.findings import Finding, is_leak, leak, list_names
from likely.machinery.arrays import Floats
from likely.sums.columns.numbers import CAP, Numbers
from likely.sums.summary import Summary
from likely.table.infer import type_option

if TYPE_CHECKING:
    pass


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


def leak_findings(total: Summary, told: Sequence[Attribute]) -> Iterator[Finding]:
    """Columns that give the class away, each in a sentence."""
    assert total.schema.target is not None
    of = shown(total.schema.target.name)
    deciding = [a.name for a in told if a.words is None and is_leak(share_told(total, a), a.missing)]
    for name in deciding:
        yield leak(name, of, "is it known before the target?")
    yield from identifier_findings(total, [a for a in told if a.name not in deciding])


def share_told(total: Summary, attribute: Attribute) -> float:
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


def identifier_findings(total: Summary, told: Sequence[Attribute]) -> Iterator[Finding]:
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


def date_findings(total: Summary, told: Sequence[Attribute]) -> list[Finding]:
    """That a date tells most: what comes later is then to be predicted from what came before."""
    if not told or total.schema[told[0].name].kind != "date" or told[0].share < STRONG_DATE:
        return []
    name, target = told[0].name, total.schema.target
    assert target is not None
    words = (
        f"The date {shown(name)} tells most about {shown(target.name)} of all columns, and rows to come have dates not "
        f"seen here. To predict them from earlier rows: --time {shown(name)}"
    )
    return [Finding("date", (name,), True, words)]
