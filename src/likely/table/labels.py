"""Labels: the open list of levels (or classes) of one column, and how values and bins are spelled as labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise


class Labels:
    """Names with codes 0, 1, 2 … in order of discovery. Open: a new name is simply a new code."""

    __slots__ = ("index", "names")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names: list[str] = list(names)
        self.index: dict[str, int] = {name: code for code, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def code(self, name: str) -> int:
        """The code of `name`, which is added if it is new."""
        code = self.index.get(name)
        if code is None:
            code = self.index[name] = len(self.names)
            self.names.append(name)
        return code

    def copy(self) -> Labels:
        out = Labels.__new__(Labels)
        out.names, out.index = self.names.copy(), self.index.copy()
        return out


def label(value: object) -> str | None:
    """The label of a Python value; None where it means "missing".

    >>> label(True), label(3.0), label("van "), label(float("nan"))
    ('true', '3', 'van ', None)
    """
    if value is None:
        return None
    if isinstance(value, str):
        return value
    if hasattr(value, "item"):  # a numpy scalar
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return None if math.isnan(value) else number_label(value)
    if isinstance(value, Decimal):
        return decimal_label(value) if value.is_finite() else None
    return str(value)


def number_label(value: float) -> str:
    """The one spelling of a double as a label: whole numbers without a point, others as Python writes them.

    Whole numbers of 64 bits are their digits, so that they are the same labels whether they were stored as integers or
    as doubles; what no integer column can hold keeps its exponent.

    >>> number_label(3.0), number_label(0.1), number_label(2.0**53), number_label(1e300)
    ('3', '0.1', '9007199254740992', '1e+300')
    """
    return str(int(value)) if math.isfinite(value) and value == int(value) and abs(value) < 2**64 else repr(value)


def decimal_label(value: Decimal) -> str:
    """The spelling of an exact number as a label: that of the double where the double says the same, else all digits.

    >>> decimal_label(Decimal("0.100")), decimal_label(Decimal("3.00")), decimal_label(Decimal(2**53 + 1))
    ('0.1', '3', '9007199254740993')
    >>> decimal_label(Decimal("12345678901234567890.1230"))
    '12345678901234567890.123'
    """
    if value == value.to_integral_value():
        return str(int(value))
    nearest = repr(float(value))
    return nearest if Decimal(nearest) == value else format(value, "f").rstrip("0")


def date_label(seconds: float) -> str:
    """A point in time, given in seconds since 1970, as a file would spell it: the day alone at midnight.

    >>> date_label(86400.0), date_label(86400.5)
    ('1970-01-02', '1970-01-02 00:00:00.5')
    """
    try:
        at = datetime(1970, 1, 1) + timedelta(microseconds=round(seconds * 1e6))
    except (OverflowError, ValueError):
        return number_label(seconds)
    text = at.isoformat(" ")
    return text.removesuffix(" 00:00:00") if "." not in text else text.rstrip("0")


def date_within(low: float, high: float) -> str:
    """The shortest date from `low` to below `high` (seconds since 1970): the first of a year, a month, a day, an hour …

    For times of which only that much is known: a tally that has dropped low bits knows each to such a stretch.

    >>> date_within(978255872.0, 978321408.0), date_within(86400.0, 86400.0)
    ('2001-01-01', '1970-01-02')
    """
    try:
        start, end = (datetime(1970, 1, 1) + timedelta(seconds=s) for s in (low, high))
        years = [start.replace(month=1, day=1), start.replace(year=start.year + 1, month=1, day=1)]
        month = start.replace(day=1)
        months = [month, (month + timedelta(days=32)).replace(day=1)]
    except (OverflowError, ValueError):
        return date_label(low)
    for at in (*years, *months):
        first = at.replace(hour=0, minute=0, second=0, microsecond=0)
        if start <= first < end:
            return first.date().isoformat()
    for step in (86400.0, 3600.0, 60.0, 1.0):
        near = math.ceil(low / step) * step
        if low <= near < high:
            return date_label(near)
    return date_label(low)


def sorted_labels(names: Sequence[str], numeric: bool) -> list[str]:
    """Schema order: numbers by size, everything else by code point. Ties in a prediction go to the first."""
    return sorted(names, key=lambda n: (Decimal(n), n)) if numeric else sorted(names)


def shortest_between(low: float, high: float) -> float:
    """The number with the fewest digits above `low` and not above `high`: an edge that people can read.

    >>> shortest_between(23.61, 23.83746751620238), shortest_between(99.0, 104.0), shortest_between(-2.5, -1.0)
    (23.8, 100.0, -1.0)
    """
    for digits in range(1, 17):
        for edge in (float(f"{high:.{digits}g}"), float(f"{low:.{digits}g}"), float(f"{(low + high) / 2:.{digits}g}")):
            if low < edge <= high:
                return edge
    return high


def bin_labels(edges: Sequence[float], dates: bool = False) -> list[str]:
    """The names of the bins between `edges`, which may be points in time.

    >>> bin_labels([10, 20])
    ['below 10', '10 to below 20', '20 or more']
    >>> bin_labels([0, 86400], dates=True)
    ['before 1970-01-01', '1970-01-01 to before 1970-01-02', '1970-01-02 or later']
    """
    names = [date_label(float(e)) if dates else number_label(float(e)) for e in edges]
    below, more = ("before", "later") if dates else ("below", "more")
    inner = [f"{a} to {below} {b}" for a, b in pairwise(names)]
    return [f"{below} {names[0]}", *inner, f"{names[-1]} or {more}"]
