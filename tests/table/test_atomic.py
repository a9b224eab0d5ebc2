"""Files are replaced whole, and what Parquet is written as."""

from __future__ import annotations

import csv
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likely
from likely.errors import InputError
from likely.sums import state
from likely.table.output import sink as parquet
from likely.table.output.files import PartFile, Revision
from likely.table.output.sink import Sink

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(likely.__file__).parents[1])}
"""So that a process in another folder runs the package that is tested."""


def parts(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if ".part" in p.name)


def test_what_was_left_behind_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / ".m.likely.0.part").write_bytes(b"half of it")
    (tmp_path / ".m.likely.0.part").chmod(0o600)
    state.write(tmp_path / "m.likely", b"whole")
    assert (tmp_path / "m.likely").read_bytes() == b"whole" and parts(tmp_path) == []


def test_two_writers_do_not_meet(tmp_path: Path) -> None:
    target = tmp_path / "m"
    with PartFile(target) as one, PartFile(target) as two:
        assert one.path != two.path
        os.write(one.handle, b"one")
        os.write(two.handle, b"two")
        two.finish()
        one.finish()
    assert target.read_bytes() == b"one" and parts(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="needs links and owners as POSIX has them")
def test_what_others_put_there_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "else").write_bytes(b"mine")
    (tmp_path / ".m.0.part").symlink_to(tmp_path / "else")
    os.link(tmp_path / "else", tmp_path / ".m.1.part")
    (tmp_path / ".m.2.part").write_bytes(b"open to all")
    (tmp_path / ".m.2.part").chmod(0o666)
    (tmp_path / ".m.3.part").mkdir()
    state.write(tmp_path / "m", b"whole")
    assert (tmp_path / "m").read_bytes() == b"whole" and not (tmp_path / "m").is_symlink()
    assert (tmp_path / "else").read_bytes() == b"mine"
    assert (tmp_path / ".m.2.part").read_bytes() == b"open to all"


