"""Questions to a joint table as people write them: P(a=x, b=y | c=z), P(a=x or b=y), P(a | c). Only reads them.

Names and levels are written bare or in quotes. Quotes, single or double, are needed where a bare word could be read
otherwise: around `,`, `|`, `=`, `or`, `and`, blanks at the ends, and nothing at all; a quote inside them is doubled.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from likely.errors import SettingError, shown
from likely.probability.writing import match_value, printable, spell

if TYPE_CHECKING:
    from likely.probability.distribution import Distribution

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
    given_names: tuple[str, ...] = ()
    """Instead of a condition: variables for each of whose values it is asked for."""

    def __str__(self) -> str:
        asked = " or ".join(_written(e) for e in self.events) or ", ".join(map(quote, self.names))
        known = _written(self.given) or ", ".join(map(quote, self.given_names))
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

    >>> from likely.probability import Joint
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
        if len(given) > 1:
            raise SettingError(f"{shown(text)} joins different variables by 'or' behind the bar. Ask for each apart.")
    else:
        given, given_names = [], []
    if names and events:
        raise SettingError(f"{shown(text)} gives a value to some variables and none to others. {_FORM}")
    if given and given_names:
        raise SettingError(f"{shown(text)} gives a value to some variables behind the bar and none to others. {_FORM}")
    if events and given_names:
        raise SettingError(
            f"{shown(text)} asks for one event, but gives no value to {shown(given_names[0])}. Give it one."
        )
    for name in names:
        if name in (*given_names, *(given[0] if given else ())):
            raise SettingError(f"The variable {shown(name)} is on both sides. Name it on one.")
    return Query(tuple(events), given[0] if given else {}, tuple(names), tuple(given_names))


def parse_event(text: str, joint: Distribution) -> dict[str, list[Hashable]]:
    """One event of this table, such as a=x, b=y or z.

    >>> from likely.probability import Joint
    >>> parse_event("A=1", Joint.listed({"A": [0, 1], "B": [0, 1]}, ["1/4"] * 4))
    {'A': [1]}
    """
    found = parse_query(text, joint)
    if found.given or found.given_names or len(found.events) != 1:
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
