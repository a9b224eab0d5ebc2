"""A real standalone cluster on loopback: a worker is killed in the middle, and the sums are those of one machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from spark.conftest import LIGHT, java
from spark.rows import awkward

import likely
from likely.models.additive import boosting

pyspark = pytest.importorskip("pyspark")
HOME = Path(pyspark.__path__[0])


def free_port() -> int:
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return int(some.getsockname()[1])


class Cluster:
    """A master and its workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.address = f"spark://127.0.0.1:{self.port}"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.env = {
            **os.environ,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_HOME": str(HOME),
            "SPARK_SCALA_VERSION": "2.13",
            "JAVA_TOOL_OPTIONS": LIGHT,
            "SPARK_WORKER_DIR": str(folder),
            "SPARK_NO_DAEMONIZE": "1",
            "PYSPARK_PYTHON": sys.executable,
        }
        options = ["--host", "127.0.0.1", "--port", str(self.port), "--webui-port", str(free_port())]
        self.start("org.apache.spark.deploy.master.Master", *options)
        self._await(self._answers, "the master")

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        with open(self.folder / f"log{len(self.processes)}", "wb") as log:
            # A group of its own, so that a worker goes down with its executors, as a machine does.
            process = subprocess.Popen(
                ["java", "-Xmx256m", "-cp", f"{HOME}/jars/*", *words],
                env=self.env,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def worker(self) -> subprocess.Popen[bytes]:
        options = ["--host", "127.0.0.1", "--cores", "1", "--memory", "700m", "--webui-port", str(free_port())]
        return self.start("org.apache.spark.deploy.worker.Worker", *options, self.address)

    def _answers(self) -> bool:
        with socket.socket() as some:
            return some.connect_ex(("127.0.0.1", self.port)) == 0

    def _await(self, ready: Callable[[], bool], what: str) -> None:
        for _ in range(600):
            if ready():
                return
            time.sleep(0.1)
        pytest.fail(f"{what} did not come up")

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """A machine goes down: the worker and its executors, which are in its group."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                self.kill(process)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if not java() or not (HOME / "jars").is_dir() or not os.access(HOME / "bin" / "spark-class", os.X_OK):
        pytest.skip("Java, or pyspark's scripts, are not installed")
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield made
    finally:
        made.stop()


DRIVER = """
    import os, sys, threading, time
    import likely.spark
    from likely.spark.session import quiet
    address, folder, out = sys.argv[1:]
    with quiet():
        from pyspark.sql import SparkSession
        builder = SparkSession.builder.master(address).config("spark.ui.enabled", "false")
        for name, value in {
            "spark.executor.memory": "512m", "spark.executor.cores": "1", "spark.driver.memory": "512m",
            "spark.driver.host": "127.0.0.1", "spark.sql.codegen.wholeStage": "false",
            "spark.sql.shuffle.partitions": "2", "spark.log.level": "OFF",
            "spark.ui.showConsoleProgress": "false",
            "spark.executorEnv.PYTHONPATH": os.path.dirname(likely.__path__[0]),
        }.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
    while spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() < int(WORKERS) + 1:
        time.sleep(0.1)

    def watch():
        tracker = spark.sparkContext.statusTracker()
        while True:
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info is not None and 2 <= info.numCompletedTasks <= info.numTasks - 8:
                    print("middle", flush=True)
                    return
            time.sleep(0.02)

    threading.Thread(target=watch, daemon=True).start()
    likely.spark.fit(folder, "<y>", likely.NaiveBayes(), spark=spark).save(out)
"""


def drive(cluster: Cluster, folder: Path, out: Path, workers: int, words: str = DRIVER) -> subprocess.Popen[str]:
    program = textwrap.dedent(words).replace("WORKERS", repr(str(workers)))
    command = [sys.executable, "-c", program, cluster.address, str(folder), str(out)]
    return subprocess.Popen(command, env=cluster.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


@pytest.mark.long
def test_a_worker_that_dies_changes_nothing(cluster: Cluster, tmp_path: Path) -> None:
    table, folder = awkward(2_400).drop(["who"]), tmp_path / "data"
    folder.mkdir()
    for k in range(24):
        pq.write_table(table.slice(100 * k, 100), folder / f"{k:02}.parquet")
    first, second = cluster.worker(), cluster.worker()
    driver = drive(cluster, folder, tmp_path / "there.likely", 2)
    assert driver.stdout is not None and driver.stdout.readline() == "middle\n"  # some tasks are done, others not
    cluster.kill(first)
    said, _ = driver.communicate(timeout=240)
    cluster.kill(second)
    assert driver.returncode == 0 and not said
    likely.fit(folder, "<y>", likely.NaiveBayes()).save(tmp_path / "here.likely")
    assert (tmp_path / "there.likely").read_bytes() == (tmp_path / "here.likely").read_bytes()


TOGETHER = """
    def watch():
        tracker, seen = spark.sparkContext.statusTracker(), 0
        while seen < 60:
            active = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            seen = seen + 1 if any(i is not None and i.numTasks == i.numActiveTasks == 2 for i in active) else 0
            time.sleep(0.05)
        print("middle", flush=True)

    from likely.models.additive import additive, boosting
    from likely.spark import together
    boosting.MOST_TRIED = additive.MOST_HOME = 300
    together.LEAST_ROWS, together.PAUSE, together.PATIENCE = 500, 1.0, 4
    threading.Thread(target=watch, daemon=True).start()
    likely.spark.fit(folder, "<y>", likely.Additive("any", leaves=4, rounds=4), spark=spark).save(out)
"""


@pytest.mark.long
def test_fewer_go_on_where_a_worker_is_lost_for_good(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, folder = awkward(2_400).drop(["who"]), tmp_path / "data"
    folder.mkdir()
    for k in range(3):
        pq.write_table(table.slice(800 * k, 800), folder / f"{k:02}.parquet")
    workers = [cluster.worker(), cluster.worker()]
    head = DRIVER[: DRIVER.index("    def watch():")]
    driver = drive(cluster, folder, tmp_path / "there.likely", 2, head + TOGETHER)
    assert driver.stdout is not None and driver.stdout.readline() == "middle\n"
    cluster.kill(workers[0])
    said, _ = driver.communicate(timeout=300)
    cluster.kill(workers[1])
    assert driver.returncode == 0 and not said
    monkeypatch.setattr(boosting, "MOST_TRIED", 300)
    likely.fit(folder, "<y>", likely.Additive("any", leaves=4, rounds=4)).save(tmp_path / "here.likely")
    assert (tmp_path / "there.likely").read_bytes() == (tmp_path / "here.likely").read_bytes()
