"""Logistic regression for all folds of a cross-validation at once: begun on all rows, ended fold by fold.

First Newton's steps on all rows, with sums kept apart by fold: at weights that all folds share, the sums of all rows
but a fold's are the total minus the fold's. Near the end every fold goes its own way, with the curvature it has by then
(chords instead of tangents): a sweep then needs gradients only, and looks at the weights of all folds together. The
maximum is unique, so it is the one that Newton's method finds on the fold's rows alone (tests/models/test_chords.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.models.linear.columns import Design
from likely.models.linear.logistic import Logistic, LogOdds
from likely.models.linear.newton import Newton, centred_pull, ridged
from likely.models.linear.softmax import Sheet, bends_size, bent, sloped
from likely.models.linear.solving import factored, solved
from likely.sums.summary import Summary
from likely.table.batch import Batch, Ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_SUMS = 1 << 22
"""Numbers that curvature may take up, over all folds: 32 MB, which every piece of rows being looked at needs."""
FEWEST_SWEEPS = 20
"""Who allows fewer wants to see the search stopped, as it is when it is alone."""
NEAR = 0.1
"""What a step on all rows may still promise, in units of log-likelihood, when the folds part."""
SHARPER = 1e-4
"""Share of the tolerance that may be left after the last chord: Newton's last step leaves far less than it promised."""
SLOWEST = 0.25
"""A chord must promise less than this share of what the last one did; else the fold searches alone."""


@dataclass(frozen=True)
class Chord:
    """A fold on its way: its weights, how its columns are made of the shared ones, and its curvature, factored."""

    design: Design
    within: NDArray[np.float64]
    theta: NDArray[np.float64]
    factor: NDArray[np.float64]
    promise: float


