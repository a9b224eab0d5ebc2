"""likely score: how probable each row of a table is under a model, and which rows are least like those of training."""

from __future__ import annotations

import sys

import click

from likely.cli import terminal
from likely.cli.options import data_argument, json_option, out_option, replace_option, text_options


@click.command(short_help="log P(row) of each row; the unlikely ones.")
@data_argument()
@click.option("--model", required=True, metavar="FILE.likely", help="A model of rows: Density, or any generative one.")
@out_option("FILE", "Write log_density of each row: CSV (also .gz, .zst), TSV or Parquet by its name.", required=False)
@click.option("--lowest", type=click.IntRange(0), default=10, show_default=True, help="Rows of lowest density to name.")
@click.option("--keep", is_flag=True, help="Put the columns of DATA first in FILE.")
@text_options
@replace_option
@json_option
def score(
    data: str,
    model: str,
    out: str | None,
    lowest: int,
    keep: bool,
    encoding: str | None,
    delimiter: str | None,
    replace_invalid: bool,
    as_json: bool,
) -> None:
    """Say how probable the rows of DATA are under a model: log P(row), in nats, and log P of all of them.

    Score the training table and another one to see how well the model carries over. Rows of lowest
    density are outliers.
    """
    from likely.apply.fitting import load_model
    from likely.apply.score import score_table
    from likely.intake.reading import Reading
    from likely.present.report.estimates import present_scores, scores_json

    loaded = load_model(model)
    with terminal.counting() as progress:
        found = score_table(
            loaded,
            data,
            out,
            Reading(
                encoding=encoding,
                delimiter=delimiter,
                progress=progress,
                encoding_errors="replace" if replace_invalid else "strict",
            ),
            lowest=lowest,
            keep=keep,
        )
    page = present_scores(found, data)
    if out == "-":  # standard output holds the densities
        terminal.say(page.headline)
        for remark in page.remarks:
            terminal.say(remark)
    elif as_json:
        sys.stdout.buffer.write(scores_json(found) + b"\n")
    else:
        terminal.show(page)
