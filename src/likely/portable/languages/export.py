"""`export`: a model in another language, as text or bytes, to a file or not. Knows the list of languages."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, overload

from likely.errors import SettingError, nearest, shown
from likely.models.contracts import Model, setting_of
from likely.portable.describe import Portable, portable, refuse_parts
from likely.portable.writing import text_of
from likely.sums import state

TextLanguage = Literal["sql", "pmml", "json", "form", "python", "javascript"]
Language = Literal[TextLanguage, "onnx"]
Writer: TypeAlias = Callable[[Portable], str | bytes]


def _onnx(form: Portable) -> bytes:
    from likely.portable.languages.onnx import to_onnx

    return to_onnx(form)


def _pmml(form: Portable) -> str:
    from likely.portable.languages.pmml import to_pmml

    return to_pmml(form)


def _json(form: Portable) -> str:
    from likely.portable.languages.probabilities import to_json

    return to_json(form)


def _python(form: Portable) -> str:
    from likely.portable.languages.python import to_python

    return to_python(form)


def _javascript(form: Portable) -> str:
    from likely.portable.languages.javascript import to_javascript

    return to_javascript(form)


def _form(form: Portable) -> str:
    return text_of(form) + "\n"


WRITERS: dict[str, Writer] = {
    "onnx": _onnx,
    "pmml": _pmml,
    "json": _json,
    "form": _form,
    "python": _python,
    "javascript": _javascript,
}
"""Languages by name, besides SQL, which has options of its own. Each writes the portable form; imports are lazy."""
OF_DENSITIES = {"form", "python", "javascript"}
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
) -> str | bytes: ...
def export(
    model: Model,
    to: Language,
    path: str | os.PathLike[str] | None = None,
    *,
    dialect: str | None = None,
    table: str | None = None,
    keep: Sequence[str] = (),
) -> str | bytes:
    """The model as SQL, ONNX, PMML, JSON of probabilities, the portable form in JSON, a Python file or a module of
    JavaScript.

    Of SQL: `dialect` says for which database, `table` which rows to score, `keep` which columns to give back. The
    result is text, or bytes for ONNX; it is also written to `path`, where one is given.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
    >>> import json
    >>> json.loads(export(model, "json"))["prior"]
    {'n': 0.25, 'y': 0.75}
    """
    if to != "sql" and to not in WRITERS:
        raise SettingError(f"There is no export to {shown(to)}. {nearest(str(to), ['sql', *WRITERS])}")
    if to != "sql" and (dialect is not None or table is not None or keep):
        said = "dialect" if dialect is not None else "table" if table is not None else "keep"
        raise SettingError(f"{said} is of SQL, and this is {to}. Leave it out.")
    try:
        out = _written(model, to, dialect, table, keep)
    except SettingError as error:
        if to in ("sql", "onnx", "pmml") and to not in setting_of(model.learner, "for_", [to]):
            raise SettingError(
                f"{error} Or choose among those that {to.upper()} can say: likely fit --for {to}."
            ) from None
        raise
    if path is not None:
        state.write(path, out.encode() if isinstance(out, str) else out)
    return out


def _written(model: Model, to: str, dialect: str | None, table: str | None, keep: Sequence[str]) -> str | bytes:
    refuse_parts(model)
    form = portable(model)
    if form.target is None and to not in OF_DENSITIES:
        raise SettingError(
            "This model is a density: it has no classes to name. Export it to python or form, or fit it with a target."
        )
    if to == "sql":
        from likely.portable.languages.sql import to_sql

        return to_sql(form, "rows" if table is None else table, dialect, keep)
    return WRITERS[to](form)
