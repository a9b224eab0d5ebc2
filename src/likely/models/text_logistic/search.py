"""The sweeps of logistic regression over words: rows are kept as counts of words, then weights are found among them.

With other attributes there is a second sweep: what these say of each row, by naive Bayes of all parts but the row's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Floats, Ints
from likely.models.contracts import Model, Search
from likely.models.heldout.dealing import class_codes, recode_target, sum_rows
from likely.models.model import learnable
from likely.models.naive.naive import NaiveBayes
from likely.models.text.scales import HeldOutRows, best_scales
from likely.models.text.sums import WordSums
from likely.models.text_logistic.documents import CountedBatch, Documents, KnownWords, deal_hashes
from likely.models.text_logistic.model import (
    Found,
    WordLearner,
    WordLogOdds,
    build_model,
    note_choice,
    without_words,
)
from likely.models.text_logistic.ridge import CLOSE, LEASTS, PARTS, RIDGES, UNCHOSEN, Choice, WordFit, choose_ridge
from likely.sums.summary import Summary
from likely.sums.words.words import Words
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray


MOST_ENTRIES = 1 << 24
"""Different words of texts, added over all texts, that are kept: about 400 MB. Of more, a sample of rows is taken."""
MOST_WEIGHTS = 1 << 23
"""Words times classes: beyond it, the words that fewest texts have are passed over. The search takes 1 GB for them."""
LEAST_ROWS = 50
"""Where there are fewer, the ridge is not chosen."""


@dataclass(frozen=True, eq=False)
class WordSearch(Search):
    """What the sweeps are for: first the words of rows, then, where there are any, what other attributes say."""

    learner: WordLearner
    summary: Summary
    columns: tuple[KnownWords, ...]
    kept: dict[str, NDArray[np.bool_]]
    remarks: tuple[str, ...]
    share: float
    """Of all rows, that which is kept."""
    documents: Documents | None = None
    parts: tuple[Model | None, ...] = ()
    """Naive Bayes of the other attributes, from all rows that are not in a part."""

    @property
    def others(self) -> list[str]:
        """The attributes that are no texts."""
        return [c.name for c in self.summary.schema.attributes if c.kind != "text"]

    def look_at(self, batch: Batch, group: Ints, weight: Floats) -> tuple[Any, ...]:
        """The words of the rows, and sums of other attributes by part; then what these attributes say."""
        batch, group = recode_target(self.summary.classes, batch, group)
        counted = CountedBatch.of(batch, self.columns, self.others)
        counts = (group >= 0) & (weight > 0)
        rows = np.flatnonzero(counts & counted.sampled(self.share))
        part = deal_hashes(counted.hash, PARTS)
        if self.documents is None:
            kept = (counted.piece(rows, group, weight),)
            if not self.others:
                return (kept,)
            plain = without_words(self.summary)
            own = (batch.take(np.flatnonzero(counts & (part == p))) for p in range(PARTS))
            return (kept, *(sum_rows(plain, [some], ()) for some in own))
        out = np.zeros((len(rows), len(self.summary.classes)))
        for p, model in enumerate(self.parts):
            mine = np.flatnonzero(part[rows] == p)
            if model is not None and len(mine):
                out[mine] = evidence(model, batch.take(rows[mine]), self.summary.classes)
        return ((out,),)

    def step(self, sums: tuple[Any, ...]) -> Model | Search:
        """The model, or the search for what other attributes say."""
        if self.documents is not None:
            return self._model(self.documents, np.concatenate(sums[0])[self.documents.order])
        documents = Documents.joined(sums[0], self.columns)
        if not self.others:
            return self._model(documents, None)
        total = reduce(add, sums[1:])
        return replace(self, documents=documents, parts=tuple(_model_of_rest(total - part) for part in sums[1:]))

    def _model(self, documents: Documents, said: Floats | None) -> WordLogOdds:
        """Weights from all kept rows, with the ridge that was given or that held-out rows choose."""
        prior = NaiveBayes().product(without_words(self.summary)).log_prior
        offset, others = np.empty((documents.rows, len(prior))), 1.0
        offset[:] = prior
        if said is not None:
            # Rows that other attributes call impossible teach nothing of words.
            sound = np.asarray(np.isfinite(said).all(axis=1))
            documents = replace(documents, weight=np.where(sound, documents.weight, 0.0))
            said = np.where(sound[:, None], said, 0.0)
            others = scale_of(documents, offset, said)
            offset += others * said
        given, least = self.learner.ridge, self.learner.least_documents
        ridges = RIDGES if given == "auto" else (given,)
        leasts = LEASTS if least == "auto" else (least,)
        choice = Choice(UNCHOSEN if given == "auto" else given, leasts[0])
        if documents.rows >= LEAST_ROWS:
            choice = choose_ridge(documents, offset, ridges, leasts)
        fit = WordFit(documents, offset, documents.weight > 0, choice.least)
        table = fit.weights(fit.find(choice.ridge, choice.start, CLOSE), choice)
        tables, kept = {}, {}
        for column in self.columns:
            known = fit.known[column.first : column.first + len(column.vocabulary)]
            tables[column.name] = table[column.first : column.first + len(column.vocabulary)][known]
            kept[column.name] = np.zeros(len(self.kept[column.name]), np.bool_)
            kept[column.name][np.flatnonzero(self.kept[column.name])[known]] = True
        found = Found.of(tables, kept, choice, others, (*self.remarks, note_choice(choice)))
        return build_model(self.learner, self.summary, found)


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


def start_word_search(learner: WordLearner, summary: Summary) -> WordLogOdds | WordSearch:
    """The search; the prior and other attributes alone where there is one class or no word."""
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
    kept = {name: mask for name, mask in kept.items() if mask.any()}
    if classes < 2 or not kept:
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
    return WordSearch(learner, summary, tuple(columns), kept, tuple(remarks), share)


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
