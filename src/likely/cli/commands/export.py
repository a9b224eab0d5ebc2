"""likely export: a model as SQL, ONNX, PMML, JSON, Python or JavaScript, to run where likely is not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from likely.cli import terminal
from likely.cli.help import command
from likely.cli.output import out_option

if TYPE_CHECKING:
    from likely.portable.languages.export import Language

LANGUAGES = ("sql", "onnx", "pmml", "json", "form", "python", "javascript")


@command(short_help="A model as SQL, ONNX, PMML, JSON, Python or JavaScript.")
@click.argument("model")
@click.option("--to", metavar=f"[{'|'.join(LANGUAGES)}]", help="The format; form is the whole model as JSON.")
@out_option("FILE", "Output file; by default standard output.", "export")
@click.option(
    "--dialect", metavar="NAME", help="For SQL: postgres, duckdb, sqlite, bigquery …; by default portable SQL."
)
@click.option("--table", metavar="NAME", help="Of SQL: the table whose rows are scored; rows otherwise.")
@click.option("--keep", multiple=True, metavar="COLUMN", help="For SQL: a column to return; by default the attributes.")
def export(
    model: str, to: Language | None, out: str | None, dialect: str | None, table: str | None, keep: tuple[str, ...]
) -> None:
    """Write MODEL in another language. It scores rows there as it does here, missing and unseen values included.

    What a language cannot say is refused.
    """
    from likely.apply.fitting import load_model
    from likely.portable.languages.export import export as exported
    from likely.present.words import clean

    if to is None:
        raise click.UsageError(f"Missing option '--to': one of {', '.join(LANGUAGES)}.")
    if to == "onnx" and out in (None, "-") and sys.stdout.isatty():
        raise click.UsageError("ONNX is a binary format. Name a file with -o.")
    text = exported(load_model(model), to, None if out == "-" else out, dialect=dialect, table=table, keep=keep)
    if out in (None, "-"):
        sys.stdout.buffer.write(text.encode() if isinstance(text, str) else text)
        sys.stdout.flush()
    else:
        terminal.say(f"{clean(out)}: {len(text):,} {'characters' if isinstance(text, str) else 'bytes'}.")
