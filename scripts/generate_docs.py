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
from pathlib import Path

from captured import run_likely
from docs_tables import TABLES, value
from generate_course import course_files

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"<!-- begin: (?P<command>.+?) -->\n.*?<!-- end -->", re.DOTALL)
VALUE = re.compile(r"<!-- value: (?P<key>.+?) -->.*?<!-- \. -->")
WIDTH = 100
CLI = "docs/cli.md"
SETTINGS = "docs/models/settings.md"
HEADING = """# Commands

Written by `scripts/docs` from the commands' own `--help`: do not edit it here. What the options about reading mean is
told in [reading.md](reading.md), what learners and their settings mean in [models.md](models.md), what a spec is in
[specs.md](specs.md). Options such as `--pseudo-count` are settings of naive Bayes, and of every learner that has a
setting of that name; `--set` takes any setting.
"""
SETTINGS_HEADING = """# Settings of the learners

Written by `scripts/docs` from what each learner declares: do not edit it here. These are the arguments of the class
(`likely.Neighbors(k=3)`), the parameters of scikit-learn's estimators, and what `--set` takes on the command line;
those of naive Bayes have options of their own (`--pseudo-count`). [models.md](../models.md) and [text.md](text.md)
describe what learners do with them.
"""


def documents() -> list[Path]:
    """The documents that may hold generated blocks."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def output(command: str, folder: Path) -> str:
    """What a command prints: python from the top folder, `likely` in this process from `folder`."""
    program, *words = shlex.split(command)
    if program == "python":
        # Its encoding must not depend on the machine.
        env = {**os.environ, "PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"}
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

    from likely.cli.listing import COMMANDS, CONTEXT, commands

    settings = {**CONTEXT, "terminal_width": WIDTH, "max_content_width": WIDTH}
    top = click.Context(commands, info_name="likely", **settings)
    parts = [HEADING, f"## likely\n\n```\n{commands.get_help(top)}\n```\n"]
    for name in COMMANDS:
        command = commands.get_command(top, name)
        assert command is not None
        words = command.get_help(click.Context(command, info_name=name, parent=top, **settings))
        parts.append(f"## likely {name}\n\n```\n{words}\n```\n")
    return "\n".join(line.rstrip() for line in "\n".join(parts).splitlines()) + "\n"


def settings_page() -> str:
    """A table for each learner: every setting, what may be said, its default, and what it means."""
    from likely.models.registry import LEARNERS
    from likely.models.settings import declared, type_names
    from likely.models.text.settings import Text

    parts = [SETTINGS_HEADING]
    for name, learner in sorted({**LEARNERS, "Text": Text}.items()):
        types, rows = type_names(learner), ["| setting | may be | default | meaning |", "|---|---|---|---|"]
        for key, default, about in declared(learner):
            usual = "must be said" if default is ... else f"`{default!r}`"
            may = f"{about.allowed}, or None" if about.allowed and about.optional else about.allowed
            cells = (f"`{key}`", may or f"`{types[key]}`", usual, about.meaning)
            rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        parts.append(f"## {name}\n\n" + "\n".join(rows) + "\n")
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
