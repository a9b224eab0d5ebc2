"""Terms of logistic regression measured from the prior: what a value says against not knowing it.

A regression's constant is the log-odds of a row whose columns are all 0, which is no prior, and its columns have no
place for a cell that is not known. Each term is shifted by an offset, so that an unknown cell adds exactly 0, with
nothing known the prior is left, and a complete row has the probabilities that the regression gives it. From the sums of
columns alone. Knows terms of single attributes; no search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from likely.machinery.arrays import Floats
from likely.models.factors.value_tally import read_tally
from likely.models.shapes import BinTable, Curve, LevelTable, Slope
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.table.labels import Labels

if TYPE_CHECKING:
    Part = TypeVar("Part", bound=Slope | Curve | BinTable | LevelTable)


def measure_from_prior(
    parts: Sequence[Part], constant: Floats, log_prior: Floats, summary: Summary, missing_is_evidence: bool
) -> tuple[Part, ...]:
    """The terms, each less an offset, so that log prior + their sum is constant + the sum of those that were given.

    The offset of a term is its mean over the training rows, less its share of (constant + all means - log prior): the
    mean of log-odds is not the log-odds of the mean. Shares go by the variance of what a term says; they are equal
    where no term says different things of different rows. (Up to what is the same for all classes, and rounding.)
    """
    if not parts:
        return ()
    complete = [_with_all_levels(part, summary) for part in parts]
    told = [_training_values(part, summary, len(constant), missing_is_evidence) for part in complete]
    means = [(share[:, None] * said).sum(axis=0) for said, share in told]
    gap = constant + np.sum(means, axis=0) - log_prior
    gap = gap - gap.mean()
    apart = [said - mean for (said, _), mean in zip(told, means, strict=True)]
    largest = max((float(np.abs(off).max(initial=0.0)) for off in apart), default=0.0)
    unit = largest if largest > 0 else 1.0  # squares of it overflow where weights are huge, and vanish where tiny
    strength = [float((share[:, None] * (off / unit) ** 2).sum()) for off, (_, share) in zip(apart, told, strict=True)]
    whole = sum(strength)
    by = [own / whole if whole > 0 else 1 / len(parts) for own in strength]
    return tuple(
        _shifted(part, mean - each * gap, missing_is_evidence and _had_missing(part, summary))
        for part, mean, each in zip(complete, means, by, strict=True)
    )


def _with_all_levels(part: Part, summary: Summary) -> Part:
    """With a row for every level of training: the one that others are measured from has no weight, but is known."""
    if not isinstance(part, LevelTable):
        return part
    own = part.labels
    names = [*own.names, *sorted({*summary.column(part.name, Counts).labels.names} - own.index.keys())]
    table = np.zeros((len(names) + 2, part.log_table.shape[1]))
    table[: len(own)] = part.log_table[: len(own)]
    return replace(part, labels=Labels(names), log_table=table)


def _had_missing(part: Slope | Curve | BinTable | LevelTable, summary: Summary) -> bool:
    """Whether a missing cell has a weight of its own, since training had such cells. Levels never have one."""
    statistic = summary.columns[part.name]
    return isinstance(statistic, Numbers) and not statistic.other.is_zero().all()


def _training_values(
    part: Slope | Curve | BinTable | LevelTable, summary: Summary, classes: int, missing_is_evidence: bool
) -> tuple[Floats, Floats]:
    """What an attribute says of each value of training, (values, classes), and the share of rows that have it.

    A missing cell is one more value where it is evidence; else rows without a value have no share. Products of two
    numbers are left aside: how often values meet is not kept.
    """
    if isinstance(part, LevelTable):
        counts = summary.column(part.name, Counts)
        weight = counts.table[: len(counts.labels)].sum(1).floats()
        said = part.log_table[[part.labels.index[name] for name in counts.labels.names]]
    else:
        numbers = summary.column(part.name, Numbers)
        tally = read_tally(numbers)
        gone = numbers.other.sum(1).floats().sum() if missing_is_evidence else 0.0
        weight = np.append(tally.whole, gone)
        cells = np.append(tally.centres, np.nan)
        said = np.zeros((len(cells), classes))
        part.add_cells(cells, said)
    whole = weight.sum()
    return said, weight / whole if whole > 0 else weight


def _shifted(part: Part, offset: Floats, missing_is_evidence: bool) -> Part:
    """The term less an offset; exactly 0 where a cell is unknown."""
    nothing = np.zeros_like(offset)
    if isinstance(part, (LevelTable, BinTable)):
        table = part.log_table - offset
        table[-2 if isinstance(part, LevelTable) else -1 :] = nothing
        if missing_is_evidence:
            table[-1] = part.log_table[-1] - offset
        return replace(part, log_table=table)
    absent = part.absent - offset if missing_is_evidence else nothing
    return replace(part, known=part.known - offset, absent=absent)
