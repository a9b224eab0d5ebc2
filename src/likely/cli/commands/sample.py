"""likely sample: rows drawn from a model."""

from __future__ import annotations

import click


@click.command(short_help="Rows drawn from a model.")
@click.argument("model")
@click.option("-n", "--rows", type=click.IntRange(0), default=10, show_default=True, help="How many rows.")
@click.option("-o", "--out", metavar="FILE", help="CSV, TSV or Parquet by its name; standard output otherwise.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Same seed, same rows.")
def sample(model: str, rows: int, out: str | None, seed: int) -> None:
    """Draw rows from MODEL: a class by its prior, then the cells given the class."""
    from likely.apply.fitting import load_model
    from likely.table.output.sink import Sink, batch_of

    drawn = load_model(model).sample(rows, seed)
    with Sink(out) as sink:
        sink.write(batch_of(drawn))
