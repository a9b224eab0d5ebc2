"""The search of logistic regression where curvature would be too much to keep: steps by gradients (L-BFGS), measured
by one curvature that all classes share. Rows are turned into columns once and kept, where they are few.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.models.linear.columns import Design
from likely.models.linear.curves import Curves
from likely.models.linear.logistic import Logistic, LogOdds
from likely.models.linear.softmax import Sheet, bends_size, bent, shared_bends, sloped
from likely.models.linear.solving import factored, solved
from likely.models.model import Search
from likely.table.batch import Batch, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEPT = 1 << 25
"""Bytes that rows, turned into columns, may take up to be kept between steps."""
MEMORY = 20
"""Steps that are remembered: their gradients tell of the curvature."""
LEAST_PROMISE = 1e-3
"""Another step must promise so much, in units of log-likelihood, however small the tolerance is."""
WIDEST = 1_000
"""Columns up to which the shared curvature is kept whole; of more, only its diagonal."""
RENEWED = (6, 18, 40)
"""Steps after which the shared curvature is summed anew."""
ENOUGH = 1e-4
"""Share of what the slope promises that a step must bring; else it is halved."""
HALVINGS = 30


@dataclass(frozen=True)
class Climb(Search):
    """Weights of all classes (columns, classes) and how it goes. Everything is to be made small: minus log-likelihood,
    with what ridge adds."""

    learner: Logistic
    design: Design | Curves
    theta: NDArray[np.float64]
    held: NDArray[np.float64] | None = None
    """What ridge multiplies the squares of each column's weights with; None before the spread of columns is known."""
    sheets: tuple[Sheet, ...] = ()
    """The rows, where they are kept."""
    sweeps: int = 0
    measure: tuple[NDArray[np.float64], ...] = ()
    """The curvature of each class, factored."""
    before: tuple[NDArray[np.float64], float, NDArray[np.float64], float] | None = None
    """Weights, value, slope and log-likelihood of the last step that was an improvement."""
    stride: NDArray[np.float64] | None = None
    steps: int = 0
    halvings: int = 0
    past: tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...] = ()

    @classmethod
    def begun(cls, learner: Logistic, design: Design | Curves, at: NDArray[np.float64] | None = None) -> Climb:
        """At the start classes are as probable as they are frequent; or where another search has ended."""
        if at is None:
            at = np.zeros((design.size, len(design.summary.classes)))
            at[0] = np.log(design.summary.total.floats())
            at[0] -= at[0].mean()
        return cls(learner, design, at)

    # -- sweeps ---------------------------------------------------------------------------------------------

    @property
    def _keeps(self) -> bool:
        each = 8 * self.design.dense + 4 * len(self.design.levels) + 12
        return self.design.summary.rows * each <= KEPT

    def look_at(self, batch: Batch, group: Ints, weight: NDArray[np.float64]) -> tuple[Any, ...]:
        """The rows as columns, where they will be kept; else what a step adds up."""
        sheet = self.design.sheet(batch, group, weight)
        return (_Kept((sheet,)),) if self._keeps else self._sums(sheet)

    def step(self, sums: tuple[Any, ...]) -> LogOdds | Climb:
        """A step, or all of them where rows are kept."""
        if not self._keeps:
            return self._moved(sums)
        found: LogOdds | Climb = replace(self, sheets=sums[0].sheets)
        while isinstance(found, Climb):
            total: Any = None
            for sheet in found.sheets:
                part = found._sums(sheet)
                total = part if total is None else tuple(a + b for a, b in zip(total, part, strict=True))
            found = found._moved(total)
        return found

    @property
    def _renews(self) -> bool:
        """Whether this sweep sums curvature: not while a step is being halved."""
        return not self.halvings and (not self.measure or self.steps in RENEWED)

    def _sums(self, sheet: Sheet) -> tuple[Any, ...]:
        """(weight, sums, sums of squares) of the columns that are numbers, at first; then ends, gradient, curvature."""
        if self.held is None:
            some = sheet.dense * sheet.weight[:, None]
            return sheet.weight.sum(), some.sum(axis=0), (some * sheet.dense).sum(axis=0)
        design, size = self.design, self.design.size
        theta = (self.theta[:, 1:] - self.theta[:, :1])[design.order]
        ends, gradient = sloped(sheet, np.ascontiguousarray(theta[:, :, None]))
        if not self._renews:
            return ends[:, 0], gradient[:, :, 0]
        whole = size <= WIDEST
        bends = np.zeros(bends_size(design.dense, design.levels, 1) if whole else size)
        classes = shared_bends(sheet, np.ascontiguousarray(theta), bends, whole)
        return ends[:, 0], gradient[:, :, 0], bends, classes

    # -- steps ----------------------------------------------------------------------------------------------

    def _moved(self, sums: tuple[Any, ...]) -> LogOdds | Climb:
        if self.held is None:
            return replace(self, held=self._ridges(*sums), sweeps=self.sweeps + 1)
        sweeps, design = self.sweeps + 1, self.design
        some = np.empty_like(sums[1])
        some[design.order] = sums[1]
        pull = self.held[:, None] * self.theta
        slope = pull - np.concatenate([-some.sum(axis=1, keepdims=True), some], axis=1)
        likelihood = float(sums[0][0])
        value = 0.5 * float((pull * self.theta).sum()) - likelihood
        if self.before is not None and self.stride is not None:
            old, least, uphill, _ = self.before
            wanted = least + ENOUGH * float((self.stride * uphill).sum())
            if not value <= wanted:
                half = self.stride / 2
                if self.halvings >= HALVINGS or sweeps >= self._most_sweeps:
                    return self._ended(old, sweeps, self.before[3], uphill, separable=False)
                return replace(self, theta=old + half, stride=half, halvings=self.halvings + 1, sweeps=sweeps)
        past, measure = self.past, self.measure
        if self.before is not None:
            moved, turned = self.theta - self.before[0], slope - self.before[2]
            if float((moved * turned).sum()) > 0:
                past = (*past, (moved, turned))[-MEMORY:]
        if self._renews:
            measure = self._measured(sums[2], sums[3])
        now = replace(self, measure=measure, past=past)
        stride = -now._turned(slope)
        promise = -0.5 * float((stride * slope).sum())
        if promise <= max(self.learner.tolerance, LEAST_PROMISE) or sweeps >= self._most_sweeps:
            return now._ended(self.theta + stride, sweeps, likelihood, slope, separable=not sums[0][1])
        at = (self.theta, value, slope, likelihood)
        return replace(
            now, theta=self.theta + stride, before=at, stride=stride, steps=self.steps + 1, halvings=0, sweeps=sweeps
        )

    @property
    def _most_sweeps(self) -> int:
        # A step by gradients is worth about a third of Newton's, and costs far less.
        return 3 * self.learner.max_sweeps

    def _ridges(self, weight: Any, first: Any, second: Any) -> NDArray[np.float64]:
        """Ridge holds a number's weight as if it were in units of its spread; constants are free."""
        out = np.full(self.design.size, self.learner.ridge)
        dense = np.maximum(second / weight - (first / weight) ** 2, 0.0)
        if isinstance(self.design, Curves):  # standard units have the spread 1 already, but not clipped and squared
            out[: len(dense)] *= dense
            # A column without any spread (a product that is always 0) says nothing, and its weight stays 0.
            out[1 : len(dense)][dense[1:] == 0] = self.learner.ridge
        out[0] = 0.0
        return out

    def _measured(self, bends: Any, classes: Any) -> tuple[NDArray[np.float64], ...]:
        """For each class the shared curvature by its share of it, and what ridge adds; factored, or a diagonal."""
        design, held = self.design, self.held
        assert held is not None
        # Rounded to powers of two, so that a few factors serve many classes.
        shares = np.exp2(np.round(np.log2(np.maximum(classes / classes.sum(), 2.0**-20))))
        if design.size > WIDEST:
            back = np.empty(design.size)
            back[design.order] = bends
            return tuple(np.maximum(share * back + held, np.finfo(float).tiny) for share in shares)
        some = bent(bends, design.dense, design.levels, 1)[0, 0]
        full = np.empty_like(some)
        full[np.ix_(design.order, design.order)] = some
        made: dict[float, NDArray[np.float64]] = {}
        for share in dict.fromkeys(shares.tolist()):
            factor = factored(share * full + np.diag(held))
            made[share] = factor if factor is not None else np.maximum(share * np.diag(full) + held, 1.0)
        return tuple(made[share] for share in shares.tolist())

    def _turned(self, slope: NDArray[np.float64]) -> NDArray[np.float64]:
        """The slope as a step: by the measure, bent by what past steps have found (two loops of L-BFGS)."""
        q, found = slope.copy(), []
        for moved, turned in reversed(self.past):
            rate = 1.0 / float((moved * turned).sum())
            a = rate * float((moved * q).sum())
            q -= a * turned
            found.append((a, rate))
        if self.past:
            moved, turned = self.past[-1]
            out, bent_back = self._by_measure(q, turned)
            out *= float((moved * turned).sum()) / float((turned * bent_back).sum())
        else:
            (out,) = self._by_measure(q)
        for (moved, turned), (a, rate) in zip(self.past, reversed(found), strict=True):
            out += (a - rate * float((turned * out).sum())) * moved
        return out

    def _by_measure(self, *slopes: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Each of the slopes, divided by the curvature of its classes; those that share a factor together."""
        out = [np.empty_like(slope) for slope in slopes]
        sharing: dict[int, list[int]] = {}
        for k, own in enumerate(self.measure):
            sharing.setdefault(id(own), []).append(k)
        for some in sharing.values():
            own = self.measure[some[0]]
            columns = np.concatenate([slope[:, some] for slope in slopes], axis=1)
            found = solved(own, columns) if own.ndim == 2 else columns / own[:, None]
            for k, each in enumerate(out):
                each[:, some] = found[:, k * len(some) : (k + 1) * len(some)]
        return out

    def _ended(
        self,
        theta: NDArray[np.float64],
        sweeps: int,
        likelihood: float,
        slope: NDArray[np.float64],
        *,
        separable: bool,
    ) -> LogOdds:
        remarks = ["The classes are perfectly separable: ridge alone keeps the weights finite."] if separable else []
        if sweeps >= self._most_sweeps:
            remarks.append(f"The search was stopped after {sweeps} sweeps, before it had converged. Raise max_sweeps.")
        facts = {
            "sweeps": float(sweeps),
            "log_likelihood": likelihood,
            "gradient": float(np.abs(slope).max(initial=0.0)),
        }
        whole = np.ascontiguousarray(theta - theta.mean(axis=1, keepdims=True))
        return LogOdds.of(self.learner, self.design, whole, facts, tuple(remarks))


class _Kept:
    """Rows as columns: they are kept, not added up."""

    def __init__(self, sheets: tuple[Sheet, ...]) -> None:
        self.sheets = sheets

    def __add__(self, other: _Kept) -> _Kept:
        return _Kept(self.sheets + other.sheets)
