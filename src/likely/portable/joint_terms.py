"""What attributes say together, in plain Python: tables, normal densities, trees, pairs, one-dependence estimators."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from likely.portable.logs import add_scores, log, log_add, log_sum
from likely.portable.reading import MISSING, Cell, Form

Cells = Mapping[str, Cell]


def code_on(axis: Form, cells: Cells) -> int:
    """The code of a row on an axis; -1 where it has none."""
    cell = cells[axis.attribute]
    if axis.codes is None:
        assert isinstance(cell, (int, float))
        code = bisect_right(axis.starts, float(cell)) if math.isfinite(cell) else axis.missing
    else:
        assert isinstance(cell, int)
        code = axis.codes[cell] if cell >= 0 else axis.missing if cell == MISSING else axis.unseen
    return int(code)


def table(term: Form, cells: Cells) -> tuple[float, ...]:
    """log P(the codes that are there | class), the others summed over; nothing where none is."""
    codes = [code_on(axis, cells) for axis in term.axes]
    there = [k for k, code in enumerate(codes) if code >= 0]
    if not there:
        return (0.0,) * len(term.log_total)
    top = [0.0] * len(term.log_total)
    for cell, counts in zip(term.cells, term.counts, strict=True):
        if all(cell[k] == codes[k] for k in there):
            top = [a + b for a, b in zip(top, counts, strict=True)]
    sizes = [float(axis.size) for axis, code in zip(term.axes, codes, strict=True) if code < 0]
    extra = term.extra
    for size in sizes:
        extra *= size
    if extra == math.inf:  # beyond a double, where no count is felt
        beyond = term.log_extra + sum(math.log(size) for size in sizes)
        return tuple(beyond - total for total in term.log_total)
    return tuple(log(n + extra) - total for n, total in zip(top, term.log_total, strict=True))


def covariance(term: Form, cells: Cells) -> tuple[float, ...]:
    """The log density of the numbers that are there; the others are integrated out."""
    x = [float(cells[name]) for name in term.attributes]  # type: ignore[arg-type]
    places = [k for k, value in enumerate(x) if math.isfinite(value)]
    if not places:
        return (0.0,) * len(term.mean)
    out, limit = [], getattr(term, "most", math.inf)  # `most` and `ends` are there in pools only
    if hasattr(term, "ends"):
        x = [max(min(v, high), low) for v, low, high in zip(x, *term.ends, strict=True)]
    for c in range(len(term.mean)):
        most = term.farthest[c]
        apart = [max(min(x[k] - term.mean[c][k], most[k]), -most[k]) for k in places]
        far = [v * (1 / term.deviation[c][k]) for v, k in zip(apart, places, strict=True)]
        if len(places) == len(x):
            apart, peak = _whitened(far, term.whitening[c]), term.peak[c]
        else:
            part = [[term.correlation[c][i][j] for j in places] for i in places]
            apart, log_root = cholesky_solve(part, far, term.least[c])
            volume = 0.5 * len(places) * math.log(2 * math.pi) + log_root
            peak = -(volume + sum(math.log(term.deviation[c][k]) for k in places))
        total = sum(v * v for v in apart)
        out.append((peak, peak - 0.5 * total))
    least = min(peak for peak, _ in out) - limit
    return tuple(max(value, least) for _, value in out)


def _whitened(far: Sequence[float], whitening: Sequence[Sequence[float]]) -> list[float]:
    out = [0.0] * len(far)
    for d, row in zip(far, whitening, strict=True):
        out = [v + d * w for v, w in zip(out, row, strict=True)]
    return out


def cholesky_solve(
    matrix: Sequence[Sequence[float]], right: Sequence[float], least: float
) -> tuple[list[float], float]:
    """L**-1 @ right for matrix = L @ L.T, and the log of the determinant of L; no pivot is taken below `least`."""
    size = len(matrix)
    low = [[0.0] * size for _ in range(size)]
    out, log_root = [0.0] * size, 0.0
    for i in range(size):
        for j in range(i):
            low[i][j] = (matrix[i][j] - sum(low[i][k] * low[j][k] for k in range(j))) / low[j][j]
        pivot = max(matrix[i][i] - sum(v * v for v in low[i][:i]), least)
        low[i][i] = math.sqrt(pivot)
        out[i] = (right[i] - sum(low[i][k] * out[k] for k in range(i))) / low[i][i]
        log_root += math.log(low[i][i])
    return out, log_root


def tree(term: Form, cells: Cells, size: int) -> list[tuple[str, tuple[float, ...]]]:
    """What each axis adds. One without a code speaks for what hangs below it, summed over its own codes."""
    codes = [code_on(axis, cells) for axis in term.axes]
    nothing = (0.0,) * size
    out = [nothing] * len(codes)
    below: list[list[tuple[float, ...]] | None] = [None] * len(codes)
    """For an axis without a code: what the codes below it say for each of its own; None where they say nothing."""
    for v in reversed(term.order):
        parent, own, held = term.parents[v], codes[v], below[v]
        if own < 0 and held is None:
            continue  # its codes sum to one
        hidden = parent >= 0 and codes[parent] < 0
        width = term.axes[parent].size if parent >= 0 else 1
        for b in range(width) if hidden else [codes[parent] if parent >= 0 else 0]:
            if own >= 0:
                value = term.tables[v][own][b]
            else:
                assert held is not None
                each = [add_scores(term.tables[v][a][b], up) for a, up in enumerate(held)]
                value = tuple(log_sum(column) for column in zip(*each, strict=True))
            if hidden:
                above = below[parent]
                if above is None:
                    above = below[parent] = [nothing] * width
                above[b] = add_scores(above[b], value)
            else:
                out[v] = value
    return [(axis.attribute, own) for axis, own in zip(term.axes, out, strict=True)]


def pair(term: Form, cells: Cells, size: int) -> tuple[float, ...]:
    """What the table says; nothing where one of the two has no code."""
    one, other = (code_on(axis, cells) for axis in term.axes)
    return (0.0,) * size if one < 0 or other < 0 else by_class(term.table, one * term.axes[1].size + other)


def by_class(columns: Sequence[Sequence[float]], place: int) -> tuple[float, ...]:
    """What a table of each class has at a place; that of the first of two is the negative where it is left out."""
    found = tuple(column[place] for column in columns)
    return (-found[0], found[0]) if len(found) == 1 else found


def trees(term: Form, cells: Cells, size: int) -> tuple[float, ...]:
    """The sum of what each tree says where the row leaves it."""
    codes = [code_on(axis, cells) for axis in term.axes]
    out = (0.0,) * size
    for node in term.roots:
        while term.axis[node] >= 0 and codes[term.axis[node]] >= 0:
            node = term.below[node] + bisect_right(term.turns[node], codes[term.axis[node]]) % 2
        out = add_scores(out, by_class(term.values, node))
    return out


def one_dependence(form: Form, cells: Cells) -> tuple[float, ...]:
    """The log of the mean over the cells that may be parents; naive Bayes where none may."""
    first, there = 0, []
    for axis in form.axes:
        code = code_on(axis, cells)
        if code >= 0:
            there.append(first + code)
        first += axis.size
    parents = [a for a in there if form.serves[a]]
    if not parents:
        out: tuple[float, ...] = form.prior
        for b in there:
            out = add_scores(out, form.alone[b])
        return out
    total: tuple[float, ...] = (-math.inf,) * len(form.prior)
    for a in parents:
        own = form.joint[a]
        for b in there:
            if b != a:
                own = add_scores(own, form.given[a][b])
        total = tuple(log_add(t, v) for t, v in zip(total, own, strict=True))
    return tuple(v - math.log(len(parents)) for v in total)
