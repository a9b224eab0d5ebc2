"""A model as plain JSON: dicts, lists, texts and numbers. Infinite numbers are the texts "inf" and "-inf".

Each kind of score and term is a dict whose "form" says which one it is; `scoring` and the page's script define what it
adds. The layout has a version: files and scripts that read it are kept.
"""

from __future__ import annotations

import base64
import json
import math
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from likely.models import shapes
from likely.models.shapes import references as completing
from likely.portable.describe import Portable, columns_of, presence_of

VERSION = 4
Form: TypeAlias = dict[str, Any]


def text_of(portable: Portable) -> str:
    """The model as JSON text, which any parser of JSON reads; no number is rounded."""
    return json.dumps(form_of(portable), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def form_of(portable: Portable) -> Form:
    """The model as plain values."""
    attributes = []
    for own in portable.attributes:
        how = own.words
        words = how and _form("Words", shortest=how.shortest, pairs=how.pairs, stop=how.stop, grams=how.grams)
        part = {} if own.part is None else {"part": own.part, "part_of": own.part_of, "names": own.names}
        attributes.append(
            _form(
                "Attribute", name=own.name, kind=own.kind, levels=own.levels, numeric=own.numeric, words=words, **part
            )
        )
    return _form(
        "Portable",
        classes=portable.classes,
        attributes=attributes,
        missing=portable.missing,
        score=_score(portable.score),
        references=None if portable.references is None else _references(portable.references, portable),
        learner=portable.learner,
        target=portable.target,
        proper=portable.proper,
        generative=portable.generative,
        refuse_unseen=portable.refuse_unseen,
        version=VERSION,
        **({"origin": dict(portable.origin)} if portable.origin else {}),
    )


def plain(value: Any) -> Any:
    """Arrays and tuples as lists, infinite numbers as texts.

    >>> plain(np.array([0.0, -np.inf]))
    [0.0, '-inf']
    """
    if isinstance(value, np.ndarray):
        listed = value.tolist()
        return listed if value.dtype.kind != "f" or np.isfinite(value).all() else plain(listed)
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(float(value))
    return value


def _form(kind: str, /, **own: Any) -> Form:
    return {"form": kind, **{name: plain(value) for name, value in own.items()}}


def _references(references: shapes.References, portable: Portable) -> Form:
    """Rows that stand for the table; their codes as bytes in base64."""
    values = []
    for own, axis in zip(references.values, references.axes, strict=True):
        index = {level: k for k, level in enumerate(portable.attribute(axis.name).levels)}
        values.append([index.get(level, -1) for level in own] if axis.edges is None else own)
    return _form(
        "References",
        axes=[_axis(axis) for axis in references.axes],
        values=values,
        places=references.places,
        relevance=references.relevance,
        rows=base64.b64encode(references.codes.tobytes()).decode(),
        weights=references.weights,
        shares=references.shares,
        usual=references.usual.astype(int),
        shift=references.shift,
        width=completing.WIDTH,
        far=references.far,
        least=min(completing.LEAST_ALIKE, len(references.codes)),
        steps=completing.STEPS,
        unit=completing.UNIT,
        completions=completing.COMPLETIONS,
    )


def _score(score: shapes.Score) -> Form:
    match score:
        case shapes.Sum():
            return _sum(score)
        case shapes.Normalised(inner):
            return _form("Normalised", inner=_score(inner))
        case shapes.Shifted(inner, by):
            return _form("Shifted", inner=_score(inner), by=by)
        case shapes.Clipped(outputs):
            return _form("Clipped", outputs=_sum(outputs))
        case shapes.Duels(outputs, pairs, votes, size):
            duels = [(int(a), int(b)) for a, b in pairs]
            return _form("Duels", outputs=_sum(outputs), size=size, pairs=duels, votes=votes)
        case shapes.Mixture(members, classes):
            places = {name: k for k, name in enumerate(classes)}
            each = [
                _form(
                    "Member",
                    inner=_score(member.inner),
                    weight=member.weight,
                    temperature=member.temperature,
                    classes=[places.get(name, -1) for name in member.classes],
                )
                for member in members
            ]
            return _form("Mixture", size=len(classes), members=each)
        case shapes.OneDependence():
            return _form(
                "OneDependence",
                axes=[_axis(axis) for axis in score.axes],
                serves=score.serves != 0,
                prior=score.prior,
                alone=score.alone,
                joint=score.joint,
                given=score.given,
            )
    raise AssertionError(score)


def _sum(score: shapes.Sum) -> Form:
    terms = []
    for term, power in score.powered:
        own = _terms(term)
        terms += own if power == 1 else [_form("PowerTerm", weight=power, inner=form) for form in own]
    return _form("Sum", constant=score.constant, terms=terms)


def _terms(term: Any) -> list[Form]:
    """What a term adds: one form, or for a block whose gaps are evidence one more for each attribute."""
    if not isinstance(term, shapes.Block):
        return [_term(term)]
    assert isinstance(term.joint, shapes.MultivariateNormal)
    gaps = [
        _form("PresenceTerm", name=term.name, attribute=attribute, known=known, missing=gone)
        for attribute, known, gone in presence_of(term)
    ]
    return [_normal(term.name, term.joint), *gaps]


def _term(term: Any) -> Form:
    match term:
        case shapes.LevelTable(name, _, table):
            return _form("LevelTerm", name=name, scores=table[:-2], unseen=table[-2], missing=table[-1])
        case shapes.BinTable(name, starts, table):
            return _form("BinTerm", name=name, starts=starts, scores=table[: len(starts) + 1], missing=table[-1])
        case shapes.Density():
            return _density(term)
        case shapes.WordWeights():
            how, words = term.settings, term.scores.vocabulary
            return _form(
                "TextTerm",
                name=term.name,
                words=[words[k] for k in range(len(words))],
                weights=term.scores.weights,
                base=term.base,
                damping="binary" if how.model == "bernoulli" else how.damping,
                scale=1.0 if how.scale == "none" else float(how.scale),
                length=bool(how.length),
            )
        case shapes.Slope():
            unit = _unit(term.standard, term.reach)
            return _form(
                "SlopeTerm", name=term.name, unit=unit, weights=term.weights, known=term.known, missing=term.absent
            )
        case shapes.Curve():
            units = [_unit(unit, shapes.REACH) for unit in term.units]
            ends = {"weights": term.weights, "known": term.known, "missing": term.absent}
            return _form("CurveTerm", name=term.name, at=int(term.at), units=units, **ends)
        case shapes.MultivariateNormal():
            return _normal(shapes.line_name(term), term)
        case shapes.CellTable():
            return _form(
                "TableTerm",
                name=term.name,
                axes=[_axis(axis) for axis in term.axes],
                cells=term.codes,
                counts=term.counts,
                extra=term.extra,
                log_extra=term.log_extra,
                log_total=term.log_totals,
            )
        case shapes.Tree():
            with np.errstate(divide="ignore"):
                tables = [np.log(table) for table in term.tables]
            axes = [_axis(axis) for axis in term.axes]
            named = " & ".join(term.names)
            return _form("TreeTerm", name=named, axes=axes, order=term.order, parents=term.parents, tables=tables)
        case shapes.PairTable():
            axes = [_axis(axis) for axis in term.axes]
            return _form("PairTerm", name=term.name, axes=axes, table=columns_of(term))
        case shapes.TreeSum():
            return _form(
                "TreesTerm",
                name=term.name,
                axes=[_axis(axis) for axis in term.axes],
                roots=term.roots,
                axis=term.axis,
                below=term.below,
                turns=[term.turns(node) for node in range(len(term.axis))],
                values=columns_of(term),
            )
    raise AssertionError(term)


def _density(term: shapes.Density) -> Form:
    normal, kernels = term.normal, term.kernels
    if kernels is None:
        own = {"rate": normal.rate, "farthest": normal.farthest, "peak": normal.peak, "missing": normal.absent}
        return _form("NormalTerm", name=term.name, mean=normal.mean, deviation=normal.deviation, **own)
    classes = [
        dict(zip(kernels.points[a:b].tolist(), kernels.weights[a:b].tolist(), strict=True))
        for a, b in pairwise(kernels.starts.tolist())
    ]
    centres = sorted({x for part in classes for x in part})
    weights = [[part.get(x, 0.0) for x in centres] for part in classes]
    own = {"rate": kernels.rate, "farthest": kernels.farthest, "peak": kernels.peak, "missing": normal.absent}
    own |= {} if kernels.floor is None else {"floor": kernels.floor}
    return _form("KernelTerm", name=term.name, centres=centres, weights=weights, width=kernels.bandwidth, **own)


def _unit(unit: shapes.Standard, farthest: float) -> Form:
    own = {"center": float(unit.center), "rest": float(unit.rest), "spread": float(unit.spread)}
    return _form("Unit", attribute=unit.name, shift=int(unit.shift), **own, farthest=farthest)


def _axis(axis: shapes.Axis) -> Form:
    return _form(
        "Axis",
        attribute=axis.name,
        size=axis.size,
        codes=axis.groups,
        starts=() if axis.edges is None else axis.edges,
        unseen=axis.unseen,
        missing=axis.missing,
    )


def _normal(name: str, normal: shapes.MultivariateNormal) -> Form:
    whole = normal.whitened(np.arange(len(normal.names)))
    bounds: dict[str, Any] = {} if normal.most == math.inf else {"most": normal.most}
    bounds |= {} if normal.ends is None else {"ends": normal.ends}
    return _form(
        "CovarianceTerm",
        **bounds,
        name=name,
        attributes=normal.names,
        mean=normal.mean,
        deviation=normal.deviation,
        farthest=shapes.limit_distances(normal.deviation),
        correlation=normal.correlation,
        least=normal.least,
        whitening=[whitening for whitening, _ in whole],
        peak=[-volume for _, volume in whole],
        pooled=all(len(part) > 1 and bool((part == part[0]).all()) for part in (normal.deviation, normal.correlation)),
    )
