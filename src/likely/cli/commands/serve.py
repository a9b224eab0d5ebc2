"""likely serve: the page of a model, and a small API, on this machine alone."""

from __future__ import annotations

import shlex
from typing import Any

import click

from likely.cli import terminal
from likely.cli.options import folds_options, loss_option, reading_options
from likely.cli.settings import assumed, learning_options


@click.command(short_help="The page of a model and a small API, on this machine.")
@click.argument("source", metavar="MODEL|DATA")
@click.option("--target", metavar="COLUMN", help="Learn from DATA first: the column to predict.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes any free one.")
@click.option(
    "--largest",
    type=click.IntRange(1, 4096),
    default=16,
    show_default=True,
    metavar="MB",
    help="Requests that are larger are refused.",
)
@folds_options
@loss_option
@reading_options
@learning_options
def serve(
    source: str,
    target: str | None,
    port: int,
    largest: int,
    folds: int,
    seed: int,
    loss_file: str | None,
    **options: Any,
) -> None:
    """Serve the page of a model at http://127.0.0.1:PORT/ and an API beside it, until interrupted.

    MODEL is a file of `likely fit`. With --target, DATA is looked at first, as `likely look` does. Other machines
    cannot reach the server. /openapi.json describes the API; nothing is kept of any request.
    """
    from likely import __version__
    from likely.web.serving import serve as run

    how = assumed(options, target, loss_file)
    model, page = _learned(source, how, folds, seed) if how.target is not None else _loaded(source, how)

    def ready(address: str) -> None:
        terminal.write(f"Serving {address} (Ctrl+C ends it)")

    run(model, page, port=port, largest=largest << 20, version=__version__, ready=ready)
    terminal.say("The server has ended.")


def _loaded(source: str, how: Any) -> tuple[Any, str]:
    from dataclasses import replace

    from likely import __version__
    from likely.apply.fitting import load_model
    from likely.errors import FileFormatError
    from likely.present.page.writing import page_of_model

    try:
        model = load_model(source)
    except FileFormatError as error:
        raise FileFormatError(f"{error} To learn from a table first, name its target: --target COLUMN.") from None
    if how.loss is not None:
        model = replace(model, loss=how.loss)
    return model, page_of_model(model, command=shlex.join(["likely", "serve", source]), version=__version__)


def _learned(source: str, how: Any, folds: int, seed: int) -> tuple[Any, str]:
    from likely import __version__
    from likely.evaluate.look import look
    from likely.present.page.writing import page

    with terminal.counting() as progress:
        record = look(
            source,
            how.target,
            how.learner,
            loss=how.loss,
            folds=folds,
            seed=seed,
            picture=True,
            progress=progress,
            **how.reading,
        )
    command = shlex.join(["likely", "serve", source, "--target", how.target])
    return record.model, page(record, command=command, version=__version__, data=source)
