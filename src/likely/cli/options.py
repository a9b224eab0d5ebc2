"""Options that several commands share: how a table is read, which row is meant, what actions cost, where to write."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from likely.cli import terminal
from likely.errors import InputError, SettingError, shown

Command = Callable[..., Any]


def _delimiter(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    named = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}
    return None if text is None else named.get(text, text)


def _asked(context: click.Context, option: click.Parameter, said: str | None) -> None:
    """Keep what is said of a database for the argument that names it."""
    context.meta[f"likely.{option.name}"] = said


def table_of(data: str | None) -> Any:
    """What DATA stands for: itself, or the rows of the query or table that was asked for."""
    said = click.get_current_context().meta
    query, table = said.get("likely.query"), said.get("likely.table")
    if data is None or (query is None and table is None):
        return data
    from likely.table.databases.database import database

    return database(data, query=query, table=table)


def data_argument(required: bool = True) -> Callable[[Command], Command]:
    """DATA: a file, a folder, a pattern, standard input, or (with --query, --table) a database."""
    return click.argument("data", required=required, callback=lambda context, option, data: table_of(data))


_TEXT = (
    click.option(
        "--query",
        metavar="SQL",
        is_eager=True,
        expose_value=False,
        callback=_asked,
        help="DATA is a database (postgresql://…, an SQLite or DuckDB file): read the rows of this query.",
    ),
    click.option(
        "--table",
        metavar="NAME",
        is_eager=True,
        expose_value=False,
        callback=_asked,
        help="DATA is a database: read this table of it.",
    ),
    click.option("--encoding", metavar="NAME", help="Encoding of a text file; UTF-8 is tried first, then latin-1."),
    click.option(
        "--delimiter",
        metavar="CHAR",
        callback=_delimiter,
        help="What separates cells, also by name: tab, space; found by itself otherwise.",
    ),
)
replace_option = click.option(
    "--replace-invalid", is_flag=True, help="Put U+FFFD in place of what is not sound UTF-8, rather than refuse it."
)

_WORDS = (
    click.option("--shortest-word", type=int, metavar="N", help="Of texts: words of fewer characters are passed over."),
    click.option("--word-pairs", is_flag=True, help="Of texts: two neighbouring words count as one more."),
    click.option("--stop-words", metavar="FILE", help="Of texts: the words of this file are passed over."),
    click.option("--char-grams", metavar="N|N,M", help="Of texts: runs of N to M characters in place of words."),
    click.option("--vocabulary", type=int, metavar="N", help="Of texts: hold at most N words in memory."),
)
TOKENS = ("shortest_word", "word_pairs", "stop_words", "char_grams", "vocabulary")

_READING = (
    click.option(
        "--type",
        "types",
        multiple=True,
        metavar="COLUMN=KIND",
        help="nominal, 'nominal of numbers', number, date, text or ignore.",
    ),
    click.option(
        "--missing",
        multiple=True,
        metavar="TOKEN",
        help="A cell that means 'not known'; replaces the usual ones ('?', 'NA', 'null' …). The empty cell always is.",
    ),
    click.option("--weight", metavar="COLUMN", help="The column that says how much a row weighs."),
    click.option(
        "--target-bins",
        metavar="N|EDGES",
        help="Cut a numeric target into N bins of about as many rows each, or at given edges: 10,20,30.",
    ),
    click.option("--schema", "schema_file", metavar="FILE.likely", help="Read the columns as this model's were read."),
    *_TEXT,
    replace_option,
    *_WORDS,
    click.option("--skip-bad", is_flag=True, help="Of many files: leave out those that cannot be read, and name them."),
    click.option(
        "--threads",
        type=click.IntRange(1),
        metavar="N",
        help="Threads to use; all cores otherwise. Results do not depend on it.",
    ),
)


def with_options(*options: Any) -> Callable[[Command], Command]:
    """One decorator for several options, which help lists in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


reading_options = with_options(*_READING)
text_options = with_options(*_TEXT)

folds_options = with_options(
    click.option(
        "--folds", type=click.IntRange(2, 1000), default=10, show_default=True, help="Folds of the cross-validation."
    ),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Deals the rows to the folds."),
)

row_options = with_options(
    click.argument("given", nargs=-1, metavar="[NAME=VALUE]... | DATA"),
    click.option("--row", type=click.IntRange(1), metavar="N", help="Take row N of DATA; the first is 1."),
)