@dataclass(frozen=True)
class Together:
    """The search of all folds. `alone` are those that must search for themselves."""

    learner: Logistic
    shared: Design
    newton: Newton
    """The search on all rows, on its own design."""
    within: NDArray[np.float64]
    designs: Mapping[int, tuple[Design, NDArray[np.float64]]]
    """Of each fold that takes part: its own design, and how that is made of the shared one."""
    folds: int
    chords: Mapping[int, Chord] | None = None
    sweeps: int = 0
    found: Mapping[int, LogOdds] = field(default_factory=dict)

    @classmethod
    def begun(cls, learner: Logistic, total: Summary, training: Sequence[Summary]) -> Together | None:
        """The search, or None where it would not be worth it or is not to be had."""
        if not learner.ridge or learner.max_sweeps < FEWEST_SWEEPS or len(total.classes) < 2:
            return None  # without ridge there may be no maximum: that is found out on the way, from the start
        shared, own = Design(total, whole=True), Design(total)
        others = len(total.classes) - 1
        sums = bends_size(shared.dense, shared.levels, others) + (own.size * others) ** 2
        within = own.within(shared)
        if within is None or sums * len(training) > MOST_SUMS:
            return None
        designs = {}
        for k, summary in enumerate(training):
            if summary.classes == total.classes and 0 < summary.rows < total.rows:
                design = Design(summary)
                made = design.within(shared)
                if made is not None:
                    designs[k] = design, made
        if len(designs) < 2:
            return None
        return cls(learner, shared, Newton.begun(learner, own), within, designs, len(training))

    @property
    def done(self) -> bool:
        return self.chords is not None and not self.chords

    def sheets(self, batch: Batch, group: Ints, weight: NDArray[np.float64], fold: Ints) -> list[tuple[int, Sheet]]:
        """The rows of each fold; made once."""
        rows = ((k, np.flatnonzero(fold == k)) for k in np.unique(fold).tolist() if k < self.folds)
        return [(k, self.shared.sheet(batch.take(i), group[i], weight[i])) for k, i in rows]

    def look_at(self, sheets: Sequence[tuple[int, Sheet]]) -> tuple[NDArray[np.float64], ...]:
        """Ends and gradients by fold: of its own rows at first, then of all but those; and curvature at first."""
        order, others = self.shared.order, len(self.shared.summary.classes) - 1
        if self.chords is None:
            theta = (self.within @ self.newton.theta)[order][:, :, None]
            bends = np.zeros((self.folds, bends_size(self.shared.dense, self.shared.levels, others)))
            ends, gradients = np.zeros((self.folds, 2)), np.zeros((self.folds, self.shared.size, others))
            for k, sheet in sheets:
                end, gradient = sloped(sheet, theta, bends[k])
                ends[k] += end[:, 0]
                gradients[k][order] += gradient[:, :, 0]
            return ends, gradients, bends
        keys = list(self.chords)
        all_of = np.stack([(c.within @ c.theta)[order] for c in self.chords.values()], axis=2)
        ends, gradients = np.zeros((len(keys), 2)), np.zeros((len(keys), self.shared.size, others))
        for k, sheet in sheets:
            some = [i for i, key in enumerate(keys) if key != k]
            if some:
                end, gradient = sloped(sheet, np.ascontiguousarray(all_of[:, :, some]))
                ends[some] += end.T
                gradients[np.array(some)[:, None], order] += gradient.transpose(2, 0, 1)
        return ends, gradients

    def step(self, sums: tuple[NDArray[np.float64], ...]) -> Together:
        """Another step for all rows, or for each fold."""
        return self._first(*sums) if self.chords is None else self._chord(*sums)

    def _first(self, ends: NDArray[np.float64], gradients: NDArray[np.float64], bends: NDArray[np.float64]) -> Together:
        newton, sweeps = self.newton, self.sweeps + 1
        total = self._seen(self.within, gradients.sum(axis=0), bends.sum(axis=0))
        moved = newton.moved(ends.sum(axis=0), *total)
        if sweeps >= self.learner.max_sweeps:
            return replace(self, chords={})
        if isinstance(moved, Newton) and (moved.halvings or moved.promise > NEAR):
            return replace(self, newton=moved, sweeps=sweeps)
        chords = {}
        at, all_bends, all_gradients = self.within @ newton.theta, bends.sum(axis=0), gradients.sum(axis=0)
        for k, (design, within) in self.designs.items():
            theta = design.started(at, self.shared, within)
            gradient, curvature = self._seen(within, all_gradients - gradients[k], all_bends - bends[k])
            factor = factored(ridged(curvature, self.learner.ridge))
            if factor is not None:
                chord = Chord(design, within, theta, factor, np.inf)
                chords[k] = self._advanced(chord, gradient)[0]
        return replace(self, chords=chords, sweeps=sweeps)

    def _chord(self, ends: NDArray[np.float64], gradients: NDArray[np.float64]) -> Together:
        assert self.chords is not None
        chords, found, sweeps = {}, dict(self.found), self.sweeps + 1
        for (k, chord), end, gradient in zip(self.chords.items(), ends, gradients, strict=True):
            after, slope = self._advanced(chord, np.asarray(chord.within.T @ gradient))
            # Chords come nearer by about the same share each time: what will be left is less by that share again.
            left = after.promise * min(after.promise / chord.promise, 1.0) if chord.promise else 0.0
            if after.promise <= self.learner.tolerance and left <= SHARPER * self.learner.tolerance:
                begun = Newton.begun(self.learner, chord.design)
                found[k] = begun.ended(after.theta, sweeps, float(end[0]), slope, separable=not end[1])
            elif after.promise < SLOWEST * chord.promise and sweeps < self.learner.max_sweeps:
                chords[k] = after
        return replace(self, chords=chords, found=found, sweeps=sweeps)

    def _advanced(self, chord: Chord, gradient: NDArray[np.float64]) -> tuple[Chord, NDArray[np.float64]]:
        """A step along the chord, and the slope that it was taken on."""
        slope = gradient - self.learner.ridge * centred_pull(chord.theta)
        stride = solved(chord.factor, slope.T.reshape(-1)).reshape(slope.shape[1], len(slope)).T
        promise = 0.5 * float((slope * stride).sum())
        return replace(chord, theta=chord.theta + stride, promise=promise), slope

    def _seen(self, within: NDArray[np.float64], gradient: Any, bends: Any) -> tuple[Any, Any]:
        """Gradient and curvature by the columns of one design."""
        shared, others = self.shared, len(self.shared.summary.classes) - 1
        whole = bent(bends, shared.dense, shared.levels, others)
        some = within[shared.order]
        return within.T @ gradient, some.T @ whole @ some
