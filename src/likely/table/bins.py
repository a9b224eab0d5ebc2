"""Bins of a numeric target: their labels in order. Class i holds edges[i-1] <= x < edges[i]."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from likely.table.labels import date_label, number_label


def shortest_between(low: float, high: float) -> float:
    """The number with the fewest digits above `low` and not above `high`: an edge that people can read.

    >>> shortest(23.61, 23.83746751620238), shortest(99.0, 104.0), shortest(-2.5, -1.0)
    (23.8, 100.0, -1.0)
    """
    for digits in range(1, 17):
        for found in (float(f"{high:.{digits}g}"), float(f"{low:.{digits}g}"), float(f"{(low + high) / 2:.{digits}g}")):
            if low < found <= high:
                return found
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
