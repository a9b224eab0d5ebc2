"""How a number becomes a factor: densities, kernels, bins, and where bins are cut."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely.errors import ColumnError, SettingError
from likely.models.factors.bins import Binned, edges_of, mdl, mdl_cuts, read_tally
from likely.models.factors.kernel import KernelDensity
from likely.models.factors.normal import root_of
from likely.models.fractions import Quotient, as_written
from likely.models.shapes import Gaussian, limit_distances
from likely.present.report.model import present_attribute
from likely.sums.columns.numbers import Numbers

NB = likely.NaiveBayes
ALL = [
    NB(numbers="kernel"),
    NB(numbers="kernel", bandwidth="likelihood", missing="level"),
    NB(numbers="kernel", bandwidth=0.5),
    NB(numbers="binned"),
    NB(numbers="binned", bins="width", bin_count=4, missing="level"),
    NB(numbers="binned", bins={"x": "frequency", "z": (0.0, 3.5)}, bins_closed="right"),
    NB(numbers={"x": "kernel", "*": "binned"}, bins={"*": "frequency"}),
]


def table(seed: int, rows: int = 400) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    x = rng.normal(size=rows) + 2 * y
    z = (rng.gamma(2, 2, rows) * (1 + y)).round()
    cells = [None if k % 11 == 0 else v for k, v in enumerate(x.tolist())]
    return {"x": cells, "z": z.tolist(), "y": [f"c{v}" for v in y]}


def numbers_of(values: Any, group: Any, groups: int = 2, cap: int = 2048) -> Numbers:
    out = Numbers(groups, cap)
    out.update(np.asarray(values, float), np.asarray(group, np.int32))
    return out


def scores(model: likely.Model, data: Any) -> bytes:
    return b"".join(model.log_joint(b).tobytes() for b in model.batches(data))


@pytest.mark.parametrize("learner", ALL, ids=repr)
def test_halves_merge_weights_repeat_and_files_keep(learner: Any, tmp_path: Path) -> None:
    data = table(1)
    types = {"x": "number", "z": "number"}
    whole = likely.summarize(data, "y", types=types)
    half = [{n: c[part] for n, c in data.items()} for part in (slice(0, 150), slice(150, None))]
    one, two = (likely.summarize(h, "y", schema=whole.schema) for h in half)
    model = learner.learn(whole)
    assert scores(model, data) == scores(learner.learn(one + two), data)
    assert scores(model, data) == scores(learner.learn(two + one), data)
    twice = likely.summarize({n: c + c for n, c in data.items()}, "y", types=types)
    heavy = likely.summarize({**data, "w": [2.0] * 400}, "y", types=types, weight="w")
    assert scores(learner.learn(twice), data) == scores(learner.learn(heavy), data)
    model.save(tmp_path / "m.likely")
    back = likely.load(tmp_path / "m.likely")
    assert back.learner == learner and scores(back, data) == scores(model, data)


@pytest.mark.parametrize("learner", ALL, ids=repr)
def test_a_score_does_not_depend_on_the_rows_beside_it(learner: Any) -> None:
    data = table(2)
    model = learner.learn(likely.summarize(data, "y", types={"x": "number", "z": "number"}))
    together = scores(model, data)
    fresh = learner.learn(model.summary)
    backwards = {n: c[::-1] for n, c in data.items()}
    rows = np.frombuffer(scores(fresh, backwards)).reshape(-1, 2)[::-1]
    assert np.ascontiguousarray(rows).tobytes() == together


def test_a_class_with_few_values_borrows() -> None:
    x = [1.0, 2.0, 4.0, 9.0, 3.0, None]
    model = likely.fit({"x": x, "y": list("aaaabc")}, "y", NB(numbers="kernel"))
    factor = model.factors[0]
    assert isinstance(factor, KernelDensity)
    assert factor.normal.borrowed.tolist() == [False, True, True]
    assert len(model.notes) == 2 and "class 'b' has too few values" in model.notes[0].lower()
    own = [factor.points[a:b].tolist() for a, b in zip(factor.starts, factor.starts[1:], strict=False)]
    # One value: its own place, the width of all. No value: all values.
    assert own == [[1, 2, 4, 9], [3], [1, 2, 3, 4, 9]]
    expected = np.std([1, 2, 3, 4, 9], ddof=1) * (0.75 * 5) ** -0.2
    np.testing.assert_allclose(factor.bandwidth[1:], expected, rtol=1e-12)


@pytest.mark.parametrize("bandwidth", ["silverman", "likelihood"])
def test_a_constant_class_and_a_constant_attribute(bandwidth: Any) -> None:
    data = {"x": [5.0, 5, 5, 1, 2, 3], "k": [7.0] * 6, "y": list("aaabbb")}
    types = {"x": "number", "k": "number"}
    model = likely.fit(data, "y", NB(numbers="kernel", bandwidth=bandwidth), types=types)
    assert [f.name for f in model.factors] == ["x"] and "'k' is left out" in model.notes[0]
    assert model.predict({"x": 5.0}) == "a" and model.predict({"x": 2.0}) == "b"
    with pytest.raises(SettingError, match="variance_floor"):
        NB(numbers="kernel", variance_floor=0).learn(model.summary)
    cut = NB(numbers="binned", bins="width").learn(model.summary)
    assert "'k' has a single bin, which carries no information: all its values are the same." in cut.notes
    assert cut.terms(next(cut.batches({"k": [7.0]}))).array[0, 2].tolist() == [0.0, 0.0]


def test_values_that_repeat_do_not_draw_the_bandwidth_to_zero() -> None:
    rng = np.random.default_rng(0)
    x = np.where(rng.random(2000) < 0.9, 0.0, rng.choice([100.0, 250, 900, 1500], 2000))
    data = {"x": x, "y": ["a", "b"] * 1000}
    found = likely.fit(data, "y", NB(numbers="kernel", bandwidth="likelihood"), types={"x": "number"})
    assert (found.factors[0].bandwidth > 20).all()


def test_a_tally_of_rounded_values_is_read_at_their_middles() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(100, 10, 6000), rng.integers(0, 2, 6000)
    numbers = numbers_of(x, y, cap=64)
    tally = read_tally(numbers)
    assert numbers.level > 0 and len(tally.values) <= 64
    assert (np.abs(tally.centres - tally.values) * 2 <= tally.steps * 1.0001).all()
    # Cuts of such a tally part its values exactly, on whichever side of zero they are.
    for sign in (1, -1):
        numbers = numbers_of(sign * x, y * (sign * x > sign * 100), cap=64)
        tally = read_tally(numbers)
        for closed in ("left", "right"):
            for rule in ("mdl", "frequency"):
                edges = edges_of(tally, rule, 5, closed)
                assert len(edges)
                side = "right" if closed == "left" else "left"
                real = np.bincount(np.searchsorted(edges, sign * x, side=side), minlength=len(edges) + 1)
                held = np.zeros(len(edges) + 1)
                np.add.at(held, np.searchsorted(edges, tally.centres, side=side), tally.whole)
                assert held.tolist() == real.tolist()


def test_rounding_that_matters_is_told() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(1e6, 1, 5000)
    data = {"x": x, "y": rng.choice(["a", "b"], 5000)}
    summary = likely.summarize(data, "y")
    assert summary["x"].level > 0
    assert not NB(numbers="kernel").learn(summary).notes
    (note,) = NB(numbers="kernel", bandwidth=1e-3).learn(summary).notes
    assert "were rounded" in note
    (note,) = NB(numbers="binned", bins="width").learn(summary).notes
    assert "counts beside its edges may be off" in note


def test_adult_is_predicted_better_than_by_normal_densities(shared: Path) -> None:
    losses = {
        kind: likely.look(shared / "data" / "adult.csv", "income", NB(numbers=kind), folds=3).scores.log_loss
        for kind in ("gaussian", "kernel", "binned")
    }
    assert losses["binned"] < losses["kernel"] < losses["gaussian"]


# -- bins ----------------------------------------------------------------------------------------------------


def test_mdl_cuts_iris_where_the_literature_does(examples: Path) -> None:
    model = likely.fit(examples / "iris.csv", "species", NB(numbers="binned"))
    edges = {f.name: f.edges.tolist() for f in model.factors}
    assert edges["petal_length"] == [2.45, 4.75]
    assert edges["petal_width"] == [0.8, 1.75]
    assert edges["sepal_length"] == [5.55, 6.15]
    assert edges["sepal_width"] == [2.95, 3.35]


def brute_mdl(x: Any, y: Any) -> list[float]:
    def entropy(labels: Any) -> float:
        p = np.unique(labels, return_counts=True)[1] / len(labels)
        return float(-(p * np.log2(p)).sum())

    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    best = None
    for cut in np.flatnonzero(np.diff(x)) + 1:
        left, right = y[:cut], y[cut:]
        after = (len(left) * entropy(left) + len(right) * entropy(right)) / len(y)
        if best is None or after < best[0] - 1e-12:
            best = (after, cut)
    if best is None:
        return []
    after, cut = best
    k, k1, k2 = (len(np.unique(v)) for v in (y, y[:cut], y[cut:]))
    delta = math.log2(3**k - 2) - (k * entropy(y) - k1 * entropy(y[:cut]) - k2 * entropy(y[cut:]))
    if entropy(y) - after <= (math.log2(len(y) - 1) + delta) / len(y):
        return []
    return [*brute_mdl(x[:cut], y[:cut]), (x[cut - 1] + x[cut]) / 2, *brute_mdl(x[cut:], y[cut:])]


@pytest.mark.parametrize("seed", range(4))
def test_mdl_is_that_of_a_direct_implementation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 60, 300).astype(float)
    y = (x // 13 + rng.integers(0, 2, 300)).astype(int) % 3
    assert mdl(read_tally(numbers_of(x, y, 3))).tolist() == brute_mdl(x, y)


def test_a_value_that_fills_bins_has_its_own() -> None:
    low = read_tally(numbers_of([0.0] * 90 + [3.0, 5.0] * 5, [0] * 100))
    high = read_tally(numbers_of([9.0] * 90 + [3.0, 5.0] * 5, [0] * 100))
    assert edges_of(low, "frequency", 4, "left").tolist() == [1.5]
    assert edges_of(low, "frequency", 4, "right").tolist() == [0.0]
    assert edges_of(high, "frequency", 4, "left").tolist() == [9.0]
    assert edges_of(high, "frequency", 4, "right").tolist() == [7.0]


def test_numbers_beyond_the_edges_fall_into_the_end_bins() -> None:
    data = {"x": [1.0, 2, 3, 4], "y": list("aabb")}
    model = likely.fit(data, "y", NB(numbers="binned", bins={"x": [2.5]}), types={"x": "number"})
    assert model.predict({"x": [-1e308, 2.4, 2.5, 1e308]}) == ["a", "a", "b", "b"]
    assert model.posterior({"x": math.inf}).matrix.tolist() == [[0.5, 0.5]]


def test_the_chances_of_bins_sum_to_one() -> None:
    for learner in ALL[3:6]:
        model = learner.learn(likely.summarize(table(4), "y", types={"x": "number", "z": "number"}))
        for factor in model.factors:
            assert isinstance(factor, Binned)
            rows = factor.levels.log_table[: len(factor.edges) + 1]
            total = np.exp(rows).sum(axis=0)
            if learner.missing == "level":
                total += np.exp(factor.levels.log_table[-1])
            np.testing.assert_allclose(total, 1, rtol=1e-12)


# -- settings and what is shown ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"numbers": "normal"}, "numbers is 'normal'. It must be one of gaussian, kernel, binned."),
        ({"numbers": {"x": "bins"}}, "numbers of 'x' is 'bins'"),
        ({"bandwidth": "wide"}, "bandwidth is 'wide'. It must be one of silverman, scott, likelihood, or a number"),
        ({"bandwidth": 0}, "bandwidth is '0'"),
        ({"bandwidth": math.inf}, "bandwidth is 'inf'"),
        ({"bandwidth": True}, "bandwidth is 'True'"),
        ({"bins": "equal"}, "bins is 'equal'. It must be one of mdl, width, frequency."),
        ({"bins": {"x": "equal"}}, "bins of 'x' is 'equal'"),
        ({"bins": {"x": []}}, "Give numbers to cut at"),
        ({"bins": {"x": 5}}, "bins of 'x' are '5'"),
        ({"bins": {"x": [1, math.nan]}}, "Give numbers to cut at"),
        ({"bins": {"x": [2, 1]}}, "the edge 1 follows 2. Put the edges in order."),
        ({"bin_count": 1}, "bin_count is '1'. It must be a whole number from 2 to 10000."),
        ({"bin_count": 2.5}, "bin_count is '2.5'"),
        ({"bins_closed": "both"}, "bins_closed is 'both'"),
    ],
)
def test_a_setting_out_of_range_is_refused(setting: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError) as caught:
        NB(**setting)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "error", "words"),
    [
        ({"numbers": {"zz": "kernel"}}, ColumnError, "There is no column 'zz'"),
        ({"numbers": {"n": "kernel"}}, SettingError, "'n', which is not a numeric attribute"),
        ({"bins": {"x": [1]}}, SettingError, "There are bins for 'x', which is gaussian. Say numbers='binned'"),
    ],
)
def test_settings_for_columns_that_do_not_fit(setting: Any, error: type[Exception], words: str) -> None:
    summary = likely.summarize({"x": [1.5, 2.5, 4.5], "n": list("uvu"), "y": list("abb")}, "y")
    with pytest.raises(error) as caught:
        NB(**setting).learn(summary)
    assert words in str(caught.value)


def test_settings_cannot_be_changed_from_outside() -> None:
    kinds, bins = {"x": "binned"}, {"x": [1.0, 2.0]}
    learner = NB(numbers=kinds, bins=bins)
    kinds["x"], bins["x"][0] = "kernel", 9.0
    assert learner.numbers == {"x": "binned"} and learner.bins == {"x": (1.0, 2.0)}


def test_columns_may_differ() -> None:
    summary = likely.summarize(table(5), "y", types={"x": "number", "z": "number"})
    one, two = NB(numbers={"x": "kernel"}).learn(summary).factors
    assert isinstance(one, KernelDensity) and isinstance(two, Gaussian)
    one, two = NB(numbers={"x": "gaussian", "*": "binned"}).learn(summary).factors
    assert isinstance(one, Gaussian) and isinstance(two, Binned)


def test_what_is_shown_of_an_attribute() -> None:
    summary = likely.summarize(table(6), "y", types={"x": "number", "z": "number"})
    page = present_attribute(NB(numbers="kernel").learn(summary), "z")
    assert page.tables[0].title == "A kernel density for each class" and "bandwidth" in page.tables[0].header
    learner = NB(numbers="binned", bins={"z": [4, 8]})
    page = present_attribute(learner.learn(summary), "z", fractions=True)
    (shown,) = page.tables
    assert page.headline == "z: 3 bins" and [r[0] for r in shown.rows] == ["below 4", "4 to below 8", "8 or more"]
    assert shown.header == ("bin", "n(c0)", "n(c1)", "P(bin|c0)", "P(bin|c1)")
    for row in shown.rows:
        assert row[3].startswith(f"{int(row[1]) + 1}/")
    days = {"d": ["2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01"] * 5, "y": list("aabb") * 5}
    page = present_attribute(likely.fit(days, "y", NB(numbers="binned"), types={"d": "date"}), "d")
    assert "2024-02" in page.tables[0].rows[0][0]


# Supervised cuts by minimum description length, against the criterion written out for every cut.


def entropy(counts: np.ndarray) -> float:
    n = counts.sum()
    return -sum(c / n * math.log2(c / n) for c in counts.tolist() if c > 0)


def spelled_out(table: np.ndarray, start: int, stop: int) -> list[int]:
    """Fayyad and Irani's recursion as it stands in the paper."""
    run = table[start:stop]
    whole = run.sum(axis=0)
    found = []
    for cut in range(1, len(run)):
        left, right = run[:cut].sum(axis=0), run[cut:].sum(axis=0)
        if left.sum() > 0 and right.sum() > 0:
            n = whole.sum()
            rest = left.sum() / n * entropy(left) + right.sum() / n * entropy(right)
            found.append((rest, cut, left, right))
    if not found:
        return []
    least = min(found, key=lambda f: f[0])[0]
    rest, cut, left, right = next(f for f in found if f[0] <= least + 1e-12)
    k, k1, k2 = ((c > 0).sum() for c in (whole, left, right))
    n = whole.sum()
    delta = math.log2(3.0 ** int(k) - 2) - (k * entropy(whole) - k1 * entropy(left) - k2 * entropy(right))
    if entropy(whole) - rest <= (math.log2(n - 1) + delta) / n:
        return []
    return [*spelled_out(table, start, start + cut), start + cut, *spelled_out(table, start + cut, stop)]


