"""What one run of the app remembers: tables, what is done with each, a folder that is gone at its end; its page."""

from __future__ import annotations

import itertools
import os
import queue
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from likely.errors import InputError, LikelyError, SettingError, shown
from likely.intake.options import Reading, options_of
from likely.machinery.text_files import safe_file_name
from likely.models.settings import declared
from likely.portable.languages.javascript import join_scripts, read_scripts
from likely.present.charts.drawing import STYLE
from likely.present.page.writing import HERE as PAGES
from likely.present.page.writing import digest
from likely.table.formats.files import is_database
from likely.web.app.hands import Message, Order, WorkerProcess, WorkFailed

# What one run of the app remembers: tables, what is being done with each, and a folder that is gone at its end.

MOST_TABLES = 50
State: TypeAlias = Literal["waiting", "running", "done", "failed", "cancelled"]
CANCELLED = "Cancelled."
NAMELESS = "table"
SAMPLE = str(Path(__file__).parent / "penguins.csv")
"""A table to try the app with."""


@dataclass
class Job:
    """One order on its way."""

    order: Order
    finish: Callable[[Message], None]
    """Takes the answer, once it is there."""
    copy: str | None = None
    """A file that came in for this alone, which is removed at the end."""
    state: State = "waiting"
    step: str = ""
    rows: int = 0
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    error: str = ""
    answer: Message | None = None

    @property
    def is_open(self) -> bool:
        return self.state in ("waiting", "running")

    def end(self, state: State, error: str = "") -> None:
        """However it ends, what came in for it goes."""
        self.state, self.error, self.ended = state, error, time.monotonic()
        if self.copy is not None:
            shutil.rmtree(os.path.dirname(self.copy), ignore_errors=True)

    def describe(self) -> dict[str, Any]:
        """How far it is, in plain values."""
        return {
            "kind": self.order.kind,
            "state": self.state,
            "step": self.step,
            "rows": self.rows,
            "seconds": (self.ended or time.monotonic()) - self.started,
            "error": self.error,
            "answer": self.answer if self.order.kind in ("predict", "decide", "export") else None,
        }


@dataclass
class SessionTable:
    """One table of the session, and all that came of it."""

    id: int
    name: str
    data: str
    """The path of its rows."""
    folder: str
    is_copy: bool
    """Whether the rows are a copy of ours, in the folder."""
    reading: dict[str, Any] = field(default_factory=dict)
    columns: Message | None = None
    """How it is read."""
    learned: Order | None = None
    learnings: int = 0
    """How often it was learned from."""
    result: Message | None = None
    comparison: Message | None = None
    job: Job | None = None
    version: int = 0
    """Grows with every change."""

    def describe(self) -> dict[str, Any]:
        """Everything a page needs to know, in plain values."""
        learned = self.learned
        return {
            "id": self.id,
            "name": self.name,
            "version": self.version,
            **describe_reading(self.reading),
            "columns": self.columns,
            "result": self.result,
            "learned": None if learned is None else {
                **describe_reading(learned.reading),
                "target": learned.target,
                "learner": learned.learner,
                "costs": learned.costs,
                "abstain": learned.abstain,
            },
            "learnings": self.learnings,
            "comparison": self.comparison,
            "job": None if self.job is None else self.job.describe(),
        }  # fmt: skip


def describe_reading(said: Mapping[str, Any]) -> dict[str, Any]:
    """How a table is read, with what is not said, as the app calls it."""
    usual = {name: default for name, default, _ in declared(Reading)}
    return {called: said.get(name, usual[name]) for name, called in options_of("app").items()} | {
        "types": said.get("types") or {}
    }


