"""What the terms of one or two attributes say, in bits, in few enough steps to be read. Reads shapes and sums; no rows.

Steps of a curve that say nearly the same are put together (Ward's method: those whose joining changes least), each
with the mean of what its parts say, by their weight in training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from likely.evaluate.attributes.value_evidence import set_names, value_logs
from likely.machinery.records import dataclass
from likely.models.contracts import Model
from likely.models.shapes import Axis, BinTable, LevelTable, PairTable, bin_names, bin_of, sum_of
from likely.present.words import clean, moment, number
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.table.labels import date_label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


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

    @property
    def word(self) -> str:
        """What a step is."""
        return "level" if self.edges is None else "bin"


@dataclass(frozen=True)
class Grid:
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
    """What each attribute says by itself, where the model is a sum of such terms and says how strong they are."""
    out: dict[str, Effect] = {}
    for term, power in _terms(model):
        if isinstance(term, BinTable):
            statistic = model.summary.column(term.name, Numbers)
            call, starts = bin_caller(model, term.name), term.starts
            logs, absent = power * term.log_table[:-1], power * term.log_table[-1]
            missing, weight = absent if absent.any() else None, _bin_weights(statistic, starts)
            out[term.name] = Effect(term.name, tuple(call(starts)), starts, weight, logs, missing, call)
        elif isinstance(term, LevelTable):
            counts = model.summary.column(term.name, Counts)
            logs, absent = power * term.log_table[:-2], power * term.log_table[-1]
            weight = _level_weights(counts, term.labels.names)
            labels = [clean(name, 40) for name in term.labels.names]
            missing = absent if absent.any() else None
            out[term.name] = Effect(term.name, tuple(labels), None, weight, logs, missing, _uncut)
    return {name: _whole_effect(model, effect) for name, effect in out.items()}


def _whole_effect(model: Model, effect: Effect) -> Effect:
    """The same with all that the model says of the attribute, where that is in several terms: those of members of a
    pool, or of larger sets."""
    if sum(getattr(term, "name", None) == effect.name for term, _ in _terms(model)) < 2 and not set_names(model):
        return effect
    if effect.edges is None:
        values: list[object] = list(model.summary.column(effect.name, Counts).labels.names)
        places = [values.index(name) for name in values if clean(name, 40) in effect.labels]
        if len(places) != len(effect.labels):
            return effect
        return replace(effect, logs=value_logs(model, {effect.name: values})[effect.name][places])
    seen, tally = model.summary.column(effect.name, Numbers).tally()
    below, where = np.cumsum(tally.sum(1).floats()), bin_of(effect.edges, seen)
    points = []
    for k in range(len(effect.logs)):
        own = np.flatnonzero(where == k)
        first = float(effect.edges[min(k, len(effect.edges) - 1)]) if len(effect.edges) else 0.0
        if len(own):  # the middle one of the rows that the bin has
            middle = (below[own[0]] + below[own[-1]]) / 2
            first = float(seen[own[min(int(np.searchsorted(below[own], middle)), len(own) - 1)]])
        points.append(first)
    cells = [date_label(p) for p in points] if model.schema[effect.name].kind == "date" else points
    return replace(effect, logs=value_logs(model, {effect.name: cells})[effect.name])


def find_pairs(model: Model) -> dict[tuple[str, ...], tuple[PairTable, float]]:
    """The pairs of such a model, with the power of each."""
    return {term.names: (term, power) for term, power in _terms(model) if isinstance(term, PairTable)}


def _terms(model: Model) -> list[tuple[object, float]]:
    shape = model.shape() if model.term_strengths() else None
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


def pair_grid(model: Model, pair: PairTable, power: float, most: int) -> Grid:
    """What a pair says, in at most so many steps of each attribute.

    Steps are weighed by what each attribute has in training by itself: how often two values meet is not kept.
    """
    table = power * pair.table
    labels: list[tuple[str, ...]] = []
    weights: list[Floats] = []
    for side, (axis, cells) in enumerate(zip(pair.axes, pair.cells, strict=True)):
        place, (codes, levels) = cells[: axis.size], _code_weights(model, axis)
        own = _totals(place, codes, table.shape[side])
        order = np.unique(place)  # a missing cell may have a place of its own, which is not drawn
        lines = np.moveaxis(table, side, 0)
        if axis.edges is None:
            order = order[np.argsort(_signs(lines[order]), kind="stable")]
        lines, own = lines[order], own[order]
        runs = merge_steps(lines.reshape(len(lines), -1), own, most)
        table = np.moveaxis(np.stack([_mean(lines[run], own[run]) for run in runs]), 0, side)
        weights.append(np.array([own[run].sum() for run in runs]))
        labels.append(tuple(_called(axis, place, levels, [order[run] for run in runs], bin_caller(model, axis.name))))
    one, other = (axis.name for axis in pair.axes)
    return Grid((one, other), (labels[0], labels[1]), (weights[0], weights[1]), table)


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


def _code_weights(model: Model, axis: Axis) -> tuple[Floats, Floats]:
    """The weight in training of each code, and of each level."""
    statistic = model.summary.columns[axis.name]
    if axis.edges is not None:
        assert isinstance(statistic, Numbers)
        return _bin_weights(statistic, axis.edges), np.zeros(0)
    assert isinstance(statistic, Counts)
    seen = _level_weights(statistic, axis.levels.names)
    return (seen if axis.groups is None else _totals(axis.groups, seen, axis.size)), seen


def _called(
    axis: Axis,
    place: NDArray[np.int32],
    weight: Floats,
    runs: Sequence[NDArray[np.int32]],
    call: Callable[[Floats], list[str]],
) -> list[str]:
    """What the steps of one side are called; several levels by that of most rows."""
    if axis.edges is not None:
        starts = [int(np.flatnonzero(np.isin(place, run))[0]) for run in runs]
        return call(axis.edges[[start - 1 for start in starts[1:]]])
    code = np.arange(len(axis.levels)) if axis.groups is None else axis.groups
    out = []
    for run in runs:
        inside = [k for k, at in enumerate(code.tolist()) if place[at] in run]
        first = clean(axis.levels.names[max(inside, key=lambda k: weight[k])], 24)
        out.append(first if len(inside) == 1 else f"{first} and {len(inside) - 1} more")
    return out
