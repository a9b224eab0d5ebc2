"""Logistic regression over words: its settings, and how a file gives its model back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from likely.models.contracts import Learning, Model, Trait
from likely.models.learning import looks_at_rows
from likely.models.model import learnable
from likely.models.settings import Settings, setting
from likely.models.text_logistic.model import Found, build_model
from likely.models.text_logistic.search import learn_words
from likely.sums.contracts import State
from likely.sums.state import read_bytes, read_mapping, read_number, read_texts, read_whole, read_wholes, require
from likely.sums.summary import MOST_ROWS, Summary
from likely.sums.words.counting import Words
from likely.table.schema import Schema


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
