"""Options that are settings of a learner, and the spec that may say them, and more, in their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click
from click.core import ParameterSource

from likely.cli.options import TOKENS, loss_of, pair, pairs, reading_of, with_options
from likely.errors import SettingError, shown

NAMES = ("Auto", "NaiveBayes", "TunedNaiveBayes", "TreeAugmented", "OneDependence", "FullBayes", "LinearDiscriminant",
         "LeastSquares", "Logistic", "Neighbors", "Mixture", "Gibbs", "Density", "OneRule", "Prior")  # fmt: skip
"""The learners, so that help need not wait for them to be imported; a test compares."""

spec_option = click.option(
    "--spec",
    "spec_file",
    metavar="FILE.toml",
    help="Assumptions as `likely show --spec` writes them: how columns are read, the learner, knowledge, loss.",
)

_LEARNING = (
    spec_option,
    click.option(
        "--learner",
        metavar="NAME",
        help=f"What learns: {', '.join(NAMES)}. NaiveBayes where one of its settings is given, else what is usual.",
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
    click.option(
        "--temperature",
        default="1",
        show_default=True,
        metavar="NUMBER|auto",
        help="What all evidence is multiplied by: below 1 where attributes repeat each other; auto by held-out rows.",
    ),
    click.option(
        "--block",
        "blocks",
        multiple=True,
        metavar="COLUMN,COLUMN…",
        help="Columns that are modelled together given the class, as a line of CSV; once for each block.",
    ),
    click.option(
        "--text",
        type=click.Choice(["auto", "multinomial", "bernoulli", "complement", "contrast"]),
        default="auto",
        show_default=True,
        help="How the words of texts speak; what is not said here is chosen on rows held out.",
    ),
    click.option(
        "--damping",
        type=click.Choice(["none", "log", "root", "binary"]),
        help="What a word counts that a text has t times: t, 1 + log t, the root of t, or 1.",
    ),
    click.option("--least-documents", type=int, metavar="N", help="Pass over words that fewer texts have."),
    click.option("--most-words", type=int, metavar="N", help="Only the N words that tell most of the class."),
)

learning_options = with_options(*_LEARNING)


def learner_of(options: dict[str, Any]) -> Any:
    """The learner that the shared options describe (they are taken out of `options`); None where they say nothing."""
    name, context = options.pop("learner"), click.get_current_context()
    taken = {k: options.pop(k) for k in _NAIVE if k in options}
    said = {k: v for k, v in taken.items() if context.get_parameter_source(k) != ParameterSource.DEFAULT}
    settings = {_NAIVE[k]: _setting(k, v) for k, v in said.items()}
    how = {k: options.pop(k) for k in _TEXT if options.get(k) is not None}
    for name_ in _TEXT:
        options.pop(name_, None)
    if how:
        settings["text"] = {**_CHOSEN, "model": settings.get("text", "auto"), **how}
    for text in options.pop("settings"):
        key, value = pair(text, "--set", "NAME=VALUE", first=True)
        settings[key.replace("-", "_")] = _toml(value, text)
    if {"m_estimate", "pseudo_count"} <= settings.keys():
        raise SettingError("--m-estimate takes the place of --pseudo-count. Leave one of them out.")
    if not name and not settings:
        return None
    from likely.models.learners import learner_named  # all learners: what says nothing of them need not wait for them

    return learner_named(name or "NaiveBayes", settings)


def _check_said_once(spec_file: str, reading: dict[str, Any]) -> None:
    """Refuse an option that says again, or otherwise, what a spec says: its learner, and how it reads the table."""
    context = click.get_current_context()
    spoken = {
        "learner",
        "settings",
        *_NAIVE,
        *_TEXT,
        *reading,
        *(TOKENS if "tokens" in reading else ()),
        *(["schema_file"] if reading else []),
    }
    for option in context.command.params:
        if option.name in spoken and context.get_parameter_source(option.name) != ParameterSource.DEFAULT:
            raise SettingError(
                f"{shown(spec_file)} says already what {option.opts[-1]} would say. "
                "Change the spec, or leave one of them out."
            )


@dataclass(frozen=True)
class Assumed:
    """What the options of a command, or the spec that they name, say before any data."""

    target: str | None
    reading: dict[str, Any]
    """What `summarize` takes."""
    learner: Any
    loss: Any
    spec: str | None = None
    """The file of the spec, where there is one."""


def assumed(options: dict[str, Any], target: str | None, loss_file: str | None = None) -> Assumed:
    """Spec or options, each thing said once; a target that is named is taken before that of the spec."""
    spec_file, loss = options.pop("spec_file"), loss_of(loss_file)
    if spec_file is None:
        reading = reading_of(options)
        return Assumed(target, reading, learner_of(options) if "learner" in options else None, loss)
    from likely.apply.spec import read_spec

    spec = read_spec(spec_file)
    said = {k: v for k, v in spec.reading().items() if v is not None}
    _check_said_once(spec_file, said)
    if spec.loss is not None and loss is not None:
        raise SettingError(f"{shown(spec_file)} says already what decisions cost. Leave --loss out.")
    reading = reading_of(options) | said
    return Assumed(spec.target if target is None else target, reading, spec.learner, loss or spec.loss, spec_file)


def needed(target: str | None) -> str:
    """The target, which neither the command nor a spec may leave out."""
    if target is None:
        raise click.UsageError("Missing argument 'TARGET': the column to predict.")
    return target


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
    "temperature": "temperature",
    "blocks": "blocks",
    "text": "text",
}
"""Options that are settings of naive Bayes (and of others that have a setting of that name)."""


_TEXT = ("damping", "least_documents", "most_words")
"""Options that are settings of text."""
_CHOSEN = {name: "auto" for name in ("pseudo_count", "damping", "length", "telling", "least_documents", "scale")}


def _setting(option: str, value: Any) -> Any:
    if option == "prior":
        return value[0] if len(value) == 1 and value[0] in ("observed", "uniform") else _given(value)
    if option == "numbers":
        return _by_column(value, "--numbers", "COLUMN=KIND")
    if option == "bins":
        found = _by_column(value, "--bins", "COLUMN=EDGES")
        return found if isinstance(found, str) else {name: _edges(rule) for name, rule in found.items()}
    if option in ("bandwidth", "temperature"):
        return _number_or_word(value)
    return [_columns(text) for text in value] if option == "blocks" else value


def _columns(text: str) -> list[str]:
    """Names as a line of CSV has them: those with a comma, a quote or a blank before them in quotes."""
    import csv

    try:
        lines = [*csv.reader([text], strict=True, skipinitialspace=True)]
    except csv.Error as error:
        raise SettingError(
            f"--block {shown(text)} is not a line of CSV: {error}. Write it as --block 'age,\"income, net\"'."
        ) from None
    return lines[0] if lines else []


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
    for name, value in pairs(entries, "--prior", "CLASS=PROBABILITY").items():
        try:
            out[name] = float(value)
        except ValueError:
            raise SettingError(
                f"--prior {shown(f'{name}={value}')}: {shown(value)} is no probability. Write a number such as 0.25."
            ) from None
    return out
