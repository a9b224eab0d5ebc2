"""Troubles with columns: no association with the class, functions of others, placeholders of missing values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.errors import shown
from likely.evaluate.attributes.information import (
    BINS,
    AttributeInformation,
    attributes,
    documents,
    entropy,
    information,
    rows_a_weight,
    tables,
)
from likely.evaluate.attributes.redundancy import holm, repetition
from likely.evaluate.kernels import sample_rows, sample_share
from likely.evaluate.troubles.findings import MOST_ALIKE, Finding
from likely.intake.engine import Piece
from likely.machinery.distributions import chi_square_tail
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.rows.rows import cell_bits
from likely.sums.summary import Summary
from likely.sums.tallies import quantile_edges
from likely.sums.words.counting import Words
from likely.table.batch import Codes, Texts
from likely.table.labels import number_label
from likely.table.schema import MISSING, Column

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Whether each attribute, and whether it is missing, has anything to do with the class: by chance or not.

Table: TypeAlias = "NDArray[np.float64]"

CHANCE = 0.01
"""An attribute tells something where chance alone would give as much less often, all tests considered (Holm)."""
LEAST_TEXTS = 5
"""Words that fewer texts have are not tested."""
BEST_WORDS = 20
"""So many words, those that stray farthest from independence, are tested by the exact moments."""


@dataclass(frozen=True)
class AttributeTests:
    """One attribute: what it tells about the class, and what its being missing does."""

    name: str
    kind: str
    bits: float
    """Information about the target in a row, corrected for the number of cells."""
    share: float
    """Of the target's entropy."""
    p: float
    """How often chance alone would make its values go with the classes as much."""
    p_of_all: float
    """The same, corrected for how many tests there were (Holm)."""
    missing: float
    """Share of rows without a value."""
    missing_share: float
    """Of the target's entropy: what being missing tells, whatever the value is."""
    p_missing: float
    p_missing_of_all: float
    missing_by_class: tuple[float, ...]
    """Share of the rows of each class without a value."""
    values: int
    """Different values; of numbers those that the tally keeps apart, of texts different words."""
    usual: str | None
    """The most frequent value, where it can be told."""
    usual_share: float
    """Its share of the rows that have a value."""

    @property
    def idle(self) -> bool:
        """Whether nothing was found that chance would not explain."""
        return self.p_of_all >= CHANCE and self.p_missing_of_all >= CHANCE


def association_tests(summary: Summary, found: list[AttributeInformation] | None = None) -> tuple[AttributeTests, ...]:
    """Every attribute, the most informative first."""
    weights = summary.total.floats()
    scale = rows_a_weight(summary)
    whole = entropy(weights) if weights.any() else 0.0
    rough = []
    for a in attributes(summary) if found is None else found:
        statistic = summary.columns[a.name]
        gone = missing_by_class(statistic, weights)
        sides = scale * np.stack([weights - gone, gone])
        tells = information(sides / scale, scale) / whole if whole > 0 and gone.any() else 0.0
        rough.append(
            (a, statistic, gone, value_test(statistic, scale), association(sides) if gone.any() else 1.0, tells)
        )
    # One family: a table has as many chances to mislead as tests, two for an attribute with missing cells.
    corrected = holm([r[3] for r in rough] + [r[4] for r in rough if r[2].any()])
    of_gone = iter(corrected[len(rough) :])
    out = []
    for k, (a, statistic, gone, p, p_gone, tells) in enumerate(rough):
        p_gone_of_all = next(of_gone) if gone.any() else 1.0
        by_class = tuple(np.divide(gone, weights, out=np.zeros_like(gone), where=weights > 0).tolist())
        kind, missing = summary.schema[a.name].kind, a.missing
        out.append(
            AttributeTests(a.name, kind, a.bits, a.share, p, corrected[k], missing, tells, p_gone, p_gone_of_all,
                           by_class, *usual_value(statistic))
        )  # fmt: skip
    return tuple(out)


def missing_by_class(statistic: Any, weights: Table) -> Table:
    """The weight of the rows of each class without a value; infinite numbers have none."""
    if isinstance(statistic, Words):
        return np.maximum(weights - documents(statistic, len(weights)), 0.0)
    gone: Table = statistic.other.floats().sum(axis=0)
    return gone


