"""ARFF: everything that Weka's format allows, dense and sparse, and the sentences for what it does not."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import pytest
from table.reading import open_source

from likely.errors import ColumnError, InputError

SHARED = Path(__file__).parents[3] / "shared"
HEADER = """% a comment
@RELATION 'a relation'

@attribute 'first name' STRING   % who
@Attribute "it\\'s" {a, 'b c' ,"d,e", '?',
   'f}'}
@attribute\tsize\tReal
@attribute when date "yyyy-MM-dd"
@DATA
"""


def read(path: Path) -> list[list[str | None]]:
    source = open_source(path)
    once = [list(row.values()) for batch in source.batches() for row in batch.to_pylist()]
    assert once == [list(row.values()) for batch in source.batches() for row in batch.to_pylist()]
    return once


@pytest.fixture
def written(tmp_path: Path):  # type: ignore[no-untyped-def]
    def write(text: str, encoding: str = "utf-8") -> Path:
        (tmp_path / "t.arff").write_bytes(text.encode(encoding))
        return tmp_path / "t.arff"

    return write


def test_the_header_declares_its_columns(written) -> None:  # type: ignore[no-untyped-def]
    source = open_source(written(HEADER))
    assert {name: astuple(one)[:2] for name, one in source.declared.items()} == {
        "first name": ("text", ()),
        "it's": ("nominal", ("a", "b c", "d,e", "?", "f}")),
        "size": ("number", ()),
        "when": ("date", ()),
    }
    assert source.schema.names == list(source.declared)
    assert [*source.batches()] == []


def test_rows_dense_and_sparse(written) -> None:  # type: ignore[no-untyped-def]
    path = written(
        HEADER
        + "Ann, 'b c', 1.5, 2020-01-01\r\n\n% between\n"
        + r"""'O\'Hara \\ "x"', "d,e",?,?  % after"""
        + "\n?,'?',50%,'a\\tb'\n{1 'b c', 2 7}\n{ }\n{0 'x, y',3 ?}\nx\ta 1 y"
    )
    assert read(path) == [
        ["Ann", "b c", "1.5", "2020-01-01"],
        ['O\'Hara \\ "x"', "d,e", None, None],
        [None, "?", "50%", "a\tb"],
        [None, "b c", "7", None],
        [None, "a", "0", None],
        ["x, y", "a", "0", None],
        ["x", "a", "1", "y"],
    ]
    source = open_source(path)
    assert next(source.batches(["size", "it's"])).to_pylist()[0] == {"size": "1.5", "it's": "b c"}


@pytest.mark.parametrize(
    "row", ["a, b c ,?", "'a','b c',?", 'a,"b c",?', "a,'b c',?", " a ,b c, ? ", "{0 a, 1 'b c', 2 ?}"]
)
def test_the_fast_and_the_slow_way_agree(written, row: str) -> None:  # type: ignore[no-untyped-def]
    head = "@relation r\n@attribute a {a}\n@attribute b string\n@attribute c numeric\n@data\n"
    assert read(written(head + f"{row}\n" * 3)) == [["a", "b c", None]] * 3
    assert read(written(head + f"{row}\n" * 2 + "% slow\n" + row)) == [["a", "b c", None]] * 3


def test_latin_and_crlf(written) -> None:  # type: ignore[no-untyped-def]
    text = "@relation r\r\n@attribute é {ü}\r\n@data\r\nü\r\n"
    for encoding in ("utf-8", "utf-8-sig", "latin-1", "utf-16"):
        assert read(written(text, encoding)) == [["ü"]]


@pytest.mark.parametrize(
    ("text", "parts", "kind"),
    [
        (HEADER + "Ann,a,1,2\nBob,a\n", ["Line 11 of t.arff has 2 cells where 4"], InputError),
        (HEADER + "'Ann,a,1,2\n", ["Line 10", "quote"], InputError),
        (HEADER + "{9 a}\n", ["Line 10", "sparse"], InputError),
        (HEADER + "Ann,a,1,2\nB\0b,a,1,2\n", ["Line 11", "NUL"], InputError),
        ("@relation r\n@attribute a numeric\n", ["no @data"], InputError),
        ("@relation r\n@data\n1\n", ["no @attribute"], InputError),
        ("@relation r\n@attribute a {x,\n@data\n", ["line 2", "closing"], InputError),
        ("@relation r\n@attribute a\n@data\n", ["Line 2", "not an attribute"], InputError),
        ("@relation r\nage numeric\n@data\n", ["Line 2", "'age numeric'"], InputError),
        ("@relation r\n@attribute a relational\n@data\n", ["'a'", "'relational'"], ColumnError),
        ("@relation r\n@attribute a numeric\n@attribute a real\n@data\n", ["'a'", "more than once"], ColumnError),
    ],
)
def test_what_is_wrong_is_told_with_its_line(written, text: str, parts: list[str], kind: type[Exception]) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(kind) as caught:
        read(written(text))
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.skipif(not SHARED.exists(), reason="the folder ../shared of real tables is absent")
def test_real_files_against_another_reader() -> None:
    arff = pytest.importorskip("scipy.io.arff")
    compared = 0
    for path in sorted((SHARED / "data" / "arff").glob("*.arff")):
        source, cells = open_source(path), read(path)
        lines = path.read_text().lower().splitlines()
        assert len(source.schema.names) == sum(line.startswith("@attribute") for line in lines)
        try:
            table, header = arff.loadarff(path)
        except ValueError:
            continue  # that reader takes ' x' for another level than 'x'
        compared += 1
        assert source.schema.names == header.names()
        for name, kind, column in zip(header.names(), header.types(), zip(*cells, strict=True), strict=True):
            theirs = table[name].tolist()
            if kind == "numeric":
                assert [None if x != x else x for x in theirs] == [None if c is None else float(c) for c in column]
            else:
                plain = [x.decode().strip("'") for x in theirs]
                assert [None if x == "?" else x for x in plain] == list(column)
    assert compared >= 10
