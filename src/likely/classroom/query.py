"""Questions to a joint table as people write them, its answers as text, and the normal density."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from likely.classroom.writing import any_event_text, event_text, match_value
from likely.errors import SettingError, shown
from likely.machinery.words import align_columns
from likely.models.fractions import Number, decimals, plain, printable, rounded, spell

if TYPE_CHECKING:
    from likely.classroom.distribution import Distribution


# Questions to a joint table as people write them: P(a=x, b=y | c=z), P(a=x or b=y), P(a | c). Only reads them.

_STOP = re.compile(r",|\||\s+(?:or|and)\s+", re.IGNORECASE)
_SIGN = re.compile(r"\s*(!=|≠|=)")
_UNSAFE = re.compile(r"""[,|=≠!"'()]|\b(?:or|and)\b|^\s|\s$|^$""", re.IGNORECASE)
_FORM = "Write it like P(a=x, b=y | c=z); put names or values with odd characters in quotes."


@dataclass(frozen=True)
class Query:
    """What is asked of a joint table: the probability of an event, or a distribution of some variables."""

    events: tuple[Mapping[str, list[Hashable]], ...] = ()
    """The event: one of these, each of which has all its variables at one of the values named."""
    given: Mapping[str, list[Hashable]] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    """Instead of an event: the variables whose distribution is asked for."""
    given_any: tuple[Mapping[str, list[Hashable]], ...] = ()
    """Instead of one condition: several, of which one at least holds."""
    given_names: tuple[str, ...] = ()
    """Instead of a condition: variables for each of whose values it is asked for."""

    def __str__(self) -> str:
        asked = " or ".join(_written(e) for e in self.events) or ", ".join(map(quote, self.names))
        several = " or ".join(map(_written, self.given_any))
        known = several or _written(self.given) or ", ".join(map(quote, self.given_names))
        return f"P({asked} | {known})" if known else f"P({asked})"


def quote(name: object) -> str:
    """A name or level as a query may hold it: bare where that cannot be misread.

    >>> quote("hours per week"), quote("a=b"), quote("it's"), quote("")
    ('hours per week', "'a=b'", "'it''s'", "''")
    """
    text = spell(name)
    return "'" + text.replace("'", "''") + "'" if _UNSAFE.search(text) else text


def _written(event: Mapping[str, list[Hashable]]) -> str:
    return ", ".join(f"{quote(n)}={' or '.join(map(quote, values))}" for n, values in event.items())


def parse_query(text: str, joint: Distribution) -> Query:
    """A query of this table; what it names must be there.

    >>> from likely.classroom import Joint
    >>> j = Joint.listed({"A": [0, 1], "B": ["x", "y", "5 or more"]}, ["1/6"] * 6)
    >>> str(parse_query("P(A=1, B=x or 5 or more)", j)), str(parse_query("B!=x | A = 0", j))
    ("P(A=1, B=x or '5 or more')", "P(B=y or '5 or more' | A=0)")
    """
    inside = text.strip()
    if re.match(r"[Pp]\s*\(", inside) and inside.endswith(")"):
        inside = inside[inside.index("(") + 1 : -1]
    left = _Reader(inside, joint, text)
    events, names = left.side()
    if not left.ended:
        left.at += 1  # the bar
        given, given_names = left.side()
        if not left.ended:
            raise SettingError(f"{shown(text)} has more than one bar. {_FORM}")
    else:
        given, given_names = [], []
    if names and events:
        raise SettingError(f"{shown(text)} gives a value to some variables and none to others. {_FORM}")
    if given and given_names:
        raise SettingError(f"{shown(text)} gives a value to some variables behind the bar and none to others. {_FORM}")
    if names and len(given) > 1:
        raise SettingError(
            f"{shown(text)} joins different variables by 'or' behind the bar, and asks for a distribution. Ask for the "
            "probability of one event: P(a=x | b=y or c=z)."
        )
    if events and given_names:
        raise SettingError(
            f"{shown(text)} asks for one event, but gives no value to {shown(given_names[0])}. Give it one."
        )
    for name in names:
        if name in (*given_names, *(name for event in given for name in event)):
            raise SettingError(f"The variable {shown(name)} is on both sides. Name it on one.")
    several = tuple(given) if len(given) > 1 else ()
    return Query(tuple(events), given[0] if len(given) == 1 else {}, tuple(names), several, tuple(given_names))


