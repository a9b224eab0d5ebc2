"""Who may use the app, and with what: no other machine, no other page, nobody without the key; names of files decide
nothing, and what is too large or not as described is refused in one form.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed: pip install likely[web]")
from fastapi.testclient import TestClient

from likely.machinery.text_files import safe_file_name
from likely.web.app.application import app_application, make_key
from likely.web.app.session import MOST_TABLES, Session
from likely.web.guard import Limits

KEY = "a-key-for-tests"
LARGEST = 10_000
CSV = b"a,b\n1,x\n2,y\n"


@pytest.fixture(scope="module")
def client(session: Session) -> TestClient:
    gate = app_application(session, KEY, "1", Limits(body=2_000), LARGEST)
    return TestClient(gate, base_url="http://127.0.0.1", raise_server_exceptions=False)


def refused(answer: Any, status: int, *words: str) -> None:
    assert answer.status_code == status, answer.text
    (sentence,) = answer.json().values()
    assert answer.json() == {"error": sentence} and sentence[-1] in ".?" and len(sentence) < 400
    for word in words:
        assert word in sentence, (word, sentence)


# -- who --------------------------------------------------------------------------------------------------------

ADDRESSES = [("GET", "/"), ("GET", "/session"), ("POST", "/files"), ("POST", "/tables"), ("GET", "/openapi.json"),
             ("DELETE", "/tables/1"), ("GET", "/tables/1/page"), ("GET", "/nothing")]  # fmt: skip


@pytest.mark.parametrize(("method", "path"), ADDRESSES)
@pytest.mark.parametrize(
    "key", ["", "/", "/wrong", f"/{KEY}x", f"/{KEY[:-1]}", f"/x/{KEY}", f"/{KEY.upper()}", "/%00", "/ü"]
)
def test_without_the_key_nothing_is_answered(client: TestClient, method: str, path: str, key: str) -> None:
    answer = client.request(method, key + path)
    refused(answer, 403, "key", "likely app")
    assert KEY not in answer.text and "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(("method", "path"), ADDRESSES)
def test_another_host_is_refused_with_the_key_too(client: TestClient, method: str, path: str) -> None:
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "0.0.0.0", "", "a@evil.example"):
        refused(client.request(method, f"/{KEY}{path}", headers={"host": host}), 421)


@pytest.mark.parametrize(("method", "path"), ADDRESSES)
def test_another_page_is_refused_with_the_key_too(client: TestClient, method: str, path: str) -> None:
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9", "https://127.0.0.1", "http://localhost"):
        refused(client.request(method, f"/{KEY}{path}", headers={"origin": origin}), 403, "another page")
    for site in ("cross-site", "same-site"):
        refused(client.request(method, f"/{KEY}{path}", headers={"sec-fetch-site": site}), 403, "another page")


def test_the_page_itself_its_own_requests_and_programs_are_answered(client: TestClient) -> None:
    assert client.get(f"/{KEY}/").status_code == 200
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert client.get(f"/{KEY}/", headers=link).status_code == 200  # a link in a terminal that is a page
    refused(client.get(f"/{KEY}/session", headers=link), 403)
    refused(client.post(f"/{KEY}/tables", json={"path": "x"}, headers=link), 403)
    own = {"origin": "http://127.0.0.1", "sec-fetch-site": "same-origin"}
    assert client.get(f"/{KEY}/session", headers=own).status_code == 200
    away = client.get(f"/{KEY}", follow_redirects=False)
    assert away.status_code == 307 and away.headers["location"] == f"/{KEY}/"


def test_a_person_without_the_key_reads_a_sentence(client: TestClient) -> None:
    answer = client.get("/", headers={"accept": "text/html,*/*"})
    assert answer.status_code == 403 and answer.headers["content-type"].startswith("text/html")
    assert "<p>This address lacks the key" in answer.text


def test_keys_are_long_and_never_the_same() -> None:
    keys = {make_key() for _ in range(100)}
    assert len(keys) == 100 and all(len(key) >= 32 for key in keys)


def test_every_answer_has_the_headers(client: TestClient) -> None:
    for answer in (client.get(f"/{KEY}/"), client.get(f"/{KEY}/session"), client.get("/"),
                   client.post(f"/{KEY}/tables", json={}), client.get(f"/{KEY}/nothing")):  # fmt: skip
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in answer.headers


def test_the_page_of_the_app_asks_nobody_else(client: TestClient) -> None:
    text = client.get(f"/{KEY}/").text
    policy = text.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert policy.startswith("default-src 'none';") and "connect-src 'self'" in policy
    assert "unsafe" not in policy and "http" not in policy
    body = text.partition("<body")[2]
    assert "<!--" not in body and "innerHTML" not in body and "https://" not in body and "style=" not in body
    assert body.count("<script") == 1 and KEY not in text


# -- what -------------------------------------------------------------------------------------------------------

HOSTILE = ["../../etc/passwd", "..\\..\\windows\\system.ini", "/etc/passwd", "C:\\x.csv", "..", ".", "", " ",
           "a\0b.csv", "con.csv", "a" * 900 + ".csv.gz", "<img src=x onerror=alert(1)>.csv", "a\r\nSet-Cookie: x=1.csv",
           "%2e%2e%2fx.csv", "*.csv", "a[b]?.csv", "~/x.csv", "-", "-rf", "file://x", "s3://x/y", "日本.csv",
           "\u202ecsv.exe", "year=2024.csv", "'; drop table x; --.csv", "../" * 100 + "x", ".bashrc"]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_stays_in_the_folder_of_the_session_whatever_it_is_called(
    client: TestClient, session: Session, name: str
) -> None:
    answer = client.post(f"/{KEY}/files", content=CSV, params={"name": name})
    assert answer.status_code == 201, answer.text
    path = session.uploads[answer.json()["file"]]
    assert os.path.realpath(path).startswith(os.path.realpath(session.folder) + os.sep)
    assert os.path.dirname(os.path.dirname(path)) == session.folder
    base = os.path.basename(path)
    assert base and len(base.encode()) <= 100 and not set(base) & set("/\\*?[]<>:\"'=~%\r\n\0 ") and base[0] not in ".-"
    with open(path, "rb") as file:
        assert file.read() == CSV
    assert os.stat(path).st_mode & 0o077 == 0
    session.drop_upload(answer.json()["file"])
    assert not os.path.exists(path)


def test_suffixes_outlive_long_names() -> None:
    assert safe_file_name("x" * 500 + ".csv.gz", "t").endswith("x.csv.gz")
    assert safe_file_name("ü" * 500 + ".parquet", "t").endswith("ü.parquet")


@pytest.mark.parametrize("name", ["../page.html", "..%2Fpage.html", "%2e%2e/%2e%2e/session", "model.likely/..", ".",
                                  "x", "....//page.html", "/etc/passwd", "%2Fetc%2Fpasswd", "model.exe"])  # fmt: skip
def test_only_files_that_came_of_a_table_are_given(client: TestClient, session: Session, name: str) -> None:
    key = client.post(f"/{KEY}/files", content=CSV, params={"name": "t.csv"}).json()["file"]
    number = client.post(f"/{KEY}/tables", json={"file": key}).json()["id"]
    answer = client.get(f"/{KEY}/tables/{number}/files/{name}")
    assert answer.status_code in (400, 403, 404) and set(answer.json()) == {"error"}
    session.close_table(session.tables[number])


def test_a_file_that_is_too_large_is_refused_and_leaves_nothing(client: TestClient, session: Session) -> None:
    before = sorted(os.listdir(session.folder))
    refused(client.post(f"/{KEY}/files", content=b"x" * (LARGEST + 1)), 413, "10,000 bytes", "path")

    def parts() -> Iterator[bytes]:  # without a length
        for _ in range(LARGEST):
            yield b"xx"

    refused(client.post(f"/{KEY}/files", content=parts()), 413, "10,000 bytes")
    for length in ("-1", "1e3", "9" * 30):
        answer = client.post(f"/{KEY}/files", content=b"x", headers={"content-length": length})
        refused(answer, 413)
    assert sorted(os.listdir(session.folder)) == before and not session.uploads
    assert client.post(f"/{KEY}/files", content=b"x" * LARGEST, params={"name": "x"}).status_code == 201


def test_other_requests_are_bounded_as_those_of_serve(client: TestClient) -> None:
    refused(client.post(f"/{KEY}/tables", json={"path": "x" * 3000}), 413, "2,000 bytes")
    refused(client.post(f"/{KEY}/tables", json={"path": "x", "more": 1}), 422)
    refused(client.post(f"/{KEY}/tables", content=b"{", headers={"content-type": "application/json"}), 422)
    refused(client.post(f"/{KEY}/tables/x/cancel"), 422)
    refused(client.post(f"/{KEY}/tables/7777/cancel"), 400, "7777")
    refused(client.post(f"/{KEY}/tables/7777/learn", json={"target": "a", "types": {"a": "pickle"}}), 422)
    refused(client.put(f"/{KEY}/tables", json={}), 405)
    refused(client.get(f"/{KEY}/tables/1/2/3"), 404)


def test_a_database_is_not_opened_from_a_copy(client: TestClient, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "t.sqlite") as lite:
        lite.execute("create table t (outlook text)")
    key = client.post(f"/{KEY}/files", content=(tmp_path / "t.sqlite").read_bytes(), params={"name": "t.csv"})
    refused(client.post(f"/{KEY}/tables", json={"file": key.json()["file"]}), 400, "database")


def test_tables_and_files_of_a_session_are_bounded(client: TestClient, session: Session) -> None:
    for key in list(session.uploads):
        session.drop_upload(key)
    for _ in range(MOST_TABLES):
        assert client.post(f"/{KEY}/files", content=CSV).status_code == 201
    refused(client.post(f"/{KEY}/files", content=CSV), 400, "Too many files")
    for key in list(session.uploads):
        session.drop_upload(key)
