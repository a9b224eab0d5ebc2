"""Delimited text: its dialects, and that it is parsed once."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely.errors import ColumnError, EncodingError, InputError, SettingError
from likely.table import wrappers
from likely.table.formats import delimited
from likely.table.formats import delimited as layout
from likely.table.open import open_source
from likely.table.source import Source


def rows(source: Source) -> list[list[str]]:
    """Header and rows, as they are written."""
    read = [list(r.values()) for batch in source.as_written().batches() for r in batch.to_pylist()]
    return [source.schema.names, *read]


@pytest.fixture
def written(tmp_path: Path):  # type: ignore[no-untyped-def]
    def write(content: str | bytes, name: str = "t.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(path: Path, *parts: str, kind: type[Exception] = InputError) -> None:
    with pytest.raises(kind) as caught:
        rows(open_source(path))
    for part in parts:
        assert part in str(caught.value)


CELL = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=12) | st.text(
    ',;|\t"\n\r a1é', max_size=8
)


@st.composite
def grids(draw: st.DrawFn) -> list[list[str]]:
    width = draw(st.integers(2, 5))
    return draw(st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=6))


@given(grid=grids(), delimiter=st.sampled_from(",;|\t"), end=st.sampled_from(["\n", "\r\n"]), bom=st.booleans())
@settings(deadline=None, max_examples=150)
def test_any_table_of_texts_comes_back(grid: list[list[str]], delimiter: str, end: str, bom: bool) -> None:
    text = io.StringIO(newline="")
    # csv's writer quotes a lone carriage return only where it may be part of the line's end.
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    header = [f"c{i}" for i in range(len(grid[0]))]
    writer.writerows([header, *grid])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(text.getvalue().encode("utf-8-sig" if bom else "utf-8"))
        source = open_source(path, delimiter=delimiter)
        assert rows(source) == [header, *grid] == rows(source)


@given(names=st.lists(CELL.map(str.strip).filter(bool), min_size=2, max_size=5, unique=True), grid=grids())
@settings(deadline=None, max_examples=100)
def test_any_names_come_back(names: list[str], grid: list[list[str]]) -> None:
    text = io.StringIO(newline="")
    body = [(row * 5)[: len(names)] for row in grid]
    csv.writer(text).writerows([names, *body])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(text.getvalue().encode())
        assert rows(open_source(path, delimiter=",")) == [names, *body]


@pytest.mark.parametrize(
    ("text", "name", "expected", "note"),
    [
        ("a,b\n1,2\n", "t.csv", [["a", "b"], ["1", "2"]], None),
        ("a;b\n1,5;2,5\n3,5;4\n", "t.csv", [["a", "b"], ["1,5", "2,5"], ["3,5", "4"]], "';'"),
        ("a\tb\n1\t2, 3\n", "t.tsv", [["a", "b"], ["1", "2, 3"]], None),
        ("a\tb\n1\t2\n", "t.txt", [["a", "b"], ["1", "2"]], "a tab"),
        ("a|b|c\n1|2|x, y\n", "t.csv", [["a", "b", "c"], ["1", "2", "x, y"]], "'|'"),
        ("a b c\n1 2 3\n4 5 6\n", "t.dat", [["a", "b", "c"], ["1", "2", "3"], ["4", "5", "6"]], "a blank"),
        ("x\n1\n\n2\n", "t.csv", [["x"], ["1"], ["2"]], None),
        ("text\nHello, you\nbye\n", "t.txt", [["text"]], None),
        ("sep=;\na;b\n1;2\n", "t.csv", [["a", "b"], ["1", "2"]], None),
        ('a,"b\nc",""\n1,"2\n,""3""",\n', "t.csv", [["a", "b\nc", "column 3"], ["1", '2\n,"3"', ""]], None),
        (" a , b\n 1, x \n", "t.csv", [["a", "b"], [" 1", " x "]], None),
        ("\n  \na,b\n\n1,2\n   \n3,4", "t.csv", [["a", "b"], ["1", "2"], ["3", "4"]], None),
        ("a,b\r1,2\r3,4\r", "t.csv", [["a", "b"], ["1", "2"], ["3", "4"]], None),
        ("a,b\n", "t.csv", [["a", "b"]], None),
        ("a,b", "t.csv", [["a", "b"]], None),
        ("a,b\n\n \n", "t.csv", [["a", "b"]], None),
        ("1,2\n3,4\n", "t.csv", [["1", "2"], ["3", "4"]], "all numbers"),
        ("a,b\nNA,null\n,?\n", "t.csv", [["a", "b"], ["NA", "null"], ["", "?"]], None),
    ],
)
def test_layouts(written, text: str, name: str, expected: list[list[str]], note: str | None) -> None:  # type: ignore[no-untyped-def]
    source = open_source(written(text, name))
    if len(expected) > 1 or "," not in text.split("\n", 1)[-1]:
        assert rows(source) == expected
    assert source.schema.names == expected[0]
    assert source.notes == () if note is None else note in " ".join(source.notes)


