"""likely course: the chapters of the course as pages that open offline, and answers to their exercises."""

from __future__ import annotations

from pathlib import Path

import click

from likely.cli import terminal
from likely.cli.help import command
from likely.cli.output import force_option
from likely.errors import SettingError, shown


@command(short_help="An offline course in eight chapters, with exercises that check your answers.")
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
    from likely.course.chapters import find_chapter
    from likely.course.pages import copy_course, write_pages

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
    from likely.course.chapters import read_chapters

    lines = [f"  {c.number}  {c.title} ({len(c.exercises())} exercises)" for c in read_chapters()]
    first = read_chapters()[0].number
    terminal.write("\n".join(["The course", *lines, f"Open one with: likely course {first}"]))


def _check(chapter: int | None, answers: tuple[str, ...]) -> None:
    from likely.course.exercises import check

    for word in answers:
        exercise, equals, answer = (part.strip() for part in word.partition("="))
        if not equals:
            raise click.UsageError(f"--answer {shown(word)} needs an answer after an equals sign, such as 3.2=0.25")
        verdict = check(exercise, answer)
        if chapter is not None and not exercise.startswith(f"{chapter}."):
            raise SettingError(f"Exercise {exercise} is in chapter {exercise[0]}, not in chapter {chapter}.")
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
