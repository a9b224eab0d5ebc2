"""Logistic regression by Newton's method, and by L-BFGS where the Hessian would be too much to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Floats, Ints
from likely.models.contracts import Search
from likely.models.linear.design import Curves, Design
from likely.models.linear.log_odds import SEPARABLE, LogisticSettings, LogOdds
from likely.models.linear.softmax import Sheet, add_shared_hessian, gradient_sums, hessian_matrix, hessian_size
from likely.models.linear.squares import cholesky_factor, cholesky_solve, pseudo_inverse, require_finite
from likely.sums.summary import Summary
from likely.table.batch import Batch

if TYPE_CHECKING:
    pass


# Logistic regression by Newton's method: one sweep over the rows for each step; for one set of rows, or for all
# folds of a cross-validation at once.

COLLINEAR = 1e-12
"""Without ridge: directions of the design with less than this share of the largest curvature have no weight at all."""
SLACK = 1e-12
"""Share of the log-likelihood that is rounding: so much less is no worse."""
HALVINGS = 40
LINGERING = 0.05
"""Newton's decrements shrink by squares where there is a maximum. Where weights grow without end, each is about a third
of the last."""
MOST_SUMS = 1 << 22
"""Numbers that Hessians may take up, over all folds: 32 MB, which every piece of rows being looked at needs."""
FEWEST_SWEEPS = 20
"""Who allows fewer wants to see the search stopped, as it is when it is alone."""
NEAR = 0.1
"""The decrement of the step on all rows, in units of log-likelihood, at which the folds part."""
SHARPER = 1e-4
"""Share of the tolerance that may be left after the last chord: Newton's last step leaves far less than that."""
SLOWEST = 0.25
"""The decrement of a chord must be less than this share of the last one's; else the fold searches alone."""


