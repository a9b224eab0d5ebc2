"""The product: prior times factors, one for each attribute that says something. What naive Bayes believes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from likely.models import sampling
from likely.models.categorical import Categorical
from likely.models.model import Model, Terms
from likely.models.numeric import NumberFactor
from likely.models.posterior import Matrix
from likely.models.quotient import Quotient
from likely.models.working import Working, working
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 8192
"""Rows scored at a time, so that their scores stay in the processor's cache while the factors are added."""

Factor = Categorical | NumberFactor


@dataclass(frozen=True, eq=False, kw_only=True)
class Product(Model):
    """log P(class) + sum of log P(cell | class). `terms` is the one definition of the score."""

    prior: tuple[Quotient, ...]
    """P(class), exact."""
    log_prior: NDArray[np.float64]
    factors: tuple[Factor, ...]
    generative: ClassVar[bool] = True

    def log_joint(self, batch: Batch) -> Matrix:
        """log P(class) + sum of log P(cell | class) over the attributes, (rows, classes)."""
        out = np.empty((batch.rows, len(self.classes)))
        out[:] = self.log_prior
        for start in range(0, batch.rows, BLOCK):
            rows = slice(start, start + BLOCK)
            block = batch.sliced(rows)
            for factor in self.factors:
                factor.add(block.cells[factor.name], out[rows])
        return out

    def terms(self, batch: Batch) -> Terms:
        """The prior and each factor's share of `log_joint`, by the same code."""
        out = np.zeros((1 + len(self.factors), batch.rows, len(self.classes)))
        out[0] = self.log_prior
        for part, factor in zip(out[1:], self.factors, strict=True):
            factor.add(batch.cells[factor.name], part)
        return Terms(("prior", *(f.name for f in self.factors)), out.transpose(1, 0, 2))

    def sample(self, rows: int, seed: int = 0) -> dict[str, list[Any]]:
        """Rows drawn from the model: a class by its prior, then each cell given the class. Missing cells are None.

        >>> import likely
        >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
        >>> model.sample(3, seed=1)
        {'sky': ['sun', 'rain', 'rain'], 'play': ['y', 'y', 'n']}
        """
        return sampling.sample(self, rows, seed)

    def working(self, row: Mapping[str, object]) -> Working:
        """The arithmetic of one answer, as a person would write it on a board.

        >>> import likely
        >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
        >>> print(model.working({"sky": "sun"}))
        L(class) = P(class) × P(sky=sun | class)
        L(n) = 1/4 × 1/3 = 1/12 = 0.08333
        L(y) = 3/4 × 3/5 = 9/20 = 0.45
        ...
        """
        (batch,) = self.batches(self._row(row))
        terms = self.terms(batch).array[0]
        return working(self.classes, self.prior, self.factors, terms, batch, row, self.posterior(row))
