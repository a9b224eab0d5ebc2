"""How good a model is that was just made, by its answers to rows that were held out meanwhile: no row is swept again.

`fit` of the front door is that of apply/fitting.py, with models that are judged when they are saved or asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce, wraps
from operator import add
from typing import TYPE_CHECKING, ParamSpec

import numpy as np

from likely.apply import fitting
from likely.evaluate.scores.scores import Scorer
from likely.machinery.threads import in_order
from likely.models.contracts import Model
from likely.models.judgement import Judgement, Measure, Origin
from likely.models.model import numbered
from likely.models.shapes.guarantee import Guarantee
from likely.table.batch import Codes
from likely.table.source import Source

if TYPE_CHECKING:
    from likely.table.arrow import ArrowBatch

Given = ParamSpec("Given")
OWN = "learner"


def judge(model: Model) -> Judgement | None:
    """How a model answered the rows that were held out while it was made; None where none were.

    >>> import likely
    >>> table = {"x": [float(k % 10) for k in range(200)], "y": ["a" if k % 10 < 5 else "b" for k in range(200)]}
    >>> judge(likely.fit(table, "y")).accuracy.value
    1.0
    """
    from likely.evaluate.cross_fit import cross_fit
    from likely.evaluate.crossval.validate import Validation, with_answers
    from likely.evaluate.scores.ranking import MOST_RANKED, calibrations, positive_class, ranking

    answers, fitted = model.held_out_answers, cross_fit(model)
    if answers is None and fitted is not None:
        answers = fitted.answers()
    if answers is None or not len(answers.truth):
        return None
    found = with_answers(Validation(model.summary, {}, {}, []), OWN, replace(answers, beside={}), None)
    bounds, scorer, rows = found.bounds(OWN), found.scorers[OWN], found.gathered[OWN]
    guessing, of, few = scorer.always_guessing(), positive_class(None, model.summary), len(found.classes) <= MOST_RANKED
    curve = calibrations(rows, of, each=False)[0] if few else None
    hit = rows.truth == found.classes.index(of)
    ranked = few and 0 < rows.weight[hit].sum() < rows.weight.sum()
    odds, by = rows.log_odds[:, found.classes.index(of)], found.design_effect(OWN)
    ranks = ranking(odds, hit, rows.weight, of, by) if ranked else None
    assert guessing.always is not None
    return Judgement(
        version=installed_version(),
        rows=scorer.read().rows,
        learned=round(answers.learned),
        parts=answers.folds,
        accuracy=bounds.accuracy,
        log_loss=bounds.log_loss,
        brier=bounds.brier,
        guess=found.classes[guessing.always],
        guessing=guessing.read().accuracy,
        of=of,
        auc=Measure(None) if ranks is None else ranks.roc.auc,
        calibration_of=None if curve is None else curve.of,
        calibration_error=None if curve is None else curve.error,
        calibration=tuple(
            (b.probability, b.share.value or 0.0, b.share.low or 0.0, b.share.high or 0.0, b.weight)
            for b in (() if curve is None else curve.bins)
        ),
        roc=() if ranks is None else ranks.roc.points,
        gain=() if ranks is None else tuple((row.share, row.found) for row in ranks.lift.rows),
        subgroups=found.by_subgroup(OWN, of),
        guarantees=(
            Guarantee.of(np.exp(answers.logs), answers.truth, answers.weight, answers.squares),
            *(() if fitted is None else fitted.partly()),
        ),
    )


def score_rows(model: Model, source: Source) -> Scorer:
    """How a model answers the rows of a table that have a class and a weight: of its training rows, its training error.

    >>> import likely
    >>> from likely.table.open import open_source
    >>> table = {"x": ["a", "a", "a", "b"], "y": ["p", "p", "q", "q"]}
    >>> score_rows(likely.fit(table, "y", likely.NaiveBayes()), open_source(table)).read().accuracy
    0.75
    """
    encoder = replace(model.encoder(), schema=model.schema, strays={}, unseen={}, absent=set())

    def score(item: tuple[int, ArrowBatch]) -> Scorer:
        scorer, batch = Scorer(len(model.classes)), encoder.fresh().encode(item[1], item[0])
        assert isinstance(batch.target, Codes)
        counted = (batch.target.codes >= 0) & (True if batch.weight is None else batch.weight > 0)
        batch = batch.take(np.flatnonzero(counted))
        assert isinstance(batch.target, Codes)
        scorer.update(model.log_joint(batch), batch.target.codes, batch.weight, model.classes)
        return scorer

    return reduce(add, in_order(numbered(source.batches(model.columns_in(source))), score))


def installed_version() -> str:
    """The version of likely; empty where it runs from sources that nobody installed."""
    from importlib.metadata import PackageNotFoundError, version  # it takes longer than to show a model

    try:
        return version("likely")
    except PackageNotFoundError:
        return ""


def with_judge(model: Model) -> Model:
    """The model, which is judged when it is saved, or when its judgement is asked for."""
    return model if model.held_out_answers is None and model.kept_rows is None else replace(model, judge=judge)


def keep_judge(make: Callable[Given, Model]) -> Callable[Given, Model]:
    """The same way to make a model, with the judge beside it."""

    @wraps(make)
    def made(*given: Given.args, **named: Given.kwargs) -> Model:
        return with_judge(make(*given, **named))

    return made


def sign(model: Model, origin: Origin) -> Model:
    """The model with what its judgement is from; where there is no judgement, the model as it is."""
    found = model.judgement
    return model if found is None else replace(model, judged=replace(found, origin=origin))


fit = keep_judge(fitting.fit)
