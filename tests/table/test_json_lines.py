"""JSON lines: blocks that threads parse hold the rows that DuckDB reads, and what is odd is left to DuckDB."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import likely
from likely.sums import state
from likely.table.formats import json_lines
from likely.table.open import open_source

ODD = [
    {"n": 3.0, "i": -(2**52), "t": 'quote " and \\ and é 😀', "b": True},
    {"t": None, "n": -0.0, "b": False},
    {"b": None, "i": 0, "n": 1e-320, "t": ""},
    {"n": None},
    {"t": "12", "n": 1.7976931348623157e308, "i": 9007199254740993, "b": True},
]


def write(path: Path, rows: list[Any], end: str = "\n") -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + end, encoding="utf-8")
    return path


def read_slowly(path: Path) -> list[dict[str, Any]]:
    source: Any = open_source(path)
    source = source.source  # without the watch over changes of the file
    source._plain, source.piece_count = {}, 0
    return [row for batch in source.batches() for row in batch.to_pylist()]


def read(path: Path) -> list[dict[str, Any]]:
    return [row for batch in open_source(path).batches() for row in batch.to_pylist()]


ANCHOR = {"flag": True, "n": 7, "longer name": 0.5, "é": "text"}
"""A first row that says of which types the columns are."""
some_rows = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "flag": st.booleans() | st.none(),
            "n": st.integers(0, 10**18 - 1) | st.none(),
            "longer name": st.floats(allow_nan=False, allow_infinity=False) | st.none(),
            "é": st.text(st.characters(exclude_categories=["Cs"]), max_size=30).map(lambda text: f"t{text}")
            | st.none(),
        },
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), rows=some_rows)
def test_what_is_read_is_what_python_reads(
    tmp_path: Path, data: st.DataObject, rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any order of names, gaps, line ends and characters; rows on both sides of a block's end; minus zero too."""
    monkeypatch.setattr(json_lines, "BLOCK", data.draw(st.sampled_from([16, 64, 1 << 20])))
    gap, end = data.draw(st.sampled_from(["", " ", "\t"])), data.draw(st.sampled_from(["\n", "\r\n", "\n\n"]))
    lines = []
    for row in [ANCHOR, *rows]:
        plain = data.draw(st.booleans())
        cells = [
            f"{json.dumps(name, ensure_ascii=plain)}{gap}:{gap}{json.dumps(row[name], ensure_ascii=plain)}"
            for name in data.draw(st.permutations(list(row)))
        ]
        lines.append(f"{gap}{{{f'{gap},{gap}'.join(cells)}{gap}}}{gap}")
    path = tmp_path / "a.jsonl"
    path.write_bytes((end.join(lines) + data.draw(st.sampled_from(["", end]))).encode())
    seen = [{name: row[name] for name in ANCHOR} for row in read(path)]
    assert repr(seen) == repr([{name: row.get(name) for name in ANCHOR} for row in [ANCHOR, *rows]])


@pytest.mark.parametrize("end", ["\n", "", "\n\n  \n"])
def test_blocks_hold_what_duckdb_reads(tmp_path: Path, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "BLOCK", 64)
    path = write(tmp_path / "a.jsonl", ODD * 7, end)
    assert open_source(path).piece_count > 2
    assert read(path) == read_slowly(path) and len(read(path)) == 35


@pytest.mark.parametrize(
    "line",
    [
        '{"x": 1.5, "y": "a"} {"x": 2.5, "y": "b"}',  # two on a line
        '{"x": 1,\n "y": "a"}',  # one on two lines
        '{"x": 1e400, "y": "a"}',
        '{"x": 1, "x": 2, "y": "a"}',
    ],
)
def test_what_arrow_refuses_or_sees_otherwise_is_read_by_duckdb(
    tmp_path: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines, "BLOCK", 64)
    path = tmp_path / "a.jsonl"
    usual = '{"x": 0.5, "y": "c"}\n' * 5
    path.write_text(usual + line + "\n" + usual)
    try:
        slow: Any = read_slowly(path)
    except likely.LikelyError as error:
        with pytest.raises(likely.LikelyError, match=str(error)[:20]):
            read(path)
        return
    assert read(path) == slow


