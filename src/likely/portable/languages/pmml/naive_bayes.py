"""Naive Bayes of levels, normal densities and bins, as PMML has it. Knows no model, only its portable form.

PMML counts; where a probability is no count, it is written as its share of one row. A missing value and one that
training did not have are left out, as PMML says they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.etree import ElementTree as xml

from likely.errors import SettingError, shown
from likely.portable import forms
from likely.portable.forms import Portable, Scores
from likely.portable.languages.flatten import Flat
from likely.portable.languages.pmml.parts import add, add_output, add_schema, as_text, dictionary


def add_naive_bayes(root: xml.Element, portable: Portable, found: Flat) -> None:
    """Everything but the header."""
    for _, term in found.terms:
        _check(term, portable)
    assert portable.target is not None
    used = [portable.attribute(term.name) for _, term in found.terms]
    dictionary(root, portable, used)
    model = add(root, "NaiveBayesModel", modelName="likely", functionName="classification", threshold="0")
    add_schema(model, portable, used)
    add_output(model, portable)
    inputs = add(model, "BayesInputs")
    for _, term in found.terms:
        _input(inputs, portable, term)
    ends = add(model, "BayesOutput", fieldName=as_text(portable.target))
    _counts(ends, portable.classes, found.constant)


def _check(term: forms.Term, portable: Portable) -> None:
    name = shown(term.name, 40)
    assert isinstance(term, (forms.LevelTerm, forms.BinTerm, forms.NormalTerm))
    if any(term.missing):
        raise SettingError(
            f"PMML leaves missing values out, but that {name} is missing is evidence to this model. Learn it with "
            "missing='skip' (--missing-as skip)."
        )
    if isinstance(term, forms.NormalTerm):
        return
    if isinstance(term, forms.LevelTerm) and any(term.unseen):
        raise SettingError(
            f"PMML leaves values out that training did not have, but this model keeps room for them in {name}. Learn "
            "it with unseen='skip' (--unseen skip)."
        )
    for c in range(len(portable.classes)):
        whole = math.fsum(math.exp(row[c]) for row in term.scores)
        if term.scores and not math.isclose(whole, 1.0, rel_tol=1e-9):
            raise SettingError(
                f"The probabilities of the values of {name} sum to {whole:.6g} in class "
                f"{shown(portable.classes[c], 40)}, and PMML divides counts by their sum. Export the model to python."
            )


def _counts(parent: xml.Element, classes: Sequence[str], logs: Scores) -> None:
    counts = add(parent, "TargetValueCounts")
    for name, log in zip(classes, logs, strict=True):
        add(counts, "TargetValueCount", value=name, count=repr(math.exp(log)))


def _input(inputs: xml.Element, portable: Portable, term: forms.Term) -> None:
    own = add(inputs, "BayesInput", fieldName=term.name)
    match term:
        case forms.LevelTerm(name, scores, _, _):
            for level, row in zip(portable.attribute(name).levels, scores, strict=True):
                _counts(add(own, "PairCounts", value=level), portable.classes, row)
        case forms.BinTerm(name, starts, scores, _):
            field = add(own, "DerivedField", name=f"bin of {name}", optype="categorical", dataType="string")
            cut = add(field, "Discretize", field=name)
            for k in range(len(starts) + 1):
                low: dict[str, str] = {"leftMargin": repr(starts[k - 1])} if k else {}
                high: dict[str, str] = {"rightMargin": repr(starts[k])} if k < len(starts) else {}
                each = add(cut, "DiscretizeBin", binValue=str(k))
                add(each, "Interval", closure="closedOpen", **low, **high)
            for k, row in enumerate(scores):
                _counts(add(own, "PairCounts", value=str(k)), portable.classes, row)
        case forms.NormalTerm(_, mean, deviation, _, _, _, _):
            stats = add(own, "TargetValueStats")
            for label, m, d in zip(portable.classes, mean, deviation, strict=True):
                each = add(stats, "TargetValueStat", value=label)
                add(each, "GaussianDistribution", mean=repr(m), variance=repr(_square(d, term.name)))


def _square(deviation: float, name: str) -> float:
    variance = deviation * deviation
    if not 0 < variance < math.inf:
        raise SettingError(f"The variance of {shown(name, 40)} is beyond a double, which PMML needs. Scale the column.")
    return variance