@dataclass(frozen=True)
class Newton(Search):
    """The weights of all classes but the first, relative to the first's: (columns, classes - 1). And how it goes."""

    learner: LogisticSettings
    design: Design
    theta: Floats
    sweeps: int = 0
    best: float = -np.inf
    """The log-likelihood less what ridge takes, and the log-likelihood itself, of the best weights so far."""
    likelihood: float = -np.inf
    before: Floats | None = None
    """The last weights that were an improvement, and the step from them."""
    last_step: Floats | None = None
    halvings: int = 0
    decrement: float = np.inf
    """Half of gradient * step: what the step gains where the likelihood is a parabola."""
    basis: Floats | None = None
    """Without ridge: the directions in which the rows differ at all."""

    @classmethod
    def start(cls, learner: LogisticSettings, design: Design) -> Newton:
        """At the start all classes are equally probable."""
        return cls(learner, design, np.zeros((design.size, len(design.summary.classes) - 1)))

    def look_at(self, batch: Batch, group: Ints, weight: Floats) -> tuple[Floats, ...]:
        """(log-likelihood, rows not predicted rightly), gradient, sums of the Hessian."""
        design, others = self.design, self.theta.shape[1]
        hessian = np.zeros(hessian_size(design.dense, design.levels, others))
        ends, gradient = gradient_sums(
            design.sheet(batch, group, weight), self.theta[design.order][:, :, None], hessian
        )
        return ends[:, 0], gradient[:, :, 0], hessian

    def step(self, sums: tuple[Floats, ...]) -> LogOdds | Newton:
        """Judge the weights of this sweep, then propose better ones or end."""
        ends, sheet_gradient, flat = sums
        gradient = np.empty_like(sheet_gradient)
        gradient[self.design.order] = sheet_gradient
        hessian = hessian_matrix(flat, self.design.dense, self.design.levels, self.theta.shape[1])
        back = np.argsort(self.design.order)
        return self.advance(ends, gradient, hessian[:, :, back][:, :, :, back])

    def advance(self, ends: Floats, gradient: Floats, hessian: Floats) -> LogOdds | Newton:
        """The same with gradient (columns, classes but one) and Hessian by columns of the design."""
        sweeps, ridge = self.sweeps + 1, self.learner.ridge
        penalty = penalty_gradient(self.theta)
        likelihood = float(ends[0])
        value = likelihood - 0.5 * ridge * float((self.theta * penalty).sum())
        worse = not value >= self.best - SLACK * (1 + abs(self.best))
        if self.before is not None and self.last_step is not None and worse:
            if self.halvings < HALVINGS and sweeps < self.learner.max_sweeps:
                half = self.last_step / 2
                halvings = self.halvings + 1
                return replace(self, theta=self.before + half, last_step=half, halvings=halvings, sweeps=sweeps)
            remark = "The search stopped early: no step improved the training likelihood."
            return self._model(self.before, sweeps, self.likelihood, gradient, remark)
        slope = gradient - ridge * penalty
        if ridge == 0 and not ends[1]:
            remark = (
                "The classes are perfectly separable, so no finite weights are the most likely ones. These are the "
                "first that separated all training rows; set ridge above 0 for weights that the data define."
            )
            return self._model(self.theta, sweeps, likelihood, slope, remark)
        step, basis, flat = self._newton_step(slope, hessian)
        decrement = 0.5 * float((slope * step).sum())
        if flat or (decrement <= self.learner.tolerance and decrement > LINGERING * self.decrement):
            remark = (
                "Some weights grow without bound: a level or a range of values goes with some classes only. The search "
                "was stopped where the likelihood no longer rises; set ridge above 0 for weights that the data define."
            )
            return self._model(self.theta, sweeps, likelihood, slope, remark)
        if decrement <= self.learner.tolerance:
            return self._model(self.theta + step, sweeps, likelihood, slope, "" if ends[1] else SEPARABLE)
        if sweeps >= self.learner.max_sweeps:
            remark = f"The search was stopped after {sweeps} sweeps, before it had converged. Raise max_sweeps."
            return self._model(self.theta, sweeps, likelihood, slope, remark)
        return replace(
            self,
            theta=self.theta + step,
            sweeps=sweeps,
            best=value,
            likelihood=likelihood,
            before=self.theta,
            last_step=step,
            halvings=0,
            decrement=decrement,
            basis=basis,
        )

    def _newton_step(self, slope: Floats, hessian: Floats) -> tuple[Floats, Floats | None, bool]:
        """Newton's step; the directions it may take; and whether there is one without curvature left."""
        size, others = self.theta.shape
        full = penalised_hessian(hessian, self.learner.ridge)
        along, basis = slope.T.reshape(-1), self.basis
        if self.learner.ridge:
            factor = cholesky_factor(full)
            if factor is not None:  # where it is not quite definite the pseudo-inverse below will do
                return cholesky_solve(factor, along).reshape(others, size).T, None, False
        if basis is None and not self.learner.ridge:
            values, vectors = np.linalg.eigh(full)
            basis = vectors[:, values > COLLINEAR * values[-1]]
        if basis is not None:
            full, along = basis.T @ full @ basis, basis.T @ along
        inverse, rank = pseudo_inverse(full, 0.0 if self.learner.ridge else np.finfo(np.float64).eps)
        step = inverse @ along
        if basis is not None:
            step = basis @ step
        return step.reshape(others, size).T, basis, rank < len(full) and not self.learner.ridge

    def _model(self, theta: Floats, sweeps: int, likelihood: float, slope: Floats, remark: str) -> LogOdds:
        return model_at(self.learner, self.design, theta, sweeps, likelihood, slope, remark)


def model_at(
    learner: LogisticSettings, design: Design, theta: Floats, sweeps: int, likelihood: float, slope: Floats, remark: str
) -> LogOdds:
    """The model with weights relative to the first class's."""
    every_class = np.concatenate([np.zeros((len(theta), 1)), theta], axis=1)
    return LogOdds.at(learner, design, every_class, sweeps, likelihood, slope, remark)


