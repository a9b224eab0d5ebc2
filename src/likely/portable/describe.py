"""A model as a portable form: `portable(model)`. Reads shapes; computes no score, and knows no model and no factor.

What cannot be said without the rows of training is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from likely.errors import SettingError, shown
from likely.models import shapes
from likely.models.contracts import Model
from likely.models.fractions import log_of
from likely.portable import forms
from likely.portable.describe_sets import describe_pair, describe_trees
from likely.sums.columns.counts import Counts
from likely.table.labels import number_label
from likely.table.schema import OTHER, Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]


class Domain(NamedTuple):
    """The levels that rows are read with."""

    levels: tuple[str, ...]
    rest: str | None
    """The level of all that have no name of their own, where there is one."""


Levels: TypeAlias = Mapping[str, Domain]
"""By attribute."""


def portable(model: Model) -> forms.Portable:
    """The one description of how this model scores a row.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
    >>> found = portable(model)
    >>> found.classes, found.attributes[0].levels, type(found.score).__name__
    (('n', 'y'), ('rain', 'sun'), 'Sum')
    """
    shape = model.shape()
    if shape is None:
        odd = next((m for m in model.members if m.shape() is None), model)
        raise SettingError(
            f"{type(odd.learner).__name__} cannot be taken elsewhere. {odd.shapeless} Use NaiveBayes, Logistic or "
            "another model that scores rows from tables alone."
        )
    attributes = tuple(_attribute(model, column) for column in model.schema.attributes)
    target = model.schema.target
    domains = {a.name: _domain(model, a) for a in attributes}
    if model.refuse_unseen and any(domain.rest is not None for domain in domains.values()):
        raise SettingError(
            f"The model refuses unseen levels, but rare ones were made {shown(OTHER)}, as unseen ones are. Learn with "
            "unseen='skip', or without least_count, to take it elsewhere."
        )
    return forms.Portable(
        classes=model.classes,
        attributes=attributes,
        missing=model.schema.missing,
        score=_score(shape, model.classes, domains),
        learner=type(model.learner).__name__,
        target=None if target is None else target.name,
        proper=bool(model.proper),
        generative=bool(model.generative),
        refuse_unseen=model.refuse_unseen,
    )


def refuse_parts(model: Model) -> None:
    """Refuse to take a model elsewhere that reads parts of dates: nobody would take them from the date there."""
    part = next((c for c in model.schema.attributes if c.part_of is not None), None)
    if part is not None:
        raise SettingError(
            f"The model reads parts of dates, such as {shown(part.name)}, which no table has that an export "
            "reads. Fit it with --dates whole, or put the parts into the table as columns before you fit."
        )


def is_portable(model: Model) -> bool:
    """Whether `portable` would not refuse it."""
    return model.shape() is not None


def _attribute(model: Model, column: Column) -> forms.Attribute:
    if column.kind == "text":
        how = column.tokens
        words = forms.Words() if how is None else forms.Words(how.shortest, how.pairs, how.stop, how.grams)
        return forms.Attribute(column.name, "text", words=words)
    if isinstance(model.summary.columns[column.name], Counts):
        levels = tuple(model.levels(column.name))
        if column.reading == "number" and column.kept is not None:
            levels = tuple(level for level in levels if level != OTHER)  # no number, so no cell says it
        # Languages compare numbers as doubles; where these cannot tell levels apart, the digits are compared as text.
        numeric = column.reading == "number" and all(number_label(float(level)) == level for level in levels)
        return forms.Attribute(column.name, "level", levels, numeric)
    return forms.Attribute(column.name, "date" if column.reading == "date" else "number")


def _domain(model: Model, attribute: forms.Attribute) -> Domain:
    has_rest = model.schema[attribute.name].kept is not None and OTHER in model.levels(attribute.name)
    return Domain(attribute.levels, OTHER if has_rest else None)


def _floats(values: Iterable[float]) -> forms.Scores:
    """Numbers as Python's own."""
    return tuple(float(v) for v in values)


def _matrix(rows: Iterable[Iterable[float]]) -> tuple[forms.Scores, ...]:
    return tuple(_floats(row) for row in rows)


