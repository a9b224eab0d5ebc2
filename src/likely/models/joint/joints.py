"""The model of a joint table of levels for each class: scores, samples and what it shows. Knows no settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from likely.models.contracts import Model
from likely.models.drawing import DrawnRows, number_cells
from likely.models.factors.joint import Table
from likely.models.joint.normals import draw_classes, joint_working, ordered
from likely.models.posterior import Matrix, Posterior
from likely.models.quotient import Quotient
from likely.models.shapes import Exhibit, Score, Sum
from likely.models.working.records import Working
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHOWN = 20
"""So many cells are shown."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Joint(Model):
    """log P(class) + log P(row of levels | class); missing cells are summed over."""

    prior: tuple[Quotient, ...]
    log_prior: NDArray[np.float64]
    table: Table
    generative: ClassVar[bool] = True

    def log_joint(self, batch: Batch) -> Matrix:
        """log P(class) + log P(row | class), (rows, classes)."""
        out = np.empty((batch.rows, len(self.classes)))
        out[:] = self.log_prior
        if self.table.names:
            self.table.add(batch, out)
        return out

    def worked(self, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working:
        """P(class) times P(cells | class) of the joint table, as counted."""
        cells = np.zeros((1, len(self.classes)))
        if self.table.names:
            self.table.add(batch, cells)
        return joint_working(self, self.table, cells[0], batch, row, posterior)

    def shape(self) -> Score:
        """The prior and the table."""
        return Sum(self.log_prior, (self.table,) if self.table.names else ())

    def sample(self, rows: int, seed: int = 0) -> DrawnRows:
        """Rows drawn from the model: a class by its prior, then a cell of the table."""
        group, rng = draw_classes(self.prior, rows, seed)
        drawn = self.table.draw(group, rng).items()
        cells = {n: v if isinstance(v, list) else number_cells(v, self.schema[n].kind) for n, v in drawn}
        return ordered(self, group, cells)

    def exhibits(self) -> tuple[Exhibit, ...]:
        """The cells that weigh most."""
        return cells_that_weigh(self.table, self.classes, "The cells")


def cells_that_weigh(table: Table, classes: tuple[str, ...], what: str) -> tuple[Exhibit, ...]:
    """The cells that weigh most, as a table for people."""
    if not table.names or not len(table.codes):
        return ()
    weight = table.counts.floats()
    whole, totals = table.extra * table.cells, table.totals()
    rows = []
    for k in np.argsort(-weight.sum(axis=1), kind="stable")[:SHOWN]:
        code = table.codes[k : k + 1]
        tops = table.counts[k : k + 1].sum(0).fractions()
        chances = [Quotient(n + table.extra, t + whole) for n, t in zip(tops, totals, strict=True)]
        levels = [[*n.names, "(missing)", "(missing)"][c] for n, c in zip(table.labels, code[0], strict=True)]
        rows.append((*levels, *map(float, weight[k]), *chances))
    counts = [f"n({c})" if c else "n" for c in classes]
    header = (*table.names, *counts, *(f"P(cell|{c})" if c else "P(cell)" for c in classes))
    title = f"{what} that weigh most, of {len(table.codes):,} with rows and {table.cells:,} in all"
    return (Exhibit(title, header, tuple(rows)),)
