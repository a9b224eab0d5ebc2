"""likely joint: the joint table of some columns, or one typed by hand, and every question of it."""

from __future__ import annotations

import os
import shlex

import click

from likely.cli import terminal
from likely.cli.help import command
from likely.cli.options import Values, data_argument, json_option, packed, pairs, read_text_options, sql_options
from likely.cli.output import out_option
from likely.errors import SettingError, shown


@command(short_help="A joint table with its margins, and any P(a, b | c) of it.")
@data_argument()
@click.argument("columns", nargs=-1)
@click.option(
    "--query",
    "queries",
    multiple=True,
    metavar="P(…)",
    help="Ask for a probability: 'P(a=x, b=y | c=z)', 'P(a=x or b=y)', 'P(a | c)'. May be repeated.",
)
@click.option("--given", metavar="EVENT", help="Condition on this: 'c=z', 'c=y or z, d=x'.")
@click.option(
    "--independent",
    multiple=True,
    metavar="'A, B | C'",
    help="Test whether A and B are independent (given C); by default every pair.",
)
@click.option(
    "--target", metavar="COLUMN", help="Show the best rule for predicting this variable, and the Bayes error."
)
@click.option("--probability", metavar="COLUMN", help="DATA is a table of probabilities: this column holds them.")
@click.option("--weight", metavar="COLUMN", help="Column with the weight of each row, or how often it occurs.")
@click.option(
    "--edges", multiple=True, metavar="COLUMN=EDGES", help="Cut the numbers of a column at these edges: age=20,40."
)
@click.option(
    "--closed",
    type=click.Choice(["left", "right"]),
    default="left",
    help="An edge belongs to the bin above it (left) or below it (right).",
)
@click.option("--pseudo-count", default="0", metavar="N", help="Added to the count of every cell.")
@click.option("--across", metavar="COLUMN", help="Put the values of this variable side by side; by default the last.")
@click.option("--fractions", is_flag=True, help="Print fractions over one denominator.")
@click.option("--all", "everything", is_flag=True, help="Show every line of a large table.")
@click.option(
    "--missing",
    multiple=True,
    metavar="TOKEN",
    help="A cell that means missing; replaces the usual ones ('?', 'NA', 'null' …). The empty cell always is.",
)
@out_option("FILE.html", "Also write an interactive HTML page.", "page")
@packed("reading", read_text_options, *sql_options)
@json_option
def joint(
    data: object,
    columns: tuple[str, ...],
    queries: tuple[str, ...],
    given: str | None,
    independent: tuple[str, ...],
    target: str | None,
    probability: str | None,
    weight: str | None,
    edges: tuple[str, ...],
    closed: str,
    pseudo_count: str,
    across: str | None,
    fractions: bool,
    everything: bool,
    missing: tuple[str, ...],
    out: str | None,
    reading: Values,
    as_json: bool,
) -> None:
    """Count the joint table of COLUMNS of DATA, and answer questions about it, exactly.

    It prints counts, probabilities and margins, and whether variables are independent. DATA may also be a table typed
    by hand: a TOML file, or any table with --probability COLUMN.

    Names and values in queries stand bare or in quotes; a quote inside is doubled. Quotes are needed where a bare word
    could be misread: 'P("a|b"=x)', "P(name='it''s')".

    likely joint examples/weather.csv outlook play --query "P(play=yes | outlook=sunny)"
    """
    from likely.apply.joint_study import study_joint
    from likely.apply.joint_table import joint as count_joint
    from likely.present.report.joint_table import joint_json, present_joint

    with terminal.counting(data) as progress:
        table = count_joint(
            data,
            list(columns) or None,
            probability=probability,
            edges={name: _edges(text, name) for name, text in pairs(edges, "--edges", "COLUMN=20,40").items()},
            closed=closed,  # type: ignore[arg-type]
            pseudo_count=pseudo_count if pseudo_count != "0" else 0,
            weight=weight,
            missing=list(missing) or None,
            progress=progress,
            **reading,
        )
    source = os.path.basename(data) if isinstance(data, str) and data != "-" else "the table"
    study = study_joint(
        table,
        source or "the table",
        queries=queries,
        given=given,
        independent=independent,
        target=target,
        fractions=fractions,
    )
    if across is not None:
        study.joint._place(across)
    if out is not None:
        from likely import __version__
        from likely.present.page.joint_page import joint_page
        from likely.sums import state

        command = shlex.join(["likely", *(click.get_current_context().obj or ())])
        made = joint_page(study, across=across, command=command, version=__version__)
        state.write(out, made.encode("utf-8", "replace"))
    terminal.answer(
        as_json,
        lambda: joint_json(study),
        lambda: present_joint(study, across=across, everything=everything),
    )
    if out is not None:
        terminal.say(f"The page is in {shown(out, 200)}: open it in a browser.")


def _edges(text: str, name: str) -> list[float]:
    try:
        return [float(e) for e in text.split(",")]
    except ValueError:
        raise SettingError(
            f"--edges {shown(f'{name}={text}')} has an edge that is not a number. Write 20,40."
        ) from None
