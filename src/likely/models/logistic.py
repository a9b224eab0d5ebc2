"""Logistic regression: log-odds linear in the attributes, by maximum likelihood. Settings, and the model found.

The search itself, sweep after sweep, is in newton.py. The weights cannot be had from sums, so the file keeps them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError, shown
from likely.models.design import (
    NumberWeights,
    Standard,
    Weighed,
    exhibit,
    hyperplane,
    level_weights,
    outputs,
    plane_exhibit,
    spreadless,
    standard_of,
)
from likely.models.model import Exhibit, Model, Search, Terms, learnable
from likely.models.posterior import Matrix
from likely.models.ranges import checked
from likely.sums.counts import Counts
from likely.sums.summary import Summary
from likely.table.batch import Batch, Codes
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 2_000
"""Weights (columns of the design times classes but one) for which curvature is still kept and solved."""


@dataclass(frozen=True)
class Logistic:
    """log P(class | row) = constant + sum of weights * columns, less what makes the probabilities sum to 1.

    Columns of the design: (x - mean) / sd of each number, 0 where it is missing, and, only where training had missing
    cells, an indicator of that; an indicator of each level but the most frequent (the first of equals), all 0 for a
    missing cell or an unseen level. Maximises the weighted log-likelihood less ridge/2 times the sum of all squared
    weights of all classes; constants are free. (So for two classes, whose weights are opposite, ridge/4 times the
    squares of their differences.) Each class's weights are centred: over classes they sum to 0.

    >>> Logistic(ridge=0.0).max_sweeps
    100
    """

    ridge: float = 1.0
    """How much large weights are held back: 1 is a standard normal prior on each weight. 0 is plain maximum likelihood,
    which separable classes do not have, and which is too sure of itself where they nearly are."""
    max_sweeps: int = 100
    """As often as this the rows are read at most."""
    tolerance: float = 1e-12
    """The search ends when another step promises less than this, in units of log-likelihood."""

    def __post_init__(self) -> None:
        checked(self, "ridge", "tolerance")
        if not isinstance(self.max_sweeps, int) or isinstance(self.max_sweeps, bool) or self.max_sweeps < 1:
            raise SettingError(f"max_sweeps is {shown(self.max_sweeps)}. It must be a whole number, one or more.")

    def needs(self, schema: Schema) -> frozenset[str]:
        """Nothing beyond the first order: means, deviations and levels. The rest is found by looking at the rows."""
        return frozenset()

    def learn(self, summary: Summary) -> LogOdds | Search:
        """Begin the search; with a single class there is nothing to search for."""
        from likely.models.newton import Newton

        summary = learnable(summary)
        design = Design(summary)
        size, classes = design.size, len(summary.classes)
        if size * (classes - 1) > MOST:
            raise SettingError(
                f"Logistic would need {size * (classes - 1):,} weights ({size:,} columns and levels for all but one of "
                f"{classes:,} classes); it takes {MOST:,} at most. Leave columns with many levels out "
                "(--type COLUMN=ignore), or use naive Bayes."
            )
        if classes == 1:
            return design.model(self, np.zeros((size, 1)), {}, ())
        return Newton.begun(self, design)

    def restored(self, summary: Summary, found: dict[str, Any]) -> LogOdds:
        """The model as a file keeps it."""
        facts = {k: float(v) for k, v in found["facts"].items()}
        weights = np.ascontiguousarray(found["weights"], np.float64)
        return Design(summary.canonical()).model(self, weights, facts, tuple(map(str, found["remarks"])))


class Design:
    """The columns that a row is turned into: a constant 1, then those of each attribute in schema order."""

    def __init__(self, summary: Summary) -> None:
        self.summary = summary
        self.blocks: list[tuple[int, Standard | tuple[str, list[str]]]] = []
        """Where the columns of each attribute begin; a number, or a nominal attribute and its levels."""
        self.left_out: list[str] = []
        size = 1
        for column in summary.schema.attributes:
            statistic = summary.columns[column.name]
            if isinstance(statistic, Counts):
                levels = _but_the_most_frequent(statistic)
                self.blocks.append((size, (column.name, levels)))
                size += len(levels)
                continue
            units = standard_of(column.name, statistic)
            if units is None:
                self.left_out.append(column.name)
                continue
            self.blocks.append((size, units))
            size += 1 + units.gone
        self.size = size

    def rows(self, batch: Batch) -> NDArray[np.float64]:
        """(rows, columns)."""
        out = np.zeros((batch.rows, self.size))
        out[:, 0] = 1.0
        for at, block in self.blocks:
            if isinstance(block, Standard):
                cells = batch.cells[block.name]
                assert not isinstance(cells, Codes)
                out[:, at] = block.z(cells)
                if block.gone:
                    out[:, at + 1] = ~np.isfinite(cells)
                continue
            name, levels = block
            codes = batch.cells[name]
            assert isinstance(codes, Codes)
            places = {level: at + k for k, level in enumerate(levels)}
            where = np.array([*(places.get(n, -1) for n in codes.labels.names), -1, -1], np.intp)[codes.codes]
            known = np.flatnonzero(where >= 0)
            out[known, where[known]] = 1.0
        return out

    def model(
        self, learner: Logistic, weights: NDArray[np.float64], facts: dict[str, float], remarks: tuple[str, ...]
    ) -> LogOdds:
        """The model with these weights, (columns, classes)."""
        classes = weights.shape[1]
        parts: list[Weighed] = []
        for at, block in self.blocks:
            if isinstance(block, Standard):
                gone = weights[at + 1] if block.gone else np.zeros(classes)
                parts.append(NumberWeights(block, weights[at], gone))
            else:
                name, levels = block
                parts.append(level_weights(name, {lv: weights[at + k] for k, lv in enumerate(levels)}, classes))
        return LogOdds(
            learner=learner,
            summary=self.summary,
            notes=(*spreadless(self.left_out), *remarks),
            weights=weights,
            parts=tuple(parts),
            facts=facts,
            remarks=remarks,
        )


def _but_the_most_frequent(counts: Counts) -> list[str]:
    """The levels in order, without the one that weighs most."""
    names = sorted(counts.labels.names)
    if not names:
        return []
    weight = dict(zip(counts.labels.names, counts.table[: len(names)].sum(1).fractions(), strict=True))
    most = max(names, key=lambda n: (weight[n], -names.index(n)))
    return [n for n in names if n != most]


@dataclass(frozen=True, eq=False, kw_only=True)
class LogOdds(Model):
    """P(class | row) itself: the model says nothing of how rows come about, so `log_joint` is log P(class | row), and
    log_evidence is 0 (up to rounding) for every row.
    """

    learner: Logistic
    weights: NDArray[np.float64]
    """(columns of the design, classes)."""
    parts: tuple[Weighed, ...]
    facts: dict[str, float]
    """How the search ended: sweeps, log_likelihood, gradient (its largest entry)."""
    remarks: tuple[str, ...]

    def log_joint(self, batch: Batch) -> Matrix:
        """log P(class | row), (rows, classes)."""
        out = outputs(self.weights[0], self.parts, batch)
        out += _normaliser(out)
        return out

    def terms(self, batch: Batch) -> Terms:
        """The constant, a term for each attribute, and last what normalises the row, the same for all classes."""
        out = np.zeros((2 + len(self.parts), batch.rows, len(self.classes)))
        out[0] = self.weights[0]
        total = out[0].copy()
        for term, part in zip(out[1:-1], self.parts, strict=True):
            part.add(batch.cells[part.name], term)
            total += term
        out[-1] = _normaliser(total)
        return Terms(("(constant)", *(p.name for p in self.parts), "(normalised)"), out.transpose(1, 0, 2))

    def found(self) -> dict[str, Any]:
        """The weights, and how the search ended."""
        if not self.facts:
            return {}
        return {"weights": self.weights, "facts": dict(self.facts), "remarks": list(self.remarks)}

    def exhibits(self) -> tuple[Exhibit, ...]:
        """The weights in the attributes' own units, for two classes the hyperplane, and how the search ended."""
        tables = [exhibit("Weights of each class (log-odds)", self.classes, self.weights[0], self.parts)]
        if len(self.classes) == 2:
            # Weights of two classes are opposite, so the first one's output is half of its log-odds.
            plane = hyperplane(float(self.weights[0, 0]), self.parts, 0)
            tables.append(plane_exhibit(plane, self.classes[0]))
        rows = tuple((name.replace("_", "-"), value) for name, value in self.facts.items())
        if rows:
            tables.append(Exhibit("How the search ended", ("what", "value"), rows))
        return tuple(tables)


def _normaliser(scores: Matrix) -> Matrix:
    """Minus the log of the sum of exp(scores), one for each row, (rows, 1)."""
    top = scores.max(axis=1, keepdims=True)
    return -(top + np.log(np.exp(scores - top).sum(axis=1, keepdims=True)))  # type: ignore[no-any-return]
