"""The score of a model as a value: prior + Σ power · term, or a node on top of such sums; and how it scores rows.

This is the one definition of a score. `Score.scored` gives log scores, `Score.take_apart` the same sum line by line:
adding the lines in order gives the score to the last bit. Knows terms and batches; no learner, no settings.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likely.machinery.arrays import Floats
from likely.machinery.words import clean
from likely.models import kernels
from likely.models.shapes.block import Axis, Tree
from likely.models.shapes.column import Column, Exhibit, WordWeights
from likely.models.shapes.joint import Block
from likely.models.shapes.lines import Line, ShareRun, TermPart, TreeRun, Work, join_lines, line_name, share_names
from likely.table.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likely.models.shapes.lines import Words

BLOCK, ROOM = 8192, 2_000_000
"""Rows scored at a time, so that their scores stay in the processor's cache; numbers that shares of terms may take."""
REST = "(the rest)"
"""The last line: what terms could not tell attribute by attribute."""


@dataclass(frozen=True)
class Terms:
    """A log score taken apart, (rows, lines, classes). Adding the lines in order gives the score to the last bit."""

    names: tuple[str, ...]
    array: Floats
    lines: tuple[Line, ...]
    """What the terms behind the prior are, in order; one more than these, if any, is what is `last`."""
    last: Literal["attribute", "same", "rounding"] = "attribute"
    """What comes last: another attribute; what is the same for all classes, and so no evidence; or the same but for
    rounding."""
    averaged: bool = False
    """Whether the last of `lines` is what unknown cells would probably say (shapes/references.py)."""


class Score(ABC):
    """How a row gets a log score for each class."""

    @abstractmethod
    def scored(self, batch: Batch) -> tuple[Floats, Words]:
        """The log score of each class for each row, and the words of texts, known or not."""

    def take_apart(self, batch: Batch) -> Terms | None:
        """The same as a sum over attributes and sets of them; None where it is none."""
        return None

    @property
    def is_sum(self) -> bool:
        """Whether it is a sum over attributes and sets of them."""
        return False

    @property
    def opaque(self) -> Opaque | None:
        """The first part of it that is no plain value, so that it cannot be taken elsewhere."""
        return None


@dataclass(frozen=True, eq=False)
class Opaque:
    """A term that needs more than tables: the rows of training, chance, another model."""

    name: str
    rows: Callable[[Batch], Floats]
    """What it adds to each row, (rows, classes)."""
    why: str
    """Why it cannot be taken elsewhere, as a sentence."""
    names: tuple[str, ...] = ()

    def add(self, batch: Batch, out: Floats) -> None:
        """Add its term to each row of `out`."""
        out += self.rows(batch)


