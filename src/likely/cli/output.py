"""Where commands write: -o FILE, --force and pages. Refuses, before any work is done, what would destroy a file."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import click

from likely.cli import terminal
from likely.cli.options import Decorator, with_options
from likely.errors import InputError, shown
from likely.machinery.text_files import safe_file_name

if TYPE_CHECKING:
    from likely.evaluate.look import Look
    from likely.evaluate.study import Studies


# Where commands write: -o FILE and --force. Refuses, before any work is done, what would destroy a file.

Kind: TypeAlias = Literal["model", "page", "table", "picture", "export"]
READ = ("model", "models", "loss_file", "training", "schema", "stop_words", "spec_file")
"""The parameters of commands that name files to read, beside DATA."""


def writable(_: click.Context, __: click.Parameter, path: str | None) -> str | None:
    """Refuse, before any work is done, a place where nothing can be written."""
    if path in (None, "-"):
        return path
    assert path is not None
    folder = os.path.dirname(os.path.abspath(path))
    if not path or os.path.isdir(path):
        raise InputError(f"Cannot write {shown(path)}, which is a folder. Name a file with -o.")
    if not os.path.isdir(folder):
        raise InputError(f"Cannot write {shown(path)}: there is no folder {shown(folder, 200)}. Make it first.")
    if not os.access(path if os.path.exists(path) and not os.path.isfile(path) else folder, os.W_OK):
        raise InputError(f"Cannot write {shown(path)}: permission denied. Choose another place.")
    return path


def _force(context: click.Context, _: click.Parameter, forced: bool) -> None:
    if forced:
        from likely.table.output.files import allow_overwriting

        context.with_resource(allow_overwriting())


def force_option(words: str) -> Decorator:
    """--force: whatever is there may be replaced."""
    return click.option("--force", is_flag=True, is_eager=True, expose_value=False, callback=_force, help=words)


def out_option(
    metavar: str, words: str, kind: Kind, *, required: bool = False, name: str = "--out", updates: str = ""
) -> Decorator:
    """-o FILE, checked before the work begins, and --force.

    `kind` is what will be written; `updates` names the parameter whose files the command may replace, being made to.
    """

    def check(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
        if writable(context, option, path) not in (None, "-"):
            context.meta["likely.output"] = (path, kind, updates)
        return path

    names = ("-o", name) if name == "--out" else (name,)
    return with_options(
        click.option(*names, required=required, metavar=metavar, callback=check, help=words),
        force_option("Replace the file even if it is an input, or of another kind."),
    )


def check_outputs(context: click.Context) -> None:
    """Refuse an output that is an input of the command, or a file of another kind."""
    if "likely.output" not in context.meta:
        return
    from likely.table.output import files

    path, kind, updates = context.meta["likely.output"]
    written = {
        "model": "a model",
        "page": "a page of likely",
        "table": files.kind_of_table(path),
        "picture": files.kind_of_picture(path),
        "export": None,  # known when it has been written
    }
    inputs = [context.params.get(name) for name in READ if name != updates]
    files.check_output(path, written[kind], [context.meta.get("likely.data"), *inputs])


# Where `likely look` writes its page, and how it was asked for. Parses nothing, computes nothing.


def page_name(target: str) -> str:
    """A file name made of a target's name: safe on every system, and never a path.

    >>> page_name("income"), page_name("../a b"), page_name("<script>"), page_name("")
    ('income.html', 'a_b.html', 'script.html', 'page.html')
    """
    return f"{safe_file_name(target, 'page')}.html"


def place(target: str) -> str:
    """The page's file in this folder; another name where a file of that name is not a page of ours."""
    from likely.table.output.files import PAGE

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
    from likely.sums import state

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