def test_compressed_text(written) -> None:  # type: ignore[no-untyped-def]
    text = b"a,b\n1,\xc3\xa9\n"
    zstd = pa.BufferOutputStream()
    with pa.CompressedOutputStream(zstd, "zstd") as stream:
        stream.write(text)
    packed = {
        "t.csv.gz": gzip.compress(text),
        "t.csv.zst": zstd.getvalue().to_pybytes(),
        "t.csv.bz2": bz2.compress(text),
        "hidden.csv": gzip.compress(text[:4]) + gzip.compress(text[4:]),
    }
    for name, content in packed.items():
        source = open_source(written(content, name))
        assert rows(source) == [["a", "b"], ["1", "é"]] == rows(source)


def test_encodings(written) -> None:  # type: ignore[no-untyped-def]
    text = "näme,€uro\n1,“ü”\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"):
        assert rows(open_source(written(text.encode(encoding)))) == [["näme", "€uro"], ["1", "“ü”"]]
    assert "latin-1" in open_source(written(text.encode("cp1252"))).notes[0]
    assert "line 1" in open_source(written(text.encode("cp1252"))).notes[0]
    assert rows(open_source(written(b"a,b\n1,\x81\xe9\n"))) == [["a", "b"], ["1", "\x81é"]]
    assert rows(open_source(written(text.encode("cp1250")), encoding="cp1250"))[1] == ["1", "“ü”"]
    marked = written(text.encode("utf-16"))
    assert rows(open_source(marked, encoding="utf-16-le")) == rows(open_source(marked, encoding="utf-16"))
    with pytest.raises(SettingError, match="no text encoding 'klingon'"):
        open_source(written(text), encoding="klingon")
    with pytest.raises(EncodingError, match=r"Line 2 of t.csv is not valid UTF-8"):
        open_source(written(b"a,b\n1,\xe9\n"), encoding="utf-8")


def test_bytes_that_turn_up_late_can_be_read_in_another_encoding(written) -> None:  # type: ignore[no-untyped-def]
    path = written(b"a,b\n" + b"1,x\n" * 400_000 + b"2,\xe9\n")
    source = open_source(path)
    with pytest.raises(EncodingError, match=r"Line 400,002 of t.csv is not valid UTF-8 \(byte 0xe9\)"):
        rows(source)
    assert rows(source.reopen("latin-1"))[-1] == ["2", "é"]


def test_ragged_rows_are_told_with_their_line(written) -> None:  # type: ignore[no-untyped-def]
    refused(written('a,b\n1,"x\ny"\n\n3\n'), "Line 5 of t.csv has 1 cell where the header has 2")
    refused(written("a,b\n1,2\n3,4,5\n"), "Line 3 of t.csv has 3 cells", "double quotes")
    refused(written("a,b\n1,2,\n3,4,\n"), "Line 2", "off the end")
    refused(written("a,b\n1,2,3\n3,4,5\n"), "Line 2", "header")
    refused(written("My table\na,b,c\n1,2,3\n4,5,6\n"), "The first row of t.csv has one cell where others have more")
    refused(written("a,b\n" + "1,2\n" * 900_000 + "3\n"), "Line 900,002")


def test_a_quote_that_is_never_closed(written) -> None:  # type: ignore[no-untyped-def]
    refused(written('a,b\n1,2\n3,"4\n5,6\n'), "starts on line 3", "never closed")
    refused(written('a,b\n1,2\n"3,4\n5,6\n'), "Line 3", "never closed")
    assert rows(open_source(written('a,b\n1,"2\n"\n')))[1] == ["1", "2\n"]


def test_nul_bytes(written) -> None:  # type: ignore[no-untyped-def]
    refused(written(b"a,b\n1,2\n3,\0\n"), "Line 3 of t.csv contains a NUL", "binary")
    refused(written("a,b\n1,2\n".encode("utf-16-le")), "NUL", "utf-16-le")
    assert rows(open_source(written("a,b\n1,2\n".encode("utf-16-le")), encoding="utf-16-le"))[1] == ["1", "2"]
    refused(written(b"a,b\n" + b"1,2\n" * 400_000 + b"3,\0\n"), "Line 400,002 of t.csv contains a NUL")


