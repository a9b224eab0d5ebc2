"""Logistic regression over words: its sweeps (documents kept as counts, then weights and a ridge), and its settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from likely.machinery.arrays import Floats, Ints, Longs
from likely.machinery.jit import kernel
from likely.machinery.threads import in_order
from likely.models.contracts import Learning, Model, Sweep, Trait
from likely.models.heldout.kept_rows import class_codes, recode_target, sum_rows
from likely.models.learning import looks_at_rows
from likely.models.linear.newton import lbfgs_direction
from likely.models.model import learnable
from likely.models.naive.naive import NaiveBayes
from likely.models.posterior import first_best
from likely.models.settings import Settings, setting
from likely.models.text.factor import HeldOutRows, best_scales
from likely.models.text.settings import Text
from likely.models.text.sums import WordSums, log_weights, telling
from likely.models.text_logistic.documents import (
    SHARES_AT,
    CountedBatch,
    Documents,
    KnownWords,
    add_scores,
    deal_hashes,
    find_residuals,
    penalised_gradient,
    residual_bits,
    scale_weights,
    sum_gradient,
)
from likely.models.text_logistic.model import (
    Found,
    RidgeChoice,
    WordLearner,
    build_model,
    note_choice,
    without_words,
)
from likely.sums.contracts import State
from likely.sums.state import read_bytes, read_mapping, read_number, read_texts, read_whole, read_wholes, require
from likely.sums.summary import MOST_ROWS, Summary
from likely.sums.words.counting import Words
from likely.table.batch import Batch
from likely.table.schema import Schema

if TYPE_CHECKING:
    Function = Callable[[Floats], tuple[float, Floats]]
    from numpy.typing import NDArray


# L-BFGS for a convex function of many weights. Knows vectors and a function; no data.

MEMORY = 5
"""Steps that are remembered."""
ENOUGH = 1e-4
"""Share of what the gradient promises that a step must bring; else it is halved."""
HALVINGS = 30


def minimise(function: Function, start: Floats, most_steps: int, tolerance: float) -> tuple[Floats, float]:
    """Where the function is least, and its value there; ends when a step gains less than this share of the value."""
    at, steps = start, list[tuple[Floats, Floats] | None]()
    value, gradient = function(at)
    for _ in range(most_steps):
        if not gradient.any():
            break
        memory = [pair for pair in steps if pair is not None]
        direction = -lbfgs_direction(gradient, memory)
        slope = float((direction * gradient).sum())
        # Before anything is remembered a step has no natural length: this one moves the value by itself at most.
        size = min(1.0, abs(value / slope)) if not memory else 1.0
        for _ in range(HALVINGS):
            new = at + size * direction
            found, after = function(new)
            if found <= value + ENOUGH * size * slope:
                break
            size /= 2
        else:
            break
        gain, s, y = value - found, new - at, after - gradient
        steps = [*steps, (s, y) if float((s * y).sum()) > 0 else None][-MEMORY:]
        at, value, gradient = new, found, after
        if gain <= tolerance * abs(value):
            break
    return at, value


# Weights of words for a ridge, and the ridge that is best for rows held out. Knows documents; no batches, no
# models.

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

    def weights(self, at: Floats, choice: RidgeChoice) -> Floats:
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
    ratios[known] = log_weights(RATIOS, table, totals, len(table), np.zeros(classes))
    return spread, ratios


def choose_ridge(
    documents: Documents, offset: Floats, ridges: Sequence[float] = RIDGES, leasts: Sequence[int] = LEASTS
) -> RidgeChoice:
    """What gives held-out rows the least log loss: first the ridge, then how many texts a word must be in at least."""
    part = deal_hashes(documents.hash, PARTS)
    turns: Iterable[int] = range(PARTS) if len(documents.row) * offset.shape[1] <= FEW_ENTRIES else (0,)
    there = documents.weight > 0
    counted = [part != p for p in turns if (there & (part == p)).any() and (there & (part != p)).any()]
    best = RidgeChoice(ridges[0] if len(ridges) == 1 else UNCHOSEN, leasts[0])
    for least in leasts if counted else ():
        best = _better(best, [WordFit(documents, offset, rows, least) for rows in counted], least, ridges)
        ridges = (best.ridge,)
    return best


def _better(before: RidgeChoice, fits: Sequence[WordFit], least: int, ridges: Sequence[float]) -> RidgeChoice:
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
            best = RidgeChoice(ridge, least, float(learned), float(naive), -score, count, hits / count, start)
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


# The sweeps of logistic regression over words: rows are kept as counts of words, then weights are found among them.

MOST_ENTRIES = 1 << 24
"""Different words of texts, added over all texts, that are kept: about 400 MB. Of more, a sample of rows is taken."""
MOST_WEIGHTS = 1 << 23
"""Words times classes: beyond it, the words that fewest texts have are passed over. The search takes 1 GB for them."""
LEAST_ROWS = 50
"""Where there are fewer, the ridge is not chosen."""


def learn_words(learner: WordLearner, summary: Summary) -> Learning[Model]:
    """Weights of words: a sweep for the words of rows, and another for what other attributes say, where there are any.
    The prior and other attributes alone where there is one class or no word."""
    having, kept, remarks = _known_words(learner, summary)
    if len(summary.classes) < 2 or not kept:
        alone = "No column is a text: other attributes speak as in naive Bayes. Say --type COLUMN=text of a text."
        return build_model(learner, summary, Found(UNCHOSEN, 1, remarks=() if having else (alone,)))
    columns, first = [], 0
    for name, mask in kept.items():
        words = summary.column(name, Words)
        columns.append(KnownWords(name, words.tally().vocabulary.taken(np.flatnonzero(mask)), words.tokens, first))
        first += int(mask.sum())
    share = min(1.0, MOST_ENTRIES / max(count_entries(summary), 1.0))
    if share < 1.0:
        remarks.append(
            f"Weights are learned from about {100 * share:.3g} % of the rows, drawn by a hash of what they hold: the "
            f"words of more would not be kept in memory."
        )
    rows = WordRows(summary, tuple(columns), share)
    pieces, *parts = yield Sweep(_count_words, (rows,))
    documents, said = Documents.joined(pieces, rows.columns), None
    if parts:
        total = reduce(add, parts)
        (told,) = yield Sweep(_other_evidence, (rows, tuple(_model_of_rest(total - part) for part in parts)))
        said = np.concatenate(told)[documents.order]
    found = _weigh_words(learner, rows, kept, documents, said, remarks)
    return build_model(learner, summary, found)


@dataclass(frozen=True, eq=False)
class WordRows:
    """Which rows are kept, as counts of which words."""

    summary: Summary
    columns: tuple[KnownWords, ...]
    share: float
    """Of all rows, that which is kept."""

    @property
    def others(self) -> list[str]:
        """The attributes that are no texts."""
        return [c.name for c in self.summary.schema.attributes if c.kind != "text"]

    def read(
        self, batch: Batch, group: Ints, weight: Floats
    ) -> tuple[Batch, Ints, CountedBatch, NDArray[np.bool_], NDArray[np.intp], NDArray[Any]]:
        """The batch and its classes, its words, which rows count, which of these are kept, and the part of each row."""
        batch, group = recode_target(self.summary.classes, batch, group)
        counted = CountedBatch.of(batch, self.columns, self.others)
        counts = (group >= 0) & (weight > 0)
        rows = np.flatnonzero(counts & counted.sampled(self.share))
        return batch, group, counted, counts, rows, deal_hashes(counted.hash, PARTS)


def _count_words(which: WordRows, batch: Batch, group: Ints, weight: Floats) -> tuple[Any, ...]:
    """The words of the rows, and sums of other attributes by part."""
    batch, group, counted, counts, rows, part = which.read(batch, group, weight)
    kept = (counted.piece(rows, group, weight),)
    if not which.others:
        return (kept,)
    plain = without_words(which.summary)
    own = (batch.take(np.flatnonzero(counts & (part == p))) for p in range(PARTS))
    return (kept, *(sum_rows(plain, [some], ()) for some in own))


def _other_evidence(
    which: WordRows, models: tuple[Model | None, ...], batch: Batch, group: Ints, weight: Floats
) -> tuple[tuple[Floats], ...]:
    """What other attributes say of the rows of each part, by naive Bayes of all rows that are not in it."""
    batch, group, _, _, rows, part = which.read(batch, group, weight)
    out = np.zeros((len(rows), len(which.summary.classes)))
    for p, model in enumerate(models):
        mine = np.flatnonzero(part[rows] == p)
        if model is not None and len(mine):
            out[mine] = evidence(model, batch.take(rows[mine]), which.summary.classes)
    return ((out,),)


def _weigh_words(
    learner: WordLearner,
    rows: WordRows,
    masks: Mapping[str, NDArray[np.bool_]],
    documents: Documents,
    said: Floats | None,
    remarks: Sequence[str],
) -> Found:
    """Weights from all kept rows, with the ridge that was given or that held-out rows choose."""
    prior = NaiveBayes().product(without_words(rows.summary)).log_prior
    assert prior is not None
    offset, others = np.empty((documents.rows, len(prior))), 1.0
    offset[:] = prior
    if said is not None:
        # Rows that other attributes call impossible teach nothing of words.
        sound = np.asarray(np.isfinite(said).all(axis=1))
        documents = replace(documents, weight=np.where(sound, documents.weight, 0.0))
        said = np.where(sound[:, None], said, 0.0)
        others = scale_of(documents, offset, said)
        offset += others * said
    given, least = learner.ridge, learner.least_documents
    ridges = RIDGES if given == "auto" else (given,)
    leasts = LEASTS if least == "auto" else (least,)
    choice = RidgeChoice(UNCHOSEN if given == "auto" else given, leasts[0])
    if documents.rows >= LEAST_ROWS:
        choice = choose_ridge(documents, offset, ridges, leasts)
    fit = WordFit(documents, offset, documents.weight > 0, choice.least)
    table = fit.weights(fit.find(choice.ridge, choice.start, CLOSE), choice)
    tables, kept = {}, {}
    for column in rows.columns:
        known = fit.known[column.first : column.first + len(column.vocabulary)]
        tables[column.name] = table[column.first : column.first + len(column.vocabulary)][known]
        kept[column.name] = np.zeros(len(masks[column.name]), np.bool_)
        kept[column.name][np.flatnonzero(masks[column.name])[known]] = True
    return Found.of(tables, kept, choice, others, (*remarks, note_choice(choice)))


def count_entries(summary: Summary) -> float:
    """How many different words the texts of all rows have, added over all texts; about, where rows have weights."""
    classes, weight = len(summary.classes), float(summary.total.floats().sum())
    entries = 0.0
    for held in summary.columns.values():
        if isinstance(held, Words):
            sums = WordSums(held, classes)
            entries += float(sums.having[sums.is_word].sum())
    # Sums are by weight: of rows that weigh 2 each, half as many are to be expected.
    return entries / weight * summary.rows if weight else 0.0


def _known_words(
    learner: WordLearner, summary: Summary
) -> tuple[dict[str, Floats], dict[str, NDArray[np.bool_]], list[str]]:
    """How many texts have each word of each column, the words that are to have weights, and what to say of others."""
    classes, most = len(summary.classes), MOST_WEIGHTS // max(len(summary.classes), 1)
    having: dict[str, Floats] = {}
    for name, held in summary.columns.items():
        if isinstance(held, Words):
            sums = WordSums(held, classes)
            # The empty word stands for the documents themselves.
            having[name] = np.where(sums.is_word, sums.having.sum(1), 0.0)
    least = 1.0 if learner.least_documents == "auto" else float(learner.least_documents)
    remarks = []
    counts = np.sort(np.concatenate([np.empty(0), *having.values()]))[::-1]
    if np.count_nonzero(counts >= least) > most:
        least = float(np.nextafter(counts[most], np.inf))
        remarks.append(
            f"Only words of more than {counts[most]:,.6g} texts have weights: {classes:,} classes leave room for "
            f"{most:,} words."
        )
    kept = {name: (own >= least) & (own > 0) for name, own in having.items()}
    return having, {name: mask for name, mask in kept.items() if mask.any()}, remarks


def _model_of_rest(rest: Summary) -> Model | None:
    """Naive Bayes of rows that are not in a part; None where there are none."""
    rest = rest.canonical()
    return NaiveBayes().model(learnable(rest)) if rest.rows and rest.classes else None


def evidence(model: Model, batch: Batch, classes: tuple[str, ...]) -> Floats:
    """log P(row | class) by a model that may lack classes; one that it lacks is as likely as all others together."""
    assert model.log_prior is not None
    joint = np.asarray(model.log_joint(batch))
    top = joint.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        out = np.repeat(top + np.log(np.exp(joint - top).sum(axis=1, keepdims=True)), len(classes), axis=1)
    codes = class_codes(model.classes, classes)[: len(model.classes)]
    there = np.flatnonzero(codes >= 0)
    out[:, codes[there]] = (joint - model.log_prior)[:, there]
    return np.where(np.isnan(out), -np.inf, out)


def scale_of(documents: Documents, offset: Floats, said: Floats) -> float:
    """What the evidence of other attributes is to be multiplied by, found on rows that it was not learned from."""
    rows = HeldOutRows(offset, [said], documents.own.astype(np.intp), documents.weight)
    return float(best_scales([rows], None)[0][0])


# The learner: its settings, and how a file gives its model back.


@dataclass(frozen=True)
class TextLogistic(Settings):
    """log P(class | row) = log prior + what other attributes say + sum of sqrt(t / n) * weight over the words of texts.

    A word that is t of the n known words of a text counts sqrt(t / n). Weights make the log loss of the rows least,
    plus ridge/2 times their squares in units of each word's spread: sqrt(what the word tells of the class) * idf.
    Other attributes say what they say in naive Bayes, times one weight. An empty text and unknown words say nothing.

    >>> TextLogistic(ridge=0.1).least_documents
    'auto'
    """

    ridge: float | Literal["auto"] = setting(
        "auto",
        "Ridge penalty on the weights. 'auto': the one with the best log loss on held-out rows.",
        above=0,
        choices=("auto",),
    )
    least_documents: int | Literal["auto"] = setting(
        "auto",
        "Words in fewer texts are ignored. 'auto': 1 or 2, whichever is better for rows held out.",
        at_least=1,
        whole=True,
        choices=("auto",),
    )

    traits: ClassVar[frozenset[Trait]] = frozenset({"reads text"})

    def needs(self, schema: Schema) -> frozenset[str]:
        """Nothing beyond the first order: the rest is found by looking at the rows."""
        return frozenset()

    @looks_at_rows
    def learn(self, summary: Summary) -> Learning[Model]:
        """The weights of words; with a single class, or without any word, there is nothing to look for."""
        return learn_words(self, learnable(summary, text=True))

    def restore(self, summary: Summary, found: State) -> Model:
        """The model as a file keeps it."""
        summary = learnable(summary, text=True)
        classes = len(summary.classes)
        weights, kept = {}, {}
        stored = read_mapping(found["kept"], "known words")
        for name, table in read_mapping(found["weights"], "weights").items():
            words = summary.columns.get(name)
            require(isinstance(words, Words), "weights are those of a text")
            assert isinstance(words, Words)
            size = len(words.tally().vocabulary)
            bits = read_bytes(stored[name], "known words")
            require(len(bits) == -(-size // 8), "each word is known or not")
            kept[name] = np.unpackbits(bits)[:size].astype(np.bool_)
            weights[name] = read_wholes(table, 2, "weights")
            require(weights[name].shape == (int(kept[name].sum()), classes), "each known word has its weights")
        tried: list[tuple[float, float, float]] = []
        for ridge, least, loss in found["tried"]:
            some = (read_number(value, 0, math.inf, "a trial") for value in (ridge, least, loss))
            tried.append((next(some), next(some), next(some)))
        learned, naive = found["scales"]
        return build_model(
            self,
            summary,
            Found(
                read_number(found["ridge"], 0, math.inf, "a ridge"),
                read_whole(found["least"], 1, MOST_ROWS, "least texts of a word"),
                weights,
                read_number(found["unit"], 0, math.inf, "a unit"),
                kept,
                read_number(found["others"], 0, math.inf, "a weight of evidence"),
                (read_number(learned, 0, math.inf, "a scale"), read_number(naive, 0, math.inf, "a scale")),
                tuple(tried),
                read_number(found["loss"], 0, math.inf, "a log loss"),
                read_whole(found["rows"], 0, MOST_ROWS, "held-out rows"),
                read_number(found["hits"], 0, 1, "the share of hits"),
                tuple(read_texts(found["remarks"], "remarks")),
            ),
        )
