"""A model as PMML 4.4: naive Bayes as such, any other sum as a regression model."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeAlias
from xml.etree import ElementTree as xml

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Floats
from likely.models import shapes
from likely.models.shapes import Axis, PairTable, TreeSum
from likely.portable.describe import Attribute, Portable, columns_of
from likely.portable.languages.flatten import COMPLETE_ROWS, Flat, flatten, is_naive_bayes

# Pieces of a PMML file: the dictionary of fields, what a model reads and gives back, texts that XML can hold.

Scores: TypeAlias = Sequence[float]
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


# Naive Bayes of levels, normal densities and bins, as PMML has it. Knows no model, only its portable form.


def add_naive_bayes(root: xml.Element, portable: Portable, found: Flat) -> None:
    """Everything but the header."""
    for _, term in found.terms:
        _check_factor(term, portable)
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


def _check_factor(term: Any, portable: Portable) -> None:
    name, missing = shown(term.name, 40), term.absent if isinstance(term, shapes.Gaussian) else term.log_table[-1]
    if any(missing):
        raise SettingError(
            f"PMML leaves missing values out, but that {name} is missing is evidence to this model. Learn it with "
            "missing='skip' (--missing-as skip)."
        )
    if isinstance(term, shapes.Gaussian):
        return
    if isinstance(term, shapes.LevelTable) and any(term.log_table[-2]):
        raise SettingError(
            f"PMML leaves values out that training did not have, but this model keeps room for them in {name}. Learn "
            "it with unseen='skip' (--unseen skip)."
        )
    scores = _scores(term)
    for c in range(len(portable.classes)):
        whole = math.fsum(math.exp(row[c]) for row in scores)
        if len(scores) and not math.isclose(whole, 1.0, rel_tol=1e-9):
            raise SettingError(
                f"The probabilities of the values of {name} sum to {whole:.6g} in class "
                f"{shown(portable.classes[c], 40)}, and PMML divides counts by their sum. Export the model to python."
            )


def _scores(term: shapes.LevelTable | shapes.BinTable) -> Floats:
    """The rows of a table for its levels or bins, without those for other cells."""
    return term.log_table[:-2] if isinstance(term, shapes.LevelTable) else term.log_table[: len(term.starts) + 1]


def _counts(parent: xml.Element, classes: Sequence[str], logs: Iterable[float]) -> None:
    counts = add(parent, "TargetValueCounts")
    for name, log in zip(classes, logs, strict=True):
        add(counts, "TargetValueCount", value=name, count=repr(math.exp(log)))


def _input(inputs: xml.Element, portable: Portable, term: Any) -> None:
    own = add(inputs, "BayesInput", fieldName=term.name)
    match term:
        case shapes.LevelTable(name):
            for level, row in zip(portable.attribute(name).levels, _scores(term), strict=True):
                _counts(add(own, "PairCounts", value=level), portable.classes, row)
        case shapes.BinTable(name, starts):
            field = add(own, "DerivedField", name=f"bin of {name}", optype="categorical", dataType="string")
            _discretize(field, name, starts, "closedOpen")
            for k, row in enumerate(_scores(term)):
                _counts(add(own, "PairCounts", value=str(k)), portable.classes, row)
        case shapes.Gaussian():
            stats = add(own, "TargetValueStats")
            for label, m, d in zip(portable.classes, term.mean.tolist(), term.deviation.tolist(), strict=True):
                each = add(stats, "TargetValueStat", value=label)
                add(each, "GaussianDistribution", mean=repr(m), variance=repr(_square(d, term.name)))


def _square(deviation: float, name: str) -> float:
    variance = deviation * deviation
    if not 0 < variance < math.inf:
        raise SettingError(f"The variance of {shown(name, 40)} is beyond a double, which PMML needs. Scale the column.")
    return variance


# A sum of evidence as PMML: a RegressionModel with a softmax over levels, bins and tables of pairs; trees before
# it.

CODE = {"optype": "continuous", "dataType": "integer"}
NUMBER = {"optype": "continuous", "dataType": "double"}
MOST_SHIFT = 1000
"""Powers of two by which numbers are scaled; beyond, the power itself is no double."""
GONE, NEW = "missing", "unseen"
"""What a missing cell is called where being missing is evidence, and a level that training did not have."""


class Sums:
    """One file: fields that are derived from cells, trees if there are any, and the regression."""

    def __init__(self, portable: Portable, flat: Flat) -> None:
        self.form, self.flat = portable, flat
        self.fields: dict[tuple[object, ...], str] = {}
        """What axes are called; equal ones share a field."""
        self.used = [a for a in portable.attributes if a.name in self._names()]
        for _, term in flat.terms:
            _check_summand(term)
        if not all(map(math.isfinite, flat.constant)):
            raise SettingError("PMML cannot say that a class is impossible. Fit the model without classes of no rows.")
        # Only where it matters is an unseen value told from a missing one.
        self.as_is = {name for _, term in flat.terms for name in _told_apart(term)}

    def _names(self) -> set[str]:
        return {name for _, term in self.flat.terms for name in term.names}

    def fill(self, root: xml.Element) -> None:
        """Everything but the header."""
        dictionary(root, self.form, self.used)
        derived = add(root, "TransformationDictionary")
        trees = [(w, t) for w, t in self.flat.terms if isinstance(t, TreeSum)]
        if not trees:
            model = add(root, "RegressionModel", modelName="likely", **_kind("classification"))
            self._regression(model, derived, [])
        else:
            model = add(root, "MiningModel", modelName="likely", functionName="classification")
            add_schema(model, self.form, self.used, self.as_is)
            add_output(model, self.form)
            chain = add(model, "Segmentation", multipleModelMethod="modelChain")
            sums = []
            # Of two classes that mirror each other everywhere, the trees of the second serve both.
            count = 1 if all(len(columns_of(t)) == 1 for _, t in trees) else len(self.form.classes)
            for c in range(count):
                segment = add(chain, "Segment", id=f"trees {c + 1}")
                add(segment, "True")
                sums.append(f"sum of trees {c + 1}")
                self._forest(segment, derived, trees, c if count > 1 else 1, sums[-1])
            last = add(chain, "Segment", id="regression")
            add(last, "True")
            self._regression(add(last, "RegressionModel", **_kind("classification")), derived, sums)
        if not len(derived):
            root.remove(derived)

    # -- the regression ---------------------------------------------------------------------------------------------

    def _regression(self, model: xml.Element, derived: xml.Element, sums: Sequence[str]) -> None:
        schema = add_schema(model, self.form, self.used, self.as_is)
        for name in sums:
            add(schema, "MiningField", name=name)
        add_output(model, self.form)
        tables = [
            xml.Element("RegressionTable", intercept=repr(score), targetCategory=as_text(name))
            for name, score in zip(self.form.classes, self.flat.constant, strict=True)
        ]
        numeric: list[tuple[str, Scores]] = [*self._of_trees(sums)]
        categories: list[tuple[str, str, Scores]] = []
        for weight, term in self.flat.terms:
            if isinstance(term, PairTable):
                numeric += self._pair(derived, weight, term)
            elif isinstance(term, shapes.Slope):
                numeric += self._slope(derived, weight, term)
            elif isinstance(term, (shapes.LevelTable, shapes.BinTable)):
                field, values = self._single(derived, term)
                categories += [(field, value, (weight * scores).tolist()) for value, scores in values]
        for c, table in enumerate(tables):
            for name, coefficients in numeric:
                if coefficients[c]:
                    add(table, "NumericPredictor", name=name, coefficient=repr(coefficients[c]))
            for name, value, scores in categories:
                if scores[c]:
                    add(table, "CategoricalPredictor", name=name, value=value, coefficient=repr(scores[c]))
            model.append(table)

    def _of_trees(self, sums: Sequence[str]) -> list[tuple[str, Scores]]:
        size = len(self.form.classes)
        if len(sums) == 1:
            return [(sums[0], (-1.0, 1.0))]
        return [(name, tuple(float(k == c) for k in range(size))) for c, name in enumerate(sums)]

    def _single(
        self, derived: xml.Element, term: shapes.LevelTable | shapes.BinTable
    ) -> tuple[str, list[tuple[str, Floats]]]:
        """The field of an attribute by itself, and what each of its values says."""
        scores, missing = _scores(term), term.log_table[-1]
        gone = [(GONE, missing)] if any(missing) else []
        kind = {"optype": "categorical", "dataType": "string"}
        if isinstance(term, shapes.BinTable):
            field = self._bins(derived, f"bin of {term.name}", kind, term.name, term.starts, GONE if gone else None)
            return _with_values(field, [*((str(k), own) for k, own in enumerate(scores)), *gone])
        new = [(NEW, term.log_table[-2])] if any(term.log_table[-2]) else []
        levels = [as_text(level) for level in self.form.attribute(term.name).levels]
        if not gone and not new:
            return term.name, list(zip(levels, scores, strict=True))
        field = self._new(derived, f"level of {term.name}", kind)
        names = [str(k) for k in range(len(levels))]
        _map(field, [(as_text(term.name), levels)], names, GONE if gone else None, NEW if new else None)
        return _with_values(field, [*zip(names, scores, strict=True), *gone, *new])

    def _pair(self, derived: xml.Element, weight: float, term: PairTable) -> list[tuple[str, Scores]]:
        """A table of a pair is a field for each class, 0 where one of the two is not known."""
        first, second = term.axes
        names = [self._code(derived, axis) for axis in term.axes]
        rows = [str(a) for a in range(first.size) for _ in range(second.size)]
        columns = [str(b) for b in range(second.size)] * first.size
        out: list[tuple[str, Scores]] = []
        size = len(self.form.classes)
        tables = columns_of(term)
        for c, table in enumerate(tables):
            field = self._new(derived, f"{term.name}, table", NUMBER)
            cells = [repr(v) for v in table.tolist()]
            _map(field, [(names[0], rows), (names[1], columns)], cells, "0", "0")
            own = (-weight, weight) if len(tables) == 1 else tuple(weight * (k == c) for k in range(size))
            out.append((field.attrib["name"], own))
        return out

    def _slope(self, derived: xml.Element, weight: float, term: shapes.Slope) -> list[tuple[str, Scores]]:
        """A number in standard units, 0 where it is missing; and where being known says something, whether it is."""
        unit, name = term.standard, as_text(term.name)
        field = self._new(derived, f"standard units of {term.name}", NUMBER)
        z = _if_missing(field, name, "0.0")
        held = add(z, "Apply", function="max")
        scaled = add(held, "Apply", function="min")
        add(held, "Constant", dataType="double").text = repr(-term.reach)
        ratio = add(scaled, "Apply", function="/")
        add(scaled, "Constant", dataType="double").text = repr(term.reach)
        rest = add(ratio, "Apply", function="-")
        add(ratio, "Constant", dataType="double").text = repr(float(unit.spread))
        centred = add(rest, "Apply", function="-")
        add(rest, "Constant", dataType="double").text = repr(float(unit.rest))
        power = add(centred, "Apply", function="*")
        add(centred, "Constant", dataType="double").text = repr(float(unit.center))
        add(power, "FieldRef", field=name)
        add(power, "Constant", dataType="double").text = repr(math.ldexp(1.0, -unit.shift))
        out = [(field.attrib["name"], (weight * term.weights).tolist())]
        for value, scores in (("known", term.known), ("missing", term.absent)):
            if any(scores):
                there = self._new(derived, f"{value}: {term.name}", NUMBER)
                chosen = _if_missing(there, name, "1.0" if value == "missing" else "0.0")
                add(chosen, "Constant", dataType="double").text = "0.0" if value == "missing" else "1.0"
                out.append((there.attrib["name"], (weight * scores).tolist()))
        return out

    # -- codes and trees ----------------------------------------------------------------------------------------------

    def _new(self, derived: xml.Element, name: str, kind: dict[str, str]) -> xml.Element:
        """A derived field, under a name that no column has."""
        taken = {a.name for a in self.form.attributes} | {e.attrib["name"] for e in derived} | {self.form.target}
        base, count = as_text(name), 1
        called = base
        while called in taken:
            count += 1
            called = f"{base} {count}"
        return add(derived, "DerivedField", name=called, **kind)

    def _bins(
        self,
        derived: xml.Element,
        called: str,
        kind: dict[str, str],
        name: str,
        starts: Floats,
        missing: str | None,
    ) -> xml.Element:
        """The field of a number's bins. Engines forget Discretize's own mapMissingTo, so a second field has it."""
        field = self._new(derived, called, kind)
        _discretize(field, name, starts)
        if missing is None:
            return field
        whole = self._new(derived, f"{called}, or missing", kind)
        add(whole, "FieldRef", field=field.attrib["name"], mapMissingTo=missing)
        return whole

    def _code(self, derived: xml.Element, axis: Axis) -> str:
        """The field of an axis's codes; equal axes share it."""
        cut = axis.groups if axis.edges is None else axis.edges
        assert cut is not None
        key = axis.name, cut.tobytes(), axis.missing, axis.unseen, axis.size
        if key not in self.fields:
            gone, called = None if axis.missing < 0 else str(axis.missing), f"code of {axis.name}"
            if axis.edges is not None:
                field = self._bins(derived, called, CODE, axis.name, axis.edges, gone)
            else:
                field = self._new(derived, called, CODE)
                levels = self.form.attribute(axis.name).levels
                known = [(as_text(level), str(c)) for level, c in zip(levels, cut.tolist(), strict=True) if c >= 0]
                new = None if axis.unseen < 0 else str(axis.unseen)
                _map(field, [(as_text(axis.name), [k for k, _ in known])], [c for _, c in known], gone, new)
            self.fields[key] = field.attrib["name"]
        return self.fields[key]

    def _forest(
        self, segment: xml.Element, derived: xml.Element, terms: Sequence[tuple[float, TreeSum]], c: int, name: str
    ) -> None:
        model = add(segment, "MiningModel", functionName="regression")
        add_schema(model, self.form, self.used, self.as_is, target=False)
        output = add(model, "Output")
        add(output, "OutputField", name=name, feature="predictedValue", **NUMBER)
        whole = add(model, "Segmentation", multipleModelMethod="sum")
        for weight, term in terms:
            codes = [self._code(derived, axis) for axis in term.axes]
            values = (weight * term.values[:, c]).tolist()
            used = [a for a in self.used if a.name in term.names]
            for root in term.roots.tolist():
                own = add(whole, "Segment")
                add(own, "True")
                kinds = {"missingValueStrategy": "lastPrediction", "splitCharacteristic": "binarySplit"}
                tree = add(own, "TreeModel", functionName="regression", **kinds)
                add_schema(tree, self.form, used, self.as_is, target=False)
                top = add(tree, "Node", score=repr(values[root]))
                add(top, "True")
                self._below(top, term, root, codes, values)

    def _below(
        self, parent: xml.Element, term: TreeSum, node: int, codes: Sequence[str], values: Sequence[float]
    ) -> None:
        if term.axis[node] < 0:
            return
        j, turns = int(term.axis[node]), term.turns(node)
        for side in range(2):
            child = int(term.below[node]) + side
            own = add(parent, "Node", score=repr(values[child]))
            if len(turns) == 1:
                operator = "greaterOrEqual" if side else "lessThan"
                add(own, "SimplePredicate", field=codes[j], operator=operator, value=str(turns[0]))
            else:
                among = [str(code) for code in range(term.axes[j].size) if bool(term.left[node, code]) != bool(side)]
                inside = add(own, "SimpleSetPredicate", field=codes[j], booleanOperator="isIn")
                add(inside, "Array", n=str(len(among)), type="int").text = " ".join(among)
            self._below(own, term, child, codes, values)


