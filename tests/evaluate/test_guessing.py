"""What always guessing one class gets is counted on the rows judged, and said alike by commands, page and notebook."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely
from likely.present.page.contents import headline, ladder
from likely.present.report.evaluation import present_comparison, present_curve
from likely.present.report.look import present_look

FEW = {"c": ["A"] * 4 + ["B"] * 4 + ["C"] * 4, "x": list("uvwuvwuvwuvw"), "w": [1.0] * 11 + [3.0]}


def frequent(labels: list[str], weights: list[float] | None = None) -> tuple[str, str]:
    """The first of the most frequent classes and its share, counted by hand."""
    count: Counter[str] = Counter()
    for label, weight in zip(labels, weights or [1.0] * len(labels), strict=True):
        count[label] += weight  # type: ignore[assignment]
    best = max(sorted(count), key=lambda c: count[c])
    return best, f"{100 * count[best] / sum(count.values()):.1f} %"


def said_everywhere(data: Any, target: str, guess: str, share: str, **how: Any) -> likely.evaluate.look.Look:
    record = likely.look(data, target, **how)
    text = present_look(record).headline
    worse = float(f"{100 * record.scores.accuracy:.1f}") <= float(share.removesuffix(" %"))
    told = (
        f"no better than always guessing {guess}, which gets {share}."
        if worse
        else f"not clearly better than always guessing {guess}, which gets {share}."
        if (record.intervals.accuracy.low or 0.0) <= record.baseline.accuracy
        else f"Always guessing {guess} gets {share}."
    )
    assert told in text
    scores = next(t for t in present_look(record).tables if t.header[0] == "score")
    assert scores.rows[0][scores.header.index("guessing")] == share
    assert ladder(record)[0].rows[0][::2] == (f"always {guess}", share)
    first, page = str(headline(record)), record.page().replace("\N{NO-BREAK SPACE}", " ")
    if told.startswith("Always"):
        assert told in page and "better" not in first
    elif first.startswith(told[0].upper()):  # where nothing is clearly gained, the page says so first
        assert first.startswith(f"{told[0].upper()}{told[1:-1]}: ")
    else:
        assert worse and f", no more than always guessing {guess}; but it ranks {target} well" in first
    assert share in page
    return record


@pytest.mark.parametrize(("name", "target"), [("iris", "species"), ("switches", "lamp"), ("weather", "play")])
def test_guessing_is_counted_however_rows_are_dealt(name: str, target: str, examples: Path) -> None:
    path = examples / f"{name}.csv"
    with path.open() as file:
        guess, share = frequent([row[target] for row in csv.DictReader(file)])
    for how in ({"leave_one_out": True}, {"folds": 3}, {"folds": 5, "repeats": 2}, {}):
        record = said_everywhere(path, target, guess, share, learner=likely.NaiveBayes(), **how)
        assert record.baselines.guess == guess
    said_everywhere(path, target, guess, share)
    said = present_curve(likely.curve(path, target, likely.NaiveBayes())).headline
    assert f"lways guessing the most frequent class{', which' if 'no better' in said else ''} gets {share}." in said
    compared = present_comparison(likely.compare(path, target, ["Prior", "OneRule"]))
    assert {row[0]: row[1] for row in compared.tables[0].rows}["always guessing"] == share
    left = likely.compare(path, target, ["Prior", "NaiveBayes"], leave_one_out=True)
    assert {one.name: f"{100 * one.scores.accuracy:.1f} %" for one in left.learners if one.scores}["Prior"] == share


def test_guessing_in_small_and_weighed_tables() -> None:
    plain = {k: v for k, v in FEW.items() if k != "w"}
    for how in ({}, {"leave_one_out": True}):
        said_everywhere(plain, "c", "A", "33.3 %", learner=likely.NaiveBayes(), **how)
        guess, share = frequent(FEW["c"], FEW["w"])  # type: ignore[arg-type]
        assert (guess, share) == ("C", "42.9 %")
        said_everywhere(FEW, "c", guess, share, learner=likely.NaiveBayes(), weight="w", **how)


def test_no_better_goes_by_the_figures_that_are_printed() -> None:
    """79.2 % against 79.2 %: one row more among 4,000 is no better."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(4000) % 5 == 0, "late", "soon")
    y[0] = "soon"
    x = np.where(y == "late", rng.choice(["a", "b"], 4000), rng.choice(["a", "b"], 4000)).astype(object)
    rare = np.flatnonzero(y == "late")[:40]
    x[rare[:1]] = "only late"
    table = {"x": x.tolist(), "again": [f"{k % 7}" for k in range(4000)], "y": y.tolist()}
    record = likely.look(table, "y", likely.NaiveBayes())
    text = present_look(record).headline
    figures = re.findall(r"(\d+\.\d) % of unseen rows|gets (\d+\.\d) %", text)
    own, base = figures[0][0], figures[-1][1]
    assert ("no better than" in text) == (float(own) <= float(base))
    record = likely.look(table, "y", likely.Prior())
    assert "no better than always guessing soon" in present_look(record).headline


def test_the_answer_of_costs_is_a_sentence(examples: Path) -> None:
    record = likely.look(
        examples / "weather.csv", "play", likely.NaiveBayes(), loss=likely.Loss.read(examples / "weather_loss.toml")
    )
    assert record.decisions is not None
    cost = f"{record.decisions.mean:.4g}"
    assert headline(record) == f"Naive Bayes decides on play by its costs, at {cost} per unseen row, in the mean"
    for face in (present_look(record).headline, record.page().replace("\N{NO-BREAK SPACE}", " ")):
        assert f"Naive Bayes decides at a cost of {cost}" in face


def test_costs_are_applied_to_what_was_learned(examples: Path, caplog: pytest.LogCaptureFixture) -> None:
    record = likely.look(examples / "penguins.csv", "sex")
    loss = {"female": {"female": 0, "male": 3}, "male": {"female": 1, "male": 0}}
    with caplog.at_level("INFO", logger="likely"):
        again = likely.look(examples / "penguins.csv", "sex", loss=loss, model=record.model)
    assert not [r for r in caplog.records if r.getMessage().startswith(("Comparing", "Learning"))]
    assert again.json() == likely.look(examples / "penguins.csv", "sex", loss=loss).json()
    other = likely.look(examples / "penguins.csv", "species", model=record.model)  # of other sums: it is learned
    assert other.json() == likely.look(examples / "penguins.csv", "species").json()
