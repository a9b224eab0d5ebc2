"""`dataclass` of the standard library, which makes frozen classes in a fraction of the time. Knows classes alone.

The library compiles six functions for every class, and a command starts with hundreds of classes.
Here one is compiled, `__init__`; the others are closures. Classes are the same otherwise: fields, `replace`, equality,
hashes, texts, errors (tests/machinery/test_records.py). What is not frozen or is unusual is left to the library.
"""

from __future__ import annotations

import dataclasses
import sys
from abc import update_abstractmethods
from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, **options):
        """As `dataclasses.dataclass`: with or without options."""
        return (lambda made: _make(made, options)) if cls is None else _make(cls, options)


_KNOWN = {"frozen", "eq", "repr", "kw_only", "slots"}
_UNUSUAL = ("InitVar", "KW_ONLY", "ClassVar")
_REFUSED = ("__setattr__", "__delattr__")


def _make(cls: type[Any], options: Mapping[str, bool]) -> type[Any]:
    fields = _read_fields(cls, options.get("kw_only", False)) if _is_usual(cls, options) else None
    slots = options.get("slots", False)
    if fields is None or (slots and not all(one.init for one in fields.values())):
        return dataclasses.dataclass(**options)(cls)
    eq, text = options.get("eq", True), options.get("repr", True)
    if slots:
        cls = _with_slots(cls, fields)
    for name, one in fields.items():
        if isinstance(cls.__dict__.get(name), dataclasses.Field):
            if one.default is dataclasses.MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, one.default)
    about: Any = _template(eq, text, options.get("kw_only", False), slots)
    cls.__dataclass_fields__ = fields
    cls.__dataclass_params__ = about.__dataclass_params__
    own = [one for one in fields.values() if one._field_type is _FIELD]  # type: ignore[attr-defined]
    stated = cls.__dict__.get("__hash__")
    new: dict[str, Any] = {"__init__": _write_init(cls, own), **_make_frozen(cls, own)}
    if text:
        new["__repr__"] = _make_repr([one.name for one in own if one.repr])
    if eq:
        new["__eq__"] = _make_eq([one.name for one in own if one.compare])
        if stated is None:  # None also where the class has an `__eq__` of its own
            hashed = [one.name for one in own if (one.compare if one.hash is None else one.hash)]
            setattr(cls, "__hash__", _make_hash(hashed))  # noqa: B010 - in place of None
    new["__match_args__"] = tuple(one.name for one in own if one.init and not one.kw_only)
    if sys.version_info >= (3, 13):
        new["__replace__"] = lambda self, /, **changes: dataclasses.replace(self, **changes)
    for name, value in new.items():
        if name not in cls.__dict__:
            setattr(cls, name, value)
    return update_abstractmethods(cls)


# -- fields -----------------------------------------------------------------------------------------------------


@cache
def _template(eq: bool, text: bool, kw_only: bool, slots: bool) -> type[Any]:
    """A class of the library with these options, for what it notes of them."""
    made = type("Template", (), {"__doc__": "", "__annotations__": {}})
    return dataclasses.dataclass(frozen=True, eq=eq, repr=text, kw_only=kw_only, slots=slots)(made)


@dataclasses.dataclass
class _Sample:
    """One field, for the mark that the library puts on fields."""

    one: int


_FIELD: Any = _Sample.__dataclass_fields__["one"]._field_type  # type: ignore[attr-defined]


def _is_usual(cls: type[Any], options: Mapping[str, bool]) -> bool:
    """Whether the class is one of the many that are made here."""
    bases = [vars(base)["__dataclass_params__"] for base in cls.__mro__[1:] if "__dataclass_params__" in vars(base)]
    return (
        options.keys() <= _KNOWN
        and options.get("frozen", False)
        and all(base.frozen for base in bases)
        and not any(name in cls.__dict__ for name in _REFUSED)
        and cls.__doc__ is not None
        and "__slots__" not in cls.__dict__
        and (not options.get("slots", False) or _may_have_slots(cls))
    )


def _may_have_slots(cls: type[Any]) -> bool:
    """Whether it inherits from nothing, and no method knows the class that another will take the place of."""
    codes = (getattr(value, "__code__", None) for value in vars(cls).values())
    knows = any("__class__" in code.co_freevars for code in codes if code is not None)
    return cls.__bases__ == (object,) and type(cls) is type and not knows


