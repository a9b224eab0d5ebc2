"""Where one attribute alone turns a decision: which levels do, and of numbers the nearest value and how far it reaches.

Knows one choice and a test of values; asks nothing of a model itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.apply.explain.candidates import Choice
from likely.apply.explain.row import QueryRow
from likely.apply.explain.words import clean
from likely.table.labels import date_label, number_label

if TYPE_CHECKING:
    from numpy.typing import NDArray

DAY = 86400.0
ROUNDS, FINE = 12, 33
"""A boundary is narrowed down so often, each time to one of so many steps."""
NEAR = 0.01
"""A value may be rounded by so much of the way that it has come."""
MOST_LEVELS = 6

Test = Callable[["NDArray[Any]"], "NDArray[np.bool_]"]


@dataclass(frozen=True)
class SingleChange:
    """An attribute that by itself would change the decision."""

    name: str
    before: str | None
    decision: str
    """What would be decided then."""
    levels: tuple[str, ...] = ()
    """The levels that would do it."""
    nearest: float | None = None
    """The number nearest to the one there is that would do it."""
    farthest: float | None = None
    """The other end of the numbers that would, from `nearest` on; None where they reach to the end of training's."""
    words: str = ""

    def to_dict(self) -> dict[str, object]:
        """As plain values, for JSON."""
        found: dict[str, object] = {"name": self.name, "before": self.before, "decision": self.decision}
        found["words"] = self.words
        if self.levels:
            return {**found, "levels": list(self.levels)}
        return {**found, "nearest": self.nearest, "farthest": self.farthest}


def single_change(choice: Choice, row: QueryRow, decision: str, hits: NDArray[np.bool_], test: Test) -> SingleChange:
    """What the attribute would have to be, all others staying as they are; `hits` are those candidates that do."""
    before = None if row.states[choice.name] == "missing" else row.cells.get(choice.name)
    now = "" if before is None else f" instead of {clean(before)}"
    if choice.labels is not None:
        levels = tuple(choice.labels.names[c] for c in choice.values[hits].tolist())
        listed = " or ".join(clean(n) for n in levels[:MOST_LEVELS])
        more = f" or one of {len(levels) - MOST_LEVELS} more" if len(levels) > MOST_LEVELS else ""
        return SingleChange(choice.name, before, decision, levels, words=f"{clean(choice.name)}={listed}{more}{now}")
    cell = float(row.batch.cells[choice.name][0])
    return _number(choice, before, decision, now, cell, hits, test)


def _number(
    choice: Choice,
    before: str | None,
    decision: str,
    now: str,
    cell: float,
    hits: NDArray[np.bool_],
    test: Test,
) -> SingleChange:
    values = choice.values
    start = cell if math.isfinite(cell) else float(values[np.flatnonzero(hits)[0]])
    places = np.flatnonzero(hits)
    at = int(places[np.abs(values[places] - start).argmin()])
    step = 1 if values[at] >= start else -1
    # Values that differ by less than rounding are equally far away: the nearest is the last one that would do.
    while 0 <= at - step < len(values) and hits[at - step] and (values[at - step] - start) * step > 0:
        at -= step
    # From the nearest hit outwards as long as values would do.
    end = at
    while 0 <= end + step < len(values) and hits[end + step]:
        end += step
    inner = at - step
    beside = float(values[inner]) if 0 <= inner < len(values) and (values[inner] - start) * step > 0 else start
    near = float(values[at]) if beside == values[at] else _boundary(choice, float(values[at]), beside, test)
    at_end = not 0 <= end + step < len(values)
    far = None if at_end else _boundary(choice, float(values[end]), float(values[end + step]), test)

    def does(value: float) -> bool:
        return bool(test(np.array([value]))[0])

    # Just short of a round number that no longer does: "below 4.75" rather than 4.749999999999999.
    sides = [_side(choice, near, -step, does), "" if far is None else _side(choice, far, step, does)]
    near = round_value(choice, near, does, abs(near - start) * NEAR)
    if far is not None:
        far = round_value(choice, far, does, abs(far - near) * NEAR)
    told = sides[0] or write_value(choice, near)
    if far is None:
        ways = ("earlier", "later") if choice.date else ("less", "more")
        span = sides[0] or f"{told} or {ways[step > 0]}"
    else:
        ends = [told, sides[1] or write_value(choice, far)][::step]
        span = ends[0] if near == far else f"from {ends[0]} to {ends[1]}"
    return SingleChange(choice.name, before, decision, (), near, far, f"{clean(choice.name)} {span}{now}")


def _side(choice: Choice, value: float, beyond: int, does: Callable[[float], bool]) -> str:
    """'below 4.75' or 'above 4.75', where the value is the last one before a round number that does not do."""
    edge = float(f"{value:.12g}")
    long = float(f"{edge:.6g}") != edge
    if choice.date or choice.whole or long or edge == value or (edge - value) * beyond < 0 or does(edge):
        return ""
    return f"{'below' if beyond > 0 else 'above'} {number_label(edge)}"


def _boundary(choice: Choice, hit: float, miss: float, test: Test) -> float:
    """The value nearest to `miss` that still does, `hit` doing and `miss` not."""
    for _ in range(ROUNDS):
        points = (
            np.linspace(hit, miss, FINE) if math.isfinite(miss - hit) else np.array([hit, hit / 2 + miss / 2, miss])
        )
        if choice.whole:
            points = np.where(points == miss, miss, np.floor(points) if miss > hit else np.ceil(points))
        points = points[np.concatenate([[True], points[1:] != points[:-1]])]
        inner = points[(points != hit) & (points != miss)]
        if not len(inner):
            break
        does = test(inner)
        last = int(np.flatnonzero(does)[-1]) if does.any() else -1
        hit = float(inner[last]) if last >= 0 else hit
        miss = float(inner[last + 1]) if last + 1 < len(inner) else miss
    return hit


def round_value(choice: Choice, value: float, does: Callable[[float], bool], most: float | None = None) -> float:
    """The value in as few digits as still do, moved by at most `most` (a fiftieth of the range if not said)."""
    room = (choice.high - choice.low) / 50 if most is None else most
    tried = [math.floor(value / DAY) * DAY, math.ceil(value / DAY) * DAY, round(value)] if choice.date else []
    if not choice.date and not choice.whole:
        for digits in range(1, 17):
            near = float(f"{value:.{digits}g}")
            unit = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1) if value else 0.0
            tried += [near, *(float(f"{v:.{digits}g}") for v in (near - unit, near + unit))]
    for near in tried:
        if abs(near - value) <= room and choice.low <= near <= choice.high and does(near):
            return near
    return value


def write_value(choice: Choice, value: Any) -> str:
    """A candidate as a file would spell it."""
    if choice.labels is not None:
        return str(choice.labels.names[int(value)])
    return date_label(float(value)) if choice.date else number_label(float(value))
