"""Exports to PMML are valid by the schema of PMML 4.4, in the copy that the package sklearn2pmml brings."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

import likely

COUNT = 90


@pytest.fixture(scope="module")
def schema() -> Any:
    etree = pytest.importorskip("lxml.etree", reason="lxml is not installed: pip install likely[test]")
    spec = find_spec("sklearn2pmml")
    if spec is None or spec.origin is None:
        pytest.skip("sklearn2pmml, which brings the schema, is not installed: pip install likely[test]")
    (jar,) = (Path(spec.origin).parent / "resources").glob("pmml-model-1*.jar")
    with ZipFile(jar) as archive, archive.open("pmml.xsd") as file:
        return etree.XMLSchema(etree.parse(file))


def complaints(schema: Any, text: str) -> list[str]:
    from lxml import etree

    schema.validate(etree.fromstring(text.encode()))
    return [error.message for error in schema.error_log]


def awkward_table() -> dict[str, list[Any]]:
    """Levels with names that XML must escape, numbers, and gaps in both."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, COUNT).tolist()
    noise = rng.normal(size=COUNT).tolist()
    levels = ['<a & "b">', "c'd", "ü", None]
    return {
        "level & more": [levels[(c + k) % 4] for k, c in enumerate(codes)],
        "x": [None if k % 11 == 0 else c + noise[k] for k, c in enumerate(codes)],
        "y": [["no", "yes", "<maybe>"][c] for c in codes],
    }


LEARNERS = [
    likely.NaiveBayes(),
    likely.NaiveBayes(numbers="binned"),
    likely.Logistic(),
    likely.Logistic(missing="level"),
    likely.Additive(order=1),
    likely.Additive(order=2),
    likely.Additive(order=3),
    likely.Additive(order=2, missing="level"),
    likely.Forest(trees=3),
    likely.OneRule(),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_an_export_is_valid(schema: Any, learner: Any) -> None:
    assert complaints(schema, likely.export(likely.fit(awkward_table(), "y", learner), "pmml")) == []


def test_the_schema_tells_a_wrong_export(schema: Any) -> None:
    text = likely.export(likely.fit(awkward_table(), "y", likely.NaiveBayes()), "pmml")
    assert complaints(schema, text.replace("<DataDictionary", "<DataDictionary colour='red'", 1))
