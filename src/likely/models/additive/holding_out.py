"""Boosting in a trial: each part of the rows is scored by trees of the others, which all stop after the same round.

Knows rows in memory and codes; which learner it is for is told by what its trees say (`Speaks`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from likely.machinery.arrays import Floats
from likely.models.additive.boosting import Boosted, Recipe, TreeArrays, best_rounds, weight_scale
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

    scale = weight_scale(coded(rows))
    learned = [coded(rows.take(np.flatnonzero(rows.part != part))) for part in parts]
    out = [coded(rows.take(np.flatnonzero(rows.part == part))) for part in parts]
    trials = [
        Boosted(recipe, with_base(one, given, two), with_base(other, given, two), scale)
        for one, other in zip(learned, out, strict=True)
    ]
    rounds, _ = best_rounds(trials, recipe.rounds)
    said = np.zeros((len(places), len(coding.summary.classes)))
    for part, own, trial in zip(parts, learned, trials, strict=True):
        inside = rows.part[places] == part
        if inside.any() and rounds:
            said[inside] = learner.evidence(coding, trial.trees[:rounds], own, rows.take(places[inside]).batch)
    return said, rounds
