"""Rows that go down a finished tree of codes: scores of leaves, and what comes by each node. Compiled loops."""

from __future__ import annotations

import numpy as np

from likely.machinery.arrays import Bytes, Floats, Ints, Whole
from likely.machinery.jit import inner, kernel


@inner
def _go_down(codes: Bytes, i: Whole, n: Whole, attribute: Ints, below: Ints, mask: Bytes) -> Whole:
    """The node below inner node n that row i comes to. (Places are unsigned: one that may be below zero costs more.)"""
    left = mask[n, np.uint64(codes[i, np.uint64(attribute[n])])]
    return np.uint64(below[n]) + (np.uint64(0) if left else np.uint64(1))


@inner
def find_leaf(codes: Bytes, i: int, attribute: Ints, below: Ints, mask: Bytes) -> Whole:
    """The node at which row i ends."""
    n = np.uint64(0)
    while attribute[n] >= 0:
        n = _go_down(codes, np.uint64(i), n, attribute, below, mask)
    return n


@kernel("u1[][], i8, i8, i4[], i4[], u1[][], f8[][], f8[][]")
def add_tree(
    codes: Bytes, first: int, last: int, attribute: Ints, below: Ints, mask: Bytes, value: Floats, out: Floats
) -> None:
    """out[i] += the value of the leaf that row i falls into."""
    for i in range(first, last):
        n = find_leaf(codes, i, attribute, below, mask)
        for k in range(out.shape[1]):
            out[i, k] += value[n, k]


@kernel("u1[][], i4[], i4[], u1[][], f8[], f8[]")
def add_cover(codes: Bytes, attribute: Ints, below: Ints, mask: Bytes, weight: Floats, cover: Floats) -> None:
    """cover[n] += the weight of the rows that come by node n."""
    for i in range(codes.shape[0]):
        n = np.uint64(0)
        cover[0] += weight[i]
        while attribute[n] >= 0:
            n = _go_down(codes, np.uint64(i), n, attribute, below, mask)
            cover[n] += weight[i]
