"""What changed between two summaries: class shares, and each attribute given the class; how much, and by chance or not.

Knows summaries alone: they may come from two model files or from two tables. No rows are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import InputError, LikelyError, SettingError, shown
from likely.evaluate.attributes.information import rows_a_weight
from likely.evaluate.attributes.repetition import holm, repetition
from likely.evaluate.drift.shifts import Moved, Scales, Shift, Spread, of_levels, of_numbers, of_words
from likely.models.contracts import Model
from likely.sums import state
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.sums.words.words import Words
from likely.table.schema import difference

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHANCE = 0.01
"""A change is significant where chance alone would give any such change less often, all tests considered (Holm)."""


@dataclass(frozen=True)
class Share:
    """A class, and its share of the rows."""

    name: str
    before: float
    after: float


@dataclass(frozen=True)
class Change:
    """One attribute. p-values are corrected for how many tests there were."""

    name: str
    kind: str
    significant: bool
    p_given_class: float
    """Whether its values changed in rows of one class: what naive Bayes believes of it."""
    p_overall: float
    """Whether its values changed, whatever the class: this also changes where only the classes' shares did."""
    moved: float
    """Share of rows that would have to have another value for the first to be as the second, given the class. Of a
    text: the largest change of the share of texts that have a word."""
    cells: tuple[Moved, ...]
    """The values that moved, the most surprising first."""
    spreads: tuple[Spread, ...]
    """Of a number: mean and standard deviation in each class."""
    new_levels: tuple[str, ...]
    gone_levels: tuple[str, ...]


@dataclass(frozen=True)
class Changes:
    """Everything that `likely diff` says of two models' sums. Holds no rows."""

    rows_before: int
    rows_after: int
    classes: tuple[Share, ...]
    p_classes: float
    """Whether the classes' shares changed; corrected like the rest."""
    attributes: tuple[Change, ...]
    """Significant ones first, then by how much moved."""
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    read_differently: tuple[tuple[str, str], ...]
    """Columns that the two read in different ways, so that they cannot be compared, and how they differ."""
    contained: bool
    """Whether the second may have learned all rows of the first: nothing in the sums speaks against it."""
    chance: float = CHANCE

    @property
    def significant(self) -> tuple[Change, ...]:
        return tuple(c for c in self.attributes if c.significant)

    def json(self) -> bytes:
        """The whole record as JSON."""
        return state.as_json(state.plain(self))


def changes(one: Model | Summary, two: Model | Summary, *, grown: bool = False, chance: float = CHANCE) -> Changes:
    """What is different in the rows that the second has learned, per attribute, where both read a column alike.

    With `grown` the second has learned on from the first, and only its new rows are compared: a subtraction, exact.

    >>> from likely import summarize
    >>> one = summarize({"sky": ["sun", "rain"] * 40, "play": ["y", "n"] * 40}, target="play")
    >>> two = summarize({"sky": ["sun", "sun"] * 40, "play": ["y", "n"] * 40}, schema=one.schema)
    >>> found = changes(one, two)
    >>> [(c.name, c.gone_levels) for c in found.significant]
    [('sky', ('rain',))]
    """
    if not 0 < chance < 1:
        raise SettingError(f"chance is {shown(chance)}. It is a probability above 0 and below 1, such as 0.01.")
    one, two = (held.summary if isinstance(held, Model) else held for held in (one, two))
    _check_targets(one, two)
    if grown:
        two = _new_rows(one, two)
    contained = not grown and _contains(two, one)
    a, b = (s.canonical().with_classes({*one.classes, *two.classes}) for s in (one, two))
    for summary, word in ((a, "first"), (b, "second")):
        if not summary.rows:
            raise InputError(f"The {word} has no rows, so there is nothing to compare.")
    scales = rows_a_weight(a), rows_a_weight(b)
    weights = np.stack([s * t.total.floats() for s, t in zip(scales, (a, b), strict=True)])
    shares = weights / weights.sum(axis=1, keepdims=True)
    p_classes, attributes, differing = _attributes(a, b, weights, scales, chance)
    return Changes(
        a.rows,
        b.rows,
        tuple(Share(n, *map(float, s)) for n, s in zip(a.classes, shares.T, strict=True)),
        p_classes,
        attributes,
        tuple(n for n in a.columns if n not in b.columns),
        tuple(n for n in b.columns if n not in a.columns),
        differing,
        contained,
        chance,
    )


def _attributes(
    a: Summary, b: Summary, weights: NDArray[np.float64], scales: Scales, chance: float
) -> tuple[float, tuple[Change, ...], tuple[tuple[str, str], ...]]:
    """The p-value of the classes' shares, the change of each attribute (corrected together), and what is not alike."""
    shifts: dict[str, Shift] = {}
    differing = []
    for column in a.schema.attributes:
        if column.name in b.columns:
            if column != b.schema[column.name] and (how := _incomparable(a, b, column.name)):
                differing.append((column.name, how))
            else:
                shifts[column.name] = _shift(a, b, column.name, scales)
    tests = [repetition(weights[:, :, None]).p, *(p for shift in shifts.values() for p in (shift.given, shift.overall))]
    corrected = holm(tests)
    out = [
        Change(
            name,
            a.schema[name].kind,
            min(given, overall) < chance,
            given,
            overall,
            shift.moved,
            shift.cells,
            shift.spreads,
            shift.new,
            shift.gone,
        )
        for (name, shift), given, overall in zip(shifts.items(), corrected[1::2], corrected[2::2], strict=True)
    ]
    return corrected[0], tuple(sorted(out, key=lambda c: (not c.significant, -c.moved))), tuple(differing)


def _new_rows(one: Summary, two: Summary) -> Summary:
    """The rows that the second has learned since it was as the first."""
    try:
        return two - one
    except LikelyError as error:
        raise InputError(f"The second did not learn on from the first. {error}") from None


def _check_targets(one: Summary, two: Summary) -> None:
    first, second = one.schema.target, two.schema.target
    names = [None if t is None else t.name for t in (first, second)]
    if names[0] != names[1]:
        told = " and ".join("no target" if n is None else f"the target {shown(n)}" for n in names)
        raise SettingError(f"The two have {told}. Only models of the same target can be compared.")
    if first is not None and second is not None and first.edges != second.edges:
        raise SettingError(f"The two cut the target {shown(first.name)} into bins at different edges.")


def _contains(two: Summary, one: Summary) -> bool:
    """Whether the first can be taken out of the second."""
    if two.rows < one.rows:
        return False
    try:
        two - one
    except LikelyError:
        return False
    return True


def _incomparable(one: Summary, two: Summary, name: str) -> str:
    """Why a column cannot be compared; empty where it can, such as where only other levels are declared."""
    a, b = one.schema[name], two.schema[name]
    if type(one.columns[name]) is type(two.columns[name]) and a.kind == b.kind and a.reading == b.reading:
        return "" if a.tokens == b.tokens else difference(a, b)
    return difference(a, b)


def _shift(one: Summary, two: Summary, name: str, scales: Scales) -> Shift:
    a, b, classes = one.columns[name], two.columns[name], tuple(one.classes)
    if isinstance(a, Counts) and isinstance(b, Counts):
        return of_levels(a, b, classes, scales)
    if isinstance(a, Words) and isinstance(b, Words):
        return of_words(a, b, classes, scales)
    assert isinstance(a, Numbers) and isinstance(b, Numbers)  # `_incomparable` has seen to it
    return of_numbers(a, b, classes, scales, one.schema[name].kind == "date")
