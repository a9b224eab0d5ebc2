"""What only a process of its own can show: pipes, signals, terminals, locales."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

NAIVE = ("--learner", "NaiveBayes")


@pytest.fixture(scope="module")
def long_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that takes some seconds to look at."""
    path = tmp_path_factory.mktemp("long") / "long.csv"
    path.write_text("a,b,c,y\n" + "".join(f"{k},{k * 7 % 11},x{k % 7},{'yn'[k % 3 % 2]}\n" for k in range(1000)) * 3000)
    return path


def test_a_reader_that_goes_away_is_no_error(process, examples, tmp_path, long_table) -> None:
    subprocess.run(
        [sys.executable, "-m", "likely", "fit", long_table, "y", *NAIVE, "-o", tmp_path / "m.likely"], check=True
    )
    for args in (("look", examples / "weather.csv", "play", "--no-page"), ("predict", "m.likely", long_table)):
        started = process(*args)
        assert started.stdout.readline()
        started.stdout.close()
        assert started.wait(30) == 0
        assert started.stderr.read() == b""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("after", [0.7, 1.3])
def test_interrupted(sent, after, process, long_table, tmp_path) -> None:
    started = process("look", long_table, "y")
    time.sleep(after)
    started.send_signal(sent)
    out, err = started.communicate(timeout=30)
    assert (started.returncode, out, err) == (130, b"", b"likely: Interrupted; no file was written.\n")


def test_an_old_file_outlives_a_kill_and_an_interruption(process, long_table, tmp_path) -> None:
    assert process("fit", long_table, "y", *NAIVE, "-o", "m.likely").wait(60) == 0
    (tmp_path / "out.csv").write_text("old")
    for sent in (signal.SIGINT, signal.SIGKILL):
        started = process("predict", "m.likely", long_table, "-o", "out.csv")
        for _ in range(1000):
            if any(part.stat().st_size for part in tmp_path.glob(".out.csv.*.part")):
                break
            time.sleep(0.01)
        else:
            raise AssertionError("the command never began to write")
        started.send_signal(sent)
        started.communicate(timeout=30)
        assert (tmp_path / "out.csv").read_text() == "old"
        assert sent == signal.SIGKILL or not list(tmp_path.glob(".*.part"))


def test_a_pipe_is_written_into_not_replaced(process, examples, tmp_path) -> None:
    assert process("fit", examples / "weather.csv", "play", "-o", "m.likely").wait(60) == 0
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()), daemon=True)
    reader.start()
    assert process("predict", "m.likely", examples / "weather.csv", "-o", "pipe").wait(60) == 0
    reader.join(10)
    assert read and read[0].startswith("prediction,p(no),p(yes)\n") and (tmp_path / "pipe").is_fifo()


def test_json_is_json_and_the_same_for_any_number_of_threads(process, shared) -> None:
    told = set()
    for threads in ("1", "2", "4"):
        out, err = process(
            "look", shared / "data" / "adult.csv", "income", *NAIVE, "--json", LIKELY_THREADS=threads
        ).communicate()
        assert err == b""
        told.add(out)
    assert len(told) == 1 and json.loads(told.pop())["rows"] == 48_842


def test_a_refusal_ends_in_good_order_every_time(process, tmp_path) -> None:
    # The parser's own threads may still be at work when a row is refused; Python ending under them once aborted.
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,x\n1,2\n3,4,y\n")
    for _ in range(8):
        started = process("look", "t.csv", "c")
        out, err = started.communicate(timeout=30)
        assert (started.returncode, out, err.count(b"\n")) == (2, b"", 1), err


def on_terminal(args: list[object], columns: int, **more: str) -> tuple[int, str]:
    """Run a command on a terminal of so many columns, in this folder; its exit code and all that appeared."""
    child, terminal = pty.fork()
    if child == 0:
        names = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns), "PYTHONWARNINGS": "ignore", **more}
        os.execve(sys.executable, [sys.executable, "-m", "likely", *map(str, args)], names)
    seen = b""
    while True:
        try:
            block = os.read(terminal, 1 << 16)
        except OSError:  # how Linux says that the other end is closed
            break
        if not block:
            break
        seen += block
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), seen.decode(errors="replace").replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [200, 80, 40, 10])
def test_a_terminal_gets_colours_and_no_line_too_long(columns, examples) -> None:
    code, seen = on_terminal(["look", examples / "iris.csv", "species", *NAIVE, "--no-page"], columns, NO_COLOR="")
    assert code == 0 and "\x1b[" in seen
    assert max(len(line) for line in re.sub(r"\x1b\[[0-9;]*m", "", seen).splitlines()) <= columns
    code, plain = on_terminal(["look", examples / "iris.csv", "species", *NAIVE, "--no-page"], columns, TERM="dumb")
    assert code == 0 and "\x1b" not in plain and "petal_width" in plain


def test_a_terminal_is_told_what_is_being_tried(tmp_path) -> None:
    lines = [
        ",".join(f"{(i * k) % 17 + i % 7}" for k in range(1, 9)) + f",{'no' if i % 3 else 'yes'}" for i in range(9000)
    ]
    table = tmp_path / "t.csv"
    table.write_text("\n".join(["a,b,c,d,e,f,g,h,y", *lines]))
    code, seen = on_terminal(["fit", table, "y", "--effort", "best", "-o", tmp_path / "m.likely"], 100)
    drawn = re.findall(r"\r\x1b\[2K(.*?) … \d+ s\r", seen)
    assert code == 0 and any(re.fullmatch(r"Comparing .*, \d+ of \d+", line) for line in drawn), seen
    assert "\r\x1b[2K" in seen[seen.rindex(" s\r") :], "the line is taken away"
    code, seen = on_terminal(["fit", table, "y", "-o", tmp_path / "m.likely"], 100, TERM="dumb")
    assert code == 0 and "Comparing" not in seen and "\x1b" not in seen


def test_no_line_is_wider_than_an_ordinary_terminal(run, examples) -> None:
    for table, target in (("weather.csv", "play"), ("iris.csv", "species")):
        out = run("look", examples / table, target, *NAIVE).done().out
        assert max(map(len, out.splitlines())) <= 85


def test_a_terminal_without_unicode(examples) -> None:
    code, seen = on_terminal(
        ["look", examples / "iris.csv", "species", *NAIVE, "--no-page"],
        80,
        LC_ALL="C",
        PYTHONIOENCODING="ascii",
        PYTHONUTF8="0",
    )
    assert code == 0 and seen.isascii() and "####" in seen
