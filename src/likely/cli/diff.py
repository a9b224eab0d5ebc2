"""likely diff: what two models or specs assume differently."""

from __future__ import annotations

import sys

import click

from likely.cli import terminal
from likely.cli.options import json_option


@click.command()
@click.argument("one")
@click.argument("two")
@json_option
def diff(one: str, two: str, as_json: bool) -> None:
    """Show what ONE and TWO assume differently; each is a spec (.toml) or a model (.likely)."""
    from likely.report.contents import Page, Table, page_json
    from likely.report.words import clean
    from likely.spec import differences, read_spec

    found = differences(read_spec(one), read_spec(two))
    rows = tuple((clean(k, 40), clean(a, 40), clean(b, 40)) for k, a, b in found)
    headline = f"{len(rows)} differences" if rows else "The two assume the same."
    page = Page(headline, (Table("Assumptions", ("of", clean(one, 40), clean(two, 40)), rows),) if rows else ())
    if as_json:
        sys.stdout.buffer.write(page_json(page) + b"\n")
    else:
        terminal.show(page)
