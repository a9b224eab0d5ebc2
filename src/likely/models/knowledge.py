"""Knowledge before data: what is believed of classes, levels and numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from numbers import Real
from typing import Any

from likely.errors import SettingError, nearest, shown
from likely.table.labels import label

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
