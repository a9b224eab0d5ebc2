"""Pieces that threads read side by side are the rows of the table: the same sums from row groups, chunks and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likely
from likely.errors import InputError
from likely.sums import state
from likely.table.formats import memory
from likely.table.open import open_source

ROWS = 3000


def table() -> pa.Table:
    draw = np.random.default_rng(5)
    names = pa.array(["red", "green", "blue", "", "NA", None])
    codes = pa.array(draw.integers(0, 6, ROWS).astype(np.int32), mask=draw.random(ROWS) < 0.1)
    return pa.table(
        {
            "colour": pa.DictionaryArray.from_arrays(codes, names),
            "plain": pa.array(draw.choice(["x", "y", "é"], ROWS)),
            "number": pa.array(draw.normal(size=ROWS), mask=draw.random(ROWS) < 0.1),
            "whole": pa.array(draw.integers(-5, 5, ROWS)),
            "truth": pa.array(draw.random(ROWS) < 0.3),
            "class": pa.array(draw.choice(["p", "q"], ROWS)),
        }
    )


def plain() -> pa.Table:
    """The same rows without a dictionary: Parquet takes none with null in it."""
    return table().set_column(0, "colour", table()["colour"].cast(pa.string()))


def cut_into_chunks(whole: pa.Table, size: int) -> pa.Table:
    """The same rows in chunks, each with a dictionary of its own: other texts in another order."""
    parts = []
    for start in range(0, whole.num_rows, size):
        part = whole.slice(start, size)
        column = part["colour"].cast(pa.string()).combine_chunks().dictionary_encode()
        parts.append(part.set_column(0, "colour", column))
    return pa.concat_tables(parts)


def dumped(data: object, **how: object) -> bytes:
    return state.dump({"summary": likely.summarize(data, "class", **how).state()})  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [7, 100, 1024, 2999])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_chunks_and_dictionaries_change_nothing(size: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = dumped(table(), threads=1)
    monkeypatch.setattr(memory, "PIECE", 256)
    chunks = cut_into_chunks(table(), size)
    assert open_source(chunks).piece_count == 12
    assert dumped(chunks, threads=threads) == whole


@pytest.mark.parametrize("group", [100, 999, ROWS])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_row_groups_change_nothing(tmp_path: Path, group: int, threads: int) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(plain(), path, row_group_size=group)
    assert open_source(path).piece_count == -(-ROWS // group)
    assert dumped(path, threads=threads) == dumped(table(), threads=1)


def test_files_are_read_in_pieces_where_all_of_them_can_be(tmp_path: Path) -> None:
    pq.write_table(plain().slice(0, 1000), tmp_path / "a.parquet", row_group_size=300)
    pq.write_table(plain().slice(1000), tmp_path / "b.parquet", row_group_size=300)
    source = open_source(tmp_path)
    assert source.piece_count == 4 + 7
    assert dumped(source, threads=2) == dumped(table(), threads=1)


def test_codes_beyond_a_dictionary_are_refused_before_chunks_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "PIECE", 4)
    index = pa.array([0, 1, 1, 0, 1, 0, 1, 0], pa.int32())
    good = pa.DictionaryArray.from_arrays(index, pa.array(["a", "b"]))
    wild = pa.DictionaryArray.from_arrays(pa.array([0, 7_000_000, 1], pa.int32()), pa.array(["c", "d"]), safe=False)
    colour = pa.chunked_array([good.slice(0, 3), wild, good.slice(3, 2)])
    rows = pa.table({"colour": colour, "class": ["p", "q"] * 4})
    with pytest.raises(InputError, match="codes that its dictionary does not have"):
        likely.summarize(rows, "class", threads=2)


def test_a_weight_that_is_none_is_told_by_its_row(tmp_path: Path) -> None:
    """Who reads a piece does not know the numbers of its rows; the sweep that tells the sentence does."""
    weights = np.ones(ROWS)
    weights[2500] = -1
    path = tmp_path / "t.parquet"
    pq.write_table(plain().append_column("w", pa.array(weights)), path, row_group_size=300)
    with pytest.raises(likely.errors.ColumnError, match="weight in row 2501 "):
        likely.summarize(path, "class", weight="w", threads=2)
