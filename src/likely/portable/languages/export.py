"""`export`: a model in another language, as text or bytes, to a file or not. Knows the list of languages."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Literal, TypeAlias, overload

from likely.errors import SettingError, nearest, shown
from likely.models.contracts import Model, setting_of
from likely.models.posterior import UNTRIED
from likely.portable.describe import Portable, portable
from likely.portable.origin import describe_origin, origin_lines
from likely.portable.writing import text_of
from likely.sums import state

TextLanguage = Literal["sql", "pmml", "json", "python", "javascript"]
Language = Literal[TextLanguage, "onnx"]
Writer: TypeAlias = Callable[[Portable], str | bytes]


def _to_json(form: Portable) -> str:
    return text_of(form) + "\n"


WRITERS: dict[str, Writer | str] = {
    "onnx": "onnx.to_onnx",
    "pmml": "pmml.to_pmml",
    "json": _to_json,
    "python": "python.to_python",
    "javascript": "javascript.to_javascript",
}
"""Languages by name, besides SQL, which has options of its own. Each is a function of the portable form to text or
bytes, or the name of one in this folder, which is imported when it is asked for."""
OF_DENSITIES = {"json", "python", "javascript"}
"""Languages in which a model without classes can be said."""


@overload
def export(model: Model, to: Literal["onnx"], path: str | os.PathLike[str] | None = None) -> bytes: ...
@overload
def export(
    model: Model,
    to: TextLanguage,
    path: str | os.PathLike[str] | None = None,
    *,
    dialect: str | None = None,
    table: str | None = None,
    keep: Sequence[str] = (),
    set_level: float | None = None,
) -> str: ...
@overload
def export(
    model: Model,
    to: Language,
    path: str | os.PathLike[str] | None = None,
    *,
    dialect: str | None = None,
    table: str | None = None,
    keep: Sequence[str] = (),
    set_level: float | None = None,
) -> str | bytes: ...
def export(
    model: Model,
    to: Language,
    path: str | os.PathLike[str] | None = None,
    *,
    dialect: str | None = None,
    table: str | None = None,
    keep: Sequence[str] = (),
    set_level: float | None = None,
) -> str | bytes:
    """The model as SQL, ONNX, PMML, JSON, a Python file or a module of JavaScript.

    Of SQL: `dialect` says for which database, `table` which rows to score, `keep` which columns to give back;
    `set_level` adds set(class), 1 where a class is not ruled out at this level, for rows without unknown cells. The
    result is text, or bytes for ONNX; it is also written to `path`, where one is given.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
    >>> import json
    >>> json.loads(export(model, "json"))["classes"]
    ['n', 'y']
    """
    if to != "sql" and to not in WRITERS:
        raise SettingError(f"There is no export to {shown(to)}. {nearest(str(to), ['sql', *WRITERS])}")
    own = {"dialect": dialect, "table": table, "set": set_level, "keep": keep or None}
    if to != "sql" and (given := [name for name, value in own.items() if value is not None]):
        said = given[0]
        raise SettingError(f"{said} is of SQL, and this is {to}. Leave it out.")
    try:
        out = _written(model, to, dialect, table, keep, set_level)
    except SettingError as error:
        if to in ("sql", "onnx", "pmml") and to not in setting_of(model.learner, "for_", [to]):
            raise SettingError(
                f"{error} Or choose among those that {to.upper()} can say: likely fit --for {to}."
            ) from None
        raise
    if path is not None:
        state.write(path, out.encode() if isinstance(out, str) else out)
    return out


def _written(
    model: Model, to: str, dialect: str | None, table: str | None, keep: Sequence[str], set_level: float | None
) -> str | bytes:
    form = replace(portable(model), origin=describe_origin(model))
    if form.target is None and to not in OF_DENSITIES:
        raise SettingError(
            "This model is a density: it has no classes to name. Export it to python or json, or fit it with a target."
        )
    if to == "sql":
        from likely.portable.languages.sql import to_sql

        limits: list[float] = []
        if set_level is not None:
            if (judgement := model.judgement) is None or not judgement.guarantees:
                raise SettingError(UNTRIED)
            limits = judgement.guarantees[0].limits(set_level).tolist()
        told = (
            "-- set(…) is NULL where a cell is unknown: `likely predict --set` answers such rows.\n" if limits else ""
        )
        return origin_lines(form, "--") + told + to_sql(form, "rows" if table is None else table, dialect, keep, limits)
    writer = WRITERS[to]
    if isinstance(writer, str):
        module, _, function = writer.partition(".")
        writer = getattr(import_module(f"likely.portable.languages.{module}"), function)
    return writer(form)
