"""Text that is cut into cells by threads is the text that Arrow's parser reads: the same cells, sums and sentences."""

from __future__ import annotations

import gzip
import math
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely.errors import LikelyError
from likely.sums import state
from likely.table.arrow import CellBatch
from likely.table.formats import text_file
from likely.table.formats.delimited import DelimitedSource
from likely.table.open import open_source
from likely.table.source import Source, Uncut

PIECES = ["a", "1", "2.5", "-7", "", " ", "x y", "NA", "é", "\u00a0", "\u2003b", "\x1c", "日本", "0x1", "1,5", "007"]
QUOTED = [*PIECES, 'say "no"', "a\nb", '"', "x,y"]
ODD = ["\n", "\r\n", "\r", '"', '""', ",", ";", "\t", "\0", "\xff"]


@contextmanager
def blocks_of(size: int) -> Iterator[None]:
    """Blocks of at least so many bytes."""
    before = text_file.LEAST, text_file.MOST
    text_file.LEAST, text_file.MOST = size, max(size, 64)
    try:
        yield
    finally:
        text_file.LEAST, text_file.MOST = before


@contextmanager
def slowly() -> Iterator[None]:
    """Every file is read from its beginning, by Arrow's parser."""
    DelimitedSource.piece_count = 0
    try:
        yield
    finally:
        DelimitedSource.piece_count = math.inf


def cells_in_pieces(source: Source) -> list[list[str]] | None:
    """The rows as threads would cut them; None where they cannot."""
    out: list[list[str]] = []
    try:
        for piece in source.pieces():
            for batch in piece():
                if isinstance(batch, CellBatch):
                    columns: list[list[str]] = [[str(c[k]) for k in range(len(c))] for c in batch.columns]
                else:
                    columns = [column.to_pylist() for column in batch.columns]
                out += [list(row) for row in zip(*columns, strict=True)]
    except (Uncut, LikelyError):
        return None
    return out


def cells_in_order(source: Source) -> list[list[str]] | None:
    try:
        return [list(row.values()) for batch in source.batches() for row in batch.to_pylist()]
    except LikelyError:
        return None


