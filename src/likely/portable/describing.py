"""A model as a portable form: `portable(model)`. Reads what models hold; computes no score.

Each model and factor has one function here. What cannot be said without the rows of training is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from likely.errors import SettingError
from likely.models.model import Model
from likely.portable import forms
from likely.portable.terms import floats, grid_axes, matrix, term, terms_of
from likely.sums.columns.counts import Counts
from likely.table.schema import Column

Describe = Callable[[Any, dict[str, tuple[str, ...]]], forms.Score]
"""From a model and the levels that rows are read with."""


def portable(model: Model) -> forms.Portable:
    """The one description of how this model scores a row.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
    >>> found = portable(model)
    >>> found.classes, found.attributes[0].levels, type(found.score).__name__
    (('n', 'y'), ('rain', 'sun'), 'Sum')
    """
    attributes = tuple(_attribute(model, column) for column in model.schema.attributes)
    levels = {a.name: a.levels for a in attributes}
    target = model.schema.target
    return forms.Portable(
        classes=model.classes,
        attributes=attributes,
        missing=model.schema.missing,
        score=score_of(model, levels),
        learner=type(model.learner).__name__,
        target=None if target is None else target.name,
        proper=bool(model.proper),
        generative=bool(model.generative),
        refuse_unseen=model.refuse_unseen,
    )


def is_portable(model: Model) -> bool:
    """Whether `portable` would not refuse it."""
    return _kind(model) in _SCORES and all(is_portable(m) for m in _inside(model))


def _kind(model: Model) -> str:
    # By name, through the ancestors: a model that refines another one scores as that does.
    return next((c.__name__ for c in type(model).__mro__ if c.__name__ in _SCORES or c.__name__ in _WHY), "")


def _inside(model: Model) -> tuple[Model, ...]:
    inner = getattr(model, "inner", None)
    return (*getattr(model, "members", ()), *(() if inner is None else (inner,)))


def score_of(model: Model, levels: dict[str, tuple[str, ...]]) -> forms.Score:
    """The score of a model, for rows that are read with these levels."""
    kind = _kind(model)
    if kind not in _SCORES:
        name = type(model.learner).__name__
        why = _WHY.get(kind, "It has no portable form.")
        raise SettingError(
            f"{name} cannot be taken elsewhere. {why} Use NaiveBayes, Logistic or another model that scores rows from "
            "tables alone."
        )
    return _SCORES[kind](model, levels)


def _attribute(model: Model, column: Column) -> forms.Attribute:
    if column.kind == "text":
        how = column.tokens
        words = forms.Words() if how is None else forms.Words(how.shortest, how.pairs, how.stop, how.grams)
        return forms.Attribute(column.name, "text", words=words)
    if isinstance(model.summary.columns[column.name], Counts):
        return forms.Attribute(column.name, "level", tuple(model.levels(column.name)), column.reading == "number")
    return forms.Attribute(column.name, "date" if column.reading == "date" else "number")


# -- one function for each model ------------------------------------------------------------------------------------


def _product(model: Any, levels: dict[str, tuple[str, ...]]) -> forms.Score:
    return forms.Sum(floats(model.log_prior), tuple(t for f in model.factors for t in terms_of(f, levels)))


def _weighed(model: Any, levels: dict[str, tuple[str, ...]]) -> forms.Score:
    terms: list[forms.Term] = []
    for factor in model.product.factors:
        weight = float(model.power_of(factor.name))
        if weight:
            terms += [t if weight == 1 else forms.PowerTerm(weight, t) for t in terms_of(factor, levels)]
    return forms.Sum(floats(model.temperature * model.product.log_prior), tuple(terms))


def _log_odds(model: Any, levels: dict[str, tuple[str, ...]]) -> forms.Score:
    return forms.Normalised(forms.Sum(floats(model.weights[0]), tuple(term(p, levels) for p in model.parts)))


def _hyperplanes(model: Any, levels: dict[str, tuple[str, ...]]) -> forms.Score:
    outputs = forms.Sum(floats(model.constant), tuple(term(p, levels) for p in model.parts))
    if model.learner.mode != "pairwise":
        return forms.Clipped(outputs)
    pairs = tuple((int(a), int(b)) for a, b in model.pairs)
    return forms.Duels(outputs, len(model.classes), pairs, model.learner.ties == "votes")


def _normals(model: Any, levels: dict[str, tuple[str, ...]]) -> forms.Score:
    some = tuple(terms_of(model.normal, levels)) if model.normal.names else ()
    return forms.Sum(floats(model.log_prior), some)


def _joint(model: Any, levels: dict[str, tuple[str, ...]]) -> forms.Score:
    return forms.Sum(floats(model.log_prior), tuple(terms_of(model.table, levels)) if model.table.names else ())


def _tree(model: Any, levels: dict[str, tuple[str, ...]]) -> forms.Score:
    axes = grid_axes(model.grid, levels)
    with np.errstate(divide="ignore"):
        tables = tuple(tuple(matrix(np.log(rows)) for rows in table) for table in model.tables)
    order, parents = tuple(map(int, model.order)), tuple(map(int, model.parents))
    name = " & ".join(a.attribute for a in axes)
    return forms.Sum(floats(model.log_prior), (forms.TreeTerm(name, axes, order, parents, tables),) if axes else ())


def _one_dependence(model: Any, levels: dict[str, tuple[str, ...]]) -> forms.Score:
    return forms.OneDependence(
        grid_axes(model.grid, levels),
        tuple(bool(s) for s in model.serves),
        floats(model.log_prior),
        matrix(model.log_alone),
        matrix(model.log_joint_cell),
        tuple(matrix(rows) for rows in model.log_given),
    )


def _mixed(model: Any, levels: dict[str, tuple[str, ...]]) -> forms.Score:
    return _mixture(model, model.beliefs.weight, getattr(model.learner, "temperatures", None), levels)


def _chosen(model: Any, levels: dict[str, tuple[str, ...]]) -> forms.Score:
    return _mixture(model, model.weights, model.temperatures, levels)


def _mixture(
    model: Any, weights: Sequence[float], temperatures: Sequence[float] | None, levels: dict[str, tuple[str, ...]]
) -> forms.Score:
    places = {name: k for k, name in enumerate(model.classes)}
    members = []
    for k, (inner, weight) in enumerate(zip(model.members, weights, strict=True)):
        if weight > 0:
            warmth = 1.0 if temperatures is None else float(temperatures[k])
            theirs = tuple(places.get(name, -1) for name in inner.classes)
            members.append(forms.Member(score_of(inner, levels), float(weight), warmth, theirs))
    return forms.Mixture(len(model.classes), tuple(members))


def _reweighted(model: Any, levels: dict[str, tuple[str, ...]]) -> forms.Score:
    return forms.Shifted(score_of(model.inner, levels), floats(model.log_ratio))


_SCORES: dict[str, Describe] = {
    "Product": _product,
    "Weighed": _weighed,
    "LogOdds": _log_odds,
    "Hyperplanes": _hyperplanes,
    "Normals": _normals,
    "Discriminant": _normals,
    "Joint": _joint,
    "TreeAugmentedModel": _tree,
    "OneDependenceModel": _one_dependence,
    "Mixed": _mixed,
    "Chosen": _chosen,
    "Reweighted": _reweighted,
}
_WHY = {
    "Nearby": "It asks the rows of training, which are not taken along.",
    "Drawn": "It draws a hypothesis for each row by the place of the row in its table; Mixture asks all of them.",
    "Averaged": "It scores every row many times over, once for each value that a missing cell may hold.",
}
