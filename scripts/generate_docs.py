"""Writes what the documents print: docs/cli.md from the commands' own help, docs/models/settings.md from what learners
declare, the chapters and notebooks of the course, and each block after `<!-- begin: … -->`.

Knows files of text. Commands of likely that a document names run in a folder of the document's own, which has a copy
of examples/, so that one block may use the model file of another; `table NAME` is a table of docs_tables.py.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from captured import run_likely
from docs_tables import TABLES, value
from generate_course import course_files

if TYPE_CHECKING:
    import click

    from likely.cli.command import HelpfulCommand

Groups: TypeAlias = dict[str, list[tuple[str, str]]]
"""What help says of options, by heading."""

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"<!-- begin: (?P<command>.+?) -->\n.*?<!-- end -->", re.DOTALL)
VALUE = re.compile(r"<!-- value: (?P<key>.+?) -->.*?<!-- \. -->")
WIDTH = 100
CLI = "docs/cli.md"
SETTINGS = "docs/models/settings.md"
HEADING = """# Commands

Written by `scripts/docs` from the commands' own `--help`: do not edit it here. Options that several commands share are
described once, in [groups](#shared-options); each command names those that it takes, and describes its own.
`likely COMMAND --help` shows all of them. More on reading is in [reading.md](reading.md), on learners in
[models.md](models.md), on specs in [specs.md](specs.md).
"""
SHARED = """## Shared options

Options from `--pseudo-count` to `--temperature`, and from `--text` to `--most-words`, are settings of naive Bayes, and
of every learner that has a setting of that name; [settings.md](models/settings.md#naivebayes) says what they mean.
`--set` takes any setting.
"""
SETTINGS_HEADING = """# Settings of the learners

Written by `scripts/docs` from what each learner declares: do not edit it here. These are the arguments of the class
(`likely.Neighbors(k=3)`), the parameters of scikit-learn's estimators, and what `--set` takes on the command line;
those of naive Bayes have options of their own (`--pseudo-count`). Settings that several learners share stand first, and
are named below each. [models.md](../models.md) and [text.md](text.md) describe what learners do with them.
"""
SETTINGS_HEAD = "| setting | may be | default | meaning |\n|---|---|---|---|"


def documents() -> list[Path]:
    """The documents that may hold generated blocks."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def output(command: str, folder: Path) -> str:
    """What a command prints: python from the top folder, `likely` in this process from `folder`."""
    program, *words = shlex.split(command)
    if program == "python":
        # Neither its encoding nor its width may depend on the machine.
        env = {**os.environ, "PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8", "COLUMNS": str(WIDTH)}
        done = subprocess.run([sys.executable, *words], cwd=ROOT, env=env, capture_output=True, encoding="utf-8")
        code, out, err = done.returncode, done.stdout, done.stderr
    elif program == "likely":
        # A page takes time, and no document shows it.
        code, out, err = run_likely([*words, "--no-page"] if words[0] == "look" else words, folder)
    else:
        raise SystemExit(f"A generated block may run likely or python, not {program!r}.")
    if code:
        raise SystemExit(f"{command} failed: {err.strip()}")
    return (out or err).rstrip()  # what a command says of a file that it has written goes to standard error


def filled(text: str) -> str:
    """A document with each generated block and each quoted value made anew."""
    text = VALUE.sub(lambda found: f"<!-- value: {found['key']} -->{value(found['key'])}<!-- . -->", text)
    if not BLOCK.search(text):
        return text
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "examples", folder / "examples")

        def block(found: re.Match[str]) -> str:
            command = found["command"]
            start, end = f"<!-- begin: {command} -->\n", "\n<!-- end -->"
            if command.startswith("table "):
                return f"{start}\n{TABLES[command.removeprefix('table ')]()}\n{end}"
            return f"{start}```\n{output(command, folder)}\n```{end}"

        return BLOCK.sub(block, text)


def cli_page() -> str:
    """The help of the program and of each command."""
    import click

    from likely.cli.command import HelpfulCommand, write_group
    from likely.cli.listing import COMMANDS, CONTEXT, commands

    settings = {**CONTEXT, "terminal_width": WIDTH, "max_content_width": WIDTH}
    top = click.Context(commands, info_name="likely", **settings)
    whole = commands.get_help(top).partition("\nCommands:")[0].rstrip()  # each of them has its heading
    parts = [HEADING, f"## likely\n\n```\n{whole}\n```\n"]
    contexts = {}
    for name in COMMANDS:
        command = commands.get_command(top, name)
        assert isinstance(command, HelpfulCommand)
        contexts[name] = (command, click.Context(command, info_name=name, parent=top, **settings))
    groups = {name: command.option_groups(context) for name, (command, context) in contexts.items()}
    shared = shared_options(groups)
    parts += [f"## likely {name}\n\n```\n{command_help(*contexts[name], shared)}\n```\n" for name in COMMANDS]
    parts.append(SHARED)
    for title, rows in shared.items():
        formatter = click.HelpFormatter(width=WIDTH)
        write_group(title, [(term, without_meaning(words)) for term, words in rows], formatter)
        title = "Various" if title == "Options" else title
        parts.append(f"### {title}\n\n```\n{formatter.getvalue().split(':', 1)[1].strip(chr(10))}\n```\n")
    return "\n".join(line.rstrip() for line in "\n".join(parts).splitlines()) + "\n"


def shared_options(groups: dict[str, Groups]) -> Groups:
    """Under each heading the options of which two commands or more say the same; of two wordings the more usual one."""
    from likely.cli.command import GROUPS

    out: Groups = {}
    for title in (*GROUPS, "Options"):
        uses = Counter(row for of_command in groups.values() for row in of_command[title])
        usual: dict[str, tuple[str, str]] = {}
        for row, times in uses.items():
            if times > 1 and times > uses.get(usual.get(option_name(row), ("", "")), 0):
                usual[option_name(row)] = row
        out[title] = [row for name, row in usual.items() if name != "--help"]
    return out


def without_meaning(words: str) -> str:
    """What help says of an option, without the meaning of a setting, which docs/models/settings.md has."""
    from likely.models.registry import LEARNERS
    from likely.models.settings import declared
    from likely.models.text.settings import Text

    meanings = [about.meaning for learner in (LEARNERS["NaiveBayes"], Text) for _, _, about in declared(learner)]
    return next((words.removeprefix(meaning).strip() for meaning in meanings if words.startswith(meaning)), words)


def option_name(row: tuple[str, str]) -> str:
    """The long name of an option, by what help says of it: `-o, --out FILE` is --out."""
    return next(word for word in re.split(r"[ ,]+", row[0]) if word.startswith("--"))


def command_help(command: HelpfulCommand, context: click.Context, shared: Groups) -> str:
    """The help of one command: its own options in full, shared ones by name."""
    from likely.cli.command import write_group

    formatter = context.make_formatter()
    command.format_usage(context, formatter)
    command.format_help_text(context, formatter)
    command.format_examples(context, formatter)
    groups = command.option_groups(context)
    own = [row for title, rows in groups.items() for row in rows if row not in shared.get(title, ())]
    write_group("Options", [row for row in own if option_name(row) != "--help"], formatter)
    mine = {option_name(row) for row in own}
    lines = []
    for title, rows in shared.items():
        taken = [option_name(row) for row in rows if row in groups[title]]
        rest = [name for row in rows if row not in groups[title] and (name := option_name(row)) not in mine]
        if not taken:
            continue
        which = "all" if not rest else f"all but {', '.join(rest)}" if len(rest) < len(taken) else ", ".join(taken)
        title = "Various" if title == "Options" else title
        lines += textwrap.wrap(f"{title}: {which}", WIDTH - 2, initial_indent="  ", subsequent_indent="    ",
                               break_long_words=False, break_on_hyphens=False)  # fmt: skip
    shown = ["\nShared options:", *lines] if lines else []
    return (formatter.getvalue() + "\n".join(shown)).rstrip("\n")


def settings_page() -> str:
    """A table for each learner: every setting, what may be said, its default, and what it means; first those that
    several learners have alike."""
    from likely.models.registry import LEARNERS
    from likely.models.settings import declared, type_names
    from likely.models.text.settings import Text

    tables: dict[str, list[str]] = {}
    for name, learner in sorted({**LEARNERS, "Text": Text}.items()):
        types, tables[name] = type_names(learner), []
        for key, default, about in declared(learner):
            usual = "must be said" if default is ... else f"`{default!r}`"
            may = f"{about.allowed}, or None" if about.allowed and about.optional else about.allowed
            cells = (f"`{key}`", may or f"`{types[key]}`", usual, about.meaning)
            tables[name].append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    uses = Counter(row for rows in tables.values() for row in rows)
    commonest = {row.split(" | ")[0]: row for row in sorted(uses, key=lambda row: uses[row])}
    shared = [row for row in commonest.values() if uses[row] > 1]
    parts = [SETTINGS_HEADING, f"## Shared settings\n\n{SETTINGS_HEAD}\n" + "\n".join(sorted(shared)) + "\n"]
    for name, rows in tables.items():
        own = "\n".join(row for row in rows if row not in shared)
        alike = ", ".join(row.split(" | ")[0].strip("| ") for row in rows if row in shared)
        lines = [f"## {name}", f"{SETTINGS_HEAD}\n{own}" if own else "", f"Shared: {alike}." if alike else ""]
        parts.append("\n\n".join(line for line in lines if line) + "\n")
    return "\n".join(parts)


def wanted() -> dict[Path, str]:
    """Every document with generated parts, as it should be."""
    made = {ROOT / CLI: cli_page(), ROOT / SETTINGS: settings_page(), **course_files(ROOT / "docs" / "course")}
    return {path: filled(path.read_text(encoding="utf-8")) for path in documents() if path not in made} | made


def _changed(path: Path, text: str) -> list[str]:
    """The lines of a document that are not what they should be, so that a failing check says why."""
    there = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [
        line.rstrip() for line in difflib.unified_diff(there, text.splitlines(), "is", "should be", n=0, lineterm="")
    ]


def main() -> None:
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        raise SystemExit("usage: scripts/docs [--check]")
    old = {p: t for p, t in wanted().items() if not p.exists() or p.read_text(encoding="utf-8") != t}
    if check and old:
        names = ", ".join(sorted(p.relative_to(ROOT).as_posix() for p in old))
        lines = [line for p, t in old.items() for line in _changed(p, t)]
        raise SystemExit("\n".join([f"Out of date: {names}. Run scripts/docs.", *lines[:60]]))
    for path, text in old.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"written: {path.relative_to(ROOT).as_posix()}")


if __name__ == "__main__":
    main()
