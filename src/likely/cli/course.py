"""The course on the command line and in Jupyter: `%load_ext likely.cli.course` gives notebooks the commands."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import shlex
import shutil
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from likely.cli import terminal
from likely.cli.command import command, force_option
from likely.errors import SettingError, shown

# The commands inside a Jupyter notebook: `%load_ext likely.cli.course` gives `%likely joint examples/weather.csv
# …`.


class Picture:
    """A picture that a command has written; a notebook shows it."""

    def __init__(self, path: Path) -> None:
        self.svg = path.read_text(encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture: {len(self.svg):,} bytes of SVG>"


def run_line(line: str) -> Picture | None:
    """Run a command as in a terminal; the picture that it wrote, if it wrote one."""
    from likely.cli import run

    words = shlex.split(line)
    # Tables and JSON are written as bytes, which a notebook's own stdout does not take.
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    with contextlib.redirect_stdout(out):
        run(words)
    out.seek(0)
    print(out.read(), end="")
    written = [Path(word) for flag, word in pairwise(words) if flag in ("-o", "--out")]
    return next((Picture(path) for path in written if path.suffix == ".svg" and path.exists()), None)


def enter_workspace() -> Path:
    """A folder of this process's own as the working folder, with the example tables in examples/.

    A notebook may lie anywhere, and what its commands write must not lie about there; the folder goes with the process.
    """
    from likely.classroom.course.chapters import copy_examples

    folder = Path(tempfile.mkdtemp(prefix="likely-course-"))
    copy_examples(folder)
    os.chdir(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def load_ipython_extension(shell: Any) -> None:
    """What IPython calls for `%load_ext`."""
    shell.register_magic_function(run_line, "line", "likely")
    print(f"Commands run in {enter_workspace()}; the example tables are in examples/ there.")


# The course on the command line and in Jupyter: `command` opens chapters and checks answers, `notebook` runs
# commands in cells. `%load_ext likely.cli.course` is what the notebooks of the course begin with.

__all__ = ["load_ipython_extension"]


# likely course: the chapters of the course as pages that open offline, and answers to their exercises.


@command(short_help="An offline course in fifteen chapters, with exercises that check your answers.")
@click.argument("chapter", type=click.IntRange(1), required=False)
@click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="EXERCISE=ANSWER",
    help="Check an answer: 3.2=0.25, 1.1=3/5, 1.1='40 %'.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write all pages and notebooks to this folder, with the example tables.",
)
@force_option("Replace files in FOLDER even if somebody has changed them.")
@click.option("--no-browser", is_flag=True, help="Print where the page is; do not open it.")
def course(chapter: int | None, answers: tuple[str, ...], out: Path | None, no_browser: bool) -> None:
    """Open CHAPTER of the course in a browser, or list the chapters. Nothing is fetched from elsewhere.

    likely course 3 --answer 3.2=0.25
    """
    from likely.classroom.course.chapters import copy_course, find_chapter, write_pages

    if chapter is not None:
        find_chapter(chapter)
    if answers:
        _check(chapter, answers)
        return
    if out is not None:
        pages = copy_course(out)
        terminal.write(f"{out}: {len(pages)} chapters as pages and notebooks, and examples/ with the tables.")
        if chapter is None:
            return
    elif chapter is None:
        _list()
        return
    else:
        pages = write_pages()
    where = pages[chapter].resolve()
    opened = not no_browser and _open(where)
    terminal.write(
        f"Chapter {chapter} is open in the browser: {where}" if opened else f"Chapter {chapter} is in {where}"
    )


def _list() -> None:
    from likely.classroom.course.chapters import read_chapters

    lines = [f"  {c.number}  {c.title} ({len(c.exercises())} exercises)" for c in read_chapters()]
    first = read_chapters()[0].number
    terminal.write("\n".join(["The course", *lines, f"Open one with: likely course {first}"]))


def _check(chapter: int | None, answers: tuple[str, ...]) -> None:
    from likely.classroom.course.answers import check

    for word in answers:
        exercise, equals, answer = (part.strip() for part in word.partition("="))
        if not equals:
            raise click.UsageError(f"--answer {shown(word)} needs an answer after an equals sign, such as 3.2=0.25")
        verdict = check(exercise, answer)
        if chapter is not None and not exercise.startswith(f"{chapter}."):
            raise SettingError(
                f"Exercise {exercise} is in chapter {exercise.partition('.')[0]}, not in chapter {chapter}."
            )
        terminal.write(str(verdict))


def _open(page: Path) -> bool:
    """Whether a browser with a window took the page; one that would take over the terminal is not asked."""
    import os
    import sys
    import webbrowser

    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        return webbrowser.open(page.as_uri())
    except webbrowser.Error:
        return False
