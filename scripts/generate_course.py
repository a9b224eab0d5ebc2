"""Writes what the chapters of the course print and draw, and makes a notebook of each.

A chapter (docs/course/3-….md) is the one source. What stands between these marks is written here:

    <!-- run: likely joint examples/weather.csv outlook play -->           the command and what it prints
    <!-- run 12 lines: likely look examples/iris.csv species -->           … no more than so many lines of it
    <!-- picture "What it shows": likely plot … -o flowers.svg -->         the command and the picture it makes
    <!-- printed -->                                                       what the ```python block above prints
    … each up to <!-- end -->

An exercise is a paragraph that begins with **Exercise 3.1.**. On the lines after it stand

    <!-- hint: … -->
    <!-- answer: 3/5 -->                                  a fraction, a decimal of ten digits or more, or a whole number
    <!-- mistake 3/14: That is the share of all days. --> what a usual mistake gives, and what to say

tests/course works every answer and mistake out again, from the example tables or by hand.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from captured import run_likely

MARK = re.compile(
    r"^<!-- (?:(?P<kind>run|picture)(?: (?P<lines>\d+) lines)?(?: \"(?P<alt>[^\"]+)\")?: likely (?P<words>.+?)|printed)"
    r" -->\n"
    r".*?^<!-- end -->$",
    re.DOTALL | re.MULTILINE,
)
PYTHON = re.compile(r"^```python\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
STEP = re.compile(f"{PYTHON.pattern}|{MARK.pattern}", re.DOTALL | re.MULTILINE)
EXERCISE = re.compile(
    r"(?P<text>^\*\*Exercise (?P<name>\d+\.\d)\.\*\* .+?)(?:\n<!-- (?:hint|answer|mistake).+? -->$)+",
    re.DOTALL | re.MULTILINE,
)
WIDEST = 100
SETUP = "%load_ext likely.cli.course\nfrom likely.classroom.course import check"


# -- pages ------------------------------------------------------------------------------------------------------------


def course_files(folder: Path) -> dict[Path, str]:
    """Every chapter, picture and notebook as it should be."""
    made: dict[Path, str] = {}
    for path in sorted(folder.glob("[1-9]*-*.md")):
        with tempfile.TemporaryDirectory() as place:
            text, pictures = worked(path.read_text(encoding="utf-8"), path.stem.partition("-")[0], Path(place))
        made[path] = text
        made.update({folder / name: svg for name, svg in pictures.items()})
        made[path.with_suffix(".ipynb")] = notebook(text)
    return made


def worked(text: str, chapter: str, place: Path) -> tuple[str, dict[str, str]]:
    """A chapter with all its steps done in a folder that has the example tables; its pictures by their names."""
    from likely.classroom.course.chapters import copy_examples

    copy_examples(place)
    pictures: dict[str, str] = {}
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = ""

    def step(found: re.Match[str]) -> str:
        nonlocal printed
        if found["code"] is not None:
            said = io.StringIO()
            with contextlib.chdir(place), contextlib.redirect_stdout(said):
                exec(compile(found["code"], f"chapter {chapter}", "exec"), names)
            printed = said.getvalue().rstrip()
            return found[0]
        mark = found[0].partition("\n")[0]
        if found["kind"] is None:
            return f"{mark}\n```text\n{printed}\n```\n<!-- end -->"
        words = shlex.split(found["words"])
        code, out, err = run_likely(words, place)
        if code:
            raise SystemExit(f"likely {found['words']} failed: {err.strip()}")
        shown = _shown(found["words"])
        if found["kind"] == "run":
            whole = f"{shown}\n{_cut(out.rstrip(), found['lines'])}".rstrip()
            return f"{mark}\n```text\n{whole}\n```\n<!-- end -->"
        name = words[words.index("-o") + 1]
        goal = f"images/{chapter}-{name}"
        pictures[goal] = (place / name).read_text(encoding="utf-8")
        return f"{mark}\n```text\n{shown}\n```\n\n![{found['alt']}]({goal})\n<!-- end -->"

    return STEP.sub(step, text), pictures


def _shown(words: str) -> str:
    """A command as it is typed; a long one goes over several lines, as a shell takes it."""
    lines = [f"$ likely {words}"]
    while len(lines[-1]) > WIDEST:
        # An option begins a line; those in quotes have no two hyphens after a blank.
        place = lines[-1].rfind(" -", 5, WIDEST)
        if place < 0:
            break
        lines[-1:] = [lines[-1][:place] + " \\", "    " + lines[-1][place + 1 :]]
    return "\n".join(lines)


def _cut(out: str, most: str | None) -> str:
    lines = out.split("\n")
    return out if most is None or len(lines) <= int(most) else "\n".join([*lines[: int(most)], "…"])


# -- notebooks --------------------------------------------------------------------------------------------------------


def notebook(text: str) -> str:
    """A chapter as a Jupyter notebook: each step a cell, each exercise a cell to answer in, without outputs."""
    heading, _, rest = text.partition("\n")
    cells = [_cell("markdown", heading), _cell("code", SETUP), *_steps(rest)]
    for k, cell in enumerate(cells):
        cell["id"] = f"cell-{k}"
    about = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    whole = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _steps(text: str) -> Iterator[dict[str, Any]]:
    start = 0
    for found in STEP.finditer(text):
        yield from _prose(text[start : found.start()])
        start = found.end()
        if found["code"] is not None:
            yield _cell("code", found["code"].rstrip())
        elif found["kind"] is not None:
            yield _cell("code", f"%likely {found['words']}")
    yield from _prose(text[start:])


def _prose(text: str) -> Iterator[dict[str, Any]]:
    start = 0
    for found in EXERCISE.finditer(text):
        yield from _words(text[start : found.start()] + found["text"])
        yield _cell("code", f'check("{found["name"]}", ...)')
        start = found.end()
    yield from _words(text[start:])


def _words(text: str) -> Iterator[dict[str, Any]]:
    if text.strip():
        yield _cell("markdown", re.sub(r"\]\((\d+-[\w-]+)\.md\)", r"](\1.ipynb)", text.strip()))


def _cell(kind: str, source: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": "", "metadata": {}, "source": source.splitlines(keepends=True)}
    return cell if kind == "markdown" else {**cell, "execution_count": None, "outputs": []}
