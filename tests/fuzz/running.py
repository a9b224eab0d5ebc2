"""Damaged files are given to a process of their own, which may die, hang or eat memory without harm to this one."""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import random
import resource
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from fuzz.targets import TARGETS, Target

SECONDS = 10
COMPILING = 600
"""Seconds that the sound files of a target may take, as kernels may have to be compiled for them."""
MEMORY = 2 << 30


@dataclass(frozen=True)
class Case:
    """One damaged file: it can be made again from its target and its number."""

    target: str
    number: int
    data: bytes


@dataclass(frozen=True)
class Outcome:
    case: Case
    failure: str | None


def cases(target: Target, seeds: list[bytes], first: int, count: int) -> Iterator[Case]:
    """Damaged files by number; the same number is the same file, as long as the seeds are the same."""
    for number in range(first, first + count):
        chance = random.Random(f"{target.name} {number}")
        yield Case(target.name, number, target.damage(chance.choice(seeds), chance))


def seeds_of(target: Target) -> list[bytes]:
    """Sound files. Each is given to its commands once, as compiling what they need may take longer than a case may."""
    with tempfile.TemporaryDirectory() as folder:
        seeds = list(target.seeds(Path(folder)))
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            target.attack(seed, Path(folder))
    return seeds


def attacked(items: Iterable[Case]) -> Iterator[Outcome]:
    """What became of each damaged file."""
    worker: _Worker | None = None
    for case in items:
        worker = worker or _Worker()
        failure = worker.attack(case)
        if failure is not None and worker.is_over:
            worker = None
        yield Outcome(case, failure)
    if worker is not None:
        worker.end()


class _Worker:
    """A process that attacks one case after the other."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # forking a process with threads may hang by itself
        self._ours, theirs = context.Pipe()
        # The folder is ours, so that it goes even if the process is killed; its temporary files are in it.
        self._base = tempfile.TemporaryDirectory(prefix="likely-fuzz-")
        self._log = open(Path(self._base.name, "log"), "w+")  # noqa: SIM115 - open as long as the process lives
        self._process = context.Process(target=_work, args=(theirs, self._base.name), daemon=True)
        self._process.start()
        theirs.close()
        self.is_over = False

    def attack(self, case: Case) -> str | None:
        try:
            self._ours.send((case.target, case.data))
            if self._ours.poll(COMPILING):
                self._ours.recv()
            if not self._ours.poll(SECONDS):
                self._kill()
                return f"no answer after {SECONDS} seconds\n{self._log.read()[-3000:]}"
            answer: str | None = self._ours.recv()
        except (EOFError, OSError):
            self._process.join(5)
            code = self._process.exitcode
            self._kill()
            name = signal.Signals(-code).name if code is not None and code < 0 else f"exit {code}"
            return f"the process died: {name}\n{self._log.read()[-3000:]}"
        return answer

    def _kill(self) -> None:
        self.is_over = True
        if self._process.pid is not None and self._process.is_alive():
            os.kill(self._process.pid, signal.SIGKILL)
        self._process.join()
        self._base.cleanup()

    def end(self) -> None:
        self._ours.close()
        self._process.join(5)
        self._kill()


def _work(pipe: Connection, folder_of_worker: str) -> None:
    base = Path(folder_of_worker)
    file = open(base / "log", "a")  # noqa: SIM115 - open as long as the process lives
    faulthandler.enable(file)
    tempfile.tempdir = str(base / "temporary")
    os.mkdir(tempfile.tempdir)
    os.chdir(base)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    number = 0
    warm: set[str] = set()
    try:
        while True:
            name, data = pipe.recv()
            if name not in warm:
                _attack_seeds(TARGETS[name], base)
                warm.add(name)
            pipe.send("ready")
            number += 1
            folder = base / str(number)
            folder.mkdir()
            faulthandler.dump_traceback_later(SECONDS - 1, file=file)
            pipe.send(_attack(TARGETS[name], data, folder))
            faulthandler.cancel_dump_traceback_later()
            shutil.rmtree(folder, ignore_errors=True)
    except EOFError:
        pass
    finally:
        os._exit(0)


def _attack_seeds(target: Target, base: Path) -> None:
    """Sound files first: kernels that nobody has used on this machine are compiled now, which is no hang."""
    for number, data in enumerate(seeds_of(target)):
        folder = base / f"sound-{number}"
        folder.mkdir(exist_ok=True)
        with contextlib.suppress(Exception):
            target.attack(data, folder)
        shutil.rmtree(folder, ignore_errors=True)


def _attack(target: Target, data: bytes, folder: Path) -> str | None:
    before = _peak()
    start = time.monotonic()
    try:
        target.attack(data, folder)
    except BaseException:
        return traceback.format_exc()
    if _peak() - before > MEMORY:
        return f"{(_peak() - before) >> 20} MB more than before, after {time.monotonic() - start:.1f} s"
    return None


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
