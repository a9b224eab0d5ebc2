"""Tables of words for `likely show` of a text column: its texts, and the words that speak for each class. No rows."""

from __future__ import annotations

import math

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.words import clean, number, plural
from likely.models.contracts import Model
from likely.models.shapes import WordWeights
from likely.present.document import Document, Table, numbers_from
from likely.sums.words.counting import Words

FEW_CLASSES = 4
"""With more classes, a class has one line of words in place of one line for each."""
MOST_WORDS = 10
MOST_THETAS = 60
ALONE = "*"
"""Marks a word that texts of no other class have."""


def about(words: Words) -> str:
    """A text column in a few words."""
    return plural(vocabulary_size(words), "different word")


def vocabulary_size(words: Words) -> int:
    """Different words; the empty one stands for the documents."""
    held = words.tally().vocabulary
    return len(held) - (len(held) > 0 and held[0] == "")


def present_text(model: Model, name: str, fractions: bool = False, everything: bool = False) -> Document:
    """What `likely show` says of a text column."""
    words = model.summary.columns[name]
    assert isinstance(words, Words)
    factor = next((t for t in model.texts if t.name == name), None)
    if fractions and (factor is None or factor.word_quotients(0) is None):
        raise SettingError(
            f"{shown(name)} is a text whose words have weights that are no probabilities, and so no fractions. Learn "
            "it with --text multinomial or bernoulli."
        )
    tables = [_lengths(model, words)]
    remarks = []
    headline = f"{clean(name)}: text, {about(words)}"
    if factor is None:
        remarks.append("There are no words to learn from, so the model leaves this attribute out.")
    else:
        known = len(factor.scores.vocabulary)
        headline += f", of which {number(known)} are used: {factor.settings.written()}"
        long = everything or len(model.classes) <= FEW_CLASSES
        if fractions:
            tables.append(_thetas(model, factor, everything))
        tables.append(_by_word(model, factor) if long else _by_class(model, factor))
        if any(ALONE in cell for row in tables[-1].rows for cell in row[1:2]):
            remarks.append(f"{ALONE} No text of another class has this word.")
        if factor.settings.length:
            remarks.append("In a text, weights are divided by the root of the number of its known words.")
    if words.level:
        share = 2.0**-words.level
        remarks.append(f"There were more words than fit in memory: about {share:.3g} of all different words are kept.")
    return Document(headline, (*(t for t in tables if t.rows), *remarks))


def _thetas(model: Model, factor: WordWeights, everything: bool) -> Table:
    """P(word | class) of the first words, in fractions."""
    vocabulary = factor.scores.vocabulary
    upto = len(vocabulary) if everything else min(len(vocabulary), MOST_THETAS)
    rows = tuple((clean(vocabulary[k], 40), *map(str, factor.word_quotients(k) or ())) for k in range(upto))
    header = ("word", *(f"θ(word|{clean(c, 20)})" for c in model.classes))
    title = "θ of each word, in fractions" if upto == len(vocabulary) else f"θ of the first {upto} words, in fractions"
    return Table(title, header, rows, numbers_from(1, len(header)))


def _lengths(model: Model, words: Words) -> Table:
    """How many texts each class has, and how long they are."""
    held, classes = words.tally(), len(model.classes)
    sums = np.zeros((3, classes))  # texts, those without a word, words
    if len(held.vocabulary) and held.vocabulary[0] == "":
        own = slice(0, int(held.starts[1]))
        group, times, weight = held.group[own], held.times[own], held.weight[own].floats()
        there = np.where(held.size[own] > 0, weight, 0.0)  # texts of size 0 are missing
        np.add.at(sums[0], group, there)
        np.add.at(sums[1], group, np.where(times > 0, 0.0, there))
        np.add.at(sums[2], group, times * weight)
    rows = tuple(
        (clean(c, 30), number(n), number(empty - n), number(none), number(n and total / n, 3))
        for c, n, none, total, empty in zip(model.classes, *sums.tolist(), model.summary.total.floats(), strict=True)
    )
    return Table(
        "Texts of each class", ("class", "texts", "missing", "without words", "words a text"), rows, numbers_from(1, 5)
    )


def _bits(factor: WordWeights, k: int, group: int) -> float:
    scale = factor.settings.scale
    return float(factor.evidence[k, group]) * (scale if isinstance(scale, float) else 1.0) / math.log(2)


def _named(factor: WordWeights, k: int, group: int, limit: int = 40) -> str:
    alone = factor.having.shape[1] > 1 and factor.having[k].sum() == factor.having[k, group]
    return clean(factor.scores.vocabulary[k], limit) + (ALONE if alone else "")


def _by_word(model: Model, factor: WordWeights) -> Table:
    """A line for each of the strongest words of each class, those that it alone has among them."""
    rows = []
    for group, name in enumerate(model.classes):
        words = factor.strongest(group, MOST_WORDS)
        for k in [*words, *(k for k in factor.only_in(group, MOST_WORDS) if k not in words)]:
            own, total = float(factor.having[k, group]), float(factor.having[k].sum())
            bits = f"{_bits(factor, k, group):+z.2f}"
            rows.append((clean(name, 30), _named(factor, k, group), bits, number(own), number(total - own)))
    header = ("for class", "word", "bits", "its texts with it", "other texts with it")
    return Table("Strongest words for each class against the others", header, tuple(rows), numbers_from(2, 5))


def _by_class(model: Model, factor: WordWeights) -> Table:
    """A line for each class."""
    rows = []
    for group, name in enumerate(model.classes):
        told = [f"{_named(factor, k, group, 20)} {_bits(factor, k, group):+z.1f}" for k in factor.strongest(group, 7)]
        rows.append((clean(name, 30), ", ".join(told)))
    title = "Strongest words for each class against the others, in bits"
    return Table(title, ("for class", "words"), tuple(rows))
