"""Rows of which some cells are unknown, in plain Python: averaged over rows that stand for the table.

Must give what `Completed` (models/shapes/references.py) gives. Weights are whole numbers, so the same rows are drawn.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from functools import lru_cache

from likely.portable.joint_terms import code_on
from likely.portable.logs import log_add, log_sum
from likely.portable.reading import MISSING, Cell, Form

Cells = Mapping[str, Cell]


def is_unknown(cell: Cell) -> bool:
    """Whether a cell is missing: a level's code, or a number that is not finite."""
    return cell == MISSING if isinstance(cell, int) else isinstance(cell, float) and not math.isfinite(cell)


def unknown_in(references: Form, cells: Cells) -> list[int]:
    """The axes whose cells are to be averaged over; none where many rows of training were like that."""
    gone = [k for k, axis in enumerate(references.axes) if is_unknown(cells[axis.attribute])]
    if not gone or any([k for k, there in enumerate(pattern) if there] == gone for pattern in references.usual):
        return []
    gone = [k for k, axis in enumerate(references.axes) if k in gone or code_on(axis, cells) < 0]
    return gone if len(gone) < len(references.axes) else []  # with nothing known a score says the prior by itself


def completed(
    references: Form, cells: Cells, gone: list[int], score: Callable[[Cells], tuple[float, ...]]
) -> list[float]:
    """log of the mean of P(class | completed row), and what is said of known values by themselves beyond that."""
    known = [(k, code_on(axis, cells)) for k, axis in enumerate(references.axes) if k not in gone]
    known = [(k, code) for k, code in known if code >= 0]
    shift = references.shift or [0.0] * len(references.shares[0][0])
    total = [-math.inf] * len(shift)
    for row, times in _draw(references, known).items():
        whole = dict(cells)
        for k in gone:
            axis, code = references.axes[k], _rows(references.rows, len(references.axes))[row][k]
            nothing = MISSING if axis.codes is not None else math.nan
            whole[axis.attribute] = references.values[k][code] if code < axis.size else nothing
        logs = [v - s for v, s in zip(score(whole), shift, strict=True)]
        evidence = log_sum(logs)
        if evidence > -math.inf:
            total = [log_add(t, math.log(times) + v - evidence) for t, v in zip(total, logs, strict=True)]
    more = [0.0] * len(total)
    for k, code in known:
        more = [m + s for m, s in zip(more, references.shares[k][code], strict=True)]
    more = [m / len(known) for m in more]
    logs = [t - math.log(references.completions) + m for t, m in zip(total, more, strict=True)]
    evidence = log_sum(logs)
    return [v - evidence + s if evidence > -math.inf else v for v, s in zip(logs, shift, strict=True)]


@lru_cache(maxsize=4)
def _rows(text: str, axes: int) -> list[bytes]:
    """The codes of each reference."""
    data = base64.b64decode(text)
    return [data[k : k + axes] for k in range(0, len(data), axes)]


def _draw(references: Form, known: list[tuple[int, int]]) -> dict[int, int]:
    """References drawn evenly from all, each counting by how much it is like the row: how often each is drawn."""
    costs = []
    for codes in _rows(references.rows, len(references.axes)):
        cost = 0.0
        for k, code in known:
            d = (references.places[k][code] - references.places[k][codes[k]]) / references.width
            cost += references.relevance[k] * min(0.5 * d * d, references.far[k][code])
        costs.append(cost)
    least, low, high = min(costs), -1, references.steps
    while high - low > 1:
        middle = (low + high) // 2
        weights = _weights(references, costs, least, middle)
        total = sum(weights)
        if total * total >= references.least * sum(w * w for w in weights):
            high = middle
        else:
            low = middle
    weights = _weights(references, costs, least, high)
    total, out, row, so_far = sum(weights), dict[int, int](), 0, weights[0]
    for k in range(references.completions):
        while so_far * 2 * references.completions <= total * (2 * k + 1) and row + 1 < len(weights):
            row += 1
            so_far += weights[row]
        out[row] = out.get(row, 0) + 1
    return out


def _weights(references: Form, costs: list[float], least: float, step: int) -> list[float]:
    power = 2.0 ** (-0.5 * step)
    each = zip(costs, references.weights, strict=True)
    return [math.floor(math.exp((least - cost) * power) * (references.unit * weight)) for cost, weight in each]
