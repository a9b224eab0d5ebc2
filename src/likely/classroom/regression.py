"""Plain regression: a numeric target as a linear function of the other columns, by least squares from exact sums.

Knows the way from a table to sums of products; the arithmetic is in models/linear/squares.py.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from likely.apply.fitting import summarize_source
from likely.errors import ColumnError, InputError, SettingError, shown
from likely.intake.engine import sweep_sum
from likely.intake.reading import ReadingOptions, read_arguments, with_encoding
from likely.machinery.presented import Presented
from likely.machinery.words import clean, finite, number, percent, plural
from likely.models.factors.categorical import domain
from likely.models.linear.design import Weighed, constant_notes, constant_of, outputs, weight_rows
from likely.models.linear.least_squares import line_equations
from likely.models.linear.squares import Squares
from likely.models.model import numbered
from likely.models.shapes import Exhibit, Standard
from likely.present.document import Document, Table
from likely.present.report.model import exhibit_table
from likely.sums import state
from likely.sums.columns.counts import Counts
from likely.sums.contracts import weights as digits
from likely.sums.rows.products import Products, features_of
from likely.sums.summary import Summary
from likely.table.arrow import number_array
from likely.table.batch import Batch, Codes
from likely.table.encode import Encoder
from likely.table.formats.memory import FrameKind
from likely.table.infer import remarks
from likely.table.labels import Labels, label
from likely.table.open import open_source
from likely.table.rows import Columns, MixedRow, Place, Row, Rows
from likely.table.schema import Column, Schema
from likely.table.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOLERANCE = 1e-12
"""Directions of the design whose variance is at most this share of the largest count as collinear."""

ROUNDING = 1e-14
"""A smaller share of the variance that is left is none."""


@dataclass(frozen=True)
class Weight:
    """One weight in the column's own units; `error` is its standard error, NaN where there is none."""

    attribute: str
    level: str
    weight: float
    error: float


@dataclass(frozen=True)
class Errors:
    """How far a regression is off on some rows, and how probable these are by it."""

    rows: float
    """What the rows with a target weigh."""
    squared: float
    """Σ (target − prediction)², each row by its weight."""
    log_likelihood: float
    """Σ log f(target), natural, f being normal around the prediction with the noise of the regression."""


