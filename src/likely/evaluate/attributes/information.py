"""What attributes, words and single values say about the target, in bits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Floats, distinct
from likely.machinery.distributions import chi_square_tail
from likely.models.contracts import Model
from likely.models.heldout.importance import evidence_range
from likely.models.shapes import TreeSum, sum_of
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.sums.tallies import quantile_edges
from likely.sums.words.counting import Words
from likely.table.labels import bin_labels, date_label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    pass


# What words of a text column say about the target, in bits, read off the sums: no text is looked at.

LEAST_ROWS = 5
"""A cell with fewer rows is no strong evidence, whatever their classes."""
MOST = 20
"""The strongest words that are kept."""
CHANCE = 0.01
"""Words count as telling something where chance would give so much, to any of all the words, less often."""
NEARLY_ALL = 0.95
"""A word that so many texts have is a header, a footer, or as common as 'the'."""
NEARLY_DECIDES = 0.75
"""A word that tells this share of whether a text is of one class may have been put there because it is."""
ENOUGH = 20
"""Fewer texts than this have words in in_nearly_all by chance."""
BLOCK = 1 << 15
"""Words looked at in one go: their tables of classes stay small."""


@dataclass(frozen=True)
class CellEvidence:
    """One piece of evidence: how much a cell speaks for a class, in bits of its likelihood ratio against the rest."""

    attribute: str
    cell: str
    label: str
    bits: float
    least: float
    """What remains of it after an allowance for chance (1.64 standard errors)."""
    rows: float
    share: float
    """Of the rows with this cell, how many are of the class: counted, not smoothed."""


@dataclass(frozen=True)
class Word:
    """A word, and what having it says."""

    word: str
    bits: float
    """Information about the target in whether a text has the word, corrected as Miller and Madow do."""
    documents: float
    """Texts that have it."""
    label: str
    """The class that it speaks for most."""
    share: float
    """Of the texts of that class, how many have it."""
    elsewhere: float
    """Of all other texts, how many have it."""


@dataclass(frozen=True)
class WordStatistics:
    """The words of one text column that are worth a word."""

    name: str
    documents: float
    """Texts that are not empty."""
    missing: float
    """Share of rows without."""
    vocabulary: int
    """Different words."""
    strongest: tuple[Word, ...]
    """Those that tell most about the target, where chance hardly explains it."""
    in_nearly_all: tuple[Word, ...]
    """Those that nearly all texts have."""
    deciding: tuple[Word, ...]
    """Those that alone nearly tell whether a text is of one class."""
    pieces: tuple[CellEvidence, ...]
    """The strongest pieces of evidence, ranked by what remains of each after an allowance for chance."""

    @property
    def bits(self) -> float:
        """Of the best word, in a row of the table; 0 where none is better than chance."""
        return self.strongest[0].bits * (1 - self.missing) if self.strongest else 0.0


def word_statistics(
    name: str, words: Words, classes: tuple[str, ...], rows: float, scale: float = 1.0, most: int = 10
) -> WordStatistics:
    """What the words of a column say. `rows` is the weight of all rows; `scale` times a weight is a number of rows."""
    held = words.tally()
    have = documents(words, len(classes))
    total = float(have.sum())
    missing = max(1 - total / rows, 0.0) if rows else 0.0
    known = len(held.vocabulary) - (len(held.vocabulary) > 0 and held.vocabulary[0] == "")
    if total <= 0 or len(classes) < 2:
        return WordStatistics(name, total, missing, known, (), (), (), ())
    best: list[tuple[float, int, NDArray[np.float64]]] = []
    in_nearly_all: list[tuple[float, int, NDArray[np.float64]]] = []
    deciding: list[tuple[float, int, NDArray[np.float64]]] = []
    pieces: list[tuple[float, float, int, int, float, float]] = []
    for first, table in tables(words, len(classes)):
        bits = _bits(table, have, scale)
        best += _most(bits, table, first, MOST)
        if scale * total >= ENOUGH:
            in_nearly_all += _most(np.where(table.sum(1) >= NEARLY_ALL * total, table.sum(1), 0), table, first, MOST)
            shares = _share_of_one(table, have, scale)
            deciding += _most(np.where(shares >= NEARLY_DECIDES, shares, 0), table, first, MOST)
        pieces += _evidence(scale * table, scale * have, first, most)
    freedom = int(np.count_nonzero(have)) - 1

    def surprising(bits: float) -> bool:
        # Twice the rows times the information in nats is chi-square where a word has nothing to do with the classes.
        raw = bits + freedom / (2 * scale * total * math.log(2))
        return known * chi_square_tail(2 * scale * total * raw * math.log(2), freedom) < CHANCE

    def made(found: list[tuple[float, int, NDArray[np.float64]]]) -> tuple[Word, ...]:
        top = sorted(found, key=lambda f: (-f[0], f[1]))[:MOST]
        return tuple(_word(held.vocabulary[k], row, have, classes, scale) for _, k, row in top)

    strongest = [f for f in sorted(best, key=lambda f: (-f[0], f[1]))[:MOST] if surprising(f[0])]
    pieces = sorted(pieces, key=lambda p: (-p[0], p[2], p[3]))[:most]
    told = tuple(
        CellEvidence(
            name, f"with {shown(held.vocabulary[k])}", classes[c], log / math.log(2), least / math.log(2), *counted
        )
        for least, log, k, c, *counted in pieces
    )
    return WordStatistics(name, total, missing, known, made(strongest), made(in_nearly_all), made(deciding), told)


def documents(words: Words, classes: int) -> NDArray[np.float64]:
    """The weight of the texts of each class; those of size 0 are missing."""
    held = words.tally()
    out = np.zeros(classes)
    if len(held.vocabulary) and held.vocabulary[0] == "":
        own = slice(0, int(held.starts[1]))
        np.add.at(out, held.group[own], np.where(held.size[own] > 0, held.weight[own].floats(), 0.0))
    return out


def tables(words: Words, classes: int) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """The weight of texts of each class that have each word, (words, classes), some words at a time."""
    held = words.tally()
    group, weight = held.group, held.weight.floats()
    first = 1 if len(held.vocabulary) and held.vocabulary[0] == "" else 0
    for a in range(first, len(held.vocabulary), BLOCK):
        b = min(a + BLOCK, len(held.vocabulary))
        some = slice(int(held.starts[a]), int(held.starts[b]))
        cells = (held.word[some] - a).astype(np.int64) * classes + group[some]
        table: NDArray[np.float64] = np.zeros((b - a) * classes)
        table += np.bincount(cells, weight[some], len(table))
        yield a, table.reshape(-1, classes)


def _n_log_n(n: NDArray[np.float64]) -> NDArray[np.float64]:
    return n * np.log2(np.where(n > 0, n, 1.0))


def _bits(table: NDArray[np.float64], have: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Information of having each word about the class, corrected, not below zero."""
    rest, there, total = np.maximum(have - table, 0), table.sum(1), have.sum()
    raw = _n_log_n(table).sum(1) - _n_log_n(there) + _n_log_n(rest).sum(1) - _n_log_n(np.maximum(total - there, 0))
    raw = (raw - _n_log_n(have).sum() + _n_log_n(total)) / total
    correction = (np.count_nonzero(have) - 1) / (2 * scale * total * math.log(2))
    return np.where(there < total, np.maximum(raw - correction, 0.0), 0.0)


