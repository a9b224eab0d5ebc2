"""Options that several commands share: how a table is read, and the settings of naive Bayes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

from likely.errors import InputError, SettingError, shown

NAMES = ("NaiveBayes", "Tree", "OneDependence", "FullBayes", "Pooled", "Linear", "Logistic", "Neighbors", "Mixture",
         "Gibbs", "Density", "Prior")  # fmt: skip
"""The learners, so that help need not wait for them to be imported; a test compares."""

_READING = (
    click.option(
        "--type", "types", multiple=True, metavar="COLUMN=KIND", help="nominal, number, date, text or ignore."
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
    click.option("--encoding", metavar="NAME", help="Encoding of a text file; UTF-8 is tried first, then latin-1."),
    click.option("--delimiter", metavar="CHAR", help="What separates cells; found by itself otherwise."),
    click.option(
        "--threads",
        type=click.IntRange(1),
        metavar="N",
        help="Threads to use; all cores otherwise. Results do not depend on it.",
    ),
)

_LEARNING = (
    click.option(
        "--learner", default="NaiveBayes", show_default=True, metavar="NAME", help=f"What learns: {', '.join(NAMES)}."
    ),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="A setting of the learner, as TOML writes values: k=10, distance='city-block'.",
    ),
    click.option(
        "--pseudo-count",
        type=float,
        default=1.0,
        show_default=True,
        help="Added to each level's count: 0 is maximum likelihood.",
    ),
    click.option(
        "--m-estimate",
        type=float,
        metavar="ROWS",
        help="Smooth as if each level had been seen in its share of so many rows.",
    ),
    click.option(
        "--prior",
        multiple=True,
        default=("observed",),
        metavar="observed|uniform|CLASS=P",
        help="Class prior; give CLASS=P once for every class.",
    ),
    click.option(
        "--prior-pseudo-count", type=float, default=0.0, show_default=True, help="Added to each class's count."
    ),
    click.option(
        "--variance",
        type=click.Choice(["unbiased", "ml"]),
        default="unbiased",
        show_default=True,
        help="Divide by n-1 or by n.",
    ),
    click.option(
        "--variance-floor",
        type=float,
        default=1e-3,
        show_default=True,
        help="Least variance of a class, as a share of the attribute's own.",
    ),
    click.option(
        "--missing-as",
        type=click.Choice(["skip", "level"]),
        default="skip",
        show_default=True,
        help="Leave missing cells out, or take being missing as evidence.",
    ),
    click.option(
        "--unseen",
        type=click.Choice(["skip", "reserve", "error"]),
        default="skip",
        show_default=True,
        help="A level that training did not have: left out, given the mass of one more level, or refused.",
    ),
    click.option(
        "--numbers",
        multiple=True,
        default=("gaussian",),
        show_default=True,
        metavar="KIND|COLUMN=KIND",
        help="What the density of a number is: gaussian, kernel or binned; for all columns, or for one.",
    ),
    click.option(
        "--bandwidth",
        default="silverman",
        show_default=True,
        metavar="RULE|NUMBER",
        help="Width of kernels: silverman, scott, likelihood, or so many standard deviations.",
    ),
    click.option(
        "--bins",
        multiple=True,
        default=("mdl",),
        show_default=True,
        metavar="RULE|COLUMN=RULE|COLUMN=EDGES",
        help="Where binned numbers are cut: mdl, width, frequency, or at edges: age=20,40,60.",
    ),
    click.option(
        "--bin-count", type=int, default=10, show_default=True, help="Bins of equal width or frequency, at most."
    ),
    click.option(
        "--bins-closed",
        type=click.Choice(["left", "right"]),
        default="left",
        show_default=True,
        help="Whether a bin holds the edge below it or the one above it.",
    ),
)

Command = Callable[..., Any]


def _with(options: tuple[Any, ...]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


reading_options = _with(_READING)
learning_options = _with(_LEARNING)


def _writable(_: click.Context, __: click.Parameter, path: str | None) -> str | None:
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
    return click.option("-o", "--out", required=required, metavar=metavar, callback=_writable, help=words)


json_option = click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")


def pair(text: str, option: str, form: str, first: bool = False) -> tuple[str, str]:
    """NAME=VALUE, cut at the last equals sign, since names are data and may hold one (or at the first, if asked)."""
    name, sign, value = text.partition("=") if first else text.rpartition("=")
    if not sign:
        raise SettingError(f"{option} {shown(text)} has no equals sign. Write it as {option} {form}.")
    return name, value


def reading_of(options: dict[str, Any]) -> dict[str, Any]:
    """What `summarize` takes, from the shared options (which are taken out of `options`)."""
    types = dict(pair(t, "--type", "COLUMN=KIND") for t in options.pop("types"))
    missing = options.pop("missing")
    schema_file = options.pop("schema_file")
    schema = None
    if schema_file is not None:
        from likely.fitting import load

        schema = load(schema_file).schema
    return {
        "types": types or None,
        "missing": list(missing) or None,
        "weight": options.pop("weight"),
        "target_bins": _bins(options.pop("target_bins")),
        "schema": schema,
        "encoding": options.pop("encoding"),
        "delimiter": _delimiter(options.pop("delimiter")),
        "threads": options.pop("threads"),
    }


def _delimiter(text: str | None) -> str | None:
    named = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}
    return None if text is None else named.get(text, text)


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


def learner_of(options: dict[str, Any]) -> Any:
    """The learner that the shared options describe (they are taken out of `options`)."""
    from likely.models.learners import learner_named

    name, context = options.pop("learner"), click.get_current_context()
    taken = {k: options.pop(k) for k in _NAIVE if k in options}
    said = {k: v for k, v in taken.items() if context.get_parameter_source(k) != ParameterSource.DEFAULT}
    settings = {_NAIVE[k]: _setting(k, v) for k, v in said.items()}
    for text in options.pop("settings"):
        key, value = pair(text, "--set", "NAME=VALUE", first=True)
        settings[key.replace("-", "_")] = _toml(value, text)
    return learner_named(name, settings)


def check_said_once(spec_file: str, reading: dict[str, Any]) -> None:
    """Refuse an option that says again, or otherwise, what a spec says: its learner, and how it reads the table."""
    context = click.get_current_context()
    spoken = {"learner", "settings", *_NAIVE, *reading, *(["schema_file"] if reading else [])}
    for option in context.command.params:
        if option.name in spoken and context.get_parameter_source(option.name) != ParameterSource.DEFAULT:
            raise SettingError(
                f"{shown(spec_file)} says already what {option.opts[-1]} would say. "
                "Change the spec, or leave one of them out."
            )


_NAIVE = {
    "pseudo_count": "pseudo_count",
    "m_estimate": "m_estimate",
    "prior": "prior",
    "prior_pseudo_count": "prior_pseudo_count",
    "variance": "variance",
    "variance_floor": "variance_floor",
    "missing_as": "missing",
    "unseen": "unseen",
    "numbers": "numbers",
    "bandwidth": "bandwidth",
    "bins": "bins",
    "bin_count": "bin_count",
    "bins_closed": "bins_closed",
}
"""Options that are settings of naive Bayes (and of others that have a setting of that name)."""


def _setting(option: str, value: Any) -> Any:
    if option == "prior":
        return value[0] if len(value) == 1 and value[0] in ("observed", "uniform") else _given(value)
    if option == "numbers":
        return _by_column(value, "--numbers", "COLUMN=KIND")
    if option == "bins":
        found = _by_column(value, "--bins", "COLUMN=EDGES")
        return found if isinstance(found, str) else {name: _edges(rule) for name, rule in found.items()}
    if option == "bandwidth":
        return _number_or_word(value)
    return value


def _by_column(entries: tuple[str, ...], option: str, form: str) -> str | dict[str, str]:
    """One word for every column, or a word for each; '*' stands for the columns that are not named."""
    if len(entries) == 1 and "=" not in entries[0]:
        return entries[0]
    return dict(pair(e, option, form) if "=" in e else ("*", e) for e in entries)


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _edges(text: str) -> Any:
    """Edges such as 10,20,30; anything else is left to the learner, which says what it knows."""
    found = [_number_or_word(e) for e in text.split(",")]
    return text if any(isinstance(e, str) for e in found) else found


def _toml(value: str, text: str) -> Any:
    import tomllib

    for written in (value, f"'{value}'"):  # a bare word is a string
        try:
            return tomllib.loads(f"x = {written}")["x"]
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
    raise SettingError(f"--set {shown(text)}: the value is not understood. Write it as TOML does.")


def _given(entries: tuple[str, ...]) -> dict[str, float]:
    out = {}
    for entry in entries:
        name, value = pair(entry, "--prior", "CLASS=PROBABILITY")
        try:
            out[name] = float(value)
        except ValueError:
            raise SettingError(
                f"--prior {shown(entry)}: {shown(value)} is no probability. Write a number such as 0.25."
            ) from None
    return out
