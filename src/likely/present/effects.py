"""What the terms of one or two attributes say, in bits, in few enough steps to be read. Reads shapes and sums; no rows.

Steps of a curve that say nearly the same are put together (Ward's method: those whose joining changes least), each
with the mean of what its parts say, by their weight in training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate.attributes.information import missing_logs, value_logs
from likely.machinery.arrays import Floats
from likely.machinery.words import clean, moment, number
from likely.models.contracts import Model
from likely.models.heldout.importance import evidence_range
from likely.models.shapes import BinTable, LevelTable, TreeSum, bin_names, bin_of, sum_of
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.table.labels import date_label

if TYPE_CHECKING:
    from numpy.typing import NDArray


EVEN = 32
"""Steps of a curve that changes gradually, of equal weight."""
MOST_ASKED = 24
"""Steps of each of two attributes that a model is asked about."""


@dataclass(frozen=True)
class Effect:
    """What one attribute says by itself: a step for each bin or level, in order."""

    name: str
    labels: tuple[str, ...]
    edges: Floats | None
    """The least number of each bin but the first; None for levels."""
    weight: Floats
    logs: Floats
    """(steps, classes)"""
    missing: Floats | None
    """What a missing cell says, where that is evidence."""
    call: Callable[[Floats], list[str]]
    """What bins with these edges are called."""
    levels: tuple[str, ...] = ()
    """The levels as they are spelled."""

    @property
    def word(self) -> str:
        """What a step is."""
        return "level" if self.edges is None else "bin"


@dataclass(frozen=True)
class EffectGrid:
    """What two attributes say together, beyond what each says by itself."""

    names: tuple[str, str]
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    weights: tuple[Floats, Floats]
    logs: Floats
    """(steps of the first, steps of the second, classes)"""


def prior_of(model: Model) -> Floats:
    """P(class), as the model has it or as the rows have it."""
    if model.log_prior is not None:
        return np.asarray(np.exp(model.log_prior))
    weights = model.summary.total.floats()
    return weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / len(weights))


def evidence(chances: Floats, prior: Floats) -> Floats:
    """Bits that each level speaks for each class against the others together, (levels, classes)."""
    rest = (chances * prior).sum(axis=-1, keepdims=True) - chances * prior
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.log2(chances) - np.log2(rest / (1 - prior))
    return np.asarray(np.where(np.isnan(out), 0.0, out))


def evidence_bits(logs: Floats, prior: Floats) -> Floats:
    """The same for terms, which are logs up to a constant."""
    return evidence(np.exp(logs - logs.max(axis=-1, keepdims=True)), prior)


def find_effects(model: Model) -> dict[str, Effect]:
    """What each attribute says by itself, where the model is a sum of terms and says how strong they are."""
    by_name: dict[str, list[tuple[object, float]]] = {}
    for term, power in _terms(model):
        names = term.names if isinstance(term, TreeSum) else (getattr(term, "name", ""),)
        for name in names:
            by_name.setdefault(name, []).append((term, power))
    empty = {
        name: _steps(model, name, [t for t, _ in by_name[name]]) for name in by_name if name in model.summary.columns
    }
    effects = {name: effect for name, effect in empty.items() if effect is not None}
    alone = {n for n, effect in effects.items() if len(by_name[n]) == 1 and _own_logs(by_name[n][0][0]) is not None}
    asked = value_logs(model, {n: _points(model, e) for n, e in effects.items() if n not in alone})
    absent = missing_logs(model)
    for name, effect in effects.items():
        logs = asked.get(name)
        if logs is None:
            (term, power), *_ = by_name[name]
            own = _own_logs(term)
            assert own is not None
            logs = power * own
        unknown = absent.get(name)
        missing = unknown if unknown is not None and unknown.any() else None
        effects[name] = replace(effect, logs=logs, missing=missing)
    return effects


def _own_logs(term: object) -> Floats | None:
    """What a table says at each step; None for terms of another kind, which must be asked."""
    if isinstance(term, BinTable):
        return term.log_table[: len(term.starts) + 1]  # behind the bins: missing cells, or levels never seen as well
    return term.log_table[:-2] if isinstance(term, LevelTable) else None


def _steps(model: Model, name: str, terms: Sequence[object]) -> Effect | None:
    """The steps at which the evidence of an attribute is told, still without it: wherever a term of it changes, and
    at values that part the rows evenly where one changes gradually (a line, a density)."""
    statistic, nothing = model.summary.columns[name], np.zeros((0, len(model.classes)))
    if isinstance(statistic, Counts):
        named = next((t.labels.names for t in terms if isinstance(t, LevelTable)), model.levels(name))
        labels = tuple(clean(level, 40) for level in named)
        return Effect(name, labels, None, _level_weights(statistic, named), nothing, None, _uncut, tuple(named))
    if not isinstance(statistic, Numbers):
        return None
    axes = [axis for t in terms if isinstance(t, TreeSum) for axis in t.axes if axis.name == name]
    cuts = [t.starts for t in terms if isinstance(t, BinTable)]
    cuts += [axis.edges for axis in axes if axis.edges is not None]
    if not all(isinstance(t, (BinTable, TreeSum)) for t in terms):
        seen, tally = statistic.tally()
        below = np.cumsum(tally.sum(1).floats()) if len(seen) else np.zeros(0)
        parts = np.searchsorted(below, below[-1] * np.arange(1, EVEN) / EVEN) if len(seen) else np.zeros(0, np.intp)
        cuts.append(seen[np.minimum(np.unique(parts) + 1, len(seen) - 1)] if len(seen) > 1 else np.zeros(0))
    starts, call = np.unique(np.concatenate(cuts)) if cuts else np.zeros(0), bin_caller(model, name)
    return Effect(name, tuple(call(starts)), starts, _bin_weights(statistic, starts), nothing, None, call)


def _points(model: Model, effect: Effect) -> list[object]:
    """A value for each step, at which the model is asked: a level, or the middle one of the rows that a bin has."""
    if effect.edges is None:
        return list(effect.levels)
    seen, tally = model.summary.column(effect.name, Numbers).tally()
    below, where = np.cumsum(tally.sum(1).floats()), bin_of(effect.edges, seen)
    points: list[float] = []
    for k in range(len(effect.labels)):
        own = np.flatnonzero(where == k)
        # A bin without rows is asked at its beginning; the first has none.
        first = (
            0.0
            if not len(effect.edges)
            else float(effect.edges[k - 1] if k else np.nextafter(effect.edges[0], -np.inf))
        )
        if len(own):
            middle = (below[own[0]] + below[own[-1]]) / 2
            first = float(seen[own[min(int(np.searchsorted(below[own], middle)), len(own) - 1)]])
        points.append(first)
    return [date_label(p) for p in points] if model.schema[effect.name].kind == "date" else list(points)


def mean_range(logs: Floats, weight: Floats, whole: float | None = None) -> float:
    """How far values move the odds of the two classes that they move most, in nats: the mean over rows by `weight`, of
    which there are `whole` (others move nothing)."""
    total = weight.sum() if whole is None else whole
    if not len(logs) or not total > 0:
        return 0.0
    return float(evidence_range(logs) @ weight / total)


def strength_of(model: Model, effect: Effect) -> float:
    """How strong the evidence of an attribute is by itself, in nats, the mean over rows of training."""
    whole, known = float(model.summary.total.floats().sum()), float(effect.weight.sum())
    missing = 0.0 if effect.missing is None else float(np.ptp(effect.missing)) * max(whole - known, 0.0) / whole
    return mean_range(effect.logs, effect.weight, max(whole, known)) + missing


def has_evidence(model: Model) -> bool:
    """Whether a model is told by evidence; others, by P(cells | class), as counts and densities."""
    return model.importance is not None and not model.factored


def _terms(model: Model) -> list[tuple[object, float]]:
    shape = model.shape() if has_evidence(model) else None
    whole = None if shape is None else sum_of(shape)
    if whole is None:
        return []
    score, power = whole
    return [(term, power * own) for term, own in score.powered]


def _bin_weights(numbers: Numbers, starts: Floats) -> Floats:
    values, tally = numbers.tally()
    weight = tally.sum(1).floats() if len(values) else np.zeros(0)
    return _totals(bin_of(starts, values), weight, len(starts) + 1)


def _totals(places: NDArray[np.int32], weight: Floats, size: int) -> Floats:
    """The weight of each place."""
    return np.asarray(np.bincount(places, weight, size), np.float64)


def _level_weights(counts: Counts, names: Sequence[str]) -> Floats:
    seen = counts.table[: len(counts.labels)].sum(1).floats()
    places = [counts.labels.index.get(name, -1) for name in names]
    return np.array([seen[k] if k >= 0 else 0.0 for k in places])


def merge_steps(values: Floats, weight: Floats, most: int) -> list[slice]:
    """Neighbouring steps put together until there are no more than `most`: those whose joining changes least first.

    >>> merge_steps(np.array([[0.0], [0.1], [3.0], [3.1]]), np.ones(4), 2)
    [slice(0, 2, None), slice(2, 4, None)]
    """
    ends = list(range(1, len(values) + 1))
    means, weights = [np.asarray(v) for v in values], [float(w) for w in weight]
    while len(ends) > most:
        costs = [
            (w * v / (w + v) if w + v > 0 else 0.0) * float(((a - b) ** 2).sum())
            for a, b, w, v in zip(means, means[1:], weights, weights[1:], strict=False)
        ]
        k = int(np.argmin(costs))
        total = weights[k] + weights[k + 1]
        share = weights[k] / total if total > 0 else 0.5
        means[k : k + 2] = [share * means[k] + (1 - share) * means[k + 1]]
        weights[k : k + 2] = [total]
        del ends[k]
    return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]


def coarsen(effect: Effect, most: int) -> Effect:
    """A curve in at most so many steps; levels stay as they are."""
    if effect.edges is None or len(effect.logs) <= most:
        return effect
    runs = merge_steps(effect.logs, effect.weight, most)
    edges = effect.edges[[run.start - 1 for run in runs[1:]]]
    logs = np.stack([_mean(effect.logs[run], effect.weight[run]) for run in runs])
    weight = np.array([effect.weight[run].sum() for run in runs])
    return replace(effect, labels=tuple(effect.call(edges)), edges=edges, weight=weight, logs=logs)


def pair_grid(model: Model, effects: tuple[Effect, Effect], most: int) -> EffectGrid:
    """What two attributes say together beyond what each says by itself, where nothing else is known, in at most so many
    steps of each.

    Steps are weighed by what each attribute has in training by itself: how often two values meet is not kept.
    """
    fine = [_few_steps(effect) for effect in effects]
    sides = [len(effect.labels) for effect in fine]
    one, other = (_points(model, effect) for effect in fine)
    unknown = [None] * (1 + sum(sides))
    table = {
        effects[0].name: [*np.repeat(np.array(one, object), sides[1]), *one, *unknown[len(one) :]],
        effects[1].name: [*other * sides[0], *[None] * sides[0], *other, None],
    }
    alone = replace(model, references=None)
    logs = np.vstack([alone.log_joint(batch) for batch in alone.batches(table)])
    cells, nothing = sides[0] * sides[1], logs[-1]
    both = logs[:cells].reshape(*sides, -1)
    table_of = both - logs[cells : cells + sides[0], None] - logs[None, cells + sides[0] : -1] + nothing
    table_of = np.where(np.isfinite(table_of), table_of, 0.0)
    labels, weights = [], []
    for side, effect in enumerate(fine):
        lines, own = np.moveaxis(table_of, side, 0), effect.weight
        order = np.arange(len(lines)) if effect.edges is not None else np.argsort(_signs(lines), kind="stable")
        runs = merge_steps(lines[order].reshape(len(lines), -1), own[order], most)
        table_of = np.moveaxis(np.stack([_mean(lines[order[run]], own[order[run]]) for run in runs]), 0, side)
        weights.append(np.array([own[order[run]].sum() for run in runs]))
        labels.append(tuple(_called(effect, [order[run] for run in runs])))
    return EffectGrid((effects[0].name, effects[1].name), (labels[0], labels[1]), (weights[0], weights[1]), table_of)


def _few_steps(effect: Effect) -> Effect:
    """The steps of an effect that are asked about: of a number some of equal weight, of levels those with most rows."""
    if len(effect.labels) <= MOST_ASKED:
        return effect
    if effect.edges is None:
        kept = np.sort(np.argsort(-effect.weight, kind="stable")[:MOST_ASKED])
        labels, levels = (tuple(own[k] for k in kept) for own in (effect.labels, effect.levels))
        return replace(effect, labels=labels, levels=levels, weight=effect.weight[kept], logs=effect.logs[kept])
    below = np.cumsum(effect.weight)
    ends = np.searchsorted(below, below[-1] * np.arange(1, MOST_ASKED) / MOST_ASKED)
    last = np.unique(np.minimum(ends, len(effect.edges) - 1))
    weight = np.add.reduceat(effect.weight, [0, *(last + 1)])
    edges = effect.edges[last]
    return replace(effect, labels=tuple(effect.call(edges)), edges=edges, weight=weight)


def _signs(lines: Floats) -> Floats:
    """By which levels, which have no order, are put in one: along the direction in which lines differ most."""
    flat = lines.reshape(len(lines), -1)
    _, _, directions = np.linalg.svd(flat - flat.mean(axis=0), full_matrices=False)
    along = directions[0] * (1.0 if directions[0][np.abs(directions[0]).argmax()] >= 0 else -1.0)
    return np.asarray(flat @ along)


def _mean(lines: Floats, weight: Floats) -> Floats:
    whole = weight.sum()
    share = weight / whole if whole > 0 else np.full(len(lines), 1 / len(lines))
    return np.asarray(np.tensordot(share, lines, axes=1))


def bin_caller(model: Model, name: str) -> Callable[[Floats], list[str]]:
    """How bins of a number are called: whole numbers by those that they hold, others by their edges."""
    numbers = model.summary.column(name, Numbers) if model.schema[name].kind in ("number", "date") else None
    if model.schema[name].kind == "date":
        return partial(bin_names, closed="left", tell=moment)
    if numbers is None or numbers.level or not _whole(numbers):
        return partial(bin_names, closed="left", tell=number)
    return name_whole_bins


def _uncut(edges: Floats) -> list[str]:
    raise AssertionError("levels are not cut")


def _whole(numbers: Numbers) -> bool:
    values, _ = numbers.tally()
    return bool(len(values)) and bool((np.floor(values) == values).all()) and float(np.abs(values).max()) < 2**53


def name_whole_bins(edges: Floats) -> list[str]:
    """Bins of whole numbers.

    >>> name_whole_bins(np.array([2.5, 3.5, 10.0]))
    ['up to 2', '3', '4 to 9', '10 or more']
    """
    firsts = np.ceil(edges)
    if not len(firsts):
        return ["any"]
    inner = [
        number(float(a)) if b - a == 1 else f"{number(float(a))} to {number(float(b) - 1)}" for a, b in pairwise(firsts)
    ]
    return [f"up to {number(float(firsts[0]) - 1)}", *inner, f"{number(float(firsts[-1]))} or more"]


def _called(effect: Effect, runs: Sequence[NDArray[np.intp]]) -> list[str]:
    """What the steps of one side are called; several levels by that of most rows."""
    if effect.edges is not None:
        return effect.call(effect.edges[[run[0] - 1 for run in runs[1:]]])
    first = [effect.labels[run[effect.weight[run].argmax()]] for run in runs]
    more = [f" and {len(run) - 1} more" if len(run) > 1 else "" for run in runs]
    return [clean(name, 24) + rest for name, rest in zip(first, more, strict=True)]
