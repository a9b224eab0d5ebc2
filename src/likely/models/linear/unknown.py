"""What a linear model says where a cell is unknown.

Weights and a constant give the mean of log-odds where nothing is known, which is not the prior. Each attribute that is
unknown takes back its share of the difference, by how much it says on average; with none known the prior is left. From
the sums of columns alone. Knows terms of single attributes; no search.
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


def with_unknown(parts: Sequence[Part], constant: Floats, summary: Summary) -> tuple[Part, ...]:
    """The terms, with what each says of an unknown cell: its mean, less its share of (mean log-odds - log prior).

    Shares go by the variance of what an attribute says over the training rows. Where being missing has a weight of its
    own, since training had such cells, it keeps that.
    """
    total = summary.total.floats()
    if not parts or not (total > 0).all():
        return tuple(parts)
    log_prior = np.log(total / total.sum())
    moments = [_moments(part, summary) for part in parts]
    free = [not _has_own(part) for part in parts]
    gap = constant + sum(m if own else _absent(p) for p, (m, _), own in zip(parts, moments, free, strict=True))
    gap = gap - log_prior
    gap -= gap.mean()
    strength = np.array([s if own else 0.0 for (_, s), own in zip(moments, free, strict=True)])
    if not np.isfinite(strength).all() or not strength.sum() > 0:
        return tuple(parts)
    share = strength / strength.sum()
    return tuple(
        _replace_absent(part, mean - each * gap, summary) if own else part
        for part, (mean, _), each, own in zip(parts, moments, share, free, strict=True)
    )


def _moments(part: Slope | Curve | BinTable | LevelTable, summary: Summary) -> tuple[Floats, float]:
    """The mean of what an attribute says over the rows that have it, and its mean variance over the classes."""
    statistic = summary.columns[part.name]
    if isinstance(part, LevelTable):
        assert isinstance(statistic, Counts)
        each = statistic.table[: len(statistic.labels)].sum(1).floats()
        said = np.zeros((len(each), part.log_table.shape[1]))
        for row, name in enumerate(statistic.labels.names):
            place = part.labels.index.get(name)
            if place is not None:
                said[row] = part.log_table[place]
    else:
        assert isinstance(statistic, Numbers)
        tally = read_tally(statistic)
        each = tally.whole
        if isinstance(part, Curve):
            z = part.units[part.at].near(tally.centres)[:, None]
            said = z * (part.weights[-1] + z * part.weights[part.at])
        else:
            said = np.zeros((len(each), len(part.absent) if isinstance(part, Slope) else part.log_table.shape[1]))
            part.add_cells(tally.centres, said)
    weight = each.sum()
    if not weight > 0:
        return np.zeros(said.shape[1]), 0.0
    mean = (each[:, None] * said).sum(axis=0) / weight
    return mean, float(((each[:, None] * (said - mean) ** 2).sum(axis=0) / weight).mean())


def _has_own(part: Slope | Curve | BinTable | LevelTable) -> bool:
    """Whether a missing cell has a weight of its own."""
    return bool(_absent(part).any())


def _absent(part: Slope | Curve | BinTable | LevelTable) -> Floats:
    return part.log_table[-1] if isinstance(part, (BinTable, LevelTable)) else part.absent


def _replace_absent(part: Part, absent: Floats, summary: Summary) -> Part:
    if isinstance(part, LevelTable):
        # The level that others are measured from has no weight, and is known none the less. One that training did not
        # have is as unknown as a missing cell.
        known = [
            *part.labels.names,
            *sorted({*summary.column(part.name, Counts).labels.names} - part.labels.index.keys()),
        ]
        table = np.zeros((len(known) + 2, part.log_table.shape[1]))
        table[: len(part.labels)] = part.log_table[: len(part.labels)]
        table[-2:] = absent
        return replace(part, labels=Labels(known), log_table=table)
    if isinstance(part, BinTable):
        table = part.log_table.copy()
        table[-1] = absent
        return replace(part, log_table=table)
    return replace(part, absent=np.ascontiguousarray(absent))
