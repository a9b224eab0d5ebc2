"""The command that shows what a model believes: show."""

from __future__ import annotations

import csv
from collections.abc import Sequence

import click

from likely.cli import terminal
from likely.cli.help import command
from likely.cli.options import json_option, pairs
from likely.errors import ColumnError, SettingError, nearest, shown


def read_names(text: str, option: str) -> list[str]:
    """Names as a line of CSV has them: those with a comma in quotes."""
    try:
        (line,) = csv.reader([text], strict=True, skipinitialspace=True)
    except (csv.Error, ValueError):
        raise SettingError(
            f"{option} {shown(text)} is not a line of CSV. Put names with a comma into quotes."
        ) from None
    return line


def read_classes(text: str, classes: Sequence[str]) -> tuple[str, str]:
    """Two different classes of the model."""
    names = read_names(text, "--between")
    for name in names:
        if name not in classes:
            raise ColumnError(f"There is no class {shown(name)}. {nearest(name, classes)}")
    if len(names) != 2 or names[0] == names[1]:
        raise SettingError(
            f"--between {shown(text)} does not name two classes. Write --between {classes[0]},{classes[-1]}."
        )
    return names[0], names[1]


@command(short_help="Show what a model has learned: counts and probabilities.")
@click.argument("model")
@click.argument("attribute", required=False)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="All attributes at once (or ATTRIBUTE): counts, counts with pseudo-counts, P and smoothed P side by side.",
)
@click.option(
    "--levels",
    "orders",
    multiple=True,
    metavar="COLUMN=A,B…",
    help="With --all: the order of the levels, or of the classes.",
)
@click.option(
    "--levels-of", metavar="DATA", help="With --all: levels in the order of their first appearance in this table."
)
@click.option("--between", metavar="CLASS,CLASS", help="The hyperplane between two classes of a linear model.")
@click.option("--fractions", is_flag=True, help="Show probabilities as exact fractions.")
@click.option("--spec", "as_spec", is_flag=True, help="Print the model's assumptions as TOML, for `likely fit --spec`.")
@click.option(
    "--curves",
    is_flag=True,
    help="With --spec: learned curves (Additive) as settings, of all attributes or of ATTRIBUTE, to be edited.",
)
@json_option
def show(
    model: str,
    attribute: str | None,
    everything: bool,
    orders: tuple[str, ...],
    levels_of: str | None,
    between: str | None,
    fractions: bool,
    as_spec: bool,
    curves: bool,
    as_json: bool,
) -> None:
    """Show what MODEL believes: its classes and columns, or the counts and probabilities of one ATTRIBUTE."""
    from likely.apply.fitting import load_model
    from likely.present.report.model import page_json, present_attribute, present_model

    if curves and not as_spec:
        raise click.UsageError("--curves are part of the spec. Give --spec --curves.")
    if (orders or levels_of) and not everything:
        raise click.UsageError("--levels and --levels-of order the tables of --all. Give --all as well.")
    loaded = load_model(model)
    if between is not None:
        from likely.present.report.attribute_tables import plane_json, present_plane

        plane = loaded.plane_between(*read_classes(between, loaded.classes))
        terminal.answer(as_json, lambda: plane_json(plane), lambda: present_plane(plane))
        return
    if everything:
        from likely.apply.tables import tables
        from likely.present.report.attribute_tables import present_tables, tables_json

        levels = {name: read_names(said, "--levels") for name, said in pairs(orders, "--levels", "COLUMN=A,B").items()}
        found = tables(loaded, attribute=attribute, levels=levels, levels_of=levels_of)
        terminal.answer(
            as_json,
            lambda: tables_json(loaded, found),
            lambda: present_tables(loaded, found, fractions, attribute is None),
        )
        return
    if as_spec:
        from likely.apply.spec import spec_of

        names = (attribute,) if attribute is not None else ()
        click.echo(spec_of(loaded, names if curves else None).toml(), nl=False)
        return
    if attribute is not None and loaded.schema[attribute].kind == "text" and attribute in loaded.summary.columns:
        from likely.present.report.text_column import present_text

        page = present_text(loaded, attribute, fractions, everything=as_json)
    else:
        page = (
            present_model(loaded, fractions, as_json)
            if attribute is None
            else present_attribute(loaded, attribute, fractions, as_json)
        )
    terminal.answer(as_json, lambda: page_json(page), lambda: page)
