"""Commands that measure on held-out rows: look, compare, curve, repeats, doctor."""

from __future__ import annotations

import os

import click

from likely.cli import terminal
from likely.cli.command import command, out_option
from likely.cli.learning import Learning, learning_options, spec_options
from likely.cli.options import (
    Values,
    data_argument,
    dealing_options,
    folds_option,
    json_option,
    loss_option,
    seed_option,
    target_argument,
)
from likely.errors import SettingError

# Commands that measure on held-out rows: compare, curve, repeats, doctor.


@command(short_help="Compare all learners, cross-validated on the same folds.")
@data_argument()
@target_argument
@click.option(
    "--learner",
    "names",
    multiple=True,
    metavar="NAME",
    help="Only this learner, with settings if needed: \"Neighbors(k=3, distance='city-block')\". "
    "May be repeated; otherwise one of each kind is compared.",
)
@dealing_options
@json_option
@spec_options
def compare(data: object, how: Learning, names: tuple[str, ...], dealing: Values, as_json: bool) -> None:
    """Compare learners on TARGET of DATA, cross-validated on the same folds.

    With --spec all of them read the table as the spec says, and its own learner joins the others under the name of
    the file.
    """
    from likely.evaluate.compare import compare as compare_learners
    from likely.models.default import field_of
    from likely.models.registry import learner_written
    from likely.present.report.evaluation import present_comparison

    usual, _ = field_of(0)  # their names may be used as the table prints them: "NaiveBayes, kernel"
    learners = {name: usual.get(name) or learner_written(name) for name in names} or None
    also = {} if how.spec is None else {os.path.basename(how.spec): how.learner}
    record = how.run(compare_learners, data, learners, also=also, **{n: v for n, v in dealing.items() if v is not None})
    if all(one.scores is None for one in record.learners):
        raise SettingError(record.learners[0].refused)
    terminal.answer(as_json, record.json, lambda: present_comparison(record))


@command(short_help="The learning curve, and what more rows would bring.")
@data_argument()
@target_argument
@folds_option(5, most=50, words="Folds of the cross-validation.")
@click.option(
    "--steps",
    type=click.IntRange(1, 10),
    default=6,
    help="Number of sizes: all rows of the other folds, half of them, and so on.",
)
@seed_option
@out_option("FILE.svg", "Draw the curve to this file.", "picture", name="--svg")
@json_option
@learning_options
def curve(data: object, how: Learning, folds: int, steps: int, seed: int, svg: str | None, as_json: bool) -> None:
    """Show how well TARGET is predicted after learning from few rows of DATA, twice as many, and so on.

    Rows are predicted by models that have not learned from them. One sweep gives the sums of all sizes.
    """
    from likely.evaluate.curve import curve as learning_curve

    record = how.run(learning_curve, data, how.learner, folds=folds, steps=steps, seed=seed)
    from likely.present.report.evaluation import draw_curve, present_curve

    if svg is not None:
        from likely.sums import state

        state.write(svg, draw_curve(record).encode())
    terminal.answer(as_json, record.json, lambda: present_curve(record))


@command(short_help="Redundant attributes that naive Bayes counts twice, and what to do about them.")
@data_argument()
@target_argument
@click.option(
    "--most", type=click.IntRange(0, 50), default=3, help="Show what would change for this many of the worst pairs."
)
@folds_option(10)
@seed_option
@click.option("--all", "everything", is_flag=True, help="Show every pair checked.")
@json_option
@learning_options
def repeats(data: object, how: Learning, most: int, folds: int, seed: int, everything: bool, as_json: bool) -> None:
    """Show which attributes of DATA are redundant given the class of TARGET.

    Naive Bayes assumes that attributes are independent given the class. Where two say the same, it counts the evidence
    twice and is overconfident. For the worst pairs, cross-validation shows what joining them (--block) or dropping one
    (--type COLUMN=ignore) would change.
    """
    from likely.evaluate.compare import repeats as find_repeats
    from likely.present.report.evaluation import present_repeats

    record = how.run(find_repeats, data, how.learner, most=most, folds=folds, seed=seed)
    terminal.answer(as_json, record.json, lambda: present_repeats(record, everything))


@command(short_help="Check a table for problems: leaks, duplicates, useless columns, doubtful labels.")
@click.argument("data")
@target_argument
@click.option(
    "--suspects",
    type=click.IntRange(0, 10_000),
    default=10,
    metavar="N",
    help="List at most N rows whose class may be wrong.",
)
@folds_option(5, words="Folds of the cross-validation that finds doubtful labels.")
@seed_option
@click.option("--all", "everything", is_flag=True, help="Show every note, example and attribute.")
@click.option("--fail", is_flag=True, help="Exit with 1 if there are warnings.")
@json_option
@learning_options
def doctor(
    data: str, how: Learning, suspects: int, folds: int, seed: int, everything: bool, fail: bool, as_json: bool
) -> None:
    """Look for what may be wrong with DATA when TARGET is to be predicted from it.

    Attributes that give the class away, whose being missing tells it, that copy each other, that never change or have
    nothing to do with the class; rows that occur twice or contradict each other; classes that depend on the order of
    rows; and rows whose class is so improbable, by models that have not seen them, that it may be wrong.
    """
    from likely.evaluate.doctor import doctor as examine
    from likely.present.report.evaluation import present_checkup

    record = how.run(examine, data, how.learner, suspects=suspects, folds=folds, seed=seed)
    terminal.answer(as_json, record.json, lambda: present_checkup(record, everything))
    if fail and record.grave:
        raise click.exceptions.Exit(1)


# likely look: a picture of a target: how well it can be predicted, by what, and why.


@command(short_help="How well can a target be predicted, by what, and why.")
@data_argument()
@target_argument
@dealing_options
@click.option("--positive", metavar="CLASS", help="The class of interest; by default the rarer of two.")
@click.option("--training", is_flag=True, help="Also the errors on the rows that the model learned from.")
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
    training: bool,
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
    more = {"loss": how.loss, "positive": positive, "picture": wants_page, "training": training}
    record = how.run(look_at, data, how.learner, **more, **dealing)
    if as_markdown:
        from likely.present.document import to_markdown
        from likely.present.report.look import present_look

        terminal.write(to_markdown(present_look(record, everything)).rstrip("\n"))
    elif as_json:
        terminal.write_bytes(record.json())
    else:
        from likely.present.report.look import present_look

        terminal.show(present_look(record, everything))
    if wants_page:
        from likely.cli.command import show_page, write_page
        from likely.evaluate.study import study_further

        with terminal.counting(data) as progress:
            reading = {**how.reading, "progress": progress}
            studies = study_further(record, data, how.learner, always=study, **reading)
        for why in studies.lacking if study else ():
            terminal.say(why)
        written = write_page(record, studies, data, out, click.get_current_context().obj or ())
        if open_page and written is not None:
            show_page(written)
