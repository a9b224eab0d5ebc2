"""The spec: a model's assumptions as a TOML file that can be read, written and compared. Knows no data."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from likely.apply.fitting import load_any
from likely.errors import SettingError, nearest, shown
from likely.intake.options import Reading, options_of
from likely.machinery.text_files import parse_toml, read_toml_text, toml_key, toml_value
from likely.models.contracts import Model
from likely.models.knowledge import Knowledge
from likely.models.loss import DONT_KNOW, Loss, loss_of
from likely.models.naive.naive import NaiveBayes
from likely.models.registry import learner_named, settings_of
from likely.sums import state
from likely.table.infer import IN_PARTS, kind_name
from likely.table.schema import MISSING, Schema
from likely.table.words import Tokens

_READING = {part: name for name, part in options_of("spec").items()}
"""The parts that say how a table is read, and the option of reading that each is."""
_PARTS = ("target", *_READING, "learner", "knowledge", "loss")


@dataclass(frozen=True)
class Spec:
    """How a table is read and what is learned from it: everything but the data."""

    target: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """How the table is read, where that is not left to inference: options of reading (intake/options.py), those that a
    spec has."""
    learner: Any = field(default_factory=NaiveBayes)
    loss: Loss | None = None
    """What decisions cost."""

    @property
    def columns(self) -> Mapping[str, str]:
        """Kind of each column that is not left to inference: nominal, number, date, text, ignore …"""
        kinds: Mapping[str, str] = self.options.get("types", {})
        return kinds

    @property
    def tokens(self) -> Mapping[str, Tokens]:
        """What counts as a word of text columns, where that is not the usual."""
        tokens: Mapping[str, Tokens] = self.options.get("tokens", {})
        return tokens

    def reading(self) -> dict[str, Any]:
        """What `summarize` and `fit` take."""
        return dict(self.options)

    def plain_parts(self) -> dict[str, Any]:
        """Those parts that are one value: the target, and options of reading but for tables of columns."""
        parts = {part: self.options.get(name) for part, name in _READING.items() if name not in ("types", "tokens")}
        return {part: value for part, value in {"target": self.target, **parts}.items() if value is not None}

    def flat(self) -> dict[str, str]:
        """Every assumption as one line: a name and a value."""
        out = {"learner": type(self.learner).__name__}
        settings, knowledge = self._parted()
        out |= _flat("learner", settings)
        out |= {f"knowledge.{name}": json.dumps(said, ensure_ascii=False) for name, said in _by_subject(knowledge)}
        out |= {part: json.dumps(value, ensure_ascii=False) for part, value in self.plain_parts().items()}
        if self.loss is not None:
            costs = {name: {a: str(c) for a, c in of_class.items()} for name, of_class in self.loss.costs.items()}
            out |= _flat("loss", costs)
            out |= {} if self.loss.abstain is None else {f"loss.{DONT_KNOW}": str(self.loss.abstain)}
        out |= {f"columns.{name}": kind for name, kind in self.columns.items()}
        return out | _flat_tokens(self.tokens)

    def toml(self) -> str:
        """The page. `parse_spec` reads it back."""
        lines = ["# What is assumed before any data: read it, change it, compare it (likely diff).", ""]
        lines += [f"{part} = {toml_value(value)}" for part, value in self.plain_parts().items()]
        settings, knowledge = self._parted()
        lines += ["", "[learner]", f"name = {toml_value(type(self.learner).__name__)}"]
        tables = [*_text_tables(settings), *_curve_tables(settings)]
        lines += [f"{toml_key(k)} = {toml_value(v)}" for k, v in settings.items() if v is not None]
        lines += tables
        if self.columns:
            lines += [
                "",
                "[columns]",
                *(f"{toml_key(name)} = {toml_value(kind)}" for name, kind in self.columns.items()),
            ]
        for name, tokens in self.tokens.items():
            lines += _table(f"tokens.{toml_key(name)}", state.plain(tokens))
        if self.loss is not None:
            lines += ["", self.loss.toml(under="loss").rstrip("\n")]
        for one in knowledge:
            lines += ["", "[[knowledge]]", *(f"{toml_key(k)} = {toml_value(v)}" for k, v in one.written().items())]
        return "\n".join(lines) + "\n"

    def _parted(self) -> tuple[dict[str, Any], tuple[Knowledge, ...]]:
        """The settings of the learner, and what it knows before data: a part of its own, one table for each."""
        settings = settings_of(self.learner)
        if "knowledge" not in settings:
            return settings, ()
        del settings["knowledge"]
        return settings, self.learner.knowledge


def _text_tables(settings: dict[str, Any]) -> list[str]:
    """Tables of the settings of text, which are taken out of the others."""
    said, by_column = settings.get("text"), settings.pop("text_by_column", {})
    out = _table("learner.text", settings.pop("text")) if isinstance(said, Mapping) else []
    words = {name: how for name, how in by_column.items() if not isinstance(how, Mapping)}
    out += _table("learner.text_by_column", words) if words else []
    for name, how in by_column.items():
        if isinstance(how, Mapping):
            out += _table(f"learner.text_by_column.{toml_key(name)}", how)
    return out


def _curve_tables(settings: dict[str, Any]) -> list[str]:
    """A table for each curve that is given by hand, which are taken out of the other settings."""
    curves = settings.pop("curves", {})
    return [line for name, curve in curves.items() for line in _table(f"learner.curves.{toml_key(name)}", curve)]


def _table(name: str, values: Mapping[str, Any]) -> list[str]:
    """A table of TOML; what is None is left out."""
    return ["", f"[{name}]", *(f"{toml_key(k)} = {toml_value(v)}" for k, v in values.items() if v is not None)]


def _flat_tokens(tokens: Mapping[str, Tokens]) -> dict[str, str]:
    return {
        line: text for name, one in tokens.items() for line, text in _flat(f"tokens.{name}", state.plain(one)).items()
    }


def _by_subject(knowledge: tuple[Knowledge, ...]) -> list[tuple[str, dict[str, Any]]]:
    """Knowledge by what it is about, however it is ordered and dealt out, so that `diff` compares like with like."""
    out: dict[str, dict[str, Any]] = {}
    for one in knowledge:
        said = one.written()
        for chance in one.chances.items() if not one.is_normal else [(None, None)]:
            name = one.subject if chance[0] is None else f"{one.subject}: {chance[0]}"
            what = {"mean": one.mean, "deviation": one.deviation} if one.is_normal else {"probability": chance[1]}
            out[name] = {**what, "worth": said["worth"]}
    return list(out.items())


def _flat(name: str, value: Any) -> dict[str, str]:
    """One line for each value inside, so that two long ones are compared piece by piece."""
    inside: list[tuple[Any, Any]] = []
    if isinstance(value, Mapping):
        inside = list(value.items())
    elif isinstance(value, (list, tuple)) and any(isinstance(v, Mapping) for v in value):
        inside = list(enumerate(value, 1))
    if not inside:
        return {name: json.dumps(value, ensure_ascii=False)}
    return {line: text for key, part in inside for line, text in _flat(f"{name}.{key}", part).items()}


def spec_of(model: Model, curves: Collection[str] | None = None) -> Spec:
    """The assumptions of a model: its schema and its learner's settings, without a trace of the data's counts.

    With `curves`, what these attributes (none named: all) were found to say by themselves is among the settings.
    """
    schema: Schema = model.schema
    target, weight = schema.target, schema.weight
    dated = {c.part_of for c in schema.columns}
    columns = {
        c.name: IN_PARTS if c.name in dated else kind_name(c)
        for c in schema.columns
        if c.role not in ("target", "weight") and c.part_of is None
    }
    if target is not None and target.asked:
        columns[target.name] = kind_name(target)  # a number of many values, say, of which each is a class
    tokens = {c.name: c.tokens for c in schema.columns if c.kind == "text" and c.tokens not in (None, Tokens())}
    found = {
        "types": columns,
        "missing": None if schema.missing == MISSING else list(schema.missing),
        "weight": weight.name if weight else None,
        "target_bins": list(target.edges) if target is not None and target.edges else None,
        "tokens": tokens,
    }
    return Spec(
        target.name if target else None,
        {name: value for name, value in found.items() if value not in (None, {})},
        model.frozen if curves is None else model.with_curves(curves),
        model.loss,
    )


def parse_spec(text: str, name: str) -> Spec:
    """The spec in a TOML file; `name` is what to call it in a sentence."""
    page = parse_toml(text, name, "a spec")
    for part in page:
        if part not in _PARTS:
            raise SettingError(f"{shown(name)} has a part {shown(part)}, which no spec has. {nearest(part, _PARTS)}")
        if part in _FITS and not _FITS[part](page[part]):
            raise SettingError(f"{shown(name)}: {part} is {shown(page[part])}. Write it like this: {_LIKE[part]}.")
    learner = dict(page.get("learner", {"name": "NaiveBayes"}))
    if not isinstance(learner.get("name"), str):
        raise SettingError(f'{shown(name)} does not name its learner. Write name = "NaiveBayes" under [learner].')
    if "knowledge" in page:
        learner["knowledge"] = _knowledge(page, learner, name)
    options = {option: page[part] for part, option in _READING.items() if part in page and page[part] != {}}
    if isinstance(options.get("target_bins"), list):
        options["target_bins"] = [float(edge) for edge in options["target_bins"]]
    if "tokens" in options:
        options["tokens"] = {column: _tokens(said, column, name) for column, said in options["tokens"].items()}
    Reading(**options)  # what no option of reading can be is refused here
    return Spec(
        page.get("target"),
        options,
        learner_named(learner.pop("name"), learner),
        loss_of(page["loss"], f"{name}, [loss]") if "loss" in page else None,
    )


def _tokens(said: Mapping[str, Any], column: str, name: str) -> Tokens:
    names = [f.name for f in fields(Tokens)]
    for part in said:
        if part not in names:
            raise SettingError(
                f"{shown(name)}: words of {shown(column)} have no setting {shown(part)}. {nearest(part, names)}"
            )
    try:
        return state.built(Tokens, dict(said))
    except ValueError:
        raise SettingError(
            f"{shown(name)}: what counts as a word of {shown(column)} is not understood. Write shortest = 2, "
            'pairs = true, stop = ["the"], grams = [3, 5] or vocabulary = 100000.'
        ) from None


def _knowledge(page: Mapping[str, Any], learner: Mapping[str, Any], name: str) -> Any:
    if learner["name"] != "NaiveBayes":
        raise SettingError(
            f"{shown(name)} has knowledge, but {shown(learner['name'])} takes none. Only NaiveBayes does."
        )
    if "knowledge" in learner:
        raise SettingError(f"{shown(name)} has knowledge twice, under [learner] and as [[knowledge]]. Say it once.")
    return page["knowledge"]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _are_bins(value: object) -> bool:
    if isinstance(value, list):
        return all(map(_is_number, value))
    return isinstance(value, int) and not isinstance(value, bool)


# Parts that are more than a number or a word: these need code to check, and an example.
_FITS: dict[str, Callable[[Any], bool]] = {
    "target": _is_text,
    "weight": _is_text,
    "target_bins": _are_bins,
    "missing": _are_texts,
    "columns": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
    "learner": lambda value: isinstance(value, dict),
    "tokens": lambda value: isinstance(value, dict) and all(isinstance(v, dict) for v in value.values()),
    "loss": lambda value: isinstance(value, dict),
    "knowledge": lambda value: isinstance(value, list) and all(isinstance(v, dict) for v in value),
}
_LIKE = {
    "target": 'target = "play"',
    "weight": 'weight = "n"',
    "target_bins": "target_bins = 4, or the edges: target_bins = [10, 20, 30]",
    "missing": 'missing = ["?", "none"]',
    "columns": '[columns], and below it: age = "number"',
    "tokens": "[tokens.body], and below it: pairs = true",
    "learner": '[learner], and below it: name = "TreeAugmented"',
    "loss": '[loss.cancer], and below it: "send home" = 10',
    "knowledge": '[[knowledge]], and below it: attribute = "fever", given = "flu", probability = 0.9, worth = 40',
}


def read_spec(path: str) -> Spec:
    """The spec in a TOML file, or that of a model file."""
    if path.endswith(".likely"):
        held = load_any(path)
        if not isinstance(held, Model):
            raise SettingError(f"{shown(path)} holds a summary without a learner, so it has no spec.")
        return spec_of(held)
    return parse_spec(read_toml_text(path), Path(path).name)


def differences(one: Spec, two: Spec) -> list[tuple[str, str, str]]:
    """What the two assume differently: a name and both values; a dash where one says nothing of it."""
    a, b = one.flat(), two.flat()
    return [(k, a.get(k, "–"), b.get(k, "–")) for k in {**a, **b} if a.get(k) != b.get(k)]