def parse_event(text: str, joint: Distribution) -> dict[str, list[Hashable]]:
    """One event of this table, such as a=x, b=y or z.

    >>> from likely.classroom import Joint
    >>> parse_event("A=1", Joint.listed({"A": [0, 1], "B": [0, 1]}, ["1/4"] * 4))
    {'A': [1]}
    """
    found = parse_query(text, joint)
    if found.given or found.given_any or found.given_names or len(found.events) != 1:
        raise SettingError(f"{shown(text)} is not one event. Write it like a=x, b=y.")
    return dict(found.events[0])


def parse_names(text: str, joint: Distribution) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names before and behind a bar: a, b | c."""
    found = parse_query(text, joint)
    if found.given or found.events:
        raise SettingError(f"{shown(text)} gives values. Name variables alone, like a, b | c.")
    return found.names, found.given_names


class _Reader:
    """Reads one side after the other, from `at` on."""

    def __init__(self, text: str, joint: Distribution, whole: str) -> None:
        self.text, self.joint, self.whole, self.at = text, joint, whole, 0

    @property
    def ended(self) -> bool:
        return self.at >= len(self.text)

    def side(self) -> tuple[list[dict[str, list[Hashable]]], list[str]]:
        """Events joined by `or`, and names without a value, up to a bar or the end."""
        events: list[dict[str, list[Hashable]]] = []
        names: list[str] = []
        last: str | None
        last, fresh = None, True
        while True:
            here, name = self.at, self._name()
            sign = _SIGN.match(self.text, self.at)
            if sign:
                self.at = sign.end()
                if fresh or not events:
                    events.append({})
                known = self._variable(name)
                if known in events[-1]:
                    raise SettingError(
                        f"{shown(self.whole)} names {shown(known)} twice in one event. Write its values like "
                        f"{printable(known)}=x or y."
                    )
                meant = self._value(known)
                others = [v for v in self.joint.levels[known] if v != meant]
                events[-1][known] = [meant] if sign[1] == "=" else others
                last = known
            elif fresh and last is not None and events:  # a further value of the same variable
                self.at = here
                events[-1][last] = [*events[-1][last], self._value(last)]
            else:
                names.append(self._variable(name))
            stop = _STOP.match(self.text, self.at)
            if stop is None or stop[0] == "|":
                return events, names
            fresh, self.at = stop[0].strip().lower() == "or", stop.end()
            if fresh and names:
                raise SettingError(f"{shown(self.whole)} has 'or' between names without a value. {_FORM}")

    def _name(self) -> str:
        return self._word(self.joint.variables, re.compile(rf"{_SIGN.pattern}|{_STOP.pattern}", re.IGNORECASE))

    def _value(self, name: str) -> Hashable:
        levels = self.joint.levels[name]
        word = self._word([spell(v) for v in levels], _STOP)
        return match_value(word, levels, f"value of {shown(name)} that is")

    def _variable(self, name: str) -> str:
        return self.joint.variables[self.joint._place(name)]

    def _word(self, known: Iterable[str], stop: re.Pattern[str]) -> str:
        """A word in quotes, else the longest known one that ends at a stop, else what stands before the first stop."""
        start = len(self.text) - len(self.text[self.at :].lstrip())
        if self.text[start : start + 1] in ("'", '"'):
            quoted = self._quoted(start)
            if quoted is not None:
                rest = len(self.text) - len(self.text[quoted[1] :].lstrip())
                if rest >= len(self.text) or stop.match(self.text, rest) or stop.match(self.text, quoted[1]):
                    # Stops made of words begin with their blank.
                    self.at = quoted[1] if stop.match(self.text, quoted[1]) else rest
                    return quoted[0]
            raise SettingError(
                f"{shown(self.whole)} has a quote that is not closed, or something behind one. Double quotes inside."
            )
        for word in sorted((w for w in known if w and w == w.strip()), key=len, reverse=True):
            end = start + len(word)
            if self.text.startswith(word, start):
                after = self.text[end:]
                if not after.strip() or stop.match(self.text, end) or stop.match(self.text, end + _blanks(after)):
                    self.at = end if stop.match(self.text, end) else end + _blanks(after)
                    return word
        found = stop.search(self.text, start)
        end = found.start() if found else len(self.text)
        self.at = end
        word = self.text[start:end].strip()
        if not word:
            raise SettingError(f"{shown(self.whole)} lacks a name or value. {_FORM}")
        return word

    def _quoted(self, start: int) -> tuple[str, int] | None:
        mark, out, k = self.text[start], list[str](), start + 1
        while k < len(self.text):
            if self.text[k] == mark:
                if self.text[k + 1 : k + 2] != mark:
                    return "".join(out), k + 1
                k += 1
            out.append(self.text[k])
            k += 1
        return None


def _blanks(text: str) -> int:
    return len(text) - len(text.lstrip())


# Joint tables and answers as text: lines of cells, and a probability worked out as on a blackboard. Only writes.

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
    asked = any_event_text(events)
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


def given_any_text(
    joint: Distribution,
    events: Sequence[Mapping[str, Any]],
    known: Sequence[Mapping[str, Any]],
    fractions: bool = False,
) -> str:
    """P(A | B or C) = P(A, (B or C)) / P(B or C) = 0.3 / 0.7 = 3/7 ≈ 0.4286."""
    value, bottom = joint.p_any(events, given=known), joint.p_any(known)
    asked, told = any_event_text(events), any_event_text(known)
    parts = [_part(joint, p, fractions) for p in (value * bottom, bottom)]
    quotient = " / ".join(f"({text})" if "/" in text else text for text in parts)
    both = f"({asked}), ({told})" if len(events) > 1 else f"{asked}, ({told})"
    return f"P({asked} | {told}) = P({both}) / P({told}) = {quotient} = {ending(value, fractions)}"


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


# The normal density of one number: its height, its area between two values, and how that is worked out.


@dataclass(frozen=True)
class Normal:
    """The normal density of a mean and a standard deviation.

    >>> round(Normal(0, 1).between(-1, 1), 4), round(Normal(73, 6.2).density(66), 4)
    (0.6827, 0.034)
    """

    mean: float
    deviation: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.mean):
            raise SettingError(f"The mean is {shown(self.mean)}. It must be a finite number.")
        if not 0 < self.deviation < math.inf:
            raise SettingError(f"The standard deviation is {shown(self.deviation)}. It must be a number above zero.")

    def standard(self, x: float) -> float:
        """How many standard deviations x lies above the mean."""
        return (x - self.mean) / self.deviation

    def density(self, x: float) -> float:
        """The height of the curve, not a probability: it may be above 1."""
        return math.exp(-(self.standard(x) ** 2) / 2) / (self.deviation * math.sqrt(2 * math.pi))

    def between(self, low: float, high: float) -> float:
        """P(low <= x <= high), exact in the far tails too."""
        if not low <= high:
            raise SettingError(f"{shown(low)} is above {shown(high)}. Give the lower value first.")
        a, b = self.standard(low) / math.sqrt(2), self.standard(high) / math.sqrt(2)
        if a > 0:
            return 0.5 * (math.erfc(a) - math.erfc(b))
        if b < 0:
            return 0.5 * (math.erfc(-b) - math.erfc(-a))
        return 0.5 * (math.erf(b) - math.erf(a))

    def working(self, low: float, high: float) -> list[str]:
        """The lines of a board: values in standard deviations, the areas below them, and their difference."""
        out = [f"P({_word(low)} ≤ x ≤ {_word(high)}) of the normal density N({self.mean:g}, {self.deviation:g}²)"]
        for x in (low, high):
            if math.isfinite(x):
                z, below = self.standard(x), self.between(-math.inf, x)
                mean = f"- {self.mean:g}" if self.mean >= 0 else f"+ {-self.mean:g}"
                out.append(
                    f"  z = ({x:g} {mean}) / {self.deviation:g} = {z:.4g}, P(x ≤ {x:g}) = Φ({z:.4g}) = {below:.6g}"
                )
        return [*out, f"  = {self.between(low, high):.6g}"]

    def working_at(self, x: float, width: float = 1.0) -> list[str]:
        """The lines of a board: the density at x, and density × width against the area of that width around x."""
        height, ends = self.density(x), self.ends_around(x, width)
        less = f"- {self.mean:g}" if self.mean >= 0 else f"+ {-self.mean:g}"
        exact, near = self.between(*ends), width * height
        rule = f"exp(-({x:g} {less})² / (2 · {self.deviation:g}²)) / ({self.deviation:g} · √(2π))"
        return [
            f"f({x:g}) = {rule} = {height:.4g}",
            f"P({ends[0]:g} ≤ x ≤ {ends[1]:g}) ≈ {width:g} · f({x:g}) = {near:.6g}; the exact area is {exact:.6g}",
        ]

    def ends_around(self, x: float, width: float) -> tuple[float, float]:
        """The two ends of an interval of this width around x."""
        if not math.isfinite(x):
            raise SettingError(f"The density is asked for at {shown(x)}. Give a finite number.")
        if not 0 < width < math.inf:
            raise SettingError(f"The width is {shown(width)}. It must be a number above zero.")
        return x - width / 2, x + width / 2


def _word(x: float) -> str:
    return f"{x:g}" if math.isfinite(x) else ("∞" if x > 0 else "-∞")
