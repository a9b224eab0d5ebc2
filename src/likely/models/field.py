"""The field: one learner of each kind with its usual settings, for comparing them side by side."""

from __future__ import annotations

from likely.models.contracts import Learner
from likely.models.learners import LEARNERS
from likely.models.naive.naive import NaiveBayes

_NOT_ALONE = ("Mixture", "Gibbs", "Density", "NaiveBayes", "Auto", "Pool")
"""These need members, or no target, come in several kinds, or would try all others anew in every fold (ask for it)."""
MOST_FOR_NEIGHBORS = 100_000
"""Every row's neighbours are looked for: beyond this a comparison would wait for them alone."""


def field_of(rows: int, texts: bool = True) -> tuple[dict[str, Learner], dict[str, str]]:
    """The learners of a comparison by the name that it shows, and why others are not among them.

    Where no attribute is a text, logistic regression over words would be naive Bayes once more.
    """
    out: dict[str, Learner] = {
        "NaiveBayes": NaiveBayes(),
        "NaiveBayes, kernel": NaiveBayes(numbers="kernel"),
        "NaiveBayes, binned": NaiveBayes(numbers="binned"),
    }
    out |= {name: maker() for name, maker in LEARNERS.items() if name not in _NOT_ALONE}
    if not texts:
        del out["TextLogistic"]
    left = {}
    if rows > MOST_FOR_NEIGHBORS:
        del out["Neighbors"]
        left["Neighbors"] = f"it looks for the neighbours of each of {rows:,} rows. Ask for it: --learner Neighbors."
    return out, left
