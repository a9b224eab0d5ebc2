"""What a page shows beside a first look: a learning curve and a comparison of learners, where they are quick.

Quick by the size of the table, not by the clock: else one table would have different pages on different machines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from likely.errors import LikelyError
from likely.evaluate.look import FOLDS, Look
from likely.intake.reading import ReadingOptions
from likely.models.contracts import Learner
from likely.models.default import default_learner
from likely.sums.columns.counts import Counts

if TYPE_CHECKING:
    from likely.evaluate.compare import Comparison
    from likely.evaluate.curve import Curve

SMALL = 120_000
"""Rows times classes times features squared (learners look at pairs of them), up to which learners are compared
unasked: it takes about a second."""


@dataclass(frozen=True)
class Studies:
    """A learning curve and a comparison of learners; None where the table has too few rows, or too many."""

    curve: Curve | None = None
    comparison: Comparison | None = None
    lacking: tuple[str, ...] = ()
    """Why one of them could not be made, in sentences."""


def study_further(
    record: Look,
    data: object,
    learner: Learner | None = None,
    *,
    always: bool = False,
    **reading: Unpack[ReadingOptions],
) -> Studies:
    """Read the table of a look again for what is small enough to be quick; or `always`, however large it is.

    Nothing is studied where there is nothing to predict from, where decisions have costs, or where the table was
    standard input, which is gone.
    """
    quick = not record.texts and record.rows * len(record.classes) * _features(record) ** 2 <= SMALL
    if not record.attributes or record.decisions is not None or data == "-" or not (always or quick):
        return Studies()
    from likely.evaluate.compare import compare  # with every learner, which most looks need not wait for
    from likely.evaluate.curve import curve
    from likely.models.default import field_of

    folds = FOLDS if record.dealing.dealt == "content" else record.dealing.folds
    made: Curve | None = None
    comparison: Comparison | None = None
    lacking = []
    try:
        # Unasked it must be quick: naive Bayes is learned from sums, all sizes in one sweep.
        drawn = learner if learner is not None or always else default_learner("textbook").learner
        made = curve(data, record.target, drawn, seed=record.dealing.seed, **reading)
    except LikelyError as error:  # too few rows, for the most part
        lacking.append(f"The page has no curve. {error}")
    try:
        # Unasked, Auto is left out too: it would try the others anew in every fold, and a look has judged it already.
        field = None if always else {n: one for n, one in field_of(record.rows, texts=False)[0].items() if n != "Auto"}
        comparison = compare(data, record.target, field, folds=folds, seed=record.dealing.seed, **reading)
    except LikelyError as error:
        lacking.append(f"The page has no comparison. {error}")
    return Studies(made, comparison, tuple(lacking))


def _features(record: Look) -> int:
    """A number is one feature, a nominal attribute as many as it has levels."""
    columns = {} if record.model is None else record.model.summary.columns
    levels = sum(len(held.labels) - 1 for held in columns.values() if isinstance(held, Counts))
    return 1 + len(record.attributes) + levels
