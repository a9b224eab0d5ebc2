"""likely serve and likely app: a model, or whole sessions, for a browser or a program on this machine alone."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from likely.cli import terminal
from likely.cli.command import command
from likely.cli.learning import Learning, learning_options
from likely.cli.options import folds_option, loss_option, seed_option
from likely.errors import InputError, shown

if TYPE_CHECKING:
    from likely.models.contracts import Model


@command(short_help="Serve the page of a model and a small API on this machine.")
@click.argument("source", metavar="MODEL|DATA")
@click.option("--target", metavar="COLUMN", help="The column to predict, to learn from DATA first.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, help="0 picks a free port.")
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", help="Where to listen; elsewhere a key is needed.")
@click.option(
    "--key-file",
    metavar="FILE",
    help="The key that requests must send, as the first line of a file; else what LIKELY_KEY in the environment says.",
)
@click.option("--largest", type=click.IntRange(1, 4096), default=16, metavar="MB", help="Largest request accepted.")
@click.option(
    "--unpacked",
    type=click.IntRange(1, 1 << 20),
    default=256,
    metavar="MB",
    help="Largest table accepted, once decompressed.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=60,
    help="Longest time a request may take.",
)
@folds_option(None, words="Folds of the cross-validation; by default as in likely look.")
@seed_option
@loss_option
@learning_options
def serve(
    source: str,
    how: Learning,
    port: int,
    host: str,
    key_file: str | None,
    largest: int,
    unpacked: int,
    seconds: float,
    folds: int | None,
    seed: int,
) -> None:
    """Serve the page of a model at http://127.0.0.1:PORT/ and an API beside it, until interrupted.

    MODEL is a file of `likely fit`. With --target, DATA is analysed first, as by `likely look`. Other machines
    cannot reach the server, unless --host names an address that they can; then every request must send a key. /docs and
    /openapi.json describe the API, /metrics counts requests; nothing from any request is kept.
    """
    from likely import __version__
    from likely.present.page.writing import with_api
    from likely.web.guard import Limits
    from likely.web.server import serve as run

    model, page = _look(source, how, folds, seed) if how.target is not None else _load(source, how)

    limits = Limits(body=largest << 20, unpacked=unpacked << 20, seconds=seconds)

    def ready(address: str) -> None:
        terminal.write(f"Serving {address} (Ctrl+C to stop)")

    run(model, with_api(page), port, limits, __version__, ready, host, _read_key(key_file))
    terminal.say("The server has stopped.")


def _read_key(path: str | None) -> str | None:
    """The key of a file, or of the environment; never of the command line, which every user of a machine can read."""
    if path is None:
        return os.environ.get("LIKELY_KEY") or None
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline(4096).strip()
    except OSError as error:
        raise InputError(f"Cannot read the key in {shown(path)}: {error.strerror}.") from None


def _load(source: str, how: Learning) -> tuple[Model, str]:
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


def _look(source: str, how: Learning, folds: int | None, seed: int) -> tuple[Model, str]:
    from likely import __version__
    from likely.evaluate.look import look
    from likely.present.page.writing import page

    record = how.run(look, source, how.learner, loss=how.loss, folds=folds, seed=seed, picture=True)
    assert record.model is not None
    command = shlex.join(["likely", *(click.get_current_context().obj or ())])
    return record.model, page(record, command=command, version=__version__, data=source)


@command(short_help="Open tables in a browser: no terminal needed from then on.")
@click.argument("tables", nargs=-1, metavar="[DATA]...")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0 takes any free one.")
@click.option("--no-open", is_flag=True, help="Do not open the browser; the address is printed.")
@click.option(
    "--largest",
    type=click.IntRange(1, 1 << 20),
    default=1024,
    metavar="MB",
    help="Larger files are not copied from the browser; they can be opened by their path.",
)
def app(tables: tuple[str, ...], port: int, no_open: bool, largest: int) -> None:
    """Open an app in the browser: choose a table and a column, see how well it is predicted, download what came of it.

    DATA are tables to begin with. Other machines cannot reach the app, and pages of other servers cannot use it: the
    address holds a key. What was copied or learned is removed when the app ends, on Ctrl+C.
    """
    from likely import __version__
    from likely.web.app.application import run_app

    def ready(address: str) -> None:
        terminal.write(f"The app is at {address} (Ctrl+C ends it)")
        if not no_open:
            import threading
            import webbrowser

            # A browser that runs in the terminal would not come back before the server has begun.
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    run_app(tables, port=port, largest=largest << 20, version=__version__, ready=ready)
    terminal.say("The app has ended; its tables and models are removed.")