def outcome(path: Path, **how: Any) -> object:
    """The bytes of a summary, with its notes; or the sentence that refuses it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            source = open_source(path)
            summary = likely.summarize(source, **how)
    except LikelyError as error:
        return type(error).__name__, str(error)
    return state.dump({"summary": summary.state()}), summary.rows, summary.left_out, source.notes


def same_both_ways(path: Path, **how: Any) -> object:
    fast = outcome(path, **how)
    with slowly():
        assert fast == outcome(path, **how)
    return fast


@given(
    lines=st.lists(st.lists(st.sampled_from(PIECES + ODD), min_size=1, max_size=7), min_size=1, max_size=12),
    end=st.sampled_from(["\n", "\r\n", "\r", ""]),
    size=st.integers(1, 60),
)
@settings(max_examples=300)
def test_any_bytes_are_cut_as_arrow_cuts_them(
    tmp_path_factory: pytest.TempPathFactory, lines: list[list[str]], end: str, size: int
) -> None:
    text = "p,q\n" + end.join("".join(line) for line in lines) + end
    path = tmp_path_factory.mktemp("cut") / "t.csv"
    path.write_bytes(text.encode("latin-1", "ignore") if "\xff" in text else text.encode())
    try:
        source = open_source(path, delimiter=",")
    except LikelyError:
        return
    with blocks_of(size):
        cut = cells_in_pieces(source)
    if cut is not None:
        assert cut == cells_in_order(open_source(path, delimiter=","))


@given(
    rows=st.lists(
        st.lists(st.sampled_from([*PIECES, 'say "no"', "a\nb", '"', "x,y"]), min_size=3, max_size=3), max_size=40
    ),
    size=st.sampled_from([1, 7, 40, 1 << 20]),
    quoted=st.booleans(),
    end=st.sampled_from(["\n", "\r\n"]),
)
@settings(max_examples=250)
def test_what_is_written_well_is_always_cut(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], size: int, quoted: bool, end: str
) -> None:
    def written(cell: str) -> str:
        return '"' + cell.replace('"', '""') + '"' if quoted or set(cell) & set(',"\n\r') else cell

    path = tmp_path_factory.mktemp("cut") / "t.csv"
    lines = ["p,q,r", *(",".join(map(written, row)) for row in rows)]
    path.write_text(end.join(lines) + end, newline="", encoding="utf-8")
    with blocks_of(size):
        cut = cells_in_pieces(open_source(path, delimiter=","))
    assert cut == cells_in_order(open_source(path, delimiter=","))
    assert cut is not None and len(cut) == len(rows)


@pytest.mark.parametrize("seed", range(8))
def test_random_tables_have_the_same_sums(tmp_path: Path, seed: int) -> None:
    """Kinds that change on the way, strays, thousands, codes, dates, long numbers, free text, identifiers, blanks."""
    draw = np.random.default_rng(seed)
    rows = int(draw.integers(1, 1500))

    def some(*cells: str) -> list[str]:
        return draw.choice(np.array(cells, object), rows).tolist()

    columns = {
        "level": some("red", "green", " blue", "NA", ""),
        "number": [f"{x:.{draw.integers(0, 20)}g}" for x in draw.normal(0, 1000, rows)],
        "strays": [c if draw.random() < 0.95 else "none" for c in some("1", "2.5", "1,234", "-3e5", " 7 ", "?")],
        "code": some("007", "012", "100"),
        "day": some("2001-12-31", "2002/01/02 12:30", "", "2003-02-29"),
        "turns": ["5"] * (rows // 2) + ["five"] * (rows - rows // 2),
        "id": [f"row {k}" for k in range(rows)],
        "note": [" ".join(some("the", "sun", "wind", "rain is out")[:5]) for _ in range(rows)]
        if rows < 500
        else some("a"),
        "huge": some("123456789012345678901234567890", "1e400", "-0.0", "00000000000000000000000.5"),
        "class": some("yes", "no", "maybe", ""),
    }
    cells = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(f'"{c}"' if "," in c else c for c in row) for row in cells)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    for size in (256, 1 << 14, 1 << 21):
        with blocks_of(size):
            same_both_ways(path, target="class", types={"id": "nominal"} if seed % 2 else None)
    with gzip.open(tmp_path / "t.csv.gz", "wb") as packed:
        packed.write(path.read_bytes())
    same_both_ways(tmp_path / "t.csv.gz", target="class", missing=["", "red", "5"], weight=None)


HOSTILE = {
    "ragged": b"a,b\n1,2\n3\n4,5\n",
    "ragged late": b"a,b\n" + b"1,2\n" * 5000 + b"1,2,3\n",
    "blank lines": b"a,b\n1,2\n  \n\n3,4\n\t\n",
    "quote never closed": b'a,b\n1,2\n3,"4\n5,6\n',
    "quote never closed at the end": b'a,b\n1,2\n3,"4',
    "something behind a quote": b'a,b\n1,"x"y\n2,"z"\n',
    "a quote within": b'a,b\n1,x"y\n2,z""w\n',
    "a NUL": b"a,b\n1,2\n3,\0\n",
    "a NUL late": b"a,b\n" + b"1,2\n" * 600_000 + b"\0,2\n",
    "not UTF-8 late": b"a,b\n" + b"1,x\n" * 600_000 + b"2,\xff\n",
    "half a character": b"a,b\n1,\xc3\n",
    "UTF-16": "a,b\n1,é\n2,x\n".encode("utf-16"),
    "a mark": b"\xef\xbb\xbfa,b\n1,2\n3,4\n",
    "only a header": b"a,b\n",
    "a header without an end": b"a,b",
    "old Macintosh": b"a,b\r1,2\r3,4\r",
    "mixed ends": b"a,b\r\n1,2\n3,4\r5,6\n",
    "no end": b"a,b\n1,2\n3,4",
    "one column": b"a\n1\n\n2\n\"\"\n \n3\n",
    "blanks as delimiters": b"a b c\n1 2 3\n4 5 6\n",
    "tabs": b"a\tb\n1\t 2\n3\t\t4\n",
    "a long row": b"a,b\n" + b"1," + b"x" * (5 << 20) + b"\n2,y\n",
    "an end of file sign": b"a,b\n1,2\n\x1a",
    "weights below zero": b"a,w\n1,2\n3,-4\n",
    "wide blanks": "a,b\n\u00a0x\u2003,1\ny,\u30002\n".encode(),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_alike(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(HOSTILE[name])
    same_both_ways(path)
    same_both_ways(path, target="b" if b"b" in HOSTILE[name][:8] else None)
    if name.startswith("weights"):
        said = same_both_ways(path, weight="w")
        assert isinstance(said, tuple) and "row 2" in str(said[1])  # a row is told by its number in the file


def test_no_kernel_leaves_its_arrays(tmp_path: Path) -> None:
    """Short rows at the end of a block were once written behind it: only checked indices notice."""
    for k, content in enumerate(c for c in HOSTILE.values() if len(c) < 1000):
        (tmp_path / f"{k}.csv").write_bytes(content)
    program = f"""
from pathlib import Path
from likely.errors import LikelyError
from likely.table.open import open_source
from likely.table.source import Uncut
for path in sorted(Path({str(tmp_path)!r}).iterdir()):
    try:
        for piece in open_source(path, delimiter=",").pieces():
            list(piece())
    except (LikelyError, Uncut):
        pass
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "LIKELY_BOUNDS": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_examples_and_the_corpus_end_alike(examples: Path) -> None:
    corpus = [*(Path(__file__).parent.parent / "fuzz" / "corpus").iterdir(), *examples.glob("*.csv")]
    assert len(corpus) > 5
    for path in corpus:
        same_both_ways(path)


def test_larger_tables_end_alike(shared: Path) -> None:
    same_both_ways(shared / "data" / "adult.csv", target="income")
    for path in sorted((shared / "data" / "tables").glob("*.tsv.gz"))[:12]:
        same_both_ways(path, target="target")
