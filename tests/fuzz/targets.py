"""What is attacked: for each way in, sound files to damage and the commands that are given the damaged ones.

A target refuses by exit code 2 and one sentence, or does its work; everything else (a traceback, a signal, more than
ten seconds, two gigabytes, probabilities that are none) is a failure.
"""

from __future__ import annotations

import contextlib
import csv
import datetime
import gzip
import hashlib
import io
import json
import lzma
import math
import random
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzz.mutations import damaged

ROWS = 60
LEARNERS = (
    "NaiveBayes",
    "FullBayes",
    "TreeAugmented",
    "OneDependence",
    "LeastSquares",
    "Logistic",
    "Additive",
    "Forest",
    "Neighbors",
    "Density",
)


@dataclass(frozen=True)
class Target:
    """One way in: sound files, how they are damaged, and what is done with a damaged one in an empty folder."""

    name: str
    seeds: Callable[[Path], Sequence[bytes]]
    attack: Callable[[bytes, Path], None]
    damage: Callable[[bytes, random.Random], bytes] = damaged


class Failure(Exception):
    """A damaged file was neither refused nor handled."""


# -- what is run ----------------------------------------------------------------------------------------------


def command(*words: object, stdin: bytes = b"") -> tuple[int, str, str]:
    """A command of likely in this process: its exit code and what it wrote."""
    from likely.cli import run

    before = sys.stdin
    out, err = (io.TextIOWrapper(_Kept(), encoding="utf-8", newline="") for _ in range(2))
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run([str(w) for w in words])
    finally:
        sys.stdin = before
    for stream in (out, err):
        if not stream.closed:
            stream.flush()
    return code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]


class _Kept(io.BytesIO):
    def close(self) -> None:
        self.flush()


def checked(*words: object, stdin: bytes = b"") -> tuple[int, str]:
    """The exit code and output of a command that ended in good order."""
    code, out, err = command(*words, stdin=stdin)
    if code not in (0, 1, 2) or "Traceback" in err:
        raise Failure(f"{' '.join(map(str, words))}: exit {code}: {err.strip()[-2000:]}")
    if code == 2 and not (err.startswith("likely: ") and err.rstrip()[-1:] in ".?"):
        raise Failure(f"{' '.join(map(str, words))}: no sentence: {err[-500:]}")
    return code, out


# -- tables ---------------------------------------------------------------------------------------------------


def columns() -> dict[str, list[object]]:
    """A small table with every kind of cell."""
    chance = random.Random(1)
    return {
        "level": [chance.choice(["a", "b", "c c", "d,e", None]) for _ in range(ROWS)],
        "x": [None if k % 9 == 0 else round(chance.gauss(0, 3), 3) for k in range(ROWS)],
        "whole": [chance.randrange(-5, 2000) for _ in range(ROWS)],
        "day": [f"2020-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(ROWS)],
        "text": [" ".join(chance.choice(["good", "bad", "x1", "Ünï", "don't"]) for _ in range(8)) for _ in range(ROWS)],
        "y": [chance.choice(["yes", "no", "no"]) for _ in range(ROWS)],
    }


def as_csv(delimiter: str) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    table = columns()
    writer.writerow(table)
    writer.writerows(["" if c is None else c for c in row] for row in zip(*table.values(), strict=True))
    return out.getvalue().encode()


def as_json_lines() -> bytes:
    table = columns()
    return b"".join(
        json.dumps(dict(zip(table, row, strict=True))).encode() + b"\n" for row in zip(*table.values(), strict=True)
    )


def as_arff() -> bytes:
    table = columns()
    head = "@relation t\n@attribute level {a,b,'c c','d,e'}\n@attribute x numeric\n@attribute whole integer\n"
    head += "@attribute day date 'yyyy-MM-dd'\n@attribute text string\n@attribute y {yes,no}\n@data\n"
    lines = []
    for row in zip(*table.values(), strict=True):
        cells = ["?" if c is None else "'" + c.replace("'", "") + "'" if isinstance(c, str) else str(c) for c in row]
        lines.append(",".join(cells))
    sparse = "{0 a, 1 2.5, 5 yes}"
    return (head + "\n".join([*lines, sparse]) + "\n").encode()


def as_arrow(*, stream: bool, dictionaries: bool) -> bytes:
    import pyarrow as pa

    table = pa.table(columns())
    if dictionaries:
        for name in ("level", "y"):
            at = table.schema.get_field_index(name)
            table = table.set_column(at, name, table.column(name).dictionary_encode())
    sink = io.BytesIO()
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=25)
    return sink.getvalue()


def as_parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(pa.table(columns()), sink, row_group_size=25)
    return sink.getvalue()


def as_zip(*, packed: bool) -> bytes:
    import zipfile

    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo("t.csv"), as_csv(","))
    return sink.getvalue()


