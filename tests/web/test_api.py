"""The API of `likely serve`: it answers as the library does, refuses what it should, and keeps to its description."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

import likely
from likely import Model

pytest.importorskip("fastapi", reason="fastapi is not installed: pip install likely[web]")
from fastapi.testclient import TestClient

from likely.web.application import application
from likely.web.guard import MOST_ROWS, Limits

EXAMPLES = Path(__file__).parents[2] / "examples"
HERE = "http://127.0.0.1"
ARROW = "application/vnd.apache.arrow.stream"


@pytest.fixture(scope="module")
def model() -> Model:
    return likely.fit(EXAMPLES / "weather_mixed.csv", target="play")


@pytest.fixture(scope="module")
def client(model: Model) -> TestClient:
    return TestClient(application(model, "<!doctype html>the page", "1.2.3", Limits(body=100_000)), base_url=HERE)


def test_the_page_and_what_the_model_is(client: TestClient, model: Model) -> None:
    page = client.get("/")
    assert page.text == "<!doctype html>the page" and page.headers["content-type"].startswith("text/html")
    assert page.headers["x-content-type-options"] == "nosniff"
    about = client.get("/model").json()
    assert about["target"] == "play" and about["classes"] == ["no", "yes"]
    assert {a["name"]: a["kind"] for a in about["attributes"]} == {c.name: c.kind for c in model.schema.attributes}
    assert client.get("/openapi.json").json()["info"]["version"] == "1.2.3"
    row = client.get("/openapi.json").json()["components"]["schemas"]["Row"]
    assert set(row["properties"]) == set(model.schema.names) and row["additionalProperties"] is False
    for gone in ("/redoc", "/nothing"):
        assert client.get(gone).status_code == 404


ROWS: list[dict[str, Any]] = [
    {"outlook": "sunny", "windy": True, "humidity": 90},
    {"outlook": "sunny", "windy": "true", "humidity": "90"},
    {"outlook": "never seen", "temperature": 1e300},
    {"outlook": None, "temperature": "warm"},
    {},
]


def test_predictions_are_those_of_the_library_row_by_row(client: TestClient, model: Model) -> None:
    found = client.post("/predict", json={"rows": ROWS})
    assert found.status_code == 200
    for row, answer in zip(ROWS, found.json()["rows"], strict=True):
        alone = model.posterior(row)
        assert answer["prediction"] == alone.best
        assert answer["probabilities"] == {c: alone.prob(c) for c in model.classes}
    assert any("not seen in training: 1 cell of 'outlook'" in remark for remark in found.json()["remarks"])


def test_rows_carry_the_remarks_of_the_library(client: TestClient, model: Model) -> None:
    said = [answer["remarks"] for answer in client.post("/predict", json={"rows": ROWS}).json()["rows"]]
    spelled = [{**row, "windy": "true"} if "windy" in row else row for row in ROWS]
    assert said == [words for row in spelled for words in likely.remarks(model, row)]
    assert "temperature is beyond training" in said[2] and "outlook has a level" in said[2] and said[4] == ""
    assert [answer["remarks"] for answer in client.post("/decide", json={"rows": ROWS}).json()["rows"]] == said
    csv, kind = b"humidity\n90\n50000\n", {"content-type": "text/csv"}
    table = client.post("/predict/table?remarks=true", content=csv, headers=kind).text.splitlines()
    assert table[0].endswith("remarks") and table[1].endswith(",") and "humidity is beyond training" in table[2]


def test_one_row_is_answered_as_among_others(client: TestClient, model: Model) -> None:
    together = client.post("/predict", json={"rows": ROWS}).json()["rows"]
    for row, wanted in zip(ROWS, together, strict=True):
        for _ in range(2):  # met for the first time, and again
            found = client.post("/predict", json={"rows": [row]}).json()
            assert found["rows"] == [wanted]
            assert any("not seen" in remark for remark in found["remarks"]) == (row.get("outlook") == "never seen")
    listed = client.post("/predict", json={"rows": [{**ROWS[0], "outlook": ["sunny", "rainy"]}]})
    assert listed.status_code == 422


def test_explanations_are_those_of_the_library(client: TestClient, model: Model) -> None:
    found = client.post("/explain", json={"row": ROWS[0], "of": "yes", "unit": "nats"})
    wanted = likely.explain(model, {**ROWS[0], "windy": "true"}, of="yes", unit="nats").to_dict()
    got = found.json()
    assert got["log_odds"] == wanted["log_odds"] and got["posterior"] == wanted["posterior"]
    assert [(e["name"], e["log_ratio"]) for e in got["entries"]] == [
        (e["name"], e["log_ratio"]) for e in wanted["entries"]
    ]


def test_decisions_follow_the_costs(client: TestClient, model: Model) -> None:
    loss = {"no": {"go": 9}, "yes": {"stay": 1}}
    found = client.post("/decide", json={"rows": ROWS, "loss": loss, "abstain": 0.05}).json()
    for row, answer in zip(ROWS, found["rows"], strict=True):
        wanted = likely.decide(model, row, likely.Loss(loss, abstain=0.05))
        assert answer["action"] == wanted.action
        if wanted.action is None:  # 1e300 degrees are impossible
            assert answer["reason"] == "every class is impossible" and set(answer["expected"].values()) == {None}
        else:
            assert answer["expected"][answer["action"]] == wanted.expected_loss()
    assert client.post("/decide", json={"rows": [{}]}).json()["rows"][0]["action"] == "yes"


@pytest.mark.parametrize("given", ["csv", "json", "arrow"])
@pytest.mark.parametrize("wanted", ["csv", "json", "arrow"])
def test_tables_come_and_go_as_csv_json_and_arrow(client: TestClient, model: Model, given: str, wanted: str) -> None:
    text = (EXAMPLES / "weather_mixed.csv").read_bytes()
    table = pyarrow.csv.read_csv(io.BytesIO(text))
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    lines = "".join(json.dumps(row) + "\n" for row in table.to_pylist())
    bodies = {"csv": (text, "text/csv; charset=utf-8"), "json": (lines.encode(), "application/x-ndjson")}
    body, media = (bodies | {"arrow": (stream.getvalue().to_pybytes(), ARROW)})[given]
    found = client.post(f"/predict/table?format={wanted}", content=body, headers={"content-type": media})
    assert found.status_code == 200, found.text
    if wanted == "csv":
        rows = pyarrow.csv.read_csv(io.BytesIO(found.content)).to_pylist()
    elif wanted == "json":
        rows = [json.loads(line) for line in found.text.splitlines()]
    else:
        rows = pa.ipc.open_stream(found.content).read_all().to_pylist()
    posterior = model.posterior(EXAMPLES / "weather_mixed.csv")
    assert [row["prediction"] for row in rows] == posterior.best
    assert [row["p(yes)"] for row in rows] == pytest.approx(posterior.prob("yes"), rel=1e-15)
    decided = client.post(f"/decide/table?format={wanted}", content=body, headers={"content-type": media})
    assert decided.status_code == 200 and len(decided.content) > 100


def refused(answer: Any, status: int, *words: str) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    for word in words:
        assert word in answer.json()["error"]


def test_what_cannot_be_answered_is_refused_with_a_sentence(client: TestClient) -> None:
    refused(client.post("/predict", json={"rows": [{"outlok": "sunny"}]}), 400, "outlok", "outlook")
    refused(client.post("/explain", json={"row": {"temperature": "warm"}}), 400, "'warm'")
    refused(client.post("/explain", json={"row": {}, "of": "maybe"}), 400, "maybe")
    refused(client.post("/decide", json={"rows": [{}], "loss": {"no": {"go": 1}}}), 400)
    refused(client.post("/predict/table", content=b"", headers={"content-type": "text/csv"}), 400, "empty")
    refused(client.post("/predict/table", content=b"a,b\n1\n", headers={"content-type": "text/csv"}), 400)
    refused(client.post("/predict/table", content=b"\xff\xff\xff\xffx", headers={"content-type": ARROW}), 400, "Arrow")
    refused(client.post("/predict/table", content=b"{", headers={"content-type": "application/x-ndjson"}), 400)
    refused(client.post("/predict/table", content=b"a", headers={"content-type": "application/zip"}), 415, "text/csv")
    for body in (
        {},
        {"rows": []},
        {"rows": [{}], "more": 1},
        {"rows": [{"outlook": ["a"]}]},
        {"rows": [{}] * (MOST_ROWS + 1)},
    ):
        assert client.post("/predict", json=body).status_code == 422


def test_large_requests_and_other_hosts_are_refused(client: TestClient) -> None:
    refused(client.post("/predict/table", content=b"x" * 100_001, headers={"content-type": "text/csv"}), 413, "100,000")

    def chunks() -> Any:
        for _ in range(200):
            yield b"x" * 1000

    refused(client.post("/predict/table", content=chunks(), headers={"content-type": "text/csv"}), 413)
    for host in ("evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example", ""):
        refused(client.get("/model", headers={"host": host}), 421)
    for host in ("localhost:8000", "127.0.0.1:1", "LOCALHOST", "[::1]:80", "[::1]"):
        assert client.get("/model", headers={"host": host}).status_code == 200


def test_no_other_origin_is_let_in(client: TestClient) -> None:
    for method in ("GET", "OPTIONS", "POST"):
        answer = client.request(method, "/predict", headers={"origin": "https://evil.example"})
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_density_and_a_loss_of_its_own() -> None:
    density = likely.fit({"a": ["x", "y", "x"]}, learner=likely.Density())
    refused(TestClient(application(density, ""), base_url=HERE).post("/predict", json={"rows": [{}]}), 400, "density")
    loss = {"n": {"go": 9, "stay": 0}, "y": {"go": 0, "stay": 1}}
    own = likely.fit({"sky": ["sun", "rain"] * 4, "play": ["y", "n"] * 4}, target="play", loss=loss)
    found = TestClient(application(own, ""), base_url=HERE).post(
        "/decide", json={"rows": [{"sky": "sun"}], "abstain": 9}
    )
    assert found.json()["actions"] == ["go", "stay", "don't know"]


def test_the_api_keeps_to_its_description(model: Model) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed: pip install likely[test]")
    from hypothesis import HealthCheck, given, settings
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    app = application(model, "page")
    assert app.names is not None
    app.names |= {"testserver"}  # as whom schemathesis asks
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    checks = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
    tried = 0
    for operation in schema.get_all_operations():

        @given(case=operation.ok().as_strategy())
        @settings(max_examples=8, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        def keeps(case: Any) -> None:
            case.call_and_validate(checks=checks)

        keeps()
        tried += 1
    assert tried == 8


@pytest.mark.parametrize("body", ['"rows"', "3", "null"])
def test_json_that_is_no_object_is_not_called_no_json(client: TestClient, body: str) -> None:
    answer = client.post("/predict", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert 'not a JSON object. Send {"rows": [{"column": value}]}' in answer.json()["error"]
    assert "has no body of JSON" in client.post("/predict").json()["error"]


def test_rows_say_how_sure_they_are() -> None:
    model = likely.fit(Path(__file__).parents[2] / "examples" / "penguins.csv", "sex")
    rows = [{"species": "Gentoo", "body_mass_g": 5000}, {"species": "Adelie"}, {}]
    client = TestClient(application(model, "page", "1.2.3", Limits(body=100_000)), base_url=HERE)
    plain = client.post("/predict", json={"rows": rows}).json()["rows"]
    assert all(row.keys() == {"prediction", "probabilities", "remarks"} for row in plain)
    for asked in (rows, rows[:1]):  # a single row goes a shorter way
        found = client.post("/predict", json={"rows": asked, "level": 0.95}).json()["rows"]
        for row, answer in zip(asked, found, strict=True):
            alone = model.posterior(row)
            assert tuple(answer["set"]) == alone.set(0.95)
            assert {c: tuple(ends) for c, ends in answer["intervals"].items()} == {
                c: alone.interval(c, 0.95) for c in model.classes
            }
    assert client.post("/predict", json={"rows": rows, "level": 95}).status_code == 422
    untried = likely.fit({"x": ["a", "b"] * 9, "y": ["p", "q"] * 9}, "y")
    other = TestClient(application(untried, "page", "1.2.3", Limits(body=100_000)), base_url=HERE)
    refused = other.post("/predict", json={"rows": [{}, {}], "level": 0.9})
    assert refused.status_code == 400 and "held out" in refused.text
