"""Tables in memory: frames of every library, cut into pieces."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likely
from likely.errors import InputError
from likely.sums import state
from likely.table.arrow import pack_table, unpack_table
from likely.table.formats import memory
from likely.table.formats.memory import FrameKind, named_table, stack_tables
from likely.table.open import open_source

TABLE: dict[str, list[Any]] = {
    "a 'b' = [red]": ["x", "y", "x", None, "y", "x"],
    "n": [1.5, 2.5, None, 8.0, 9.5, 7.25],
    "<play>": ["no", "no", "no", "yes", "yes", "yes"],
}
NEW = {name: values for name, values in TABLE.items() if name != "<play>"}


@pytest.fixture(scope="module")
def model() -> likely.Model:
    return likely.fit(TABLE, "<play>", types={"n": "number"})


def test_pandas_keeps_its_index(model: likely.Model) -> None:
    index = pd.MultiIndex.from_tuples([(1, "a"), (1, "b"), (2, "a"), (2, "a"), (0, ""), (9, "z")], names=["k", "l"])
    frame = pd.DataFrame(NEW, index=index)
    found, posterior = model.predict(frame), model.posterior(frame)
    assert isinstance(found, pd.Series) and found.name == "prediction" and found.index.equals(index)
    assert found.tolist() == posterior.best
    whole = posterior.frame()
    assert isinstance(whole, pd.DataFrame) and whole.index.equals(index)
    assert list(whole.columns) == ["prediction", "p(no)", "p(yes)"]
    np.testing.assert_array_equal(whole[["p(no)", "p(yes)"]], posterior.matrix)
    density = model.log_density(frame)
    assert isinstance(density, pd.Series) and density.index.equals(index)
    decision = likely.decide(model, frame, {"no": {"go": 9}, "yes": {"stay": 1}})
    assert decision.frame().index.equals(index) and decision.frame()["action"].tolist() == decision.action


def test_polars_and_pyarrow_get_their_own_kind(model: likely.Model) -> None:
    best = model.predict(NEW)
    assert isinstance(best, list)
    assert isinstance(model.predict(pl.DataFrame(NEW)), pl.Series)
    assert model.predict(pl.DataFrame(NEW)).to_list() == best
    assert isinstance(model.posterior(pl.DataFrame(NEW)).frame(), pl.DataFrame)
    assert isinstance(model.predict(pa.table(NEW)), pa.ChunkedArray)
    assert model.predict(pa.table(NEW)).to_pylist() == best
    assert isinstance(model.posterior(pa.table(NEW)).frame(), pa.Table)
    assert model.posterior(NEW).frame()["prediction"].to_pylist() == best
    assert isinstance(model.predict({"n": 9.0}), str)


def test_frames_without_rows_and_rows_without_a_class(model: likely.Model) -> None:
    empty = pd.DataFrame(NEW).iloc[:0]
    assert model.predict(empty).empty and "p(no)" in model.posterior(empty).frame().columns
    strict = likely.fit({"a": ["x", "y"] * 3, "c": ["u", "v"] * 3}, "c", likely.NaiveBayes(pseudo_count=0))
    frame = pd.DataFrame({"a": ["x", "z"]}, index=[7, 3])
    sure = likely.fit({"a": ["x", "y"] * 3, "b": ["x", "y"] * 3, "c": ["u", "v"] * 3}, "c", strict.learner)
    found = sure.predict(pd.DataFrame({"a": ["x", "x"], "b": ["x", "y"]}, index=[7, 3]))
    assert found[7] == "u" and pd.isna(found[3])
    assert strict.predict(frame).index.tolist() == [7, 3]


def test_a_regression_answers_a_frame_by_a_column() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0], "y": [3.0, 5.0, 9.0]}, index=["p", "q", "r"])
    found = likely.regress(frame, "y", types={"x": "number"}).predict(frame)
    assert isinstance(found, pd.Series) and found.name == "y" and found.index.tolist() == ["p", "q", "r"]
    np.testing.assert_allclose(found, frame["y"])


def test_what_is_no_frame_has_no_kind() -> None:
    for data in ({"a": [1]}, [{"a": 1}], "file.csv", np.zeros((2, 2)), pl.Series([1]), pd.Series([1])):
        assert FrameKind.of(data) is None


def test_tables_one_below_the_other_need_not_agree_on_types() -> None:
    one = named_table(pd.DataFrame({"a": [None, None], "b": pd.Categorical(["u", "v"])}), ["a", "b"])
    two = named_table(pd.DataFrame({"a": ["x", None], "b": ["w", "u"]}), ["a", "b"])
    three = named_table(np.array([[1, 2]]), ["n", "m"])
    four = named_table(np.array([[1.5, 2.0]]), ["n", "m"])
    both = stack_tables([one, two]).table.to_pydict()
    assert both == {"a": [None, None, "x", None], "b": ["u", "v", "w", "u"]}
    assert stack_tables([three, four]).table.to_pydict() == {"n": [1.0, 1.5], "m": [2.0, 2.0]}
    assert unpack_table(pack_table(two.table)).equals(two.table)


ROWS = [
    {"a": 1, "b": 2.5, "c": "x", "d": None, "e": True, "f": float("nan")},
    {"a": np.float64(3), "b": np.int32(4), "c": np.str_("q"), "d": np.bool_(True), "e": np.float32(0.1)},
    {"a": date(2020, 1, 1), "b": datetime(2020, 1, 1, 3), "c": Decimal("1.5"), "d": b"xy"},
    {"a": 2**63, "b": -(2**63), "c": 2**70},
    {"a": {"x": 1}, "b": np.datetime64("2020-01-01")},
    {"a": "1", "b": 7},
    {"b": "z"},
    {"a": True},
]


@pytest.mark.parametrize("row", range(len(ROWS)))
def test_one_row_makes_the_table_that_its_columns_make(row: int, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = open_source([ROWS[row]]).table  # type: ignore[attr-defined]
    monkeypatch.setattr(memory, "_of_one_row", lambda row: None)
    assert quick.equals(open_source([ROWS[row]]).table)  # type: ignore[attr-defined]


# Pieces that threads read side by side are the rows of the table: the same sums from row groups, chunks and files.


MANY_ROWS = 3000


def table() -> pa.Table:
    draw = np.random.default_rng(5)
    names = pa.array(["red", "green", "blue", "", "NA", None])
    codes = pa.array(draw.integers(0, 6, MANY_ROWS).astype(np.int32), mask=draw.random(MANY_ROWS) < 0.1)
    return pa.table(
        {
            "colour": pa.DictionaryArray.from_arrays(codes, names),
            "plain": pa.array(draw.choice(["x", "y", "é"], MANY_ROWS)),
            "number": pa.array(draw.normal(size=MANY_ROWS), mask=draw.random(MANY_ROWS) < 0.1),
            "whole": pa.array(draw.integers(-5, 5, MANY_ROWS)),
            "truth": pa.array(draw.random(MANY_ROWS) < 0.3),
            "class": pa.array(draw.choice(["p", "q"], MANY_ROWS)),
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


@pytest.mark.parametrize("group", [100, 999, MANY_ROWS])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_row_groups_change_nothing(tmp_path: Path, group: int, threads: int) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(plain(), path, row_group_size=group)
    assert open_source(path).piece_count == -(-MANY_ROWS // group)
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
    weights = np.ones(MANY_ROWS)
    weights[2500] = -1
    path = tmp_path / "t.parquet"
    pq.write_table(plain().append_column("w", pa.array(weights)), path, row_group_size=300)
    with pytest.raises(likely.errors.ColumnError, match="weight in row 2501 "):
        likely.summarize(path, "class", weight="w", threads=2)