def penalty_gradient(theta: Floats) -> Floats:
    """Half the gradient of the sum of squared weights, once they are centred over classes; constants are free."""
    out = theta - theta.sum(axis=1, keepdims=True) / (theta.shape[1] + 1)
    out[0] = 0.0
    return out  # type: ignore[no-any-return]


def penalised_hessian(hessian: Floats, ridge: float) -> Floats:
    """The Hessian (others, others, columns, columns) as one matrix, class by class, with what ridge adds."""
    others, size = hessian.shape[1:3]
    full = hessian.transpose(0, 2, 1, 3).reshape(others * size, others * size)
    if not ridge:
        return full
    held = np.eye(size)
    held[0, 0] = 0.0
    centred = np.eye(others) - 1.0 / (others + 1)
    return np.asarray(full + ridge * np.kron(centred, held))


# -- all folds at once --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Chord:
    """A fold on its own: its weights, how its columns are made of the shared ones, and its Hessian, factored."""

    design: Design
    within: Floats
    theta: Floats
    factor: Floats
    decrement: float = np.inf

    def advance(self, gradient: Floats, ridge: float) -> tuple[Chord, Floats]:
        """A step along the chord, and the slope that it was taken on."""
        slope = gradient - ridge * penalty_gradient(self.theta)
        step = cholesky_solve(self.factor, slope.T.reshape(-1)).reshape(slope.shape[1], len(slope)).T
        decrement = 0.5 * float((slope * step).sum())
        return replace(self, theta=self.theta + step, decrement=decrement), slope


