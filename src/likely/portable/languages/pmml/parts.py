"""Pieces of a PMML file: the dictionary of fields, what a model reads and gives back, texts that XML can hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from xml.etree import ElementTree as xml

from likely.errors import SettingError, shown
from likely.portable.forms import Attribute, Portable

NAMESPACE = "http://www.dmg.org/PMML-4_4"
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def add(parent: xml.Element, tag: str, **attributes: str) -> xml.Element:
    """One more element inside another."""
    return xml.SubElement(parent, tag, attributes)


def as_text(value: str) -> str:
    """Data as XML can hold it; what it cannot is refused."""
    if _UNWRITABLE.search(value):
        raise SettingError(f"XML cannot hold the text {shown(value)}. Rename it before you fit the model.")
    return value


def add_schema(
    model: xml.Element,
    portable: Portable,
    used: Sequence[Attribute],
    as_is: Collection[str] = (),
    target: bool = True,
) -> xml.Element:
    """What a model reads. A value that training did not have counts as missing, but for attributes in `as_is`."""
    schema = add(model, "MiningSchema")
    if target:
        assert portable.target is not None
        add(schema, "MiningField", name=as_text(portable.target), usageType="target")
    for attribute in used:
        how = "asIs" if attribute.name in as_is else "asMissing"
        add(schema, "MiningField", name=as_text(attribute.name), invalidValueTreatment=how)
    return schema


def add_output(model: xml.Element, portable: Portable) -> None:
    """The class and the probability of each class."""
    output = add(model, "Output")
    kinds = {"optype": "categorical", "dataType": "string"}
    add(output, "OutputField", name="prediction", feature="predictedValue", **kinds)
    for name in portable.classes:
        chance = {"feature": "probability", "value": as_text(name), "optype": "continuous", "dataType": "double"}
        add(output, "OutputField", name=f"p({as_text(name)})", **chance)


def dictionary(root: xml.Element, portable: Portable, used: Sequence[Attribute]) -> None:
    """The fields that rows have."""
    whole = add(root, "DataDictionary", numberOfFields=str(len(used) + 1))
    assert portable.target is not None
    for attribute in used:
        numeric = attribute.kind != "level"
        kinds = (
            {"optype": "continuous", "dataType": "double"}
            if numeric
            else {"optype": "categorical", "dataType": "string"}
        )
        field = add(whole, "DataField", name=as_text(attribute.name), **kinds)
        for level in attribute.levels:
            add(field, "Value", value=as_text(level))
        if not numeric:
            for token in portable.missing:
                if token not in attribute.levels:
                    add(field, "Value", value=as_text(token), property="missing")
    target = add(whole, "DataField", name=as_text(portable.target), optype="categorical", dataType="string")
    for name in portable.classes:
        add(target, "Value", value=as_text(name))
