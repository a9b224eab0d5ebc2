"""Joint tables and answers as text: lines of cells, and a probability worked out as on a blackboard. Only writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from likely.probability.numbers import Number, decimals, plain, rounded
from likely.probability.writing import align_columns, event_text, printable

if TYPE_CHECKING:
    from likely.probability.distribution import Distribution

MOST = 64
"""Lines of a table; the rest is counted."""
READABLE = 10_000
"""The largest denominator that is still read as a fraction."""


def table_text(joint: Distribution, across: str | None, fractions: bool | None) -> str:
    """One line for each cell (or each row of cells, side by side), with its probability."""
    write = probability_writer(joint, fractions)
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


def probability_writer(joint: Distribution, fractions: bool | None) -> Callable[[Any], str]:
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


def query_text(
    joint: Distribution, wanted: Mapping[str, object], known: Mapping[str, object], fractions: bool = False
) -> str:
    """P(A=1 | C=1) = P(A=1, C=1) / P(C=1) = 0.2 / 0.3 = 2/3 ≈ 0.6667."""
    answer = ending(joint.p(wanted, given=known), fractions)
    if not known:
        return f"P({event_text(wanted)}) = {answer}"
    if {*wanted} & {*known}:  # one variable on both sides: there is no quotient that says it simply
        return f"P({event_text(wanted)} | {event_text(known)}) = {answer}"
    both = {**wanted, **known}
    top, bottom = (_part(joint, joint.p(event), fractions) for event in (both, known))
    parts = " / ".join(f"({text})" if "/" in text else text for text in (top, bottom))
    rule = f"P({event_text(both)}) / P({event_text(known)})"
    return f"P({event_text(wanted)} | {event_text(known)}) = {rule} = {parts} = {answer}"


def any_text(
    joint: Distribution, events: Sequence[Mapping[str, Any]], known: Mapping[str, Any], fractions: bool = False
) -> str:
    """P(A or B) = P(A) + P(B) − P(A, B) = 0.5 + 0.3 − 0.1 = 0.7; of more than two events the value alone."""
    value = joint.p_any(events, given=known)
    end = f" | {event_text(known)}" if known else ""
    asked = " or ".join(f"({event_text(e)})" if len(e) > 1 else event_text(e) for e in events)
    answer = ending(value, fractions)
    if len(events) > 2:
        return f"P({asked}{end}) = {answer}, each cell counted once"
    one, other = events
    both = {**one, **{n: [v for v in values if v in one.get(n, values)] for n, values in other.items()}}
    shared = f"P({event_text(both)}{end})" if all(both.values()) else "0"
    first, second = (joint.p_any([e], given=known) for e in events)
    whole = joint.given(known) if known else joint
    parts = [_part(whole, p, fractions) for p in (first, second, first + second - value)]
    rule = f"P({event_text(one)}{end}) + P({event_text(other)}{end}) − {shared}"
    return f"P({asked}{end}) = {rule} = {parts[0]} + {parts[1]} − {parts[2]} = {answer}"


def write_number(value: Number, fractions: bool) -> str:
    """A number as a fraction if asked, else as it reads best."""
    return str(value) if fractions and isinstance(value, Fraction) and value.denominator < 10**1000 else plain(value)


def ending(value: Number, fractions: bool = False) -> str:
    """2/3 ≈ 0.6667, or 0.25 where that says it all."""
    exact = write_number(value, fractions)
    return f"{exact} ≈ {rounded(value, 4)}" if "/" in exact else exact


def _part(joint: Distribution, value: Number, fractions: bool) -> str:
    """A number as a part of a sum or quotient: of a sample its count over all rows, not reduced."""
    if joint.counts is not None and joint.exact and joint.total <= READABLE:
        return f"{int(value * joint.total)}/{joint.total}" if fractions or "/" in plain(value) else plain(value)
    return write_number(value, fractions)
