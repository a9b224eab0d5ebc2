"""Averaged one-dependence estimators (AODE): each attribute in turn is the parent of all others; the mean of all.

Knows the grid of levels and its pairs. What is missing is neither parent nor child.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from likely.machinery.arrays import Floats
from likely.models import shapes
from likely.models.contracts import Model
from likely.models.dependence.tree import draw_places, grid_of, log, sample_rows, shares
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

    def learn(self, summary: Summary) -> Model:
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
        log_prior, serves = log(total / total.sum()), (single.sum(axis=1) >= self.minimum).astype(np.int32)
        return Model(
            learner=self,
            summary=summary,
            score=shapes.OneDependence(grid.axes, serves, log_prior, log(alone), log(joint), log(given)),
            log_prior=log_prior,
            generative=True,
            notes=grid.notes,
            details={"grid": grid, "serves": serves},
            draw=_draw_rows,
            work=_work_mean,
        )


def _score_of(model: Model) -> shapes.OneDependence:
    assert isinstance(model.score, shapes.OneDependence)
    return model.score


def _work_mean(model: Model, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working:
    """The mean over the cells that may be parents: P(class, cell) times P(other cell | class, cell) each."""
    score, grid, classes = _score_of(model), model.details["grid"], model.classes
    codes = grid.codes(batch)[0]
    cells = {k: int(grid.first[k]) + int(code) for k, code in enumerate(codes.tolist()) if code >= 0}
    serving = [k for k, cell in cells.items() if score.serves[cell]]
    logs = {k: score.joint[c] + _log_given_all(score, c, cells, k) for k, c in cells.items() if k in serving}
    share, remarks = "", []
    if not serving:
        logs = {-1: score.prior + sum((score.alone[c] for c in cells.values()), np.zeros(len(classes)))}
        remarks = ["No cell has rows enough to be a parent, so attributes count as independent."]
    elif len(serving) > 1:
        share = f"1/{len(serving)} × "
    steps = []
    for k, own in logs.items():
        name = grid.axes[k].name if k >= 0 else ""
        cell = label(row.get(name)) if k >= 0 else None
        told = f"{clean(name)}={clean(cell or '')}"
        title = f"{share}P(class, {told}) × P(others | class, {told})" if k >= 0 else "P(class) × P(cells | class)"
        values = {n: exp(x) / len(logs) for n, x in by_class(classes, own).items()}
        texts = {n: f"{share}{decimal(x)}" for n, x in by_class(classes, own).items()}
        steps.append(Step(name, cell, values, values, title=title, texts=texts))
    return added(classes, steps, posterior, sign="L({})", remarks=remarks)


def _log_given_all(score: shapes.OneDependence, cell: int, cells: Mapping[int, int], k: int) -> Floats:
    """log P(all other cells | class, this cell)."""
    others = [score.given[cell, other] for j, other in cells.items() if j != k]
    return np.sum([np.zeros(len(score.prior)), *others], axis=0)  # type: ignore[no-any-return]


def _draw_rows(model: Model, rows: int, seed: int) -> DrawnRows:
    """A parent uniformly, class and cell of it together, then the others given both.

    This draws from `log_joint` where every cell may be a parent; a rarer cell is drawn all the same.
    """
    rng, rows = chance(rows, seed), int(rows)
    score, grid, classes = _score_of(model), model.details["grid"], len(model.classes)
    codes = np.full((rows, len(grid.axes)), -1, np.intp)
    if not len(grid.axes):
        group = draw_places(np.broadcast_to(np.exp(score.prior), (rows, classes)), rng)
        return sample_rows(model.summary, grid, codes, group, rng)
    group = np.empty(rows, np.intp)
    parent = rng.integers(0, len(grid.axes), rows)
    for u in range(len(grid.axes)):
        some = np.flatnonzero(parent == u)
        chances = np.exp(score.joint[grid.cells(u)]).reshape(-1)
        pair = draw_places(np.broadcast_to(chances, (len(some), len(chances))), rng)
        codes[some, u], group[some] = pair // classes, pair % classes
        cells = grid.first[u] + codes[some, u]
        for v in range(len(grid.axes)):
            if v != u:
                codes[some, v] = draw_places(np.exp(score.given[cells, grid.cells(v), group[some]]), rng)
    return sample_rows(model.summary, grid, codes, group, rng)
