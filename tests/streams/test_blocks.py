"""A stream in blocks: the same rows as the whole, wherever quotes and ends of lines stand, however the bytes come."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely.apply.streams import follow
from likely.errors import LikelyError
from likely.sums import state
from likely.table.open import StreamBlocks, open_source

CELLS = ["1", "", 'a "quoted" word', "two\nlines", "a\r\nb", "x,y", "x;y", '"', "ä", "5'", "[red]", " ", "{"]


class Trickle(io.RawIOBase):
    """Bytes that come a few at a time."""

    def __init__(self, data: bytes, step: int) -> None:
        self._data, self._step, self._at = data, step, 0

    def read(self, size: int = -1) -> bytes:
        out = self._data[self._at : self._at + min(size, self._step)]
        self._at += len(out)
        return out


def rows_of(source: Any) -> list[dict[str, Any]]:
    return [row for batch in source.batches() for row in batch.to_pylist()]


def csv_of(rows: list[tuple[str, ...]], delimiter: str, end: str) -> bytes:
    def cell(text: str) -> str:
        plain = text.isalnum() or text in ("5'", "[red]")
        return text if plain else '"' + text.replace('"', '""') + '"'

    table = [("the first", "second", "y"), *rows]
    return end.join([delimiter.join(map(cell, row)) for row in table] + [""]).encode()


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(*[st.sampled_from(CELLS)] * 3), min_size=1, max_size=20),
    every=st.integers(1, 25),
    step=st.sampled_from([1, 7, 1000]),
    delimiter=st.sampled_from(",;\t"),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_blocks_have_the_rows_of_the_whole(rows: Any, every: int, step: int, delimiter: str, end: str) -> None:
    data = csv_of(rows, delimiter, end)
    found = [rows_of(s) for s in StreamBlocks(Trickle(data, step), "it", every, "utf-8", delimiter)]
    assert [row for block in found for row in block] == rows_of(open_source(io.BytesIO(data), delimiter=delimiter))
    assert all(len(block) == every for block in found[:-1]) and len(found[-1]) <= every


def test_json_lines() -> None:
    lines = [{"a": k % 5, "note [red]": f'"{k}"\n', "y": "uv"[k % 2]} for k in range(25)]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    found = [rows_of(s) for s in StreamBlocks(Trickle(data, 100), "it", 10)]
    assert [len(block) for block in found] == [10, 10, 5]
    assert [row for block in found for row in block] == lines


def test_each_model_is_that_of_all_rows_so_far() -> None:
    text = "x,c,y\n" + "".join(f"{k * 0.37},l{k % (3 + k // 40)},{'uv'[k % 2]}\n" for k in range(100))
    models: list[Any] = []
    follow(io.BytesIO(text.encode()), "y", every=30, write=models.append)
    assert [m.summary.rows for m in models] == [30, 60, 90, 100]
    for model in models:
        upto = "\n".join(text.splitlines()[: model.summary.rows + 1]) + "\n"
        whole = likely.summarize(io.BytesIO(upto.encode()), schema=models[0].schema)
        assert state.dump(model.summary.state()) == state.dump(whole.state())


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"\x1f\x8b rest", "cannot be cut into blocks"),
        (b"x,y\n1,a\n2,b\n3\n", "it after row 2"),
        (b"x,y\n1,a\n2,b\n\xff,b\n", "UTF-8"),
    ],
)
def test_bad_streams(data: bytes, words: str) -> None:
    with pytest.raises(LikelyError, match=words):
        follow(io.BytesIO(data), "y", every=2, write=[].append, name="it", types={"x": "nominal"})  # type: ignore[arg-type]
