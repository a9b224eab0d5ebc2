"""Databases that really run a SELECT: DuckDB and SQLite in this process, PostgreSQL as a server of its own."""

from __future__ import annotations

import math
import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

Rows = Sequence[Sequence[Any]]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def created(table: str, columns: Sequence[str], kinds: Sequence[str]) -> str:
    each = ", ".join(f"{quoted(n)} {k}" for n, k in zip(columns, kinds, strict=True))
    return f"CREATE TABLE {quoted(table)} ({each})"


class Duck:
    dialect = "duckdb"

    def __init__(self) -> None:
        self._held = duckdb.connect()

    def run(self, query: str, table: str, columns: Sequence[str], kinds: Sequence[str], rows: Rows) -> list[tuple]:
        self._held.execute(f"DROP TABLE IF EXISTS {quoted(table)}")
        self._held.execute(created(table, columns, kinds))
        marks = ", ".join("?" * len(columns))
        self._held.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", [list(r) for r in rows])
        return self._held.execute(query).fetchall()


class Lite:
    dialect = "sqlite"

    def __init__(self) -> None:
        self._held = sqlite3.connect(":memory:")

    def run(self, query: str, table: str, columns: Sequence[str], kinds: Sequence[str], rows: Rows) -> list[tuple]:
        self._held.execute(f"DROP TABLE IF EXISTS {quoted(table)}")
        self._held.execute(created(table, columns, kinds))
        marks = ", ".join("?" * len(columns))
        self._held.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", rows)
        return self._held.execute(query).fetchall()


class Postgres:
    """Speaks to the server through psql, which comes with it: cells go in as CSV and come back as CSV."""

    dialect = "postgres"

    def __init__(self, folder: Path, sockets: Path, port: int, user: str) -> None:
        self._folder, self._sockets, self._port, self._user = folder, sockets, port, user

    def run(self, query: str, table: str, columns: Sequence[str], kinds: Sequence[str], rows: Rows) -> list[tuple]:
        import csv
        import io

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
        for row in rows:
            writer.writerow(["\\N" if c is None else _spelled(c) for c in row])
        each = ", ".join(map(quoted, columns))
        program = (
            f"SET client_min_messages = error;\nDROP TABLE IF EXISTS {quoted(table)};\n"
            f"{created(table, columns, kinds)};\n"
            f"COPY {quoted(table)} FROM STDIN WITH (FORMAT csv, NULL '\\N', FORCE_NULL ({each}));\n"
            f"{text.getvalue()}\\.\n"
            f"COPY ({query}) TO STDOUT WITH (FORMAT csv, NULL '\\N', FORCE_QUOTE *);\n"
        )
        done = subprocess.run(
            [self._folder / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", self._sockets, "-p", str(self._port),
             "-U", self._user, "-d", "postgres"],
            input=program, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr)
        found = csv.reader(io.StringIO(done.stdout))
        return [tuple(None if c == "\\N" else c for c in row) for row in found]


def _spelled(cell: Any) -> str:
    if isinstance(cell, float):
        return "NaN" if math.isnan(cell) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(cell, repr(cell))
    return str(cell)


def programs() -> Path | None:
    """The folder of PostgreSQL's programs, the newest that is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    there = shutil.which("initdb")
    return Path(there).parent if there else None


@contextmanager
def postgres() -> Iterator[Postgres | None]:
    """A server in a folder of its own, run by a user without privileges; None where that cannot be had."""
    folder = programs()
    user = _unprivileged()
    if folder is None or user is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="likely-pg-") as place:
        os.chmod(place, 0o755)
        data, sockets = Path(place) / "data", Path(place) / "run"
        name, change = user
        for made in (data, sockets):
            made.mkdir(mode=0o700)
            if change:
                shutil.chown(made, name)
        os.chmod(sockets, 0o777)

        def as_user(*words: object) -> list[str]:
            return [
                *(["setpriv", f"--reuid={name}", f"--regid={_group(name)}", "--clear-groups"] if change else []),
                *map(str, words),
            ]

        locale = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": place}
        made = subprocess.run(
            as_user(folder / "initdb", "-D", data, "-U", "likely", "-A", "trust", "-E", "UTF8", "--no-sync"),
            env=locale, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if made.returncode:
            yield None
            return
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = subprocess.Popen(
            as_user(folder / "postgres", "-D", data, "-p", port, "-k", sockets, "-c", "listen_addresses=",
                    "-c", "fsync=off"),
            env=locale, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            ready = [folder / "pg_isready", "-h", sockets, "-p", str(port), "-q"]
            until = time.monotonic() + 30
            while subprocess.run(ready, check=False).returncode and server.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
            yield Postgres(folder, sockets, port, "likely") if server.poll() is None else None
        finally:
            server.terminate()
            server.wait(timeout=30)


def _unprivileged() -> tuple[str, bool] | None:
    """Who is to run the server (it refuses to be run by root), and whether that is somebody else."""
    import pwd

    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid()).pw_name, False
    if shutil.which("setpriv") is None:
        return None
    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name, True
    return None


def _group(name: str) -> str:
    import grp
    import pwd

    return grp.getgrgid(pwd.getpwnam(name).pw_gid).gr_name
