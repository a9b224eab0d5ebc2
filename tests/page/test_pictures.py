"""Pictures of two numbers, of a line and of a normal density: their figures against numpy, scipy and scikit-learn."""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.stats import linregress, norm
from sklearn.neighbors import NearestNeighbors

import likely
from likely.classroom.pictures import COLUMNS, LINES
from likely.classroom.query import Normal
from likely.errors import LikelyError
from likely.evaluate.attributes.plane import places
from likely.present.charts.drawing import STYLE, ChartAxis, ChartFrame, at, plain_style
from likely.present.charts.planes import filled_region

IRIS = Path(__file__).resolve().parents[2] / "examples" / "iris.csv"
PAIR = ("petal_length", "petal_width")


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    lines = [line.split(",") for line in IRIS.read_text().splitlines()]
    places = [lines[0].index(name) for name in PAIR]
    numbers = np.array([[float(r[k]) for k in places] for r in lines[1:]])
    return numbers, np.array([r[lines[0].index("species")] for r in lines[1:]])


def test_ellipses_are_those_of_the_covariances_and_naive_ones_lie_along_the_axes(rows) -> None:
    numbers, species = rows
    found = likely.two_numbers(IRIS, "species", *PAIR, show=("points", "ellipses", "naive"))
    assert len(found.points) == found.rows == 150 and found.every
    for k, name in enumerate(found.classes):
        own = numbers[species == name]
        cov = np.cov(own.T)
        assert found.means[k] == pytest.approx(own.mean(axis=0))
        assert found.spreads[k] == pytest.approx((cov[0, 0], cov[0, 1], cov[1, 1]))
        assert found.naive_spreads[k] == pytest.approx((cov[0, 0], 0.0, cov[1, 1]))


def test_without_names_the_two_that_tell_most() -> None:
    found = likely.two_numbers(IRIS, "species")
    assert {found.x, found.y} == {*PAIR}


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("k", [1, 7, 149])
def test_the_ball_holds_the_nearest_rows(rows, k, scale) -> None:
    numbers, species = rows
    place = np.array([4.93, 1.61])
    found = likely.two_numbers(IRIS, "species", *PAIR, point=place.tolist(), neighbors=k, scale=scale)
    width = np.ptp(numbers, axis=0) if scale else np.ones(2)
    distance, which = NearestNeighbors(n_neighbors=k).fit(numbers / width).kneighbors([place / width])
    assert found.ball.radius == pytest.approx(distance.max())
    assert [row[3] for row in found.ball.rows][:k] == pytest.approx(distance[0])
    assert sum(found.ball.counts) == len(found.ball.rows) >= k
    if sum(found.ball.counts) == k:
        assert found.ball.counts == tuple((species[which[0]] == name).sum() for name in found.classes)
    assert found.ball.reach == pytest.approx(found.ball.radius * width)


@pytest.mark.parametrize("settings", [
    {"scale": False}, {"distance": "city-block"}, {"attribute_weights": {"petal_width": 9.0}}, {"scale": True},
    {"scale": False, "attribute_weights": {"petal_width": 0.0}}, {"reading": "density", "scale": False},
])  # fmt: skip
def test_the_ball_is_that_of_the_learner(settings) -> None:
    place, others = (4.93, 1.61), dict.fromkeys(["sepal_length", "sepal_width"], "ignore")
    learner = likely.Neighbors(k=7, **settings)
    found = likely.two_numbers(IRIS, "species", *PAIR, point=place, neighbors=7, learner=learner)
    model = likely.fit(IRIS, "species", learner, types=others)
    working = likely.explain(model, dict(zip(PAIR, place, strict=True))).working
    (radius,) = next(q for q in working.quantities if q.name.startswith("r,")).values.values()
    assert found.ball.radius == pytest.approx(radius) and found.ball.city == ("distance" in settings)
    (table,) = working.tables
    listed = [(row[1], row[2], row[3], row[5]) for row in table.rows for _ in range(int(row[4]))]
    drawn = [(a, b, found.classes[k], pytest.approx(far)) for a, b, k, far in found.ball.rows]
    assert sorted(listed) == sorted(drawn, key=lambda row: (*row[:3], row[3].expected))
    assert "nearest 7" in likely.plot(found)


