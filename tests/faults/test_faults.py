"""Every write, flush, rename and creation of a file fails once, in order: the old file or the new one is whole, always.

A small library is loaded before the C library and fails the n-th such call of a command, for all n. Commands run in a
process of their own, one for all n of a command.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COMMANDS: dict[str, list[str]] = {
    "fit": ["fit", "t.csv", "play", "--learner", "NaiveBayes", "-o", "out.likely"],
    "fit by default": ["fit", "t.csv", "play", "-o", "out.likely"],
    "merge": ["merge", "a.likely", "b.likely", "-o", "out.likely"],
    "learn": ["learn", "a.likely", "t.csv", "-o", "out.likely"],
    "unlearn": ["unlearn", "a.likely", "half.csv", "-o", "out.likely"],
    "predict csv": ["predict", "a.likely", "t.csv", "-o", "out.csv"],
    "predict parquet": ["predict", "a.likely", "t.csv", "-o", "out.parquet"],
    "predict gz": ["predict", "a.likely", "t.csv", "-o", "out.csv.gz"],
    "look": ["look", "t.csv", "play", "--learner", "NaiveBayes", "-o", "out.html"],
    "sample": ["sample", "a.likely", "-n", "20", "-o", "out.csv"],
    "export": ["export", "a.likely", "--to", "json", "-o", "out.json"],
    "keep": ["fit", "*.piece.csv", "play", "--keep", "sums", "--learner", "NaiveBayes", "-o", "out.likely"],
}
COMMANDS = {name: [*words, "--force"] for name, words in COMMANDS.items()}  # the old file is a line of text


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs a C compiler on Linux")
    out = tmp_path_factory.mktemp("faults") / "faults.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", out, HERE / "faults.c", "-ldl"], check=True)
    return out


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.long] * (n == "look")) for n in COMMANDS])
def test_a_failing_disk_leaves_the_old_file_or_the_new_one(
    name: str, shim: Path, tmp_path: Path, examples: Path
) -> None:
    program = [sys.executable, str(HERE / "driver.py"), str(shim), str(examples / "weather.csv"), *COMMANDS[name]]
    env = {**os.environ, "LD_PRELOAD": str(shim)}
    done = subprocess.run(program, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    calls, failures = json.loads(done.stdout.splitlines()[-1])
    assert calls > 2 and not failures, "\n".join(failures)
