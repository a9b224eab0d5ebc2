"""Curves given by hand: what an attribute says is not learned but known. Checks them, and makes tables of them.

A curve has "starts" (numbers at which it steps) or "levels" (names), and evidence for each class that it speaks of.
Knows settings and codes; no rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from likely.errors import SettingError, nearest, shown
from likely.machinery.arrays import Floats
from likely.models.additive.coding import CodedRows
from likely.models.shapes import Axis
from likely.sums.columns.counts import Counts
from likely.sums.summary import Summary
from likely.table.labels import Labels

FORM = '{"age": {"starts": [30, 50], ">50K": [-1.0, 0.2, 0.6]}} or {"sex": {"levels": ["f", "m"], ">50K": [-0.2, 0.2]}}'
MOST_STEPS = 255
LARGEST = 100.0
"""No curve says more than this, in nats."""


def check_curves(value: Any) -> dict[str, dict[str, Any]]:
    """Curves by attribute, copied; what can be no curve of any table is refused."""
    if not isinstance(value, Mapping) or not all(isinstance(curve, Mapping) for curve in value.values()):
        raise SettingError(f"curves is {shown(value)}. Write {FORM}.")
    return {str(name): _check_curve(str(name), curve) for name, curve in value.items()}


def _check_curve(name: str, curve: Mapping[str, Any]) -> dict[str, Any]:
    where = f"The curve of {shown(name)}"
    if ("starts" in curve) == ("levels" in curve):
        raise SettingError(f"{where} needs either starts (of a number) or levels. Write {FORM}.")
    out: dict[str, Any] = {}
    if "starts" in curve:
        starts = _numbers(curve["starts"], f"{where}: starts", math.inf)
        if any(not low < high for low, high in pairwise(starts)):
            raise SettingError(f"{where}: starts must rise. Put them in order, each once.")
        out["starts"] = starts
        count = len(starts) + 1
    else:
        levels = [str(level) for level in curve["levels"]]
        if len({*levels}) != len(levels):
            raise SettingError(f"{where} names a level twice.")
        out["levels"] = levels
        count = len(levels)
    if not 0 < count <= MOST_STEPS:
        raise SettingError(f"{where} has {count:,} steps or levels; it must have 1 to {MOST_STEPS}.")
    for key, said in curve.items():
        if key in ("starts", "levels"):
            continue
        evidence = _numbers(said, f"{where}, class {shown(key)}", LARGEST)
        if len(evidence) != count:
            raise SettingError(f"{where} has {len(evidence)} values for class {shown(key)}; it must be {count}.")
        out[str(key)] = evidence
    return out


def _numbers(values: Any, where: str, most: float) -> list[float]:
    try:
        found = [float(v) for v in values if isinstance(v, Real) and not isinstance(v, bool)]
        sound = len(found) == len(values) and all(math.isfinite(v) and abs(v) <= most for v in found)
    except TypeError:
        sound = False
    if not sound:
        limit = "finite" if math.isinf(most) else f"between -{most:g} and {most:g}"
        raise SettingError(f"{where} must be a list of numbers, {limit}; it is {shown(values)}.")
    return found


def curve_axis(name: str, curve: Mapping[str, Any], summary: Summary) -> Axis:
    """The attribute by the codes of its curve."""
    nominal = isinstance(summary.columns[name], Counts)
    if nominal != ("levels" in curve):
        kind, wanted = ("nominal", "levels") if nominal else ("a number", "starts")
        raise SettingError(f"{shown(name)} is {kind}, so its curve must have {wanted}.")
    if nominal:
        return Axis(name, Labels(curve["levels"]))
    return Axis(name, Labels(), np.array(curve["starts"], np.float64))


def curve_table(name: str, curve: Mapping[str, Any], classes: tuple[str, ...]) -> Floats:
    """What the curve says, (codes, classes); of a missing cell, nothing."""
    for key in curve:
        if key not in ("starts", "levels") and key not in classes:
            raise SettingError(
                f"The curve of {shown(name)} speaks of {shown(key)}, which is not a class. {nearest(key, classes)}"
            )
    count = len(curve["levels"]) if "levels" in curve else len(curve["starts"]) + 1
    out = np.zeros((count + 1, len(classes)))
    for k, own in enumerate(classes):
        if own in curve:
            out[:-1, k] = curve[own]
    return out


def with_base(rows: CodedRows, given: Mapping[int, Floats], two: bool) -> CodedRows:
    """The rows with what given curves say of them, and those attributes hidden from the trees."""
    if not given:
        return rows
    base = sum(table[rows.codes[:, j]] for j, table in given.items())
    codes = rows.codes.copy()
    codes[:, list(given)] = 0
    assert not isinstance(base, int)
    return replace(rows, codes=codes, base=np.ascontiguousarray(base[:, 1:] - base[:, :1]) if two else base)
