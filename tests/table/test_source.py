"""Opening tables: every kind of thing that holds a table gives the same rows, again and again, or a sentence."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from table.reading import open_source

from likely.errors import ColumnError, InputError

SHARED = Path(__file__).parents[3] / "shared"
shared = pytest.mark.skipif(not SHARED.exists(), reason="the folder ../shared of real tables is absent")
PLAY = {"outlook": ["sunny", "rainy", None], "windy": ["no", "yes", "no"], "hours": [1, None, 3]}


def rows(source: Any, columns: list[str] | None = None) -> dict[str, list[object]]:
    names = source.resolve_columns(columns)
    read: dict[str, list[object]] = {n: [] for n in names}
    for batch in source.batches(columns):
        assert batch.schema.names == names
        for name, values in batch.to_pydict().items():
            read[name] += values
    return read


def refused(data: object, *parts: str, kind: type[Exception] = InputError) -> str:
    """The sentence with which `data` is refused, at opening or at the first sweep; it holds all `parts`."""
    with pytest.raises(kind) as caught:
        for _ in open_source(data).batches():
            pass
    text = str(caught.value)
    for part in parts:
        assert part in text
    assert text.endswith((".", "?"))
    assert "\n" not in text
    return text


@pytest.fixture
def table() -> pa.Table:
    return pa.table(PLAY)


def test_a_source_is_returned_unchanged() -> None:
    source = open_source(PLAY)
    assert open_source(source) is source


def test_a_dict_of_columns_is_a_table() -> None:
    source = open_source(PLAY)
    assert rows(source) == PLAY == rows(source)
    assert (source.rows, source.name, source.declared, source.notes) == (3, "the table", {}, ())
    assert rows(source, ["hours", "outlook"]) == {"hours": PLAY["hours"], "outlook": PLAY["outlook"]}


def test_no_columns_still_count_the_rows() -> None:
    assert sum(b.num_rows for b in open_source(PLAY).batches([])) == 3


def test_values_of_several_types_become_text() -> None:
    columns = {"x": [1, "a", None, 2.5, float("nan")], "y": np.array([1.0, 2, 3, 4, 5]), "z": [2**70, 1, 2, 3, 4]}
    source = open_source(columns)
    assert rows(source)["x"] == ["1", "a", None, "2.5", None]
    assert rows(source)["z"][0] == str(2**70)


def test_a_list_of_dicts_has_the_names_in_order_of_appearance() -> None:
    source = open_source([{"b": 1}, {"a": "x", "b": 2}])
    assert source.schema.names == ["b", "a"]
    assert rows(source) == {"b": [1, 2], "a": [None, "x"]}


def test_a_dict_of_single_values_is_one_row() -> None:
    source = open_source({"age": 39, "job": "clerk", "gone": None})
    assert rows(source) == {"age": [39], "job": ["clerk"], "gone": [None]}


def test_columns_of_unequal_length_are_refused() -> None:
    refused({"a": [1, 2], "b": [1]}, "'b'", "1 rows", "'a'", kind=ColumnError)
    refused({"a": [1, 2], "b": 1}, "'b'", "Put it into a list", kind=ColumnError)
    refused({"a": np.zeros((2, 2))}, "'a'", "2 dimensions", kind=ColumnError)


def test_what_is_no_table_is_refused() -> None:
    refused(np.zeros((2, 2)), "ndarray", "dict(zip(names, X.T))")
    refused(3, "int")
    refused([], "empty")
    refused({}, "no columns", kind=ColumnError)
    refused([{"a": 1}, 2], "Row 2")
    refused(pa.array([1, 2]), "column")


def test_arrow_tables_batches_and_readers(table: pa.Table) -> None:
    for data in (table, table.to_batches()[0], table.to_reader(), table.to_batches()[0].to_struct_array()):
        source = open_source(data)
        assert rows(source) == PLAY == rows(source)


def test_many_tiny_chunks(table: pa.Table) -> None:
    source = open_source(pa.concat_tables([table.slice(i % 3, 1) for i in range(900)]))
    assert rows(source)["windy"] == PLAY["windy"] * 300
    assert len([*source.batches()]) == 1


def test_pandas_without_its_index() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1, "x", None], 7: ["p", None, "q"]}, index=["i", "j", "k"])
    assert rows(open_source(frame)) == {"a": ["1", "x", None], "7": ["p", None, "q"]}
    assert rows(open_source(frame[[7]])) == {"7": ["p", None, "q"]}
    frame = pd.DataFrame({"c": pd.Categorical(["u", "v", None]), "d": [True, False, True]}).set_index("d")
    assert rows(open_source(frame)) == {"c": ["u", "v", None]}
    refused(pd.DataFrame([[1, 2]], columns=["a", "a"]), "'a'", kind=ColumnError)


def test_polars_and_duckdb() -> None:
    pl, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    frame = pl.DataFrame({"t": ["a", None], "c": pl.Series(["x", "y"], dtype=pl.Categorical), "n": [1, 2]})
    source = open_source(frame)
    assert rows(source) == {"t": ["a", None], "c": ["x", "y"], "n": [1, 2]} == rows(source)
    assert source.schema.field("t").type in (pa.string(), pa.large_string())
    source = open_source(duckdb.sql("select i, i::varchar as t from range(3) r(i)"))
    assert rows(source) == {"i": [0, 1, 2], "t": ["0", "1", "2"]} == rows(source)


def test_doubled_and_unknown_columns(table: pa.Table) -> None:
    refused(table.rename_columns(["a", "a", "b"]), "'a'", "own name", kind=ColumnError)
    with pytest.raises(ColumnError, match="Did you mean 'outlook'"):
        next(open_source(table).batches(["outlok"]))


def test_parquet_with_dotted_and_nested_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = pa.table({"a.b": ["x", "y"], "a": [1, 2], "n": [{"k": 1}, {"k": 2}], "é, \n": ["p", "q"]})
    pq.write_table(table, path)
    source = open_source(path)
    assert source.rows == 2
    assert rows(source) == table.to_pydict() == rows(source)
    assert rows(source, ["a"]) == {"a": [1, 2]}
    assert rows(source, ["é, \n", "a.b"]) == {"é, \n": ["p", "q"], "a.b": ["x", "y"]}
    assert pa.types.is_struct(source.schema.field("n").type)


def test_parquet_keeps_the_order_over_row_groups(tmp_path: Path) -> None:
    table = pa.table({"i": list(range(200_000)), "s": [str(i % 70) for i in range(200_000)]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=30_000)
    source = open_source(tmp_path / "t.parquet")
    assert rows(source, ["s", "i"]) == {"s": table["s"].to_pylist(), "i": table["i"].to_pylist()}
    assert max(b.num_rows for b in source.batches()) <= 1 << 17


def test_arrow_files_and_streams(tmp_path: Path, table: pa.Table) -> None:
    for name, writer in (("t.arrow", pa.ipc.new_file), ("s.arrow", pa.ipc.new_stream)):
        with writer(tmp_path / name, table.schema) as file:
            file.write_table(table)
            file.write_table(table)
        source = open_source(tmp_path / name)
        assert rows(source) == {k: v * 2 for k, v in PLAY.items()} == rows(source)
        assert rows(source, ["hours"]) == {"hours": PLAY["hours"] * 2}
        assert sum(b.num_rows for b in source.batches([])) == 6


def test_json_lines(tmp_path: Path) -> None:
    text = '{"a":1,"t":"x","n":{"k":[1,2]},"m":1,"b":true}\n\n{"t":"y","m":"z","l":[1],"b":false,"a":2.5}\n'
    expected = {"a": [1.0, 2.5], "t": ["x", "y"], "n": ['{"k":[1,2]}', None]}
    expected |= {"m": ["1", "z"], "b": [True, False], "l": [None, "[1]"]}
    (tmp_path / "t[1].jsonl").write_text(text)
    (tmp_path / "packed.ndjson.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "latin.json").write_bytes(text.replace("y", "é").encode("latin-1"))
    (tmp_path / "nameless").write_text(text)
    (tmp_path / "array.json").write_text("[" + ",".join(text.split()) + "]")
    for name in ("t[1].jsonl", "packed.ndjson.gz", "nameless", "array.json"):
        source = open_source(tmp_path / name)
        assert rows(source) == expected == rows(source)
        assert rows(source, ["l", "a"]) == {"l": expected["l"], "a": expected["a"]}
    assert rows(open_source(tmp_path / "latin.json"))["t"] == ["x", "é"]


def test_json_that_is_none(tmp_path: Path) -> None:
    for text, part in (('{"a":1}\n{"a":\n', "line"), ("1\n2\n", "objects"), ("\n", "empty")):
        path = tmp_path / "t.jsonl"
        path.write_text(text)
        assert str(tmp_path) not in refused(path, "t.jsonl", part)


def test_a_column_of_json_that_changes_its_type_late(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f'{{"a":{i}}}\n' for i in range(50_000)) + '{"a":"x"}\n')
    assert rows(open_source(path))["a"][-2:] == ["49999", "x"]


def test_folders_and_globs(tmp_path: Path, table: pa.Table) -> None:
    for i in (2, 1, 3):
        pq.write_table(table.slice(i - 1, 1), tmp_path / f"part-{i}.parquet")
        (tmp_path / f"log-{i}.csv").write_text(f"a,b\n{i},x\n" if i < 3 else "b;a\ny;3\n")
    (tmp_path / "_SUCCESS").touch()
    refused(tmp_path, "different formats", "*.csv")
    source = open_source(str(tmp_path / "*.parquet"))
    assert rows(source) == PLAY == rows(source)
    assert source.rows == 3
    source = open_source(tmp_path / "log-*.csv")
    assert rows(source) == {"a": ["1", "2", "3"], "b": ["x", "x", "y"]}
    assert source.notes[0].startswith("3 files")
    for i in (1, 2, 3):
        (tmp_path / f"log-{i}.csv").unlink()
    assert rows(open_source(tmp_path)) == PLAY


def test_files_that_disagree(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1], "b": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [1.5], "b": [2]}), tmp_path / "2.parquet")
    assert rows(open_source(tmp_path)) == {"a": [1.0, 1.5], "b": [1, 2]}
    pq.write_table(pa.table({"a": ["x"], "b": [2]}), tmp_path / "3.parquet")
    refused(tmp_path, "'a'", "1.parquet", "3.parquet", kind=ColumnError)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "3.parquet")
    refused(tmp_path, "3.parquet has no column 'b'", kind=ColumnError)


def test_paths_without_a_table(tmp_path: Path) -> None:
    (tmp_path / "weather.csv").write_text("a\n1\n")
    refused(tmp_path / "wether.csv", "There is no file", "weather.csv'?")
    refused(tmp_path / "no" / "x.csv", "There is no folder")
    refused(str(tmp_path / "*.tsv"), "No file matches")
    refused("https://example.org/x.csv", "address")
    refused("", "empty")
    (tmp_path / "sub").mkdir()
    refused(tmp_path / "sub", "holds no table")
    (tmp_path / "empty.csv").touch()
    refused(tmp_path / "empty.csv", "empty.csv is empty")
    (tmp_path / "blank.csv").write_text("\n  \n")
    refused(tmp_path / "blank.csv", "blank.csv is empty")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="every file may be read here")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    (tmp_path / "t.csv").chmod(0)
    refused(tmp_path / "t.csv", "may not be read")


def test_damaged_files(tmp_path: Path, table: pa.Table) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    refused(path, "t.parquet is not a sound Parquet file")
    path.write_bytes(b"a,b\n1,2\n")
    refused(path, "t.parquet is not a sound Parquet file")
    middle = bytearray(whole)
    middle[4:60] = b"\xff" * 56
    path.write_bytes(middle)
    refused(path, "t.parquet")
    packed = gzip.compress(b"a,b\n" + os.urandom(3000).hex().encode() + b",2\n")
    (tmp_path / "t.csv.gz").write_bytes(packed[:-20])
    refused(tmp_path / "t.csv.gz", "t.csv.gz", "compressed data")
    (tmp_path / "n.csv.gz").write_bytes(b"a,b\n1,2\n")
    refused(tmp_path / "n.csv.gz", "named as if")
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04\x00\x00")
    refused(tmp_path / "t.xlsx", "not a sound workbook")


class Piped(io.StringIO):
    """Standard input as a program sees it: a text stream over bytes."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.content = io.BytesIO(content)

    @property
    def buffer(self) -> io.BytesIO:  # type: ignore[override]
        return self.content