def test_rows_count_by_their_weight_in_the_ball() -> None:
    table = {"a": [1.0, 2.0, 3.0, 9.0], "b": [1.0, 2.0, 3.0, 8.0], "y": ["u", "u", "v", "v"], "n": [2, 3, 4, 1]}
    found = likely.two_numbers(table, "y", "a", "b", point=(1, 1), neighbors=5, weight="n", learner="Neighbors(k=5)")
    assert found.ball.counts == (5.0, 0.0) and "nearest 5: 5 u" in likely.plot(found)


@pytest.mark.parametrize("learner", ["NaiveBayes", "FullBayes", "Neighbors(k=3)", "Logistic", "Auto"])
def test_regions_and_the_point_are_what_the_learner_says(learner) -> None:
    found = likely.two_numbers(IRIS, "species", *PAIR, show=["regions"], learner=learner, point=(4.9, 1.6))
    others = dict.fromkeys(["sepal_length", "sepal_width"], "ignore")
    model = likely.fit(IRIS, "species", learner, types=others)
    rng = np.random.default_rng(0)
    for _ in range(25):
        i, j = rng.integers(LINES), rng.integers(COLUMNS)
        row = {PAIR[0]: places(found.x_range, COLUMNS)[j], PAIR[1]: places(found.y_range, LINES)[i]}
        assert found.classes[found.regions[i, j]] == model.predict(row)
    said = model.posterior({PAIR[0]: 4.9, PAIR[1]: 1.6})
    assert found.answer.probabilities == pytest.approx(said.matrix[0].tolist())


def test_contours_lie_where_the_density_is_a_share_of_its_peak(rows) -> None:
    numbers, species = rows
    found = likely.two_numbers(IRIS, "species", *PAIR, show=["contours"], learner="FullBayes", level=0.01)
    own = numbers[species == found.classes[2]]
    inverse, mean = np.linalg.inv(np.cov(own.T)), own.mean(axis=0)
    across, up = np.meshgrid(places(found.x_range, COLUMNS), places(found.y_range, LINES))
    away = np.stack([across - mean[0], up - mean[1]], axis=-1)
    density = np.exp(-np.einsum("...i,ij,...j", away, inverse, away) / 2)
    assert np.allclose(found.contours[2], density / density.max())
    none = likely.two_numbers(IRIS, "species", *PAIR, show=["contours"], learner="Logistic")
    assert none.contours is None and "no density" in none.notes[0]


@pytest.mark.parametrize("learner, level", [("FullBayes", 0.01), ("NaiveBayes", 0.0001)])
def test_contours_close_inside_the_frame(learner, level) -> None:
    """They were cut off where the rows end."""
    found = likely.two_numbers(IRIS, "species", *PAIR, show=["contours"], learner=learner, level=level)
    plain = likely.two_numbers(IRIS, "species", *PAIR, show=["points"])
    for field in found.contours.values():
        edge = np.concatenate([field[0], field[-1], field[:, 0], field[:, -1]])
        assert edge.max() <= level < field.max()
    wide, narrow = (*found.x_range, *found.y_range), (*plain.x_range, *plain.y_range)
    assert wide != narrow and all(s * a >= s * b for s, a, b in zip((-1, 1, -1, 1), wide, narrow, strict=True))


def test_regions_share_their_edges() -> None:
    """Lengths were rounded apart from places, so a hairline of paper was left between two regions."""
    found = likely.two_numbers(IRIS, "species", *PAIR, show=["regions"], learner="NaiveBayes")
    grid, frame = found.regions, ChartFrame(ChartAxis(0, 1, ""), ChartAxis(0, 1, ""), 7.3, 3.1, 331.7, 123.9)
    lefts, rights = set(), set()
    for code in np.unique(grid):
        for x, _, right in re.findall(r"M([\d.]+) ([\d.]+)H([\d.]+)", filled_region(grid, code, frame)):
            lefts.add(x)
            rights.add(right)
    ends = {at(frame.left), at(frame.left + frame.width)}
    assert lefts - ends == rights - ends and ends <= lefts | rights


def test_a_key_says_what_lines_are() -> None:
    layers = ["points", "ellipses", "naive", "contours"]
    drawn = likely.plot(likely.two_numbers(IRIS, "species", *PAIR, show=layers, learner="FullBayes", level=0.05))
    assert all(f">{words}<" in drawn for words in ("full, 1 and 2 sd", "naive, 1 and 2 sd", "5\u00a0% of the peak"))
    assert 'class="k0 ring naive"' in drawn
    plain = likely.plot(likely.two_numbers(IRIS, "species", *PAIR, show=["points"]))
    assert "1 and 2 sd" not in plain and "of the peak" not in plain


