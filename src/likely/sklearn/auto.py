"""The classifier that chooses and mixes learners by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import likely
from likely.sklearn.face import ClassifierFace


class AutoClassifier(ClassifierFace):
    """Tries the family of learners on rows held out and mixes what helps, as `likely.Auto`.

    >>> X, y = [[0.0], [1.0], [2.5], [7.0], [8.0], [9.5]] * 2, ["low", "low", "low", "high", "high", "high"] * 2
    >>> AutoClassifier(members=("Prior", "NaiveBayes"), parts=2).fit(X, y).predict([[8.5]])
    array(['high'], dtype='<U4')
    """

    _maker = likely.Auto
    _generative = False

    def __init__(
        self,
        *,
        members: Any = (),
        parts: int = 5,
        noise: float = 1.0,
        seed: int = 0,
        types: Mapping[str, str] | None = None,
        missing_cells: Sequence[str] | None = None,
        loss: Any = None,
    ) -> None:
        self.members = members
        self.parts = parts
        self.noise = noise
        self.seed = seed
        self.types = types
        self.missing_cells = missing_cells
        self.loss = loss
