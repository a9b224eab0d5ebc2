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
    from likely.evaluate.compare import compare
    from likely.evaluate.look import look
    from likely.fitting import fit, load, summarize
    from likely.models.aode import OneDependence
    from likely.models.baseline import Prior
    from likely.models.density import Density
    from likely.models.full import FullBayes
    from likely.models.linear import Linear
    from likely.models.logistic import Logistic
    from likely.models.mixture import Gibbs, Mixture
    from likely.models.model import Model
    from likely.models.naive import NaiveBayes
    from likely.models.neighbors import Neighbors
    from likely.models.pooled import Pooled
    from likely.models.posterior import Posterior
    from likely.models.tree import Tree
    from likely.regression import Regression, regress
    from likely.sums.summary import Summary
    from likely.table.schema import Schema

__all__ = [
    "Density",
    "FullBayes",
    "Gibbs",
    "LikelyError",
    "Linear",
    "Logistic",
    "Mixture",
    "Model",
    "NaiveBayes",
    "Neighbors",
    "OneDependence",
    "Pooled",
    "Posterior",
    "Prior",
    "Regression",
    "Schema",
    "Summary",
    "Tree",
    "compare",
    "fit",
    "load",
    "look",
    "regress",
    "summarize",
]
__version__ = "0.1.0"

_ROOMS = {
    "Linear": "likely.models.linear",
    "Logistic": "likely.models.logistic",
    "Regression": "likely.regression",
    "regress": "likely.regression",
    "Pooled": "likely.models.pooled",
    "FullBayes": "likely.models.full",
    "Density": "likely.models.density",
    "Model": "likely.models.model",
    "Gibbs": "likely.models.mixture",
    "Mixture": "likely.models.mixture",
    "NaiveBayes": "likely.models.naive",
    "Neighbors": "likely.models.neighbors",
    "OneDependence": "likely.models.aode",
    "Posterior": "likely.models.posterior",
    "Prior": "likely.models.baseline",
    "Schema": "likely.table.schema",
    "Summary": "likely.sums.summary",
    "Tree": "likely.models.tree",
    "compare": "likely.evaluate.compare",
    "fit": "likely.fitting",
    "load": "likely.fitting",
    "look": "likely.evaluate.look",
    "summarize": "likely.fitting",
}


def __getattr__(name: str) -> Any:
    """Names are imported when first used: `import likely` stays quick."""
    if name not in _ROOMS:
        raise AttributeError(f"module 'likely' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_ROOMS[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_ROOMS])
