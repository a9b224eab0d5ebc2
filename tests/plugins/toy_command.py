"""A command of one's own: `likely classes TABLE TARGET` counts the classes of a table. Parse, one call, show."""

from __future__ import annotations

import click


@click.command(short_help="How often each class occurs.")
@click.argument("table")
@click.argument("target")
def classes(table: str, target: str) -> None:
    """Count the classes of TARGET in TABLE."""
    import likely

    summary = likely.summarize(table, target)
    for name, count in zip(summary.classes, summary.total.floats(), strict=True):
        click.echo(f"{name}: {count:g}")
