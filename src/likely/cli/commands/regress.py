"""likely regress: a number as a linear function of the other columns, by least squares."""

from __future__ import annotations

import sys
from typing import Any

import click

from likely.cli import terminal
from likely.cli.options import data_argument, json_option, reading_of, reading_options


@click.command(short_help="A number as a weighted sum of the other columns, by least squares.")
@data_argument()
@click.argument("target")
@click.option(
    "--ridge", type=float, default=0.0, show_default=True, help="Holds weights back; 0 is plain least squares."
)
@reading_options
@json_option
def regress(data: str, target: str, ridge: float, as_json: bool, **options: Any) -> None:
    """Fit the number TARGET by least squares on the other columns of DATA, and print the weights."""
    from likely.apply.regression import regress as fitted
    from likely.present.report.estimates import present_regression, regression_json

    with terminal.counting() as progress:
        found = fitted(data, target, ridge=ridge, progress=progress, **reading_of(options))
    if as_json:
        sys.stdout.buffer.write(regression_json(found) + b"\n")
    else:
        terminal.show(present_regression(found))
