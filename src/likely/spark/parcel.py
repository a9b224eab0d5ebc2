"""Objects of this house as bytes and back, by their parts, in the form of the model file: nothing in it is ever run.

Knows plain values, arrays and objects of classes of likely; whatever else is refused. No pickle: what an executor sends
back cannot do anything to the driver (decision 0095).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from fractions import Fraction
from importlib import import_module
from types import FunctionType, MappingProxyType
from typing import Any

import numpy as np

from likely.errors import FileFormatError, SettingError, shown
from likely.sums import state

HOUSE = "likely"


def packed(value: Any) -> bytes:
    """Any value made of plain values, arrays and objects of likely, as bytes."""
    packer = _Packer()
    root = packer.node(value)
    return state.dump({"version": version(), "root": root, "objects": packer.objects})


def unpacked(data: bytes) -> Any:
    """The value that `packed` took; equal, and with the same parts shared."""
    tree = state.parse(data, "a parcel")
    if tree["version"] != version():
        raise FileFormatError(
            f"Driver and executors have different versions of likely ({tree['version']} and {version()}), or of "
            "Python. Install the same everywhere."
        )
    return _Opener(tree["objects"]).value(tree["root"])


def version() -> str:
    """What must be the same at both ends: objects are carried by their parts, which another version may not have."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        own = installed(HOUSE)
    except PackageNotFoundError:  # run from its sources
        own = "from sources"
    return f"{own}, Python {sys.version_info[0]}.{sys.version_info[1]}"


class _Packer:
    """Values as nodes: what is plain stands for itself, the rest is a list whose first entry says what it is."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self._places: dict[int, int] = {}
        self._alive: list[Any] = []  # so that no id is given to another object meanwhile

    def node(self, value: Any) -> Any:
        if value is None or (isinstance(value, (bool, str)) and type(value) in (bool, str)):
            return value
        if type(value) is int:
            return value if abs(value) < 1 << 62 else ["int", str(value)]
        if type(value) is float:
            return ["float", np.array([value])]
        if isinstance(value, np.generic):
            return ["scalar", *_array(np.array(value))]
        if type(value) in (list, tuple, set, frozenset):
            return [type(value).__name__, [self.node(v) for v in value]]
        if isinstance(value, (bytes, bytearray)):
            return ["bytes", np.frombuffer(bytes(value), np.uint8)]
        if isinstance(value, Fraction):
            return ["fraction", str(value)]
        if isinstance(value, slice):
            return ["slice", self.node((value.start, value.stop, value.step))]
        if isinstance(value, (type, FunctionType)):
            return ["name", _name(value)]
        return ["object", self._object(value)]

    def _object(self, value: Any) -> int:
        """What may be shared is kept once."""
        if id(value) in self._places:
            return self._places[id(value)]
        place = self._places[id(value)] = len(self.objects)
        self._alive.append(value)
        self.objects.append(None)
        if isinstance(value, np.ndarray):
            self.objects[place] = ["array", *_array(value)]
        elif type(value) in (dict, MappingProxyType):
            self.objects[place] = ["dict", [[self.node(k), self.node(v)] for k, v in value.items()]]
        else:
            name = _name(type(value))
            self.objects[place] = ["new", name, [[k, self.node(v)] for k, v in sorted(_parts(value).items())]]
        return place


def _array(value: np.ndarray[Any, Any]) -> list[Any]:
    if value.dtype.hasobject:
        raise SettingError("An array of Python objects cannot be sent to executors.")
    flat = np.ascontiguousarray(value)
    return [np.frombuffer(flat.tobytes(), np.uint8), value.dtype.str, list(value.shape)]


def _name(thing: Any) -> str:
    """A class or function of the house by its name; others, and those without a place of their own, are refused."""
    module, name = thing.__module__, thing.__qualname__
    if module.split(".")[0] != HOUSE or "<" in name:
        raise SettingError(
            f"{shown(f'{module}.{name}', 100)} is no part of likely, so it cannot be sent to executors. "
            "Learn with a learner of likely, or without Spark."
        )
    return f"{module}:{name}"


def _parts(value: Any) -> dict[str, Any]:
    out = dict(getattr(value, "__dict__", {}))
    for kind in type(value).__mro__:
        for slot in _slots(kind):
            if hasattr(value, slot):
                out[slot] = getattr(value, slot)
    return out


def _slots(kind: type) -> list[str]:
    slots = kind.__dict__.get("__slots__", ())
    names = [slots] if isinstance(slots, str) else list(slots)
    # A private slot goes by the name of its class.
    return [f"_{kind.__name__.lstrip('_')}{n}" if n.startswith("__") and not n.endswith("__") else n for n in names]


class _Opener:
    def __init__(self, objects: list[Any]) -> None:
        self._nodes, self._made = objects, dict[int, Any]()

    def value(self, node: Any) -> Any:
        if not isinstance(node, list):
            return node
        kind, *rest = node
        if kind == "int":
            return int(rest[0])
        if kind == "float":
            return float(rest[0][0])
        if kind == "scalar":
            return _restored(*rest)[()]
        if kind in ("list", "tuple", "set", "frozenset"):
            kinds = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
            return kinds[kind](self.value(v) for v in rest[0])
        if kind == "bytes":
            return rest[0].tobytes()
        if kind == "fraction":
            return Fraction(rest[0])
        if kind == "slice":
            return slice(*self.value(rest[0]))
        if kind == "name":
            return _named(rest[0])
        return self._object(rest[0])

    def _object(self, place: int) -> Any:
        if place in self._made:
            return self._made[place]
        kind, *rest = self._nodes[place]
        if kind == "array":
            out: Any = _restored(*rest)
            self._made[place] = out
        elif kind == "dict":
            out = self._made[place] = {}
            for key, value in rest[0]:
                out[self.value(key)] = self.value(value)
        else:
            made = _named(rest[0])
            if not isinstance(made, type):
                raise TypeError("only a class has objects")
            out = self._made[place] = object.__new__(made)
            for name, value in rest[1]:
                object.__setattr__(out, name, self.value(value))
        return out


def _restored(data: Any, kind: str, shape: list[int]) -> Any:
    dtype = np.dtype(kind)
    if dtype.hasobject:
        raise TypeError("no arrays of objects")
    return np.frombuffer(data.tobytes(), dtype).reshape(shape).copy()


def _named(name: str) -> Any:
    module, _, path = name.partition(":")
    if module.split(".")[0] != HOUSE:
        raise TypeError("not of this house")
    out: Any = import_module(module)
    for part in path.split("."):
        out = getattr(out, part)
    return out


def error_parts(error: Exception) -> dict[str, str]:
    """An error as plain values: which, and what it says."""
    return {"kind": type(error).__name__, "said": str(error)}


def error_from(said: Mapping[str, str]) -> Exception:
    """The error that `error_parts` took apart; one of ours, whatever it says."""
    from likely import errors

    kind = getattr(errors, said["kind"], None)
    ours = isinstance(kind, type) and issubclass(kind, errors.LikelyError)
    return kind(said["said"]) if ours and kind is not None else errors.InputError(said["said"])
