"""The worker process as the server holds it, and what it may be told to do."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from likely.errors import LikelyError
from likely.intake.options import write_options

# What the worker may be told to do, as plain values that go through a pipe. Knows no HTTP and does no work.

Kind = Literal["read", "learn", "compare", "predict", "decide", "export"]
Costs: TypeAlias = dict[str, dict[str, float]]

MODEL, PAGE, COSTS = "model.likely", "page.html", "costs.toml"
"""Files of a table's folder, once it was learned from."""


@dataclass(frozen=True)
class Order:
    """One piece of work."""

    kind: Kind
    data: str
    """The path of the table."""
    name: str
    """What the table is called."""
    folder: str
    """Where files of the answer go."""
    reading: dict[str, Any] = field(default_factory=dict)
    """How it is to be read, as a person says it: those options of reading that the app takes."""
    target: str = ""
    learner: str | None = None
    """None: the one that learns where nobody says."""
    costs: Costs | None = None
    abstain: float | None = None
    keep: bool = True
    """Whether predictions follow the columns of the table."""
    out: str = ""
    """The file to write."""
    language: str = ""
    version: str = ""

    def written(self) -> str:
        """The order as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def parsed(cls, line: str) -> Order:
        """The order that a line holds."""
        return cls(**json.loads(line))

    def command(self, learner: list[str]) -> str:
        """What does the same in a terminal; `learner` are the options that name what learns."""
        out = ["likely", "look", self.name, self.target, *write_options(self.reading)]
        out += learner
        out += ["--loss", COSTS] if self.costs is not None else []
        return shlex.join(out)


# The worker process as the server holds it: started ahead, given one order at a time, ended when work is cancelled.

Message: TypeAlias = dict[str, Any]
GONE = (
    "The work ended without an answer. Most often memory has run out: close other programs, or take a part of the rows."
)


class WorkFailed(LikelyError):
    """The order was not carried out; the sentence is the worker's."""


class WorkerProcess:
    """A process that carries out orders, one after the other."""

    def __init__(self) -> None:
        self._lock, self._closed = threading.Lock(), False
        self._process = self._start()

    @staticmethod
    def _start() -> subprocess.Popen[str]:
        # A session of its own: Ctrl+C in the terminal is for the server, which then ends the worker.
        group = {"creationflags": 0x200} if sys.platform == "win32" else {"start_new_session": True}
        return subprocess.Popen(
            [sys.executable, "-m", "likely.web.app.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            **group,
        )

    def carry_out(self, order: Order, heard: Callable[[Message], None]) -> Message:
        """Give an order and wait for the answer; `heard` gets what is said on the way. For one thread at a time."""
        self._give(order)
        stdout = self._process.stdout
        assert stdout is not None
        for line in stdout:
            message: Message = json.loads(line)
            if "answer" in message:
                answer: Message = message["answer"]
                return answer
            if "error" in message:
                raise WorkFailed(message["error"])
            heard(message)
        self._renew()
        raise WorkFailed(GONE)

    def _give(self, order: Order) -> None:
        """Write the order; to another process, where this one ended since its last answer."""
        for _ in range(2):
            stdin = self._process.stdin
            assert stdin is not None
            try:
                stdin.write(order.written() + "\n")
                stdin.flush()
                return
            except OSError:
                self._renew()
        raise WorkFailed(GONE)

    def _renew(self) -> None:
        with self._lock:
            self._dispose()
            if self._closed:
                raise WorkFailed(GONE)
            self._process = self._start()

    def end_work(self) -> None:
        """End what is being done, whatever it is; whoever waits for its answer makes ready for the next order."""
        with self._lock:
            self._process.kill()

    def close(self) -> None:
        """End for good."""
        with self._lock:
            self._closed = True
            self._process.kill()
            self._process.wait()

    def _dispose(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not yet written is lost with the process
                    pipe.close()
