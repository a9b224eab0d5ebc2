"""summarize, fit, compare, predict and learning from streams as on one machine, swept by executors."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from likely.apply.fitting import load, relearn
from likely.errors import ColumnError, SettingError, shown
from likely.evaluate.judging import keep_judge
from likely.intake.reading import GivenLearner, Reading, ReadingOptions, read_learner, require_purpose, try_dates
from likely.models.contracts import Learner, Model
from likely.models.default import default_learner
from likely.models.loss import Loss
from likely.spark import tasks
from likely.spark.parcel import packed
from likely.spark.session import failures
from likely.spark.spread import Frame
from likely.sums.summary import Summary
from likely.table.output.sink import prediction_names

# summarize, fit, compare and predict as on one machine, swept by executors: each a call of the one road.


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
    from likely.spark.folding import with_encoding
    from likely.spark.spread import spread_of

    like = more if isinstance(more, Mapping) else None
    return with_encoding(
        lambda how: spread_of(data, how, spark, master),
        Reading(target, **reading),
        lambda engine, how: summarize_table(engine, how, lambda schema: frozenset(more), like),
    )


@keep_judge
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
    from likely.spark.folding import with_encoding
    from likely.spark.spread import spread_of

    costs, asked, how = Loss.of(loss), read_learner(learner), Reading(target, **reading)
    require_purpose(how, asked)
    return with_encoding(
        lambda how: spread_of(data, how, spark, master),
        try_dates(how, [asked]),
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
    from likely.spark.folding import compare_spread, with_encoding
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

    from likely.spark.session import check_installed, is_frame

    check_installed()
    if type(frame).__module__.startswith("pyspark.pandas."):
        return predict_frame(model, frame.to_spark(), keep).pandas_api()
    if not is_frame(frame):
        raise SettingError("This predicts a DataFrame of Spark. Any other table: model.posterior, or likely predict.")
    return predict_frame(model, frame, keep)


# Predictions as a transform of a DataFrame: each batch of Arrow is scored where it is.


def predict_frame(model: Model, frame: Any, keep: bool, names: Sequence[str] | None = None) -> Any:
    """The DataFrame that Spark will make; `names` are those of the new columns, where the usual ones will not do."""
    from pyspark.sql.types import DoubleType, StringType, StructField, StructType

    if model.schema.target is None:
        raise SettingError("This model is a density, so there is no class to predict.")
    spread = Frame(frame)
    new = names or prediction_names(model.classes)
    own = list(frame.columns)
    clash = sorted(set(new) & set(own)) if keep else []
    if clash:
        raise ColumnError(f"The DataFrame already has a column {shown(clash[0])}. Rename it, or say keep=False.")
    read = model.columns_in(spread.title)
    job = packed((model, own if keep else read, read, keep))
    with failures("the DataFrame"):
        made = [StructField(new[0], StringType()), *(StructField(n, DoubleType()) for n in new[1:])]
        fields = [*frame.schema.fields, *made] if keep else made
        picked = spread.picked(own if keep else read)
        # Under numbers on the way: the names of classes and columns may hold anything.
        numbered = StructType([StructField(f"c{k}", f.dataType, f.nullable) for k, f in enumerate(fields)])
        return picked.mapInArrow(partial(tasks.predicted, job), numbered).toDF(*(f.name for f in fields))


# A model that learns from a stream of Spark: each micro-batch is added once, however often Spark repeats it.

_NAME = re.compile(r"batch-(\d{12})\.likely")


class StreamLearner:
    """For `writeStream.foreachBatch`: the model after every micro-batch is a file in `folder`.

    The file of batch 13 is that of batch 12 plus its rows, so a batch that Spark does again after a failure is not
    counted twice; the file before the last is kept for that. Naive Bayes learns where no learner is named: a stream
    cannot be seen again. `reading` takes what `likely.summarize` takes; the first batch says how columns are read.
    """

    def __init__(
        self, folder: str | os.PathLike[str], target: str, learner: GivenLearner = None, **reading: Any
    ) -> None:
        self.folder, self.target, self.reading = Path(folder), target, reading
        self.learner = read_learner(learner) or default_learner("sums").learner
        self.folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, frame: Any, batch: int) -> None:
        """Learn from one micro-batch."""
        known = self._files()
        before = max((k for k in known if k < batch), default=None)
        if frame.isEmpty():
            return
        if before is None:
            model = fit(frame, self.target, self.learner, **self.reading)
        else:
            held: Model = load(known[before])
            rows = summarize(frame, schema=held.summary.schema, more=held.summary.more)
            model = relearn(held, held.summary + rows)
        model.save(self.folder / f"batch-{batch:012}.likely")
        for number, path in known.items():
            if before is not None and number < before:
                path.unlink(missing_ok=True)

    @property
    def model(self) -> Model:
        """The model after the last micro-batch."""
        known = self._files()
        if not known:
            raise SettingError(f"No rows have come yet: there is no model in {str(self.folder)!r}.")
        held: Model = load(known[max(known)])
        return held

    def _files(self) -> dict[int, Path]:
        found = ((_NAME.fullmatch(path.name), path) for path in self.folder.iterdir())
        return {int(match[1]): path for match, path in found if match is not None}