class Session:
    """Tables by number, a worker that serves them one after the other, a folder. To be closed at the end."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="likely-app-")
        self.tables: dict[int, SessionTable] = {}
        self.uploads: dict[str, str] = {}
        """Files that came in and are yet to be used: the path of each, by what it was called by the server."""
        self._numbers, self._lock = itertools.count(1), threading.RLock()
        self._waiting: queue.SimpleQueue[tuple[SessionTable, Job] | None] = queue.SimpleQueue()
        self._worker = WorkerProcess()
        self._thread = threading.Thread(target=self._serve_jobs, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End all work and remove the folder with everything in it."""
        self._waiting.put(None)
        self._worker.close()
        self._thread.join(10)
        shutil.rmtree(self.folder, ignore_errors=True)

    # -- files and tables -------------------------------------------------------------------------------------------

    def claim_upload(self, name: str) -> tuple[str, str]:
        """A key and a place for a file that is about to come in; its name decides nothing but its suffix."""
        with self._lock:
            if len(self.uploads) >= MOST_TABLES:
                raise InputError("Too many files came in and were not used. Open some, or start the app again.")
            key = str(next(self._numbers))
            folder = os.path.join(self.folder, f"file-{key}")
            os.mkdir(folder, 0o700)
            path = os.path.join(folder, safe_file_name(os.path.basename(name.replace("\\", "/")), NAMELESS))
            self.uploads[key] = path
            return key, path

    def drop_upload(self, key: str) -> None:
        """Forget a file that came in, and remove it."""
        with self._lock:
            path = self.uploads.pop(key, None)
        if path is not None:
            shutil.rmtree(os.path.dirname(path), ignore_errors=True)

    def _take_upload(self, key: str) -> str:
        with self._lock:
            path = self.uploads.pop(key, None)
        if path is None:
            raise InputError(f"There is no file {shown(key)} that came in. Choose it again.")
        with open(path, "rb") as file:
            start = file.read(64)
        if is_database(start):
            shutil.rmtree(os.path.dirname(path), ignore_errors=True)
            raise InputError(
                "A database is not opened from a copy. Give its path, or export the table as CSV or Parquet."
            )
        return path

    def find_data(self, upload: str | None, path: str | None) -> tuple[str, bool]:
        """Where the rows of a request are: a file that came in, or a path of this machine; and whether it is a copy."""
        if (upload is None) == (path is None):
            raise SettingError("Say where the rows are: either a file that came in, or a path.")
        if upload is not None:
            return self._take_upload(upload), True
        assert path is not None
        if path.strip() in ("", "-"):
            raise InputError("Give the path of a file, a folder, or a pattern such as logs/*.csv.")
        return path.strip(), False

    def open_table(self, upload: str | None = None, path: str | None = None) -> SessionTable:
        """Open a table, and begin to read how its columns are."""
        with self._lock:
            if len(self.tables) >= MOST_TABLES:
                raise InputError(f"{MOST_TABLES} tables are open. Close one first.")
            data, is_copy = self.find_data(upload, path)
            number = next(self._numbers)
            folder = os.path.join(self.folder, f"table-{number}")
            os.mkdir(folder, 0o700)
            name = os.path.basename(data.rstrip("/\\")) or data
            table = self.tables[number] = SessionTable(number, name, data, folder, is_copy)
            self.read(table, table.reading)
            return table

    def find_table(self, number: int) -> SessionTable:
        if number not in self.tables:
            raise InputError(f"There is no table {number} in this session. It may have been closed.")
        return self.tables[number]

    def close_table(self, table: SessionTable) -> None:
        """Forget a table, and remove its copy and all that came of it."""
        self.cancel(table)
        with self._lock:
            self.tables.pop(table.id, None)
        shutil.rmtree(table.folder, ignore_errors=True)
        if table.is_copy:
            shutil.rmtree(os.path.dirname(table.data), ignore_errors=True)

    # -- jobs -------------------------------------------------------------------------------------------------------

    def read(self, table: SessionTable, reading: dict[str, Any]) -> None:
        """Read how the columns are; the table keeps how it was read before where that fails."""

        def finish(answer: Message) -> None:
            table.columns, table.reading = answer, reading

        self._begin(table, Order("read", table.data, table.name, table.folder, reading), finish)

    def learn(self, table: SessionTable, order: Order) -> None:
        """Learn from a table and make its page, in a folder of its own: page, model and costs are always of one
        learning, also where the next is cancelled in the middle.
        """
        own = replace(order, folder=tempfile.mkdtemp(prefix="learned-", dir=table.folder))

        def finish(answer: Message) -> None:
            before = table.learned
            table.result, table.learned, table.learnings = answer, own, table.learnings + 1
            if before is not None:
                shutil.rmtree(before.folder, ignore_errors=True)

        self._begin(table, own, finish)

    def compare(self, table: SessionTable, order: Order) -> None:
        """Compare learners on a table."""

        def finish(answer: Message) -> None:
            table.comparison = answer

        self._begin(table, order, finish)

    def write(self, table: SessionTable, order: Order, copy: str | None = None) -> None:
        """Write a file with what the model says; `copy` is a file that came in for it, and is removed afterwards."""
        self._begin(table, order, lambda _: None, copy)

    def _begin(
        self, table: SessionTable, order: Order, finish: Callable[[Message], None], copy: str | None = None
    ) -> None:
        with self._lock:
            if table.job is not None and table.job.is_open:
                raise SettingError("This table is being worked on. Wait until that is done, or cancel it.")
            table.job = Job(order, finish, copy)
            table.version += 1
            self._waiting.put((table, table.job))

    def cancel(self, table: SessionTable) -> None:
        """End what is being done with a table."""
        with self._lock:
            job = table.job
            if job is None or not job.is_open:
                return
            running = job.state == "running"
            if running:
                self._worker.end_work()
            job.end("cancelled", CANCELLED)
            table.version += 1

    def _serve_jobs(self) -> None:
        while (found := self._waiting.get()) is not None:
            self._serve_job(*found)

    def _serve_job(self, table: SessionTable, job: Job) -> None:
        with self._lock:
            if job.state != "waiting":
                return
            job.state, job.started = "running", time.monotonic()

        def hear(message: Message) -> None:
            # The table may be swept several times: what people see does not fall back.
            job.rows, job.step = max(job.rows, message.get("rows", 0)), message.get("step", job.step)

        answer, error = None, ""
        try:
            answer = self._worker.carry_out(job.order, hear)
        except WorkFailed as failure:
            error = str(failure)
        with self._lock:
            if job.state != "running":
                return  # cancelled meanwhile
            job.answer = answer
            if answer is not None:
                job.finish(answer)
            job.end("failed" if answer is None else "done", error)
            table.version += 1


