"""Nearest neighbours: a row is taken to be like the training rows that lie nearest. Keeps rows, not sums."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Floats
from likely.models.contracts import Model, setting_of
from likely.models.fractions import Quotient, as_written, log_of
from likely.models.model import learnable
from likely.models.neighbors.nearest import Boxes, build_boxes, nearest
from likely.models.posterior import Matrix, Posterior
from likely.models.prior import prior_quotients
from likely.models.settings import Prior, Settings, check_weights, prior_setting, setting
from likely.models.shapes import Exhibit, Opaque, Sum
from likely.models.working.records import Quantity, Step, Value, Working, exp
from likely.models.working.working import by_class, multiplied
from likely.sums.rows.rows import Rows
from likely.sums.summary import Summary
from likely.table.batch import Batch
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The ball around one row: the neighbours in it, how far they are, and what their votes come to, as on a board.

SLACK = 1e-12
"""A compiled sum and numpy's may differ by the last bit: so much farther than the radius is still at it."""
MOST_SHOWN = 50
"""So many neighbours are listed."""


def distances(
    query: Floats,
    query_codes: NDArray[np.int32],
    points: Floats,
    codes: NDArray[np.int32],
    unknown: Floats,
    far: Floats,
    apart: Floats,
    city: bool,
) -> Floats:
    """The distance of one row from all training rows, added up column by column as the search does."""
    out = np.zeros(points.shape[1])
    for q, column, none, gone in zip(query, points, unknown, far, strict=True):
        if np.isnan(q):
            out += none
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            x = column - q
            out += np.where(np.isnan(x), gone, np.abs(x) if city else x * x)
    for code, levels, step in zip(query_codes.tolist(), codes, apart, strict=True):
        out += step if code < 0 else np.where(levels == code, 0.0, step)
    return out if city else np.sqrt(out)


