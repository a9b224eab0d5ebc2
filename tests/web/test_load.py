"""What a server bears: slow bodies, many connections, and thousands of requests without holding on to any of them.

The soak takes 300 requests of each kind; LIKELY_SOAK=10000 takes so many.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import likely

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install likely[web]")
import uvicorn
from fastapi.testclient import TestClient

from likely.web.application import application
from likely.web.guard import Guard, Limits
from likely.web.server import bind_port, run_server

EXAMPLES = Path(__file__).parents[2] / "examples"
REQUESTS = int(os.environ.get("LIKELY_SOAK", "300"))
GROWTH = 200
"""Megabytes that a server may take more than at its start: 300 refused bodies of a megabyte once took 900."""
TABLE = b"outlook,temperature,humidity,windy\n" + b"sunny,80,90,FALSE\n" * 2_000
ROW = json.dumps({"rows": [{"outlook": "overcast"}]}).encode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    """A server as the command line starts it: its port, and its process."""
    place = tmp_path_factory.mktemp("served") / "m.likely"
    likely.fit(EXAMPLES / "weather_mixed.csv", "play").save(place)
    command = [sys.executable, "-m", "likely", "serve", str(place), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"127\.0\.0\.1:(\d+)/", process.stdout.readline())
            assert found
            yield int(found[1]), process.pid
        finally:
            process.terminate()


def request(path: str, kind: str = "application/json", body: bytes = b"", method: str = "POST") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def ask(line: socket.socket, sent: bytes) -> tuple[int, bytes]:
    """Send a request on a kept connection; the status and the body of the answer."""
    line.sendall(sent)
    got = b""
    while b"\r\n\r\n" not in got:
        part = line.recv(1 << 16)
        assert part, got
        got += part
    head, _, body = got.partition(b"\r\n\r\n")
    length = int(next(h for h in head.lower().split(b"\r\n") if h.startswith(b"content-length:")).split(b":")[1])
    while len(body) < length:
        body += line.recv(1 << 16)
    return int(head.split(b" ")[1]), body


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def test_answers_are_sent_at_once_on_kept_connections() -> None:
    with bind_port(0) as bound, connect(bound.getsockname()[1]):
        taken, _ = bound.accept()
        with taken:
            assert taken.proto == socket.IPPROTO_TCP  # what asyncio looks at before it turns Nagle's algorithm off


def test_slow_bodies_keep_nobody_waiting(server: tuple[int, int]) -> None:
    port, _ = server
    slow = [connect(port) for _ in range(60)]
    try:
        for line in slow:
            line.sendall(request("/predict", body=ROW)[:-1])  # all but the last byte
        with connect(port) as honest:
            assert ask(honest, request("/health", method="GET"))[0] == 200
            assert ask(honest, request("/predict", body=ROW))[0] == 200
            assert ask(honest, request("/predict/table", "text/csv", TABLE))[0] == 200
        slow[0].sendall(ROW[-1:])
        assert slow[0].recv(100).startswith(b"HTTP/1.1 200")
    finally:
        for line in slow:
            line.close()


def test_two_hundred_kept_connections_are_all_answered(server: tuple[int, int]) -> None:
    port, _ = server
    lines = [connect(port) for _ in range(200)]
    failures: list[object] = []
    explain = request("/explain", body=json.dumps({"row": {"outlook": "overcast"}}).encode())

    def work(own: list[socket.socket]) -> None:
        for sent in (request("/predict", body=ROW), explain):
            for line in own:
                line.sendall(sent)
            for line in own:
                status, body = ask(line, b"")
                if status != 200:
                    failures.append(body)

    threads = [threading.Thread(target=work, args=(lines[k::4],)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for line in lines:
        line.close()
    assert not failures, failures[:3]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (request("/predict", body=b"x" * (1 << 20)), 422),
        (request("/predict/table", "text/csv", TABLE), 200),
        (request("/predict", body=ROW), 200),
    ],
    ids=["refused", "tables", "rows"],
)
def test_memory_does_not_grow_with_the_number_of_requests(sent: bytes, status: int, server: tuple[int, int]) -> None:
    port, process = server

    def memory() -> float:
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
        assert found
        return int(found[1]) / 1024

    start, failures = memory(), []

    def work() -> None:
        for _ in range(REQUESTS // 4):
            with connect(port) as line:
                found = ask(line, sent)[0]
                if found != status:
                    failures.append(found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert memory() - start < GROWTH


# -- the guard by itself ----------------------------------------------------------------------------------------------


class Told:
    """A request whose body comes when it is told to, and the status of its answer."""

    def __init__(self) -> None:
        self.parts: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.status = 0

    def come(self, body: bytes, more: bool) -> None:
        self.parts.put_nowait({"type": "http.request", "body": body, "more_body": more})

    async def send(self, message: Any) -> None:
        self.status = message.get("status", self.status)

    def run(self, guard: Guard) -> asyncio.Task[None]:
        scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", b"localhost")]}
        return asyncio.create_task(guard(scope, self.parts.get, self.send))  # type: ignore[arg-type]


async def echo(scope: Any, receive: Any, send: Any) -> None:
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def run_apart(work: Coroutine[Any, Any, Any]) -> Any:
    """In a thread of its own: tests of the browser leave a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def test_a_body_has_so_long_to_arrive() -> None:
    async def main() -> int:
        told = Told()
        told.come(b"a", True)
        await told.run(Guard(echo, Limits(arrival=0.05)))
        return told.status

    assert run_apart(main()) == 408