def row_of(
    model: Any,
    given: tuple[str, ...],
    row: int | None,
    encoding: str | None,
    delimiter: str | None,
    replace_invalid: bool = False,
) -> Any:
    """The row that is asked about: values by hand, or row N of a table."""
    from likely.apply.explain.asked import asked, by_name

    if row is None:
        return asked(model, by_name(given, model.schema.names))
    if len(given) == 1:
        errors = "replace" if replace_invalid else "strict"
        return asked(model, table_of(given[0]), row, encoding=encoding, delimiter=delimiter, encoding_errors=errors)
    raise SettingError("--row N needs one table, and no values by hand: --row N DATA.")


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
        raise InputError(f"Cannot write {shown(path)}: this user may not write there. Choose another place.")
    return path


def out_option(metavar: str, words: str, required: bool = True) -> Callable[[Command], Command]:
    """-o FILE, checked before the work begins."""
    return click.option("-o", "--out", required=required, metavar=metavar, callback=writable, help=words)


loss_option = click.option(
    "--loss", "loss_file", metavar="FILE.toml", help="What each action costs in each class, and not to know (abstain)."
)


def loss_of(loss_file: str | None) -> Any:
    """The loss that --loss names; None without it."""
    if loss_file is None:
        return None
    from likely.probability.loss import read_loss

    return read_loss(loss_file)


prior_option = click.option(
    "--prior",
    "priors",
    multiple=True,
    metavar="CLASS=P|uniform",
    help="A class is more or less frequent than in training; classes that are not named share the rest.",
)


def prior_given(entries: tuple[str, ...]) -> Any:
    """The prior to decide by; None where it is the model's own."""
    if entries == ("uniform",):
        return "uniform"
    return pairs(entries, "--prior", "CLASS=PROBABILITY") or None


json_option = click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")


def pair(text: str, option: str, form: str, first: bool = False) -> tuple[str, str]:
    """NAME=VALUE, cut at the last equals sign, since names are data and may hold one (or at the first, if asked)."""
    name, sign, value = text.partition("=") if first else text.rpartition("=")
    if not sign:
        raise SettingError(f"{option} {shown(text)} has no equals sign. Write it as {option} {form}.")
    return name, value


def pairs(entries: tuple[str, ...], option: str, form: str) -> dict[str, str]:
    """Several NAME=VALUE, each name once; values stay text, which is exact."""
    out: dict[str, str] = {}
    for entry in entries:
        name, value = pair(entry, option, form)
        if name in out:
            raise SettingError(f"{option} names {shown(name)} twice. Name it once.")
        out[name] = value
    return out


def reading_of(options: dict[str, Any]) -> dict[str, Any]:
    """What `summarize` takes, from the shared options (which are taken out of `options`)."""
    types = pairs(options.pop("types"), "--type", "COLUMN=KIND")
    missing = options.pop("missing")
    schema_file = options.pop("schema_file")
    schema = None
    if schema_file is not None:
        from likely.apply.fitting import load

        schema = load(schema_file).schema
    return {
        "types": types or None,
        "missing": list(missing) or None,
        "weight": options.pop("weight"),
        "target_bins": _bins(options.pop("target_bins")),
        "schema": schema,
        "encoding": options.pop("encoding"),
        "delimiter": options.pop("delimiter"),
        "threads": options.pop("threads"),
        "tokens": tokens_of(options),
        "encoding_errors": "replace" if options.pop("replace_invalid") else "strict",
        "skip_bad": options.pop("skip_bad"),
        "remark": terminal.say,
    }


def tokens_of(options: dict[str, Any]) -> Any:
    """What counts as a word of texts, where anything is said of it (taken out of `options`)."""
    said = {name: options.pop(name) for name in TOKENS}
    if all(value is None or value is False for value in said.values()):
        return None
    from likely.table.words.tokens import Tokens

    return Tokens(
        1 if said["shortest_word"] is None else said["shortest_word"],
        said["word_pairs"],
        _stop_words(said["stop_words"]),
        _grams(said["char_grams"]),
        said["vocabulary"],
    )


def _stop_words(path: str | None) -> tuple[str, ...]:
    if path is None:
        return ()
    from likely.table.words.tokens import words_of

    try:
        with open(path, encoding="utf-8-sig") as file:
            return tuple(sorted(set(words_of(file.read()))))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise InputError(f"Cannot read {shown(path)}: {reason}. Give a file with the words to pass over.") from None


def _grams(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    try:
        found = [int(n) for n in text.split(",")]
        low, high = found if len(found) == 2 else (found[0], found[0], *found[1:])
    except ValueError:
        raise SettingError(f"--char-grams {shown(text)} is neither a number nor two, such as 3,5.") from None
    return low, high


def _bins(text: str | None) -> int | list[float] | None:
    if text is None:
        return None
    try:
        edges = [float(e) for e in text.split(",")]
    except ValueError:
        raise SettingError(
            f"--target-bins {shown(text)} is neither a number of bins nor edges such as 10,20,30."
        ) from None
    return int(edges[0]) if len(edges) == 1 and edges[0].is_integer() else edges
