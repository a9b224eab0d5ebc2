"""Commands about one answer of a model: explain, ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from likely.cli import terminal
from likely.cli.command import command
from likely.cli.options import (
    LEVEL,
    Values,
    json_option,
    loss_option,
    missing_by_option,
    prior_option,
    read_loss_file,
    read_prior,
    read_row,
    row_options,
    text_options,
)
from likely.errors import SettingError

if TYPE_CHECKING:
    from likely.apply.explain.ledger import Order, Unit
    from likely.models.working.records import LogBase, Style


@command(short_help="Explain one prediction: the evidence of each value.")
@click.argument("model")
@row_options
@click.option("--class", "of", metavar="NAME", help="The class to explain; by default the most probable one.")
@click.option(
    "--against", metavar="NAME|rest", help="The class to compare it with, or rest; by default the next most probable."
)
@click.option(
    "--unit",
    type=click.Choice(["bits", "decibans", "odds", "nats"]),
    default="bits",
    help="Unit of evidence: 1 bit doubles the odds, 10 decibans multiply them by ten.",
)
@click.option(
    "--order",
    type=click.Choice(["size", "schema"]),
    default="size",
    help="Strongest evidence first, or in the order of the columns.",
)
@click.option(
    "--working",
    is_flag=True,
    help="Show only the arithmetic, in fractions where counted; with --all after the evidence.",
)
@click.option("--decimals", is_flag=True, help="The working in decimals.")
@click.option("--logs", is_flag=True, help="The working as a sum of logs.")
@click.option(
    "--log-base", type=click.Choice(["10", "2", "e"]), default="10", help="The base of --logs: 10, 2 or e (natural)."
)
@missing_by_option
@click.option("--counterfactual", is_flag=True, help="Find the fewest changes of values that change the decision.")
@click.option("--change", multiple=True, metavar="NAME", help="Change only this attribute; may be repeated.")
@click.option(
    "--towards", metavar="NAME", help="The class or action that the changes should lead to; by default any other."
)
@loss_option
@click.option(
    "--level",
    type=LEVEL,
    metavar="PERCENT",
    default=90.0,
    show_default=True,
    help="Level of intervals, and of the set of classes to reckon with.",
)
@click.option("--all", "everything", is_flag=True, help="Show every piece of evidence, including missing values.")
@text_options
@json_option
def explain(
    model: str,
    given: tuple[str, ...],
    row: int | None,
    of: str | None,
    against: str | None,
    unit: Unit,
    order: Order,
    working: bool,
    decimals: bool,
    logs: bool,
    log_base: LogBase,
    missing_by: str | None,
    counterfactual: bool,
    change: tuple[str, ...],
    towards: str | None,
    loss_file: str | None,
    level: float,
    everything: bool,
    reading: Values,
    as_json: bool,
) -> None:
    """Explain the answer of MODEL for one row: values by hand (outlook=sunny windy=true), or row N of DATA.

    What is not given is missing. A name that holds an equals sign needs no quoting: the name ends where a
    column's name does.
    """
    from likely.apply.decide.missing import by_missing
    from likely.apply.explain.counterfactual import counterfactual_of
    from likely.apply.explain.explaining import explained
    from likely.apply.explain.sureness import all_sureness
    from likely.apply.fitting import load_model
    from likely.present.report.explanation import ledger_json, present_ledger

    if decimals and logs:
        raise click.UsageError("--decimals and --logs are two ways to print the working. Use one of them.")
    style: Style | None = "logs" if logs else "decimals" if decimals else "fractions" if working else None
    loaded = by_missing(load_model(model), missing_by)
    asking = read_row(loaded, given, row, reading)
    ledger = explained(loaded, asking, of, against, unit, order)
    other = None
    if counterfactual or change or towards is not None:
        names = loaded.schema.names
        allowed = [n for entry in change for n in ([entry] if entry in names else entry.split(","))]
        other = counterfactual_of(loaded, asking, towards, allowed or None, read_loss_file(loss_file))
    elif loss_file is not None:
        raise SettingError("--loss is for --counterfactual: give that as well.")
    sure, why = all_sureness(loaded, asking.batch, level)
    terminal.answer(
        as_json,
        lambda: ledger_json(ledger, other, style, sure, log_base),
        lambda: present_ledger(ledger, other, style, everything, sure, log_base, why),
    )


@command(short_help="What to ask next: the missing attributes worth most.")
@click.argument("model")
@row_options
@loss_option
@prior_option
@json_option
@text_options
def ask(
    model: str,
    given: tuple[str, ...],
    row: int | None,
    loss_file: str | None,
    priors: tuple[str, ...],
    as_json: bool,
    reading: Values,
) -> None:
    """Say how much learning each attribute that a row lacks would lower the expected loss of deciding by MODEL.

    The row is given by hand (outlook=sunny windy=true), or is row N of DATA. Answered by the
    default, and by models of rows such as naive Bayes.
    """
    from likely.apply.decide.asking import ask as questions_about
    from likely.apply.fitting import load_model
    from likely.present.report.explanation import present_questions, questions_json

    loaded = load_model(model)
    asking = read_row(loaded, given, row, reading)
    questions = questions_about(loaded, asking.batch, read_loss_file(loss_file), prior=read_prior(priors))
    unseen = [name for name, what in asking.states.items() if what == "unseen"]
    terminal.answer(as_json, lambda: questions_json(questions), lambda: present_questions(questions, unseen))
