"""A model as a graph of ONNX: one input for each attribute, the class and the probability of each class."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Floats
from likely.models import shapes
from likely.models.shapes import Axis, PairTable, TreeSum
from likely.portable.describe import Attribute, Portable, columns_of
from likely.portable.languages.flatten import UNKNOWN_CELLS, Calculated, Flat, flatten, patterns
from likely.portable.logs import TIE
from likely.portable.reading import MOST_SECONDS, date_part, number_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


# A graph of ONNX, built step by step: constants, operators, and what is its own name. Knows nothing of models.

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:  # the extra is not there
    raise SettingError("ONNX needs onnx, which is not installed. Install it: pip install 'likely[onnx]'.") from None

OPSET, ML_OPSET, IR = 18, 4, 9
"""Versions that runtimes of the last years read."""


class OnnxGraph:
    """Nodes in order; every value is called by a name."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self._count = 0

    def name(self, hint: str = "v") -> str:
        """A new name. Inputs are called by what data calls them, and no such name begins with two underscores twice."""
        self._count += 1
        return f"__{hint}__{self._count}"

    def constant(self, value: Any, kind: Any = np.float64) -> str:
        """An array."""
        name = self.name("c")
        if kind is str:
            raw = np.array(value, object)
            self.constants.append(
                helper.make_tensor(name, TensorProto.STRING, raw.shape, [v.encode() for v in raw.ravel()])
            )
        else:
            self.constants.append(numpy_helper.from_array(np.array(value, kind), name))
        return name

    def op(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """One operator of one result."""
        name = self.name(operator.lower())
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, domain=domain, **attributes))
        return name

    def input(self, name: str, text: bool) -> str:
        """A column of rows, (rows, 1)."""
        kind = TensorProto.STRING if text else TensorProto.DOUBLE
        self.inputs.append(helper.make_tensor_value_info(name, kind, ["rows", 1]))
        return name

    def output(self, name: str, value: str, text: bool, shape: Sequence[Any]) -> None:
        """A result under the name that users see."""
        self.nodes.append(helper.make_node("Identity", [value], [name], name=self.name("out")))
        kind = TensorProto.STRING if text else TensorProto.DOUBLE
        self.outputs.append(helper.make_tensor_value_info(name, kind, list(shape)))

    def written(self, described: dict[str, str]) -> bytes:
        """The model's file."""
        graph = helper.make_graph(self.nodes, "likely", self.inputs, self.outputs, self.constants)
        sets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(graph, opset_imports=sets, ir_version=IR, producer_name="likely")
        helper.set_model_props(model, described)
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString(deterministic=True))


# What pairs and sums of trees add, as a graph of ONNX: each attribute becomes one code, which tables are looked up
# by.

SetTerm: TypeAlias = PairTable | TreeSum
FIRST, SECOND, STAY = range(3)
"""Where a row goes at a node: to one of the children, or nowhere, since it has no code there."""
UINT8, INT32, INT64 = 2, 6, 7


