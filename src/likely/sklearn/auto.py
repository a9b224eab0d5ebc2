"""The classifier that chooses and mixes learners by itself; it is there where the core has `likely.Auto`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import likely
from likely.sklearn.face import ClassifierFace

AutoClassifier: Any = None

if hasattr(likely, "Auto"):

    class _AutoClassifier(ClassifierFace):
        """Tries the family of learners on rows held out and mixes what helps, as `likely.Auto`."""

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

    _AutoClassifier.__name__ = _AutoClassifier.__qualname__ = "AutoClassifier"
    AutoClassifier = _AutoClassifier
