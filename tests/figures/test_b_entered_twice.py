"""Figures B and I, an attribute entered twice in the fourteen days: found, with what it does to the odds."""

from __future__ import annotations

import csv
import json
import math
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest

import likely
from likely.cli import run

NAMES = ("outlook", "temperature", "humidity", "windy")


def columns(examples: Path) -> dict[str, list[str]]:
    with open(examples / "weather.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize("name", NAMES)
def test_whichever_is_entered_twice_is_found(examples: Path, name: str) -> None:
    table = columns(examples)
    found = likely.repeats({"again": table[name], **table}, "play")
    (one,) = found.counted
    assert {one.pair.one, one.pair.other} == {name, "again"} and one.pair.same and one.pair.matters
    levels = sorted(set(table[name]))
    assert [o.level for o in one.odds] == levels

    def p(level: str, play: str) -> F:
        n = sum(a == level and y == play for a, y in zip(table[name], table["play"], strict=True))
        return F(n + 1, table["play"].count(play) + len(levels))

    # The prior is not smoothed: 9 to 5. Each time the level is counted, the odds are multiplied by its ratio.
    moved = F(0)
    for o in one.odds:
        ratio = p(o.level, o.name) / p(o.level, "no" if o.name == "yes" else "yes")
        before = F(9, 5) if o.name == "yes" else F(5, 9)
        assert ratio >= 1  # the class that the level speaks for
        assert (o.before, o.once, o.twice) == pytest.approx(
            tuple(map(float, (before, before * ratio, before * ratio**2)))
        )
        moved += F(table[name].count(o.level)) * F(math.log2(ratio)) / 14
    assert one.pair.push == pytest.approx(float(moved))
    # Found by the check-up and the first look as well.
    assert any({"again", name} == {*f.columns} for f in likely.doctor({"again": table[name], **table}, "play").findings)


def test_as_a_lecturer_types_it(examples: Path, tmp_path: Path, capfdbinary: Any) -> None:
    table = columns(examples)
    path = tmp_path / "twice.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow([*NAMES, "sky", "play"])
        lines.writerows(zip(*(table[n] for n in NAMES), table["outlook"], table["play"], strict=True))
    assert run(["repeats", str(path), "play"]) == 0
    out = capfdbinary.readouterr().out.decode()
    assert "  overcast  yes       1.8             6      20" in out.splitlines()
    assert "sky is outlook entered twice: the same value in all 14 rows" in out and "--type sky=ignore" in out
    assert run(["repeats", str(path), "play", "--json"]) == 0
    pair = json.loads(capfdbinary.readouterr().out)["pairs"][0]
    assert pair["same"] is True and pair["share"] == 1
    for command in (["look", "--no-page"], ["doctor"]):
        assert run([command[0], str(path), "play", *command[1:]]) == 0
        assert "'sky' has the same value as 'outlook' in all 14 rows" in capfdbinary.readouterr().out.decode()


def test_what_is_not_the_same_is_not_taken_for_it(examples: Path) -> None:
    table = columns(examples)
    almost = [*table["outlook"][:-1], "sunny"]  # the last day is rainy
    gap = [None, *table["outlook"][1:]]
    renamed = [v.upper() for v in table["outlook"]]
    for other in (almost, gap, renamed, ["x"] * 14):
        found = likely.repeats({**table, "other": other}, "play")
        assert not any(p.same for p in found.pairs), other
    both = likely.repeats({**table, "outlook": gap, "other": gap}, "play")
    assert [p.same for p in both.pairs].count(True) == 1  # missing in the same rows
    numbers = {
        "a": [1.5, 2, 3, 4, 5.5, 6] * 5,
        "b": [1.5, 2, 3, 4, 5.5, 6] * 5,
        "y": ["u", "u", "v", "v", "u", "v"] * 5,
    }
    found = likely.repeats(numbers, "y")
    assert [p.same for p in found.pairs] == [True] and found.counted[0].odds == ()