class Sets:
    """The pairs and sums of trees of a score, with their weights."""

    def __init__(
        self,
        graph: OnnxGraph,
        portable: Portable,
        terms: Sequence[tuple[float, SetTerm]],
        numbers: Mapping[str, tuple[str, str]],
        levels: Mapping[str, str],
    ) -> None:
        """`numbers` are values and whether they are there, `levels` places of levels; both (rows, 1)."""
        self.graph, self.terms, self.classes = graph, terms, len(portable.classes)
        # Of two classes that mirror each other everywhere, the second is worked out.
        mirrored = all(len(columns_of(term)) == 1 for _, term in terms)
        self.columns = 1 if mirrored else self.classes
        self.cells: dict[str, Floats] = {}
        """For each code of a number, a cell that has it."""
        self.codes: dict[str, str] = {}
        """The codes of the rows, (rows,)."""
        for attribute in portable.attributes:
            axes = [axis for _, term in terms for axis in term.axes if axis.name == attribute.name]
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
            self.codes[name] = graph.op("Squeeze", levels[name], column)
            return
        starts = sorted({start for axis in axes if axis.edges is not None for start in axis.edges.tolist()})
        x, there = numbers[name]
        if starts:
            self.cells[name] = np.array([math.nextafter(starts[0], -math.inf), *starts, math.nan])
            passed = graph.op("GreaterOrEqual", x, graph.constant([starts]))
            code = graph.op("ReduceSum", graph.op("Cast", passed, to=INT32), column, keepdims=1)
        else:
            self.cells[name] = np.array([0.0, math.nan])
            code = graph.constant([[0]], np.int32)
        gone = graph.constant(len(starts) + 1, np.int32)
        self.codes[name] = graph.op("Squeeze", graph.op("Where", there, code, gone), column)

    def _codes_on(self, axis: Axis) -> NDArray[np.int64]:
        """The code on an axis for each code of the attribute; -1 where it has none."""
        found = _codes(axis) if axis.groups is not None else axis.codes(self.cells[axis.name])
        return found.astype(np.int64)

    def total(self) -> str:
        """What all of them add, (rows, classes)."""
        graph = self.graph
        parts = [self._pair(weight, term) for weight, term in self.terms if isinstance(term, PairTable)]
        trees = [(weight, term) for weight, term in self.terms if isinstance(term, TreeSum)]
        if trees:
            parts.append(self._trees(trees))
        total = parts[0]
        for part in parts[1:]:
            total = graph.op("Add", total, part)
        return total if self.columns == self.classes else graph.op("Mul", total, graph.constant([[-1.0, 1.0]]))

    def _held(self, term: SetTerm, weight: float) -> Floats:
        """(places, columns), with the weight."""
        held = weight * columns_of(term).T
        return np.concatenate([-held, held], axis=1) if held.shape[1] < self.columns else held

    def _pair(self, weight: float, term: PairTable) -> str:
        graph, (first, second) = self.graph, term.axes
        # One more row and column, of zeros, for what has no code.
        table = np.zeros((first.size + 1, second.size + 1, self.columns))
        table[:-1, :-1] = self._held(term, weight).reshape(first.size, second.size, -1)
        rows, columns = (
            np.where(codes < 0, axis.size, codes)
            for axis, codes in ((axis, self._codes_on(axis)) for axis in term.axes)
        )
        row = graph.op("Gather", graph.constant(rows * (second.size + 1), np.int32), self.codes[first.name])
        column = graph.op("Gather", graph.constant(columns, np.int32), self.codes[second.name])
        place = graph.op("Add", row, column)
        return graph.op("Gather", graph.constant(table.reshape(-1, self.columns)), place, axis=0)

    # -- trees ----------------------------------------------------------------------------------------------------

    def _trees(self, terms: Sequence[tuple[float, TreeSum]]) -> str:
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
        values = np.concatenate([self._held(term, weight) for weight, term in terms])
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

    def add(self, term: TreeSum, codes: Sequence[NDArray[np.int64]]) -> None:
        """The trees of a term; `codes` are on its axes, for each code of the attributes."""
        first = len(self.below)
        self.roots += (first + term.roots).tolist()
        self.below += (first + term.below).tolist()
        for j, left in zip(term.axis.tolist(), term.left, strict=True):
            self.asked.append(None if j < 0 else self._question(term.axes[j].name, codes[j], left))

    def _question(self, name: str, codes: NDArray[np.int64], left: NDArray[np.uint8]) -> tuple[str, int]:
        answers = np.where(codes < 0, STAY, np.where(left[codes] != 0, FIRST, SECOND)).astype(np.uint8)
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


def _codes(axis: Axis) -> NDArray[np.int32]:
    """The code of each level, then of one that training did not have, then of a missing cell."""
    assert axis.groups is not None
    return np.append(axis.groups, np.array([axis.unseen, axis.missing], np.int32))


# A model as a graph of ONNX: one input for each attribute, the class and the probability of each class as outputs.

MOST = float(np.finfo(np.float64).max)
OUTPUTS = ("prediction", "probabilities")


def to_onnx(portable: Portable) -> bytes:
    """The bytes of the model."""
    for attribute in portable.attributes:
        if attribute.name in OUTPUTS or not attribute.name or attribute.name.startswith("__"):
            raise SettingError(
                f"An input of ONNX cannot be called {shown(attribute.name)} here. Rename the column before you fit."
            )
    return _Written(portable).bytes()


