"""Predictions as a transform of a DataFrame: each batch of Arrow is scored where it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from likely.errors import ColumnError, SettingError, shown
from likely.models.contracts import Model
from likely.spark import tasks
from likely.spark.parcel import packed
from likely.spark.session import failures
from likely.spark.spread import Frame
from likely.table.output.sink import prediction_names


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
