"""One small Spark for all its tests, where pyspark and Java can be had."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from likely.spark.session import quiet

LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
"""For Java processes that live for seconds: compiling little takes half the time of compiling well."""


def java() -> bool:
    home = os.environ.get("JAVA_HOME")
    return os.access(os.path.join(home, "bin", "java"), os.X_OK) if home else shutil.which("java") is not None


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    pytest.importorskip("pyspark")
    if not java():
        pytest.skip("Java is not installed")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["JAVA_TOOL_OPTIONS"] = LIGHT
    os.environ["PYSPARK_PYTHON"] = sys.executable
    folder = str(Path(__file__).resolve().parents[1])  # executors import spark.rows
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
    with quiet():
        from pyspark.sql import SparkSession

        builder: Any = SparkSession.builder.master("local[2]").appName("tests")
        said = {
            "spark.driver.memory": "600m",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.log.level": "OFF",
            "spark.sql.codegen.wholeStage": "false",
        }
        for name, value in said.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    yield session
    session.stop()
