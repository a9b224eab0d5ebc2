"""A model as PMML 4.4: naive Bayes of levels, normal densities and bins. Knows no model, only its portable form.

PMML counts; where a probability is no count, it is written as its share of one row. A missing value and one that
training did not have are left out, as PMML says they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from xml.etree import ElementTree as xml

from likely.errors import SettingError, shown
from likely.portable import forms
from likely.portable.forms import Attribute, Portable, Scores
from likely.portable.languages.flatten import flatten

ABLE = (forms.LevelTerm, forms.BinTerm, forms.NormalTerm)
NAMESPACE = "http://www.dmg.org/PMML-4_4"
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BLANK = re.compile("[\t\n\r]")


def to_pmml(portable: Portable) -> str:
    """The text of the XML file."""
    found = flatten(portable, "PMML", ABLE)
    if found.clipped or not portable.generative or portable.target is None or any(w != 1 for w, _ in found.terms):
        raise SettingError(
            "PMML says naive Bayes by counts and normal densities, and this model is none. Export it to python, which "
            "says every model."
        )
    for _, term in found.terms:
        _check(term, portable)
    root = xml.Element("PMML", xmlns=NAMESPACE, version="4.4")
    _sub(_sub(root, "Header"), "Application", name="likely")
    used = [portable.attribute(term.name) for _, term in found.terms]
    _dictionary(root, portable, used)
    model = _sub(root, "NaiveBayesModel", modelName="likely", functionName="classification", threshold="0")
    schema = _sub(model, "MiningSchema")
    _sub(schema, "MiningField", name=_text(portable.target), usageType="target")
    for attribute in used:
        _sub(schema, "MiningField", name=_text(attribute.name), invalidValueTreatment="asMissing")
    output = _sub(model, "Output")
    kinds = {"optype": "categorical", "dataType": "string"}
    _sub(output, "OutputField", name="prediction", feature="predictedValue", **kinds)
    for name in portable.classes:
        chance = {"feature": "probability", "value": _text(name), "optype": "continuous", "dataType": "double"}
        _sub(output, "OutputField", name=f"p({_text(name)})", **chance)
    inputs = _sub(model, "BayesInputs")
    for _, term in found.terms:
        _input(inputs, portable, term)
    ends = _sub(model, "BayesOutput", fieldName=_text(portable.target))
    _counts(ends, portable.classes, found.constant)
    xml.indent(root)
    return (
        xml.tostring(root, encoding="unicode", xml_declaration=True).replace(
            xml.tostring(xml.Element("x"), encoding="unicode", xml_declaration=True).split("\n")[0],
            '<?xml version="1.0" encoding="UTF-8"?>',
        )
        + "\n"
    )


def _sub(parent: xml.Element, tag: str, **attributes: str) -> xml.Element:
    """One more element inside another."""
    return xml.SubElement(parent, tag, attributes)


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


def _text(value: str) -> str:
    """Data as XML can hold it; what it cannot is refused."""
    if _UNWRITABLE.search(value):
        raise SettingError(f"XML cannot hold the text {shown(value)}. Rename it before you fit the model.")
    return value


def _dictionary(root: xml.Element, portable: Portable, used: Sequence[Attribute]) -> None:
    whole = _sub(root, "DataDictionary", numberOfFields=str(len(used) + 1))
    assert portable.target is not None
    for attribute in used:
        numeric = attribute.kind != "level"
        kinds = (
            {"optype": "continuous", "dataType": "double"}
            if numeric
            else {"optype": "categorical", "dataType": "string"}
        )
        field = _sub(whole, "DataField", name=_text(attribute.name), **kinds)
        for level in attribute.levels:
            _sub(field, "Value", value=_text(level))
        if not numeric:
            for token in portable.missing:
                if token not in attribute.levels:
                    _sub(field, "Value", value=_text(token), property="missing")
    target = _sub(whole, "DataField", name=_text(portable.target), optype="categorical", dataType="string")
    for name in portable.classes:
        _sub(target, "Value", value=_text(name))


def _counts(parent: xml.Element, classes: Sequence[str], logs: Scores) -> None:
    counts = _sub(parent, "TargetValueCounts")
    for name, log in zip(classes, logs, strict=True):
        _sub(counts, "TargetValueCount", value=name, count=repr(math.exp(log)))


def _input(inputs: xml.Element, portable: Portable, term: forms.Term) -> None:
    own = _sub(inputs, "BayesInput", fieldName=term.name)
    match term:
        case forms.LevelTerm(name, scores, _, _):
            for level, row in zip(portable.attribute(name).levels, scores, strict=True):
                _counts(_sub(own, "PairCounts", value=level), portable.classes, row)
        case forms.BinTerm(name, starts, scores, _):
            field = _sub(own, "DerivedField", name=f"bin of {name}", optype="categorical", dataType="string")
            cut = _sub(field, "Discretize", field=name)
            for k in range(len(starts) + 1):
                low: dict[str, str] = {"leftMargin": repr(starts[k - 1])} if k else {}
                high: dict[str, str] = {"rightMargin": repr(starts[k])} if k < len(starts) else {}
                each = _sub(cut, "DiscretizeBin", binValue=str(k))
                _sub(each, "Interval", closure="closedOpen", **low, **high)
            for k, row in enumerate(scores):
                _counts(_sub(own, "PairCounts", value=str(k)), portable.classes, row)
        case forms.NormalTerm(_, mean, deviation, _, _, _, _):
            stats = _sub(own, "TargetValueStats")
            for label, m, d in zip(portable.classes, mean, deviation, strict=True):
                each = _sub(stats, "TargetValueStat", value=label)
                _sub(each, "GaussianDistribution", mean=repr(m), variance=repr(_square(d, term.name)))


def _square(deviation: float, name: str) -> float:
    variance = deviation * deviation
    if not 0 < variance < math.inf:
        raise SettingError(f"The variance of {shown(name, 40)} is beyond a double, which PMML needs. Scale the column.")
    return variance
