"""Joint tables: what is exact, how values and names are found, learning, testing and printing."""

from __future__ import annotations

import csv
import math
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency

import likely
from likely.classroom import Joint, bayes


def test_what_is_exact_and_what_is_not() -> None:
    exact = Joint({"a": "0.1", "b": F(1, 2), "c": "40 %"}, "x")
    assert exact.exact and exact.p(x="c") == F(2, 5) and isinstance(exact.p(x="a"), F)
    floats = Joint({"a": 0.1, "b": "1/2", "c": "0.4"}, "x")
    assert not floats.exact and floats.p(x="a") == 0.1 and isinstance(floats.p(x="b"), float)
    # A float is not the decimal it was written as, so it stays a float: Fraction(0.1) is not 1/10.
    assert F(0.1) != F(1, 10)
    assert bayes({"a": 0.1, "b": 0.9}).prior["a"] == 0.1


def test_names_that_are_not_pythons() -> None:
    j = Joint.listed({"hours per week": ["40", "60"], "given": [0, 1], "a=b": ["", "[red]"]}, ["1/8"] * 8)
    assert j.p({"hours per week": "40", "given": 1, "a=b": ""}) == F(1, 8)
    assert j.p({"given": 1}, given={"a=b": ""}) == F(1, 2)
    assert j.given({"hours per week": 40}) == j.marginal("given", "a=b")
    text = str(j)
    assert "hours per week" in text and "''" in text and "[red]" in text


def test_values_are_found_as_they_are_written() -> None:
    j = Joint({"1": "1/4", "true": "3/4"}, "x")
    assert j.p(x=1) == F(1, 4) and j.p(x=True) == F(3, 4) and j.p(x=1.0) == F(1, 4)
    assert j.p(x=["1", "true"]) == 1 and j.p(x={"1"}) == F(1, 4) and j.p(x=[]) == 0
    assert j.p(x=np.array(["1", "true"])) == 1 and j.p(x=np.int64(1)) == F(1, 4)
    both = Joint({1: "1/4", "1": "3/4"}, "x")
    assert both.p(x=1) == F(1, 4) and both.p(x="1") == F(3, 4)


def test_an_event_that_contradicts_its_condition_is_impossible() -> None:
    j = Joint({0: "1/4", 1: "3/4"}, "x")
    assert j.p(x=0, given={"x": 1}) == 0 and j.p(x=1, given={"x": 1}) == 1
    assert j.p(x=[0, 1], given={"x": [1]}) == 1 and j.p() == 1


def test_working() -> None:
    j = Joint.listed({"A": [0, 1], "C": [0, 1]}, ["0.4", "0.1", "0.2", "0.3"])
    assert j.working({"A": 1}, {"C": 1}) == "P(A=1 | C=1) = P(A=1, C=1) / P(C=1) = 0.3 / 0.4 = 0.75"
    assert j.working({"A": 1}) == "P(A=1) = 0.5"
    assert j.working({"A": 1}, {"A": 0}) == "P(A=1 | A=0) = 0"
    assert j.working({"A": 1}, {"C": 0}).endswith("0.2 / 0.6 = 1/3 ≈ 0.3333")


def test_printing() -> None:
    j = Joint.listed({"A": ["x", "long value"], "B": [0, 1]}, ["0.4", "0.1", "0.25", "0.25"])
    assert str(j).splitlines() == [
        "A           B     P",
        "x           0  0.40",
        "x           1  0.10",
        "long value  0  0.25",
        "long value  1  0.25",
    ]
    assert j.text(across="B").splitlines() == [
        "A            B=0   B=1",
        "x           0.40  0.10",
        "long value  0.25  0.25",
    ]
    assert "8/20" in j.text(fractions=True) and "5/20" in j.text(fractions=True)
    assert "0.333333" in Joint({0: "1/3", 1: "2/3"}, "x").text(fractions=False)
    many = Joint.from_counts({(k, k): 1 for k in range(100)}, ("a", "b"))
    assert len(str(many).splitlines()) == 66 and str(many).endswith("… and 36 more")
    assert "\x1b" not in str(Joint({"\x1b[31mred": 1}, "\u202ex"))


def test_learned_with_pseudo_counts() -> None:
    table = {"height": list("mstss"), "sex": list("mfmff")}
    j = Joint.learn(table, pseudo_count=1)
    assert j.p(height="s", sex="f") == F(3 + 1, 5 + 6) and j.p(height="t", sex="f") == F(1, 11)
    assert j.rows == 5 and j.counts is not None and j.counts["s", "f"] == 3
    assert Joint.learn(table, pseudo_count="1/2").p(height="m", sex="m") == F(3, 2) / 8
    assert Joint.learn(table, levels={"height": ["s", "m", "t", "giant"]}).levels["height"][-1] == "giant"


def test_the_same_rows_in_every_form() -> None:
    columns = {"a": ["x", "y", None, "x"], "b": [1, 2, 1, 10], "c": [0, 0, 0, 0]}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    forms = [columns, rows, pd.DataFrame(columns), {k: np.array(v, object) for k, v in columns.items()}]
    for form in forms:
        j = Joint.learn(form, ["a", "b"])
        assert j.left_out == 1 and j.rows == 3 and j.p(a="x") == F(2, 3) and j.levels["b"] == (1, 2, 10)
    file = likely.joint(columns, ["a", "b"])
    assert file.left_out == 1 and file.levels["b"] == ("1", "2", "10")
    assert [*file.cells.values()] == [*Joint.learn(columns, ["a", "b"]).cells.values()]
    assert file.p(b=10) == F(1, 3)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.sampled_from("01")), min_size=8))
