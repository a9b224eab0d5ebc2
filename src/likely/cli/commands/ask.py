"""likely ask: which missing attribute of a row is most worth learning."""

from __future__ import annotations

import sys

import click

from likely.cli import terminal
from likely.cli.options import (
    json_option,
    loss_of,
    loss_option,
    prior_given,
    prior_option,
    replace_option,
    row_of,
    row_options,
    text_options,
)


@click.command(short_help="What to ask next: the missing attributes most worth learning.")
@click.argument("model")
@row_options
@loss_option
@prior_option
@json_option
@text_options
@replace_option
def ask(
    model: str,
    given: tuple[str, ...],
    row: int | None,
    loss_file: str | None,
    priors: tuple[str, ...],
    as_json: bool,
    encoding: str | None,
    delimiter: str | None,
    replace_invalid: bool,
) -> None:
    """Say how much learning each attribute that a row lacks would lower the expected loss of deciding by MODEL.

    The row is given by hand (outlook=sunny windy=true), or is row N of DATA. Needs a model of rows, such as naive
    Bayes.
    """
    from likely.apply.decide.asking import ask as questions_of
    from likely.apply.fitting import load_model
    from likely.present.report.decisions import present_questions, questions_json

    loaded = load_model(model)
    found = row_of(loaded, given, row, encoding, delimiter, replace_invalid)
    known = questions_of(loaded, found.batch, loss_of(loss_file), prior=prior_given(priors))
    if as_json:
        sys.stdout.buffer.write(questions_json(known) + b"\n")
        return
    terminal.show(present_questions(known, [name for name, what in found.states.items() if what == "unseen"]))
