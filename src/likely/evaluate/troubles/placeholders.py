"""Values that stand for "not known" without saying so: -999 far below the rest, 9999 far above it, a level "unknown".

Knows the tallies of columns, looks at no rows. Suspects only; nothing is changed by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

import numpy as np

from likely.errors import shown
from likely.evaluate.troubles.findings import MOST_ALIKE, Finding
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary
from likely.table.schema import MISSING, Column

NINES = tuple(float("9" * digits) for digits in range(2, 10))
"""What stands for a missing number most often, with either sign."""
FAR = 0.5
"""Of the range of all other values: how far from them a value lies that cannot be one of them."""
LEAST_ROWS = 2
LEAST_SHARE = 0.002
"""A share of the rows from which on a value is no accident."""
MINUS_ONE_VALUES = 20
"""Values, none negative, beside which -1 is suspicious."""
WORDS = frozenset(
    (
        "unknown", "unk", "missing", "not known", "not available", "not applicable", "n.a.", "n.a", "na.", "no data",
        "nodata", "undefined", "not recorded", "not specified", "unspecified", "#value!", "#ref!", "#div/0!", "(null)",
        "-", "--", "---", ".", "..", "…", "–", "—", "nil", "tbd", "-999", "-9999", "-99", "9999", "99999",
    )
)  # fmt: skip
"""Levels, in lower case, that may mean "not known"."""


def placeholder_findings(total: Summary) -> Iterator[Finding]:
    """Numbers and levels that may stand for missing ones, each with the option that reads them so."""
    levels: dict[str, list[str]] = {}
    told = 0
    for column in total.schema.attributes:
        held = total.columns[column.name]
        if isinstance(held, Numbers) and column.kind == "number":
            for value, rows in _odd_numbers(held, total.rows):
                told += 1
                if told <= MOST_ALIKE:
                    yield Finding("placeholder", (column.name,), True, _sentence(column, value, rows, total))
        elif isinstance(held, Counts) and column.kind == "nominal":
            for name in held.labels.names:
                if name.strip().lower() in WORDS:
                    levels.setdefault(name, []).append(column.name)
    if told > MOST_ALIKE:
        yield Finding("placeholder", (), True, f"{told - MOST_ALIKE} more numbers may stand for missing values.")
    if levels:
        names = tuple(dict.fromkeys(name for of in levels.values() for name in of))
        some = [f"{shown(level, 20)} of {shown(of[0], 30)}" for level, of in levels.items()][:MOST_ALIKE]
        more = " and others" if len(levels) > MOST_ALIKE else ""
        words = (
            f"{'A level' if len(levels) == 1 else 'Levels'} may mean that the value is unknown: {', '.join(some)}{more}"
            f". If so, use {_option(next(iter(levels)), total)}"
        )
        yield Finding("placeholder", names, False, words)


def _odd_numbers(held: Numbers, rows: int) -> Iterator[tuple[float, float]]:
    """Values of nines (and -1) that lie apart from all others, and how many rows have them."""
    values, table = held.tally()
    weight = table.sum(1).floats()
    finite = np.isfinite(values) & (weight > 0)
    values, weight = values[finite], weight[finite]
    candidates = {_coarse(sign * n, held.level): sign * n for n in NINES for sign in (1.0, -1.0)}
    for k in {0, len(values) - 1} if len(values) > 2 else ():
        value, rest = float(values[k]), np.delete(values, k)
        low, high = float(rest[0]), float(rest[-1])
        if weight[k] < max(LEAST_ROWS, LEAST_SHARE * rows):
            continue
        gap = low - value if k == 0 else value - high
        if value in candidates and gap > FAR * (high - low) and (k > 0 or low >= 0 or gap > high - low):
            yield candidates[value], float(weight[k])
        elif k == 0 and value == -1.0 and low >= 0 and len(rest) >= MINUS_ONE_VALUES:
            yield value, float(weight[k])


def _coarse(value: float, level: int) -> float:
    """A value as a tally holds it that has dropped low bits."""
    bits = np.array([value]).view(np.uint64)
    return float(((bits >> np.uint64(level)) << np.uint64(level)).view(np.float64)[0])


def _sentence(column: Column, value: float, rows: float, total: Summary) -> str:
    times = "1 row" if rows == 1 else f"{rows:,.0f} rows"
    return (
        f"{shown(column.name)} is {value:.0f} in {times}, far from all other values: it may stand for a missing "
        f"value, or for everything beyond a limit. If it means missing, use "
        f"{_option(f'{value:.0f}', total)}"
    )


def _option(token: str, total: Summary) -> str:
    """The option that reads a cell as missing, beside those that are read so already."""
    usual = "--missing usual " if total.schema.missing == MISSING else ""
    return f"{usual}--missing {quote(token) if token.isprintable() and len(token) <= 40 else 'TOKEN'}"
