"""The portable form as plain JSON, and back. Infinite numbers are the texts "inf" and "-inf". Knows no model."""

from __future__ import annotations

import json
import math
import types
import typing
from dataclasses import fields, is_dataclass
from typing import Any

from likely.errors import FileFormatError
from likely.portable import forms

_FORMS: dict[str, Any] = {n: t for n, t in vars(forms).items() if isinstance(t, type) and is_dataclass(t)}


def plain(value: Any) -> Any:
    """A form as dicts, lists, texts and numbers: each form is a dict whose "form" says which one it is.

    >>> plain(forms.LevelTerm("sky", ((0.0, -math.inf),), (0.0, 0.0), (0.0, 0.0)))["scores"]
    [[0.0, '-inf']]
    """
    if is_dataclass(value):
        own = {f.name: plain(getattr(value, f.name)) for f in fields(value)}
        return {"form": type(value).__name__, **own}
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def text_of(portable: forms.Portable) -> str:
    """The portable form as JSON text, which any parser of JSON reads; no number is rounded."""
    return json.dumps(plain(portable), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def portable_of(text: str) -> forms.Portable:
    """The portable form that a JSON text holds."""
    try:
        found = _formed(json.loads(text), forms.Portable)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FileFormatError(
            "This is not the portable form of a model, or it was altered. Export it again."
        ) from error
    assert isinstance(found, forms.Portable)
    return found


def _formed(value: Any, wanted: Any) -> Any:
    """A plain value as what the annotation `wanted` says."""
    if isinstance(value, dict):
        kind = _FORMS[value["form"]]
        types_of = typing.get_type_hints(kind, vars(forms))
        return kind(**{name: _formed(v, types_of[name]) for name, v in value.items() if name != "form"})
    if isinstance(value, list):
        inside = typing.get_args(_tuple_among(wanted))
        each = inside[:1] * len(value) if len(inside) == 2 and inside[1] is Ellipsis else inside
        return tuple(_formed(v, t) for v, t in zip(value, each, strict=True))
    if wanted is float:
        return float(value)
    return value


def _tuple_among(wanted: Any) -> Any:
    if typing.get_origin(wanted) in (typing.Union, types.UnionType):
        return next(t for t in typing.get_args(wanted) if typing.get_origin(t) is tuple)
    return wanted
