"""From a tally of words to the weight of each word in each class: damped sums, which words are kept, smoothing.

Knows sums and settings; no documents. Every sum is of exact counts in one order, so it depends on no order of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats
from likely.machinery.threads import in_order
from likely.models.text.settings import Text
from likely.sums.words.counting import Words
from likely.sums.words.reading import SIZES
from likely.sums.words.tally import Tally

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Which = NDArray[np.bool_]


def _each_time(times: Floats) -> Floats:
    return times


def _by_log(times: Floats) -> Floats:
    return 1 + np.log(times)


def _by_root(times: Floats) -> Floats:
    return np.sqrt(times)


def _once(times: Floats) -> Floats:
    return np.ones_like(times)


DAMPED: dict[str, Callable[[Floats], Floats]] = {
    "none": _each_time,
    "log": _by_log,
    "root": _by_root,
    "binary": _once,
}
"""What a word counts that occurs so many times in a document (one or more). Functions with a name of their own, so that
models can be sent to executors."""


_AT_ONCE = 1 << 15
"""Cells of a table of words and classes that are worked on at once."""
_PARTS = 32
"""Such parts that a thread takes at a time."""


class WordSums:
    """What was counted of the words of one column, in as many classes, read off under any settings."""

    def __init__(self, words: Words, classes: int) -> None:
        self.tally: Tally = words.tally()
        self.classes = classes
        vocabulary = self.tally.vocabulary
        self._documents_first = bool(len(vocabulary)) and vocabulary.ends[1] == 0

    @property
    def is_word(self) -> Which:
        """All but the empty one, which stands for documents."""
        out = np.ones(len(self.tally.vocabulary), np.bool_)
        if self._documents_first:
            out[0] = False
        return out

    @cached_property
    def lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """Of documents that are not missing: class, number of words, and what they weigh."""
        upto = int(self.tally.starts[1]) if self._documents_first else 0
        own = replace(self.tally, keys=self.tally.keys[:upto])
        group, times, some = own.group, own.times, own.size > 0
        return group[some], times[some], self.tally.weight[np.arange(upto)].floats()[some]

    @cached_property
    def texts(self) -> Floats:
        """What the documents of each class weigh that are not missing."""
        group, _, weight = self.lengths
        return np.bincount(group, weight, self.classes).astype(np.float64)

    @cached_property
    def having(self) -> Floats:
        """What the documents weigh that have each word, (words, classes)."""
        return self.tally.having(self.classes)

    def damped(self, damping: str, length: bool) -> Floats:
        """The sum of f(times a word occurs), over the root of a document's size where asked, (words, classes)."""
        if damping == "binary" and not length:
            return self.having
        # A document of size s has from 2**(s-1) to 2**s - 1 words: 2**(s-1/2) in the middle of these.
        by_size = np.exp2((0.5 - np.arange(SIZES + 1.0)) / 2) if length else np.ones(SIZES + 1)
        return self.tally.collected(DAMPED[damping], by_size, self.classes)

    def idf(self) -> Floats:
        """How much more a rare word counts: log((1 + N) / (1 + n)) + 1 where n of N documents have it."""
        return np.log((1 + self.texts.sum()) / (1 + self.having.sum(1))) + 1  # type: ignore[no-any-return]

    def kept(self, settings: Text) -> Which:
        """The words that enough documents have; of these the most telling ones, if there is a bound."""
        out = self.is_word
        assert settings.least_documents != "auto"
        if settings.least_documents > 1:
            out &= self.having.sum(1) >= settings.least_documents
        if settings.most_words is not None and int(out.sum()) > settings.most_words:
            some = np.flatnonzero(out)
            order = np.argsort(-information(self.having[some], self.texts), kind="stable")
            out[:] = False
            out[some[order[: settings.most_words]]] = True
        return out

    def shares(self, settings: Text) -> bool:
        """Whether the sums that the settings want are those that `having` keeps, which nobody may change."""
        once = settings.damping == "binary" and not settings.length and not settings.idf
        return settings.model == "bernoulli" or once

    def sums_for(self, settings: Text) -> Floats:
        """The sums that the settings want, (words, classes)."""
        if self.shares(settings):
            return self.having
        table = self.damped(settings.damping, settings.length is True)
        return table * self.idf()[:, None] if settings.idf else table


def information(having: Floats, texts: Floats) -> Floats:
    """What it tells of the class, in bits, whether a document has a word: one figure for each word."""
    total = texts.sum()
    there = having.sum(1, keepdims=True)

    def part(joint: Floats, side: Floats) -> Floats:
        """sum of p(side, class) log2 [p(side, class) / p(side) p(class)]"""
        with np.errstate(divide="ignore", invalid="ignore"):
            out = joint / total * np.log2(joint * total / (side * texts))
        return np.where(joint > 0, out, 0.0).sum(1)  # type: ignore[no-any-return]

    if not total:
        return np.zeros(len(having))
    return part(having, there) + part(np.maximum(texts - having, 0.0), total - there)


