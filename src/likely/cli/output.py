"""Where commands write: -o FILE and --force. Refuses, before any work is done, what would destroy a file."""

from __future__ import annotations

import os
from typing import Literal, TypeAlias

import click

from likely.cli.options import Decorator, with_options
from likely.errors import InputError, shown

Kind: TypeAlias = Literal["model", "page", "table", "picture", "export"]
READ = ("model", "models", "loss_file", "training", "schema_file", "stop_words", "spec_file")
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
        from likely.table.output.overwrite import allow_overwriting

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
    from likely.table.output import overwrite

    path, kind, updates = context.meta["likely.output"]
    written = {
        "model": "a model",
        "page": "a page of likely",
        "table": overwrite.kind_of_table(path),
        "picture": overwrite.kind_of_picture(path),
        "export": None,  # known when it has been written
    }
    inputs = [context.params.get(name) for name in READ if name != updates]
    overwrite.check_output(path, written[kind], [context.meta.get("likely.data"), *inputs])
