"""A real PostgreSQL that the tests start themselves, as a user without rights; skipped by name where there is none."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import run as run
from cli.conftest import write as write

PASSWORD = "s3cr@t/w:rd?#%é"
"""Everything that must be written otherwise in an address."""
IN_ADDRESS = "s3cr%40t%2Fw%3Ard%3F%23%25%C3%A9"


def _program(name: str) -> str | None:
    found = shutil.which(name)
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}")) if found is None else []
    return found or (str(places[-1]) if places else None)


def _unprivileged() -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    pytest.skip("there is no user without rights to run PostgreSQL")


@dataclass(frozen=True)
class Server:
    """A running PostgreSQL."""

    port: int

    @property
    def address(self) -> str:
        return f"postgresql://the%20owner:{IN_ADDRESS}@127.0.0.1:{self.port}/postgres"

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Statements, each committed; the rows of the last."""
        import adbc_driver_postgresql.dbapi as driver

        rows: list[tuple[Any, ...]] = []
        with driver.connect(self.address, autocommit=True) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
                rows = cursor.fetchall() if cursor.description else []
        return rows


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    pytest.importorskip("adbc_driver_postgresql", reason="the driver of PostgreSQL is not installed")
    initdb, server = _program("initdb"), _program("postgres")
    if initdb is None or server is None:
        pytest.skip("PostgreSQL (initdb, postgres) is not installed")
    who = _unprivileged()
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # short: the path of a socket may have about 100 bytes
    if who:
        os.chown(folder, who["user"], who["group"])
    (folder / "password").write_text(PASSWORD + "\n", encoding="utf-8")
    (folder / "password").chmod(0o644)
    data = str(folder / "data")
    given = ["-A", "scram-sha-256", "-U", "the owner", f"--pwfile={folder / 'password'}", "--no-sync", "-E", "UTF8"]
    subprocess.run([initdb, "-D", data, "--locale=C.UTF-8", *given], check=True, capture_output=True, cwd=folder, **who)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = ["listen_addresses=127.0.0.1", "fsync=off", "synchronous_commit=off", "full_page_writes=off"]
    options = [word for setting in settings for word in ("-c", setting)]
    with open(folder / "log", "wb") as log:
        command = [server, "-D", data, "-k", str(folder), "-p", str(port), *options]
        started = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **who)
    try:
        found = Server(port)
        for _ in range(200):
            try:
                found.run("select 1")
                break
            except Exception:
                assert started.poll() is None, (folder / "log").read_text()
                time.sleep(0.05)
        yield found
    finally:
        started.send_signal(signal.SIGINT)  # does not wait for those who are still connected
        started.wait(30)
        shutil.rmtree(folder, ignore_errors=True)