def _if_missing(field: xml.Element, name: str, then: str) -> xml.Element:
    """`if (x is missing) then … else`, of which the last part is still to be added."""
    choice = add(field, "Apply", function="if")
    add(add(choice, "Apply", function="isMissing"), "FieldRef", field=name)
    add(choice, "Constant", dataType="double").text = then
    return choice


def _with_values(field: xml.Element, values: list[tuple[str, Floats]]) -> tuple[str, list[tuple[str, Floats]]]:
    """The name of a categorical field, with its values, which are listed in it."""
    for value, _ in values:
        add(field, "Value", value=value)
    return field.attrib["name"], values


def _kind(function: str) -> dict[str, str]:
    return {"functionName": function, "normalizationMethod": "softmax"}


def _check_summand(term: Any) -> None:
    if isinstance(term, shapes.Slope) and abs(term.standard.shift) > MOST_SHIFT:
        raise SettingError(
            f"PMML cannot say numbers as large or small as those of {shown(term.name, 40)}. Divide them by a constant."
        )
    if isinstance(term, (shapes.LevelTable, shapes.BinTable)) and not np.isfinite(term.log_table).all():
        raise SettingError(
            f"PMML cannot say that a value of {shown(term.name, 40)} is impossible. Learn the model with a "
            "pseudo-count above 0."
        )


