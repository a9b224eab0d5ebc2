"""What a score says of a row, one share for each attribute: its own term and its part of all that several say together.

A term of several attributes is a game in which attributes become known; its Shapley value gives each the mean, over all
orders, of what the term gains when the attribute becomes known. So the shares add up to the term. Of trees and pairs it
is found directly (`TreeSum.shares`; a pair says nothing until both are known), of other terms by asking them what they
say when some cells are unknown. Knows scores and batches; no model, no words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from likely.machinery.arrays import Bools, Floats
from likely.models.shapes.block import Curve, PairTable, TreeSum
from likely.models.shapes.lines import Line, Work
from likely.models.shapes.score import Opaque, Terms
from likely.table.batch import MISSING_CODE, Batch, Codes, Texts

MOST_SUBSETS = 7
"""Of so many attributes all subsets are asked, 128 at most; of more, some orders of them."""
ROOTS = (2, 3, 5, 7)
"""For each of these an order of attributes, and the same backwards: by the fraction of (place * root), which every
language finds to the same bit."""


@dataclass(frozen=True)
class Folded:
    """What an attribute has of one term."""

    name: str
    together: tuple[str, ...]
    """The attributes that say it together with this one; empty: it says so by itself."""
    logs: Floats
    """(rows, classes)"""


def fold_lines(terms: Terms, batch: Batch) -> tuple[list[Folded], list[int]]:
    """The shares of all attributes, and which lines of the score cannot be shared: those of terms that take all values
    together (`Opaque`), and what unknown cells would say."""
    shares: list[Folded] = []
    whole: list[int] = []
    trees: dict[int, Floats] = {}
    for k, line in enumerate(terms.lines):
        logs, last = terms.array[:, 1 + k], line.parts[-1] if line.parts else None
        if last is None or isinstance(last.term, Opaque):
            whole.append(k)
            continue
        names = () if last.share is not None or isinstance(last.term, Curve) else tuple(getattr(last.term, "names", ()))
        if isinstance(last.term, PairTable):
            one, other = names
            shares += [Folded(one, (other,), logs / 2), Folded(other, (one,), logs / 2)]
        elif len(names) > 1:
            each = share_game(len(names), partial(_ask, line, batch, names, logs.shape[1]))
            # Where being missing is evidence, a term says something of a row of which nothing is known.
            each += np.where(np.isfinite(logs), logs - each.sum(axis=0), 0.0) / len(names)
            shares += [Folded(n, tuple(m for m in names if m != n), own) for n, own in zip(names, each, strict=True)]
        else:
            alone = logs
            for other, own in _said_with(line, batch, trees).items():
                shares.append(Folded(line.name, (other,), own))
                alone = alone - own
            shares.append(Folded(line.name, (), alone))
    return shares, whole


def _said_with(line: Line, batch: Batch, known: dict[int, Floats]) -> dict[str, Floats]:
    """What an attribute's line has of trees together with each other attribute."""
    out: dict[str, Floats] = {}
    for part in line.parts:
        if part.share is None or not isinstance(part.term, TreeSum):
            continue
        if id(part.term) not in known:
            known[id(part.term)] = part.term.shares_with(batch)
        for k, other in enumerate(part.term.names):
            own = known[id(part.term)][part.share, k]
            if k != part.share and own.any():
                out[other] = out.get(other, 0.0) + part.power * own
    return out


def _ask(line: Line, batch: Batch, names: Sequence[str], classes: int, known: Bools) -> Floats:
    """What a line says of each row where only some of its attributes are known, (subsets, rows, classes)."""
    asked = hide_cells(batch, names, known)
    out = np.zeros((1, asked.rows, classes))
    line.add_apart(Work(asked), out)
    return out.reshape(len(known), batch.rows, classes)


def hide_cells(batch: Batch, names: Sequence[str], known: Bools) -> Batch:
    """All rows for each line of `known`, (subsets, attributes), without the cells of those that it does not know."""
    out = batch.take(np.tile(np.arange(batch.rows), len(known)))
    for name, there in zip(names, np.repeat(known, batch.rows, axis=0).T, strict=True):
        own = out.cells[name]
        if isinstance(own, Codes):
            out.cells[name] = Codes(np.where(there, own.codes, np.int32(MISSING_CODE)), own.labels)
        elif isinstance(own, Texts):
            out.cells[name] = Texts(own.data, own.starts, np.where(there, own.ends, own.starts))
        else:
            out.cells[name] = np.where(there, own, np.nan)
    return out


def share_game(count: int, ask: Callable[[Bools], Floats]) -> Floats:
    """The Shapley value of each of so many attributes, (attributes, rows, classes); of more than MOST_SUBSETS the mean
    over some orders. `ask` says what is said where only some are known: (subsets, attributes) to (subsets, rows,
    classes). The shares add up to what is said where all are known, less what is said where none is.

    >>> share_game(2, lambda known: np.array([0.0, 1.0, 2.0, 7.0])[known @ [1, 2]].reshape(-1, 1, 1)).reshape(-1)
    array([3., 4.])
    """
    if count <= MOST_SUBSETS:
        known = (np.arange(1 << count)[:, None] >> np.arange(count) & 1).astype(np.bool_)
        sizes = known.sum(axis=1)
        steps = [(k, k | 1 << j, j) for k in range(1 << count) for j in range(count) if not known[k, j]]
        weights = [1 / (count * math.comb(count - 1, int(sizes[before]))) for before, _, _ in steps]
    else:
        order = np.argsort(np.sqrt(ROOTS)[:, None] * np.arange(1, count + 1) % 1.0, axis=1, kind="stable")
        ranks = np.argsort(np.concatenate([order, order[:, ::-1]]), axis=1)
        known = (ranks[:, None, :] < np.arange(count + 1)[:, None]).reshape(-1, count)
        at = [(k, place) for k in range(len(ranks)) for place in range(count)]
        steps = [(k * (count + 1) + p, k * (count + 1) + p + 1, int(np.flatnonzero(ranks[k] == p)[0])) for k, p in at]
        weights = [1 / len(ranks)] * len(steps)
    said = ask(known)
    out = np.zeros((count, *said.shape[1:]))
    for (before, after, j), weight in zip(steps, weights, strict=True):
        with np.errstate(invalid="ignore"):  # a class that is impossible already loses nothing more
            out[j] += weight * np.where(np.isneginf(said[before]), 0.0, said[after] - said[before])
    return out
