"""Everything that `curve` and `compare` print of awkward tables and that rows decide, computed once more."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.conftest import Ran
from truth.printed import Printed, Table, read_printed
from truth.sentences import Check, check_sentences, close, number, percent
from truth.tables import CASES, Case

N = r"([\d,]+(?:\.\d+)?)"
P = r"(-?\d+(?:\.\d+)?) %"
SOME = ("balanced_two", "balanced_three", "balanced_noise", "skewed_noise", "rare_class", "whole_weights", "mixed")


def _guess(case: Case) -> float:
    weights: dict[str, float] = {}
    for row in case.judged:
        weights[str(row[case.target])] = weights.get(str(row[case.target]), 0.0) + case.weigh(row)
    return max(weights.values()) / math.fsum(weights.values())


def _majority(case: Case) -> list[str]:
    labels = [str(row[case.target]) for row in case.judged]
    weights = {c: math.fsum(case.weigh(r) for r in case.judged if r[case.target] == c) for c in labels}
    return [c for c in weights if weights[c] == max(weights.values())]


def _run(name: str, run: Callable[..., Ran], folder: Path, command: str, *more: str) -> tuple[Case, Printed]:
    case = CASES[name]
    path = case.write(folder)
    weight = ("--weight", case.weight) if case.weight else ()
    return case, read_printed(run(command, path.name, case.target, *weight, *more).done().out)


def _inside(value: str, bounds: str, most: float | None) -> None:
    """A figure lies within its interval, and the interval within what is possible."""
    if bounds:
        low, high = (float(x) for x in bounds.removesuffix(" %").split(" to "))
        assert 0 <= low <= number(value.removesuffix(" %")) <= high, (value, bounds)
        assert most is None or high <= most, bounds


# -- curve ----------------------------------------------------------------------------------------------------


def _last(case: Case, printed: Printed) -> dict[str, str]:
    table = printed.table("Learning curve")
    return dict(zip(table.header, table.rows[-2], strict=False))


CURVE: dict[str, Check] = {
    rf".+\.csv: {N} rows\.": lambda c, p, n: number(n) == len(c.judged),
    rf"Naive Bayes predicts {P} of held-out rows correctly \({N}–{N} %\) after learning from {N} rows; its folds are "
    r"not those of look, so figures differ a little\.": lambda c, p, share, low, high, n: (
        f"{share} %" == _last(c, p)["accuracy"] and n == _last(c, p)["rows learned from"]
        and [float(low), float(high)] == [float(x) for x in p.table("Learning curve").rows[-2][2].split(" to ")]
    ),
    rf"Always guessing (.+) gets {P}\.": lambda c, p, label, share: (
        label in ("the most frequent class", *_majority(c)) and close(share, 100 * _guess(c))
        and number(_last(c, p)["accuracy"].removesuffix(" %")) > number(share)
    ),
    rf"That is no better than always guessing (.+), which gets {P}\.": lambda c, p, label, share: (
        label in ("the most frequent class", *_majority(c)) and close(share, 100 * _guess(c))
        and number(_last(c, p)["accuracy"].removesuffix(" %")) <= number(share)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SOME)
def test_curve(name: str, run: Callable[..., Ran], tmp_path: Path) -> None:
    case, printed = _run(name, run, tmp_path, "curve", "--learner", "NaiveBayes")
    table = printed.table("Learning curve")
    assert table.rows[-1][0] == "guessing"
    percent(table.rows[-1][1], _guess(case))
    rows = [number(row[0]) for row in table.rows[:-1]]
    assert rows == sorted(rows) and rows[-1] < len(case.judged)
    for row in table.rows[:-1]:
        _inside(row[1], row[2], 100)
    said = [s for s in printed.sentences if re.search(r"\.csv: |predicts|guessing", s)]
    assert len(said) == 3
    check_sentences(said, CURVE, case, printed)
    assert not any(" -0.0 " in s for s in printed.sentences), "minus nothing"


# -- compare --------------------------------------------------------------------------------------------------


def _learners(table: Table) -> None:
    losses = []
    for _, accuracy, bounds, loss, bits, *_ in table.rows:
        _inside(accuracy, bounds, 100)
        if loss != "infinite":
            _inside(loss, bits, None)
            losses.append(number(loss))
    assert losses == sorted(losses)


@pytest.mark.parametrize("name", SOME)
def test_compare(name: str, run: Callable[..., Ran], tmp_path: Path) -> None:
    named = [word for learner in ("NaiveBayes", "OneRule", "Prior") for word in ("--learner", learner)]
    case, printed = _run(name, run, tmp_path, "compare", *named)
    table = printed.table("Learners")
    _learners(table)
    losses = {row[0]: math.inf if row[3] == "infinite" else number(row[3]) for row in table.rows}
    best = re.escape(table.rows[0][0])
    if min(losses.values()) < losses["always guessing"]:
        first = table.rows[0]
        told = re.escape(f"{first[3]} bits a row ({first[4].replace(' to ', '–')})")
        said = rf": {best} has the lowest log loss, {told}, on {len(case.judged)} rows"
        assert re.search(said, printed.sentences[0])
    else:
        assert f"no learner beats the class frequencies on {len(case.judged)} rows" in printed.sentences[0]
