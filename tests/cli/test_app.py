"""likely app, as a process: it says where it is, needs its key, and leaves nothing behind however it is ended."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from .conftest import Ran

EXAMPLES = Path(__file__).parents[2] / "examples"
pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install likely[web]")


def is_alive(number: int) -> bool:
    """Whether a process is there, and not merely waiting for its parent to notice that it is gone."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_it_answers_and_leaves_nothing(
    how: signal.Signals,
    process: Callable[..., subprocess.Popen[bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    started = process("app", EXAMPLES / "weather.csv", "--no-open")
    assert started.stdout is not None and started.stderr is not None
    found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", started.stdout.readline().decode())
    assert found
    with urlopen(found[0]) as page:
        assert b"<title>likely</title>" in page.read()
    with urlopen(found[0] + "session") as answer:
        assert [table["name"] for table in json.load(answer)["tables"]] == ["weather.csv"]
    with pytest.raises(HTTPError, match="403"):
        urlopen(found[0].rpartition("/")[0][:-1] + "/session")
    assert len(os.listdir(folder)) == 1
    children = Path(f"/proc/{started.pid}/task/{started.pid}/children")
    if not children.exists():
        pytest.skip("needs /proc")
    workers = [int(number) for number in children.read_text().split()]
    assert workers
    started.send_signal(how)
    _, err = started.communicate(timeout=20)
    if how == signal.SIGKILL:  # nobody can clean up after that, but nobody goes on working either
        end = time.monotonic() + 10
        while any(map(is_alive, workers)) and time.monotonic() < end:
            time.sleep(0.05)
    else:
        assert started.returncode == 0, err
        assert not os.listdir(folder) and b"Traceback" not in err and b"ended" in err
    assert not any(map(is_alive, workers))


def test_what_cannot_be_had_is_refused(run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        run("app", "--no-open", "--port", taken.getsockname()[1]).refused("cannot be had")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    run("app", "--no-open").refused("uvicorn", "pip install 'likely[web]'")
