"""Averaged one-dependence estimators (AODE): each attribute in turn is the parent of all others; the mean of all.

Knows the grid of levels and its pairs. What is missing is neither parent nor child.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from likely.models import shapes
from likely.models.contracts import Model
from likely.models.dependence.tree import Grid, draw_places, grid_of, log, sample_rows, shares
from likely.models.model import learnable
from likely.models.posterior import Posterior
from likely.models.prior import DrawnRows, chance
from likely.models.settings import Settings, setting
from likely.models.working.records import Step, Working, clean, decimal, exp
from likely.models.working.working import added, by_class
from likely.sums.summary import Summary
from likely.table.batch import Batch
from likely.table.labels import label
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class OneDependence(Settings):
    """P(class, row) = mean over the row's cells x_i of P(class, x_i) * product of P(x_j | class, x_i).

    The mean is over cells that at least `minimum` rows of training have (Webb, Boughton and Wang 2005). A missing or
    unseen cell is neither parent nor child. Where no cell serves as parent: naive Bayes over the same levels,
    P(class) * product of P(x_j | class). Numbers are cut into bins by supervised MDL.

    >>> OneDependence().minimum
    1.0
    """

    pseudo_count: float = setting(
        1.0,
        "Added to the count of every level given the class and the parent's cell, and of every pair of class and "
        "level.",
        at_least=0,
    )
    minimum: float = setting(
        1.0, "So many rows of training (by weight) must have a cell, for it to serve as a parent.", at_least=0
    )

    def needs(self, schema: Schema) -> frozenset[str]:
        """Counts of pairs."""
        return frozenset({"pairs"})

    def learn(self, summary: Summary) -> OneDependenceModel:
        """Derive the model. Changes nothing; other settings can be tried on the same summary."""
        summary = learnable(summary)
        grid = grid_of(summary, "OneDependence")
        extra = self.pseudo_count
        single = np.einsum("iik->ik", grid.counts)
        joint, alone, given = np.empty_like(single), np.empty_like(single), np.empty_like(grid.counts)
        for k in range(len(grid.axes)):
            own = grid.cells(k)
            alone[own] = shares(single[own], extra)
            # Class and level together are drawn from so many pairs; rows without the level say nothing.
            joint[own] = shares(single[own].reshape(-1, 1), extra).reshape(single[own].shape)
            given[:, own] = shares(grid.counts[:, own], extra, alone[own])
        total = summary.total.floats()
        return OneDependenceModel(
            learner=self,
            summary=summary,
            notes=grid.notes,
            grid=grid,
            log_prior=log(total / total.sum()),
            log_alone=log(alone),
            log_joint_cell=log(joint),
            log_given=log(given),
            serves=(single.sum(axis=1) >= self.minimum).astype(np.int32),
        )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class OneDependenceModel(Model):
    """Logs of P(class), P(cell | class), P(class, cell) and P(other cell | class, cell), cells of all attributes."""

    grid: Grid
    log_prior: NDArray[np.float64]
    log_alone: NDArray[np.float64]
    log_joint_cell: NDArray[np.float64]
    log_given: NDArray[np.float64]
    """(parent's cell, cell, class)"""
    serves: NDArray[np.int32]
    """Which cells have enough rows to be parents."""
    generative: ClassVar[bool] = True

    def worked(self, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working:
        """The mean over the cells that may be parents: P(class, cell) times P(other cell | class, cell) each."""
        grid, codes = self.grid, self.grid.codes(batch)[0]
        cells = {k: int(grid.first[k]) + int(code) for k, code in enumerate(codes.tolist()) if code >= 0}
        serving = [k for k, cell in cells.items() if self.serves[cell]]
        logs = {k: self.log_joint_cell[c] + self._log_given_all(c, cells, k) for k, c in cells.items() if k in serving}
        share, remarks = "", []
        if not serving:
            logs = {-1: self.log_prior + sum((self.log_alone[c] for c in cells.values()), np.zeros(len(self.classes)))}
            remarks = ["No cell has rows enough to be a parent, so attributes count as independent."]
        elif len(serving) > 1:
            share = f"1/{len(serving)} × "
        steps = []
        for k, own in logs.items():
            name = grid.axes[k].name if k >= 0 else ""
            cell = label(row.get(name)) if k >= 0 else None
            told = f"{clean(name)}={clean(cell or '')}"
            title = f"{share}P(class, {told}) × P(others | class, {told})" if k >= 0 else "P(class) × P(cells | class)"
            values = {n: exp(x) / len(logs) for n, x in by_class(self.classes, own).items()}
            texts = {n: f"{share}{decimal(x)}" for n, x in by_class(self.classes, own).items()}
            steps.append(Step(name, cell, values, values, title=title, texts=texts))
        return added(self.classes, steps, posterior, sign="L({})", remarks=remarks)

    def _log_given_all(self, cell: int, cells: Mapping[int, int], k: int) -> NDArray[np.float64]:
        """log P(all other cells | class, this cell)."""
        others = [self.log_given[cell, other] for j, other in cells.items() if j != k]
        return np.sum([np.zeros(len(self.classes)), *others], axis=0)  # type: ignore[no-any-return]

    @cached_property
    def score(self) -> shapes.Score:
        """The log of the mean over parents. A distribution over rows and classes where every cell may be a parent."""
        tables = (self.log_prior, self.log_alone, self.log_joint_cell, self.log_given)
        return shapes.OneDependence(self.grid.axes, self.serves, *tables)

    def sample(self, rows: int, seed: int = 0) -> DrawnRows:
        """A parent uniformly, class and cell of it together, then the others given both.

        This draws from `log_joint` where every cell may be a parent; a rarer cell is drawn all the same.
        """
        rng, rows = chance(rows, seed), int(rows)
        grid, classes = self.grid, len(self.classes)
        codes = np.full((rows, len(grid.axes)), -1, np.intp)
        if not len(grid.axes):
            group = draw_places(np.broadcast_to(np.exp(self.log_prior), (rows, classes)), rng)
            return sample_rows(self.summary, grid, codes, group, rng)
        group = np.empty(rows, np.intp)
        parent = rng.integers(0, len(grid.axes), rows)
        for u in range(len(grid.axes)):
            some = np.flatnonzero(parent == u)
            chances = np.exp(self.log_joint_cell[grid.cells(u)]).reshape(-1)
            pair = draw_places(np.broadcast_to(chances, (len(some), len(chances))), rng)
            codes[some, u], group[some] = pair // classes, pair % classes
            cells = grid.first[u] + codes[some, u]
            for v in range(len(grid.axes)):
                if v != u:
                    codes[some, v] = draw_places(np.exp(self.log_given[cells, grid.cells(v), group[some]]), rng)
        return sample_rows(self.summary, grid, codes, group, rng)
