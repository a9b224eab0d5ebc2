"""likely merge: several models as one, exactly as if their rows had been read together."""

from __future__ import annotations

import click

from likely.cli import terminal
from likely.cli.options import out_option


@click.command(short_help="Several models as one, exactly.")
@click.argument("models", nargs=-1, required=True)
@out_option("FILE.likely", "Where to write the merged model.")
def merge(models: tuple[str, ...], out: str) -> None:
    """Merge MODELS: the result is the same, to the last bit, as fitting all their rows at once.

    The settings of the first are kept.
    """
    from likely.apply.fitting import merge_files
    from likely.models.contracts import Model
    from likely.present.words import clean, plural

    whole = merge_files(models)
    whole.save(out)
    summary = whole.summary if isinstance(whole, Model) else whole
    terminal.say(f"{clean(out)}: {plural(summary.rows, 'row')} of {plural(len(models), 'model')}.")