@dataclass(frozen=True, eq=False, repr=False)
class Regression(Presented):
    """target = constant + sum of weights: of numbers times the number, of levels where the row has the level.

    A missing number counts as its mean, with a weight of its own where training had missing cells; the weight of
    `(missing)` is what then stands in the place of weight * number. Of collinear solutions the least norm counts.

    >>> import likely
    >>> line = likely.regress({"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 3.0, 5.0, 7.0]}, "y")
    >>> round(line.constant, 9), round(float(line.predict({"x": 10.0})), 9)
    (1.0, 21.0)
    """

    target: str
    constant: float
    weights: tuple[Weight, ...]
    r2: float
    """The share of the target's variance that is explained, on the training rows; NaN where it has none."""
    residual: float
    """Standard deviation of the residuals: squared errors / (rows - free weights - 1), rooted. NaN where that is 0."""
    rows: float
    """What the rows with a target weigh."""
    left_out: int
    """Rows without a target, or of weight zero."""
    notes: tuple[str, ...]
    units: Standard | None
    base: float
    parts: tuple[Weighed, ...]
    schema: Schema
    labels: dict[str, Labels]
    beside: tuple[Column, ...] = ()
    """The target, and the weight of a row where there is one, as training read them."""
    squared_error: float = 0.0
    """Σ (target − prediction)² over the training rows."""
    equations: tuple[Exhibit, ...] = ()
    """The normal equations, exact sums: XᵀX, and on the right Xᵀy; none where there are more than a dozen columns."""

    # A str has a length as columns have: the first signature that fits is the one.
    @overload
    def predict(self, data: Row) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def predict(self, data: Columns) -> NDArray[np.float64]: ...  # type: ignore[overload-overlap]
    @overload
    def predict(self, data: MixedRow) -> float: ...
    @overload
    def predict(self, data: Rows | Place) -> NDArray[np.float64]: ...
    @overload
    def predict(self, data: object) -> Any: ...
    def predict(self, data: object) -> Any:
        """The target of one row (a dict of values) or of every row of a table: as an array, or, where the rows are a
        frame, as a column of its kind.

        >>> found = regress({"x": [1.0, 2.0, 3.0], "y": [3.0, 5.0, 7.0]}, "y", types={"x": "number"})
        >>> round(found.predict({"x": 10.0}), 9)
        21.0
        """
        one = isinstance(data, dict) and not any(
            hasattr(v, "__len__") and not isinstance(v, (str, bytes)) for v in data.values()
        )
        row: Row = {}
        if one:
            assert isinstance(data, dict)
            row = data
            for name in data:
                self.schema[name]  # an unknown name is refused, with the nearest one
            data = [{c.name: data.get(c.name) for c in self.schema.attributes} or {self.target: None}]
        source = open_source(data)
        names = [c.name for c in self.schema.attributes if c.name in source.schema.names]
        if self.schema.attributes and not names:
            first = self.schema.attributes[0].name
            raise ColumnError(f"{source.name} has no column that the regression knows, such as {shown(first)}.")
        encoder = Encoder(self.schema, self.labels, Labels())
        batches = numbered(source.batches(names or None))
        found = [self._values(encoder.encode(arrow, start)) for start, arrow in batches]
        values = np.concatenate([np.empty(0), *found])
        for name in encoder.strays if one else ():  # in a table such a cell counts as missing
            raise ColumnError(f"{shown(name)} is a number, and {shown(row[name])} is none. Give a number.")
        frames = FrameKind.of(data)
        if frames is not None:
            return frames.column(self.target, number_array(values))
        return float(values[0]) if one else values

    @property
    def noise(self) -> float:
        """The standard deviation of the noise, by maximum likelihood: the squared error per row, rooted."""
        return math.sqrt(self.squared_error / self.rows)

    @property
    def errors(self) -> Errors:
        """Its errors on the rows it was fitted to."""
        return self._errors(self.rows, self.squared_error)

    def judge(self, data: object) -> Errors:
        """Its errors on other rows; those without a target are left out.

        >>> found = regress({"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 2.0, 4.0, 5.0]}, "y", types={"x": "number"})
        >>> round(found.squared_error, 9), round(found.judge({"x": [4.0], "y": [7.5]}).squared, 9)
        (0.2, 1.0)
        """
        source = open_source(data)
        columns = [c for c in self.beside if c.role != "weight" or c.name in source.schema.names]
        source.resolve_columns([self.target])
        encoder = Encoder(self.schema.with_columns([*self.schema.columns, *columns]), self.labels, Labels())
        known = {c.name for c in (*self.schema.columns, *columns)}
        rows = squared = 0.0
        for start, arrow in numbered(source.batches([n for n in source.schema.names if n in known])):
            batch = encoder.encode(arrow, start)
            y = batch.cells[self.target]
            assert not isinstance(y, Codes)
            weight = np.where(np.isfinite(y), 1.0 if batch.weight is None else batch.weight, 0.0)
            off = np.where(weight > 0, y - self._values(batch), 0.0)
            rows, squared = rows + math.fsum(weight), squared + math.fsum(weight * off**2)
        if not rows:
            raise InputError(f"{source.name} has no row with a number in {shown(self.target)}, so nothing is judged.")
        return self._errors(rows, squared)

    def _errors(self, rows: float, squared: float) -> Errors:
        noise = self.noise
        if not noise > 0:
            return Errors(rows, squared, math.inf if not squared else -math.inf)
        log = -rows * math.log(noise * math.sqrt(2 * math.pi)) - squared / (2 * noise**2)
        return Errors(rows, squared, log)

    def working(self, row: Row) -> str:
        """The prediction for one row as a sum; the value alone where a cell is missing or is no plain number.

        >>> regress({"x": [1.0, 2.0, 3.0], "y": [3.0, 5.0, 7.0]}, "y", types={"x": "number"}).working({"x": 10})
        'y = 1 + 2·10 = 21'
        """
        terms, answer = [f"{self.constant:.6g}"], f"{self.predict(row):.6g}"
        try:
            for w in self.weights:
                if not w.level:
                    terms.append(f"{w.weight:.6g}·{float(str(row.get(w.attribute))):g}")
                elif w.level == label(row.get(w.attribute)):
                    terms.append(f"{w.weight:.6g}")
            known = all(row.get(c.name) is not None for c in self.schema.attributes)
        except ValueError:
            known = False
        sums = [" + ".join(terms).replace("+ -", "− ")] if known else []
        return " = ".join([self.target, *sums, answer]).replace("-", "−")

    def _values(self, batch: Batch) -> NDArray[np.float64]:
        if self.units is None:
            return np.full(batch.rows, self.base)
        z = outputs(np.array([self.base]), self.parts, batch)[:, 0]
        at = self.units.center + (self.units.rest + self.units.spread * z)
        with np.errstate(over="ignore"):
            return np.ldexp(at, self.units.shift)

    def equation(self) -> str:
        """The regression as one line.

        >>> regress({"x": [1.0, 2.0, 3.0], "y": [3.0, 5.0, 7.0]}, "y", types={"x": "number"}).equation()
        'y = 1 + 2·x'
        """
        words = [f"{self.constant:.6g}".replace("-", "−", 1)]
        for w in self.weights:
            name = w.attribute if not w.level else f"[{w.attribute}={w.level}]"
            words.append(f"{'−' if w.weight < 0 else '+'} {abs(w.weight):.6g}·{name}")
        return f"{self.target} = {' '.join(words)}"


