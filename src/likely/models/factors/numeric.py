"""Which factor a numeric attribute gets: a normal density, a kernel density, or bins. Checks its settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from likely.errors import SettingError, shown
from likely.models.factors.bins import Binned, ValueTally, binned, edges_of, read_tally, rule_for
from likely.models.factors.categorical import LevelSettings
from likely.models.factors.kernel import KernelDensity, kernel_density
from likely.models.factors.normal import NormalSettings, gaussian
from likely.models.prior import NormalKnowledge
from likely.models.settings import Bandwidth, Bins, Closed, Kind, Kinds, Rule, Width
from likely.models.shapes import Gaussian
from likely.sums.columns.numbers import Numbers
from likely.table.schema import Schema

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NumberFactor = Gaussian | KernelDensity | Binned

OTHERS = "*"
"""In settings by column: all columns that are not named."""


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
        return rule_for(self.bins, name)

    def edges(self, name: str, tally: ValueTally) -> NDArray[np.float64]:
        """Where the attribute `name` is cut."""
        return edges_of(tally, self.rule(name), self.bin_count, self.closed)

    def width(self, name: str) -> tuple[Width, bool]:
        """The bandwidth of the attribute `name`, and whether it is in units of the column."""
        if not isinstance(self.bandwidth, Mapping):
            return self.bandwidth, False
        own = self.bandwidth.get(name, self.bandwidth.get(OTHERS, "silverman"))
        return own, name in self.bandwidth and not isinstance(own, str)

    def check(self, schema: Schema) -> None:
        """Refuse settings for columns that are no numeric attributes, or that are not to be cut."""
        widths = self.bandwidth if isinstance(self.bandwidth, Mapping) else {}
        kinds = self.kinds if isinstance(self.kinds, Mapping) else {}
        bins = self.bins if isinstance(self.bins, Mapping) else {}
        for name in sorted({*kinds, *bins, *widths} - {OTHERS}):
            column = schema[name]
            if column.role != "attribute" or column.kind == "nominal":
                raise SettingError(
                    f"There are settings for numbers for {shown(name)}, which is not a numeric attribute."
                )
        for name in sorted(widths.keys() - {OTHERS}):
            if self.kind(name) != "kernel":
                raise SettingError(
                    f"There is a bandwidth for {shown(name)}, which is {self.kind(name)}. Say numbers='kernel' for it."
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
    known: Sequence[NormalKnowledge | None] = (),
) -> tuple[NumberFactor | None, list[str]]:
    """The factor, None where the values have no spread and so say nothing; and what was special, as sentences."""
    kind = settings.kind(name)
    if kind == "binned":
        return _binned(name, numbers, settings)
    factor: Gaussian | KernelDensity | None
    if kind == "kernel":
        factor = kernel_density(name, numbers, *settings.width(name), settings.normal, classes)
    else:
        factor = gaussian(name, numbers, settings.normal, classes, known)
    if factor is None:
        return None, [f"{shown(name)} is left out: it has too few different values for a variance."]
    notes = [
        f"Class {shown(label)} has too few values of {shown(name)} for a variance of its own; "
        "that of all classes is used."
        for label, borrows in zip(classes, factor.normal.borrowed, strict=True)
        if borrows
    ]
    if isinstance(factor, KernelDensity) and factor.rounded:
        notes.append(
            f"{shown(name)} has so many values that they were rounded, by more than half a bandwidth: "
            "its kernel density is coarser than the bandwidth says."
        )
    return factor, notes


def _binned(name: str, numbers: Numbers, settings: NumberSettings) -> tuple[Binned, list[str]]:
    tally, rule = read_tally(numbers), settings.rule(name)
    edges = settings.edges(name, tally)
    factor = binned(name, numbers, tally, edges, settings.closed, settings.levels)
    notes = []
    if not len(edges):
        why = "no cut is informative enough" if rule == "mdl" else "all its values are the same"
        notes.append(f"{shown(name)} has a single bin, which carries no information: {why}.")
    elif tally.level and (rule == "width" or not isinstance(rule, str)):
        notes.append(f"{shown(name)} has so many values that they were rounded: counts beside its edges may be off.")
    return factor, notes