def _score(shape: shapes.Score, classes: tuple[str, ...], levels: Levels) -> forms.Score:
    match shape:
        case shapes.Sum():
            return _sum(shape, levels)
        case shapes.Normalised(inner):
            return forms.Normalised(_score(inner, classes, levels))
        case shapes.Shifted(inner, by):
            return forms.Shifted(_score(inner, classes, levels), _floats(by))
        case shapes.Clipped(outputs):
            return forms.Clipped(_sum(outputs, levels))
        case shapes.Duels(outputs, pairs, votes):
            return forms.Duels(_sum(outputs, levels), len(classes), tuple((int(a), int(b)) for a, b in pairs), votes)
        case shapes.Mixture(members):
            places = {name: k for k, name in enumerate(classes)}
            each = (
                forms.Member(
                    _score(m.inner, m.classes, levels),
                    m.weight,
                    m.temperature,
                    tuple(places.get(name, -1) for name in m.classes),
                )
                for m in members
            )
            return forms.Mixture(len(classes), tuple(each))
        case shapes.OneDependence():
            return forms.OneDependence(
                tuple(_axis(axis, levels) for axis in shape.axes),
                tuple(bool(s) for s in shape.serves),
                _floats(shape.prior),
                _matrix(shape.alone),
                _matrix(shape.joint),
                tuple(_matrix(rows) for rows in shape.given),
            )
    raise SettingError(f"{type(shape).__name__} has no portable form.")


def _sum(shape: shapes.Sum, levels: Levels) -> forms.Sum:
    terms: list[forms.Term] = []
    for term, power in shape.powered:
        if power:
            terms += [t if power == 1 else forms.PowerTerm(float(power), t) for t in _terms(term, levels)]
    return forms.Sum(_floats(shape.constant), tuple(terms))


def _terms(term: object, levels: Levels) -> Iterator[forms.Term]:
    """What a term adds: one form, or for a block whose gaps are evidence one more for each attribute."""
    match term:
        case shapes.Block():
            yield _joint(term.name, term.joint, levels)
            for attribute, shares in zip(term.names, term.presence, strict=False):
                known, gone = (_floats(log_of(side)) for side in zip(*shares, strict=True))
                yield forms.PresenceTerm(term.name, attribute, known, gone)
        case shapes.JointTable() | shapes.MultivariateNormal():
            yield _joint(" & ".join(term.names), term, levels)
        case shapes.Tree():
            yield _tree(term, levels)
        case shapes.PairTable():
            yield describe_pair(term, [_axis(axis, levels) for axis in term.axes])
        case shapes.TreeSum():
            yield describe_trees(term, [_axis(axis, levels) for axis in term.axes])
        case shapes.Curve():
            units = tuple(_unit(u, shapes.REACH) for u in term.units)
            ends = _floats(term.known), _floats(term.absent)
            yield forms.CurveTerm(term.name, int(term.at), units, _matrix(term.weights), *ends)
        case shapes.Column():
            yield _column(term, levels)
        case _:
            raise SettingError(f"{shown(term)} has no portable form.")


def _column(term: shapes.Column, levels: Levels) -> forms.Term:
    match term:
        case shapes.LevelTable(name, labels, table):
            rest = labels.index.get(levels[name].rest or "", -2)  # the row of unseen levels, where none is for the rest
            unseen, missing = _floats(table[rest]), _floats(table[-1])
            # A level that the table does not have is no rare one: the level that linear models measure others from.
            rows = tuple(_floats(table[labels.index.get(level, -2)]) for level in levels[name].levels)
            return forms.LevelTerm(name, rows, unseen, missing)
        case shapes.BinTable(name, starts, table):
            return forms.BinTerm(name, _floats(starts), _matrix(table[: len(starts) + 1]), _floats(table[-1]))
        case shapes.Density():
            return _density(term)
        case shapes.WordWeights():
            how, words = term.settings, term.scores.vocabulary
            return forms.TextTerm(
                term.name,
                tuple(words[k] for k in range(len(words))),
                _matrix(term.scores.weights),
                _floats(term.base),
                "binary" if how.model == "bernoulli" else how.damping,  # type: ignore[arg-type]
                1.0 if how.scale == "none" else float(how.scale),
                bool(how.length),
            )
        case shapes.Slope():
            unit = _unit(term.standard, shapes.FARTHEST)
            return forms.SlopeTerm(term.name, unit, *map(_floats, (term.weights, term.known, term.absent)))
    raise SettingError(f"What {shown(term.name)} adds has no portable form.")


