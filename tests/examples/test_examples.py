"""The examples run as they are, say what they should. That their types hold is seen to in tests/docs/test_types.py."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAYS = {
    "weather": ["P(yes) = 0.2046, so the answer is no.", "P(yes) = 0.41."],
    "iris_errors": ["NaiveBayes 6 errors", "FullBayes  3 errors"],
    "adult": ["2,000 rows;", "education: ", "<Posterior: '<=50K'"],
    "spam": ["'claim your cash prize now': spam", "'are you free for dinner on friday': ham", "'zzz': ham"],
    "medical_decision": ["P(ill | positive) = 0.2085", "Most probable: well; least costly: operate.", "know the scan"],
    "stream": ["piece 3: window 8%, all rows 7% right", "piece 5: window 96%, all rows 54% right", "1,800 came"],
    "drift": ["Changed: the class frequencies", "mean 23.41 → 30.07"],
    "deciding": ["each action is expected to cost", "Where only one day in a hundred is bad"],
    "double_counting": ["celsius", "fahrenheit"],
    "explain": ["L(class) = P(class)"],
    "workings": ["P(c2 | x) = 4/5 = 0.8", "ham 108/625 = 0.1728", "= −1.319"],
    "sureness": ["26 rows:", "2600 rows:"],
}


def test_every_example_is_tried() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == SAYS.keys()


@pytest.mark.parametrize("name", SAYS)
def test_it_runs_and_says_what_it_should(name: str, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setattr(sys, "argv", [f"{name}.py"])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    said = capsys.readouterr().out
    for words in SAYS[name]:
        assert words in said, said


@pytest.mark.long
def test_the_census_itself_may_be_named(shared: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setattr(sys, "argv", ["adult.py", str(shared / "data" / "adult.csv")])
    runpy.run_path(str(EXAMPLES / "adult.py"), run_name="__main__")
    assert "48,842 rows" in capsys.readouterr().out
