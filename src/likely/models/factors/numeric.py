"""Which factor a numeric attribute gets: a normal density, a kernel density, or bins. Checks its settings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal, get_args

from likely.errors import SettingError, shown
from likely.models.factors.binned import Binned, binned
from likely.models.factors.bins import RULES, Closed, Rule, edges_of
from likely.models.factors.categorical import LevelSettings
from likely.models.factors.gaussian import Gaussian, NormalSettings, gaussian
from likely.models.factors.kernel import Bandwidth, KernelDensity, kernel_density
from likely.models.factors.tallied import Tallied, tallied
from likely.models.knowledge.known import Normal
from likely.models.ranges import check_choice
from likely.sums.columns.numbers import Numbers
from likely.table.schema import Schema

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Kind = Literal["gaussian", "kernel", "binned"]
Kinds = Kind | Mapping[str, Kind]
Bins = Rule | Mapping[str, Rule | tuple[float, ...]]
NumberFactor = Gaussian | KernelDensity | Binned

KINDS: tuple[Kind, ...] = get_args(Kind)
OTHERS = "*"
"""In settings by column: all columns that are not named."""
WIDTHS = ("silverman", "scott", "likelihood")


@dataclass(frozen=True, slots=True)
class NumberSettings:
    """How numbers become densities or probabilities."""

    kinds: Kinds
    bandwidth: Bandwidth
    bins: Bins
    bin_count: int
    closed: Closed
    normal: NormalSettings
    levels: LevelSettings

    def kind(self, name: str) -> Kind:
        """What the attribute `name` gets: as said of it or of all others, else a normal density."""
        kinds = self.kinds
        return kinds.get(name, kinds.get(OTHERS, "gaussian")) if isinstance(kinds, Mapping) else kinds

    def rule(self, name: str) -> Rule | tuple[float, ...]:
        """How the attribute `name` is cut: as said of it or of all others, else by MDL."""
        return self.bins.get(name, self.bins.get(OTHERS, "mdl")) if isinstance(self.bins, Mapping) else self.bins

    def edges(self, name: str, tally: Tallied) -> NDArray[np.float64]:
        """Where the attribute `name` is cut."""
        return edges_of(tally, self.rule(name), self.bin_count, self.closed)

    def check(self, schema: Schema) -> None:
        """Refuse settings for columns that are no numeric attributes, or that are not to be cut."""
        kinds = self.kinds if isinstance(self.kinds, Mapping) else {}
        bins = self.bins if isinstance(self.bins, Mapping) else {}
        for name in sorted({*kinds, *bins} - {OTHERS}):
            column = schema[name]
            if column.role != "attribute" or column.kind == "nominal":
                raise SettingError(
                    f"There are settings for numbers for {shown(name)}, which is not a numeric attribute."
                )
        for name in sorted(bins.keys() - {OTHERS}):
            if self.kind(name) != "binned":
                raise SettingError(
                    f"There are bins for {shown(name)}, which is {self.kind(name)}. Say numbers='binned' for it."
                )


def number_factor(
    name: str,
    numbers: Numbers,
    settings: NumberSettings,
    classes: tuple[str, ...],
    known: Sequence[Normal | None] = (),
) -> tuple[NumberFactor | None, list[str]]:
    """The factor, None where the values have no spread and so say nothing; and what was special, as sentences."""
    kind = settings.kind(name)
    if kind == "binned":
        return _binned(name, numbers, settings)
    factor: Gaussian | KernelDensity | None
    if kind == "kernel":
        factor = kernel_density(name, numbers, settings.bandwidth, settings.normal, classes)
    else:
        factor = gaussian(name, numbers, settings.normal, classes, known)
    if factor is None:
        return None, [f"{shown(name)} is left out: its values are too few or too alike to have a spread."]
    notes = [
        f"Class {shown(label)} has too few values of {shown(name)} for a spread of its own; "
        "it borrows that of all classes."
        for label, borrows in zip(classes, factor.borrowed, strict=True)
        if borrows
    ]
    if isinstance(factor, KernelDensity) and factor.rounded:
        notes.append(
            f"{shown(name)} has so many values that they were rounded, by more than half a bandwidth: "
            "its kernel density is coarser than the bandwidth says."
        )
    return factor, notes


def _binned(name: str, numbers: Numbers, settings: NumberSettings) -> tuple[Binned, list[str]]:
    tally, rule = tallied(numbers), settings.rule(name)
    edges = settings.edges(name, tally)
    factor = binned(name, numbers, tally, edges, settings.closed, settings.levels)
    notes = []
    if not len(edges):
        why = "no cut tells enough of the class to pay for itself" if rule == "mdl" else "its values are all alike"
        notes.append(f"{shown(name)} is one bin, which says nothing: {why}.")
    elif tally.level and (rule == "width" or not isinstance(rule, str)):
        notes.append(f"{shown(name)} has so many values that they were rounded: counts beside its edges may be off.")
    return factor, notes


# -- what settings may say -----------------------------------------------------------------------------------


def checked_kinds(value: object) -> Kinds:
    """`numbers`, copied, so that nobody changes it from outside."""
    if not isinstance(value, Mapping):
        check_choice("numbers", value, KINDS)
        return value  # type: ignore[return-value]
    for name, kind in value.items():
        check_choice(f"numbers of {shown(name)}", kind, KINDS)
    return {str(name): kind for name, kind in value.items()}


def checked_bandwidth(value: object) -> Bandwidth:
    """`bandwidth`: a rule, or a number of standard deviations."""
    if isinstance(value, Real) and not isinstance(value, bool):
        if 0 < float(value) < math.inf:
            return float(value)
    elif value in WIDTHS:
        return value  # type: ignore[return-value]
    raise SettingError(
        f"bandwidth is {shown(value)}. It must be one of {', '.join(WIDTHS)}, or a number above zero: "
        "so many standard deviations."
    )


def checked_bins(value: object) -> Bins:
    """`bins`, copied: a rule, or a rule or edges for each column."""
    if not isinstance(value, Mapping):
        check_choice("bins", value, RULES)
        return value  # type: ignore[return-value]
    return {str(name): _checked_edges(str(name), rule) for name, rule in value.items()}


def _checked_edges(name: str, rule: object) -> Rule | tuple[float, ...]:
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


def checked_count(value: object) -> int:
    """`bin_count`."""
    if isinstance(value, Integral) and not isinstance(value, bool) and 2 <= int(value) <= 10_000:
        return int(value)
    raise SettingError(f"bin_count is {shown(value)}. It must be a whole number from 2 to 10000.")