def _with_slots(cls: type[Any], fields: Mapping[str, dataclasses.Field[Any]]) -> type[Any]:
    """The same class with a slot for each field in the place of a dict: another one, as slots come first."""
    held = {name: value for name, value in vars(cls).items() if name not in {*fields, "__dict__", "__weakref__"}}
    made: type[Any] = type(cls.__name__, (), {**held, "__slots__": tuple(fields)})
    made.__qualname__ = cls.__qualname__
    names = [*fields]

    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    for method in (__getstate__, __setstate__):
        if method.__name__ not in held:
            setattr(made, method.__name__, method)
    return made


def _read_fields(cls: type[Any], kw_only: bool) -> dict[str, dataclasses.Field[Any]] | None:
    """The fields of a class, those of its bases first; None where one is unusual. Changes nothing of the class."""
    fields: dict[str, dataclasses.Field[Any]] = {}
    for base in cls.__mro__[-1:0:-1]:
        fields |= vars(base).get("__dataclass_fields__", {})
    for name, said in cls.__annotations__.items():
        if not isinstance(said, str) or name == "self":
            return None
        if said.startswith("ClassVar["):
            continue
        default = getattr(cls, name, dataclasses.MISSING)
        if any(word in said for word in _UNUSUAL) or type(default).__hash__ is None:
            return None
        own: Any = default if isinstance(default, dataclasses.Field) else dataclasses.field(default=default)
        if type(own.default).__hash__ is None or own.kw_only is not dataclasses.MISSING:
            return None
        own.name, own.type, own._field_type = name, said, _FIELD
        own.kw_only = kw_only
        fields[name] = own
    required = [one.init and _is_required(one) for one in fields.values() if one.init and not one.kw_only]
    return fields if required == sorted(required, reverse=True) else None


def _is_required(one: dataclasses.Field[Any]) -> bool:
    return one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING


# -- methods ----------------------------------------------------------------------------------------------------


def _write_init(cls: type[Any], fields: list[dataclasses.Field[Any]]) -> Callable[..., None]:
    """`__init__`, the one method that is compiled: its parameters are the fields."""
    values: dict[str, Any] = {"_set": object.__setattr__, "_not_given": _NotGiven()}
    words: dict[bool, list[str]] = {False: ["self"], True: []}
    lines = []
    for one in fields:
        name, listed = one.name, words[bool(one.kw_only)]
        value: str | None = name
        if one.default_factory is not dataclasses.MISSING:
            values[f"_make_{name}"] = one.default_factory
            value = f"_make_{name}() if {name} is _not_given else {name}" if one.init else f"_make_{name}()"
            listed += [f"{name}=_not_given"] if one.init else []
        elif not one.init:
            value = None
        elif one.default is not dataclasses.MISSING:
            values[f"_default_{name}"] = one.default
            listed.append(f"{name}=_default_{name}")
        else:
            listed.append(name)
        lines += [] if value is None else [f"_set(self, {name!r}, {value})"]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    words_of_all = [*words[False], *(["*", *words[True]] if words[True] else [])]
    exec(f"def __init__({', '.join(words_of_all)}):\n " + "\n ".join(lines or ["pass"]), values)
    made: Any = values["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    made.__annotations__ = {one.name: one.type for one in fields if one.init} | {"return": None}
    return made  # type: ignore[no-any-return]


class _NotGiven:
    """What stands for a value that is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


def _read_values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """The values of some fields of an object."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _make_repr(names: list[str]) -> Callable[[Any], str]:
    values = _read_values(names)

    @recursive_repr()
    def __repr__(self: Any) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in zip(names, values(self), strict=True))
        return f"{self.__class__.__qualname__}({said})"

    return __repr__


def _make_eq(names: list[str]) -> Callable[[Any, Any], bool]:
    values = _read_values(names)

    def __eq__(self: Any, other: Any) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _make_hash(names: list[str]) -> Callable[[Any], int]:
    values = _read_values(names)

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


def _make_frozen(cls: type[Any], fields: list[dataclasses.Field[Any]]) -> dict[str, Any]:
    """Methods that refuse to change a field; a subclass may have other attributes."""
    names = frozenset(one.name for one in fields)

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}