def _told_apart(term: Any) -> list[str]:
    """The nominal attributes in which a term tells a level that training did not have from a missing cell."""
    if isinstance(term, shapes.LevelTable):
        return [] if (term.log_table[-2] == term.log_table[-1]).all() else [term.name]
    axes = term.axes if isinstance(term, (PairTable, TreeSum)) else ()
    return [axis.name for axis in axes if axis.groups is not None and axis.unseen != axis.missing]


def _discretize(field: xml.Element, name: str, edges: Floats, first: str = "openOpen") -> None:
    """A field of the bins of a number; `first` says whether the bin without a lower end is called closed or open."""
    cut, starts = add(field, "Discretize", field=as_text(name)), edges.tolist()
    for k in range(len(starts) + 1):
        low = {"leftMargin": repr(starts[k - 1])} if k else {}
        high = {"rightMargin": repr(starts[k])} if k < len(starts) else {}
        each = add(cut, "DiscretizeBin", binValue=str(k))
        add(each, "Interval", closure="closedOpen" if k else first, **low, **high)


def _map(
    field: xml.Element,
    inputs: Sequence[tuple[str, Sequence[str]]],
    outputs: Sequence[str],
    missing: str | None,
    default: str | None,
) -> None:
    """A field that is looked up by one or several others."""
    found = add(field, "MapValues", outputColumn="v", dataType=field.attrib["dataType"])
    if missing is not None:
        found.set("mapMissingTo", missing)
    if default is not None:
        found.set("defaultValue", default)
    for k, (name, _) in enumerate(inputs):
        add(found, "FieldColumnPair", field=name, column="ab"[k])
    table = add(found, "InlineTable")
    for k, own in enumerate(outputs):
        row = add(table, "row")
        for place, (_, values) in enumerate(inputs):
            add(row, "ab"[place]).text = values[k]
        add(row, "v").text = own


# A model as PMML 4.4: naive Bayes as such, any other sum of levels, bins, pairs and trees as a regression.


def to_pmml(portable: Portable) -> str:
    """The text of the XML file."""
    found = flatten(portable, "PMML")
    root = xml.Element("PMML", xmlns=NAMESPACE, version="4.4")
    told = {} if portable.references is None else {"description": COMPLETE_ROWS}
    header = add(root, "Header", **told)
    for name, words in portable.origin.items():
        add(header, "Extension", name=name, value=words)
    add(header, "Application", name="likely")
    if is_naive_bayes(portable, found):
        add_naive_bayes(root, portable, found)
        xml.indent(root)
    else:
        Sums(portable, found).fill(root)
        xml.indent(root, space="")  # trees are deep, and blanks before their nodes would be most of the file
    first = xml.tostring(xml.Element("x"), encoding="unicode", xml_declaration=True).split("\n")[0]
    text = xml.tostring(root, encoding="unicode", xml_declaration=True)
    return text.replace(first, '<?xml version="1.0" encoding="UTF-8"?>') + "\n"
