"""Where `likely look` writes its page, and how it was asked for. Parses nothing, computes nothing."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from likely.cli import terminal
from likely.errors import InputError, shown
from likely.machinery.file_names import safe_file_name
from likely.sums import state
from likely.table.output.overwrite import PAGE

if TYPE_CHECKING:
    from likely.evaluate.look import Look
    from likely.evaluate.study import Studies


def page_name(target: str) -> str:
    """A file name made of a target's name: safe on every system, and never a path.

    >>> page_name("income"), page_name("../a b"), page_name("<script>"), page_name("")
    ('income.html', 'a_b.html', 'script.html', 'page.html')
    """
    return f"{safe_file_name(target, 'page')}.html"


def place(target: str) -> str:
    """The page's file in this folder; another name where a file of that name is not a page of ours."""
    name = page_name(target)
    try:
        with open(name, "rb") as file:
            ours = PAGE in file.read(4096)
    except FileNotFoundError:
        ours = True
    except OSError:
        ours = False
    return name if ours else name.removesuffix(".html") + ".likely.html"


def write_page(record: Look, studies: Studies, data: object, out: str | None, arguments: tuple[str, ...]) -> str | None:
    """Make the page, write it, and say where; a folder that cannot be written is no reason to fail: then it is None.

    `arguments` are those of the command, which the page repeats.
    """
    from likely import __version__
    from likely.present.page.writing import page

    made = page(
        record,
        curve=studies.curve,
        comparison=studies.comparison,
        command=shlex.join(["likely", *arguments]),
        version=__version__,
        data=str(data),
    )
    path = place(record.target) if out is None else out
    try:
        state.write(path, made.encode("utf-8", "replace"))
    except InputError as error:
        if out is not None:
            raise
        terminal.say(f"The page was not written. {error}")
        return None
    terminal.say(f"The page is in {shown(path, 200)}: open it in a browser.")
    return path


def show_page(path: str) -> None:
    """Open a page in the browser that the system would take, or say that there is none."""
    import webbrowser

    if not webbrowser.open(Path(path).resolve().as_uri()):
        terminal.say("No browser could be started: open the page yourself.")
