"""A model as PMML 4.4: naive Bayes as such, any other sum of levels, bins, pairs and trees as a regression.

Knows no model, only its portable form.
"""

from __future__ import annotations

from xml.etree import ElementTree as xml

from likely.portable.forms import Portable
from likely.portable.languages.flatten import flatten, is_naive_bayes
from likely.portable.languages.pmml import naive_bayes, sums
from likely.portable.languages.pmml.parts import NAMESPACE, add


def to_pmml(portable: Portable) -> str:
    """The text of the XML file."""
    found = flatten(portable, "PMML")
    root = xml.Element("PMML", xmlns=NAMESPACE, version="4.4")
    add(add(root, "Header"), "Application", name="likely")
    if is_naive_bayes(portable, found):
        naive_bayes.add_naive_bayes(root, portable, found)
        xml.indent(root)
    else:
        sums.Sums(portable, found).fill(root)
        xml.indent(root, space="")  # trees are deep, and blanks before their nodes would be most of the file
    first = xml.tostring(xml.Element("x"), encoding="unicode", xml_declaration=True).split("\n")[0]
    text = xml.tostring(root, encoding="unicode", xml_declaration=True)
    return text.replace(first, '<?xml version="1.0" encoding="UTF-8"?>') + "\n"
