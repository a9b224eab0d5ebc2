"""The file: what is refused and how, that equal content gives equal bytes, and that a kill never leaves a part."""

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
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.nasty import of_summary

import likely
from likely import Summary
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
