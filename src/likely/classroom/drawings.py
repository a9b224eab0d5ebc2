"""Pictures for a lecture: two numbers with their classes, a line of least squares, the area under a normal density.

Draws records of evaluate/pictures; `size` is that of a slide, in which words keep their size.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from likely.classroom.pictures import with_margin
from likely.evaluate.attributes.plane import places
from likely.machinery.words import escape_text, number, percent
from likely.present.charts.drawing import COLOURS, Chart, ChartAxis, ChartFrame, at, colour, line, path, svg, text
from likely.present.charts.planes import ellipse_points, filled_region, join_segments, level_segments

if TYPE_CHECKING:
    from likely.classroom.pictures import DrawnBall, StraightLine, TwoNumbers

SIZE = (640.0, 360.0)
"""Width and height where none are said: half of a slide of 1280 by 720."""
LEFT, TOP, RIGHT, BELOW = 56.0, 46.0, 18.0, 62.0
CORNERS = 72
MARKS = (
    "M-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0 -5.2 0z",
    "M-2.4 -2.4h4.8v4.8h-4.8z",
    "M0 -3.2L3 2.2H-3z",
    "M0 -3.4L3.4 0L0 3.4L-3.4 0z",
    "M0 3.2L3 -2.2H-3z",
    "M-.9 -3.2h1.8v2.3h2.3v1.8h-2.3v2.3h-1.8v-2.3h-2.3v-1.8h2.3z",
    "M-3.2 -1.2h6.4v2.4h-6.4z",
    "M-1.2 -3.2h2.4v6.4h-2.4z",
)
"""A shape for each class, so that not the colour alone tells it."""


def draw_two_numbers(found: TwoNumbers, size: tuple[float, float] = SIZE) -> Chart:
    """Regions, contours, ellipses, points, the ball of neighbours and the point that is asked about."""
    frame = _frame(ChartAxis(*found.x_range, found.x), ChartAxis(*found.y_range, found.y), size)
    body, told = [], []
    if found.regions is not None:
        known = sorted({*found.regions.ravel().tolist()} - {-1})
        body += [filled_region(found.regions, k, frame) for k in known]
        told.append(f"the class that {found.learner} names at each place")
    body.append(frame.drawn(grid=found.regions is None))
    inside = []
    if found.contours is not None:
        inside += _contours(found, frame)
        told.append(f"where the density of a class is {percent(found.level)} of its greatest")
    for spreads, kind in ((found.spreads, "ring"), (found.naive_spreads, "ring naive")):
        for k, spread in (spreads or {}).items():
            mean = (found.means or {})[k]
            for times in (2.0, 1.0):
                inside.append(path(ellipse_points(frame, mean, spread, times), f"{_tint(found, k)} {kind}", True))
    told += ["ellipses at one and two standard deviations"] if found.spreads else []
    told += ["dashed: those of naive Bayes, whose axes are parallel"] if found.naive_spreads else []
    if found.points:
        inside += _points(found, frame)
        told.append(f"{number(len(found.points))} rows" + ("" if found.every else f" of {number(found.rows)}"))
    inside += _means(found, frame)
    if found.ball is not None:
        inside += _ball(found, found.ball, frame)
    body.append(f'<g clip-path="url(#frame)">{"".join(inside)}</g>')
    if found.answer is not None:
        body += _answer(found, frame)
    legend = _key(found, size)
    label = f"{found.x} and {found.y} by {found.target}: {'; '.join(told) or 'two numbers'}"
    return svg(*size, label, _clip(frame) + "".join(body) + legend, "plane")


def draw_straight_line(found: StraightLine, size: tuple[float, float] = SIZE) -> Chart:
    """The points, the line, their residuals, and the normal density of the noise around the line."""
    xs, ys = ([p[k] for p in found.points] for k in (0, 1))
    across = with_margin(min(xs), max(xs))
    heights = [*ys, *(found.constant + found.slope * x for x in across)]
    up = with_margin(min(heights), max(heights))
    frame = _frame(ChartAxis(*across, found.x), ChartAxis(*up, found.y), size)
    inside = []
    for x, y in found.points:
        on = frame.up(found.constant + found.slope * x)
        inside.append(line(frame.across(x), frame.up(y), frame.across(x), on, "residual"))
    ends = [(frame.across(x), frame.up(found.constant + found.slope * x)) for x in across]
    inside.append(path(ends, "accent-line"))
    if found.noise:
        for share in (0.2, 0.5, 0.8):
            inside.append(_sideways(found, frame, across[0] + share * (across[1] - across[0])))
    for x, y in found.points:
        inside.append(f'<circle class="k0 dot" cx="{at(frame.across(x))}" cy="{at(frame.up(y))}" r="4"/>')
    sign = "+" if found.slope >= 0 else "−"
    rule = f"{found.y} = {number(found.constant)} {sign} {number(abs(found.slope))} · {found.x}"
    told = (
        f"squares of the residuals: {number(found.squares)}, the least of all lines; "
        f"log likelihood {number(found.log_likelihood)}, the greatest"
        if found.noise
        else "all points lie on the line"
    )
    words = text(LEFT, 16, rule, "title", most=90) + text(LEFT, size[1] - 12, told, "name", most=120)
    body = f'{frame.drawn()}<g clip-path="url(#frame)">{"".join(inside)}</g>{words}'
    return svg(*size, f"{rule}; {told}", _clip(frame) + body, "plane")


def draw_normal(
    mean: float, deviation: float, low: float, high: float, share: float, size: tuple[float, float] = SIZE
) -> Chart:
    """The density with the area between two values, which is how probable it is to lie between them."""
    ends = (mean - 4 * deviation, mean + 4 * deviation)
    peak = 1 / (deviation * math.sqrt(2 * math.pi))
    frame = _frame(ChartAxis(*ends, "x"), ChartAxis(0.0, 1.08 * peak, "density"), size)

    def density(x: float) -> float:
        return peak * math.exp(-(((x - mean) / deviation) ** 2) / 2)

    def curve(first: float, last: float) -> list[tuple[float, float]]:
        some = np.linspace(first, last, 160).tolist()
        return [(frame.across(x), frame.up(density(x))) for x in some]

    inside, first, last = [], max(low, ends[0]), min(high, ends[1])
    if first < last:
        foot = [(frame.across(last), frame.bottom), (frame.across(first), frame.bottom)]
        inside.append(path([*curve(first, last), *foot], "k0 area", True))
    inside.append(path(curve(*ends), "k0 curve"))
    said = f"P({_bound(low)} ≤ x ≤ {_bound(high)}) = {number(share)}"
    body = f'{frame.drawn()}<g clip-path="url(#frame)">{"".join(inside)}</g>{text(LEFT, 16, said, "title")}'
    note = text(LEFT, size[1] - 12, f"normal, mean {number(mean)}, standard deviation {number(deviation)}", "name")
    return svg(*size, f"Normal density, {said}", _clip(frame) + body + note)


def _bound(value: float) -> str:
    return number(value) if math.isfinite(value) else ("∞" if value > 0 else "−∞")


def _frame(x: ChartAxis, y: ChartAxis, size: tuple[float, float]) -> ChartFrame:
    return ChartFrame(x, y, LEFT, TOP, size[0] - LEFT - RIGHT, size[1] - TOP - BELOW)


def _clip(frame: ChartFrame) -> str:
    place = f'x="{at(frame.left)}" y="{at(frame.top)}" width="{at(frame.width)}" height="{at(frame.height)}"'
    return f'<clipPath id="frame"><rect {place}/></clipPath>'


def _tint(found: TwoNumbers, k: int) -> str:
    return colour(k, len(found.classes))


def _points(found: TwoNumbers, frame: ChartFrame) -> list[str]:
    """One path for the points of each class."""
    out = []
    for k in range(len(found.classes)):
        own = [(frame.across(x), frame.up(y)) for x, y, code in found.points if code == k]
        moved = "".join(f'<use href="#m{k}" x="{at(x)}" y="{at(y)}"/>' for x, y in own)
        mark = f'<defs><path id="m{k}" d="{MARKS[k % len(MARKS)]}"/></defs>'
        out.append(f'{mark}<g class="{_tint(found, k)} point">{moved}</g>')
    return out


def _key(found: TwoNumbers, size: tuple[float, float]) -> str:
    """Which shape and colour is which class, and what solid, dashed and thick lines are."""
    out, x, y = [], LEFT, size[1] - 12
    for k, name in enumerate(found.classes[:COLOURS]):
        shown = f'<path transform="translate({at(x + 5)} {at(y - 4)}) scale(1.5)" d="{MARKS[k]}"/>'
        out.append(f'<g class="{_tint(found, k)} point">{shown}</g>')
        out.append(text(x + 14, y, name, "tick", most=24))
        x += 28 + 6.8 * min(len(name), 24)
    kinds = (
        (found.spreads, "ring", "full, 1 and 2 sd"),
        (found.naive_spreads, "ring naive", "naive, 1 and 2 sd"),
        (found.contours, "curve", f"{100 * found.level:g} % of the peak"),
    )
    lines = [(kind, words) for there, kind, words in kinds if there]
    wide = sum(44 + 6 * len(words) for _, words in lines)
    # Behind the classes; above the frame where these need the whole line.
    x, y = (size[0] - RIGHT - wide, y if x + wide <= size[0] - RIGHT else TOP - 14)
    for kind, words in lines:
        out.append(line(x, y - 4, x + 24, y - 4, f"k0 {kind}") + text(x + 30, y, words, "tick", most=40))
        x += 44 + 6 * len(words)
    return "".join(out)


def _means(found: TwoNumbers, frame: ChartFrame) -> list[str]:
    """The mean of each class as a square with its name."""
    out = []
    for k, mean in (found.means or {}).items():
        x, y = frame.across(mean[0]), frame.up(mean[1])
        out.append(f'<rect class="{_tint(found, k)} dot" x="{at(x - 5)}" y="{at(y - 5)}" width="10" height="10"/>')
        out.append(f'<text class="mean" x="{at(x + 9)}" y="{at(y - 7)}">{escape_text(found.classes[k], 24)}</text>')
    return out


def _contours(found: TwoNumbers, frame: ChartFrame) -> list[str]:
    out = []
    for k, field in (found.contours or {}).items():
        xs = [frame.across(x) for x in places(found.x_range, field.shape[1]).tolist()]
        ys = [frame.up(y) for y in places(found.y_range, field.shape[0]).tolist()]
        for joined in join_segments(level_segments(field, found.level, xs, ys)):
            out.append(path(joined, f"{_tint(found, k)} curve"))
    return out


def _ball(found: TwoNumbers, ball: DrawnBall, frame: ChartFrame) -> list[str]:
    """The ball, and rings around the rows in it."""
    assert found.answer is not None
    x, y = frame.across(found.answer.x), frame.up(found.answer.y)
    # A number that takes no part in distances has no end: beyond the frame is far enough.
    reach = [
        min(r, 2 * (high - low)) for r, (low, high) in zip(ball.reach, (found.x_range, found.y_range), strict=True)
    ]
    wide = frame.across(found.answer.x + reach[0]) - x
    high = y - frame.up(found.answer.y + reach[1])
    if ball.city:
        corners = ((x - wide, y), (x, y - high), (x + wide, y), (x, y + high))
        out = [f'<polygon class="ball" points="{" ".join(f"{at(a)},{at(b)}" for a, b in corners)}"/>']
    else:
        out = [f'<ellipse class="ball" cx="{at(x)}" cy="{at(y)}" rx="{at(wide)}" ry="{at(high)}"/>']
    for a, b, k, _ in ball.rows:
        where = f'cx="{at(frame.across(a))}" cy="{at(frame.up(b))}"'
        out.append(f'<circle class="{_tint(found, k)} chosen" {where} r="5.5"/>')
    return out


def _answer(found: TwoNumbers, frame: ChartFrame) -> list[str]:
    """The point, and what is said of it."""
    answer = found.answer
    assert answer is not None
    x, y = frame.across(answer.x), frame.up(answer.y)
    k = answer.best
    said = f"{found.learner}: {answer.classes[k]}, {percent(answer.probabilities[k])}"
    if found.ball is not None:
        counts = ", ".join(f"{n:g} {c}" for n, c in zip(found.ball.counts, found.classes, strict=True) if n)
        said += f"; nearest {found.ball.k}: {counts}"
    cross = line(x - 7, y, x + 7, y, "asked") + line(x, y - 7, x, y + 7, "asked")
    return [cross, text(LEFT, 16, said, "title", most=100)]


def _sideways(found: StraightLine, frame: ChartFrame, x: float) -> str:
    """The density of the noise at one x, drawn to the right of it."""
    middle, wide = found.constant + found.slope * x, frame.width * 0.07
    points = []
    for z in np.linspace(-3.2, 3.2, CORNERS).tolist():
        at_x = frame.across(x) + wide * math.exp(-z * z / 2)
        points.append((at_x, frame.up(middle + z * found.noise)))
    return path(points, "k1 curve thin")