def _density(term: shapes.Density) -> forms.Term:
    normal, kernels = term.normal, term.kernels
    if kernels is None:
        parts = (normal.mean, normal.deviation, normal.rate, normal.farthest, normal.peak, normal.absent)
        return forms.NormalTerm(term.name, *map(_floats, parts))
    own = [
        dict(zip(kernels.points[a:b].tolist(), kernels.weights[a:b].tolist(), strict=True))
        for a, b in pairwise(kernels.starts.tolist())
    ]
    centres = sorted({x for part in own for x in part})
    weights = tuple(tuple(part.get(x, 0.0) for x in centres) for part in own)
    each = (kernels.bandwidth, kernels.rate, kernels.farthest, kernels.peak, normal.absent)
    return forms.KernelTerm(term.name, tuple(centres), weights, *map(_floats, each))


def _unit(standard: shapes.Standard, farthest: float) -> forms.Unit:
    center, rest, spread = float(standard.center), float(standard.rest), float(standard.spread)
    return forms.Unit(standard.name, int(standard.shift), center, rest, spread, farthest)


# -- several attributes together ------------------------------------------------------------------------------------


def _axis(axis: shapes.Axis, levels: Levels) -> forms.Axis:
    """Unseen levels are left out, and so are missing cells where they have no code."""
    if axis.edges is not None:
        return forms.Axis(axis.name, axis.size, None, _floats(axis.edges), missing=axis.missing)
    groups = range(len(axis.levels)) if axis.groups is None else axis.groups.tolist()
    code_of = {name: int(groups[place]) for name, place in axis.levels.index.items()}
    codes = tuple(code_of.get(level, -1) for level in levels[axis.name].levels)
    rest = code_of.get(levels[axis.name].rest or "", -1)
    return forms.Axis(axis.name, axis.size, codes, unseen=rest, missing=axis.missing)


def _tree(tree: shapes.Tree, levels: Levels) -> forms.Term:
    axes = tuple(_axis(axis, levels) for axis in tree.axes)
    with np.errstate(divide="ignore"):
        tables = tuple(tuple(_matrix(np.log(rows)) for rows in table) for table in tree.tables)
    order, parents = tuple(map(int, tree.order)), tuple(map(int, tree.parents))
    return forms.TreeTerm(" & ".join(a.attribute for a in axes), axes, order, parents, tables)


def _joint(name: str, joint: shapes.JointTable | shapes.MultivariateNormal, levels: Levels) -> forms.Term:
    return _table(name, joint, levels) if isinstance(joint, shapes.JointTable) else _covariance(name, joint)


def _table(name: str, table: shapes.JointTable, levels: Levels) -> forms.Term:
    axes = []
    for k, (attribute, labels, size) in enumerate(zip(table.names, table.labels, table.sizes, strict=True)):
        (unseen, gone), starts = table.other_codes(k), table.starts_of(k)
        if starts is not None:
            axes.append(forms.Axis(attribute, size, None, _floats(starts), -1, gone))
            continue
        codes = tuple(labels.index.get(level, unseen) for level in levels[attribute].levels)
        rest = labels.index.get(levels[attribute].rest or "", unseen)
        axes.append(forms.Axis(attribute, size, codes, (), rest, gone))
    whole = table.extra * table.cells
    return forms.TableTerm(
        name,
        tuple(axes),
        tuple(tuple(map(int, row)) for row in table.codes),
        _matrix(table.counts.floats()),
        float(table.extra),
        _log(table.extra) if table.extra else -math.inf,
        # 0 where a class weighs nothing, so that each of its cells is impossible.
        tuple(_log(n + whole) if n + whole else 0.0 for n in table.totals()),
    )


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def _covariance(name: str, normal: shapes.MultivariateNormal) -> forms.Term:
    whole = normal.whitened(np.arange(len(normal.names)))
    return forms.CovarianceTerm(
        name,
        normal.names,
        _matrix(normal.mean),
        _matrix(normal.deviation),
        _matrix(shapes.limit_distances(normal.deviation)),
        tuple(_matrix(rows) for rows in normal.correlation),
        _floats(normal.least),
        tuple(_matrix(whitening) for whitening, _ in whole),
        tuple(-float(volume) for _, volume in whole),
        all(len(part) > 1 and bool((part == part[0]).all()) for part in (normal.deviation, normal.correlation)),
    )
