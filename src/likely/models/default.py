"""What learns where nobody says: one rule for every face; and the field of learners that are compared."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from likely.models.contracts import Learner, has_trait
from likely.models.naive.naive import NaiveBayes
from likely.models.registry import LEARNERS
from likely.models.settings import declared
from likely.sums.summary import Summary
from likely.sums.words.counting import Words

# What learns where nobody says: one rule for every face, and its reason as data. A face asks here and nowhere else.

LEAST_ROWS = 30
"""Of fewer rows a fifth is too few to judge anything by: naive Bayes is then taken as it is."""

Purpose = Literal["fit", "sums", "textbook", "doubt"]
"""fit: a model of rows that can be read again, whoever asks: fit, look, serve, compare, scikit-learn, Spark. sums: a
model of sums alone, as of a stream, a kept folder, a database that counts, or knowledge without rows. textbook: what
others are set against. doubt: a judge of labels."""
Reason = Literal["chosen", "few rows", "nothing to choose", "no target", "sums", "textbook", "doubt"]
"""Why it is this learner; 'chosen': Auto chooses on held-out rows."""


@dataclass(frozen=True)
class Default:
    """A learner that nobody named, and why it is this one."""

    learner: Learner
    reason: Reason


def default_learner(purpose: Purpose, summary: Summary | None = None) -> Default:
    """What learns for a purpose where no learner is named; `fit` and `doubt` go by the sums of the table.

    >>> default_learner("sums").reason
    'sums'
    """
    if purpose == "doubt":
        return _doubter(summary)
    reason = _reason(purpose, summary)
    if reason != "chosen":
        return Default(NaiveBayes(), reason)
    from likely.models.pool.auto import Auto  # with all learners that it tries: who names one does not wait for them

    return Default(Auto(), reason)


def _reason(purpose: Purpose, summary: Summary | None) -> Reason:
    if purpose != "fit" or summary is None:
        return "textbook" if purpose == "textbook" else "sums"
    if summary.schema.target is None:
        return "no target"
    if not summary.schema.attributes:
        return "nothing to choose"
    return "few rows" if summary.rows < LEAST_ROWS else "chosen"


def is_unasked(learner: Learner, summary: Summary) -> bool:
    """Whether this is the learner that `fit` takes of these sums where none is named.

    >>> import likely
    >>> is_unasked(likely.NaiveBayes(), likely.summarize({"x": ["a", "b"], "y": ["p", "q"]}, "y"))
    True
    """
    if _reason("fit", summary) == "chosen" and type(learner).__name__ != "Auto":
        return False  # told without importing Auto
    return learner == default_learner("fit", summary).learner


def chosen_learner(effort: str | None, for_: Collection[str] | str = ()) -> Learner | None:
    """The learner that chooses with this effort, for these purposes; None where neither is said.

    >>> chosen_learner("quick", "sql")
    Auto(effort='quick', for_=('sql',), members=(), parts=5, seed=0)
    """
    if effort is None and not for_:
        return None
    from likely.models.pool.auto import Auto

    usual: Any = Auto()
    return Auto(effort=effort or usual.effort, for_=for_)  # type: ignore[arg-type]


def _doubter(summary: Summary | None) -> Default:
    """Who doubts labels: plain naive Bayes is too sure of itself, but takes texts and wide tables."""
    from likely.models.naive.tuned import TunedNaiveBayes
    from likely.models.pool.candidates import MOST_TUNED

    columns = {} if summary is None else summary.columns
    small = len(columns) * len(summary.classes if summary is not None else ()) <= MOST_TUNED
    if columns and small and not any(isinstance(held, Words) for held in columns.values()):
        return Default(TunedNaiveBayes(), "doubt")
    return Default(NaiveBayes(), "doubt")


# The field: one learner of each kind with its usual settings, for comparing them side by side.

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
    out |= {name: maker() for name, maker in LEARNERS.items() if _is_comparable(maker)}
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


def _is_comparable(maker: type[Learner]) -> bool:
    """Whether a learner needs no more than its name (a mixture needs members), and learns a class."""
    return not has_trait(maker, "density") and all(default is not ... for _, default, _ in declared(maker))
