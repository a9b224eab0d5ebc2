"""likely curve: the learning curve, and what more rows would buy."""

from __future__ import annotations

import sys
from typing import Any

import click

from likely.cli import terminal
from likely.cli.options import data_argument, json_option, reading_options, writable
from likely.cli.settings import assumed, learning_options, needed


@click.command(short_help="The learning curve, and what more rows would buy.")
@data_argument()
@click.argument("target", required=False)
@click.option(
    "--folds", type=click.IntRange(2, 50), default=5, show_default=True, help="Folds, each predicted in turn."
)
@click.option(
    "--steps",
    type=click.IntRange(1, 10),
    default=6,
    show_default=True,
    help="Sizes: all rows of the other folds, half of them, and so on.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Deals the rows to the folds.")
@click.option("--svg", metavar="FILE.svg", callback=writable, help="Draw the curve into this file.")
@json_option
@reading_options
@learning_options
def curve(
    data: str,
    target: str | None,
    folds: int,
    steps: int,
    seed: int,
    svg: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Show how well TARGET is predicted after learning from few rows of DATA, twice as many, and so on.

    Rows are predicted by models that have not learned from them. One sweep gives the sums of all sizes.
    """
    from likely.evaluate.curve import curve as draw

    how = assumed(options, target)
    with terminal.counting() as progress:
        record = draw(
            data,
            needed(how.target),
            how.learner,
            folds=folds,
            steps=steps,
            seed=seed,
            progress=progress,
            **how.reading,
        )
    from likely.present.report.curve import draw_curve, present_curve

    if svg is not None:
        from likely.sums import state

        state.write(svg, draw_curve(record).encode())
    if as_json:
        sys.stdout.buffer.write(record.json() + b"\n")
    else:
        terminal.show(present_curve(record))
