"""L-BFGS for a convex function of many weights, in its vector-free form. Knows vectors and a function; no data.

The two loops run over coefficients of the remembered steps, gradients and the present gradient, of which only inner
products are needed: each step reads its memory twice, however much it remembers. One order of adding: one result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats, Longs
from likely.machinery.jit import kernel

if TYPE_CHECKING:
    Function = Callable[[Floats], tuple[float, Floats]]

MEMORY = 5
"""Steps that are remembered."""
ENOUGH = 1e-4
"""Share of what the gradient promises that a step must bring; else it is halved."""
HALVINGS = 30
_BLOCK = 2048


def minimise(function: Function, start: Floats, most_steps: int, tolerance: float) -> tuple[Floats, float]:
    """Where the function is least, and its value there; ends when a step gains less than this share of the value."""
    last, at = 2 * MEMORY, start
    value, gradient = function(at)
    basis = np.zeros((last + 1, len(at)))
    gram = np.zeros((last + 1, last + 1))
    order: list[int] = []
    basis[last] = gradient
    _update(basis, gram, last)
    for step in range(most_steps):
        if not gram[last, last] > 0:
            break
        direction = np.empty_like(at)
        mix = _coefficients(gram, order)
        combine(basis, mix, direction)
        slope = float(mix @ gram[last])
        # Before anything is remembered a step has no natural length: this one moves the value by itself at most.
        size = min(1.0, abs(value / slope)) if not order else 1.0
        for _ in range(HALVINGS):
            new = at + size * direction
            found, after = function(new)
            if found <= value + ENOUGH * size * slope:
                break
            size /= 2
        else:
            break
        gain = value - found
        slot = step % MEMORY
        basis[slot], basis[MEMORY + slot] = new - at, after - gradient
        basis[last] = after
        at, value, gradient = new, found, after
        _update(basis, gram, slot, MEMORY + slot, last)
        order = [k for k in order if k != slot]
        if gram[slot, MEMORY + slot] > 0:
            order.append(slot)
        if gain <= tolerance * abs(value):
            break
    return at, value


def _update(basis: Floats, gram: Floats, *rows: int) -> None:
    """The inner products of these vectors with all others."""
    found = np.zeros((len(rows), len(basis)))
    multiply(basis, np.array(rows, np.int64), found)
    for k, row in enumerate(rows):
        gram[row] = found[k]
        gram[:, row] = found[k]


def _coefficients(gram: Floats, order: list[int]) -> Floats:
    """The direction of descent as a sum of vectors of the basis: the two loops of L-BFGS."""
    last = 2 * MEMORY
    out, alphas = np.zeros(len(gram)), {}
    out[last] = -1.0
    for k in reversed(order):
        alphas[k] = float(out @ gram[k]) / gram[k, MEMORY + k]
        out[MEMORY + k] -= alphas[k]
    if order:
        k = order[-1]
        out *= gram[k, MEMORY + k] / gram[MEMORY + k, MEMORY + k]
    for k in order:
        out[k] += alphas[k] - float(out @ gram[MEMORY + k]) / gram[k, MEMORY + k]
    return out


@kernel("f8[][], i8[], f8[][]")
def multiply(basis: Floats, rows: Longs, out: Floats) -> None:
    """out[k, j] = inner product of basis[rows[k]] and basis[j], block by block, so that blocks stay in the cache."""
    size = basis.shape[1]
    for lo in range(0, size, _BLOCK):
        hi = min(lo + _BLOCK, size)
        for k in range(rows.size):
            r = rows[k]
            for j in range(basis.shape[0]):
                a, b, c, d = 0.0, 0.0, 0.0, 0.0
                t = lo
                while t + 4 <= hi:
                    a += basis[r, t] * basis[j, t]
                    b += basis[r, t + 1] * basis[j, t + 1]
                    c += basis[r, t + 2] * basis[j, t + 2]
                    d += basis[r, t + 3] * basis[j, t + 3]
                    t += 4
                while t < hi:
                    a += basis[r, t] * basis[j, t]
                    t += 1
                out[k, j] += (a + b) + (c + d)


@kernel("f8[][], f8[], f8[]")
def combine(basis: Floats, mix: Floats, out: Floats) -> None:
    """out = sum of mix[j] * basis[j]."""
    size = basis.shape[1]
    for lo in range(0, size, _BLOCK):
        hi = min(lo + _BLOCK, size)
        for t in range(lo, hi):
            out[t] = 0.0
        for j in range(basis.shape[0]):
            if mix[j] != 0.0:
                for t in range(lo, hi):
                    out[t] += mix[j] * basis[j, t]
