"""Commands about models as they are: show, diff, export; and completion, for shells."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from likely.cli import terminal
from likely.cli.command import command, out_option
from likely.cli.options import LEVEL, Values, json_option, pairs, reading_options
from likely.errors import ColumnError, SettingError, nearest, shown
from likely.intake.options import COLUMNS, NAMES, options_about, said_options

if TYPE_CHECKING:
    from likely.portable.languages.export import Language


# The command that shows what a model believes: show.


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
    from likely.present.document import to_json
    from likely.present.report.model import present_attribute, present_model

    if curves and not as_spec:
        raise click.UsageError("--curves are part of the spec. Give --spec --curves.")
    if (orders or levels_of) and not everything:
        raise click.UsageError("--levels and --levels-of order the tables of --all. Give --all as well.")
    loaded = load_model(model)
    if between is not None:
        from likely.present.report.model import plane_json, present_plane

        plane = loaded.plane_between(*read_classes(between, loaded.classes))
        terminal.answer(as_json, lambda: plane_json(plane), lambda: present_plane(plane))
        return
    if everything:
        from likely.apply.tables import tables
        from likely.present.report.model import present_tables, tables_json

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
    terminal.answer(as_json, lambda: to_json(page), lambda: page)


# likely diff: what changed from one table or model to another, and what two models or specs assume differently.

ASSUMING = (".likely", ".toml")


@command(short_help="Significant changes from one table or model to another.")
@click.argument("one")
@click.argument("two")
@click.option(
    "--target", metavar="COLUMN", help="For tables: also compare the classes, and attributes given the class."
)
@click.option("--grown", is_flag=True, help="TWO is ONE with more rows learned: compare ONE with the new rows.")
@click.option(
    "--chance", type=float, default=0.01, help="Significance level: report changes with a p-value below this."
)
@click.option("--all", "everything", is_flag=True, help="Show every attribute, changed or not.")
@click.option("--fail", is_flag=True, help="Exit with 1 if anything changed significantly.")
@json_option
@reading_options
def diff(
    one: str,
    two: str,
    target: str | None,
    grown: bool,
    chance: float,
    everything: bool,
    fail: bool,
    as_json: bool,
    reading: Values,
) -> None:
    """Show how TWO differs from ONE; each is a table, a model (.likely) or a spec (.toml).

    Of tables, or a model and a table: whether the shares of the classes changed, which attributes did, in all and given
    the class, how much, and whether chance explains it; new and vanished levels and columns, other kinds, more missing
    cells. Of two models this, and what they assume differently. Of a spec: the assumptions alone.
    """
    if one.endswith(ASSUMING) and two.endswith(ASSUMING):
        from likely.evaluate.drift.tables import compare_files
        from likely.present.report.drift import present_difference

        if target is not None or any(said_options(reading, options_about(COLUMNS, NAMES))):
            raise SettingError("--target and the reading options are for tables; models and specs have their own.")
        record = compare_files(one, two, grown=grown, chance=chance)
        json, page, sums = record.json(), present_difference(record, one, two, everything), record.changes
        changed = sums is not None and bool(sums.significant or sums.p_classes < sums.chance)
    else:
        from likely.evaluate.drift.tables import drift
        from likely.present.report.drift import present_drift

        if grown:
            raise SettingError("--grown is for two models. Compare the tables without it.")
        with terminal.counting() as progress:
            drifted = drift(one, two, target, chance=chance, progress=progress, **reading)
        json, page, changed = drifted.json(), present_drift(drifted, everything), drifted.changed
    terminal.answer(as_json, lambda: json, lambda: page)
    if fail and changed:
        raise click.exceptions.Exit(1)


# likely export: a model as SQL, ONNX, PMML, JSON, Python or JavaScript, to run where likely is not.

LANGUAGES = ("sql", "onnx", "pmml", "json", "python", "javascript")


@command(short_help="A model as SQL, ONNX, PMML, JSON, Python or JavaScript.")
@click.argument("model")
@click.option(
    "--to",
    metavar=f"[{'|'.join(LANGUAGES)}]",
    help="The language. JSON, Python and JavaScript say nearly every model.",
)
@out_option("FILE", "Output file; by default standard output.", "export")
@click.option(
    "--dialect", metavar="NAME", help="For SQL: postgres, duckdb, sqlite, bigquery …; by default portable SQL."
)
@click.option("--table", metavar="NAME", help="Of SQL: the table whose rows are scored; rows otherwise.")
@click.option("--keep", multiple=True, metavar="COLUMN", help="For SQL: a column to return; by default the attributes.")
@click.option(
    "--set",
    "percent",
    type=LEVEL,
    metavar="PERCENT",
    help="For SQL: columns set(<class>), 1 where a class is not ruled out at this level, such as 95.",
)
def export(
    model: str,
    to: Language | None,
    out: str | None,
    dialect: str | None,
    table: str | None,
    keep: tuple[str, ...],
    percent: float | None,
) -> None:
    """Write MODEL in another language. It scores rows there as it does here.

    A model that a language cannot express is refused. Where a model averages over unknown cells, JSON, Python and
    JavaScript do so too; SQL and ONNX give no answer for such rows, and PMML is for complete rows.
    """
    from likely.apply.fitting import load_model
    from likely.machinery.words import clean
    from likely.portable.languages.export import export as exported

    if to is None:
        raise click.UsageError(f"Missing option '--to': one of {', '.join(LANGUAGES)}.")
    if to == "onnx" and out in (None, "-") and sys.stdout.isatty():
        raise click.UsageError("ONNX is a binary format. Name a file with -o.")
    loaded = load_model(model)
    text = exported(loaded, to, None if out == "-" else out, dialect=dialect, table=table, keep=keep, set_level=percent)
    if out in (None, "-"):
        sys.stdout.buffer.write(text.encode() if isinstance(text, str) else text)
        sys.stdout.flush()
    else:
        terminal.say(f"{clean(out)}: {len(text):,} {'characters' if isinstance(text, str) else 'bytes'}.")
        if loaded.references is not None and to in ("sql", "onnx", "pmml"):
            from likely.portable.languages.flatten import COMPLETE_ROWS, UNKNOWN_CELLS

            terminal.say(COMPLETE_ROWS if to == "pmml" else UNKNOWN_CELLS)


@command(short_help="A model card: what a model is, how good, for whom, and its limits.")
@click.argument("model")
@out_option("FILE", "Output file: HTML where it ends in .html, else Markdown; by default the terminal.", "export")
@json_option
def card(model: str, out: str | None, as_json: bool) -> None:
    """Show the card of MODEL: what it predicts and from what, how good it was on held-out rows, by subgroup as well,
    what drives it, what it knows of each attribute, where it comes from, and its limits.

    What only people know, such as what it is for, is left to be filled in.
    """
    from likely.apply.fitting import load_model
    from likely.machinery.words import clean
    from likely.present.document import to_json
    from likely.present.page.writing import card as write_card
    from likely.present.report.card import present_card

    loaded = load_model(model)
    if out is not None:
        terminal.say(f"{clean(out)}: {len(write_card(loaded, out)):,} characters.")
        return
    page = present_card(loaded)
    terminal.answer(as_json, lambda: to_json(page), lambda: page)


# likely completion: what a shell needs to complete commands, options and names of files.

SHELLS = ("bash", "zsh", "fish")


@command(short_help="Shell completion for commands and options (bash, zsh, fish).")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print what makes SHELL complete likely's commands and options.

    For bash: likely completion bash >> ~/.bashrc; for zsh the same into ~/.zshrc; for fish: likely completion fish >
    ~/.config/fish/completions/likely.fish
    """
    from click.shell_completion import get_completion_class

    from likely.cli.listing import COMPLETE, commands

    kind = get_completion_class(shell)
    assert kind is not None
    terminal.write(kind(commands, {}, "likely", COMPLETE).source().rstrip("\n"))
