"""What pictures of a table show, as plain values: two numbers with their classes, a straight line."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from likely.apply.fitting import engine_of, fit_table, summarize_source
from likely.classroom.regression import Regression, regress
from likely.errors import ColumnError, InputError, LikelyError, SettingError, nearest, shown
from likely.evaluate.attributes.information import attributes
from likely.evaluate.attributes.plane import places
from likely.evaluate.kernels import sample_rows, sample_share
from likely.intake.reading import GivenLearner, Reading, ReadingOptions, read_arguments, read_learner, with_encoding
from likely.machinery.arrays import Floats
from likely.machinery.presented import Presented
from likely.models.contracts import Learner, Model
from likely.models.full_bayes import FullBayes
from likely.models.model import numbered
from likely.models.naive.naive import NaiveBayes
from likely.models.shapes import Block, Density, MultivariateNormal, sum_of
from likely.sums.summary import Summary
from likely.table.encode import Encoder
from likely.table.labels import Labels
from likely.table.schema import Schema
from likely.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Two numbers of a table and what learners make of them: points, ellipses, contours, regions, neighbours of a point.

LAYERS = ("points", "ellipses", "naive", "contours", "regions")
"""What can be shown: rows; ellipses of the full normal densities, and axis-parallel ones of naive Bayes; lines of equal
density of each class; which class a learner names where."""
MOST_POINTS = 3_000
"""Rows that are drawn at most; beyond, a sample of about so many."""
COLUMNS, LINES = 160, 100
"""Places of the grid on which a learner is asked."""
MARGIN = 0.06
WIDENINGS, STRIDE = 12, 0.1
"""How often a range is widened at most until it holds the contours, each time by this share of itself."""

Spread = tuple[float, float, float]
"""Variance of x, covariance, variance of y."""


@dataclass(frozen=True)
class LearnerAnswer:
    """What a learner says of one point."""

    x: float
    y: float
    classes: tuple[str, ...]
    probabilities: tuple[float, ...]

    @property
    def best(self) -> int:
        return int(np.argmax(self.probabilities))


@dataclass(frozen=True)
class DrawnBall:
    """The k nearest rows of a point: the ball that reaches the farthest of them, and how many of each class it has."""

    k: int
    radius: float
    """As the learner measures distances, or in units of the ranges of the numbers, or of the numbers as they are."""
    reach: tuple[float, float]
    """The same in the units of x and of y: where these differ, the ball is drawn as an ellipse."""
    rows: tuple[tuple[float, float, int, float], ...]
    """x, y, class and distance of each row within, nearest first."""
    counts: tuple[float, ...]
    """The weight of each class within: rows at the radius share no places here, all count."""
    city: bool = False
    """Whether distances of the two numbers are added up, so that the ball is a diamond."""


@dataclass(frozen=True, repr=False)
class TwoNumbers(Presented):
    """Everything that a picture of two numbers shows."""

    x: str
    y: str
    target: str
    classes: tuple[str, ...]
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    rows: int
    """Rows that have both numbers and a class."""
    every: bool
    """Whether all of them are drawn."""
    points: tuple[tuple[float, float, int], ...] = ()
    means: Mapping[int, tuple[float, float]] | None = None
    spreads: Mapping[int, Spread] | None = None
    """By class, of the full normal densities."""
    naive_spreads: Mapping[int, Spread] | None = None
    learner: str = ""
    level: float = 0.0
    contours: Mapping[int, Floats] | None = None
    """By class, its density at each place as a share of its greatest."""
    regions: NDArray[np.intp] | None = None
    """(LINES, COLUMNS): the class that is named at each place, from the lowest y; -1 none."""
    answer: LearnerAnswer | None = None
    ball: DrawnBall | None = None
    notes: tuple[str, ...] = ()


def two_numbers(
    data: object,
    target: object,
    x: str | None = None,
    y: str | None = None,
    *,
    show: Collection[str] = ("points", "ellipses"),
    learner: GivenLearner = None,
    point: Mapping[str, float] | Sequence[float] | None = None,
    level: float = 0.01,
    neighbors: int | None = None,
    scale: bool = True,
    **reading: Unpack[ReadingOptions],
) -> TwoNumbers:
    """Two numbers of a table with the classes of its target, for `plot`; without names the two that tell most.

    `show` names layers: points, ellipses (one and two standard deviations of full normal densities), naive (those of
    naive Bayes, axis-parallel), contours (where the density of a class is `level` of its greatest) and regions (which
    class the learner names). `point` is one more point, of which the learner is asked; `neighbors` draws the ball of
    its nearest rows by the distance of `Neighbors`, where that is the learner; else in units of the ranges, or with
    scale=False in those of the numbers.

    >>> table = {"a": [1.0, 2.0, 1.5, 8.0, 9.0, 8.5], "b": [1.0, 1.5, 3.0, 4.0, 4.5, 6.0], "y": list("uuuvvv")}
    >>> found = two_numbers(table, "y", "a", "b", point=(2, 2), neighbors=3)
    >>> found.ball.counts, found.classes
    ((3.0, 0.0), ('u', 'v'))
    """
    table, how = read_arguments(data, target, reading)
    asked = read_learner(learner)
    layers = _check_layers(show)
    if not 0 < level < 1:
        raise SettingError(f"level is {shown(level)}. Give a share of the greatest density, between 0 and 1.")
    if neighbors is not None and (neighbors < 1 or point is None):
        raise SettingError("neighbors draws the ball around a point: give the point, and how many rows it holds.")
    return with_encoding(table, how, lambda s: _look_at(s, how, (x, y), layers, asked, point, level, neighbors, scale))


def _check_layers(show: Collection[str]) -> tuple[str, ...]:
    for layer in [show] if isinstance(show, str) else show:
        if layer not in LAYERS:
            raise SettingError(f"There is no layer {shown(layer)}. {nearest(str(layer), LAYERS)}")
    return tuple(layer for layer in LAYERS if layer in show)


def _look_at(
    source: Source,
    how: Reading,
    wanted: tuple[str | None, str | None],
    layers: tuple[str, ...],
    asked: Learner | None,
    point: Mapping[str, float] | Sequence[float] | None,
    level: float,
    neighbors: int | None,
    scale: bool,
) -> TwoNumbers:
    names = _names(summarize_source(source, how, lambda _: frozenset()), wanted)
    how = replace(how, types={**(how.types or {}), **_others(source, how, names)})
    naive = fit_table(engine_of(source, how), NaiveBayes(), how)
    rows, every = _rows(source, naive, names)
    if not rows.shape[1]:
        raise InputError(f"No row has numbers in {shown(names[0])} and {shown(names[1])}, and a class.")
    place = _place(point, names)
    ranges = [_range(rows[k], None if place is None else place[k]) for k in (0, 1)]
    target = naive.schema.target
    assert target is not None
    found = TwoNumbers(*names, target.name, naive.classes, ranges[0], ranges[1], int(rows.shape[1]), every)
    notes: list[str] = []
    if "points" in layers:
        drawn = rows[:, :: max(1, -(-rows.shape[1] // MOST_POINTS))]
        points = tuple((float(a), float(b), int(c)) for a, b, c, _ in drawn.T)
        found = replace(found, points=points, every=every and len(points) == rows.shape[1])
    found = _with_normals(found, source, how, naive, layers, notes)
    if asked is not None or "regions" in layers or "contours" in layers or place is not None:
        model = naive if asked == NaiveBayes() else fit_table(engine_of(source, how), asked, how)
        found = _with_learner(found, model, layers, level, place, notes)
        if neighbors is not None and place is not None:
            if not every:
                raise SettingError(f"The ball of neighbours is drawn for tables of up to {MOST_POINTS:,} rows.")
            found = replace(found, ball=_ball(rows, place, neighbors, _units(model, names, rows, scale), found.classes))
    return replace(found, notes=tuple(notes))


def _names(summary: Summary, wanted: tuple[str | None, str | None]) -> tuple[str, str]:
    """The two numbers: those named, else those that tell most of the target."""
    numbers = [c.name for c in summary.schema.attributes if c.kind == "number"]
    told = [a.name for a in attributes(summary) if a.name in numbers] if None in wanted else numbers
    chosen = [name for name in wanted if name is not None]
    for name in chosen:
        if summary.schema[name].kind != "number" or name not in numbers:
            raise ColumnError(f"{shown(name)} is not a numeric attribute. {nearest(name, numbers)}")
    chosen += [name for name in told if name not in chosen][: 2 - len(chosen)]
    if len(chosen) < 2 or chosen[0] == chosen[1]:
        raise ColumnError("A picture of two numbers needs two different attributes that are numbers. Name them: X Y.")
    return chosen[0], chosen[1]


def _others(source: Source, how: Reading, names: tuple[str, str]) -> dict[str, str]:
    """All other columns left out."""
    used = {*names, how.target, how.weight}
    return {name: "ignore" for name in source.schema.names if name not in used} | dict.fromkeys(names, "number")


def _rows(source: Source, model: Model, names: tuple[str, str]) -> tuple[Floats, bool]:
    """x, y, class and weight of the rows, or of a sample of them, and whether they are all."""
    share = sample_share(model.summary, MOST_POINTS)
    # Not the model's own encoder, which reads new rows: these have weights.
    encoder, parts = Encoder(model.schema, {}, Labels(model.classes), False), []
    for start, arrow in numbered(source.batches(model.columns_in(source))):
        batch = encoder.encode(arrow, start)
        assert batch.target is not None
        batch = batch.take(sample_rows(batch, start, share, 1))
        assert batch.target is not None
        weight = np.ones(batch.rows) if batch.weight is None else batch.weight
        each = np.stack([*(batch.cells[n] for n in names), batch.target.codes.astype(np.float64), weight])
        parts.append(each[:, np.isfinite(each).all(axis=0) & (weight > 0) & (batch.target.codes >= 0)])
    return (np.concatenate(parts, axis=1) if parts else np.empty((4, 0))), share >= 1


def _place(point: Mapping[str, float] | Sequence[float] | None, names: tuple[str, str]) -> tuple[float, float] | None:
    if point is None:
        return None
    values = [point.get(name) for name in names] if isinstance(point, Mapping) else list(point)
    if len(values) != 2 or not all(isinstance(v, (int, float)) and math.isfinite(v) for v in values):
        raise SettingError(f"A point has a number for {shown(names[0])} and one for {shown(names[1])}.")
    return float(values[0]), float(values[1])  # type: ignore[arg-type]


def _range(values: Floats, also: float | None) -> tuple[float, float]:
    """Where the values lie, and one more, with a margin."""
    low, high = float(values.min()), float(values.max())
    return with_margin(low, high) if also is None else with_margin(min(low, also), max(high, also))


def with_margin(low: float, high: float) -> tuple[float, float]:
    """The ends of an axis that shows all from `low` to `high`."""
    margin = MARGIN * (high - low) or 0.5 * (abs(high) or 1.0)
    return low - margin, high + margin


# -- layers -------------------------------------------------------------------------------------------------


def _with_normals(
    found: TwoNumbers, source: Source, how: Reading, naive: Model, layers: tuple[str, ...], notes: list[str]
) -> TwoNumbers:
    """Means and ellipses, of full densities and of naive ones."""
    if "naive" in layers:
        own = {f.name: f for f in naive.factors}
        factors = [own[name] for name in (found.x, found.y)]
        a, b = (f.normal if isinstance(f, Density) else None for f in factors)
        if a is not None and b is not None:
            classes = range(len(found.classes))
            spreads = {k: (float(a.deviation[k]) ** 2, 0.0, float(b.deviation[k]) ** 2) for k in classes}
            means = {k: (float(a.mean[k]), float(b.mean[k])) for k in classes}
            found = replace(found, means=means, naive_spreads=spreads)
    if "ellipses" in layers:
        try:
            normal = _normal(fit_table(engine_of(source, how), FullBayes(), how))
        except LikelyError as error:
            notes.append(f"No ellipses: {error}")
            return found
        if normal is None:
            notes.append("No ellipses: the two numbers have no normal density together.")
            return found
        at = [normal.names.index(name) for name in (found.x, found.y)]
        means, spreads = {}, {}
        for k in range(len(found.classes)):
            deviation = normal.deviation[k][at]
            between = float(normal.correlation[k][at[0], at[1]] * deviation.prod())
            means[k] = (float(normal.mean[k][at[0]]), float(normal.mean[k][at[1]]))
            spreads[k] = (float(deviation[0] ** 2), between, float(deviation[1] ** 2))
        found = replace(found, means=means, spreads=spreads)
    return found


def _normal(model: Model) -> MultivariateNormal | None:
    """The normal density of two numbers that a model is made of."""
    shape = model.shape()
    whole = None if shape is None else sum_of(shape)
    terms = [] if whole is None else [t.joint if isinstance(t, Block) else t for t in whole[0].terms]
    return next((joint for joint in terms if isinstance(joint, MultivariateNormal)), None)


def _with_learner(
    found: TwoNumbers,
    model: Model,
    layers: tuple[str, ...],
    level: float,
    place: tuple[float, float] | None,
    notes: list[str],
) -> TwoNumbers:
    """What the learner says on a grid, and of the point."""
    found = replace(found, learner=type(model.learner).__name__)
    if "contours" in layers and model.generative:
        found = _with_contours_inside(found, model, level)
    if "regions" in layers or "contours" in layers:
        grid = _grid(found)
        (batch,) = model.batches(grid)
        joint = model.log_joint(batch)
        if "regions" in layers:
            named = model.posterior(grid).codes.astype(np.intp)
            found = replace(found, regions=named.reshape(LINES, COLUMNS))
        if "contours" in layers and model.generative:
            logs = joint - joint.max(axis=0)  # the prior of a class moves none of its own contours
            shares = {k: np.exp(logs[:, k]).reshape(LINES, COLUMNS) for k in range(len(found.classes))}
            found = replace(found, level=level, contours=shares)
        elif "contours" in layers:
            notes.append(f"No contours: {found.learner} has no density of a row given its class.")
    if place is not None:
        one = model.posterior({found.x: place[0], found.y: place[1]})
        found = replace(found, answer=LearnerAnswer(*place, tuple(one.classes), tuple(one.matrix[0].tolist())))
    return found


def _with_contours_inside(found: TwoNumbers, model: Model, level: float) -> TwoNumbers:
    """The picture with ranges that hold every contour; up to so many times as wide, as some densities never fall."""
    for _ in range(WIDENINGS):
        joint = model.log_joint(next(iter(model.batches(_grid(found)))))
        above = np.exp(joint - joint.max(axis=0)).max(axis=1).reshape(LINES, COLUMNS) > level
        (left, right), (low, high) = found.x_range, found.y_range
        x, y = STRIDE * (right - left), STRIDE * (high - low)
        wider = (left - x * bool(above[:, 0].any()), right + x * bool(above[:, -1].any()))
        taller = (low - y * bool(above[0].any()), high + y * bool(above[-1].any()))
        if (wider, taller) == (found.x_range, found.y_range):
            break
        found = replace(found, x_range=wider, y_range=taller)
    return found


def _grid(found: TwoNumbers) -> dict[str, list[float]]:
    """The places at which a learner is asked, line by line from the lowest y."""
    across, up = np.meshgrid(places(found.x_range, COLUMNS), places(found.y_range, LINES))
    return {found.x: across.ravel().tolist(), found.y: up.ravel().tolist()}


def _units(model: Model, names: tuple[str, str], rows: Floats, scale: bool) -> tuple[Floats, bool]:
    """How much of each number is a distance of 1 (infinite: it takes no part), and whether distances are added up."""
    measured = model.distance_units
    if measured is not None:
        return np.array([measured[0].get(name, math.inf) for name in names]), measured[1]
    width = np.ptp(rows[:2], axis=1) if scale else np.ones(2)
    return np.where(width > 0, width, math.inf), False


def _ball(
    rows: Floats, place: tuple[float, float], k: int, units: tuple[Floats, bool], classes: tuple[str, ...]
) -> DrawnBall:
    """The rows nearest to a point that weigh k together, and all as far as the last of them."""
    unit, city = units
    each = np.abs(rows[:2].T - place) / unit
    apart = each.sum(axis=1) if city else np.sqrt((each**2).sum(axis=1))
    order = np.argsort(apart, kind="stable")
    below = np.cumsum(rows[3, order])
    radius = float(apart[order[min(int(np.searchsorted(below, k)), len(order) - 1)]])
    order = order[apart[order] <= radius]
    near = tuple((*map(float, rows[:2, i]), int(rows[2, i]), float(apart[i])) for i in order)
    counts = np.bincount(rows[2, order].astype(np.intp), rows[3, order], len(classes))
    reach = (radius * unit[0], radius * unit[1]) if radius > 0 else (0.0, 0.0)
    return DrawnBall(k, radius, (float(reach[0]), float(reach[1])), near, tuple(counts.tolist()), city)  # type: ignore[arg-type]


# One number as a straight line of another: the points, the line of least squares, and how likely they are by it.

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, repr=False)
class StraightLine(Presented):
    """y = constant + slope · x + noise, where the noise is normal: least squares is then maximum likelihood."""

    x: str
    y: str
    constant: float
    slope: float
    rows: int
    points: tuple[tuple[float, float], ...]
    squares: float
    """The sum of the squared residuals."""
    r2: float

    @property
    def noise(self) -> float:
        """The standard deviation of the noise of maximum likelihood: squares / rows, rooted."""
        return math.sqrt(self.squares / self.rows)

    @property
    def log_likelihood(self) -> float:
        """Of the points by this line and its noise, in nats; without bound where they lie on the line."""
        return self.log_likelihood_of(self.squares)

    def log_likelihood_of(self, squares: float) -> float:
        """Of the points by a line with this sum of squared residuals, the noise being that of the best line."""
        if not self.noise:
            return math.inf if not squares else -math.inf
        return -0.5 * self.rows * math.log(2 * math.pi * self.noise**2) - squares / (2 * self.noise**2)


def straight_line(data: object, y: str, x: str, **reading: Unpack[ReadingOptions]) -> StraightLine:
    """The line of least squares of one column on another, with its points; `reading` takes what `summarize` takes.

    >>> found = straight_line({"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 2.0, 4.0, 5.0]}, "y", "x")
    >>> round(found.constant, 9), round(found.slope, 9), round(found.squares, 9)
    (0.9, 1.4, 0.2)
    """
    if x == y:
        raise ColumnError(f"A line of {shown(y)} needs another column than itself.")
    data, how = read_arguments(data, None, reading)

    def work(source: Source) -> StraightLine:
        for name in (x, y):
            if name not in source.schema.names:
                raise ColumnError(
                    f"There is no column {shown(name)}. There are: {', '.join(source.schema.names[:12])}."
                )
        others = {name: "ignore" for name in source.schema.names if name not in (x, y, how.weight)}
        types = {**others, x: "number", y: "number"}
        own = reading.copy()
        own["types"] = types
        line = regress(source, y, **own)
        schema = summarize_source(source, replace(how, types=types), lambda _: frozenset()).schema
        return _drawn(source, schema, line, y, x)

    return with_encoding(data, how, work)


def _drawn(source: Source, schema: Schema, line: Regression, y: str, x: str) -> StraightLine:
    """The line, with its points and what is left of them."""
    own = [w for w in line.weights if w.attribute == x and not w.level]
    if len(own) != 1:
        raise InputError(f"{shown(x)} has no two different numbers, so there is no line over it.")
    slope, parts = own[0].weight, []
    encoder = Encoder(schema, {}, Labels())
    for start, arrow in numbered(source.batches([x, y])):
        batch = encoder.encode(arrow, start)
        both = np.stack([batch.cells[name] for name in (x, y)])
        parts.append(both[:, np.isfinite(both).all(axis=0)])
    xs, ys = np.concatenate(parts, axis=1)
    left = ys - (line.constant + slope * xs)
    # What the rounding of this very line alone may leave is nothing.
    left[np.abs(left) <= 4 * EPSILON * (np.abs(ys) + abs(line.constant) + np.abs(slope * xs))] = 0.0
    points = tuple(zip(xs[:MOST_POINTS].tolist(), ys[:MOST_POINTS].tolist(), strict=True))
    return StraightLine(x, y, line.constant, slope, len(xs), points, float(left @ left), line.r2)
