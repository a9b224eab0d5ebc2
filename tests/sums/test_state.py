"""Files of models that were altered, and the format itself."""

from __future__ import annotations

import hashlib
import os
import signal
import stat
import struct
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.nasty import of_summary
from models.test_additive import table

import likely
from likely import Summary, Window
from likely.errors import FileFormatError, InputError, LikelyError
from likely.sums import state
from likely.testing import swept

TABLE = {
    "sky": ["sun", "rain", "sun", "fog", "rain", "sun"],
    "degrees": [20.5, 11.25, 30.75, 9.5, 10.0, 25.125],
    "play": ["yes", "no", "yes", "no", "no", "yes"],
}


@pytest.fixture(scope="module")
def model() -> likely.Model:
    return likely.fit(TABLE, "play", types={"sky": "nominal"})


@pytest.fixture
def saved(model: likely.Model, tmp_path: Path) -> Path:
    path = tmp_path / "play.likely"
    model.save(path)
    return path


def refused(path: Path, data: bytes) -> str:
    """The sentence with which a file of these bytes is refused."""
    path.write_bytes(data)
    with pytest.raises(FileFormatError) as caught:
        likely.load(path)
    assert path.name in str(caught.value)
    assert str(caught.value).endswith(".")
    return str(caught.value)


def sealed(version: int, header: bytes, arrays: bytes = b"") -> bytes:
    """A file whose checksum is right, whatever it holds."""
    body = struct.pack("<8sIQ", state.MAGIC, version, len(header)) + header + arrays
    return body + hashlib.sha256(body).digest()


def test_a_file_cut_at_any_length_is_refused(saved: Path) -> None:
    data = saved.read_bytes()
    for length in [*range(0, 120), *range(120, len(data), 37), len(data) - 1]:
        refused(saved, data[:length])
    refused(saved, data + b"\0")


def test_a_file_with_any_bit_flipped_is_refused(saved: Path) -> None:
    data = saved.read_bytes()
    places = [*range(8 * 40), *range(8 * 40, 8 * len(data), 61), *range(8 * len(data) - 300, 8 * len(data))]
    for place in places:
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << (place % 8)
        refused(saved, bytes(flipped))


@pytest.mark.parametrize(
    "data",
    [b"", b"\x89PNG\r\n\x1a\n" + bytes(100), b"a,b\n1,2\n", b"\x80\x04\x95", b"{}", bytes(500), b"\x89likely"],
    ids=["empty", "PNG", "CSV", "pickle", "JSON", "zeros", "half a magic"],
)
def test_foreign_files_are_refused(tmp_path: Path, data: bytes) -> None:
    assert "is not a likely model file" in refused(tmp_path / "foreign", data)


def test_a_zip_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x", "y")
    assert "is not a likely model file" in refused(tmp_path / "a.zip", (tmp_path / "a.zip").read_bytes())


def test_a_newer_version_is_refused(saved: Path) -> None:
    data = bytearray(saved.read_bytes())
    data[8:12] = struct.pack("<I", state.VERSION + 1)
    data[-32:] = hashlib.sha256(data[:-32]).digest()
    assert "newer" in refused(saved, bytes(data))


def test_an_unknown_learner_is_refused(saved: Path) -> None:
    tree = state.read(saved)
    tree["learner"]["name"] = "Oracle"
    assert "'Oracle'" in refused(saved, state.dump(tree))


def test_settings_of_another_time_are_refused(saved: Path) -> None:
    tree = state.read(saved)
    tree["learner"]["settings"]["variance"] = "unheard of"
    refused(saved, state.dump(tree))


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"not JSON",
        b"[]",
        b"{}",
        b'{"content": {}, "arrays": 7}',
        b'{"content": {"array": 3}, "arrays": []}',
        b'{"content": {}, "arrays": [["O", [1]]]}',
        b'{"content": {}, "arrays": [["i8", [1000000]]]}',
        b'{"content": {}, "arrays": [["i8", [-1]]]}',
        b'{"content": {}, "arrays": []}',
        b'{"content": 5, "arrays": []}',
        b'{"content": {"summary": {}}, "arrays": []}',
        b'{"content": {"summary": 5}, "arrays": []}',
        b'{"content": {"summary": {"schema": {"columns": []}, "classes": ["a"]}}, "arrays": []}',
    ],
)
def test_strange_content_under_a_right_checksum_is_refused(tmp_path: Path, header: bytes) -> None:
    refused(tmp_path / "strange", sealed(state.VERSION, header))


