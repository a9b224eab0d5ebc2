"""The learners by name: what a file or the command line may ask for."""

from __future__ import annotations

from typing import Any

from likely.models.baseline import Prior
from likely.models.naive import NaiveBayes

LEARNERS: dict[str, type[Any]] = {learner.__name__: learner for learner in (Prior, NaiveBayes)}
