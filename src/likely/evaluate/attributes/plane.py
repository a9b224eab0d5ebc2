"""Two numbers as a plane: where the classes lie, and which class four learners name at each place of a grid.

Some rows are held while it is made (chosen by their numbers, so repeatable); the record holds none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.errors import LikelyError
from likely.evaluate.attributes.information import AttributeInformation
from likely.evaluate.kernels import sample_rows, sample_share
from likely.intake.engine import Piece
from likely.intake.summarize import Extension
from likely.machinery.arrays import distinct
from likely.models.contracts import Learner, Model
from likely.models.learning import begin
from likely.models.posterior import Posterior
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.table.batch import Batch, Codes
from likely.table.labels import Labels
from likely.table.schema import Column, Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLE = 1200
"""Rows that the picture is made of, about; all, where there are no more."""
COLUMNS, ROWS = 44, 33
"""Of the grid."""
FEWEST = 10
"""Rows that must have both numbers."""
MOST_CLASSES = 12
"""More are not told apart by the eye."""
ENDS = (0.005, 0.995)
"""The shares of the values between which the picture lies, before a margin is added."""


@dataclass(frozen=True)
class ClassPlane:
    """Everything the picture of two numbers shows."""

    x: str
    y: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    rows: int
    """Rows that it was made of."""
    every: bool
    """Whether these are all rows that have both numbers."""
    classes: tuple[str, ...]
    """Those that have such rows."""
    codes: tuple[int, ...]
    """The number of each of them among all classes."""
    shares: tuple[float, ...]
    means: tuple[tuple[float, float], ...]
    spreads: tuple[tuple[float, float, float], ...]
    """Variance of x, covariance, variance of y."""
    columns: int
    lines: int
    regions: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """By learner, the number of the class that is named at each place, line by line from the lowest y; -1: none."""


def worth_a_picture(found: Sequence[AttributeInformation], total: Summary) -> tuple[str, str] | None:
    """The two numbers that tell most about the target."""
    if not 2 <= len(total.classes) <= MOST_CLASSES:
        return None
    numbers = [
        a.name
        for a in sorted(found, key=lambda a: -a.bits)
        if isinstance(total.columns[a.name], Numbers) and total.schema[a.name].kind == "number" and len(a.cells) > 1
    ]
    return (numbers[0], numbers[1]) if len(numbers) > 1 else None


class PlaneSampler:
    """Keeps two numbers and the class of some rows of a sweep."""

    def __init__(self, total: Summary, names: tuple[str, str]) -> None:
        self.names = names
        self._share = sample_share(total, SAMPLE)
        self._parts: list[tuple[int, NDArray[np.float64]]] = []

    def take(self, piece: Piece, start: int) -> None:
        """Keep those rows of a piece that their numbers choose, and that have both numbers and a class."""
        batch = piece.batch.take(sample_rows(piece.batch, start, self._share, 1))
        assert batch.target is not None
        weight = np.ones(batch.rows) if batch.weight is None else batch.weight
        columns = np.stack([*(batch.cells[n] for n in self.names), batch.target.codes.astype(np.float64), weight])
        self._parts.append((start, columns[:, np.isfinite(columns).all(axis=0)]))

    def __add__(self, other: PlaneSampler) -> PlaneSampler:
        out = PlaneSampler.__new__(PlaneSampler)
        out.names, out._share = self.names, self._share
        out._parts = self._parts + other._parts
        return out

    def drawn(self, total: Summary) -> ClassPlane | None:
        """The picture; None where rows are too few or lie on a line."""
        parts = [part for _, part in sorted(self._parts, key=lambda p: p[0])]
        rows: NDArray[np.float64] = np.concatenate(parts, axis=1) if parts else np.empty((4, 0))
        ranges = [_range(total.column(name, Numbers)) for name in self.names]
        if rows.shape[1] < FEWEST or any(low >= high or not np.isfinite(high - low) for low, high in ranges):
            return None
        codes, means, spreads, shares = [], [], [], []
        for code in range(len(total.classes)):
            own = rows[:, rows[2] == code]
            if own.shape[1] < 3:
                continue
            covariance = np.cov(own[:2], aweights=own[3])
            codes.append(code)
            means.append((float(np.average(own[0], weights=own[3])), float(np.average(own[1], weights=own[3]))))
            spreads.append((float(covariance[0, 0]), float(covariance[0, 1]), float(covariance[1, 1])))
            shares.append(float(own[3].sum() / rows[3].sum()))
        if len(codes) < 2:
            return None
        return ClassPlane(
            *self.names,
            ranges[0],
            ranges[1],
            rows.shape[1],
            self._share >= 1,
            tuple(total.classes[c] for c in codes),
            tuple(codes),
            tuple(shares),
            tuple(means),
            tuple(spreads),
            COLUMNS,
            ROWS,
            _regions(rows, ranges),
        )


def _range(numbers: Numbers) -> tuple[float, float]:
    """Where nearly all values lie, with a margin."""
    values, table = numbers.tally()
    if not len(values):
        return 0.0, 0.0
    below = np.cumsum(table.floats().sum(axis=1))
    ends = np.searchsorted(below, np.array(ENDS) * below[-1])
    low, high = (float(v) for v in values[np.minimum(ends, len(values) - 1)])
    margin = 0.06 * (high - low)
    return low - margin, high + margin


def places(ends: tuple[float, float], count: int) -> NDArray[np.float64]:
    """The middles of so many cells between two ends."""
    return np.asarray(ends[0] + (np.arange(count) + 0.5) * ((ends[1] - ends[0]) / count), np.float64)


def _regions(rows: NDArray[np.float64], ranges: Sequence[tuple[float, float]]) -> dict[str, tuple[int, ...]]:
    """What each learner, taught by the rows of the picture, names at each place of the grid."""
    from likely.models.full_bayes import FullBayes
    from likely.models.naive.naive import NaiveBayes
    from likely.models.neighbors.neighbors import Neighbors

    # The columns have names of ours: what the table calls them does not matter to a learner.
    codes = [int(c) for c in distinct(rows[2])]
    labels = Labels(str(c) for c in codes)
    target = Codes(np.searchsorted(codes, rows[2]).astype(np.int32), labels)
    batch = Batch(rows.shape[1], _cells(rows[0], rows[1]), target, None if (rows[3] == 1).all() else rows[3].copy())
    number = Column("x", "number", "attribute", "number")
    schema = Schema((number, replace(number, name="y"), Column("class", "nominal", "target")))
    summary = Summary(schema)
    summary.update(batch)
    summary = summary.canonical()
    across, up = np.meshgrid(places(ranges[0], COLUMNS), places(ranges[1], ROWS))
    grid = Batch(across.size, _cells(across.ravel(), up.ravel()))
    learners: dict[str, Learner] = {
        "Naive Bayes": NaiveBayes(),
        "Full Bayes": FullBayes(),
        "1 nearest neighbour": Neighbors(k=1),
        "10 nearest neighbours": Neighbors(k=10),
    }
    out = {}
    for name, learner in learners.items():
        try:
            extended = Extension(summary, learner.needs(schema) - summary.more.keys())
            extended.update(batch)
            summary.more |= extended.more
            model = begin(learner, summary)
            assert isinstance(model, Model)
            named = Posterior.of(model.classes, model.log_joint(grid), one=False).codes
        except LikelyError:
            continue  # full Bayes has nothing to say of numbers that lie on a line
        known = np.array([*(int(c) for c in model.classes), -1])
        out[name] = tuple(known[named].tolist())
    return out


def _cells(x: NDArray[np.float64], y: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    return {"x": np.ascontiguousarray(x), "y": np.ascontiguousarray(y)}
