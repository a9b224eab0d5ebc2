"""The spec: a model's assumptions as a page of TOML that can be read, written and compared. Knows no data."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from likely.drafting import AS_ASKED
from likely.errors import InputError, SettingError, nearest, shown
from likely.fitting import load
from likely.models.learners import learner_named, settings_of
from likely.models.model import Model
from likely.models.naive import NaiveBayes
from likely.table.schema import MISSING, Schema

_PARTS = ("target", "weight", "target_bins", "missing", "columns", "learner")


@dataclass(frozen=True)
class Spec:
    """How a table is read and what is learned from it: everything but the data."""

    target: str | None = None
    weight: str | None = None
    target_bins: int | tuple[float, ...] | None = None
    missing: tuple[str, ...] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    """Kind of each column that is not left to inference: nominal, number, date, text, ignore."""
    learner: Any = field(default_factory=NaiveBayes)

    def reading(self) -> dict[str, Any]:
        """What `summarize` and `fit` take."""
        return {
            "types": dict(self.columns) or None,
            "missing": None if self.missing is None else list(self.missing),
            "weight": self.weight,
            "target_bins": list(self.target_bins) if isinstance(self.target_bins, tuple) else self.target_bins,
        }

    def flat(self) -> dict[str, str]:
        """Every assumption as one line: a name and a value."""
        out = {"learner": type(self.learner).__name__}
        out |= _flat("learner", settings_of(self.learner))
        for name in ("target", "weight", "target_bins", "missing"):
            value = getattr(self, name)
            if value is not None:
                out[name] = json.dumps(value, ensure_ascii=False)
        return out | {f"columns.{name}": kind for name, kind in self.columns.items()}

    def toml(self) -> str:
        """The page. `parse_spec` reads it back."""
        lines = ["# What is assumed before any data: read it, change it, compare it (likely diff).", ""]
        for name in ("target", "weight", "target_bins", "missing"):
            value = getattr(self, name)
            if value is not None:
                lines.append(f"{name} = {_value(value)}")
        lines += ["", "[learner]", f"name = {_value(type(self.learner).__name__)}"]
        lines += [f"{_key(k)} = {_value(v)}" for k, v in settings_of(self.learner).items() if v is not None]
        if self.columns:
            lines += ["", "[columns]", *(f"{_key(name)} = {_value(kind)}" for name, kind in self.columns.items())]
        return "\n".join(lines) + "\n"


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


def _key(name: str) -> str:
    if name.isascii() and name.replace("_", "").replace("-", "").isalnum():
        return name
    return _text(name)


def _text(name: str) -> str:
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    """A plain value as TOML: strings are JSON's, and floats Python's (inf and nan too)."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(k))} = {_value(v)}" for k, v in value.items() if v is not None) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    if isinstance(value, float):
        return repr(value)
    return _text(value) if isinstance(value, str) else json.dumps(value)


def spec_of(model: Model) -> Spec:
    """The assumptions of a model: its schema and its learner's settings, without a trace of the data's counts."""
    schema: Schema = model.schema
    target, weight = schema.target, schema.weight
    names = {"identifier": "ignore", "constant": "ignore", "ignored": "ignore"}
    columns = {c.name: names.get(c.kind, c.kind) for c in schema.columns if c.role not in ("target", "weight")}
    if target is not None and target.why == AS_ASKED:
        columns[target.name] = target.kind  # a number of many values, say, of which each is a class
    return Spec(
        target.name if target else None,
        weight.name if weight else None,
        target.edges if target is not None and target.edges else None,
        None if schema.missing == MISSING else schema.missing,
        columns,
        model.learner,
    )


def parse_spec(text: str, name: str) -> Spec:
    """The spec on a page of TOML; `name` is what to call it in a sentence."""
    try:
        page = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{shown(name)} is not TOML: {error}. Mend that line.") from None
    except RecursionError:
        raise InputError(f"{shown(name)} nests brackets too deeply for a spec. Mend it.") from None
    for part in page:
        if part not in _PARTS:
            raise SettingError(f"{shown(name)} has a part {shown(part)}, which no spec has. {nearest(part, _PARTS)}")
        if not _FITS[part](page[part]):
            raise SettingError(f"{shown(name)}: {part} is {shown(page[part])}. Write it like this: {_LIKE[part]}.")
    learner = dict(page.get("learner", {"name": "NaiveBayes"}))
    if not isinstance(learner.get("name"), str):
        raise SettingError(f'{shown(name)} does not name its learner. Write name = "NaiveBayes" under [learner].')
    bins = page.get("target_bins")
    return Spec(
        page.get("target"),
        page.get("weight"),
        tuple(float(b) for b in bins) if isinstance(bins, list) else bins,
        tuple(page["missing"]) if "missing" in page else None,
        page.get("columns", {}),
        learner_named(learner.pop("name"), learner),
    )


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


_FITS: dict[str, Callable[[Any], bool]] = {
    "target": _is_text,
    "weight": _is_text,
    "target_bins": _are_bins,
    "missing": _are_texts,
    "columns": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
    "learner": lambda value: isinstance(value, dict),
}
_LIKE = {
    "target": 'target = "play"',
    "weight": 'weight = "n"',
    "target_bins": "target_bins = 4, or the edges: target_bins = [10, 20, 30]",
    "missing": 'missing = ["?", "none"]',
    "columns": '[columns], and below it: age = "number"',
    "learner": '[learner], and below it: name = "Tree"',
}


def read_spec(path: str) -> Spec:
    """The spec in a TOML file, or that of a model file."""
    if path.endswith(".likely"):
        held = load(path)
        if not isinstance(held, Model):
            raise SettingError(f"{shown(path)} holds a summary without a learner, so it has no spec.")
        return spec_of(held)
    try:
        return parse_spec(Path(path).read_text("utf-8"), Path(path).name)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"Cannot read {shown(path)}: {getattr(error, 'strerror', None) or 'it is not text'}."
        ) from None


def differences(one: Spec, two: Spec) -> list[tuple[str, str, str]]:
    """What the two assume differently: a name and both values; a dash where one says nothing of it."""
    a, b = one.flat(), two.flat()
    return [(k, a.get(k, "–"), b.get(k, "–")) for k in {**a, **b} if a.get(k) != b.get(k)]
