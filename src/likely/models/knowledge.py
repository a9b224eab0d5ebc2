"""Knowledge before data: what is believed of classes, levels and numbers, and what that comes to for one model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

from likely.errors import ColumnError, SettingError, nearest, shown
from likely.models.fractions import as_written
from likely.table.labels import bin_labels, decimal_label, label, number_label
from likely.table.schema import Column, Schema

# Knowledge before data: what is believed of classes, levels and numbers, and how many rows that belief is worth.

TOLERANCE = 1e-9
"""How far shares may be above one before they are refused: decimals that were rounded for printing."""


@dataclass(frozen=True)
class Knowledge:
    """Something known before any row, as if `worth` rows had said it.

    >>> Knowledge("fever", given="flu", probability=0.9, worth=40)  # of a column of true and false
    Knowledge('fever', given='flu', probability=0.9, worth=40.0)
    >>> some = Knowledge("outlook", given="yes", levels={"sunny": 0.2, "rainy": 0.5}, worth=10)  # others share 0.3
    >>> more = Knowledge("temperature", given="flu", mean=39, deviation=0.8, worth=20)
    >>> Knowledge.prior({"flu": 0.01, "cold": 0.99}, worth=1000)
    Knowledge(levels={'flu': 0.01, 'cold': 0.99}, worth=1000.0)
    """

    attribute: str | None = None
    """The column it is about; none where it is about how frequent the classes are."""
    _: KW_ONLY
    given: str | None = None
    """The class in which it holds; without one, every class of which nothing is said of this attribute."""
    level: str | None = None
    """The level that has the probability; without one, the level that means true."""
    probability: float | None = None
    """P(level | class); of a class, where there is no attribute, P(class)."""
    levels: Mapping[str, float] | None = None
    """Several levels (or classes) with their probabilities; what is left of 1 is shared alike by those not named."""
    mean: float | None = None
    deviation: float | None = None
    """Mean and standard deviation of a number."""
    worth: float = 0.0
    """How many rows it is worth."""

    @classmethod
    def prior(cls, classes: Mapping[Any, float], worth: float) -> Knowledge:
        """How frequent the classes are, as if `worth` rows had been counted."""
        return cls(levels=classes, worth=worth)

    def __post_init__(self) -> None:
        for name in ("attribute", "given", "level"):
            value = getattr(self, name)
            if value is not None:
                self._set(name, value if name == "attribute" else _name(value, name))
        if self.attribute is not None and not isinstance(self.attribute, str):
            raise SettingError(f"Knowledge is about the column {shown(self.attribute)}. Name a column by its text.")
        self._check_parts()
        if self.levels is not None:
            self._set("levels", self._checked_levels(self.levels))
        if self.probability is not None:
            self._set("probability", _probability(self.probability, self.about))
        if self.mean is not None:
            self._set("mean", _number(self.mean, f"{self.about}: the mean"))
            self._set("deviation", _number(self.deviation, f"{self.about}: the deviation", above_zero=True))
        if self.worth == 0:
            raise SettingError(f"{self.about} does not say what it is worth. Say how many rows, e.g. worth=10.")
        self._set("worth", _number(self.worth, f"{self.about}: the worth", above_zero=True))

    def _set(self, name: str, value: object) -> None:
        """Only while the settings are being made."""
        object.__setattr__(self, name, value)

    def _check_parts(self) -> None:
        """Refuse what says nothing, and what says two things at once."""
        chance = self.probability is not None or self.levels is not None
        number = self.mean is not None or self.deviation is not None
        if chance and number:
            raise SettingError(
                f"{self.about} has both a probability and a mean. A level has a probability and a number has a mean: "
                "say one of them."
            )
        if number and (self.mean is None or self.deviation is None):
            lacks = "mean" if self.mean is None else "deviation"
            raise SettingError(f"{self.about} lacks a {lacks}. Give both, e.g. mean=39, deviation=0.8.")
        if self.levels is not None and (self.level is not None or self.probability is not None):
            raise SettingError(
                f"{self.about} names a level (or a probability) beside its levels. Put it among the levels."
            )
        if self.level is not None and self.probability is None:
            raise SettingError(f"{self.about} gives no probability. Say how probable it is, e.g. probability=0.9.")
        if self.attribute is None:
            self._check_classes(number)
        if not chance and not number:
            raise SettingError(f"{self.about} says nothing. Give a probability, levels, or a mean and a deviation.")

    def _check_classes(self, number: bool) -> None:
        """Without an attribute it is about the classes themselves."""
        if number or self.level is not None:
            raise SettingError("Knowledge of a level or a mean does not say of which attribute. Name the column first.")
        if (self.given is None) == (self.levels is None):
            raise SettingError(
                "Knowledge without an attribute is about the classes: say Knowledge.prior({'flu': 0.01, 'cold': 0.99}, "
                "worth=1000), or one class with given and probability."
            )

    def _checked_levels(self, levels: object) -> dict[str, float]:
        if not isinstance(levels, Mapping) or not levels:
            raise SettingError(f"{self.about}: the levels are {shown(levels)}. Give each level its probability.")
        out: dict[str, float] = {}
        for name, chance in levels.items():
            found = _name(name, "level")
            if found in out:
                raise SettingError(f"{self.about} names the level {shown(found)} twice. Name it once.")
            out[found] = _probability(chance, f"{self.about}, level {shown(found)}")
        _check_sum(out.values(), self.about)
        return out

    @property
    def about(self) -> str:
        """What it is about, as the beginning of a sentence."""
        of = "the classes" if self.attribute is None else shown(self.attribute)
        return f"Knowledge of {of}" + ("" if self.given is None else f" given {shown(self.given)}")

    @property
    def is_normal(self) -> bool:
        """Whether it is about a number."""
        return self.mean is not None

    @property
    def chances(self) -> dict[str | None, float]:
        """The probabilities by level (or class); None stands for the level that means true."""
        if self.levels is not None:
            return dict(self.levels.items())
        if self.probability is None:
            return {}
        return {self.given if self.attribute is None else self.level: self.probability}

    def written(self) -> dict[str, Any]:
        """Those parts that say something, as plain values."""
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        return {k: dict(v) if isinstance(v, Mapping) else v for k, v in found.items() if v is not None}

    @property
    def subject(self) -> str:
        """What it is about, in short: `fever given flu`."""
        of = "classes" if self.attribute is None else self.attribute
        return f"{of} given {self.given}" if self.given is not None and self.attribute is not None else of

    def __repr__(self) -> str:
        parts = self.written()
        of = [] if self.attribute is None else [repr(parts.pop("attribute"))]
        return f"Knowledge({', '.join([*of, *(f'{name}={value!r}' for name, value in parts.items())])})"


def _name(value: object, what: str) -> str:
    found = label(value)
    if not found:
        raise SettingError(f"Knowledge names the {what} {shown(value)}. An empty cell means missing: name a {what}.")
    return found


def _number(value: object, what: str, above_zero: bool = False) -> float:
    if isinstance(value, Real) and not isinstance(value, bool):
        found = float(value)
        if math.isfinite(found) and (found > 0 or not above_zero):
            return found
    raise SettingError(f"{what} is {shown(value)}. It must be a finite number{' above zero' if above_zero else ''}.")


def _probability(value: object, what: str) -> float:
    if isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) <= 1:
        return float(value)
    raise SettingError(f"{what}: the probability is {shown(value)}. Probabilities lie between 0 and 1.")


def _check_sum(chances: Any, about: str) -> None:
    total = math.fsum(chances)
    if total > 1 + TOLERANCE:
        raise SettingError(f"{about}: the probabilities sum to {total:.10g}, more than 1. Correct them.")


# -- several of them ------------------------------------------------------------------------------------------


def check_knowledge(value: object) -> tuple[Knowledge, ...]:
    """The setting `knowledge`: copied, and refused where it contradicts itself."""
    if isinstance(value, (Knowledge, Mapping)):
        value = [value]
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise SettingError(f"knowledge is {shown(value)}. Give a list: [Knowledge('fever', given='flu', …)].")
    found = tuple(map(_made, value))
    for attribute in dict.fromkeys(k.attribute for k in found):
        about = [k for k in found if k.attribute == attribute]
        if len({k.is_normal for k in about}) > 1:
            raise SettingError(
                f"Knowledge of {shown(attribute)} speaks of a mean and of a level. It is a number or it is nominal: "
                "say one of them."
            )
        for given in dict.fromkeys(_place(k) for k in about):
            _check_together([k for k in about if _place(k) == given])
    return found


def _place(one: Knowledge) -> str | None:
    """The class that it is about; all knowledge of the classes themselves has one place."""
    return None if one.attribute is None else one.given


def _made(value: object) -> Knowledge:
    if isinstance(value, Knowledge):
        return value
    if not isinstance(value, Mapping):
        raise SettingError(f"knowledge holds {shown(value)}. Write it like this: Knowledge('fever', given='flu', …).")
    known = [f.name for f in fields(Knowledge)]
    for name in value:
        if name not in known:
            raise SettingError(f"Knowledge has no part {shown(name)}. {nearest(str(name), known)}")
    return Knowledge(**value)


def _check_together(about: list[Knowledge]) -> None:
    """Knowledge of the same attribute and class: each level once, all of one worth, no more than 1 together."""
    first = about[0]
    chances: dict[str | None, float] = {}
    for one in about:
        if one.is_normal and one is not first:
            raise SettingError(f"{one.about} is said twice. Say it once.")
        for name, chance in one.chances.items():
            if name in chances:
                of = "" if name is None else f", level {shown(name)},"
                raise SettingError(f"{first.about}{of} is said twice. Say it once.")
            chances[name] = chance
        if one.worth != first.worth:
            raise SettingError(
                f"{first.about} is worth {first.worth:g} rows here and {one.worth:g} there. Say one worth for all its "
                "levels."
            )
    if None in chances and len(chances) > 1:
        raise SettingError(
            f"{first.about} speaks of a level and, without naming it, of the level that means true. Name the level."
        )
    _check_sum(chances.values(), first.about)


# What knowledge comes to for one model: the classes it names, and for each column and class shares of levels, or a
# normal, each worth so many rows. Exact fractions; knows names of levels and classes, no counts.

TRUTHS = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"), ("1", "0"))
"""How truth is spelled, and what the other level is then called."""


@dataclass(frozen=True, slots=True)
class Shares:
    """`worth` rows, of which each level (or class) that is named has its share.

    >>> Shares(Fraction(10), {"a": Fraction(1, 2)}).spread(["a", "b", "c"])
    [Fraction(5, 1), Fraction(5, 2), Fraction(5, 2)]
    """

    worth: Fraction
    shares: Mapping[str, Fraction]

    @property
    def rest(self) -> Fraction:
        """What is left of 1; nothing where the shares were rounded for printing and sum to 1 but for that."""
        left = 1 - sum(self.shares.values(), Fraction(0))
        return left if left > TOLERANCE else Fraction(0)

    def spread(self, names: Sequence[str]) -> list[Fraction]:
        """The rows of each of `names`: its share, or an equal part of what is left."""
        others = sum(name not in self.shares for name in names)
        each = self.worth * self.rest / others if others else Fraction(0)
        return [self.worth * self.shares[name] if name in self.shares else each for name in names]

    def held(self, names: Iterable[str]) -> Fraction:
        """The rows that are left for a level yet to come, where all of `names` have their shares."""
        return Fraction(0) if any(name not in self.shares for name in names) else self.worth * self.rest


@dataclass(frozen=True, slots=True)
class KnownNormal:
    """`worth` rows of this mean and variance."""

    worth: Fraction
    mean: Fraction
    variance: Fraction


def check_known(knowledge: Sequence[Knowledge], schema: Schema, kind_of: Callable[[str], str]) -> None:
    """Refuse knowledge of what is no attribute, or of one that is not of that kind."""
    for one in knowledge:
        name = one.attribute
        if name is None:
            continue
        column = schema[name]  # an unknown name is refused, with the nearest one
        if column.role == "target":
            raise SettingError(
                f"{shown(name)} is the target. What is known of its classes needs no attribute: "
                "Knowledge.prior({'flu': 0.01, 'cold': 0.99}, worth=1000)."
            )
        if column.role != "attribute":
            why = f" ({column.why})" if column.why else ""
            raise ColumnError(
                f"There is knowledge of {shown(name)}, which is {column.role}{why}. "
                f"Say how to read it, e.g. {shown(name)} as {'number' if one.is_normal else 'nominal'}."
            )
        if column.kind == "text":
            raise SettingError(
                f"{one.about}: {shown(name)} is a text, of whose words nothing can be known before data yet."
            )
        if column.kind == "nominal" and one.is_normal:
            raise SettingError(
                f"{one.about} gives a mean, but {shown(name)} is nominal. Give its levels probabilities, or read it "
                "as a number (--type)."
            )
        if column.kind != "nominal" and not one.is_normal:
            raise SettingError(
                f"{one.about} gives a level a probability, but {shown(name)} is a {column.kind}. Give a mean and a "
                "deviation, or read it as nominal (--type)."
            )
        if column.kind == "date":
            raise SettingError(f"{one.about}: {shown(name)} is a date, of which nothing can be known before data yet.")
        if one.is_normal and kind_of(name) != "gaussian":
            raise SettingError(
                f"{one.about} is a mean and a deviation, but the density of {shown(name)} is {kind_of(name)}. "
                f"Say numbers={{{shown(name)}: 'gaussian'}}."
            )


def known_classes(knowledge: Sequence[Knowledge], schema: Schema) -> list[str]:
    """The classes that knowledge names, as the target spells them."""
    target = schema.target
    named = [k.given for k in knowledge if k.given is not None]
    named += [name for k in knowledge if k.attribute is None for name in k.chances if name is not None]
    if named and target is None:
        raise SettingError(f"Knowledge names the class {shown(named[0])}, but there is no target. Give a target.")
    return [] if target is None else list(dict.fromkeys(_spelled(target, name, schema) for name in named))


def known_prior(knowledge: Sequence[Knowledge], schema: Schema) -> Shares | None:
    """What is known of how frequent the classes are."""
    return _shares([k for k in knowledge if k.attribute is None], schema.target, schema, ())


def known_levels(
    knowledge: Sequence[Knowledge], column: Column, seen: Sequence[str], classes: Sequence[str], schema: Schema
) -> tuple[Shares | None, ...]:
    """What is known of the levels of a nominal attribute in each class; empty where nothing is. `seen` are its levels
    without knowledge."""
    about = [k for k in knowledge if k.attribute == column.name]
    if not about:
        return ()
    names = [*seen, *(_spelled(column, n, schema, seen) for k in about for n in k.chances if n is not None)]
    found: dict[str | None, Shares | None] = {}
    for given in dict.fromkeys(k.given for k in about):
        some = [k for k in about if k.given == given]
        found[_class(given, schema)] = _shares(some, column, schema, list(dict.fromkeys(names)))
    return tuple(found.get(c, found.get(None)) for c in classes)


def known_normals(
    knowledge: Sequence[Knowledge], name: str, classes: Sequence[str], schema: Schema
) -> tuple[KnownNormal | None, ...]:
    """What is known of a number in each class; empty where nothing is."""
    found: dict[str | None, KnownNormal] = {}
    for one in knowledge:
        if one.attribute == name and one.mean is not None and one.deviation is not None:
            normal = KnownNormal(as_written(one.worth), as_written(one.mean), as_written(one.deviation) ** 2)
            found[_class(one.given, schema)] = normal
    return tuple(found.get(c, found.get(None)) for c in classes) if found else ()


def _class(given: str | None, schema: Schema) -> str | None:
    return given if given is None or schema.target is None else _spelled(schema.target, given, schema)


def _shares(about: Sequence[Knowledge], column: Column | None, schema: Schema, names: Sequence[str]) -> Shares | None:
    """All that is said of one column in one class, together."""
    if not about or column is None:
        return None
    out: dict[str, Fraction] = {}
    for one in about:
        for name, chance in one.chances.items():
            share = as_written(chance)
            if name is None:
                found = _truth(names, column.reading == "number")
                if found is None:
                    raise _no_truth(names, one)
                return Shares(as_written(one.worth), {found[0]: share, found[1]: 1 - share})
            level = _spelled(column, name, schema, names)
            if level in out:
                raise SettingError(f"{one.about}, {shown(level)}, is said twice. Say it once.")
            out[level] = share
    both = _truth(names) if names and len(out) == 1 else None
    if both is not None:  # who says how probable yes is has said it of no, which need not be among the levels yet
        ((level, share),) = out.items()
        out[both[1] if level == both[0] else both[0]] = 1 - share
    return Shares(as_written(about[0].worth), out)


def _spelled(column: Column, name: str, schema: Schema, seen: Sequence[str] = ()) -> str:
    """A level or class as the cells of a column come to be spelled."""
    if name in schema.missing:
        raise SettingError(
            f"Knowledge names {shown(name)} of {shown(column.name)}, a cell that means missing here. "
            "Name other cells that mean missing, or leave it out."
        )
    if column.edges:
        bins = bin_labels(column.edges)
        if name not in bins:
            raise SettingError(f"Knowledge names the class {shown(name)}, which is not a bin. {nearest(name, bins)}")
        return name
    if column.reading == "number":
        try:
            number = Decimal(name)
            return decimal_label(number) if "e" not in name.lower() else number_label(float(number))
        except ArithmeticError:
            raise SettingError(
                f"Knowledge names {shown(name)} of {shown(column.name)}, whose cells are numbers. Name one of them."
            ) from None
    if name not in seen and name.lower() in TRUTHS[0]:
        # A truth value of Python meets a file that spells it True or TRUE.
        return next((other for other in seen if other.lower() == name.lower()), name)
    return name


def _truth(names: Sequence[str], numbers: bool = False) -> tuple[str, str] | None:
    """The levels that mean true and false, where the names are one or both of them (or there are none yet)."""
    if not names:
        return TRUTHS[-1] if numbers else TRUTHS[0]
    spelled = {name.lower(): name for name in names}
    for true, false in TRUTHS:
        if len(spelled) == len(names) and spelled.keys() <= {true, false}:
            return spelled.get(true) or _like(spelled[false], true), spelled.get(false) or _like(spelled[true], false)
    return None


def _no_truth(names: Sequence[str], one: Knowledge) -> SettingError:
    listed = ", ".join(shown(name, 30) for name in names[:8])
    return SettingError(
        f"{one.about} does not say which level has the probability, and they are not just true and false. "
        f"Say level=…, one of {listed}{' …' if len(names) > 8 else ''}."
    )


def _like(model: str, word: str) -> str:
    """A word in the letters of another: NO, No or no."""
    return word.upper() if model.isupper() else word.capitalize() if model[0].isupper() else word
