"""Sentences and numbers that were wrong or unclear once: each is said rightly now, in words and in JSON."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from fractions import Fraction as F
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import likely
from likely.cli import run
from likely.errors import SettingError
from likely.models.factors.bins import readable_edge
from likely.present.document import to_json
from likely.present.report.look import present_look
from likely.present.report.model import present_attribute, present_model
from likely.table.labels import date_within


def words(model: Any, **more: Any) -> str:
    page = present_model(model, **more)
    rows = [" ".join(row) for table in page.tables for row in (table.header, *table.rows)]
    return "\n".join([page.headline, *rows, *page.remarks])


def test_nothing_is_said_of_what_no_model_could_reach() -> None:
    """XOR: a nearest-neighbour bound ("no model would do better") lies below the model that was judged."""
    cells = [(a, b, c) for a in "uv" for b in "uv" for c in "pqrs"] * 12
    table = {name: [cell[k] for cell in cells] for k, name in enumerate("abc")}
    record = likely.look({**table, "y": ["m" if a == b else "n" for a, b, _ in cells]}, "y", likely.FullBayes())
    page = present_look(record, everything=True)
    told = "\n".join([page.headline, *page.remarks, *(t.title for t in page.tables)]).lower()
    assert "ceiling" not in told and "best possible" not in told and "neighbour" not in told
    assert b"ceiling" not in record.json()


def test_who_makes_every_class_impossible_is_a_value_not_the_prior(
    examples: Path, tmp_path: Path, capfdbinary: Any
) -> None:
    path = str(tmp_path / "p.likely")
    assert (
        run(["fit", str(examples / "people.csv"), "sex", "--learner", "NaiveBayes", "--pseudo-count", "0", "-o", path])
        == 0
    )
    assert run(["explain", path, "height=t", "weight=h", "long_hair=y"]) == 0
    out = capfdbinary.readouterr().out.decode()
    assert "Every class is impossible, so there is no answer: f by weight=h; m by long_hair=y." in out
    assert "by the prior" not in out


def test_edges_have_the_digits_that_they_need(examples: Path) -> None:
    values = [round(2.0 + k * 0.1, 1) for k in range(25)]
    table = {"x": values * 4, "y": ["a", "b", "a", "a"] * 25}
    for rule in ("width", "frequency"):
        for bins in (2, 5, 8, 10):
            learner = likely.NaiveBayes(numbers="binned", bins={"x": rule}, bin_count=bins)
            model = likely.fit(table, "y", learner)
            names = [row[0] for row in present_attribute(model, "x").tables[0].rows]
            assert len(names) > 1 and all(
                len(part) <= 8 for name in names for part in name.split() if part[0].isdigit()
            )


def test_a_shorter_edge_leaves_every_value_on_its_side() -> None:
    values = np.array([0.0, 0.3333333333333333, 0.33333333333333337, 1.0])
    edge = readable_edge(0.33333333333333335, values)
    assert [v < edge for v in values] == [v < 0.33333333333333335 for v in values]
    assert readable_edge(3.3600000000000003, np.array([2.0, 3.0, 4.0])) == 3.36
    assert readable_edge(2 / 3, np.array([0.0, 1.0])) == pytest.approx(2 / 3, rel=0, abs=1e-15)  # rounding alone


def test_equal_widths_are_those_of_decimals() -> None:
    # 2 + 4 × 0.34 is 3.36; in floats it is a little more, and a value of 3.36 would fall into the bin below.
    table = {"x": [2.0, 3.36, 5.4, 2.1] * 5, "y": ["a", "b", "a", "b"] * 5}
    model: Any = likely.fit(table, "y", likely.NaiveBayes(numbers="binned", bins={"x": "width"}, bin_count=10))
    rows = present_attribute(model, "x").tables[0].rows
    assert "3.36 to below 3.7" in [row[0] for row in rows]
    assert [F(row[2]) for row in rows if row[0] == "3.36 to below 3.7"] == [5]


def test_dates_of_a_rounded_tally_are_not_told_as_the_day_before() -> None:
    first = datetime(2001, 1, 1, 0, 1)
    rows = [first + timedelta(minutes=7 * k) for k in range(70_000)]
    model: Any = likely.fit({"d": rows, "y": ["a", "b"] * 35_000}, "y", likely.NaiveBayes())
    assert model.summary.columns["d"].level > 0
    told = words(model)
    assert "about 2001-01-01 to 2001-12-" in told and "2000-12-31" not in told
    least = present_attribute(model, "d").tables[0].rows[0][5]
    assert least.startswith("2001-01-01")
    exact: Any = likely.fit({"d": rows[:200], "y": ["a", "b"] * 100}, "y", likely.NaiveBayes())
    assert "2001-01-01 00:01:00 to" in words(exact) and "about" not in words(exact).split("date attribute")[1][:8]


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (datetime(2000, 12, 31, 9), datetime(2001, 1, 1, 4), "2001-01-01"),
        (datetime(2001, 3, 31, 23), datetime(2001, 4, 1, 1), "2001-04-01"),
        (datetime(2001, 3, 5, 23), datetime(2001, 3, 6, 1), "2001-03-06"),
        (datetime(2001, 3, 5, 10, 30), datetime(2001, 3, 5, 11, 30), "2001-03-05 11:00:00"),
        (datetime(2001, 3, 5), datetime(2001, 3, 5, 0, 0, 1), "2001-03-05"),
        (datetime(1965, 12, 31, 23), datetime(1966, 1, 1, 1), "1966-01-01"),
    ],
)
def test_the_shortest_date_of_a_stretch(low: datetime, high: datetime, wanted: str) -> None:
    since = datetime(1970, 1, 1)
    assert date_within((low - since).total_seconds(), (high - since).total_seconds()) == wanted


@pytest.mark.parametrize(("learner", "sign"), [(likely.LeastSquares(), "<"), (likely.Logistic(), ">")])
def test_no_plane_parts_classes_where_no_attribute_counts(learner: Any, sign: str) -> None:
    """The first class has fewer rows; least squares speaks for it, log-odds for the second."""
    model: Any = likely.fit({"x": [1.0, 1.0, 1.0], "y": ["a", "b", "b"]}, "y", learner, types={"x": "number"})
    told = words(model)
    assert f"{sign} 0 in every row: no attribute has a weight" in told and "= 0" not in told


def test_one_output_speaks_of_bits_or_names_its_unit() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    data = {"x": x, "y": np.where(x + rng.normal(size=200) > 0, "a", "b")}
    model: Any = likely.fit(data, "y", likely.Additive())
    table = next(t for t in present_model(model).tables if t.title == "How boosting stopped")
    found = {row[0]: json.loads(to_json(present_model(model)))["tables"] for row in table.rows}
    assert "held-out log loss, bits" in found and "held out log loss" not in words(model)
    shown = next(row[1].value for row in table.rows if row[0] == "held-out log loss, bits")
    assert shown == pytest.approx(model.facts["held_out_log_loss"] / np.log(2))
    assert "log-likelihood, nats" in words(likely.fit(data, "y", likely.Logistic()))


def test_json_of_show_has_numbers(examples: Path, tmp_path: Path, capfdbinary: Any) -> None:
    path = str(tmp_path / "p.likely")
    assert (
        run(["fit", str(examples / "people.csv"), "sex", "--learner", "NaiveBayes", "--pseudo-count", "0", "-o", path])
        == 0
    )
    capfdbinary.readouterr()

    def read(*more: str) -> Any:
        assert run(["show", path, *more, "--json"]) == 0
        return json.loads(capfdbinary.readouterr().out)["tables"][0]["rows"]

    assert read() == [{"class": "f", "weight": 6, "P(class)": 0.6}, {"class": "m", "weight": 4, "P(class)": 0.4}]
    short = read("height")[1]
    assert short == {"level": "s", "n(f)": 3, "n(m)": 1, "P(level|f)": 0.5, "P(level|m)": 0.25}
    assert read("height")[0]["P(level|f)"] == 1 / 3  # not rounded
    assert read("height", "--fractions")[0]["P(level|f)"] == "2/6"


def test_fractions_are_shown_or_refused_never_ignored(examples: Path) -> None:
    model: Any = likely.fit(examples / "people.csv", "sex", likely.FullBayes(pseudo_count=1))
    told = words(model, fractions=True)
    # 3 × 3 × 2 cells, 6 rows of f and 4 of m.
    assert "m n n 1 1 2/24 2/22" in told and "0.08333" not in told
    flowers: Any = likely.fit(examples / "iris.csv", "species", likely.FullBayes())
    assert "Only counts have fractions" in words(flowers, fractions=True)
    with pytest.raises(SettingError, match="which is not a fraction"):
        present_attribute(likely.fit(examples / "iris.csv", "species", likely.NaiveBayes()), "sepal_length", True)


def test_a_logistic_regression_is_a_regression_in_pmml(examples: Path) -> None:
    model: Any = likely.fit(examples / "iris.csv", "species", likely.Logistic())
    root = ElementTree.fromstring(likely.export(model, "pmml"))
    (regression,) = root.findall(".//{*}RegressionModel")
    tables = regression.findall("{*}RegressionTable")
    assert [t.get("targetCategory") for t in tables] == list(model.classes)
    assert all(len(t.findall("{*}NumericPredictor")) >= 4 for t in tables)