@given(st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=1, max_size=12))
def test_the_criterion_spelled_out(rows: list[list[int]]) -> None:
    table = np.array(rows, float)
    cuts = mdl_cuts(table)
    assert cuts == sorted(set(cuts)) and all(0 < c < len(rows) for c in cuts)
    expected = spelled_out(table, 0, len(table))
    if cuts != expected:  # two cuts may leave the same entropy but for the last bit
        assert len(cuts) == len(expected)


def test_a_clear_change_is_found_whatever_the_weight() -> None:
    rows = [[20.0, 0.0]] * 10 + [[0.0, 20.0]] * 10
    assert mdl_cuts(np.array(rows)) == [10]
    assert mdl_cuts(np.array(rows) * 1e6) == [10]
    assert mdl_cuts(np.array(rows) * 1e-6) == []  # less than a row in all: nothing is worth a cut


@pytest.mark.parametrize(
    "table", [np.zeros((0, 2)), np.zeros((3, 2)), np.ones((1, 2)), np.ones((4, 1)), np.ones((4, 0))]
)
def test_nothing_to_cut(table: np.ndarray) -> None:
    assert mdl_cuts(table) == []


def test_a_thousand_classes_do_not_overflow() -> None:
    # 3**1000 is no double. By the criterion halving them pays: it saves 1000 bits and costs 595.
    assert 500 in mdl_cuts(np.eye(1000))


