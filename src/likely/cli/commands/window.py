"""likely window: a model of the last rows or files of a stream; what comes is learned, what is too old unlearned."""

from __future__ import annotations

import os
from typing import Any

import click
from click.core import ParameterSource

from likely.cli import terminal
from likely.cli.options import loss_option, reading_options, writable
from likely.cli.settings import assumed, learning_options

LATER = {"file", "data", "encoding", "delimiter", "replace_invalid", "threads"}
"""What may be said of a window that has begun."""


@click.command(short_help="A model of the last rows or files of a stream, exactly.")
@click.argument("file", callback=writable, metavar="FILE.likely")
@click.argument("data", nargs=-1, required=True)
@click.option("--target", metavar="COLUMN", help="The column to predict.")
@click.option("--rows", type=click.IntRange(1), metavar="N", help="Keep at most the last N rows.")
@click.option(
    "--step", type=click.IntRange(1), metavar="N", help="Move by N rows at a time; a tenth of --rows otherwise."
)
@click.option("--files", type=click.IntRange(1), metavar="N", help="Keep the last N tables, each learned at once.")
@loss_option
@reading_options
@learning_options
@click.pass_context
def window(
    context: click.Context,
    /,
    file: str,
    data: tuple[str, ...],
    target: str | None,
    rows: int | None,
    step: int | None,
    files: int | None,
    loss_file: str | None,
    **options: Any,
) -> None:
    """Let the window in FILE learn the tables DATA (- is standard input), and unlearn what is too old.

    The first time, --target and --rows or --files begin the window; after that FILE and DATA are enough. The model in
    FILE equals, to the last bit, one fitted on the rows that remain; every other command can read it.
    """
    from likely.apply.streams.window import Window
    from likely.models.contracts import has_trait
    from likely.present.words import clean, plural

    if os.path.exists(file):
        held = Window.load(file)
        _check_later(context, file)
        errors = "replace" if options["replace_invalid"] else "strict"
        reading = {"encoding": options["encoding"], "delimiter": options["delimiter"], "threads": options["threads"]}
        reading["encoding_errors"] = errors
    else:
        if (rows is None) == (files is None):
            raise click.UsageError(f"{clean(file)} is new: say --rows N or --files N, how much it is to keep.")
        how = assumed(options, target, loss_file)
        if how.target is None and not has_trait(how.learner, "density"):
            raise click.UsageError("Missing option '--target': the column to predict (none for --learner Density).")
        held, reading = Window(how.target, how.learner, rows=rows, step=step, files=files, loss=how.loss), how.reading
    before = sum(p.size for p in held.pieces)
    came = held.came
    with terminal.counting() as progress:
        for k, table in enumerate(data):
            later = {"threads", "encoding", "delimiter", "encoding_errors"}
            how_now = reading if not k else {name: value for name, value in reading.items() if name in later}
            held.learn(table, progress=progress, **how_now)
    held.save(file)
    kept = sum(p.size for p in held.pieces)
    came = held.came - came
    terminal.say(
        f"{clean(file)}: {plural(kept, 'row')} in {plural(len(held.pieces), 'piece')}; {came:,} came, "
        f"{before + came - kept:,} went."
    )
    for note in held.model.notes[:10]:
        terminal.say(note)


def _check_later(context: click.Context, file: str) -> None:
    """A window that has begun keeps what it was begun with."""
    from likely.present.words import clean

    for parameter in context.command.params:
        name = parameter.name or ""
        if name not in LATER and context.get_parameter_source(name) not in (ParameterSource.DEFAULT, None):
            raise click.UsageError(
                f"{clean(file)} is a window already and keeps what it was begun with. "
                f"Leave {parameter.opts[0]} out, or name another file."
            )
