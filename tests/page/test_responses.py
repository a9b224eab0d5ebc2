"""Curves above the controls and the map of two numbers, in a real browser: they show what Python says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page.conftest import Watched
from page.test_whatif import EXAMPLES, UGLY, opened, part, row_in, settled

import likely

HIGH, WIDE = 44, 240
LEARNERS = ["NaiveBayes", "Auto", "Additive(order=3)", "FullBayes"]


def height(y: float) -> float:
    """The probability that a height of a curve stands for."""
    return (HIGH - 2 - y) / (HIGH - 4)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_curve_shows_the_probabilities_as_the_value_moves(watched: Watched, tmp_path: Path, learner: str) -> None:
    model = likely.fit(EXAMPLES / "iris.csv", "species", learner)
    tab = opened(watched, tmp_path, model)
    row: dict[str, Any] = row_in(tab)
    field = tab.locator(".w-field", has=tab.get_by_text("petal_length", exact=True))
    lines = field.locator(".w-response polyline").all()
    assert len(lines) == 3
    ends = [float(span.inner_text()) for span in field.locator(".w-ends span").all()]
    for k, line in enumerate(lines):
        points = [tuple(map(float, p.split(","))) for p in line.get_attribute("points").split()]
        for x, y in points[::8]:
            value = ends[0] + (ends[1] - ends[0]) * x / WIDE
            near = [model.posterior({**row, "petal_length": value + d}).matrix[0, k] for d in (-0.02, 0.0, 0.02)]
            assert min(near) - 0.003 <= height(y) <= max(near) + 0.003, (learner, k, value)


def test_a_level_has_a_line_for_each_of_its_values(watched: Watched, tmp_path: Path) -> None:
    model = likely.fit(EXAMPLES / "weather.csv", "play")
    tab = opened(watched, tmp_path, model)
    field = tab.locator(".w-field", has=tab.get_by_text("outlook", exact=True))
    paths = [p.get_attribute("d") for p in field.locator(".w-response .w-line").all()]
    drawn = [height(float(re.match(r"M[\d.]+ ([\d.]+)h", d).group(1))) for d in paths]  # type: ignore[union-attr]
    said = [model.posterior({**row_in(tab), "outlook": level}).prob("yes") for level in model.levels("outlook")]
    assert drawn == pytest.approx(said, abs=0.003)
    before = tab.locator(".w-response").first.inner_html()
    part(tab).get_by_label("humidity", exact=True).select_option("high")
    settled(tab)
    assert tab.locator(".w-response").first.inner_html() != before  # the others moved it


def test_the_map_is_what_the_model_says_and_a_click_puts_the_row_there(watched: Watched, tmp_path: Path) -> None:
    model = likely.fit(EXAMPLES / "iris.csv", "species", "FullBayes")
    tab = opened(watched, tmp_path, model)
    tab.locator("#w-map summary").click()
    tab.locator("#w-map-x").select_option(label="sepal_length")
    tab.locator("#w-map-y").select_option(label="petal_length")
    tab.wait_for_function("document.getElementById('w-map-ends').textContent.includes('Predicted')")
    told = tab.locator("#w-map-ends").inner_text()
    ends = [tuple(map(float, pair)) for pair in re.findall(r"from ([\d.]+) to ([\d.]+)", told)]
    xs, ys = (low + (np.arange(n) + 0.5) * (high - low) / n for (low, high), n in zip(ends, (60, 40), strict=True))
    across, up = (grid.ravel().tolist() for grid in np.meshgrid(xs, ys))
    row = row_in(tab)
    fixed = {name: [float(row[name])] * len(across) for name in ("sepal_width", "petal_width")}
    named = model.predict({**fixed, "sepal_length": across, "petal_length": up})
    for name in model.classes:
        share = float(np.mean(np.array(named) == name))
        found = re.search(rf"{name} in ([\d.]+)", told)
        assert (float(found.group(1)) / 100 if found else 0.0) == pytest.approx(share, abs=0.006)
    box = tab.locator("#w-map-canvas").bounding_box()
    tab.locator("#w-map-canvas").click(position={"x": box["width"] * 0.75, "y": box["height"] * 0.25})
    settled(tab)
    now = row_in(tab)
    for name, share, (low, high) in zip(("sepal_length", "petal_length"), (0.75, 0.75), ends, strict=True):
        assert float(now[name]) == pytest.approx(low + share * (high - low), abs=0.02 * (high - low))


def test_ugly_names_do_no_harm(watched: Watched, tmp_path: Path) -> None:
    table = {**UGLY, "<b>second</b>": [float(i % 7) for i in range(40)]}
    tab = opened(watched, tmp_path, likely.fit(table, "t'ar=get", "NaiveBayes"))
    tab.locator("#w-map summary").click()
    tab.wait_for_function("document.getElementById('w-map-ends').textContent.includes('Predicted')")
    assert tab.locator("#w-map b, #w-fields b, #w-map img").count() == 0
    watched.is_quiet()


def test_one_number_has_no_map(watched: Watched, tmp_path: Path) -> None:
    tab = opened(watched, tmp_path, likely.fit(EXAMPLES / "weather.csv", "play"))
    assert tab.locator("#w-map").is_hidden()