@dataclass(frozen=True, eq=False)
class Sum(Score):
    """constant + power * term of each, in order. Terms of one name are one line: they are added to each other first."""

    constant: Floats
    terms: tuple[Any, ...]
    """Columns, blocks, curves, trees, joint tables, normal densities, opaque terms."""
    powers: tuple[float, ...] | None = None
    """None: each is 1."""
    whole: bool = False
    """Whether one term says all there is to say, of all attributes at once: then it is no sum over attributes."""

    @property
    def powered(self) -> list[tuple[Any, float]]:
        """Each term with its power."""
        return list(zip(self.terms, self.powers or (1.0,) * len(self.terms), strict=True))

    @property
    def is_sum(self) -> bool:
        return not self.whole

    @property
    def opaque(self) -> Opaque | None:
        return next((term for term in self.terms if isinstance(term, Opaque)), None)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The lines, in order; terms whose shares are not exact come last, each as a whole."""
        found: dict[str, list[TermPart]] = {}
        rest: list[TermPart] = []
        for term, power in self.powered:
            if not share_names(term):
                found.setdefault(line_name(term), []).append(TermPart(term, power))
            elif not term.adds_up:
                rest.append(TermPart(term, power))
            else:
                for k, name in enumerate(share_names(term)):
                    found.setdefault(name, []).append(TermPart(term, power, k))
        return tuple(Line(name, tuple(parts)) for name, parts in (*found.items(), *([(REST, rest)] if rest else [])))

    @cached_property
    def lines_apart(self) -> tuple[Line, ...]:
        """The same with shares that are not exact in the lines of their attributes; what is left of them comes last."""
        loose = [(term, power) for term, power in self.powered if share_names(term) and not term.adds_up]
        if not loose:
            return self.lines
        found = {line.name: line.parts for line in self.lines[:-1]}
        for term, power in loose:
            for k, name in enumerate(share_names(term)):
                found[name] = (*found.get(name, ()), TermPart(term, power, k))
        return (*(Line(name, parts) for name, parts in found.items()), Line(REST, ()))

    @cached_property
    def steps(self) -> tuple[Line | TreeRun | ShareRun, ...]:
        """The lines; those that one call can add are one step: sums of trees, or all shares of one term."""
        return join_lines(self.lines)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The text columns that it reads."""
        return tuple(term.name for term in self.terms if isinstance(term, WordWeights))

    @cached_property
    def block(self) -> int:
        """How many rows are scored at a time."""
        shares = sum(len(share_names(term)) for term in self.terms)
        return max(1, min(BLOCK, ROOM // (shares * len(self.constant)))) if shares else BLOCK

    def scored(self, batch: Batch) -> tuple[Floats, Words]:
        """The lines, added in order to the constant."""
        out = np.empty((batch.rows, len(self.constant)))
        out[:] = self.constant
        words = dict.fromkeys(self.texts, (0, 0))
        for start in range(0, batch.rows, self.block):
            rows = slice(start, start + self.block)
            work = Work(batch if batch.rows <= self.block else batch.sliced(rows))
            for step in self.steps:
                step.add(work, out[rows])
            for name, (all_, unknown) in work.words.items():
                words[name] = words[name][0] + all_, words[name][1] + unknown
        return out, words

    def take_apart(self, batch: Batch) -> Terms | None:
        """The constant and the lines, by the same code as `scored`."""
        if not self.is_sum:
            return None
        lines = self.lines_apart
        out = np.zeros((1 + len(lines), batch.rows, len(self.constant)))
        out[0] = self.constant
        work, at = Work(batch), 1
        exact = lines is self.lines
        for step in self.steps if exact else lines[:-1]:
            step.add_apart(work, out[at : at + step.count])
            at += step.count
        if not exact:
            out[-1] = left_over(out[:-1], self.scored(batch)[0])
        names = ("prior", *(line.name for line in lines))
        array = out.transpose(1, 0, 2)
        return Terms(names, array, lines) if exact else Terms(names, array, lines[:-1], "rounding")


def left_over(parts: Floats, whole: Floats) -> Floats:
    """What must come last for the parts, added in order, to be the whole (but for rounding)."""
    so_far = np.zeros_like(whole)
    for part in parts:
        so_far = so_far + part
    with np.errstate(invalid="ignore"):
        out = whole - so_far
    return np.where(np.isfinite(whole) & np.isfinite(so_far), out, np.where(np.isneginf(so_far), 0.0, whole))


@dataclass(frozen=True, eq=False)
class Normalised(Score):
    """The scores inside, less the log of the sum of their exponentials: log P(class | row)."""

    inner: Score

    @property
    def is_sum(self) -> bool:
        return self.inner.is_sum

    @property
    def opaque(self) -> Opaque | None:
        return self.inner.opaque

    def scored(self, batch: Batch) -> tuple[Floats, Words]:
        out, words = self.inner.scored(batch)
        out += _normaliser(out)
        return out, words

    def take_apart(self, batch: Batch) -> Terms | None:
        """Those inside, and last what normalises the row, the same for all classes."""
        inner = self.inner.take_apart(batch)
        if inner is None:
            return None
        total = inner.array[:, 0].copy()
        for k in range(1, inner.array.shape[1]):
            total += inner.array[:, k]
        last = np.broadcast_to(_normaliser(total), total.shape)[:, None]
        array = np.concatenate([inner.array, last], axis=1)
        return Terms((*inner.names, "(normalised)"), array, inner.lines, last="same")


def _normaliser(scores: Floats) -> Floats:
    """Minus the log of the sum of exp(scores), one for each row, (rows, 1)."""
    top = scores.max(axis=1, keepdims=True)
    return -(top + np.log(np.exp(scores - top).sum(axis=1, keepdims=True)))  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Shifted(Score):
    """The scores inside, plus `by`: another prior. Of a sum it is a sum (`shift`)."""

    inner: Score
    by: Floats

    @property
    def opaque(self) -> Opaque | None:
        return self.inner.opaque

    def scored(self, batch: Batch) -> tuple[Floats, Words]:
        out, words = self.inner.scored(batch)
        return out + self.by, words


def shift(score: Score, by: Floats) -> Score:
    """The score under a prior that is exp(by) times as large."""
    match score:
        case Sum():
            return replace(score, constant=score.constant + by)
        case Normalised(inner):
            return Normalised(shift(inner, by))
    return Shifted(score, by)


@dataclass(frozen=True, eq=False)
class Member:
    """One of a mixture: P(class | row)**temperature, normalised, counts `weight`."""

    inner: Score
    weight: float
    temperature: float
    classes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Mixture(Score):
    """log of the sum over members of weight * P(class | row); a member that finds the row impossible says nothing."""

    members: tuple[Member, ...]
    classes: tuple[str, ...]

    @property
    def opaque(self) -> Opaque | None:
        return next((found for member in self.members if (found := member.inner.opaque) is not None), None)

    def scored(self, batch: Batch) -> tuple[Floats, Words]:
        out = np.full((batch.rows, len(self.classes)), -np.inf)
        words: Words = {}
        for member in self.members:
            joint, told = member.inner.scored(batch)
            words |= told
            logs = temper(over_classes(log_posterior(joint), member.classes, self.classes), member.temperature)
            np.logaddexp(out, np.log(member.weight) + logs, out=out)
        return out, words


def log_posterior(joint: Floats) -> Floats:
    """log P(class | row) of log scores; a row that cannot be classified is all -inf."""
    evidence = np.empty(len(joint))
    kernels.normalise(np.array(joint, np.float64, order="C"), evidence)
    return joint - np.where(np.isneginf(evidence), 0.0, evidence)[:, None]


def over_classes(logs: Floats, own: tuple[str, ...], classes: tuple[str, ...]) -> Floats:
    """Logs of a model's own classes over these classes; -inf for one that it does not know."""
    if own == classes:
        return logs
    out = np.full((len(logs), len(classes)), -np.inf)
    known = [k for k, name in enumerate(own) if name in classes]
    out[:, [classes.index(own[k]) for k in known]] = logs[:, known]
    return out


def temper(logs: Floats, temperature: float) -> Floats:
    """log of P(class)**temperature, normalised for each row; a row that is impossible throughout stays so.

    >>> np.exp(temper(np.log([[0.9, 0.1]]), 0.5)).round(6).tolist()
    [[0.75, 0.25]]
    """
    if temperature == 1.0:
        return logs
    out: Floats = logs * temperature
    top = out.max(axis=1, keepdims=True, initial=-np.inf)
    top = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(out - top).sum(axis=1, keepdims=True))
    return out - top - np.where(np.isneginf(total), 0.0, total)


@dataclass(frozen=True, eq=False)
class Clipped(Score):
    """log of max(output, 0), over their sum; where no output is above 0, the largest (the first of equals) has all."""

    outputs: Sum

    def scored(self, batch: Batch) -> tuple[Floats, Words]:
        outputs, words = self.outputs.scored(batch)
        positive = np.maximum(outputs, 0.0)
        largest = positive.max(axis=1)
        none = largest <= 0
        positive[none, outputs[none].argmax(axis=1)] = 1.0
        positive /= np.where(none, 1.0, largest)[:, None]  # before the sum, which could overflow
        with np.errstate(divide="ignore"):
            return np.log(positive / positive.sum(axis=1, keepdims=True)), words


@dataclass(frozen=True, eq=False)
class Duels(Score):
    """Output k is at least 0: the first class of pair k wins, else the second. A class that wins all has everything;
    with `votes` each class has its share of the duels."""

    outputs: Sum
    pairs: tuple[tuple[int, int], ...]
    votes: bool
    size: int
    """How many classes there are."""

    def scored(self, batch: Batch) -> tuple[Floats, Words]:
        """All -inf where the duels disagree and that means "don't know"."""
        outputs, words = self.outputs.scored(batch)
        won = self.count_votes(outputs)
        shares = won / len(self.pairs) if self.votes and self.pairs else np.where(won == self.size - 1, 1.0, 0.0)
        with np.errstate(divide="ignore"):
            return np.log(shares), words

    def tell_votes(self, batch: Batch, classes: tuple[str, ...]) -> str:
        """How many duels each class wins in the one row of a batch: A 1, B 1, C 1."""
        votes = self.count_votes(self.outputs.scored(batch)[0])[0].tolist()
        each = [f"{clean(name)} {v:g}" for name, v in zip(classes, votes, strict=True)]
        return ", ".join(each[:12]) + (f" and {len(each) - 12} more" if len(each) > 12 else "")

    def count_votes(self, outputs: Floats) -> Floats:
        """How many duels each class wins, (rows, classes)."""
        won = np.zeros((len(outputs), self.size))
        for k, (a, b) in enumerate(self.pairs):
            first = outputs[:, k] >= 0  # a draw goes to the first class
            won[:, a] += first
            won[:, b] += ~first
        return won


@dataclass(frozen=True, eq=False)
class OneDependence(Score):
    """log of the mean, over the cells that may be parents, of P(class, cell) * product of P(other cell | class, cell).

    Cells are numbered over all axes, axis after axis. Where no cell of the row serves: prior + sum of alone.
    """

    axes: tuple[Axis, ...]
    serves: NDArray[np.int32]
    prior: Floats
    alone: Floats
    joint: Floats
    given: Floats
    """(parent's cell, cell, class)"""

    def scored(self, batch: Batch) -> tuple[Floats, Words]:
        classes, first = len(self.prior), 0
        out, cells = np.empty((batch.rows, classes)), np.empty((batch.rows, len(self.axes)), np.int32)
        for k, axis in enumerate(self.axes):
            codes = axis.codes(batch.cells[axis.name])
            cells[:, k] = np.where(codes < 0, np.int32(-1), codes + np.int32(first))
            first += axis.size
        there = np.empty(len(self.axes), np.int32)
        top, total, score = np.empty(classes), np.empty(classes), np.empty(classes)
        tables = (self.joint, self.given, self.prior, self.alone)
        kernels.one_dependence(cells, self.serves, *tables, there, top, total, score, out)
        return out, {}


@dataclass(frozen=True)
class Plane:
    """constant + the sum of weight * value (a level: 1 where a row has it) is above 0 where `first` beats `second`."""

    first: str
    second: str
    constant: float
    weights: tuple[tuple[str, str, float], ...]
    """Attribute, level ("" of a number, "(missing)" where it is not known), weight."""

    def equation(self) -> str:
        """`0.5 − 2·x + 1·[sky=sun] = 0`."""
        parts = [f"{self.constant:.6g}".replace("-", "−", 1) if self.constant or not self.weights else ""]
        for name, level, weight in self.weights:
            if weight:
                what = name if not level else f"[no {name}]" if level == "(missing)" else f"[{name}={level}]"
                sign = "−" if weight < 0 else "+" if any(parts) else ""
                parts.append(f"{sign} {abs(weight):.6g}·{what}" if any(parts) else f"{sign}{abs(weight):.6g}·{what}")
        return " ".join(part for part in parts if part) + " = 0"


def exhibit_planes(planes: Sequence[Plane]) -> tuple[Exhibit, ...]:
    """The hyperplanes between several pairs of classes as a table, none where there is none."""
    rows = []
    for plane in planes:
        lines = wrap(plane.equation(), 58, break_long_words=False, break_on_hyphens=False)
        rows += [(*((plane.first, plane.second) if k == 0 else ("…", "…")), line) for k, line in enumerate(lines)]
    return (Exhibit("Hyperplanes, pair by pair", ("above 0", "below 0", "equation"), tuple(rows)),) if rows else ()


@dataclass(frozen=True)
class Graph:
    """What hangs on the class, and on what besides: arrows from parent to child, attributes that are taken together."""

    names: tuple[str, ...]
    arrows: tuple[tuple[str, str], ...] = ()
    blocks: tuple[tuple[str, ...], ...] = ()

    def parent(self, name: str) -> str | None:
        """What an attribute depends on besides the class."""
        return next((parent for parent, child in self.arrows if child == name), None)


def sum_of(score: Score) -> tuple[Sum, float] | None:
    """The one sum whose order of classes a score has, and the power that all of it is raised to; None if there is none.

    What is the same for all classes is left aside, and so is another prior.
    """
    match score:
        case Sum():
            return score, 1.0
        case Normalised(inner) | Shifted(inner, _):
            return sum_of(inner)
        case Mixture((member,)):
            found = sum_of(member.inner)
            return None if found is None else (found[0], found[1] * member.temperature)
    return None


def graph_of(score: Score) -> Graph | None:
    """The graph of a sum of P(block | class); None for other scores."""
    match score:
        case Sum():
            return _graph(score)
        case Shifted(inner, _) | Mixture((Member(inner),)):
            return graph_of(inner)
    return None


def _graph(score: Sum) -> Graph | None:
    names: list[str] = []
    arrows: list[tuple[str, str]] = []
    blocks: list[tuple[str, ...]] = []
    for term in score.terms:
        match term:
            case Tree():
                own = [axis.name for axis in term.axes]
                arrows += [(own[u], own[v]) for v, u in enumerate(term.parents.tolist()) if u >= 0]
                names += own
            case Column() | Block():
                names += term.names
                blocks += [term.names] if len(term.names) > 1 else []
            case _:
                return None  # all attributes together: no graph
    return Graph(tuple(names), tuple(arrows), tuple(blocks)) if names else None
