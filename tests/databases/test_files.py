"""Databases that are files: SQLite, whose columns hold anything, and DuckDB; and any other driver of ADBC."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import likely
from likely.errors import masked
from likely.sums import state
from likely.table.formats.files import parse_address

CELLS = [None, 1, 2, 2.5, -0.0, 1e300, "a", "A", " a ", "1", "", "?", "2020-01-31", "[red]", "q\"'", "ä", b"bytes"]


def bits(summary: Any) -> bytes:
    return state.dump(summary.state())


def sqlite_of(path: Path, rows: list[tuple[Any, ...]], table: str = "t") -> Path:
    path.unlink(missing_ok=True)
    name = table.replace('"', '""')
    with sqlite3.connect(path) as connection:
        connection.execute(f'create table "{name}" ("a [red]", b text collate nocase, "likely_count" numeric, y)')
        connection.executemany(f'insert into "{name}" values (?, ?, ?, ?)', rows)
    connection.close()
    return path


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(*[st.sampled_from(CELLS)] * 4), min_size=2, max_size=30))
def test_what_sqlite_counts_is_what_it_streams(rows: Any, tmp_path: Path) -> None:
    path = sqlite_of(tmp_path / "t.db", rows)
    try:
        swept = likely.summarize(path, "y")
    except likely.LikelyError as error:
        with pytest.raises(type(error)):
            likely.summarize(path, "y", push=True)
        return
    assert swept.rows + swept.left_out == len(rows)
    assert bits(likely.summarize(path, "y", push=True, remark=len)) == bits(swept)


def test_the_first_rows_of_sqlite_do_not_decide_its_types(tmp_path: Path) -> None:
    rows = [(None, "x", 1, "u")] * 70_000 + [("word", "y", 2.5, "v"), (3, None, "text", "u")]
    found = likely.summarize(sqlite_of(tmp_path / "t.db", rows), "y", types={"a [red]": "nominal"})
    assert found.rows == 70_002 and found["a [red]"].labels.names == ["3", "word"]


def test_odd_names_of_tables(tmp_path: Path, run: Any) -> None:
    rows = [(k % 3, "ab"[k % 2], k, "uv"[k % 2]) for k in range(40)]
    odd = "a.b \"c\" 'd' [red] <script>"
    sqlite_of(tmp_path / "odd.db", rows, odd)
    assert likely.summarize(likely.database(tmp_path / "odd.db", table=odd), "y").rows == 40
    assert "40 rows" in run("look", "odd.db", "y").done().out  # the only table needs no name
    with sqlite3.connect(tmp_path / "odd.db") as connection:
        connection.execute("create table second (x)")
    run("look", "odd.db", "y").refused("has 2 tables", "Say which: --table NAME")
    run("look", "odd.db", "y", "--table", odd).done()
    run("look", f"sqlite://{tmp_path}/odd.db", "y", "--query", "select * from nowhere").refused(
        "no such table: nowhere"
    )
    run("look", f"sqlite://{tmp_path}/none.db", "y").refused("There is no file")
    run("look", "none.db", "y", "--table", "t").refused("none.db no longer exists")
    run("fit", "odd.db", "y", "--table", odd, "--keep", "sums", "-o", "m.likely").refused("Sums are kept of files")
    run("fit", "odd.db", "y", "--table", odd, "--push", "--weight", "likely_count", "-o", "m").refused(
        "rows have weights"
    )


def test_duckdb_counts_what_it_streams(tmp_path: Path, run: Any) -> None:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("create type mood as enum ('sad', 'ok')")
        database.execute(
            "create table people as select (i % 100) / 8 as x, ['Yes', 'yes', null, ''][1 + i % 4] collate nocase as c,"
            " (['sad', 'ok'][1 + i % 2])::mood as m, (i % 5)::decimal(9, 2) as e, date '2020-01-01' + (i % 9)::int"
            " as d, uuid() as u, i::hugeint as h, {'a': i} as s, ['p', 'q', ' p'][1 + i % 3] as y from range(5000) t(i)"
        )
        database.execute('create schema other; create table other."a.b" as select 1 as y')
    source = likely.database(path, table="people")
    swept = likely.summarize(source, "y")
    assert bits(likely.summarize(source, "y", push=True, remark=len)) == bits(swept)
    assert swept["c"].labels.names == ["Yes", "yes"]
    assert likely.database(path, table="other.a.b").schema.names == ["y"]
    run("fit", "shop.duckdb", "y", "--table", "people", "--push", "-o", "m.likely").done()
    run("predict", "m.likely", "shop.duckdb", "--query", "from people limit 3").done()
    run("look", "shop.duckdb", "y", "--query", "create table evil (x int)").refused("cannot be read")


def test_any_driver_of_adbc_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("adbc_driver_sqlite", reason="the driver of SQLite is not installed")
    import adbc_driver_sqlite

    from likely.table.databases import DatabaseSource, Foreign

    path = sqlite_of(tmp_path / "t.db", [(k % 3, "ab"[k % 2], k, "uv"[k % 2]) for k in range(40)])
    address = parse_address(f"sqlite://{path}")
    assert address is not None
    object.__setattr__(address, "scheme", adbc_driver_sqlite._driver_path())
    object.__setattr__(address, "whole", str(path))
    source = DatabaseSource(Foreign(address), "the database", address, "select * from t")
    assert bits(likely.summarize(source, "y")) == bits(likely.summarize(path, "y"))
    assert bits(likely.summarize(source, "y", push=True)) == bits(likely.summarize(path, "y"))


def test_what_is_no_database_cannot_count(run: Any, write: Any) -> None:
    write("t.csv", "a,y\n1,u\n2,v\n" * 5)
    run("fit", "t.csv", "y", "--push", "-o", "m.likely").refused("is not a database")
    run("look", "t.csv", "y", "--table", "t").refused("t.csv cannot be opened")


secrets = st.text(st.characters(codec="utf-8", exclude_characters="*…"), min_size=1, max_size=12)


@settings(max_examples=100)
@given(user=secrets, password=secrets, option=secrets, raw=st.booleans())
def test_no_part_of_an_address_that_is_secret_is_ever_shown(user: str, password: str, option: str, raw: bool) -> None:
    from urllib.parse import quote

    spelled = password if raw else quote(password, safe="")
    text = f"postgresql://{quote(user, safe='')}:{spelled}@host.example:1/db?sslpassword={quote(option, safe='')}"
    try:
        address = parse_address(text)
    except likely.LikelyError as error:
        assert raw
        shown = str(error).replace("host.example", "").replace("%40 for the at sign, %2F for /, %3A for :", "")
        assert len(password) < 4 or password not in shown
        return
    assert address is not None and address.shown == "postgresql://host.example:1/db"
    assert "host" in repr(address) and text not in repr(address)
    said = address.mask_secrets(f"it said {text} and {password} and {option}, {quote(password, safe='')}")
    for secret in (password, option, spelled):
        assert len(secret) < 4 or " ".join(secret.split()) not in said.replace("***", "")
    assert "://…@" in masked(f"look at {text}") and (len(spelled) < 4 or spelled not in masked(f"look at {text}"))
