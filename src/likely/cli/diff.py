"""likely diff: what two models or specs assume differently, and what changed in the rows that two models learned."""

from __future__ import annotations

import sys

import click

from likely.cli import terminal
from likely.cli.options import json_option


@click.command(short_help="What changed from one model to another, significantly; what they assume differently.")
@click.argument("one")
@click.argument("two")
@click.option("--grown", is_flag=True, help="TWO learned on from ONE: compare ONE with the rows that are new.")
@click.option(
    "--chance", type=float, default=0.01, show_default=True, help="Name changes that chance gives less often."
)
@click.option("--all", "everything", is_flag=True, help="Show every attribute, changed or not.")
@json_option
def diff(one: str, two: str, grown: bool, chance: float, everything: bool, as_json: bool) -> None:
    """Show how TWO differs from ONE; each is a spec (.toml) or a model (.likely).

    Of two models: what they assume differently, whether the shares of the classes changed, and which attributes did,
    how much and whether chance explains it. Of a spec and a model: the assumptions alone.
    """
    from likely.comparing import compared
    from likely.report.changed import of_difference

    found = compared(one, two, grown=grown, chance=chance)
    if as_json:
        sys.stdout.buffer.write(found.json() + b"\n")
    else:
        terminal.show(of_difference(found, one, two, everything))
