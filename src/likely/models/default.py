"""What learns where nobody says: one rule for every face, and its reason as data. A face asks here and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from likely.models.contracts import Learner
from likely.models.naive.naive import NaiveBayes
from likely.models.naive.tuned import TunedNaiveBayes
from likely.models.pool.auto import Auto
from likely.models.pool.candidates import MOST_TUNED
from likely.models.text_logistic.learner import TextLogistic
from likely.sums.summary import Summary
from likely.sums.words.words import Words

LEAST_ROWS = 100
"""Fewer rows say too little of which learner is better: naive Bayes is then taken as it is."""
MOST_ROWS = 200_000
"""More rows, and naive Bayes learns: to choose takes some seconds for each 10,000 rows."""

Purpose = Literal["fit", "sums", "look", "doubt"]
"""fit: a model of rows that can be read again. sums: a model of sums alone, as of a stream, a kept folder, a database
that counts, or knowledge without rows. look: a picture of the table. doubt: a judge of labels."""
Reason = Literal["chosen", "few rows", "many rows", "words", "nothing to choose", "no target", "sums", "look", "doubt"]
"""Why it is this learner; 'chosen': Auto chooses on held-out rows; 'words': all evidence is text."""


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
    if purpose != "fit" or summary is None:
        return Default(NaiveBayes(), "look" if purpose == "look" else "sums")
    if summary.schema.target is None:
        return Default(NaiveBayes(), "no target")
    kinds = {column.kind for column in summary.schema.attributes}
    if not kinds:
        return Default(NaiveBayes(), "nothing to choose")
    if summary.rows < LEAST_ROWS:
        return Default(NaiveBayes(), "few rows")
    if summary.rows > MOST_ROWS:
        return Default(NaiveBayes(), "many rows")
    if kinds == {"text"}:
        # It pools naive Bayes and logistic regression by held-out rows: nothing is left for Auto to choose.
        return Default(TextLogistic(), "words")
    return Default(Auto(), "chosen")


def _doubter(summary: Summary | None) -> Default:
    """Who doubts labels: plain naive Bayes is too sure of itself (decision 0068), but takes texts and wide tables."""
    columns = {} if summary is None else summary.columns
    small = len(columns) * len(summary.classes if summary is not None else ()) <= MOST_TUNED
    if columns and small and not any(isinstance(held, Words) for held in columns.values()):
        return Default(TunedNaiveBayes(), "doubt")
    return Default(NaiveBayes(), "doubt")
