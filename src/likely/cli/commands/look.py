"""likely look: a picture of a target: how well it can be predicted, by what, and why."""

from __future__ import annotations

import click

from likely.cli import terminal
from likely.cli.asking import target_argument
from likely.cli.help import command
from likely.cli.learning import Learning, learning_options
from likely.cli.options import (
    Values,
    data_argument,
    dealing_options,
    json_option,
    loss_option,
)
from likely.cli.output import out_option
from likely.errors import SettingError


@command(short_help="How well can a target be predicted, by what, and why.")
@data_argument()
@target_argument
@dealing_options
@click.option("--positive", metavar="CLASS", help="The class of interest; by default the rarer of two.")
@click.option(
    "--all",
    "--full",
    "everything",
    is_flag=True,
    help="Show everything: scores by class, curves, every attribute and column.",
)
@out_option("FILE.html", "Where to write the page; else TARGET.html.", "page")
@click.option("--no-page", is_flag=True, help="Write no page.")
@click.option("--open", "open_page", is_flag=True, help="Open the page in the browser.")
@click.option(
    "--study", is_flag=True, help="The page also compares learners and draws a learning curve, however large the table."
)
@loss_option
@json_option
@click.option("--md", "as_markdown", is_flag=True, help="Print Markdown.")
@learning_options
def look(
    data: object,
    how: Learning,
    dealing: Values,
    positive: str | None,
    everything: bool,
    out: str | None,
    no_page: bool,
    open_page: bool,
    study: bool,
    as_json: bool,
    as_markdown: bool,
) -> None:
    """Show how well TARGET can be predicted from the other columns of DATA, by what, and why.

    DATA is a file (CSV, Parquet, Arrow, JSON lines, ARFF; .gz and .zst too), a folder, a glob in quotes, or - for
    standard input. With --loss it shows what deciding costs, in place of how often the class is right.

    It also writes a page, TARGET.html: one file that opens in any browser, without a network, and holds no row of the
    data; --open shows it. With --json or --md it does so only with --out or --open.
    """
    from likely.evaluate.look import look as look_at

    if no_page and out is not None:
        raise SettingError("--out names a page, and --no-page wants none. Leave one of them out.")
    if no_page and open_page:
        raise SettingError("--open opens the page, and --no-page wants none. Leave one of them out.")
    if as_json and as_markdown:
        raise SettingError("--json and --md cannot both be printed. Leave one of them out.")
    wants_page = not no_page and (out is not None or open_page or not (as_json or as_markdown))
    more = {"loss": how.loss, "positive": positive, "picture": wants_page}
    record = how.run(look_at, data, how.learner, **more, **dealing)
    if as_markdown:
        from likely.present.markdown import as_markdown as marked
        from likely.present.report.look import present_look

        terminal.write(marked(present_look(record, everything)).rstrip("\n"))
    elif as_json:
        terminal.write_bytes(record.json())
    else:
        from likely.present.report.look import present_look

        terminal.show(present_look(record, everything))
    if wants_page:
        from likely.cli.pages import show_page, write_page
        from likely.evaluate.study import study_further

        with terminal.counting(data) as progress:
            reading = {**how.reading, "progress": progress}
            studies = study_further(record, data, how.learner, always=study, **reading)
        for why in studies.lacking if study else ():
            terminal.say(why)
        written = write_page(record, studies, data, out, click.get_current_context().obj or ())
        if open_page and written is not None:
            show_page(written)