def test_figure_c_the_density_with_a_rounded_mean_and_deviation() -> None:
    # The text's formula with its own rounded numbers, beside the kernel that the model uses.
    from likely.models import kernels

    out = np.zeros((1, 1))
    peak, rate = np.array([-math.log(6.2 * math.sqrt(2 * math.pi))]), np.array([math.sqrt(0.5) / 6.2])
    kernels.add_normal(np.array([66.0]), peak, np.array([73.0]), rate, np.array([1e300]), np.zeros(1), out)
    assert math.exp(out[0, 0]) == pytest.approx(0.0340, abs=5e-5)


MOST = float(np.finfo(np.float64).max)


def test_limits_are_finite_whatever_the_spread() -> None:
    for deviation in ([1.0, 2.0], [2.3e-308, 1.0], [2.3e-308, MOST], [MOST, MOST], [1e-200, 1e200, 5.0]):
        limits = limit_distances(np.array(deviation))
        assert np.isfinite(limits).all() and (limits > 0).all()
        z = limits / deviation
        assert math.isfinite(1e6 * float((z * z).max()))
        assert z[int(np.argmax(deviation))] == z.min()
    assert limit_distances(np.empty((0, 3))).shape == (0, 3)


def test_the_root_of_any_fraction() -> None:
    assert root_of(Fraction(2)) == math.sqrt(2)
    assert root_of(Fraction(10) ** 600) == pytest.approx(1e300, rel=1e-15)
    assert root_of(Fraction(1, 10**600)) == pytest.approx(1e-300, rel=1e-15)
    assert 1 / root_of(Fraction(1, 10**700)) < math.inf
    assert root_of(Fraction(10) ** 700) < math.inf


