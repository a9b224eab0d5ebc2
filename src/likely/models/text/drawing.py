"""Texts drawn from what is believed of a text column: as many words as texts of the class have, in no order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.errors import SettingError, shown
from likely.models.text.factor import TextFactor

if TYPE_CHECKING:
    from numpy.typing import NDArray


def drawn_texts(factor: TextFactor, group: NDArray[np.intp], rng: np.random.Generator) -> list[str | None]:
    """A text for each row of a class. None where the class has no text that one could be drawn after."""
    tokens = factor.scores.tokens
    if not factor.settings.is_likelihood:
        raise SettingError(
            f"The text {shown(factor.name)} is scored by {factor.settings.written()}, which does not say how texts "
            "come about, so none can be drawn. Say text multinomial or bernoulli, and scale = 1."
        )
    if tokens.pairs or tokens.grams:
        what = "pairs of words" if tokens.pairs else "runs of characters"
        raise SettingError(f"{shown(factor.name)} is counted by {what}, from which no text can be drawn.")
    out: list[str | None] = [None] * len(group)
    for k in np.unique(group):
        rows = np.flatnonzero(group == k)
        chances = np.exp(factor.scores.weights[:, k])
        if factor.settings.model == "bernoulli":
            for row in rows.tolist():  # odds p / (1 - p) are below u / (1 - u) for a share p of all u
                u = rng.random(len(chances))
                out[row] = _joined(factor, np.flatnonzero(u < chances / (1 + chances)))
            continue
        of, lengths, weight = factor.sums.lengths
        below = np.cumsum(np.where(of == k, weight, 0.0))
        if not len(below) or not below[-1] or not chances.sum():
            continue
        many = lengths[np.searchsorted(below, rng.random(len(rows)) * below[-1], side="right")]
        upto = np.cumsum(chances)
        for row, count in zip(rows.tolist(), many.tolist(), strict=True):
            found = np.searchsorted(upto, rng.random(count) * upto[-1], side="right")
            out[row] = _joined(factor, np.minimum(found, len(upto) - 1))
    return out


def _joined(factor: TextFactor, words: NDArray[np.intp]) -> str | None:
    return " ".join(factor.scores.vocabulary[int(k)] for k in words) or None
