"""The awkward corners of naive Bayes: each has a defined answer, which is written here."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import likely
from likely import Posterior
from likely.errors import UnseenLevel

NB = likely.NaiveBayes


def normal(model: likely.Model, name: str = "x") -> Any:
    (found,) = [f for f in model.factors if f.name == name]
    return found


# -- many attributes, ties ----------------------------------------------------------------------------------


def test_two_thousand_attributes_do_not_underflow() -> None:
    rng = np.random.default_rng(0)
    labels = ["no"] * 30 + ["yes"] * 30
    table: dict[str, Any] = {f"n{k}": rng.choice(list("abcdefgh"), 60).tolist() for k in range(1000)}
    table |= {f"x{k}": rng.normal(size=60) * 1e3 for k in range(1000)}
    model = likely.fit({**table, "t": labels}, "t", likely.NaiveBayes())
    assert len(model.factors) == 2000
    row = {name: values[-1] for name, values in table.items()}
    working = model.working(row)
    assert all(-10_000 < v < -1000 for v in working.log10.values())
    assert sum(working.posterior.values()) == pytest.approx(1)
    assert not model.posterior(row).undefined.any()
    assert working.products["yes"] == 0.0  # beyond a double; the decimal log says what it is
    assert "10^-" in working.line("yes") and "… (1989 more)" in working.line("yes")
    exact = model.working({k: v for k, v in row.items() if k[0] == "n"})
    product = exact.products["yes"]
    assert isinstance(product, Fraction) and product > 0
    log10 = math.log10(product.numerator) - math.log10(product.denominator)
    assert exact.log10["yes"] == pytest.approx(log10, rel=1e-10)


def test_a_tie_goes_to_the_first_class_in_schema_order() -> None:
    model = likely.fit({"a": ["u", "v"] * 2, "t": ["z", "b", "b", "z"]}, "t")
    assert model.classes == ("b", "z")
    assert model.posterior({"a": "u"}).matrix.tolist() == [[0.5, 0.5]]
    assert model.predict({"a": "u"}) == "b" == model.working({"a": "u"}).best
    numbers = likely.fit({"a": ["u", "v"] * 2, "t": [10, 9, 9, 10]}, "t")
    assert numbers.classes == ("9", "10") and numbers.predict({"a": "u"}) == "9"


def test_a_posterior_of_no_rows() -> None:
    model = likely.fit({"x": [1.5, 2.5, 3.5], "t": ["a", "a", "b"]}, "t")
    posterior = model.posterior({"x": []})
    assert posterior.matrix.shape == (0, 2) and posterior.best == []


def test_scores_far_below_zero_are_normalised_without_loss() -> None:
    posterior = Posterior.of(("a", "b"), np.array([[-1e6, -1e6 + math.log(3)], [-np.inf, -np.inf]]))
    np.testing.assert_allclose(posterior.matrix, [[0.25, 0.75], [0, 0]], rtol=1e-9)


# -- unseen levels ------------------------------------------------------------------------------------------

SKY = {
    "sky": ["sun", "sun", "rain", "rain", "rain"],
    "sea": ["flat", "high", "high", "high", "flat"],
    "t": list("yynnn"),
}


def test_an_unseen_level_is_skipped_and_reported() -> None:
    model = likely.fit(SKY, "t")
    found = model.posterior({"sky": ["fog", "sun", "hail"], "sea": ["flat", "huge", "flat"]})
    assert found.unseen == {"sky": 2, "sea": 1}
    assert found.matrix[0].tolist() == model.posterior({"sea": "flat"}).matrix[0].tolist()
    assert found.matrix[0].tolist() == found.matrix[2].tolist()
    assert model.posterior({"sky": "sun"}).unseen == {}
    assert model.working({"sky": "fog"}).notes[0] == "'sky' has the level 'fog', which training did not have: left out."


def test_an_unseen_level_gets_the_reserved_mass() -> None:
    model = likely.fit(SKY, "t", NB(unseen="reserve"))
    working = model.working({"sky": "fog"})
    assert {c: str(q) for c, q in working.steps[1].values.items()} == {"n": "1/6", "y": "1/5"}
    for name in model.classes:  # the levels and the reserve share one
        levels = [model.working({"sky": s}).steps[1].values[name].value for s in ("sun", "rain", "fog")]
        assert sum(levels) == 1
    assert model.posterior({"sky": "fog"}).unseen == {"sky": 1}


def test_a_reserve_without_smoothing_is_nothing() -> None:
    model = likely.fit(SKY, "t", NB(unseen="reserve", pseudo_count=0))
    assert model.predict({"sky": "fog"}) is None


def test_an_unseen_level_is_refused() -> None:
    model = likely.fit(SKY, "t", NB(unseen="error"))
    with pytest.raises(UnseenLevel, match=r"Row 2 has 'fog' in column 'sky'.*unseen='skip'"):
        model.posterior({"sky": ["sun", "fog"]})
    with pytest.raises(UnseenLevel):
        model.working({"sky": "fog"})
    assert model.predict({"sky": "sun"}) == "y"


# -- missing cells ------------------------------------------------------------------------------------------

GAPS = {"a": ["u", None, None, "v", "u", "v"], "x": [1.0, 2.5, None, None, None, 4.0], "t": list("ppqqqq")}


def test_a_missing_cell_is_left_out() -> None:
    model = likely.fit(GAPS, "t")
    for row in ({}, {"a": None, "x": None}, {"a": "?", "x": "NA"}, {"x": math.nan}, {"x": math.inf}):
        posterior = model.posterior(row)
        np.testing.assert_allclose(posterior.matrix, [[2 / 6, 4 / 6]], rtol=1e-15)
    assert {c: str(q) for c, q in model.working({"a": "u"}).steps[1].values.items()} == {"p": "2/3", "q": "2/5"}


def test_a_missing_cell_is_a_level() -> None:
    model = likely.fit(GAPS, "t", NB(missing="level"))
    steps = model.working({"x": 2.0}).steps
    assert {c: str(q) for c, q in steps[1].values.items()} == {"p": "2/5", "q": "2/7"}
    density = normal(model)
    for k, (name, known) in enumerate({"p": 3 / 4, "q": 2 / 6}.items()):
        z = (2.0 - density.mean[k]) / density.deviation[k]
        value = known * math.exp(-z * z / 2) / (density.deviation[k] * math.sqrt(2 * math.pi))
        assert steps[2].values[name] == pytest.approx(value, rel=1e-14)
    gone = model.working({"a": "u"}).steps[2]
    assert {c: str(q) for c, q in gone.values.items()} == {"p": "1/4", "q": "4/6"}
    assert gone.note == "'x' is missing, which counts as a level."
    assert gone.values == model.working({"a": "u", "x": -math.inf}).steps[2].values


def test_every_attribute_missing_in_a_row_gives_the_prior() -> None:
    model = likely.fit(GAPS, "t", NB(prior={"p": 0.9, "q": 0.1}))
    np.testing.assert_allclose(model.posterior({}).matrix, [[0.9, 0.1]], rtol=1e-15)
    np.testing.assert_allclose(model.posterior({"a": [None, None]}).matrix, [[0.9, 0.1]] * 2, rtol=1e-15)


@pytest.mark.parametrize("kind", ["nominal", "number"])
@pytest.mark.parametrize("missing", ["skip", "level"])
def test_a_column_that_is_all_missing_says_nothing(kind: str, missing: str) -> None:
    table = {"a": [None] * 3, "b": list("uvv"), "t": list("pqq")}
    model = likely.fit(table, "t", NB(missing=missing), types={"a": kind})
    without = likely.fit({k: v for k, v in table.items() if k != "a"}, "t", NB(missing=missing))
    for row in ({"a": None, "b": "u"}, {"b": "u"}):
        np.testing.assert_allclose(model.posterior(row).matrix, without.posterior({"b": "u"}).matrix, rtol=1e-14)


def test_a_class_without_a_value_of_an_attribute() -> None:
    table = {"a": ["u", "v", None, None], "x": [1.0, 4.0, None, None], "t": list("ppqq")}
    smoothed = likely.fit(table, "t").working({"a": "u"}).steps[1].values
    assert {c: str(q) for c, q in smoothed.items()} == {"p": "2/4", "q": "1/2"}
    bare = likely.fit(table, "t", NB(pseudo_count=0), types={"x": "number"})
    assert str(bare.working({"a": "u"}).steps[1].values["q"]) == "0/0"
    assert bare.posterior({"a": "u"}).matrix.tolist() == [[1.0, 0.0]]
    # Its numbers are taken to be spread as those of all classes are.
    density = normal(bare)
    assert density.mean.tolist() == [2.5, 2.5] and density.borrowed.tolist() == [False, True]
    assert bare.posterior({"x": 3.3}).matrix[0] == pytest.approx([0.5, 0.5])
    assert any("'q' has too few values of 'x'" in note for note in bare.notes)


# -- numbers without a spread --------------------------------------------------------------------------------


@pytest.mark.parametrize("variance", ["unbiased", "ml"])
def test_a_class_of_one_row_borrows_the_spread_of_all(variance: str) -> None:
    x = [1.0, 2.0, 4.0, 9.0]
    density = normal(likely.fit({"x": x, "t": list("aaab")}, "t", NB(variance=variance), types={"x": "number"}))
    assert density.mean[1] == 9.0 and density.borrowed.tolist() == [False, True]
    assert density.deviation[1] == pytest.approx(np.std(x, ddof=variance == "unbiased"), rel=1e-15)


def test_a_class_without_variance_is_raised_to_the_floor() -> None:
    x = [5.0, 5.0, 5.0, 1.0, 8.0]
    for floor in (1e-6, 0.01):
        density = normal(likely.fit({"x": x, "t": list("aaabb")}, "t", NB(variance_floor=floor), types={"x": "number"}))
        assert density.deviation[0] ** 2 == pytest.approx(floor * np.var(x, ddof=1), rel=1e-13)
        assert density.deviation[1] ** 2 == pytest.approx(np.var(x[3:], ddof=1), rel=1e-13)
        assert not density.borrowed.any()
    with pytest.raises(likely.LikelyError, match=r"'x' in class 'a' is the same.*Set variance_floor above 0"):
        likely.fit({"x": x, "t": list("aaabb")}, "t", NB(variance_floor=0), types={"x": "number"})


def test_the_floor_is_relative_to_the_attributes_own_variance() -> None:
    rng = np.random.default_rng(0)
    small = np.array([1e-6] * 5 + (rng.normal(size=5) * 1e-6).tolist())
    table = {"small": small, "t": ["a"] * 5 + ["b"] * 5}
    alone = likely.fit(table, "t", types={"small": "number"})
    beside = likely.fit({"huge": rng.normal(size=10) * 1e12, **table}, "t", types={"small": "number"})
    np.testing.assert_array_equal(normal(alone, "small").deviation, normal(beside, "small").deviation)


def test_a_number_without_spread_is_left_out_with_a_note() -> None:
    model = likely.fit({"x": [3.0] * 4, "a": list("uvuv"), "t": list("ppqq")}, "t", types={"x": "number"})
    assert [f.name for f in model.factors] == ["a"]
    assert "'x' is left out" in model.notes[0]
    assert model.posterior({"x": 99.0}).matrix.tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("scale", [1e-300, 1e-155, 1.0, 1e155, 1e300])
def test_numbers_at_the_ends_of_the_range(scale: float) -> None:
    x = np.array([1.0, 2.0, -1.0, 3.5]) * scale
    model = likely.fit({"x": x, "t": list("aabb")}, "t", types={"x": "number"})
    plain = likely.fit({"x": x / scale, "t": list("aabb")}, "t", types={"x": "number"})
    asked = np.array([1.5, -4.0, 0.0])
    np.testing.assert_allclose(
        model.posterior({"x": asked * scale}).matrix, plain.posterior({"x": asked}).matrix, rtol=1e-12
    )


# -- few classes, few attributes ---------------------------------------------------------------------------


def test_a_single_class_is_certain() -> None:
    model = likely.fit({"a": list("uvu"), "x": [1.5, 2.5, 9.5], "t": ["only"] * 3}, "t")
    assert model.posterior({"a": "v", "x": -50.0}).prob("only") == 1.0
    assert model.predict({}) == "only"


def test_one_row() -> None:
    model = likely.fit({"a": ["u"], "x": [1.5], "t": ["p"]}, "t", types={"a": "nominal", "x": "number"})
    assert model.posterior({"a": "z", "x": 7}).matrix.tolist() == [[1.0]]


@pytest.mark.parametrize("table", [{"t": list("pqq")}, {"a": ["u"] * 3, "t": list("pqq")}])
def test_without_attributes_the_prior_is_all_there_is(table: dict[str, Any]) -> None:
    model = likely.fit(table, "t")
    np.testing.assert_allclose(model.posterior({}).matrix, [[1 / 3, 2 / 3]], rtol=1e-15)
    lines = str(model.working({})).splitlines()
    assert lines[:3] == ["L(class) = P(class)", "L(p) = 1/3 = 0.3333", "L(q) = 2/3 = 0.6667"]


# -- how numbers are written --------------------------------------------------------------------------------


def test_names_in_a_working_are_made_safe() -> None:
    name, level = "wet\n<b>", "x" * 500
    model = likely.fit({name: [level, "y", level], "t": ["p\t", "q", "q"]}, "t")
    text = str(model.working({name: level}))
    assert len(text.splitlines()) == 4 and "\t" not in text and len(text) < 400
