"""Learners by name, and how a name and plain values become one. Knows no learner: each room registers its own."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, replace
from typing import Any

from likely.errors import SettingError, nearest, shown
from likely.models.knowledge.knowledge import check_knowledge
from likely.models.text.settings import check_text, check_texts
from likely.sums import state

LEARNERS: dict[str, type[Any]] = {}
"""What a file, a spec, a mixture or the command line may ask for."""


def register(*learners: type[Any]) -> None:
    """Let these learners be asked for by name."""
    LEARNERS.update({learner.__name__: learner for learner in learners})


def build_learner(name: str, given: Mapping[str, Any] | None = None) -> Any:
    """The learner of this name with these settings; a misspelt name or setting is refused with the nearest one."""
    settings = given or {}
    if name not in LEARNERS:
        raise SettingError(f"There is no learner {shown(name)}. {nearest(name, LEARNERS, len(LEARNERS))}")
    maker, known = LEARNERS[name], [f.name for f in fields(LEARNERS[name])]
    for key in settings:
        if key not in known:
            raise SettingError(f"{name} has no setting {shown(key)}. {nearest(key, known)}")
    # Misspelt parts of settings are refused here, where names are known.
    for key, check in (("knowledge", check_knowledge), ("text", check_text), ("text_by_column", check_texts)):
        if key in settings:
            check(settings[key])
    for field in fields(maker):
        if field.default is MISSING and field.default_factory is MISSING and field.name not in settings:
            raise SettingError(
                f"{name} needs the setting {field.name}, e.g. "
                f"""--set '{field.name}=["NaiveBayes", {{name="NaiveBayes", pseudo_count=0.5}}]'."""
            )
    try:
        return replace(state.built(maker, dict(settings)))  # replace: the usual settings are spelled out too
    except ValueError as error:
        with suppress(TypeError, ValueError):
            maker(**settings)  # its own sentence says more, where it has one
        raise SettingError(_misfit(maker, settings, str(error))) from None


def _misfit(maker: type[Any], settings: Mapping[str, Any], error: str) -> str:
    """Which setting cannot be what it is, as a sentence; `error` names it somewhere as $.name."""
    for field in fields(maker):
        if f"$.{field.name}" in error and field.name in settings:
            usual = "" if field.default is MISSING else f" Usually it is {shown(field.default)}."
            return f"{field.name} of {maker.__name__} cannot be {shown(settings[field.name])}.{usual}"
    return f"The settings of {maker.__name__} do not fit: {error}."
