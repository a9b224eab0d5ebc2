"""The page of environment variables names all that are looked at; what is being done goes to the package's logger."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

import likely

ROOT = Path(__file__).resolve().parents[2]
READ = re.compile(r"LIKELY_[A-Z]+")


def test_every_variable_is_on_the_page_and_no_other() -> None:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "scripts").iterdir(), ROOT / "hatch_build.py"]
    files += (ROOT / "tests" / "faults").glob("*.py")
    read = {name for file in files if file.is_file() for name in READ.findall(file.read_text(encoding="utf-8"))}
    page = set(READ.findall((ROOT / "docs" / "environment.md").read_text(encoding="utf-8")))
    assert page == read - {"LIKELY_COMPLETE"}  # which click sets for itself


def test_what_is_done_is_logged(examples: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="likely"):
        likely.fit(examples / "iris.csv", "species", likely.Auto(members=("NaiveBayes", "Logistic")))
    lines = [record.getMessage() for record in caplog.records]
    assert "'iris.csv': 150 rows, 4 attributes summed" in lines
    assert any(line.startswith("Comparing naive Bayes") for line in lines)


def test_nothing_is_printed_unless_somebody_listens(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    likely.fit(examples / "iris.csv", "species", likely.NaiveBayes())
    assert capsys.readouterr() == ("", "")
