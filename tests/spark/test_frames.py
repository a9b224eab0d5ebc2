"""Frames, files and pipelines of Spark."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from spark.rows import awkward, frame, unsteady

import likely
import likely.spark
from likely.errors import ColumnError, InputError, LikelyError, SettingError
from likely.intake.reading import Reading
from likely.intake.summarize import summarize_table
from likely.spark.folding import SparkEngine
from likely.spark.parcel import packed, unpacked
from likely.spark.session import quiet
from likely.spark.spread import Files, Frame, spread_of
from likely.sums import state
from likely.table.arrow import pack_schema
from likely.table.fragments import Fragment, TextOptions, cut_files, cut_text, open_fragment
from likely.table.open import open_source

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


def test_parts_of_dates_are_tried_as_on_one_machine(spark: Any) -> None:
    rng = np.random.default_rng(4)
    when = [datetime(2023, 1, 1) + timedelta(hours=int(h)) for h in rng.integers(0, 600 * 24, 500)]
    late = [bool((w.weekday() == 4) != (rng.random() < 0.1)) for w in when]
    table = pa.table({"when": pa.array(when, pa.timestamp("us", "UTC")), "late": [str(v) for v in late]})
    own, here = likely.spark.fit(frame(spark, table, [0, 300, 500]), "late"), likely.fit(table, "late")
    assert "when: weekday" in own.schema.names and own.schema == here.schema and own.notes == here.notes
    rows = {"when": ["2023-03-03 19:30", "2023-03-04", None]}
    assert np.array_equal(own.posterior(rows).matrix, here.posterior(rows).matrix)


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
        assert model.importance is not None and len(model.importance.together) == 3, "it must tell something in pairs"
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


# Files: tasks open their own fragments, cut at row groups and at the ends of rows; sums are those of one machine.


def rows_of(fragments: list[Fragment], how: TextOptions, path: Path) -> list[dict[str, Any]]:
    schema = pack_schema(open_source(path).schema)
    opened = [open_fragment(f, how, schema) for f in fragments]
    return [row for source in opened for batch in source.batches() for row in batch.to_pylist()]


cells = st.text(st.sampled_from("ab\",\n\r é;'"), max_size=6)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=40), st.integers(1, 60), st.sampled_from(["\n", "\r\n"]))
def test_a_text_is_cut_only_between_rows(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], size: int, end: str
) -> None:
    path = tmp_path_factory.mktemp("cut") / "t.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator=end)
        writer.writerows([("one", "two"), *rows, ("z", "z")])
    try:
        here = [row for batch in open_source(path, delimiter=",").batches() for row in batch.to_pylist()]
    except LikelyError:  # Python leaves a lone carriage return without quotes, and the row is torn for everyone
        assume(False)
    whole = cut_files(str(path), TextOptions(delimiter=",")).fragments[0]
    parts = cut_text(whole, TextOptions(delimiter=","), size)
    assert [p.begin for p in parts[1:]] == [p.end for p in parts[:-1]] and parts[-1].end == path.stat().st_size
    assert rows_of(parts, TextOptions(delimiter=","), path) == here


def test_a_quote_in_the_middle_of_a_cell_is_a_letter(tmp_path: Path) -> None:
    path = tmp_path / "pipes.csv"
    path.write_text('size,y\n5" pipe,a\n"3"" pipe\nlong",b\n' * 50, "utf-8-sig")
    parts = cut_text(cut_files(str(path), TextOptions()).fragments[0], TextOptions(), 40)
    assert len(parts) > 20
    assert rows_of(parts, TextOptions(), path) == [r for b in open_source(path).batches() for r in b.to_pylist()]


def test_parquet_and_text_in_fragments(spark: Any, tmp_path: Path) -> None:
    table = awkward(900)
    pq.write_table(table.slice(0, 600), tmp_path / "a.parquet", row_group_size=100)
    pq.write_table(table.slice(600), tmp_path / "b.parquet")
    here = likely.summarize(tmp_path, TARGET)
    spread = Files.at(str(tmp_path), Reading(TARGET), spark, size=1 << 12)
    assert spread.parts and spread.parts > 3 and spread.count_rows()[-1] > 0 and sum(spread.count_rows()) == 900
    assert bits(summarize_table(SparkEngine(spread), Reading(TARGET), lambda schema: frozenset({"pairs"}))) == bits(
        likely.summarize(tmp_path, TARGET, more=["pairs"])
    )
    text = tmp_path / "text" / "odd [name].csv"
    text.parent.mkdir()
    pa.csv.write_csv(table, text)
    spread = Files.at(str(text), Reading(TARGET), spark, size=1 << 14)
    assert spread.parts and spread.parts > 2
    there = summarize_table(SparkEngine(spread), Reading(TARGET), lambda schema: frozenset())
    assert bits(there) == bits(likely.summarize(text, TARGET)) and there.classes == here.classes


def test_a_search_over_texts_gives_the_same_bits(spark: Any, tmp_path: Path) -> None:
    # Sums of floats: the same on this machine from Parquet, from text, and from fragments.
    table = awkward(20_000, 2).select(["few", "A", "`t i c k`", TARGET])
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=7_001)
    pa.csv.write_csv(table, tmp_path / "t.csv")
    learner = likely.Logistic(max_sweeps=3)
    one = likely.fit(tmp_path / "t.parquet", TARGET, learner)
    two = likely.fit(tmp_path / "t.csv", TARGET, learner)
    three = likely.spark.fit(tmp_path / "t.parquet", TARGET, learner)
    assert state.dump(one.search_state()) == state.dump(two.search_state()) == state.dump(three.search_state())


def test_what_is_wrong_with_files_is_said(spark: Any, tmp_path: Path) -> None:
    table = awkward(40)
    pq.write_table(table, tmp_path / "a.parquet")
    pq.write_table(table.drop(["few"]), tmp_path / "b.parquet")
    with pytest.raises(ColumnError, match=r"b\.parquet has no column 'few', but a\.parquet has it"):
        likely.spark.summarize(tmp_path, TARGET)
    (tmp_path / "b.parquet").unlink()
    spread = Files.at(str(tmp_path), Reading(TARGET), spark)
    pq.write_table(awkward(41), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet changed while it was read"):
        summarize_table(SparkEngine(spread), Reading(TARGET), lambda schema: frozenset())
    os.unlink(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="does not exist on an executor"):
        summarize_table(SparkEngine(spread), Reading(TARGET), lambda schema: frozenset())
    bad = tmp_path / "latin.csv"
    bad.write_bytes(b"x,y\n" + b"a,1\nb,2\n" * 200_000 + "é,1\n".encode("latin-1"))
    assert bits(likely.spark.summarize(bad, "y")) == bits(likely.summarize(bad, "y"))


def test_objects_travel_by_their_parts() -> None:
    model = likely.fit(awkward(200), TARGET)
    shared = [model, model.summary]
    again = unpacked(packed(shared))
    assert again[0].summary is again[1] and again[1] == model.summary
    assert again[0].posterior(awkward(50, 1)).matrix.tolist() == model.posterior(awkward(50, 1)).matrix.tolist()
    odd = {"a": (1, -(1 << 80), float("nan"), float("-inf"), None, True, b"\0", {1, 2}), 3: [], ("k", 1): 1.5}
    back = unpacked(packed(odd))
    assert repr(back) == repr(odd)
    with pytest.raises(SettingError, match="no part of likely"):
        packed(Path("x"))
    with pytest.raises(SettingError, match="no part of likely"):
        packed(lambda: 1)


def run(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    done = [sys.executable, "-m", "likely", *words]
    # Tasks must find likely unasked, so the setting of the other tests is not handed on.
    own = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
    return subprocess.run(done, capture_output=True, text=True, env={**own, **env}, check=False)


def test_the_command_line(spark: Any, tmp_path: Path) -> None:
    pq.write_table(awkward(60), tmp_path / "a b.parquet")
    there, here = tmp_path / "there.likely", tmp_path / "here.likely"
    memory = "--driver-memory 600m --conf spark.sql.codegen.wholeStage=false pyspark-shell"
    words = ("fit", str(tmp_path / "a b.parquet"), TARGET, "--weight", "weight")
    day = {"SOURCE_DATE_EPOCH": "0"}  # else the file says by which command it was made
    done = run(*words, "--engine", "spark", "--master", "local[1]", "-o", str(there), PYSPARK_SUBMIT_ARGS=memory, **day)
    assert done.returncode == 0, done.stderr
    assert run(*words, "-o", str(here), **day).returncode == 0
    assert there.read_bytes() == here.read_bytes()


def test_the_command_line_without_java_or_pyspark(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("x,y\n1,a\n2,b\n")
    words = ("fit", str(table), "y", "--engine", "spark", "-o", str(tmp_path / "m.likely"))
    empty = tmp_path / "bin"
    empty.mkdir()
    pytest.importorskip("pyspark")
    done = run(*words, PATH=str(empty), JAVA_HOME="")
    assert done.returncode == 2 and "Spark needs Java, which is not found" in done.stderr
    done = run(*words, JAVA_HOME=str(empty))
    assert done.returncode == 2 and "JAVA_HOME is" in done.stderr
    done = run(*words, "--master", "spark://127.0.0.1:1")
    assert done.returncode == 2 and done.stderr.startswith("likely: There is no Spark at 'spark://127.0.0.1:1'.")
    done = run("fit", "none.csv", *words[2:])
    assert done.returncode == 2 and "There is no file" in done.stderr and done.stderr.count("\n") == 1
    # A module of that name that cannot be imported stands before the real one.
    (tmp_path / "pyspark.py").write_text("raise ImportError")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = run(*words, PYTHONPATH=path)
    assert done.returncode == 2 and "pip install 'likely[spark]'" in done.stderr
    assert not (tmp_path / "m.likely").exists()
    assert run(*words[:3], "--master", "local[1]", "-o", str(tmp_path / "m.likely")).returncode == 2


def test_the_python_in_the_document_runs(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).resolve().parents[2]
    monkeypatch.chdir(root)
    code = re.findall(r"```python\n(.*?)```", (root / "docs" / "spark.md").read_text(encoding="utf-8"), re.DOTALL)
    found: dict[str, Any] = {}
    with quiet():
        exec("\n".join(code), found)
    assert found["model"].summary.rows == 14 and len(found["record"].learners) == 2
