"""Values that stand for missing ones are suspected, with the option that reads them so; ordinary values are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import likely
from likely.evaluate.troubles.columns import placeholder_findings
from likely.intake.schema import missing_tokens
from likely.table.schema import MISSING

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
