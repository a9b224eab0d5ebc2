"""A notebook is told what is being done in one line that goes; whatever is no notebook is told nothing."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from likely.machinery import threads


class ZMQInteractiveShell:
    """Stands for what runs in a notebook: it is known by its name."""


@pytest.mark.parametrize("interactive", [True, False])
def test_steps_stand_in_one_line(
    interactive: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = ModuleType("IPython")
    shell.get_ipython = lambda: ZMQInteractiveShell() if interactive else None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setattr(threads, "PATIENCE", -1.0)
    with threads.steps_in_notebook():
        threads.teller()("Comparing naive Bayes, 1 of 9")
    out = capsys.readouterr().out
    assert ("Comparing naive Bayes, 1 of 9" in out) == interactive
    assert "\n" not in out and (not out or out.endswith(" \r"))
