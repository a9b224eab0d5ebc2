"""likely diff: what changed from one table or model to another, and what two models or specs assume differently."""

from __future__ import annotations

import click

from likely.cli import terminal
from likely.cli.help import command
from likely.cli.options import Values, json_option, reading_options
from likely.errors import SettingError

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
        from likely.evaluate.drift.models import compare_files
        from likely.present.report.drift import present_difference

        if target is not None or any(reading[k] for k in ("types", "missing", "weight", "target_bins", "schema")):
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