@dataclass(frozen=True, eq=False)
class Weights:
    """The weight of each word in each class, and what every document has before its words."""

    words: Floats
    base: Floats


def log_weights(
    settings: Text,
    some: Floats,
    totals: Floats,
    count: int,
    texts: Floats,
    into: Floats | None = None,
    told: Floats | None = None,
) -> Floats:
    """log weights of some words from their sums, (words, classes): what one of each adds to the score of a class.

    `totals` are the sums over all `count` kept words; `texts` what the documents weigh (for 'bernoulli'). They may be
    written `into` the table of sums itself. What words tell (`telling`) is found here unless it is given.
    """
    out = np.empty_like(some) if into is None else into
    # So many words at a time that what is worked on stays in the cache of the processor; many such parts for a thread.
    step = max(1, _AT_ONCE // max(1, len(totals)))

    def write(parts: range) -> None:
        for start in parts:
            part = slice(start, start + step)
            out[part] = _weights(settings, some[part], totals, count, texts, None if told is None else told[part])

    every = range(0, len(some), step)
    for _ in in_order((every[k : k + _PARTS] for k in range(0, len(every), _PARTS)), write):
        pass
    return out


def _weights(
    settings: Text, some: Floats, totals: Floats, count: int, texts: Floats, told: Floats | None
) -> Floats:  # fmt: skip
    extra = settings.pseudo_count
    assert extra != "auto"
    # Then no weight can be infinite, or 0 of 0.
    finite = extra > 0 and bool(np.isfinite(totals).all())
    with np.errstate(divide="ignore", invalid="ignore"):
        if settings.model == "bernoulli":
            return np.log(some + extra) - np.log(np.maximum(texts - some, 0.0) + extra)
        if settings.model != "multinomial" and len(totals) == 1:
            return np.zeros_like(some)  # there is nothing beside the one class
        if settings.model == "complement":
            out = np.zeros_like(some)
        else:
            out = some + extra
            np.log(out, out)
            out -= np.log(totals + extra * count)
            if not finite:
                out[np.isnan(out)] = -np.inf  # 0 of 0: a class without any word
        if settings.model != "multinomial":
            others = np.maximum(some.sum(1, keepdims=True) - some, 0.0)
            others += extra
            np.log(others, others)
            out -= others
            out += np.log(totals.sum() - totals + extra * count)
        if settings.telling:
            share = np.sqrt(telling(some, totals, extra) if told is None else told)[:, None]
            # What is impossible stays so. (To ask of each weight whether it is takes longer than to multiply it.)
            np.multiply(out, share, out, where=True if finite else np.isfinite(out))
        return out


def telling(some: Floats, totals: Floats, extra: float) -> Floats:
    """What each word tells of the class, in nats: sum of P(class | word) log [P(class | word) / P(class)].

    P(class | word) = (n(word, class) + aK P(class)) / (n(word) + aK): as the pseudo-count a adds to each of K classes.
    """
    whole = totals.sum()
    if not whole:
        return np.zeros(len(some))
    share, more = totals / whole, extra * len(totals)
    chance = some + more * share
    with np.errstate(divide="ignore", invalid="ignore"):
        chance /= some.sum(1, keepdims=True) + more
        ratio = chance / share
        np.log(ratio, ratio)
        chance *= ratio
    if not (extra > 0 and (share > 0).all()):
        chance[np.isnan(chance)] = 0.0  # no such class: 0 log 0
    return np.maximum(chance.sum(1), 0.0)  # type: ignore[no-any-return]


def absent(settings: Text, some: Floats, texts: Floats) -> Floats:
    """For 'bernoulli' the log probability of a document without any of the words; else 0."""
    extra = settings.pseudo_count
    assert extra != "auto"
    if settings.model != "bernoulli":
        return np.zeros(len(texts))
    without = np.log(np.maximum(texts - some, 0.0) + extra) - np.log(texts + 2 * extra)
    return without.sum(0)  # type: ignore[no-any-return]


def take_words(table: Floats, kept: Which) -> Floats:
    """The rows of these words: a copy only where words between others are left out, as the table is large."""
    some = np.flatnonzero(kept)
    return table[some[0] : some[-1] + 1] if len(some) and some[-1] - some[0] + 1 == len(some) else table[kept]


def word_weights(sums: WordSums, settings: Text) -> tuple[Which, Weights]:
    """Which words are kept, and their weights."""
    kept = sums.kept(settings)
    table = take_words(sums.sums_for(settings), kept)
    base = absent(settings, table, sums.texts)
    # The table is large: unless others read it as well, the weights take its place.
    own = None if sums.shares(settings) else table
    found = log_weights(settings, table, table.sum(0), len(table), sums.texts, own)
    if settings.idf:
        found = found * sums.idf()[kept][:, None]
    return kept, Weights(np.ascontiguousarray(found), base)
