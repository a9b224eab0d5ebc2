"""Other class priors than those of training: how they are given, and the model that believes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from likely.errors import SettingError, nearest, shown
from likely.models.contracts import Model, work_terms
from likely.models.fractions import Quotient, as_written, log_of
from likely.models.posterior import Posterior
from likely.models.prior import TOLERANCE
from likely.models.registry import learner_titles
from likely.models.shapes import shift
from likely.models.working.records import Step, Working
from likely.models.working.working import by_class, multiplied
from likely.table.batch import Batch
from likely.table.labels import label

# A model around another one, which answers otherwise but believes, reads and draws rows as the one inside does.


def wrap(model: Model) -> dict[str, Any]:
    """What a model around this one takes over from it: all but its scores, and what is told of how it was found."""
    return {
        "learner": model.learner,
        "summary": model.summary,
        "notes": model.notes,
        "refuse_unseen": model.refuse_unseen,
        "loss": model.loss,
        "proper": model.proper,
        "generative": model.generative,
        "prior": model.prior,
        "log_prior": model.log_prior,
        "factors": model.factors,
        "factor_powers": model.factor_powers,
        "members": model.members,
        "importance": model.importance,
        "inner": model,
    }


def describer_sentence(model: Model, describer: Model) -> str:
    """The sentence that says whose view of rows is taken, where the model has none of its own."""
    return model.learned.introduce_describer(learner_titles([describer.learner])[0])


# Other class priors than those of training: how they are told, and the model that believes them. Exact fractions.

NewPrior = Mapping[str, object] | str
"""A probability for some of the classes, or "uniform"."""


def prior_of(model: Model) -> tuple[Fraction, ...]:
    """P(class) in the model, exact: its own prior, or for a model without one the shares of the classes in training.

    >>> import likely
    >>> prior_of(likely.fit({"sky": ["sun", "rain", "sun"], "play": ["yes", "no", "yes"]}, target="play"))
    (Fraction(1, 3), Fraction(2, 3))
    """
    if model.prior:
        return tuple(p.value for p in model.prior)
    weights = model.summary.total.fractions()
    whole = sum(weights, Fraction(0))
    return tuple(w / whole if whole else Fraction(1, len(weights)) for w in weights)


def new_prior(classes: tuple[str, ...], given: NewPrior, old: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """The prior that was given; classes that it does not name share the rest in the proportion that they had.

    >>> new_prior(("a", "b", "c"), {"a": 0.4}, (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)))
    (Fraction(2, 5), Fraction(2, 5), Fraction(1, 5))
    """
    if given == "uniform":
        return (Fraction(1, len(classes)),) * len(classes)
    if not isinstance(given, Mapping):
        raise SettingError(f"The prior is {shown(given)}. Say 'uniform', or give classes a probability each.")
    told = {name: _probability(name, value) for name, value in ((_name(k, classes), v) for k, v in given.items())}
    total = sum(told.values(), Fraction(0))
    others = [k for k, name in enumerate(classes) if name not in told]
    if not others and abs(total - 1) > TOLERANCE:
        off = "too little" if total < 1 else "too much"
        raise SettingError(
            f"The prior sums to {float(total):.10g}, which is {float(abs(total - 1)):.10g} {off}. "
            "Correct it, or leave out one class, which then gets the rest."
        )
    if others and total > 1 + Fraction(TOLERANCE):
        raise SettingError(
            f"The prior sums to {float(total):.10g} without {shown(classes[others[0]])}, which is "
            f"{float(total - 1):.10g} too much. Correct it."
        )
    rest, had = max(1 - total, Fraction(0)), sum((old[k] for k in others), Fraction(0))
    if others and rest and not had:
        raise SettingError(
            f"The prior leaves {float(rest):.10g} to {shown(classes[others[0]])}, to which the model gives none. "
            "Give every class a probability."
        )
    whole = total + (rest if others else 0)  # 1, but for rounding of what was given
    return tuple(
        told[name] / whole if name in told else (rest * old[k] / had / whole if rest else Fraction(0))
        for k, name in enumerate(classes)
    )


def _name(key: object, classes: tuple[str, ...]) -> str:
    name = str(label(key))
    if name not in classes:
        raise SettingError(f"The prior names {shown(key)}, which is not a class. {nearest(name, classes)}")
    return name


def _probability(name: str, value: object) -> Fraction:
    wrong = SettingError(f"The prior of {shown(name)} is {shown(value)}. Probabilities lie between 0 and 1.")
    try:
        if isinstance(value, bool) or not isinstance(value, (str, Real)):
            raise wrong
        if isinstance(value, str) and "/" not in value:
            value = float(value)
        number = as_written(value) if isinstance(value, float) else Fraction(value)  # type: ignore[arg-type]
    except (ArithmeticError, TypeError, ValueError):
        raise wrong from None
    if not 0 <= number <= 1:
        raise wrong
    return number


def with_prior(model: Model, given: NewPrior) -> Model:
    """The model under another prior: P(class | row) times new / old prior, normalised. Equal priors change nothing."""
    if not model.proper:
        raise SettingError(
            f"The answers of {model.called(first=False)} are scores, not probabilities, so their prior cannot be "
            "changed. Use a model with probabilities, such as NaiveBayes or Logistic."
        )
    old = prior_of(model)
    new = new_prior(model.classes, given, old)
    for name, before, now in zip(model.classes, old, new, strict=True):
        if now and not before:
            raise SettingError(
                f"The model gives {shown(name)} the prior 0, so no row can be evidence for it and a prior of "
                f"{float(now):.4g} cannot be put in. Learn it with a prior above 0 (prior_pseudo_count, or rows)."
            )
    if new == old:
        return model
    prior = tuple(Quotient(Fraction(n.numerator), Fraction(n.denominator)) for n in new)
    log_ratio = np.array([_log(n / o) if n else -np.inf for n, o in zip(new, old, strict=True)])
    return Model(
        **{**wrap(model), "prior": prior, "log_prior": log_of(prior)},
        score=shift(model.score, log_ratio),
        references=None if model.references is None else model.references.under_prior(model.score, log_ratio),
        factored=model.factored,
        details={"log_ratio": log_ratio},
        work=_work_reweighted,
    )


def _log(ratio: Fraction) -> float:
    """The log of a positive fraction, also of one that no double holds."""
    try:
        if rounded := float(ratio):
            return math.log(rounded)
    except OverflowError:
        pass
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def _work_reweighted(model: Model, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working | None:
    """That of the model inside, its prior replaced, or multiplied by new over old prior where it has no step."""
    inner, classes = model.inner, model.classes
    assert inner is not None
    working = None if model.factored else inner.worked(batch, row, posterior)
    if working is None or working.operator == "+":
        return work_terms(model, batch, row, posterior)
    logs = by_class(classes, model.details["log_ratio"])
    if working.steps[0].name == "" and model.log_prior is not None:
        values = dict(zip(classes, model.prior, strict=True))
        steps = [Step("", None, values, by_class(classes, model.log_prior)), *working.steps[1:]]
    else:
        pairs = zip(model.prior, prior_of(inner), strict=True)
        ratios = {name: Quotient(new.value, old) for name, (new, old) in zip(classes, pairs, strict=True)}
        steps = [*working.steps, Step("prior", None, ratios, logs, title="new P(class) / old P(class)")]
    new = multiplied(classes, steps, working.quantities, posterior)
    return replace(new, tables=working.tables, remarks=working.remarks)
