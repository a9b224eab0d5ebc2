"""likely serve, as a process: it says where it is, answers, and ends in order when it is told to."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from .conftest import Ran

EXAMPLES = Path(__file__).parents[2] / "examples"
pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install likely[web]")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_and_ends_in_order(
    how: signal.Signals, run: Callable[..., Ran], process: Callable[..., subprocess.Popen[bytes]]
) -> None:
    if how == signal.SIGINT:
        run("fit", EXAMPLES / "weather.csv", "play", "-o", "m.likely").done()
        started = process("serve", "m.likely", "--port", "0")
    else:
        data = EXAMPLES / "weather.csv"
        started = process("serve", data, "--target", "play", "--port", 0)
    assert started.stdout is not None and started.stderr is not None
    said = started.stdout.readline().decode()
    found = re.search(r"http://127\.0\.0\.1:\d+/", said)
    assert found, (said, started.stderr.read())
    with urlopen(found[0]) as page:
        text = page.read().decode()
    assert "likely-model" in text and 'id="w"' in text
    asked = Request(f"{found[0]}predict", json.dumps({"rows": [{"outlook": "overcast"}]}).encode())
    asked.add_header("content-type", "application/json")
    with urlopen(asked) as answer:
        assert json.load(answer)["rows"][0]["prediction"] == "yes"
    started.send_signal(how)
    _, err = started.communicate(timeout=20)
    assert started.returncode == 0, err
    assert b"Traceback" not in err and b"stopped" in err


def test_what_cannot_be_served_is_refused(run: Callable[..., Ran]) -> None:
    run("serve", EXAMPLES / "weather.csv").refused("--target")
    run("serve", "nothing.likely").refused("nothing.likely")
    run("serve", EXAMPLES / "weather.csv", "--target", "plai").refused("plai", "play")
    run("fit", EXAMPLES / "weather.csv", "play", "-o", "m.likely").done()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        run("serve", "m.likely", "--port", taken.getsockname()[1]).refused("cannot be had")


def test_without_the_extra_it_says_what_to_install(run: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    run("fit", EXAMPLES / "weather.csv", "play", "-o", "m.likely").done()
    for name in ("uvicorn", "likely.web.application"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    run("serve", "m.likely").refused("likely[web]")
