"""Commands that take a table through a model, row by row: predict, decide, score; and sample, which draws rows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from likely.cli import terminal
from likely.cli.command import command, out_option
from likely.cli.options import (
    LEVEL,
    Values,
    data_argument,
    json_option,
    loss_option,
    missing_by_option,
    prior_option,
    quote_formulas_option,
    read_loss_file,
    read_prior,
    text_options,
)

if TYPE_CHECKING:
    from likely.apply.decide.decider import Rule

TABLE = "CSV (also .gz, .zst), TSV or Parquet, by file name"


@command(short_help="Predict the class of each row, with probabilities.")
@click.argument("model")
@data_argument()
@out_option("FILE", f"{TABLE}; by default standard output.", "table")
@click.option("--keep", is_flag=True, help="Put the columns of DATA first.")
@click.option(
    "--remarks", is_flag=True, help="Add a column on what training did not have: numbers beyond, levels, combinations."
)
@click.option(
    "--set",
    "set_level",
    type=LEVEL,
    metavar="PERCENT",
    help="Add a column of the classes that hold the true one in at least so many of 100 rows, such as 95.",
)
@click.option(
    "--interval",
    type=LEVEL,
    metavar="PERCENT",
    help="Add columns low and high: an interval for the probability of the predicted class, such as 90.",
)
@quote_formulas_option
@missing_by_option
@text_options
def predict(
    model: str,
    data: object,
    out: str | None,
    keep: bool,
    remarks: bool,
    set_level: float | None,
    interval: float | None,
    quote_formulas: bool,
    missing_by: str | None,
    reading: Values,
) -> None:
    """Predict each row of DATA by MODEL.

    Writes the columns prediction (empty if none can be made) and p(<class>) for each class.
    Sets and intervals are those of rows that were held out when the model was made.
    """
    from likely.apply.fitting import load_model
    from likely.apply.predict import predict_table
    from likely.intake.reading import Reading

    loaded = load_model(model)
    with terminal.counting(data) as progress:
        how: Values = {"keep": keep, "missing_by": missing_by, "quote_formulas": quote_formulas}
        how |= {"remarks": remarks, "set_level": set_level, "interval": interval}
        done = predict_table(loaded, data, out, Reading(progress=progress, **reading), **how)
    for remark in done.remarks:
        terminal.say(remark)


@command(short_help="Choose the action with the least expected loss for each row.")
@click.argument("model")
@data_argument()
@loss_option
@click.option(
    "--rule",
    type=click.Choice(["loss", "map", "ml"]),
    default="loss",
    help="Least expected loss (loss), most probable class (map), or maximum likelihood, which ignores the prior (ml).",
)
@prior_option
@missing_by_option
@click.option(
    "--unlike",
    type=float,
    metavar="SHARE",
    help="Answer 'none of these' for rows less probable than all but this share of the training rows, such as 0.001.",
)
@click.option(
    "--set",
    "set_level",
    type=LEVEL,
    metavar="PERCENT",
    help="No action where classes that are not ruled out at this level, such as 95, call for different ones.",
)
@click.option(
    "--interval",
    type=LEVEL,
    metavar="PERCENT",
    help="No action where another would be better somewhere in the intervals at this level, such as 90.",
)
@click.option("--training", metavar="FILE", help="The training rows for --unlike; by default rows drawn from MODEL.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed for the rows drawn for --unlike.")
@out_option("FILE", f"{TABLE}; by default standard output.", "table")
@click.option("--keep", is_flag=True, help="Put the columns of DATA first.")
@quote_formulas_option
@json_option
@text_options
def decide(
    model: str,
    data: object,
    loss_file: str | None,
    rule: Rule,
    priors: tuple[str, ...],
    missing_by: str | None,
    unlike: float | None,
    set_level: float | None,
    interval: float | None,
    training: str | None,
    seed: int,
    out: str | None,
    keep: bool,
    quote_formulas: bool,
    as_json: bool,
    reading: Values,
) -> None:
    """Choose an action for each row of DATA, by MODEL and the cost of each action.

    Writes the columns action, loss(<action>) for each action (its expected loss), margin (to the second best) and
    reason (why there is no action). Without --loss, the model's own loss is used; if it has none, each wrong class
    costs 1.
    """
    from likely.apply.decide.decider import decide_table, decider
    from likely.apply.fitting import load_model
    from likely.intake.reading import Reading
    from likely.present.report.explanation import DecisionWriter, prior_sentences

    rows: Values = {"missing_by": missing_by, "unlike": unlike, "training": training, "seed": seed}
    rows |= {"set_level": set_level, "interval": interval}
    how = decider(load_model(model), read_loss_file(loss_file), rule=rule, prior=read_prior(priors), **rows)
    for line in [] if as_json else prior_sentences(how):
        terminal.say(line)
    records = DecisionWriter(how, sys.stdout) if as_json else None
    each = records.take if records is not None and out is None else None
    with terminal.counting(data) as progress:
        options: Values = {"keep": keep, "each": each, "quote_formulas": quote_formulas}
        done = decide_table(how, data, out, Reading(progress=progress, **reading), **options)
    if records is not None:
        records.end(done)
        return
    for remark in done.remarks:
        terminal.say(remark)


@command(short_help="The log density of each row, and the least likely rows.")
@data_argument()
@click.option(
    "--model", required=True, metavar="FILE.likely", help="A model of rows: Density, NaiveBayes …; or the default's."
)
@out_option("FILE", f"Write the log_density of each row: {TABLE}.", "table")
@click.option("--lowest", type=click.IntRange(0), default=10, help="How many rows with the lowest density to list.")
@click.option("--weight", metavar="COLUMN", help="Column that says how often each row counts.")
@click.option("--keep", is_flag=True, help="Put the columns of DATA first in FILE.")
@quote_formulas_option
@text_options
@json_option
def score(
    data: object,
    model: str,
    out: str | None,
    lowest: int,
    weight: str | None,
    keep: bool,
    quote_formulas: bool,
    reading: Values,
    as_json: bool,
) -> None:
    """Show how probable the rows of DATA are under a model: log P(row) in nats, and the total.

    Score the training table and another one to see how well the model generalises. Rows with the lowest density are
    outliers. The default answers by its member that models rows, or by naive Bayes beside it, and says so.
    """
    from likely.apply.fitting import load_model
    from likely.apply.predict import score_table
    from likely.intake.reading import Reading
    from likely.present.report.explanation import present_scores, scores_json

    loaded = load_model(model)
    with terminal.counting(data) as progress:
        how = Reading(progress=progress, **reading)
        more: Values = {"lowest": lowest, "weight": weight, "keep": keep, "quote_formulas": quote_formulas}
        record = score_table(loaded, data, out, how, **more)
    page = present_scores(record, str(data))
    if out == "-":  # standard output holds the densities
        for line in (page.headline, *page.remarks):
            terminal.say(line)
    else:
        terminal.answer(as_json, lambda: scores_json(record), lambda: page)


@command(short_help="Draw rows from a model.")
@click.argument("model")
@click.option("-n", "--rows", type=click.IntRange(0), default=10, help="How many rows.")
@out_option("FILE", "CSV, TSV or Parquet, by file name; by default standard output.", "table")
@click.option("--seed", type=click.IntRange(0), default=0, help="Same seed, same rows.")
@quote_formulas_option
def sample(model: str, rows: int, out: str | None, seed: int, quote_formulas: bool) -> None:
    """Draw rows from MODEL: a class by its prior, then the cells given the class.

    The default draws from its member that models rows, or from naive Bayes beside it, and says so.
    """
    from likely.apply.decide.priors import describer_sentence
    from likely.apply.fitting import load_model
    from likely.table.output.sink import Sink, batch_of, formula_remarks

    loaded = load_model(model)
    drawn = loaded.sample(rows, seed)
    whole, describer = loaded.learned, loaded.learned.describer
    if whole.draw is None and describer is not whole:
        terminal.say(describer_sentence(whole, describer))
    with Sink(out, quote_formulas) as sink:
        sink.write(batch_of(drawn))
    for remark in formula_remarks(sink.formulas):
        terminal.say(remark)
