"""Logistic regression by Newton's method, and by L-BFGS where the Hessian would be too much to keep."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from likely.machinery.arrays import Floats, Ints
from likely.models.contracts import Learning, Model, Sweep
from likely.models.learning import relay, run
from likely.models.linear.design import Curves, Design
from likely.models.linear.log_odds import SEPARABLE, LogisticSettings, searched_model
from likely.models.linear.softmax import Sheet, add_shared_hessian, gradient_sums, hessian_matrix, hessian_size
from likely.models.linear.squares import cholesky_factor, cholesky_solve, pseudo_inverse, require_finite
from likely.sums.exact import plus_tuples
from likely.sums.summary import Summary
from likely.table.batch import Batch

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


class NewtonPoint(NamedTuple):
    """Weights of all classes but the first, relative to the first's (columns, classes - 1), that are to be judged."""

    theta: Floats
    halved: bool = False
    """Whether the step before went too far."""
    decrement: float = np.inf
    """Half of gradient * step: what the step gains where the likelihood is a parabola."""


NewtonSums: TypeAlias = tuple[Floats, Floats, Floats]
"""(log-likelihood, rows not predicted rightly); gradient (columns, classes but one); Hessian, by columns."""


def newton(learner: LogisticSettings, design: Design) -> Learning[Model]:
    """The maximum of the likelihood, less what ridge takes, by Newton's method: a sweep for each step."""
    return relay(
        newton_steps(learner, design),
        lambda point: Sweep(_newton_sums, (design, point.theta)),
        lambda point, sums: _by_columns(design, sums),
    )


def _newton_sums(design: Design, theta: Floats, batch: Batch, group: Ints, weight: Floats) -> NewtonSums:
    """(log-likelihood, rows not predicted rightly), gradient, sums of the Hessian."""
    hessian = np.zeros(hessian_size(design.dense, design.levels, theta.shape[1]))
    ends, gradient = gradient_sums(design.sheet(batch, group, weight), theta[design.order][:, :, None], hessian)
    return ends[:, 0], gradient[:, :, 0], hessian


def _by_columns(design: Design, sums: NewtonSums) -> NewtonSums:
    """The same by columns of the design."""
    ends, sheet_gradient, flat = sums
    gradient = np.empty_like(sheet_gradient)
    gradient[design.order] = sheet_gradient
    hessian = hessian_matrix(flat, design.dense, design.levels, gradient.shape[1])
    back = np.argsort(design.order)
    return ends, gradient, hessian[:, :, back][:, :, :, back]


def newton_steps(learner: LogisticSettings, design: Design) -> Generator[NewtonPoint, NewtonSums, Model]:
    """Newton's method for whoever sums likelihood, gradient and Hessian at each point. At the start all classes are
    equally probable; a step that makes things worse is halved."""
    ridge, most = learner.ridge, learner.max_sweeps
    theta = np.zeros((design.size, len(design.summary.classes) - 1))
    best, before, last_step = -np.inf, theta, None
    likelihood_before, halvings, last_decrement, sweeps = -np.inf, 0, np.inf, 0
    basis: Floats | None = None
    point = NewtonPoint(theta)

    def model(at: Floats, likelihood: float, slope: Floats, remark: str) -> Model:
        return model_at(learner, design, at, sweeps, likelihood, slope, remark)

    while True:
        ends, gradient, hessian = yield point
        sweeps += 1
        penalty = penalty_gradient(theta)
        likelihood = float(ends[0])
        value = likelihood - 0.5 * ridge * float((theta * penalty).sum())
        if last_step is not None and not value >= best - SLACK * (1 + abs(best)):
            if halvings < HALVINGS and sweeps < most:
                last_step, halvings = last_step / 2, halvings + 1
                theta = before + last_step
                point = NewtonPoint(theta, True, last_decrement)
                continue
            remark = "The search stopped early: no step improved the training likelihood."
            return model(before, likelihood_before, gradient, remark)
        slope = gradient - ridge * penalty
        if ridge == 0 and not ends[1]:
            remark = (
                "The classes are perfectly separable, so no finite weights are the most likely ones. These are the "
                "first that separated all training rows; set ridge above 0 for weights that the data define."
            )
            return model(theta, likelihood, slope, remark)
        step, basis, flat = _newton_step(slope, hessian, ridge, basis)
        decrement = 0.5 * float((slope * step).sum())
        if flat or (decrement <= learner.tolerance and decrement > LINGERING * last_decrement):
            remark = (
                "Some weights grow without bound: a level or a range of values goes with some classes only. The search "
                "was stopped where the likelihood no longer rises; set ridge above 0 for weights that the data define."
            )
            return model(theta, likelihood, slope, remark)
        if decrement <= learner.tolerance:
            return model(theta + step, likelihood, slope, "" if ends[1] else SEPARABLE)
        if sweeps >= most:
            remark = f"The search was stopped after {sweeps} sweeps, before it had converged. Raise max_sweeps."
            return model(theta, likelihood, slope, remark)
        best, likelihood_before, before, last_step, halvings = value, likelihood, theta, step, 0
        theta, last_decrement = theta + step, decrement
        point = NewtonPoint(theta, False, decrement)


