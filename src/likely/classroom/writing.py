"""Names and tables as text: one line each, columns in line. Knows no probability."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from unicodedata import combining, east_asian_width

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


def values_meant(value: object) -> list[object]:
    """The values that are meant: a list or a set stands for any of its members."""
    if hasattr(value, "tolist"):  # an array or a scalar of numpy
        value = value.tolist()
    return list(value) if isinstance(value, (list, set)) else [value]


def width(text: str) -> int:
    """Places that a text takes up: two for a wide character, none for an accent that sits on another."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def align_columns(rows: Iterable[Sequence[str]], right: Collection[int] = (), indent: str = "") -> str:
    """Rows of cells as lines with the columns in line; the columns of `right` end in line.

    >>> print(align_columns([("a", "P"), ("long", "0.25")], right={1}))
    a        P
    long  0.25
    """
    held = [tuple(r) for r in rows]
    widths = [max(width(r[k]) for r in held) for k in range(len(held[0]))] if held else []
    lines = []
    for row in held:
        cells = []
        for k, (cell, places) in enumerate(zip(row, widths, strict=True)):
            blanks = " " * (places - width(cell))
            cells.append(blanks + cell if k in right else cell + blanks)
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)
