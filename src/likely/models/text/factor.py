"""The text factor: what the words of one column say of the class, scored without a matrix of documents and words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import shown
from likely.machinery.arrays import Bytes, Floats, Hashes, Ints, Longs, take_pages
from likely.machinery.jit import kernel
from likely.models.fractions import Quotient, as_written
from likely.models.shapes import Exhibit, WordSettings, WordWeights
from likely.models.text.settings import Text
from likely.models.text.sums import DAMPED, WordSums, word_weights
from likely.sums.words.counting import Scratch, Words
from likely.sums.words.reading import DONE, FROZEN, STATE, Table, score_words
from likely.sums.words.vocabulary import Vocabulary
from likely.table.batch import Texts
from likely.table.words import BYTES, Tokens, alphabet_for, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Scores of documents from the words they have, without a matrix of documents and words. Knows no smoothing, no
# class.

Damping = Callable[["NDArray[np.float64]"], "NDArray[np.float64]"]
_ANY = np.array([2**64 - 1], np.uint64)


@dataclass(frozen=True, eq=False)
class DocumentScores:
    """For each document: its scores, how many words it has, and how many of these are unknown."""

    scores: NDArray[np.float64]
    words: NDArray[np.int64]
    unknown: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WordScores:
    """A weight of each word for each class. Safe to be asked by several threads at once."""

    vocabulary: Vocabulary
    weights: NDArray[np.float64]
    """(words, classes)"""
    tokens: Tokens
    damping: Damping
    """f: how much a word counts that occurs so many times; f(0) is never asked."""

    def score(self, cells: Texts) -> DocumentScores:
        """The scores of all documents of a column, (documents, classes)."""
        rows = len(cells)
        letters, state = alphabet_for(cells), np.zeros(STATE, np.int64)
        state[FROZEN] = 1
        out = np.zeros((rows, self.weights.shape[1]))
        counted, unknown = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
        tables = self._spare.pop() if self._spare else self._tables()
        scratch, damped, row = Scratch(), self._damped(256), 0
        while True:
            row, why = score_words(
                cells.data, cells.starts, cells.ends, row, BYTES, letters.small, letters.near, self.tokens.numbers(),
                *scratch.arrays, *self._stop, *tables, state, _ANY, damped, self.weights, out, counted, unknown,
            )  # fmt: skip
            if why == DONE:
                self._spare.append(tables)
                return DocumentScores(out, counted, unknown)
            if why < 0:
                damped = self._damped(1 - 2 * why)
            else:
                scratch = Scratch(4 * scratch.size)

    @cached_property
    def _stop(self) -> Table:
        return Vocabulary.of(sorted(self.tokens.stop, key=str.encode)).tables

    @cached_property
    def _spare(self) -> list[tuple[Bytes, Longs, Hashes, Hashes, Ints]]:
        """Tables that no thread uses at the moment: words are counted in the index itself."""
        return []

    def _tables(self) -> tuple[Bytes, Longs, Hashes, Hashes, Ints]:
        letters, ends, keys, index = self.vocabulary.tables
        own = take_pages(index.shape, np.uint64, scattered=True)
        own[:] = index
        return letters, ends, keys, own, np.zeros(len(self.vocabulary) + 1, np.int32)

    def _damped(self, upto: int) -> NDArray[np.float64]:
        return np.concatenate([np.zeros(1), self.damping(np.arange(1.0, upto + 1))])

    def words(self, text: str) -> list[tuple[str, int, int]]:
        """The different words of one text in the order in which it has them: (word, number or -1, times)."""
        times: dict[str, int] = {}
        for word in words_of(text, self.tokens):
            times[word] = times.get(word, 0) + 1
        return [(word, self.vocabulary.find(word), t) for word, t in times.items()]


# The text factor: what the words of one column say of the class. Knows one column; no prior, no other factor.

ABSENT = "(words that are not there)"
"""What the absent words of a text say together."""
MOST_SHOWN = 10


@dataclass(frozen=True, eq=False)
class TextFactor(WordWeights):
    """A text's score of a class: scale / (root of its known words) * (base + sum of f(times) * weight of each word).

    An empty text is missing, and says nothing. Words that the factor does not know are passed over.
    """

    settings: WordSettings
    """Nothing in them is left to choose."""
    scores: WordScores
    base: Floats
    """What every text has before its words: for 'bernoulli' that it has none of them."""
    sums: WordSums
    kept: NDArray[np.bool_]
    """Which words of the sums the factor knows."""

    def add_cells(self, cells: Texts, out: Floats) -> tuple[int, int]:
        """Add the score of each text to each row of `out`; how many words there were, and how many are unknown."""
        found = self.scores.score(cells)
        score = found.scores
        score += self.base
        score *= self._factor(found.words - found.unknown)[:, None]
        score[cells.starts == cells.ends] = 0.0
        out += score
        return int(found.words.sum()), int(found.unknown.sum())

    def _factor(self, known: NDArray[np.int64]) -> Floats:
        """What the sum over the words is multiplied by, for texts of so many known words."""
        scale = self.settings.scale
        assert scale != "auto"
        out = np.full(len(known), 1.0 if scale == "none" else float(scale))
        return out / np.sqrt(np.maximum(known, 1)) if self.settings.length else out

    def parts(self, cells: Texts) -> tuple[list[str], Floats]:
        """The known words of the first text, in the order in which it has them, and the share of each in its score."""
        words = [(word, k, times) for word, k, times in self.scores.words(cells.text(0)) if k >= 0]
        factor = float(self._factor(np.array([sum(times for _, _, times in words)], np.int64))[0])
        damped = DAMPED[self.settings.damping if self.settings.model != "bernoulli" else "binary"]
        names, logs = [word for word, _, _ in words], np.zeros((len(words), len(self.base)))
        for j, (_, k, times) in enumerate(words):
            logs[j] = factor * float(damped(np.array([float(times)]))[0]) * self.scores.weights[k]
        if self.settings.model == "bernoulli" and cells.ends[0] > cells.starts[0]:
            names.append(ABSENT)
            logs = np.concatenate([logs, factor * self.base[None]])
        return names, logs

    def word_quotients(self, k: int, smoothed: bool = True) -> tuple[Quotient, ...] | None:
        """(n + a) / (N + a * words), n of N words; for 'bernoulli' (n + a) / (N + 2a), n of N texts have the word."""
        settings = self.settings
        if not isinstance(settings, Text) or not settings.is_likelihood or isinstance(settings.pseudo_count, str):
            return None
        extra = settings.pseudo_count
        added = as_written(extra) if smoothed else Fraction(0)
        if settings.model == "bernoulli":
            tops, wholes, cells = self.having[k], self.sums.texts, 2
        else:
            tops, wholes, cells = self._times[0][k], self._times[1], len(self.scores.vocabulary)
        pairs = zip(tops.tolist(), wholes.tolist(), strict=True)
        return tuple(Quotient(as_written(n) + added, as_written(whole) + added * cells) for n, whole in pairs)

    @cached_property
    def _times(self) -> tuple[Floats, Floats]:
        """How often each known word occurs in each class, and all of them together."""
        table = self.sums.damped("none", False)[self.kept]
        return table, table.sum(0)

    def log_orders(self, cells: Texts) -> Floats:
        """log of the number of orders in which each text's known words can stand: the multinomial coefficient.

        The same for all classes, so it is no part of the score; it is part of the probability of a text's counts.
        """
        if self.settings.model != "multinomial":
            return np.zeros(len(cells))
        found = self._repeats.score(cells)
        known = found.words - found.unknown
        return _log_factorial(known.astype(np.float64)) - found.scores[:, 0]

    @cached_property
    def _repeats(self) -> WordScores:
        ones = np.ones((len(self.scores.vocabulary), 1))
        return WordScores(self.scores.vocabulary, ones, self.scores.tokens, _log_factorial)

    # -- for people -------------------------------------------------------------------------------------------------

    @cached_property
    def having(self) -> Floats:
        """What the texts of each class weigh that have each known word."""
        return self.sums.having[self.kept]

    @cached_property
    def evidence(self) -> Floats:
        """What one occurrence of each known word adds to a class against the mean of the others, in nats.

        (words, classes), before length and scale; words that are absent are taken to be so as in 'bernoulli'.
        """
        table = self.scores.weights
        classes = table.shape[1]
        if classes == 1:
            return np.zeros_like(table)
        with np.errstate(invalid="ignore"):
            out = table - (table.sum(1, keepdims=True) - table) / (classes - 1)
        return np.where(np.isnan(out), 0.0, out)

    def strongest(self, group: int, most: int = MOST_SHOWN) -> list[int]:
        """The known words that speak most for class number `group`: by evidence times how often texts have them."""
        texts = self.sums.texts[group]
        if not texts:
            return []
        pull = self.evidence[:, group] * (self.having[:, group] / texts)
        order = np.argsort(-pull, kind="stable")[:most]
        return [int(k) for k in order if pull[k] > 0]

    def only_in(self, group: int, most: int = MOST_SHOWN) -> list[int]:
        """Words that no other class has, those of most texts first."""
        own = self.having[:, group]
        alone = np.where(self.having.sum(1) == own, own, 0.0)
        order = np.argsort(-alone, kind="stable")[:most]
        return [int(k) for k in order if alone[k] > 0]

    def exhibits(self, classes: tuple[str, ...]) -> tuple[Exhibit, ...]:
        """The strongest words for each class, and words that only one class has."""
        words = self.scores.vocabulary
        strong, alone = [], []
        total = self.having.sum(1)
        scale = self.settings.scale
        for group, name in enumerate(classes):
            for k in self.strongest(group):
                bits = float(self.evidence[k, group]) * (scale if isinstance(scale, float) else 1.0) / math.log(2)
                own = float(self.having[k, group])
                strong.append((name, words[k], bits, own, float(total[k]) - own))
            alone += [(name, words[k], float(self.having[k, group])) for k in self.only_in(group)]
        told = " (divided by the root of the number of known words)" if self.settings.length else ""
        out = [
            Exhibit(
                f"Words of {shown(self.name, 30)} that speak most for each class",
                ("class", "word", f"bits{told}", "texts of the class", "other texts"),
                tuple(strong),
            )
        ]
        if alone and len(classes) > 1:
            title = f"Words of {shown(self.name, 30)} that one class alone has"
            out.append(Exhibit(title, ("class", "word", "texts"), tuple(alone)))
        return tuple(out)


def text_factor(name: str, words: Words, settings: Text, classes: int) -> TextFactor | None:
    """The factor of a text column under settled settings; None where no word is known."""
    sums = WordSums(words, classes)
    kept, found = word_weights(sums, settings)
    if not kept.any():
        return None
    vocabulary = sums.tally.vocabulary.taken(np.flatnonzero(kept))
    damping = DAMPED["binary" if settings.model == "bernoulli" else settings.damping]
    scores = WordScores(vocabulary, found.words, words.tokens, damping)
    return TextFactor(name, settings, scores, found.base, sums, kept)


def choice_note(name: str, written: str) -> str:
    """The sentence that tells of settings that were chosen."""
    return f"{shown(name)}: {written}; chosen by log loss on held-out rows."


def text_notes(name: str, said: Text, how: Text, factor: TextFactor | None, chosen: bool) -> list[str]:
    """What a person should know of how a text column is learned from, as sentences."""
    if factor is None:
        return [f"{shown(name)} is left out: there is no word to learn from."]
    if chosen:
        return [choice_note(name, how.written())]
    out = []
    if said.is_open:
        out.append(f"{shown(name)}: {how.written()}; there are too few rows to choose anything by.")
    if not how.is_likelihood and how.scale == "none":
        out.append(f"Scores of {shown(name)} have no scale, so they are not probabilities. Use scale = 'auto'.")
    return out


def _log_factorial(count: Floats) -> Floats:
    """log n! of whole numbers."""
    upto = int(count.max()) if len(count) else 0
    if upto < 1 << 20:
        table = np.concatenate([np.zeros(1), np.cumsum(np.log(np.arange(1.0, upto + 1)))])
        return table[count.astype(np.int64)]
    return np.array([math.lgamma(n + 1) for n in count.tolist()])


# Scales: by how much several scores are multiplied so that classes of held-out rows get the greatest log
# probability.

LEAST = 1e-3
"""A score that does harm is not turned round: it is nearly left out."""
MOST_STEPS = 50
CLOSE = 1e-7
"""Gain of a step, in nats a row, below which another one is not worth it."""


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Held-out rows: fixed log scores of classes, scores that are to be scaled, the true class, and the weight."""

    offset: Floats
    scores: Sequence[Floats]
    truth: NDArray[np.intp]
    weight: Floats

    def look(self, scales: Floats) -> tuple[float, Floats, Floats]:
        """The log score of all rows together, its slope in the scales, and its curvature."""
        count = len(scales)
        value, slope, curve = np.zeros(1), np.zeros(count), np.zeros((count, count))
        chance, own = np.empty_like(self.offset), np.empty(len(self.truth))
        shift_rows(self.offset, self._scores, self.truth, scales, chance, own)
        np.exp(chance, chance)  # all at once: several numbers in one instruction
        add_rows(chance, own, self._scores, self.truth, self.weight, np.empty(count), value, slope, curve)
        return float(value[0]), slope, curve

    @cached_property
    def _scores(self) -> Floats:
        return np.ascontiguousarray(self.scores, np.float64)


