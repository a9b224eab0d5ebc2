"""How the tests of the command line run a command: inside this process, with real streams of bytes, or as a process."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from likely.cli import run as run_command


@dataclass(frozen=True)
class Ran:
    """What a command left: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    def refused(self, *words: str) -> Ran:
        """It was bad input: exit code 2, nothing on standard output, one or two sentences that hold these words."""
        assert self.code == 2, (self.code, self.out, self.err)
        assert self.out == ""
        assert self.err.startswith("likely: ") and self.err.endswith("\n") and self.err.count("\n") == 1, self.err
        assert self.err.rstrip()[-1] in ".?", self.err
        assert "Traceback" not in self.err and "\x1b" not in self.err
        for word in words:
            assert word in self.err, (word, self.err)
        return self

    def done(self) -> Ran:
        assert self.code == 0, (self.code, self.err)
        assert "\x1b" not in self.out + self.err
        return self


class Kept(io.BytesIO):
    """Bytes that can still be read after whoever wrote them has closed the stream."""

    def close(self) -> None:
        self.flush()


def run_here(*args: object, stdin: bytes = b"", encoding: str = "utf-8") -> Ran:
    """Run a command in this process, in the folder it is in."""
    out, err = Kept(), Kept()
    before = signal.getsignal(signal.SIGTERM)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        patch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding, newline=""))
        patch.setattr(sys, "stderr", io.TextIOWrapper(err, encoding=encoding, newline=""))
        try:
            code = run_command([str(a) for a in args])
        finally:
            for stream in (sys.stdout, sys.stderr):
                if not stream.closed:
                    stream.flush()
            signal.signal(signal.SIGTERM, before)
    return Ran(code, out.getvalue().decode(encoding), err.getvalue().decode(encoding))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Callable[..., Ran]:
    """Run a command in an empty folder, in this process. A look writes its page only in the tests of pages."""
    monkeypatch.chdir(tmp_path)
    pages = getattr(request.module, "PAGES", False)

    def command(*args: object, stdin: bytes = b"", encoding: str = "utf-8") -> Ran:
        if args[:1] == ("look",) and not pages and not {"--no-page", "-o", "--out"} & set(map(str, args)):
            args = ("look", "--no-page", *args[1:])
        ran = run_here(*args, stdin=stdin, encoding=encoding)
        assert not list(tmp_path.glob(".*.part")), "something was written half"
        return ran

    return command


@pytest.fixture
def process(tmp_path: Path) -> Callable[..., subprocess.Popen[bytes]]:
    """Start a command as a process of its own, in an empty folder."""

    def start(*args: object, **more: object) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "likely", *map(str, args)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **more},  # type: ignore[dict-item]
        )

    return start


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file into the folder in which commands run."""

    def put(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put
