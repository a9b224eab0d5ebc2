"""Questions of an exam: tables small enough to be written in the test, and the sheet that a few commands print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from likely.cli import run

Sheet = Callable[..., str]


@pytest.fixture
def sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Sheet:
    """Everything that commands print, in a folder with files of these texts."""
    monkeypatch.chdir(tmp_path)

    def print_sheet(files: dict[str, str], *commands: list[str]) -> str:
        for name, text in files.items():
            # Tables are written with blanks, so that a row is a word: "a,b 1,2".
            text = "\n".join(text.split()) + "\n" if name.endswith(".csv") else text
            (tmp_path / name).write_text(text, encoding="utf-8")
        for words in commands:
            code = run(words)
            assert code == 0, (words, capfdbinary.readouterr().err.decode())
        return capfdbinary.readouterr().out.decode().replace("\r\n", "\n")

    return print_sheet
