"""The range of numeric settings, checked when settings are made."""

from __future__ import annotations

from numbers import Real
from typing import Any

from likely.errors import SettingError, shown


def checked(settings: Any, *names: str) -> None:
    """Refuse settings that are not finite numbers, zero or more; the others are kept as floats."""
    for name in names:
        value = getattr(settings, name)
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < float("inf"):
            raise SettingError(f"{name} is {shown(value)}. It must be a finite number, zero or more.")
        object.__setattr__(settings, name, float(value))
