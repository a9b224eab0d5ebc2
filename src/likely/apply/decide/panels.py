"""Where the density of a number may peak under a model, and where its bins begin: what integrals and sums go by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.models.factors.binned import Binned
from likely.models.model import Model
from likely.sums.columns.numbers import Numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEPS = np.concatenate([4.0 ** np.arange(-20, 1), [2.0, 4.0, 8.0, 16.0, 40.0]])
_AROUND = np.concatenate([-_STEPS, [0.0], _STEPS])
_QUANTILES = np.arange(33) / 32


def starts_of(model: Model, name: str) -> NDArray[np.float64] | None:
    """The least number of each bin but the first, where the model reads a number as a bin; None for a density."""
    for factor in getattr(model, "factors", ()):
        if factor.name == name and isinstance(factor, Binned):
            return factor.starts
    grid: Any = getattr(model, "grid", None)
    if grid is None:
        return None
    edges = [axis.edges for axis in grid.axes if axis.name == name]
    return edges[0] if edges else np.empty(0)


def panels(model: Model, name: str) -> NDArray[np.float64]:
    """Edges between which a density of these numbers is smooth: close to every class's mean and values, and far out.

    A density peaks at means and values, is as narrow as a class's spread (or much narrower, where the variance has a
    small floor), and is gone forty deviations away.
    """
    edges: list[NDArray[np.float64]] = []
    sizes = [(float(m), float(d)) for m, d in _believed(model, name)]
    statistic = model.summary.columns[name]
    assert isinstance(statistic, Numbers)
    values, table = statistic.tally()
    weight = table.floats()
    for own in (weight.sum(axis=1), *weight.T) if len(values) else ():
        total = own.sum()
        if total > 0:
            mean = float((values * own).sum() / total)
            sizes.append((mean, float(np.sqrt((own * (values - mean) ** 2).sum() / total))))
            below = np.cumsum(own) / total
            edges.append(values[np.minimum(np.searchsorted(below, _QUANTILES), len(values) - 1)])
    widest = max((d for _, d in sizes), default=0.0)
    for mean, deviation in sizes:
        edges += [mean + size * _AROUND for size in {deviation, widest}]
    out = np.unique(np.concatenate(edges)) if edges else np.empty(0)
    return out[np.isfinite(out)]


def _believed(model: Model, name: str) -> Iterator[tuple[float, float]]:
    """Mean and deviation of the attribute in each class, where the model has them."""
    for factor in (*getattr(model, "factors", ()), model):
        normal = getattr(factor, "normal", factor)  # of a kernel density, of a block, of a whole model
        mean, deviation = getattr(normal, "mean", None), getattr(normal, "deviation", None)
        if not isinstance(mean, np.ndarray) or not isinstance(deviation, np.ndarray):
            continue
        if mean.ndim == 2 and name in normal.names:
            place = normal.names.index(name)
            yield from zip(mean[:, place], deviation[:, place], strict=False)
        elif mean.ndim == 1 and factor.name == name:
            yield from zip(mean, deviation, strict=True)
