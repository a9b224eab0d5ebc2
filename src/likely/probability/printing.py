"""A joint table as text, its numbers all written in one way, and a query of it as on a blackboard. Only writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from likely.probability.numbers import decimals, part, plain, rounded
from likely.probability.writing import align_columns, event_text, printable

if TYPE_CHECKING:
    from likely.probability.distribution import Distribution

MOST = 64
"""Lines of a table; the rest is counted."""
READABLE = 10_000
"""The largest denominator that is still read as a fraction."""


def table(joint: Distribution, across: str | None, fractions: bool | None) -> str:
    """One line for each cell (or each row of cells, side by side), with its probability."""
    write = _writer(joint, fractions)
    down = [v for v in joint.variables if v != across]
    columns = [{across: v} for v in joint.levels[across]] if across is not None else [{}]
    whole = prod(len(joint.levels[v]) for v in down) <= MOST
    places = {name: k for k, name in enumerate(joint.variables)}
    # A small table shows its impossible cells too; of a large one they would be most.
    kept = product(*(joint.levels[v] for v in down)) if whole else _lines(joint, [places[v] for v in down])
    heads = [f"{printable(across)}={printable(v)}" for v in joint.levels[across]] if across is not None else ["P"]
    rows = []
    for line in kept:
        known = dict(zip(down, line, strict=True))
        cells = []
        for column in columns:
            values = {**known, **column}
            cells.append(write(joint.weights.get(tuple(values[v] for v in joint.variables), 0)))
        rows.append((*(printable(v) for v in line), *cells))
    text = align_columns(
        [(*(printable(v) for v in down), *heads), *rows[:MOST]], range(len(down), len(down) + len(heads))
    )
    return text if len(rows) <= MOST else f"{text}\n… and {len(rows) - MOST:,} more"


def _lines(joint: Distribution, places: list[int]) -> list[Any]:
    return list(dict.fromkeys(tuple(cell[k] for k in places) for cell in joint.weights))


def _writer(joint: Distribution, fractions: bool | None) -> Callable[[Any], str]:
    """How every number of the table is written: short decimals, fractions over one denominator, or six digits."""
    if not joint.exact or (fractions is False and not _decimals(joint)):
        return lambda w: rounded(Fraction(w, joint.total) if joint.exact else w / joint.total)
    digits = _decimals(joint)
    if digits is not None and not fractions:
        return lambda w: f"{float(Fraction(w, joint.total)):.{digits}f}"
    if fractions or joint.total <= READABLE:
        return lambda w: f"{w}/{joint.total}" if w else "0"
    return lambda w: rounded(Fraction(w, joint.total))


def _decimals(joint: Distribution) -> int | None:
    held = [decimals(Fraction(p)) for p in joint.cells.values()]
    return None if None in held else max((d for d in held if d is not None), default=0)


def query(joint: Distribution, wanted: Mapping[str, object], known: Mapping[str, object]) -> str:
    """P(A=1 | C=1) = P(A=1, C=1) / P(C=1) = 0.2 / 0.3 = 2/3 ≈ 0.6667."""
    answer = joint.p(wanted, given=known)
    exact = plain(answer)
    ending = f"{exact} ≈ {rounded(answer, 4)}" if "/" in exact else exact
    if not known:
        return f"P({event_text(wanted)}) = {ending}"
    if {*wanted} & {*known}:  # one variable on both sides: there is no quotient that says it simply
        return f"P({event_text(wanted)} | {event_text(known)}) = {ending}"
    both = {**wanted, **known}
    rule = f"P({event_text(both)}) / P({event_text(known)}) = {part(joint.p(both))} / {part(joint.p(known))}"
    return f"P({event_text(wanted)} | {event_text(known)}) = {rule} = {ending}"