class _Written:
    def __init__(self, portable: Portable) -> None:
        self.form, self.graph = portable, OnnxGraph()
        self.flat: Flat = flatten(portable, "ONNX")
        self.size = len(portable.classes)
        self.codes: dict[str, str] = {}
        self.numbers: dict[str, tuple[str, str]] = {}
        """For each number: the value, 0 where it is missing, and whether it is there; both (rows, 1)."""
        self.dates: dict[str, tuple[str, str]] = {}
        """For each date that has parts: the same."""

    def bytes(self) -> bytes:
        graph = self.graph
        # What is learned from words alone is no part of what ONNX can say.
        inputs = [attribute for attribute in self.form.attributes if attribute.kind != "text"]
        for attribute in inputs:
            self._read(attribute)
        if not inputs:
            raise SettingError("The model has no attributes, and a graph of ONNX needs an input. Use SQL or JSON.")
        first = inputs[0].part_of or inputs[0].name
        # Every row begins with the constant: as many rows as the first input has.
        rows = graph.op("Shape", first, start=0, end=1)
        shape = graph.op("Concat", rows, graph.constant([self.size], np.int64), axis=0)
        total = graph.op("Expand", graph.constant([list(self.flat.constant)]), shape)
        sets = [(w, t) for w, t in self.flat.terms if isinstance(t, (PairTable, TreeSum))]
        for weight, term in self.flat.terms:
            if isinstance(term, (PairTable, TreeSum)):
                continue
            own = self._term(term)
            if weight != 1:
                own = graph.op("Mul", own, graph.constant(weight))
            total = graph.op("Add", total, own)
        if sets:
            total = graph.op("Add", total, Sets(graph, self.form, sets, self.numbers, self.codes).total())
        chances = self._clipped(total) if self.flat.clipped else self._softmax(total)
        some = graph.op("Greater", self._over(chances, "ReduceMax", False), graph.constant(0.0))
        if self.form.references is not None:
            known = self._known(self.form.references)
            chances = graph.op("Where", known, chances, graph.constant(math.nan))
            some = graph.op("And", some, graph.op("Squeeze", known, graph.constant([1], np.int64)))
        best = graph.op("ArgMax", chances, axis=1, keepdims=0)
        place = graph.op("Where", some, best, graph.constant(self.size, np.int64))
        label = graph.op("Gather", graph.constant([*self.form.classes, ""], str), place)
        graph.output("prediction", label, True, ["rows"])
        graph.output("probabilities", chances, False, ["rows", self.size])
        return graph.written(
            {
                "classes": json.dumps(self.form.classes),
                "target": self.form.target or "",
                **{"learner": self.form.learner, **self.form.origin},
                **({} if self.form.references is None else {"unknown cells": UNKNOWN_CELLS}),
            }
        )

    def _known(self, references: shapes.References) -> str:
        """Whether all cells are known, or none, or just those unknown that were so in many rows, (rows, 1)."""
        graph, there = self.graph, []
        for axis in references.axes:
            if axis.edges is not None:
                there.append(self.numbers[axis.name][1])
            else:
                missing = graph.constant(len(self.form.attribute(axis.name).levels) + 1, np.int64)
                code = graph.op("Cast", self.codes[axis.name], to=INT64)
                there.append(graph.op("Not", graph.op("Equal", code, missing)))
        whole = graph.op("Concat", *(graph.op("Cast", own, to=INT64) for own in there), axis=1)
        out = ""
        for pattern in ([False] * len(there), [True] * len(there), *references.usual.tolist()):
            same = graph.op("Equal", whole, graph.constant([[int(not gone) for gone in pattern]], np.int64))
            fits = graph.op("ReduceMin", graph.op("Cast", same, to=INT64), graph.constant([1], np.int64), keepdims=1)
            one = graph.op("Greater", fits, graph.constant(0, np.int64))
            out = graph.op("Or", out, one) if out else one
        return out

    # -- cells ----------------------------------------------------------------------------------------------------

    def _read(self, attribute: Attribute) -> None:
        graph, name = self.graph, attribute.name
        if attribute.part is not None:
            self._read_part(attribute)
            return
        if attribute.kind == "level" and not attribute.numeric:
            known, tokens = list(attribute.levels), [t for t in dict.fromkeys(("", *self.form.missing))]
            keys = [*known, *(t for t in tokens if t not in known)]
            values = [*range(len(known)), *[len(known) + 1] * (len(keys) - len(known))]
            text = graph.input(name, True)
            self.codes[name] = graph.op(
                "LabelEncoder", text, domain="ai.onnx.ml", keys_strings=[k.encode() for k in keys],
                values_int64s=values, default_int64=len(known),
            )  # fmt: skip
            return
        self._keep_number(attribute, *self._within(graph.input(name, False), MOST))

    def _keep_number(self, attribute: Attribute, value: str, there: str) -> None:
        self.numbers[attribute.name] = value, there
        if attribute.kind == "level":
            self.codes[attribute.name] = self._numeric_code(attribute, value, there)

    def _within(self, x: str, most: float) -> tuple[str, str]:
        """A number, 0 where it is missing or farther from 0; and whether it is there."""
        graph = self.graph
        there = graph.op(
            "And",
            graph.op("GreaterOrEqual", x, graph.constant(-most)),
            graph.op("LessOrEqual", x, graph.constant(most)),
        )
        for token in self.form.missing:
            gone = number_of(token)
            if math.isfinite(gone):
                there = graph.op("And", there, graph.op("Not", graph.op("Equal", x, graph.constant(gone))))
        return graph.op("Where", there, x, graph.constant(0.0)), there

    def _read_part(self, attribute: Attribute) -> None:
        """A part of a date, by arithmetic on the seconds of the date."""
        graph, date = self.graph, str(attribute.part_of)
        if date not in self.dates:
            self.dates[date] = self._within(date if date in self.numbers else graph.input(date, False), MOST_SECONDS)
        seconds, there = self.dates[date]
        start = Calculated(seconds, graph.op, lambda value: graph.constant(float(value)))
        found = date_part(str(attribute.part), start, lambda x: replace(x, name=graph.op("Floor", x.name)))
        if not attribute.names:
            value, known = self._within(found.name, MOST)  # some numbers may stand for missing cells
            self._keep_number(attribute, value, graph.op("And", there, known))
            return
        index, size = {level: k for k, level in enumerate(attribute.levels)}, len(attribute.levels)
        places = [size + 1 if name in self.form.missing else index.get(name, size) for name in attribute.names]
        code = graph.op("Gather", graph.constant(places, np.int64), graph.op("Cast", found.name, to=INT64))
        self.codes[attribute.name] = graph.op("Where", there, code, graph.constant(size + 1, np.int64))

    def _numeric_code(self, attribute: Attribute, value: str, there: str) -> str:
        """The place of a level that is a number; one more where it is not known, two more where it is missing."""
        graph, size = self.graph, len(attribute.levels)
        levels = [number_of(level) for level in attribute.levels]
        if levels:
            same = graph.op("Cast", graph.op("Equal", value, graph.constant([levels])), to=7)
            found = graph.op("ArgMax", same, axis=1, keepdims=1)
            known = graph.op("Equal", self._over(same, "ReduceMax", True), graph.constant(1, np.int64))
            code = graph.op("Where", known, found, graph.constant(size, np.int64))
        else:
            code = graph.constant(size, np.int64)
        return graph.op("Where", there, code, graph.constant(size + 1, np.int64))

    def _over(self, value: str, operator: str, keep: bool) -> str:
        return self.graph.op(operator, value, self.graph.constant([1], np.int64), keepdims=int(keep))

    # -- terms, each (rows, classes) ------------------------------------------------------------------------------

    def _term(self, term: Any) -> str:
        graph = self.graph
        match term:
            case shapes.LevelTable(name, _, table):
                return graph.op("Gather", graph.constant(table), self._flat_codes(name), axis=0)
            case shapes.BinTable(name, starts, table):
                scores = graph.constant(table[: len(starts) + 1])
                return self._where(name, graph.op("Gather", scores, self._bin(name, starts), axis=0), table[-1])
            case shapes.Gaussian():
                off = graph.op("Abs", graph.op("Sub", self.numbers[term.name][0], graph.constant([term.mean])))
                off = graph.op("Min", off, graph.constant([term.farthest]))
                off = graph.op("Mul", off, graph.constant([term.rate]))
                own = graph.op("Sub", graph.constant([term.peak]), graph.op("Mul", off, off))
                return self._where(term.name, own, term.absent)
            case shapes.Density(kernels=shapes.Kernels() as kernels):
                parts = [self._kernel(term.name, kernels, c) for c in range(self.size)]
                return self._where(term.name, graph.op("Concat", *parts, axis=1), term.normal.absent)
            case shapes.Slope(name, unit, weights, known, missing):
                line = graph.op("Mul", self._unit(unit, term.reach), graph.constant([weights]))
                return self._where(name, graph.op("Add", graph.constant([known]), line), missing)
            case shapes.Curve():
                slopes, z = graph.constant([term.weights[-1]]), [self._unit(unit, shapes.REACH) for unit in term.units]
                for near, weights in zip(z, term.weights, strict=False):
                    slopes = graph.op("Add", slopes, graph.op("Mul", near, graph.constant([weights])))
                own = graph.op("Mul", z[term.at], slopes)
                return self._where(term.name, graph.op("Add", graph.constant([term.known]), own), term.absent)
            case shapes.CellTable():
                return self._joint(term)
            case shapes.MultivariateNormal():
                return self._normals(term)
        raise AssertionError(term)

    def _where(self, name: str, known: str, missing: Floats) -> str:
        return self.graph.op("Where", self.numbers[name][1], known, self.graph.constant([missing]))

    def _flat_codes(self, name: str) -> str:
        return self.graph.op("Squeeze", self.codes[name], self.graph.constant([1], np.int64))

    def _bin(self, name: str, starts: Floats) -> str:
        """How many starts are at most x, (rows,)."""
        graph = self.graph
        if not len(starts):
            zeros = graph.op("Cast", self.numbers[name][1], to=7)
            return graph.op(
                "Squeeze", graph.op("Mul", zeros, graph.constant(0, np.int64)), graph.constant([1], np.int64)
            )
        passed = graph.op("Cast", graph.op("GreaterOrEqual", self.numbers[name][0], graph.constant([starts])), to=7)
        return self._over(passed, "ReduceSum", False)

    def _kernel(self, name: str, kernels: shapes.Kernels, c: int) -> str:
        """log of the sum of weight * exp(-((x - centre) * rate)**2), relative to the nearest centre, (rows, 1)."""
        graph = self.graph
        points, counts = kernels.of(c)
        off = graph.op("Sub", self.numbers[name][0], graph.constant([points]))
        off = graph.op("Min", graph.op("Abs", off), graph.constant(kernels.farthest[c]))
        off = graph.op("Mul", off, graph.constant(kernels.rate[c]))
        near = self._over(off, "ReduceMin", True)
        apart = graph.op("Mul", graph.op("Sub", off, near), graph.op("Add", off, near))
        each = graph.op("Mul", graph.op("Exp", graph.op("Neg", apart)), graph.constant([counts]))
        log = graph.op("Log", self._over(each, "ReduceSum", True))
        log = graph.op("Sub", log, graph.op("Mul", near, near))
        log = graph.op("Add", log, graph.constant(kernels.peak[c]))
        return log if kernels.floor is None else graph.op("Max", log, graph.constant(kernels.floor[c]))

    def _unit(self, unit: shapes.Standard, farthest: float) -> str:
        """A number in standard units; 0 where it is missing, (rows, 1)."""
        graph, (x, there) = self.graph, self.numbers[unit.name]
        half = -unit.shift // 2
        for power in (half, -unit.shift - half) if unit.shift else ():
            x = graph.op("Mul", x, graph.constant(math.ldexp(1.0, power)))
        x = graph.op("Sub", graph.op("Sub", x, graph.constant(unit.center)), graph.constant(unit.rest))
        x = graph.op("Div", x, graph.constant(unit.spread))
        x = graph.op("Max", graph.op("Min", x, graph.constant(farthest)), graph.constant(-farthest))
        return graph.op("Where", there, x, graph.constant(0.0))

    def _joint(self, term: shapes.CellTable) -> str:
        graph, minus = self.graph, self.graph.constant(-1, np.int64)
        if term.extra and term.log_extra + sum(math.log(a.size) for a in term.axes) > 700:
            raise SettingError(f"The joint table of {shown(term.name, 60)} has more cells than ONNX can count.")
        fits, nothing, free = None, None, graph.constant(float(term.extra))
        for k, axis in enumerate(term.axes):
            code = self._axis(axis)
            gone = graph.op("Equal", code, minus)
            own = graph.op("Equal", code, graph.constant([term.codes[:, k]], np.int64))
            own = graph.op("Or", own, gone)
            fits = own if fits is None else graph.op("And", fits, own)
            nothing = gone if nothing is None else graph.op("And", nothing, gone)
            free = graph.op("Mul", free, graph.op("Where", gone, graph.constant(float(axis.size)), graph.constant(1.0)))
        assert fits is not None and nothing is not None
        counts = graph.op("MatMul", graph.op("Cast", fits, to=11), graph.constant(term.counts))
        log = graph.op("Log", graph.op("Add", counts, free))
        log = graph.op("Sub", log, graph.constant([term.log_totals]))
        return graph.op("Where", nothing, graph.constant(0.0), log)

    def _normals(self, term: shapes.MultivariateNormal) -> str:
        """All patterns of gaps are worked out, and the row's own is picked."""
        graph, found, size = self.graph, patterns(term), len(term.names)
        there = graph.op("Concat", *(self.numbers[name][1] for name in term.names), axis=1)
        bits = graph.op("Mul", graph.op("Cast", there, to=7), graph.constant([[1 << k for k in range(size)]], np.int64))
        own = self._over(bits, "ReduceSum", True)
        x = graph.op("Concat", *(self.numbers[name][0] for name in term.names), axis=1)
        if term.ends is not None:
            low, high = (graph.constant([end]) for end in term.ends)
            x = graph.op("Max", graph.op("Min", x, high), low)
        parts, farthest = [], shapes.limit_distances(term.deviation)
        for c in range(self.size):
            off, most = graph.op("Sub", x, graph.constant([term.mean[c]])), farthest[c]
            off = graph.op("Max", graph.op("Min", off, graph.constant([most])), graph.constant([-most]))
            off = graph.op("Mul", off, graph.constant([1 / term.deviation[c]]))
            off = graph.op("Where", there, off, graph.constant(0.0))
            weights = np.concatenate([p.weights[c] for p in found], axis=1)
            apart = graph.op("MatMul", off, graph.constant(weights))
            apart = graph.op("Reshape", apart, graph.constant([-1, len(found), size], np.int64))
            square = graph.op("ReduceSum", graph.op("Mul", apart, apart), graph.constant([2], np.int64), keepdims=0)
            half = graph.op("Mul", square, graph.constant(0.5))
            score = graph.op("Sub", graph.constant([[p.peak[c] for p in found]]), half)
            if term.most < math.inf:
                score = graph.op("Max", score, graph.constant([[min(p.peak) - term.most for p in found]]))
            parts.append(graph.op("GatherElements", score, own, axis=1))
        return graph.op("Concat", *parts, axis=1)

    def _axis(self, axis: Axis) -> str:
        """The code of each row on an axis, (rows, 1)."""
        graph, column = self.graph, self.graph.constant([1], np.int64)
        if axis.edges is not None:
            code = graph.op("Unsqueeze", self._bin(axis.name, axis.edges), column)
            return graph.op("Where", self.numbers[axis.name][1], code, graph.constant(axis.missing, np.int64))
        return graph.op("Gather", graph.constant(_codes(axis), np.int64), self.codes[axis.name], axis=0)

    # -- probabilities --------------------------------------------------------------------------------------------

    def _softmax(self, scores: str) -> str:
        """exp(score - the best) over their sum; all 0 where every score is minus infinity. Ties are exact."""
        graph = self.graph
        best = self._over(scores, "ReduceMax", True)
        best = graph.op("Where", graph.op("Less", best, graph.constant(-MOST)), graph.constant(0.0), best)
        above = graph.op("Sub", scores, best)
        tied = graph.op("GreaterOrEqual", above, graph.constant(-TIE))
        return self._shared(graph.op("Where", tied, graph.constant(1.0), graph.op("Exp", above)))

    def _clipped(self, outputs: str) -> str:
        graph = self.graph
        best = self._over(outputs, "ReduceMax", True)
        above = graph.op("Greater", best, graph.constant(0.0))
        least = graph.op("Where", above, best, graph.constant(1.0))
        shares = graph.op("Div", graph.op("Max", outputs, graph.constant(0.0)), least)
        tied = graph.op("GreaterOrEqual", shares, graph.constant(1.0 - TIE))
        shares = graph.op("Where", tied, graph.constant(1.0), shares)
        places = graph.constant([list(range(self.size))], np.int64)
        first = graph.op("Equal", graph.op("ArgMax", outputs, axis=1, keepdims=1), places)
        alone = graph.op("Cast", first, to=11)
        return self._shared(graph.op("Where", above, shares, alone))

    def _shared(self, odds: str) -> str:
        graph = self.graph
        total = self._over(odds, "ReduceSum", True)
        some = graph.op("Greater", total, graph.constant(0.0))
        return graph.op("Div", odds, graph.op("Where", some, total, graph.constant(1.0)))