def test_doubled_names_are_refused(written) -> None:  # type: ignore[no-untyped-def]
    refused(written("a,b, a,b\n1,2,3,4\n"), "'a', 'b'", "own name", kind=ColumnError)


def test_delimiters_given(written) -> None:  # type: ignore[no-untyped-def]
    assert rows(open_source(written("a:b,c\n1:2,3\n"), delimiter=":")) == [["a", "b,c"], ["1", "2,3"]]
    for wrong in ("", ";;", '"', "é"):
        with pytest.raises(SettingError, match="one plain character"):
            open_source(written("a,b\n1,2\n"), delimiter=wrong)


def test_many_columns(written) -> None:  # type: ignore[no-untyped-def]
    names = [f"c{i}" for i in range(20_000)]
    path = written("\n".join([",".join(names), ",".join("1" * 20_000), ""]))
    assert sum(b.num_rows for b in open_source(path).batches(names[-3:])) == 1
    path = written("\n".join([",".join(f"c{i}" for i in range(100_000)), ""]))
    refused(path, "100,000 columns", "50,000", kind=ColumnError)


def test_a_row_longer_than_the_block(written) -> None:  # type: ignore[no-untyped-def]
    body = [["1", "x"]] * 5 + [["2", "y" * (5 * delimited.BLOCK)]] + [["3", "z"]] * 5
    path = written("a,b\n" + "".join(",".join(row) + "\n" for row in body))
    assert rows(open_source(path)) == [["a", "b"], *body]


