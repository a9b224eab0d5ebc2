"""likely repeats: attributes that are counted twice, and what joining them or leaving one out would change."""

from __future__ import annotations

import sys
from typing import Any

import click

from likely.cli import terminal
from likely.cli.options import data_argument, folds_options, json_option, reading_options
from likely.cli.settings import assumed, learning_options, needed


@click.command(short_help="Attributes that are counted twice, and what to do about it.")
@data_argument()
@click.argument("target", required=False)
@click.option(
    "--most",
    type=click.IntRange(0, 50),
    default=3,
    show_default=True,
    help="For so many of the worst pairs, work out what would change.",
)
@folds_options
@click.option("--all", "everything", is_flag=True, help="Show every pair that was looked at.")
@json_option
@reading_options
@learning_options
def repeats(
    data: str, target: str | None, most: int, folds: int, seed: int, everything: bool, as_json: bool, **options: Any
) -> None:
    """Show which attributes of DATA repeat each other in rows of one class of TARGET.

    Naive Bayes takes attributes to be independent given the class. Where two say the same, it counts the evidence
    twice and is too sure of itself. For the worst pairs it is worked out, on rows not learned from, what joining them
    (--block) or leaving one out (--type COLUMN=ignore) would change.
    """
    from likely.evaluate.repeats import repeats as find

    how = assumed(options, target)
    with terminal.counting() as progress:
        record = find(
            data,
            needed(how.target),
            how.learner,
            most=most,
            folds=folds,
            seed=seed,
            progress=progress,
            **how.reading,
        )
    if as_json:
        sys.stdout.buffer.write(record.json() + b"\n")
        return
    from likely.present.report.repeats import present_repeats

    terminal.show(present_repeats(record, everything))