class _Multiplier:
    """Takes the rows that have a target into sums of products."""

    def __init__(self, summary: Summary, target: str) -> None:
        self.products = Products(features_of(summary), 1)
        self.left_out = 0
        self._encoder, self._target = Encoder(summary.schema), target

    def take(self, arrow: Any, start: int) -> None:
        batch = self._encoder.encode(arrow, start)
        y = batch.cells[self._target]
        assert not isinstance(y, Codes)
        counts = np.isfinite(y)
        if batch.weight is not None:
            counts = counts & (batch.weight > 0)
        self.left_out += batch.rows - int(counts.sum())
        self.products.update(batch, np.where(counts, np.int32(0), np.int32(-1)), digits(batch.weight))

    def __add__(self, other: _Multiplier) -> _Multiplier:
        out = copy(self)
        out.products, out.left_out = self.products + other.products, self.left_out + other.left_out
        return out


def regress(data: object, target: object, *, ridge: float = 0.0, **reading: Unpack[ReadingOptions]) -> Regression:
    """Fit a numeric target by least squares; `reading` takes what `summarize` takes.

    `target` names a column, or is one: a list or a Series of as many numbers as there are rows.

    `ridge` times the squared weights (on numbers in standard deviations and on indicators) is added to the sum of
    squared errors. Rows without a target are left out.

    >>> found = regress({"x": [1.0, 2.0, 3.0, 4.0], "y": [3.0, 5.0, 7.0, 9.0]}, "y", types={"x": "number"})
    >>> round(found.constant, 9), round(found.weights[0].weight, 9), round(found.r2, 9)
    (1.0, 2.0, 1.0)
    """
    if isinstance(ridge, bool) or not isinstance(ridge, (int, float)) or not 0 <= ridge < math.inf:
        raise SettingError(f"ridge is {shown(ridge)}. It must be a finite number, zero or more.")
    if reading.get("target_bins") is not None:
        raise SettingError("A regression predicts the number itself. Leave the target's bins out, or use `likely fit`.")
    data, said = read_arguments(data, target, reading)
    name = said.target
    if name is None:
        raise SettingError(
            "No target was named, so there is nothing to predict. Name a column: regress(data, 'column')."
        )
    types = None if said.schema is not None else {**(said.types or {}), name: "number"}
    # A number that counts the rows, such as x = 0, 1, 2 …, is the usual abscissa of a regression.
    how = replace(said, target=None, types=types, keep_row_numbers=True)

    def work(source: Source) -> Regression:
        summary = summarize_source(source, how, lambda schema: frozenset())
        column = summary.schema[name]
        if column.kind != "number" or column.role != "attribute":
            raise ColumnError(f"{shown(name)} is no attribute of numbers in this schema. Leave the schema out.")
        Products.over(summary)  # refuses what is too large
        names = summary.schema.stored
        whole = sweep_sum(source.batches(names), lambda: _Multiplier(summary, name), how.threads, how.progress)
        return _least_squares(summary, whole.products, column, float(ridge), whole.left_out)

    return with_encoding(data, how, work)


