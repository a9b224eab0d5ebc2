"""Finite probability, exact: joint tables, conditions, independence, information, Bayes' rule, hypotheses.

Numbers given as text ("0.008", "1/3"), whole numbers or fractions are exact, and so is all that follows; floats stay
floats. Imports errors and machinery alone. Inside: distribution and joint (tables of cells), independence (and
information), query, belief, rule and board (Bayes' rule and its working), hypotheses, loss; pages/ (TOML).

>>> from likely.probability import bayes
>>> bayes({"cancer": "0.008"}, {"cancer": "0.98", "no cancer": "0.03"}).p("cancer")
Fraction(49, 235)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # at run time a name is imported when it is first used: a loss needs none of them
    from likely.probability.board import Choice as Choice
    from likely.probability.hypotheses import Hypotheses as Hypotheses
    from likely.probability.hypotheses import bayes_error as bayes_error
    from likely.probability.hypotheses import bayes_risk as bayes_risk
    from likely.probability.independence import Independence as Independence
    from likely.probability.joint import Conditional as Conditional
    from likely.probability.joint import Joint as Joint
    from likely.probability.joint import Total as Total
    from likely.probability.rule import Bayes as Bayes
    from likely.probability.rule import bayes as bayes
    from likely.probability.rule import diagnosis as diagnosis

_MODULES = {
    "Bayes": "rule",
    "Choice": "board",
    "Conditional": "joint",
    "Hypotheses": "hypotheses",
    "Independence": "independence",
    "Joint": "joint",
    "Total": "joint",
    "bayes": "rule",
    "bayes_error": "hypotheses",
    "bayes_risk": "hypotheses",
    "diagnosis": "rule",
}
__all__ = [*_MODULES]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(f"module 'likely.probability' has no attribute {name!r}")
    found: object = getattr(import_module(f"likely.probability.{_MODULES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