def value_test(statistic: Any, scale: float = 1.0) -> float:
    """How often chance alone makes values go with the classes as much as they do.

    Levels: Pearson's statistic with its exact moments. Numbers: the same in bins that know nothing of the classes, or
    ranks (Kruskal and Wallis), whichever speaks louder, at twice its chance. Texts: the loudest word, times the words.
    """
    if isinstance(statistic, Counts):
        return association(scale * statistic.table[: len(statistic.labels)].floats())
    if isinstance(statistic, Words):
        return _word_test(statistic, scale)
    assert isinstance(statistic, Numbers)
    values, weight = statistic.tally()
    per_class = scale * weight.floats()
    if len(values) < 2:
        return 1.0
    cut = quantile_edges(values, per_class.sum(axis=1), BINS)
    table = np.zeros((len(cut) + 1, statistic.groups))
    np.add.at(table, np.searchsorted(cut, values, side="right"), per_class)
    return min(1.0, 2 * min(association(table), rank_test(per_class)))


def association(table: Table) -> float:
    """The p-value of a table (cells, classes) were the two independent (decision 0043)."""
    return repetition(table[:, :, None]).p


def rank_test(tally: Table) -> float:
    """Whether values, in order, rank higher in some classes than in others (Kruskal and Wallis, corrected for ties).

    >>> round(rank_test(np.array([[1.0, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])), 4)
    0.0495
    """
    each, per_class = tally.sum(axis=1), tally.sum(axis=0)
    some = per_class > 0
    total = float(per_class.sum())
    if some.sum() < 2 or total < 3:
        return 1.0
    rank = np.cumsum(each) - (each - 1) / 2
    off = rank @ tally[:, some] / per_class[some] - (total + 1) / 2
    ties = 1 - float((each**3 - each).sum()) / (total**3 - total)
    if ties <= 1e-12:  # all values are the same
        return 1.0
    statistic = 12 / (total * (total + 1)) * float((per_class[some] * off**2).sum()) / ties
    return chi_square_tail(statistic, int(some.sum()) - 1)


def _word_test(words: Words, scale: float) -> float:
    have = scale * documents(words, words.groups)
    total, best, count = float(have.sum()), [], 0
    some = have > 0
    if some.sum() < 2:
        return 1.0
    for _, table in tables(words, words.groups):
        texts = scale * table[:, some]
        there = texts.sum(axis=1)
        texts = texts[(there >= LEAST_TEXTS) & (there <= total - 1)]
        there = texts.sum(axis=1)
        count += len(texts)
        off = ((texts - there[:, None] * have[some] / total) ** 2 / have[some]).sum(axis=1)
        stray = off * total * total / (there * (total - there))
        best += [(float(stray[k]), tuple(texts[k])) for k in np.argsort(-stray, kind="stable")[:BEST_WORDS]]
    loudest = sorted(best, reverse=True)[:BEST_WORDS]
    chances = [association(np.stack([np.array(row), have[some] - np.array(row)])) for _, row in loudest]
    return min(1.0, count * min(chances, default=1.0))


def usual_value(statistic: Any) -> tuple[int, str | None, float]:
    """How many values there are, which is the most frequent, and its share of the rows that have one."""
    if isinstance(statistic, Words):
        return len(statistic.tally().vocabulary), None, 0.0
    if isinstance(statistic, Counts):
        each = statistic.table[: len(statistic.labels)].floats().sum(axis=1)
        names: list[str] = list(statistic.labels.names)
    else:
        values, weight = statistic.tally()
        each = weight.floats().sum(axis=1)
        # A coarse tally has put values together, of which none need be frequent.
        if statistic.level:
            return len(values), None, 0.0
        best = int(each.argmax()) if len(each) else 0
        names = [""] * len(values)
        if names:
            names[best] = number_label(float(values[best]))
    if not len(each) or not each.sum():
        return 0, None, 0.0
    best = int(each.argmax())
    return len(each), names[best], float(each[best] / each.sum())


# Attributes that others determine: renamed copies, functions of one, rising with one, linear in several.

SAMPLE = 5000
MOST_COLUMNS = 300
BROKEN = 20.0
"""So many rows would disagree, were the two independent: less, and chance may explain that none does."""
NEAR = 0.99
"""Rank correlation from which on two numbers are nearly the same."""
LEFT = 1e-6
"""Of the variance of a number, what may be left unexplained where others determine it: files round their numbers."""
MATTERS = 1e-3
"""A number takes part in an equation where it moves the other by this share of its deviation."""
ROWS_A_COLUMN = 5