@dataclass(frozen=True, eq=False)
class Ball:
    """All training rows by their distance from one row, of which those within the radius are its neighbours."""

    classes: tuple[str, ...]
    k: int
    distance: Floats
    radius: float
    group: NDArray[np.int32]
    weight: Floats
    votes: Floats
    """K_i of each class, as the search counted them."""

    @property
    def members(self) -> NDArray[np.intp]:
        """The neighbours, the nearest first; rows at one distance by class."""
        inside = np.flatnonzero(self.distance <= self.radius * (1 + SLACK))
        return inside[np.lexsort((self.group[inside], self.distance[inside]))]

    def exhibit(self, columns: Sequence[tuple[str, list[float | str | None]]], metric: str, scaled: bool) -> Exhibit:
        """The neighbours themselves. `columns` are their cells."""
        members = self.members[:MOST_SHOWN]
        how = f"{metric.capitalize()} distance" + (", numbers scaled to [0, 1]" if scaled else "")
        total = float(self.weight[self.members].sum())
        title = f"The {total:,.6g} nearest rows" if total != 1 else "The nearest row"
        more = f"; the first {MOST_SHOWN}" if len(self.members) > MOST_SHOWN else ""
        rows: list[tuple[str | float, ...]] = []
        for place, who in enumerate(members.tolist()):
            cells = ("missing" if (v := held[place]) is None else v for _, held in columns)
            known = self.classes[int(self.group[who])]
            rows.append((float(place + 1), *cells, known, float(self.weight[who]), float(self.distance[who])))
        header = ("", *(name for name, _ in columns), "class", "rows", "distance")
        return Exhibit(f"{title}{more} ({how})", header, tuple(rows))

    def remarks(self, by_distance: bool) -> tuple[str, ...]:
        """What is special about how votes were counted."""
        out = []
        total, last = float(self.weight[self.members].sum()), self.distance[self.members] >= self.radius * (1 - SLACK)
        if total > self.k and float(self.weight[self.members][~last].sum()) < self.k:
            out.append(
                f"{int(last.sum())} rows at the distance r = {self.radius:.4g} share the places that are left, so that "
                f"exactly {self.k} are counted."
            )
        if by_distance:
            out.append("A neighbour's vote is divided by its distance, that of the nearest being 1.")
        return tuple(out)

    def _counts(self) -> tuple[list[Fraction], list[Quantity]]:
        """K_i as they are written, and what is told of them."""
        counts = [as_written(v) for v in self.votes.tolist()]
        named: dict[str, Value] = dict(zip(self.classes, counts, strict=True))
        out = [
            Quantity("r, the distance of the last neighbour", {"": self.radius}),
            Quantity("K(class)", named),
            Quantity("K", {"": sum(counts, Fraction(0))}),
        ]
        return counts, out

    def shares(
        self,
        pseudo_count: float,
        prior: Sequence[Quotient],
        totals: Sequence[Fraction],
        log_joint: Floats,
        posterior: Posterior,
        tables: tuple[Exhibit, ...],
        remarks: tuple[str, ...],
    ) -> Working:
        """P(class | x) = K_i / K; with a prior of its own, times the prior over the share of the class in all rows."""
        counts, quantities = self._counts()
        title = "K(class) / K"
        rows = sum(totals, Fraction(0))
        if pseudo_count:
            extra = [as_written(pseudo_count) * n / rows for n in totals]
            counts = [n + e for n, e in zip(counts, extra, strict=True)]
            quantities.append(Quantity("pseudo-votes", dict(zip(self.classes, extra, strict=True))))
            title = "(K(class) + pseudo-votes) / all votes"
        whole = sum(counts, Fraction(0))
        values = [Quotient(n, whole) for n in counts]
        ratio = np.zeros(len(self.classes))
        steps: list[Step] = []
        if prior:
            each = [Quotient(p.value * rows, n) for p, n in zip(prior, totals, strict=True)]
            with np.errstate(divide="ignore"):
                ratio = np.log(np.array([float(q) for q in each]))
            steps.append(
                Step(
                    "prior",
                    None,
                    dict(zip(self.classes, each, strict=True)),
                    by_class(self.classes, ratio),
                    title="P(class) / (n(class) / n)",
                )
            )
        with np.errstate(invalid="ignore"):
            logs = np.where(np.isneginf(log_joint), -np.inf, log_joint - ratio)
        steps.insert(
            0,
            Step(
                "votes", None, dict(zip(self.classes, values, strict=True)), by_class(self.classes, logs), title=title
            ),
        )
        out = multiplied(self.classes, steps, quantities, posterior)
        return replace(out, tables=tables, remarks=remarks, sign="L({})" if prior else "P({} | x)")

    def density(
        self,
        prior: Sequence[Quotient],
        logs: Floats,
        totals: Sequence[Fraction],
        log_volume: float,
        dimensions: int,
        posterior: Posterior,
        tables: tuple[Exhibit, ...],
        remarks: tuple[str, ...],
    ) -> Working:
        """P(class) times K_i / (n_i V); `logs` are those of both, (2, classes)."""
        _, quantities = self._counts()
        volume = f"V, the volume of the ball in {dimensions} dimension{'s' if dimensions != 1 else ''}"
        named: dict[str, Value] = dict(zip(self.classes, totals, strict=True))
        quantities += [Quantity(volume, {"": exp(log_volume)}), Quantity("n(class)", named)]
        density = {name: exp(v) for name, v in by_class(self.classes, logs[1]).items()}
        steps = [
            Step("", None, dict(zip(self.classes, prior, strict=True)), by_class(self.classes, logs[0])),
            Step("density", None, density, by_class(self.classes, logs[1]), title="K(class) / (n(class) V)"),
        ]
        if not dimensions:
            steps[1] = replace(steps[1], values={}, note="No number of the row is known, so there is no ball.")
        return replace(multiplied(self.classes, steps, quantities, posterior), tables=tables, remarks=remarks)


# The ruler of nearest neighbours: how numbers of different ranges become distances. Knows arrays, no rows' classes.


