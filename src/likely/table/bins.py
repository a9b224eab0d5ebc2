"""Bins of a numeric target: their labels in order. Class i holds edges[i-1] <= x < edges[i]."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from likely.table.labels import number_label


def bin_labels(edges: Sequence[float]) -> list[str]:
    """The names of the bins between `edges`.

    >>> bin_labels([10, 20])
    ['below 10', '10 to below 20', '20 or more']
    """
    names = [number_label(float(e)) for e in edges]
    inner = [f"{a} to below {b}" for a, b in pairwise(names)]
    return [f"below {names[0]}", *inner, f"{names[-1]} or more"]
