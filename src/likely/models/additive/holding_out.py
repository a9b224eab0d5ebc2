"""Boosting in a trial: each part of the rows is scored by trees of the others, which the other parts say when to stop.

Knows rows in memory and codes; which learner it is for is told by what its trees say (`Speaks`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from likely.machinery.arrays import Floats
from likely.models.additive.boosting import Boosted, Recipe, TreeArrays, best_rounds, units_of
from likely.models.additive.coding import CodedRows, Coding
from likely.models.additive.given import with_base
from likely.models.heldout.kept_rows import KeptRows
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Speaks(Protocol):
    """Who turns trees into evidence."""

    def evidence(self, coding: Coding, trees: list[TreeArrays], learned: CodedRows, batch: Batch) -> Floats: ...


def score_parts(
    learner: Speaks,
    coding: Coding,
    recipe: Recipe,
    given: Mapping[int, Floats],
    parts: Sequence[int],
    rows: KeptRows,
    places: NDArray[np.intp],
) -> tuple[Floats, int]:
    """What is said of the rows at `places`, (places, classes), and after how many rounds held-out rows say to stop."""
    two = len(coding.summary.classes) == 2

    def coded(some: KeptRows) -> CodedRows:
        return CodedRows.of(coding, some.batch, some.group, some.weight, len(rows) + 1).tallied()

    units = units_of(coded(rows))
    learned = [coded(rows.take(np.flatnonzero(rows.part != part))) for part in parts]
    out = [coded(rows.take(np.flatnonzero(rows.part == part))) for part in parts]
    trials = [
        Boosted(recipe, with_base(one, given, two), with_base(other, given, two), units)
        for one, other in zip(learned, out, strict=True)
    ]
    rounds, _ = best_rounds(trials, recipe.rounds)
    most = max(len(trial.losses) for trial in trials)
    losses = np.array([[trial.loss_after(t) for t in range(most)] for trial in trials])
    said = np.zeros((len(places), len(coding.summary.classes)))
    for k, (part, own, trial) in enumerate(zip(parts, learned, trials, strict=True)):
        # Where several parts are held out, the rows of one have no say in when the trees that answer for them stop.
        others = int(np.delete(losses, k, axis=0).sum(axis=0).argmin()) if len(trials) > 1 else rounds
        inside = rows.part[places] == part
        if inside.any() and others:
            said[inside] = learner.evidence(coding, trial.trees[:others], own, rows.take(places[inside]).batch)
    return said, rounds
