"""The classroom: finite probability, exact, and what is worked out on a board. Knows the core, which never imports it.

Numbers given as text ("0.008", "1/3"), whole numbers or fractions are exact, and so is all that follows; floats stay
floats. Inside: distribution and joint (tables of cells, information, independence), query, belief and hypotheses
(Bayes' rule and its working), pages (TOML); joint_table and joint_page (`likely joint`), regression (`likely regress`),
pictures and drawings (`likely plot`), course.

>>> from likely.classroom import bayes
>>> bayes({"cancer": "0.008"}, {"cancer": "0.98", "no cancer": "0.03"}).p("cancer")
Fraction(49, 235)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # at run time a name is imported when it is first used: a loss needs none of them
    from likely.classroom.belief import Choice as Choice
    from likely.classroom.hypotheses import Bayes as Bayes
    from likely.classroom.hypotheses import Hypotheses as Hypotheses
    from likely.classroom.hypotheses import bayes as bayes
    from likely.classroom.hypotheses import bayes_error as bayes_error
    from likely.classroom.hypotheses import bayes_risk as bayes_risk
    from likely.classroom.hypotheses import diagnosis as diagnosis
    from likely.classroom.joint import Conditional as Conditional
    from likely.classroom.joint import Independence as Independence
    from likely.classroom.joint import Joint as Joint
    from likely.classroom.joint import Total as Total

_MODULES = {
    "Bayes": "hypotheses",
    "Choice": "belief",
    "Conditional": "joint",
    "Hypotheses": "hypotheses",
    "Independence": "joint",
    "Joint": "joint",
    "Total": "joint",
    "bayes": "hypotheses",
    "bayes_error": "hypotheses",
    "bayes_risk": "hypotheses",
    "diagnosis": "hypotheses",
}
__all__ = [*_MODULES]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(f"module 'likely.classroom' has no attribute {name!r}")
    found: object = getattr(import_module(f"likely.classroom.{_MODULES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