@dataclass(frozen=True)
class Ruler:
    """How numbers become distances: which of them take part, the range of each in training, and what it counts."""

    places: NDArray[np.intp]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    weight: NDArray[np.float64]
    city: bool
    scale: bool

    @property
    def factor(self) -> NDArray[np.float64]:
        """What a difference is multiplied by before it is squared, or taken as it is."""
        return self.weight if self.city else np.sqrt(self.weight)

    @property
    def far(self) -> NDArray[np.float64]:
        """What a missing number adds to the sum of distances."""
        with np.errstate(over="ignore"):
            widest = np.ones_like(self.low) if self.scale else self.high - self.low
            return self.weight * (widest if self.city else widest**2)

    def to_units(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """The numbers that take part, scaled and weighed, so that differences can be added up; NaN where missing."""
        picked = numbers[:, self.places]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            if self.scale:
                part = np.where(np.isinf(self.high - self.low), 0.5, 1.0)  # a range beyond a double is halved
                scaled = (picked * part - self.low * part) / (self.high * part - self.low * part)
                # A constant attribute tells nothing, whatever the new value is.
                scaled = np.where(self.high == self.low, 0.0, scaled)
                picked = np.where(np.isnan(picked), np.nan, scaled)
            return np.ascontiguousarray(picked * self.factor)


def make_ruler(
    numbers: NDArray[np.float64],
    names: list[str],
    share: dict[str, float],
    notes: list[str],
    *,
    city: bool,
    scale: bool,
    density: bool,
) -> Ruler:
    """The ranges of the numbers that take part; a note for each that does not."""
    kept, low, high = [], [], []
    for k, name in enumerate(names):
        if share[name] == 0:
            continue
        known = numbers[~np.isnan(numbers[:, k]), k]
        if not len(known):
            notes.append(f"{shown(name)} is left out: it is missing in every row.")
            continue
        least, most = float(known.min()), float(known.max())
        if density and least == most:
            notes.append(f"{shown(name)} is left out: it is constant, so it has no density.")
            continue
        kept.append(k)
        low.append(least)
        high.append(most)
    weight = np.array([share[names[k]] for k in kept])
    return Ruler(np.array(kept, np.intp), np.array(low), np.array(high), weight, city, scale)


# Nearest neighbours: a row is taken to be like the training rows that lie nearest. Keeps rows, not sums of them.


@dataclass(frozen=True)
class Neighbors(Settings):
    """P(class | row) is the share K_i/K of the class among the K training rows nearest to the row.

    Distance: each number is scaled to [0, 1] by the range that it had in training (a constant one adds 0); two levels
    are 0 apart where they are equal, else 1; a missing cell is 1 apart from everything, another missing cell
    included. Attributes add up: squared, and the root of the sum, if Euclidean; as they are if city-block.

    A row of weight w counts as w rows. Rows at the distance of the k-th neighbour share the places that are left, each
    by its weight: so exactly k are counted and the order of the rows does not matter. Fewer than k rows: all count.

    >>> Neighbors(k=3, distance="city-block").weights
    'equal'
    """

    k: int = setting(5, "How many of the nearest training rows are counted.", at_least=1, whole=True)
    distance: Literal["euclidean", "city-block"] = setting(
        "euclidean", "How the distances of attributes add up.", choices=("euclidean", "city-block")
    )
    weights: Literal["equal", "distance"] = setting(
        "equal",
        "distance divides a neighbour's vote by its distance; neighbours at distance zero then decide alone.",
        choices=("equal", "distance"),
    )
    attribute_weights: Mapping[str, float] | None = setting(
        None,
        "What an attribute's distance (squared, if Euclidean) is multiplied by; 1 where none is given, 0 leaves it "
        "out.",
        optional=True,
        convert=check_weights,
    )
    prior: Prior = prior_setting(
        "Other than observed: votes of a class are multiplied by its prior over its share of the training rows."
    )
    scale: bool = setting(
        True,
        "False takes numbers as they are; a missing one is then as far away as the range in training is wide.",
        choices=(True, False),
    )
    reading: Literal["posterior", "density"] = setting(
        "posterior",
        "density takes P(row | class) = K_i / (n_i V), V being the volume of the ball that reaches the k-th neighbour, "
        "times the prior. For numbers only. Cells missing in a row are marginalised: distance and volume leave them "
        "out. Where the k-th neighbour is at distance zero the ball grows to the first row that is not, and all in it "
        "count.",
        choices=("posterior", "density"),
    )
    pseudo_count: float = setting(
        0.0,
        "Extra votes, split among the classes by their frequencies: k neighbours alone are few.",
        at_least=0,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reading == "density" and self.weights == "distance":
            raise SettingError("A density counts neighbours, so weights='distance' does not go with reading='density'.")
        if self.pseudo_count and self.reading == "density":
            raise SettingError(
                "A density counts neighbours only, so a pseudo_count does not go with reading='density'."
            )

    def needs(self, schema: Schema) -> frozenset[str]:
        """The rows themselves."""
        return frozenset({"rows"})

    def learn(self, summary: Summary) -> Model:
        """Scale and weigh the rows. Nothing else is learned: neighbours are looked for when rows are asked about."""
        summary = learnable(summary)
        rows = summary.more.get("rows")
        if not isinstance(rows, Rows):
            raise SettingError("Neighbors needs the rows themselves: summarize(…, more=['rows']), or use fit.")
        if self.reading == "density" and rows.nominal:
            raise SettingError(
                f"A ball has no volume where there are levels, as of {shown(rows.nominal[0])}: reading='density' is "
                "for numbers only. Use reading='posterior', or leave nominal columns out."
            )
        share = self._shares(summary.schema)
        numbers, codes, group, weight = rows.arrays
        with np.errstate(over="ignore"):
            total = float(weight.sum())
        if not math.isfinite(total):
            raise SettingError("The row weights add up to more than a number can hold. Divide all of them by the same.")
        notes: list[str] = []
        city, density = self.distance == "city-block", self.reading == "density"
        ruler = make_ruler(numbers, rows.numeric, share, notes, city=city, scale=self.scale, density=density)
        if self.reading == "density" and not len(ruler.places):
            raise SettingError("All rows are the same point, so no ball around it has a volume to be a density of.")
        if total < self.k:
            notes.append(
                f"There are only {total:.6g} rows, fewer than k = {self.k}: all of them are always neighbours."
            )
        used = np.array([k for k, name in enumerate(rows.nominal) if share[name] > 0], np.intp)
        points = np.ascontiguousarray(ruler.to_units(numbers).T)
        apart = np.array([share[rows.nominal[k]] for k in used])
        levels = np.ascontiguousarray(codes[:, used].T)
        boxes = build_boxes(points, levels, ruler.far, apart, city)
        space = RowSpace(
            rows,
            ruler,
            used,
            boxes,
            points.take(boxes.order, axis=1),
            levels.take(boxes.order, axis=1),
            group[boxes.order],
            weight[boxes.order],
            apart,
            _slots(weight, self.k),
            np.log(summary.total.floats()),
            self.k,
            density,
            self.weights == "distance",
        )
        prior = prior_quotients(summary, self.prior, 0.0)
        log_prior = log_of(prior)
        constant, votes = log_prior, Votes(space)
        if not density:
            votes = Votes(space, self.pseudo_count, None if self.prior == "observed" else log_prior)
            constant = np.zeros(len(prior))
        why = "It needs the training rows, which are not exported."
        return Model(
            learner=self,
            summary=summary,
            score=Sum(constant, (Opaque("neighbours", votes, why),), whole=True),
            prior=prior,
            log_prior=log_prior,
            notes=tuple(notes),
            details={"space": space, "neighbours": space.neighbours, "boxes": boxes, "group": space.group},
            distance_units=space.units(),
            show=_show_ranges,
            work=_work_ball,
        )

    def _shares(self, schema: Schema) -> dict[str, float]:
        """The weight of each attribute."""
        given = self.attribute_weights or {}
        for name in given:
            if schema[name].role != "attribute":
                raise SettingError(f"There is an attribute weight for {shown(name)}, which is not an attribute.")
        return {c.name: given.get(c.name, 1.0) for c in schema.attributes}


@dataclass(frozen=True, eq=False)
class RowSpace:
    """Training rows, scaled and weighed, and how to find the nearest of them."""

    rows: Rows
    ruler: Ruler
    nominal: NDArray[np.intp]
    """Which of the nominal attributes of `rows` take part."""
    boxes: Boxes
    points: Floats
    """(attributes, rows), like `codes`; in the order of the boxes, like `group` and `weight`."""
    codes: NDArray[np.int32]
    group: NDArray[np.int32]
    weight: Floats
    apart: Floats
    slots: int
    log_count: Floats
    """log n_i of each class."""
    k: int
    density: bool
    """Whether what is missing in a row is left out, and the ball grows where it has no volume."""
    by_distance: bool
    """Whether a vote is divided by its distance."""

    def neighbours(self, batch: Batch) -> tuple[Matrix, Floats]:
        """For each row the votes K_i of each class among its neighbours, and the distance of the k-th."""
        numbers, codes = self.rows.read(batch)
        far, classes = self.ruler.far, len(self.log_count)
        votes, radius = np.empty((batch.rows, classes)), np.empty(batch.rows)
        boxes = self.boxes
        nearest(
            self.ruler.to_units(numbers),
            np.ascontiguousarray(codes[:, self.nominal]),
            self.points,
            self.codes,
            self.group,
            self.weight,
            boxes.levels,
            boxes.low,
            boxes.high,
            boxes.most,
            boxes.first,
            boxes.last,
            np.zeros_like(far) if self.density else far,
            far,
            self.apart,
            self.k,
            self.ruler.city,
            self.density,
            self.by_distance,
            np.empty(boxes.rows),
            np.empty(boxes.low.shape[1]),
            np.empty(self.slots),
            np.empty((self.slots, classes + 1)),
            votes,
            radius,
        )
        return votes, radius

    def units(self) -> tuple[dict[str, float], bool]:
        """How much of each number is a distance of 1: infinite for one that is constant or weighs nothing; those that
        take no part are not there. And whether distances add up."""
        ruler = self.ruler
        width = ruler.high - ruler.low if ruler.scale else np.ones(len(ruler.places))
        with np.errstate(divide="ignore"):
            units = np.where(width > 0, width / ruler.factor, math.inf).tolist()
        return dict(zip((self.rows.numeric[k] for k in ruler.places), units, strict=True)), ruler.city

    def log_likelihood(self, batch: Batch) -> Matrix:
        """log P(row | class) = log K_i/(n_i V), for numbers in their own units."""
        votes, radius = self.neighbours(batch)
        volume, count = self.log_volume(batch, radius)
        with np.errstate(divide="ignore", invalid="ignore"):
            out = np.log(votes) - self.log_count - volume[:, None]
        # Nothing is known of the row: each class says 1. No ball can be drawn, as squares of its radius are beyond
        # a double: the row cannot be classified.
        some = np.isfinite(radius) & (radius > 0)
        return np.where(count[:, None] == 0, 0.0, np.where(some[:, None], out, -np.inf))

    def log_volume(self, batch: Batch, radius: Floats) -> tuple[Floats, NDArray[np.intp]]:
        """log of the volume of each row's ball in the units of the table, and the number of its dimensions."""
        ruler = self.ruler
        known = ~np.isnan(self.rows.read(batch)[0][:, ruler.places])
        count = known.sum(axis=1)
        # A ball in scaled space is an ellipsoid in that of the table: each half-axis is radius * range / factor.
        stretch = (np.log(ruler.high - ruler.low) if ruler.scale else 0.0) - np.log(ruler.factor)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(radius) * count + self._unit_balls()[count] + known @ stretch, count

    def _unit_balls(self) -> Floats:
        """The log volume of the ball of radius 1 in 0, 1, 2 … dimensions."""
        dimensions = range(len(self.ruler.places) + 1)
        if self.ruler.city:
            return np.array([d * math.log(2) - math.lgamma(d + 1) for d in dimensions])
        return np.array([d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1) for d in dimensions])


@dataclass(frozen=True, eq=False)
class Votes:
    """What the neighbours of rows say: log K_i/(n_i V) for a density, else log K_i/K; a prior is put in."""

    space: RowSpace
    pseudo_count: float = 0.0
    log_prior: Floats | None = None

    def __call__(self, batch: Batch) -> Matrix:
        space = self.space
        if space.density:
            return space.log_likelihood(batch)
        votes, _ = space.neighbours(batch)
        log_share = space.log_count - np.logaddexp.reduce(space.log_count)
        if self.pseudo_count:
            votes += self.pseudo_count * np.exp(log_share)
        with np.errstate(divide="ignore"):
            out: Matrix = np.log(votes) - np.log(votes.sum(axis=1, keepdims=True))
        if self.log_prior is not None:
            out += self.log_prior - log_share
        return out


def _work_ball(model: Model, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working:
    """The neighbours themselves, their distances, the radius, K_i and K, and for a density the volume."""
    space: RowSpace = model.details["space"]
    ruler, rows = space.ruler, space.rows
    votes, radius = space.neighbours(batch)
    numbers, codes = rows.read(batch)
    unknown = np.zeros_like(ruler.far) if space.density else ruler.far
    away = distances(
        ruler.to_units(numbers)[0], codes[0, space.nominal], space.points, space.codes, unknown, ruler.far,
        space.apart, ruler.city,
    )  # fmt: skip
    ball = Ball(model.classes, space.k, away, float(radius[0]), space.group, space.weight, votes[0])
    names = [c.name for c in model.schema.attributes if c.name in {*rows.numeric, *rows.nominal}]
    cells = rows.cells(space.boxes.order[ball.members])
    metric = str(setting_of(model.learner, "distance"))
    tables = (ball.exhibit([(name, cells[name]) for name in names], metric, ruler.scale),)
    remarks = ball.remarks(space.by_distance)
    totals = model.summary.total.fractions()
    if space.density:
        (volume,), (count,) = space.log_volume(batch, radius)
        assert model.log_prior is not None
        logs = np.stack([model.log_prior, space.log_likelihood(batch)[0]])
        return ball.density(model.prior, logs, totals, float(volume), int(count), posterior, tables, remarks)
    prior = model.prior if setting_of(model.learner, "prior") != "observed" else ()
    pseudo_count = float(setting_of(model.learner, "pseudo_count"))
    return ball.shares(pseudo_count, prior, totals, model.log_joint(batch)[0], posterior, tables, remarks)


def _show_ranges(model: Model) -> tuple[Exhibit, ...]:
    """The ranges by which numbers are scaled."""
    space: RowSpace = model.details["space"]
    names = [space.rows.numeric[k] for k in space.ruler.places]
    cells = zip(names, space.ruler.low.tolist(), space.ruler.high.tolist(), strict=True)
    title = "The range of each number" + (", scaled to [0, 1]" if space.ruler.scale else "")
    return (Exhibit(title, ("attribute", "least", "most"), tuple(cells)),) if names else ()


def _slots(weight: NDArray[np.float64], k: int) -> int:
    """How many different distances may have to be remembered: rows that weigh little need many to make up k."""
    below = np.cumsum(np.sort(weight))
    # One for a ball that grows, one for the row that is being put in, one for rounding.
    return min(int(np.searchsorted(below, k)) + 4, len(weight) + 2)
