"""Addresses: a server on this machine, fsspec's memory, file://; what breaks off or is not there is a sentence."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import fsspec
import pytest
from table.reading import open_source, rows

from likely.errors import InputError

CSV = "sky,play\nsun,yes\nrain,no\n"
WANTED = [{"sky": "sun", "play": "yes"}, {"sky": "rain", "play": "no"}]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None: ...

    def do_GET(self) -> None:
        if "locked" in self.path and self.headers["Authorization"] != "Basic bWU6czpjcmV0":
            self.send_error(401)
        elif "broken" in self.path:
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"sky,play\n")
        else:
            super().do_GET()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_web(server: str, tmp_path: Path) -> None:
    (tmp_path / "a b.csv").write_text(CSV)
    assert rows(f"{server}/a%20b.csv?version=3") == WANTED
    assert open_source(f"{server}/a%20b.csv").name == "a b.csv"
    with pytest.raises(InputError, match=r"cannot be fetched .*404"):
        rows(f"{server}/none.csv")
    with pytest.raises(InputError, match=r"broke off after 9 of 1,000 bytes|cannot be fetched .*IncompleteRead"):
        rows(f"{server}/broken.csv")


def test_what_is_secret_in_an_address_is_not_shown(server: str) -> None:
    with pytest.raises(InputError) as told:
        rows(f"{server}/none.csv?token=hunter2000")
    assert "hunter2000" not in str(told.value)


def test_user_and_password_are_sent_and_not_shown(server: str, tmp_path: Path) -> None:
    (tmp_path / "locked.csv").write_text(CSV)
    assert rows(f"{server.replace('://', '://me:s%3Acret@')}/locked.csv") == WANTED
    with pytest.raises(InputError, match=r"cannot be fetched .*401") as told:
        rows(f"{server.replace('://', '://me:other22@')}/locked.csv")
    assert "other22" not in str(told.value)


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(InputError, match="cannot be fetched"):
        rows("http://127.0.0.1:9/t.csv")


def test_fsspec() -> None:
    store = fsspec.filesystem("memory")
    store.pipe("/one/t.csv", CSV.encode())
    assert rows("memory://one/t.csv") == WANTED
    store.pipe("/many/year=2023/t.csv", CSV.encode())
    store.pipe("/many/year=2024/t.csv", CSV.encode())
    store.pipe("/many/_SUCCESS", b"")
    assert [row["year"] for row in rows("memory://many")] == ["2023", "2023", "2024", "2024"]
    with pytest.raises(InputError, match=r"There is no file 'memory://none.csv'"):
        rows("memory://none.csv")
    store.pipe("/lake/_delta_log/0.json", b"{}")
    store.pipe("/lake/a.parquet", b"PAR1")
    with pytest.raises(InputError, match="is a Delta or Iceberg table"):
        rows("memory://lake")


def test_file_addresses(tmp_path: Path) -> None:
    (tmp_path / "ä b.csv").write_text(CSV)
    assert rows((tmp_path / "ä b.csv").as_uri()) == WANTED
    assert rows(tmp_path.as_uri()) == WANTED
    with pytest.raises(InputError, match="another machine"):
        rows("file://elsewhere/t.csv")


def test_nested_folders_are_looked_into_where_there_is_no_table(tmp_path: Path) -> None:
    for place in ("2023/01", "2023/02", "2024/01"):
        (tmp_path / "all" / place).mkdir(parents=True)
        (tmp_path / "all" / place / "t.csv").write_text(CSV)
    assert rows(tmp_path / "all") == WANTED * 3
    (tmp_path / "all" / "t.csv").write_text(CSV)
    assert rows(tmp_path / "all") == WANTED
