"""Records are the standard library's dataclasses in all that can be seen of them; the library itself is the judge."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

import likely
from likely.machinery import records

Make = Callable[..., Any]


def plain(make: Make) -> Any:
    @make(frozen=True)
    class Point:
        """A point."""

        x: int
        y: float = 0.5
        names: tuple[str, ...] = ()
        held: list[int] = field(default_factory=list, compare=False)
        hidden: str = field(default="h", repr=False)
        fixed: int = field(default=7, init=False)
        made: dict[str, int] = field(default_factory=dict, init=False, hash=False)
        count: ClassVar[int] = 3

    return Point


def keywords(make: Make) -> Any:
    @make(frozen=True, eq=False, kw_only=True, repr=False)
    class Settings:
        """Settings."""

        one: int = 1
        two: str

        def __post_init__(self) -> None:
            object.__setattr__(self, "one", self.one + 1)

        def __repr__(self) -> str:
            return "settings"

    return Settings


def inheriting(make: Make) -> Any:
    @make(frozen=True)
    class First(ABC):
        """The first."""

        x: int
        y: int = 2

        @abstractmethod
        def area(self) -> int: ...

    @make(frozen=True)
    class Second(First):
        """The second."""

        z: int = 3
        y: int = 5  # in the place of the first

        def area(self) -> int:
            return self.x * self.y

    class Third(Second):
        """No record itself: it may have attributes of its own."""

    return Third


def with_own_methods(make: Make) -> Any:
    @make(frozen=True)
    class Own:
        """Says itself how it compares."""

        x: int
        y: int = 0

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own) and self.x == other.x

    return Own


def with_slots(make: Make) -> Any:
    @make(frozen=True, slots=True)
    class Slots:
        """Slots in the place of a dict."""

        x: int
        y: tuple[int, ...] = ()
        held: list[int] = field(default_factory=list, compare=False)
        count: ClassVar[int] = 3

        @property
        def double(self) -> int:
            return 2 * self.x

    return Slots


def with_fixed_slots(make: Make) -> Any:
    @make(frozen=True, slots=True)
    class Fixed:
        """A slot that is not given."""

        x: int
        fixed: int = field(default=7, init=False)

    return Fixed


def single(make: Make) -> Any:
    @make(frozen=True)
    class One:
        """One field, which may hold a tuple."""

        x: Any = ()

    return One


def empty(make: Make) -> Any:
    @make(frozen=True)
    class Nothing:
        """No field."""

    return Nothing


CASES: dict[Any, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    plain: [((1,), {}), ((1, 2.0), {}), ((1,), {"names": ("a",), "held": [1]}), ((), {}), ((1,), {"fixed": 1})],
    keywords: [((), {"two": "b"}), ((), {"two": "b", "one": 5}), ((1,), {}), ((), {"one": 1})],
    inheriting: [((1,), {}), ((1, 2, 3), {}), ((), {"x": 1, "z": 9}), ((1, 2, 3, 4), {})],
    with_own_methods: [((1,), {}), ((1, 2), {})],
    with_fixed_slots: [((1,), {}), ((), {})],
    with_slots: [((1,), {}), ((1, (2,)), {}), ((), {}), ((1,), {"held": [3]})],
    single: [((), {}), (((),), {}), (((1,),), {}), (([1],), {})],
    empty: [((), {}), ((1,), {})],
}


def outcome(work: Callable[[], Any]) -> Any:
    """What comes of it: a value, or the kind and words of the error."""
    try:
        return work()
    except Exception as error:
        return type(error), str(error)


def look_at(kind: Any, given: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
    """All that can be seen of an object that is made so."""
    made = outcome(lambda: kind(*given, **named))
    if isinstance(made, tuple):
        return [made]
    other = kind(*given, **named)
    out = [repr(made), made == other, made != object(), (made == object()), outcome(lambda: hash(made) == hash(other))]
    out += [hash(made) == object.__hash__(made) if outcome(lambda: hash(made)) is int else None]
    names = [f.name for f in fields(made)]
    out += [[getattr(made, name) for name in names], dataclasses.asdict(made), copy.copy(made) == made]
    # Of other names a class with slots is refused by the library for another reason, and with other words.
    for name in (*names[:1], *(() if hasattr(kind, "__slots__") else ("strange",))):
        out.append(outcome(lambda name=name: setattr(made, name, 3)))  # type: ignore[misc]
        out.append(outcome(lambda name=name: delattr(made, name)))  # type: ignore[misc]
    out.append(outcome(lambda: repr(replace(made, **{n: 4 for n in names[:1]}))))
    out.append(outcome(lambda: replace(made, strange=1)))
    return out


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_record_is_what_the_library_would_have_made(case: Any) -> None:
    ours, theirs = case(records.dataclass), case(dataclass)
    for given, named in CASES[case]:
        assert look_at(ours, given, named) == look_at(theirs, given, named), (given, named)
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert ours.__match_args__ == theirs.__match_args__
    for mine, own in zip(fields(ours), fields(theirs), strict=True):
        assert repr(mine) == repr(own)
    assert repr(ours.__dataclass_params__) == repr(theirs.__dataclass_params__)


@pytest.mark.parametrize("case", [c for c in CASES if c is not with_fixed_slots], ids=lambda case: case.__name__)
def test_methods_are_closures_but_one(case: Any) -> None:
    made = case(records.dataclass)
    own = made if "__init__" in vars(made) else made.__mro__[1]
    assert own.__init__.__code__.co_filename == "<string>"
    assert own.__setattr__.__code__.co_filename == records.__file__


def test_libraries_and_ours_inherit_from_each_other() -> None:
    @records.dataclass(frozen=True)
    class Ours:
        """Ours."""

        x: int

    @dataclass(frozen=True)
    class Theirs(Ours):
        y: int = 2

    @records.dataclass(frozen=True)
    class Again(Theirs):
        """Ours again."""

        z: int = 3

    assert repr(Again(1)).endswith("Again(x=1, y=2, z=3)")
    assert replace(Theirs(1), x=5) == Theirs(5) and hash(Again(1)) == hash(Again(1))


@pytest.mark.parametrize("options", [{}, {"frozen": False}, {"frozen": True, "order": True}])
def test_what_is_unusual_is_left_to_the_library(options: dict[str, bool]) -> None:
    @records.dataclass(**options)
    class Some:
        """Some."""

        x: int = 1

    @dataclass(**options)
    class Same:
        """Some."""

        x: int = 1

    assert vars(Some).keys() == vars(Same).keys()
    assert records.dataclass(Some.__mro__[0]) is not None  # without options


def test_errors_of_the_library_are_raised() -> None:
    with pytest.raises(TypeError, match="non-default argument"):

        @records.dataclass(frozen=True)
        class Wrong:
            """A field that must be given behind one that need not."""

            x: int = 1
            y: int

    with pytest.raises(ValueError, match="mutable default"):

        @records.dataclass(frozen=True)
        class Mutable:
            """A list that all would share."""

            x: list[int] = []  # noqa: RUF012

    with pytest.raises(TypeError, match="frozen"):

        @records.dataclass(frozen=True)
        class Mixed(dataclasses.make_dataclass("Loose", ["a"])):  # type: ignore[misc]
            """Frozen, of what is not."""

            x: int = 1


@records.dataclass(frozen=True)
class Kept:
    """One that can be pickled."""

    x: int
    y: tuple[int, ...] = ()


def test_a_record_is_pickled_copied_matched_and_cannot_be_changed() -> None:
    one = Kept(1, (2,))
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
    match one:
        case Kept(x, y):
            assert (x, y) == (1, (2,))
    with pytest.raises(FrozenInstanceError):
        one.x = 3  # type: ignore[misc]


@records.dataclass(frozen=True, slots=True)
class Slotted:
    """One with slots that can be pickled."""

    x: int
    y: tuple[int, ...] = ()


def test_slots_are_slots() -> None:
    one = Slotted(1, (2,))
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == copy.copy(one) == replace(one) == one
    assert not hasattr(one, "__dict__") and Slotted.__slots__ == ("x", "y")  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="cannot create weak reference"):
        weakref.ref(one)

    class Parent:
        """No record."""

    @records.dataclass(frozen=True, slots=True)
    class Child(Parent):
        """What inherits is left to the library."""

        x: int = 1

    assert Child().x == 1 and Child.__slots__ == ("x",)  # type: ignore[attr-defined]


def test_a_record_in_itself_has_a_text() -> None:
    held: list[Any] = []
    one = single(records.dataclass)(held)
    held.append(one)
    assert "..." in repr(one)


def test_frozen_records_of_the_house_are_made_here() -> None:
    """The library's way takes five times as long, at every start."""
    frozen = re.compile(r"^ *@dataclass\((?=[^)\n]*frozen=True)", re.MULTILINE)
    library = re.compile(r"^from dataclasses import [^\n]*\bdataclass\b", re.MULTILINE)
    source = Path(likely.__file__).parent
    texts = {path.relative_to(source).as_posix(): path.read_text(encoding="utf-8") for path in source.rglob("*.py")}
    assert sum(bool(frozen.search(text)) for text in texts.values()) > 100
    slow = [name for name, text in texts.items() if frozen.search(text) and library.search(text)]
    assert not slow, "\n".join(["import dataclass from likely.machinery.records:", *slow])