def test_the_line_is_that_of_least_squares_and_of_greatest_likelihood(rows) -> None:
    numbers, _ = rows
    found = likely.straight_line(IRIS, PAIR[1], PAIR[0])
    known = linregress(*numbers.T)
    assert (found.slope, found.constant) == pytest.approx((known.slope, known.intercept))
    left = numbers[:, 1] - known.intercept - known.slope * numbers[:, 0]
    assert found.squares == pytest.approx(left @ left)
    assert found.log_likelihood == pytest.approx(norm.logpdf(left, scale=left.std()).sum())
    other = numbers[:, 1] - known.intercept - 1.01 * known.slope * numbers[:, 0]
    assert found.log_likelihood_of(other @ other) < found.log_likelihood
    drawn = likely.plot(found)
    ElementTree.fromstring(drawn)
    assert drawn.count('class="residual"') == 150
    exact = likely.straight_line({"x": [0, 1, 2], "y": [1, 3, 5]}, "y", "x")
    assert "on the line" in likely.plot(exact) and exact.log_likelihood == math.inf


@pytest.mark.parametrize(
    ("low", "high"), [(-1, 1), (66, 80), (9, 10), (-40, -30), (-math.inf, 0), (3, math.inf), (2, 2)]
)
def test_the_area_under_a_normal_density(low, high) -> None:
    area = Normal(1.5, 2.5).between(low, high)
    a, b = (low - 1.5) / 2.5, (high - 1.5) / 2.5
    wanted = norm.sf(a) - norm.sf(b) if a > 0 else norm.cdf(b) - norm.cdf(a)
    assert area == pytest.approx(wanted, rel=1e-12, abs=0)
    assert Normal(1.5, 2.5).density(4) == pytest.approx(norm.pdf(4, 1.5, 2.5))


def test_png_has_the_size_asked_for_and_no_variable_is_left(tmp_path) -> None:
    style = plain_style(STYLE.read_text("utf-8"))
    assert "var(" not in style and ".chart .k3.ring" in style
    chart = likely.plot(likely.two_numbers(IRIS, "species", *PAIR, show=("points", "ellipses", "naive", "regions")))
    chart.save(tmp_path / "a.png", (1280, 720))
    data = (tmp_path / "a.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:24]) == (1280, 720)
    chart.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == chart


def test_names_from_data_are_escaped() -> None:
    bad = "</svg><script>alert(1)</script>"
    table = {bad: [1.0, 2, 3, 8, 9, 10], "b&'\"": [1.0, 3, 2, 8, 7, 9], "y": [bad] * 3 + ["z"] * 3}
    found = likely.two_numbers(table, "y", show=("points", "ellipses", "naive"), point=(2, 2), learner="NaiveBayes")
    drawn = likely.plot(found)
    ElementTree.fromstring(drawn)
    assert "<script" not in drawn


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: likely.two_numbers(IRIS, "species", "petal_lenght"), "petal_length"),
        (lambda: likely.two_numbers(IRIS, "species", *PAIR, show=["point"]), "'points'"),
        (lambda: likely.two_numbers(IRIS, "species", *PAIR, neighbors=3), "give the point"),
        (lambda: likely.two_numbers(IRIS, "species", *PAIR, level=2), "between 0 and 1"),
        (lambda: likely.two_numbers(IRIS, "species", *PAIR, point=(1, math.nan)), "a number for"),
        (lambda: likely.two_numbers({"k": list("abab"), "y": list("uuvv")}, "y"), "two different attributes"),
        (lambda: likely.straight_line(IRIS, PAIR[0], PAIR[0]), "another column"),
        (lambda: likely.straight_line(IRIS, PAIR[0], "petal"), "There is no column"),
        (lambda: likely.straight_line({"x": [1, 1, 1], "y": [1, 2, 3]}, "y", "x"), "no two different"),
        (lambda: Normal(0, 0), "above zero"),
        (lambda: Normal(0, 1).between(2, 1), "lower value first"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(call, said) -> None:
    with pytest.raises(LikelyError, match=said):
        call()
