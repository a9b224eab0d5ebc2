"""Options that say how rows are dealt to folds."""

from __future__ import annotations

from typing import Any

import click

from likely.cli.options import with_options
from likely.errors import SettingError, shown


class _Count(click.ParamType):  # type: ignore[type-arg]
    """A number of folds, or n: as many as there are rows."""

    name = "count"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number; 'n' stays as it is."""
        if value == "n" or isinstance(value, int):
            return value
        return click.IntRange(2, 1000).convert(value, param, ctx)


dealing_options = with_options(
    click.option(
        "--folds",
        type=_Count(),
        default=10,
        show_default=True,
        metavar="N|n",
        help="Folds of the cross-validation, 2 to 1000; the letter n is --leave-one-out.",
    ),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Deals the rows to the folds."),
    click.option(
        "--repeats",
        type=click.IntRange(1, 1000),
        default=1,
        show_default=True,
        help="Deal and cross-validate so many times, with seed, seed + 1 and so on.",
    ),
    click.option("--group", metavar="COLUMN", help="Rows that share a cell of this column stay in one fold."),
    click.option("--time", metavar="COLUMN", help="Predict rows by what earlier ones taught, in the order of COLUMN."),
    click.option("--leave-one-out", is_flag=True, help="Predict each row by what all others taught."),
)


def dealing_of(options: dict[str, Any]) -> dict[str, Any]:
    """How `look` and `compare` are to deal rows, from the shared options (which are taken out of `options`)."""
    said = {name: options.pop(name) for name in ("folds", "seed", "repeats", "group", "time", "leave_one_out")}
    if said["folds"] == "n":
        said["folds"], said["leave_one_out"] = 10, True
    for name in ("group", "time"):
        if said[name] == "":
            raise SettingError(f"--{name} {shown('')} names no column. Name one, or leave it out.")
    return said
