"""The nomogram can be used by hand: points read off its lines, added up, give the probability that the model gives."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from page.conftest import Watched
from page.test_evidence import people
from page.test_whatif import opened, settled

import likely

READ = """() => {
  const svg = document.querySelector(".w-nomogram");
  const all = [...svg.querySelectorAll("text")].map((t) => ({ x: +t.getAttribute("x"), y: +t.getAttribute("y"),
    anchor: t.getAttribute("text-anchor"), kind: t.getAttribute("class"), text: t.textContent }));
  return all;
}"""


def drawn(tab: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tab.evaluate(READ)
    return found


def number(text: str) -> float:
    return float(re.sub("[<>,%\xa0]", "", text).replace("−", "-"))


LEARNERS = {
    "naive": likely.NaiveBayes(),
    "logistic": likely.Logistic(),
    "curves": likely.Additive(order=1),
    "trees": likely.Additive(order="any"),
    "forest": likely.Forest(),
}
KNOWN = {"relationship": "Wife", "age": "41", "capital-gain": "0", "sex": "Male"}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("row", [KNOWN, {"relationship": "Wife", "age": "410"}], ids=["known", "beyond"])
def test_points_add_up_to_the_probability(watched: Watched, tmp_path: Path, learner: str, row: dict[str, str]) -> None:
    model = likely.fit(people(), "income", LEARNERS[learner])
    tab = opened(watched, tmp_path, model, "#" + "&".join(f".{k}={v}" for k, v in row.items()))
    tab.locator("#w-nomogram summary").click()
    settled(tab)
    words = drawn(tab)
    scale = {float(t["text"]): t["x"] for t in words if t["y"] == 20 and t["anchor"] == "middle"}
    assert sorted(scale) == [float(p) for p in range(0, 101, 10)]
    titles = [t for t in words if t["kind"] == "title"]
    assert titles[0]["text"] == "Points" and [t["text"] for t in titles][-2:] == [
        "Total points",
        "P(>50K)",
    ]
    names = [t["text"] for t in titles][1:-2]
    by_bits = tab.evaluate(
        """() => { const w = globalThis.likelyWhatIf;
        return w.portable.attributes.map((a, k) => [w.about[k].bits, a.name])
        .sort((a, b) => b[0] - a[0]).map(([, name]) => name); }"""
    )
    assert names == [n for n in by_bits if n in names] and len(names) >= 3, "ordered by what each reveals"
    # By hand: what is written beside each line is added up.
    beside = {t["y"]: t for t in words if t["anchor"] == "end"}
    points = [number(beside[t["y"]]["text"]) for t in titles[1:-2]]
    total, chance = (number(beside[t["y"]]["text"]) for t in titles[-2:])
    assert sum(points) == total
    assert set(KNOWN) - {"sex"} <= set(names) or learner not in ("trees", "forest"), (
        "what is read together has lines, too"
    )
    assert chance == pytest.approx(100 * model.posterior(row).prob(">50K"), abs=0.11)
    # The two axes below belong together: a total stands above the probability that its points give.
    y_total, y_chance = titles[-2]["y"], titles[-1]["y"]
    totals = {number(t["text"]): t["x"] for t in words if t["anchor"] == "middle" and t["y"] == y_total - 14}
    chances = {number(t["text"]) / 100: t["x"] for t in words if t["anchor"] == "middle" and t["y"] == y_chance + 14}
    (t0, x0), *_, (t1, x1) = sorted(totals.items())
    per_point = (x1 - x0) / (t1 - t0)
    (p0, c0), *_, (p1, c1) = sorted(chances.items())
    nats = (math.log(p1 / (1 - p1)) - math.log(p0 / (1 - p0))) / ((c1 - c0) / per_point)
    found = tab.evaluate("globalThis.likelyWhatIf.lines().lines.map((l) => l.high - l.low)")
    assert nats == pytest.approx(max(found) / 100, rel=0.01), "a point is a hundredth of the longest line"
    watched.is_quiet()


def test_ticks_are_round_and_long_tails_are_cut(watched: Watched, tmp_path: Path) -> None:
    model = likely.fit(people(), "income", likely.Additive(order=1))
    tab = opened(watched, tmp_path, model)
    tab.locator("#w-nomogram summary").click()
    settled(tab)
    lines = {line["name"]: line for line in tab.evaluate("globalThis.likelyWhatIf.lines().lines")}
    gains = [number(m["told"]) for m in lines["capital-gain"]["marks"]]
    most = max(people()["capital-gain"])
    assert all(g % 1000 == 0 for g in gains) and max(gains) < 0.9 * most
    ages = [number(m["told"]) for m in lines["age"]["marks"]]
    assert all(a % 5 == 0 for a in ages) and len(ages) >= 4
    watched.is_quiet()
