"""What only a process of its own can show: a kill in the middle, a full disk, no permission, a stream without end."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likely
from likely.testing import bits


def likely_process(folder: Path, *args: object, **more: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "likely", *map(str, args)]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder of 12 files that takes some time to sweep."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for k in range(12):
        rows = 60_000
        x = [(i * 2654435761 + k) % 1_000_003 / 7 for i in range(rows)]
        pq.write_table(pa.table({"x": x, "z": x[::-1], "c": [f"l{(i + k) % 11}" for i in range(rows)],
                                 "y": ["no" if i % (k + 2) else "yes" for i in range(rows)]}),
                       folder / f"part {k:02}.parquet")  # fmt: skip
    return folder


def test_a_kill_loses_nothing_and_counts_nothing_twice(logs: Path, tmp_path: Path) -> None:
    kept, model = tmp_path / "sums", tmp_path / "m.likely"
    args = ("fit", "logs/*.parquet", "y", "--keep", "sums", "-o", "m.likely")
    entries = 0
    for wanted in (1, 6):  # killed twice, the second time somewhat later
        started = likely_process(tmp_path, *args)
        while started.poll() is None and len(list(kept.glob("*.likely"))) < wanted:
            time.sleep(0.002)
        started.kill()
        assert started.wait(30) == -signal.SIGKILL
        started.communicate()
        assert not model.exists()
        now = len(list(kept.glob("*.likely")))
        assert entries <= now < 12, "what an earlier run kept was lost, or the kill came too late"
        entries = now
    _, err = (done := likely_process(tmp_path, *args)).communicate(timeout=60)
    assert done.returncode == 0, err
    read = int(err.decode().split(" of 12 files were read")[0].split()[-1])
    assert 0 < read <= 12 - entries + 2  # two may have had their sums but not yet their profile
    assert bits(likely.load(model).summary) == bits(likely.summarize(logs, "y"))
    assert not list(kept.glob(".*.part"))


def test_a_full_disk_leaves_the_old_model_and_no_half_of_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,w,y\n" + "".join(f"{i * 0.37},{i * 0.11},{'ab'[i % 2]}\n" for i in range(3000)))
    (tmp_path / "m.likely").write_text("old")

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    for more in ((), ("--keep", "sums")):
        args = ("fit", "t.csv", "y", "-o", "m.likely", *more)
        done = likely_process(tmp_path, *args, preexec_fn=small, env={**os.environ, "LIKELY_THREADS": "1"})
        _, err = done.communicate(timeout=60)
        assert done.returncode == 2 and b"Traceback" not in err and err.count(b"\n") == 1, err
        assert b"Cannot write" in err or b"cannot be kept" in err
        assert (tmp_path / "m.likely").read_text() == "old"
        assert not [*tmp_path.glob(".*.part"), *(tmp_path / "sums").glob(".*.part")]
    done = likely_process(tmp_path, "fit", "t.csv", "y", "-o", "/dev/full")
    assert b"No space left on device" in done.communicate(timeout=60)[1] and done.returncode == 2


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs users")
def test_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for k in range(3):
        (logs / f"{k}.csv").write_text("x,y\n" + f"{k},a\n2,b\n" * 4)
    # Everything is imported and every kernel is there: another user may read neither packages nor the cache.
    likely.summarize(logs, "y", skip_bad=True)
    likely.summarize(logs, "y", keep=tmp_path / "sums")
    (logs / "1.csv").chmod(0)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and not folder.stat().st_mode & 0o001:
            folder.chmod(0o755)  # pytest keeps its folders to their owner
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        with pytest.raises(likely.LikelyError, match=r"1\.csv may not be read by this user"):
            likely.summarize(logs, "y")
        told: list[str] = []
        assert likely.summarize(logs, "y", skip_bad=True, remark=told.append).rows == 16
        assert any("1.csv may not be read" in line for line in told)
        with pytest.raises(likely.LikelyError, match=r"Sums cannot be kept in .*: Permission denied"):
            likely.summarize(logs, "y", keep="/proc/sums" if before else "/sums of nobody")
    finally:
        os.seteuid(before)


def test_standard_input_without_end(tmp_path: Path) -> None:
    command = ("fit", "-", "y", "--every", "1000", "-o", "m.likely")
    started = likely_process(tmp_path, *command, stdin=subprocess.PIPE)
    assert started.stdin is not None
    rows = [f'{i % 13},"a ""[red]""\nline {i % 3}",{"uv"[i % 2]}\n' for i in range(3500)]
    started.stdin.write(("x,c,y\n" + "".join(rows)).encode())
    started.stdin.flush()
    for _ in range(4000):
        if (tmp_path / "m.likely").exists() and likely.load(tmp_path / "m.likely").summary.rows == 3000:
            break
        time.sleep(0.02)
    started.send_signal(signal.SIGINT)  # the stream goes on; the reader does not
    _, err = started.communicate(timeout=30)
    assert started.returncode == 130
    assert err == b"Interrupted; m.likely holds the first 3,000 rows.\n"
    found = likely.load(tmp_path / "m.likely")
    (tmp_path / "t.csv").write_text("x,c,y\n" + "".join(rows[:3000]))
    whole = likely.summarize(tmp_path / "t.csv", schema=found.schema)
    assert bits(found.summary) == bits(whole)
