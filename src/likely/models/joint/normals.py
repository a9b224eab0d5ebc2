"""The model of a multivariate normal density for each class: scores, samples and what it shows. Knows no settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from likely.models.contracts import Model, Terms
from likely.models.drawing import DrawnRows, chance, number_cells
from likely.models.factors.normal import Normal
from likely.models.factors.patterns import patterns
from likely.models.model import left_over
from likely.models.posterior import Matrix, Posterior
from likely.models.quotient import Quotient
from likely.models.shapes import Exhibit, JointTable, MultivariateNormal, Plane, Score, Sum
from likely.models.working.product import product_working
from likely.models.working.records import Working
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDE = 12
"""More attributes than this and a covariance is no table for people."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Normals(Model):
    """log P(class) + log density of the row's numbers given the class."""

    prior: tuple[Quotient, ...]
    log_prior: NDArray[np.float64]
    normal: Normal
    generative: ClassVar[bool] = True

    def log_joint(self, batch: Batch) -> Matrix:
        """log P(class) + log density, (rows, classes); missing cells are integrated out."""
        out = np.empty((batch.rows, len(self.classes)))
        out[:] = self.log_prior
        self._add_density(batch, out)
        return out

    def _add_density(self, batch: Batch, out: Matrix) -> None:
        if self.normal.names:
            cells: list[Any] = [batch.cells[name] for name in self.normal.names]
            self.normal.add(np.column_stack(cells), out)

    def worked(self, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working:
        """P(class) times the density at the point, and what that is made of."""
        density = np.zeros((1, len(self.classes)))
        self._add_density(batch, density)
        return joint_working(self, self.normal, density[0], batch, row, posterior)

    def shape(self) -> Score:
        """The prior and the density."""
        return Sum(self.log_prior, (self.normal,) if self.normal.names else ())

    def exhibits(self) -> tuple[Exhibit, ...]:
        return tuple(means_and_covariances(self.normal, self.classes))

    def sample(self, rows: int, seed: int = 0) -> DrawnRows:
        """Rows drawn from the model: a class by its prior, then its numbers together."""
        group, rng = draw_classes(self.prior, rows, seed)
        table: dict[str, list[Any]] = {}
        for name, cells in zip(self.normal.names, self.normal.draw(group, rng).T, strict=True):
            table[name] = number_cells(cells, self.schema[name].kind)
        return ordered(self, group, table)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Discriminant(Normals):
    """Normal densities with one covariance for all classes: what tells classes apart is a sum over attributes."""

    def terms(self, batch: Batch) -> Terms:
        """log P(class); for each attribute its weight times how far the cell is from half way to the class; and last
        what is the same for all classes but for rounding.

        Measured from m, the middle of the means of all classes, P the inverse of the covariance and u the mean of a
        class, both of the cells that are there: -(x - u) P (x - u) / 2 is the sum over attributes j of
        (P (u - m))_j * (x_j - m_j - (u - m)_j / 2), less (x - m) P (x - m) / 2, in which no class occurs.
        """
        names = self.normal.names
        out = np.zeros((2 + len(names), batch.rows, len(self.classes)))
        out[0] = self.log_prior
        if names:
            cells: list[Any] = [batch.cells[name] for name in names]
            x = np.column_stack(cells)
            for places, rows in patterns(np.isfinite(x)):
                if len(places):
                    out[np.ix_(1 + places, rows)] = self._linear(x[np.ix_(rows, places)], places).transpose(2, 0, 1)
        out[-1] = left_over(out[:-1], self.log_joint(batch))
        return Terms(("(prior)", *names, "(alike)"), out.transpose(1, 0, 2), last="rounding")

    def _linear(self, x: NDArray[np.float64], places: NDArray[np.intp]) -> NDArray[np.float64]:
        """The terms of some cells, (rows, classes, attributes)."""
        normal = self.normal
        middle, deviation = normal.mean.mean(axis=0)[places], normal.deviation[0, places]
        (whitening, _), *_ = normal.whitened(places)
        apart = (normal.mean[:, places] - middle) / deviation
        weights = apart @ whitening @ whitening.T
        with np.errstate(over="ignore", invalid="ignore"):
            out: NDArray[np.float64] = weights * (((x - middle) / deviation)[:, None, :] - apart / 2)
        out[~np.isfinite(out).all(axis=(1, 2))] = 0.0  # of numbers like 1e300 there is no sum: all is left over
        return out

    def hyperplane(self) -> tuple[NDArray[np.float64], float]:
        """Weights and constant of log P(second class | row) - log P(first class | row), for one covariance."""
        return self._hyperplane(1, 0)

    def _hyperplane(self, a: int, b: int) -> tuple[NDArray[np.float64], float]:
        """Weights and constant of log P(class a | row) - log P(class b | row)."""
        mean, deviation = self.normal.mean, self.normal.deviation[0]
        apart, middle = (mean[a] - mean[b]) / deviation, (mean[b] + mean[a]) / 2
        weights = np.linalg.solve(self.normal.correlation[0], apart) / deviation
        return weights, float(self.log_prior[a] - self.log_prior[b] - weights @ middle)

    def plane_between(self, first: str, second: str) -> Plane:
        """Where both classes are as probable, all numbers being known."""
        weights, constant = self._hyperplane(self.classes.index(first), self.classes.index(second))
        named = tuple((name, "", float(w)) for name, w in zip(self.normal.names, weights, strict=True))
        return Plane(first, second, constant, named)

    def exhibits(self) -> tuple[Exhibit, ...]:
        names, out = self.normal.names, means_and_covariances(self.normal, self.classes, pooled=True)
        if names and len(self.classes) == 2:
            weights, constant = self.hyperplane()
            first, second = self.classes
            rows = (("constant", constant), *((n, float(w)) for n, w in zip(names, weights, strict=True)))
            title = f"Hyperplane: {second} where constant + sum of weight * value > 0, else {first}"
            out.append(Exhibit(title, ("attribute", "weight"), rows))
        return tuple(out)


def joint_working(
    model: Model,
    joint: JointTable | MultivariateNormal,
    logs: NDArray[np.float64],
    batch: Batch,
    row: Mapping[str, object],
    posterior: Posterior,
) -> Working:
    """The prior times one factor of all attributes, which has these logs."""
    factors = (joint,) if joint.names else ()
    assert model.log_prior is not None
    terms = np.stack([model.log_prior, logs])[: 1 + len(factors)]
    powers = [1.0] * len(terms)
    return product_working(model.classes, model.prior, factors, powers, terms, batch, row, posterior)


def means_and_covariances(normal: Normal, classes: tuple[str, ...], pooled: bool = False) -> list[Exhibit]:
    """The parameters of a normal density for each class, as tables for people."""
    names, shown = normal.names, [c or "(all)" for c in classes]
    out = [Exhibit("Means", ("class", *names), _rows(shown, normal.mean))] if names else []
    if 0 < len(names) <= WIDE:
        for label, table in zip(shown, normal.covariance, strict=True):
            of = "all classes" if pooled else label
            out.append(Exhibit(f"Covariance of {of}", ("attribute", *names), _rows(names, table)))
            if pooled:
                break
    return out


def draw_classes(prior: tuple[Quotient, ...], rows: int, seed: int) -> tuple[NDArray[np.intp], np.random.Generator]:
    """A class for each row, by its prior, and what to draw the rest with."""
    rng, chances = chance(rows, seed), np.array([float(p) for p in prior])
    return rng.choice(len(prior), int(rows), p=chances / chances.sum()).astype(np.intp), rng


def ordered(model: Model, group: NDArray[np.intp], table: Mapping[str, list[Any]]) -> DrawnRows:
    """The drawn columns in the order of the schema, with the target where there is one."""
    out: dict[str, list[Any]] = {}
    for column in model.schema.columns:
        if column.role == "target":
            out[column.name] = np.array(model.classes, object)[group].tolist()
        elif column.name in table:
            out[column.name] = table[column.name]
    return out


def _rows(names: Any, table: NDArray[np.float64]) -> tuple[tuple[str | float, ...], ...]:
    return tuple((name, *(float(v) for v in row)) for name, row in zip(names, table, strict=True))
