"""Large allocations fail, one in each run: a sentence and the old file, or the new file; never half of one.

Where a library ends the process instead (`LEAST`), the file is as whole as after a kill: tests/streams/test_kill.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from faults.test_faults import COMMANDS as FILE_COMMANDS

HERE = Path(__file__).parent
COMMANDS = FILE_COMMANDS | {"export": ["export", "a.likely", "--to", "sql", "-o", "out.sql", "--force"]}
LEAST = {"look": 64 << 10, "predict parquet": 64 << 10, "merge": 4 << 10, "export": 4 << 10}
"""Bytes from which on allocations fail, 16 KiB elsewhere. Where smaller ones fail, libraries end the process: numpy
raises MemoryError for the buffers of a ufunc without the interpreter's lock; the writer of Parquet does not look at
what it got."""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux" or not os.confstr("CS_GNU_LIBC_VERSION"):
        pytest.skip("needs a C compiler on Linux, and the C library of GNU")
    out = tmp_path_factory.mktemp("memory") / "memory.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", out, HERE / "memory.c", "-ldl"], check=True)
    return out


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.long] * (n == "look")) for n in COMMANDS])
def test_failing_allocations_leave_the_old_file_or_the_new_one(
    name: str, shim: Path, tmp_path: Path, examples: Path
) -> None:
    env = {**os.environ, "LD_PRELOAD": str(shim), "LIKELY_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    words = [str(shim), str(examples / "weather.csv"), str(LEAST.get(name, 16 << 10)), *COMMANDS[name]]
    program = [sys.executable, str(HERE / "memory_driver.py"), *words]
    done = subprocess.run(program, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, f"{done.returncode}: {done.stdout[-300:]}{done.stderr[-2000:]}"
    calls, failures = json.loads(done.stdout.splitlines()[-1])
    assert calls > 0 and not failures, "\n".join(failures)
