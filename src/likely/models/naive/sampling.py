"""Rows drawn from a product: a class by its prior, then each cell from its factor. Repeatable by the seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Floats
from likely.models.contracts import Model
from likely.models.drawing import DrawnRows, chance, number_cells
from likely.models.factors.binned import Binned
from likely.models.factors.categorical import Categorical
from likely.models.factors.kernel import KernelDensity
from likely.models.naive.blocks import LevelBlock, NumberBlock
from likely.models.quotient import log_of
from likely.models.shapes import Gaussian
from likely.models.text.factor import TextFactor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = NDArray[np.intp]


def draw_rows(model: Model, rows: int, seed: int) -> DrawnRows:
    """Columns of the attributes that a product of factors speaks of, then of the target. A missing cell is None.

    The share that is reserved for other levels is spread over the known ones: a level without a name cannot be drawn.
    A number that is cut into bins is uniform within its bin, and the end bins end with the values of training.
    """
    rng = chance(rows, seed)
    assert model.log_prior is not None
    group = _draw_places(np.exp(model.log_prior)[:, None], np.zeros(int(rows), np.intp), rng)
    out: dict[str, list[Any]] = {}
    for factor in model.factors:
        if isinstance(factor, (LevelBlock, NumberBlock)):
            for name, drawn in factor.draw(group, rng).items():
                out[name] = drawn if isinstance(drawn, list) else number_cells(drawn, model.schema[name].kind)
            continue
        if isinstance(factor, TextFactor):
            out[factor.name] = _draw_texts(factor, group, rng)
            continue
        if isinstance(factor, Categorical):
            out[factor.name] = _draw_levels(factor, group, rng)
            continue
        assert isinstance(factor, (Gaussian, KernelDensity, Binned))
        cells = _draw_numbers(factor, group, rng)
        out[factor.name] = number_cells(cells, model.schema[factor.name].kind)
    out = {c.name: out[c.name] for c in model.schema.columns if c.name in out}  # blocks drew theirs together
    if model.schema.target is not None:
        out[model.schema.target.name] = np.array(model.classes, object)[group].tolist()
    return out


def _draw_places(chances: Floats, group: Places, rng: np.random.Generator) -> Places:
    """For each row a place drawn by the chances (places, groups) of its group; -1 where nothing has a chance."""
    below = np.cumsum(chances, axis=0)
    at = rng.random(len(group))
    out = np.full(len(group), -1, np.intp)
    for k in np.unique(group):
        rows = np.flatnonzero(group == k)
        if below[-1, k] > 0:
            # Below the total, so that a place without a chance is never drawn.
            wanted = np.minimum(at[rows] * below[-1, k], np.nextafter(below[-1, k], 0))
            out[rows] = np.searchsorted(below[:, k], wanted, side="right")
    return out


def _level_places(levels: Categorical, group: Places, rng: np.random.Generator) -> Places:
    """A level for each row, -1 where it is missing."""
    known = len(levels.labels)
    chances = np.exp(levels.log_table[:known])
    if levels.settings.missing_is_level:
        chances = np.concatenate([chances, np.exp(levels.log_table[-1:])])
    if not len(chances):
        return np.full(len(group), -1, np.intp)
    found = _draw_places(chances, group, rng)
    return np.where(found == known, -1, found)


def _draw_levels(factor: Categorical, group: Places, rng: np.random.Generator) -> list[str | None]:
    names = np.array([*factor.labels.names, None], object)
    return names[_level_places(factor, group, rng)].tolist()  # type: ignore[no-any-return]


def _draw_numbers(factor: Gaussian | KernelDensity | Binned, group: Places, rng: np.random.Generator) -> Floats:
    """A number for each row, NaN where it is missing."""
    if isinstance(factor, Binned):
        lows, highs = factor.bounds()
        place = _level_places(factor.levels, group, rng)
        share = rng.random(len(group))
        # Not low + share * (high - low), which may be beyond a double.
        cells = np.clip(lows[place] * (1 - share) + highs[place] * share, lows[place], highs[place])
        return np.where(place < 0, np.nan, cells)
    if isinstance(factor, KernelDensity):
        centre = factor.points[_points(factor, group, rng)]
        cells = centre + factor.bandwidth[group] * rng.standard_normal(len(group))
    else:
        cells = factor.mean[group] + factor.deviation[group] * rng.standard_normal(len(group))
    if factor.normal.known is None:
        return cells
    gone = np.exp(log_of(gone for _, gone in factor.normal.known))
    return np.where(rng.random(len(group)) < gone[group], np.nan, cells)


def _points(factor: KernelDensity, group: Places, rng: np.random.Generator) -> Places:
    """A value of its class for each row, by weight."""
    at = rng.random(len(group))
    out = np.empty(len(group), np.intp)
    for k in np.unique(group):
        rows = np.flatnonzero(group == k)
        start, stop = factor.starts[k], factor.starts[k + 1]
        below = np.cumsum(factor.weights[start:stop])
        found = np.searchsorted(below, at[rows] * below[-1], side="right")
        out[rows] = start + np.minimum(found, stop - start - 1)
    return out


def _draw_texts(factor: TextFactor, group: Places, rng: np.random.Generator) -> list[str | None]:
    """A text for each row of a class: as many words as texts of the class have, in no order. None where the class has
    no text that one could be drawn after."""
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
                out[row] = _text_of(factor, np.flatnonzero(u < chances / (1 + chances)))
            continue
        of, lengths, weight = factor.sums.lengths
        below = np.cumsum(np.where(of == k, weight, 0.0))
        if not len(below) or not below[-1] or not chances.sum():
            continue
        many = lengths[np.searchsorted(below, rng.random(len(rows)) * below[-1], side="right")]
        upto = np.cumsum(chances)
        for row, count in zip(rows.tolist(), many.tolist(), strict=True):
            found = np.searchsorted(upto, rng.random(count) * upto[-1], side="right")
            out[row] = _text_of(factor, np.minimum(found, len(upto) - 1))
    return out


def _text_of(factor: TextFactor, words: NDArray[np.intp]) -> str | None:
    return " ".join(factor.scores.vocabulary[int(k)] for k in words) or None