def test_quotients_stay_as_they_were_counted() -> None:
    assert str(Quotient(Fraction(3), Fraction(9))) == "3/9"
    assert str(Quotient(Fraction(5, 2), Fraction(21, 2))) == "5/21"
    assert str(Quotient(Fraction(0.1) + 1, Fraction(7))) == "0.1571"
    assert Quotient(Fraction(0), Fraction(0)).value == 0
    assert as_written(0.3) == Fraction(3, 10) and as_written(1e-300) == Fraction(1e-300)


def test_a_bandwidth_in_units_of_its_column() -> None:
    """f(x | class) = mean of normal densities of this width around the values of the class."""
    rows = {"x": [1.0, 2.0, 4.0, 7.0, 8.0, 8.5], "z": [1.0, 3.0, 2.0, 9.0, 7.0, 8.0], "c": [*"aaabbb"]}
    types = {"x": "number", "z": "number"}
    model = likely.fit(rows, "c", likely.NaiveBayes(numbers="kernel", bandwidth={"x": 0.5}), types=types)
    own = model.factor_of("x").kernels.bandwidth.tolist()  # type: ignore[union-attr]
    assert own == [0.5, 0.5]

    def density(x: float, values: list[float]) -> float:
        each = [math.exp(-(((x - v) / 0.5) ** 2) / 2) / (0.5 * math.sqrt(2 * math.pi)) for v in values]
        return sum(each) / len(each)

    (step,) = (s for s in model.working({"x": 3.0}).steps if s.name == "x")
    for label, values in (("a", rows["x"][:3]), ("b", rows["x"][3:])):
        assert float(step.values[label]) == pytest.approx(density(3.0, values), rel=1e-12)  # type: ignore[arg-type]
    usual = likely.fit(rows, "c", likely.NaiveBayes(numbers="kernel"), types=types)
    other = (m.factor_of("z").kernels.bandwidth.tolist() for m in (model, usual))  # type: ignore[union-attr]
    assert next(other) == next(other)
    for said in ({"x": 0}, {"x": "wide"}):
        with pytest.raises(likely.LikelyError, match="width in its units"):
            likely.NaiveBayes(numbers="kernel", bandwidth=said)
    for settings in ({"bandwidth": {"x": 1.0}}, {"numbers": "kernel", "bandwidth": {"c": 1.0}}):
        with pytest.raises(likely.LikelyError, match=r"is gaussian|not a numeric attribute"):
            likely.fit(rows, "c", likely.NaiveBayes(**settings), types=types)
