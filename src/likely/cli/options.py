"""Options that several commands share: how a table is read, how rows are dealt, what actions cost, where to write."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from likely.cli import terminal
from likely.errors import InputError, LikelyError, SettingError, shown
from likely.intake.options import FILE, Reading, options_about
from likely.models.settings import SWITCH, Form, Setting, declared, flag_of

if TYPE_CHECKING:
    from likely.apply.explain.row import QueryRow
    from likely.models.contracts import Model
    from likely.models.loss import Loss
    from likely.table.words import Tokens


Command: TypeAlias = Callable[..., object]
Decorator: TypeAlias = Callable[[Command], Command]
Values: TypeAlias = dict[str, Any]
"""What options say, by name."""


class Level(click.ParamType):  # type: ignore[type-arg]
    """How sure one wants to be, in percent or as a share: 95 and 0.95 are the same."""

    name = "percent"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """As a share."""
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if not 0 < number < 100 or number == 1:
            self.fail(f"{shown(value)} is no level. Say how many of 100, such as 95.", param, ctx)
        return number if number < 1 else number / 100


LEVEL = Level()


def with_options(*options: Decorator) -> Decorator:
    """One decorator for several options, which help lists in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def packed(
    argument: str, pack: Callable[[Values], object], *options: Decorator, also: tuple[str, ...] = ()
) -> Decorator:
    """Several options that a command gets as one argument, made of what they say (and of other options it has)."""

    def nothing() -> None: ...

    parameters: list[click.Parameter] = getattr(with_options(*options)(nothing), "__click_params__", [])
    names = [p.name for p in parameters if p.expose_value and p.name is not None]

    def decorate(command: Command) -> Command:
        @wraps(command)
        def run(*arguments: object, **values: object) -> object:
            own = {name: values.pop(name) for name in (*names, *also) if name in values}
            return command(*arguments, **{argument: pack(own)}, **values)

        return with_options(*options)(run)

    return decorate


# -- which table, and how it is read ------------------------------------------------------------------------------


