"""What every command has: -o FILE, --force and pages, refused before any work where they would destroy a file; and help
in groups."""

from __future__ import annotations

import inspect
import os
import shlex
import textwrap
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import click

from likely.cli import terminal
from likely.cli.options import Decorator, with_options
from likely.errors import InputError, shown
from likely.machinery.text_files import safe_file_name

if TYPE_CHECKING:
    from likely.evaluate.look import Look
    from likely.evaluate.study import Studies

# Where commands write: -o FILE and --force. Refuses, before any work is done, what would destroy a file.

Kind: TypeAlias = Literal["model", "page", "table", "picture", "export"]
READ = ("model", "models", "loss_file", "training", "schema", "stop_words", "spec_file")
"""The parameters of commands that name files to read, beside DATA."""


def writable(_: click.Context, __: click.Parameter, path: str | None) -> str | None:
    """Refuse, before any work is done, a place where nothing can be written."""
    if path in (None, "-"):
        return path
    assert path is not None
    folder = os.path.dirname(os.path.abspath(path))
    if not path or os.path.isdir(path):
        raise InputError(f"Cannot write {shown(path)}, which is a folder. Name a file with -o.")
    if not os.path.isdir(folder):
        raise InputError(f"Cannot write {shown(path)}: there is no folder {shown(folder, 200)}. Make it first.")
    if not os.access(path if os.path.exists(path) and not os.path.isfile(path) else folder, os.W_OK):
        raise InputError(f"Cannot write {shown(path)}: permission denied. Choose another place.")
    return path


def _force(context: click.Context, _: click.Parameter, forced: bool) -> None:
    if forced:
        from likely.table.output.files import allow_overwriting

        context.with_resource(allow_overwriting())


def force_option(words: str) -> Decorator:
    """--force: whatever is there may be replaced."""
    return click.option("--force", is_flag=True, is_eager=True, expose_value=False, callback=_force, help=words)