def as_workbook() -> bytes:
    import xlsxwriter

    sink, table = io.BytesIO(), columns()
    with xlsxwriter.Workbook(sink) as book:
        book.set_properties({"created": datetime.datetime(2024, 1, 1)})
        sheet = book.add_worksheet("t")
        sheet.write_row(0, 0, list(table))
        for k, column in enumerate(table.values()):
            for row, cell in enumerate(column, 1):
                if cell is not None and cell == cell:
                    sheet.write(row, k, str(cell) if isinstance(cell, datetime.date) else cell)
    return sink.getvalue()


def as_whole_json() -> list[bytes]:
    rows = [json.loads(line) for line in as_json_lines().decode().splitlines()]
    names = list(rows[0])
    by_column = {n: {str(k): row.get(n) for k, row in enumerate(rows)} for n in names}
    split = {"columns": names, "data": [[row.get(n) for n in names] for row in rows]}
    return [json.dumps(whole).encode() for whole in (by_column, split)]


TABLES: dict[str, Callable[[], list[bytes]]] = {
    ".csv": lambda: [
        as_csv(","),
        as_csv(";"),
        as_csv(",").decode().encode("utf-16"),
        as_csv(",").decode().encode("latin-1"),
    ],
    ".tsv": lambda: [as_csv("\t")],
    ".csv.gz": lambda: [gzip.compress(as_csv(","), mtime=0)],
    ".csv.xz": lambda: [lzma.compress(as_csv(","))],
    ".zip": lambda: [as_zip(packed=packed) for packed in (False, True)],
    ".xlsx": lambda: [as_workbook()],
    ".json": as_whole_json,
    ".jsonl": lambda: [as_json_lines()],
    ".arff": lambda: [as_arff()],
    ".arrow": lambda: [as_arrow(stream=False, dictionaries=d) for d in (False, True)],
    ".arrows": lambda: [as_arrow(stream=True, dictionaries=d) for d in (False, True)],
    ".parquet": lambda: [as_parquet()],
}


def table_target(suffix: str) -> Target:
    def attack(data: bytes, folder: Path) -> None:
        path = folder / f"t{suffix}"
        path.write_bytes(data)
        code, _ = checked("fit", path, "y", "--learner", "NaiveBayes", "-o", folder / "m.likely")
        if code == 0:
            checked("predict", folder / "m.likely", path, "-o", folder / "out.csv")
            check_probabilities(folder / "out.csv")

    return Target(f"table{suffix}", lambda _: TABLES[suffix](), attack)


def check_probabilities(path: Path) -> None:
    """Every row of a table of predictions has probabilities, or none at all."""
    if not path.exists():
        return
    csv.field_size_limit(1 << 30)
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cells = [v for k, v in row.items() if k and k.startswith("p(")]
            if any(cells):
                chances = [float(c) for c in cells]
                if not math.isclose(sum(chances), 1.0, abs_tol=1e-6) or min(chances) < 0:
                    raise Failure(f"probabilities {cells} in a row")


# -- model files ----------------------------------------------------------------------------------------------


def models(folder: Path) -> list[bytes]:
    table, out = folder / "t.csv", []
    table.write_bytes(as_csv(","))
    for learner in LEARNERS:
        path, more = folder / f"{learner}.likely", ["--type", "text=ignore", "--type", "day=ignore"]
        if learner == "FullBayes":
            more += ["--type", "level=ignore"]
        target = [] if learner == "Density" else ["y"]
        code, _ = checked("fit", table, *target, "--learner", learner, *more, "-o", path)
        if code == 0:
            out.append(path.read_bytes())
    code, _ = checked(
        "fit", table, "y", "--learner", "NaiveBayes", "--text", "multinomial", "-o", folder / "words.likely"
    )
    out.append((folder / "words.likely").read_bytes())
    return out


def sealed(data: bytes, chance: random.Random) -> bytes:
    """A model file whose contents were altered, with the right checksum: as one would who means harm."""
    head = struct.Struct("<8sIQ")
    magic, version, length = head.unpack_from(data)
    header, arrays = data[head.size : head.size + length], data[head.size + length : -32]
    if chance.random() < 0.6:
        header = _other_json(header, chance) if chance.random() < 0.7 else damaged(header, chance)
    if chance.random() < 0.6:
        arrays = damaged(arrays, chance)
    body = head.pack(magic, version, len(header)) + header + arrays
    return body + hashlib.sha256(body).digest()


EXTREMES = (
    0,
    1,
    -1,
    8,
    10**8,
    2**31,
    2**62,
    2**64,
    0.5,
    -0.0,
    1e308,
    1e-308,
    None,
    True,
    "",
    "x",
    [],
    {},
    [[]],
    "array",
)


