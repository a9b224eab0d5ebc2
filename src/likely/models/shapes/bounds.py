"""A score that says no more far outside of what training had than at its edge: that of a member in a pool.

One outlying row may be hundreds of nats to a normal density, and so decide what a pool of several members believes. An
answer far outside of what a member has seen is its silence, not its certainty. Knows scores and terms; learners by
themselves are never bounded (docs/decisions/0162).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from likely.machinery.arrays import Floats
from likely.models.shapes.block import Tree
from likely.models.shapes.column import BinTable, Density, LevelTable, Slope
from likely.models.shapes.joint import Block, JointTable, MultivariateNormal
from likely.models.shapes.score import Mixture, Normalised, Score, Shifted, Sum

NATS = 25.0
"""A density falls no more than so many nats below the lowest peak of any class. 10, 25 and 50 were measured and make no
difference to each other; what costs is having none."""
TRACE = Fraction(1, 10**11)
"""What a combination of levels counts at least in a joint table without pseudo-counts, in rows: exp(-25) of one."""

Ranges: TypeAlias = Mapping[str, tuple[float, float]]
"""The least and the greatest value that each number had in training."""


def bound(score: Score, ranges: Ranges) -> Score:
    """The same score, in which no term says more than at the edge of what training had; itself, where none could.

    A density of one number falls no more than NATS below the lowest peak of any class, one of several numbers a little
    more (`_bound_normal`): the level is the same for all classes, so that far away none is ahead. A line counts |z| as
    no more than the largest in training. What tables call impossible lies NATS below the best class.
    """
    match score:
        case Sum(terms=terms):
            bounded = tuple(bound_term(term, ranges) for term in terms)
            same = all(new is old for new, old in zip(bounded, terms, strict=True))
            return score if same else replace(score, terms=bounded)
        case Normalised(inner) | Shifted(inner, _):
            within = bound(inner, ranges)
            return score if within is inner else replace(score, inner=within)
        case Mixture(members=members):
            each = tuple(replace(member, inner=bound(member.inner, ranges)) for member in members)
            same = all(new.inner is old.inner for new, old in zip(each, members, strict=True))
            return score if same else replace(score, members=each)
    return score


def bound_term(term: Any, ranges: Ranges) -> Any:
    """A term of a sum, bounded; itself, where what was counted bounds it already."""
    match term:
        case Density():
            return term.bounded(NATS)
        case Slope() if term.name in ranges:
            return replace(term, reach=float(np.abs(term.standard.z(np.array(ranges[term.name]))).max()))
        case MultivariateNormal():
            return _bound_normal(term, ranges)
        case Block(joint=MultivariateNormal() as normal):
            return replace(term, normal=_bound_normal(normal, ranges))  # type: ignore[call-arg]
        case Block(joint=JointTable() as table) if not table.extra:
            return replace(term, table=bound_term(table, ranges))  # type: ignore[call-arg]
        case JointTable() if not term.extra:
            return replace(term, extra=TRACE, _parts={})
        case Tree() if any((table == 0).any() for table in term.tables):
            return replace(term, tables=tuple(np.where(table == 0, math.exp(-NATS), table) for table in term.tables))
        case LevelTable() if np.isneginf(term.log_table).any():
            return LevelTable(term.name, term.labels, soften(term.log_table))
        case BinTable() if np.isneginf(term.log_table).any():
            return BinTable(term.name, term.starts, soften(term.log_table))
    return term


def _bound_normal(normal: MultivariateNormal, ranges: Ranges) -> MultivariateNormal:
    """Where classes share a covariance, what tells them apart is a line in each number: it ends where training did.

    Else the density has a limit, the more numbers the lower, as half the squared distance of a row of p numbers from
    the mean of its own class is p / 2 on average: with a chance of exp(-NATS) at most it exceeds
    p / 2 + sqrt(p * NATS) + NATS (Laurent and Massart 2000).
    """
    if not normal.pooled:
        size = len(normal.names)
        return replace(normal, most=size / 2 + math.sqrt(size * NATS) + NATS)
    everywhere = (-sys.float_info.max, sys.float_info.max)
    return replace(normal, ends=np.array([ranges.get(name, everywhere) for name in normal.names]).T)


def soften(logs: Floats) -> Floats:
    """Logs, (…, classes), in which impossible lies NATS below the best class; nothing where all are impossible.

    >>> soften(np.array([[-1.0, -np.inf], [-np.inf, -np.inf]])).tolist()
    [[-1.0, -26.0], [0.0, 0.0]]
    """
    top = logs.max(axis=-1, keepdims=True)
    return np.where(np.isneginf(top), 0.0, np.where(np.isneginf(logs), top - NATS, logs))
