"""Learners by name, and how a name and plain values become one."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import MISSING, fields, replace
from importlib import import_module
from typing import Any

from likely.errors import SettingError, nearest, shown
from likely.models.knowledge import check_knowledge
from likely.models.settings import changed_settings as changed_settings
from likely.models.settings import settings_of as settings_of
from likely.models.text.settings import check_text, check_texts
from likely.sums import state

# Learners by name, and how a name and plain values become one.

FAMILY = {
    "Additive": "additive.additive",
    "LeastSquares": "linear.least_squares",
    "Logistic": "linear.logistic",
    "TextLogistic": "text_logistic.learner",
    "Prior": "naive.one_rule",
    "NaiveBayes": "naive.naive",
    "FullBayes": "full_bayes",
    "LinearDiscriminant": "full_bayes",
    "Density": "naive.density",
    "Neighbors": "neighbors.neighbors",
    "OneDependence": "dependence.one_dependence",
    "OneRule": "naive.one_rule",
    "TreeAugmented": "dependence.tree",
    "TunedNaiveBayes": "naive.tuned",
    "Auto": "pool.auto",
    "Pool": "pool.auto",
    "Mixture": "pool.mixture",
    "Gibbs": "pool.mixture",
}
"""The learners that come with likely, and the module of models/ that holds each; in the order of a comparison."""


class Registry(MutableMapping[str, type[Any]]):
    """Learners by name; one that comes with likely is imported when it is first looked up, not when it is named."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = {name: f"likely.models.{module}" for name, module in modules.items()}
        self._learners: dict[str, type[Any] | None] = dict.fromkeys(modules)

    def __getitem__(self, name: str) -> type[Any]:
        found = self._learners[name]
        if found is None:
            found = self._learners[name] = getattr(import_module(self._modules[name]), name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._learners

    def __setitem__(self, name: str, learner: type[Any]) -> None:
        self._learners[name] = learner

    def __delitem__(self, name: str) -> None:
        del self._learners[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._learners)

    def __len__(self) -> int:
        return len(self._learners)


LEARNERS = Registry(FAMILY)
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


# The learners by name: what a file, a spec or the command line may ask for, and how settings become a learner.


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
