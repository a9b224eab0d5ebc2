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
    from likely.evaluate.look import look
    from likely.fitting import fit, load, summarize
    from likely.models.model import Model
    from likely.models.naive import NaiveBayes
    from likely.models.posterior import Posterior
    from likely.sums.summary import Summary
    from likely.table.schema import Schema

__all__ = [
    "LikelyError",
    "Model",
    "NaiveBayes",
    "Posterior",
    "Schema",
    "Summary",
    "fit",
    "load",
    "look",
    "summarize",
]
__version__ = "0.1.0"

_ROOMS = {
    "Model": "likely.models.model",
    "NaiveBayes": "likely.models.naive",
    "Posterior": "likely.models.posterior",
    "Schema": "likely.table.schema",
    "Summary": "likely.sums.summary",
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
