"""What the page's what-if is given: aggregates of the summary, and a model that fits into a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import likely
from likely.errors import SettingError
from likely.present.page import writing as room
from likely.present.page.writing import whatif

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_typical_values_are_most_frequent_levels_medians_and_telling_words() -> None:
    table = {
        "sky": ["sun", "sun", "rain", "rain", "rain", None],
        "t": [1.23456, 2.0, 10.0, 20.0, 33.0, 4.0],
        "n": [1, 2, 3, 4, 6, 9],
        "d": ["2020-01-01", "2020-01-03", "2020-05-01", "2020-05-01", "2020-05-03", "2020-06-01"],
        "note": ["a b", "c", "d e", "f", "g", "h"],
        "y": ["a", "a", "b", "b", "b", "c"],
    }
    types = {"sky": "nominal", "t": "number", "n": "number", "d": "date", "note": "text"}
    model = likely.fit(table, target="y", types=types, learner=likely.NaiveBayes(text=likely.Text()))
    found = json.loads(whatif(model))
    own = dict(zip([a["name"] for a in found["portable"]["attributes"]], found["attributes"], strict=True))
    assert own["sky"]["typical"] == ["sun", "rain", None]
    assert own["t"]["typical"] == ["1.23456", "20", "4"]
    assert own["n"]["typical"] == ["1", "4", "9"] and own["n"]["whole"] is True
    assert own["d"]["typical"] == ["2020-01-01", "2020-05-01", "2020-06-01"]
    assert [{*text.split()} for text in own["note"]["typical"]] == [{"a", "b", "c"}, {"d", "e", "f", "g"}, {"h"}]
    assert found["first"] == 1
    assert (own["t"]["low"], own["t"]["high"], own["t"]["whole"]) == (1.23456, 33.0, False)
    assert found["actions"] == ["a", "b", "c"] and found["abstain"] is None and found["note"] == ""


def test_the_loss_of_a_model_is_taken_along() -> None:
    loss = likely.Loss({"no": {"go": 9}, "yes": {"stay": 1}}, abstain=0.5)
    found = json.loads(whatif(likely.fit(EXAMPLES / "weather.csv", target="play", loss=loss)))
    assert found["actions"] == ["go", "stay"] and found["abstain"] == 0.5
    assert found["costs"] == [[9.0, 0.0, 0.5], [0.0, 1.0, 0.5]]


def test_naive_bayes_stands_in_for_what_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    naive = likely.fit(EXAMPLES / "weather.csv", target="play")
    linked = likely.fit(EXAMPLES / "weather.csv", target="play", learner=likely.OneDependence())
    assert json.loads(whatif(linked))["note"] == ""
    monkeypatch.setattr(room, "LARGEST", len(whatif(naive)) + 300)
    found = json.loads(whatif(linked))
    assert "OneDependence takes 0.0 MB" in found["note"] and found["portable"] == json.loads(whatif(naive))["portable"]
    monkeypatch.setattr(room, "LARGEST", 1000)
    for model in (naive, linked):
        with pytest.raises(SettingError, match="too much for a page"):
            whatif(model)


def test_too_many_classes_are_refused() -> None:
    table = {"x": [*range(402)], "y": [f"c{k // 2}" for k in range(402)]}
    with pytest.raises(SettingError, match="201 classes"):
        whatif(likely.fit(table, "y", likely.NaiveBayes(), types={"x": "number", "y": "nominal"}))


def test_numbers_beyond_all_bounds_and_columns_without_values() -> None:
    table = {"x": [1e308, -1.7e308, 1e-300, 0.0], "e": [None] * 4, "y": ["a", "b", "a", "b"]}
    found = json.loads(whatif(likely.fit(table, target="y", types={"x": "number", "e": "number"})))
    assert len(found["attributes"]) == 2