@kernel("f8[][], f8[][][], i8[], f8[], f8[][], f8[]")
def shift_rows(offset: Floats, scores: Floats, truth: Longs, scales: Floats, out: Floats, own: Floats) -> None:
    """The log score of each class of each row, less the greatest of the row; and that of its true class."""
    for i in range(truth.size):
        top = -np.inf
        for c in range(offset.shape[1]):
            joint = offset[i, c]
            for s in range(scales.size):
                joint += scales[s] * scores[s, i, c]
            out[i, c] = joint
            top = max(top, joint)
        for c in range(offset.shape[1]):
            out[i, c] -= top
        own[i] = out[i, truth[i]]


@kernel("f8[][], f8[], f8[][][], i8[], f8[], f8[], f8[], f8[], f8[][]")
def add_rows(
    chance: Floats, own: Floats, scores: Floats, truth: Longs, weight: Floats, mean: Floats, value: Floats,
    slope: Floats, curve: Floats,
) -> None:  # fmt: skip
    """Add what each row says to the log score, its slope and its curvature. (In numpy it was most of the search.)"""
    classes, scales = chance.shape[1], mean.size
    for i in range(truth.size):
        total = 0.0
        for c in range(classes):
            total += chance[i, c]
        value[0] += weight[i] * (own[i] - math.log(total))
        for c in range(classes):
            chance[i, c] /= total
        for s in range(scales):
            mean[s] = 0.0
            for c in range(classes):
                if chance[i, c] > 0:  # where it is 0 the score may be without bounds
                    mean[s] += chance[i, c] * scores[s, i, c]
            slope[s] += weight[i] * (scores[s, i, truth[i]] - mean[s])
        for s in range(scales):
            for t in range(scales):
                both = 0.0
                for c in range(classes):
                    if chance[i, c] > 0:
                        both += chance[i, c] * (scores[s, i, c] - mean[s]) * (scores[t, i, c] - mean[t])
                curve[s, t] += weight[i] * both


