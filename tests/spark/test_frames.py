"""DataFrames: sums, searches, folds and predictions are the same to the last bit as on one machine."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spark.rows import awkward, frame, unsteady

import likely
import likely.spark
from likely.errors import ColumnError, InputError, SettingError
from likely.intake.reading import Reading
from likely.spark.session import quiet
from likely.spark.spread import Files, Frame, spread_of
from likely.sums import state

TARGET = "<y>"


def bits(summary: likely.Summary) -> bytes:
    return state.dump({"summary": summary.state()})


def test_a_summary_is_that_of_one_machine_to_the_last_bit(spark: Any) -> None:
    table = awkward(4_000)
    # Skewed: most rows in one part, some parts empty, the first among them.
    df = frame(spark, table, [0, 0, 10, 3_900, 3_901, 4_000, 4_000])
    own, here = (
        sums(t, TARGET, weight="weight") for sums, t in ((likely.spark.summarize, df), (likely.summarize, table))
    )
    assert bits(own) == bits(here)
    assert [c.why for c in own.schema.columns] == [c.why for c in here.schema.columns]


def test_what_learns_unnamed_is_what_fit_takes(spark: Any) -> None:
    table = awkward(200).drop(["who"])
    df = frame(spark, table, [0, 120, 200])
    assert likely.spark.fit(df, TARGET).learner == likely.fit(table, TARGET).learner
    for without in (lambda: likely.spark.fit(df), lambda: likely.fit(table)):
        with pytest.raises(likely.LikelyError, match="No target was named"):
            without()
    assert likely.spark.fit(df, learner="Density").learner == likely.Density()


def test_more_parts_than_one_task_joins(spark: Any) -> None:
    table = awkward(200).drop(["who"])
    with quiet():
        df = spark.createDataFrame(table).repartition(70)
    assert bits(likely.spark.summarize(df, TARGET)) == bits(likely.summarize(table, TARGET))


def test_sums_beyond_the_first_order_and_words(spark: Any) -> None:
    rng = np.random.default_rng(3)
    words = np.array(["spam", "ham", "eggs", "straße", "I'm", "very", "much", "so", "and", "then"])
    texts = [" ".join(rng.choice(words, rng.integers(4, 12))) + f" no{k}" for k in range(600)]
    table = awkward(600).append_column("said", pa.array(texts))
    df = frame(spark, table, [0, 123, 400, 600])
    types = {"said": "text"}
    own = likely.spark.summarize(df, TARGET, types=types, more=["pairs", "products"])
    assert bits(own) == bits(likely.summarize(table, TARGET, types=types, more=["pairs", "products"]))
    # Its settings of text are chosen on rows that are held out by their place.
    naive = likely.NaiveBayes()
    here, there = likely.fit(table, TARGET, naive, types=types), likely.spark.fit(df, TARGET, naive, types=types)
    assert state.dump(there.search_state()) == state.dump(here.search_state())
    assert np.array_equal(there.posterior(table).matrix, here.posterior(table).matrix)


def test_auto_chooses_the_same(spark: Any) -> None:
    table = awkward(300).select(["a.b", "few", TARGET])
    df = frame(spark, table, [0, 299, 300])
    here, there = likely.fit(table, TARGET), likely.spark.fit(df, TARGET)
    assert isinstance(here.learner, likely.Auto) and here.trial.rows
    assert state.dump(there.search_state()) == state.dump(here.search_state())


@pytest.fixture(scope="module")
def long() -> pa.Table:
    """Several pieces, so that some lie across parts."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=40_000)
    y = np.where(rng.random(40_000) < 1 / (1 + np.exp(-x)), "b", "a")
    return pa.table({"x": x, "level": rng.choice(["p", "q", "r"], 40_000), "y": y})


def test_searches_see_the_rows_in_their_order(spark: Any, long: pa.Table) -> None:
    df = frame(spark, long, [0, 7, 16_384, 16_384, 39_999, 40_000])
    for learner in (
        likely.Additive(rounds=20),
        likely.Logistic(max_sweeps=3),
        likely.Mixture((likely.NaiveBayes(), likely.Logistic(max_sweeps=1)), weights="held-out"),
    ):
        here, there = likely.fit(long, "y", learner), likely.spark.fit(df, "y", learner)
        assert state.dump(there.search_state()) == state.dump(here.search_state())


def test_cross_validation_deals_the_same_folds(spark: Any) -> None:
    table = awkward(1_500)
    df = frame(spark, table, [0, 0, 700, 1_490, 1_500])
    learners = {"naive": likely.NaiveBayes(), "tree": likely.TreeAugmented(), "logistic": likely.Logistic(max_sweeps=2)}
    own = likely.spark.compare(df, TARGET, learners, folds=3)
    here = likely.compare(table, TARGET, learners, folds=3)
    assert [one.refused for one in own.learners if one.scores is None] == []
    assert own.learners == here.learners


def test_predictions_are_a_transform(spark: Any) -> None:
    table = awkward(300)
    model = likely.fit(table, TARGET)
    df = frame(spark, table, [0, 50, 50, 300])
    found = likely.spark.predict(model, df)
    assert found.columns == [*table.schema.names, "prediction", *(f"p({c})" for c in model.classes)]
    rows = found.toArrow()
    here = model.posterior(table)
    assert rows["prediction"].to_pylist() == list(here.best)
    for k, name in enumerate(model.classes):
        assert np.array_equal(rows[f"p({name})"].to_numpy(), here.matrix[:, k])
    assert rows.select(table.schema.names).to_pylist() == table.to_pylist()
    # Attributes that are not there count as missing, and only the new columns may be asked for.
    only = likely.spark.predict(model, df.select("few", "A"), keep=False)
    assert only.columns == ["prediction", *(f"p({c})" for c in model.classes)]
    assert only.toArrow()["prediction"].to_pylist() == list(model.posterior(table.select(["few", "A"])).best)


