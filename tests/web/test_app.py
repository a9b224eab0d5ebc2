"""The app over HTTP: what it answers is what the library says, and what came of a table is gone with it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

import likely

pytest.importorskip("fastapi", reason="fastapi is not installed: pip install likely[web]")
from fastapi.testclient import TestClient

from likely.web.app.application import app_application
from likely.web.app.session import Session
from likely.web.guard import Limits

EXAMPLES = Path(__file__).parents[2] / "examples"
KEY = "a-key-for-tests"
WEATHER = EXAMPLES / "weather_mixed.csv"
LOSS = {"no": {"no": 0.0, "yes": 5.0}, "yes": {"no": 1.0, "yes": 0.0}}


class Door:
    """A client of one session, and a few words for what a person does."""

    def __init__(self, session: Session, largest: int = 1_000_000) -> None:
        gate = app_application(session, KEY, "1.2.3", Limits(body=100_000), largest)
        self.client = TestClient(gate, base_url=f"http://127.0.0.1/{KEY}/", raise_server_exceptions=False)

    def get(self, path: str, **more: Any) -> Any:
        return self.client.get(path, **more)

    def post(self, path: str, body: object = None, **more: Any) -> Any:
        return self.client.post(path, **({} if body is None else {"json": body}), **more)

    def upload(self, data: bytes, name: str) -> str:
        answer = self.client.post("files", content=data, params={"name": name})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["file"])

    def wait(self, number: int) -> dict[str, Any]:
        """The table, once nothing is being done with it any more."""
        end = time.monotonic() + 300
        while time.monotonic() < end:
            table: dict[str, Any] = self.get(f"tables/{number}").json()
            if table["job"]["state"] not in ("waiting", "running"):
                return table
            time.sleep(0.05)
        raise AssertionError(table)

    def open(self, path: Path) -> dict[str, Any]:
        answer = self.post("tables", {"path": str(path)})
        assert answer.status_code == 201, answer.text
        return self.wait(answer.json()["id"])

    def do(self, number: int, what: str, body: object) -> dict[str, Any]:
        answer = self.post(f"tables/{number}/{what}", body)
        assert answer.status_code == 202, answer.text
        return self.wait(number)


@pytest.fixture(scope="module")
def door(session: Session) -> Door:
    return Door(session)


@pytest.fixture(scope="module")
def weather(door: Door) -> int:
    """A table that was learned from, with one column read otherwise."""
    number = int(door.open(WEATHER)["id"])
    order = {"target": "play", "types": {"temperature": "nominal"}, "learner": "NaiveBayes"}
    assert door.do(number, "learn", order)["job"]["state"] == "done"
    return number


def refused(answer: Any, status: int, *words: str) -> str:
    assert answer.status_code == status, answer.text
    (sentence,) = answer.json().values()
    assert answer.json() == {"error": sentence} and sentence[-1] in ".?" and len(sentence) < 600
    for word in words:
        assert word in sentence, (word, sentence)
    return str(sentence)


# -- reading ----------------------------------------------------------------------------------------------------


def test_columns_are_shown_as_the_library_reads_them(door: Door) -> None:
    table = door.open(WEATHER)
    schema = likely.summarize(WEATHER).schema
    assert [(c["name"], c["kind"], c["why"]) for c in table["columns"]["columns"]] == [
        (c.name, c.kind, c.why) for c in schema.columns
    ]
    assert table["name"] == "weather_mixed.csv" and table["columns"]["rows"] == 14
    again = door.do(table["id"], "read", {"types": {"humidity": "nominal"}, "missing": ["sunny"]})
    columns = {c["name"]: c for c in again["columns"]["columns"]}
    assert columns["humidity"]["kind"] == "nominal" and columns["outlook"]["missing"] == 5
    assert again["types"] == {"humidity": "nominal"} and again["missing"] == ["sunny"]


def test_a_reading_that_fails_says_so_and_leaves_the_table_as_it_was(door: Door) -> None:
    table = door.open(WEATHER)
    after = door.do(table["id"], "read", {"types": {"outlook": "number"}})
    assert after["job"]["state"] == "failed" and "outlook" in after["job"]["error"]
    assert after["types"] == {} and after["columns"] == table["columns"]


def test_a_file_that_comes_in_is_the_table_that_it_was(door: Door, session: Session) -> None:
    key = door.upload(WEATHER.read_bytes(), "some weather.csv")
    table = door.wait(door.post("tables", {"file": key}).json()["id"])
    by_path = door.open(WEATHER)
    assert table["name"] == "some_weather.csv"
    assert table["columns"]["columns"] == by_path["columns"]["columns"]
    copy = session.tables[table["id"]].data
    assert os.path.exists(copy) and copy.startswith(session.folder)
    assert session.tables[by_path["id"]].data == str(WEATHER)  # read where it is
    assert door.client.delete(f"tables/{table['id']}").status_code == 200
    assert not os.path.exists(copy)
    refused(door.get(f"tables/{table['id']}"), 400, "closed")
    refused(door.post("tables", {"file": key}), 400, "Choose it again")


def test_what_cannot_be_opened_is_told_in_the_words_of_the_library(door: Door, tmp_path: Path) -> None:
    table = door.open(tmp_path / "nothing.csv")
    with pytest.raises(likely.LikelyError) as error:
        likely.summarize(tmp_path / "nothing.csv")
    assert table["job"]["state"] == "failed" and table["job"]["error"] == str(error.value)
    refused(door.post("tables", {"path": "-"}), 400, "path")
    refused(door.post("tables", {"path": " "}), 400, "path")
    refused(door.post("tables", {}), 400, "either")
    refused(door.post("tables", {"path": "a", "file": "1"}), 400, "either")


# -- learning ---------------------------------------------------------------------------------------------------


def test_the_model_is_that_of_the_library_to_the_last_bit(door: Door, weather: int, tmp_path: Path) -> None:
    found = door.get(f"tables/{weather}/files/model.likely")
    assert "weather_mixed.likely" in found.headers["content-disposition"]
    (tmp_path / "m.likely").write_bytes(found.content)
    own = likely.fit(WEATHER, "play", "NaiveBayes", types={"temperature": "nominal"})
    own.save(tmp_path / "own.likely")
    assert found.content == (tmp_path / "own.likely").read_bytes()


def test_the_page_is_that_of_look(door: Door, weather: int) -> None:
    shown = door.get(f"tables/{weather}/page")
    assert shown.headers["content-type"].startswith("text/html")
    assert shown.headers["x-frame-options"] == "SAMEORIGIN"
    assert shown.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in shown.headers["content-security-policy"]
    assert shown.text == door.get(f"tables/{weather}/files/page.html").text
    from likely.evaluate.study import study_further
    from likely.present.page.writing import page

    how = {"types": {"temperature": "nominal"}}
    record = likely.look(WEATHER, "play", "NaiveBayes", picture=True, **how)
    studies = study_further(record, WEATHER, likely.NaiveBayes(), **how)
    command = "likely look weather_mixed.csv play --type temperature=nominal"  # few rows: this learner is the usual one
    assert shown.text == page(
        record, curve=studies.curve, comparison=studies.comparison, command=command, version="1.2.3",
        data="weather_mixed.csv",
    )  # fmt: skip


def test_predictions_for_another_table_are_those_of_the_library(
    door: Door, weather: int, session: Session, tmp_path: Path
) -> None:
    rows = b"outlook,humidity,temperature\nsunny,90,85\n<b>hail</b>,,\nrainy,70,64\n"
    before = set(os.listdir(session.folder))
    key = door.upload(rows, "new.csv")
    done = door.do(weather, "predict", {"file": key})["job"]
    assert done["state"] == "done" and done["answer"]["rows"] == 3
    assert any("outlook" in remark for remark in done["answer"]["remarks"])
    assert set(os.listdir(session.folder)) == before  # what came in for this alone is gone
    (tmp_path / "new.csv").write_bytes(rows)
    (tmp_path / "out.csv").write_bytes(door.get(f"tables/{weather}/files/predictions.csv").content)
    table = pyarrow.csv.read_csv(tmp_path / "out.csv")
    assert table.column_names == ["outlook", "humidity", "temperature", "prediction", "p(no)", "p(yes)"]
    own = likely.fit(WEATHER, "play", "NaiveBayes", types={"temperature": "nominal"}).posterior(tmp_path / "new.csv")
    assert table["prediction"].to_pylist() == own.best
    assert table["p(yes)"].to_pylist() == own.matrix[:, 1].tolist()
    bare = door.do(weather, "predict", {"path": str(tmp_path / "new.csv"), "keep": False})
    assert bare["job"]["state"] == "done"
    assert door.get(f"tables/{weather}/files/predictions.csv").text.startswith("prediction,p(no),p(yes)\n")


def test_the_model_speaks_other_languages(door: Door, weather: int) -> None:
    model = likely.fit(WEATHER, "play", "NaiveBayes", types={"temperature": "nominal"})
    languages = door.get(f"tables/{weather}").json()["result"]["languages"]
    assert languages[:3] == ["sql", "onnx", "pmml"]
    for language, ending in (("sql", "sql"), ("python", "py"), ("javascript", "mjs")):
        assert door.do(weather, "export", {"language": language})["job"]["answer"]["file"] == f"model.{ending}"
        assert door.get(f"tables/{weather}/files/model.{ending}").text == likely.export(model, language)
    refused(door.post(f"tables/{weather}/export", {"language": "cobol"}), 422)


def test_the_api_of_serve_is_there_for_each_model(door: Door, weather: int) -> None:
    model = likely.fit(WEATHER, "play", "NaiveBayes", types={"temperature": "nominal"})
    row = {"outlook": "sunny", "temperature": "85", "humidity": 85, "windy": "false"}
    found = door.post(f"tables/{weather}/api/predict", {"rows": [row]}).json()
    assert found["rows"][0]["probabilities"]["yes"] == model.posterior(row).prob("yes")
    assert door.get(f"tables/{weather}/api/model").json()["target"] == "play"
    refused(door.post(f"tables/{weather}/api/predict", {"rows": [{"outlok": 1}]}), 400, "outlook")
    refused(door.get("tables/999/api/model"), 400, "no table 999")


def test_costs_change_what_is_decided(door: Door, tmp_path: Path) -> None:
    number = int(door.open(WEATHER)["id"])
    refused(door.post(f"tables/{number}/decide", {"path": str(WEATHER)}), 400, "Nothing was learned")
    door.do(number, "learn", {"target": "play", "learner": "NaiveBayes"})
    refused(door.post(f"tables/{number}/decide", {"path": str(WEATHER)}), 400, "costs")
    order = {"target": "play", "learner": "NaiveBayes", "costs": LOSS, "abstain": 0.4}
    found = door.do(number, "learn", order)["result"]["decisions"]
    own = likely.look(WEATHER, "play", "NaiveBayes", loss=likely.Loss(LOSS, 0.4)).decisions
    assert own is not None
    assert (found["mean"], found["baseline"], found["constant"]) == (own.mean, own.baseline, own.constant)
    assert found["table"] == [list(row) for row in own.table] and found["actions"] == list(own.actions)
    done = door.do(number, "decide", {"path": str(WEATHER)})["job"]["answer"]
    model = likely.fit(WEATHER, "play", "NaiveBayes")
    actions = likely.decide(model, WEATHER, likely.Loss(LOSS, 0.4)).action
    assert done["chosen"] == {a: actions.count(a) for a in own.actions}
    (tmp_path / "costs.toml").write_bytes(door.get(f"tables/{number}/files/costs.toml").content)
    assert likely.models.loss.read_loss(tmp_path / "costs.toml") == likely.Loss(LOSS, 0.4)
    gone = door.do(number, "learn", {"target": "play", "learner": "NaiveBayes"})
    assert gone["result"]["decisions"] is None
    refused(door.get(f"tables/{number}/files/costs.toml"), 400, "costs.toml")


def test_learners_are_compared_as_the_library_does(door: Door, weather: int) -> None:
    found = door.do(weather, "compare", {"target": "play", "types": {"temperature": "nominal"}})["comparison"]
    own = likely.compare(WEATHER, "play", types={"temperature": "nominal"})
    assert found["names"] == [one.name for one in own.learners if one.scores is not None]
    first = found["tables"][0]["rows"][0]
    assert first[0] == own.learners[0].name and first[1] == f"{100 * own.learners[0].scores.accuracy:.1f} %"


def test_a_target_of_many_numbers_is_cut_into_bins(door: Door) -> None:
    number = int(door.open(EXAMPLES / "iris.csv")["id"])
    order = {"target": "sepal_length", "learner": "NaiveBayes"}
    failed = door.do(number, "learn", order)["job"]
    assert failed["state"] == "failed" and "many values" in failed["error"]
    assert len(door.do(number, "learn", {**order, "target_bins": 3})["result"]["classes"]) == 3
    assert "no column 'speces'" in door.do(number, "learn", {"target": "speces"})["job"]["error"]


# -- jobs -------------------------------------------------------------------------------------------------------


def test_work_can_be_cancelled_at_any_moment_and_the_next_order_is_served(door: Door) -> None:
    number = int(door.open(EXAMPLES / "iris.csv")["id"])
    other = int(door.open(WEATHER)["id"])
    door.post(f"tables/{number}/learn", {"target": "species"})
    door.post(f"tables/{other}/learn", {"target": "play", "learner": "NaiveBayes"})  # waits for the first
    refused(door.post(f"tables/{number}/learn", {"target": "species"}), 400, "cancel")
    while door.get(f"tables/{number}").json()["job"]["state"] == "waiting":
        time.sleep(0.02)
    assert door.post(f"tables/{number}/cancel").json()["job"]["state"] == "cancelled"
    assert door.wait(other)["job"]["state"] == "done"
    assert door.get(f"tables/{number}").json()["result"] is None


def test_rows_and_candidates_are_told_while_work_goes_on(session: Session, door: Door, tmp_path: Path) -> None:
    lines = WEATHER.read_text().splitlines()
    (tmp_path / "long.csv").write_text("\n".join([lines[0], *lines[1:] * 20_000]) + "\n")
    number = int(door.open(tmp_path / "long.csv")["id"])
    seen: set[tuple[bool, str]] = set()
    most = 0
    door.post(f"tables/{number}/learn", {"target": "play"})
    while (job := door.get(f"tables/{number}").json()["job"])["state"] in ("waiting", "running"):
        seen.add((job["rows"] > 0, job["step"].partition(" ")[0]))
        assert job["rows"] >= most  # though the table is swept several times
        most = job["rows"]
        if any(step == "Comparing" for _, step in seen):
            door.post(f"tables/{number}/cancel")
        time.sleep(0.02)
    assert (True, "Comparing") in seen, (seen, job)


def test_nothing_is_left_when_a_session_ends() -> None:
    held = Session()
    own = Door(held)
    own.upload(b"a,b\n1,2\n", "x.csv")
    own.post("tables", {"path": str(WEATHER)})
    process = held._worker._process
    folder = held.folder
    assert os.path.isdir(folder) and os.stat(folder).st_mode & 0o077 == 0
    held.close()
    assert not os.path.exists(folder) and process.poll() is not None


def test_the_session_lists_its_tables(door: Door, weather: int) -> None:
    found = door.get("session").json()
    assert {"id": weather, "name": "weather_mixed.csv"} in found["tables"]
    assert "NaiveBayes" in found["learners"] and found["version"] == "1.2.3"
    same = door.get(f"tables/{weather}", params={"known": door.get(f"tables/{weather}").json()["version"]}).json()
    assert set(same) == {"version", "job"}
    json.dumps(door.get("openapi.json").json())
