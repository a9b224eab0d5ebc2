"""The learners by name: what a file, a spec or the command line may ask for, and how settings become a learner."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from likely.errors import SettingError, shown
from likely.models.registry import LEARNERS as LEARNERS
from likely.models.registry import build_learner
from likely.models.settings import changed_settings as changed_settings
from likely.models.settings import settings_of as settings_of


def learner_named(name: str, settings: Mapping[str, Any] | None = None) -> Any:
    """The learner of this name with these settings; a misspelt name or setting is refused with the nearest one.

    >>> learner_named("NaiveBayes", {"pseudo_count": 0.5}).pseudo_count
    0.5
    """
    return build_learner(name, settings)


def learner_written(text: str) -> Any:
    """A learner as one writes it: its name, and in parentheses settings as TOML writes them.

    >>> learner_written("Neighbors(k=3, distance='city-block')").distance
    'city-block'
    """
    name, parenthesis, rest = text.strip().partition("(")
    if not parenthesis:
        return learner_named(name)
    try:
        if not rest.endswith(")") or "\n" in rest:
            raise ValueError
        settings = tomllib.loads(f"x = {{{rest[:-1].strip().removesuffix(',')}}}")["x"]
    except (ValueError, RecursionError):  # what tomllib raises is a ValueError
        example = "Neighbors(k=3, distance='city-block')"
        raise SettingError(
            f"{shown(text)} is not a learner with settings as TOML writes them. Write it like {example}."
        ) from None
    return learner_named(name.strip(), settings)
