"""Lines of JSON with plain values: what the compiled reader cuts is what Python's parser says; all else is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely.table.texts.plain_json import PADDING, PlainLines

KINDS = {"flag": "BOOLEAN", "n": "BIGINT", "longer name": "DOUBLE", "é": "VARCHAR", "signed": "HUGEINT"}
SCHEMA = pa.schema(
    {"flag": pa.bool_(), "n": pa.int64(), "longer name": pa.float64(), "é": pa.string(), "signed": pa.string()}
)


def padded(text: str | bytes) -> Any:
    data = text.encode() if isinstance(text, str) else text
    return np.frombuffer(data + bytes(PADDING), np.uint8).copy()


def read(text: str, names: tuple[str, ...] = tuple(KINDS)) -> list[dict[str, Any]] | None:
    """The rows that the reader sees; None where it refuses them."""
    lines = PlainLines.of(KINDS)
    assert lines is not None
    cut = lines.cut(padded(text), names)
    schema = pa.schema([SCHEMA.field(name) for name in names])
    batch = None if cut is None else cut.read(schema)
    if cut is None or batch is None:
        return None
    batch.validate(full=True)
    in_place = cut.read_in_place(schema)
    assert in_place is not None and in_place.num_rows == batch.num_rows
    for k, field in enumerate(schema):
        if pa.types.is_string(field.type):  # an empty text in place is a missing one
            assert [cell or "" for cell in batch.column(k).to_pylist()] == [
                in_place.column(k)[row].as_py() for row in range(batch.num_rows)
            ]
    return batch.to_pylist()  # type: ignore[no-any-return]


plain_text = st.text(st.characters(min_codepoint=32, exclude_characters='"\\', exclude_categories=["Cs"]), max_size=30)
floats = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x == 0 or 1e-90 < abs(x) < 1e90)
rows = st.fixed_dictionaries(
    {},
    optional={
        "flag": st.booleans() | st.none(),
        "n": st.integers(0, 10**18 - 1) | st.none(),
        "longer name": floats | st.integers(-(10**18) + 1, 10**18 - 1) | st.none(),
        "é": plain_text | st.none(),
        "signed": st.integers(-(10**18) + 1, 10**18 - 1) | st.none(),
    },
)
blank = st.sampled_from(["", " ", "\t", "  "])


@settings(max_examples=300, deadline=None)
@given(st.data(), st.lists(rows, max_size=12))
def test_what_is_cut_is_what_python_reads(data: st.DataObject, written: list[dict[str, Any]]) -> None:
    lines = []
    for row in written:
        names = data.draw(st.permutations(list(row)))
        gap = data.draw(blank)
        cells = f"{gap},{gap}".join(
            f"{json.dumps(name, ensure_ascii=False)}{gap}:{gap}{json.dumps(row[name], ensure_ascii=False)}"
            for name in names
        )
        lines.append(f"{gap}{{{gap}{cells}{gap}}}{gap}")
    text = data.draw(st.sampled_from(["\n", "\r\n", "\n\n"])).join(lines) + data.draw(st.sampled_from(["", "\n"]))
    found = read(text)
    assert found is not None
    wanted = [{name: row.get(name) for name in KINDS} for row in written]
    for row in wanted:
        number = row["longer name"]
        row["longer name"] = None if number is None else float(number)
        row["signed"] = None if row["signed"] is None else str(row["signed"])
    assert found == wanted
    for one, other in zip(found, wanted, strict=True):  # minus zero too
        number = other["longer name"]
        assert number is None or math.copysign(1, one["longer name"]) == math.copysign(1, number)
    assert read(text, ("é",)) == [{"é": row["é"]} for row in wanted]


@pytest.mark.parametrize(
    "line",
    [
        '{"n": 01}',
        '{"n": -1}',
        '{"n": 1.0}',
        '{"n": 1e2}',
        '{"n": 1000000000000000000}',
        '{"n": "1"}',
        '{"n": 1, "n": 2}',
        '{"n": 1} {"n": 2}',
        '{"n": 1,\n"flag": true}',
        '{"n": 1',
        '{"n": 1,}',
        '{"n": }',
        '{"n" 1}',
        "{n: 1}",
        "[1]",
        '{"other": 1}',
        '{"nn": 1}',
        '{"": 1}',
        '{"flag": 1}',
        '{"flag": truer}',
        '{"flag": nul}',
        '{"longer name": .5}',
        '{"longer name": 1.}',
        '{"longer name": 1e}',
        '{"longer name": 1e400}',
        '{"longer name": NaN}',
        '{"longer name": +1}',
        '{"longer name": --1}',
        '{"longer name": "1"}',
        '{"longer name": ' + "1" * 400 + "}",
        '{"é": 1}',
        '{"é": "a\\nb"}',
        '{"é": "a\tb"}',
        '{"é": "a',
        '{"é": ["a"]}',
        '{"é": {"a": 1}}',
        '{"\\u00e9": "a"}',
        '{"signed": -0}',
        '{"signed": 1.5}',
    ],
)
def test_what_is_unusual_is_refused(line: str) -> None:
    assert read('{"n": 7}\n') == [{**dict.fromkeys(KINDS), "n": 7}]
    assert read(f'{{"n": 7}}\n{line}\n{{"n": 8}}') is None
    assert read(line) is None


def test_broken_utf_8_is_refused() -> None:
    lines = PlainLines.of(KINDS)
    assert lines is not None
    assert lines.cut(padded('{"é": "\x80"}'.encode("latin-1")), ()) is None
    assert lines.cut(padded('{"é": "'.encode() + b'\xff"}'), ()) is None
    assert lines.cut(padded('{"é": "ö"}'), ()) is not None


def test_names_that_can_be_written_in_several_ways_are_left_to_others() -> None:
    assert PlainLines.of({'a"b': "BIGINT"}) is None and PlainLines.of({"a\tb": "BIGINT"}) is None
