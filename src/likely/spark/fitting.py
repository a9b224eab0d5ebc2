"""summarize, fit, compare and predict as on one machine, swept by executors: each a call of the one road."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Unpack

from likely.errors import SettingError
from likely.intake.arguments import GivenLearner, read_learner, require_purpose
from likely.intake.options import ReadingOptions
from likely.intake.reading import Reading
from likely.models.contracts import Learner, Model
from likely.probability.loss import Loss
from likely.sums.summary import Summary


def summarize(
    data: Any,
    target: str | None = None,
    *,
    more: Collection[str] = (),
    spark: Any = None,
    master: str | None = None,
    **reading: Unpack[ReadingOptions],
) -> Summary:
    """The summary of a DataFrame of Spark, or of files that executors open themselves (a path, a folder, a pattern).

    `reading` takes what `likely.summarize` takes. Files are swept by `spark`, the session that runs, or on `master`.
    """
    from likely.intake.summarize import summarize_table
    from likely.spark.flow import with_encoding
    from likely.spark.spread import spread_of

    like = more if isinstance(more, Mapping) else None
    return with_encoding(
        lambda how: spread_of(data, how, spark, master),
        Reading(target, **reading),
        lambda engine, how: summarize_table(engine, how, lambda schema: frozenset(more), like),
    )


def fit(
    data: Any,
    target: str | None = None,
    learner: GivenLearner = None,
    *,
    loss: Loss | Mapping[str, Any] | None = None,
    spark: Any = None,
    master: str | None = None,
    **reading: Unpack[ReadingOptions],
) -> Model:
    """Sweep where the rows are, and learn: as `likely.fit`, of a DataFrame of Spark or of files.

    Learners that search (logistic regression, held-out weights) have their further sweeps there as well.
    """
    from likely.apply.fitting import fit_table, with_loss
    from likely.spark.flow import with_encoding
    from likely.spark.spread import spread_of

    costs, asked, how = Loss.of(loss), read_learner(learner), Reading(target, **reading)
    require_purpose(how, asked)
    return with_encoding(
        lambda how: spread_of(data, how, spark, master),
        how,
        lambda engine, how: with_loss(fit_table(engine, asked, how), costs),
    )


def compare(
    data: Any,
    target: str,
    learners: Mapping[str, Learner] | None = None,
    *,
    also: Mapping[str, Learner] | None = None,
    folds: int = 10,
    seed: int = 0,
    repeats: int = 1,
    spark: Any = None,
    master: str | None = None,
    **reading: Unpack[ReadingOptions],
) -> Any:
    """Cross-validate learners side by side where the rows are: as `likely.compare`, on the same folds."""
    from likely.evaluate.crossval.dealing import Folds
    from likely.spark.flow import with_encoding
    from likely.spark.folding import compare_spread
    from likely.spark.spread import spread_of

    asked = Folds(folds, seed, repeats)
    return with_encoding(
        lambda how: spread_of(data, how, spark, master),
        Reading(target, **reading),
        lambda engine, how: compare_spread(engine, how, learners, also or {}, asked),
    )


def predict(model: Model, frame: Any, *, keep: bool = True) -> Any:
    """The DataFrame with prediction and probabilities as further columns (or only these), when Spark is asked for it.

    A row that cannot be classified has empty cells.
    """
    from likely.spark.predicting import predict_frame
    from likely.spark.session import check_installed, is_frame

    check_installed()
    if type(frame).__module__.startswith("pyspark.pandas."):
        return predict_frame(model, frame.to_spark(), keep).pandas_api()
    if not is_frame(frame):
        raise SettingError("This predicts a DataFrame of Spark. Any other table: model.posterior, or likely predict.")
    return predict_frame(model, frame, keep)