def _newton_step(
    slope: Floats, hessian: Floats, ridge: float, basis: Floats | None
) -> tuple[Floats, Floats | None, bool]:
    """Newton's step; without ridge the directions in which the rows differ at all, found once; and whether there is
    one without curvature left."""
    size, others = slope.shape
    full = penalised_hessian(hessian, ridge)
    along = slope.T.reshape(-1)
    if ridge:
        factor = cholesky_factor(full)
        if factor is not None:  # where it is not quite definite the pseudo-inverse below will do
            return cholesky_solve(factor, along).reshape(others, size).T, None, False
    elif basis is None:
        values, vectors = np.linalg.eigh(full)
        basis = vectors[:, values > COLLINEAR * values[-1]]
    if basis is not None:
        full, along = basis.T @ full @ basis, basis.T @ along
    inverse, rank = pseudo_inverse(full, 0.0 if ridge else np.finfo(np.float64).eps)
    step = inverse @ along
    if basis is not None:
        step = basis @ step
    return step.reshape(others, size).T, basis, rank < len(full) and not ridge


def model_at(
    learner: LogisticSettings, design: Design, theta: Floats, sweeps: int, likelihood: float, slope: Floats, remark: str
) -> Model:
    """The model with weights relative to the first class's."""
    every_class = np.concatenate([np.zeros((len(theta), 1)), theta], axis=1)
    return searched_model(learner, design, every_class, sweeps, likelihood, slope, remark)


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
class FoldSweep:
    """What all folds want to see of the rows: first at weights that they share, then each at its own."""

    shared: Design
    folds: int
    thetas: Floats
    """Weights in the order of sheets, (columns, classes but one, points)."""
    points: tuple[int, ...] = ()
    """The fold that does not see its own rows at each point; none while there is one point for all."""

    def sheets(self, batch: Batch, group: Ints, weight: Floats, fold: Ints) -> list[tuple[int, Sheet]]:
        """The rows of each fold; the same in every sweep."""
        rows = ((k, np.flatnonzero(fold == k)) for k in range(self.folds))
        return [(k, self.shared.sheet(batch.take(i), group[i], weight[i])) for k, i in rows if len(i)]

    def look_at(self, sheets: Sequence[tuple[int, Sheet]]) -> tuple[Floats, ...]:
        """Ends and gradients by fold: of its own rows at first, then of all but those; and Hessians at first."""
        shared, others = self.shared, self.thetas.shape[1]
        order, count = shared.order, len(self.points) or self.folds
        ends, gradients = np.zeros((count, 2)), np.zeros((count, shared.size, others))
        if not self.points:
            hessians = np.zeros((count, hessian_size(shared.dense, shared.levels, others)))
            for k, sheet in sheets:
                end, gradient = gradient_sums(sheet, self.thetas, hessians[k])
                ends[k] += end[:, 0]
                gradients[k][order] += gradient[:, :, 0]
            return ends, gradients, hessians
        for k, sheet in sheets:
            others_of = [i for i, key in enumerate(self.points) if key != k]
            if others_of:
                end, gradient = gradient_sums(sheet, np.ascontiguousarray(self.thetas[:, :, others_of]))
                ends[others_of] += end.T
                gradients[np.array(others_of)[:, None], order] += gradient.transpose(2, 0, 1)
        return ends, gradients


