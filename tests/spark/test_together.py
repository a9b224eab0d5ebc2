"""Additive where the rows are: the model of one machine to the last bit, however rows are cut."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spark.conftest import LIGHT, java
from spark.rows import frame

import likely
import likely.spark
from likely.models.additive import additive, boosting
from likely.spark import together
from likely.sums import state


def flights(rows: int, seed: int) -> pa.Table:
    """Two classes, levels, and rows that are often equal."""
    rng = np.random.default_rng(seed)
    place, hour = rng.integers(0, 12, rows), rng.integers(0, 24, rows)
    late = rng.random(rows) < 0.2 + 0.5 * (place % 3 == hour % 3)
    days = rng.choice(["Mon", "Tue", "Sun"], rows)
    return pa.table(
        {"place": [f"p{k}" for k in place], "hour": hour, "day": days, "y": np.where(late, "late", "in time")}
    )


def numbers(rows: int, seed: int) -> pa.Table:
    """Several classes, numbers, and missing cells."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, rows))
    y = (x + z * (x > 0) + rng.normal(size=rows) / 2 > [[-0.5], [0.5]]).sum(axis=0)
    return pa.table(
        {
            "x": pa.array(x, mask=rng.random(rows) < 0.1),
            "z": np.round(z, 2),
            "k": pa.array(rng.choice(["a", "b", "c"], rows), mask=rng.random(rows) < 0.05),
            "y": pa.array(np.array(["low", "middle", "high"])[y], mask=rng.random(rows) < 0.01),
        }
    )


def weighed(rows: int, seed: int) -> pa.Table:
    """Weights that are no whole numbers, and some that are 0."""
    return flights(rows, seed).append_column("w", pa.array(np.random.default_rng(seed).choice([0.0, 0.1, 1.7], rows)))


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows are many here."""
    monkeypatch.setattr(boosting, "MOST_TRIED", 300)
    monkeypatch.setattr(additive, "MOST_HOME", 300)
    monkeypatch.setattr(together, "LEAST_ROWS", 500)


@pytest.fixture
def worked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """In how many places tasks worked together, each time."""
    found: list[int] = []
    work = together.work_together

    def noted(spread: Any, sweep: Any, summary: Any, places: int) -> Any:
        found.append(places)
        return work(spread, sweep, summary, places)

    monkeypatch.setattr("likely.spark.folding.work_together", noted)
    return found


def bits(model: likely.Model) -> bytes:
    return state.dump({"summary": model.summary.state(), "found": model.state, "notes": list(model.notes)})


TABLES = [
    pytest.param(weighed, {"weight": "w"}, 4, id="weights"),
    pytest.param(weighed, {"weight": "w"}, 32, id="weights, long", marks=pytest.mark.long),
    pytest.param(flights, {}, 32, id="levels", marks=pytest.mark.long),
    pytest.param(numbers, {}, 32, id="numbers", marks=pytest.mark.long),
]


@pytest.mark.parametrize(("make", "more", "leaves"), TABLES)
def test_terms_are_those_of_one_machine_to_the_last_bit(
    spark: Any, make: Any, more: dict[str, Any], leaves: int, many: None, worked: list[int]
) -> None:
    """Few trees: an exchange takes a second."""
    table, learner = make(3_000, 7), likely.Additive(order="any", leaves=leaves, rounds=1 + leaves // 16)
    here = likely.fit(table, "y", learner, **more)
    rows = table.take(np.random.default_rng(1).permutation(len(table)))
    there = likely.spark.fit(frame(spark, rows, [0, 0, 1_000, 1_001, 3_000]), "y", learner, **more)
    assert bits(there) == bits(here)
    assert worked == [2]


def test_members_of_a_pool_go_one_after_the_other(spark: Any, many: None, worked: list[int]) -> None:
    table, learner = flights(3_000, 3), likely.Additive("any", rounds=1, leaves=2)
    pool = likely.Pool(members=(likely.NaiveBayes(), learner), weights=(0.5, 0.5))
    there = likely.spark.fit(frame(spark, table, [0, 1_000, 3_000]), "y", pool)
    assert bits(there) == bits(likely.fit(table, "y", pool))
    assert worked == [2]


def test_few_different_rows_come_home(spark: Any, many: None, worked: list[int]) -> None:
    table, learner = flights(3_000, 3).drop(["hour"]), likely.Additive(rounds=40)
    there = likely.spark.fit(frame(spark, table, [0, 1_000, 3_000]), "y", learner)
    assert bits(there) == bits(likely.fit(table, "y", learner))
    assert worked == [2]


DRIVER = """
    import os, sys, threading, time
    import likely.spark
    from likely.models.additive import additive, boosting
    from likely.spark import together
    from likely.spark.session import quiet
    boosting.MOST_TRIED = additive.MOST_HOME = 300
    together.LEAST_ROWS = 500
    folder, out = sys.argv[1:]
    with quiet():
        from pyspark.sql import SparkSession
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
        for name, value in {
            "spark.executor.memory": "512m", "spark.driver.memory": "512m", "spark.driver.host": "127.0.0.1",
            "spark.sql.shuffle.partitions": "2", "spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false",
            "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        }.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
    while spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() < 3:
        time.sleep(0.1)

    def watch():
        tracker = spark.sparkContext.statusTracker()
        seen = 0
        while seen < 60:
            active = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            seen = seen + 1 if any(i is not None and i.numTasks == i.numActiveTasks == 2 for i in active) else 0
            time.sleep(0.05)
        print("middle", flush=True)

    threading.Thread(target=watch, daemon=True).start()
    learner = likely.Additive("any", leaves=4, rounds=4)
    likely.spark.fit(folder, "y", learner, spark=spark, weight="w").save(out)
"""


def processes(above: int, words: str) -> list[int]:
    """The processes below one whose command says so."""
    parents, found = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if words in (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode():
                found.append(int(folder.name))
        except OSError:
            continue

    def below(process: int) -> bool:
        while process in parents and process != above:
            process = parents[process]
        return process == above

    return sorted(filter(below, found))


@pytest.mark.long
@pytest.mark.parametrize("lost", ["pyspark.daemon", "CoarseGrainedExecutorBackend"])
def test_what_is_lost_in_the_middle_changes_nothing(lost: str, tmp_path: Path, many: None) -> None:
    home = Path(pytest.importorskip("pyspark").__path__[0])
    if not java() or not Path("/proc").is_dir() or not os.access(home / "bin" / "spark-class", os.X_OK):
        pytest.skip("Java, or pyspark's scripts, are not installed")
    folder, table = tmp_path / "data", weighed(3_000, 7)
    folder.mkdir()
    for k in range(3):
        pq.write_table(table.slice(1_000 * k, 1_000), folder / f"{k}.parquet")
    paths = [str(Path(likely.__path__[0]).parent), str(Path(__file__).parents[1])]
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(home),
        "SPARK_SCALA_VERSION": "2.13",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "JAVA_TOOL_OPTIONS": LIGHT,
    }
    words = [sys.executable, "-c", textwrap.dedent(DRIVER), str(folder), str(tmp_path / "there.likely")]
    driver = subprocess.Popen(
        words, env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert driver.stdout is not None and driver.stdout.readline() == "middle\n"
    os.kill(processes(driver.pid, lost)[-1], signal.SIGKILL)
    driver.communicate(timeout=400)
    assert driver.returncode == 0
    likely.fit(folder, "y", likely.Additive("any", leaves=4, rounds=4), weight="w").save(tmp_path / "here.likely")
    assert (tmp_path / "there.likely").read_bytes() == (tmp_path / "here.likely").read_bytes()
