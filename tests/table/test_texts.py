"""Text columns as they come from Arrow: every kind of array, cells that are missing, and bytes that are no text."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likely
from likely import Schema, Tokens
from likely.errors import InputError, SettingError
from likely.table.encode import Encoder
from likely.table.schema import Column
from likely.table.views import text_cells

CELLS = ["two words", None, "", "ß 😀", "NA", " ? ", "two words", "x" * 100]
SCHEMA = Schema((Column("t", "text", "attribute", "text", tokens=Tokens()),))


def arrays() -> dict[str, pa.Array]:
    plain = pa.array(CELLS, pa.string())
    return {
        "string": plain,
        "large": plain.cast(pa.large_string()),
        "view": plain.cast(pa.string_view()),
        "dictionary": plain.dictionary_encode(),
        "binary": plain.cast(pa.binary()),
        "large binary": plain.cast(pa.large_binary()),
        "slice": pa.concat_arrays([pa.array(["before"]), plain, pa.array(["after"])]).slice(1, len(CELLS)),
        "sliced dictionary": pa.concat_arrays([pa.array(["before", None]), plain]).dictionary_encode().slice(2),
    }


@pytest.mark.parametrize("kind", arrays())
def test_every_kind_of_array_gives_the_same_texts(kind: str) -> None:
    array = arrays()[kind]
    cells = text_cells(array)
    assert [cells.text(k) for k in range(len(cells))] == [c or "" for c in CELLS]
    read = Encoder(SCHEMA).encode(pa.record_batch([array], names=["t"])).cells["t"]
    expected = ["two words", "", "", "ß 😀", "", "", "two words", "x" * 100]
    assert [read.text(k) for k in range(len(read))] == expected


def test_arrays_without_any_text() -> None:
    for array in (pa.nulls(3), pa.nulls(3, pa.string()), pa.nulls(3).dictionary_encode()):
        read = Encoder(SCHEMA).encode(pa.record_batch([array], names=["t"])).cells["t"]
        assert [read.text(k) for k in range(len(read))] == ["", "", ""]
    assert len(text_cells(pa.array([], pa.string()))) == 0
    absent = Encoder(SCHEMA).encode(pa.record_batch([pa.array([1, 2])], names=["other"]))
    assert len(absent.cells["t"]) == 2


def broken(kind: pa.DataType) -> pa.Table:
    some = [b"sound text here and there", b"bro\xffken text of some words", b"a c\xc3\xa9 b d"]
    data = pa.array([text + b" %d" % k for k in range(4) for text in some], pa.binary())
    text = pa.Array.from_buffers(kind, len(data), data.buffers())
    return pa.table({"t": text, "x": [0.5, 1.5, 2.5] * 4, "y": ["a", "b", "a"] * 4})


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()], ids=str)
def test_broken_text_is_refused_with_its_row_or_replaced(kind: pa.DataType, tmp_path) -> None:
    pq.write_table(broken(kind), tmp_path / "broken.parquet")
    for table in (broken(kind), tmp_path / "broken.parquet"):
        for types in ({"t": "text"}, None, {"x": "ignore"}):
            with pytest.raises(InputError, match="Row 2 of column 't' is not valid UTF-8"):
                likely.summarize(table, "y", types=types)
            words = likely.summarize(table, "y", types=types, encoding_errors="replace")["t"]
            assert {"bro", "ken", "cé"} <= set(words.tally().vocabulary)
        if kind == pa.string():  # levels kept as bytes are told apart by what can be read of them
            with pytest.raises(InputError, match="Row 2 of column 't' is not valid UTF-8"):
                likely.summarize(table, "y", types={"t": "nominal"})
    with pytest.raises(SettingError, match="encoding_errors"):
        likely.summarize({"y": ["a", "b"]}, "y", encoding_errors="ignore")


def test_words_of_a_parquet_file_do_not_depend_on_threads(tmp_path) -> None:
    rng = np.random.default_rng(0)
    some = [" ".join(f"w{k}" for k in rng.integers(0, 2000, 400)) for _ in range(6000)]
    pq.write_table(pa.table({"t": some, "y": rng.choice(["a", "b"], 6000)}), tmp_path / "t.parquet")
    one = likely.summarize(tmp_path / "t.parquet", "y", threads=1)
    assert one.schema["t"].kind == "text" and one.schema["t"].role == "attribute"
    assert likely.summarize(tmp_path / "t.parquet", "y", threads=3) == one
    assert (one + one) - one == one
    one.save(tmp_path / "s.likely")
    assert likely.load(tmp_path / "s.likely", likely.Summary) == one
