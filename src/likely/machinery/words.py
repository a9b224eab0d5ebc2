"""Numbers and pieces of data as people read them, in a terminal, a sentence or HTML. Knows nothing of models."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from unicodedata import combining, east_asian_width


def clean(text: object, limit: int = 60) -> str:
    """Data fit for a terminal: one line, no control or direction-changing characters, cut to `limit`.

    >>> clean("a\\x1b[31mb\\n")
    'a�[31mb�'
    """
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in cut(str(text), limit))


def cut(text: str, most: int) -> str:
    """A text that is not longer than so many characters; an empty one is said to be so."""
    return (text if len(text) <= most else text[: most - 1] + "…") or "''"


def escape_text(text: object, limit: int = 200) -> str:
    """Data fit for HTML and SVG: cleaned, escaped, and no line breaks between a number and its per cent.

    >>> escape_text("<b>\\n"), escape_text("</svg>"), escape_text("a\\x00b")
    ('&lt;b&gt;�', '&lt;/svg&gt;', 'a�b')
    """
    return tie(escape(clean(text, limit)))


class Figure(str):
    """A number as people read it, which also knows the number itself."""

    __slots__ = ("value",)
    value: float

    def __new__(cls, text: str, value: float) -> Figure:
        out = super().__new__(cls, text)
        out.value = float(value)
        return out


def number(value: float, digits: int = 4) -> str:
    """A number with sensible digits; a `Figure`, of which JSON takes the number itself.

    >>> number(0.20459), number(1234567.0), number(float("nan"))
    ('0.2046', '1,234,567', '–')
    """
    if math.isnan(value):
        return Figure("–", value)
    if math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return Figure(f"{int(value):,}", value)
    return Figure(f"{value:.{digits}g}" if abs(value) < 1e6 else f"{value:.6g}", value)


def finite(value: float) -> float | None:
    """A number as JSON has it: what is not finite is null."""
    return value if math.isfinite(value) else None


def percent(share: float) -> str:
    """A share as a percentage."""
    return f"{100 * share:.1f} %"


def signed(bits: float) -> str:
    """Evidence in bits, as every face writes it: a sign, two decimals, a true minus.

    >>> signed(1.4849), signed(-0.416), signed(-0.001), signed(float("-inf"))
    ('+1.48', '−0.42', '+0.00', '−∞')
    """
    if math.isnan(bits):
        return "–"
    if math.isinf(bits):
        return "+∞" if bits > 0 else "−∞"
    told = f"{bits:+,.2f}"
    return told.replace("-", "−" if float(told.replace(",", "")) else "+")


def interval(low: float | None, high: float | None) -> str:
    """The bounds of a share: '86.5–87.2 %'; nothing where they are not known.

    >>> interval(0.8649, 0.8722), interval(0.919, 1.0), interval(None, 1.0)
    ('86.5–87.2 %', '91.9–100 %', '')
    """
    if low is None or high is None:
        return ""
    first, last = (f"{100 * share:.1f}".removesuffix(".0") if share in (0.0, 1.0) else f"{100 * share:.1f}"
                   for share in (low, high))  # fmt: skip
    return f"{first}–{last} %"


def chance(p: float) -> str:
    """A p-value in words.

    >>> chance(1e-9), chance(0.0123)
    ('p < 0.001', 'p = 0.012')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def tie(text: str) -> str:
    """Words in which no line breaks between a number and its per cent.

    >>> tie("87.2 % of 10 rows") == "87.2\\N{NO-BREAK SPACE}% of 10 rows"
    True
    """
    return re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", text)


def moment(seconds: float) -> str:
    """A point in time, as seconds since 1970."""
    try:
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return number(seconds)
    return at.date().isoformat() if seconds % 86400 == 0 else at.replace(tzinfo=None).isoformat(" ", "seconds")


def duration(seconds: float) -> str:
    """A length of time."""
    days = seconds / 86400
    return f"{days:.3g} days" if days >= 1 else f"{seconds:.3g} s"


def weighed_rows(rows: int, weight: float) -> str:
    """How many rows there are, and what they weigh where that is something else.

    >>> weighed_rows(16, 392.0), weighed_rows(1, 1.0)
    ('16 rows that weigh 392', '1 row')
    """
    told = plural(rows, "row")
    return told if math.isclose(rows, weight) else f"{told} that weigh{'s' * (rows == 1)} {number(weight, 6)}"


def plural(count: float, word: str) -> str:
    """
    >>> plural(1, "row"), plural(2, "class")
    ('1 row', '2 classes')
    """
    ending = "" if count == 1 else ("es" if word.endswith("s") else "s")
    return f"{number(count)} {word}{ending}"


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
    table = [tuple(r) for r in rows]
    widths = [max(width(r[k]) for r in table) for k in range(len(table[0]))] if table else []
    lines = []
    for row in table:
        cells = []
        for k, (cell, places) in enumerate(zip(row, widths, strict=True)):
            blanks = " " * (places - width(cell))
            cells.append(blanks + cell if k in right else cell + blanks)
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)
