"""The field: one learner of each kind with its usual settings, for comparing them side by side."""

from __future__ import annotations

from typing import Any

from likely.models.learners import LEARNERS
from likely.models.naive import NaiveBayes

_NOT_ALONE = ("Mixture", "Gibbs", "Density", "NaiveBayes")
"""These need members, or no target, or come in several kinds."""


def field_of() -> dict[str, Any]:
    """The learners of a comparison by the name that it shows."""
    out: dict[str, Any] = {"NaiveBayes": NaiveBayes()}
    out |= {name: maker() for name, maker in LEARNERS.items() if name not in _NOT_ALONE}
    return out
