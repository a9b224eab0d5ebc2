"""What people read: the verdict claims no more than the scores, and every table says what is in it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import likely
from likely.machinery.words import clean, number, percent, plural
from likely.present.document import to_json
from likely.present.report.look import present_look
from likely.present.report.model import present_attribute, present_model


@pytest.fixture(scope="module")
def record(examples):
    return likely.look(str(examples / "iris.csv"), "species")


def headline(record, accuracy: float, log_loss: float | None) -> str:
    changed = replace(record, scores=replace(record.scores, accuracy=accuracy, log_loss=log_loss))
    return present_look(changed).headline


def test_the_verdict(record) -> None:
    assert record.baseline.accuracy == pytest.approx(1 / 3) and record.baseline.log_loss == pytest.approx(
        1.585, abs=1e-3
    )
    good = headline(record, 0.9, 0.5)
    assert good.count("\n") == 3 and "\nThe model predicts species correctly for 90.0 % of unseen rows (" in good
    assert "\nAlways guessing Iris-setosa gets 33.3 %.\nOne column does as well: petal_width alone gets 92.7 %." in good
    assert "\nNot clearly better than one column: petal_width alone gets 92.7 %." in headline(record, 0.95, 0.5)
    assert "overconfident" in headline(record, 0.9, 2.0)
    assert "overconfident" in headline(record, 0.9, None)
    assert "beat the class frequencies" in headline(record, 0.3, 1.5)
    assert "\nThat is no better than always guessing Iris-setosa, which gets 33.3 %." in headline(record, 0.3, 1.5)
    ranked = headline(record, 0.3, 1.7)
    assert "\nThe model ranks rows better than chance: among the 5.0 %" in ranked
    assert "order of its rows alone" in ranked
    unranked = replace(record, trust=replace(record.trust, rankings={}))
    assert "Nothing is gained" in headline(unranked, 0.3, 1.7)
    assert "Nothing is gained" in headline(unranked, record.baseline.accuracy, record.baseline.log_loss)


def test_without_attributes_nothing_is_claimed() -> None:
    page = present_look(likely.look({"t": ["the same"] * 40, "y": ["a", "b"] * 20}, "y"))
    assert "No other column can be used" in page.headline


def test_weights_are_not_called_rows(examples) -> None:
    table = {"x": [1.5, 2.5, 3.5, 9.5] * 10, "w": [0.5, 1.5] * 20, "y": ["a", "b"] * 20}
    page = present_look(likely.look(table, "y", weight="w"), everything=True)
    assert next(t for t in page.tables if t.title == "Classes").header[1] == "weight"


def test_an_infinite_loss_is_called_so() -> None:
    table = {"k": ["a", "b"] * 20 + ["c"], "y": ["p", "q"] * 20 + ["p"]}
    record = likely.look({**table, "j": ["q", "p"] * 20 + ["p"]}, "y", likely.NaiveBayes(pseudo_count=0))
    if record.scores.log_loss is None:
        cells = [cell for t in present_look(record).tables for row in t.rows for cell in row]
        assert "infinite" in cells
    changed = replace(record, scores=replace(record.scores, log_loss=None, unclassified=2.0))
    rows = present_look(changed).tables[0].rows
    assert rows[1][1] == "infinite" and rows[3][:2] == ("cannot be classified", "2")


def test_tables_are_rectangular_and_clean(record) -> None:
    for table in present_look(record, everything=True).tables:
        assert all(len(row) == len(table.header) for row in table.rows)
        assert all(cell.isprintable() for row in table.rows for cell in row)


def test_of_a_model(examples) -> None:
    model = likely.fit(str(examples / "iris.csv"), "species", likely.NaiveBayes(variance="ml"))
    assert present_model(model).headline == "species by NaiveBayes(variance='ml'), from 150 rows"
    page = present_attribute(model, "petal_width")
    setosa = dict(zip(page.tables[0].header, page.tables[0].rows[0], strict=True))
    assert setosa["class"] == "Iris-setosa" and setosa["weight"] == "50"
    told = json.loads(to_json(page))["tables"][0]["rows"][0]
    assert told.keys() == setosa.keys() and told["class"] == setosa["class"] and told["weight"] == 50


def test_words() -> None:
    assert clean("a\x1b[0m\u202eb\n") == "a�[0m�b�" and clean("") == "''" and len(clean("x" * 99, 20)) == 20
    assert (number(1234.0), number(0.000123456), number(float("inf"))) == ("1,234", "0.0001235", "inf")
    assert percent(0.12345) == "12.3 %"
    assert [plural(n, "class") for n in (0, 1, 2)] == ["0 classes", "1 class", "2 classes"]
