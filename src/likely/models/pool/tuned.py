"""Naive Bayes whose densities, smoothing and attribute weights are chosen on held-out rows. The search, too.

Nothing is learned twice: every setting is tried on the same sums of the parts of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.models.model import Model, Search, learnable
from likely.models.naive.naive import NaiveBayes
from likely.models.naive.product import Product
from likely.models.naive.weighed import Weighed, weighed
from likely.models.pool.assembling import among, dealt, summed, translated
from likely.models.pool.hashing import mixed
from likely.models.pool.weighing import alone, attribute_weights
from likely.models.settings import Settings, setting
from likely.sums.summary import Summary
from likely.table.batch import Batch, Ints
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEVELS: tuple[dict[str, Any], ...] = (
    {},
    {"pseudo_count": 0.1},
    {"pseudo_count": 0.5},
    {"pseudo_count": 3.0},
    {"m_estimate": 1.0},
    {"m_estimate": 10.0},
)
"""Smoothings that are tried, for all nominal attributes alike. The first of equals is taken."""
NUMBERS: tuple[dict[str, Any], ...] = (
    {"numbers": "gaussian"},
    {"numbers": "gaussian", "variance_floor": 1e-2},
    {"numbers": "binned"},
    {"numbers": "binned", "bins": "frequency"},
    {"numbers": "kernel"},
    {"numbers": "kernel", "bandwidth": "likelihood"},
)
"""What the density of a number may be: floors and bandwidths are of all numbers, kinds and bins of each by itself."""
MOST_SCORED, MOST_NUMBERS = 20_000, 1 << 24
"""Held-out rows that weights are found on at most, and numbers that their terms may take up."""


@dataclass(frozen=True)
class TunedNaiveBayes(Settings):
    """Naive Bayes with weights: P(class | row) is proportional to P(class) times the product of P(cell | class)**v.

    On rows that the sums do not hold (parts of the table, in turn): the pseudo-count or m-estimate that tells most; for
    each number the density that tells most by itself, with the variance floor and the bandwidth that all numbers
    together tell most with, and its bins; then the weights v >= 0 of attributes with the best log score together, less
    one nat for each unit of weight. An attribute of weight 0 is left out. What was chosen is a `NaiveBayes` with
    `attribute_weights`, which `likely show --spec` writes down.

    >>> TunedNaiveBayes().parts
    5
    """

    parts: int = setting(
        5, "Rows are dealt to so many parts, by seed and place in the table.", at_least=2, at_most=1000, whole=True
    )
    seed: int = setting(0, "Deals the rows to the parts.", whole=True)

    def needs(self, schema: Schema) -> frozenset[str]:
        """Sums of the first order."""
        return frozenset()

    def learn(self, summary: Summary) -> Weighed | Search:
        """Begin the search; where no row can be held out, plain naive Bayes."""
        summary = learnable(summary)
        if len(summary.classes) < 2 or summary.rows < 2 * self.parts or not summary.columns:
            return weighed(NaiveBayes().product(summary), {}, self)
        return Tuning(self, summary)

    def restored(self, summary: Summary, found: Mapping[str, Any]) -> Weighed:
        """The model as a file keeps it."""
        from likely.models.learners import learner_named

        chosen = learner_named("NaiveBayes", dict(found["chosen"]))
        return weighed(
            replace(chosen, attribute_weights=None).product(learnable(summary)), chosen.attribute_weights or {}, self
        )


@dataclass(frozen=True)
class Tuning(Search):
    """Two sweeps: sums of the parts; terms of held-out rows under each setting."""

    learner: TunedNaiveBayes
    summary: Summary
    models: Mapping[int, tuple[Product, ...]] | None = None
    """For each part, by setting that is tried: naive Bayes from all other rows."""

    def look_at(self, batch: Batch, group: Ints, weight: NDArray[np.float64]) -> tuple[Any, ...]:
        """Sums of each part; then the terms of rows by models that have not seen their part."""
        batch, group = translated(self.summary, batch, group)
        # Another deal than that of a mixture which this is a candidate of: its parts would be nearly whole ones here.
        part = dealt(batch, self.learner.parts, self.learner.seed + 7919)
        if self.models is None:
            some = (batch.take(np.flatnonzero(part == p)) for p in range(self.learner.parts))
            return tuple(summed(self.summary, rows, ()) for rows in some)
        counted = (group >= 0) & (weight > 0)
        tried, classes = len(self._tried), len(self.summary.classes)
        size = max(tried * len(self.summary.columns) * classes, 1)
        most = min(MOST_SCORED, max(MOST_NUMBERS // size, 200))
        if self.summary.rows > most:
            lot = mixed(self.learner.seed + 7920, batch.start, batch.rows) >> np.uint64(11)
            counted &= lot.astype(np.float64) * 2.0**-53 < most / self.summary.rows
        found = []
        for p, models in self.models.items():
            # A class that no other part has can be told by no setting, so its rows say nothing of which is better.
            known = among(self.summary.classes, models[0].classes)[group] >= 0
            rows = np.flatnonzero((part == p) & counted & known)
            if len(rows):
                found.append((self._terms(models, batch.take(rows)), group[rows].astype(np.intp), weight[rows]))
        return (_Kept(tuple(found)),)

    @property
    def _groups(self) -> tuple[list[int], list[int]]:
        """The places of nominal attributes, and those of numbers."""
        kinds = [self.summary.schema[name].kind == "nominal" for name in self.summary.columns]
        return [j for j, k in enumerate(kinds) if k], [j for j, k in enumerate(kinds) if not k]

    @property
    def _tried(self) -> list[dict[str, Any]]:
        """Settings of levels where there are any, then those of numbers."""
        levels, numbers = self._groups
        return [*(LEVELS if levels else ()), *(NUMBERS if numbers else ())]

    def _terms(self, models: Sequence[Product], batch: Batch) -> NDArray[np.float64]:
        """(settings, attributes, rows, classes of all rows); 0 where an attribute says nothing, -inf for a class that
        the other parts do not have."""
        names = list(self.summary.columns)
        out = np.zeros((len(models), len(names), batch.rows, len(self.summary.classes)))
        for k, model in enumerate(models):
            out[k][:, :, [c not in model.classes for c in self.summary.classes]] = -np.inf
            places = [self.summary.classes.index(c) for c in model.classes]
            terms = model.terms(batch)
            for j, name in enumerate(terms.names[1:], 1):
                out[k, names.index(name)][:, places] = terms.array[:, j]
        return out

    def step(self, sums: tuple[Any, ...]) -> Model | Search:
        """The sums are there: learn; the terms are there: choose."""
        if self.models is not None:
            return self._chosen(*sums[0].arrays())
        some = [p for p, part in enumerate(sums) if part.rows]
        if len(some) < 2:
            return weighed(NaiveBayes().product(self.summary), {}, self.learner)
        models = {}
        for p in some:
            training = reduce(add, (sums[other] for other in some if other != p)).canonical()
            models[p] = tuple(self._product(training, tried) for tried in self._tried)
        return replace(self, models=models)

    def _product(self, training: Summary, tried: Mapping[str, Any]) -> Product:
        """Naive Bayes of the attributes that the settings are about."""
        of_numbers = "numbers" in tried
        columns = (
            replace(c, role="left out") if c.role == "attribute" and (c.kind == "nominal") is of_numbers else c
            for c in training.schema.columns
        )
        return NaiveBayes(**tried).product(training.with_schema(training.schema.with_columns(columns)))

    def _chosen(self, terms: NDArray[np.float64], truth: NDArray[np.intp], weight: NDArray[np.float64]) -> Weighed:
        """`terms` is (settings, attributes, rows, classes)."""
        if not len(truth):
            return weighed(NaiveBayes().product(self.summary), {}, self.learner)
        names, tried = list(self.summary.columns), self._tried
        levels, numbers = self._groups
        start = np.log(self.summary.total.floats())
        settings: dict[str, Any] = {}
        kept = np.empty(terms.shape[1:])
        if levels:
            # Half of the evidence: that of all attributes is counted several times, and is too sure of itself.
            scores = [alone(0.5 * terms[k, levels].sum(axis=0), start, truth, weight) for k in range(len(LEVELS))]
            best = int(np.argmax(scores))
            settings, kept[levels] = dict(LEVELS[best]), terms[best, levels]
        if numbers:
            first = len(tried) - len(NUMBERS)
            each = [[alone(terms[first + k, j], start, truth, weight) for j in numbers] for k in range(len(NUMBERS))]
            shared, best_of = _densities(np.array(each))
            settings |= shared
            kinds = {names[j]: NUMBERS[k]["numbers"] for j, k in zip(numbers, best_of, strict=True)}
            bins = {names[j]: NUMBERS[k]["bins"] for j, k in zip(numbers, best_of, strict=True) if "bins" in NUMBERS[k]}
            settings |= {"numbers": {n: k for n, k in kinds.items() if k != "gaussian"} or "gaussian"}
            settings |= {"bins": bins} if bins else {}
            for j, k in zip(numbers, best_of, strict=True):
                kept[j] = terms[first + k, j]
        found = attribute_weights(kept, start, truth, weight)
        chosen = NaiveBayes(**settings)
        return weighed(chosen.product(self.summary), dict(zip(names, found.tolist(), strict=True)), self.learner)


def _densities(scores: NDArray[np.float64]) -> tuple[dict[str, Any], list[int]]:
    """From the scores of NUMBERS (settings, attributes): what all numbers share, and which of them each takes."""
    shared = ("variance_floor", "bandwidth")
    options = [list(dict.fromkeys(t.get(name) for t in NUMBERS)) for name in shared]
    best, value = None, -np.inf
    for values in product(*options):
        said = dict(zip(shared, values, strict=True))
        # A setting speaks of its own kind of density only: a floor of Gaussians, a bandwidth of kernels.
        open_to = [k for k, t in enumerate(NUMBERS) if all(t.get(n) == said[n] for n in _SHARED[t["numbers"]])]
        total = float(scores[open_to].max(axis=0).sum())
        if best is None or total > value:
            best, value = (said, open_to), total
    assert best is not None
    said, open_to = best
    chosen = [open_to[k] for k in scores[open_to].argmax(axis=0).tolist()]
    used = {NUMBERS[k]["numbers"] for k in chosen}
    kept = {n: v for n, v in said.items() if v is not None and any(n in _SHARED[kind] for kind in used)}
    return kept, chosen


_SHARED = {"gaussian": ("variance_floor",), "binned": (), "kernel": ("bandwidth",)}


class _Kept:
    """Terms of rows with their classes and weights: they are kept, not added up."""

    def __init__(self, chunks: tuple[tuple[Any, Any, Any], ...]) -> None:
        self._chunks = chunks

    def __add__(self, other: _Kept) -> _Kept:
        return _Kept(self._chunks + other._chunks)

    def arrays(self) -> tuple[Any, Any, Any]:
        if not self._chunks:
            return np.empty((0, 0, 0, 0)), np.empty(0, np.intp), np.empty(0)
        terms, truth, weight = zip(*self._chunks, strict=True)
        return np.concatenate(terms, axis=2), np.concatenate(truth), np.concatenate(weight)