def require_learned(table: SessionTable) -> Order:
    """How a table was learned from, with the folder of what came of it; refused where it was not yet."""
    if table.learned is None:
        raise LikelyError("Nothing was learned from this table yet. Choose what to predict, then Learn.")
    return table.learned


# The page of the app as one text: style and scripts put in, and a policy that lets it talk to its own server alone.

HERE = Path(__file__).parent
ELEMENTS = "elements.js"
"""Of the scripts of the page of a table, the one that makes elements."""


@cache
def app_page() -> str:
    """The page. Nothing of any table is in it: the script asks for that."""
    style, script = _style(), _script()
    policy = (
        f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'; connect-src 'self'; "
        "frame-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    text = (HERE / "app.html").read_text("utf-8")
    for mark, put in (("POLICY", policy), ("STYLE", style), ("SCRIPT", script)):
        text = text.replace(f"<!--{mark}-->", put)
    return text


def _style() -> str:
    """The styles of the pages of tables, and those of the app."""
    whole = "\n".join(path.read_text("utf-8") for path in (STYLE, PAGES / "style.css", HERE / "app.css"))
    return re.sub(r"\s*([{};])\s*", r"\1", re.sub(r"/\*.*?\*/", "", whole, flags=re.DOTALL))


def _script() -> str:
    """The scripts of the app, joined as those of the page are (docs/decisions/0070)."""
    shared = read_scripts(PAGES.parent / "script")
    return join_scripts({ELEMENTS: shared[ELEMENTS], **read_scripts(HERE / "script")})