def test_parts_that_do_not_fit_together_are_refused(saved: Path) -> None:
    for change in ("classes", "columns", "total"):
        tree = state.read(saved)
        tree["summary"][change] = tree["summary"][change][:-1] if change != "total" else {"planes": 5, "base": 0}
        refused(saved, state.dump(tree))


@settings(max_examples=30)
@given(case=of_summary())
def test_a_summary_survives_the_file(case: object, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("round") / "trip.likely"
    summary = swept(case.make, [case.batch])
    summary.save(path)
    again = likely.load(path, Summary)
    assert again == summary
    assert (again.rows, again.left_out) == (summary.rows, summary.left_out)
    first = path.read_bytes()
    again.save(path)
    assert path.read_bytes() == first


def test_equal_content_gives_equal_bytes(tmp_path: Path) -> None:
    order = [3, 1, 5, 0, 2, 4]
    mixed = {name: [cells[k] for k in order] for name, cells in TABLE.items()}
    for name, data in (("one", TABLE), ("two", mixed)):
        likely.fit(data, "play", types={"sky": "nominal"}).save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_settings_survive_the_file_whatever_their_names(tmp_path: Path) -> None:
    # Column names and levels are data: these look like the file's own marks.
    for name, level in (("array", "dict"), ("dict", "array")):
        columns = {name: [level, level, level], "play": ["array", "dict", "array"]}
        learner = likely.NaiveBayes(m_estimate=2.0, level_weights={name: {level: 1.0}})
        model = likely.fit(columns, "play", learner, types={name: "nominal"})
        model.save(tmp_path / "marks.likely")
        again = likely.load(tmp_path / "marks.likely")
        assert again.posterior({name: level}).prob("array") == model.posterior({name: level}).prob("array")


TREES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["array", "dict", "a", "b"]), inner, max_size=2)
    ),
)


@settings(max_examples=150)
@given(st.dictionaries(st.text(max_size=3), TREES, max_size=3))
def test_any_tree_survives(tree: dict[str, object]) -> None:
    data = state.dump(tree)
    assert state.parse(data, "a file") == tree
    assert state.dump(dict(reversed(tree.items()))) == data


@pytest.mark.parametrize(
    "array",
    [
        np.array([], np.int64),
        np.array([[-128, 127]]),
        np.array([-129, 128]),
        np.array([2**31, -(2**31) - 1]),
        np.array([2**63 - 1, -(2**63)]),
        np.array([2**64 - 1, 0], np.uint64),
        np.array([0.1, -0.0, np.inf, 5e-324]),
        np.zeros((2, 0, 3), np.int64),
    ],
)
def test_arrays_survive(array: np.ndarray) -> None:
    again = state.parse(state.dump({"x": [array]}), "a file")["x"][0]
    assert again.shape == array.shape
    assert again.astype(array.dtype).tobytes() == array.tobytes()


SAVING = """
import sys
from likely.sums import state
path, size = sys.argv[1], int(sys.argv[2])
trees = [{"which": k, "filling": "x" * size} for k in (1, 2)]
data = [state.dump(t) for t in trees]
state.write(path, data[0])
print("ready", flush=True)
while True:
    for d in data:
        state.write(path, d)
"""


