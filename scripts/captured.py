"""Runs a command of likely in this process and keeps what it prints, for documents that show it."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path


class Stream(io.TextIOWrapper):
    """A stream of UTF-8 whose text can still be read after a command has closed it."""

    def __init__(self) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding="utf-8", newline="")

    def close(self) -> None:
        self.flush()

    def text(self) -> str:
        self.flush()
        return self.bytes.getvalue().decode()


def run_likely(words: list[str], folder: Path) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command, run from a folder; away from a terminal."""
    from likely.cli import run

    out, err = Stream(), Stream()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    return code, out.text(), err.text()
