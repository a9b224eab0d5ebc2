"""Lessons: from which parts of a table models learn, and by which they are judged. Knows no rows and no learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Lessons:
    """For each lesson the parts that are seen, and the fold by whose rows the model is judged. Rows are dealt to parts.

    Whoever cannot learn one lesson of a group is asked for none of that group.
    """

    seen: NDArray[np.bool_]
    """(lessons, parts)."""
    fold: tuple[int, ...]
    """Of each lesson."""
    fold_of: NDArray[np.int32]
    """The fold to which each part belongs."""
    group: tuple[int, ...]

    @property
    def folds(self) -> int:
        return int(self.fold_of.max()) + 1

    @property
    def all_but_one(self) -> bool:
        """Whether lesson k sees all parts but part k: plain cross-validation."""
        missed = ~self.seen
        return len(self.seen) == self.seen.shape[1] and not (missed & ~np.eye(len(self.seen), dtype=bool)).any()

    def of_fold(self, fold: int) -> Lessons:
        """The lessons that one fold judges."""
        kept = [k for k, f in enumerate(self.fold) if f == fold]
        return Lessons(self.seen[kept], (fold,) * len(kept), self.fold_of, tuple(self.group[k] for k in kept))


def k_fold(folds: int) -> Lessons:
    """Cross-validation: every fold is judged by a lesson of all others; who fails one has failed."""
    order = range(folds)
    return Lessons(~np.eye(folds, dtype=bool), tuple(order), np.arange(folds, dtype=np.int32), (0,) * folds)


def expanding_window(parts: int) -> Lessons:
    """Parts in the order of time: every part but the first is judged by a lesson of all that came before it.

    >>> expanding_window(3).seen.astype(int).tolist(), expanding_window(3).fold
    ([[1, 0, 0], [1, 1, 0]], (1, 2))
    """
    order = np.arange(parts)
    return Lessons(order < order[1:, None], tuple(range(1, parts)), order.astype(np.int32), (0,) * (parts - 1))


def growing_lessons(folds: int, pieces: int, steps: int) -> Lessons:
    """A learning curve: folds of so many parts each; each judges lessons of some of the other parts, at last of all of
    them, before that of half as many, and so on, in so many steps. What a lesson sees the next one sees too.

    A fold's lessons begin with the parts after its own, so that small lessons of different folds share no row. Lessons
    of one size are a group; the smallest come first.

    >>> growing_lessons(3, 2, 6).seen.astype(int).sum(axis=1).tolist(), growing_lessons(3, 2, 6).group
    ([1, 1, 1, 2, 2, 2, 4, 4, 4], (0, 0, 0, 1, 1, 1, 2, 2, 2))
    """
    parts = folds * pieces
    sizes = [(folds - 1) * pieces]
    while sizes[0] > 1 and len(sizes) < steps:
        sizes.insert(0, sizes[0] // 2)
    seen = np.zeros((len(sizes) * folds, parts), np.bool_)
    for k in range(len(seen)):
        size, fold = sizes[k // folds], k % folds
        seen[k, ((fold + 1) * pieces + np.arange(size)) % parts] = True
    fold_of = np.repeat(np.arange(folds, dtype=np.int32), pieces)
    groups = tuple(j for j in range(len(sizes)) for _ in range(folds))
    return Lessons(seen, tuple(range(folds)) * len(sizes), fold_of, groups)
