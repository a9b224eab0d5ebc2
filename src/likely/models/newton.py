"""The search of logistic regression: Newton's method, one sweep over the rows for each step.

A sweep adds up log-likelihood, gradient and curvature; a step that lowers the likelihood is halved.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from likely.models.logistic import Design, Logistic, LogOdds
from likely.models.model import Search
from likely.models.squares import pseudo_inverse
from likely.sums.products import tiled
from likely.table.batch import Batch, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 4096
"""Rows whose design is held at once."""
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
        """(log-likelihood, rows not predicted rightly), gradient, curvature."""
        size, others = self.theta.shape
        ends, gradient, curvature = np.zeros(2), np.zeros((size, others)), np.zeros((others, others, size, size))
        counted = np.flatnonzero((group >= 0) & (weight > 0))
        for start in range(0, len(counted), BLOCK):
            rows = counted[start : start + BLOCK]
            x, own, w = self.design.rows(batch.take(rows)), group[rows].astype(np.intp), weight[rows]
            each = np.arange(len(rows))
            scores = np.zeros((len(rows), others + 1))
            scores[:, 1:] = tiled(x, self.theta)
            true = scores[each, own]
            top = scores.max(axis=1, keepdims=True)
            share = np.exp(scores - top)
            total = share.sum(axis=1, keepdims=True)
            ends[0] += w @ (true - top[:, 0] - np.log(total[:, 0]))
            share /= total
            scores[each, own] = -np.inf
            ends[1] += np.count_nonzero(true <= scores.max(axis=1))
            left = -share
            left[each, own] += 1.0
            gradient += tiled(x.T, left[:, 1:] * w[:, None])
            for a in range(others):
                for b in range(a, others):
                    by = w * share[:, a + 1] * ((a == b) - share[:, b + 1])
                    part = tiled(x.T, x * by[:, None])
                    curvature[a, b] += part
                    if a != b:
                        curvature[b, a] += part
        return ends, gradient, curvature

    def step(self, sums: tuple[NDArray[np.float64], ...]) -> LogOdds | Newton:
        """Judge the weights of this sweep, then propose better ones or end."""
        ends, gradient, curvature = sums
        sweeps, ridge = self.sweeps + 1, self.learner.ridge
        pull = self._pull()
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
            remark = ""
            if not ends[1]:
                remark = "The classes are perfectly separable: ridge alone keeps the weights finite."
            return self._ended(self.theta + stride, sweeps, likelihood, slope, remark)
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

    def _pull(self) -> NDArray[np.float64]:
        """Half the slope of the sum of squared weights, once they are centred over classes; constants are free."""
        pull = self.theta - self.theta.sum(axis=1, keepdims=True) / (self.theta.shape[1] + 1)
        pull[0] = 0.0
        return pull  # type: ignore[no-any-return]

    def _stride(
        self, slope: NDArray[np.float64], curvature: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, bool]:
        """Newton's step; the directions it may take; and whether there is one without curvature left."""
        size, others = self.theta.shape
        held = np.eye(size)
        held[0, 0] = 0.0
        centred = np.eye(others) - 1.0 / (others + 1)
        full = curvature.transpose(0, 2, 1, 3).reshape(others * size, others * size)
        along, basis = slope.T.reshape(-1), self.basis
        if self.learner.ridge:
            full = full + self.learner.ridge * np.kron(centred, held)
            with suppress(np.linalg.LinAlgError):  # not quite definite: the pseudo-inverse below will do
                np.linalg.cholesky(full)
                quick = np.asarray(np.linalg.solve(full, along), np.float64)  # by many times
                return quick.reshape(others, size).T, None, False
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
        return self.design.model(self.learner, np.ascontiguousarray(whole), facts, (remark,) if remark else ())
