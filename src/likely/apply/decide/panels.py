"""Where the density of a number may peak under a model, and where its bins begin: what integrals and sums go by.

Reads shapes and tallies of values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from likely.models.contracts import Model
from likely.models.shapes import BinTable, Block, Density, JointTable, MultivariateNormal, OneDependence, Tree, sum_of
from likely.sums.columns.numbers import Numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEPS = np.concatenate([4.0 ** np.arange(-20, 1), [2.0, 4.0, 8.0, 16.0, 40.0]])
_AROUND = np.concatenate([-_STEPS, [0.0], _STEPS])
_QUANTILES = np.arange(33) / 32


def _terms(model: Model) -> tuple[object, ...]:
    shape = model.shape()
    if isinstance(shape, OneDependence):
        return (shape,)
    found = None if shape is None else sum_of(shape)
    return () if found is None else found[0].terms


def starts_of(model: Model, name: str) -> NDArray[np.float64] | None:
    """The least number of each bin but the first, where the model reads a number as a bin; None for a density."""
    for term in _terms(model):
        match term:
            case BinTable() if term.name == name:
                return term.starts
            case Block() | JointTable():
                joint = term.joint if isinstance(term, Block) else term
                if isinstance(joint, JointTable) and name in joint.names:
                    return joint.starts_of(joint.names.index(name))
            case Tree() | OneDependence():
                return next((a.edges for a in term.axes if a.name == name and a.edges is not None), np.empty(0))
    return None


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
    for term in _terms(model):
        joint = term.joint if isinstance(term, Block) else term
        match joint:
            case Density() if joint.name == name:
                yield from zip(joint.normal.mean, joint.normal.deviation, strict=True)
            case MultivariateNormal() if name in joint.names:
                place = joint.names.index(name)
                yield from zip(joint.mean[:, place], joint.deviation[:, place], strict=False)