FoldLearning: TypeAlias = Generator[FoldSweep, Any, dict[int, Model]]


def newton_folds(learner: LogisticSettings, total: Summary, training: Sequence[Summary]) -> FoldLearning | None:
    """All folds at once, in the sweeps of one: the model of each for which that comes to an end, the others must learn
    by themselves. None where it would not be worth it or is not to be had."""
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
    return _fold_steps(learner, shared, own, within, designs, len(training)) if len(designs) > 1 else None


def _fold_steps(
    learner: LogisticSettings,
    shared: Design,
    own: Design,
    within: Floats,
    designs: Mapping[int, tuple[Design, Floats]],
    folds: int,
) -> FoldLearning:
    """Newton's steps on all rows; near the maximum each fold goes on by chords of its own Hessian."""
    others, models, sweeps = len(shared.summary.classes) - 1, dict[int, Model](), 0

    def by_columns(made: Floats, gradient: Floats, flat: Floats) -> tuple[Floats, Floats]:
        """Gradient and Hessian by the columns of one design."""
        whole, some = hessian_matrix(flat, shared.dense, shared.levels, others), made[shared.order]
        return made.T @ gradient, some.T @ whole @ some

    steps = newton_steps(learner, own)
    point, near = next(steps), False
    while not near:
        theta = within @ point.theta
        ends, gradients, hessians = yield FoldSweep(shared, folds, theta[shared.order][:, :, None])
        sweeps += 1
        gradient, hessian = gradients.sum(axis=0), hessians.sum(axis=0)
        try:
            point = steps.send((ends.sum(axis=0), *by_columns(within, gradient, hessian)))
            near = not (point.halved or point.decrement > NEAR)
        except StopIteration:
            near = True
        if sweeps >= learner.max_sweeps:
            return models
    chords = {}
    for k, (design, made) in designs.items():
        own_gradient, own_hessian = by_columns(made, gradient - gradients[k], hessian - hessians[k])
        factor = cholesky_factor(penalised_hessian(own_hessian, learner.ridge))
        if factor is not None:
            chord = Chord(design, made, design.translate_weights(theta, shared, made), factor)
            chords[k] = chord.advance(own_gradient, learner.ridge)[0]
    while chords:
        thetas = np.stack([(c.within @ c.theta)[shared.order] for c in chords.values()], axis=2)
        ends, gradients = yield FoldSweep(shared, folds, thetas, tuple(chords))
        sweeps += 1
        for k, end, gradient in zip([*chords], ends, gradients, strict=True):
            chord = chords.pop(k)
            after, slope = chord.advance(np.asarray(chord.within.T @ gradient), learner.ridge)
            # Chords come nearer by about the same share each time: what will be left is less by that share again.
            left = after.decrement * min(after.decrement / chord.decrement, 1.0) if chord.decrement else 0.0
            if after.decrement <= learner.tolerance and left <= SHARPER * learner.tolerance:
                remark = "" if end[1] else SEPARABLE
                models[k] = model_at(learner, chord.design, after.theta, sweeps, float(end[0]), slope, remark)
            elif after.decrement < SLOWEST * chord.decrement and sweeps < learner.max_sweeps:
                chords[k] = after
    return models


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


Look: TypeAlias = "tuple[Callable[..., tuple[Any, ...]], tuple[Any, ...]]"
"""A function of a sheet, and what it is given before that."""