def test_a_kill_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "kept.likely"
    seen = set()
    for round_ in range(12):
        with subprocess.Popen([sys.executable, "-c", SAVING, str(path), "3000000"], stdout=subprocess.PIPE) as saving:
            assert saving.stdout is not None and saving.stdout.readline() == b"ready\n"
            time.sleep(0.003 * round_)
            saving.send_signal(signal.SIGKILL)
        tree = state.read(path)
        assert len(tree["filling"]) == 3_000_000
        seen.add(tree["which"])
    assert seen <= {1, 2}


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kept.likely"
    state.write(path, b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left on device"):
        state.write(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_places_that_cannot_be_written(tmp_path: Path, model: likely.Model) -> None:
    (tmp_path / "file").write_text("not a folder")
    for path in (tmp_path / "missing" / "a.likely", tmp_path, tmp_path / "file" / "a.likely", Path("/proc/a.likely")):
        with pytest.raises(InputError, match="Cannot write"):
            model.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_may_not_be_written(tmp_path: Path, model: likely.Model) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    try:
        model.save(folder / "a.likely")
    except InputError as error:
        assert "Cannot write" in str(error)
    else:
        assert os.access(folder, os.W_OK), "only one who may write everywhere (root) may write here"
    finally:
        folder.chmod(0o755)


def test_places_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.likely", tmp_path):
        with pytest.raises(InputError, match="Cannot read"):
            likely.load(path)


def test_a_link_keeps_pointing_at_its_file(tmp_path: Path, model: likely.Model) -> None:
    (tmp_path / "there").mkdir()
    real, link = tmp_path / "there" / "real.likely", tmp_path / "link.likely"
    link.symlink_to(real)
    for _ in range(2):  # once while the file is still missing, once over it
        model.save(link)
        assert link.is_symlink() and real.is_file() and not real.is_symlink()
    assert likely.load(link).posterior({"sky": "sun"}).prob("yes") > 0.5
    assert [p.name for p in real.parent.iterdir()] == ["real.likely"]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[bytes] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()), daemon=True)
    reader.start()
    state.write(pipe, b"all of it")
    reader.join(10)
    assert heard == [b"all of it"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_permissions_are_those_of_an_ordinary_file(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        state.write(tmp_path / "new", b"x")
        (tmp_path / "ordinary").write_bytes(b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "ordinary").stat().st_mode
    (tmp_path / "new").chmod(0o640)
    state.write(tmp_path / "new", b"y")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_long_names_in_any_script(tmp_path: Path) -> None:
    for name in ("a" * 255, "😀" * 63):
        state.write(tmp_path / name, b"x")
        assert (tmp_path / name).read_bytes() == b"x"


def test_nothing_in_a_file_is_ever_run() -> None:
    source = Path(state.__file__).read_text(encoding="utf-8")
    assert not any(word in source for word in ("import pickle", "import marshal", "eval(", "exec(", "allow_pickle"))
    assert issubclass(FileFormatError, LikelyError)


# Model files that someone altered, their checksum included, are refused by name: no traceback, no hang, no NaN.


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


# Files of Additive and Forest that were altered, with a right checksum: what neither can have ended in is refused.


def altered(array: Any, place: int, value: float) -> Any:
    """A copy with another value at one place."""
    out = np.array(array, np.float64 if array.dtype.kind == "f" else array.dtype)
    out.reshape(-1)[place] = value
    return out


@cache
def content(order: Any) -> bytes:
    learner = likely.Forest(trees=5) if order == "forest" else likely.Additive(order=order)
    return likely.fit(table(), "t", learner).to_bytes()


def pair(**changes: Callable[[Any], Any]) -> Callable[[Tree], object]:
    return lambda f: f["pairs"][0].update({name: change(f["pairs"][0][name]) for name, change in changes.items()})


def trees(**changes: Callable[[Any], Any]) -> Callable[[Tree], object]:
    return lambda f: f["sets"][0].update({name: change(f["sets"][0][name]) for name, change in changes.items()})


def forest(**changes: Callable[[Any], Any]) -> Callable[[Tree], object]:
    return lambda f: f.update({name: change(f[name]) for name, change in changes.items()})


def curve(change: Callable[[Any], Any]) -> Callable[[Tree], object]:
    return lambda f: f["mains"].__setitem__(0, change(f["mains"][0]))


CASES: dict[str, tuple[Any, Callable[[Tree], object]]] = {
    "curves less": (2, lambda f: f["mains"].pop()),
    "a curve of other shape": (2, curve(lambda c: c[1:])),
    "a curve that is none": (2, curve(lambda c: altered(c, 0, np.nan))),
    "a curve beyond any sum": (2, curve(lambda c: altered(c, 0, 1e300))),
    "a pair with itself": (2, pair(at=lambda a: a[[0, 0]])),
    "a pair of nobody": (2, pair(at=lambda a: np.array([0, 99]))),
    "one of a pair": (2, pair(at=lambda a: a[:1])),
    "a pair twice": (2, lambda f: f["pairs"].append(f["pairs"][0])),
    "places beyond a pair's table": (2, pair(rows=lambda r: altered(r, 0, 200))),
    "places too few": (2, pair(columns=lambda r: r[1:])),
    "a pair's table of other shape": (2, pair(table=lambda t: t[1:])),
    "pairs that are no list": (2, lambda f: f.update(pairs={})),
    "facts less": (2, lambda f: f["facts"].pop("rounds")),
    "a tree that goes in circles": ("any", trees(below=lambda b: b * 0)),
    "a tree of other attributes": ("any", trees(axis=lambda a: a + 7)),
    "a tree of attributes below none": ("any", trees(axis=lambda a: a - 5)),
    "children beyond the end": ("any", trees(below=lambda b: b + 10**6)),
    "roots beyond the end": ("any", trees(roots=lambda r: r + 10**6)),
    "no roots": ("any", trees(roots=lambda r: r[:0])),
    "masks of other width": ("any", trees(left=lambda m: m[:, 1:])),
    "masks less": ("any", trees(left=lambda m: m[1:])),
    "leaves that are none": ("any", trees(values=lambda v: altered(v, 0, np.inf))),
    "a set of two": ("any", trees(at=lambda a: a[:2])),
    "a forest that goes in circles": ("forest", forest(below=lambda b: b * 0)),
    "a forest of other attributes": ("forest", forest(axis=lambda a: a + 7)),
    "a forest without roots": ("forest", forest(roots=lambda r: r[:0])),
    "a forest whose roots say something": ("forest", forest(values=lambda v: altered(v, 0, 0.5))),
    "a forest that says no number": ("forest", forest(values=lambda v: altered(v, -1, np.nan))),
    "a forest of other classes": ("forest", forest(values=lambda v: v[:, :1])),
    "masks of a forest less": ("forest", forest(left=lambda m: m[1:])),
}


IMPORTANCES: dict[str, Callable[[Tree], object]] = {
    "of fewer attributes": lambda f: f.update(each=f["each"][1:]),
    "below none": lambda f: f.update(each=altered(f["each"], 0, -1.0)),
    "that are no numbers": lambda f: f.update(together=altered(f["together"], 0, np.nan)),
    "of pairs with nobody": lambda f: f.update(pairs=f["pairs"] + 99),
    "of pairs of three": lambda f: f.update(pairs=f["pairs"][:, [0, 1, 0]]),
    "of more pairs": lambda f: f.update(together=f["together"][1:]),
}


@pytest.mark.parametrize("what", IMPORTANCES)
def test_importances_that_cannot_be_are_refused(what: str, tmp_path: Path) -> None:
    tree = state.parse(content(2), "m.likely")
    tree["importance"] = dict(tree["importance"])
    IMPORTANCES[what](tree["importance"])
    (tmp_path / "m.likely").write_bytes(state.dump(tree))
    with pytest.raises(FileFormatError, match=r"m\.likely"):
        likely.load(tmp_path / "m.likely")


@pytest.mark.parametrize("what", CASES)
def test_what_cannot_be_is_refused(what: str, tmp_path: Path) -> None:
    order, alter = CASES[what]
    tree = state.parse(content(order), "m.likely")
    alter(tree["found"])
    (tmp_path / "m.likely").write_bytes(state.dump(tree))
    with pytest.raises(FileFormatError, match=r"m\.likely"):
        likely.load(tmp_path / "m.likely")


@pytest.mark.parametrize("order", [2, "any", "forest"])
def test_as_it_was_it_is_read(order: Any, tmp_path: Path) -> None:
    (tmp_path / "m.likely").write_bytes(state.dump(state.parse(content(order), "m.likely")))
    assert likely.load(tmp_path / "m.likely").to_bytes() == content(order)
