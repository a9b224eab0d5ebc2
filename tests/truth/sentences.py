"""Holds every line that a command prints against what is known: a line that no pattern knows is a failure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Check = Callable[..., bool | None]


def number(text: str) -> float:
    """A printed number: thousands have commas, minus may be a true minus."""
    return float(text.replace(",", "").replace("−", "-"))


def close(text: str, value: float, what: object = "") -> bool:
    """Whether a printed number is this value, rounded to the digits that are shown."""
    digits = len(text.partition(".")[2])
    assert abs(number(text) - value) <= 0.5000001 * 10**-digits + 1e-9, (what, text, value)
    return True


def percent(text: str, share: float, what: object = "") -> bool:
    """Whether '90.7 %' is this share."""
    return close(text.removesuffix("%").strip(), 100 * share, what)


def groups(pattern: str, text: str) -> tuple[str, ...]:
    """What a pattern finds in a line that must hold it."""
    found = re.search(pattern, text)
    assert found is not None, (pattern, text)
    return found.groups()


def check_sentences(lines: Sequence[str], patterns: Mapping[str, Check], *facts: Any) -> None:
    """Each line is matched by a pattern, whose predicate holds. Two lines never say the same."""
    assert len(set(lines)) == len(lines), "a line is printed twice"
    for line in lines:
        for pattern, check in patterns.items():
            found = re.fullmatch(pattern, line)
            if found:
                assert check(*facts, *found.groups()) is not False, (line, pattern)
                break
        else:
            raise AssertionError(f"Nobody recomputes this line: {line}")
