"""What a missing cell means for a decision: left out, averaged over its values, or evidence by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from likely.apply.decide.priors import wrap
from likely.errors import SettingError, shown
from likely.machinery.arrays import Floats
from likely.models.contracts import Model, Terms, setting_of
from likely.models.learning import begin
from likely.models.posterior import Matrix, Posterior
from likely.models.shapes import (
    BinTable,
    Block,
    Curve,
    Density,
    JointTable,
    MultivariateNormal,
    OneDependence,
    Opaque,
    PairTable,
    Score,
    Slope,
    Tree,
    TreeSum,
    patterns,
    sum_of,
)
from likely.models.shapes.references import are_unknown
from likely.models.working.records import Step, Working, clean, signed
from likely.models.working.working import added, by_class
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.words.counting import Words
from likely.table.batch import Batch, Codes, Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray


# What a missing cell means for a decision, three ways: left out, averaged over its values, or evidence by itself.

MissingBy: TypeAlias = Literal["left-out", "averaged", "informative"]
WAYS = ("left-out", "averaged", "informative")
SLICES = 32
"""A number of more values than this is averaged over so many slices of equal weight, each at its mean."""
COMBINATIONS = 4096
"""The most values together that are averaged over; of more, so many are drawn."""
ROOM = 1 << 15
"""Rows scored at a time."""
HOW_AVERAGED = (
    f"Missing cells are averaged over their values in training; a number of more than {SLICES} values over {SLICES} "
    f"slices of equal weight; more than {COMBINATIONS:,} combinations over as many drawn ones (seed 0)."
)


def by_missing(model: Model, way: str | None) -> Model:
    """The model that takes missing cells as `way` says; None: as the model was learned.

    - "left-out": P(class | the cells that are there); naive Bayes leaves the factor out.
    - "averaged": the sum over v of P(class | row with v) * P(v), with P(v) from training, whatever the class and the
      other cells. A model that averages over unknown cells given the known ones, as the default does, stays as it is.
    - "informative": learned again from the same sums, with being missing as one more level.

    >>> import likely
    >>> table = {"sky": ["sun", "sun", "rain"], "wind": ["no", "yes", "no"], "play": ["y", "y", "n"]}
    >>> averaged = by_missing(likely.fit(table, "play"), "averaged")
    >>> round(averaged.posterior({"wind": "no"}).prob("y"), 3)
    0.634
    """
    if way is None:
        return model
    if way not in WAYS:
        raise SettingError(f"There is no way {shown(way)} to take missing cells. Choose one of {', '.join(WAYS)}.")
    name = type(model.learner).__name__
    chosen = setting_of(model.learner, "missing")
    if model.references is not None:
        if way == "averaged":
            return model
        model = replace(model, references=None, judged=None, judge=None)  # those were other answers
    if way == "averaged":
        return average_missing(model)
    if way == "informative":
        if chosen is None:
            raise SettingError(f"{name} cannot take being missing as evidence. Use NaiveBayes for that.")
        return model if chosen == "level" else _relearned(model, "level")
    if chosen == "level":
        return _relearned(model, "skip")
    if not model.leaves_missing_out:
        raise SettingError(
            f"{name} has no way to leave missing cells out. Say averaged, or use a model of rows such as NaiveBayes."
        )
    return model


def _relearned(model: Model, missing: str) -> Model:
    learner: Any = replace(model.learner, missing=missing)  # type: ignore[type-var]
    found = begin(learner, model.summary)
    if not isinstance(found, Model):
        raise SettingError(
            f"{type(learner).__name__} must see the rows again to take missing cells otherwise. Fit it with "
            f"--set missing={missing}."
        )
    return replace(found, loss=model.loss)


Spread: TypeAlias = "tuple[list[str] | NDArray[np.float64], NDArray[np.float64]]"
"""The values of an attribute and their shares in training."""


def average_missing(model: Model) -> Model:
    """The model that averages over what a missing cell may hold."""
    spreads = {c.name: spread(model.summary.columns[c.name]) for c in model.schema.attributes}
    return Model(
        **wrap(model),
        score=MeanOverMissing(model, {name: s for name, s in spreads.items() if len(s[1])}),
        sumless="A mean over what missing cells may hold is no sum over attributes.",
        work=_work_mean,
    )


def unaveraged(model: Model) -> str:
    """The attributes of which training has no value to average over, as a sentence; empty where there are none."""
    without = [c for c in model.schema.attributes if not len(spread(model.summary.columns[c.name])[1])]
    if not without:
        return ""
    some = ", ".join(shown(c.name) for c in without[:5]) + (" …" if len(without) > 5 else "")
    if all(c.kind == "text" for c in without):
        return f"What a text may say is not averaged over: {some} left out where missing."
    return f"No row has a value of {some} to average over: left out where missing."


def spread(statistic: Counts | Numbers | Words) -> Spread:
    """P(v) of an attribute, over all classes: of its levels, or of its numbers (few: each; many: slices).

    Hardly any text occurs twice, so there are no values of a text to speak of.
    """
    if isinstance(statistic, Words):
        return [], np.empty(0)
    if isinstance(statistic, Counts):
        weight = statistic.table[: len(statistic.labels)].sum(1).floats()
        some = np.flatnonzero(weight > 0)
        return [statistic.labels.names[k] for k in some], weight[some] / weight[some].sum()
    values, table = statistic.tally()
    weight = table.sum(1).floats()
    values, weight = values[weight > 0], weight[weight > 0]
    if len(values) <= SLICES:
        return values, weight / weight.sum() if len(values) else weight
    # Slice k holds the weight between k/SLICES and (k+1)/SLICES of the whole; a value on the border is divided.
    above = np.cumsum(weight) / weight.sum()
    edges = np.arange(1, SLICES) / SLICES
    bounds = np.unique(np.concatenate([[0.0], edges, above]))
    share, middle = np.diff(bounds), (bounds[1:] + bounds[:-1]) / 2
    value = values[np.minimum(np.searchsorted(above, middle), len(values) - 1)]
    which = np.minimum((middle * SLICES).astype(np.intp), SLICES - 1)
    mass = np.bincount(which, share, SLICES)
    return np.bincount(which, share * value, SLICES) / mass, mass / mass.sum()


@dataclass(frozen=True, eq=False)
class MeanOverMissing(Score):
    """P(class | row) = sum over v of P(class | row with v) * P(v), over what the missing cells may hold."""

    model: Model
    spreads: Mapping[str, Spread]

    @property
    def opaque(self) -> Opaque:
        why = "It scores every row many times over, once for each value that a missing cell may hold."
        return Opaque("the mean over missing cells", lambda batch: self.scored(batch)[0], why)

    def missing_in(self, batch: Batch) -> list[str]:
        """The attributes that are missing in some row."""
        return [name for name in self.spreads if name in batch.cells and is_missing(batch.cells[name]).any()]

    def scored(self, batch: Batch) -> tuple[Matrix, dict[str, tuple[int, int]]]:
        """Rows without a missing cell are scored as ever. The density of a row stays that of the model inside."""
        out = self.model.log_joint(batch)
        names = [name for name in self.spreads if name in batch.cells]
        if not names or not batch.rows:
            return out, {}
        gone = np.column_stack([is_missing(batch.cells[name]) for name in names])
        for columns, rows in patterns(gone):
            if len(columns):
                out[rows] = self._averaged(batch.take(rows), [names[k] for k in columns], out[rows])
        return out, {}

    def take_apart(self, batch: Batch) -> Terms | None:
        """The terms of the model inside, unless a cell is missing."""
        return None if self.missing_in(batch) else self.model.score.take_apart(batch)

    def _averaged(self, batch: Batch, names: list[str], left_out: Matrix) -> Matrix:
        index, share = combinations([self.spreads[name][1] for name in names])
        evidence = Posterior.of(self.model.classes, left_out).log_evidence
        out, step = np.empty_like(left_out), max(1, ROOM // len(share))
        for start in range(0, batch.rows, step):
            rows = np.arange(start, min(start + step, batch.rows))
            cells = {
                name: fill_cells(batch.cells[name], self.spreads[name][0], np.tile(own, len(rows)))
                for name, own in zip(names, index, strict=True)
            }
            part = batch.take(np.repeat(rows, len(share)))
            joint = self.model.log_joint(replace(part, cells=part.cells | cells))
            chances = Posterior.of(self.model.classes, joint).matrix.reshape(len(rows), len(share), -1)
            mean = np.einsum("k,rkc->rc", share, chances, optimize=False)
            # Values under which the row is impossible say nothing of the class; the others share their weight.
            whole = mean.sum(axis=1, keepdims=True)
            with np.errstate(divide="ignore"):
                out[rows] = np.log(np.divide(mean, whole, out=np.zeros_like(mean), where=whole > 0))
        with np.errstate(invalid="ignore"):
            out += evidence[:, None]
        return np.where(np.isneginf(evidence)[:, None], -np.inf, out)


def _work_mean(model: Model, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working | None:
    """Σ P(v) × P(class | row with v), over the values v of the missing cells together."""
    inner, score, classes = model.inner, model.score, model.classes
    assert inner is not None and isinstance(score, MeanOverMissing)
    spreads, names = score.spreads, score.missing_in(batch)
    if not names:
        return inner.worked(batch, row, posterior)
    index, share = combinations([spreads[name][1] for name in names])
    cells = {name: fill_cells(batch.cells[name], spreads[name][0], own) for name, own in zip(names, index, strict=True)}
    part = batch.take(np.zeros(len(share), np.intp))
    chances = Posterior.of(classes, inner.log_joint(replace(part, cells=part.cells | cells))).matrix
    steps = []
    for k, (weight, own) in enumerate(zip(share.tolist(), chances, strict=True)):
        told = ", ".join(
            f"{clean(name)}={clean(_spelled(spreads[name][0][int(i[k])]))}"
            for name, i in zip(names, index, strict=True)
        )
        values = by_class(classes, weight * own)
        texts = {name: f"{signed(weight)} × {signed(p)}" for name, p in by_class(classes, own).items()}
        steps.append(Step(told, told, values, values, title=f"P({told}) × P(class | x, {told})", texts=texts))
    remarks = ["What is missing is averaged over its values in training."]
    if not chances.any(axis=1).all():
        remarks.append("Values under which every class is impossible are left out, and the others share their weight.")
    return added(classes, steps, posterior, sign="P({} | x)", remarks=remarks)


def _spelled(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def combinations(shares: list[NDArray[np.float64]]) -> tuple[list[NDArray[np.intp]], NDArray[np.float64]]:
    """Values of several attributes together: for each attribute the index of its value, and the share of each.

    All of them where there are at most COMBINATIONS; else so many that are drawn, always the same.
    """
    count = 1
    for own in shares:
        count *= len(own)
    if count <= COMBINATIONS:
        grids = np.meshgrid(*(np.arange(len(s)) for s in shares), indexing="ij")
        share = np.ones(())
        for own in shares:
            share = np.multiply.outer(share, own)
        return [g.reshape(-1) for g in grids], share.reshape(-1)
    rng = np.random.default_rng(0)
    drawn = [rng.choice(len(s), COMBINATIONS, p=s) for s in shares]
    return drawn, np.full(COMBINATIONS, 1 / COMBINATIONS)


def is_missing(cells: Codes | Texts | Floats) -> NDArray[np.bool_]:
    """Which cells are missing."""
    if isinstance(cells, Texts):
        return cells.starts == cells.ends  # type: ignore[no-any-return]
    return are_unknown(cells)


def fill_cells(
    cells: Codes | Floats, values: list[str] | NDArray[np.float64], index: NDArray[np.intp]
) -> Codes | Floats:
    """A column of given values, read as `cells` are."""
    if isinstance(cells, Codes):
        codes = np.array([cells.labels.index[str(v)] for v in values], np.int32)
        return Codes(codes[index], cells.labels)
    return np.asarray(values, np.float64)[index]


# Integrals over the values of a number: Gauss-Kronrod on panels that are halved where that pays. Knows no model.

# Kronrod's 15 points on [-1, 1] and their weights; every second one is a point of Gauss, with the weights below.
_HALF = np.array(
    [
        0.991455371120812639206854697526329,
        0.949107912342758524526189684047851,
        0.864864423359769072789712788640926,
        0.741531185599394439863864773280788,
        0.586087235467691130294144691693270,
        0.405845151377397166906606412076961,
        0.207784955007898467600689403773245,
    ]
)
_KRONROD = np.array(
    [
        0.022935322010529224963732008058970,
        0.063092092629978553290700663189204,
        0.104790010322250183839876322541518,
        0.140653259715525918745189590510238,
        0.169004726639267902826583426598550,
        0.190350578064785409913256402421014,
        0.204432940075298892414161999234649,
    ]
)
_GAUSS = np.array([0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
                   0.381830050505118944950369775488975])  # fmt: skip
POINTS = np.concatenate([-_HALF, [0.0], _HALF[::-1]])
WEIGHTS = np.concatenate([_KRONROD, [0.209482141084727828012999174891714], _KRONROD[::-1]])
_COARSE = np.zeros(15)
_COARSE[1::2] = np.concatenate([_GAUSS, [0.417959183673469387755102040816327], _GAUSS[::-1]])

Choice = Callable[["NDArray[np.float64]"], "NDArray[np.intp]"]
Values = Callable[["NDArray[np.float64]"], "NDArray[np.float64]"]


def integrals(
    values: Values, edges: NDArray[np.float64], accuracy: NDArray[np.float64], most: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The integrals of several functions at once, from the first to the last edge, and how far each may be off.

    `values(x)` gives a row of values for each x. Panels are halved until every function is as accurate as `accuracy`
    says, or `most` points have been looked at. All weights are positive, so that what is never negative
    has no negative integral.

    >>> total, error = integrals(lambda x: np.exp(-x * x)[:, None], np.array([-9.0, 0.0, 9.0]), np.array([1e-12]), 9999)
    >>> bool(abs(total[0] - np.sqrt(np.pi)) < 1e-12), bool(error[0] < 1e-12)
    (True, True)
    """
    low, high = edges[:-1], edges[1:]
    fine, error = _panels(values, low, high)
    looked = 15 * len(low)
    while (error.sum(axis=0) > accuracy).any() and looked < most:
        # The panels that hold the last tenth of the error may stay as they are.
        share = (error / np.maximum(error.sum(axis=0), np.nextafter(0, 1))).max(axis=1)
        wide = (high - low) > 4 * np.spacing(np.maximum(np.abs(low), np.abs(high)))
        chosen = np.flatnonzero(wide & (share > 0.1 / len(low)))
        chosen = chosen[np.argsort(-share[chosen], kind="stable")][: max(1, (most - looked) // 30)]
        if not len(chosen):
            break
        middle = (low[chosen] + high[chosen]) / 2
        left, right = np.concatenate([low[chosen], middle]), np.concatenate([middle, high[chosen]])
        more, off = _panels(values, left, right)
        looked += 15 * len(left)
        kept = np.ones(len(low), np.bool_)
        kept[chosen] = False
        low, high = np.concatenate([low[kept], left]), np.concatenate([high[kept], right])
        fine, error = np.concatenate([fine[kept], more]), np.concatenate([error[kept], off])
    order = np.argsort(low, kind="stable")  # added up in one order, however the panels came about
    return fine[order].sum(axis=0), error[order].sum(axis=0)


def turns(choice: Choice, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where a choice between a few things changes, to the last bit: the first number on the other side.

    It is looked for between edges and between Kronrod's points of all panels. A kink that lies unseen between an edge
    and the first point would spoil both the integral and its estimate of error (tests/decide/test_missing.py).

    >>> turns(lambda x: (x > 0.1).astype(np.intp), np.array([0.0, 1.0, 2.0])).tolist()
    [0.10000000000000002]
    """
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    points = np.unique(np.concatenate([edges, (middle[:, None] + half[:, None] * POINTS).reshape(-1)]))
    codes = choice(points)
    left, right, before, after = points[:-1], points[1:], codes[:-1], codes[1:]
    found: list[NDArray[np.float64]] = []
    while len(apart := np.flatnonzero(before != after)):
        left, right, before, after = left[apart], right[apart], before[apart], after[apart]
        low, high = left, right
        while len(open_ := np.flatnonzero(np.nextafter(low, high) < high)):
            at = low[open_] / 2 + high[open_] / 2
            same = choice(at) == before[open_]
            low, high = low.copy(), high.copy()
            low[open_[same]], high[open_[~same]] = at[same], at[~same]
        found.append(high)
        # Beyond it there may be a third thing, and another turn before the right end.
        left, before = high, choice(high)
    return np.unique(np.concatenate(found)) if found else np.empty(0)


def _panels(
    values: Values, low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    middle, half = (low + high) / 2, (high - low) / 2
    at = (middle[:, None] + half[:, None] * POINTS).reshape(-1)
    found = values(at).reshape(len(low), 15, -1) * half[:, None, None]
    fine, coarse = np.einsum("k,pkf->pf", WEIGHTS, found), np.einsum("k,pkf->pf", _COARSE, found)
    return fine, np.abs(fine - coarse)


# Where the density of a number may peak under a model, and where its bins begin: what integrals and sums go by.

_STEPS = np.concatenate([4.0 ** np.arange(-20, 1), [2.0, 4.0, 8.0, 16.0, 40.0]])
_AROUND = np.concatenate([-_STEPS, [0.0], _STEPS])
_QUANTILES = np.arange(33) / 32


def _terms(model: Model) -> tuple[object, ...]:
    shape = model.shape()
    if isinstance(shape, OneDependence):
        return (shape,)
    found = None if shape is None else sum_of(shape)
    return () if found is None else found[0].terms


def starts_of(model: Model, name: str) -> NDArray[np.float64] | None:
    """The least number of each bin but the first, where the model reads a number as a bin, of all terms together; None
    where one of them is smooth, or none reads it."""
    cuts: list[NDArray[np.float64]] = []
    for term in _terms(model):
        joint = term.joint if isinstance(term, Block) else term
        match joint:
            case BinTable() if joint.name == name:
                cuts.append(joint.starts)
            case JointTable() if name in joint.names:
                starts = joint.starts_of(joint.names.index(name))
                cuts += [] if starts is None else [starts]
            case Tree() | OneDependence() | PairTable() | TreeSum():
                cuts += [axis.edges for axis in joint.axes if axis.name == name and axis.edges is not None]
            case Density() | Slope() if joint.name == name:
                return None
            case MultivariateNormal() | Curve() if name in joint.names:
                return None
    return np.unique(np.concatenate(cuts)) if cuts else None


def panels(model: Model, name: str) -> NDArray[np.float64]:
    """Edges between which a density of these numbers is smooth: close to every class's mean and values, and far out.

    A density peaks at means and values, is as narrow as a class's spread (or much narrower, where the variance has a
    small floor), and is gone forty deviations away.
    """
    edges: list[NDArray[np.float64]] = []
    sizes = [(float(m), float(d)) for m, d in _believed(model, name)]
    statistic = model.summary.columns[name]
    assert isinstance(statistic, Numbers)
    values, table = statistic.tally()
    weight = table.floats()
    for own in (weight.sum(axis=1), *weight.T) if len(values) else ():
        total = own.sum()
        if total > 0:
            mean = float((values * own).sum() / total)
            sizes.append((mean, float(np.sqrt((own * (values - mean) ** 2).sum() / total))))
            below = np.cumsum(own) / total
            edges.append(values[np.minimum(np.searchsorted(below, _QUANTILES), len(values) - 1)])
    widest = max((d for _, d in sizes), default=0.0)
    for mean, deviation in sizes:
        edges += [mean + size * _AROUND for size in {deviation, widest}]
    out = np.unique(np.concatenate(edges)) if edges else np.empty(0)
    return out[np.isfinite(out)]


def _believed(model: Model, name: str) -> Iterator[tuple[float, float]]:
    """Mean and deviation of the attribute in each class, where the model has them."""
    for term in _terms(model):
        joint = term.joint if isinstance(term, Block) else term
        match joint:
            case Density() if joint.name == name:
                yield from zip(joint.normal.mean, joint.normal.deviation, strict=True)
            case MultivariateNormal() if name in joint.names:
                place = joint.names.index(name)
                yield from zip(joint.mean[:, place], joint.deviation[:, place], strict=False)
