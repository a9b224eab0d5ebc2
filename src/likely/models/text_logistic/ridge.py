"""Weights of words for a ridge, and the ridge that is best for rows held out. Knows documents; no batches, no models.

The weight of a word for a class is spread * u, and ridge/2 * u**2 is added to the log loss: so the spread says how far
a word may go. It is the root of what the word tells of the class (the mean of its log-count ratios) times its idf.
Weights that are learned know which words say the same; log-count ratios know rare words better. Their sum, each times
a scale that held-out rows choose, is better than either: a logarithmic opinion pool of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats, Ints, Longs
from likely.machinery.jit import kernel
from likely.machinery.threads import in_order
from likely.models.posterior import first_best
from likely.models.text.scales import HeldOutRows, best_scales
from likely.models.text.settings import Text
from likely.models.text.sums import telling, weights
from likely.models.text_logistic.documents import Documents, deal_hashes
from likely.models.text_logistic.gradients import (
    SHARES_AT,
    add_scores,
    find_residuals,
    penalised_gradient,
    residual_bits,
    scale_weights,
    sum_gradient,
)
from likely.models.text_logistic.lbfgs import minimise

if TYPE_CHECKING:
    from numpy.typing import NDArray

RIDGES = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
"""What is tried, each from the weights of the one before, until two in a row are no better."""
BETTER = 0.995
"""What the log loss must be multiplied by at least: of ridges that are as good, the largest is taken."""
LEASTS = (2, 1)
"""Words of one text alone are tried with the best ridge only: they are half of all words."""
UNCHOSEN = 0.1
"""Where there are too few rows to choose."""
PARTS = 5
FEW_ENTRIES = 1 << 21
"""Entries times classes up to which all parts are held out in turn; of more, one part."""
RATIOS = Text("contrast", pseudo_count=0.01, damping="root", length=True, telling=True, scale=1.0)
"""The naive Bayes of words that is pooled with what is learned: log-count ratios of a class against all others."""
CLOSE = 3e-4
"""Share of the penalised loss that a last step gains at most. The same for trials and for the weights in the end:
scales that suit weights on their way do not suit those that have arrived."""
MOST_STEPS = 100
_WHOLE = float(1 << SHARES_AT)


@dataclass(frozen=True, eq=False)
class Choice:
    """A ridge, what learned weights and log-count ratios are multiplied by, and how that did on held-out rows."""

    ridge: float
    least: int
    """Texts that a word must be in at least."""
    learned: float = 1.0
    naive: float = 0.0
    loss: float = 0.0
    rows: int = 0
    hits: float = 0.0
    """The log loss of a held-out row, how many there are, and the share of these that were classified rightly."""
    start: Floats | None = field(default=None, repr=False)
    """Weights by spread to start from."""
    tried: tuple[tuple[float, float, float], ...] = ()
    """What was tried: (ridge, least, log loss of held-out rows)."""


class WordFit:
    """The penalised log loss of some rows as a function of weights by spread, and of the others as a judge."""

    def __init__(self, documents: Documents, offset: Floats, counted: NDArray[np.bool_], least: int) -> None:
        self.documents, self.offset, self.counted = documents, offset, counted
        classes = offset.shape[1]
        self.share, self.known = documents.shares(counted, least)
        known = self.known
        self.heaviest = float(documents.weight.max(initial=0.0)) or 1.0
        self.weight = np.where(counted, documents.weight / self.heaviest, 0.0)
        self.spread, self.ratios = word_ratios(documents, self.share, self.weight, known, classes)
        self.unit = float(2 ** residual_bits(documents.rows))
        self.table = np.empty((len(known), classes))
        self._sums = np.empty((len(known), classes), np.int64)
        self._residual = np.empty((documents.rows, classes), np.int32)

    def scores(self, table: Floats, out: Floats) -> Floats:
        """What these weights (of words, for the whole of a text) say of each row, added to `out`."""
        add_scores(self.documents.starts, self.documents.row, self.share, table, out)
        return out

    def find(self, ridge: float, start: Floats | None, tolerance: float) -> Floats:
        """The weights by spread that make the penalised log loss least."""
        held = ridge / self.heaviest

        def look(at: Floats) -> tuple[float, Floats]:
            docs, loss = self.documents, np.zeros(2, np.int64)
            scale_weights(at, self.spread, np.array([_WHOLE]), self.table)
            scores = self.scores(self.table, self.offset.copy())
            find_residuals(scores, docs.own, self.weight, np.array([self.unit]), self._residual, loss)
            sum_gradient(docs.starts, docs.row, self.share, self._residual, self._sums)
            gradient = np.empty_like(at)
            by = np.array([self.unit * _WHOLE, held])
            penalised_gradient(self._sums, self.spread, at, by, gradient)
            return float(loss[0]) * 2.0**-20 + held / 2 * _square(at), gradient

        begun = np.zeros(self.table.size) if start is None else start
        return minimise(look, begun, MOST_STEPS, tolerance)[0]

    def weights(self, at: Floats, choice: Choice) -> Floats:
        """The weight of each word for each class: of what was learned and of log-count ratios."""
        scale_weights(at, self.spread, np.ones(1), self.table)
        return choice.learned * self.table + choice.naive * self.ratios

    def judged(self, at: Floats) -> HeldOutRows:
        """The rows that do not count, as what is learned and log-count ratios score them."""
        rows = np.flatnonzero(~self.counted & (self.documents.weight > 0))
        scale_weights(at, self.spread, np.array([_WHOLE]), self.table)
        scores = [self.scores(table, np.zeros_like(self.offset))[rows] for table in (self.table, self.ratios / _WHOLE)]
        own = self.documents.own[rows].astype(np.intp)
        return HeldOutRows(self.offset[rows], scores, own, self.documents.weight[rows])


def word_ratios(
    documents: Documents, share: Ints, weight: Floats, known: NDArray[np.bool_], classes: int
) -> tuple[Floats, Floats]:
    """Of each known word: sqrt(what it tells) * (1 + log((1 + N) / (1 + n))), where n of N texts have it; and its
    log-count ratios, (words, classes)."""
    sums, having = np.zeros((len(known), classes), np.int64), np.zeros(len(known), np.int64)
    count_words(documents.starts, documents.row, share, documents.own, weight, sums, having)
    table = sums[known] / (_WHOLE * 2.0**20)
    totals = table.sum(0)
    idf = np.log((1 + np.count_nonzero(weight)) / (1 + having[known])) + 1
    spread, ratios = np.zeros(len(known)), np.zeros((len(known), classes))
    spread[known] = np.sqrt(telling(table, totals, float(RATIOS.pseudo_count))) * idf
    ratios[known] = weights(RATIOS, table, totals, len(table), np.zeros(classes))
    return spread, ratios


def choose_ridge(
    documents: Documents, offset: Floats, ridges: Sequence[float] = RIDGES, leasts: Sequence[int] = LEASTS
) -> Choice:
    """What gives held-out rows the least log loss: first the ridge, then how many texts a word must be in at least."""
    part = deal_hashes(documents.hash, PARTS)
    turns: Iterable[int] = range(PARTS) if len(documents.row) * offset.shape[1] <= FEW_ENTRIES else (0,)
    there = documents.weight > 0
    counted = [part != p for p in turns if (there & (part == p)).any() and (there & (part != p)).any()]
    best = Choice(ridges[0] if len(ridges) == 1 else UNCHOSEN, leasts[0])
    for least in leasts if counted else ():
        best = _better(best, [WordFit(documents, offset, rows, least) for rows in counted], least, ridges)
        ridges = (best.ridge,)
    return best


def _better(before: Choice, fits: Sequence[WordFit], least: int, ridges: Sequence[float]) -> Choice:
    """The best of what came before and of these ridges, each from the weights of the one before it."""
    at: list[Floats | None] = [None] * len(fits)
    best, tried, since = before, list(before.tried), 0
    for ridge in ridges:
        pairs = zip([ridge] * len(fits), fits, at, strict=True)
        at = [*in_order(iter(pairs), lambda one: one[1].find(one[0], one[2], CLOSE))]
        judged = [fit.judged(u) for fit, u in zip(fits, at, strict=True) if u is not None]
        (learned, naive), score = best_scales(judged, None)
        tried.append((ridge, float(least), -score))
        since += 1
        if not best.rows or -score < BETTER * best.loss:
            hits = sum(_hits(rows, learned, naive) for rows in judged)
            count = sum(len(rows.truth) for rows in judged)
            start = at[0] if len(fits) == 1 else None
            best = Choice(ridge, least, float(learned), float(naive), -score, count, hits / count, start)
            since = 0
        if since == 2:
            break
    return replace(best, tried=tuple(tried))


def _hits(rows: HeldOutRows, learned: float, naive: float) -> int:
    """How many rows are classified rightly."""
    scores = rows.offset + learned * rows.scores[0] + naive * rows.scores[1]
    return int(np.count_nonzero(first_best(scores) == rows.truth))


def _square(at: Floats) -> float:
    """The sum of squares, always added in the same order."""
    out = np.zeros(1)
    add_squares(at, out)
    return float(out[0])


@kernel("f8[], f8[]")
def add_squares(at: Floats, out: Floats) -> None:
    """out[0] += sum of squares, in four lanes."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    k = 0
    while k + 4 <= at.size:
        a += at[k] * at[k]
        b += at[k + 1] * at[k + 1]
        c += at[k + 2] * at[k + 2]
        d += at[k + 3] * at[k + 3]
        k += 4
    while k < at.size:
        a += at[k] * at[k]
        k += 1
    out[0] += (a + b) + (c + d)


@kernel("i8[], i4[], i4[], i4[], f8[], i8[][], i8[]")
def count_words(
    starts: Longs, row: Ints, share: Ints, own: Ints, weight: Floats, sums: Longs, having: Longs
) -> None:  # fmt: skip
    """sums[word, class] += share * weight, in whole units; having[word] counts texts with the word."""
    for w in range(starts.size - 1):
        for e in range(starts[w], starts[w + 1]):
            i = row[e]
            if weight[i] > 0.0 and share[e] > 0:
                sums[w, own[i]] += np.int64(np.rint(float(share[e]) * weight[i] * 1048576.0))
                having[w] += 1
