"""A remembered source gives the batches of the source itself, and parses a small text file once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import likely
from likely.table import wrappers
from likely.table.formats import delimited
from likely.table.open import open_source


@pytest.fixture
def sweeps(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The columns of every sweep over a text file."""
    out: list[list[str]] = []

    def count(name: str) -> None:
        plain = getattr(delimited.DelimitedSource, name)

        def counted(self: Any, columns: Sequence[str] | None = None) -> Iterator[Any]:
            out.append(list(columns or self.schema.names))
            yield from plain(self, columns)

        monkeypatch.setattr(delimited.DelimitedSource, name, counted)

    count("batches")
    count("pieces")
    return out


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "a.csv"
    file.write_text("a,b,c\n" + "".join(f"{k},x{k % 7},{'pq'[k % 2]}\n" for k in range(5000)))
    return file


def rows(source: Any, columns: Sequence[str] | None = None) -> Any:
    return pa.Table.from_batches(list(source.batches(columns)))


def test_the_same_rows_from_one_sweep(path: Path, sweeps: list[list[str]]) -> None:
    plain, source = open_source(path), wrappers.parse_once(open_source(path))
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
    source = wrappers.parse_once(open_source(path))
    next(iter(source.batches(["a"])))
    assert rows(source, ["a"]).num_rows == 5000 and rows(source, ["a", "b"]).num_rows == 5000
    assert sweeps == [["a"], ["a", "b"]]
    source = wrappers.parse_once(open_source(path))
    sweeps.clear()
    next(iter(source.batches(["a"])))
    assert rows(source, ["b"]).num_rows == 5000 and rows(source, ["a"]).num_rows == 5000
    assert sweeps == [["a"], ["b"], ["a"]]  # another one is begun anew
    monkeypatch.setattr(wrappers, "MOST_BYTES", 1000)
    source = wrappers.parse_once(open_source(path))
    sweeps.clear()
    assert rows(source, ["a"]) == rows(source, ["a"]) and len(sweeps) == 2


def test_frames_are_left_as_they_are_and_a_look_parses_once(path: Path, sweeps: list[list[str]]) -> None:
    frame = open_source({"a": [1, 2]})
    assert wrappers.parse_once(frame) is frame
    likely.look(path, "c")
    assert len(sweeps) == 1


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """Rows of several blocks."""
    return [f"{k},{'x' * (k % 90)} {k % 7},{'pq'[k % 2]}\n" for k in range(120_000)]


def test_blocks_are_read_by_threads_in_the_order_of_the_file(tmp_path: Path, lines: list[str]) -> None:
    file = tmp_path / "large.csv"
    lines = [*lines]
    lines[70_000] = '70000," a ""quoted""\nline",q\n'
    lines[90_000] = "   \n"  # a line of blanks, which only Arrow's parser passes over
    lines[100_000] = "100000, é ,p\n"
    file.write_text("a,b,c\n" + "".join(lines), encoding="utf-8")
    plain, source = open_source(file), wrappers.parse_once(open_source(file))
    for columns in (None, ["c", "a"], ["b"]):
        assert rows(source, columns) == rows(plain, columns)
    assert source.notes == plain.notes


@pytest.mark.parametrize("broken", ["1,2\n", "1,2,3,4\n", '1,"never closed,3\n', "1,\0,3\n"])
def test_what_is_wrong_is_told_as_by_one_sweep(tmp_path: Path, lines: list[str], broken: str) -> None:
    file = tmp_path / "large.csv"
    file.write_text("a,b,c\n" + "".join(lines) + broken + "2,b,p\n")
    said = []
    for source in (open_source(file), wrappers.parse_once(open_source(file))):
        with pytest.raises(likely.LikelyError) as error:
            rows(source)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_text_in_another_encoding(tmp_path: Path) -> None:
    """The first sweep breaks off where the text proves not to be UTF-8."""
    file = tmp_path / "b.csv"
    lines = [f"{k},{'Käse' if k > 190_000 else 'Brot'},{'pq'[k % 2]}\n" for k in range(200_000)]
    file.write_bytes(("a,b,c\n" + "".join(lines)).encode("latin-1"))
    record = likely.look(file, "c", folds=2)
    assert record.rows == 200_000 and record.columns[1].name == "b"
