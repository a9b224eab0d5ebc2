"""What is believed before rows are seen: the prior, and what knowledge comes to for one model; and what draws share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import fsum
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.errors import ColumnError, SettingError, nearest, shown
from likely.models.fractions import Quotient, as_written
from likely.models.knowledge import TOLERANCE as ROUNDING
from likely.models.knowledge import Knowledge
from likely.models.settings import Prior
from likely.sums.summary import Summary
from likely.table.labels import bin_labels, decimal_label, number_label
from likely.table.schema import Column, Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray


# What knowledge comes to for one model: the classes it names, and for each column shares of levels, or a normal.

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
        return left if left > ROUNDING else Fraction(0)

    def spread(self, names: Sequence[str]) -> list[Fraction]:
        """The rows of each of `names`: its share, or an equal part of what is left."""
        others = sum(name not in self.shares for name in names)
        each = self.worth * self.rest / others if others else Fraction(0)
        return [self.worth * self.shares[name] if name in self.shares else each for name in names]

    def held(self, names: Iterable[str]) -> Fraction:
        """The rows that are left for a level yet to come, where all of `names` have their shares."""
        return Fraction(0) if any(name not in self.shares for name in names) else self.worth * self.rest


@dataclass(frozen=True, slots=True)
class NormalKnowledge:
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
) -> tuple[NormalKnowledge | None, ...]:
    """What is known of a number in each class; empty where nothing is."""
    found: dict[str | None, NormalKnowledge] = {}
    for one in knowledge:
        if one.attribute == name and one.mean is not None and one.deviation is not None:
            normal = NormalKnowledge(as_written(one.worth), as_written(one.mean), as_written(one.deviation) ** 2)
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


# The prior: how probable each class is before anything is known of a row. From counts, or as given.

TOLERANCE = 1e-9
"""How far given probabilities may be from summing to one."""


def prior_quotients(
    summary: Summary, prior: Prior, pseudo_count: float, known: Shares | None = None
) -> tuple[Quotient, ...]:
    """P(class), exact: (pseudo_count + n_c) / (pseudo_count * classes + n), or as given.

    Knowledge takes the place of the pseudo-count: (worth * p_c + n_c) / (worth + n). Where there is neither a row nor
    anything else to go by, all classes are alike.
    """
    classes = summary.classes
    if known is not None:
        _check_known(classes, prior, known)
    if prior == "uniform":
        return (Quotient(Fraction(1), Fraction(len(classes))),) * len(classes)
    if isinstance(prior, Mapping):
        return tuple(Quotient(Fraction(p.numerator), Fraction(p.denominator)) for p in _given(classes, prior))
    if prior != "observed":
        raise SettingError(
            f"There is no prior {shown(prior)}. Say 'observed', 'uniform' or give a probability per class."
        )
    extra = [as_written(pseudo_count)] * len(classes) if known is None else known.spread(classes)
    counts = [n + more for n, more in zip(summary.total.fractions(), extra, strict=True)]
    whole = sum(counts, Fraction(0))
    if not whole:
        return prior_quotients(summary, "uniform", 0.0)
    return tuple(Quotient(n, whole) for n in counts)


def _check_known(classes: tuple[str, ...], prior: Prior, known: Shares) -> None:
    if prior != "observed":
        raise SettingError(
            "There is knowledge of the classes, but the prior is uniform or given, so that it would have no say. "
            "Leave one of them out."
        )
    if known.held(classes):
        total = float(sum(known.shares.values()))
        raise SettingError(
            f"The classes that knowledge names sum to {total:.10g}, and there is no other class for the rest. "
            "Name them all."
        )


def _given(classes: tuple[str, ...], prior: Mapping[str, float]) -> list[Fraction]:
    for name in prior:
        if name not in classes:
            raise SettingError(f"The prior names {shown(name)}, which is not a class. {nearest(name, classes)}")
    for name in classes:
        if name not in prior:
            raise SettingError(f"The prior does not say how probable {shown(name)} is. Give every class a probability.")
        if not 0 <= prior[name] <= 1:
            raise SettingError(f"The prior of {shown(name)} is {prior[name]}. Probabilities lie between 0 and 1.")
    total = fsum(prior.values())
    if abs(total - 1) > TOLERANCE:
        raise SettingError(f"The given prior sums to {total:.10g}, not to 1. Correct the probabilities.")
    return [as_written(prior[name]) for name in classes]


# What every kind of draw shares: a checked number of rows, a seeded source of chance, cells as people write them.

DrawnRows: TypeAlias = dict[str, list[Any]]
"""Columns of cells as people write them."""
_DATES = (-62_135_596_800.0, 253_402_300_799.0)
"""The first and the last second of a date, counted from 1970."""


def chance(rows: int, seed: int) -> np.random.Generator:
    """What to draw this many rows with: the same seed, the same rows."""
    if not isinstance(rows, Integral) or rows < 0:
        raise SettingError(f"{shown(rows)} rows cannot be drawn. Ask for a whole number, zero or more.")
    if not isinstance(seed, Integral) or seed < 0:
        raise SettingError(f"seed is {shown(seed)}. It must be a whole number, zero or more.")
    return np.random.default_rng(int(seed))


def number_cells(cells: NDArray[np.float64], kind: str) -> list[Any]:
    """Drawn numbers as cells of a column of this kind; a missing one is None."""
    if kind == "date":
        # NaN becomes "not a time", which reads as None; beyond the years 1 to 9999 there are no dates.
        return (cells.clip(*_DATES) * 1e6).round().astype("datetime64[us]").tolist()  # type: ignore[no-any-return]
    return [None if math.isnan(x) else x for x in cells.tolist()]
