"""Names and values as they are typed and printed. Knows no probability."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping

from likely.errors import SettingError, nearest, shown
from likely.models.fractions import printable, spell


def match_value(value: Hashable, among: Collection[Hashable], what: str) -> Hashable:
    """The one of `among` that is meant: the value itself, or the only one that is written like it.

    Values read from a file are text, so that 1 must find '1' and True must find 'true'.
    """
    if value in among:
        return next(v for v in among if v == value)
    same = [v for v in among if spell(v) == spell(value)]
    if len(same) == 1:
        return same[0]
    known = [spell(v) for v in among]
    raise SettingError(f"There is no {what} {shown(spell(value))}. {nearest(spell(value), known)}")


def event_text(values: Mapping[str, object]) -> str:
    """A=1, B=0 as in P(A=1, B=0).

    >>> event_text({"A": 1, "B": ["x", "y"]})
    'A=1, B=x or y'
    """
    return ", ".join(
        f"{printable(name)}={' or '.join(printable(v) for v in values_meant(value))}" for name, value in values.items()
    )


def any_event_text(events: Iterable[Mapping[str, object]]) -> str:
    """Events of which one at least happens.

    >>> any_event_text([{"A": 1, "B": 0}, {"C": 1}])
    '(A=1, B=0) or C=1'
    """
    several = [*events]
    return " or ".join(f"({event_text(e)})" if len(e) > 1 < len(several) else event_text(e) for e in several)


def values_meant(value: object) -> list[object]:
    """The values that are meant: a list or a set stands for any of its members."""
    if hasattr(value, "tolist"):  # an array or a scalar of numpy
        value = value.tolist()
    return list(value) if isinstance(value, (list, set)) else [value]
