"""likely decide: for each row of a table the action of least expected loss."""

from __future__ import annotations

import sys

import click

from likely.cli import terminal
from likely.cli.options import (
    data_argument,
    json_option,
    loss_of,
    loss_option,
    out_option,
    prior_given,
    prior_option,
    replace_option,
    text_options,
)


@click.command(short_help="The action of least expected loss for each row.")
@click.argument("model")
@data_argument()
@loss_option
@click.option(
    "--rule",
    type=click.Choice(["loss", "map", "ml"]),
    default="loss",
    show_default=True,
    help="Least expected loss; the most probable class (map); maximum likelihood, which divides the prior out (ml).",
)
@prior_option
@click.option(
    "--missing-by",
    type=click.Choice(["left-out", "averaged", "informative"]),
    help="Leave missing cells out, average over what they may hold, or take being missing as evidence; "
    "as the model does otherwise.",
)
@click.option(
    "--unlike",
    type=float,
    metavar="SHARE",
    help="Say 'none of these' of rows less probable than all but this share (0.001, say) of the training rows.",
)
@click.option("--training", metavar="FILE", help="The training rows for --unlike; rows drawn from MODEL otherwise.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Draws rows for --unlike.")
@out_option("FILE", "CSV (also .gz, .zst), TSV or Parquet by its name; standard output otherwise.", required=False)
@click.option("--keep", is_flag=True, help="Put the columns of DATA first.")
@json_option
@text_options
@replace_option
def decide(
    model: str,
    data: str,
    loss_file: str | None,
    rule: str,
    priors: tuple[str, ...],
    missing_by: str | None,
    unlike: float | None,
    training: str | None,
    seed: int,
    out: str | None,
    keep: bool,
    as_json: bool,
    encoding: str | None,
    delimiter: str | None,
    replace_invalid: bool,
) -> None:
    """Decide each row of DATA by MODEL and what actions cost.

    Writes the columns action, loss(<action>) for each action (its expected loss), margin (to the second best) and
    reason (why there is no action). Without --loss the model's own loss counts, else a wrong class costs 1.
    """
    from likely.apply.decide.decider import decider
    from likely.apply.decide.tables import decide_table
    from likely.apply.fitting import load_model
    from likely.intake.reading import Reading
    from likely.present.report.decisions import DecisionWriter, prior_sentences

    how = decider(
        load_model(model),
        loss_of(loss_file),
        rule=rule,  # type: ignore[arg-type]
        prior=prior_given(priors),
        missing_by=missing_by,
        unlike=unlike,
        training=training,
        seed=seed,
    )
    for line in [] if as_json else prior_sentences(how):
        terminal.say(line)
    records = DecisionWriter(how, sys.stdout) if as_json else None
    with terminal.counting() as progress:
        done = decide_table(
            how,
            data,
            out,
            Reading(
                encoding=encoding,
                delimiter=delimiter,
                progress=progress,
                encoding_errors="replace" if replace_invalid else "strict",
            ),
            keep=keep,
            each=records.take if records is not None and out is None else None,
        )
    if records is not None:
        records.end(done)
        return
    for remark in done.remarks:
        terminal.say(remark)
