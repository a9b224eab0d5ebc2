"""The learners by name: what a file, a spec or the command line may ask for, and how settings become a learner."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, replace
from typing import Any

from likely.errors import SettingError, nearest, shown
from likely.models.dependence.one_dependence import OneDependence
from likely.models.dependence.tree import TreeAugmented
from likely.models.joint.discriminant import LinearDiscriminant
from likely.models.joint.full import FullBayes
from likely.models.knowledge.knowledge import check_knowledge
from likely.models.linear.least_squares import LeastSquares
from likely.models.linear.logistic import Logistic
from likely.models.naive.baseline import Prior
from likely.models.naive.density import Density
from likely.models.naive.naive import NaiveBayes
from likely.models.naive.one_rule import OneRule
from likely.models.neighbors.neighbors import Neighbors
from likely.models.pool.auto import Auto
from likely.models.pool.mixture import Gibbs, Mixture
from likely.models.pool.tuned import TunedNaiveBayes
from likely.models.settings import changed_settings as changed_settings
from likely.models.settings import settings_of as settings_of
from likely.models.text.settings import check_text, check_texts
from likely.sums import state

LEARNERS: dict[str, type[Any]] = {
    learner.__name__: learner
    for learner in (
        Auto,
        LeastSquares,
        Logistic,
        Prior,
        NaiveBayes,
        FullBayes,
        LinearDiscriminant,
        Density,
        Neighbors,
        Mixture,
        Gibbs,
        OneDependence,
        OneRule,
        TreeAugmented,
        TunedNaiveBayes,
    )
}


def learner_named(name: str, settings: Mapping[str, Any] | None = None) -> Any:
    """The learner of this name with these settings; a misspelt name or setting is refused with the nearest one.

    >>> learner_named("NaiveBayes", {"pseudo_count": 0.5}).pseudo_count
    0.5
    """
    if name not in LEARNERS:
        raise SettingError(f"There is no learner {shown(name)}. {nearest(name, LEARNERS, len(LEARNERS))}")
    maker, known = LEARNERS[name], [f.name for f in fields(LEARNERS[name])]
    for key in settings or {}:
        if key not in known:
            raise SettingError(f"{name} has no setting {shown(key)}. {nearest(key, known)}")
    if "knowledge" in (settings or {}):
        check_knowledge((settings or {})["knowledge"])  # a misspelt part is refused here, where names are known
    for key, check in (("text", check_text), ("text_by_column", check_texts)):
        if key in (settings or {}):
            check((settings or {})[key])  # the same of a misspelt setting of text
    for field in fields(maker):
        if field.default is MISSING and field.default_factory is MISSING and field.name not in (settings or {}):
            raise SettingError(
                f"{name} needs the setting {field.name}, e.g. "
                f"""--set '{field.name}=["NaiveBayes", {{name="NaiveBayes", pseudo_count=0.5}}]'."""
            )
    try:
        return replace(state.built(maker, dict(settings or {})))  # replace: the usual settings are spelled out too
    except ValueError as error:
        with suppress(TypeError, ValueError):
            maker(**(settings or {}))  # its own sentence says more, where it has one
        raise SettingError(_misfit(maker, settings or {}, str(error))) from None


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


def _misfit(maker: type[Any], settings: Mapping[str, Any], error: str) -> str:
    """Which setting cannot be what it is, as a sentence; `error` names it somewhere as $.name."""
    for field in fields(maker):
        if f"$.{field.name}" in error and field.name in settings:
            usual = "" if field.default is MISSING else f" Usually it is {shown(field.default)}."
            return f"{field.name} of {maker.__name__} cannot be {shown(settings[field.name])}.{usual}"
    return f"The settings of {maker.__name__} do not fit: {error}."
