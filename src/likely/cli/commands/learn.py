"""likely learn: add rows to a model, exactly as if they had been there from the first."""

from __future__ import annotations

import click

from likely.cli import terminal
from likely.cli.options import data_argument, out_option, replace_option, text_options


@click.command(short_help="Add rows to a model, exactly.")
@click.argument("model")
@data_argument()
@out_option("FILE.likely", "Where to write the model with these rows.")
@text_options
@replace_option
def learn(model: str, data: str, out: str, encoding: str | None, delimiter: str | None, replace_invalid: bool) -> None:
    """Let MODEL learn the rows of DATA (a table, or another model's file) as well.

    The result is the same, to the last bit, as fitting all rows at once as MODEL reads them. A model of knowledge alone
    (`likely fit --spec`) goes on learning this way.
    """
    from likely.apply.fitting import learn as learned
    from likely.apply.fitting import load
    from likely.models.contracts import Model
    from likely.present.words import clean, plural

    held = load(model)
    how = {"encoding": encoding, "delimiter": delimiter, "encoding_errors": "replace" if replace_invalid else "strict"}
    more = learned(held, data, **how)
    more.save(out)
    before, now = (h.summary if isinstance(h, Model) else h for h in (held, more))
    terminal.say(f"{clean(out)}: {plural(now.rows, 'row')}, {now.rows - before.rows:,} of them new.")
    for note in more.notes[:10] if isinstance(more, Model) else ():
        terminal.say(note)
