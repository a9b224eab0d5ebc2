"""The search of logistic regression: Newton's method, one sweep over the rows for each step.

A sweep adds up log-likelihood, gradient and curvature; a step that lowers the likelihood is halved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.models.linear.columns import Design
from likely.models.linear.logistic import Logistic, LogOdds
from likely.models.linear.softmax import bends_size, bent, sloped
from likely.models.linear.solving import factored, solved
from likely.models.linear.squares import pseudo_inverse
from likely.models.model import Search
from likely.table.batch import Batch, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLLINEAR = 1e-12
"""Without ridge: directions of the design with less than this share of the largest curvature have no weight at all."""
SLACK = 1e-12
"""Share of the log-likelihood that is rounding: so much less is no worse."""
HALVINGS = 40
LINGERING = 0.05
"""Newton's steps promise ever less, by squares, where there is a maximum. Where weights grow without end, each promise
is about a third of the last."""


@dataclass(frozen=True)
class Newton(Search):
    """The weights of all classes but the first, relative to the first's: (columns, classes - 1). And how it goes."""

    learner: Logistic
    design: Design
    theta: NDArray[np.float64]
    sweeps: int = 0
    best: float = -np.inf
    """The log-likelihood less what ridge takes, and the log-likelihood itself, of the best weights so far."""
    likelihood: float = -np.inf
    before: NDArray[np.float64] | None = None
    """The last weights that were an improvement, and the step from them."""
    stride: NDArray[np.float64] | None = None
    halvings: int = 0
    promise: float = np.inf
    basis: NDArray[np.float64] | None = None
    """Without ridge: the directions in which the rows differ at all."""

    @classmethod
    def begun(cls, learner: Logistic, design: Design) -> Newton:
        """At the start all classes are equally probable."""
        return cls(learner, design, np.zeros((design.size, len(design.summary.classes) - 1)))

    def look_at(self, batch: Batch, group: Ints, weight: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """(log-likelihood, rows not predicted rightly), gradient, sums of curvature."""
        design, others = self.design, self.theta.shape[1]
        bends = np.zeros(bends_size(design.dense, design.levels, others))
        sheet = design.sheet(batch, group, weight)
        ends, gradient = sloped(sheet, self.theta[design.order][:, :, None], bends)
        return ends[:, 0], gradient[:, :, 0], bends

    def step(self, sums: tuple[NDArray[np.float64], ...]) -> LogOdds | Newton:
        """Judge the weights of this sweep, then propose better ones or end."""
        ends, sheet_gradient, bends = sums
        design, others = self.design, self.theta.shape[1]
        gradient = np.empty_like(sheet_gradient)
        gradient[design.order] = sheet_gradient
        bent_columns = bent(bends, design.dense, design.levels, others)
        back = np.argsort(design.order)
        return self.moved(ends, gradient, bent_columns[:, :, back][:, :, :, back])

    def moved(
        self, ends: NDArray[np.float64], gradient: NDArray[np.float64], curvature: NDArray[np.float64]
    ) -> LogOdds | Newton:
        """The same with gradient (columns, classes but one) and curvature by columns of the design."""
        sweeps, ridge = self.sweeps + 1, self.learner.ridge
        pull = centred_pull(self.theta)
        likelihood = float(ends[0])
        value = likelihood - 0.5 * ridge * float((self.theta * pull).sum())
        if (
            self.before is not None
            and self.stride is not None
            and not value >= self.best - SLACK * (1 + abs(self.best))
        ):
            if self.halvings < HALVINGS and sweeps < self.learner.max_sweeps:
                half = self.stride / 2
                return replace(self, theta=self.before + half, stride=half, halvings=self.halvings + 1, sweeps=sweeps)
            remark = "The search ended early: no step made the training rows more probable."
            return self._ended(self.before, sweeps, self.likelihood, gradient, remark)
        slope = gradient - ridge * pull
        if ridge == 0 and not ends[1]:
            remark = (
                "The classes are perfectly separable, so no finite weights are the most likely ones. These are the "
                "first that separated all training rows; set ridge above 0 for weights that the data define."
            )
            return self._ended(self.theta, sweeps, likelihood, slope, remark)
        stride, basis, flat = self._stride(slope, curvature)
        promise = 0.5 * float((slope * stride).sum())
        if flat or (promise <= self.learner.tolerance and promise > LINGERING * self.promise):
            remark = (
                "Some weights grow without bound: a level or a range of values goes with some classes only. The search "
                "was stopped where the likelihood no longer rises; set ridge above 0 for weights that the data define."
            )
            return self._ended(self.theta, sweeps, likelihood, slope, remark)
        if promise <= self.learner.tolerance:
            return self.ended(self.theta + stride, sweeps, likelihood, slope, separable=not ends[1])
        if sweeps >= self.learner.max_sweeps:
            remark = f"The search was stopped after {sweeps} sweeps, before it had converged. Raise max_sweeps."
            return self._ended(self.theta, sweeps, likelihood, slope, remark)
        return replace(
            self,
            theta=self.theta + stride,
            sweeps=sweeps,
            best=value,
            likelihood=likelihood,
            before=self.theta,
            stride=stride,
            halvings=0,
            promise=promise,
            basis=basis,
        )

    def _stride(
        self, slope: NDArray[np.float64], curvature: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, bool]:
        """Newton's step; the directions it may take; and whether there is one without curvature left."""
        size, others = self.theta.shape
        full = ridged(curvature, self.learner.ridge)
        along, basis = slope.T.reshape(-1), self.basis
        if self.learner.ridge:
            factor = factored(full)
            if factor is not None:  # where it is not quite definite the pseudo-inverse below will do
                return solved(factor, along).reshape(others, size).T, None, False
        if basis is None and not self.learner.ridge:
            values, vectors = np.linalg.eigh(full)
            basis = vectors[:, values > COLLINEAR * values[-1]]
        if basis is not None:
            full, along = basis.T @ full @ basis, basis.T @ along
        inverse, rank = pseudo_inverse(full, 0.0 if self.learner.ridge else np.finfo(np.float64).eps)
        found = inverse @ along
        if basis is not None:
            found = basis @ found
        return found.reshape(others, size).T, basis, rank < len(full) and not self.learner.ridge

    def ended(
        self,
        theta: NDArray[np.float64],
        sweeps: int,
        likelihood: float,
        slope: NDArray[np.float64],
        *,
        separable: bool,
    ) -> LogOdds:
        """The model of a search that has found the maximum."""
        remark = "The classes are perfectly separable: ridge alone keeps the weights finite." if separable else ""
        return self._ended(theta, sweeps, likelihood, slope, remark)

    def _ended(
        self, theta: NDArray[np.float64], sweeps: int, likelihood: float, slope: NDArray[np.float64], remark: str
    ) -> LogOdds:
        whole = np.concatenate([np.zeros((len(theta), 1)), theta], axis=1)
        whole -= whole.mean(axis=1, keepdims=True)
        facts = {
            "sweeps": float(sweeps),
            "log_likelihood": likelihood,
            "gradient": float(np.abs(slope).max(initial=0.0)),
        }
        return LogOdds.of(self.learner, self.design, np.ascontiguousarray(whole), facts, (remark,) if remark else ())


def centred_pull(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half the slope of the sum of squared weights, once they are centred over classes; constants are free."""
    pull = theta - theta.sum(axis=1, keepdims=True) / (theta.shape[1] + 1)
    pull[0] = 0.0
    return pull  # type: ignore[no-any-return]


def ridged(curvature: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
    """Curvature (others, others, columns, columns) as one matrix, class by class, with what ridge adds."""
    others, size = curvature.shape[1:3]
    full = curvature.transpose(0, 2, 1, 3).reshape(others * size, others * size)
    if not ridge:
        return full
    held = np.eye(size)
    held[0, 0] = 0.0
    centred = np.eye(others) - 1.0 / (others + 1)
    return np.asarray(full + ridge * np.kron(centred, held))