def _share_of_one(table: NDArray[np.float64], have: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """The greatest share, over the classes with rows enough, of what there is to know of being of that class."""
    total, out = have.sum(), np.zeros(len(table))
    for c in np.flatnonzero((scale * have >= LEAST_ROWS) & (scale * (total - have) >= LEAST_ROWS)):
        two = np.stack([table[:, c], table.sum(1) - table[:, c]], axis=1)
        sides = np.array([have[c], total - have[c]])
        whole = (_n_log_n(total) - _n_log_n(sides).sum()) / total
        np.maximum(out, _bits(two, sides, scale) / whole, out=out)
    return out


def _most(
    values: NDArray[np.float64], table: NDArray[np.float64], first: int, most: int
) -> list[tuple[float, int, NDArray[np.float64]]]:
    """The greatest values above zero: the value, the number of the word, and its row of the table."""
    order = np.argsort(-values, kind="stable")[:most]
    return [(float(values[k]), first + int(k), table[k].copy()) for k in order if values[k] > 0]


def _evidence(
    table: NDArray[np.float64], have: NDArray[np.float64], first: int, most: int
) -> list[tuple[float, float, int, int, float, float]]:
    """The strongest of all words and classes: least log ratio, log ratio, word, class, texts, and their share of it.

    The same measure as for levels: half a text more of every sort, less 1.64 standard errors.
    """
    inside, per_class = table + 0.5, have + 1.0
    outside, per_rest = table.sum(1, keepdims=True) + 0.5 * len(have) - inside, per_class.sum() - per_class
    ratio = np.log(inside / per_class) - np.log(outside / per_rest)
    error = np.sqrt(np.maximum(1 / inside - 1 / per_class + 1 / outside - 1 / per_rest, 0))
    least = np.sign(ratio) * np.maximum(np.abs(ratio) - 1.64 * error, 0)
    least[table.sum(1) < LEAST_ROWS] = 0
    order = np.argsort(-least, axis=None, kind="stable")[:most]
    found = zip(*np.unravel_index(order, least.shape), strict=True)
    return [
        (float(least[k, c]), float(ratio[k, c]), first + int(k), int(c), *_texts(table[k], c))
        for k, c in found
        if least[k, c] > 0
    ]


def _texts(row: NDArray[np.float64], label: int) -> tuple[float, float]:
    """The texts that have a word, and the share of them that is of a class."""
    return float(row.sum()), float(row[label] / row.sum())


def _word(
    word: str, row: NDArray[np.float64], have: NDArray[np.float64], classes: tuple[str, ...], scale: float
) -> Word:
    """A word with the class whose odds it raises most."""
    inside, per_class = scale * row + 0.5, scale * have + 1.0
    ratio = np.log(inside / per_class) - np.log((inside.sum() - inside) / (per_class.sum() - per_class))
    c = int(np.argmax(np.where(have > 0, ratio, -np.inf)))
    others = float(have.sum() - have[c])
    bits = float(_bits(row[None], have, scale)[0])
    share, elsewhere = float(row[c] / have[c]), float((row.sum() - row[c]) / others) if others else 0.0
    return Word(word, bits, float(row.sum()), classes[c], share, elsewhere)


# What each attribute says about the target, in bits, read off the sums: no rows are looked at.

BINS = 16
"""Numbers are looked at in at most so many bins of about equal weight."""

Table: TypeAlias = "NDArray[np.float64]"


@dataclass(frozen=True)
class AttributeInformation:
    """One attribute cut into cells: a level, or a bin of numbers, each with its weight in each class."""

    name: str
    bits: float
    """Information about the target in a row of the table, corrected for the number of cells (Miller and Madow), never
    below zero. A missing cell tells nothing, so an attribute that is mostly missing tells little."""
    share: float
    """Of the target's entropy."""
    missing: float
    """Share of rows without a value."""
    cells: tuple[str, ...]
    table: Table
    edges: tuple[float, ...] = ()
    words: WordStatistics | None = None
    """Of a text: its words, in place of cells. Its bits are those of its best word, so it tells at least these."""


def entropy(weights: Table) -> float:
    """In bits."""
    p = weights[weights > 0] / weights.sum()
    return float(-(p * np.log2(p)).sum())


def information(table: Table, scale: float = 1.0) -> float:
    """Mutual information of rows and columns in bits, corrected for its upward bias, not below zero.

    `scale` times the table is what the correction takes for rows.
    """
    total = table.sum()
    if total <= 0:
        return 0.0
    raw = entropy(table.sum(axis=0)) + entropy(table.sum(axis=1)) - entropy(table.ravel())
    rows, columns = (np.count_nonzero(table.sum(axis=a)) for a in (1, 0))
    return float(max(raw - (rows - 1) * (columns - 1) / (2 * scale * total * np.log(2)), 0.0))


def best_cut(values: NDArray[np.float64], per_class: Table) -> NDArray[np.float64]:
    """The one edge that tells most about the class, or none: a number that decides the target decides it here."""
    if len(values) < 2:
        return values[:0]
    below = np.cumsum(per_class, axis=0)
    sides = np.stack([below[:-1], np.maximum(below[-1] - below[:-1], 0)])
    whole = sides.sum(axis=2)

    def n_log_n(n: Table) -> Table:
        return np.where(n > 0, n * np.log2(np.where(n > 0, n, 1)), 0)

    uncertain = (n_log_n(whole) - n_log_n(sides).sum(axis=2)).sum(axis=0)
    best = int(np.argmin(uncertain))
    return values[best + 1 : best + 2]


def rows_a_weight(summary: Summary) -> float:
    """How many rows a weight of one stands for: weights that are shares would make every row a shred of one."""
    weight = float(summary.total.floats().sum())
    return max(1.0, summary.rows / weight) if weight > 0 else 1.0


def attributes(summary: Summary) -> list[AttributeInformation]:
    """All attributes, the most informative first."""
    weights = summary.total.floats()
    scale = rows_a_weight(summary)
    dates = {column.name for column in summary.schema.columns if column.kind == "date"}
    whole = entropy(weights)
    found = [
        _text(word_statistics(name, statistic, summary.classes, float(weights.sum()), scale), whole)
        if isinstance(statistic, Words)
        else _attribute(name, statistic, whole, scale, name in dates)
        for name, statistic in summary.columns.items()
    ]
    return sorted(found, key=lambda a: -a.bits)


def _text(told: WordStatistics, whole: float) -> AttributeInformation:
    share = told.bits / whole if whole > 0 else 0.0
    return AttributeInformation(told.name, told.bits, share, told.missing, (), np.zeros((0, 0)), words=told)


def _attribute(name: str, statistic: Counts | Numbers, whole: float, scale: float, date: bool) -> AttributeInformation:
    edges: tuple[float, ...] = ()
    if isinstance(statistic, Counts):
        table = statistic.table[: len(statistic.labels)].floats()
        cells = tuple(statistic.labels.names)
    else:
        values, weights = statistic.tally()
        per_class = weights.floats()
        cut = distinct(np.append(quantile_edges(values, per_class.sum(axis=1), BINS), best_cut(values, per_class)))
        edges = tuple(cut.tolist())
        table = np.zeros((len(cut) + 1, statistic.groups))
        np.add.at(table, np.searchsorted(cut, values, side="right"), per_class)
        cells = tuple(bin_labels(edges if date else _short(edges), date)) if edges else ("any",)
    gone, there = float(statistic.other.floats().sum()), float(table.sum())
    missing = gone / (gone + there) if gone + there else 0.0
    bits = information(table, scale) * (1 - missing)
    return AttributeInformation(name, bits, bits / whole if whole > 0 else 0.0, missing, cells, scale * table, edges)


def _short(edges: tuple[float, ...]) -> tuple[float, ...]:
    """Edges in as few digits as tell them apart, four at least.

    >>> _short((1.4540761074623201, 6.428571428571429)), _short((1.00001, 1.00002))
    ((1.454, 6.429), (1.00001, 1.00002))
    """
    for digits in range(4, 17):
        told = tuple(float(f"{edge:.{digits}g}") for edge in edges)
        if len(set(told)) == len(edges):
            return told
    return edges


def evidence(found: list[AttributeInformation], classes: tuple[str, ...], most: int = 10) -> list[CellEvidence]:
    """The strongest single pieces of evidence, ranked by what remains of each after an allowance for chance."""
    pieces: list[CellEvidence] = []
    for attribute in found:
        if attribute.words is not None:
            pieces += attribute.words.pieces
            continue
        table = attribute.table + 0.5
        inside, per_class = table, table.sum(axis=0)
        outside, per_rest = table.sum(axis=1, keepdims=True) - table, per_class.sum() - per_class
        if len(classes) < 2 or len(table) < 2:
            continue
        enough = attribute.table.sum(axis=1) >= LEAST_ROWS
        log_ratio = np.log(inside / per_class) - np.log(outside / per_rest)
        error = np.sqrt(np.maximum(1 / inside - 1 / per_class + 1 / outside - 1 / per_rest, 0))
        least = np.sign(log_ratio) * np.maximum(np.abs(log_ratio) - 1.64 * error, 0) / np.log(2)
        for cell, label in np.argwhere((least > 0) & enough[:, None]):
            rows = float(attribute.table[cell].sum())
            pieces.append(
                CellEvidence(
                    attribute.name,
                    attribute.cells[cell],
                    classes[label],
                    float(log_ratio[cell, label] / np.log(2)),
                    float(least[cell, label]),
                    rows,
                    float(attribute.table[cell, label]) / rows,
                )
            )
    return sorted(pieces, key=lambda p: -p.least)[:most]


# What single values say of the classes, by the model: its term of an attribute at each value. Reads no rows of
# data.


def value_logs(model: Model, values: Mapping[str, Sequence[Any]]) -> dict[str, Floats]:
    """For each attribute and each of its values a log for each class, in nats: (values, classes).

    Rows are asked that have this one value and no other. Where the model has a term of the attribute it is that term,
    with what larger sets of attributes say of it alone. Where the attribute is part of a block, where it speaks through
    the term of another one (a tree), or where scores are no sum, it is how the value by itself changes the scores.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
    >>> np.exp(value_logs(model, {"sky": ["sun"]})["sky"]).round(3)
    array([[0.333, 0.6  ]])
    """
    wanted = {name: list(some) for name, some in values.items() if len(some)}
    if not wanted:
        return {name: np.zeros((0, len(model.classes))) for name in values}
    model = replace(model, references=None)  # what a value adds beside others: a term, and no averaged answer
    total = sum(len(some) for some in wanted.values())
    table: dict[str, list[Any]] = {}
    places: dict[str, slice] = {}
    start = 0
    for name, some in wanted.items():
        places[name] = slice(start, start + len(some))
        table[name] = [None] * start + some + [None] * (total + 1 - start - len(some))
        start += len(some)
    scores: list[Floats] = []
    terms: list[dict[str, Floats]] = []
    for batch in model.batches(table):  # the last row knows nothing
        scores.append(model.log_joint(batch))
        terms.append(_attribute_terms(model, batch))
    joint = np.vstack(scores)
    with np.errstate(invalid="ignore"):
        alone = joint[:-1] - joint[-1]
    alone = np.where(np.isnan(alone), 0.0, alone)
    each = {name: np.vstack([one[name] for one in terms]) for name in terms[0]}
    sets = [each.pop(name) for name in set_names(model) if name in each]
    more = sum((logs[:-1] - logs[-1] for logs in sets), np.zeros_like(alone))
    out = {name: np.zeros((0, len(model.classes))) for name in values}
    for name, place in places.items():
        others = [logs[place] for other, logs in each.items() if other != name]
        own = each[name][place] if name in each else np.zeros_like(alone[place])
        by_itself = (name in each or sets) and not any(_differs(logs) for logs in others)
        out[name] = own + more[place] if by_itself else alone[place]
    return out


def find_importances(model: Model) -> dict[str, float]:
    """How far each attribute moves the answers, in nats, the mean over rows: as measured while the model was made. Of
    attributes that are independent given the class the sums tell it; of others nothing is known then.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "n"]}, target="play")
    >>> round(find_importances(model)["sky"], 3)  # log((3/4) / (1/4)), whatever the sky
    1.099
    """
    if model.importance is not None:
        return dict(model.importance.each)
    if not model.factored or len(model.classes) < 2:
        return {}
    values: dict[str, list[Any]] = {}
    weights: dict[str, Floats] = {}
    for column in model.schema.attributes:
        statistic = model.summary.columns[column.name]
        if isinstance(statistic, Counts):
            values[column.name] = list(statistic.labels.names)
            weights[column.name] = statistic.table[: len(statistic.labels)].sum(1).floats()
        elif isinstance(statistic, Numbers):
            seen, tally = statistic.tally()
            dates = column.kind == "date"
            values[column.name] = [date_label(v) for v in seen] if dates else seen.tolist()
            weights[column.name] = tally.sum(1).floats()
        else:
            return {}  # words of a text come together
    whole = max(float(model.summary.total.floats().sum()), np.finfo(np.float64).tiny)
    far = {name: evidence_range(logs) for name, logs in value_logs(model, values).items()}
    return {name: float(far[name] @ weights[name]) / whole for name in values}


def missing_logs(model: Model) -> dict[str, Floats]:
    """What a missing cell of each attribute says, a log for each class, where the model has a term of it."""
    names = [column.name for column in model.schema.attributes]
    if not names:
        return {}
    batches = model.batches({name: [None] for name in names})
    own = {name: logs[0] for batch in batches for name, logs in _attribute_terms(model, batch).items()}
    return {name: own[name] for name in names if name in own}


def _attribute_terms(model: Model, batch: Any) -> dict[str, Floats]:
    """The terms of a batch that are those of one attribute, or of a set; none where scores are no sum."""
    try:
        terms = model.terms(batch)
    except SettingError:
        return {}
    own = {column.name for column in model.schema.attributes}.union(set_names(model))
    return {name: terms.array[:, k] for k, name in enumerate(terms.names) if name in own and k > 0}


def set_names(model: Model) -> tuple[str, ...]:
    """The terms of larger sets of attributes, which also hold what these say by themselves."""
    shape = model.shape()
    whole = None if shape is None else sum_of(shape)
    return () if whole is None else tuple(term.name for term in whole[0].terms if isinstance(term, TreeSum))


def _differs(logs: Floats) -> bool:
    """Whether terms say something of the classes."""
    return bool((np.abs(logs - logs[:, :1]) > 1e-9).any())
