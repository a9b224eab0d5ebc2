"""likely predict: the class of each row of a table, with the probability of every class."""

from __future__ import annotations

import click

from likely.cli import terminal
from likely.cli.options import data_argument, out_option, replace_option, text_options


@click.command(short_help="The class of each row, with probabilities.")
@click.argument("model")
@data_argument()
@out_option("FILE", "CSV (also .gz, .zst), TSV or Parquet by its name; standard output otherwise.", required=False)
@click.option("--keep", is_flag=True, help="Put the columns of DATA first.")
@text_options
@replace_option
def predict(
    model: str,
    data: str,
    out: str | None,
    keep: bool,
    encoding: str | None,
    delimiter: str | None,
    replace_invalid: bool,
) -> None:
    """Predict each row of DATA by MODEL.

    Writes the columns prediction (empty if none can be made) and p(<class>) for each class.
    """
    from likely.apply.fitting import load_model
    from likely.apply.predict import predict_table
    from likely.intake.reading import Reading

    loaded = load_model(model)
    with terminal.counting() as progress:
        done = predict_table(
            loaded,
            data,
            out,
            Reading(
                encoding=encoding,
                delimiter=delimiter,
                progress=progress,
                encoding_errors="replace" if replace_invalid else "strict",
            ),
            keep=keep,
        )
    for remark in done.remarks:
        terminal.say(remark)
