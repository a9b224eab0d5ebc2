"""How quickly `likely serve` answers: single rows, and tables of 2,000, on kept connections of some clients at once.

Starts the server as a process of its own; the clients are one loop over plain sockets, which costs little beside it.
Aim: on two cores, 16 clients with single rows of the census, what `fit` makes: 1,500 requests a second, median 5 ms.
`python benchmarks/serving.py`, on a machine that does nothing else; prints, and names what missed the aim.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import likely

CENSUS = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "adult.csv"
ROWS = 2_000
"""Rows of a table that is sent as CSV."""
LEAST_RATE, MOST_MEDIAN = 1_500.0, 0.005


@dataclass
class Client:
    """A kept connection that asks again as soon as it was answered."""

    address: tuple[str, int]
    request: bytes
    took: list[float] = field(default_factory=list)
    refused: int = 0

    def __post_init__(self) -> None:
        self.line = socket.create_connection(self.address)
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.line.setblocking(False)
        self.left, self.buffer, self.wanted, self.asked = b"", b"", -1, 0.0

    def ask(self) -> None:
        self.asked, self.left, self.buffer, self.wanted = time.perf_counter(), self.request, b"", -1
        self.send()

    def send(self) -> None:
        try:
            while self.left:
                self.left = self.left[self.line.send(self.left[: 1 << 20]) :]
        except BlockingIOError:
            pass

    def take(self) -> None:
        """Read what is there; an answer that is complete is counted, and the next asked for."""
        self.buffer += self.line.recv(1 << 20)
        head, ended, _ = self.buffer.partition(b"\r\n\r\n")
        if self.wanted < 0 and ended:
            length = next(h for h in head.lower().split(b"\r\n") if h.startswith(b"content-length:"))
            self.wanted = len(head) + 4 + int(length.split(b":")[1])
        if 0 <= self.wanted <= len(self.buffer):
            self.took.append(time.perf_counter() - self.asked)
            self.refused += not head.startswith(b"HTTP/1.1 200")
            self.ask()


def measure(address: tuple[str, int], request: bytes, clients: int, seconds: float) -> tuple[float, float, float, int]:
    """Requests a second, the median and the 99th percentile of their times, and how many were refused."""
    watch = selectors.DefaultSelector()
    asking = [Client(address, request) for _ in range(clients)]
    for client in asking:
        client.ask()
        watch.register(client.line, selectors.EVENT_READ, client)
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        for key, _ in watch.select(0.1):
            key.data.take()
        for client in asking:
            if client.left:
                client.send()
    spent = time.perf_counter() - start
    for client in asking:
        client.line.close()
    took = sorted(t for client in asking for t in client.took)
    late = took[int(0.99 * (len(took) - 1))]
    return len(took) / spent, statistics.median(took), late, sum(client.refused for client in asking)


def post(path: str, kind: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--model", help="a model of the census; fitted first otherwise")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = given.model or f"{folder}/census.likely"
        if given.model is None:
            likely.fit(CENSUS, "income").save(place)
        command = [sys.executable, "-m", "likely", "serve", place, "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                said = server.stdout.readline()
                address = "127.0.0.1", int(said.split("127.0.0.1:")[1].split("/")[0])
                report(address, server.pid, given.seconds)
            finally:
                server.terminate()


def processor_seconds(process: int) -> float:
    """What a process has worked so far, which a busy machine does not change."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def report(address: tuple[str, int], process: int, seconds: float) -> None:
    with CENSUS.open(newline="") as file:
        rows = csv.DictReader(file)
        cells = next(rows)
    lines = CENSUS.read_bytes().split(b"\n")[: ROWS + 1]
    row = {n: float(v) if v.replace(".", "").isdigit() else v for n, v in cells.items() if n != "income"}
    single = post("/predict", "application/json", json.dumps({"rows": [row]}).encode())
    table = post("/predict/table", "text/csv", b"\n".join(lines) + b"\n")
    measure(address, single, 1, 1.0)  # whatever is made on first use
    for what, request, clients in (
        ("single rows", single, 1),
        ("single rows", single, 16),
        ("single rows", single, 200),
        (f"CSV of {ROWS:,} rows", table, 16),
    ):
        before = processor_seconds(process)
        rate, median, late, refused = measure(address, request, clients, seconds)
        each = (processor_seconds(process) - before) / (rate * seconds)
        aimed = what == "single rows" and clients == 16
        missed = aimed and (rate < LEAST_RATE or median > MOST_MEDIAN)
        print(
            f"{what}, {clients} clients: {rate:,.0f} requests/s, median {1e3 * median:.2f} ms, 99 % within "
            f"{1e3 * late:.1f} ms, {refused:,} refused, {1e3 * each:.2f} ms of a processor each"
            f"{' (misses the aim)' if missed else ''}"
        )


if __name__ == "__main__":
    main()
