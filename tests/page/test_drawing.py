"""Charts: sound XML whatever the names, places that are where the numbers say, colours that can be told apart."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from types import SimpleNamespace as Record
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely.evaluate.attributes.plane import ClassPlane
from likely.evaluate.scores.intervals import class_scores
from likely.present.charts.bars import NamedBar, bar_chart, bin_edges, confusion_map, diverging, stacked
from likely.present.charts.drawing import ChartAxis, ChartFrame, escape_text
from likely.present.charts.planes import _contours, density, ellipse_points, landscape
from likely.present.effects import evidence
from likely.present.report import look as tables

STYLE = (Path(likely.__file__).parent / "present" / "charts" / "charts.css").read_text("utf-8")
MOVE = re.compile(r"[Mlhv]|-?(?:\d+\.?\d*|\.\d+)")


def places_on(d: str) -> list[tuple[float, float]]:
    """Where a path goes, move by move."""
    out, kind, numbers = [(0.0, 0.0)], "", []
    for word in MOVE.findall(d):
        if word.isalpha():
            kind = word
            continue
        numbers.append(float(word))
        if kind in "hv" or len(numbers) == 2:
            across, up = {"h": (numbers[0], 0.0), "v": (0.0, numbers[0])}.get(kind, (numbers[0], numbers[-1]))
            out.append((out[-1][0] + across, out[-1][1] + up))
            numbers = []
    return out[1:]


@given(st.text())
def test_any_words_are_sound_xml(words: str) -> None:
    drawn = bar_chart(words, words, [NamedBar(words, 1.0, words, 3), NamedBar(words, -2.0, words)])
    assert "".join(ElementTree.fromstring(drawn).itertext())
    assert "<" not in escape_text(words)


def plane() -> ClassPlane:
    return ClassPlane("x", "y", (0.0, 10.0), (0.0, 8.0), 50, True,
                 ("a", "b"), (0, 1), (0.7, 0.3), ((3.0, 3.0), (7.0, 5.0)),
                 ((1.0, 0.4, 0.8), (0.5, -0.2, 1.2)), 56, 42, {})  # fmt: skip


@pytest.mark.parametrize("times", [1.0, 2.0])
def test_an_ellipse_is_so_many_standard_deviations_away(times: float) -> None:
    frame = ChartFrame(ChartAxis(0, 10, "x"), ChartAxis(0, 8, "y"))
    inverse = np.linalg.inv(np.array([[1.0, 0.4], [0.4, 0.8]]))
    for x, y in ellipse_points(frame, (3.0, 3.0), (1.0, 0.4, 0.8), times):
        back = np.array([(x - frame.left) / frame.width * 10 - 3, (frame.bottom - y) / frame.height * 8 - 3])
        assert math.sqrt(back @ inverse @ back) == pytest.approx(times)


def test_contours_are_where_the_density_is() -> None:
    found, frame = plane(), ChartFrame(ChartAxis(0, 10, "x"), ChartAxis(0, 8, "y"))
    highest = density(found).max()
    for d in re.findall(r' d="([^"]+)"', _contours(found, frame)):
        levels = []
        for x, y in places_on(d):
            at = (x - frame.left) / frame.width * 10, (frame.bottom - y) / frame.height * 8
            value = 0.0
            for share, mean, (a, b, c) in zip(found.shares, found.means, found.spreads, strict=True):
                inverse, away = np.linalg.inv(np.array([[a, b], [b, c]])), np.array(at) - mean
                value += share * math.exp(-away @ inverse @ away / 2) / math.sqrt(a * c - b * b)
            levels.append(value / highest)
        assert max(levels) - min(levels) < 0.05  # a line of one level, as well as the grid can tell


def test_a_chart_of_two_numbers_is_sound_xml() -> None:
    assert ElementTree.fromstring(landscape(plane())).tag.endswith("svg")


def test_naive_ellipses_lie_along_the_axes() -> None:
    """Two for each class, as wide and high as the full ones, which tilt."""
    drawn = landscape(plane())
    both = [re.findall(rf'<path class="k0 {kind}" d="([^"]+)"', drawn) for kind in ("ring", "ring naive")]
    assert [len(found) for found in both] == [2, 2]
    for full, naive in zip(*both, strict=True):
        a, b = (np.array(places_on(d)) for d in (full, naive))
        assert np.ptp(a, axis=0) == pytest.approx(np.ptp(b, axis=0), rel=0.01)
        centred = b - (b.max(axis=0) + b.min(axis=0)) / 2
        assert abs((centred[:, 0] * centred[:, 1]).mean()) < 0.01 * np.prod(np.ptp(b, axis=0))


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50, unique=True))
def test_bins_hold_nearly_all_values(values: list[float]) -> None:
    found = np.array(sorted(values))
    edges = bin_edges(found, np.ones(len(found)))
    if edges is not None:
        assert (np.diff(edges) > 0).all() and len(edges) <= 26
        assert ((found >= edges[0]) & (found < edges[-1])).mean() >= 0.9 or len(found) < 20


def test_whole_numbers_lie_in_the_middle_of_their_bins() -> None:
    edges = bin_edges(np.arange(10.0), np.ones(10))
    assert edges is not None and edges.tolist() == [k - 0.5 for k in range(11)]


def test_evidence_is_that_of_the_ledger(examples: Path) -> None:
    model = likely.fit(examples / "weather.csv", "play")
    factor = next(f for f in model.factors if f.name == "outlook")  # type: ignore[attr-defined]
    levels = factor.labels.names
    bits = evidence(np.exp(factor.log_table[: len(levels)]), np.exp(model.log_prior))  # type: ignore[attr-defined]
    for k, level in enumerate(levels):
        entry = next(
            e for e in likely.explain(model, {"outlook": level}, of="yes", against="no").entries if e.name == "outlook"
        )
        assert entry.log_ratio is not None
        assert bits[k, 1] == pytest.approx(entry.log_ratio / math.log(2))
        assert bits[k, 0] == pytest.approx(-bits[k, 1])


def test_bars_are_as_long_as_their_numbers_say() -> None:
    widths = [float(w) for w in re.findall(r'width="([\d.]+)%"', stacked([0.25, 0.75]))]
    assert widths == [25.0, 75.0]
    assert 'x="25%" width="25%"' in diverging(-1.0, 2.0, "k1")
    assert 'x="50%" width="50%"' in diverging(4.0, 2.0, "k1")  # never out of its cell


def looked(classes: list[str], table: list[list[float]]) -> Any:
    each = class_scores(classes, table, [sum(row) for row in table])
    return Record(classes=dict.fromkeys(classes, 1.0), confusion=table, decisions=None, per_class=tuple(each))


def test_the_confusion_of_few_and_of_many_classes() -> None:
    few = looked(["a", "b"], [[8, 2], [1, 9]])
    matrix = tables.confusion_table(few)
    assert matrix.rows == (("a", "8", "2"), ("b", "1", "9"))
    assert [cell.style for row in matrix.rows for cell in row[1:]] == [
        "num right shade6", "num wrong shade2", "num wrong shade1", "num right shade7",
    ]  # fmt: skip
    assert [row[3].split(" (")[0] for row in tables.precision_table(few).rows] == ["80.0 %", "90.0 %"]
    assert [row[2].split(" (")[0] for row in tables.precision_table(few).rows] == ["88.9 %", "81.8 %"]
    table = np.diag(np.full(30, 9.0))
    table[3, 7] = 4
    many = looked([f"c{k}" for k in range(30)], table.tolist())
    assert not tables.confusion_table(many).rows
    assert 'class="chart confusion-map"' in confusion_map(list(many.classes), many.confusion)
    assert tables.error_table(many).rows == (("c3", "c7", "4", "30.8 %"),)


# -- colours ------------------------------------------------------------------------------------------------


def tokens(dark: bool) -> dict[str, tuple[float, float, float]]:
    part = STYLE.split("@media screen and (prefers-color-scheme: dark)")[1 if dark else 0]
    return {
        name: tuple(int(value[k : k + 2], 16) / 255 for k in (0, 2, 4))  # type: ignore[misc]
        for name, value in re.findall(r"--([\w-]+): #([0-9a-f]{6})\b", part)
    }


def linear(colour: tuple[float, float, float]) -> np.ndarray:  # type: ignore[type-arg]
    c = np.array(colour)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def luminance(colour: tuple[float, float, float]) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_words_stand_out_from_their_ground(dark: bool) -> None:
    found = tokens(dark)
    for ink, ground in itertools.product(("ink", "soft", "accent"), ("paper", "sheet", "warm")):
        high, low = sorted((luminance(found[ink]), luminance(found[ground])), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, ground)


# How linear light looks to an eye without one of its cones (Viénot, Brettel and Mollon, 1999).
EYES = {
    "all": np.eye(3),
    "protanope": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
    "deuteranope": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
}


def lab(light: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ light
    f = np.cbrt(np.maximum(xyz / [0.9505, 1.0, 1.089], 0))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_colours_of_classes_can_be_told_apart(dark: bool, eye: str) -> None:
    found = [lab(np.clip(EYES[eye] @ linear(tokens(dark)[f"k{k}"]), 0, 1)) for k in range(8)]
    for (i, a), (j, b) in itertools.combinations(enumerate(found), 2):
        least = 40 if j == 1 else 25 if j < 4 else 12
        assert np.linalg.norm(a - b) >= least, (i, j, float(np.linalg.norm(a - b)))