@dataclass(frozen=True)
class FoldNewton:
    """The search of all folds. Those without a chord and without a model in the end must search for themselves."""

    learner: LogisticSettings
    shared: Design
    newton: Newton
    """The search on all rows, on its own design."""
    within: Floats
    designs: Mapping[int, tuple[Design, Floats]]
    """Of each fold that takes part: its own design, and how that is made of the shared one."""
    folds: int
    chords: Mapping[int, Chord] | None = None
    sweeps: int = 0
    models: Mapping[int, LogOdds] = field(default_factory=dict)

    @classmethod
    def start(cls, learner: LogisticSettings, total: Summary, training: Sequence[Summary]) -> FoldNewton | None:
        """The search, or None where it would not be worth it or is not to be had."""
        if not learner.ridge or learner.max_sweeps < FEWEST_SWEEPS or len(total.classes) < 2:
            return None  # without ridge there may be no maximum: that is found out on the way, from the start
        shared, own = Design(total, whole=True), Design(total)
        others = len(total.classes) - 1
        sums = hessian_size(shared.dense, shared.levels, others) + (own.size * others) ** 2
        within = own.columns_within(shared)
        if within is None or sums * len(training) > MOST_SUMS:
            return None
        designs = {}
        for k, summary in enumerate(training):
            if summary.classes == total.classes and 0 < summary.rows < total.rows:
                design = Design(summary)
                made = design.columns_within(shared)
                if made is not None:
                    designs[k] = design, made
        if len(designs) < 2:
            return None
        return cls(learner, shared, Newton.start(learner, own), within, designs, len(training))

    @property
    def done(self) -> bool:
        return self.chords is not None and not self.chords

    def sheets(self, batch: Batch, group: Ints, weight: Floats, fold: Ints) -> list[tuple[int, Sheet]]:
        """The rows of each fold; made once."""
        rows = ((k, np.flatnonzero(fold == k)) for k in np.unique(fold).tolist() if k < self.folds)
        return [(k, self.shared.sheet(batch.take(i), group[i], weight[i])) for k, i in rows]

    def look_at(self, sheets: Sequence[tuple[int, Sheet]]) -> tuple[Floats, ...]:
        """Ends and gradients by fold: of its own rows at first, then of all but those; and Hessians at first."""
        shared, others = self.shared, len(self.shared.summary.classes) - 1
        order, count = shared.order, self.folds if self.chords is None else len(self.chords)
        ends, gradients = np.zeros((count, 2)), np.zeros((count, shared.size, others))
        if self.chords is None:
            theta = (self.within @ self.newton.theta)[order][:, :, None]
            hessians = np.zeros((count, hessian_size(shared.dense, shared.levels, others)))
            for k, sheet in sheets:
                end, gradient = gradient_sums(sheet, theta, hessians[k])
                ends[k] += end[:, 0]
                gradients[k][order] += gradient[:, :, 0]
            return ends, gradients, hessians
        all_of = np.stack([(c.within @ c.theta)[order] for c in self.chords.values()], axis=2)
        for k, sheet in sheets:
            others_of = [i for i, key in enumerate(self.chords) if key != k]
            if others_of:
                end, gradient = gradient_sums(sheet, np.ascontiguousarray(all_of[:, :, others_of]))
                ends[others_of] += end.T
                gradients[np.array(others_of)[:, None], order] += gradient.transpose(2, 0, 1)
        return ends, gradients

    def step(self, sums: tuple[Floats, ...]) -> FoldNewton:
        """Another step for all rows, or for each fold."""
        return self._shared_step(*sums) if self.chords is None else self._chord_steps(*sums)

    def _shared_step(self, ends: Floats, gradients: Floats, hessians: Floats) -> FoldNewton:
        newton, sweeps = self.newton, self.sweeps + 1
        gradient, hessian = gradients.sum(axis=0), hessians.sum(axis=0)
        after = newton.advance(ends.sum(axis=0), *self._by_columns(self.within, gradient, hessian))
        if sweeps >= self.learner.max_sweeps:
            return replace(self, chords={})
        if isinstance(after, Newton) and (after.halvings or after.decrement > NEAR):
            return replace(self, newton=after, sweeps=sweeps)
        chords = {}
        at = self.within @ newton.theta
        for k, (design, within) in self.designs.items():
            own_gradient, own = self._by_columns(within, gradient - gradients[k], hessian - hessians[k])
            factor = cholesky_factor(penalised_hessian(own, self.learner.ridge))
            if factor is not None:
                chord = Chord(design, within, design.translate_weights(at, self.shared, within), factor)
                chords[k] = chord.advance(own_gradient, self.learner.ridge)[0]
        return replace(self, chords=chords, sweeps=sweeps)

    def _chord_steps(self, ends: Floats, gradients: Floats) -> FoldNewton:
        assert self.chords is not None
        chords, models, sweeps, tolerance = {}, dict(self.models), self.sweeps + 1, self.learner.tolerance
        for (k, chord), end, gradient in zip(self.chords.items(), ends, gradients, strict=True):
            after, slope = chord.advance(np.asarray(chord.within.T @ gradient), self.learner.ridge)
            # Chords come nearer by about the same share each time: what will be left is less by that share again.
            left = after.decrement * min(after.decrement / chord.decrement, 1.0) if chord.decrement else 0.0
            if after.decrement <= tolerance and left <= SHARPER * tolerance:
                remark = "" if end[1] else SEPARABLE
                models[k] = model_at(self.learner, chord.design, after.theta, sweeps, float(end[0]), slope, remark)
            elif after.decrement < SLOWEST * chord.decrement and sweeps < self.learner.max_sweeps:
                chords[k] = after
        return replace(self, chords=chords, models=models, sweeps=sweeps)

    def _by_columns(self, within: Floats, gradient: Floats, flat: Floats) -> tuple[Floats, Floats]:
        """Gradient and Hessian by the columns of one design."""
        shared, others = self.shared, len(self.shared.summary.classes) - 1
        whole = hessian_matrix(flat, shared.dense, shared.levels, others)
        some = within[shared.order]
        return within.T @ gradient, some.T @ whole @ some


# Logistic regression where the Hessian would be too much to keep: L-BFGS, preconditioned by one Hessian that all
# classes share. Rows are turned into columns once and kept, where they are few.

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
LINE_HALVINGS = 30


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
                if self.halvings >= LINE_HALVINGS or sweeps >= self._most_sweeps:
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
