"""What a command imports before and while it works: only what it uses, so that it starts quickly. Nothing is timed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import likely

OTHERS = {
    "numba", "pandas", "scipy", "sklearn", "duckdb", "polars", "rich", "asyncio", "email", "http", "multiprocessing",
    "importlib.metadata", "pyarrow.compute", "pyarrow.dataset", "pyarrow.parquet", "pyarrow.acero", "pyarrow.flight",
    "pyarrow.fs", "pyarrow.pandas_compat",
}  # fmt: skip
"""What takes long to import, and is used for other files, other learners or other commands."""
FAMILY = {
    "likely.models.pool.auto", "likely.models.pool.mixture", "likely.models.additive.additive",
    "likely.models.linear.logistic", "likely.models.linear.least_squares", "likely.models.text_logistic.learner",
    "likely.models.dependence.tree", "likely.models.naive.tuned", "likely.models.text.search",
    "likely.models.heldout.search", "likely.models.naive.leave_one_out",
    "likely.classroom.joint", "likely.classroom.hypotheses", "likely.evaluate.compare", "likely.evaluate.curve",
}  # fmt: skip
"""Learners that were not named, and studies that were not made."""
PAGE = {"jinja2", "likely.portable.describe", "likely.present.page.writing", "likely.present.charts.lines"}
FORMS = {"likely.portable.describe"}
"""By which a fit tells what the model can be exported to."""
JUDGES = {"likely.models.neighbors.neighbors", "likely.evaluate.look", "likely.evaluate.crossval.validate", "numpy.ma"}
NUMBERS = {"numpy", "pyarrow", "likely.models.contracts", "likely.sums.summary", "likely.table.schema", "ctypes"}

ROWS = 400
"""So many that no other learners are tried beside the one that is named."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("start")
    lines = [f"{k % 17}.5,{'abcdefghijklmnopqrst'[k % 20]},{'uvwxyz'[k % 6]},{'yn'[k % 3 > 0]}" for k in range(ROWS)]
    (folder / "t.csv").write_text("\n".join(["number,letter,other,play", *lines]) + "\n")
    likely.fit(folder / "t.csv", "play", likely.NaiveBayes()).save(folder / "m.likely")
    return folder


def imported(folder: Path, *arguments: str) -> set[str]:
    """The modules that a process holds at the end of a command."""
    program = (
        "import sys\nfrom likely.cli import run\ncode = run(sys.argv[1:])\nsys.stdout.flush()\n"
        "print('\\n'.join(['', '--', *sys.modules]))\nsys.exit(code)"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    words = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("\n--\n")[2].split())


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (("--help",), OTHERS | FAMILY | PAGE | JUDGES | NUMBERS),
        (("look", "--help"), OTHERS | FAMILY | PAGE | JUDGES | NUMBERS),
        (("look", "t.csv", "play", "--learner", "NaiveBayes"), OTHERS | FAMILY | {"numpy.ma"}),
        (("look", "t.csv", "play", "--learner", "NaiveBayes", "--no-page"), OTHERS | FAMILY | PAGE),
        (
            ("fit", "t.csv", "play", "--learner", "NaiveBayes", "-o", "n.likely"),
            OTHERS | FAMILY | JUDGES | (PAGE - FORMS),
        ),
        (("predict", "m.likely", "t.csv", "-o", "p.csv"), OTHERS | FAMILY | PAGE | JUDGES),
        (("explain", "m.likely", "number=2", "letter=b"), OTHERS | FAMILY | PAGE | (JUDGES - {"numpy.ma"})),
        (("show", "m.likely"), OTHERS | FAMILY | PAGE | JUDGES),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_imports_only_what_it_uses(folder: Path, arguments: tuple[str, ...], unwanted: set[str]) -> None:
    found = imported(folder, *arguments)
    assert "likely.cli" in found
    assert not found & unwanted, f"likely {' '.join(arguments)} imports {', '.join(sorted(found & unwanted))}"


def test_what_is_unwanted_exists() -> None:
    """A module that was renamed would pass unseen."""
    program = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    names = [name for name in FAMILY | PAGE | JUDGES | NUMBERS if name.startswith("likely")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    subprocess.run([sys.executable, "-c", program, *names], check=True, env=env)


def test_the_threads_of_a_command_are_our_own(folder: Path) -> None:
    """Those of OpenBLAS wait for work by spinning; who asks for them has them."""
    program = (
        "import atexit, os, sys\nfrom likely.cli import main\nsys.argv[1:] = ['--version']\n"
        "atexit.register(lambda: print(os.environ['OPENBLAS_NUM_THREADS']))\nmain()"
    )
    for asked, wanted in ((None, "1"), ("3", "3")):
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        env.pop("OPENBLAS_NUM_THREADS", None)
        env |= {} if asked is None else {"OPENBLAS_NUM_THREADS": asked}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=env)
        assert done.stdout.split()[-1] == wanted
