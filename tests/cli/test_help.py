"""Every command and option explains itself, and docs/cli.md tells them all."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from likely.cli.command import EXAMPLES, GROUPS
from likely.cli.listing import COMMANDS, commands

ROOT = Path(__file__).resolve().parents[2]


def command(name: str) -> click.Command:
    found = commands.get_command(click.Context(commands), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_explains_itself(name, run) -> None:
    for flag in ("-h", "--help"):
        told = run(name, flag).done()
        assert told.out.startswith(f"Usage: likely {name} ") and told.err == ""
    assert command(name).help and command(name).short_help
    for parameter in command(name).params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def described(text: str) -> set[str]:
    """The options that a block of help describes."""
    lines = re.findall(r"^  (-.*?)(?:  |$)", text, re.MULTILINE)
    return {word for line in lines for word in re.findall(r"--[\w-]+", line)}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_manual_tells_which_options_a_command_takes(name) -> None:
    # Its own ones are described there, shared ones are named by their group: all, all but some, or some.
    manual = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    sections, shared = manual.split("## Shared options\n")
    section = sections.split(f"\n## likely {name}\n")[1].split("\n## ")[0]
    own, _, named = section.partition("\nShared options:\n")
    taken = described(own.partition("\nOptions:\n")[2])
    groups = {title: described(text) for title, _, text in (part.partition("\n") for part in shared.split("### ")[1:])}
    for line in re.sub(r"\n {4}", " ", named).splitlines():
        title, _, which = line.strip().partition(": ")
        if title in groups:
            listed = set(re.findall(r"--[\w-]+", which))
            taken |= groups[title] - listed if which.startswith("all") else listed
    options = [parameter for parameter in command(name).params if isinstance(parameter, click.Option)]
    assert taken == {option for parameter in options for option in parameter.opts if option.startswith("--")}


def test_help_and_version_of_the_whole(run) -> None:
    told = run("--help").done().out
    assert (
        all(f"  {name} " in told for name in COMMANDS) and "Exit codes" in told and "..." not in told.split("\n", 1)[1]
    )
    assert run("--version").done().out.startswith("likely ")


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_name_options_that_there_are(name) -> None:
    known = {option for parameter in command(name).params for option in parameter.opts}
    assert EXAMPLES[name]
    for example in EXAMPLES[name]:
        words = shlex.split(example)
        assert words[:2] == ["likely", name]
        assert {word for word in words if word.startswith("-")} <= known


@pytest.mark.parametrize("name", COMMANDS)
def test_no_word_is_broken_on_a_narrow_terminal(name) -> None:
    shown = command(name)
    wide, narrow = (shown.get_help(click.Context(shown, info_name=name, terminal_width=w)) for w in (1000, 60))
    assert set(wide.split()) <= set(narrow.split())
    fits = [line for line in narrow.splitlines() if not line.startswith("  likely ") and len(line.split()) > 1]
    assert max(map(len, fits)) <= 60


def test_every_name_in_a_group_is_an_option() -> None:
    known = {parameter.name for name in COMMANDS for parameter in command(name).params}
    assert {name for names in GROUPS.values() for name in names} <= known


def test_options_of_a_look_are_grouped(run) -> None:
    told = run("look", "--help").done().out
    places = [told.index(f"\n{title}:\n") for title in ("Examples", "Options", *GROUPS)]
    assert places == sorted(places)
