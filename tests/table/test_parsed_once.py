"""A remembered source gives the batches of the source itself, and parses a small text file once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import likely
from likely.table.formats import delimited
from likely.table.open import open_source
from likely.table.wrappers import parsed_once


@pytest.fixture
def sweeps(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The columns of every sweep over a text file."""
    out: list[list[str]] = []
    plain = delimited.DelimitedSource.batches

    def counted(self: Any, columns: Sequence[str] | None = None) -> Iterator[Any]:
        out.append(list(columns or self.schema.names))
        return plain(self, columns)

    monkeypatch.setattr(delimited.DelimitedSource, "batches", counted)
    return out


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "a.csv"
    file.write_text("a,b,c\n" + "".join(f"{k},x{k % 7},{'pq'[k % 2]}\n" for k in range(5000)))
    return file


def rows(source: Any, columns: Sequence[str] | None = None) -> Any:
    return pa.Table.from_batches(list(source.batches(columns)))


def test_the_same_rows_from_one_sweep(path: Path, sweeps: list[list[str]]) -> None:
    plain, source = open_source(path), parsed_once.parse_once(open_source(path))
    want = {some: rows(plain, some) for some in (("a", "b", "c"), ("c", "a"), ("b",))}
    sweeps.clear()
    for some, table in want.items():
        assert rows(source, some) == table
    assert len(sweeps) == 1
    assert rows(source) == want["a", "b", "c"] and len(sweeps) == 1
    assert sum(b.num_rows for b in source.batches([])) == sum(b.num_rows for b in plain.batches([]))
    with pytest.raises(likely.LikelyError, match="no column 'd'"):
        rows(source, ["d"])


def test_what_was_broken_off_is_taken_up_and_what_is_too_much_is_not_kept(
    path: Path, sweeps: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = parsed_once.parse_once(open_source(path))
    next(iter(source.batches(["a"])))
    assert rows(source, ["a"]).num_rows == 5000 and rows(source, ["a", "b"]).num_rows == 5000
    assert sweeps == [["a"], ["a", "b"]]
    source = parsed_once.parse_once(open_source(path))
    sweeps.clear()
    next(iter(source.batches(["a"])))
    assert rows(source, ["b"]).num_rows == 5000 and rows(source, ["a"]).num_rows == 5000
    assert sweeps == [["a"], ["b"], ["a"]]  # another one is begun anew
    monkeypatch.setattr(parsed_once, "MOST_BYTES", 1000)
    source = parsed_once.parse_once(open_source(path))
    sweeps.clear()
    assert rows(source, ["a"]) == rows(source, ["a"]) and len(sweeps) == 2


def test_frames_are_left_as_they_are_and_a_look_parses_once(path: Path, sweeps: list[list[str]]) -> None:
    frame = open_source({"a": [1, 2]})
    assert parsed_once.parse_once(frame) is frame
    likely.look(path, "c")
    assert len(sweeps) == 1


def test_text_in_another_encoding(tmp_path: Path) -> None:
    """The first sweep breaks off where the text proves not to be UTF-8."""
    file = tmp_path / "b.csv"
    lines = [f"{k},{'Käse' if k > 190_000 else 'Brot'},{'pq'[k % 2]}\n" for k in range(200_000)]
    file.write_bytes(("a,b,c\n" + "".join(lines)).encode("latin-1"))
    record = likely.look(file, "c", folds=2)
    assert record.rows == 200_000 and record.columns[1].name == "b"
