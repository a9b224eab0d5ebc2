"""likely unlearn: take rows out of a model, exactly as if they had never been read."""

from __future__ import annotations

import click

from likely.cli import terminal
from likely.cli.options import data_argument, out_option, replace_option, text_options


@click.command(short_help="Take rows out of a model, exactly.")
@click.argument("model")
@data_argument()
@out_option("FILE.likely", "Where to write the model without these rows.")
@text_options
@replace_option
def unlearn(
    model: str, data: str, out: str, encoding: str | None, delimiter: str | None, replace_invalid: bool
) -> None:
    """Take the rows of DATA (a table, or another model's file) out of MODEL."""
    from likely.apply.fitting import load, unlearn
    from likely.models.contracts import Model
    from likely.present.words import clean, plural

    how = {"encoding": encoding, "delimiter": delimiter, "encoding_errors": "replace" if replace_invalid else "strict"}
    less = unlearn(load(model), data, **how)
    less.save(out)
    summary = less.summary if isinstance(less, Model) else less
    terminal.say(f"{clean(out)}: {plural(summary.rows, 'row')} remain.")
