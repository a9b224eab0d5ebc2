"""Tuned: naive Bayes whose densities, smoothing and attribute weights are chosen on held-out rows. The search, too.

Nothing is learned twice: every setting is tried on the same sums of the parts of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from numbers import Integral
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError, shown
from likely.models.assembling import dealt, summed, translated
from likely.models.mixing import mixed
from likely.models.model import Model, Search, learnable
from likely.models.naive import NaiveBayes
from likely.models.product import Product
from likely.models.weighed import Weighed, weighed
from likely.models.weighing import alone, attribute_weights
from likely.sums.summary import Summary
from likely.table.batch import Batch, Ints
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

KINDS = ("gaussian", "binned", "kernel")
SMOOTHINGS = (1.0, 0.1, 0.5, 3.0)
"""Pseudo-counts that are tried; the first of equals is taken."""
MOST_SCORED, MOST_NUMBERS = 20_000, 1 << 24
"""Held-out rows that weights are found on at most, and numbers that their terms may take up."""


@dataclass(frozen=True)
class Tuned:
    """Naive Bayes with weights: P(class | row) is proportional to P(class) times the product of P(cell | class)**v.

    On rows that the sums do not hold (parts of the table, in turn): the pseudo-count that tells most; for each number
    the density that tells most by itself; then the weights v >= 0 of attributes with the best log score together, less
    one nat for each unit of weight. An attribute of weight 0 is left out. What was chosen is a `NaiveBayes` with
    `attribute_weights`, which `likely show --spec` writes down.

    >>> Tuned().parts
    5
    """

    parts: int = 5
    """Rows are dealt to so many parts, by seed and place in the table."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least, most in (("parts", 2, 1000), ("seed", -(2**63), 2**63)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
                within = "" if name == "seed" else f" from {least} to {most}"
                raise SettingError(f"{name} is {shown(value)}. It must be a whole number{within}.")
            object.__setattr__(self, name, int(value))

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

    learner: Tuned
    summary: Summary
    models: Mapping[int, Mapping[tuple[str, float], Product]] | None = None
    """For each part, by kind of density and pseudo-count: naive Bayes from all other rows."""

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
            rows = np.flatnonzero((part == p) & counted)
            if len(rows):
                found.append((self._terms(models, batch.take(rows)), group[rows].astype(np.intp), weight[rows]))
        return (_Kept(tuple(found)),)

    @property
    def _tried(self) -> list[tuple[str, float]]:
        """Kinds and smoothings: kinds for numbers with the usual smoothing; smoothings where there are levels."""
        kinds = [c.kind == "nominal" for c in self.summary.schema.attributes]
        out = [(KINDS[0], s) for s in (SMOOTHINGS if any(kinds) else SMOOTHINGS[:1])]
        return out + ([(k, SMOOTHINGS[0]) for k in KINDS[1:]] if not all(kinds) else [])

    def _terms(self, models: Mapping[tuple[str, float], Product], batch: Batch) -> NDArray[np.float64]:
        """(settings, attributes, rows, classes of all rows); 0 where an attribute says nothing, -inf for a class that
        the other parts do not have."""
        names = list(self.summary.columns)
        out = np.zeros((len(models), len(names), batch.rows, len(self.summary.classes)))
        for k, model in enumerate(models.values()):
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
            models[p] = {
                (kind, extra): NaiveBayes(numbers=kind, pseudo_count=extra).product(training)  # type: ignore[arg-type]
                for kind, extra in self._tried
            }
        return replace(self, models=models)

    def _chosen(self, terms: NDArray[np.float64], truth: NDArray[np.intp], weight: NDArray[np.float64]) -> Weighed:
        """`terms` is (settings, attributes, rows, classes)."""
        if not len(truth):
            return weighed(NaiveBayes().product(self.summary), {}, self.learner)
        names, tried = list(self.summary.columns), self._tried
        start = np.log(self.summary.total.floats())
        nominal = [j for j, name in enumerate(names) if self.summary.schema[name].kind == "nominal"]
        smoothing, best = 0, -np.inf
        for k, (kind, _) in enumerate(tried):
            if kind == KINDS[0] and nominal:
                # Half of the evidence: that of all attributes is counted several times, and is too sure of itself.
                value = alone(0.5 * terms[k, nominal].sum(axis=0), start, truth, weight)
                if value > best:
                    smoothing, best = k, value
        kinds: dict[str, str] = {}
        kept = np.empty(terms.shape[1:])
        usual = [k for k, (_, extra) in enumerate(tried) if extra == SMOOTHINGS[0]]
        for j, name in enumerate(names):
            if j in nominal:
                kept[j] = terms[smoothing, j]
                continue
            scores = [alone(terms[k, j], start, truth, weight) for k in usual]
            k = usual[int(np.argmax(scores))]
            kept[j] = terms[k, j]
            if tried[k][0] != KINDS[0]:
                kinds[name] = tried[k][0]
        found = attribute_weights(kept, start, truth, weight)
        chosen = NaiveBayes(numbers=kinds or "gaussian", pseudo_count=tried[smoothing][1])  # type: ignore[arg-type]
        return weighed(chosen.product(self.summary), dict(zip(names, found.tolist(), strict=True)), self.learner)


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
