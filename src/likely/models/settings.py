"""How a setting is declared, once: its type, default, range and meaning, as metadata of a learner's field.

The checks when a learner is made, the command line's options, scikit-learn's parameters and the reference's tables are
read from it. Knows no learner, and imports nothing heavy: `likely --help` reads declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from likely.errors import SettingError, shown

_KEY = "setting"


@dataclass(frozen=True)
class Setting:
    """What may be said of one setting, and what it means."""

    meaning: str
    """One sentence, or a few."""
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    whole: bool = False
    """Whether a number must be whole."""
    choices: tuple[object, ...] = ()
    """The values that may be said; where a number may be said too, the words that may stand in its place."""
    optional: bool = False
    """Whether None may be said: the setting is then not used."""
    convert: Callable[[Any], object] | None = None
    """Checks a value that is neither a number nor a choice, and copies it, so that nobody changes it from outside."""

    @property
    def is_number(self) -> bool:
        """Whether a number may be said."""
        return self.whole or not self.at_least is self.above is self.at_most is None

    @property
    def allowed(self) -> str:
        """What may be said, in words: 'a finite number, zero or more'; empty where only code can tell."""
        words = ", ".join(_written(choice) for choice in self.choices)
        if not self.is_number:
            return f"one of {words}" if words else ""
        kind = "a whole number" if self.whole else "a finite number" if self.at_most is None else "a number"
        if self.at_least is not None and self.at_most is not None:
            kind += f" {'from' if self.whole else 'between'} {self.at_least:g} {'to' if self.whole else 'and'} "
            kind += f"{self.at_most:g}"
        elif self.at_least is not None:
            kind += f", {_spelled(self.at_least)} or more"
        elif self.above is not None:
            kind += f" above {_spelled(self.above)}"
        return f"{kind}, or {words}" if words else kind

    def checked(self, name: str, value: Any) -> object:
        """The value as it is kept; a `SettingError` where it may not be said."""
        if value is None and self.optional:
            return None
        if self.convert is not None:
            return self.convert(value)
        if any(value is choice or (not isinstance(value, bool) and value == choice) for choice in self.choices):
            return value
        if self.is_number and self._holds(value):
            return int(value) if self.whole else float(value)
        if self.allowed:
            raise SettingError(f"{name} is {shown(value)}. It must be {self.allowed}.")
        return value

    def _holds(self, value: object) -> bool:
        """Whether a value is a number in the range."""
        if isinstance(value, bool) or not isinstance(value, Integral if self.whole else Real):
            return False
        number = int(value) if isinstance(value, Integral) else float(value)
        return (
            (-(2**63) <= number < 2**63 if self.whole else float("-inf") < number < float("inf"))
            and (self.at_least is None or number >= self.at_least)
            and (self.above is None or number > self.above)
            and (self.at_most is None or number <= self.at_most)
        )


def _written(choice: object) -> str:
    return str(choice).lower() if isinstance(choice, bool) else str(choice)


def _spelled(number: float) -> str:
    return "zero" if number == 0 else "one" if number == 1 else f"{number:g}"


def setting(
    default: object,
    meaning: str,
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    whole: bool = False,
    choices: Iterable[object] = (),
    optional: bool = False,
    convert: Callable[[Any], object] | None = None,
) -> Any:
    """A field of a learner: its default (... where it must be said) and its meaning; then what may be said.

    >>> @dataclass(frozen=True)
    ... class Learner(Settings):
    ...     pseudo_count: float = setting(1.0, "Added to each level's count.", at_least=0)
    >>> Learner(2).pseudo_count
    2.0
    """
    about = Setting(meaning, at_least, above, at_most, whole, tuple(choices), optional, convert)
    if default is ...:
        return field(metadata={_KEY: about})
    if isinstance(default, dict):
        return field(default_factory=dict, metadata={_KEY: about})
    return field(default=default, metadata={_KEY: about})


def declared(learner: Any) -> Iterator[tuple[str, object, Setting]]:
    """The settings of a learner (or of its class): name, default (... where it must be said), declaration."""
    for part in fields(learner):
        if _KEY in part.metadata:
            default: object = ... if part.default is MISSING else part.default
            yield part.name, {} if part.default_factory is dict else default, part.metadata[_KEY]


def type_names(learner: type) -> dict[str, str]:
    """The type of each setting, for people: 'left' | 'right', not the alias that the source has for it."""
    hints = get_type_hints(learner)
    return {part.name: _type_name(hints[part.name]) for part in fields(learner)}


def _type_name(hint: Any) -> str:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " | ".join(map(repr, parts))
    if origin in (Union, UnionType):
        return " | ".join(map(_type_name, parts))
    if origin is not None:
        return f"{origin.__name__}[{', '.join('...' if p is ... else _type_name(p) for p in parts)}]"
    return "None" if hint is NoneType else str(hint.__name__)


class Settings:
    """What learners inherit: settings out of their range are refused, the rest are kept as copies."""

    def __post_init__(self) -> None:
        for name, _, about in declared(self):
            object.__setattr__(self, name, about.checked(name, getattr(self, name)))


def check_choice(name: str, value: object, allowed: Iterable[object]) -> None:
    """Refuse a value that is none of the allowed ones."""
    Setting("", choices=tuple(allowed)).checked(name, value)


def settings_of(learner: Any) -> dict[str, Any]:
    """The settings of a learner as plain values."""
    from likely.sums import state  # which loads numpy, and declarations must not

    return dict(state.plain(learner))


def changed_settings(learner: Any) -> dict[str, Any]:
    """Those settings of a learner that are not the usual ones."""
    from likely.sums import state

    usual = {f.name: state.plain(f.default) for f in fields(learner) if f.default is not MISSING}
    usual |= {f.name: f.default_factory() for f in fields(learner) if f.default_factory is not MISSING}
    return {name: value for name, value in settings_of(learner).items() if name not in usual or usual[name] != value}