def lbfgs(learner: LogisticSettings, design: Design | Curves) -> Learning[Model]:
    """The maximum of the likelihood, less what ridge takes, by L-BFGS: in one sweep where rows, turned into columns,
    can be kept; else in one for each step."""
    steps = _lbfgs_steps(learner, design)
    if design.summary.rows * (8 * design.dense + 4 * len(design.levels) + 12) > KEPT:
        return (yield from relay(steps, lambda look: Sweep(_look_at_sheet, (design, *look))))
    (sheets,) = yield Sweep(_kept_sheet, (design,))

    def summed(look: Look) -> tuple[Any, ...]:
        function, given = look
        return reduce(plus_tuples, (function(*given, sheet) for sheet in sheets))

    return run(steps, summed)


def _look_at_sheet(
    design: Design | Curves, function: Any, given: tuple[Any, ...], batch: Batch, group: Ints, weight: Floats
) -> tuple[Any, ...]:
    return tuple(function(*given, design.sheet(batch, group, weight)))


def _kept_sheet(design: Design | Curves, batch: Batch, group: Ints, weight: Floats) -> tuple[tuple[Sheet], ...]:
    return ((design.sheet(batch, group, weight),),)


def _column_sums(sheet: Sheet) -> tuple[Any, ...]:
    """(weight, sums, sums of squares) of the columns that are numbers."""
    some = sheet.dense * sheet.weight[:, None]
    return sheet.weight.sum(), some.sum(axis=0), (some * sheet.dense).sum(axis=0)


def _lbfgs_sums(design: Design | Curves, weights: Floats, renews: bool, sheet: Sheet) -> tuple[Floats, ...]:
    """(log-likelihood, rows not predicted rightly), gradient, and, where it is to be renewed, the shared Hessian."""
    theta = (weights[:, 1:] - weights[:, :1])[design.order]
    ends, gradient = gradient_sums(sheet, np.ascontiguousarray(theta[:, :, None]))
    if not renews:
        return ends[:, 0], gradient[:, :, 0]
    whole = design.size <= WIDEST
    hessian = np.zeros(hessian_size(design.dense, design.levels, 1) if whole else design.size)
    classes = add_shared_hessian(sheet, np.ascontiguousarray(theta), hessian, whole)
    return ends[:, 0], gradient[:, :, 0], hessian, classes


def _lbfgs_steps(learner: LogisticSettings, design: Design | Curves) -> Generator[Look, Any, Model]:
    """L-BFGS over the weights of all classes (columns, classes), for whoever sums over sheets.

    Everything is to be made small: minus log-likelihood, with what ridge adds. At the start classes are as probable as
    they are frequent.
    """
    penalty = _ridges(learner, design, *(yield _column_sums, ()))
    theta = np.zeros((design.size, len(design.summary.classes)))
    theta[0] = np.log(design.summary.total.floats())
    theta[0] -= theta[0].mean()
    # A step by gradients is worth about a third of Newton's, and costs far less.
    sweeps, most, steps, halvings = 1, 3 * learner.max_sweeps, 0, 0
    preconditioner: tuple[Floats, ...] = ()
    memory: list[tuple[Floats, Floats]] = []
    before: tuple[Floats, float, Floats, float] | None = None  # weights, value, gradient and log-likelihood
    step = np.zeros_like(theta)

    def model(at: Floats, likelihood: float, slope: Floats, *, separable: bool) -> Model:
        stopped = f"The search was stopped after {sweeps} sweeps, before it had converged. Raise max_sweeps."
        remarks = (SEPARABLE if separable else "", stopped if sweeps >= most else "")
        return searched_model(learner, design, at, sweeps, likelihood, slope, *remarks)

    while True:
        # While a step is being halved, the Hessian is that of where it began.
        renews = not halvings and (not preconditioner or steps in RENEWED)
        sums = yield _lbfgs_sums, (design, theta, renews)
        sweeps += 1
        uphill = np.empty_like(sums[1])
        uphill[design.order] = sums[1]
        shrink = penalty[:, None] * theta
        gradient = shrink - np.concatenate([-uphill.sum(axis=1, keepdims=True), uphill], axis=1)
        likelihood = float(sums[0][0])
        value = 0.5 * float((shrink * theta).sum()) - likelihood
        if before is not None:
            old, least, old_gradient, old_likelihood = before
            if not value <= least + ENOUGH * float((step * old_gradient).sum()):
                if halvings >= LINE_HALVINGS or sweeps >= most:
                    return model(old, old_likelihood, old_gradient, separable=False)
                step, halvings = step / 2, halvings + 1
                theta = old + step
                continue
            s, y = theta - old, gradient - old_gradient
            if float((s * y).sum()) > 0:
                memory = [*memory, (s, y)][-MEMORY:]
        if renews:
            preconditioner = _factor_hessian(design, penalty, sums[2], sums[3])
        step = -lbfgs_direction(gradient, memory, partial(_precondition, preconditioner))
        decrement = -0.5 * float((step * gradient).sum())
        if decrement <= max(learner.tolerance, LEAST_DECREMENT) or sweeps >= most:
            return model(theta + step, likelihood, gradient, separable=not sums[0][1])
        before = (theta, value, gradient, likelihood)
        theta, steps, halvings = theta + step, steps + 1, 0


