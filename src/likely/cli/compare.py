"""likely compare: every learner on the same folds, side by side."""

from __future__ import annotations

import sys
from typing import Any

import click

from likely.cli import terminal
from likely.cli.options import json_option, reading_of, reading_options
from likely.errors import SettingError


@click.command(short_help="All learners side by side, on the same folds.")
@click.argument("data")
@click.argument("target")
@click.option("--learner", "names", multiple=True, metavar="NAME", help="Only these learners; all of them otherwise.")
@click.option("--folds", type=click.IntRange(2, 1000), default=10, show_default=True, help="Folds of the validation.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Deals the rows to the folds.")
@json_option
@reading_options
def compare(
    data: str, target: str, names: tuple[str, ...], folds: int, seed: int, as_json: bool, **options: Any
) -> None:
    """Compare learners on TARGET of DATA, cross-validated on the same folds."""
    from likely.evaluate.compare import compare as compare_all
    from likely.models.learners import learner_named
    from likely.report.contents import of_comparison

    learners = {name: learner_named(name) for name in names} or None
    reading = reading_of(options)
    try:
        record = compare_all(data, target, learners, folds=folds, seed=seed, progress=terminal.progress(), **reading)
    finally:
        terminal.clear_progress()
    if all(one.scores is None for one in record.learners):
        raise SettingError(record.learners[0].refused)
    if as_json:
        sys.stdout.buffer.write(record.json() + b"\n")
    else:
        terminal.show(of_comparison(record))
