"""likely look: a picture of a target: how well it can be predicted, by what, and why."""

from __future__ import annotations

import sys
from typing import Any

import click

from likely.cli import terminal
from likely.cli.options import json_option, learner_of, learning_options, reading_of, reading_options


@click.command(short_help="How well can a target be predicted, by what, and why.")
@click.argument("data")
@click.argument("target")
@click.option(
    "--folds", type=click.IntRange(2, 1000), default=10, show_default=True, help="Folds of the cross-validation."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Deals the rows to the folds.")
@click.option("--all", "everything", is_flag=True, help="Show every attribute and column.")
@json_option
@reading_options
@learning_options
def look(data: str, target: str, folds: int, seed: int, everything: bool, as_json: bool, **options: Any) -> None:
    """Show how well TARGET can be predicted from the other columns of DATA, by what, and why.

    DATA is a file (CSV, Parquet, Arrow, JSON lines, ARFF; .gz and .zst too), a folder, a glob in quotes, or - for
    standard input.
    """
    from likely.evaluate.look import look as look_at

    reading, learner = reading_of(options), learner_of(options)
    try:
        record = look_at(data, target, learner, folds=folds, seed=seed, progress=terminal.progress(), **reading)
    finally:
        terminal.clear_progress()
    if as_json:
        sys.stdout.buffer.write(record.json() + b"\n")
        return
    from likely.report.contents import of_look

    terminal.show(of_look(record, everything))
