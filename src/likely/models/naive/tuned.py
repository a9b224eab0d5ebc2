"""Naive Bayes whose densities, smoothing and attribute weights are chosen on held-out rows. The search, too.

Nothing is learned twice: every setting is tried on the same sums of the parts of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Floats, Ints
from likely.models.contracts import Learner, Learning, Model
from likely.models.factors.bins import value_ranges
from likely.models.heldout.search import HeldOutParts, keep_rows
from likely.models.heldout.weighing import FARTHEST, evidence_weights, score_alone, tell_apart
from likely.models.learning import looks_at_rows
from likely.models.model import learnable
from likely.models.naive.naive import NaiveBayes
from likely.models.naive.product import weight_product
from likely.models.settings import Settings, parts_setting, setting
from likely.models.shapes import bound, log_posterior
from likely.sums import state
from likely.sums.contracts import State
from likely.sums.state import require
from likely.sums.summary import Summary
from likely.table.batch import Batch
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
LEAST_SCORED = 200
"""Held-out rows that are scored, however many settings, attributes and classes there are."""


def check_densities(given: object) -> tuple[str, ...]:
    """Kinds of densities, each once, in the order in which they are tried."""
    known = list(dict.fromkeys(t["numbers"] for t in NUMBERS))
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, (list, tuple)) or not several or not {*several} <= {*known}:
        raise SettingError(f"densities is {shown(given)}. Give one or more of {', '.join(known)}.")
    return tuple(kind for kind in known if kind in several)


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

    parts: int = parts_setting()
    seed: int = setting(0, "Seed for assigning rows to parts.", whole=True)
    densities: tuple[str, ...] = setting(
        ("gaussian", "binned", "kernel"),
        "Kinds of densities of numbers that are tried.",
        convert=check_densities,
    )

    def needs(self, schema: Schema) -> frozenset[str]:
        """Sums of the first order."""
        return frozenset()

    @looks_at_rows
    def learn(self, summary: Summary) -> Learning[Model]:
        """The best settings and weights on held-out rows; where no row can be held out, plain naive Bayes."""
        summary = learnable(summary)
        # By weight, as a row of weight 2 is the row twice (scikit-learn's check of sample weights).
        if len(summary.classes) < 2 or float(summary.total.floats().sum()) < 2 * self.parts or not summary.columns:
            return weight_product(NaiveBayes().product(summary), {}, self)
        # Another deal than that of a mixture which this is a candidate of: its parts would be nearly whole ones here.
        rows = yield from keep_rows(summary, self.parts, self.seed + 7919)
        chosen, weights = _tune(self, summary, HeldOutParts.of(summary, rows))
        return weight_product(chosen.product(summary), weights, self)

    def hold_out(self, parts: HeldOutParts, places: NDArray[np.intp]) -> tuple[Floats, Learner]:
        """What is said of held-out rows, bounded as in a pool, each part by settings and weights of the other parts: so
        every setting is learned once for each part, not once for each part of each part."""
        order = np.argsort(parts.rows.part[places], kind="stable")
        summary, part = learnable(parts.total), parts.rows.part[places][order]
        said = np.zeros((len(places), len(summary.classes)))
        tried = _try_settings(self, summary, parts, places[order], bounded=True) if summary.columns else None
        if tried is None:
            return said, self
        log_total = math.log(float(summary.total.floats().sum()))
        for own in np.unique(part):
            others = np.flatnonzero(part != own)
            _, weights, kept = tried.choose(others if len(others) else None)
            mine, active = np.flatnonzero(part == own), np.flatnonzero(weights)
            joint = tried.start + np.einsum("a,arc->rc", weights[active], kept[active][:, mine])
            # Of a class that the other parts do not have nothing is said.
            there = np.isin(summary.classes, parts.training[int(own)].classes)
            said[order[mine]] = np.where(there, log_posterior(joint) - tried.start + log_total, 0.0)
        return said, self

    def restore(self, summary: Summary, found: State) -> Model:
        """The model as a file keeps it."""
        chosen = replace(state.built(NaiveBayes, dict(found["chosen"])))
        summary, weights = learnable(summary), chosen.attribute_weights or {}
        require(weights.keys() <= summary.columns.keys(), "attribute weights are those of attributes")
        return weight_product(replace(chosen, attribute_weights=None).product(summary), weights, self)


@dataclass(frozen=True)
class _Candidate:
    """Naive Bayes of the attributes that some settings are about: those of levels, or those of numbers."""

    settings: Mapping[str, Any]

    def needs(self, schema: Schema) -> frozenset[str]:
        return frozenset()

    def learn(self, summary: Summary) -> Model:
        of_numbers, summary = "numbers" in self.settings, summary.without_text()
        columns = (
            replace(c, role="left out") if c.role == "attribute" and (c.kind == "nominal") is of_numbers else c
            for c in summary.schema.columns
        )
        return NaiveBayes(**self.settings).product(summary.with_schema(summary.schema.with_columns(columns)))


@dataclass(frozen=True, eq=False)
class _Tried:
    """What every setting says of held-out rows, (settings, attributes, rows, classes), and of which class they are."""

    names: list[str]
    levels: list[int]
    numbers: list[int]
    densities: list[dict[str, Any]]
    scores: Floats
    start: Floats
    truth: NDArray[np.intp]
    weight: Floats

    def choose(self, rows: NDArray[Any] | None = None) -> tuple[dict[str, Any], Floats, Floats]:
        """The settings that tell most of these rows (None: all) by themselves, then the weights that tell most
        together; and what is said of all rows under these settings, (attributes, rows, classes)."""
        some: Any = slice(None) if rows is None else rows
        scores, truth, weight = self.scores[:, :, some], self.truth[some], self.weight[some]
        settings: dict[str, Any] = {}
        kept = np.empty(self.scores.shape[1:])
        if self.levels:
            # Half of the evidence: that of all attributes is counted several times, and is too sure of itself.
            each = [
                score_alone(0.5 * scores[k, self.levels].sum(axis=0), self.start, truth, weight)
                for k in range(len(LEVELS))
            ]
            best = int(np.argmax(each))
            settings, kept[self.levels] = dict(LEVELS[best]), self.scores[best, self.levels]
        if self.numbers:
            first = len(scores) - len(self.densities)
            table = [
                [score_alone(scores[first + k, j], self.start, truth, weight) for j in self.numbers]
                for k in range(len(self.densities))
            ]
            shared, best_of = _densities(np.array(table), self.densities)
            chosen = {j: self.densities[k] for j, k in zip(self.numbers, best_of, strict=True)}
            settings |= shared
            kinds = {self.names[j]: one["numbers"] for j, one in chosen.items() if one["numbers"] != "gaussian"}
            bins = {self.names[j]: one["bins"] for j, one in chosen.items() if "bins" in one}
            settings |= {"numbers": kinds or "gaussian"} | ({"bins": bins} if bins else {})
            for j, k in zip(self.numbers, best_of, strict=True):
                kept[j] = self.scores[first + k, j]
        return settings, evidence_weights(tell_apart(kept[:, some], FARTHEST), self.start, truth, weight), kept


def _try_settings(
    learner: TunedNaiveBayes, summary: Summary, parts: HeldOutParts, places: NDArray[np.intp] | None, bounded: bool
) -> _Tried | None:
    """Every setting on held-out rows, those at `places` (part after part; None: a sample); None where there are
    none."""
    names, (levels, numbers) = list(summary.columns), _places_by_kind(summary)
    densities = _tried(learner) if numbers else []
    candidates = [_Candidate(settings) for settings in (*(LEVELS if levels else ()), *densities)]
    if places is None:  # a term for each setting, attribute and class
        places = parts.sample(len(candidates) * len(names) * len(summary.classes), LEAST_SCORED)
    if not len(places):
        return None

    def terms_of(model: Model, batch: Batch, truth: Ints) -> Floats:
        if bounded:
            model = replace(model, score=bound(model.score, value_ranges(model.summary)))
        return _scored_terms(model, batch, names, summary.classes)

    scores = parts.scores(candidates, places, terms_of, lambda h: SettingError("its scores are not probabilities."))
    truth, weight = parts.rows.group[places].astype(np.intp), parts.rows.weight[places]
    return _Tried(names, levels, numbers, densities, scores, np.log(summary.total.floats()), truth, weight)


def _tune(learner: TunedNaiveBayes, summary: Summary, parts: HeldOutParts) -> tuple[NaiveBayes, dict[str, float]]:
    """The settings and weights that tell most; plain naive Bayes where no row could be held out."""
    tried = _try_settings(learner, summary, parts, None, bounded=False)
    if tried is None:
        return NaiveBayes(), {}
    settings, weights, _ = tried.choose()
    return NaiveBayes(**settings), dict(zip(tried.names, weights.tolist(), strict=True))


def _scored_terms(model: Model, batch: Batch, names: Sequence[str], classes: tuple[str, ...]) -> Floats:
    """(attributes, rows, classes of all rows); 0 where an attribute says nothing, -inf for a class that the other parts
    do not have."""
    out = np.zeros((len(names), batch.rows, len(classes)))
    out[:, :, [c not in model.classes for c in classes]] = -np.inf
    places, terms = [classes.index(c) for c in model.classes], model.terms(batch)
    for j, name in enumerate(terms.names[1:], 1):
        out[names.index(name)][:, places] = terms.array[:, j]
    return out


def _places_by_kind(summary: Summary) -> tuple[list[int], list[int]]:
    """The places of nominal attributes, and those of numbers."""
    kinds = [summary.schema[name].kind == "nominal" for name in summary.columns]
    return [j for j, k in enumerate(kinds) if k], [j for j, k in enumerate(kinds) if not k]


def _tried(learner: TunedNaiveBayes) -> list[dict[str, Any]]:
    """What the density of a number may be."""
    return [settings for settings in NUMBERS if settings["numbers"] in learner.densities]


def _densities(scores: NDArray[np.float64], tried: list[dict[str, Any]]) -> tuple[dict[str, Any], list[int]]:
    """From the scores of what was tried (settings, attributes): what numbers share, and which of them each takes."""
    shared = ("variance_floor", "bandwidth")
    options = [list(dict.fromkeys(t.get(name) for t in tried)) for name in shared]
    best, value = None, -np.inf
    for values in product(*options):
        said = dict(zip(shared, values, strict=True))
        # A setting speaks of its own kind of density only: a floor of Gaussians, a bandwidth of kernels.
        open_to = [k for k, t in enumerate(tried) if all(t.get(n) == said[n] for n in _SHARED[t["numbers"]])]
        total = float(scores[open_to].max(axis=0).sum())
        if best is None or total > value:
            best, value = (said, open_to), total
    assert best is not None
    said, open_to = best
    chosen = [open_to[k] for k in scores[open_to].argmax(axis=0).tolist()]
    used = {tried[k]["numbers"] for k in chosen}
    kept = {n: v for n, v in said.items() if v is not None and any(n in _SHARED[kind] for kind in used)}
    return kept, chosen


_SHARED = {"gaussian": ("variance_floor",), "binned": (), "kernel": ("bandwidth",)}
