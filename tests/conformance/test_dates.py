"""Every export takes the parts of a date from the date, as the model does, on awkward days."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conformance.databases import Duck, Lite, Postgres
from conformance.test_conformance import Row, agree, is_averaged, run_onnx, server

import likely
from likely import Model
from likely.errors import SettingError

__all__ = ["server"]
DAYS = [
    "1969-12-31 23:59:59", "1970-01-01 00:00:00", "1970-01-01 00:00:00.5", "1600-02-29 12:00:00",
    "1900-02-28 23:59:59.999", "1900-03-01 00:00:00", "2000-02-29 18:30:00", "2024-02-29 00:00:00",
    "2024-12-31 23:00:00", "2023-12-31 06:00:00", "2025-01-01 00:00:00", "0001-01-01 00:00:00", "9999-12-31 23:59:59",
]  # fmt: skip
"""At both ends of years, months, eras and of what databases take for a date."""


def training() -> dict[str, list[Any]]:
    rng = np.random.default_rng(5)
    start, moments = datetime(2021, 1, 1), rng.integers(0, 3 * 365 * 24 * 60, 1500).tolist()
    when = [start + timedelta(minutes=m) for m in moments]
    high = [1.5 * (w.weekday() == 4) + 1.2 * (w.hour >= 18) + 0.8 * (w.month in (6, 7)) - w.day / 30 for w in when]
    late = [bool(h + e > 0.5) for h, e in zip(high, rng.logistic(size=1500) * 0.7, strict=True)]
    times = [w.isoformat(" ") if rng.random() > 0.03 else None for w in when]
    return {"when": times, "x": [round(float(v), 3) for v in rng.normal(size=1500)], "late": late}


def rows() -> list[Row]:
    days = [*DAYS, *(cell for cell in training()["when"][:30] if cell), None]
    return [{"when": day, "x": x} for day in days for x in (0.5, None)]


LEARNERS: dict[str, Any] = {
    "the default": likely.Auto(),
    "naive": likely.NaiveBayes(),
    "logistic": likely.Logistic(numbers="squares"),
    "together": likely.Additive(order="any", rounds=30),
}


@pytest.fixture(scope="module", params=LEARNERS)
def model(request: pytest.FixtureRequest) -> Model:
    how = {} if request.param == "the default" else {"dates": "parts"}
    found = likely.fit(training(), "late", LEARNERS[request.param], types={"when": "date"}, **how)
    assert "when: weekday" in found.schema.names
    return found


def test_sql(model: Model, server: Postgres) -> None:
    with pytest.raises(SettingError, match="dialect='postgres'"):
        likely.export(model, "sql")
    for base in (Duck(), Lite(), server):
        kind = "text" if base.dialect == "sqlite" else "timestamp"
        query = likely.export(model, "sql", dialect=base.dialect, table="t")
        cells = [[row["when"], row["x"]] for row in rows()]
        found = base.run(query, "t", ["when", "x"], [kind, "double precision"], cells)
        for row, (_, _, prediction, *chances) in zip(rows(), found, strict=True):
            if is_averaged(model, row):
                assert prediction is None and chances == [None, None]
            else:
                agree(model, row, [float(p) for p in chances], prediction)


def seconds(row: Row) -> Row:
    """The row with its date as ONNX takes it."""
    if row["when"] is None:
        return row
    apart = datetime.fromisoformat(row["when"]).replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return {**row, "when": apart / timedelta(seconds=1)}


def test_onnx(model: Model) -> None:
    asked = rows()
    found = run_onnx(likely.export(model, "onnx"), [seconds(row) for row in asked])
    for row, (_, prediction, own) in zip(asked, found, strict=True):
        if is_averaged(model, row):
            assert not prediction and all(map(math.isnan, own))
        else:
            agree(model, row, own, prediction or None)


def in_program(model: Model, words: list[str], text: str) -> None:
    found = json.loads(subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout)
    for row, chances in zip([*rows(), {"when": 1e300}, {"when: hour": 3}], found, strict=True):
        agree(model, row, chances, max(model.classes, key=dict(zip(model.classes, chances, strict=True)).get), 1e-12)


def test_python(model: Model, tmp_path: Path) -> None:
    likely.export(model, "python", tmp_path / "exported.py")
    asked = [*rows(), {"when": 1e300}, {"when: hour": 3}]
    program = (
        f"import sys, json; sys.path.insert(0, {str(tmp_path)!r}); from exported import posterior\n"
        "print(json.dumps([list(posterior(row).values()) for row in json.load(sys.stdin)]))"
    )
    in_program(model, [sys.executable, "-I", "-c", program], json.dumps(asked))


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_javascript(model: Model, tmp_path: Path) -> None:
    likely.export(model, "javascript", tmp_path / "exported.mjs")
    asked = json.dumps([*rows(), {"when": 1e300}, {"when: hour": 3}])
    program = f"import {{ posterior }} from {json.dumps((tmp_path / 'exported.mjs').as_uri())};\n"
    program += f"console.log(JSON.stringify({asked}.map((row) => Object.values(posterior(row)))))"
    in_program(model, ["node", "--input-type=module", "-"], program)


def test_pmml_refuses_parts_and_says_what_to_do(model: Model) -> None:
    with pytest.raises(SettingError, match=r"PMML cannot say how they are found\. Fit it with dates='whole'"):
        likely.export(model, "pmml")
    plain = likely.fit(training(), "late", types={"when": "date"}, for_="pmml")
    assert plain.schema.names == ("when", "x", "late") and likely.export(plain, "pmml")


def test_missing_tokens_that_are_parts_are_missing_everywhere() -> None:
    data, tokens = training(), ["Friday", "7", "0"]
    model = likely.fit(data, "late", likely.NaiveBayes(), dates="parts", missing=tokens, types={"when": "date"})
    asked = [{"when": day, "x": 0.5} for day in ("2024-03-01 07:00:00", "2024-03-02 00:30:00", "1970-01-01 00:00:00")]
    query = likely.export(model, "sql", dialect="duckdb", table="t")
    found = Duck().run(query, "t", ["when", "x"], ["timestamp", "double"], [list(row.values()) for row in asked])
    onnx = run_onnx(likely.export(model, "onnx"), [seconds(row) for row in asked])
    for row, (_, _, prediction, *chances), (_, best, own) in zip(asked, found, onnx, strict=True):
        agree(model, row, chances, prediction)
        agree(model, row, own, best)
