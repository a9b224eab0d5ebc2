"""likely as a stage of a pipeline, and on a stream of Spark: the same model as elsewhere, and each row counted once."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from spark.conftest import quiet

import likely
import likely.spark
from likely.errors import ColumnError, SettingError
from likely.testing import bits

TARGET = "the species"


@pytest.fixture(scope="module")
def iris(examples: Path) -> pa.Table:
    import pyarrow.csv as pc

    table = pc.read_csv(examples / "iris.csv")
    return table.rename_columns([*(n.replace("_", ".") for n in table.column_names[:-1]), TARGET])


def frame(spark: Any, table: pa.Table) -> Any:
    with quiet():
        return spark.createDataFrame(table)


def test_a_pipeline_fits_predicts_and_is_saved_whole(spark: Any, iris: pa.Table, tmp_path: Path) -> None:
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.evaluation import MulticlassClassificationEvaluator
    from pyspark.ml.feature import StringIndexer

    df = frame(spark, iris)
    stages = [
        StringIndexer(inputCol=TARGET, outputCol="label"),
        likely.spark.LikelyClassifier(inputCols=["sepal.length", "petal.width"], learner="NaiveBayes(pseudo_count=2)"),
    ]
    made = Pipeline(stages=stages).fit(df)
    said = made.transform(df)
    assert said.columns == [*df.columns, "label", "prediction", "probability"]
    assert dict(said.dtypes)["prediction"] == "double"
    labels = said.select("label").toPandas()["label"].to_numpy()
    table = iris.select(["sepal.length", "petal.width"]).append_column("label", pa.array(labels))
    here = likely.fit(table, "label", likely.NaiveBayes(pseudo_count=2))
    order = np.argsort([float(c) for c in here.classes])
    got = np.array([row["probability"].toArray() for row in said.select("probability").collect()])
    assert np.array_equal(got, here.posterior(table).matrix[:, order])
    score = MulticlassClassificationEvaluator(metricName="logLoss").evaluate(said)
    assert score == pytest.approx(-np.log(got[np.arange(150), labels.astype(int)]).mean())

    made.write().overwrite().save(str(tmp_path / "pipe"))
    again = PipelineModel.load(str(tmp_path / "pipe"))
    assert again.stages[1].uid == made.stages[1].uid and again.stages[1].getInputCols() == stages[1].getInputCols()
    assert again.stages[1].model.to_bytes() == made.stages[1].model.to_bytes()
    assert again.transform(df).collect() == said.collect()


def test_labels_of_text_are_predicted_as_text_and_the_default_is_that_of_fit(spark: Any, iris: pa.Table) -> None:
    df = frame(spark, iris)
    made = likely.spark.LikelyClassifier(labelCol=TARGET, predictionCol="named", probabilityCol="shares").fit(df)
    here, there = (SimpleNamespace(state=one.search_state) for one in (likely.fit(iris, TARGET), made.model))
    assert bits(there) == bits(here)
    said = made.transform(df.drop(TARGET))
    assert {row["named"] for row in said.collect()} == set(made.classes) and made.numClasses == 3
    with pytest.raises(ColumnError, match="has no column 'colour'"):
        likely.spark.LikelyClassifier(labelCol=TARGET, inputCols=["colour"]).fit(df)


def test_vectors_are_refused_with_what_to_do(spark: Any, iris: pa.Table) -> None:
    from pyspark.ml.feature import VectorAssembler

    df = VectorAssembler(inputCols=["`sepal.length`", "`petal.width`"], outputCol="features").transform(
        frame(spark, iris)
    )
    with pytest.raises(ColumnError, match="leave the VectorAssembler out"):
        likely.spark.LikelyClassifier(labelCol=TARGET).fit(df)


def test_an_estimator_is_saved(spark: Any, tmp_path: Path) -> None:
    one = likely.spark.LikelyClassifier(labelCol="a b", weightCol="w", learner="Prior", types={"x": "nominal"})
    one.write().overwrite().save(str(tmp_path / "estimator"))
    again = likely.spark.LikelyClassifier.load(str(tmp_path / "estimator"))
    assert {p.name: v for p, v in again.extractParamMap().items()} == {
        p.name: v for p, v in one.extractParamMap().items()
    }


def test_a_stream_is_learned_once_however_often_a_batch_is_repeated(spark: Any, iris: pa.Table, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    shuffled = iris.take(np.random.default_rng(0).permutation(len(iris)))
    names = [f"c{k}" for k in range(5)]
    shuffled = shuffled.rename_columns(names)
    source = tmp_path / "rows"
    source.mkdir()
    for k in range(3):
        pq.write_table(shuffled.slice(50 * k, 50), source / f"{k}.parquet")
        # Spark takes files by when they were written, and three within a millisecond in any order.
        os.utime(source / f"{k}.parquet", (1_700_000_000 + 60 * k,) * 2)
    learner = likely.spark.StreamLearner(tmp_path / "models", "c4")
    with pytest.raises(SettingError, match="No rows have come yet"):
        _ = learner.model
    stream = spark.readStream.schema("c0 double, c1 double, c2 double, c3 double, c4 string")
    running = (
        stream.option("maxFilesPerTrigger", 1).parquet(str(source)).writeStream.foreachBatch(learner)
        .option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    )  # fmt: skip
    running.awaitTermination(120)
    whole = learner.model
    table = likely.summarize(shuffled, schema=whole.summary.schema)
    apart = [n for n in table.columns if table.canonical().columns[n] != whole.summary.canonical().columns[n]]
    assert whole.summary == table, (apart, whole.summary.total.floats(), table.total.floats(), whole.summary.classes)
    assert len(list((tmp_path / "models").iterdir())) == 2
    last = spark.read.parquet(str(source / "2.parquet"))
    learner(last, 2)  # as Spark does after a failure between the batch and its checkpoint
    assert learner.model.summary == whole.summary


def test_pandas_on_spark(spark: Any, iris: pa.Table) -> None:
    try:
        import pyspark.pandas
    except ImportError as error:
        pytest.skip(f"this pyspark.pandas does not know this pandas: {error}")
    assert pyspark.pandas
    names = iris.rename_columns(["a", "b", "c", "d", "e"])
    with quiet():
        df = frame(spark, names).pandas_api()
        model = likely.spark.fit(df, "e", "NaiveBayes")
        said = likely.spark.predict(model, df)
    assert model.summary == likely.summarize(names, "e")
    assert list(said.columns)[:6] == ["a", "b", "c", "d", "e", "prediction"]
