"""Documents as counts of words, and what they say of weights of words: scores, log loss and its gradient."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats, Hashes, Ints, Longs
from likely.machinery.jit import kernel
from likely.models.heldout.kept_rows import scramble
from likely.sums.words.counting import Words
from likely.sums.words.tally import Tally
from likely.sums.words.vocabulary import Vocabulary
from likely.table.batch import Batch, Cells, Codes, Texts
from likely.table.words import Tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray


# What kept documents say of weights of words: scores, log loss and its gradient. Knows arrays, no search.

SHARES_AT = 16
"""What a word counts in a document is a multiple of 2**-16, and at most 1."""
MOST_BITS = 30
"""Residuals are multiples of 2**-30 of the largest weight of a row, or of a larger power of two if rows are many."""


def residual_bits(rows: int) -> int:
    """Binary digits of a residual with which no sum over so many rows leaves 63."""
    return min(MOST_BITS, 62 - SHARES_AT - max(rows, 1).bit_length())


@kernel("i8[], i4[], i4[], f8[][], f8[][]")
def add_scores(starts: Longs, row: Ints, share: Ints, table: Floats, out: Floats) -> None:
    """out[row] += share * table[word], for every entry; always in the order of words."""
    for w in range(starts.size - 1):
        for e in range(starts[w], starts[w + 1]):
            i, x = row[e], float(share[e])
            for c in range(table.shape[1]):
                out[i, c] += x * table[w, c]


@kernel("f8[][], i4[], f8[], f8[], i4[][], i8[]")
def find_residuals(scores: Floats, own: Ints, weight: Floats, unit: Floats, residual: Ints, loss: Longs) -> None:
    """residual = weight * (P(class | row) - 1 in the row's own class), in whole units; weights are at most 1.

    loss[0] is the log loss of all rows in units of 2**-20, loss[1] how many rows of some weight are classified wrongly.
    """
    for i in range(own.size):
        w = weight[i]
        if w == 0.0:
            for c in range(scores.shape[1]):
                residual[i, c] = 0
            continue
        top = -np.inf
        best = 0
        for c in range(scores.shape[1]):
            if scores[i, c] > top:
                top, best = scores[i, c], c
        total = 0.0
        for c in range(scores.shape[1]):
            total += math.exp(scores[i, c] - top)
        loss[0] += np.int64(np.rint(w * (top + math.log(total) - scores[i, own[i]]) * 1048576.0))
        loss[1] += best != own[i]
        for c in range(scores.shape[1]):
            chance = math.exp(scores[i, c] - top) / total
            residual[i, c] = np.int32(np.rint(w * (chance - (1.0 if c == own[i] else 0.0)) * unit[0]))


@kernel("i8[], i4[], i4[], i4[][], i8[][]")
def sum_gradient(starts: Longs, row: Ints, share: Ints, residual: Ints, out: Longs) -> None:
    """out[word] = sum of share * residual[row] over the entries of the word."""
    for w in range(starts.size - 1):
        for c in range(out.shape[1]):
            out[w, c] = 0
        for e in range(starts[w], starts[w + 1]):
            i, x = row[e], np.int64(share[e])
            for c in range(out.shape[1]):
                out[w, c] += x * np.int64(residual[i, c])


@kernel("i8[][], f8[], f8[], f8[], f8[]")
def penalised_gradient(sums: Longs, spread: Floats, at: Floats, by: Floats, out: Floats) -> None:
    """The gradient by weights in units of their spread: spread * sums / unit + ridge * weight.

    `by` is (unit, ridge).
    """
    classes = sums.shape[1]
    for w in range(sums.shape[0]):
        scaled = spread[w] / by[0]
        for c in range(classes):
            k = w * classes + c
            out[k] = scaled * float(sums[w, c]) + by[1] * at[k]


@kernel("f8[], f8[], f8[], f8[][]")
def scale_weights(at: Floats, spread: Floats, unit: Floats, out: Floats) -> None:
    """out[word] = spread * weight / unit."""
    classes = out.shape[1]
    for w in range(out.shape[0]):
        scaled = spread[w] / unit[0]
        for c in range(classes):
            out[w, c] = scaled * at[w * classes + c]


# Documents as counts of words: what is kept of text columns while weights are learned. Knows batches; no weights.

_ODD = np.uint64(0x9E3779B97F4A7C15)
_EVEN = np.uint64(0x3C6EF372FE94F82A)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True, eq=False)
class KnownWords:
    """The words of one text column that have a weight, and where they begin among those of all columns."""

    name: str
    vocabulary: Vocabulary
    tokens: Tokens
    first: int


@dataclass(frozen=True, eq=False)
class DocumentPiece:
    """Some rows: class, weight and hash of each, and the entries of their texts in any order."""

    own: Ints
    weight: Floats
    hash: Hashes
    row: Ints
    word: Ints
    times: Ints


@dataclass(frozen=True, eq=False)
class Documents:
    """All rows that are kept, in the order of their hashes. Entries starts[w] … starts[w+1] are those of word w."""

    own: Ints
    weight: Floats
    hash: Hashes
    starts: Longs
    row: Ints
    times: Ints
    column: Ints
    """The column of each word."""
    order: NDArray[np.intp]
    """Where each row stood in the table."""

    @classmethod
    def joined(cls, pieces: Sequence[DocumentPiece], columns: Sequence[KnownWords]) -> Documents:
        """The rows of all pieces, in an order that does not depend on theirs."""
        own, weight = np.concatenate([p.own for p in pieces]), np.concatenate([p.weight for p in pieces])
        hashes = np.concatenate([p.hash for p in pieces])
        order = np.lexsort((weight, own, hashes))
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        first = np.cumsum([0, *(len(p.own) for p in pieces)])[:-1].tolist()
        row = rank[np.concatenate([p.row + np.int32(at) for p, at in zip(pieces, first, strict=True)])]
        word = np.concatenate([p.word for p in pieces])
        entries = np.argsort((word.astype(np.int64) << 32) | row)
        words = sum(len(c.vocabulary) for c in columns)
        starts = np.zeros(words + 1, np.int64)
        np.cumsum(np.bincount(word, minlength=words), out=starts[1:])
        times = np.concatenate([p.times for p in pieces])[entries]
        column = np.repeat(np.arange(len(columns), dtype=np.int32), [len(c.vocabulary) for c in columns])
        return cls(own[order], weight[order], hashes[order], starts, row[entries], times, column, order)

    @property
    def rows(self) -> int:
        return len(self.own)

    def shares(self, counted: NDArray[np.bool_], least: int) -> tuple[Ints, NDArray[np.bool_]]:
        """What each entry counts, the root of times / known words of its text, and which words are known.

        These are the words that at least so many counted rows have: others are unknown, as they will be in new texts.
        """
        known = np.zeros(len(self.column), np.bool_)
        find_known(self.starts, self.row, counted, least, known)
        total = np.zeros((int(self.column.max(initial=0)) + 1, self.rows), np.int64)
        out = np.zeros(len(self.row), np.int32)
        add_times(self.starts, self.row, self.times, known, self.column, total)
        find_shares(self.starts, self.row, self.times, known, self.column, total, out)
        return out, known


@dataclass(frozen=True, eq=False)
class CountedBatch:
    """A batch with the words of its texts counted row by row, and a hash of each row by what it holds."""

    columns: Sequence[KnownWords]
    tallies: tuple[Tally, ...]
    hash: Hashes

    @classmethod
    def of(cls, batch: Batch, columns: Sequence[KnownWords], others: Sequence[str]) -> CountedBatch:
        """Count the words of these columns; other attributes count for the hash alone."""
        mixed, tallies = np.zeros(batch.rows, np.uint64), []
        for k, column in enumerate(columns):
            # A bound on the vocabulary is for sums: the words of one batch are few.
            words = Words(batch.rows, replace(column.tokens, vocabulary=None))
            words.update(batch.cells[column.name], np.arange(batch.rows, dtype=np.int32))
            tally = words.tally()
            add_hashes(tally.vocabulary.hashes, tally.starts, tally.group, tally.times, k + 1, mixed)
            tallies.append(tally)
        return cls(columns, tuple(tallies), row_hashes(batch.cells, others, mixed))

    def sampled(self, share: float) -> NDArray[np.bool_]:
        """Which rows are in a sample of this share of all rows."""
        limit = np.uint64(min(int(share * 2.0**64), 2**64 - 1))
        return np.asarray(scramble(self.hash + _EVEN) <= limit)

    def piece(self, rows: NDArray[np.intp], group: Ints, weight: Floats) -> DocumentPiece:
        """What is kept of some rows."""
        number = np.full(len(self.hash), -1, np.int32)
        number[rows] = np.arange(len(rows), dtype=np.int32)
        parts = [_entries(column, tally, number) for column, tally in zip(self.columns, self.tallies, strict=True)]
        row, word, times = (np.concatenate(some) for some in zip(*parts, strict=True))
        own = group[rows].astype(np.int32), weight[rows].astype(np.float64), self.hash[rows]
        return DocumentPiece(*own, row, word, times)


def deal_hashes(hashes: Hashes, parts: int) -> Ints:
    """Which held-out part each row is in: equal rows are in the same one."""
    return np.asarray(scramble(hashes + _ODD) % np.uint64(parts)).astype(np.int32)


def _entries(column: KnownWords, tally: Tally, number: Ints) -> tuple[Ints, Ints, Ints]:
    """(row, word, times) of the known words of the rows that have a number."""
    joint, mine, theirs = column.vocabulary.merged(tally.vocabulary)
    place = np.full(len(joint), -1, np.int32)
    place[mine] = np.arange(len(mine), dtype=np.int32)
    word = place[theirs][tally.word] if len(tally.keys) else np.empty(0, np.int32)
    row = number[tally.group] if len(tally.keys) else np.empty(0, np.int32)
    some = np.flatnonzero((word >= 0) & (row >= 0))
    times = np.minimum(tally.times[some], np.iinfo(np.int32).max)
    return row[some], word[some] + np.int32(column.first), times.astype(np.int32)


def row_hashes(cells: Mapping[str, Cells], names: Sequence[str], begun: Hashes) -> Hashes:
    """The hashes of rows, begun with their texts, with other cells folded in: by what they say, not by their codes."""
    mixed = scramble(begun + _ODD)
    for name in names:
        mixed = scramble((mixed ^ _cell_hashes(cells[name])) * _ODD)
    return mixed


def _cell_hashes(cells: Cells) -> Hashes:
    if isinstance(cells, Texts):  # a text that has no weights of its own
        return np.zeros(len(cells), np.uint64)
    if isinstance(cells, Codes):
        names = [hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8) for name in cells.labels.names]
        # The last two places serve the codes -2 and -1: unseen and missing.
        own = [*(int.from_bytes(h.digest(), "little") for h in names), 1, 2]
        return np.array(own, np.uint64)[cells.codes]
    return np.ascontiguousarray(np.where(np.isfinite(cells), cells + 0.0, np.nan)).view(np.uint64)


@kernel("u8[], i8[], i8[], i8[], i8, u8[]")
def add_hashes(hashes: Hashes, starts: Longs, row: Longs, times: Longs, column: int, out: Hashes) -> None:
    """out[row] += a hash of the word, how often the row has it, and the column: the same for any order of words."""
    for w in range(starts.size - 1):
        for e in range(starts[w], starts[w + 1]):
            z = (hashes[w] + np.uint64(column) * _ODD) ^ (np.uint64(times[e]) * _MIX1)
            z = (z ^ (z >> np.uint64(30))) * _MIX2
            out[row[e]] += z ^ (z >> np.uint64(31))


@kernel("i8[], i4[], b1[], i8, b1[]")
def find_known(
    starts: Longs, row: Ints, counted: NDArray[np.bool_], least: int, known: NDArray[np.bool_]
) -> None:  # fmt: skip
    """known[w] = whether so many counted rows have the word."""
    for w in range(starts.size - 1):
        found = 0
        for e in range(starts[w], starts[w + 1]):
            found += counted[row[e]]
        known[w] = found >= least


@kernel("i8[], i4[], i4[], b1[], i4[], i8[][]")
def add_times(
    starts: Longs, row: Ints, times: Ints, known: NDArray[np.bool_], column: Ints, total: Longs
) -> None:  # fmt: skip
    """total[column, row] = how many known words the text has."""
    for w in range(starts.size - 1):
        if known[w]:
            for e in range(starts[w], starts[w + 1]):
                total[column[w], row[e]] += times[e]


@kernel("i8[], i4[], i4[], b1[], i4[], i8[][], i4[]")
def find_shares(
    starts: Longs, row: Ints, times: Ints, known: NDArray[np.bool_], column: Ints, total: Longs, out: Ints
) -> None:
    """out = sqrt(times / total) of each entry in units of 2**-SHARES_AT; 0 for unknown words."""
    for w in range(starts.size - 1):
        if known[w]:
            for e in range(starts[w], starts[w + 1]):
                share = np.sqrt(float(times[e]) / float(total[column[w], row[e]]))
                out[e] = np.int32(np.rint(share * float(1 << SHARES_AT)))
