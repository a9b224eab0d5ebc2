"""Model files that someone altered, their checksum included, are refused by name: no traceback, no hang, no NaN.

Each test changes one thing in a sound file as one would who means harm. `scripts/fuzz --target model` draws thousands.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely
from likely import Window
from likely.errors import FileFormatError
from likely.sums import state

ROWS = {
    "level": ["a", "b", "c", None, "a", "b"] * 6,
    "x": [0.5, 1.5, None, 2.5, -3.0, 0.25] * 6,
    "z": [float(k % 7) + 0.125 for k in range(36)],
    "note": ["good day out", "bad day in", "good bad x", "day x y", "", "out and in"] * 6,
    "y": ["yes", "no", "yes", "no", "no", "yes"] * 6,
}
TYPES = {"level": "nominal", "x": "number", "z": "number", "note": "ignore"}
POOL = likely.Auto(members=("NaiveBayes", "Logistic"), parts=2)
Tree = dict[str, Any]


def tree_of(learner: Any, note: str = "ignore") -> Tree:
    model = likely.fit(ROWS, "y", learner, types={**TYPES, "note": note})
    return state.parse(model.to_bytes(), "a file")


def refuse(tree: Tree, folder: Path) -> None:
    path = folder / "altered.likely"
    path.write_bytes(state.dump(tree))
    with pytest.raises(FileFormatError, match=r"altered\.likely"):
        likely.load(path)


def column(tree: Tree, name: str) -> Tree:
    attributes = [c["name"] for c in tree["summary"]["schema"]["columns"] if c["role"] == "attribute"]
    return tree["summary"]["columns"][attributes.index(name)]  # type: ignore[no-any-return]


def other(array: np.ndarray[Any, Any], at: int, value: float) -> np.ndarray[Any, Any]:
    wide = array.astype(np.float64 if array.dtype.kind == "f" else np.int64 if array.dtype.kind == "i" else array.dtype)
    wide.reshape(-1)[at] = value
    return wide


def recount(sums: Tree, value: int) -> None:
    """Another number in the place of the first."""
    sums.update(planes=other(sums["planes"], 0, value))


SUMS: dict[str, Callable[[Tree], object]] = {
    "base of a sum": lambda t: t["summary"]["total"].update(base=10**8),
    "negative base": lambda t: t["summary"]["total"].update(base=-(10**8)),
    "base that is no number": lambda t: t["summary"]["total"].update(base="x"),
    "sums of numbers with fractions": lambda t: t["summary"]["total"].update(planes=np.array([[0.5, 1.5]])),
    "no digits": lambda t: t["summary"]["total"].update(planes=np.zeros((0, 2), np.int64)),
    "digits out of range": lambda t: t["summary"]["total"].update(planes=np.full((2, 2), 2**40)),
    "weight of a class": lambda t: recount(t["summary"]["total"], 5),
    "one class more": lambda t: t["summary"]["classes"].append("maybe"),
    "two classes alike": lambda t: t["summary"].update(classes=["no", "no"]),
    "class that is no text": lambda t: t["summary"].update(classes=["no", 3]),
    "class that is nothing": lambda t: t["summary"]["classes"].append(None),
    "rows below zero": lambda t: t["summary"].update(rows=-1),
    "rows that are true": lambda t: t["summary"].update(rows=True),
    "a column less": lambda t: t["summary"]["columns"].pop(),
    "two columns of one name": lambda t: t["summary"]["schema"]["columns"][1].update(name="level"),
    "two targets": lambda t: t["summary"]["schema"]["columns"][0].update(role="target"),
    "attribute without a kind": lambda t: t["summary"]["schema"]["columns"][0].update(kind="identifier"),
    "no schema": lambda t: t["summary"].pop("schema"),
    "unknown statistic": lambda t: t["summary"]["more"].update(quarks={}),
    "levels alike": lambda t: column(t, "level").update(labels=["a", "a", "c"]),
    "level less": lambda t: column(t, "level")["labels"].pop(),
    "count below zero": lambda t: recount(column(t, "level")["table"], -1),
    "count too many": lambda t: recount(column(t, "level")["table"], 99),
    "values that fall": lambda t: column(t, "x").update(keys=column(t, "x")["keys"][::-1].copy()),
    "value that is none": lambda t: column(t, "x").update(keys=other(column(t, "x")["keys"], -1, 2**64 - 1)),
    "level of a tally": lambda t: column(t, "x").update(level=64),
    "level without its sums": lambda t: column(t, "x").update(level=1),
    "cap of a tally": lambda t: column(t, "x").update(cap=10**12),
    "cap of none": lambda t: column(t, "x").update(cap=0),
    "setting of the wrong kind": lambda t: t["learner"]["settings"].update(pseudo_count=[]),
    "setting out of range": lambda t: t["learner"]["settings"].update(pseudo_count=-1.0),
    "found what it cannot": lambda t: t.update(found={"weights": np.zeros(3)}),
    "found a list": lambda t: t.update(found=[1]),
    "no learner's name": lambda t: t["learner"].pop("name"),
    "loss that is none": lambda t: t.update(loss=7),
    "loss of other classes": lambda t: t.update(loss="maybe = {go = 1, stay = 0}\n"),
}  # fmt: skip


@pytest.mark.parametrize("what", SUMS)
def test_sums_that_cannot_be_are_refused(what: str, tmp_path: Path) -> None:
    tree = tree_of(likely.NaiveBayes(temperature=1.0))
    SUMS[what](tree)
    refuse(tree, tmp_path)


TREE, NEAR, SQUARES = likely.TreeAugmented(), likely.Neighbors(), likely.LeastSquares()
MORE: dict[str, tuple[Any, Callable[[Tree], object]]] = {
    "pairs of another column": (TREE, lambda m: m["pairs"].update(names=["level", "x", "q"])),
    "pairs of other cells": (TREE, lambda m: m["pairs"]["cells"].pop()),
    "edges that fall": (TREE, lambda m: m["pairs"]["edges"].update(x=np.array([2.0, 1.0]))),
    "edges of levels": (TREE, lambda m: m["pairs"]["edges"].update(level=np.array([1.0]))),
    "pairs counted anew": (TREE, lambda m: recount(m["pairs"]["table"], 77)),
    "pairs below zero": (likely.OneDependence(), lambda m: recount(m["pairs"]["table"], -1)),
    "features in another order": (SQUARES, lambda m: m["products"]["features"].reverse()),
    "product of nothing": (SQUARES, lambda m: recount(m["products"]["table"], 0)),
    "rows of other classes": (NEAR, lambda m: m["rows"].update(group=other(m["rows"]["group"], 0, 7))),
    "rows of no class": (NEAR, lambda m: m["rows"].update(group=other(m["rows"]["group"], 0, -1))),
    "codes out of range": (NEAR, lambda m: m["rows"].update(codes=other(m["rows"]["codes"], 0, 10**6))),
    "infinite number": (NEAR, lambda m: m["rows"].update(numbers=other(m["rows"]["numbers"], 0, np.inf))),
    "a row less": (NEAR, lambda m: m["rows"].update(numbers=m["rows"]["numbers"][1:])),
    "classes by the billion": (NEAR, lambda m: m["rows"].update(groups=10**9)),
}  # fmt: skip


@pytest.mark.parametrize("what", MORE)
def test_statistics_that_disagree_with_their_table_are_refused(what: str, tmp_path: Path) -> None:
    learner, alter = MORE[what]
    tree = tree_of(learner)
    alter(tree["summary"]["more"])
    refuse(tree, tmp_path)


WORDS: dict[str, Callable[[Tree], object]] = {
    "words by the billion": lambda w: w.update(words=10**12),
    "a word less": lambda w: w.update(words=w["words"] - 1),
    "level": lambda w: w.update(level=64),
    "words that are too many for the level": lambda w: w.update(level=40),
    "classes": lambda w: w.update(groups=1),
    "other words": lambda w: w["tokens"].update(shortest=2),
    "letters out of order": lambda w: w.update(letters=other(w["letters"], 4, ord("z"))),
    "letters that are none": lambda w: w.update(letters=other(w["letters"], 6, 0xFF)),
    "more documents than there are": lambda w: w.update(entries=other(w["entries"], -1, 100)),
}  # fmt: skip


@pytest.mark.parametrize("what", WORDS)
def test_words_that_cannot_be_are_refused(what: str, tmp_path: Path) -> None:
    tree = tree_of(likely.NaiveBayes(text="bernoulli"), note="text")
    WORDS[what](column(tree, "note"))
    refuse(tree, tmp_path)


HELD_OUT = likely.Mixture((likely.NaiveBayes(), likely.Prior()), weights="held-out")
FOUND: dict[str, tuple[Any, Callable[[Tree], object]]] = {
    "weights of other shape": (likely.Logistic(), lambda f: f.update(weights=f["weights"][1:])),
    "weights that are none": (likely.Logistic(), lambda f: f.update(weights=other(f["weights"], 0, np.nan))),
    "weights beyond any sum": (likely.Logistic(), lambda f: f.update(weights=other(f["weights"], 0, 1e300))),
    "weights far below": (likely.Logistic(), lambda f: f.update(weights=other(f["weights"], 0, -1e151))),
    "no facts": (likely.Logistic(), lambda f: f.update(facts={})),
    "members less": (POOL, lambda f: f["members"].pop()),
    "weights below zero": (POOL, lambda f: f.update(weights=other(f["weights"], 0, -1))),
    "weight that is none": (POOL, lambda f: f.update(weights=other(f["weights"], 0, np.nan))),
    "trial of nobody": (POOL, lambda f: f["trial"].update(candidates=[])),
    "member of an unknown name": (POOL, lambda f: f["kept"][0].update(name="Oracle")),
    "hypotheses": (HELD_OUT, lambda f: f.update(weights=np.zeros(2))),
    "temperature": (likely.NaiveBayes(temperature="auto"), lambda f: f.update(temperature=-1.0)),
    "temperature beyond reason": (likely.NaiveBayes(temperature="auto"), lambda f: f.update(temperature=1e300)),
    "weights beyond reason": (POOL, lambda f: f.update(weights=f["weights"] + 1e300)),
    "tuned": (likely.TunedNaiveBayes(), lambda f: f["chosen"].update(attribute_weights={"q": 1.0})),
}  # fmt: skip


@pytest.mark.parametrize("what", FOUND)
def test_what_no_search_can_have_found_is_refused(what: str, tmp_path: Path) -> None:
    learner, alter = FOUND[what]
    tree = tree_of(learner)
    alter(tree["found"])
    refuse(tree, tmp_path)


TEXT: dict[str, Callable[[Tree], object]] = {
    "a setting under another name": lambda t: t.update(scalf=t.pop("scale")),
    "a scale that is open": lambda t: t.update(scale="auto"),
    "a model that is open": lambda t: t.update(model="auto"),
    "a scale beyond reason": lambda t: t.update(scale=1e300),
}


@pytest.mark.parametrize("what", TEXT)
def test_settings_of_text_that_no_search_can_have_found_are_refused(what: str, tmp_path: Path) -> None:
    rows = {name: cells * 6 for name, cells in ROWS.items()}
    model = likely.fit(rows, "y", likely.NaiveBayes(text="auto"), types={**TYPES, "note": "text"})
    tree = state.parse(model.to_bytes(), "a file")
    TEXT[what](tree["found"]["text"]["note"])
    refuse(tree, tmp_path)


@pytest.mark.parametrize("name", [b'"y\xffs"', b'"y\xed\xa0\x80s"', b'"y\\ud800s"', b'"y\x00s"'])
def test_a_class_that_is_no_text_of_utf_8_is_refused(name: bytes, tmp_path: Path) -> None:
    import hashlib
    import struct

    data, head = likely.fit(ROWS, "y", likely.NaiveBayes(), types=TYPES).to_bytes(), struct.Struct("<8sIQ")
    magic, version, length = head.unpack_from(data)
    header, arrays = data[head.size : head.size + length], data[head.size + length : -32]
    assert b'"yes"' in header
    header = header.replace(b'"yes"', name)
    body = head.pack(magic, version, len(header)) + header + arrays
    (tmp_path / "altered.likely").write_bytes(body + hashlib.sha256(body).digest())
    with pytest.raises(FileFormatError, match=r"altered\.likely"):
        likely.load(tmp_path / "altered.likely")


def test_an_array_that_is_larger_than_its_file_is_refused(tmp_path: Path) -> None:
    import hashlib
    import struct

    header = b'{"arrays":[["i8",[0,1000000000000]]],"content":{"summary":{"array":0}}}'
    body = struct.pack("<8sIQ", state.MAGIC, state.VERSION, len(header)) + header
    (tmp_path / "m.likely").write_bytes(body + hashlib.sha256(body).digest())
    with pytest.raises(FileFormatError, match=r"m\.likely"):
        likely.load(tmp_path / "m.likely")


def test_a_window_whose_pieces_are_not_its_own_is_refused(tmp_path: Path) -> None:
    window = Window("y", likely.NaiveBayes(), rows=20, types=TYPES).learn(ROWS)
    window.save(tmp_path / "w.likely")
    for alter in (
        lambda w: w["pieces"][0].update(size=3),
        lambda w: w.update(came=-1),
        lambda w: w.update(pieces=[]),
        lambda w: w["pieces"][0]["summary"]["schema"]["columns"][0].update(name="q"),
    ):
        tree = state.read(tmp_path / "w.likely")
        alter(tree["window"])
        (tmp_path / "altered.likely").write_bytes(state.dump(tree))
        with pytest.raises(FileFormatError, match="altered"):
            Window.load(tmp_path / "altered.likely")
