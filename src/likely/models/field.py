"""The field: one learner of each kind with its usual settings, for comparing them side by side."""

from __future__ import annotations

from likely.models.contracts import Learner
from likely.models.default import LEAST_ROWS
from likely.models.learners import LEARNERS
from likely.models.naive.naive import NaiveBayes

_NOT_ALONE = ("Mixture", "Gibbs", "Density", "NaiveBayes", "Pool")
"""These need members, or no target, or come in several kinds."""
MOST_FOR_NEIGHBORS = 100_000
"""Every row's neighbours are looked for: beyond this a comparison would wait for them alone."""
MOST_FOR_AUTO = 50_000
"""It tries most others anew in every fold: beyond this a comparison would wait for it alone."""


def field_of(rows: int, texts: bool = True) -> tuple[dict[str, Learner], dict[str, str]]:
    """The learners of a comparison by the name that it shows, and why others are not among them. (0 rows: all.)

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
        left["Neighbors"] = f"it searches the neighbours of each of {rows:,} rows. Ask for it: --learner Neighbors."
    if 0 < rows < LEAST_ROWS:
        del out["Auto"]
        left["Auto"] = f"{rows} rows are too few to hold some out and choose by them. Ask for it: --learner Auto."
    if rows > MOST_FOR_AUTO:
        del out["Auto"]
        left["Auto"] = f"it tries most other learners again on {rows:,} rows of every fold. Ask for it: --learner Auto."
    return out, left
