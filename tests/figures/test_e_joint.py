"""Figures E and H on the command line: joint tables typed by hand, and every query of them in exact fractions."""

from __future__ import annotations

import json
from fractions import Fraction as F
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import likely
from likely.cli import run

ABC = dict(
    zip(product("01", repeat=3), map(F, ["0.30", "0.05", "0.10", "0.05", "0.05", "0.10", "0.25", "0.10"]), strict=True)
)  # A, B, C: 000 to 111


@pytest.fixture
def asked(capfdbinary: Any) -> Any:
    """What `likely joint --json` says."""

    def ask(*words: object) -> Any:
        assert run(["joint", *map(str, words), "--json"]) == 0
        return json.loads(capfdbinary.readouterr().out)

    return ask


def test_every_marginal_and_conditional_of_the_joint_of_a_b_c(asked: Any, examples: Path) -> None:
    events = [dict(zip("ABC", cell, strict=True)) for cell in product(["0", "1", None], repeat=3)]
    queries, expected = [], []
    for event, known in product(events, events):
        wanted = {n: v for n, v in event.items() if v is not None}
        given = {n: v for n, v in known.items() if v is not None}
        if not wanted or {*wanted} & {*given}:
            continue
        left, right = (", ".join(f"{n}={v}" for n, v in e.items()) for e in (wanted, given))
        queries.append(f"P({left} | {right})" if given else f"P({left})")

        def weigh(wish: dict[str, str]) -> F:
            return sum((p for cell, p in ABC.items() if all(cell["ABC".index(n)] == v for n, v in wish.items())), F(0))

        expected.append(weigh(wanted | given) / weigh(given))
    assert len(queries) == 98
    record = asked(examples / "abc.toml", *(word for q in queries for word in ("--query", q)))
    assert [F(q["exact"]) for q in record["queries"]] == expected
    assert [q["query"] for q in record["queries"]] == queries


def test_the_two_urns(asked: Any, examples: Path) -> None:
    record = asked(examples / "urns.csv", "--probability", "P", "--query", "P(first=red or second=red)")
    cells = {tuple(c["values"].values()): F(c["exact"]) for c in record["cells"]}
    assert cells == {
        ("red", "red"): F(4, 9),
        ("red", "black"): F(2, 9),
        ("black", "red"): F(2, 9),
        ("black", "black"): F(1, 9),
    }
    assert F(record["queries"][0]["exact"]) == F(2, 3) + F(2, 3) - F(4, 9)
    assert record["independence"][0]["independent"] is True


def test_gender_hours_and_income_of_the_adult_census(asked: Any, examples: Path) -> None:
    query = "P(income=>50K | sex=Male, hours=above 40)"
    record = asked(examples / "adult_counts.csv", "sex", "hours", "income", "--weight", "rows", "--query", query)
    printed = {
        ("Female", "up to 40"): (0.253122, 0.0245895),
        ("Female", "above 40"): (0.0421768, 0.0116293),
        ("Male", "up to 40"): (0.331313, 0.0971295),
        ("Male", "above 40"): (0.134106, 0.105933),
    }
    assert record["rows"] == 48842
    found = {tuple(c["values"].values()): c for c in record["cells"]}
    for (sex, hours), pair in printed.items():
        for income, p in zip(("<=50K", ">50K"), pair, strict=True):
            cell = found[sex, hours, income]
            assert float(f"{cell['p']:.6g}") == p and F(cell["exact"]) == F(int(cell["count"]), 48842)
    assert F(record["queries"][0]["exact"]) == F(5174, 6550 + 5174)


def test_the_counts_of_the_examples_are_those_of_the_census(shared: Path, examples: Path) -> None:
    whole = likely.joint(
        shared / "data" / "adult.csv",
        ["sex", "hours-per-week", "income"],
        edges={"hours-per-week": [40]},
        closed="right",
    )
    typed = likely.joint(examples / "adult_counts.csv", ["sex", "hours", "income"], weight="rows")
    assert {**typed.counts} == {**whole.counts}
    cars = likely.joint(shared / "data" / "mpg_196_reconstruction.csv", ["mpg", "modelyear", "maker"])
    assert cars == likely.joint(examples / "mpg_counts.csv", ["mpg", "modelyear", "maker"], weight="rows")


def test_miles_per_gallon(asked: Any, examples: Path, capfdbinary: Any) -> None:
    words = [examples / "mpg_counts.csv", "mpg", "modelyear", "maker", "--weight", "rows"]
    record = asked(*words)
    assert record["rows"] == 196 and record["log_likelihood"] == pytest.approx(-466.19, abs=5e-3)
    assert run(["joint", *map(str, words)]) == 0
    assert "-466.191 nats, so P(rows) is 3.4e-203." in capfdbinary.readouterr().out.decode()


def test_the_bayes_error_of_a_known_joint(asked: Any, examples: Path) -> None:
    record = asked(examples / "abc.toml", "--target", "C")
    error = sum((min(ABC[a, b, "0"], ABC[a, b, "1"]) for a, b in product("01", repeat=2)), F(0))
    assert F(record["rule"]["bayes_error"]["exact"]) == error == F(1, 4)
    says = {tuple(c["values"].values()): c["say"] for c in record["rule"]["cases"]}
    assert says == {("0", "0"): "0", ("0", "1"): "0", ("1", "0"): "1", ("1", "1"): "0"}