def out_option(
    metavar: str, words: str, kind: Kind, *, required: bool = False, name: str = "--out", updates: str = ""
) -> Decorator:
    """-o FILE, checked before the work begins, and --force.

    `kind` is what will be written; `updates` names the parameter whose files the command may replace, being made to.
    """

    def check(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
        if writable(context, option, path) not in (None, "-"):
            context.meta["likely.output"] = (path, kind, updates)
        return path

    names = ("-o", name) if name == "--out" else (name,)
    return with_options(
        click.option(*names, required=required, metavar=metavar, callback=check, help=words),
        force_option("Replace the file even if it is an input, or of another kind."),
    )


def named_output(path: str, kind: Kind) -> str:
    """An output that was not named by the user, checked as one that was."""
    context = click.get_current_context()
    context.meta["likely.output"] = (path, kind, "")
    check_outputs(context)
    return path


def check_outputs(context: click.Context) -> None:
    """Refuse an output that is an input of the command, or a file of another kind."""
    if "likely.output" not in context.meta:
        return
    from likely.table.output import files

    path, kind, updates = context.meta["likely.output"]
    written = {
        "model": "a model",
        "page": "a page of likely",
        "table": files.kind_of_table(path),
        "picture": files.kind_of_picture(path),
        "export": None,  # known when it has been written
    }
    inputs = [context.params.get(name) for name in READ if name != updates]
    files.check_output(path, written[kind], [context.meta.get("likely.data"), *inputs])


# Where `likely look` writes its page, and how it was asked for. Parses nothing, computes nothing.


def page_name(target: str) -> str:
    """A file name made of a target's name: safe on every system, and never a path.

    >>> page_name("income"), page_name("../a b"), page_name("<script>"), page_name("")
    ('income.html', 'a_b.html', 'script.html', 'page.html')
    """
    return f"{safe_file_name(target, 'page')}.html"


def place(target: str) -> str:
    """The page's file in this folder; another name where a file of that name is not a page of ours."""
    from likely.table.output.files import PAGE

    name = page_name(target)
    try:
        with open(name, "rb") as file:
            ours = PAGE in file.read(4096)
    except FileNotFoundError:
        ours = True
    except OSError:
        ours = False
    return name if ours else name.removesuffix(".html") + ".likely.html"


def write_page(record: Look, studies: Studies, data: object, out: str | None, arguments: tuple[str, ...]) -> str | None:
    """Make the page, write it, and say where; a folder that cannot be written is no reason to fail: then it is None.

    `arguments` are those of the command, which the page repeats.
    """
    from likely import __version__
    from likely.present.page.writing import page
    from likely.sums import state

    made = page(
        record,
        curve=studies.curve,
        comparison=studies.comparison,
        command=shlex.join(["likely", *arguments]),
        version=__version__,
        data=str(data),
    )
    path = place(record.target) if out is None else out
    try:
        state.write(path, made.encode("utf-8", "replace"))
    except InputError as error:
        if out is not None:
            raise
        terminal.say(f"The page was not written. {error}")
        return None
    terminal.say(f"The page is in {shown(path, 200)}: open it in a browser.")
    return path


def show_page(path: str) -> None:
    """Open a page in the browser that the system would take, or say that there is none."""
    import webbrowser

    if not webbrowser.open(Path(path).resolve().as_uri()):
        terminal.say("No browser could be started: open the page yourself.")


# How help is laid out: options in groups, examples of use, and no word broken, however narrow the terminal.

NARROW = 72
"""Columns below which what an option does stands under it, not beside it."""
LEAST_MEMORY = 700 << 20
"""Bytes of address space below which OpenBLAS, Arrow or LLVM end the process as they are loaded, or hang."""
BESIDE = 31
"""Where the words beside an option begin."""
GROUPS: dict[str, tuple[str, ...]] = {
    "Validation": ("folds", "seed", "repeats", "group", "time", "leave_one_out", "positive"),
    "Output": (
        "everything", "out", "svg", "force", "no_page", "open_page", "study", "as_json", "as_markdown", "fractions",
        "decimals", "logs", "working", "fail",
    ),
    "Reading the table": ("query", "table"),
    "Text": (),
    "Learner": ("spec_file", "learner", "settings", "effort", "purposes"),
}  # fmt: skip
"""The headings of help, and the parameters below each, beside those that are declared to stand there; whatever is not
listed comes first."""
TITLES = ("Options", *GROUPS)
EXAMPLES: dict[str, tuple[str, ...]] = {
    "look": ("likely look data.csv income", "likely look data.csv income --group household --all"),
    "doctor": ("likely doctor data.csv income",),
    "fit": ("likely fit data.csv income -o income.likely", "likely fit data.csv income --for sql -o income.likely"),
    "predict": ("likely predict income.likely new.csv -o out.csv",),
    "decide": ("likely decide mails.likely new.csv --loss costs.toml -o out.csv",),
    "ask": ("likely ask income.likely age=39",),
    "explain": ("likely explain income.likely age=39 sex=Male", "likely explain income.likely --row 7 new.csv"),
    "score": ("likely score new.csv --model rows.likely",),
    "show": ("likely show income.likely education", "likely show income.likely --spec"),
    "compare": (
        "likely compare data.csv income",
        "likely compare data.csv income --learner NaiveBayes --learner Additive",
    ),
    "curve": ("likely curve data.csv income",),
    "repeats": ("likely repeats data.csv income",),
    "regress": ("likely regress data.csv price",),
    "sample": ("likely sample income.likely -n 1000 -o drawn.csv",),
    "bayes": ("likely bayes --prior cancer=0.008 --test 0.98,0.97",),
    "joint": ('likely joint data.csv sex income --query "P(income=high | sex=f)"',),
    "normal": ("likely normal 73 6.2 --between 66,80",),
    "plot": ("likely plot iris.csv species -o iris.svg",),
    "hypotheses": ("likely hypotheses examples/cancer.toml",),
    "diff": ("likely diff march.csv april.csv", "likely diff old.likely new.likely"),
    "merge": ("likely merge a.likely b.likely -o both.likely",),
    "learn": ("likely learn model.likely new_rows.csv -o model.likely",),
    "unlearn": ("likely unlearn model.likely old_rows.csv -o model.likely",),
    "window": ("likely window week.likely today.csv",),
    "serve": ("likely serve income.likely", "likely serve income.likely --host 0.0.0.0 --key-file key"),
    "export": ("likely export income.likely --to sql --dialect postgres -o score.sql",),
    "card": ("likely card income.likely -o card.md",),
    "completion": ("likely completion bash >> ~/.bashrc",),
    "course": ("likely course 3",),
    "how": ("likely how m-estimate", 'likely how "log-odds"'),
    "app": ("likely app", "likely app data.csv"),
}
"""How each command is used."""


class HelpfulCommand(click.Command):
    """A command whose options are listed in groups, and which replaces no file of its user's by mistake."""

    def invoke(self, ctx: click.Context) -> object:
        check_memory(ctx)
        check_outputs(ctx)
        return super().invoke(ctx)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for paragraph in inspect.cleandoc(self.help or "").split("\n\n"):
            formatter.write("\n")
            for line in _wrapped(" ".join(paragraph.split()), formatter.width, "  ", "  "):
                formatter.write(line + "\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_examples(ctx, formatter)
        for title, rows in self.option_groups(ctx).items():
            write_group(title, rows, formatter)

    def format_examples(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for line in _examples(ctx.info_name or ""):
            formatter.write(line + "\n")

    def option_groups(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """What is said of each option, under the headings of help."""
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        listed = {name: title for title, names in GROUPS.items() for name in names}
        headings = [getattr(p, "group", "") or listed.get(p.name or "", "Options") for p in options]
        groups = {title: [p for p, one in zip(options, headings, strict=True) if one == title] for title in TITLES}
        return {title: [row for p in group if (row := p.get_help_record(ctx))] for title, group in groups.items()}


def write_group(title: str, rows: list[tuple[str, str]], formatter: click.HelpFormatter) -> None:
    """Options under a heading, where there are any."""
    if rows:
        formatter.write(f"\n{title}:\n")
        for line in _definitions(rows, formatter.width):
            formatter.write(line + "\n")


def check_memory(ctx: click.Context) -> None:
    """Refuse to read anything with less memory than libraries need to be loaded: they would end the process."""
    if not {"data", "source", "file", *READ} & ctx.params.keys():
        return
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:  # no such limits there
        return
    limit, _ = getrlimit(RLIMIT_AS)
    if limit != RLIM_INFINITY and limit < LEAST_MEMORY:
        raise InputError(
            f"This process may take {limit >> 20:,} MB of memory (ulimit -v), and likely needs "
            f"{LEAST_MEMORY >> 20:,} MB at least. Raise the limit."
        )


command = partial(click.command, cls=HelpfulCommand)
"""In place of `click.command`."""


def _examples(name: str) -> Iterator[str]:
    """How a command is used."""
    lines = EXAMPLES.get(name.split(" ")[-1], ())
    if lines:
        yield f"\n{'Example' if len(lines) == 1 else 'Examples'}:"
        yield from (f"  {line}" for line in lines)


def _definitions(rows: list[tuple[str, str]], width: int) -> Iterator[str]:
    """Options and what they do; beside each other where there is room."""
    beside = width >= NARROW
    for term, words in rows:
        lines = _wrapped(words, width - (BESIDE if beside else 6))
        if not beside:
            yield from _wrapped(term, width - 2, "  ", "    ")
            yield from (f"      {line}" for line in lines)
            continue
        first = f"  {term}"
        if len(first) <= BESIDE - 2 and lines:
            yield f"{first:<{BESIDE}}{lines.pop(0)}"
        else:
            yield from _wrapped(term, width - 2, "  ", "    ")
        yield from (" " * BESIDE + line for line in lines)


def _wrapped(words: str, width: int, first: str = "", later: str = "") -> list[str]:
    """Lines without a broken word: one that is too long for a line has it for itself."""
    return textwrap.wrap(
        words,
        max(width, 20),
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )
