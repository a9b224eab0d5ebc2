"""likely completion: what a shell needs to complete commands, options and names of files."""

from __future__ import annotations

import click

from likely.cli import terminal
from likely.cli.help import command

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
