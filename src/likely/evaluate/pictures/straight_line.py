"""One number as a straight line of another: the points, the line of least squares, and how likely they are by it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from likely.apply.fitting import summarize_source
from likely.apply.regression import Regression, regress
from likely.errors import ColumnError, InputError, shown
from likely.intake.arguments import read_arguments
from likely.intake.options import ReadingOptions
from likely.intake.reading import with_encoding
from likely.models.model import numbered
from likely.table.encode import Encoder
from likely.table.labels import Labels
from likely.table.schema import Schema
from likely.table.source import Source

EPSILON = float(np.finfo(np.float64).eps)
from likely.evaluate.pictures.two_numbers import MOST_POINTS


@dataclass(frozen=True)
class StraightLine:
    """y = constant + slope · x + noise, where the noise is normal: least squares is then maximum likelihood."""

    x: str
    y: str
    constant: float
    slope: float
    rows: int
    points: tuple[tuple[float, float], ...]
    squares: float
    """The sum of the squared residuals."""
    r2: float

    @property
    def noise(self) -> float:
        """The standard deviation of the noise of maximum likelihood: squares / rows, rooted."""
        return math.sqrt(self.squares / self.rows)

    @property
    def log_likelihood(self) -> float:
        """Of the points by this line and its noise, in nats; without bound where they lie on the line."""
        return self.log_likelihood_of(self.squares)

    def log_likelihood_of(self, squares: float) -> float:
        """Of the points by a line with this sum of squared residuals, the noise being that of the best line."""
        if not self.noise:
            return math.inf if not squares else -math.inf
        return -0.5 * self.rows * math.log(2 * math.pi * self.noise**2) - squares / (2 * self.noise**2)


def straight_line(data: object, y: str, x: str, **reading: Unpack[ReadingOptions]) -> StraightLine:
    """The line of least squares of one column on another, with its points; `reading` takes what `summarize` takes.

    >>> found = straight_line({"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 2.0, 4.0, 5.0]}, "y", "x")
    >>> round(found.constant, 9), round(found.slope, 9), round(found.squares, 9)
    (0.9, 1.4, 0.2)
    """
    if x == y:
        raise ColumnError(f"A line of {shown(y)} needs another column than itself.")
    data, how = read_arguments(data, None, reading)

    def work(source: Source) -> StraightLine:
        for name in (x, y):
            if name not in source.schema.names:
                raise ColumnError(
                    f"There is no column {shown(name)}. There are: {', '.join(source.schema.names[:12])}."
                )
        others = {name: "ignore" for name in source.schema.names if name not in (x, y, how.weight)}
        types = {**others, x: "number", y: "number"}
        own = reading.copy()
        own["types"] = types
        line = regress(source, y, **own)
        schema = summarize_source(source, replace(how, types=types), lambda _: frozenset()).schema
        return _drawn(source, schema, line, y, x)

    return with_encoding(data, how, work)


def _drawn(source: Source, schema: Schema, line: Regression, y: str, x: str) -> StraightLine:
    """The line, with its points and what is left of them."""
    own = [w for w in line.weights if w.attribute == x and not w.level]
    if len(own) != 1:
        raise InputError(f"{shown(x)} has no two different numbers, so there is no line over it.")
    slope, parts = own[0].weight, []
    encoder = Encoder(schema, {}, Labels())
    for start, arrow in numbered(source.batches([x, y])):
        batch = encoder.encode(arrow, start)
        both = np.stack([batch.cells[name] for name in (x, y)])
        parts.append(both[:, np.isfinite(both).all(axis=0)])
    xs, ys = np.concatenate(parts, axis=1)
    left = ys - (line.constant + slope * xs)
    # What the rounding of this very line alone may leave is nothing.
    left[np.abs(left) <= 4 * EPSILON * (np.abs(ys) + abs(line.constant) + np.abs(slope * xs))] = 0.0
    points = tuple(zip(xs[:MOST_POINTS].tolist(), ys[:MOST_POINTS].tolist(), strict=True))
    return StraightLine(x, y, line.constant, slope, len(xs), points, float(left @ left), line.r2)
