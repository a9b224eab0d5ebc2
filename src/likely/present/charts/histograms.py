"""The chart of one number: a histogram for each class, the fitted density on it, and what each value makes of the
classes. Reads the tally of values and the model's factor; no rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likely.models.contracts import Factor
from likely.models.shapes import Column, Density
from likely.present.charts.drawing import COLOURS, Axis, Chart, Frame, at, colour, key, path, svg, text
from likely.sums.columns.numbers import Numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

BINS = 24
POINTS = 73
MOST_CLASSES = 6
"""More histograms over each other cannot be read: those of the most frequent classes are drawn."""
ENDS = (0.002, 0.998)


def histogram(
    name: str, numbers: Numbers, factor: Factor | None, classes: Sequence[str], prior: Floats, dates: bool = False
) -> Chart | None:
    """The chart; None where there are no two values."""
    values, tally = numbers.tally()
    weights = tally.floats()
    if len(values) < 2 or not weights.sum() > 0:
        return None
    edges = bin_edges(values, weights.sum(axis=1))
    if edges is None:
        return None
    shown = sorted(np.argsort(-weights.sum(axis=0), kind="stable")[:MOST_CLASSES].tolist())
    counts = np.zeros((len(edges) - 1, weights.shape[1]))
    place = np.searchsorted(edges, values, side="right") - 1
    inside = (place >= 0) & (place < len(edges) - 1)
    np.add.at(counts, place[inside], weights[inside])
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(weights.sum(axis=0) > 0, counts / weights.sum(axis=0), 0.0)
    grid = np.linspace(edges[0], edges[-1], POINTS)
    log_density = fitted(factor, grid, len(classes))
    curves = None
    if log_density is not None and isinstance(factor, Density):
        curves = np.exp(log_density) * (edges[1] - edges[0])
    # A density of one narrow peak must not press the histogram flat.
    top = float(shares[:, shown].max())
    if curves is not None:
        top = max(top, min(float(curves[:, shown].max()), 1.15 * top))
    form = "date" if dates else "number"
    frame = Frame(
        Axis(float(edges[0]), float(edges[-1]), name, form), Axis(0.0, top or 1.0, "share of the class", "percent")
    )
    body = [frame.drawn()]
    # Classes that are too many for colours of their own have those of the few that are drawn.
    hue = {k: k if len(classes) <= COLOURS else place for place, k in enumerate(shown)}
    for k in shown:
        body.append(_steps(frame, edges, shares[:, k], hue[k]))
    if curves is not None:
        for k in shown:
            points = [
                (frame.across(float(x)), frame.up(min(float(y), top))) for x, y in zip(grid, curves[:, k], strict=True)
            ]
            body.append(path(points, f"{colour(hue[k])} curve"))
    below = frame.bottom + 46
    if log_density is not None and 1 < len(classes) <= COLOURS:
        body.append(_strip(frame, log_density, prior, below + 14))
        body.append(text(frame.left - 40, below + 4, f"what each value of {name} alone makes of the classes", "name"))
        body.append(text(frame.left - 6, below + 22, "100 %", "tick", "end"))
        body.append(text(frame.left - 6, below + 37, "0 %", "tick", "end"))
        below += 46
    keys, high = key([(hue[k], classes[k]) for k in shown], frame.left - 40, below + 12, 420)
    body.append(keys)
    label = f"{name}: histogram of each class" + (", with the fitted density" if curves is not None else "")
    return svg(440, below + high, label, "".join(body), "histogram")


def bin_edges(values: Floats, weight: Floats) -> Floats | None:
    """Edges of at most BINS bins of equal width over nearly all values; whole numbers lie in the middle of theirs."""
    low, high = inner_range(values, weight)
    if not low < high or not np.isfinite(high - low):
        return None
    if (values == np.floor(values)).all() and high - low < 1e15:
        step = max(1, -(-int(high - low + 1) // BINS))
        count = -(-int(high - low + 1) // step)
        return np.asarray(low - 0.5 + step * np.arange(count + 1.0))
    edges = np.linspace(low, high, BINS + 1)
    edges[-1] = np.nextafter(edges[-1], np.inf)
    return edges if (np.diff(edges) > 0).all() else None


def inner_range(values: Floats, weight: Floats) -> tuple[float, float]:
    """From where to where nearly all values are, which come in order; all of them where those are one value."""
    below = np.cumsum(weight)
    ends = np.minimum(np.searchsorted(below, np.array(ENDS) * below[-1]), len(values) - 1)
    low, high = float(values[ends[0]]), float(values[ends[1]])
    return (low, high) if low < high else (float(values[0]), float(values[-1]))


def fitted(factor: Factor | None, grid: Floats, classes: int) -> Floats | None:
    """The log of the fitted density of each class at each place; None where the model has none of this number."""
    if not isinstance(factor, Column):
        return None
    out = np.zeros((len(grid), classes))
    factor.add_cells(np.ascontiguousarray(grid), out)
    return out


def _steps(frame: Frame, edges: Floats, shares: Floats, k: int) -> str:
    d = [f"M{at(frame.across(float(edges[0])))} {at(frame.bottom)}"]
    for right, share in zip(edges[1:], shares, strict=True):
        d.append(f"V{at(frame.up(float(share)))}H{at(frame.across(float(right)))}")
    return f'<path class="{colour(k)} area" d="{"".join(d)}V{at(frame.bottom)}Z"/>'


def _strip(frame: Frame, log_density: Floats, prior: Floats, top: float, height: float = 22) -> str:
    """P(class | this value alone) along the axis, stacked."""
    with np.errstate(divide="ignore", invalid="ignore"):
        joint = log_density + np.log(prior)
        joint -= joint.max(axis=1, keepdims=True)
        chance = np.exp(joint)
        chance /= chance.sum(axis=1, keepdims=True)
    chance = np.nan_to_num(chance)
    xs = [frame.left + frame.width * k / (len(chance) - 1) for k in range(len(chance))]
    out, base = [], np.zeros(len(chance))
    for k in range(chance.shape[1]):
        if chance[:, k].max() < 0.005:
            base = base + chance[:, k]
            continue
        upper = base + chance[:, k]
        edge = [(x, top + height * float(u)) for x, u in zip(xs, upper, strict=True)]
        back = [(x, top + height * float(b)) for x, b in zip(reversed(xs), reversed(base.tolist()), strict=True)]
        out.append(path(_thin(edge) + _thin(back), f"{colour(k)} fill", True))
        base = upper
    return "".join(out)


def _thin(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The same line without points that lie on it."""
    out = points[:1]
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        if abs(before[1] - here[1]) > 0.05 or abs(here[1] - after[1]) > 0.05:
            out.append(here)
    return out + points[-1:] if len(points) > 1 else out
