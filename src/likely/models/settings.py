"""How a setting is declared, once; and values of settings that are more than a number or a word."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from itertools import pairwise
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from likely.errors import SettingError, shown
from likely.table.labels import label

# How a setting of a learner, or of reading a table, is declared, once: its type, default, range and meaning, as
# metadata of a field.

_KEY = "setting"
SWITCH = (False, True)
"""The choices of what is on or off."""


@dataclass(frozen=True)
class Form:
    """How a setting is written on the command line, where its name and type do not say that."""

    metavar: str | None = None
    read: Callable[[Any], object] | None = None
    """What was written, as the setting takes it; None: it is taken as it is."""
    multiple: bool = False
    note: str = ""
    """How it is written, beside what the setting means."""
    flag: str = ""
    """The option, where it is not called like the setting."""
    meaning: str = ""
    """In place of what the setting means, where one option says only a part of it."""
    switch: bool = False
    """Whether it is written without a value, which `read` then gives."""
    eager: bool = False
    """Whether it says which table DATA is, and so is read before it."""
    parts: Mapping[str, Setting] = field(default_factory=dict)
    """The options that say it together, where one cannot."""


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
    about: str = ""
    """What it is about, where settings of several kinds stand together."""
    group: str = ""
    """The heading of help under which its option stands."""
    form: Form | None = None
    """How it is written on the command line, where its name and type do not say that."""
    faces: Mapping[str, str] = field(default_factory=dict)
    """What it is called where a face takes it beside Python and the command line: in a spec, scikit-learn, the app."""

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
        if self.choices or self.is_number:
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
    about: str = "",
    group: str = "",
    form: Form | None = None,
    faces: Mapping[str, str] | None = None,
) -> Any:
    """A field of a learner: its default (... where it must be said) and its meaning; then what may be said.

    Of what may be said about reading a table (intake/options.py) also what it is about, and how faces take it.

    >>> @dataclass(frozen=True)
    ... class Learner(Settings):
    ...     pseudo_count: float = setting(1.0, "Added to each level's count.", at_least=0)
    >>> Learner(2).pseudo_count
    2.0
    """
    declaration = Setting(
        meaning, at_least, above, at_most, whole, tuple(choices), optional, convert, about, group, form, faces or {}
    )
    if default is ...:
        return field(metadata={_KEY: declaration})
    if isinstance(default, dict):
        return field(default_factory=dict, metadata={_KEY: declaration})
    return field(default=default, metadata={_KEY: declaration})


def flag_of(name: str, form: Form | None) -> str:
    """The option of a setting on the command line."""
    return form.flag if form is not None and form.flag else f"--{name.replace('_', '-')}"


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

    @property
    def spoken(self) -> str:
        """What people call it with these settings, where that is not what they call any of its kind."""
        return ""


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


# Values of settings that are more than a number or a word: priors, weights, kinds of numbers, bins, blocks.

Prior = Literal["observed", "uniform"] | Mapping[str, float]
Variance = Literal["unbiased", "ml"]
Shrinkage = float | Literal["auto"]
Kind = Literal["gaussian", "kernel", "binned"]
Kinds = Kind | Mapping[str, Kind]
Width = Literal["silverman", "scott", "likelihood"] | float
Bandwidth = Width | Mapping[str, Width]
Rule = Literal["mdl", "width", "frequency"]
Bins = Rule | Mapping[str, Rule | tuple[float, ...]]
Closed = Literal["left", "right"]
Blocks = tuple[tuple[str, ...], ...]

KINDS: tuple[Kind, ...] = get_args(Kind)
RULES: tuple[Rule, ...] = get_args(Rule)
WIDTHS = ("silverman", "scott", "likelihood")


def check_prior(prior: Any) -> Any:
    """A copy of a given prior, so that nobody changes it from outside; any other is left as it is."""
    return check_shares(prior, "the prior") if isinstance(prior, Mapping) else prior


def check_shares(values: Mapping[Any, Any], where: str) -> dict[str, float]:
    """Numbers by the name of a class or level, however the name was given (a number, a truth value)."""
    for name, value in values.items():
        if not isinstance(value, Real) or isinstance(value, bool):
            raise SettingError(f"In {where}, {shown(name)} has the value {shown(value)}. It must be a number.")
    return {str(label(name)): float(value) for name, value in values.items()}


def check_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights of attributes."""
    for name, value in weights.items():
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < math.inf:
            raise SettingError(
                f"The weight of attribute {shown(name)} is {shown(value)}. It must be a finite number, zero or more."
            )
    return {str(name): float(value) for name, value in weights.items()}


def check_level_weights(weights: Mapping[str, Mapping[Any, Any]]) -> dict[str, dict[str, float]]:
    """For each attribute the share of each level."""
    return {name: check_shares(shares, f"the level weights of {shown(name)}") for name, shares in weights.items()}


def check_kinds(value: object) -> Kinds:
    """`numbers`, copied, so that nobody changes it from outside."""
    if not isinstance(value, Mapping):
        check_choice("numbers", value, KINDS)
        return value  # type: ignore[return-value]
    for name, kind in value.items():
        check_choice(f"numbers of {shown(name)}", kind, KINDS)
    return {str(name): kind for name, kind in value.items()}


