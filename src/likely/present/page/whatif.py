"""What the page's what-if needs of a model: its portable form, and for each attribute a range and typical values.

Aggregates only: least, greatest, medians, most frequent levels and telling words. Knows no HTML.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from likely.errors import SettingError
from likely.evaluate.attributes.information import attributes
from likely.machinery.arrays import Floats
from likely.models.contracts import Model, has_trait, setting_of
from likely.models.learning import learn_without_rows
from likely.models.loss import Loss
from likely.models.naive.naive import NaiveBayes
from likely.portable.describe import Attribute, is_portable, portable
from likely.portable.writing import form_of, plain
from likely.present.charts.drawing import class_colours, frequent_first
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.table.labels import date_label, number_label

LARGEST = 1_200_000
"""Characters that the what-if may take in a page, which people mail."""
MOST_CLASSES = 200
"""With more classes neither bars nor costs can be seen through."""
MOST_WORDS = 6
"""Words of a typical text."""


def whatif(model: Model) -> str:
    """Everything that the what-if of a page works with, as JSON.

    Where the model cannot be taken along, or is too large, naive Bayes learned from the same sums stands in, and the
    page says so; where that is too large as well, there is none.
    """
    if len(model.classes) > MOST_CLASSES:
        raise SettingError(f"There are {len(model.classes):,} classes, too many to play with (at most {MOST_CLASSES}).")
    name = type(model.learner).__name__
    text = ""
    if is_portable(model):
        text = _whatif_json(model, "")
        if len(text) <= LARGEST:
            return text
    why = f"takes {len(text) / 1e6:.1f} MB" if text else "asks more than a page can hold"
    other = None if has_trait(model.learner, "independent") else _naive_bayes(model)
    if other is not None:
        note = f"{name} {why}, so this is naive Bayes, learned from the same rows. Its answers are not those of {name}."
        held = _whatif_json(other, note)
        if len(held) <= LARGEST:
            return held
    if not text:
        portable(model)  # says why not
    raise SettingError(
        f"The model {why}, too much for a page (at most {LARGEST / 1e6:g} MB). "
        "`likely serve` and `likely explain` take models of any size."
    )


def _naive_bayes(model: Model) -> Model | None:
    """Naive Bayes with its usual settings from the sums of another model; None where it would need the rows."""
    other = learn_without_rows(NaiveBayes(), model.summary.without(model.summary.more))
    return None if other is None else replace(other, loss=model.loss)


def _whatif_json(model: Model, note: str) -> str:
    form = portable(model)
    bits = {a.name: a.bits for a in attributes(model.summary)} if len(model.classes) > 1 else {}
    own = [{"bits": round(bits.get(a.name, 0.0), 9), **_about(model, a)} for a in form.attributes]
    loss = model.loss or Loss.zero_one(model.classes)
    told = {
        "portable": form_of(form),
        "attributes": own,
        "actions": list(loss.actions[:-1] if loss.abstain is not None else loss.actions),
        "costs": [[float(c) for c in row] for row in loss.rows(model.classes)],
        "abstain": None if loss.abstain is None else float(loss.abstain),
        "note": note,
        "first": int(np.argmax(model.summary.total.floats())),
        "prior": _prior_before_powers(model),
        "colours": list(class_colours(model.summary.total.floats().tolist())),
        "order": frequent_first(model.summary.total.floats().tolist()),
        "reserve": setting_of(model.learner, "unseen") == "reserve",
    }
    return json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _prior_before_powers(model: Model) -> list[float | str] | None:
    """Of a product that is raised to powers: log P(class) before that, with which its terms say how rows come about."""
    describer = model.describer
    if describer is model or not (model.factored and describer.generative) or describer.log_prior is None:
        return None
    if not all(model.powers):
        return None  # the form lacks what is left out
    return plain(describer.log_prior)  # type: ignore[no-any-return]


def _about(model: Model, attribute: Attribute) -> dict[str, Any]:
    statistic = model.summary.columns[attribute.name]
    if isinstance(statistic, Counts):
        return {"typical": _levels(statistic, attribute.levels)}
    if not isinstance(statistic, Numbers):
        return {"typical": [_message(model, attribute.name, k) for k in range(len(model.classes))]}
    values, table = statistic.tally()
    if not len(values):
        return {"typical": [None] * len(model.classes), "low": 0.0, "high": 0.0, "inner": [0.0, 0.0], "whole": False}
    low, high = float(values[0]), float(values[-1])
    whole = bool((np.floor(values) == values).all()) and abs(low) < 2**53 and abs(high) < 2**53
    middles = [_median(values, column) for column in table.floats().T]
    typical = [None if m is None else _spelled(m, attribute.kind == "date") for m in middles]
    inner = [float(values[k]) for k in _ends(table.floats().sum(axis=1))]
    return {"typical": typical, "low": low, "high": high, "inner": inner, "whole": whole}


def _levels(counts: Counts, levels: tuple[str, ...]) -> list[str | None]:
    """The most frequent level of each class, the first of equals; None where it has no row."""
    table = counts.table[: len(counts.labels)].floats()
    places = [counts.labels.index[level] for level in levels if level in counts.labels.index]
    if not places:
        return [None] * counts.groups
    named, some = [counts.labels.names[k] for k in places], table[places]
    return [named[int(column.argmax())] if column.max() > 0 else None for column in some.T]


def _ends(weight: Floats) -> list[int]:
    """The places of values between which all but the lowest and the highest hundredth of the rows are."""
    below = np.cumsum(weight)
    return [int(min(k, len(weight) - 1)) for k in np.searchsorted(below, below[-1] * np.array([0.01, 0.99]))]


def _median(values: Floats, weight: Floats) -> float | None:
    """The value with half of the rows below or at it: one that a row has."""
    below = np.cumsum(weight)
    return float(values[np.searchsorted(below, below[-1] / 2)]) if below[-1] > 0 else None


def _message(model: Model, name: str, group: int) -> str | None:
    """A text of a few words that speak most for a class."""
    for factor, power in model.word_speakers(name):
        words = [factor.scores.vocabulary[k] for k in factor.strongest(group, MOST_WORDS)] if power else []
        if words:
            return " ".join(words)
    return None


def _spelled(value: float, date: bool) -> str:
    """A number as a file would spell it, in no more digits than people type."""
    return date_label(value) if date else number_label(value if value.is_integer() else float(f"{value:.6g}"))