def test_a_sample_is_tested_as_scipy_does(rows: list[tuple[str, str, str]]) -> None:
    j = Joint.learn([dict(zip("ABC", row, strict=True)) for row in rows])
    statistic, degrees = 0.0, 0
    for c in j.levels["C"]:
        tally = [[sum(r == (a, b, c) for r in rows) for b in j.levels["B"]] for a in j.levels["A"]]
        table = np.array(tally)
        table = table[table.any(axis=1)][:, table.any(axis=0)]
        if min(table.shape) > 1:
            found = chi2_contingency(table, correction=False, lambda_="log-likelihood")
            statistic, degrees = statistic + found.statistic, degrees + found.dof
    test = j.independent("A", "B", given="C")
    assert test.statistic == pytest.approx(statistic, abs=1e-9) and test.degrees == degrees
    assert test.p_value == pytest.approx(chi2.sf(statistic, degrees) if degrees else 1.0, rel=1e-8, abs=1e-12)
    assert bool(test) == (test.p_value is not None and test.p_value >= 0.05)
    assert test.bits * 2 * len(rows) * math.log(2) == pytest.approx(test.statistic, abs=1e-9)
    smoothed = Joint.learn([dict(zip("ABC", row, strict=True)) for row in rows], pseudo_count=3)
    assert smoothed.independent("A", "B", given="C").p_value == test.p_value  # of what was seen


def test_a_given_table_is_the_truth_and_counts_may_be_a_sample() -> None:
    counts = {("a", "x"): 10, ("a", "y"): 11, ("b", "x"): 12, ("b", "y"): 12}
    truth, sample = Joint.from_counts(counts, ("A", "B")), Joint.from_counts(counts, ("A", "B"), sample=True)
    assert not truth.independent("A", "B") and truth.independent("A", "B").p_value is None
    found = sample.independent("A", "B")
    assert found and found.p_value is not None and found.p_value > 0.8 and "p = " in str(found)
    few = Joint.from_counts({k: n // 4 for k, n in counts.items()}, ("A", "B"), sample=True).independent("A", "B")
    assert few.sparse == 4 and "p is rough" in str(few)


def test_a_calibrated_test_rejects_as_often_as_it_says() -> None:
    truth = Joint({"a": "1/3", "b": "2/3"}, "A") * Joint({"x": "1/4", "y": "3/4"}, "B")
    rejected = sum(not Joint.learn(truth.sample(400, seed)).independent("A", "B", level=0.1) for seed in range(300))
    assert 15 <= rejected <= 48  # 30 expected
    tied = Joint.listed({"A": "ab", "B": "xy"}, ["0.3", "0.2", "0.2", "0.3"])
    assert not Joint.learn(tied.sample(400, seed=1)).independent("A", "B")


def test_entropy_in_bits() -> None:
    coin = Joint({"h": "1/2", "t": "1/2"}, "first") * Joint({"h": "1/2", "t": "1/2"}, "second")
    assert coin.entropy() == 2 and coin.entropy("first") == 1 and coin.entropy("first", given="second") == 1
    same = Joint({("h", "h"): "1/2", ("t", "t"): "1/2"}, ("first", "second"))
    assert same.mutual_information("first", "second") == 1 and same.entropy("first", given="second") == 0
    xor = Joint.from_counts({(a, b, a ^ b): 1 for a in (0, 1) for b in (0, 1)}, ("a", "b", "c"))
    assert xor.mutual_information("a", "b") == 0 and xor.mutual_information("a", "b", given="c") == 1


def test_samples_come_as_often_as_they_should() -> None:
    j = Joint.listed({"A": [0, 1], "B": [0, 1]}, ["0.7", "0", "0.1", "0.2"])
    drawn = j.sample(20_000, seed=3)
    for cell, p in j.cells.items():
        share = sum(pair == cell for pair in zip(drawn["A"], drawn["B"], strict=True)) / 20_000
        assert share == pytest.approx(float(p), abs=0.015)
    assert j.sample(0) == {"A": [], "B": []}


def test_joint_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [(k % 7, "xyz"[k % 3], 0.5 if k % 2 else 1) for k in range(1000)]
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerows([("how many", "kind", "w"), *rows, ("", "x", 1), ("oops", "y", 1), (3, "?", 1)])
    j = likely.joint(path, ["kind", "how many"], edges={"how many": [2, 5]}, weight="w")
    assert j.levels == {"kind": ("x", "y", "z"), "how many": ("below 2", "2 to below 5", "5 or more")}
    total = sum(w for *_, w in rows)
    for kind in "xyz":
        weight = sum(w for n, k, w in rows if k == kind and 2 <= n < 5)
        assert j.p({"kind": kind, "how many": "2 to below 5"}) == F(weight) / F(total)
    assert j.left_out == 3
    right = likely.joint(path, ["how many"], edges={"how many": [2]}, closed="right")
    assert right.p({"how many": "up to 2"}) == F(sum(n <= 2 for n, *_ in rows) + 0, 1001)
    for threads in (1, 3):
        assert likely.joint(path, ["kind", "how many"], edges={"how many": [2, 5]}, weight="w", threads=threads) == j


def test_probability_is_a_room_of_the_front_door() -> None:
    assert likely.classroom.Joint is Joint