def _least_squares(summary: Summary, products: Products, target: Column, ridge: float, left_out: int) -> Regression:
    """Least squares of one number on all other columns."""
    texts = [shown(c.name) for c in summary.schema.attributes if c.kind == "text"]
    summary = summary.without_text()
    weight = float(products.table[0, 0].floats()[0])
    if not weight:
        raise InputError(f"No row has a number in column {shown(target.name)}. Check the target.")
    attributes = [c for c in summary.schema.attributes if c.name != target.name]
    squares = Squares(products, [*attributes, target])
    own = next((k for k, p in enumerate(squares.places) if p.name == target.name), None)
    schema = summary.schema.with_columns(attributes)
    beside = (target, *(c for c in summary.schema.columns if c.role == "weight"))
    labels = {c.name: Labels(domain(c, s)) for c in attributes if isinstance(s := summary.columns[c.name], Counts)}
    notes = [f"{name} is free text, which a regression does not read; it is left out." for name in texts]
    notes += [*remarks(summary.schema), *constant_notes(n for n in squares.left_out if n != target.name)]
    if own is None:
        mean = products.table[0, products.features.index(("value", target.name, ""))].fractions()[0]
        base = float(mean / products.table[0, 0].fractions()[0])
        notes.append(f"Every row has the same {shown(target.name)}, so there is nothing to explain.")
        nan = math.nan
        return Regression(
            target.name, base, (), nan, nan, weight, left_out, tuple(notes), None, base, (), schema, labels, beside
        )
    sums = squares.sums[:, :, 0]
    whole = squares.covariance(sums)
    covariance, cross, one = whole[:own, :own], whole[:own, own : own + 1], float(whole[own, own])
    units = squares.places[own].standard
    assert units is not None
    solution = squares.solved(covariance, cross, np.zeros(1), squares.means(sums)[:own], ridge / weight, TOLERANCE)
    beta = solution.weights[:, 0]
    # The sum of squares left, as a share of the target's: of rounding it can come out below 0, which it cannot be.
    share = max(float(one - 2 * beta @ cross[:, 0] + beta @ covariance @ beta), 0.0) / one
    freedom = weight - solution.rank - 1
    variance = share * one * weight / freedom if freedom > 0 and not ridge else math.nan
    errors = np.sqrt(np.maximum(np.diag(solution.inverse), 0.0) * variance / weight)
    padded = np.concatenate([solution.weights, np.zeros((len(squares) - own, 1))])
    parts = tuple(p for p in squares.parts(padded) if p.name != target.name)
    if squares.dependent(solution.rank + 1) and not ridge:
        notes.append(
            f"The {own} columns of the design are collinear (rank {solution.rank}), so many solutions fit equally "
            "well; the one with the smallest norm is used."
        )
    return Regression(
        target=target.name,
        constant=_in(units, constant_of(float(solution.constant[0]), parts, 0), at=True),
        weights=_weights(squares, parts, errors, units),
        r2=1 - share,
        residual=_in(units, math.sqrt(variance)) if variance == variance else math.nan,
        rows=weight,
        left_out=left_out,
        notes=tuple(notes),
        units=units,
        base=float(solution.constant[0]),
        parts=parts,
        schema=schema,
        labels=labels,
        beside=beside,
        # What rounding alone leaves of a perfect fit is nothing.
        squared_error=0.0 if share < ROUNDING else _in(units, math.sqrt(share * one * weight)) ** 2,
        equations=tuple(line_equations(products, target.name, ridge)),
    )


