"""The target: what a shell completes, and what to say where it lacks or is swapped with the table."""

from __future__ import annotations

import os

import click

from likely.errors import LikelyError, shown

MOST_NAMED = 12


def _complete_column(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """The columns of the table that a shell's line names already."""
    from likely.table.open import open_source

    try:
        names = open_source(context.params.get("data")).schema.names
    except LikelyError:
        return []
    return [name for name in names if name.startswith(begun)]


target_argument = click.argument("target", required=False, shell_complete=_complete_column)


def require_target(target: str | None, data: object, unless: str = "") -> str:
    """The target; where there is none, refuse with the columns of the table and the one that may be meant.

    Also where table and target are swapped.
    """
    if target is None:
        raise click.UsageError(f"Missing argument 'TARGET': the column to predict{unless}.{_columns(data)}")
    if isinstance(data, str) and data != "-" and not os.path.exists(data) and os.path.isfile(target):
        raise click.UsageError(
            f"There is no file {shown(data)}, but there is {shown(target)}: the table comes first, then the target."
        )
    return target


def _columns(data: object) -> str:
    """The columns of a table that can be read; nothing where it cannot: that is told when the target is."""
    from likely.intake.column_readings import guess_target
    from likely.table.open import open_source

    if data is None or data == "-":
        return ""
    try:
        names = list(open_source(data).schema.names)
    except LikelyError:
        return ""
    if not names:
        return ""
    guess = guess_target(names)
    some = ", ".join(shown(n, 40) for n in names[:MOST_NAMED])
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f" It has the columns {some}{more}. Perhaps {shown(guess, 40)}?"
