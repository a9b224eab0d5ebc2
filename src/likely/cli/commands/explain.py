"""likely explain: the evidence of one answer, and what would change it."""

from __future__ import annotations

import sys
from typing import Any

import click

from likely.cli import terminal
from likely.cli.options import json_option, loss_of, loss_option, replace_option, row_of, row_options, text_options


@click.command(short_help="The evidence of one answer, piece by piece.")
@click.argument("model")
@row_options
@click.option("--class", "of", metavar="NAME", help="The class to weigh; the most probable one otherwise.")
@click.option(
    "--against", metavar="NAME|rest", help="The class to weigh it against, or rest; the most probable other one."
)
@click.option(
    "--unit",
    type=click.Choice(["bits", "decibans", "odds", "nats"]),
    default="bits",
    show_default=True,
    help="How evidence is measured: bits double the odds, 10 decibans are ten times.",
)
@click.option(
    "--order",
    type=click.Choice(["size", "schema"]),
    default="size",
    show_default=True,
    help="Evidence that weighs most first, or in the order of the columns.",
)
@click.option("--working", is_flag=True, help="Write the arithmetic down, in fractions where values were counted.")
@click.option("--counterfactual", is_flag=True, help="Name the fewest changes of values that change the decision.")
@click.option("--change", multiple=True, metavar="NAME", help="Change only this attribute; may be given several times.")
@click.option("--towards", metavar="NAME", help="The class or action that changes should lead to; any other otherwise.")
@loss_option
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    show_default=True,
    help="How probable it is that the interval holds the number.",
)
@click.option("--all", "everything", is_flag=True, help="Show every piece of evidence, also what is not known.")
@text_options
@replace_option
@json_option
def explain(model: str, given: tuple[str, ...], row: int | None, **options: Any) -> None:
    """Explain the answer of MODEL for one row: values by hand (outlook=sunny windy=true), or row N of DATA.

    What is not given is missing. A name that holds an equals sign needs no quoting: the name ends where a
    column's name does.
    """
    from likely.apply.explain.counterfactual import counterfactual_of
    from likely.apply.explain.explaining import explained
    from likely.apply.explain.sureness import sure_of, unsure
    from likely.apply.fitting import load_model
    from likely.errors import SettingError
    from likely.present.report.explanation import ledger_json, present_ledger

    loaded = load_model(model)
    asking = row_of(loaded, given, row, options["encoding"], options["delimiter"], options["replace_invalid"])
    ledger = explained(loaded, asking, options["of"], options["against"], options["unit"], options["order"])
    other = None
    if options["counterfactual"] or options["change"] or options["towards"] is not None:
        names = loaded.schema.names
        change = [n for entry in options["change"] for n in ([entry] if entry in names else entry.split(","))]
        other = counterfactual_of(loaded, asking, options["towards"], change or None, loss_of(options["loss_file"]))
    elif options["loss_file"] is not None:
        raise SettingError("--loss says by what a decision would change: give --counterfactual too.")
    sure = unsure(loaded) or sure_of(loaded, asking.batch, level=options["level"])
    if options["as_json"]:
        sys.stdout.buffer.write(ledger_json(ledger, other, options["working"], sure) + b"\n")
    else:
        terminal.show(present_ledger(ledger, other, options["working"], options["everything"], sure))
