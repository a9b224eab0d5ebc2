"""Troubles of columns: functions of each other, placeholders, and what has to do with the class."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import likely
from likely import doctor, summarize
from likely.evaluate.troubles.columns import (
    Dependency,
    _determined,
    association,
    association_tests,
    placeholder_findings,
    rank_test,
)
from likely.intake.schema import missing_tokens
from likely.table.schema import MISSING

CODES = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 2), st.integers(-1, 5)), min_size=1, max_size=40)


@given(CODES)
@settings(max_examples=100, deadline=None)
def test_determined_is_what_a_dictionary_says(rows: list[tuple[int, int, int]]) -> None:
    codes = np.array(rows, np.int32)
    held, repeats, _ = _determined(codes[:, 0], codes)
    for k in range(3):
        seen: dict[int, set[int]] = {}
        pairs = [(a, b) for a, b in codes[:, [0, k]].tolist() if a >= 0 and b >= 0]
        for a, b in pairs:
            seen.setdefault(a, set()).add(b)
        if (codes[:, 0] >= 0).any():
            assert held[k] == all(len(s) == 1 for s in seen.values())
        assert repeats[k] == len(pairs) - len(seen)


def bonds(table: dict[str, object]) -> dict[str, Dependency]:
    rng = np.random.default_rng(9)
    rows = len(next(iter(table.values())))  # type: ignore[arg-type]
    return {b.name: b for b in doctor(table | {"y": rng.choice(["p", "q"], rows)}, "y", suspects=0, folds=2).bonds}


def test_every_kind_of_bond() -> None:
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=600), rng.normal(size=600)
    town = rng.choice(list("abcdef"), 600)
    whole = rng.integers(0, 40, 600)
    found = bonds(
        {
            "town": town,
            "code": [f"#{ord(t)}" for t in town],
            "land": ["north" if t in "abc" else "south" for t in town],
            "x": x,
            "log": np.exp(x),
            "minus": -3 * x + 1,
            "z": z,
            "sum": np.round(2 * x - z + 5, 4),
            "near": x + 0.01 * rng.normal(size=600),
            "whole": whole,
            "odd": whole % 2,
            "free": rng.normal(size=600),
        }
    )
    told = {name: (b.how, b.by, b.exact) for name, b in found.items()}
    assert told == {
        "code": ("copy", ("town",), True),
        "land": ("function", ("town",), True),
        "odd": ("function", ("whole",), True),
        "log": ("rank", ("x",), True),
        "minus": ("rank", ("x",), True),
        "near": ("rank", ("x",), False),
        "sum": ("linear", ("x", "z"), True),
    }
    assert found["log"].correlation == 1 and found["minus"].correlation == -1 and found["near"].correlation > 0.99


def test_values_that_never_repeat_determine_nothing() -> None:
    rng = np.random.default_rng(3)
    assert not bonds({"x": rng.normal(size=500), "town": rng.choice(list("abc"), 500), "z": rng.normal(size=500)})


def test_what_is_constant_where_the_other_is_known_is_no_function_of_it() -> None:
    rng = np.random.default_rng(3)
    there = rng.random(500) < 0.6
    value = rng.integers(0, 9, 500) * 1.5
    found = bonds({"value": [v if t else None for v, t in zip(value, there, strict=True)], "measured": there})
    assert "measured" not in found


def test_exceptions_and_gaps() -> None:
    rng = np.random.default_rng(3)
    town = rng.choice(list("abcdef"), 500)
    code = np.array([f"#{t}" for t in town], object)
    assert "code" in bonds({"town": town, "code": np.where(rng.random(500) < 0.3, None, code)})
    code[17] = "#b" if town[17] == "a" else "#a"
    assert not bonds({"town": town, "code": code})


def test_a_value_whose_rows_are_all_of_one_class_names_a_group() -> None:
    rng = np.random.default_rng(3)
    who = rng.integers(0, 60, 600)
    table = {"who": [f"p{w}" for w in who], "x": rng.normal(size=600), "y": np.where(who % 2, "a", "b")}
    table["text"] = [f"words that many rows have in this order, number {w // 2 * 2 + w % 2}" for w in who]
    found = doctor(table, "y", suspects=0, types={"text": "text"})
    (group,) = [f for f in found.findings if f.kind == "group"]
    assert group.columns == ("who",) and group.grave


# Values that stand for missing ones are suspected, with the option that reads them so; ordinary values are not.


RNG = np.random.default_rng(5)
ROWS = 400
TARGET = RNG.choice(["a", "b"], ROWS).tolist()


def told(x: list[object], **more: object) -> list[str]:
    total = likely.summarize({"x": [str(v) for v in x], "y": TARGET}, "y", **more)  # type: ignore[arg-type]
    return [finding.words for finding in placeholder_findings(total)]


def ages(odd: object, times: int = 5) -> list[object]:
    return [*RNG.integers(18, 91, ROWS - times).tolist(), *[odd] * times]


@pytest.mark.parametrize("odd", [-999, -99, 999, 9999, -9999, 999999, -1])
def test_odd_numbers_are_suspected(odd: int) -> None:
    (words,) = told(ages(odd))
    assert words.startswith(f"'x' is {odd} in 5 rows, far from all other values")
    assert words.endswith(f"--missing usual --missing {odd}")


@pytest.mark.parametrize("odd", [99, 100, -5, 0, 1234])
def test_ordinary_numbers_are_not(odd: int) -> None:
    assert told(ages(odd)) == []


def test_numbers_that_reach_so_far_are_not() -> None:
    assert told(RNG.integers(-1200, 1200, ROWS - 5).tolist() + [-999] * 5) == []
    assert told([*(10 ** RNG.uniform(0, 6, ROWS - 5)).round().tolist(), *[9999] * 5]) == []
    assert told(RNG.normal(size=ROWS - 5).round(1).tolist() + [-1.0] * 5) == []


def test_of_many_values_too() -> None:
    """A tally that drops low bits still knows the value."""
    rows = 20_000
    x = [*RNG.normal(50, 9, rows - 60).tolist(), *[-999.0] * 60]
    total = likely.summarize({"x": x, "y": ["a", "b"] * (rows // 2)}, "y")
    (finding,) = placeholder_findings(total)
    assert "'x' is -999 in 60 rows" in finding.words and finding.words.endswith("--missing -999")
    total = likely.summarize({"x": x, "y": ["a", "b"] * (rows // 2)}, "y", missing=["usual", "-999"])
    assert list(placeholder_findings(total)) == []  # what is typed is missing too, then


def test_levels_that_mean_not_known() -> None:
    levels = [*RNG.choice(["red", "blue"], ROWS - 9), *["Unknown"] * 9]
    (words,) = told(levels)
    assert words.startswith("A level may mean that the value is unknown: 'Unknown' of 'x'.")
    assert words.endswith("--missing usual --missing Unknown")
    assert told(levels, missing=["usual", "Unknown"]) == []


def test_the_remedy_works_and_keeps_the_usual_tokens(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{v},{t}\n" for v, t in zip(ages(-999), TARGET, strict=True)) + "NA,a\n")
    summary = likely.summarize(path, "y", missing=["usual", "-999"])
    assert summary.schema.missing == (*MISSING, "-999")
    assert list(placeholder_findings(summary)) == []
    assert summary.columns["x"].tally()[0].min() >= 18  # type: ignore[union-attr]


def test_look_and_doctor_say_it(tmp_path: Path) -> None:
    table = {"x": [str(v) for v in ages(-999)], "y": TARGET}
    assert any("--missing -999" in words for words in likely.look(table, "y", likely.NaiveBayes()).warnings)
    assert any(f.kind == "placeholder" for f in likely.doctor(table, "y").grave)


def test_usual_stands_for_the_usual_ones() -> None:
    from likely.intake.reading import Reading

    assert missing_tokens(Reading(missing=["usual", "x"])) == (*MISSING, "x")
    assert missing_tokens(Reading(missing=["x"])) == ("", "x")


# Whether an attribute has anything to do with the class: against scipy's tests, and how often chance is blamed.


CODED_ROWS = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 3)), min_size=3, max_size=60)


@given(CODED_ROWS)
@settings(max_examples=60, deadline=None)
def test_ranks_are_those_of_kruskal_and_wallis(rows: list[tuple[int, int]]) -> None:
    groups = [[x for x, c in rows if c == k] for k in range(4)]
    values = sorted({x for x, _ in rows})
    tally = np.array([[float(g.count(v)) for g in groups] for v in values])
    some = [g for g in groups if g]
    if len(some) < 2 or len(values) < 2:
        assert rank_test(tally) == 1.0
    else:
        assert rank_test(tally) == pytest.approx(stats.kruskal(*some).pvalue, rel=1e-9)


def test_levels_agree_with_pearson_where_rows_are_many() -> None:
    table = np.array([[310.0, 402, 290], [288, 361, 330], [200, 150, 260]])
    assert association(table) == pytest.approx(stats.chi2_contingency(table).pvalue, rel=0.05, abs=1e-12)
    weak = np.array([[510.0, 490], [480, 520]])
    assert association(weak) == pytest.approx(stats.chi2_contingency(weak, correction=False).pvalue, rel=0.02)


def test_chance_alone_is_rarely_taken_for_more() -> None:
    """A number is cut into bins without looking at the class: a best cut would be significant far too often."""
    rng = np.random.default_rng(5)
    table = {f"n{k}": rng.normal(size=150) for k in range(150)}
    table |= {
        f"l{k}": rng.choice(list("abcdefgh"), 150, p=[0.5, 0.2, 0.1, 0.1, 0.04, 0.03, 0.02, 0.01]) for k in range(150)
    }
    found = association_tests(summarize(table | {"y": rng.choice(["p", "q", "r"], 150)}, "y"))
    assert len(found) == 300 and all(t.idle for t in found)
    for kind in ("number", "nominal"):
        share = np.mean([t.p < 0.05 for t in found if t.kind == kind])
        assert 0.0 < share < 0.09, (kind, share)


def test_what_tells_is_found_in_values_and_in_what_is_missing() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["p", "q"], 400)
    gone = rng.random(400) < np.where(y == "p", 0.6, 0.1)
    table = {
        "shifted": rng.normal(size=400) + (y == "p"),
        "wider": rng.normal(size=400) * np.where(y == "p", 3.0, 1.0),
        "gaps": [None if g else v for g, v in zip(gone, rng.normal(size=400).tolist(), strict=True)],
        "noise": rng.normal(size=400),
        "text": [f"one two three {'four' if c == 'p' and k % 3 else 'five'} x{k}" for k, c in enumerate(y)],
        "y": y,
    }
    found = {t.name: t for t in association_tests(summarize(table, "y"))}
    assert {name for name, t in found.items() if t.p_of_all < 0.01} == {"shifted", "wider", "text"}
    assert {name for name, t in found.items() if t.p_missing_of_all < 0.01} == {"gaps"}
    assert found["noise"].idle and not found["gaps"].idle
    shares = found["gaps"].missing_by_class
    assert shares == pytest.approx([gone[y == c].mean() for c in ("p", "q")])
    wanted = stats.chi2_contingency([[sum(gone & (y == c)), sum(~gone & (y == c))] for c in "pq"], correction=False)
    assert found["gaps"].p_missing == pytest.approx(wanted.pvalue, rel=0.3)


def test_the_usual_value() -> None:
    table = {"x": ["a"] * 99 + ["b"], "n": [7.0] * 60 + [float(k) for k in range(40)], "y": ["p", "q"] * 50}
    found = {t.name: t for t in association_tests(summarize(table, "y"))}
    assert (found["x"].usual, found["x"].usual_share, found["x"].values) == ("a", 0.99, 2)
    assert (found["n"].usual, found["n"].usual_share, found["n"].values) == ("7", 0.61, 40)


def test_weights_that_are_shares_stand_for_rows() -> None:
    rng = np.random.default_rng(1)
    y = rng.choice(["p", "q"], 200)
    table = {"x": np.where(rng.random(200) < 0.7, y, "z"), "y": y, "w": np.full(200, 1 / 200)}
    (light,), (whole,) = (
        association_tests(summarize(table, "y", weight=w, types={} if w else {"w": "ignore"})) for w in ("w", None)
    )
    assert light.p == pytest.approx(whole.p, rel=1e-9)
