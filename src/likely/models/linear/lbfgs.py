"""Logistic regression where the Hessian would be too much to keep: L-BFGS, preconditioned by one Hessian that all
classes share. Rows are turned into columns once and kept, where they are few.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Floats, Ints
from likely.models.contracts import Search
from likely.models.linear.cholesky import cholesky_factor, cholesky_solve
from likely.models.linear.columns import Design
from likely.models.linear.curves import Curves
from likely.models.linear.log_odds import SEPARABLE, LogisticSettings, LogOdds
from likely.models.linear.softmax import Sheet, add_shared_hessian, gradient_sums, hessian_matrix, hessian_size
from likely.models.linear.squares import require_finite
from likely.table.batch import Batch

if TYPE_CHECKING:
    pass


KEPT = 1 << 25
"""Bytes that rows, turned into columns, may take up to be kept between steps."""
MEMORY = 20
"""Steps that are remembered: their gradients tell of the curvature."""
LEAST_DECREMENT = 1e-3
"""The decrement at which the search ends at the latest, in units of log-likelihood, however small the tolerance is."""
WIDEST = 1_000
"""Columns up to which the shared Hessian is kept whole; of more, only its diagonal."""
RENEWED = (6, 18, 40)
"""Steps after which the shared Hessian is summed anew."""
ENOUGH = 1e-4
"""Share of what the gradient promises that a step must bring; else it is halved."""
HALVINGS = 30


@dataclass(frozen=True)
class LBFGS(Search):
    """Weights of all classes (columns, classes) and how it goes. Everything is to be made small: minus log-likelihood,
    with what ridge adds."""

    learner: LogisticSettings
    design: Design | Curves
    theta: Floats
    penalty: Floats | None = None
    """What ridge multiplies the squares of each column's weights with; None before the spread of columns is known."""
    sheets: tuple[Sheet, ...] = ()
    """The rows, where they are kept."""
    sweeps: int = 0
    preconditioner: tuple[Floats, ...] = ()
    """The Hessian of each class, factored."""
    before: tuple[Floats, float, Floats, float] | None = None
    """Weights, value, gradient and log-likelihood of the last step that was an improvement."""
    last_step: Floats | None = None
    steps: int = 0
    halvings: int = 0
    memory: tuple[tuple[Floats, Floats], ...] = ()
    """The last pairs (s, y): a step, and by how much the gradient changed along it."""

    @classmethod
    def start(cls, learner: LogisticSettings, design: Design | Curves) -> LBFGS:
        """At the start classes are as probable as they are frequent."""
        theta = np.zeros((design.size, len(design.summary.classes)))
        theta[0] = np.log(design.summary.total.floats())
        theta[0] -= theta[0].mean()
        return cls(learner, design, theta)

    # -- sweeps ---------------------------------------------------------------------------------------------

    @property
    def _keeps(self) -> bool:
        each = 8 * self.design.dense + 4 * len(self.design.levels) + 12
        return self.design.summary.rows * each <= KEPT

    def look_at(self, batch: Batch, group: Ints, weight: Floats) -> tuple[Any, ...]:
        """The rows as columns, where they will be kept; else what a step adds up."""
        sheet = self.design.sheet(batch, group, weight)
        return ((sheet,),) if self._keeps else self._sums(sheet)

    def step(self, sums: tuple[Any, ...]) -> LogOdds | LBFGS:
        """A step, or all of them where rows are kept."""
        if not self._keeps:
            return self._advance(sums)
        after: LogOdds | LBFGS = replace(self, sheets=sums[0])
        while isinstance(after, LBFGS):
            total: Any = None
            for sheet in after.sheets:
                part = after._sums(sheet)
                total = part if total is None else tuple(a + b for a, b in zip(total, part, strict=True))
            after = after._advance(total)
        return after

    @property
    def _renews(self) -> bool:
        """Whether this sweep sums the Hessian: not while a step is being halved."""
        return not self.halvings and (not self.preconditioner or self.steps in RENEWED)

    def _sums(self, sheet: Sheet) -> tuple[Floats, ...]:
        """(weight, sums, sums of squares) of the columns that are numbers, at first; then ends, gradient, Hessian."""
        if self.penalty is None:
            some = sheet.dense * sheet.weight[:, None]
            return sheet.weight.sum(), some.sum(axis=0), (some * sheet.dense).sum(axis=0)
        design, size = self.design, self.design.size
        theta = (self.theta[:, 1:] - self.theta[:, :1])[design.order]
        ends, gradient = gradient_sums(sheet, np.ascontiguousarray(theta[:, :, None]))
        if not self._renews:
            return ends[:, 0], gradient[:, :, 0]
        whole = size <= WIDEST
        hessian = np.zeros(hessian_size(design.dense, design.levels, 1) if whole else size)
        classes = add_shared_hessian(sheet, np.ascontiguousarray(theta), hessian, whole)
        return ends[:, 0], gradient[:, :, 0], hessian, classes

    # -- steps ----------------------------------------------------------------------------------------------

    def _advance(self, sums: tuple[Floats, ...]) -> LogOdds | LBFGS:
        if self.penalty is None:
            return replace(self, penalty=self._ridges(*sums), sweeps=self.sweeps + 1)
        sweeps, design = self.sweeps + 1, self.design
        uphill = np.empty_like(sums[1])
        uphill[design.order] = sums[1]
        shrink = self.penalty[:, None] * self.theta
        gradient = shrink - np.concatenate([-uphill.sum(axis=1, keepdims=True), uphill], axis=1)
        likelihood = float(sums[0][0])
        value = 0.5 * float((shrink * self.theta).sum()) - likelihood
        if self.before is not None and self.last_step is not None:
            old, least, old_gradient, _ = self.before
            wanted = least + ENOUGH * float((self.last_step * old_gradient).sum())
            if not value <= wanted:
                half = self.last_step / 2
                if self.halvings >= HALVINGS or sweeps >= self._most_sweeps:
                    return self._model(old, sweeps, self.before[3], old_gradient, separable=False)
                return replace(self, theta=old + half, last_step=half, halvings=self.halvings + 1, sweeps=sweeps)
        memory, preconditioner = self.memory, self.preconditioner
        if self.before is not None:
            s, y = self.theta - self.before[0], gradient - self.before[2]
            if float((s * y).sum()) > 0:
                memory = (*memory, (s, y))[-MEMORY:]
        if self._renews:
            preconditioner = self._factor_hessian(sums[2], sums[3])
        now = replace(self, preconditioner=preconditioner, memory=memory)
        step = -now._direction(gradient)
        decrement = -0.5 * float((step * gradient).sum())
        if decrement <= max(self.learner.tolerance, LEAST_DECREMENT) or sweeps >= self._most_sweeps:
            return now._model(self.theta + step, sweeps, likelihood, gradient, separable=not sums[0][1])
        at = (self.theta, value, gradient, likelihood)
        return replace(
            now, theta=self.theta + step, before=at, last_step=step, steps=self.steps + 1, halvings=0, sweeps=sweeps
        )

    @property
    def _most_sweeps(self) -> int:
        # A step by gradients is worth about a third of Newton's, and costs far less.
        return 3 * self.learner.max_sweeps

    def _ridges(self, weight: Floats, first: Floats, second: Floats) -> Floats:
        """Ridge holds a number's weight as if it were in units of its spread; constants are free."""
        out = np.full(self.design.size, self.learner.ridge)
        dense = np.maximum(second / weight - (first / weight) ** 2, 0.0)
        if isinstance(self.design, Curves):  # standard units have the spread 1 already, but not clipped and squared
            out[: len(dense)] *= dense
            # A column without any spread (a product that is always 0) says nothing, and its weight stays 0.
            out[1 : len(dense)][dense[1:] == 0] = self.learner.ridge
        out[0] = 0.0
        return out

    def _factor_hessian(self, hessian: Floats, classes: Floats) -> tuple[Floats, ...]:
        """For each class the shared Hessian by its share of it, and what ridge adds; factored, or a diagonal."""
        design, penalty = self.design, self.penalty
        assert penalty is not None
        whole = float(classes.sum())
        require_finite(whole)
        # No curvature at all (every row is certain by now) belongs to all classes alike.
        even = classes / whole if whole > 0 else np.full(len(classes), 1 / len(classes))
        # Rounded to powers of two, so that a few factors serve many classes.
        shares = np.exp2(np.round(np.log2(np.maximum(even, 2.0**-20))))
        if design.size > WIDEST:
            back = np.empty(design.size)
            back[design.order] = hessian
            return tuple(np.maximum(share * back + penalty, np.finfo(float).tiny) for share in shares)
        some = hessian_matrix(hessian, design.dense, design.levels, 1)[0, 0]
        full = np.empty_like(some)
        full[np.ix_(design.order, design.order)] = some
        made: dict[float, Floats] = {}
        for share in dict.fromkeys(shares.tolist()):
            factor = cholesky_factor(share * full + np.diag(penalty))
            made[share] = factor if factor is not None else np.maximum(share * np.diag(full) + penalty, 1.0)
        return tuple(made[share] for share in shares.tolist())

    def _direction(self, gradient: Floats) -> Floats:
        """The inverse Hessian, as memory and preconditioner know it, times the gradient: the two loops of L-BFGS."""
        q, first_loop = gradient.copy(), []
        for s, y in reversed(self.memory):
            rho = 1.0 / float((s * y).sum())
            alpha = rho * float((s * q).sum())
            q -= alpha * y
            first_loop.append((alpha, rho))
        if self.memory:
            s, y = self.memory[-1]
            r, scaled = self._precondition(q, y)
            r *= float((s * y).sum()) / float((y * scaled).sum())
        else:
            (r,) = self._precondition(q)
        for (s, y), (alpha, rho) in zip(self.memory, reversed(first_loop), strict=True):
            r += (alpha - rho * float((y * r).sum())) * s
        return r

    def _precondition(self, *vectors: Floats) -> list[Floats]:
        """Each of the vectors (columns, classes), divided by the Hessian of its classes; those that share a factor
        together."""
        out = [np.empty_like(vector) for vector in vectors]
        sharing: dict[int, list[int]] = {}
        for k, own in enumerate(self.preconditioner):
            sharing.setdefault(id(own), []).append(k)
        for some in sharing.values():
            own = self.preconditioner[some[0]]
            columns = np.concatenate([vector[:, some] for vector in vectors], axis=1)
            solved = cholesky_solve(own, columns) if own.ndim == 2 else columns / own[:, None]
            for k, each in enumerate(out):
                each[:, some] = solved[:, k * len(some) : (k + 1) * len(some)]
        return out

    def _model(self, theta: Floats, sweeps: int, likelihood: float, gradient: Floats, *, separable: bool) -> LogOdds:
        stopped = f"The search was stopped after {sweeps} sweeps, before it had converged. Raise max_sweeps."
        late = sweeps >= self._most_sweeps
        remarks = (SEPARABLE if separable else "", stopped if late else "")
        return LogOdds.at(self.learner, self.design, theta, sweeps, likelihood, gradient, *remarks)
