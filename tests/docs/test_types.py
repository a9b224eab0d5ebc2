"""Type checkers see the front door as users do: README, documents and examples pass, mistakes do not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = re.compile(r"^```python[^\n]*\n(?P<code>.*?)^```", re.DOTALL | re.MULTILINE)

FRONT_DOOR = """
from typing import Any, assert_type

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import likely
from likely.models.posterior import RowPosterior, TablePosterior

columns = {"sky": ["sun", "rain"], "play": ["yes", "no"]}
model = likely.fit(columns, "play")
assert_type(model, likely.Model)
assert_type(likely.fit(columns, "play", "NaiveBayes"), likely.Model)
assert_type(likely.fit(columns, "play", effort="quick", for_="sql", types={"sky": "nominal"}), likely.Model)
assert_type(likely.fit(columns, "play", likely.Logistic()), likely.Model)
assert_type(likely.fit(columns, "play", likely.LinearDiscriminant), likely.Model)
assert_type(likely.fit(columns, target="play", learner=likely.Additive(order=1)), likely.Model)
assert_type(likely.fit(columns, "play", likely.Pool([likely.NaiveBayes(), likely.Logistic()], [1, 0.5])), likely.Model)
summary = likely.summarize(columns, "play")
assert_type(likely.NaiveBayes().learn(summary), likely.Model)
assert_type(model.beliefs.best, int)
assert_type(likely.learn(model, columns), likely.Model)
assert_type(likely.load("m.likely"), likely.Model)
assert_type(likely.load("m.likely", likely.Summary), likely.Summary)

row: dict[str, str | float | None] = {"sky": "sun", "age": 3, "left": None}
assert_type(model.posterior({"sky": "sun", "windy": True}), RowPosterior)
assert_type(model.posterior(row).prob("yes"), float)
assert_type(model.posterior(row).best, str | None)
assert_type(model.predict(row), str | None)
assert_type(model.posterior(columns), TablePosterior)
assert_type(model.posterior("new.csv").prob("yes"), NDArray[np.float64])
assert_type(model.posterior([row, row]).best, list[str | None])
assert_type(model.predict(columns), list[str | None])
assert_type(model.predict("new.csv"), list[str | None])
assert_type(model.predict([row]), list[str | None])
assert_type(model.log_density(row), float)
assert_type(model.log_density("new.csv"), NDArray[np.float64])
assert_type(model.posterior(pa.table(columns)).prob("yes"), NDArray[np.float64])
mixed = {"sky": "sun", "age": 3, "windy": True}  # of which mypy makes dict[str, object]
assert_type(model.posterior(mixed), RowPosterior)
assert_type(model.predict(mixed), str | None)
assert_type(model.predict([mixed]), list[str | None])
assert_type(likely.decide(model, mixed).expected_loss(), float)

line = likely.regress({"x": [1.0, 2.0], "y": [1.0, 3.0]}, "y")
assert_type(line.predict({"x": 1.0}), float)
assert_type(line.predict({"x": [1.0]}), NDArray[np.float64])
assert_type(likely.export(model, "sql"), str)
assert_type(likely.export(model, "onnx"), bytes)
assert_type(likely.decide(model, row).action, str | None)
assert_type(likely.decide(model, "new.csv").action, list[str | None])
"""

MISTAKES = """\
import likely

likely.fit("a.csv", "y", tpyes={"x": "number"})
likely.fit("a.csv", "y", likely.NaiveBayes(), threads="two")
likely.fit("a.csv", "y", effort="much")
likely.look("a.csv", "y", encodin="latin-1")
likely.compare("a.csv", "y", least_count="5")
likely.fit("a.csv", "y").posterior({"x": 1}).prob("y").mean()
likely.fit("a.csv", "y").posterior("b.csv").prob("y").hex()
likely.fit("a.csv", "y", likely.Logistic()).believes
likely.load("m.likely").rows
likely.export(likely.fit("a.csv", "y"), "cobol")
likely.joint("a.csv", ["x"], types={"x": "number"})
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder, outside the clone, with every program that a reader may copy, and one that is full of mistakes."""
    folder = tmp_path_factory.mktemp("user")
    documents = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")]
    for path in documents:
        code = "\n".join(found["code"] for found in PYTHON.finditer(path.read_text(encoding="utf-8")))
        if code:
            name = re.sub(r"\W", "_", path.relative_to(ROOT).with_suffix("").as_posix())
            (folder / f"{name}.py").write_text(code, encoding="utf-8")
    for path in (ROOT / "examples").glob("*.py"):
        (folder / f"example_{path.name}").write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    assert (folder / "README.py").exists() and len(list(folder.iterdir())) > 30
    (folder / "front_door.py").write_text(FRONT_DOOR, encoding="utf-8")
    (folder / "mistakes.py").write_text(MISTAKES, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def told_by_mypy(programs: Path) -> list[str]:
    """The errors of a strict mypy; `likely` is found where it is installed, by its py.typed."""
    untyped = "".join(f"[mypy-{name}.*]\nignore_missing_imports = true\n" for name in ("pandas", "sklearn", "pyspark"))
    (programs / "mypy.ini").write_text(f"[mypy]\nstrict = true\n{untyped}")
    files = sorted(path.name for path in programs.glob("*.py"))
    command = ["mypy", "--no-error-summary", "--hide-error-context", f"--cache-dir={ROOT / '.mypy_cache' / 'user'}"]
    done = subprocess.run(
        [sys.executable, "-m", *command, *files], cwd=programs, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr  # mistakes were found, and it did not stop at another cause
    return [line for line in done.stdout.splitlines() if ": error:" in line]


@pytest.fixture(scope="module")
def told_by_pyright(programs: Path) -> list[str]:
    """The errors of pyright at its usual level."""
    (programs / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "standard"}))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=programs, capture_output=True, text=True, check=False)
    if not done.stdout.startswith("{"):
        pytest.skip(f"pyright does not run here: {(done.stdout + done.stderr).strip()[-200:]}")
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] == len(list(programs.glob("*.py")))
    return [
        f"{Path(one['file']).name}:{one['range']['start']['line'] + 1}: {one['message']}"
        for one in found["generalDiagnostics"]
        if one["severity"] == "error"
    ]


@pytest.fixture(params=["told_by_mypy", pytest.param("told_by_pyright", marks=pytest.mark.long)])
def errors(request: pytest.FixtureRequest) -> list[str]:
    found: list[str] = request.getfixturevalue(request.param)
    return found


def test_documents_and_examples_pass(errors: list[str]) -> None:
    wrong = [line for line in errors if not line.startswith("mistakes.py:")]
    assert not wrong, "\n".join(wrong)


def test_mistakes_are_found(errors: list[str]) -> None:
    wrong = {number for number, line in enumerate(MISTAKES.splitlines(), 1) if line.startswith("likely.")}
    assert {int(line.split(":")[1]) for line in errors if line.startswith("mistakes.py:")} == wrong
