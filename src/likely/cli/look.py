"""likely look: a picture of a target: how well it can be predicted, by what, and why."""

from __future__ import annotations

import sys
from typing import Any

import click

from likely.cli import terminal
from likely.cli.dealing import dealing_of, dealing_options
from likely.cli.options import json_option, loss_option, reading_options
from likely.cli.settings import assumed, learning_options, needed


@click.command(short_help="How well can a target be predicted, by what, and why.")
@click.argument("data")
@click.argument("target", required=False)
@dealing_options
@click.option("--positive", metavar="CLASS", help="The class that is looked for: of two the rarer one otherwise.")
@click.option(
    "--all",
    "--full",
    "everything",
    is_flag=True,
    help="Show everything: scores by class, curves, every attribute and column.",
)
@loss_option
@json_option
@reading_options
@learning_options
def look(
    data: str,
    target: str | None,
    positive: str | None,
    everything: bool,
    loss_file: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Show how well TARGET can be predicted from the other columns of DATA, by what, and why.

    DATA is a file (CSV, Parquet, Arrow, JSON lines, ARFF; .gz and .zst too), a folder, a glob in quotes, or - for
    standard input. With --loss it shows what deciding costs, in place of how often the class is right.
    """
    from likely.evaluate.look import look as look_at

    deal = dealing_of(options)
    how = assumed(options, target, loss_file)
    with terminal.counting() as progress:
        record = look_at(
            data,
            needed(how.target),
            how.learner,
            loss=how.loss,
            positive=positive,
            **deal,
            progress=progress,
            **how.reading,
        )
    if as_json:
        sys.stdout.buffer.write(record.json() + b"\n")
        return
    from likely.report.looking import of_look

    terminal.show(of_look(record, everything))
