"""One contestant of cluster.py, in the environment that has it: `python cluster_run.py NAME FOLDER`.

Prints the seconds of reading and learning: by the clock, and of all processors.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LEVELS = {"sex": 2, "size": 3, "grade": 5, "month": 12, "state": 30, "code": 100}
NUMBERS = ("one", "two", "three", "four", "five", "six")
TARGET = "colour"


def busy() -> float:
    """Processor seconds of this process and of all that descend from it, dead or alive."""
    tick, parents, spent = os.sysconf("SC_CLK_TCK"), dict[int, int](), dict[int, float]()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                rest = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            pid = int(entry.name)
            parents[pid] = int(rest[1])
            spent[pid] = sum(map(int, rest[11:15])) / tick  # own, and of children that were waited for
    ours, known = 0.0, {os.getpid()}
    while True:
        more = {p for p, parent in parents.items() if parent in known} - known
        if not more:
            break
        known |= more
    for pid in known:
        ours += spent.get(pid, 0.0)
    return ours


def timed(work: Callable[[], Any]) -> None:
    before, start = busy(), time.perf_counter()
    work()
    clock = time.perf_counter() - start
    print("seconds", clock, busy() - before)


def likely(folder: Path, name: str = "t.parquet") -> None:
    import likely as tool

    tool.fit(folder / f"some{Path(name).suffix}", TARGET, tool.NaiveBayes())  # imports, and loads compiled code
    timed(lambda: tool.fit(folder / name, TARGET, tool.NaiveBayes()))


def likely_csv(folder: Path) -> None:
    likely(folder, "t.csv")


def _session() -> Any:
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.master("local[2]").config("spark.driver.memory", "2g")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "OFF",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.range(0, 2, 1, 2).mapInArrow(lambda batches: batches, "id long").collect()  # Java, and Python workers
    return spark


def likely_spark(folder: Path) -> None:
    import likely.spark as tool
    from likely import NaiveBayes

    spark = _session()
    tool.summarize(folder / "some.parquet", TARGET, spark=spark)
    timed(lambda: tool.fit(folder / "t.parquet", TARGET, NaiveBayes(), spark=spark))


def likely_frame(folder: Path) -> None:
    import likely.spark as tool
    from likely import NaiveBayes

    spark = _session()
    tool.summarize(folder / "some.parquet", TARGET, spark=spark)
    timed(lambda: tool.fit(spark.read.parquet(str(folder / "t.parquet")), TARGET, NaiveBayes()))


def mllib(folder: Path) -> None:
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import OneHotEncoder, StringIndexer, VectorAssembler

    spark = _session()
    index, hot = [f"{n}_index" for n in LEVELS], [f"{n}_hot" for n in LEVELS]
    steps = Pipeline(
        stages=[
            StringIndexer(inputCols=[*LEVELS, TARGET], outputCols=[*index, "label"]),
            OneHotEncoder(inputCols=index, outputCols=hot),
            VectorAssembler(inputCols=[*hot, *NUMBERS], outputCol="features"),
            NaiveBayes(modelType="gaussian"),
        ]
    )
    spark.read.parquet(str(folder / "t.parquet")).limit(1000).count()
    timed(lambda: steps.fit(spark.read.parquet(str(folder / "t.parquet"))))


def h2o(folder: Path) -> None:
    import h2o as tool
    from h2o.estimators import H2ONaiveBayesEstimator

    tool.init(nthreads=2, max_mem_size="3G", bind_to_localhost=True)
    tool.no_progress()
    kinds = dict.fromkeys([*LEVELS, TARGET], "enum") | dict.fromkeys(NUMBERS, "numeric")

    def work() -> None:
        frame = tool.import_file(str(folder / "t.csv"), col_types=kinds)
        H2ONaiveBayesEstimator(nfolds=0).train(x=[*LEVELS, *NUMBERS], y=TARGET, training_frame=frame)

    try:
        timed(work)
    finally:
        tool.cluster().shutdown()


def weka(folder: Path) -> None:
    jar = os.environ["WEKA"]
    if not os.path.exists(jar):
        sys.exit("weka.jar is not installed")
    kind = "weka.classifiers.bayes.NaiveBayesUpdateable"
    words = ["java", "-Xmx3g", "-cp", jar, kind, "-t", str(folder / "t.arff"), "-no-cv", "-v", "-o", "-d"]
    timed(lambda: subprocess.run([*words, str(folder / "weka.model")], check=True, stdout=subprocess.DEVNULL))


def river(folder: Path) -> None:
    import csv

    from river import compose, naive_bayes, preprocessing

    levels = compose.Select(*LEVELS) | preprocessing.OneHotEncoder()
    model = (levels + compose.Select(*NUMBERS)) | naive_bayes.GaussianNB()

    def work() -> None:
        with open(folder / "some.csv", newline="") as file:
            for row in csv.DictReader(file):
                target = row.pop(TARGET)
                model.learn_one({n: float(v) if n in NUMBERS else v for n, v in row.items()}, target)

    timed(work)


def khiops(folder: Path) -> None:
    import khiops.core as kh

    kh.get_runner()
    how = {"detect_format": False, "header_line": True, "field_separator": "\t"}
    words = [str(folder / "t.kdic"), "Set", str(folder / "t.txt"), TARGET, str(folder / "report.khj")]
    timed(lambda: kh.train_predictor(*words, sample_percentage=100.0, use_complement_as_test=False, max_trees=0, **how))


def main(name: str, folder: Path) -> None:
    """Run one contestant."""
    globals()[name](folder)
    sys.stdout.flush()
    os._exit(0)  # Java's threads are nobody's business here


if __name__ == "__main__":
    # Beside `likely`, the contestant of that name: the package must win on import.
    main(sys.argv[1], Path(sys.argv[2]))
