"""`likely serve` where others can ask: the key, what it says of the model, /docs, /metrics, and rows as a list."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

import likely
from likely import Model
from likely.cli import run
from likely.errors import SettingError

pytest.importorskip("fastapi", reason="fastapi is not installed: pip install likely[web]")
from fastapi.testclient import TestClient

from likely.web.application import application
from likely.web.guard import check_key, has_key

EXAMPLES = Path(__file__).parents[2] / "examples"
HERE = "http://127.0.0.1"
KEY = "a-key-that-is-long-enough"


@pytest.fixture(scope="module")
def model() -> Model:
    return likely.fit(EXAMPLES / "penguins.csv", "sex")


@pytest.fixture(scope="module")
def client(model: Model) -> TestClient:
    return TestClient(application(model, "<!doctype html>the page", "1.2.3"), base_url=HERE)


def basic(words: str) -> str:
    return "Basic " + base64.b64encode(words.encode()).decode()


@pytest.mark.parametrize(
    ("said", "right"),
    [
        (f"Bearer {KEY}", True),
        (f"bearer  {KEY} ", True),
        (basic(f"anyone:{KEY}"), True),
        (basic(f":{KEY}"), True),
        (KEY, False),
        (f"Bearer {KEY}x", False),
        (f"Bearer {KEY[:-1]}", False),
        ("Bearer", False),
        ("", False),
        (basic(KEY), False),
        (basic(f"{KEY}:"), False),
        (f"Basic {KEY}", False),
        ("Basic \xff\xff", False),
        (f"Digest {KEY}", False),
    ],
)
def test_a_key_is_sent_as_a_token_or_as_a_password(said: str, right: bool) -> None:
    assert has_key({b"authorization": said.encode("latin-1")}, KEY.encode()) is right


def test_nobody_is_answered_without_the_key(model: Model) -> None:
    served = TestClient(application(model, "the page", key=KEY.encode(), names=None), base_url="http://elsewhere:8000")
    for path in ("/", "/health", "/model", "/metrics", "/docs", "/openapi.json", "/nothing"):
        refused = served.get(path)
        assert refused.status_code == 401 and refused.headers["www-authenticate"].startswith("Basic"), path
        assert set(refused.json()) == {"error"} and "key" in refused.json()["error"]
        allowed = served.get(path, headers={"authorization": f"Bearer {KEY}"})
        assert allowed.status_code == (404 if path == "/nothing" else 200), path
    row = {"rows": [{"species": "Adelie"}]}
    assert served.post("/predict", json=row).status_code == 401
    assert served.post("/predict", json=row, auth=("me", KEY)).status_code == 200
    assert served.post("/predict", json=row, auth=("me", KEY.upper())).status_code == 401


@pytest.mark.parametrize(
    "key", ["", "short", "with a blank in the middle", "\xfcmlaute-sind-kein-ascii", "x" * 20 + "\n"]
)
def test_keys_that_are_none(key: str) -> None:
    with pytest.raises(SettingError, match="at least 16 characters"):
        check_key(key)


def test_other_machines_need_a_key(model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model.save(tmp_path / "m.likely")
    assert run(["serve", str(tmp_path / "m.likely"), "--port", "0", "--host", "0.0.0.0"]) == 2
    assert "--key-file, or into the environment variable LIKELY_KEY" in capsys.readouterr().err


def test_it_listens_elsewhere_with_a_key(model: Model, tmp_path: Path) -> None:
    model.save(tmp_path / "m.likely")
    (tmp_path / "key").write_text(f"{KEY}\n", encoding="utf-8")
    command = [sys.executable, "-m", "likely", "serve", "m.likely", "--port", "0", "--host", "0.0.0.0"]
    started = subprocess.Popen([*command, "--key-file", "key"], cwd=tmp_path, stdout=subprocess.PIPE)
    try:
        assert started.stdout is not None
        found = re.search(r"http://0\.0\.0\.0:(\d+)/", started.stdout.readline().decode())
        assert found
        asked = Request(f"http://127.0.0.1:{found[1]}/health")
        with pytest.raises(HTTPError) as refused:
            urlopen(asked)
        assert refused.value.code == 401
        asked.add_header("authorization", f"Bearer {KEY}")
        asked.add_header("host", "service.example")
        with urlopen(asked) as answer:
            assert json.load(answer)["target"] == "sex"
    finally:
        started.terminate()
        started.wait(20)


def test_rows_may_be_a_list(client: TestClient) -> None:
    rows: list[dict[str, Any]] = [{"species": "Adelie", "body_mass_g": 4000}, {}]
    for path in ("/predict", "/decide"):
        named = client.post(path, json={"rows": rows})
        assert named.status_code == 200 and client.post(path, json=rows).json() == named.json()
        assert client.post(path, json=rows[:1]).json()["rows"] == named.json()["rows"][:1]
    assert client.post("/predict", json=[]).status_code == 422
    assert "specie" in client.post("/predict", json=[{"specie": "Adelie"}]).json()["error"]


def test_the_model_says_how_good_it_was(client: TestClient, model: Model) -> None:
    about, found = client.get("/model").json(), model.judgement
    assert found is not None and about["judged"]["accuracy"]["value"] == found.accuracy.value
    assert about["judged"]["subgroups"][0]["attribute"] == "species"
    assert about["origin"]["digest of the data"] == f"sha256 {model.digest}"
    plain = likely.fit(EXAMPLES / "weather.csv", "play", "NaiveBayes")
    assert TestClient(application(plain, ""), base_url=HERE).get("/model").json()["judged"] is None


def test_docs_ask_nothing_of_elsewhere(client: TestClient) -> None:
    page = client.get("/docs").text
    for words in ("/predict/table", "/metrics", "bill_length_mm", "openapi.json"):
        assert words in page
    assert "default-src &#39;none&#39;" in page and not re.search(r'(?:src|href)="(?:https?:)?//', page)


def test_metrics_count_requests_and_name_no_address_that_is_not_there(model: Model) -> None:
    served = TestClient(application(model, "the page", "1"), base_url=HERE)
    for _ in range(3):
        served.post("/predict", json={"rows": [{}]})
    served.get("/health")
    for secret in ("/mine", "/ours"):
        served.get(secret)
    served.get("/health", headers={"host": "evil.example"})
    found = served.get("/metrics")
    assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = dict(line.rsplit(" ", 1) for line in found.text.splitlines() if not line.startswith("#"))
    count = "likely_request_seconds_count"
    assert lines[f'{count}{{path="/predict",status="200"}}'] == "3"
    assert lines[f'{count}{{path="/health",status="200"}}'] == "1" == lines[f'{count}{{path="/health",status="421"}}']
    assert lines[f'{count}{{path="other",status="404"}}'] == "2" and "mine" not in found.text
    assert 'target="sex"' in found.text and model.digest in found.text
    assert all(float(value) >= 0 for value in lines.values())
