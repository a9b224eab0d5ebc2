"""likely doctor: what may be wrong with a table before anything is learned from it."""

from __future__ import annotations

import sys
from typing import Any

import click

from likely.cli import terminal
from likely.cli.options import json_option, reading_options
from likely.cli.settings import assumed, learning_options, needed


@click.command(short_help="What may be wrong with a table: leaks, copies, useless columns, doubtful labels.")
@click.argument("data")
@click.argument("target", required=False)
@click.option(
    "--suspects",
    type=click.IntRange(0, 10_000),
    default=10,
    show_default=True,
    metavar="N",
    help="Name at most N rows whose class may be wrong.",
)
@click.option(
    "--folds", type=click.IntRange(2, 1000), default=5, show_default=True, help="Folds that doubt each other."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Deals the rows to the folds.")
@click.option("--all", "everything", is_flag=True, help="Show every note, example and attribute.")
@click.option("--fail", is_flag=True, help="Exit with 1 if there is anything to beware of.")
@json_option
@reading_options
@learning_options
def doctor(
    data: str,
    target: str | None,
    suspects: int,
    folds: int,
    seed: int,
    everything: bool,
    fail: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Look for what may be wrong with DATA when TARGET is to be predicted from it.

    Attributes that give the class away, whose being missing tells it, that copy each other, that never change or have
    nothing to do with the class; rows that occur twice or contradict each other; classes that depend on the order of
    rows; and rows whose class is so improbable, by models that have not seen them, that it may be wrong.
    """
    from likely.evaluate.doctor import doctor as examine

    how = assumed(options, target)
    with terminal.counting() as progress:
        record = examine(
            data,
            needed(how.target),
            how.learner,
            suspects=suspects,
            folds=folds,
            seed=seed,
            progress=progress,
            **how.reading,
        )
    if as_json:
        sys.stdout.buffer.write(record.json() + b"\n")
    else:
        from likely.present.report.checkup import present_checkup

        terminal.show(present_checkup(record, everything))
    if fail and record.grave:
        raise click.exceptions.Exit(1)
