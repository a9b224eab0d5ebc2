"""What pandas' own to_json writes, in every orient: read as the table it was, or refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from table.reading import rows

import likely
from likely.errors import InputError
from likely.testing import bits

FRAME = pd.DataFrame(
    {"x": [1.5, None, 3.0] * 9, "n": [3, 1, 2] * 9, "s": ["a", "ü", None] * 9, "y": ["b", "a", "a"] * 9}
)


@pytest.mark.parametrize("orient", ["columns", "index", "records", "split", "table"])
@pytest.mark.parametrize("indent", [None, 2])
def test_every_orient_with_names_gives_the_same_rows(orient: str, indent: int | None, tmp_path: Path) -> None:
    FRAME.to_json(tmp_path / "t.json", orient=orient, indent=indent)  # type: ignore[call-overload]
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    wanted = likely.summarize(tmp_path / "t.csv", "y").canonical()
    found = likely.summarize(tmp_path / "t.json", "y").canonical()
    assert rows(tmp_path / "t.json") == json.loads(FRAME.to_json(orient="records"))
    assert bits(found.with_schema(wanted.schema)) == bits(wanted)


def test_a_list_for_each_column(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps({"a": [1, 2], "b": ["x", None]}))
    assert rows(tmp_path / "t.json") == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]
    pl.DataFrame({"a": [1, 2]}).write_json(tmp_path / "p.json")
    assert rows(tmp_path / "p.json") == [{"a": 1}, {"a": 2}]


def test_lines_with_nested_values_stay_lines(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('{"a":{"b":1},"c":2}\n{"a":{"b":2},"c":3}\n')
    assert [row["c"] for row in rows(tmp_path / "t.json")] == [2, 3]
    (tmp_path / "one.json").write_text('{"a":{"b":1},"c":2}')
    assert [row["c"] for row in rows(tmp_path / "one.json")] == [2]


def test_what_cannot_be_told_is_a_sentence(tmp_path: Path) -> None:
    FRAME.to_json(tmp_path / "v.json", orient="values")
    with pytest.raises(InputError, match=r"list of lists, so its columns have no names.*orient='records'"):
        likely.summarize(tmp_path / "v.json")
    FRAME.iloc[:2].set_index(pd.Index(["p", "q"])).to_json(tmp_path / "n.json")
    with pytest.raises(InputError, match="which are the columns"):
        likely.summarize(tmp_path / "n.json")
    (tmp_path / "s.json").write_text('{"columns":["a","b"],"data":[[1,2],[3]]}')
    with pytest.raises(InputError, match=r"Row 2 of the data of s.json"):
        likely.summarize(tmp_path / "s.json")
