"""Forest: evidence of extremely randomised trees, averaged. Settings, what nodes say, and the state of a file.

Rows are seen once, as codes of one byte a cell; trees are grown in random_trees.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats, distinct
from likely.models.additive.anova import TreeSet
from likely.models.additive.coding import MOST_CODES, CodedRows, Coding, code_rows, coding_of
from likely.models.additive.model import read_trees, trees_state
from likely.models.additive.random_trees import grow_trees
from likely.models.contracts import Learning, Model, Sweep
from likely.models.fractions import log_of
from likely.models.learning import looks_at_rows
from likely.models.model import learnable
from likely.models.prior import prior_quotients
from likely.models.settings import Settings, setting
from likely.models.shapes import Sum, TreeSum
from likely.sums.contracts import State
from likely.sums.state import require
from likely.sums.summary import Summary
from likely.table.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

DECIMALS = 6
"""Digits after the point of what a node says, in nats: more than of other terms, because each tree says little."""
LARGEST = 1e300
"""The m-estimate in units of weights is at most this: rows that weigh next to nothing then say nothing."""
NAME = "all attributes together"
"""What the term is called where it is not told attribute by attribute."""


@dataclass(frozen=True)
class Forest(Settings):
    """log P(class | row) = log P(class) + mean over trees of log((n_c + m P(c)) / (n + m)) - log P(c), less what
    normalises it; n_c is what the rows of class c weigh in the leaf that the row falls into, n what all do.

    Trees are extremely randomised (Geurts and others 2006): a leaf is parted by the best of a few cuts, each drawn at
    random, and the leaf that gains most comes first. Where a cell is unknown, a tree says what it knows there: the same
    formula for the rows of that node. So nothing known adds 0. What each cut changes belongs to its attribute, and an
    answer is told attribute by attribute. Chance comes from hashes, and weights are summed exactly: no order of rows,
    batches or threads changes a bit.

    An unseen level is unknown; a training row without a value goes to a side by lot. A class without rows keeps the
    prior 0. An attribute that never varies takes no part.

    >>> Forest(trees=30).leaves
    256
    """

    trees: int = setting(100, "Trees.", at_least=1, at_most=1_000, whole=True)
    leaves: int = setting(256, "Leaves of a tree at most.", at_least=2, at_most=256, whole=True)
    m_estimate: float = setting(
        0.03, "Rows that every leaf has besides its own, in classes as all rows have them (m-estimate).", above=0
    )
    bins: int = setting(MOST_CODES, "Bins of a number at most.", at_least=2, at_most=MOST_CODES, whole=True)
    seed: int = setting(0, "Seed of the lots by which attributes and cuts are drawn.", whole=True)
    most_rows: int = setting(
        100_000,
        "Different rows that are learned from at most: of more, those with the smallest hashes of their content.",
        at_least=100,
        whole=True,
    )

    def needs(self, schema: Schema) -> frozenset[str]:
        """Nothing beyond the first order: levels, and tallies of numbers, which say where to cut."""
        return frozenset()

    @looks_at_rows
    def learn(self, summary: Summary) -> Learning[Model]:
        """The model of rows as codes, seen once; with a single class or no attribute there is nothing to look for."""
        summary = learnable(summary)
        coding = coding_of(summary, self.bins, missing=False)
        if int((summary.total.floats() > 0).sum()) < 2 or not coding.axes:
            return _model(self, coding, None)
        (parts,) = yield Sweep(code_rows, (coding, self.most_rows))
        return self._model_of(coding, parts.joined())

    def restore(self, summary: Summary, found: State) -> Model:
        """The model as a file keeps it."""
        summary = learnable(summary)
        coding = coding_of(summary, self.bins, missing=False)
        if not found:
            return _model(self, coding, None)
        trees = read_trees(found, len(coding.axes), len(summary.classes))
        require(not trees.values[trees.roots].any(), "roots of a forest say nothing")
        return _model(self, coding, trees)

    def _model_of(self, coding: Coding, rows: CodedRows) -> Model:
        """Grow the trees, and say what each of their nodes says."""
        classes, ordered = len(coding.summary.classes), np.array(coding.ordered, np.bool_)
        grown = grow_trees(rows, coding.sizes, ordered, classes, self.trees, self.leaves, self.seed)
        more = min(float(np.ldexp(self.m_estimate, grown.digits)), LARGEST)
        values = node_evidence(grown.weights, more) / self.trees
        trees = TreeSet(grown.roots, grown.axis, grown.below, grown.left, np.round(values, DECIMALS) + 0.0)
        notes = []
        if rows.dropped:
            notes.append(
                f"Learned from {len(rows):,} of the different rows: those with the smallest hashes of their content "
                "(most_rows)."
            )
        return _model(self, coding, trees, notes)


def node_evidence(weights: Floats, m: float) -> Floats:
    """log((n_c + m P(c)) / (n + m)) - log P(c) of each node, (nodes, classes); P(c) is the share in the first, a root.

    Weights and m are in the same unit. A class that no row has says nothing. Of two classes each gets half of the
    difference, with opposite signs: exports then need one number only.

    >>> node_evidence(np.array([[2.0, 2.0], [2.0, 0.0]]), 1.0)[1].round(4).tolist()
    [0.8047, -0.8047]
    """
    share = weights[0] / max(weights[0].sum(), 1.0)  # a whole number of units, or none
    top = (weights + m * share) / (weights.sum(axis=1, keepdims=True) + m)
    out = np.log(np.where(share > 0, top, 1.0)) - np.log(np.where(share > 0, share, 1.0))
    if out.shape[1] == 2:
        half = (out[:, 1] - out[:, 0]) / 2
        out = np.stack([-half, half], axis=1)
    return out


def _model(learner: Forest, coding: Coding, trees: TreeSet | None, notes: Sequence[str] = ()) -> Model:
    """log P(class) + what the trees say; nothing where there are none. It says nothing of how rows come about."""
    prior = prior_quotients(coding.summary, "observed", 0.0)
    log_prior = log_of(prior)
    used = [] if trees is None else distinct(trees.axis[trees.axis >= 0]).tolist()
    return Model(
        learner=learner,
        summary=coding.summary,
        score=Sum(log_prior, () if trees is None or not used else (_term(coding, trees, used),)),
        prior=prior,
        log_prior=log_prior,
        notes=tuple(notes),
        state={} if trees is None else trees_state(trees),
    )


def _term(coding: Coding, trees: TreeSet, used: Sequence[int]) -> TreeSum:
    """The trees over the attributes that occur, told attribute by attribute."""
    name = NAME
    while name in coding.summary.schema.names:
        name += " "
    places = np.full(len(coding.axes) + 1, -1, np.int32)  # the last place serves leaves, whose axis is -1
    places[used] = np.arange(len(used))
    axes = tuple(coding.axes[j] for j in used)
    return TreeSum(name, axes, trees.roots, places[trees.axis], trees.below, trees.left, trees.values)
