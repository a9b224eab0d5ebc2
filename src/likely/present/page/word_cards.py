"""The words of a text column that speak most for each class, and how much each says. Reads factors; no rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats
from likely.models.contracts import Model
from likely.present.charts.bars import bar
from likely.present.charts.drawing import Chart, class_colours
from likely.present.effects import evidence_bits, prior_of
from likely.present.words import clean, plural, signed

if TYPE_CHECKING:
    pass


MOST_WORDS = 10
MOST_CLASSES = 12
"""Classes whose words are listed, the most frequent ones."""


@dataclass(frozen=True)
class Speaking:
    """The strongest words for one class."""

    label: str
    colour: str
    words: tuple[tuple[str, str, Chart], ...]


def word_bits(model: Model, name: str) -> tuple[list[str], Floats]:
    """The known words of a text column, and what each says for each class in a text that has no other known word."""
    speakers = [(factor, power) for factor, power in model.word_speakers(name) if power]
    if not speakers:
        return [], np.zeros((0, len(model.classes)))
    found: dict[str, Floats] = {}
    for factor, power in speakers:
        scale = factor.settings.scale
        logs = power * (scale if isinstance(scale, float) else 1.0) * factor.scores.weights
        for k in range(len(factor.scores.vocabulary)):
            word = factor.scores.vocabulary[k]
            found[word] = found[word] + logs[k] if word in found else logs[k]
    return list(found), evidence_bits(np.stack(list(found.values())), prior_of(model))


def speaking_words(model: Model, name: str) -> tuple[tuple[Speaking, ...], str]:
    """The strongest words for the most frequent classes; and what is to be said of the column."""
    speakers = [factor for factor, power in model.word_speakers(name) if power]
    if not speakers:
        return (), ""
    words, bits = word_bits(model, name)
    place = {word: k for k, word in enumerate(words)}
    totals = model.summary.total.floats()
    hues = class_colours(totals.tolist())
    groups = sorted(np.argsort(-totals, kind="stable")[:MOST_CLASSES].tolist())
    picked = {}
    for group in groups:
        # Those that the factors hold for telling: a word of one text alone may weigh more and mean less.
        strong = {f.scores.vocabulary[k] for f in speakers for k in f.strongest(group, MOST_WORDS)}
        picked[group] = sorted(strong, key=lambda word: -bits[place[word], group])[:MOST_WORDS]
    finite = [abs(float(bits[place[w], g])) for g, ws in picked.items() for w in ws]
    most = max((b for b in finite if math.isfinite(b)), default=1.0) or 1.0
    out = []
    for group, some in picked.items():
        rows = tuple(
            (clean(w, 30), signed(value := float(bits[place[w], group])), bar(value / most, f"{hues[group]} fill"))
            for w in some
        )
        if rows:
            out.append(Speaking(clean(model.classes[group], 40), hues[group], rows))
    shared = any(getattr(f.settings, "length", False) for f in speakers)
    told = f"{plural(len(words), 'known word')}. What each says in bits, as the only known word of a text"
    told += "; of n known words each counts 1/√n of that." if shared else "."
    return tuple(out), told