def test_standard_input_is_known_by_content(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, table: pa.Table) -> None:
    pq.write_table(table, tmp_path / "t")
    text = b"a;b\n1;x\n"
    cases = {
        (tmp_path / "t").read_bytes(): PLAY,
        text: {"a": ["1"], "b": ["x"]},
        gzip.compress(text): {"a": ["1"], "b": ["x"]},
        b' {"a": 1}\n': {"a": [1]},
        b"% note\n@RELATION r\n@attribute a numeric\n@data\n1\n": {"a": ["1"]},
    }
    for content, expected in cases.items():
        monkeypatch.setattr(sys, "stdin", Piped(content))
        source = open_source("-")
        assert rows(source) == expected == rows(source) == rows(open_source("-"))
        assert source.name == "standard input"
    monkeypatch.setattr(sys, "stdin", Piped(b""))
    refused("-", "standard input is empty")


def test_an_open_file_is_spooled() -> None:
    source = open_source(io.StringIO("a,b\n1,2\n"))
    assert rows(source) == {"a": ["1"], "b": ["2"]} == rows(source)


@shared
def test_real_tables() -> None:
    data = SHARED / "data"
    adult = open_source(data / "adult.csv")
    assert (len(adult.schema.names), len(rows(adult, ["income"])["income"])) == (15, 48_842)
    for name, count in (("sms_spam", 5_574), ("20news_bydate", 18_846), ("flights-3m", 3_000_000)):
        source = open_source(data / f"{name}.parquet")
        assert source.rows == sum(b.num_rows for b in source.batches(source.schema.names[:2])) == count
