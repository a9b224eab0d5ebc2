"""Whether Spark can be had here, the session that runs tasks, and what Spark says when it fails, as sentences.

Knows pyspark's sessions and exceptions; nothing of tables or sums.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from likely.errors import InputError, LikelyError, SettingError, shown

LOCAL = "local[*]"


def check_installed() -> None:
    """Refuse, with what to do, where pyspark is not installed."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise SettingError("Spark needs the package pyspark. Install it: pip install 'likely[spark]'.") from None


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else None
    if java is not None and not os.access(java, os.X_OK):
        raise SettingError(f"Spark needs Java, but JAVA_HOME is {shown(home, 200)}, where there is none. Correct it.")
    if java is None and shutil.which("java") is None:
        raise SettingError("Spark needs Java, which is not found. Install Java 17 or later, or set JAVA_HOME.")


def is_frame(data: object) -> bool:
    """Whether something is a DataFrame of Spark (classic or Connect)."""
    return type(data).__module__.startswith("pyspark.sql.") and hasattr(data, "mapInArrow")


def session(master: str | None = None) -> Any:
    """The session that is running, or a new one on `master` ('local[2]', 'spark://host:7077')."""
    check_installed()
    with quiet():
        from pyspark.sql import SparkSession

        running = SparkSession.getActiveSession()
        if running is not None:
            use_this_python(running)
            return running
        where = master or os.environ.get("MASTER") or LOCAL
        if not where.startswith("sc://"):
            _check_java()
            _check_answers(where)
        builder: Any = SparkSession.builder.appName("likely").config("spark.ui.enabled", "false")
        builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
        if where.startswith("sc://"):
            builder = SparkSession.builder.remote(where)
        else:
            builder = builder.master(where)
        with failures(where), _silent_children():
            made = builder.getOrCreate()
        use_this_python(made)
        return made


def use_this_python(spark: Any) -> None:
    """Let tasks on this machine run with this Python: the one that is found first may not have likely."""
    if "PYSPARK_PYTHON" in os.environ or type(spark).__module__.startswith("pyspark.sql.connect"):
        return
    context = spark.sparkContext
    if context.master.startswith("local") and not context.getConf().contains("spark.pyspark.python"):
        context.pythonExec = sys.executable


def _check_answers(where: str) -> None:
    """Refuse at once where nobody listens at the address of a standalone master: Spark would try for a minute."""
    found = re.fullmatch(r"spark://(.+)", where)
    places = [re.fullmatch(r"(.+):(\d+)", place) for place in found[1].split(",")] if found else []
    if not places or None in places:
        return  # of another kind, or one that Spark will name itself
    for place in places:
        assert place is not None
        try:
            socket.create_connection((place[1], int(place[2])), timeout=5).close()
            return
        except OSError:
            continue
    raise InputError(_nowhere(where))


def _nowhere(where: str) -> str:
    return f"There is no Spark at {shown(where, 200)}. Check the address: local[2], spark://host:7077."


@contextmanager
def _silent_children() -> Iterator[None]:
    """Java processes that are started meanwhile say nothing, now or later: what fails is told by an exception, and
    their greetings would hide the one sentence that it becomes."""
    sys.stderr.flush()
    own = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(own, 2)
        os.close(own)


@contextmanager
def quiet() -> Iterator[None]:
    """Without pyspark's remarks on versions of pandas, which is not used here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*pandas.*", category=FutureWarning)
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        yield


@contextmanager
def failures(what: str) -> Iterator[None]:
    """What Spark says when it fails, as one sentence of ours."""
    try:
        with quiet():
            yield
    except LikelyError:
        raise
    except Exception as error:
        sentence = _sentence(error, what)
        if sentence is None:
            raise
        raise InputError(sentence) from error


def _sentence(error: Exception, what: str) -> str | None:
    kind, said = type(error).__module__, str(error)
    if not kind.startswith(("pyspark.", "py4j.")):
        return None
    absent = re.search(r"No module named '([\w.]+)'", said)
    if absent is not None:
        name = absent[1].split(".")[0]
        return (
            f"An executor's Python has no package {shown(name)}. Install likely, with the same Python, on every "
            "machine of the cluster (or point PYSPARK_PYTHON at an environment that has it)."
        )
    if "PYTHON_VERSION_MISMATCH" in said or "different version" in said:
        return "Driver and executors run different versions of Python. Set PYSPARK_PYTHON to the same on all of them."
    if "JAVA_GATEWAY_EXITED" in said:
        return "Spark's Java process ended at once. Is it Java 17 or later? Try: java -version."
    if "All masters are unresponsive" in said or "Could not parse Master URL" in said:
        return _nowhere(what)
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith(("\tat ", "Driver st"))]
    # The last line of a Python traceback names the failure; of Java's, the first.
    last = next(
        (x for x in reversed(lines) if re.match(r"^[\w.]+(Error|Exception|Exit)\b", x)), lines[0] if lines else ""
    )
    return f"Spark failed on {shown(what, 100)}: {shown(last, 300)}."
