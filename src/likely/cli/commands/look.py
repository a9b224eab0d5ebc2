"""likely look: a picture of a target: how well it can be predicted, by what, and why."""

from __future__ import annotations

import sys
from typing import Any

import click

from likely.cli import terminal
from likely.cli.dealing import dealing_of, dealing_options
from likely.cli.options import data_argument, json_option, loss_option, reading_options, writable
from likely.cli.settings import assumed, learning_options, needed
from likely.errors import SettingError


@click.command(short_help="How well can a target be predicted, by what, and why.")
@data_argument()
@click.argument("target", required=False)
@dealing_options
@click.option("--positive", metavar="CLASS", help="The class that is looked for: of two the rarer one otherwise.")
@click.option(
    "--all",
    "--full",
    "everything",
    is_flag=True,
    help="Show everything: scores by class, curves, every attribute and column.",
)
@click.option("-o", "--out", metavar="FILE.html", callback=writable, help="Where to write the page; else TARGET.html.")
@click.option("--no-page", is_flag=True, help="Write no page.")
@click.option(
    "--study", is_flag=True, help="The page also compares learners and draws a learning curve, however large the table."
)
@loss_option
@json_option
@click.option("--md", "as_markdown", is_flag=True, help="Print Markdown.")
@reading_options
@learning_options
def look(
    data: str,
    target: str | None,
    positive: str | None,
    everything: bool,
    out: str | None,
    no_page: bool,
    study: bool,
    loss_file: str | None,
    as_json: bool,
    as_markdown: bool,
    **options: Any,
) -> None:
    """Show how well TARGET can be predicted from the other columns of DATA, by what, and why.

    DATA is a file (CSV, Parquet, Arrow, JSON lines, ARFF; .gz and .zst too), a folder, a glob in quotes, or - for
    standard input. With --loss it shows what deciding costs, in place of how often the class is right.

    It also writes a page, TARGET.html: one file that opens in any browser, without a network, and holds no row of the
    data. With --json or --md it does so only where --out names the page.
    """
    from likely.evaluate.look import look as look_at

    deal = dealing_of(options)
    if no_page and out is not None:
        raise SettingError("--out names a page, and --no-page wants none. Leave one of them out.")
    if as_json and as_markdown:
        raise SettingError("--json and --md cannot both be printed. Leave one of them out.")
    wanted = not no_page and (out is not None or not (as_json or as_markdown))
    how = assumed(options, target, loss_file)
    with terminal.counting() as progress:
        record = look_at(
            data,
            needed(how.target),
            how.learner,
            loss=how.loss,
            positive=positive,
            **deal,
            picture=wanted,
            progress=progress,
            **how.reading,
        )
    if as_json:
        sys.stdout.buffer.write(record.json() + b"\n")
    elif as_markdown:
        from likely.present.markdown import as_markdown as marked
        from likely.present.report.look import present_look

        terminal.write(marked(present_look(record, everything)).rstrip("\n"))
    else:
        from likely.present.report.look import present_look

        terminal.show(present_look(record, everything))
    if wanted:
        from likely.cli.pages import write_page

        write_page(record, data, out, how, study, click.get_current_context().obj or ())
