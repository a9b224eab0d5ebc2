"""Members of pools and mixtures: the learners that may be one, and what people call them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from likely.errors import SettingError, shown
from likely.models.contracts import Learner, Model
from likely.models.learning import begin, restore
from likely.models.registry import LEARNERS, build_learner
from likely.models.settings import changed_settings, declared, settings_of
from likely.sums.contracts import State
from likely.sums.state import require
from likely.sums.summary import Summary

MOST_SHOWN = 40
"""Characters of a setting in a name."""


def member_spec(member: Any) -> dict[str, Any]:
    """A member as plain values, all its settings spelled out."""
    learner = member_learner(member) if isinstance(member, (Mapping, str)) else member
    _refuse_mixture(type(learner).__name__)
    if isinstance(learner, type) or not isinstance(learner, Learner):
        raise SettingError(f"{shown(member)} is not a learner. Give settings such as NaiveBayes(pseudo_count=0.5).")
    return {"name": type(learner).__name__, **settings_of(learner)}


def check_members(members: Any) -> tuple[dict[str, Any], ...]:
    """The members one by one, as plain values; a single learner or spec is one member."""
    several = isinstance(members, Sequence) and not isinstance(members, str)
    return tuple(member_spec(member) for member in (members if several else [members]))


def _refuse_mixture(name: str) -> None:
    """Learners of other learners cannot be members."""
    if name in LEARNERS and any(setting == "members" for setting, _, _ in declared(LEARNERS[name])):
        raise SettingError(f"{name} cannot be a member of a mixture. Name its members instead.")


def member_learner(spec: Mapping[str, Any] | str) -> Learner:
    """The learner that plain values stand for."""
    settings = {"name": spec} if isinstance(spec, str) else dict(spec)
    name = settings.pop("name", None)
    if not isinstance(name, str):
        raise SettingError('A member needs the name of its learner, such as {"name": "NaiveBayes"}.')
    _refuse_mixture(name)
    learner: Learner = build_learner(name, settings)
    return learner


def restore_member(learner: Learner, summary: Summary, found: State) -> Model:
    """A member as a file keeps it: what a search found of it, or, where nothing, what its sums say."""
    if found:
        return restore(learner, summary, found)
    model = begin(learner, summary)
    require(isinstance(model, Model), "a member that searches was found")
    assert isinstance(model, Model)
    return model


def learner_titles(learners: Sequence[Learner]) -> tuple[str, ...]:
    """A name for each learner: what it is called and the settings that are not the usual ones; no two are the same."""
    out: list[str] = []
    seen: Counter[str] = Counter()
    for learner in learners:
        changed = ", ".join(f"{name}={_short(repr(value))}" for name, value in changed_settings(learner).items())
        title = type(learner).__name__ + (f"({changed})" if changed else "")
        seen[title] += 1
        out.append(title if seen[title] == 1 else f"{title} #{seen[title]}")
    return tuple(out)


def _short(value: str) -> str:
    return value if len(value) <= MOST_SHOWN else f"{value[: MOST_SHOWN - 1]}…"
