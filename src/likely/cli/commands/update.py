"""Commands that change what a model has learned, exactly: learn, unlearn, merge, window."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from likely.cli import terminal
from likely.cli.command import command, out_option, writable
from likely.cli.learning import Learning, learning_options
from likely.cli.options import Values, data_argument, loss_option, text_options
from likely.intake.options import FILE, WORKING, options_about

if TYPE_CHECKING:
    from likely.table.output.files import Revision

LATER = {"file", "data", *options_about(FILE, WORKING)}
"""What may be said of a window that has begun."""


@command(short_help="Add rows to a model, exactly.")
@click.argument("model")
@data_argument()
@out_option("FILE.likely", "Where to write the model with these rows.", "model", required=True, updates="model")
@text_options
def learn(model: str, data: object, out: str, reading: Values) -> None:
    """Let MODEL learn the rows of DATA (a table, or another model's file) as well.

    The result is the same, to the last bit, as fitting all rows at once as MODEL reads them. A model of knowledge alone
    (`likely fit --spec`) goes on learning this way.
    """
    from likely.apply.fitting import learn as learn_rows
    from likely.apply.fitting import load_any
    from likely.machinery.words import clean, plural
    from likely.models.contracts import Model

    since = revision_of(out, [model])
    held = load_any(model)
    more = learn_rows(held, data, **reading)
    more.save(out, since)
    before, now = (h.summary if isinstance(h, Model) else h for h in (held, more))
    terminal.say(f"{clean(out)}: {plural(now.rows, 'row')}, {now.rows - before.rows:,} of them new.")
    for note in more.notes[:10] if isinstance(more, Model) else ():
        terminal.say(note)


@command(short_help="Remove rows from a model, exactly.")
@click.argument("model")
@data_argument()
@out_option("FILE.likely", "Where to write the model without these rows.", "model", required=True, updates="model")
@text_options
def unlearn(model: str, data: object, out: str, reading: Values) -> None:
    """Take the rows of DATA (a table, or another model's file) out of MODEL."""
    from likely.apply.fitting import load_any
    from likely.apply.fitting import unlearn as unlearn_rows
    from likely.machinery.words import clean, weighed_rows
    from likely.models.contracts import Model

    since = revision_of(out, [model])
    less = unlearn_rows(load_any(model), data, **reading)
    less.save(out, since)
    summary = less.summary if isinstance(less, Model) else less
    terminal.say(f"{clean(out)}: {weighed_rows(summary.rows, float(summary.total.floats().sum()))} remain.")


@command(short_help="Merge several models into one, exactly.")
@click.argument("models", nargs=-1, required=True)
@out_option("FILE.likely", "Where to write the merged model.", "model", required=True, updates="models")
def merge(models: tuple[str, ...], out: str) -> None:
    """Merge MODELS: the result is the same, to the last bit, as fitting all their rows at once.

    The settings of the first are kept.
    """
    from likely.apply.fitting import merge_files
    from likely.machinery.words import clean, plural, weighed_rows
    from likely.models.contracts import Model

    since = revision_of(out, models)
    whole = merge_files(models)
    whole.save(out, since)
    summary = whole.summary if isinstance(whole, Model) else whole
    rows = weighed_rows(summary.rows, float(summary.total.floats().sum()))
    terminal.say(f"{clean(out)}: {rows} of {plural(len(models), 'model')}.")


@command(short_help="Keep a model of the latest rows or files of a stream, exactly.")
@click.argument("file", callback=writable, metavar="FILE.likely")
@click.argument("data", nargs=-1, required=True)
@click.option("--target", metavar="COLUMN", help="The column to predict.")
@click.option("--rows", type=click.IntRange(1), metavar="N", help="Keep at most the last N rows.")
@click.option(
    "--step", type=click.IntRange(1), metavar="N", help="Move by N rows at a time; by default a tenth of --rows."
)
@click.option("--files", type=click.IntRange(1), metavar="N", help="Keep the last N tables, each learned as a whole.")
@loss_option
@learning_options
def window(
    file: str, data: tuple[str, ...], how: Learning, rows: int | None, step: int | None, files: int | None
) -> None:
    """Update the window in FILE: learn the tables DATA (- is standard input), and unlearn what is too old.

    The first time, --target and --rows or --files start the window; after that FILE and DATA are enough. The model in
    FILE equals, to the last bit, one fitted on the rows that remain; every other command can read it.
    """
    from likely.apply.streams import Window
    from likely.machinery.words import clean, plural
    from likely.models.contracts import has_trait
    from likely.table.output.files import Revision

    since = Revision.of(file)
    later = {name: how.reading[name] for name in options_about(FILE, WORKING) if name in how.reading}
    if os.path.exists(file):
        held, reading = Window.load(file), later
        _check_later(file)
    else:
        if (rows is None) == (files is None):
            raise click.UsageError(f"{clean(file)} is new: give --rows N or --files N to say how much to keep.")
        if how.target is None and not has_trait(how.learner, "density"):
            raise click.UsageError("Missing option '--target': the column to predict (none for --learner Density).")
        held, reading = Window(how.target, how.learner, rows=rows, step=step, files=files, loss=how.loss), how.reading
    before, came = sum(p.size for p in held.pieces), held.came
    with terminal.counting() as progress:
        for k, table in enumerate(data):
            held.learn(table, progress=progress, **(later if k else reading))
    held.save(file, since)
    kept, came = sum(p.size for p in held.pieces), held.came - came
    terminal.say(
        f"{clean(file)}: {plural(kept, 'row')} in {plural(len(held.pieces), 'piece')}; {came:,} added, "
        f"{before + came - kept:,} dropped."
    )
    for note in held.model.notes[:10]:
        terminal.say(note)


def revision_of(out: str, inputs: Sequence[str]) -> Revision | None:
    """What OUT holds, where it is one of the files that are read: its change by another command is not to be lost."""
    from likely.table.output.files import Revision

    same = any(os.path.exists(out) and os.path.exists(name) and os.path.samefile(out, name) for name in inputs)
    return Revision.of(out) if same and os.path.isfile(out) else None


def _check_later(file: str) -> None:
    """A window that has begun keeps what it was begun with."""
    from likely.machinery.words import clean

    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if name not in LATER and context.get_parameter_source(name) not in (ParameterSource.DEFAULT, None):
            raise click.UsageError(
                f"{clean(file)} is already a window and keeps its first settings. "
                f"Leave {parameter.opts[0]} out, or name another file."
            )
