"""The learners by name: what a file, a spec or the command line may ask for, and how settings become a learner."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

from likely.errors import SettingError, nearest, shown
from likely.models.aode import OneDependence
from likely.models.baseline import Prior
from likely.models.density import Density
from likely.models.full import FullBayes
from likely.models.linear import Linear
from likely.models.logistic import Logistic
from likely.models.mixture import Gibbs, Mixture
from likely.models.naive import NaiveBayes
from likely.models.neighbors import Neighbors
from likely.models.pooled import Pooled
from likely.models.tree import Tree
from likely.sums import state

LEARNERS: dict[str, type[Any]] = {
    learner.__name__: learner
    for learner in (
        Linear,
        Logistic,
        Prior,
        NaiveBayes,
        FullBayes,
        Pooled,
        Density,
        Neighbors,
        Mixture,
        Gibbs,
        OneDependence,
        Tree,
    )
}


def learner_named(name: str, settings: Mapping[str, Any] | None = None) -> Any:
    """The learner of this name with these settings; a misspelt name or setting is refused with the nearest one.

    >>> learner_named("NaiveBayes", {"pseudo_count": 0.5}).pseudo_count
    0.5
    """
    if name not in LEARNERS:
        raise SettingError(f"There is no learner {shown(name)}. {nearest(name, LEARNERS)}")
    maker, known = LEARNERS[name], [f.name for f in fields(LEARNERS[name])]
    for key in settings or {}:
        if key not in known:
            raise SettingError(f"{name} has no setting {shown(key)}. {nearest(key, known)}")
    try:
        return replace(state.built(maker, dict(settings or {})))  # replace: the usual settings are spelled out too
    except ValueError as error:
        with suppress(TypeError, ValueError):
            maker(**(settings or {}))  # its own sentence says more, where it has one
        raise SettingError(f"The settings of {name} do not fit: {error}.") from None


def settings_of(learner: Any) -> dict[str, Any]:
    """The settings of a learner as plain values."""
    return dict(state.plain(learner))


def changed_settings(learner: Any) -> dict[str, Any]:
    """Those settings of a learner that are not the usual ones."""
    try:
        usual = settings_of(type(learner)())
    except TypeError:  # a learner without usual settings, such as a mixture
        usual = {}
    return {name: value for name, value in settings_of(learner).items() if name not in usual or usual[name] != value}