@dataclass(frozen=True)
class Dependency:
    """An attribute that others determine in every row of a sample (or nearly, where `exact` is False)."""

    name: str
    by: tuple[str, ...]
    how: str
    """'copy' (one to one), 'function' (of one), 'rank' (one rises or falls with the other), 'linear' (in several)."""
    rows: int
    """Rows that were looked at and have all of them."""
    exact: bool = True
    correlation: float | None = None
    """Of ranks, where two numbers rise or fall together."""


@dataclass(frozen=True)
class OneClassGroups:
    """Values that occur more than once, always in rows of the same class."""

    name: str
    values: int
    repeats: int


class CellSample:
    """Cells of some rows as 64 bits each, and of numbers as doubles; one for each thread."""

    def __init__(self, total: Summary) -> None:
        self.names = [c.name for c in total.schema.attributes][:MOST_COLUMNS]
        self._share = sample_share(total, SAMPLE)
        self.parts: list[tuple[int, NDArray[np.uint64], NDArray[np.bool_], NDArray[np.float64], NDArray[np.int32]]] = []

    def take(self, piece: Piece, start: int) -> None:
        """Keep those rows that their numbers choose."""
        batch = piece.batch
        assert batch.target is not None
        rows = sample_rows(batch, start, self._share)
        bits = np.empty((len(rows), len(self.names)), np.uint64)
        there = np.empty(bits.shape, np.bool_)
        numbers = np.full(bits.shape, np.nan)
        chosen = batch.take(rows)
        for k, name in enumerate(self.names):
            cells = chosen.cells[name]
            bits[:, k] = cell_bits(cells)
            if isinstance(cells, Codes):
                there[:, k] = cells.codes >= 0
            elif isinstance(cells, Texts):
                there[:, k] = bits[:, k] > 0
            else:
                there[:, k] = np.isfinite(cells)
                numbers[there[:, k], k] = cells[there[:, k]]
        self.parts.append((start, bits, there, numbers, batch.target.codes[rows]))

    def __add__(self, other: CellSample) -> CellSample:
        self.parts = self.parts + other.parts
        return self

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
        """Codes (rows, columns; -1 is missing), numbers and classes, in the order of the table."""
        held = sorted(self.parts, key=lambda p: p[0])
        bits, there, numbers, group = (np.concatenate([p[k] for p in held]) for k in (1, 2, 3, 4))
        codes = np.full(bits.shape, -1, np.int32)
        for k in range(bits.shape[1]):
            codes[there[:, k], k] = np.unique(bits[there[:, k], k], return_inverse=True)[1]
        return codes, numbers, group


def dependencies(kept: CellSample) -> tuple[tuple[Dependency, ...], tuple[OneClassGroups, ...]]:
    """What determines what, each attribute at most once; and attributes whose equal values have equal classes."""
    names = kept.names
    if not kept.parts or not names:
        return (), ()
    codes, numbers, group = kept.arrays()
    out: list[Dependency] = []
    bound: set[int] = set()
    grouped = []
    follows = np.zeros((len(names), len(names)), np.bool_)
    cells = np.column_stack([codes, group])
    for a in range(len(names)):
        held, repeats, disagree = _determined(codes[:, a], cells)
        follows[a] = held[:-1] & (disagree[:-1] >= BROKEN)
        if held[-1] and disagree[-1] >= BROKEN:
            grouped.append(OneClassGroups(names[a], int(codes[:, a].max()) + 1, int(repeats[-1])))
    np.fill_diagonal(follows, False)
    both = (codes >= 0).astype(np.int64)
    together = both.T @ both
    for b in range(len(names)):
        for a in (a for a in np.flatnonzero(follows[:, b]).tolist() if a not in bound):
            one_to_one = bool(follows[b, a])
            if one_to_one and a > b:
                continue  # told of the later one
            out.append(Dependency(names[b], (names[a],), "copy" if one_to_one else "function", int(together[a, b])))
            bound.add(b)
            break
    out += _by_rank(names, numbers, bound)
    out += _linear(names, numbers, bound)
    return tuple(out), tuple(grouped)


def _gini(codes: NDArray[np.int32]) -> float:
    """How often two cells, drawn at random, differ."""
    present = codes[codes >= 0]
    if not len(present):
        return 0.0
    share = np.bincount(present) / len(present)
    return float(1 - share @ share)


