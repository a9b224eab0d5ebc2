"""What pairs and sums of trees add, as a graph of ONNX: each attribute becomes one code, which tables are looked up by.

Trees are followed all at once, one step after the other. Knows the portable form and graphs; no model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.portable.forms import MISSING, UNSEEN, Attribute, Axis, PairTerm, Portable, TreesTerm
from likely.portable.joint_terms import code_on
from likely.portable.languages.graphs import Graph
from likely.portable.reading import Cell

if TYPE_CHECKING:
    from numpy.typing import NDArray

SetTerm: TypeAlias = PairTerm | TreesTerm
FIRST, SECOND, STAY = range(3)
"""Where a row goes at a node: to one of the children, or nowhere, since it has no code there."""
UINT8, INT32, INT64 = 2, 6, 7


class Sets:
    """The pairs and sums of trees of a score, with their weights."""

    def __init__(
        self,
        graph: Graph,
        portable: Portable,
        terms: Sequence[tuple[float, SetTerm]],
        numbers: Mapping[str, tuple[str, str]],
        levels: Mapping[str, str],
    ) -> None:
        """`numbers` are values and whether they are there, `levels` places of levels; both (rows, 1)."""
        self.graph, self.terms, self.classes = graph, terms, len(portable.classes)
        # Of two classes that mirror each other everywhere, the second is worked out.
        mirrored = all(len(t.table if isinstance(t, PairTerm) else t.values) == 1 for _, t in terms)
        self.columns = 1 if mirrored else self.classes
        self.cells: dict[str, list[Cell]] = {}
        """For each code of an attribute, a cell that has it."""
        self.codes: dict[str, str] = {}
        """The codes of the rows, (rows,)."""
        for attribute in portable.attributes:
            axes = [axis for _, term in terms for axis in term.axes if axis.attribute == attribute.name]
            if axes:
                self._read(attribute, axes, numbers, levels)

    def _read(
        self,
        attribute: Attribute,
        axes: Sequence[Axis],
        numbers: Mapping[str, tuple[str, str]],
        levels: Mapping[str, str],
    ) -> None:
        graph, name, column = self.graph, attribute.name, self.graph.constant([1], np.int64)
        if attribute.kind == "level":
            self.cells[name] = [*range(len(attribute.levels)), UNSEEN, MISSING]
            self.codes[name] = graph.op("Squeeze", levels[name], column)
            return
        starts = sorted({start for axis in axes for start in axis.starts})
        x, there = numbers[name]
        if starts:
            self.cells[name] = [math.nextafter(starts[0], -math.inf), *starts, math.nan]
            passed = graph.op("GreaterOrEqual", x, graph.constant([starts]))
            code = graph.op("ReduceSum", graph.op("Cast", passed, to=INT32), column, keepdims=1)
        else:
            self.cells[name] = [0.0, math.nan]
            code = graph.constant([[0]], np.int32)
        gone = graph.constant(len(starts) + 1, np.int32)
        self.codes[name] = graph.op("Squeeze", graph.op("Where", there, code, gone), column)

    def _codes_on(self, axis: Axis) -> NDArray[np.int64]:
        """The code on an axis for each code of the attribute; -1 where it has none."""
        cells = self.cells[axis.attribute]
        return np.array([code_on(axis, {axis.attribute: cell}) for cell in cells], np.int64)

    def total(self) -> str:
        """What all of them add, (rows, classes)."""
        graph = self.graph
        parts = [self._pair(weight, term) for weight, term in self.terms if isinstance(term, PairTerm)]
        trees = [(weight, term) for weight, term in self.terms if isinstance(term, TreesTerm)]
        if trees:
            parts.append(self._trees(trees))
        total = parts[0]
        for part in parts[1:]:
            total = graph.op("Add", total, part)
        return total if self.columns == self.classes else graph.op("Mul", total, graph.constant([[-1.0, 1.0]]))

    def _held(self, columns: Sequence[Sequence[float]], weight: float) -> NDArray[np.float64]:
        """(places, columns), with the weight."""
        held = weight * np.array(columns).T
        return np.concatenate([-held, held], axis=1) if len(columns) < self.columns else held

    def _pair(self, weight: float, term: PairTerm) -> str:
        graph, (first, second) = self.graph, term.axes
        # One more row and column, of zeros, for what has no code.
        table = np.zeros((first.size + 1, second.size + 1, self.columns))
        table[:-1, :-1] = self._held(term.table, weight).reshape(first.size, second.size, -1)
        rows, columns = (
            np.where(codes < 0, axis.size, codes)
            for axis, codes in ((axis, self._codes_on(axis)) for axis in term.axes)
        )
        row = graph.op("Gather", graph.constant(rows * (second.size + 1), np.int32), self.codes[first.attribute])
        column = graph.op("Gather", graph.constant(columns, np.int32), self.codes[second.attribute])
        place = graph.op("Add", row, column)
        return graph.op("Gather", graph.constant(table.reshape(-1, self.columns)), place, axis=0)

    # -- trees ----------------------------------------------------------------------------------------------------

    def _trees(self, terms: Sequence[tuple[float, TreesTerm]]) -> str:
        graph, forest = self.graph, _Forest()
        for _, term in terms:
            forest.add(term, [self._codes_on(axis) for axis in term.axes])
        answers = [
            graph.op("Gather", graph.constant(np.stack(columns, axis=1), np.uint8), self.codes[name], axis=0)
            for name, columns in forest.questions.items()
        ]
        answer = answers[0] if len(answers) == 1 else graph.op("Concat", *answers, axis=1)
        # A node is known by three times its number: what it leads to follows.
        asked, leads = forest.tables()
        rows = graph.op("Shape", answer, start=0, end=1)
        shape = graph.op("Concat", rows, graph.constant([len(forest.roots)], np.int64), axis=0)
        at = graph.op("Expand", graph.constant([[3 * root for root in forest.roots]], np.int32), shape)
        question, lead = graph.constant(asked, np.int32), graph.constant(leads, np.int32)
        for _ in range(forest.depth()):
            own = graph.op("GatherElements", answer, graph.op("Gather", question, at), axis=1)
            at = graph.op("Gather", lead, graph.op("Add", at, graph.op("Cast", own, to=INT32)))
        node = graph.op("Div", at, graph.constant(3, np.int32))
        values = np.concatenate([self._held(term.values, weight) for weight, term in terms])
        # Class by class: the values of all trees for all classes at once may be more than memory holds.
        sums = [
            graph.op(
                "ReduceSum",
                graph.op("Gather", graph.constant(values[:, k]), node),
                graph.constant([1], np.int64),
                keepdims=1,
            )
            for k in range(self.columns)
        ]
        return sums[0] if len(sums) == 1 else graph.op("Concat", *sums, axis=1)


class _Forest:
    """All trees as one list of nodes; nodes that ask the same of an attribute share a question."""

    def __init__(self) -> None:
        self.roots: list[int] = []
        self.below: list[int] = []
        self.asked: list[tuple[str, int] | None] = []
        """Of each node: the attribute, and the place of the question among those of the attribute."""
        self.questions: dict[str, list[NDArray[np.uint8]]] = {}
        """For each attribute, what each of its codes answers."""
        self._places: dict[tuple[str, bytes], int] = {}

    def add(self, term: TreesTerm, codes: Sequence[NDArray[np.int64]]) -> None:
        """The trees of a term; `codes` are on its axes, for each code of the attributes."""
        first = len(self.below)
        self.roots += [first + root for root in term.roots]
        self.below += [first + below for below in term.below]
        for j, turns in zip(term.axis, term.turns, strict=True):
            self.asked.append(None if j < 0 else self._question(term.axes[j].attribute, codes[j], turns))

    def _question(self, name: str, codes: NDArray[np.int64], turns: Sequence[int]) -> tuple[str, int]:
        sides = np.searchsorted(np.array(turns, np.int64), codes, side="right") % 2
        answers = np.where(codes < 0, STAY, np.where(sides == 0, FIRST, SECOND)).astype(np.uint8)
        own = self.questions.setdefault(name, [])
        key = name, answers.tobytes()
        if key not in self._places:
            self._places[key] = len(own)
            own.append(answers)
        return name, self._places[key]

    def tables(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """At three times a node's number: its question, and what each answer leads to, by three times the number."""
        offsets: dict[str, int] = {}
        count = 0
        for name, own in self.questions.items():
            offsets[name] = count
            count += len(own)
        asked = np.zeros(3 * len(self.below), np.int32)
        leads = 3 * np.repeat(np.arange(len(self.below), dtype=np.int32), 3)  # a leaf leads to itself
        for node, question in enumerate(self.asked):
            if question is not None:
                asked[3 * node] = offsets[question[0]] + question[1]
                leads[3 * node + FIRST] = 3 * self.below[node]
                leads[3 * node + SECOND] = 3 * (self.below[node] + 1)
        return asked, leads

    def depth(self) -> int:
        """Steps from a root to a leaf at most."""
        deep: list[Any] = [0] * len(self.below)
        for node in reversed(range(len(deep))):  # children come after their parents
            if self.asked[node] is not None:
                deep[node] = 1 + max(deep[self.below[node]], deep[self.below[node] + 1])
        return max((deep[root] for root in self.roots), default=0)
