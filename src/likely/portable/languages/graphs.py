"""A graph of ONNX, built step by step: constants, operators, and what is its own name. Knows nothing of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likely.errors import SettingError

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:  # the extra is not there
    raise SettingError("ONNX needs onnx, which is not installed. Install it: pip install 'likely[onnx]'.") from None

OPSET, ML_OPSET, IR = 18, 4, 9
"""Versions that runtimes of the last years read."""


class Graph:
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
