"""The hyperplane between two classes, in the attributes' own units: where a line of weights is 0.

Reads weights on a design; knows no learner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from likely.models.linear.design import Weighed, constant_of, weight_rows
from likely.models.shapes import Plane, Slope

if TYPE_CHECKING:
    from numpy.typing import NDArray


def mix_outputs(part: Weighed, by: NDArray[np.float64]) -> Weighed:
    """The weights of other outputs, each a mix of the old ones."""
    if isinstance(part, Slope):
        return replace(part, weights=part.weights @ by, known=part.known @ by, absent=part.absent @ by)
    return replace(part, log_table=part.log_table @ by)


def plane_of(constant: float, parts: Sequence[Weighed], output: int, sides: tuple[str, str]) -> Plane:
    """Output number `output`, which is above 0 for the first of both classes, as a hyperplane."""
    weights = [(name, level, row[output]) for name, level, row in weight_rows(parts)]
    return Plane(*sides, constant_of(constant, parts, output), tuple(weights))


def plane_between(
    constant: NDArray[np.float64], parts: Sequence[Weighed], a: int, b: int, sides: tuple[str, str]
) -> Plane:
    """Where the outputs of two classes are equal; above 0 that of the first is larger."""
    by = np.zeros((len(constant), 1))
    by[a], by[b] = 1.0, -1.0
    return plane_of(float(constant[a] - constant[b]), [mix_outputs(part, by) for part in parts], 0, sides)