def check_bandwidth(value: object) -> Bandwidth:
    """`bandwidth`, copied: a rule, or a number of standard deviations; or by column a rule, or a width in its units."""
    if isinstance(value, Mapping):
        return {str(name): _check_width(own) for name, own in value.items()}
    return _check_width(value)


def _check_width(value: object) -> Width:
    if isinstance(value, Real) and not isinstance(value, bool):
        if 0 < float(value) < math.inf:
            return float(value)
    elif value in WIDTHS:
        return value  # type: ignore[return-value]
    raise SettingError(
        f"bandwidth is {shown(value)}. It must be one of {', '.join(WIDTHS)}, or a number above zero: "
        "so many standard deviations, or, given by column, a width in its units."
    )


def check_bins(value: object) -> Bins:
    """`bins`, copied: a rule, or a rule or edges for each column."""
    if not isinstance(value, Mapping):
        check_choice("bins", value, RULES)
        return value  # type: ignore[return-value]
    return {str(name): _check_edges(str(name), rule) for name, rule in value.items()}


def _check_edges(name: str, rule: object) -> Rule | tuple[float, ...]:
    if isinstance(rule, str):
        check_choice(f"bins of {shown(name)}", rule, RULES)
        return rule  # type: ignore[return-value]
    edges = list(rule) if isinstance(rule, Sequence) or hasattr(rule, "__len__") else []  # type: ignore[call-overload]
    if not edges or not all(isinstance(e, Real) and math.isfinite(e) for e in edges):
        raise SettingError(
            f"bins of {shown(name)} are {shown(rule)}. Give numbers to cut at, such as 10, 20, 30, "
            f"or one of {', '.join(RULES)}."
        )
    found = tuple(float(e) for e in edges)
    for low, high in pairwise(found):
        if not low < high:
            raise SettingError(f"bins of {shown(name)}: the edge {high:g} follows {low:g}. Put the edges in order.")
    return found


def check_blocks(blocks: Any) -> Blocks:
    """Blocks as tuples of names; what can be no block of any table is refused."""
    form = 'Write blocks=(("outlook", "windy"), ("temperature", "humidity")).'
    if isinstance(blocks, (str, Mapping)) or not isinstance(blocks, Iterable):
        raise SettingError(f"blocks is {shown(blocks)}, which is not a list of blocks. {form}")
    out: list[tuple[str, ...]] = []
    where: dict[str, int] = {}
    for number, block in enumerate(blocks, 1):
        if isinstance(block, (str, Mapping)) or not isinstance(block, Iterable):
            raise SettingError(f"Block {number} is {shown(block)}, which is not a list of columns. {form}")
        names = tuple(block)
        if not names:
            raise SettingError(f"Block {number} is empty. Name its columns, or leave it out.")
        for name in names:
            if not isinstance(name, str):
                raise SettingError(f"Block {number} holds {shown(name)}, which is not the name of a column. {form}")
            if name in where:
                twice = f"twice in block {number}" if where[name] == number else f"in blocks {where[name]} and {number}"
                raise SettingError(f"Column {shown(name)} is {twice}. A column belongs to one block: name it once.")
            where[name] = number
        out.append(names)
    return tuple(out)


# -- settings that several learners have, declared once --------------------------------------------------------------


def prior_setting(meaning: str = "Prior of the classes: observed, uniform, or a probability for each.") -> Any:
    """How probable the classes are before anything is known of a row."""
    return setting("observed", meaning, convert=check_prior)


def prior_pseudo_count_setting() -> Any:
    """Smoothing of the prior."""
    return setting(0.0, "Added to the count of every class when the prior is observed.", at_least=0)


def variance_setting(divisor: str = "n-1") -> Any:
    """By what sums of squares are divided."""
    return setting("unbiased", f"unbiased divides by {divisor}, ml by n.", choices=get_args(Variance))


def bin_count_setting() -> Any:
    """How many bins there may be."""
    return setting(10, "Bins of equal width or frequency, at most.", at_least=2, at_most=10_000, whole=True)


def bins_closed_setting() -> Any:
    """To which bin an edge belongs."""
    meaning = "Whether a bin holds the edge below it, [a, b), or the one above it, (a, b]."
    return setting("left", meaning, choices=get_args(Closed))


def shrinkage_setting(of: str = "Every") -> Any:
    """How far correlations are drawn towards 0."""
    meaning = f"{of} correlation is multiplied by 1 - shrinkage; auto takes more where rows are few."
    return setting(0.0, meaning, at_least=0, at_most=1, choices=("auto",))


def unseen_setting(skip: str, reserve: str) -> Any:
    """What a level that training did not have says."""
    meaning = f"A level not seen in training: {skip}, {reserve}, or refused."
    return setting("skip", meaning, choices=("skip", "reserve", "error"))


def parts_setting(meaning: str = "Number of parts the rows are split into, by seed and content.") -> Any:
    """How many parts are held out in turn."""
    return setting(5, meaning, at_least=2, at_most=1000, whole=True)
