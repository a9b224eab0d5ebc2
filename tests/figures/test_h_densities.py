"""Figure H, densities: a joint table is an estimator of P(record), and log P(data) is a sum of logs."""

from __future__ import annotations

import csv
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import likely
from likely.classroom import Joint

ADULT = {
    ("Female", "<=40"): (0.253122, 0.0245895),
    ("Female", ">40"): (0.0421768, 0.0116293),
    ("Male", "<=40"): (0.331313, 0.0971295),
    ("Male", ">40"): (0.134106, 0.105933),
}


def test_adult_gender_hours_and_income(shared: Path) -> None:
    with open(shared / "data" / "adult.csv", encoding="utf-8") as file:
        rows = [(r["sex"], int(r["hours-per-week"]), r["income"]) for r in csv.DictReader(file)]
    table = {
        "gender": [sex for sex, _, _ in rows],
        "hours": ["<=40" if hours <= 40 else ">40" for _, hours, _ in rows],
        "income": [income for _, _, income in rows],
    }
    model = likely.fit(table, learner=likely.Density(pseudo_count=0))
    assert model.summary.rows == 48842
    for (gender, hours), expected in ADULT.items():
        for income, chance in zip(("<=50K", ">50K"), expected, strict=True):
            found = math.exp(model.log_density({"gender": gender, "hours": hours, "income": income}))
            assert float(f"{found:.6g}") == chance  # as printed
    assert math.exp(model.log_density({"gender": "Male"})) == pytest.approx(table["gender"].count("Male") / 48842)


def test_miles_per_gallon(shared: Path) -> None:
    path = shared / "data" / "mpg_196_reconstruction.csv"
    others = ["mpg_num", "cylinders", "displacement", "horsepower", "weight", "acceleration", "year", "name"]
    model = likely.fit(path, learner=likely.Density(pseudo_count=0), types=dict.fromkeys(others, "ignore"))
    found = model.log_density(path)
    assert len(found) == 196 and np.isfinite(found).all()
    total = math.fsum(found)
    assert total == pytest.approx(-466.19, abs=5e-3)
    assert math.exp(total) == pytest.approx(3.4e-203, rel=0.02)
    # As a product it underflows; as a sum of logs it does not.
    assert np.prod(np.full(20, 1e-20)) == 0 and math.isfinite(total)


def test_a_generative_model_can_be_sampled(examples: Path) -> None:
    model = likely.fit(examples / "people.csv", "sex", likely.FullBayes(pseudo_count=0))
    drawn = model.sample(2000, seed=7)
    assert abs(drawn["sex"].count("f") / 2000 - 0.6) < 0.04
    training = set(zip(*read(examples / "people.csv", list(drawn)), strict=True))
    assert set(zip(*drawn.values(), strict=True)) <= training


def read(path: Path, names: list[str]) -> list[list[str]]:
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [[r[name] for r in rows] for name in names]


def test_adult_as_a_joint_of_the_file(shared: Path) -> None:
    # The same table straight from the file, hours cut at 40: exact fractions, and any question of them.
    j = likely.joint(
        shared / "data" / "adult.csv",
        ["sex", "hours-per-week", "income"],
        edges={"hours-per-week": [40]},
        closed="right",
    )
    assert (j.rows, j.left_out) == (48842, 0)
    for (sex, hours), expected in ADULT.items():
        bin_name = "up to 40" if hours == "<=40" else "above 40"
        for income, chance in zip(("<=50K", ">50K"), expected, strict=True):
            found = j.p({"sex": sex, "hours-per-week": bin_name, "income": income})
            assert float(f"{float(found):.6g}") == chance
            assert found.limit_denominator(48842) == found  # a count over 48,842
    rich = j.p({"income": ">50K"}, given={"sex": "Male", "hours-per-week": "above 40"})
    assert rich == j.p({"income": ">50K", "sex": "Male", "hours-per-week": "above 40"}) / j.p(
        {"sex": "Male", "hours-per-week": "above 40"}
    )
    assert not j.independent("sex", "income", given="hours-per-week")


def test_miles_per_gallon_as_a_joint(shared: Path) -> None:
    with open(shared / "data" / "mpg_196_reconstruction.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    others = {"mpg_num", "cylinders", "displacement", "horsepower", "weight", "acceleration", "year", "name"}
    names = [name for name in rows[0] if name not in others]
    j = Joint.learn(rows, names)
    assert j.rows == 196
    assert j.log_likelihood(rows) == pytest.approx(-466.19, abs=5e-3)


def test_a_joint_table_is_a_density() -> None:
    train = {"sky": ["sun", "sun", "rain", "sun"], "play": ["yes", "no", "no", "yes"]}
    j = Joint.learn(train)
    assert j.p(sky="sun", play="yes") == Fraction(1, 2)
    assert j.log_likelihood(train) == pytest.approx(2 * math.log(1 / 2) + 2 * math.log(1 / 4))
    test = {"sky": ["rain"], "play": ["yes"]}
    assert j.log_likelihood(test) == -math.inf  # never seen: impossible without a pseudo-count
    assert Joint.learn(train, pseudo_count=1).log_likelihood(test) == pytest.approx(math.log(1 / 8))
    assert j.log_likelihood({"sky": [None], "play": ["no"]}) == pytest.approx(math.log(1 / 2))  # summed over
    # Products underflow; logs do not, and neither do fractions.
    assert j.log_likelihood({"sky": ["rain"] * 2000, "play": ["no"] * 2000}) == pytest.approx(2000 * math.log(1 / 4))
