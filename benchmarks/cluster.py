"""likely beside naive Bayes of Spark MLlib, H2O, WEKA, river and Khiops: the same table, one run; writes CLUSTER.md.

Each contestant is a process of its own that reads the table from a file and learns; Java's and Spark's start-up is
apart. What cannot be installed here is left out, and the page says so.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from cluster_run import LEVELS, NUMBERS, TARGET

import likely

HERE = Path(__file__).resolve().parent
CLASSES = ("azure", "coral", "ivory")
RIVALS = ("h2o==3.46.0.12", "river==0.26.1", "khiops==11.0.1.1", "khiops-core==11.0.1")
WEKA = "/usr/share/java/weka.jar"
MOST = 900
"""Seconds that any contestant gets."""
SLOW_ROWS = 20_000
"""river goes row by row through Python: it gets so many, and its figures are multiplied."""

CONTESTANTS = {
    "likely": ("likely, one process, Parquet", "here"),
    "likely_csv": ("likely, one process, CSV (kinds inferred)", "here"),
    "likely_spark": ("likely on Spark local[2], Parquet (tasks read it)", "here"),
    "likely_frame": ("likely on Spark local[2], DataFrame", "here"),
    "mllib": ("Spark MLlib local[2]: StringIndexer, OneHotEncoder, VectorAssembler, NaiveBayes(gaussian)", "here"),
    "h2o": ("H2O 2 threads: import_file, H2ONaiveBayesEstimator", "there"),
    "weka": ("WEKA NaiveBayesUpdateable, ARFF", "here"),
    "river": ("river: OneHotEncoder and GaussianNB, row by row", "there"),
    "khiops": ("Khiops train_predictor without trees (it also selects and discretises)", "there"),
}


def make(folder: Path, rows: int) -> None:
    """The table, as Parquet, CSV, ARFF and tab-separated: six nominal attributes, six numbers, three classes."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    draw = np.random.default_rng(11)
    group = draw.choice(3, rows, p=(0.5, 0.3, 0.2))
    columns: dict[str, pa.Array] = {}
    for name, levels in LEVELS.items():
        chance = 1 / np.arange(1, levels + 1) ** 0.7 * np.exp(0.4 * draw.normal(size=(3, levels)))
        bounds = np.cumsum(chance, axis=1) / chance.sum(axis=1, keepdims=True)
        u, code = draw.random(rows), np.empty(rows, np.int32)
        for k in range(3):
            code[group == k] = np.searchsorted(bounds[k], u[group == k])
        names = pa.array([f"v{k}" for k in range(levels)])
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(code.clip(0, levels - 1)), names).cast(pa.string())
    shift = 0.4 * draw.normal(size=(len(NUMBERS), 3))
    for name, by in zip(NUMBERS, shift, strict=True):
        columns[name] = pa.array(np.round(draw.normal(size=rows) + by[group], 4))
    columns[TARGET] = pa.DictionaryArray.from_arrays(pa.array(group.astype(np.int32)), pa.array(CLASSES)).cast(
        pa.string()
    )
    table = pa.table(columns)
    pq.write_table(table, folder / "t.parquet", row_group_size=131_072)
    bare = pc.WriteOptions(quoting_style="none")
    pc.write_csv(table, folder / "t.csv", bare)
    pc.write_csv(table, folder / "t.txt", pc.WriteOptions(quoting_style="none", delimiter="\t"))
    pc.write_csv(table.slice(0, SLOW_ROWS), folder / "some.csv", bare)
    pq.write_table(table.slice(0, SLOW_ROWS), folder / "some.parquet")
    kinds = {n: "{" + ",".join(f"v{k}" for k in range(c)) + "}" for n, c in LEVELS.items()}
    kinds |= dict.fromkeys(NUMBERS, "numeric") | {TARGET: "{" + ",".join(CLASSES) + "}"}
    head = "@relation t\n" + "".join(f"@attribute {n} {k}\n" for n, k in kinds.items()) + "@data\n"
    with open(folder / "t.arff", "wb") as file:
        file.write(head.encode())
        with open(folder / "t.csv", "rb") as rest:
            rest.readline()
            while block := rest.read(1 << 20):
                file.write(block)
    said = {n: "Categorical" for n in LEVELS} | dict.fromkeys(NUMBERS, "Numerical") | {TARGET: "Categorical"}
    lines = [f"\t{kind}\t{name};" for name, kind in said.items()]
    (folder / "t.kdic").write_text("\n".join(["Dictionary\tSet", "{", *lines, "};", ""]))


def environment(cache: Path) -> Path | None:
    """A Python that has H2O, river and Khiops; None where they cannot be installed."""
    python = cache / "rivals" / "bin" / "python"
    if not python.exists():
        made = subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=False)
        done = (
            made.returncode
            or subprocess.run([str(python), "-m", "pip", "install", "-q", *RIVALS], check=False).returncode
        )
        if done:
            return None
    return python


