"""likely compare: every learner on the same folds, side by side."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from likely.cli import terminal
from likely.cli.dealing import dealing_of, dealing_options
from likely.cli.options import data_argument, json_option, reading_options
from likely.cli.settings import assumed, needed, spec_option
from likely.errors import SettingError


@click.command(short_help="All learners side by side, on the same folds.")
@data_argument()
@click.argument("target", required=False)
@click.option(
    "--learner",
    "names",
    multiple=True,
    metavar="NAME",
    help="Only this learner, with settings if need be: \"Neighbors(k=3, distance='city-block')\". "
    "Give it once for each; otherwise one of each kind is compared.",
)
@spec_option
@dealing_options
@json_option
@reading_options
def compare(data: str, target: str | None, names: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Compare learners on TARGET of DATA, cross-validated on the same folds.

    With --spec all of them read the table as the spec says, and its own learner joins the others under the name of
    the file.
    """
    from likely.evaluate.compare import compare as compare_all
    from likely.models.field import field_of
    from likely.models.learners import learner_written
    from likely.present.report.comparison import present_comparison

    usual, _ = field_of(0)  # their names may be used as the table prints them: "NaiveBayes, kernel"
    learners = {name: usual.get(name) or learner_written(name) for name in names} or None
    deal = dealing_of(options)
    how = assumed(options, target)
    also = {} if how.spec is None else {os.path.basename(how.spec): how.learner}
    with terminal.counting() as progress:
        record = compare_all(
            data,
            needed(how.target),
            learners,
            also=also,
            **deal,
            progress=progress,
            **how.reading,
        )
    if all(one.scores is None for one in record.learners):
        raise SettingError(record.learners[0].refused)
    if as_json:
        sys.stdout.buffer.write(record.json() + b"\n")
    else:
        terminal.show(present_comparison(record))
