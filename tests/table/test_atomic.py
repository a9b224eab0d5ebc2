"""Files are replaced whole, what a killed process left is taken over, and of two changes at once none is lost."""

from __future__ import annotations

import csv
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

import likely
from likely.errors import InputError
from likely.sums import state
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