def test_what_is_not_finished_is_gone(tmp_path: Path) -> None:
    with pytest.raises(KeyError), PartFile(tmp_path / "m") as part:
        os.write(part.handle, b"half")
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_the_next_prediction_takes_over_what_a_killed_one_left(tmp_path: Path, examples: Path) -> None:
    likely.fit(examples / "weather.csv", "play", likely.NaiveBayes()).save(tmp_path / "m.likely")
    header, *rows = (examples / "weather.csv").read_text().splitlines(keepends=True)
    (tmp_path / "long.csv").write_text(header + "".join(rows) * 60_000)
    command = [sys.executable, "-m", "likely", "predict", "m.likely", "long.csv", "-o", "out.csv"]
    killed = subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    while not parts(tmp_path) and killed.poll() is None:
        time.sleep(0.001)
    killed.kill()
    assert killed.wait(30) == -signal.SIGKILL, "the kill came too late"
    assert parts(tmp_path) == [".out.csv.0.part"] and not (tmp_path / "out.csv").exists()
    done = subprocess.run(
        [*command[:5], str(examples / "weather.csv"), "-o", "out.csv"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert parts(tmp_path) == [] and len((tmp_path / "out.csv").read_text().splitlines()) == 15


# -- of two changes at once none is lost ----------------------------------------------------------------------


def test_a_file_that_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_bytes(b"first")
    since = Revision.of(path)
    state.write(path, b"second", since)
    with pytest.raises(InputError, match="changed by another command"):
        state.write(path, b"third", since)
    assert path.read_bytes() == b"second" and parts(tmp_path) == []


def _add_one(path: str, times: int) -> None:
    for _ in range(times):
        while True:
            since = Revision.of(path)
            count = int(Path(path).read_bytes())
            try:
                state.write(path, str(count + 1).encode(), since)
            except InputError:
                continue
            break


@pytest.mark.skipif(os.name == "nt", reason="locks are advisory there")
def test_no_addition_is_lost_where_two_processes_add(tmp_path: Path) -> None:
    path = tmp_path / "count"
    path.write_bytes(b"0")
    context = multiprocessing.get_context("spawn")
    both = [context.Process(target=_add_one, args=(str(path), 50)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join(120)
        assert process.exitcode == 0
    assert path.read_bytes() == b"100" and parts(tmp_path) == []


@pytest.mark.parametrize("command", ["learn", "window"])
def test_two_commands_at_once_lose_no_rows(command: str, tmp_path: Path, examples: Path) -> None:
    table = examples / "weather.csv"
    if command == "learn":
        likely.fit(table, "play", likely.NaiveBayes()).save(tmp_path / "m.likely")
        words = ["learn", "m.likely", "-", "-o", "m.likely"]
    else:
        begun = ["window", "m.likely", str(table), "--target", "play", "--rows", "1000"]
        subprocess.run(
            [sys.executable, "-m", "likely", *begun], cwd=tmp_path, env=ENVIRONMENT, check=True, capture_output=True
        )
        words = ["window", "m.likely", "-"]
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "likely", *words],
            cwd=tmp_path,
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    time.sleep(3)  # both have read the model, and wait for their rows
    said = []
    for process in both:
        said.append(process.communicate(table.read_bytes(), timeout=120)[1].decode())
    codes = [process.returncode for process in both]
    done = codes.count(0)
    assert done >= 1 and set(codes) <= {0, 2}, said
    assert likely.load(tmp_path / "m.likely").summary.rows == 14 * (1 + done)
    for code, words_said in zip(codes, said, strict=True):
        assert (code == 2) == ("changed by another command" in words_said)


def test_names_with_ends_of_lines_are_quoted_in_the_header(tmp_path: Path) -> None:
    # A class with a carriage return made two lines of the header of its predictions.
    classes = ["a\rb", "a\nb", 'a"b', "a,b"]
    for name, delimiter in (("out.csv", ","), ("out.tsv", "\t")):
        with Sink(str(tmp_path / name)) as sink:
            sink.write(pa.RecordBatch.from_pydict({f"p({c})": [0.25] for c in classes}))
        with (tmp_path / name).open(newline="") as file:
            header, row = csv.reader(file, delimiter=delimiter)
        assert header == [f"p({c})" for c in classes] and row == ["0.25"] * 4


# Parquet that is written with the dictionaries of its batches reads as if there had been none.


def coded(cells: list[str | None], texts: list[str | None], kind: pa.DataType | None = None) -> pa.DictionaryArray:
    places = [None if c is None else texts.index(c) for c in cells]
    return pa.DictionaryArray.from_arrays(pa.array(places, kind or pa.int32()), pa.array(texts, pa.string()))


def written(path: Path, *batches: dict[str, object]) -> pa.Table:
    """What a reader sees of batches that were written one after the other."""
    with Sink(str(path)) as sink:
        for columns in batches:
            sink.write(pa.RecordBatch.from_pydict(columns))
    return pq.read_table(path)


def test_dictionaries_may_differ_from_batch_to_batch(tmp_path: Path) -> None:
    first, second, third, fourth = ["b", None, "a"], ["c", "a", "a"], ["d", None, "é"], ["a", "z", None]
    table = written(
        tmp_path / "a.parquet",
        {"x.y": coded(first, ["a", "b"]), "n": pa.array([1.5, None, 2.0])},
        {"x.y": coded(second, ["c", "a", "unused"]), "n": pa.array([0.0, 1.0, 2.0])},
        {"x.y": pa.array(third), "n": pa.array([0.0, 1.0, 2.0])},  # a file of another kind among them
        {"x.y": coded(fourth, ["a", None, "z"], pa.uint8()), "n": pa.array([0.0, 1.0, 2.0])},
    )
    assert table.schema.field("x.y").type == pa.string()
    assert table["x.y"].to_pylist() == [*first, *second, *third, *fourth]
    assert table["n"].to_pylist() == [1.5, None, *[2.0], *[0.0, 1.0, 2.0] * 3]
    known = duckdb.sql(f"select typeof(\"x.y\"), count(*) from '{tmp_path / 'a.parquet'}' group by 1").fetchall()
    assert known == [("VARCHAR", 12)]


def test_a_plain_first_batch_decides_too(tmp_path: Path) -> None:
    table = written(tmp_path / "a.parquet", {"x": pa.array(["q"])}, {"x": coded(["a", None], ["a"])})
    assert table["x"].to_pylist() == ["q", "a", None] and table.schema.field("x").type == pa.string()


def test_types_stay_what_they_are(tmp_path: Path) -> None:
    moments = pa.array([datetime(2026, 11, 17, tzinfo=UTC)], pa.timestamp("us", "Europe/Vienna"))
    columns = {
        "when": moments,
        "large": pa.array(["a"], pa.large_string()),
        "numbers": pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array([7], pa.int64())),
        "list": pa.array([[1, 2]]),
        "flag": pa.array([True]),
        "float": pa.array([1.5], pa.float32()),
    }
    table = written(tmp_path / "a.parquet", columns)
    kinds = [moments.type, pa.large_string(), pa.int64(), pa.list_(pa.int64()), pa.bool_(), pa.float32()]
    assert table.schema.types == kinds and table.schema.metadata is None
    assert table["numbers"].to_pylist() == [7] and table["list"].to_pylist() == [[1, 2]]


def test_small_batches_share_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "GROUP_ROWS", 10)
    written(tmp_path / "a.parquet", *({"x": coded(["a", "b", None], ["b", "a"])} for _ in range(9)))
    file = pq.ParquetFile(tmp_path / "a.parquet")
    assert [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)] == [12, 12, 3]
    assert file.metadata.row_group(0).column(0).has_dictionary_page
    written(tmp_path / "b.parquet", {"x": coded([], [])})
    assert pq.read_table(tmp_path / "b.parquet").num_rows == 0