def best_scales(
    parts: Sequence[HeldOutRows], given: Floats | None, start: float = LEAST
) -> tuple[Floats, float]:  # fmt: skip
    """The best scales (or those given), in four digits, and the log score of a row in the mean, in nats.

    The nearer to them it starts, the fewer steps there are.
    """
    weight = sum(float(p.weight.sum()) for p in parts)
    if not weight:
        return np.ones(len(parts[0].scores)) if given is None else given, -np.inf

    def look(scales: Floats) -> tuple[float, Floats, Floats]:
        found = [p.look(scales) for p in parts]
        return (
            sum(f[0] for f in found) / weight,
            np.sum([f[1] for f in found], axis=0) / weight,
            np.sum([f[2] for f in found], axis=0) / weight,
        )

    if given is not None:
        return given, look(given)[0]
    scales = np.full(len(parts[0].scores), max(start, LEAST))
    value, slope, curve = look(scales)
    for _ in range(MOST_STEPS):
        held = (scales <= LEAST) & (slope <= 0)
        if held.all():
            break
        free = np.flatnonzero(~held)
        step = np.zeros(len(scales))
        step[free] = np.linalg.lstsq(curve[np.ix_(free, free)], slope[free], rcond=None)[0]
        share, before = 1.0, value
        while True:
            new = np.maximum(scales + share * step, LEAST)
            found = look(new)
            if found[0] > value or share < 1e-6:
                break
            share /= 2
        if found[0] > value:
            scales, (value, slope, curve) = new, found
        if value - before < CLOSE:
            break
    scales = np.array([float(f"{s:.4g}") for s in scales.tolist()])
    return scales, look(scales)[0]