def _ridges(
    learner: LogisticSettings, design: Design | Curves, weight: Floats, first: Floats, second: Floats
) -> Floats:
    """What ridge multiplies the squares of each column's weights with: it holds a number's weight as if it were in
    units of its spread; constants are free."""
    out = np.full(design.size, learner.ridge)
    dense = np.maximum(second / weight - (first / weight) ** 2, 0.0)
    if isinstance(design, Curves):  # standard units have the spread 1 already, but not clipped and squared
        out[: len(dense)] *= dense
        # A column without any spread (a product that is always 0) says nothing, and its weight stays 0.
        out[1 : len(dense)][dense[1:] == 0] = learner.ridge
    out[0] = 0.0
    return out


def _factor_hessian(design: Design | Curves, penalty: Floats, hessian: Floats, classes: Floats) -> tuple[Floats, ...]:
    """For each class the shared Hessian by its share of it, and what ridge adds; factored, or a diagonal."""
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


def lbfgs_direction(
    gradient: Floats,
    memory: Sequence[tuple[Floats, Floats]],
    divide: Callable[..., Sequence[Floats]] = lambda *vectors: vectors,
) -> Floats:
    """The inverse Hessian times the gradient, as L-BFGS knows it: its two loops over the last pairs (s, y) of a step
    and the change of the gradient along it. `divide` divides vectors by a first guess at the Hessian: here by 1."""
    q, first_loop = gradient.copy(), []
    for s, y in reversed(memory):
        rho = 1.0 / float((s * y).sum())
        alpha = rho * float((s * q).sum())
        q -= alpha * y
        first_loop.append((alpha, rho))
    if memory:
        s, y = memory[-1]
        r, scaled = divide(q, y)
        r *= float((s * y).sum()) / float((y * scaled).sum())
    else:
        (r,) = divide(q)
    for (s, y), (alpha, rho) in zip(memory, reversed(first_loop), strict=True):
        r += (alpha - rho * float((y * r).sum())) * s
    return r


def _precondition(preconditioner: tuple[Floats, ...], *vectors: Floats) -> list[Floats]:
    """Each of the vectors (columns, classes), divided by the Hessian of its classes; those that share a factor
    together."""
    out = [np.empty_like(vector) for vector in vectors]
    sharing: dict[int, list[int]] = {}
    for k, own in enumerate(preconditioner):
        sharing.setdefault(id(own), []).append(k)
    for some in sharing.values():
        own = preconditioner[some[0]]
        columns = np.concatenate([vector[:, some] for vector in vectors], axis=1)
        solved = cholesky_solve(own, columns) if own.ndim == 2 else columns / own[:, None]
        for k, each in enumerate(out):
            each[:, some] = solved[:, k * len(some) : (k + 1) * len(some)]
    return out