def measure(name: str, python: Path, folder: Path) -> tuple[float, float] | str:
    """Seconds by the clock and of all processors, as the contestant itself measures them; or why there are none."""
    path = os.pathsep.join([str(python.parent), os.environ.get("PATH", "")])
    env = {**os.environ, "PATH": path, "KHIOPS_PROC_NUMBER": "1", "WEKA": WEKA}
    words = [str(python), str(HERE / "cluster_run.py"), name, str(folder)]
    try:
        done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=MOST, check=False)
    except subprocess.TimeoutExpired:
        return f"not done after {MOST} s"
    figures = [line for line in done.stdout.splitlines() if line.startswith("seconds ")]
    if done.returncode or not figures:
        return (done.stderr.strip().splitlines() or ["failed"])[-1][:200]
    _, clock, busy = figures[-1].split()
    return float(clock), float(busy)


def page(rows: int, found: dict[str, tuple[float, float] | str], minutes: float, command: str) -> str:
    base, there = found["likely"], found.get("likely_spark")
    lines = [
        "# likely beside other naive Bayes",
        "",
        f"Written by `{command}` on {datetime.now(UTC):%Y-%m-%d}, {minutes:.1f} minutes; {os.cpu_count()} cores, load "
        f"average {os.getloadavg()[1]:.1f}; Python {platform.python_version()}, "
        + ", ".join([f"likely {likely.__version__}", *(f"{p} {version(p)}" for p in ("numpy", "pyarrow", "pyspark"))])
        + ".",
        "",
        f"One table of {rows:,} rows, {len(LEVELS)} nominal attributes of {min(LEVELS.values())} to "
        f"{max(LEVELS.values())} levels, {len(NUMBERS)} numbers, {len(CLASSES)} classes, no cell missing. Each "
        "contestant reads it from a file and learns, once, in a process of its own; starting Python, Java or Spark is "
        "not counted (of WEKA it is: its command line does all at once). `processor` is the time of all "
        "threads and child processes; where other programs have the cores, it tells more than the clock. Ratios are to "
        "likely in one process from Parquet: how many times as long the contestant takes.",
        "",
        "| contestant | clock, s | processor, s | ratio by clock | ratio by processor |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, (words, _) in CONTESTANTS.items():
        what = found.get(name, "not run")
        if isinstance(what, str) or isinstance(base, str):
            lines.append(f"| {words} | {what} | | | |")
        else:
            ratios = [what[k] / base[k] for k in (0, 1)]
            lines.append(f"| {words} | {what[0]:.2f} | {what[1]:.2f} | {ratios[0]:.1f} | {ratios[1]:.1f} |")
    mllib = found.get("mllib")
    if isinstance(there, tuple) and isinstance(mllib, tuple):
        lines += [
            "",
            f"On the same Spark: MLlib takes {mllib[0] / there[0]:.1f} times as long as likely by the clock, "
            f"{mllib[1] / there[1]:.1f} times by processor.",
        ]
    lines += [
        "",
        "What they do is not the same. MLlib's Gaussian takes indicators of levels for numbers; its other kinds take "
        "no numbers at all. WEKA and H2O count levels and fit a normal to numbers, as likely does. river is given "
        f"{SLOW_ROWS:,} rows and its figures are multiplied. Khiops finds intervals and groups of levels and selects "
        "attributes, which is more work and mostly a better model. likely infers kinds from CSV; the others are told.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--out", type=Path, default=HERE / "CLUSTER.md")
    parser.add_argument("--cache", type=Path, help="where the rivals' environment is kept")
    parser.add_argument("--only", nargs="*", choices=CONTESTANTS, default=list(CONTESTANTS))
    said = parser.parse_args()
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make(folder, said.rows)
        found: dict[str, tuple[float, float] | str] = {}
        other = environment(said.cache or folder) if {"h2o", "river", "khiops"} & set(said.only) else None
        for name in said.only:
            python = Path(sys.executable) if CONTESTANTS[name][1] == "here" else other
            found[name] = "could not be installed" if python is None else measure(name, python, folder)
            if name == "river" and isinstance(found[name], tuple):
                times = said.rows / SLOW_ROWS
                found[name] = tuple(times * s for s in found[name])  # type: ignore[assignment]
            print(name, found[name], flush=True)
        minutes = (time.perf_counter() - begun) / 60
    text = page(said.rows, found, minutes, " ".join(["python", "benchmarks/cluster.py", *_options(said)]))
    said.out.write_text(text, encoding="utf-8")


def _options(said: argparse.Namespace) -> list[str]:
    return ["--rows", str(said.rows)] if said.rows != 4_000_000 else []


if __name__ == "__main__":
    main()
