"""Rows of a real PostgreSQL: the same bits pushed or not, whatever the names; and no word of passwords."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from databases.conftest import IN_ADDRESS, PASSWORD, Server

import likely
from likely.testing import bits

ODD = "odd \"na.me\" [red] 'x' <script> ä="
MILLION = 1_000_000


@pytest.fixture(scope="module")
def server(postgres: Server) -> Server:
    quoted = ODD.replace('"', '""')
    postgres.run(
        f"""create table big as select (i::bigint * 7919 % 100003)::float8 / 7 as x, i % 7 as n, 'c ' || i % 5 as c,
            i % 4 = 0 as b, (i % 365) + date '2020-01-01' as d, case when i % 3 = 0 then 'yes' else 'no' end as y
            from generate_series(1, {MILLION}) i""",
        "create type mood as enum ('sad', 'ok', '')",
        "create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        f"""create table "{quoted}" as select
            (array['Yes', 'yes', ' yes', 'ümlaut', '', null, '[red]', 'a''b', '?'])[1 + i % 9] collate loose
            as "le,vel",
            (array['sad', 'ok', '', null]::mood[])[1 + i % 4] as m,
            (array[1.0, 1.00, 2.5, null, 1e30, 'NaN']::numeric[])[1 + i % 6] as "nu=m",
            (array[0.0, '-0', 'NaN', 'Infinity', 1.5, null]::float8[])[1 + i % 6] as f,
            gen_random_uuid() as u, i as serial, md5(i::text) as hash,
            ('note ' || md5(i::text) || ' of some words more') as note,
            'ab'::char(5) || i % 2 as ch, '\\xff00'::bytea as by, int4range(1, i) as r, i % 3 + 0.0::float4 as small,
            timestamptz '2020-01-01' + (i % 50) * interval '1 hour' as at,
            case i % 5 when 0 then null when 1 then 'no ' else 'Y"es' end as "cl ass"
            from generate_series(1, 3000) i""",
    )
    return postgres


def test_a_million_rows_stream_with_flat_memory_and_push_gives_the_same_bits(server: Server, tmp_path: Path) -> None:
    source = likely.database(server.address, table="big")
    assert source.name == f"table 'big' in postgresql://127.0.0.1:{server.port}/postgres"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    swept = likely.summarize(source, "y")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 250_000, "a million rows of 40 bytes were held at once"
    assert swept.rows == MILLION
    told: list[str] = []
    counted = likely.summarize(source, "y", push=True, remark=told.append)
    assert bits(counted) == bits(swept)
    assert told == ["Too many values to be counted in the database, so read row by row: 'x'."]
    only = likely.database(server.address, query="select n, y from big;")
    told.clear()
    assert likely.summarize(only, "y", push=True, remark=told.append).rows == MILLION
    assert told == []  # nothing but counts left the database


@pytest.mark.parametrize("target", ["cl ass", "m", "small", None])
def test_odd_names_and_types(server: Server, target: str | None) -> None:
    source = likely.database(server.address, table=ODD)
    how: dict[str, Any] = {"types": {"note": "text", "by": "ignore"}, "remark": len}
    swept = likely.summarize(source, target, **how)
    assert bits(likely.summarize(source, target, push=True, **how)) == bits(swept)
    names = swept.schema.names
    assert "le,vel" in names and (swept["le,vel"].labels.names == ["", "Yes"] or "yes" in swept["le,vel"].labels.names)
    assert bits(likely.summarize(source, schema=swept.schema, push=True, remark=len)) == bits(
        likely.summarize(source, schema=swept.schema)
    )


def test_every_verb_takes_the_same_source(server: Server, tmp_path: Path, monkeypatch: Any) -> None:
    source = likely.database(server.address, query="select n, c, b, y from big where n < 5 limit 2000")
    model = likely.fit(source, "y")
    assert likely.look(source, "y", folds=3).rows == 2000
    assert len(model.predict(source)) == 2000
    assert len(likely.decide(model, source, {"no": {"yes": 1}, "yes": {"no": 5}})) == 2000
    assert likely.learn(model, source).summary.rows == 4000
    assert likely.compare(source, "y", folds=2, learners={"naive": likely.NaiveBayes()})


def command(folder: Path, *args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "likely", *map(str, args)], cwd=folder, capture_output=True, text=True, check=False
    )


def test_the_command_line(server: Server, tmp_path: Path, run: Any) -> None:
    data = (server.address, "--query", "select n, c, y from big limit 500")
    for args in (
        ("look", *data, "y", "--json"),
        ("fit", *data, "y", "--push", "-o", "m.likely"),
        ("predict", "m.likely", *data, "-o", "p.csv"),
        ("score", *data, "--model", "m.likely", "--json"),
        ("decide", "m.likely", *data),
        ("explain", "m.likely", "--row", "3", *data),
    ):
        done = run(*args).done()
        everything = done.out + done.err
        assert IN_ADDRESS not in everything and PASSWORD not in everything and "the%20owner" not in everything
    assert json.loads(run("look", *data, "y", "--json").out)["source"] == (
        f"the query in postgresql://127.0.0.1:{server.port}/postgres"
    )
    assert b"s3cr" not in (tmp_path / "m.likely").read_bytes()


def test_what_is_wrong_is_said_without_the_password(server: Server, tmp_path: Path, run: Any) -> None:
    good = server.address
    port = server.port
    for args, words in {
        (good.replace(IN_ADDRESS, "wr0ng-pass"), "y", "--table", "big"): ("cannot be opened", "authentication failed"),
        (good.replace(IN_ADDRESS, "Hunter2/pw"), "y"): ("must be written otherwise", "%2F"),
        (good.replace(IN_ADDRESS, "Hunter2@pw"), "y"): ("must be written otherwise", "%40"),
        (good.replace(IN_ADDRESS, "Hunter2%pw"), "y"): ("must be written otherwise", "%25"),
        (good.replace(IN_ADDRESS, "Hunter2?pw"), "y"): ("must be written otherwise", "%3F"),
        (good.replace(f":{port}", ":1").replace(IN_ADDRESS, "Hunter2pw"), "y"): (
            "cannot be opened",
            "Connection refused",
        ),
        (f"postgresql://127.0.0.1:{port}/postgres?user=the+owner&password=Hunter2pw", "y"): ("cannot be opened",),
        (f"postgresql://127.0.0.1:{port}/postgres?passwort=Hunter2pw", "y"): ("cannot be opened", "passwort"),
        (good, "y", "--query", "select nope from big"): ("cannot be read", 'column "nope" does not exist'),
        (good, "y", "--query", "delete from big returning *"): ("cannot be read",),
        (good, "y", "--query", " "): ("query is empty",),
        (good, "y", "--table", "bug"): ("has no table 'bug'", "Did you mean 'big'?"),
        (good, "y"): ("has 2 tables", "'big'", "--table NAME"),
        (good, "z", "--table", "big"): ("has no column 'z'",),
        (good, "y", "--query", "select 1 as a, 2 as a"): ("'a'",),
        (good, "y", "--query", "select 1", "--table", "big"): ("Leave out either the query or the table",),
        ("mysql://u:Hunter2pw@host/db", "y"): ("mysql://host/db cannot be opened", "adbc-driver-mysql"),
        ("https://u:Hunter2pw@127.0.0.1:9/t.csv", "y"): ("https://127.0.0.1:9/t.csv' cannot be fetched",),
        (good.replace(IN_ADDRESS, "Hunter2pw"), "y", "--tabel", "x"): ("--table",),
        (good.replace(IN_ADDRESS, "Hunter2pw"), "y", "more", "x"): ("unexpected extra argument",),
        ("--table", "big", "y", good.replace(IN_ADDRESS, "Hunter2pw")): (),
    }.items():
        done = run("look", *args).refused(*words)
        for word in (PASSWORD, IN_ADDRESS, "Hunter2", "wr0ng-pass"):
            assert word not in done.err, (args, done.err)


def test_a_connection_that_is_dropped_half_way(server: Server, tmp_path: Path) -> None:
    source = likely.database(server.address, query="select x, n, c, y, 'to be dropped' as s from big")
    (tmp_path / "old.likely").write_text("old")
    killed: list[bool] = []

    def kill(rows: int) -> None:
        if rows and not killed:
            killed.append(True)
            server.run("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() "
                       "and query like '%to be dropped%'")  # fmt: skip

    with pytest.raises(
        likely.LikelyError, match=r"broke off after [\d,]+ rows: .*Nothing was written; run again"
    ) as said:
        likely.fit(source, "y", progress=kill, types={"c": "nominal"}).save(tmp_path / "old.likely")
    assert killed and (tmp_path / "old.likely").read_text() == "old"
    assert "s3cr" not in str(said.value)


def test_all_sweeps_see_one_snapshot(server: Server) -> None:
    server.run("create table changing as select i % 3 as a, i % 2 as y from generate_series(1, 1000) i")
    source = likely.database(server.address, table="changing")
    before = likely.summarize(source, "y")
    server.run("insert into changing select 7, 1 from generate_series(1, 500)")
    assert likely.summarize(source, "y") == before
    assert likely.summarize(likely.database(server.address, table="changing"), "y").rows == 1500


def test_no_trace_of_the_address_is_left_in_an_exception(server: Server) -> None:
    import traceback

    wrong = "Hunter2"  # in a variable, as a traceback shows the lines of the program
    try:
        likely.database(server.address.replace(IN_ADDRESS, wrong), table="big")
    except likely.LikelyError as error:
        assert wrong not in "".join(traceback.format_exception(error))
    else:
        raise AssertionError("a wrong password was taken")
    source = likely.database(server.address, table="big")
    assert "s3cr" not in repr(source) + str(vars(source)) + repr(vars(source)["_dialect"])
