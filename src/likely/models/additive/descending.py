"""Rows that go down a finished tree of codes: scores of leaves, and what comes by each node. Compiled loops."""

from __future__ import annotations

from likely.machinery.arrays import Bytes, Floats, Ints
from likely.machinery.jit import inner, kernel


@inner
def find_leaf(codes: Bytes, i: int, attribute: Ints, below: Ints, mask: Bytes) -> int:
    """The node at which row i ends."""
    n = 0
    while attribute[n] >= 0:
        n = below[n] + (0 if mask[n, codes[i, attribute[n]]] else 1)
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
        n = 0
        cover[0] += weight[i]
        while attribute[n] >= 0:
            n = below[n] + (0 if mask[n, codes[i, attribute[n]]] else 1)
            cover[n] += weight[i]