def test_of_too_many_bodies_the_oldest_is_given_up() -> None:
    async def main(limits: Limits, size: int) -> list[int]:
        guard = Guard(echo, limits)
        asked = [Told() for _ in range(5)]
        tasks = []
        for told in asked:
            told.come(b"a" * size, True)
            tasks.append(told.run(guard))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        for told in asked:
            told.come(b"b", False)
        await asyncio.gather(*tasks)
        return [told.status for told in asked]

    assert run_apart(main(Limits(arriving=3), 1)) == [408, 408, 200, 200, 200]
    assert run_apart(main(Limits(body=100, at_once=3), 99)) == [408, 408, 200, 200, 200]


@pytest.mark.parametrize(
    "body",
    [
        '{"rows": [{"outlook": "overcast", "temperature": 80, "windy": true}]}',
        '{"rows": [{"outlook": "overcast", "outlook": "sunny", "humidity": 1e2}]}',
        '{"rows": [{"outlook": "never seen", "temperature": "80"}]}',
        '{"rows": [{"outlook": null}], "rows": [{"outlook": "rainy"}]}',
        '{"rows": [{"temperature": 12345678901234567890}]}',
        '{"rows": [{}]}',
        '{"rows": [{}, {}]}',
        '{"rows": []}',
        '{"rows": [{"outlook": NaN}]}',
        '{"rows": [{"temperature": 1e999}]}',
        '{"rows": [{"nothing": 1}]}',
        '{"rows": [{"outlook": "\\ud800"}]}',
        '{"rows": [{"outlook": [1]}]}',
        '{"rows": [{}], "more": 1}',
        "{",
    ],
)
def test_a_row_is_answered_alike_with_and_without_a_thread(body: str) -> None:
    quick = application(likely.fit(EXAMPLES / "weather_mixed.csv", "play"), "page")
    asked: dict[str, Any] = {"content": body, "headers": {"content-type": "application/json"}}
    one, other = (
        TestClient(guard, base_url="http://127.0.0.1").post("/predict", **asked)
        for guard in (quick, Guard(quick.app, Limits()))
    )
    assert one.status_code == other.status_code and one.content == other.content


def test_a_server_collects_garbage_as_python_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line collects seldom; what a server would not collect are bodies of requests."""
    before, seen = gc.get_threshold(), []
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: seen.append(gc.get_threshold()))
    try:
        gc.set_threshold(200_000, 20, 50)  # as `likely.cli.main` does
        with bind_port(0) as bound:
            run_server(lambda *_: None, bound, lambda _: None)  # type: ignore[arg-type, return-value]
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
    assert [thresholds[:2] for thresholds in seen] == [(700, 10)]