def test_pairs_and_trees_predict_on_a_cluster(spark: Any) -> None:
    """Additive on executors, with gaps and rows of other parts, is what it is here to the last bit."""
    rng = np.random.default_rng(8)
    x, z, level = rng.normal(size=1_500), rng.normal(size=1_500), rng.choice(["p", "q", "r"], 1_500)
    y = np.where((x > 0) ^ (level == "q") ^ (z > 0.5), "a", np.where(x > 1, "b", "c"))
    gone = rng.random(1_500) < 0.1
    table = pa.table({"x": pa.array(x, mask=gone), "z": z, "level": pa.array(level, mask=gone[::-1]), "y": y})
    df = frame(spark, table, [0, 0, 700, 1_499, 1_500])
    for order in (2, "any"):
        model = likely.fit(table, "y", likely.Additive(order=order, rounds=40))
        assert any("×" in name for name in model.terms(next(iter(model.batches(table)))).names)
        here, rows = model.posterior(table), likely.spark.predict(model, df).toArrow()
        assert rows["prediction"].to_pylist() == list(here.best)
        for k, name in enumerate(model.classes):
            assert np.array_equal(rows[f"p({name})"].to_numpy(), here.matrix[:, k])


def test_what_is_wrong_is_said(spark: Any) -> None:
    table = awkward(30)
    df = frame(spark, table, [0, 10, 30])
    with pytest.raises(ColumnError, match="Did you mean '<y>'"):
        likely.spark.summarize(df, "y>")
    with pytest.raises(ColumnError, match="already has a column"):
        model = likely.fit(table, TARGET)
        likely.spark.predict(model, likely.spark.predict(model, df))
    with pytest.raises(SettingError, match="cannot be spread"):
        likely.spark.summarize(table, TARGET)
    with pytest.raises(SettingError, match="keep, skip_bad and push"):
        likely.spark.summarize(df, TARGET, keep="sums")
    minus = table.set_column(5, "weight", pa.array([1.0] * 15 + [-1.0] * 15))
    with pytest.raises(ColumnError, match="In part 2 of the table: The weight in row 6 "):
        likely.spark.summarize(frame(spark, minus, [0, 10, 30]), TARGET, weight="weight")
    with pytest.raises(InputError, match="has no rows"):
        likely.spark.summarize(frame(spark, table, [0, 0, 0]), TARGET)
    twice = df.select("few", "few", TARGET)
    with pytest.raises(ColumnError, match="few"):
        likely.spark.summarize(twice, TARGET)


def test_rows_that_change_between_sweeps_are_noticed(spark: Any) -> None:
    df = spark.range(0, 4, 1, 4).mapInArrow(unsteady, "x double, y string")
    with pytest.raises(InputError, match="Persist the DataFrame"):
        likely.spark.fit(df, "y", likely.Logistic())


def test_an_executor_without_the_package_is_named(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Gone:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'likely':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Gone())\n"
    )
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path}:$PYTHONPATH exec {sys.executable} "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(bare))
    with quiet():
        df = spark.createDataFrame(pa.table({"x": [1.5, 2.5], "y": ["a", "b"]}))
    with pytest.raises(InputError, match="no package 'likely'"):
        likely.spark.summarize(df, "y")


def plain(count: int) -> pa.Table:
    """Rows whose types are the same to Spark and to Arrow."""
    table = awkward(count)
    kept = [f.name for f in table.schema if pa.types.is_string(f.type) or pa.types.is_floating(f.type)]
    return table.select(kept)


def test_a_frame_that_is_only_files_is_read_by_tasks(spark: Any, tmp_path: Path) -> None:
    """Rows then do not go through Spark; the sums are the same to the last bit."""
    folder = tmp_path / "some rows %41"
    folder.mkdir()
    table = plain(4000)
    for k in range(3):
        pq.write_table(table.slice(1000 * k, 1000 if k < 2 else None), folder / f"part {k}.parquet", row_group_size=300)
    df = spark.read.parquet(str(folder))
    spread = spread_of(df, Reading(TARGET))
    assert isinstance(spread, Files)
    assert bits(likely.spark.summarize(df, TARGET)) == bits(likely.summarize(table, TARGET))
    assert sum(spread.count_rows()) == 4000


def test_other_frames_go_through_spark(spark: Any, tmp_path: Path) -> None:
    path, csv, parts = (str(tmp_path / name) for name in ("a.parquet", "a.csv", "parts"))
    table = plain(500)
    pq.write_table(table, path)
    df = spark.read.parquet(path)
    df.write.csv(csv, header=True)
    df.write.partitionBy(TARGET).parquet(parts)
    moments = str(tmp_path / "moments.parquet")
    pq.write_table(table.append_column("when", pa.array([datetime(2026, 1, 1)] * 500, pa.timestamp("us"))), moments)
    first = "who"
    for other in (
        df.limit(100),
        df.filter(df[first].isNotNull()),
        df.drop(first),
        df.withColumnRenamed(first, "other"),
        df.union(df),
        spark.read.csv(csv, header=True),
        spark.read.parquet(parts),
        spark.read.parquet(moments),
        spark.read.schema(spark.read.parquet(path).drop(first).schema).parquet(path),
    ):
        assert isinstance(spread_of(other, Reading(TARGET)), Frame), other
    df.cache()
    assert isinstance(spread_of(df, Reading(TARGET)), Frame)
    df.unpersist()
    assert bits(likely.spark.summarize(df.limit(500), TARGET)) == bits(likely.summarize(table, TARGET))
