"""What settings may say, checked when they are made: numbers in their range, words out of a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


def checked_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """A copy of weights of attributes, so that nobody changes them from outside."""
    for name, value in weights.items():
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < float("inf"):
            raise SettingError(
                f"The weight of attribute {shown(name)} is {shown(value)}. It must be a finite number, zero or more."
            )
    return {str(name): float(value) for name, value in weights.items()}


def checked_temperature(value: Any) -> Any:
    """A number above zero, or 'auto'."""
    if value == "auto":
        return value
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < float("inf"):
        raise SettingError(f"temperature is {shown(value)}. It must be a finite number above zero, or auto.")
    return float(value)


def check_choice(name: str, value: object, allowed: Iterable[object]) -> None:
    """Refuse a setting that is none of the allowed ones."""
    known = tuple(allowed)
    if value not in known:
        raise SettingError(f"{name} is {shown(value)}. It must be one of {', '.join(map(str, known))}.")
