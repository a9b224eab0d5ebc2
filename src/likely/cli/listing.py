"""The list of commands. A command's room is opened only when that command runs, so that each starts quickly."""

from __future__ import annotations

from importlib import import_module

import click

_ROOMS = {
    "look": "evaluate",
    "doctor": "evaluate",
    "fit": "fit",
    "predict": "predict",
    "decide": "predict",
    "ask": "explain",
    "explain": "explain",
    "score": "predict",
    "show": "show",
    "compare": "evaluate",
    "curve": "evaluate",
    "repeats": "evaluate",
    "regress": "fit",
    "sample": "predict",
    "bayes": "classroom",
    "joint": "classroom",
    "normal": "plot",
    "plot": "plot",
    "hypotheses": "classroom",
    "diff": "show",
    "merge": "update",
    "learn": "update",
    "unlearn": "update",
    "window": "update",
    "serve": "serve",
    "app": "serve",
    "export": "show",
    "card": "show",
    "completion": "show",
}
COMMANDS = {name: f"likely.cli.commands.{room}" for name, room in _ROOMS.items()}
COMMANDS["course"] = "likely.cli.course"
COMMANDS["how"] = "likely.cli.topics"
"""The commands in the order of help, and the module that holds a click command of that name."""


COMPLETE = "_LIKELY_COMPLETE"
"""What a shell sets when it asks how a line may go on."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[name]), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from likely.errors import nearest, shown

            raise click.UsageError(f"There is no command {shown(args[0])}. {nearest(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from likely import __version__

        click.echo(f"likely {__version__}")
        ctx.exit()


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True}


@click.command(cls=LazyGroup, context_settings=CONTEXT)
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version.")
def commands() -> None:
    """Bayes classification on exact sums. Start with: likely look data.csv TARGET

    Exit codes: 0 done; 1 something was found and --fail was given; 2 bad usage or input, explained on standard
    error; 70 a fault of likely; 130 interrupted.
    """
