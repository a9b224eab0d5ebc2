"""Arrow tables that are not sound: refused with a sentence before a kernel follows what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import likely
from likely.errors import InputError

CLASSES = ["a", "b"] * 3


def coded(codes: list[int], kind: str = "int32", nulls: int | None = None) -> pa.DictionaryArray:
    """Codes into a dictionary of two levels, whatever they are."""
    bits = None if nulls is None else pa.py_buffer(bytes([nulls]))
    index = pa.Array.from_buffers(
        pa.from_numpy_dtype(kind), len(codes), [bits, pa.py_buffer(np.array(codes, kind))], 0 if nulls is None else -1
    )
    return pa.DictionaryArray.from_arrays(index, pa.array(["p", "q"]), safe=False)


@pytest.mark.parametrize("kind", ["int8", "int32", "int64"])
@pytest.mark.parametrize("codes", [[0, 1, 2, 0, 1, 0], [0, 1, -3, 0, 1, 0], [127, 0, 0, 1, 1, 0]])
def test_codes_beyond_the_dictionary_are_refused(codes: list[int], kind: str) -> None:
    for name in ("x", "y"):
        columns = {"x": pa.array(CLASSES), "y": pa.array(CLASSES), name: coded(codes, kind)}
        with pytest.raises(InputError, match="codes that its dictionary does not have"):
            likely.summarize(pa.table(columns), "y")


def test_large_codes_do_not_wrap_around() -> None:
    with pytest.raises(InputError, match="codes that its dictionary does not have"):
        likely.summarize(pa.table({"x": coded([0, 1, 2**32, 0, 1, 0], "int64"), "y": CLASSES}), "y")


def test_what_lies_below_a_null_does_not_matter() -> None:
    table = pa.table({"x": coded([0, 1, 99, 0, 1, 0], nulls=0b111011), "y": CLASSES})
    summary = likely.summarize(table, "y", types={"x": "nominal"})
    assert summary["x"].labels.names == ["p", "q"] and summary.rows == 6


@pytest.mark.parametrize("offsets", [[0, 1, 2, 9, 4, 5, 6], [0, 1, -9, 3, 4, 5, 6], [0, 1, 2, 2**30, 4, 5, 6]])
def test_texts_outside_of_their_bytes_are_refused(offsets: list[int]) -> None:
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"abcdef")]
    column = pa.Array.from_buffers(pa.string(), 6, buffers)
    with pytest.raises(InputError, match="a text lies outside"):
        likely.summarize(pa.table({"x": column, "y": CLASSES}), "y")


def test_a_damaged_file_of_codes_is_refused(tmp_path: Path) -> None:
    for make, name in ((pa.ipc.new_file, "t.arrow"), (pa.ipc.new_stream, "t.arrows")):
        table = pa.table({"x": coded([0, 1, 77, 0, 1, 0]), "y": CLASSES})
        with make(str(tmp_path / name), table.schema) as writer:
            writer.write_table(table)
        with pytest.raises(InputError, match=r"is not a sound Arrow file \(.*Write or fetch it again"):
            likely.summarize(tmp_path / name, "y")


def test_hostile_files_of_arrow_end_in_a_sentence(shared: Path) -> None:
    for path in sorted((shared / "data" / "hostile").glob("*.arrow*")):
        words = [sys.executable, "-m", "likely", "fit", str(path), "income", "--learner", "NaiveBayes", "-o", "-"]
        done = subprocess.run(words, capture_output=True)
        assert done.returncode == 2 and done.stderr.startswith(b"likely: "), (path.name, done.returncode, done.stderr)
