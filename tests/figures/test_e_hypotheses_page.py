"""Figures E and F as pages of hypotheses on the command line, every number an exact fraction."""

from __future__ import annotations

import json
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest

from likely.cli import run


@pytest.fixture
def asked(capfdbinary: Any, examples: Path) -> Any:
    """What `likely hypotheses` says of an example, as JSON."""

    def ask(name: str, *words: str) -> Any:
        assert run(["hypotheses", str(examples / f"{name}.toml"), *words, "--json"]) == 0
        return json.loads(capfdbinary.readouterr().out)

    return ask


@pytest.fixture
def board(capfdbinary: Any, examples: Path) -> Any:
    """The same as lines."""

    def read(name: str, *words: str) -> str:
        assert run(["hypotheses", str(examples / f"{name}.toml"), *words]) == 0
        return str(capfdbinary.readouterr().out.decode())

    return read


def exact(numbers: Any) -> Any:
    return {name: F(n["exact"]) for name, n in numbers.items()}


def test_the_map_hypothesis_says_plus_and_all_together_minus(asked: Any, board: Any) -> None:
    found = asked("three_hypotheses", "--draws", "40000")["predictions"]
    assert (found["map"], found["map_prediction"], found["optimal"]) == ("h1", "+", "-")
    assert exact(found["beliefs"]) == {"h1": F("0.4"), "h2": F("0.3"), "h3": F("0.3")}
    assert exact(found["prediction"]) == {"+": F("0.4"), "-": F("0.6")}
    errors = {way: F(found[f"{way}_error"]["exact"]) for way in ("map", "optimal", "gibbs")}
    assert errors == {"map": F("0.6"), "optimal": F("0.4"), "gibbs": 1 - F("0.4") ** 2 - F("0.6") ** 2}
    assert errors["gibbs"] <= 2 * errors["optimal"]
    for way, name in (("map", "MAP"), ("optimal", "Bayes-optimal"), ("gibbs", "Gibbs")):
        assert found["simulated"][name] == pytest.approx(float(errors[way]), abs=0.01)
    assert "P(-) = 0.4 × 0 + 0.3 × 1 + 0.3 × 1 = 0.6" in board("three_hypotheses").splitlines()


def test_cancer_under_changing_priors(asked: Any, board: Any) -> None:
    found = asked("cancer")
    assert found["belief"]["exact"] == {"cancer": "49/235", "no cancer": "186/235"}
    assert (found["belief"]["map"], found["belief"]["ml"]) == ("no cancer", "cancer")
    assert F(found["break_even"]["exact"]) == F("0.03") / (F("0.98") + F("0.03"))
    for tried in found["priors"]:
        prior = F(tried["prior"]["cancer"]["exact"])
        after = prior * F("0.98") / (prior * F("0.98") + (1 - prior) * F("0.03"))
        assert F(tried["posterior"]["cancer"]["exact"]) == after
        assert (tried["map"] == "cancer") == (after >= F(1, 2)) and tried["ml"] == "cancer"
    edge = asked("cancer", "--prior", "cancer=3/101")  # a tie goes to the first
    assert edge["belief"]["exact"] == {"cancer": "1/2", "no cancer": "1/2"} and edge["belief"]["map"] == "cancer"
    assert "P(cancer | positive) = 0.00784 / 0.0376 = 49/235 ≈ 0.2085" in board("cancer")
    lines = board("cancer", "--try-prior", "cancer=0.03").splitlines()
    assert any(line.split()[:2] == ["0.03", "0.97"] and line.endswith("cancer  cancer") for line in lines)


def test_viagra_and_lottery(asked: Any, board: Any) -> None:
    found = asked("viagra_lottery")
    cases = {(c["values"]["viagra"], c["values"]["lottery"]): c for c in found["cases"]}
    viagra, lottery = {"spam": F("0.40"), "ham": F("0.12")}, {"spam": F("0.21"), "ham": F("0.13")}
    error = F(0)
    for (v, w), case in cases.items():
        own = {
            h: (viagra[h] if v == "1" else 1 - viagra[h]) * (lottery[h] if w == "1" else 1 - lottery[h])
            for h in ("spam", "ham")
        }
        assert exact(case["likelihood"]) == own and F(case["ratio"]["exact"]) == own["spam"] / own["ham"]
        error += min(own.values()) / 2
    assert F(found["bayes_error"]["exact"]) == error
    order = [("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")]
    assert [float(f"{cases[o]['ratio']['p']:.2g}") for o in order] == [0.62, 1.1, 3.0, 5.4]
    assert [float(f"{cases[o]['known_odds']['p']:.2g}") for o in order] == [0.45, 1.9, 4.0, 0.67]
    assert "Misleading at viagra=1, lottery=1: independence says spam, the table ham." in board("viagra_lottery")
    unknown = asked("viagra_lottery", "lottery=1")
    assert exact(unknown["averaged"]) == {"spam": F("0.625"), "ham": F("0.375")}
    assert "= 0.65 × 0.9 + 0.4 × 0.1 = 0.625" in board("viagra_lottery", "lottery=1")


def test_a_bag_of_letters_there_or_not(asked: Any) -> None:
    found = asked("letters_bernoulli")
    likelihood = exact(found["likelihood"])
    assert likelihood == {"spam": F(3, 6) * F(4, 6) * F(4, 6), "ham": F(4, 6) * F(2, 6) * F(4, 6)}
    assert [round(float(p), 3) for p in likelihood.values()] == [0.222, 0.148]
    assert F(found["likelihood_ratio"]["exact"]) == F(3, 2)
    assert (found["belief"]["ml"], found["belief"]["map"]) == ("spam", "ham")
    assert found["belief"]["odds"]["spam"] == 0.75
    assert [p["map"] for p in found["priors"]] == ["spam", "spam"] and F(found["break_even"]["exact"]) == F(2, 5)


def test_a_bag_of_letters_counted(asked: Any, board: Any) -> None:
    found = asked("letters_multinomial")
    assert exact(found["likelihood"]) == {"spam": F("0.054"), "ham": F("0.1728")}
    assert F(found["likelihood_ratio"]["exact"]) == F(5, 16)
    assert (found["belief"]["ml"], found["belief"]["map"]) == ("ham", "ham")  # the opposite of Bernoulli
    assert [p["map"] for p in found["priors"]] == ["ham", "spam"] and F(found["break_even"]["exact"]) == F(16, 21)
    assert "P(a × 3, b × 1, c × 0 | spam) = 4 × 0.3^3 × 0.5 = 0.054" in board("letters_multinomial")
