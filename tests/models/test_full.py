"""Full Bayes, LinearDiscriminant and Density: their laws, missing cells, and input that has no answer of its own."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely import Density, FullBayes, LinearDiscriminant
from likely.errors import SettingError
from likely.testing import bits

NUMBERS = {"x": "number", "y": "number", "z": "number", "t": "nominal"}
LEVELS = {"a": "nominal", "b": "nominal", "t": "nominal"}
number = st.sampled_from([1e9, 1e9 + 1e-6, 1.5, -3.0, 0.0, 7.25, 1e300, 1e-200, math.inf, None])
number_rows = st.lists(
    st.fixed_dictionaries(
        {
            "x": number,
            "y": number,
            "z": st.sampled_from([0.0, 1.0, 2.5, None]),
            "t": st.sampled_from(["c", "d"]),
            "w": st.sampled_from([1.0, 2.0, 0.3]),
        }
    ),
    min_size=1,
    max_size=12,
)
level_rows = st.lists(
    st.fixed_dictionaries(
        {
            "a": st.sampled_from(["u", "v", "w", None]),
            "b": st.sampled_from(["0", "1", None]),
            "t": st.sampled_from(["c", "d"]),
            "w": st.sampled_from([1.0, 2.0, 0.3]),
        }
    ),
    min_size=1,
    max_size=12,
)
normal_learners = st.builds(
    FullBayes,
    variance=st.sampled_from(["unbiased", "ml"]),
    variance_floor=st.sampled_from([1e-6, 0.1]),
    shrinkage=st.sampled_from([0.0, 0.5, 1.0, "auto"]),
) | st.builds(
    LinearDiscriminant,
    variance=st.sampled_from(["unbiased", "ml"]),
    shrinkage=st.sampled_from([0.0, 0.5, "auto"]),
)
table_learners = st.builds(
    FullBayes, pseudo_count=st.sampled_from([0, 0.5, 1]), unseen=st.sampled_from(["skip", "reserve"])
)


def columns(table: list[dict[str, Any]], *without: str) -> dict[str, list[Any]]:
    return {name: [row[name] for row in table] for name in sorted(table[0]) if name not in without}


def summarized(table: list[dict[str, Any]], types: dict[str, str]) -> likely.Summary:
    more = ["products"] if "x" in types else ["cells"]
    return likely.summarize(columns(table), "t", types=types, weight="w", more=more)


def check_laws(table: list[dict[str, Any]], types: dict[str, str], learner: Any, folder: Path) -> None:
    summary = summarized(table, types)
    before = bits(summary)
    model = learner.learn(summary)
    asked = columns(table, "t", "w")
    posterior = model.posterior(asked)
    assert not np.isnan(posterior.matrix).any() and not np.isnan(posterior.log_evidence).any()
    assert not np.isposinf(posterior.log_evidence).any()

    # One row is a batch of one.
    for k, row in enumerate(table):
        alone = model.posterior({name: row[name] for name in asked})
        assert alone.matrix.tobytes() == posterior.matrix[k : k + 1].tobytes()
        assert alone.log_evidence[0] == posterior.log_evidence[k]

    # Learning changes nothing, and a file gives the same model back.
    assert bits(summary) == before
    model.save(folder / "m.likely")
    back = likely.load(folder / "m.likely")
    assert back.learner == learner
    assert back.posterior(asked).log_evidence.tobytes() == posterior.log_evidence.tobytes()

    # Two halves make the whole, to the last bit; weight 2 is the row twice.
    half = len(table) // 2
    if half:
        whole = summarized(table[:half], types) + summarized(table[half:], types)
        assert learner.learn(whole).posterior(asked).matrix.tobytes() == posterior.matrix.tobytes()
    twice = learner.learn(summarized([{**row, "w": 2 * row["w"]} for row in table], types))
    doubled = learner.learn(summarized([*table, *table], types))
    assert twice.posterior(asked).matrix.tobytes() == doubled.posterior(asked).matrix.tobytes()

    drawn = model.sample(5, seed=3)
    assert drawn == model.sample(5, seed=3) and len(drawn["t"]) == 5
    assert model.exhibits() is not None


@given(number_rows, normal_learners)
@settings(max_examples=30)
def test_laws_of_normal_densities(tmp_path_factory: Any, table: list[dict[str, Any]], learner: Any) -> None:
    check_laws(table, NUMBERS, learner, tmp_path_factory.mktemp("m"))


@given(level_rows, table_learners)
@settings(max_examples=30)
def test_laws_of_joint_tables(tmp_path_factory: Any, table: list[dict[str, Any]], learner: Any) -> None:
    check_laws(table, LEVELS, learner, tmp_path_factory.mktemp("m"))


# -- the joint table ----------------------------------------------------------------------------------------


@given(level_rows, st.sampled_from([0.5, 1, 3]))
@settings(max_examples=40)
def test_a_joint_table_sums_to_one_over_its_domain(table: list[dict[str, Any]], gamma: float) -> None:
    model = FullBayes(pseudo_count=gamma).learn(summarized(table, LEVELS))
    domain = [labels.names for labels in model.joint.labels]
    cells = [dict(zip(model.joint.names, levels, strict=True)) for levels in itertools.product(*domain)]
    if model.joint.names:
        assert math.fsum(math.exp(model.log_density(cell)) for cell in cells) == pytest.approx(1, rel=1e-12)
    # A missing cell is the sum over its levels, in every class.
    for name, levels in zip(model.joint.names, domain, strict=True):
        others = [n for n in model.joint.names if n != name]
        for cell in cells[:4]:
            part = {n: cell[n] for n in others}
            summed = math.fsum(math.exp(model.log_density({**part, name: level})) for level in levels)
            assert math.exp(model.log_density(part)) == pytest.approx(summed, rel=1e-12)


def test_a_joint_table_of_a_trillion_cells() -> None:
    rng = np.random.default_rng(0)
    data = {f"a{k}": [f"l{v}" for v in rng.permutation(np.arange(200) % 100)] for k in range(6)}
    model = likely.fit({**data, "t": ["c", "d"] * 100}, "t", FullBayes())
    assert model.joint.cells == 10**12
    row = {name: values[0] for name, values in data.items()}
    assert model.predict(row) == "c"
    expected = math.log(0.5) + math.log(2) - math.log(100 + 10**12)
    assert model.posterior(row).log_evidence[0] == pytest.approx(
        np.logaddexp(expected, math.log(0.5) - math.log(100 + 10**12)), rel=1e-12
    )
    assert len(model.sample(20)["a0"]) == 20


def test_more_cells_than_a_double_holds() -> None:
    data = {f"a{k}": ["u", "v", "w"] * 2 for k in range(700)}  # 3**700 is about 1e334
    model = likely.fit({**data, "t": ["c", "c", "c", "d", "d", "d"]}, "t", FullBayes())
    found = model.posterior({f"a{k}": "u" for k in range(700)})
    assert found.log_evidence[0] == pytest.approx(math.log(2) - 700 * math.log(3), rel=1e-12)
    assert math.isfinite(model.log_density({f"a{k}": "u" for k in range(5)}))
    assert model.log_density({"a0": "u"}) == pytest.approx(-math.log(3), rel=1e-9)


def test_rows_that_lack_a_cell_count_in_the_prior_alone() -> None:
    data = {"a": ["u", "v", None, "u"], "b": ["0", "0", "1", None], "t": ["c", "c", "d", "c"]}
    model = likely.fit(data, "t", FullBayes(pseudo_count=1), types=LEVELS)
    assert [str(p) for p in model.prior] == ["3/4", "1/4"]
    assert any("lack a cell" in note for note in model.notes)
    cell = model.posterior({"a": "u", "b": "0"})
    assert cell.log_evidence[0] == pytest.approx(math.log(3 / 4 * 2 / 6 + 1 / 4 * 1 / 4))


def test_levels_that_training_did_not_have() -> None:
    data = {"a": ["u", "u", "v"], "t": ["c", "d", "d"]}
    skip, reserve = (likely.fit(data, "t", FullBayes(unseen=how)) for how in ("skip", "reserve"))
    assert skip.posterior({"a": "new"}).matrix.tolist() == [[pytest.approx(1 / 3), pytest.approx(2 / 3)]]
    assert reserve.log_density({"a": "new"}) == pytest.approx(math.log(1 / 3 * 1 / 4 + 2 / 3 * 1 / 5))
    with pytest.raises(likely.LikelyError, match="new"):
        likely.fit(data, "t", FullBayes(unseen="error")).predict({"a": "new"})


def test_a_nominal_column_without_a_cell_is_left_out() -> None:
    model = likely.fit({"a": ["u", "v"], "b": [None, None], "t": ["c", "d"]}, "t", FullBayes(), types=LEVELS)
    assert model.joint.names == ("a",) and any("'b'" in note for note in model.notes)
    assert model.predict({"a": "v"}) == "d"


# -- the normal density -------------------------------------------------------------------------------------


def fitted(data: dict[str, Any], learner: Any, **more: Any) -> Any:
    types = {name: "number" for name in data if name not in ("t", "w")}
    model = likely.fit(data, "t" if "t" in data else None, learner, types=types, **more)
    return model


def test_one_attribute_is_the_gaussian_of_naive_bayes() -> None:
    data = {"x": [1.0, 2.0, 4.0, 4.0, 9.5, None, 3.0], "t": ["c", "c", "c", "d", "d", "d", "e"]}
    asked = {"x": [0.0, 4.0, None, 100.0]}
    for variance in ("unbiased", "ml"):
        naive = likely.fit(data, "t", likely.NaiveBayes(variance=variance), types={"x": "number"})
        full = fitted(data, FullBayes(variance=variance))
        np.testing.assert_allclose(full.log_density(asked), naive.log_density(asked), rtol=1e-14)


def test_full_shrinkage_is_naive_bayes() -> None:
    rng = np.random.default_rng(5)
    data = {"x": rng.normal(size=40), "y": rng.normal(size=40), "t": ["c", "d"] * 20}
    data["y"] = data["y"] + data["x"]
    asked = {"x": [0.5, None, 1.0], "y": [1.0, 2.0, None]}
    types = {"x": "number", "y": "number"}
    naive, full = likely.fit(data, "t", likely.NaiveBayes(), types=types), fitted(data, FullBayes(shrinkage=1))
    np.testing.assert_allclose(full.log_density(asked), naive.log_density(asked), rtol=1e-13)


def test_exact_where_floats_would_cancel() -> None:
    rng = np.random.default_rng(2)
    base = np.round(rng.normal(size=(50, 2)) * 2**12) / 2**12
    moved = base + 2.0**33
    near, far = (fitted({"x": b[:, 0], "y": b[:, 1], "t": ["c"] * 50}, FullBayes()) for b in (base, moved))
    assert near.joint.correlation.tobytes() == far.joint.correlation.tobytes()
    assert near.joint.deviation.tobytes() == far.joint.deviation.tobytes()


def test_a_normal_density_integrates_to_one() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=30)
    model = fitted({"x": x, "y": x + rng.normal(size=30)}, Density())
    grid = np.linspace(-12, 12, 241)
    xs, ys = np.meshgrid(grid, grid)
    both = np.exp(model.log_density({"x": xs.ravel(), "y": ys.ravel()}))
    assert both.sum() * 0.1**2 == pytest.approx(1, rel=1e-6)
    # What is left when one is integrated out is the density of the other alone.
    left = both.reshape(241, 241).sum(axis=0) * 0.1
    np.testing.assert_allclose(left, np.exp(model.log_density({"x": grid, "y": [None] * 241})), atol=1e-9)


@pytest.mark.parametrize(
    "learner", [FullBayes(), LinearDiscriminant(), FullBayes(shrinkage="auto"), FullBayes(variance="ml")]
)
@pytest.mark.parametrize(
    "data",
    [
        {"x": [1, 2, 3, 4, 5], "y": [2, 4, 6, 8, 10], "t": ["c", "c", "c", "d", "d"]},  # y follows from x
        {"x": [1, 2], "y": [5, 5.5], "t": ["c", "d"]},  # one row in each class
        {"x": [1, 1, 1, 2, 3], "y": [1, 2, 3, 4, 5], "t": ["c", "c", "c", "d", "d"]},  # constant in a class
        {"x": [1, 1, 1], "y": [2, 2, 2], "t": ["c", "d", "d"]},  # constant everywhere
        {"x": [None, None, None], "y": [1, 2, 3], "t": ["c", "d", "d"]},  # no cell at all
        {"x": [1, None, 2, None], "y": [None, 1, None, 2], "t": ["c", "c", "d", "d"]},  # never both
        {"x": [1], "y": [2], "t": ["c"]},
        {f"x{k}": [math.sin(k * r) for r in range(6)] for k in range(20)} | {"t": ["c", "c", "c", "d", "d", "d"]},
        {"x": [1e308, -1e308, 1e300, 5], "y": [1e-308, 5e-324, 0, 1e-300], "t": ["c", "c", "d", "d"]},
    ],
)
def test_bad_input_has_a_defined_result(data: dict[str, list[Any]], learner: Any) -> None:
    model = fitted(data, learner)
    found = model.posterior({name: values for name, values in data.items() if name != "t"})
    assert not np.isnan(found.matrix).any() and not np.isposinf(found.log_evidence).any()
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1)
    model.sample(3)


def test_what_was_special_is_noted() -> None:
    follows = {"x": [1, 2, 3, 4], "y": [2, 4, 6, 8], "t": ["c", "c", "c", "c"]}
    assert any("follow from each other" in n for n in fitted(follows, FullBayes()).notes)
    with pytest.raises(SettingError, match="variance_floor"):
        fitted(follows, FullBayes(variance_floor=0))
    assert any(
        "those of all rows are used" in n for n in fitted({"x": [1, 2, 3], "t": ["c", "c", "d"]}, FullBayes()).notes
    )
    assert any("left out" in n for n in fitted({"x": [1, 1], "y": [1, 2], "t": ["c", "d"]}, LinearDiscriminant()).notes)
    # Each pair of attributes agrees or disagrees perfectly where both are there; no three numbers can do that.
    pairs = {"x": [1, 2, 3, 1, 2, 3, None, None, None], "y": [1, 2, 3, None, None, None, 1, 2, 3]}
    odd = fitted({**pairs, "z": [None, None, None, 1, 2, 3, 3, 2, 1], "t": ["c"] * 9}, FullBayes())
    assert any("contradict" in n for n in odd.notes)
    assert (np.linalg.eigvalsh(odd.joint.correlation[0]) > 0).all()
    assert math.isfinite(odd.log_density({"x": 1, "y": 2, "z": 3}))


@pytest.mark.parametrize(
    "settings",
    [
        {"density": "kernel"},
        {"shrinkage": 1.5},
        {"shrinkage": "some"},
        {"shrinkage": math.nan},
        {"variance_floor": -1},
        {"variance": "n"},
        {"pseudo_count": -1},
        {"unseen": "guess"},
    ],
)
def test_settings_outside_their_range_are_refused(settings: dict[str, Any]) -> None:
    for learner in (FullBayes, Density):
        with pytest.raises(SettingError):
            learner(**settings)


def test_mixed_columns_are_refused_with_the_names_of_others(examples: Path) -> None:
    for learner in (FullBayes(), LinearDiscriminant(), FullBayes(density="normal")):
        with pytest.raises(SettingError, match="NaiveBayes"):
            likely.fit(examples / "weather_mixed.csv", "play", learner)


def test_a_summary_without_the_sums_says_what_to_do(examples: Path) -> None:
    with pytest.raises(SettingError, match="products"):
        FullBayes().learn(likely.summarize(examples / "iris.csv", "species"))
    with pytest.raises(SettingError, match="cells"):
        FullBayes().learn(likely.summarize(examples / "people.csv", "sex"))


def plane_weights(model: likely.Model) -> np.ndarray[Any, Any]:
    """The weights of the plane between two classes, positive where the second is more probable."""
    first, second = model.classes
    return np.array([weight for _, _, weight in model.plane_between(second, first).weights])


def test_the_hyperplane_parts_two_classes_as_the_scores_do() -> None:
    rng = np.random.default_rng(4)
    data = {"x": rng.normal(size=60), "y": rng.normal(size=60), "t": ["c", "d", "d"] * 20}
    data["x"] = data["x"] + (np.array(data["t"]) == "d")
    model = fitted(data, LinearDiscriminant())
    weights, constant = plane_weights(model), model.plane_between("d", "c").constant
    (batch,) = model.batches({"x": data["x"], "y": data["y"]})
    joint = model.log_joint(batch)
    apart = constant + weights[0] * data["x"] + weights[1] * data["y"]
    np.testing.assert_allclose(joint[:, 1] - joint[:, 0], apart, rtol=1e-9, atol=1e-9)
    assert [e.header[0] for e in model.exhibits()] == ["class", "attribute", "attribute"]
    assert "Hyperplane" in model.exhibits()[-1].title


def test_samples_come_home(examples: Path) -> None:
    for learner in (FullBayes(), LinearDiscriminant()):
        model = likely.fit(examples / "iris.csv", "species", learner)
        home = likely.fit(model.sample(20000, seed=1), "species", learner)
        assert home.classes == model.classes
        np.testing.assert_allclose(home.joint.mean, model.joint.mean, atol=0.03)
        np.testing.assert_allclose(home.joint.covariance, model.joint.covariance, atol=0.03)
    table = likely.fit(examples / "people.csv", "sex", FullBayes())
    home = likely.fit(table.sample(40000, seed=1), "sex", FullBayes())
    for row in ({"height": "s", "weight": "l", "long_hair": "y"}, {"height": "t", "weight": "l", "long_hair": "y"}):
        assert home.log_density(row) == pytest.approx(table.log_density(row), abs=0.15)


# -- no target ----------------------------------------------------------------------------------------------


def test_density_takes_what_fits_the_columns(examples: Path) -> None:
    assert likely.fit(examples / "people.csv", learner=Density()).joint.names
    numbers = likely.fit({"x": [1.5, 2, 4], "y": [1, 5, 2.5]}, learner=Density(), types={"x": "number", "y": "number"})
    assert numbers.joint.names == ("x", "y")
    mixed = likely.fit(examples / "weather_mixed.csv", learner=Density())
    assert mixed.classes == ("",) and mixed.generative
    assert mixed.log_density({"outlook": "sunny"}) == pytest.approx(math.log(6 / 17))
    with pytest.raises(SettingError, match="takes no target"):
        likely.fit(examples / "people.csv", "sex", Density())
    with pytest.raises(SettingError, match="NaiveBayes"):
        likely.fit(examples / "weather_mixed.csv", learner=Density(density="normal"))


def test_the_file_of_a_density(examples: Path, tmp_path: Path) -> None:
    for density in ("naive", "table"):
        model = likely.fit(examples / "people.csv", learner=Density(density=density, shrinkage="auto"))
        model.save(tmp_path / "d.likely")
        back = likely.load(tmp_path / "d.likely")
        assert back.learner == model.learner
        assert back.log_density(examples / "people.csv").tolist() == model.log_density(examples / "people.csv").tolist()
        assert "sex" in back.sample(2)


def test_a_classifier_of_all_columns_and_a_density_agree(examples: Path) -> None:
    """P(row) summed over the classes is the joint table with the target as one more column, without smoothing."""
    joint = likely.fit(examples / "people.csv", learner=Density(pseudo_count=0))
    classes = likely.fit(examples / "people.csv", "sex", FullBayes(pseudo_count=0))
    rows = examples / "people.csv"
    table = np.exp(joint.log_density({"height": ["m", "t"], "weight": ["n", "h"], "long_hair": ["n", "n"]}))
    np.testing.assert_allclose(table, [0.2, 0.1])
    assert classes.log_density({"height": "m", "weight": "n", "long_hair": "n"}) == pytest.approx(math.log(0.2))
    assert len(joint.log_density(rows)) == 10


def test_dates_are_numbers_and_are_drawn_as_dates() -> None:
    days = [f"2024-0{1 + k % 9}-{10 + k}" for k in range(18)]
    model = likely.fit(
        {"day": days, "x": [k + 0.5 * (k % 3) for k in range(18)]},
        learner=Density(),
        types={"day": "date", "x": "number"},
    )
    assert model.joint.names == ("day", "x")
    drawn = model.sample(4)
    assert drawn["day"][0].year in range(2023, 2026)
    assert np.isfinite(model.log_density(drawn)).all()


def test_threads_change_nothing(examples: Path) -> None:
    one, two = (likely.fit(examples / "iris.csv", "species", FullBayes(), threads=n) for n in (1, 2))
    assert one.joint.correlation.tobytes() == two.joint.correlation.tobytes()
    assert one.log_density(examples / "iris.csv").tobytes() == two.log_density(examples / "iris.csv").tobytes()


def test_a_given_prior_is_copied_and_checked(examples: Path) -> None:
    given = {"Iris-setosa": 0.5, "Iris-versicolor": 0.25, "Iris-virginica": 0.25}
    for learner in (FullBayes(prior=given), LinearDiscriminant(prior=given)):
        model = likely.fit(examples / "iris.csv", "species", learner)
        assert np.exp(model.log_prior).tolist() == pytest.approx([0.5, 0.25, 0.25])
        assert learner.prior == given and learner.prior is not given
    with pytest.raises(SettingError, match="must be a number"):
        FullBayes(prior={"a": "half"})  # type: ignore[dict-item]


def test_the_terms_of_one_covariance_are_weights_times_distances_from_the_middle() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=300), np.where(rng.random(300) < 0.4, "b", "a")
    z = 0.8 * x + rng.normal(size=300) + (y == "b")
    model = likely.fit({"x": x, "z": z, "y": y}, "y", likely.LinearDiscriminant())
    (batch,) = model.batches({"x": [0.3, 5.0, math.nan], "z": [-1.0, 2.0, 0.5]})
    terms = model.terms(batch)
    assert terms.names == ("prior", "x", "z", "(the rest)")
    weights = plane_weights(model)
    apart = np.array([[0.3, -1.0], [5.0, 2.0]]) - model.joint.mean.mean(axis=0)
    np.testing.assert_allclose((terms.array[:2, 1:3, 1] - terms.array[:2, 1:3, 0]), weights * apart, rtol=1e-12)
    # A cell that is missing says nothing, and the other is weighed as if there were no such attribute.
    alone = plane_weights(likely.fit({"z": z, "y": y}, "y", likely.LinearDiscriminant()))[0]
    assert not terms.array[2, 1].any()
    assert terms.array[2, 2, 1] - terms.array[2, 2, 0] == pytest.approx(alone * (0.5 - model.joint.mean[:, 1].mean()))
    np.testing.assert_allclose(terms.array.sum(axis=1), model.log_joint(batch), rtol=1e-14)
    np.testing.assert_allclose(np.ptp(terms.array[:, -1], axis=1), 0, atol=1e-13)
