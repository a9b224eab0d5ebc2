"""Options that say what learns: the settings of naive Bayes as it declares them, or a spec that says them, and more."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import click
from click.core import ParameterSource

from likely.cli import terminal
from likely.cli.options import (
    Command,
    Decorator,
    Values,
    declared_option,
    packed,
    pair,
    pairs,
    read_loss_file,
    reading_options,
    reading_parameters,
    require_target,
)
from likely.errors import SettingError, shown
from likely.models.naive.settings import NaiveBayesSettings
from likely.models.registry import LEARNERS, learner_named
from likely.models.settings import Form, Setting, declared
from likely.models.text.settings import CHOSEN, KINDS, Text

if TYPE_CHECKING:
    from likely.models.contracts import Learner
    from likely.models.loss import Loss

T = TypeVar("T")


def _number_or_word(text: str, whole: bool = False) -> float | str:
    try:
        return int(text) if whole else float(text)
    except ValueError:
        return text


def _read_prior(entries: tuple[str, ...]) -> str | dict[str, float]:
    if len(entries) == 1 and entries[0] in ("observed", "uniform"):
        return entries[0]
    out = {}
    for name, value in pairs(entries, "--prior", "CLASS=PROBABILITY").items():
        try:
            out[name] = float(value)
        except ValueError:
            raise SettingError(
                f"--prior {shown(f'{name}={value}')}: {shown(value)} is not a probability. Write a number such as 0.25."
            ) from None
    return out


def _by_column(entries: tuple[str, ...], option: str, form: str) -> str | dict[str, str]:
    """One word for every column, or a word for each; '*' stands for the columns that are not named."""
    if len(entries) == 1 and "=" not in entries[0]:
        return entries[0]
    return dict(pair(e, option, form) if "=" in e else ("*", e) for e in entries)


def _read_bins(entries: tuple[str, ...]) -> str | dict[str, str | list[float | str]]:
    rules = _by_column(entries, "--bins", "COLUMN=EDGES")
    return rules if isinstance(rules, str) else {name: _edges(rule) for name, rule in rules.items()}


def _edges(text: str) -> str | list[float | str]:
    """Edges such as 10,20,30; anything else is left to the learner, which says what it knows."""
    edges = [_number_or_word(e) for e in text.split(",")]
    return text if any(isinstance(e, str) for e in edges) else edges


def _read_widths(entries: tuple[str, ...]) -> float | str | dict[str, float | str]:
    widths = _by_column(entries, "--bandwidth", "COLUMN=WIDTH")
    if isinstance(widths, str):
        return _number_or_word(widths)
    return {name: _number_or_word(width) for name, width in widths.items()}


def _read_level_weights(entries: tuple[str, ...]) -> dict[str, dict[str, float | str]]:
    out: dict[str, dict[str, float | str]] = {}
    for name, share in pairs(entries, "--level-weights", "COLUMN:LEVEL=SHARE").items():
        column, colon, level = name.partition(":")
        if not colon:
            raise SettingError(f"--level-weights {shown(f'{name}={share}')} has no colon. Write COLUMN:LEVEL=SHARE.")
        out.setdefault(column, {})[level] = _number_or_word(share)
    return out


def _read_block(text: str) -> list[str]:
    """Names as a line of CSV has them: those with a comma, a quote or a blank before them in quotes."""
    try:
        lines = [*csv.reader([text], strict=True, skipinitialspace=True)]
    except csv.Error as error:
        raise SettingError(
            f"--block {shown(text)} is not a line of CSV: {error}. Write it as --block 'age,\"income, net\"'."
        ) from None
    return lines[0] if lines else []


FORMS = {
    "prior": Form("observed|uniform|CLASS=P", _read_prior, True, "Give CLASS=P once for every class."),
    "numbers": Form("KIND|COLUMN=KIND", lambda entries: _by_column(entries, "--numbers", "COLUMN=KIND"), True),
    "bandwidth": Form("RULE|NUMBER|COLUMN=WIDTH", _read_widths, True),
    "level_weights": Form("COLUMN:LEVEL=SHARE", _read_level_weights, True, "Once for each level."),
    "bins": Form("RULE|COLUMN=RULE|COLUMN=EDGES", _read_bins, True, "Edges: age=20,40,60."),
    "blocks": Form(
        "COLUMN,COLUMN…",
        lambda lines: [*map(_read_block, lines)],
        True,
        "A line of CSV, once for each block.",
        flag="--block",
    ),
    "text": Form("|".join(KINDS), str),
    "missing": Form(flag="--missing-as"),
}
"""Settings that need code to read; all others are read by what they declare."""
WITHOUT_OPTION = {"shrinkage", "text_by_column", "knowledge", "attribute_weights"}
"""Settings of naive Bayes that only --set or a spec can say."""
_PARAMETERS = {"missing": "missing_as"}
"""What click calls the option of a setting, where reading a table has one of that name."""
OF_TEXT = ("damping", "least_documents", "most_words")
"""Settings of text that have an option."""


def _form(name: str, about: Setting) -> Form | None:
    """How a setting is read from text; None where click reads it by its type."""
    if about.is_number and about.choices:
        words = "|".join(str(choice) for choice in about.choices)
        return Form(f"NUMBER|{words}", lambda text: _number_or_word(text, about.whole))
    return FORMS.get(name)


def _parameter(name: str) -> str:
    """What click calls the option of a setting."""
    return _PARAMETERS.get(name, name)


def _offered() -> Iterator[tuple[str, object, Setting]]:
    """The settings that have an option: those of naive Bayes, and of texts what is not left to be chosen."""
    for name, default, about in declared(NaiveBayesSettings):
        if name not in WITHOUT_OPTION:
            yield name, default, about
    for name, _, about in declared(Text):
        if name in OF_TEXT:
            yield name, None, about


def _group(name: str) -> str:
    """The heading of help under which the option of a setting stands."""
    return "Text" if name == "text" or name in OF_TEXT else "Learner"


OFFERED = {name: about for name, _, about in _offered()}
spec_option = click.option(
    "--spec",
    "spec_file",
    metavar="FILE.toml",
    help="Assumptions as `likely show --spec` writes them: how columns are read, the learner, knowledge, loss.",
)
_LEARNER: tuple[Decorator, ...] = (
    click.option(
        "--learner",
        metavar="NAME",
        help=f"The learner: {', '.join(LEARNERS)}. NaiveBayes where one of its settings is given, else what is usual.",
    ),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="A setting of the learner, as TOML writes values: k=10, distance='city-block'.",
    ),
    click.option(
        "--effort",
        type=click.Choice(["quick", "normal", "best"]),
        help="How much Auto tries: quick tries little; best also tries neighbours, and holds out every part of the "
        "rows in turn.",
    ),
    click.option(
        "--for",
        "purposes",
        multiple=True,
        type=click.Choice(["sql", "onnx", "pmml", "updates", "explaining"]),
        help="What the model must be able to do; may be repeated. Auto leaves out learners that cannot.",
    ),
    *(
        declared_option(_parameter(name), default, about, _form(name, about), _group(name))
        for name, default, about in _offered()
    ),
)


def _read_learner(values: Values) -> Learner | None:
    """The learner that the options describe; None where they say nothing."""
    settings: Values = {}
    for name, about in OFFERED.items():
        if _is_given(_parameter(name)):
            form, value = _form(name, about), values[_parameter(name)]
            settings[name] = value if form is None or form.read is None else form.read(value)
    of_text = {name: settings.pop(name) for name in OF_TEXT if name in settings}
    if of_text:  # what is not said is chosen on rows held out
        chosen = dict.fromkeys((*CHOSEN, "scale"), "auto")
        settings["text"] = {**chosen, "model": settings.get("text", "auto"), **of_text}
    for text in values["settings"]:
        key, value = pair(text, "--set", "NAME=VALUE", first=True)
        settings[key.replace("-", "_")] = _read_toml(value, text)
    if {"m_estimate", "pseudo_count"} <= settings.keys():
        raise SettingError("--m-estimate replaces --pseudo-count. Leave one of them out.")
    if values["effort"] is not None or values["purposes"]:
        if settings or values["learner"] not in (None, "Auto"):
            raise SettingError("--effort and --for are for Auto, which chooses the learner. Leave --learner out.")
        from likely.models.default import chosen_learner

        return chosen_learner(values["effort"], values["purposes"])
    if not values["learner"] and not settings:
        return None
    learner: Learner = learner_named(values["learner"] or "NaiveBayes", settings)
    return learner


def _is_given(parameter: str) -> bool:
    source = click.get_current_context().get_parameter_source(parameter)
    return source not in (None, ParameterSource.DEFAULT)


def _read_toml(value: str, text: str) -> object:
    for written in (value, f"'{value}'"):  # a bare word is a string
        try:
            return tomllib.loads(f"x = {written}")["x"]
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
    raise SettingError(f"--set {shown(text)}: the value cannot be read. Write it as in TOML.")


@dataclass(frozen=True)
class Learning:
    """What the options of a command, or the spec that they name, say before any data."""

    target: str | None
    reading: Values
    """What `summarize` takes."""
    learner: Learner | None
    loss: Loss | None
    spec: str | None = None
    """The file of the spec, where there is one."""

    def run(self, work: Callable[..., T], data: object, *arguments: object, **more: object) -> T:
        """A function of the library on a table and its target, with a line of progress."""
        target = require_target(self.target, data)
        with terminal.counting(data) as progress:
            return work(data, target, *arguments, progress=progress, **more, **self.reading)


def _read_learning(values: Values) -> Learning:
    """Spec or options, each thing said once; a target that is named is taken before that of the spec."""
    target, spec_file, reading = values.get("target"), values["spec_file"], values["reading"]
    loss = read_loss_file(values.get("loss_file"))
    if spec_file is None:
        return Learning(target, reading, _read_learner(values) if "learner" in values else None, loss)
    from likely.apply.spec import read_spec

    spec = read_spec(spec_file)
    of_spec = spec.reading()
    _check_said_once(spec_file, of_spec)
    if spec.loss is not None and loss is not None:
        raise SettingError(f"{shown(spec_file)} already gives the costs of decisions. Leave --loss out.")
    target = spec.target if target is None else target
    return Learning(target, reading | of_spec, spec.learner, loss or spec.loss, spec_file)


def _check_said_once(spec_file: str, reading: Values) -> None:
    """Refuse an option that says again, or otherwise, what a spec says: its learner, and how it reads the table."""
    spoken = {"learner", "settings", "effort", "purposes", *map(_parameter, OFFERED)}
    spoken |= {
        parameter for name in (*reading, *(["schema"] if reading else [])) for parameter in reading_parameters(name)
    }
    for option in click.get_current_context().command.params:
        if option.name in spoken and _is_given(option.name):
            raise SettingError(
                f"{shown(spec_file)} already sets {option.opts[-1]}. Change the spec, or leave one of them out."
            )


def _with_learning(*options: Decorator) -> Decorator:
    learning = packed("how", _read_learning, *options, also=("target", "loss_file", "reading"))

    def decorate(command: Command) -> Command:
        return reading_options(learning(command))

    return decorate


spec_options = _with_learning(spec_option)
"""How a table is read, by options or a spec; the command gets `how` in place of target and loss file."""
learning_options = _with_learning(spec_option, *_LEARNER)
"""The same, and what learns."""
