"""Rows drawn from a product: a class by its prior, then each cell from its factor. Repeatable by the seed."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError, shown
from likely.models.binned import Binned
from likely.models.categorical import Categorical
from likely.models.gaussian import Gaussian
from likely.models.kernel import KernelDensity
from likely.models.quotient import log_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.models.product import Product

    Places = NDArray[np.intp]
    Floats = NDArray[np.float64]

_DATES = (-62_135_596_800.0, 253_402_300_799.0)
"""The first and the last second of a date, counted from 1970."""


def sample(model: Product, rows: int, seed: int) -> dict[str, list[Any]]:
    """Columns of the attributes that the model speaks of, then of the target. A missing cell is None.

    The share that is reserved for other levels is spread over the known ones: a level without a name cannot be drawn.
    A number that is cut into bins is uniform within its bin, and the end bins end with the values of training.
    """
    if not isinstance(rows, Integral) or rows < 0:
        raise SettingError(f"{shown(rows)} rows cannot be drawn. Ask for a whole number, zero or more.")
    if not isinstance(seed, Integral) or seed < 0:
        raise SettingError(f"seed is {shown(seed)}. It must be a whole number, zero or more.")
    rng = np.random.default_rng(int(seed))
    prior = np.exp(model.log_prior)[:, None]
    group = _drawn(prior, np.zeros(int(rows), np.intp), rng)
    out: dict[str, list[Any]] = {}
    for factor in model.factors:
        if isinstance(factor, Categorical):
            out[factor.name] = _levels(factor, group, rng)
            continue
        cells = _numbers(factor, group, rng)
        if model.schema[factor.name].kind == "date":
            # NaN becomes "not a time", which reads as None; beyond the years 1 to 9999 there are no dates.
            out[factor.name] = (cells.clip(*_DATES) * 1e6).round().astype("datetime64[us]").tolist()
        else:
            out[factor.name] = np.where(np.isnan(cells), None, cells).tolist()
    if model.schema.target is not None:
        out[model.schema.target.name] = np.array(model.classes, object)[group].tolist()
    return out


def _drawn(chances: Floats, group: Places, rng: np.random.Generator) -> Places:
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


def _places(levels: Categorical, group: Places, rng: np.random.Generator) -> Places:
    """A level for each row, -1 where it is missing."""
    known = len(levels.labels)
    chances = np.exp(levels.log_table[:known])
    if levels.settings.missing_is_level:
        chances = np.concatenate([chances, np.exp(levels.log_table[-1:])])
    if not len(chances):
        return np.full(len(group), -1, np.intp)
    found = _drawn(chances, group, rng)
    return np.where(found == known, -1, found)


def _levels(factor: Categorical, group: Places, rng: np.random.Generator) -> list[str | None]:
    names = np.array([*factor.labels.names, None], object)
    return names[_places(factor, group, rng)].tolist()  # type: ignore[no-any-return]


def _numbers(factor: Gaussian | KernelDensity | Binned, group: Places, rng: np.random.Generator) -> Floats:
    """A number for each row, NaN where it is missing."""
    if isinstance(factor, Binned):
        lows, highs = factor.bounds()
        place = _places(factor.levels, group, rng)
        share = rng.random(len(group))
        # Not low + share * (high - low), which may be beyond a double.
        cells = np.clip(lows[place] * (1 - share) + highs[place] * share, lows[place], highs[place])
        return np.where(place < 0, np.nan, cells)
    if isinstance(factor, KernelDensity):
        centre = factor.points[_points(factor, group, rng)]
        cells = centre + factor.bandwidth[group] * rng.standard_normal(len(group))
    else:
        cells = factor.mean[group] + factor.deviation[group] * rng.standard_normal(len(group))
    if factor.known is None:
        return cells
    gone = np.exp(log_of(gone for _, gone in factor.known))
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