def test_a_row_longer_than_the_limit(written, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(delimited, "ROW_LIMIT", delimited.BLOCK)
    refused(written("a,b\n1,2\n3," + "y" * (5 * delimited.BLOCK) + "\n"), "Row 2 of t.csv is longer than 2 MB")
    monkeypatch.setattr(layout, "HEADER_LIMIT", layout.SAMPLE)
    refused(written("y" * (2 * layout.SAMPLE)), "first line of t.csv is longer than 1 MB")


def test_long_and_strange_names(written) -> None:  # type: ignore[no-untyped-def]
    names = ["n" * 10_000, '<b>"quoted"</b>', "🙂,\n", "x"]
    text = io.StringIO(newline="")
    csv.writer(text).writerows([names, ["1", "2", "3", "4" * 200_000]])
    assert rows(open_source(written(text.getvalue())))[0] == [n.strip() for n in names]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_program_may_end_in_the_middle_of_a_sweep(written, encoding: str) -> None:  # type: ignore[no-untyped-def]
    path = written("é,b\n" + "".join(f"{i},ü\n" for i in range(1_000_000)).replace("ü", "ü" * 10), "big.csv")
    path.write_bytes(path.read_text("utf-8").encode(encoding))
    code = "import sys; from likely.table.open import open_source; b = open_source(sys.argv[1]).batches(); next(b)"
    ended = subprocess.run([sys.executable, "-c", code, str(path)], timeout=60, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_lines_of_blanks_pass_in_any_block(written) -> None:  # type: ignore[no-untyped-def]
    body = [[str(i), "x" * 20] for i in range(100_000)]
    lines = [",".join(row) for row in body]
    path = written("\n".join(["a,b", *lines[:70_000], "   ", *lines[70_000:], " \t", ""]))
    source = open_source(path)
    assert rows(source) == [["a", "b"], *body] == rows(source)


@pytest.mark.parametrize("head", ["a,b\n", "a,b\r\n", "\ufeffa,b\n"])
def test_a_mark_that_begins_the_first_cell_belongs_to_it(tmp_path: Path, head: str) -> None:
    """U+FEFF is a byte order mark at the beginning of a file alone; to Arrow it is one wherever it begins to read."""
    path = tmp_path / "t.csv"
    path.write_bytes((head + "\ufeffu,1\n" + "u,2\n" * 5).encode())
    source = open_source(path)
    swept = [value for batch in source.batches(["a"]) for value in batch.column(0).to_pylist()]
    assert swept == ["\ufeffu", *["u"] * 5]
    assert sorted(likely.summarize(path, "a", types={"a": "nominal"}).classes) == ["u", "\ufeffu"]


# A remembered source gives the batches of the source itself, and parses a small text file once.


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


def rows_of(source: Any, columns: Sequence[str] | None = None) -> Any:
    return pa.Table.from_batches(list(source.batches(columns)))


def test_the_same_rows_from_one_sweep(path: Path, sweeps: list[list[str]]) -> None:
    plain, source = open_source(path), wrappers.parse_once(open_source(path))
    want = {some: rows_of(plain, some) for some in (("a", "b", "c"), ("c", "a"), ("b",))}
    sweeps.clear()
    for some, table in want.items():
        assert rows_of(source, some) == table
    assert len(sweeps) == 1
    assert rows_of(source) == want["a", "b", "c"] and len(sweeps) == 1
    assert sum(b.num_rows for b in source.batches([])) == sum(b.num_rows for b in plain.batches([]))
    with pytest.raises(likely.LikelyError, match="no column 'd'"):
        rows_of(source, ["d"])


def test_what_was_broken_off_is_taken_up_and_what_is_too_much_is_not_kept(
    path: Path, sweeps: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = wrappers.parse_once(open_source(path))
    next(iter(source.batches(["a"])))
    assert rows_of(source, ["a"]).num_rows == 5000 and rows_of(source, ["a", "b"]).num_rows == 5000
    assert sweeps == [["a"], ["a", "b"]]
    source = wrappers.parse_once(open_source(path))
    sweeps.clear()
    next(iter(source.batches(["a"])))
    assert rows_of(source, ["b"]).num_rows == 5000 and rows_of(source, ["a"]).num_rows == 5000
    assert sweeps == [["a"], ["b"], ["a"]]  # another one is begun anew
    monkeypatch.setattr(wrappers, "MOST_BYTES", 1000)
    source = wrappers.parse_once(open_source(path))
    sweeps.clear()
    assert rows_of(source, ["a"]) == rows_of(source, ["a"]) and len(sweeps) == 2


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
        assert rows_of(source, columns) == rows_of(plain, columns)
    assert source.notes == plain.notes


@pytest.mark.parametrize("broken", ["1,2\n", "1,2,3,4\n", '1,"never closed,3\n', "1,\0,3\n"])
def test_what_is_wrong_is_told_as_by_one_sweep(tmp_path: Path, lines: list[str], broken: str) -> None:
    file = tmp_path / "large.csv"
    file.write_text("a,b,c\n" + "".join(lines) + broken + "2,b,p\n")
    said = []
    for source in (open_source(file), wrappers.parse_once(open_source(file))):
        with pytest.raises(likely.LikelyError) as error:
            rows_of(source)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_text_in_another_encoding(tmp_path: Path) -> None:
    """The first sweep breaks off where the text proves not to be UTF-8."""
    file = tmp_path / "b.csv"
    lines = [f"{k},{'Käse' if k > 190_000 else 'Brot'},{'pq'[k % 2]}\n" for k in range(200_000)]
    file.write_bytes(("a,b,c\n" + "".join(lines)).encode("latin-1"))
    record = likely.look(file, "c", folds=2)
    assert record.rows == 200_000 and record.columns[1].name == "b"


TITLED = 'Penguin survey 2009,,\r\nof the north,,\r\n\r\nsky,wind,play\r\nsun,1,y\r\n"ra\r\nin",2,n\r\n'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_the_row_of_the_header_may_be_named(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(TITLED.encode(encoding))
    given = None if encoding != "utf-16" else encoding
    assert open_source(file).schema.names[0] == "Penguin survey 2009"
    assert "no name" in open_source(file).notes[-1] and "--header-row 2" in open_source(file).notes[-1]
    for row in (3, 4):  # blank lines are passed over
        source = open_source(file, header_row=row, encoding=given)
        assert rows(source) == [["sky", "wind", "play"], ["sun", "1", "y"], ["ra\r\nin", "2", "n"]], row
        assert not any("no name" in note for note in source.notes)
    with pytest.raises(likely.LikelyError, match="has no row 40"):
        open_source(file, header_row=40)
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(likely.LikelyError, match="names its columns itself"):
        open_source(tmp_path / "t.jsonl", header_row=2)


def test_a_title_without_delimiters_leads_to_the_header_row(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("Penguin survey\n" + "sky,wind,play\n" + "sun,1,y\nrain,2,n\n" * 20)
    with pytest.raises(likely.LikelyError, match=r"one cell.*header_row=2"):
        likely.fit(file, "play")
    found = likely.summarize(file, "play", header_row=2)
    assert found.rows == 40 and found.classes == ("n", "y")
