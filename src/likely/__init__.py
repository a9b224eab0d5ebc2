"""likely: Bayes classification on exact sums.

>>> import likely
>>> model = likely.fit({"sky": ["sun", "rain", "sun"], "play": ["yes", "no", "yes"]}, target="play")
>>> model.predict({"sky": "rain"})
'no'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likely.errors import LikelyError

if TYPE_CHECKING:
    from likely.deciding.asking import ask
    from likely.deciding.decider import decide
    from likely.deciding.decision import Decision
    from likely.drifting import drift
    from likely.evaluate.changing import changes
    from likely.evaluate.compare import compare
    from likely.evaluate.curve import Curve, curve
    from likely.evaluate.look import look
    from likely.evaluate.repeats import repeats
    from likely.explaining.counterfactual import Counterfactual, counterfactual
    from likely.explaining.ledger import Ledger, explain
    from likely.explaining.sureness import Sureness, sureness
    from likely.exports.exporting import export
    from likely.fitting import fit, learn, load, summarize
    from likely.loss import Loss
    from likely.models.aode import OneDependence
    from likely.models.auto import Auto
    from likely.models.baseline import Prior
    from likely.models.density import Density
    from likely.models.full import FullBayes
    from likely.models.knowledge import Knowledge
    from likely.models.linear import Linear
    from likely.models.logistic import Logistic
    from likely.models.mixture import Gibbs, Mixture
    from likely.models.model import Model
    from likely.models.naive import NaiveBayes
    from likely.models.neighbors import Neighbors
    from likely.models.onerule import OneRule
    from likely.models.pooled import Pooled
    from likely.models.posterior import Posterior
    from likely.models.text import Text
    from likely.models.tree import Tree
    from likely.models.tuned import Tuned
    from likely.page.plotting import plot
    from likely.regression import Regression, regress
    from likely.sums.summary import Summary
    from likely.suspecting.checkup import doctor
    from likely.table.databases import database
    from likely.table.schema import Schema
    from likely.table.tokens import Tokens
    from likely.tabulating import joint
    from likely.windowing import Window

__all__ = [
    "Auto",
    "Counterfactual",
    "Curve",
    "Decision",
    "Density",
    "FullBayes",
    "Gibbs",
    "Knowledge",
    "Ledger",
    "LikelyError",
    "Linear",
    "Logistic",
    "Loss",
    "Mixture",
    "Model",
    "NaiveBayes",
    "Neighbors",
    "OneDependence",
    "OneRule",
    "Pooled",
    "Posterior",
    "Prior",
    "Regression",
    "Schema",
    "Summary",
    "Sureness",
    "Text",
    "Tokens",
    "Tree",
    "Tuned",
    "Window",
    "ask",
    "changes",
    "compare",
    "counterfactual",
    "curve",
    "database",
    "decide",
    "doctor",
    "drift",
    "explain",
    "export",
    "fit",
    "joint",
    "learn",
    "load",
    "look",
    "plot",
    "regress",
    "repeats",
    "summarize",
    "sureness",
]
__version__ = "0.1.0"

_ROOMS = {
    "Decision": "likely.deciding.decision",
    "Loss": "likely.loss",
    "ask": "likely.deciding.asking",
    "decide": "likely.deciding.decider",
    "doctor": "likely.suspecting.checkup",
    "drift": "likely.drifting",
    "Counterfactual": "likely.explaining.counterfactual",
    "Ledger": "likely.explaining.ledger",
    "counterfactual": "likely.explaining.counterfactual",
    "explain": "likely.explaining.ledger",
    "Knowledge": "likely.models.knowledge",
    "Linear": "likely.models.linear",
    "Logistic": "likely.models.logistic",
    "Regression": "likely.regression",
    "regress": "likely.regression",
    "Pooled": "likely.models.pooled",
    "FullBayes": "likely.models.full",
    "Density": "likely.models.density",
    "Model": "likely.models.model",
    "Gibbs": "likely.models.mixture",
    "Auto": "likely.models.auto",
    "Mixture": "likely.models.mixture",
    "NaiveBayes": "likely.models.naive",
    "Neighbors": "likely.models.neighbors",
    "OneDependence": "likely.models.aode",
    "OneRule": "likely.models.onerule",
    "Posterior": "likely.models.posterior",
    "Prior": "likely.models.baseline",
    "Schema": "likely.table.schema",
    "Summary": "likely.sums.summary",
    "Text": "likely.models.text",
    "Tokens": "likely.table.tokens",
    "Tree": "likely.models.tree",
    "Tuned": "likely.models.tuned",
    "compare": "likely.evaluate.compare",
    "Curve": "likely.evaluate.curve",
    "curve": "likely.evaluate.curve",
    "database": "likely.table.databases",
    "fit": "likely.fitting",
    "learn": "likely.fitting",
    "joint": "likely.tabulating",
    "load": "likely.fitting",
    "look": "likely.evaluate.look",
    "plot": "likely.page.plotting",
    "summarize": "likely.fitting",
    "repeats": "likely.evaluate.repeats",
    "Sureness": "likely.explaining.sureness",
    "sureness": "likely.explaining.sureness",
    "Window": "likely.windowing",
    "export": "likely.exports.exporting",
    "changes": "likely.evaluate.changing",
}


def __getattr__(name: str) -> Any:
    """Names are imported when first used: `import likely` stays quick."""
    from importlib import import_module

    if name == "probability":  # a room that is public as it is
        return import_module("likely.probability")
    if name not in _ROOMS:
        raise AttributeError(f"module 'likely' has no attribute {name!r}")
    return getattr(import_module(_ROOMS[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_ROOMS])
