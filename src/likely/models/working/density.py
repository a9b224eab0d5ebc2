"""What goes into a normal density at one row: the point, means, spreads, the determinant and the distance.

Reads shapes; the densities themselves are the model's, never computed again here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats
from likely.models.shapes import Density, MultivariateNormal
from likely.models.working.records import Quantity
from likely.models.working.writing import Value, clean

if TYPE_CHECKING:
    pass


WIDE = 6
"""More numbers than this and a covariance does not fit on a board."""


def normal_quantities(
    joint: MultivariateNormal, x: Floats, logs: Floats, classes: tuple[str, ...]
) -> tuple[Quantity, ...]:
    """How the density of several numbers comes about at the point `x`, of which some may not be known.

    f(x) = exp(−d²/2) / √((2π)^k |S|), d² = (x − m)ᵀ S⁻¹ (x − m), over the k numbers that are there. `logs` are the log
    densities that the model gives, so that d² is what it went by.
    """
    places = np.flatnonzero(np.isfinite(x))
    if not len(places):
        return ()
    size = len(places)
    point = ", ".join(clean(joint.names[k]) for k in places)
    correlation = joint.correlation[:, places[:, None], places[None, :]]
    with np.errstate(over="ignore"):  # infinite where a double does not reach
        units = joint.deviation[:, places, None] * joint.deviation[:, None, places]
        covariance = np.multiply(correlation, units, out=np.zeros_like(units), where=correlation != 0)
    volumes = [volume for _, volume in joint.whitened(places)]
    log_determinant = [2 * v - size * math.log(2 * math.pi) for v in volumes]
    distance = [-2 * (float(log) + v) for log, v in zip(logs, volumes, strict=True)]
    names = dict(enumerate(classes))

    def by_class(values: list[Value]) -> dict[str, Value]:
        return {names[k]: value for k, value in enumerate(values)}

    out = [Quantity(f"x = ({point})", {"": _vector(x[places])})]
    if size <= WIDE:
        same = bool((covariance == covariance[:1]).all()) and len(classes) > 1
        matrices: list[Value] = [tuple(_vector(row) for row in matrix) for matrix in covariance]
        out.append(Quantity("mean m", by_class([_vector(m) for m in joint.mean[:, places]])))
        out.append(Quantity("covariance S", {"": matrices[0]} if same else by_class(matrices)))
    out.append(Quantity("determinant |S|", by_class([_power(v) for v in log_determinant])))
    out.append(Quantity("d² = (x − m)ᵀ S⁻¹ (x − m)", by_class([*distance])))
    density = [_power(float(log)) for log in logs]
    out.append(Quantity(f"f(x | class) = exp(−d²/2) / √((2π)^{size} |S|)", by_class(density)))
    return tuple(out)


def number_quantities(factor: Density, classes: tuple[str, ...]) -> tuple[Quantity, ...]:
    """Mean and deviation of one number in each class, where its density is normal."""
    if factor.kernels is not None:
        width = dict(zip(classes, factor.kernels.bandwidth.tolist(), strict=True))
        return (Quantity(f"{clean(factor.name)}: bandwidth of its kernels", width),)
    both = [*zip(factor.normal.mean.tolist(), factor.normal.deviation.tolist(), strict=True)]
    pairs: dict[str, Value] = {name: pair for name, pair in zip(classes, both, strict=True)}
    return (Quantity(f"{clean(factor.name)}: mean and sd", pairs),)


def _vector(values: Floats) -> tuple[Value, ...]:
    return tuple(values.tolist())


def _power(log: float) -> Value:
    """e**log, or the power of ten in words where a double does not hold it."""
    return math.exp(log) if -700 < log < 700 else f"10^{log / math.log(10):.2f}" if math.isfinite(log) else 0.0
