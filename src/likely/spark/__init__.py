"""likely on Spark: summarize, fit, compare and predict where the rows are. The only room that imports pyspark.

The kernels are the same, run on Arrow batches in the executors; sums come back as bytes, merged as a tree; no row is
collected. Results are the same to the last bit as on one machine.
"""

from __future__ import annotations

from typing import Any

from likely.spark.fitting import compare, fit, predict, summarize

__all__ = [
    "LikelyClassificationModel",
    "LikelyClassifier",
    "StreamLearner",
    "compare",
    "fit",
    "predict",
    "summarize",
]


def __getattr__(name: str) -> Any:
    """The stages of a pipeline import pyspark, so they wait until they are asked for."""
    if name in ("LikelyClassifier", "LikelyClassificationModel"):
        from likely.spark.session import check_installed

        check_installed()
        from likely.spark import pipeline

        return getattr(pipeline, name)
    if name == "StreamLearner":
        from likely.spark.fitting import StreamLearner

        return StreamLearner
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
