"""The list of commands. A command's room is opened only when that command runs, so that each starts quickly."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

_NAMES = ("look", "doctor", "fit", "predict", "decide", "ask", "explain", "score", "show", "compare", "curve",
          "repeats", "regress", "sample", "bayes", "diff", "merge", "learn", "unlearn", "window", "serve",
          "export")  # fmt: skip
COMMANDS: dict[str, str] = {name: f"likely.cli.commands.{name}" for name in _NAMES}
"""Each command, in the order of the help, and the module that holds a click command of the same name."""


class Lazy(click.Group):
    """A group whose commands live in one module each."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: Any = getattr(import_module(COMMANDS[name]), name)
        return command  # type: ignore[no-any-return]

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from likely.errors import nearest, shown

            raise click.UsageError(f"There is no command {shown(args[0])}. {nearest(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from likely import __version__

        click.echo(f"likely {__version__}")
        ctx.exit()


@click.command(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version.")
def commands() -> None:
    """Bayes classification on exact sums. Start with: likely look data.csv TARGET

    Exit codes: 0 done; 1 something was found, where --fail was said; 2 bad usage or input, with a sentence on standard
    error; 70 a fault of likely; 130 interrupted.
    """
