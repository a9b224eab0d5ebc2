"""likely diff: what two models or specs assume differently."""

from __future__ import annotations

import sys

import click

from likely.cli import terminal
from likely.cli.options import json_option


@click.command(short_help="What two models or specs assume differently.")
@click.argument("one")
@click.argument("two")
@json_option
def diff(one: str, two: str, as_json: bool) -> None:
    """Show what ONE and TWO assume differently; each is a spec (.toml) or a model (.likely)."""
    from likely.report.contents import Page, Table, page_json
    from likely.report.words import clean, plural
    from likely.spec import differences, read_spec

    found = differences(read_spec(one), read_spec(two))
    headline = plural(len(found), "difference") if found else "The two assume the same."
    names = ("of", "one", "two") if as_json else ("of", clean(one, 40), clean(two, 40))
    rows = tuple(found) if as_json else tuple((clean(k, 50), clean(a), clean(b)) for k, a, b in found)
    page = Page(headline, (Table("Assumptions", names, rows),) if rows else ())
    if as_json:
        sys.stdout.buffer.write(page_json(page) + b"\n")
    else:
        terminal.show(page)
