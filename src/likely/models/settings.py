"""The settings of a learner as plain values, and those of them that are not the usual ones. Knows no learner."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from likely.sums import state


def settings_of(learner: Any) -> dict[str, Any]:
    """The settings of a learner as plain values."""
    return dict(state.plain(learner))


def changed_settings(learner: Any) -> dict[str, Any]:
    """Those settings of a learner that are not the usual ones."""
    try:
        usual = settings_of(type(learner)())
    except TypeError:  # some setting has no usual value, such as the members of a mixture
        usual = {f.name: state.plain(f.default) for f in fields(learner) if f.default is not MISSING}
    return {name: value for name, value in settings_of(learner).items() if name not in usual or usual[name] != value}
