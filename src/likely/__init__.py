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
    from likely.apply.decide.asking import ask
    from likely.apply.decide.decider import decide
    from likely.apply.decide.decision import Decision
    from likely.apply.explain.counterfactual import Counterfactual, counterfactual
    from likely.apply.explain.explaining import explain
    from likely.apply.explain.ledger import Ledger
    from likely.apply.explain.sureness import Sureness, sureness
    from likely.apply.fitting import fit, learn, load, summarize
    from likely.apply.joint_table import joint
    from likely.apply.regression import Regression, regress
    from likely.apply.streams.window import Window
    from likely.evaluate.compare import compare
    from likely.evaluate.curve import Curve, curve
    from likely.evaluate.doctor import doctor
    from likely.evaluate.drift.changes import changes
    from likely.evaluate.drift.tables import drift
    from likely.evaluate.look import look
    from likely.evaluate.repeats import repeats
    from likely.models.contracts import Model
    from likely.models.dependence.one_dependence import OneDependence
    from likely.models.dependence.tree import TreeAugmented
    from likely.models.joint.discriminant import LinearDiscriminant
    from likely.models.joint.full import FullBayes
    from likely.models.knowledge.knowledge import Knowledge
    from likely.models.linear.least_squares import LeastSquares
    from likely.models.linear.logistic import Logistic
    from likely.models.naive.baseline import Prior
    from likely.models.naive.density import Density
    from likely.models.naive.naive import NaiveBayes
    from likely.models.naive.one_rule import OneRule
    from likely.models.naive.tuned import TunedNaiveBayes
    from likely.models.neighbors.neighbors import Neighbors
    from likely.models.pool.auto import Auto
    from likely.models.pool.mixture import Gibbs, Mixture
    from likely.models.posterior import Posterior
    from likely.models.text.settings import Text
    from likely.portable.languages.export import export
    from likely.present.page.plotting import plot
    from likely.probability.loss import Loss
    from likely.sums.summary import Summary
    from likely.table.databases.database import database
    from likely.table.schema import Schema
    from likely.table.words.tokens import Tokens

__all__ = [
    "Auto",
    "Counterfactual",
    "Curve",
    "Decision",
    "Density",
    "FullBayes",
    "Gibbs",
    "Knowledge",
    "LeastSquares",
    "Ledger",
    "LikelyError",
    "LinearDiscriminant",
    "Logistic",
    "Loss",
    "Mixture",
    "Model",
    "NaiveBayes",
    "Neighbors",
    "OneDependence",
    "OneRule",
    "Posterior",
    "Prior",
    "Regression",
    "Schema",
    "Summary",
    "Sureness",
    "Text",
    "Tokens",
    "TreeAugmented",
    "TunedNaiveBayes",
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
    "Decision": "likely.apply.decide.decision",
    "Loss": "likely.probability.loss",
    "ask": "likely.apply.decide.asking",
    "decide": "likely.apply.decide.decider",
    "doctor": "likely.evaluate.doctor",
    "drift": "likely.evaluate.drift.tables",
    "Counterfactual": "likely.apply.explain.counterfactual",
    "Ledger": "likely.apply.explain.ledger",
    "counterfactual": "likely.apply.explain.counterfactual",
    "explain": "likely.apply.explain.explaining",
    "Knowledge": "likely.models.knowledge.knowledge",
    "LeastSquares": "likely.models.linear.least_squares",
    "Logistic": "likely.models.linear.logistic",
    "Regression": "likely.apply.regression",
    "regress": "likely.apply.regression",
    "LinearDiscriminant": "likely.models.joint.discriminant",
    "FullBayes": "likely.models.joint.full",
    "Density": "likely.models.naive.density",
    "Model": "likely.models.contracts",
    "Gibbs": "likely.models.pool.mixture",
    "Auto": "likely.models.pool.auto",
    "Mixture": "likely.models.pool.mixture",
    "NaiveBayes": "likely.models.naive.naive",
    "Neighbors": "likely.models.neighbors.neighbors",
    "OneDependence": "likely.models.dependence.one_dependence",
    "OneRule": "likely.models.naive.one_rule",
    "Posterior": "likely.models.posterior",
    "Prior": "likely.models.naive.baseline",
    "Schema": "likely.table.schema",
    "Summary": "likely.sums.summary",
    "Text": "likely.models.text.settings",
    "Tokens": "likely.table.words.tokens",
    "TreeAugmented": "likely.models.dependence.tree",
    "TunedNaiveBayes": "likely.models.naive.tuned",
    "compare": "likely.evaluate.compare",
    "Curve": "likely.evaluate.curve",
    "curve": "likely.evaluate.curve",
    "database": "likely.table.databases.database",
    "fit": "likely.apply.fitting",
    "learn": "likely.apply.fitting",
    "joint": "likely.apply.joint_table",
    "load": "likely.apply.fitting",
    "look": "likely.evaluate.look",
    "plot": "likely.present.page.plotting",
    "summarize": "likely.apply.fitting",
    "repeats": "likely.evaluate.repeats",
    "Sureness": "likely.apply.explain.sureness",
    "sureness": "likely.apply.explain.sureness",
    "Window": "likely.apply.streams.window",
    "export": "likely.portable.languages.export",
    "changes": "likely.evaluate.drift.changes",
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
