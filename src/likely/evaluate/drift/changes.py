"""What changed between two summaries: class shares, and each attribute given the class; and whether by chance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.errors import InputError, LikelyError, SettingError, shown
from likely.evaluate.attributes.information import documents, rows_a_weight, tables
from likely.evaluate.attributes.redundancy import holm, repetition
from likely.machinery.distributions import chi_square_tail
from likely.machinery.presented import Presented
from likely.models.contracts import Model
from likely.models.factors.normal import root_of
from likely.sums import state
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.sums.tallies import quantile_edges
from likely.sums.words.counting import Words
from likely.table.labels import bin_labels
from likely.table.schema import difference

if TYPE_CHECKING:
    from numpy.typing import NDArray


# How one attribute shifted between two samples: tests and shares of its cells, given the class and in all.

MOST_CELLS = 10
"""Cells of one attribute that are kept, those that speak loudest first."""
SHARE_BINS = 12
LEAST_TEXTS = 5
"""Words that fewer texts of the two have are not tested: they could not be significant."""

Table: TypeAlias = "NDArray[np.float64]"
Scales: TypeAlias = tuple[float, float]
"""How many rows a weight of one stands for, on each side."""


@dataclass(frozen=True)
class Moved:
    """A cell of an attribute: how frequent it was in rows of a class, and how frequent it is."""

    cell: str
    label: str
    """The class; empty where all rows are meant."""
    before: float
    after: float
    rows_before: float
    rows_after: float
    surprise: float
    """How many standard errors it grew (or shrank, below zero), were there nothing but chance."""


@dataclass(frozen=True)
class NumberSpread:
    """Mean and standard deviation of a number in rows of a class, from the exact sums; None where there are none."""

    label: str
    mean_before: float | None
    mean_after: float | None
    deviation_before: float | None
    deviation_after: float | None


@dataclass(frozen=True)
class Shift:
    """One attribute in two samples."""

    given: float
    """How often chance alone would give as much, the class of each row being known."""
    overall: float
    """The same, whatever the class."""
    moved: float
    """Share of rows that would have to have another value for the first to be as the second, given the class."""
    cells: tuple[Moved, ...]
    spreads: tuple[NumberSpread, ...] = ()
    new: tuple[str, ...] = ()
    """Levels that only the second has."""
    gone: tuple[str, ...] = ()
    """Levels that only the first has."""


def level_tables(one: Counts, two: Counts, scales: Scales) -> tuple[list[str], Table, Table]:
    """Names of levels, and rows of each level and class on both sides; the last line is of missing cells."""
    names = sorted({*one.labels.names, *two.labels.names})
    place = {name: k for k, name in enumerate(names)}
    sides = []
    for counts, scale in zip((one, two), scales, strict=True):
        table = np.zeros((len(names) + 1, counts.groups))
        table[[place[n] for n in counts.labels.names]] = counts.table[: len(counts.labels)].floats()
        table[-1] = counts.other.floats().sum(axis=0)
        sides.append(scale * table)
    return names, sides[0], sides[1]


def number_tables(one: Numbers, two: Numbers, scales: Scales, bins: int) -> tuple[Table, list[Table], list[Table]]:
    """Edges of bins of about as many rows of the two together, rows by bin and class, and rows by value and class.

    The last line of a table of bins is of missing cells.
    """
    both = one + two
    values, pooled = both.tally()
    cut = quantile_edges(values, pooled.floats().sum(axis=1), bins) if len(values) else values
    binned, tallied = [], []
    for numbers, scale in zip((one, two), scales, strict=True):
        own, weight = numbers.coarsened(both.level).tally()
        by_value, table = np.zeros((len(values), numbers.groups)), np.zeros((len(cut) + 2, numbers.groups))
        by_value[np.searchsorted(values, own)] = scale * weight.floats()
        np.add.at(table, np.searchsorted(cut, values, side="right"), by_value)
        table[-1] = scale * numbers.other.floats().sum(axis=0)
        binned.append(table)
        tallied.append(by_value)
    return cut, binned, tallied


def of_levels(one: Counts, two: Counts, classes: tuple[str, ...], scales: Scales) -> Shift:
    """Levels, and being missing as one more."""
    names, *sides = level_tables(one, two, scales)
    given, overall = homogeneity_test(*sides), homogeneity_test(*map(_over_classes, sides))
    had, has = ({n for n, w in zip(names, side.sum(axis=1), strict=False) if w > 0} for side in sides)
    new, gone = tuple(n for n in names if n not in had), tuple(n for n in names if n not in has)
    cells = most_moved(sides[0], sides[1], (*names, "missing"), classes)
    return Shift(given, overall, total_variation(*sides), cells, new=new, gone=gone)


def of_numbers(one: Numbers, two: Numbers, classes: tuple[str, ...], scales: Scales, date: bool = False) -> Shift:
    """Numbers: their ranks tell that they rose or fell, bins that they spread otherwise; each may be the one that does.

    Both tests hold whatever the distribution is; a test of means would not, where a few numbers are huge.
    """
    cut, sides, ranked = number_tables(one, two, scales, SHARE_BINS)
    names = (*(bin_labels(tuple(cut.tolist()), date) if len(cut) else ("any",)), "missing")
    given = smaller_of_two(homogeneity_test(*sides), wilcoxon_test(*ranked))
    overall = smaller_of_two(homogeneity_test(*map(_over_classes, sides)), wilcoxon_test(*map(_over_classes, ranked)))
    spreads = tuple(
        NumberSpread(label, a[0], b[0], a[1], b[1])
        for label, a, b in zip(classes, mean_and_deviation(one), mean_and_deviation(two), strict=True)
    )
    return Shift(given, overall, total_variation(*sides), most_moved(sides[0], sides[1], names, classes), spreads)


def _over_classes(table: Table) -> Table:
    out: Table = table.sum(axis=1, keepdims=True)
    return out


def of_words(one: Words, two: Words, classes: tuple[str, ...], scales: Scales) -> Shift:
    """Texts: each word as a yes or no, tested over the classes (Cochran, Mantel and Haenszel).

    The p-value allows for how many words were looked at.
    """
    have = [scale * documents(words, len(classes)) for words, scale in zip((one, two), scales, strict=True)]
    vocabulary, mine, theirs = one.tally().vocabulary.merged(two.tally().vocabulary)
    texts = np.zeros((2, len(vocabulary), len(classes)))
    for side, (words, places, scale) in enumerate(((one, mine, scales[0]), (two, theirs, scales[1]))):
        for first, table in tables(words, len(classes)):
            texts[side, places[first : first + len(table)]] = scale * table
    some = np.flatnonzero(texts.sum(axis=(0, 2)) >= LEAST_TEXTS)
    if not len(some) or not have[0].sum() or not have[1].sum():
        return Shift(1.0, 1.0, 0.0, ())
    p_given, order, surprise = _best_word(texts[:, some], np.stack(have))
    p_overall, _, _ = _best_word(texts[:, some].sum(axis=2, keepdims=True), np.stack(have).sum(axis=1, keepdims=True))
    cells, moved = [], 0.0
    for k in order[:MOST_CELLS]:
        rows = texts[:, some[k]].sum(axis=1)
        before, after = (float(r / h.sum()) for r, h in zip(rows, have, strict=True))
        word = f"with {shown(vocabulary[int(some[k])])}"
        cells.append(Moved(word, "", before, after, float(rows[0]), float(rows[1]), float(surprise[k])))
        moved = max(moved, abs(after - before))
    return Shift(p_given, p_overall, moved, tuple(cells))


def _best_word(texts: NDArray[np.float64], have: Table) -> tuple[float, NDArray[np.intp], NDArray[np.float64]]:
    """The p-value of the most surprising word, for as many as there are; all words in order; surprise of each."""
    total = have.sum(axis=0)
    there = texts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.where(total > 0, there * have[1] / total, 0.0)
        variance = expected * have[0] * (total - there) / (total * np.maximum(total - 1, 1))
    variance = np.where(total > 1, variance, 0.0).sum(axis=1)
    off = (texts[1] - expected).sum(axis=1)
    surprise = np.divide(off, np.sqrt(variance), out=np.zeros_like(off), where=variance > 0)
    order = np.argsort(-np.abs(surprise), kind="stable")
    best = float(surprise[order[0]])
    return min(1.0, len(surprise) * chi_square_tail(best * best, 1)), order, surprise


def homogeneity_test(one: Table, two: Table) -> float:
    """How often chance alone makes two tables (cells, classes) so different in their cells given the class."""
    return repetition(np.stack([one, two])).p


def smaller_of_two(first: float, second: float) -> float:
    """A p-value for two tests of which one is enough."""
    return min(1.0, 2 * min(first, second))


def wilcoxon_test(one: Table, two: Table) -> float:
    """Whether values (in order, by class) rank higher in one of the two: Wilcoxon's rank sums, squared, over classes.

    >>> low, high = np.array([[1.0], [1], [1], [0], [0], [0]]), np.array([[0.0], [0], [0], [1], [1], [1]])
    >>> round(wilcoxon_test(low, high), 4)
    0.0495
    """
    pooled = one + two
    n, first, second = pooled.sum(axis=0), one.sum(axis=0), two.sum(axis=0)
    rank = np.cumsum(pooled, axis=0) - (pooled - 1) / 2
    off = (one * rank).sum(axis=0) - first * (n + 1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        ties = (pooled**3 - pooled).sum(axis=0) / (n * (n - 1))
        variance = np.where(n > 1, first * second / 12 * (n + 1 - ties), 0.0)
    some = variance > 1e-9 * np.maximum(n, 1.0)  # rounding leaves a trace where all values are the same
    return chi_square_tail(float((off[some] ** 2 / variance[some]).sum()), int(some.sum()))


def total_variation(one: Table, two: Table) -> float:
    """The total variation between the two, in the mean over the classes that both have."""
    n, m = one.sum(axis=0), two.sum(axis=0)
    some = (n > 0) & (m > 0)
    if not some.any():
        return 0.0
    apart = np.abs(one[:, some] / n[some] - two[:, some] / m[some]).sum(axis=0) / 2
    return float(np.average(apart, weights=(n + m)[some]))


def most_moved(one: Table, two: Table, names: tuple[str, ...], classes: tuple[str, ...]) -> tuple[Moved, ...]:
    """The cells that moved most for chance: (after - before) in standard errors, for given margins of each class."""
    n, m = one.sum(axis=0), two.sum(axis=0)
    total, there = n + m, one + two
    with np.errstate(divide="ignore", invalid="ignore"):
        off = two - there * m / total
        error = np.sqrt(there * (total - there) * n * m / (total * total * np.maximum(total - 1, 1)))
        surprise = np.where(error > 0, off / error, 0.0)
    surprise = np.where((n > 0) & (m > 0), surprise, 0.0)
    order = np.argsort(-np.abs(surprise), axis=None, kind="stable")[:MOST_CELLS]
    out = []
    for k, c in zip(*np.unravel_index(order, surprise.shape), strict=True):
        if surprise[k, c]:
            shares = float(one[k, c] / n[c]), float(two[k, c] / m[c])
            out.append(Moved(names[k], classes[c], *shares, float(one[k, c]), float(two[k, c]), float(surprise[k, c])))
    return tuple(out)


def mean_and_deviation(numbers: Numbers) -> list[tuple[float | None, float | None]]:
    """Mean and deviation (n - 1) of each class: fractions to the last step."""
    out: list[tuple[float | None, float | None]] = []
    for n, first, second in numbers.moments():
        mean = None if not n else float(first / n)
        squares = None if n <= 1 else (second - first * first / n) / (n - 1)
        # The root of a fraction: the squares of huge numbers are beyond a double.
        out.append((mean, None if squares is None else root_of(squares) if squares else 0.0))
    return out


# What changed between two summaries: class shares, and each attribute given the class; how much, and by chance or
# not.

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
    spreads: tuple[NumberSpread, ...]
    """Of a number: mean and standard deviation in each class."""
    new_levels: tuple[str, ...]
    gone_levels: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Changes(Presented):
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


# How far an attribute is from what it was: divergence in bits, mean and spread, and how often it is missing.

Weights: TypeAlias = "NDArray[np.float64]"

BINS = 16
"""Numbers are compared in at most so many bins, of about as many rows of the two together."""


@dataclass(frozen=True)
class Amount:
    """How much one attribute changed, over all classes."""

    name: str
    bits: float
    """Jensen and Shannon's divergence of its values: what a value tells of which of the two it is from, were both
    equally likely. 0: nothing, 1: all. Corrected for chance, never below zero. Of a text: of having its loudest word.
    """
    missing_before: float
    missing_after: float
    """Shares of rows without a value."""
    p_missing: float
    """How often chance alone would change these shares as much, all attributes considered (Holm)."""
    mean_before: float | None = None
    mean_after: float | None = None
    deviation_before: float | None = None
    deviation_after: float | None = None

    @property
    def shift(self) -> float | None:
        """By how many of its first standard deviations the mean moved."""
        if self.mean_before is None or self.mean_after is None or not self.deviation_before:
            return None
        return (self.mean_after - self.mean_before) / self.deviation_before


def amounts(one: Summary, two: Summary, changed: tuple[Change, ...]) -> tuple[Amount, ...]:
    """One for each change, in their order."""
    scales = rows_a_weight(one), rows_a_weight(two)
    one, two = (s.canonical().regrouped([0] * len(s.canonical().classes), [""]) for s in (one, two))
    rough = [_amount(one, two, change, scales) for change in changed]
    corrected = holm([amount.p_missing for amount in rough])
    return tuple(replace(amount, p_missing=p) for amount, p in zip(rough, corrected, strict=True))


def divergence(one: Weights, two: Weights) -> float:
    """Jensen and Shannon's divergence in bits of two tallies of rows, each of which counts as a half.

    Less what chance alone gives in the mean, (k - 1) (1/n + 1/m) / (8 log 2), for k values that occur.

    >>> round(divergence(np.array([400.0, 0]), np.array([0, 400.0])), 3)
    0.999
    """
    n, m = float(one.sum()), float(two.sum())
    if n <= 0 or m <= 0:
        return 0.0
    p, q = one / n, two / m
    raw = _entropy((p + q) / 2) - (_entropy(p) + _entropy(q)) / 2
    cells = int(np.count_nonzero(one + two))
    return max(raw - (cells - 1) * (1 / n + 1 / m) / (8 * math.log(2)), 0.0)


def _entropy(p: Weights) -> float:
    some = p[p > 0]
    return float(-(some * np.log2(some)).sum())


def _amount(one: Summary, two: Summary, change: Change, scales: Scales) -> Amount:
    a, b = one.columns[change.name], two.columns[change.name]
    there = [s * _there(held) for s, held in zip(scales, (a, b), strict=True)]
    rows = [s * float(t.total.floats().sum()) for s, t in zip(scales, (one, two), strict=True)]
    gone = [max(r - t, 0.0) for r, t in zip(rows, there, strict=True)]
    chance = repetition(np.array([there, gone])[:, :, None]).p if any(gone) else 1.0
    before, after = (g / r if r else 0.0 for g, r in zip(gone, rows, strict=True))
    if isinstance(a, Words):
        return Amount(change.name, _of_word(change, there), before, after, chance)
    if isinstance(a, Counts) and isinstance(b, Counts):
        _, *sides = level_tables(a, b, scales)
        return Amount(change.name, divergence(*(s[:-1, 0] for s in sides)), before, after, chance)
    assert isinstance(a, Numbers) and isinstance(b, Numbers)
    _, sides, _ = number_tables(a, b, scales, BINS)
    bits = divergence(*(s[:-1, 0] for s in sides))
    ((mean, wide),), ((mean_after, wide_after),) = mean_and_deviation(a), mean_and_deviation(b)
    return Amount(change.name, bits, before, after, chance, mean, mean_after, wide, wide_after)


def _there(held: Any) -> float:
    """The weight of the rows that have a value."""
    if isinstance(held, Words):
        return float(documents(held, held.groups).sum())
    if isinstance(held, Counts):
        return float(held.table.floats().sum())
    return float(held.weight().floats().sum())


def _of_word(change: Change, there: list[float]) -> float:
    """Of having the word that speaks loudest, or not."""
    if not change.cells:
        return 0.0
    have = change.cells[0].rows_before, change.cells[0].rows_after
    one, two = (np.array([h, max(t - h, 0.0)]) for h, t in zip(have, there, strict=True))
    return divergence(one, two)
