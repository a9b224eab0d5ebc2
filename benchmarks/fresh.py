"""What only a fresh process shows: the peak memory of a stream, and how long a command takes from start to end.

Run as `python fresh.py TASK SMALL PATH MODEL OUT TARGET` it is that process: it does the task on the small table, then
on the other, and prints the memory after the first and at the peak.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

NOBODY = 65534
CACHES = ("LIKELY_CACHE", "NUMBA_CACHE_DIR")
"""Where compiled kernels are kept, if these are set."""


def package_folder() -> Path:
    """The folder that holds the likely package in use."""
    import likely

    return Path(str(likely.__file__)).resolve().parent.parent


def environment(package: Path, **more: str) -> dict[str, str]:
    """This process's environment, with likely found in `package`."""
    return {**os.environ, "PYTHONPATH": str(package), **more}


# -- memory -------------------------------------------------------------------------------------------------


def memory(field: str) -> int:
    """A line of /proc/self/status in bytes: VmRSS is resident now, VmHWM the most so far."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise SystemExit(f"/proc/self/status has no line {field}: peak memory is measured on Linux only.")


def _task(task: str, path: str, model: str, out: str, target: str) -> None:
    import likely

    if task == "summarize":
        likely.summarize(path, target=target, threads=2)
    else:
        from likely.apply.predict import predict_table

        predict_table(likely.load(model), path, out)


def _child(task: str, small: str, path: str, model: str, out: str, target: str) -> None:
    _task(task, small, model, out, target)
    before = memory("VmRSS")  # imports and compiled kernels
    start = time.perf_counter()
    _task(task, path, model, out, target)
    print(json.dumps({"seconds": time.perf_counter() - start, "before": before, "peak": memory("VmHWM")}))


def stream(task: str, small: Path, path: Path, model: Path, out: Path, target: str) -> dict[str, Any]:
    """Seconds, bytes after a small task, and bytes at the peak of the task, of a fresh process."""
    arguments = [task, str(small), str(path), str(model), str(out), target]
    done = subprocess.run(
        [sys.executable, __file__, *arguments], env=environment(package_folder()), stdout=subprocess.PIPE, check=True
    )
    return dict(json.loads(done.stdout))


# -- start-up -----------------------------------------------------------------------------------------------


def seconds(command: list[str], env: dict[str, str], folder: Path | None = None) -> float:
    """How long a command takes, its output to a pipe; a command that fails ends the benchmark."""
    start = time.perf_counter()
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, check=False)
    took = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr.decode(errors='replace')}")
    return took


def look(path: Path, target: str) -> list[str]:
    return [sys.executable, "-m", "likely", "look", str(path), target]


def merely_reading(path: Path) -> list[str]:
    """A process that imports numpy and pyarrow and reads the file."""
    program = "import sys, numpy, pyarrow.csv; print(pyarrow.csv.read_csv(sys.argv[1]).num_rows)"
    return [sys.executable, "-c", program, str(path)]


def first_look(path: Path, target: str, cache: Path) -> float | None:
    """Seconds of a look with nothing compiled; None where the cache folder was not used, so nothing is known."""
    cache.mkdir()
    took = seconds(look(path, target), environment(package_folder(), **dict.fromkeys(CACHES, str(cache))))
    return took if any(cache.rglob("*.*")) else None


class ReadOnlyPackage:
    """A copy of the package that its user cannot write to, and a home that they can."""

    def __init__(self, folder: Path, table: Path) -> None:
        self._package, self.home = folder / "package", folder / "home"
        folder.mkdir(parents=True)
        self.home.mkdir()
        shutil.copytree(
            package_folder() / "likely", self._package / "likely", ignore=shutil.ignore_patterns("__pycache__")
        )
        self.table = Path(shutil.copy(table, folder))
        self._as_user: list[str] = []
        if os.getuid() == 0:  # root may write anywhere, so somebody else must run it
            os.chown(self.home, NOBODY, NOBODY)
            self._as_user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        for path in [self._package, *self._package.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)

    @property
    def problem(self) -> str:
        """Why it cannot be tried here; empty where it can."""
        if self._as_user and shutil.which("setpriv") is None:
            return "there is no setpriv to run it as a user without rights"
        can = subprocess.run([*self._as_user, sys.executable, "-c", "import numpy"], capture_output=True, check=False)
        return "" if can.returncode == 0 else "a user without rights cannot run this Python"

    def seconds(self, target: str) -> float:
        env = environment(self._package, HOME=str(self.home))
        for name in (*CACHES, "XDG_CACHE_HOME"):
            env.pop(name, None)
        return seconds([*self._as_user, *look(self.table, target)], env, self.home)

    def kept(self) -> int:
        """Files of compiled kernels found in the home after a run."""
        return sum(path.is_file() for path in self.home.rglob("*"))

    def remove(self) -> None:
        for path in [self._package, *self._package.rglob("*")]:
            path.chmod(0o755)


if __name__ == "__main__":
    _child(*sys.argv[1:])
