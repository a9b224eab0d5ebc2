"""What words of a text column say about the target, in bits, read off the sums: no text is looked at.

A word is looked at as a yes or no: does the text have it, however often. An empty text is missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import shown
from likely.machinery.distributions import chi_square_tail
from likely.sums.words.words import Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
class Piece:
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
    pieces: tuple[Piece, ...]
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
        Piece(name, f"with {shown(held.vocabulary[k])}", classes[c], log / math.log(2), least / math.log(2), *counted)
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