def _keep(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Keep what is said of a database for the argument that names it."""
    context.meta[f"likely.{option.name}"] = value


def table_of(data: str | None) -> object:
    """What DATA stands for: itself, or the rows of the query or table that was asked for."""
    meta = click.get_current_context().meta
    query, table, sheet = meta.get("likely.query"), meta.get("likely.table"), meta.get("likely.sheet")
    if data is not None and sheet is not None:
        from likely.table.open import name_sheet

        return name_sheet(data, sheet)
    if data is None or (query is None and table is None):
        return data
    from likely.table.databases import database

    return database(data, query=query, table=table)


def _open_data(context: click.Context, data: str | None) -> object:
    context.meta["likely.data"] = data  # its name, for whoever must not write there
    return table_of(data)


def data_argument(required: bool = True) -> Decorator:
    """DATA: a file, a folder, a pattern, standard input, or (with --query, --table) a database."""
    return click.argument(
        "data",
        required=required,
        callback=lambda context, option, data: _open_data(context, data),
        shell_complete=lambda context, option, begun: [CompletionItem(begun, type="file")],
    )


_QUERY: Values = {"is_eager": True, "expose_value": False, "callback": _keep}
_DATABASE = (
    click.option(
        "--query",
        metavar="SQL",
        help="DATA is a database (postgresql://…, an SQLite or DuckDB file): read the rows of this query.",
        **_QUERY,
    ),
    click.option("--table", metavar="NAME", help="DATA is a database: read this table of it.", **_QUERY),
)


class GroupedOption(click.Option):
    """An option that says under which heading of help it stands."""

    def __init__(self, *arguments: Any, group: str = "", **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.group = group


def declared_option(
    name: str, default: object, about: Setting, form: Form | None = None, group: str = "", bounded: bool = False
) -> Decorator:
    """The option of a setting, as it is declared: of a learner, or of reading a table (whose numbers are `bounded`)."""
    form = form or about.form or Form()
    how: Values = {"help": f"{form.meaning or about.meaning} {form.note}".rstrip(), "metavar": form.metavar}
    if form.switch or about.choices == SWITCH:
        how["is_flag"] = True
    elif form.read is not None:
        how["type"] = str
        default = (default,) if form.multiple and isinstance(default, str) else default
    elif about.choices:
        how["type"] = click.Choice([str(choice) for choice in about.choices])
    elif about.whole and bounded and about.at_least is not None:
        how["type"] = click.IntRange(int(about.at_least), None if about.at_most is None else int(about.at_most))
    elif about.is_number:
        how["type"] = int if about.whole else float
    if form.multiple:
        how["multiple"] = True
    if "is_flag" not in how:
        how["default"] = default
    how |= _QUERY if form.eager else {}
    return click.option(flag_of(name, form), name, cls=GroupedOption, group=group or about.group, **how)


def reading_option(name: str, meaning: str = "") -> Decorator:
    """The option of one setting of reading a table, for commands that list it, perhaps in their own words."""
    default, about, form = READING[name]
    return declared_option(name, default, about, replace(form, meaning=meaning or form.meaning), bounded=True)


def _reading_options(names: Iterable[str]) -> tuple[Decorator, ...]:
    """Options of reading a table; those of databases stand before the first that says which table DATA is."""
    out: list[Decorator] = []
    for name in names:
        _, about, form = READING[name]
        out += _DATABASE if name == _FILE[0] else ()
        out += [declared_option(part, None, one, group=about.group) for part, one in form.parts.items()]
        out += [] if form.parts else [reading_option(name)]
    return tuple(out)


def reading_parameters(name: str) -> tuple[str, ...]:
    """What click calls the options that say one setting of reading a table."""
    return tuple(READING[name][2].parts) or (name,)


def _read_options(names: Iterable[str], values: Values) -> Values:
    """What options of reading say, as the library takes it; what is not said has its default."""
    out: Values = {}
    for name in names:
        default, _, form = READING[name]
        if form.eager:
            continue  # it is a part of what DATA stands for
        said = {part: values[part] for part in reading_parameters(name)}
        if all(one is None or one is False or one == () for one in said.values()):
            out[name] = default
        else:
            value = said if form.parts else said[name]
            out[name] = value if form.read is None else form.read(value)
    return out


def read_text_options(values: Values) -> Values:
    """How a table of text is decoded, as the library takes it."""
    return _read_options(_FILE, values)


def _read_reading_options(values: Values) -> Values:
    """What `summarize` takes."""
    return {**_read_options(_SHARED, values), "remark": terminal.say}


def _read_schema(path: str) -> object:
    from likely.apply.fitting import load_any

    return load_any(path).schema


def _read_delimiter(text: str) -> str:
    named = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}
    return named.get(text, text)


READERS: dict[str, Callable[[Any], object]] = {
    "types": lambda entries: pairs(entries, "--type", "COLUMN=KIND"),
    "missing": list,
    "target_bins": lambda text: _bins(text),
    "schema": _read_schema,
    "delimiter": _read_delimiter,
    "tokens": lambda values: _tokens(values),
}
"""Settings of reading a table that need code of this room to read; all others are read by what they declare."""


def _reading_form(name: str, about: Setting) -> Form:
    form = about.form or Form()
    return replace(form, read=READERS.get(name, form.read))


READING = {name: (default, about, _reading_form(name, about)) for name, default, about in declared(Reading)}
_FILE = options_about(FILE)
_SHARED = [name for name, (_, about, _) in READING.items() if about.group]
_TEXT = _reading_options(_FILE)
sql_options: tuple[Decorator, ...] = (
    click.option("--sql", "query", metavar="SQL", help="DATA is a database: read the rows of this query.", **_QUERY),
    *_TEXT[1:],
)
"""The same where --query asks for a probability."""
text_options = packed("reading", read_text_options, *_TEXT)
"""How a table that a model reads is decoded; the command gets `reading`."""
reading_options = packed("reading", _read_reading_options, *_reading_options(_SHARED))
"""How a table is read; the command gets `reading`, which `summarize` takes."""


def _tokens(values: Values) -> Tokens:
    """What counts as a word of texts."""
    from likely.table.words import Tokens

    return Tokens(
        1 if values["shortest_word"] is None else values["shortest_word"],
        values["word_pairs"],
        _stop_words(values["stop_words"]),
        _grams(values["char_grams"]),
        values["vocabulary"],
    )


def _stop_words(path: str | None) -> tuple[str, ...]:
    if path is None:
        return ()
    from likely.table.words import words_of

    try:
        with open(path, encoding="utf-8-sig") as file:
            return tuple(sorted(set(words_of(file.read()))))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise InputError(f"Cannot read {shown(path)}: {reason}. Give a file with the words to ignore.") from None


def _grams(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    try:
        sizes = [int(n) for n in text.split(",")]
        low, high = sizes if len(sizes) == 2 else (sizes[0], sizes[0], *sizes[1:])
    except ValueError:
        raise SettingError(f"--char-grams {shown(text)} is neither a number nor two, such as 3,5.") from None
    return low, high


def _bins(text: str) -> int | list[float]:
    try:
        edges = [float(e) for e in text.split(",")]
    except ValueError:
        raise SettingError(
            f"--target-bins {shown(text)} is neither a number of bins nor edges such as 10,20,30."
        ) from None
    return int(edges[0]) if len(edges) == 1 and edges[0].is_integer() else edges


# -- how rows are dealt to folds ----------------------------------------------------------------------------------


class _FoldCount(click.ParamType):  # type: ignore[type-arg] # it takes an argument since click 8.3
    """A number of folds, or n: as many as there are rows."""

    name = "count"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        return value if value == "n" else int(click.IntRange(2, 1000).convert(value, param, ctx))


def folds_option(default: int | None, most: int = 1000, words: str = "Folds of the cross-validation.") -> Decorator:
    """--folds, a plain number."""
    return click.option("--folds", type=click.IntRange(2, most), default=default, help=words)


seed_option = click.option("--seed", type=click.IntRange(0), default=0, help="Seed for assigning rows to folds.")


def _read_dealing_options(values: Values) -> Values:
    """How `look` and `compare` are to deal rows."""
    if values["folds"] == "n":
        values = {**values, "folds": 10, "leave_one_out": True}
    for name in ("group", "time"):
        if values[name] == "":
            raise SettingError(f"--{name} {shown('')} names no column. Name one, or leave it out.")
    return values


dealing_options = packed(
    "dealing",
    _read_dealing_options,
    click.option(
        "--folds",
        type=_FoldCount(),
        default=None,
        metavar="N|n",
        help="Folds of the cross-validation, 2 to 1000 (usually 10); the letter n is --leave-one-out.",
    ),
    seed_option,
    click.option(
        "--repeats",
        type=click.IntRange(1, 1000),
        default=1,
        help="Cross-validate N times, with seed, seed + 1 and so on.",
    ),
    click.option("--group", metavar="COLUMN", help="Rows with the same value in this column stay in one fold."),
    click.option("--time", metavar="COLUMN", help="Predict rows from earlier ones only, in the order of COLUMN."),
    click.option("--leave-one-out", is_flag=True, help="Predict each row from all the others."),
)

# -- which row, what it costs, where to write ---------------------------------------------------------------------

row_options = with_options(
    click.argument("given", nargs=-1, metavar="[NAME=VALUE]... | DATA"),
    click.option("--row", type=click.IntRange(1), metavar="N", help="Take row N of DATA; the first is 1."),
)


def read_row(model: Model, given: tuple[str, ...], row: int | None, reading: Values) -> QueryRow:
    """The row that is asked about: values by hand, or row N of a table."""
    from likely.apply.explain.row import parse_assignments, read_row

    if row is None:
        return read_row(model, parse_assignments(given, model.schema.names))
    if len(given) == 1:
        return read_row(model, table_of(given[0]), row, **reading)
    raise SettingError("--row N needs one table, and no values by hand: --row N DATA.")


def read_loss_file(loss_file: str | None) -> Loss | None:
    """The loss that --loss names; None without it."""
    if loss_file is None:
        return None
    from likely.models.loss import read_loss

    return read_loss(loss_file)


def read_prior(entries: tuple[str, ...]) -> str | dict[str, str] | None:
    """The prior to decide by; None where it is the model's own."""
    return "uniform" if entries == ("uniform",) else pairs(entries, "--prior", "CLASS=PROBABILITY") or None


loss_option = click.option(
    "--loss", "loss_file", metavar="FILE", help="Cost of each action in each class, and of abstaining: TOML or CSV."
)
prior_option = click.option(
    "--prior",
    "priors",
    multiple=True,
    metavar="CLASS=P|uniform",
    help="New prior of a class, if it is more or less frequent than in training; other classes share the rest.",
)
missing_by_option = click.option(
    "--missing-by",
    type=click.Choice(["left-out", "averaged", "informative"]),
    help="Leave missing cells out, average over their possible values, or treat being missing as evidence; "
    "by default as the model does.",
)
quote_formulas_option = click.option(
    "--quote-formulas", is_flag=True, help="Put ' before texts that a spreadsheet would take for formulas."
)
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


# The target: what a shell completes, and what to say where it lacks or is swapped with the table.

MOST_NAMED = 12


def _complete_column(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """The columns of the table that a shell's line names already."""
    from likely.table.open import open_source

    try:
        names = open_source(context.params.get("data")).schema.names
    except LikelyError:
        return []
    return [name for name in names if name.startswith(begun)]


target_argument = click.argument("target", required=False, shell_complete=_complete_column)


def require_target(target: str | None, data: object, unless: str = "") -> str:
    """The target; where there is none, refuse with the columns of the table and the one that may be meant.

    Also where table and target are swapped.
    """
    if target is None:
        raise click.UsageError(f"Missing argument 'TARGET': the column to predict{unless}.{_columns(data)}")
    if isinstance(data, str) and data != "-" and not os.path.exists(data) and os.path.isfile(target):
        raise click.UsageError(
            f"There is no file {shown(data)}, but there is {shown(target)}: the table comes first, then the target."
        )
    return target


def _columns(data: object) -> str:
    """The columns of a table that can be read; nothing where it cannot: that is told when the target is."""
    from likely.intake.summarize import guess_target
    from likely.table.open import open_source

    if data is None or data == "-":
        return ""
    try:
        names = list(open_source(data).schema.names)
    except LikelyError:
        return ""
    if not names:
        return ""
    guess = guess_target(names)
    some = ", ".join(shown(n, 40) for n in names[:MOST_NAMED])
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f" It has the columns {some}{more}. Perhaps {shown(guess, 40)}?"
