"""Every public name shows in its docstring how it is used. (That the examples run, pytest sees to: it collects src.)"""

from __future__ import annotations

import doctest
import tomllib
from pathlib import Path

import pytest

import likely
import likely.classroom

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = [
    *(f"likely.{name}" for name in likely.__all__),
    *(f"likely.classroom.{name}" for name in likely.classroom.__all__),
]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_an_example(name: str) -> None:
    room, _, own = name.rpartition(".")
    thing = getattr(likely if room == "likely" else likely.classroom, own)
    text = vars(thing).get("__doc__") if isinstance(thing, type) else thing.__doc__
    assert doctest.DocTestParser().get_examples(text or ""), f"{name} has no example in its docstring"


def test_the_examples_are_run() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    assert "src" in settings["testpaths"] and "--doctest-modules" in settings["addopts"]
