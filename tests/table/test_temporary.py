"""Copies of rows on disk have no name where the system allows it, and are gone with the table that needed them."""

from __future__ import annotations

import gc
import gzip
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import likely
from likely.table.formats import files
from likely.table.formats.files import TemporaryFile
from likely.table.open import open_source
from likely.table.output.sink import read_payload
from likely.table.source import Source

LATIN = "sky,play\nsün,yes\nrain,no\n".encode("latin-1")
LINES = b'{"sky": "sun", "play": "yes"}\n{"sky": "rain", "play": "no"}\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for temporary files."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path / "temporary"


def sweep(source: Source) -> list[dict[str, object]]:
    return [row for batch in source.batches() for row in batch.to_pylist()]


def open_handles() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="open files have no paths here")
@pytest.mark.parametrize("content", [LATIN, gzip.compress(LATIN, mtime=0), gzip.compress(LINES, mtime=0), LINES])
def test_no_copy_has_a_name_while_it_is_read(folder: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t").write_bytes(content)
    before = open_handles()
    ways = [open_source(tmp_path / "t"), open_source(io.BytesIO(content))]
    for source in ways:
        first = sweep(source)
        assert os.listdir(folder) == []
        assert len(first) == 2 and sweep(source) == first
    likely.summarize(tmp_path / "t", "play")
    del ways, source
    assert open_handles() == before


@pytest.mark.parametrize("format", ["csv", "json"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_request_leaves_nothing_behind(folder: Path, format: str, packed: bool) -> None:
    body = LATIN if format == "csv" else LINES
    before = open_handles()
    with read_payload(gzip.compress(body) if packed else body, format, 1 << 20) as source:  # type: ignore[arg-type]
        assert len(sweep(source)) == 2
        assert os.listdir(folder) == []
    del source
    assert open_handles() == before and os.listdir(folder) == []


def test_a_stream_is_the_same_table_when_it_is_asked_for_again(folder: Path) -> None:
    stream = io.BytesIO(LATIN)
    assert sweep(open_source(stream)) == sweep(open_source(stream))
    del stream
    gc.collect()
    assert sweep(open_source(io.BytesIO(b"a,b\n1,2\n"))) == [{"a": "1", "b": "2"}]


def test_a_database_in_a_stream_keeps_its_name_as_long_as_it_is_read(folder: Path, tmp_path: Path) -> None:
    import sqlite3

    base = sqlite3.connect(tmp_path / "t.sqlite")
    base.execute("create table t (a integer)")
    base.execute("insert into t values (7)")
    base.commit()
    base.close()
    stream = io.BytesIO((tmp_path / "t.sqlite").read_bytes())
    source = open_source(stream)
    assert sweep(source) == [{"a": 7}] and len(os.listdir(folder)) == 1
    del source, stream
    gc.collect()
    assert os.listdir(folder) == []


def test_a_named_copy_goes_with_its_object(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.os.path, "exists", lambda path: False)
    made = TemporaryFile()
    made.hide()  # as where open files have no paths
    assert os.listdir(folder) == [os.path.basename(made.path)]
    del made
    gc.collect()
    assert os.listdir(folder) == []


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="open files have no paths here")
def test_a_command_that_is_killed_while_it_copies_leaves_nothing(folder: Path) -> None:
    # One such copy of 6 GB stayed in the temporary folder: it had a name until the stream had ended.
    command = [sys.executable, "-m", "likely", "fit", "-", "y", "-o", os.devnull]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, "TMPDIR": str(folder)})
    assert started.stdin is not None
    started.stdin.write(b"x,y\n" + b"1,a\n2,b\n" * 500_000)  # more than a pipe holds: some of it has been copied
    started.stdin.flush()
    left = os.listdir(folder)
    started.kill()
    started.wait()
    started.stdin.close()
    assert left == [] and os.listdir(folder) == []


def test_a_database_is_recognised_however_slowly_it_comes(folder: Path, tmp_path: Path) -> None:
    import sqlite3

    base = sqlite3.connect(tmp_path / "t.sqlite")
    with base:
        base.execute("create table t (sky text, play text)")
        base.execute("insert into t values ('sun', 'yes')")
    base.close()

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(5)

    assert sweep(open_source(Slow((tmp_path / "t.sqlite").read_bytes()))) == [{"sky": "sun", "play": "yes"}]
    assert sweep(open_source(Slow(LATIN)))[0] == {"sky": "s\u00fcn", "play": "yes"}
