"""likely show: the tables and densities that a model believes."""

from __future__ import annotations

import sys

import click

from likely.cli import terminal
from likely.cli.options import json_option


@click.command(short_help="What a model believes: counts and probabilities.")
@click.argument("model")
@click.argument("attribute", required=False)
@click.option("--fractions", is_flag=True, help="Show probabilities as exact fractions.")
@click.option("--spec", "as_spec", is_flag=True, help="Print the model's assumptions as TOML, for `likely fit --spec`.")
@json_option
def show(model: str, attribute: str | None, fractions: bool, as_spec: bool, as_json: bool) -> None:
    """Show what MODEL believes: its classes and columns, or the counts and probabilities of one ATTRIBUTE."""
    from likely.apply.fitting import load_model
    from likely.present.report.model import page_json, present_attribute, present_model

    loaded = load_model(model)
    if as_spec:
        from likely.apply.spec import spec_of

        click.echo(spec_of(loaded).toml(), nl=False)
        return
    if attribute is not None and loaded.schema[attribute].kind == "text" and attribute in loaded.summary.columns:
        from likely.present.report.text_column import present_text

        page = present_text(loaded, attribute, fractions, everything=as_json)
    else:
        page = (
            present_model(loaded, fractions) if attribute is None else present_attribute(loaded, attribute, fractions)
        )
    if as_json:
        sys.stdout.buffer.write(page_json(page) + b"\n")
    else:
        terminal.show(page)