def test_threads_sum_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 9, 500).tolist()
    rows = [{"x": rng.normal(), "k": f"l{k}", "y": "ab"[k % 2]} for k in levels]
    monkeypatch.setattr(json_lines, "BLOCK", 1000)
    path = write(tmp_path / "a.jsonl", rows)
    one, four = (likely.summarize(path, "y", threads=n) for n in (1, 4))
    assert state.dump({"s": one.state()}) == state.dump({"s": four.state()})
    assert one == likely.summarize(rows, "y", schema=one.schema)


def test_broken_utf8_and_a_broken_line_are_told(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [{"x": 1, "y": "a"}] * 3)
    path.write_bytes(path.read_bytes() + b'{"x": 2, "y": \n')
    with pytest.raises(likely.LikelyError, match="not valid JSON lines"):
        likely.summarize(path, "y")


ODD_LATER = [
    '{"x": "text", "k": 1}',  # another type
    '{"x": -1.5, "k": -3}',  # a sign that DuckDB makes another type of
    '{"x": 1.5, "k": 2.5}',
    '{"x": 1.5, "k": 9223372036854775808}',
    '{"x": 1.5, "k": 1, "more": true}',  # a column that the first rows do not have
    '{"x": 1e400, "k": 1}',
    '{"x": {"a": 1}, "k": 1}',
    '{"x": null, "k": null}',
]


@pytest.mark.parametrize("line", ODD_LATER)
def test_a_guess_by_the_first_rows_is_never_seen(tmp_path: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However late the odd line comes: schema and rows are those that DuckDB finds over the whole file."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"x": 0.5, "k": 7}\n' * 3000 + line + "\n")
    slow = open_source(path)
    try:
        rows: Any = read_slowly(path)
    except likely.LikelyError:
        rows = None
    monkeypatch.setattr(json_lines, "LARGE", 0)
    monkeypatch.setattr(json_lines, "FIRST_ROWS", 100)
    monkeypatch.setattr(json_lines, "BLOCK", 5000)
    assert open_source(path).schema == slow.schema
    if rows is not None:
        assert read(path) == rows


def test_names_that_differ_only_in_case_stay_as_they_are(tmp_path: Path) -> None:
    made = [{"N1": k, "n1": k % 3, "n1_1": f"v{k % 2}", "c": "ab"[k % 2]} for k in range(40)]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, made)) + "\n")
    source = open_source(path)
    assert source.schema.names == ["N1", "n1", "n1_1", "c"]
    assert [row for batch in source.batches() for row in batch.to_pylist()] == made
    assert [row for b in source.batches(["n1", "N1"]) for row in b.to_pylist()] == [
        {"n1": row["n1"], "N1": row["N1"]} for row in made
    ]


def test_a_model_of_csv_finds_such_columns_in_json_lines(tmp_path: Path) -> None:
    made = [{"N1": k % 7, "n1": (k * 5) % 11, "c": "ab"[k % 7 > 3]} for k in range(80)]
    lines = [",".join(map(str, row.values())) for row in made]
    (tmp_path / "t.csv").write_text("\n".join(["N1,n1,c", *lines]) + "\n")
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, made)) + "\n")
    model = likely.fit(tmp_path / "t.csv", "c", likely.NaiveBayes())
    found = [model.posterior(tmp_path / name) for name in ("t.csv", "t.jsonl")]
    assert np.array_equal(found[0].matrix, found[1].matrix) and not found[1].absent


def test_what_was_parsed_to_be_checked_is_kept_where_it_is_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines, "LARGE", 0)
    monkeypatch.setattr(json_lines, "BLOCK", 5000)
    rows = [{"x": k / 2, "k": f"l{k % 7}", "y": "ab"[k % 2]} for k in range(3000)]
    path = write(tmp_path / "a.jsonl", rows)
    kept: Any = open_source(path)
    monkeypatch.setattr(json_lines, "MOST_KEPT", 1000)
    dropped: Any = open_source(path)
    assert len(kept.source._parsed) > 2 and not dropped.source._parsed
    for source in (kept, dropped):
        assert [row for batch in source.batches(["y", "x"]) for row in batch.to_pylist()] == [
            {"y": row["y"], "x": row["x"]} for row in rows
        ]
    one, two = (likely.summarize(source, "y") for source in (kept, dropped))
    assert state.dump({"s": one.state()}) == state.dump({"s": two.state()})