def _determined(
    one: NDArray[np.int32], others: NDArray[np.int32]
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.float64]]:
    """For each of the others: whether equal cells of `one` have equal cells of it, in how many repeats that was seen,
    and how many of these would disagree by chance.
    """
    rows = np.flatnonzero(one >= 0)
    if not len(rows):
        nothing = np.zeros(others.shape[1])
        return nothing.astype(np.bool_), nothing.astype(np.int64), nothing
    rows = rows[np.argsort(one[rows], kind="stable")]
    first = np.flatnonzero(np.concatenate([[True], np.diff(one[rows]) > 0]))
    cells = others[rows]
    high = np.maximum.reduceat(cells, first, axis=0)
    low = np.minimum.reduceat(np.where(cells < 0, np.int32(2**31 - 1), cells), first, axis=0)
    same = ((high == low) | (high < 0)).all(axis=0)
    repeats = (cells >= 0).sum(axis=0) - (high >= 0).sum(axis=0)
    disagree = np.zeros(others.shape[1])
    for k in np.flatnonzero(same & (repeats > BROKEN)):
        # Among the rows that have `one`: what is constant there is no function of it.
        disagree[k] = repeats[k] * _gini(cells[:, k])
    return same, repeats, disagree


def _by_rank(names: list[str], numbers: NDArray[np.float64], bound: set[int]) -> list[Dependency]:
    """Numbers that rise or fall together, strictly or nearly. (Where values repeat, they are functions by then.)"""
    some = [k for k in range(len(names)) if k not in bound and np.isfinite(numbers[:, k]).sum() >= 3 * BROKEN]
    if len(some) < 2:
        return []
    ranks = np.column_stack([_ranks(numbers[:, k]) for k in some])
    length = np.sqrt((ranks**2).sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.abs(np.nan_to_num(ranks.T @ ranks / np.outer(length, length)))
    out = []
    for j in range(1, len(some)):
        for i in (i for i in range(j) if some[i] not in bound and near[i, j] >= NEAR - 0.05):
            x, y = numbers[:, some[i]], numbers[:, some[j]]
            good = np.isfinite(x) & np.isfinite(y)
            if good.sum() < max(3 * BROKEN, 0.5 * np.isfinite(y).sum()):
                continue
            a, b = _ranks(x[good]), _ranks(y[good])
            r = float(a @ b / np.sqrt((a @ a) * (b @ b))) if a.any() and b.any() else 0.0
            if abs(r) < NEAR:
                continue
            exact = bool(np.array_equal(a, b) or np.array_equal(a, -b))
            name, by = names[some[j]], (names[some[i]],)
            out.append(
                Dependency(name, by, "rank", int(good.sum()), exact, 1.0 if exact and r > 0 else -1.0 if exact else r)
            )
            bound.add(some[j])
            break
    return out


def _ranks(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from their middle, ties in the middle of theirs; 0 where there is no number."""
    good = np.isfinite(x)
    out = np.zeros(len(x))
    _, place, times = np.unique(x[good], return_inverse=True, return_counts=True)
    out[good] = (np.cumsum(times) - (times - 1) / 2)[place] - (good.sum() + 1) / 2
    return out


def _linear(names: list[str], numbers: NDArray[np.float64], bound: set[int]) -> list[Dependency]:
    """Numbers that are a sum of multiples of others that come before them."""
    some = [k for k in range(len(names)) if k not in bound and np.isfinite(numbers[:, k]).mean() > 0.9]
    rows = np.isfinite(numbers[:, some]).all(axis=1) if some else np.zeros(0, np.bool_)
    n = int(rows.sum())
    some = some[: n // ROWS_A_COLUMN]
    if len(some) < 3:
        return []
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        x = numbers[rows][:, some]
        x = x - x.mean(axis=0)
        x = x / np.sqrt((x**2).mean(axis=0))
    usable = [k for k in range(len(some)) if np.isfinite(x[:, k]).all()]
    basis: list[int] = []
    out = []
    for k in usable:
        if len(basis) > 1:
            factor, *_ = np.linalg.lstsq(x[:, basis], x[:, k], rcond=None)
            left = float(((x[:, k] - x[:, basis] @ factor) ** 2).mean())
            part = [b for b, f in zip(basis, factor, strict=True) if abs(f) >= MATTERS]
            if left < LEFT and len(part) > 1:
                out.append(Dependency(names[some[k]], tuple(names[some[b]] for b in part), "linear", n))
                bound.add(some[k])
                continue
        basis.append(k)
    return out


# Values that stand for "not known" without saying so: -999 far below the rest, 9999 far above it, a level
# "unknown".

NINES = tuple(float("9" * digits) for digits in range(2, 10))
"""What stands for a missing number most often, with either sign."""
FAR = 0.5
"""Of the range of all other values: how far from them a value lies that cannot be one of them."""
LEAST_ROWS = 2
LEAST_SHARE = 0.002
"""A share of the rows from which on a value is no accident."""
MINUS_ONE_VALUES = 20
"""Values, none negative, beside which -1 is suspicious."""
WORDS = frozenset(
    (
        "unknown", "unk", "missing", "not known", "not available", "not applicable", "n.a.", "n.a", "na.", "no data",
        "nodata", "undefined", "not recorded", "not specified", "unspecified", "#value!", "#ref!", "#div/0!", "(null)",
        "-", "--", "---", ".", "..", "…", "–", "—", "nil", "tbd", "-999", "-9999", "-99", "9999", "99999",
    )
)  # fmt: skip
"""Levels, in lower case, that may mean "not known"."""


def placeholder_findings(total: Summary) -> Iterator[Finding]:
    """Numbers and levels that may stand for missing ones, each with the option that reads them so."""
    levels: dict[str, list[str]] = {}
    told = 0
    for column in total.schema.attributes:
        held = total.columns[column.name]
        if isinstance(held, Numbers) and column.kind == "number":
            for value, rows in _odd_numbers(held, total.rows):
                told += 1
                if told <= MOST_ALIKE:
                    yield Finding("placeholder", (column.name,), True, _sentence(column, value, rows, total))
        elif isinstance(held, Counts) and column.kind == "nominal":
            for name in held.labels.names:
                if name.strip().lower() in WORDS:
                    levels.setdefault(name, []).append(column.name)
    if told > MOST_ALIKE:
        yield Finding("placeholder", (), True, f"{told - MOST_ALIKE} more numbers may stand for missing values.")
    if levels:
        names = tuple(dict.fromkeys(name for of in levels.values() for name in of))
        some = [f"{shown(level, 20)} of {shown(of[0], 30)}" for level, of in levels.items()][:MOST_ALIKE]
        more = " and others" if len(levels) > MOST_ALIKE else ""
        words = (
            f"{'A level' if len(levels) == 1 else 'Levels'} may mean that the value is unknown: {', '.join(some)}{more}"
            f". If so, use {_option(next(iter(levels)), total)}"
        )
        yield Finding("placeholder", names, False, words)


def _odd_numbers(held: Numbers, rows: int) -> Iterator[tuple[float, float]]:
    """Values of nines (and -1) that lie apart from all others, and how many rows have them."""
    values, table = held.tally()
    weight = table.sum(1).floats()
    finite = np.isfinite(values) & (weight > 0)
    values, weight = values[finite], weight[finite]
    candidates = {_coarse(sign * n, held.level): sign * n for n in NINES for sign in (1.0, -1.0)}
    for k in {0, len(values) - 1} if len(values) > 2 else ():
        value, rest = float(values[k]), np.delete(values, k)
        low, high = float(rest[0]), float(rest[-1])
        if weight[k] < max(LEAST_ROWS, LEAST_SHARE * rows):
            continue
        gap = low - value if k == 0 else value - high
        if value in candidates and gap > FAR * (high - low) and (k > 0 or low >= 0 or gap > high - low):
            yield candidates[value], float(weight[k])
        elif k == 0 and value == -1.0 and low >= 0 and len(rest) >= MINUS_ONE_VALUES:
            yield value, float(weight[k])


def _coarse(value: float, level: int) -> float:
    """A value as a tally holds it that has dropped low bits."""
    bits = np.array([value]).view(np.uint64)
    return float(((bits >> np.uint64(level)) << np.uint64(level)).view(np.float64)[0])


def _sentence(column: Column, value: float, rows: float, total: Summary) -> str:
    times = "1 row" if rows == 1 else f"{rows:,.0f} rows"
    return (
        f"{shown(column.name)} is {value:.0f} in {times}, far from all other values: it may stand for a missing "
        f"value, or for everything beyond a limit. If it means missing, use "
        f"{_option(f'{value:.0f}', total)}"
    )


def _option(token: str, total: Summary) -> str:
    """The option that reads a cell as missing, beside those that are read so already."""
    usual = "--missing usual " if total.schema.missing == MISSING else ""
    return f"{usual}--missing {quote(token) if token.isprintable() and len(token) <= 40 else 'TOKEN'}"
