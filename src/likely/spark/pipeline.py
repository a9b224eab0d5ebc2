"""likely as a stage of a Spark pipeline: an Estimator that fits where the rows are, and a Model that is saved with it.

No vectors are assembled: attributes are the columns themselves, of any type that Spark has numbers, texts or dates for.
"""

from __future__ import annotations

from typing import Any

from pyspark import keyword_only
from pyspark.ml import Estimator
from pyspark.ml import Model as SparkModel
from pyspark.ml.functions import array_to_vector
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasInputCols,
    HasLabelCol,
    HasPredictionCol,
    HasProbabilityCol,
    HasWeightCol,
)
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import functions
from pyspark.sql.types import DoubleType, NumericType, StringType, UserDefinedType

from likely.apply.fitting import model_from_tree
from likely.errors import ColumnError, SettingError, shown
from likely.models.contracts import Model
from likely.spark.fitting import fit, predict_frame
from likely.spark.session import use_this_python
from likely.sums import state
from likely.table.output.sink import prediction_names


class _Columns(HasInputCols, HasLabelCol, HasPredictionCol, HasProbabilityCol, HasWeightCol):
    """What both stages are told: the names of columns."""


class LikelyClassifier(_Columns, Estimator, DefaultParamsReadable, DefaultParamsWritable):  # type: ignore[type-arg]
    """Learns to predict `labelCol` from `inputCols`, or from all other columns.

    `learner` is written as on the command line: "Auto" (the default), "NaiveBayes", "Additive(order=2)". `types` says
    how columns are read where it must be said: {"zip": "nominal"}.
    """

    learner: Param[str] = Param(
        Params._dummy(),
        "learner",
        "what learns, as on the command line; Auto chooses on held-out rows",
        TypeConverters.toString,
    )
    types: Param[dict[str, str]] = Param(
        Params._dummy(), "types", "how columns are read: nominal, number, date, text, ignore", TypeConverters.identity
    )

    @keyword_only
    def __init__(
        self,
        *,
        labelCol: str = "label",
        inputCols: list[str] | None = None,
        weightCol: str | None = None,
        predictionCol: str = "prediction",
        probabilityCol: str = "probability",
        learner: str = "Auto",
        types: dict[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._setDefault(
            labelCol="label", predictionCol="prediction", probabilityCol="probability", learner="Auto", types={}
        )
        given: dict[str, Any] = self._input_kwargs  # type: ignore[attr-defined]
        self._set(**{name: value for name, value in given.items() if value is not None})

    def setLearner(self, learner: str) -> LikelyClassifier:
        return self._set(learner=learner)

    def setLabelCol(self, name: str) -> LikelyClassifier:
        return self._set(labelCol=name)

    def setInputCols(self, names: list[str]) -> LikelyClassifier:
        return self._set(inputCols=names)

    def _fit(self, dataset: Any) -> LikelyClassificationModel:
        label = self.getLabelCol()
        used = self._attributes(dataset)
        weight = self.getWeightCol() if self.isSet(self.weightCol) else None
        frame = dataset.select(*(_quoted(n) for n in dict.fromkeys([*used, label, *([weight] if weight else [])])))
        types = {n: kind for n, kind in self.getOrDefault(self.types).items() if n in frame.columns}
        asked = self.getOrDefault(self.learner)
        known = fit(frame, label, None if asked == "Auto" else asked, weight=weight, types=types)
        numeric = isinstance(dataset.schema[label].dataType, NumericType)
        made = LikelyClassificationModel(known, numeric, self.uid)
        return self._copyValues(made)

    def _attributes(self, dataset: Any) -> list[str]:
        apart = {self.getLabelCol(), *([self.getWeightCol()] if self.isSet(self.weightCol) else [])}
        names = self.getInputCols() if self.isSet(self.inputCols) else [n for n in dataset.columns if n not in apart]
        for name in [*names, *sorted(apart)]:
            if name not in dataset.columns:
                raise ColumnError(f"The DataFrame has no column {shown(name)}. It has {shown(dataset.columns, 200)}.")
            if isinstance(dataset.schema[name].dataType, UserDefinedType):
                raise ColumnError(
                    f"Column {shown(name)} is a vector. likely takes the columns themselves: leave the VectorAssembler "
                    "out, and name them in inputCols."
                )
        return list(names)


class LikelyClassificationModel(_Columns, SparkModel, MLReadable, MLWritable):  # type: ignore[type-arg]
    """Adds the predicted class, as the label is written, and the probabilities of all classes as a vector.

    `model` is the model itself: explain, save, export and merge it as any other.
    """

    def __init__(self, model: Model | None = None, numeric: bool = False, uid: str | None = None) -> None:
        super().__init__()
        if uid is not None:
            self._resetUid(uid)
        self._setDefault(labelCol="label", predictionCol="prediction", probabilityCol="probability")
        self._model, self._numeric = model, numeric

    @property
    def model(self) -> Model:
        if self._model is None:
            raise SettingError("This stage holds no model. Load it with LikelyClassificationModel.load.")
        return self._model

    @property
    def classes(self) -> list[str]:
        """The classes in the order of the probabilities: rising, where they are numbers."""
        names = list(self.model.classes)
        return sorted(names, key=float) if self._numeric else names

    @property
    def numClasses(self) -> int:
        return len(self.model.classes)

    def _transform(self, dataset: Any) -> Any:
        use_this_python(dataset.sparkSession)
        kept = list(dataset.columns)
        made = prediction_names(self.model.classes)
        hidden = [f"likely {self.uid} {k}" for k in range(len(made))]
        # Under names that nobody else has, so that a column `prediction` of an earlier stage is no obstacle.
        frame = predict_frame(self.model, dataset, keep=True, names=hidden)
        by_class = dict(zip(self.model.classes, hidden[1:], strict=True))
        answer = functions.col(_quoted(hidden[0])).cast(DoubleType() if self._numeric else StringType())
        shares = functions.array(*(functions.col(_quoted(by_class[name])) for name in self.classes))
        new = {self.getPredictionCol(): answer, self.getProbabilityCol(): array_to_vector(shares)}
        return frame.select(
            *(functions.col(_quoted(n)) for n in kept if n not in new),
            *(column.alias(name) for name, column in new.items() if name),
        )

    def write(self) -> MLWriter:
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[LikelyClassificationModel]:
        return _ModelReader()


class _Writer(MLWriter):
    """The parameters as Spark writes them, and the model file as one cell beside them."""

    def __init__(self, instance: LikelyClassificationModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        spark = self.sparkSession
        DefaultParamsWriter.saveMetadata(self.instance, path, spark, extraMetadata={"numeric": self.instance._numeric})
        held = spark.createDataFrame([(bytearray(self.instance.model.to_bytes()),)], "model binary")
        held.coalesce(1).write.mode("overwrite").parquet(f"{path}/model")


class _ModelReader(MLReader[LikelyClassificationModel]):
    def load(self, path: str) -> LikelyClassificationModel:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        cells = self.sparkSession.read.parquet(f"{path}/model").collect()
        tree = state.parse(bytes(cells[0][0]), shown(path, 200))
        model = model_from_tree(tree, shown(path, 200))
        assert isinstance(model, Model)  # a model was written
        made = LikelyClassificationModel(model, bool(metadata["numeric"]))
        made._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(made, metadata)
        return made


def _quoted(name: str) -> str:
    """A name as Spark takes it, whatever it holds."""
    return "`" + name.replace("`", "``") + "`"