def _other_json(header: bytes, chance: random.Random) -> bytes:
    """One value of the header becomes another, is left out, or changes places with a second one."""
    tree = json.loads(header)
    places: list[tuple[object, object]] = []

    def walk(node: object) -> None:
        items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in items:
            places.append((node, key))
            walk(value)

    walk(tree)
    for _ in range(chance.choice((1, 1, 2))):
        node, key = chance.choice(places)
        with contextlib.suppress(KeyError, IndexError, TypeError):
            kind = chance.randrange(4)
            if kind == 0:
                del node[key]  # type: ignore[attr-defined]
            elif kind == 1:
                other, there = chance.choice(places)
                node[key], other[there] = other[there], node[key]  # type: ignore[index]
            else:
                node[key] = chance.choice(EXTREMES)  # type: ignore[index]
    try:
        return json.dumps(tree).encode()
    except (ValueError, RecursionError):
        return header


def attack_model(data: bytes, folder: Path) -> None:
    path, rows = folder / "m.likely", folder / "rows.csv"
    path.write_bytes(data)
    rows.write_bytes(b"\n".join(as_csv(",").split(b"\n")[:12]) + b"\n")
    code, _ = checked("predict", path, rows, "-o", folder / "out.csv")
    if code == 0:
        check_probabilities(folder / "out.csv")
    checked("show", path)
    checked("explain", path, "x=1.5", "level=a")
    checked("merge", path, path, "-o", folder / "two.likely")


# -- pages of TOML --------------------------------------------------------------------------------------------

SPEC = b"""target = "y"
missing = ["", "?"]
[learner]
name = "NaiveBayes"
pseudo_count = 0.5
numbers = "kernel"
[columns]
day = "ignore"
text = "text"
whole = "number"
[[knowledge]]
worth = 10
class = {yes = 0.3, no = 0.7}
[loss]
yes = {treat = 0, wait = 10}
no = {treat = 1, wait = 0}
"""
LOSS = b"""yes = {treat = 0, wait = 10, ask = 0.5}
no = {treat = 1, wait = 0, ask = 0.5}
"""


def attack_spec(data: bytes, folder: Path) -> None:
    (folder / "t.csv").write_bytes(as_csv(","))
    (folder / "spec.toml").write_bytes(data)
    checked("fit", folder / "t.csv", "--spec", folder / "spec.toml", "-o", folder / "m.likely")


def attack_loss(data: bytes, folder: Path) -> None:
    (folder / "t.csv").write_bytes(as_csv(","))
    (folder / "loss.toml").write_bytes(data)
    checked("fit", folder / "t.csv", "y", "--learner", "NaiveBayes", "-o", folder / "m.likely")
    checked("decide", folder / "m.likely", folder / "t.csv", "--loss", folder / "loss.toml", "-o", folder / "out.csv")


# -- the API --------------------------------------------------------------------------------------------------

REQUESTS = (
    b'/predict\n{"rows": [{"level": "a", "x": 1.5}, {"level": null, "whole": "7"}]}',
    b'/explain\n{"row": {"level": "a", "x": 1.5}, "of": "yes", "against": "no", "unit": "bits"}',
    b'/decide\n{"rows": [{"level": "a"}], "loss": {"yes": {"treat": 0, "wait": 10}, "no": {"treat": 1, "wait": 0}}}',
)


def requests(_: Path) -> list[bytes]:
    out = list(REQUESTS)
    out += [b"/predict/table text/csv\n" + as_csv(",")]
    out += [
        b"/predict/table application/vnd.apache.arrow.stream\n" + as_arrow(stream=True, dictionaries=d)
        for d in (True, False)
    ]
    return [*out, b"/decide/table text/csv\n" + as_csv(",")]


def damaged_body(data: bytes, chance: random.Random) -> bytes:
    head, _, body = data.partition(b"\n")
    return head + b"\n" + damaged(body, chance)


_clients: list[object] = []


def attack_api(data: bytes, folder: Path) -> None:
    from fastapi.testclient import TestClient

    if not _clients:
        import likely
        from likely.web.application import application
        from likely.web.guard import Limits

        model = likely.fit(columns(), "y", likely.NaiveBayes(), types={"text": "ignore", "day": "ignore"})
        served = application(model, "page", "1", Limits(body=10_000_000))
        _clients.append(TestClient(served, base_url="http://127.0.0.1", raise_server_exceptions=False))
    client: TestClient = _clients[0]  # type: ignore[assignment]
    head, _, body = data.partition(b"\n")
    path, _, kind = head.decode().partition(" ")
    answer = client.post(path, content=body, headers={"content-type": kind or "application/json"})
    if answer.status_code >= 500:
        raise Failure(f"{path}: {answer.status_code} {answer.text[:500]}")
    if answer.status_code >= 400 and (set(answer.json()) != {"error"} or len(answer.content) > 3000):
        raise Failure(f"{path}: {answer.status_code} is not one sentence: {answer.text[:500]}")
    if len(answer.content) > 5 * len(body) + 100_000:
        raise Failure(f"{path}: {len(answer.content)} bytes in answer to {len(body)}")


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        *map(table_target, TABLES),
        Target("model", models, attack_model, sealed),
        Target("model.bytes", models, attack_model),
        Target("spec", lambda _: [SPEC], attack_spec),
        Target("loss", lambda _: [LOSS], attack_loss),
        Target("api", requests, attack_api, damaged_body),
    )
}
