"""A model as PMML 4.4: naive Bayes as such, any other sum of levels, bins, pairs and trees as a regression.

Knows no model, only its portable form.
"""

from __future__ import annotations

from xml.etree import ElementTree as xml

from likely.errors import SettingError
from likely.portable.forms import Portable
from likely.portable.languages.flatten import flatten
from likely.portable.languages.pmml import naive_bayes, sums
from likely.portable.languages.pmml.parts import NAMESPACE, add


def to_pmml(portable: Portable) -> str:
    """The text of the XML file."""
    found = flatten(portable, "PMML", (*naive_bayes.ABLE, *sums.ABLE))
    if found.clipped or portable.target is None or not found.terms:
        raise SettingError(
            "PMML says naive Bayes and sums of what attributes say, and this model is none. Export it to python, which "
            "says every model."
        )
    counted = portable.generative and all(weight == 1 for weight, _ in found.terms)
    root = xml.Element("PMML", xmlns=NAMESPACE, version="4.4")
    add(add(root, "Header"), "Application", name="likely")
    if counted and all(isinstance(term, naive_bayes.ABLE) for _, term in found.terms):
        naive_bayes.add_naive_bayes(root, portable, found)
        xml.indent(root)
    else:
        sums.Sums(portable, flatten(portable, "PMML", sums.ABLE)).fill(root)
        xml.indent(root, space="")  # trees are deep, and blanks before their nodes would be most of the file
    first = xml.tostring(xml.Element("x"), encoding="unicode", xml_declaration=True).split("\n")[0]
    text = xml.tostring(root, encoding="unicode", xml_declaration=True)
    return text.replace(first, '<?xml version="1.0" encoding="UTF-8"?>') + "\n"