def _in(units: Standard, value: float, at: bool = False) -> float:
    """A number of standard units as the column's own: a length, or (`at`) a point."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(units.spread * value + ((units.center + units.rest) if at else 0.0), units.shift))


def _weights(squares: Squares, parts: tuple[Weighed, ...], errors: Any, units: Standard) -> tuple[Weight, ...]:
    by = {(p.name, "(missing)" if p.missing else p.level): k for k, p in enumerate(squares.places)}
    out = []
    for attribute, level, (value,) in weight_rows(parts):
        place = squares.places[by[attribute, level]]
        error = float(errors[by[attribute, level]])
        if place.standard is not None:
            # The weight of `(missing)` holds the mean's share too, whose error is not that of the indicator alone.
            error = math.nan if place.missing else place.standard.raw(error)
        out.append(Weight(attribute, level, _in(units, value), _in(units, error)))
    return tuple(out)


def present_regression(
    found: Regression, working: bool = False, row: Row | None = None, judged: Errors | None = None
) -> Document:
    """The equation, how much it explains, its errors, and the weights with their standard errors; and the normal
    equations, what it predicts for a row, and its errors on held-out rows, where these are asked for."""
    rows = [("(constant)", "", number(found.constant, 6), "")]
    for w in found.weights:
        error = "" if math.isnan(w.error) else number(w.error)
        rows.append((clean(w.attribute, 40), clean(w.level, 40) if w.level else "", number(w.weight, 6), error))
    title = f"What each column adds to {clean(found.target, 40)}"
    table = Table(title, ("attribute", "level", "weight", "standard error"), tuple(rows), frozenset({2, 3}))
    if math.isnan(found.r2):
        explained = "There is no variance to explain in"
    else:
        explained = f"The other columns explain {percent(found.r2)} of the variance of"
    headline = f"{explained} {clean(found.target)}, on the {plural(found.rows, 'row')} it was fitted to"
    remarks = [*found.notes, clean(found.equation(), 2000)]
    if not math.isnan(found.residual):
        remarks.insert(0, f"Standard deviation of the residuals: {number(found.residual)}.")
    if found.squared_error > 0:
        how = f"the noise being normal with standard deviation {number(found.noise, 6)} (√(squared error / rows))"
        remarks.append(f"On the rows it was fitted to: {_tell_errors(found.errors)}, {how}.")
        remarks += [] if judged is None else [f"On held-out rows: {_tell_errors(judged)}, by the same noise."]
    elif judged is not None:
        remarks.append(f"On held-out rows: squared error {number(judged.squared, 6)}.")
    if row is not None:
        remarks.append(f"Prediction: {clean(found.working(row), 2000)}")
        if unknown := [clean(c.name, 40) for c in found.schema.attributes if row.get(c.name) is None]:
            remarks.append(f"Not given, so taken as in the mean of the rows: {', '.join(unknown)}.")
    if found.left_out:
        remarks.append(f"{plural(found.left_out, 'row')} left out: no target value, or weight 0.")
    equations = tuple(exhibit_table(e) for e in found.equations) if working else ()
    if working and not equations:
        remarks.append("The normal equations have too many columns, or too large numbers, to print.")
    return Document(headline + ".", (*equations, table, *remarks))


def _tell_errors(errors: Errors) -> str:
    each = number(errors.squared / errors.rows, 6)
    return (
        f"squared error {number(errors.squared, 6)} over {plural(errors.rows, 'row')}, {each} a row; log-likelihood "
        f"{number(errors.log_likelihood, 6)}"
    )


def regression_json(found: Regression, row: Row | None = None, judged: Errors | None = None) -> bytes:
    """The same as JSON; a number that is not known is null."""

    return state.as_json(
        {
            "target": found.target,
            "constant": finite(found.constant),
            "weights": [
                {"attribute": w.attribute, "level": w.level, "weight": finite(w.weight), "error": finite(w.error)}
                for w in found.weights
            ],
            "r2": finite(found.r2),
            "residual": finite(found.residual),
            "rows": found.rows,
            "left_out": found.left_out,
            "equation": found.equation(),
            "normal_equations": [
                {"title": e.title, "header": list(e.header), "rows": [list(row) for row in e.rows]}
                for e in found.equations
            ],
            "errors": {name: finite(v) for name, v in asdict(found.errors).items()},
            "held_out": None if judged is None else {name: finite(v) for name, v in asdict(judged).items()},
            "prediction": None if row is None else finite(found.predict(row)),
            "notes": list(found.notes),
        }
    )
