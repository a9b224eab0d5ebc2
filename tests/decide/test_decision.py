"""Decisions: the least expected loss against exact fractions, and the laws of losses and priors."""

from __future__ import annotations

import dataclasses
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely import Loss, Posterior
from likely.apply.decide.decider import make_decision
from likely.errors import LikelyError, SettingError

NAMES = ("a", "b", "c")


@st.composite
def posteriors(draw: st.DrawFn) -> Posterior:
    """Rows of log scores: ordinary, nearly tied, far apart, impossible."""
    cell = st.sampled_from([0.0, -1.0, -1e-16, -2e-16, -745.0, -1e6, -np.inf]) | st.floats(-50, 0)
    rows = draw(st.lists(st.tuples(cell, cell, cell), min_size=1, max_size=8))
    return Posterior.of(NAMES, np.array(rows), one=False)


@st.composite
def losses(draw: st.DrawFn) -> Loss:
    actions = draw(st.lists(st.sampled_from(["x", "y", "z", "w"]), min_size=2, max_size=4, unique=True))
    cost = st.integers(-20, 20) | st.fractions(-5, 5, max_denominator=7)
    return Loss({c: {a: draw(cost) for a in actions} for c in NAMES}, draw(st.none() | cost))


@given(posteriors(), losses())
def test_expected_losses_are_those_of_exact_fractions(posterior: Posterior, loss: Loss) -> None:
    found = make_decision(posterior, loss)
    for row in range(len(posterior)):
        if posterior.undefined[row]:
            assert found.codes[row] == -1 and np.isnan(found.margins[row]) and np.isnan(found.expected[row]).all()
            continue
        chances = [F(p) for p in posterior.matrix[row].tolist()]
        exact = [
            sum(p * F(c[a]) for p, c in zip(chances, loss.rows(NAMES), strict=True)) for a in range(len(loss.actions))
        ]
        assert found.expected[row] == pytest.approx([float(e) for e in exact], abs=1e-12)
        best, second = sorted(exact)[:2]
        assert float(exact[found.codes[row]] - best) <= 1e-13  # the best but for rounding
        assert found.margins[row] == pytest.approx(float(second - best), abs=1e-12)


@given(posteriors(), losses(), st.lists(st.integers(-(10**6), 10**6) | st.fractions(-9, 9), min_size=3, max_size=3))
def test_what_all_actions_cost_alike_decides_nothing(posterior: Posterior, loss: Loss, more: list[F]) -> None:
    table = dict(zip(NAMES, loss.rows(NAMES), strict=True))
    if any(isinstance(c, float) for row in table.values() for c in row):
        return
    shifted = Loss(
        {
            name: {action: F(cost) + extra for action, cost in zip(loss.actions, table[name], strict=True)}
            for name, extra in zip(NAMES, more, strict=True)
        }
    )
    one, two = make_decision(posterior, loss), make_decision(posterior, shifted)
    assert one.actions == two.actions
    assert one.codes.tolist() == two.codes.tolist()
    assert np.array_equal(one.margins, two.margins, equal_nan=True)


@given(posteriors())
def test_zero_one_loss_names_the_most_probable_class(posterior: Posterior) -> None:
    found = make_decision(posterior, Loss.zero_one(NAMES))
    assert found.codes.tolist() == posterior.codes.tolist()
    assert likely.decide(posterior, rule="map").codes.tolist() == posterior.codes.tolist()
    assert likely.decide(posterior).action == posterior.best


def test_ties_go_to_the_first_action() -> None:
    even = Posterior.of(("a", "b"), np.zeros((1, 2)))
    assert make_decision(even, Loss({"a": {"y": 1, "x": 0}, "b": {"y": 0, "x": 1}})).action == "y"
    assert make_decision(even, Loss({"a": {"x": 1}, "b": {"y": 1}}, abstain=0.5)).action == "x"
    assert make_decision(even, Loss({"a": {"x": 1}, "b": {"y": 1}}, abstain=0.49)).action == "don't know"


def test_one_row_speaks_for_itself() -> None:
    found = likely.decide(Posterior.of(("a", "b"), np.log([[0.2, 0.8]])), loss={"a": {"go": 9}, "b": {"stay": 1}})
    assert found.action == "stay" and found.reason is None
    assert found.expected_loss("go") == pytest.approx(1.8) and found.expected_loss() == pytest.approx(0.8)
    assert found.margin == pytest.approx(1.0)
    assert "'stay'" in repr(found)
    with pytest.raises(SettingError, match=r"no action 'goo'.*Did you mean 'go'"):
        found.expected_loss("goo")


def test_a_row_without_probabilities_has_no_action_but_a_reason() -> None:
    found = make_decision(Posterior.of(("a", "b"), np.full((1, 2), -np.inf)), Loss.zero_one(("a", "b")))
    assert found.action is None and found.reason == "every class is impossible" and np.isnan(found.margin)
    assert "impossible" in repr(found)


def weather() -> likely.Model:
    table = {"sky": ["sun", "sun", "rain", "rain", "fog"], "play": ["y", "y", "n", "y", "n"]}
    return likely.fit(table, target="play")


def test_no_rows() -> None:
    found = likely.decide(weather(), {"sky": np.array([], object)})
    assert len(found) == 0 and found.action == [] and found.expected.shape == (0, 2)


def test_the_loss_of_the_model_is_used_and_kept(tmp_path) -> None:
    loss = Loss({"n": {"go": "1/3", "stay": 0}, "y": {"stay": 5}}, abstain=2)
    table = {"sky": ["sun", "sun", "rain", "rain"] * 3, "x": [1.5, 2, 3, 4] * 3, "play": ["y", "y", "n", "y"] * 3}
    members = (likely.NaiveBayes(), likely.NaiveBayes(pseudo_count=2))
    learners = [
        likely.NaiveBayes(),
        likely.TreeAugmented(),
        likely.OneDependence(),
        likely.LeastSquares(),
        likely.Logistic(),
        likely.Neighbors(),
        likely.Mixture(members, weights="held-out", parts=2),
        likely.Gibbs(members),
        likely.Prior(),
    ]
    for learner in learners:
        model = likely.fit(table, "play", learner, loss=loss)
        assert model.loss == loss, learner
        model.save(tmp_path / "m.likely")
        back = likely.load(tmp_path / "m.likely")
        assert back.loss == loss and back.loss.actions == loss.actions
        row = {"sky": "rain", "x": 3.0}
        assert likely.decide(back, row).actions == loss.actions
        assert likely.decide(back, row).action == likely.decide(dataclasses.replace(back, loss=None), row, loss).action


def test_files_without_a_loss_have_none(tmp_path) -> None:
    weather().save(tmp_path / "m.likely")
    assert likely.load(tmp_path / "m.likely").loss is None


def test_merging_and_unlearning_keep_the_loss(tmp_path) -> None:
    from likely.apply.fitting import merge_files, unlearn

    loss = Loss({"n": {"go": 1}, "y": {"stay": 5}})
    table = {"sky": ["sun", "rain"] * 2, "play": ["y", "n", "n", "y"]}
    for name in ("a", "b"):
        likely.fit(table, "play", loss=loss).save(tmp_path / f"{name}.likely")
    both = merge_files([tmp_path / "a.likely", tmp_path / "b.likely"])
    assert both.loss == loss
    assert unlearn(both, table).loss == loss


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rule": "best"}, "no rule 'best'"),
        ({"rule": "map", "loss": {"n": {"go": 1}, "y": {"stay": 1}}}, "Leave the loss out"),
        ({"rule": "ml", "prior": {"n": 0.1}}, "it takes no prior"),
        ({"loss": {"n": {"go": 1, "stay": 2}}}, "does not name the class 'y'"),
        ({"training": {"sky": ["sun"]}}, "unlike"),
        ({"unlike": 0}, "unlike is '0'"),
        ({"unlike": float("nan")}, "unlike is"),
        ({"missing_by": "guessed"}, "no way 'guessed'"),
        ({"prior": {"z": 0.5}}, "'z', which is not a class"),
        ({"prior": {"n": -0.1}}, "between 0 and 1"),
        ({"prior": {"n": float("nan")}}, "between 0 and 1"),
        ({"prior": {"n": "dear"}}, "between 0 and 1"),
        ({"prior": {"n": 0.5, "y": 0.4}}, "sums to 0.9, which is 0.1 too little"),
        ({"prior": {"n": 0.7, "y": 0.4}}, "sums to 1.1, which is 0.1 too much"),
        ({"prior": "flat"}, "'flat'"),
    ],
)
def test_bad_settings_are_sentences(settings: dict, words: str) -> None:
    with pytest.raises(LikelyError) as caught:
        likely.decide(weather(), {"sky": "sun"}, **settings)
    assert words in str(caught.value)


def test_a_posterior_alone_knows_no_model() -> None:
    posterior = weather().posterior({"sky": "sun"})
    for settings in ({"prior": {"n": 0.1}}, {"missing_by": "averaged"}, {"unlike": 0.1}, {"rule": "ml"}):
        with pytest.raises(SettingError, match="Give the model"):
            likely.decide(posterior, **settings)  # type: ignore[arg-type]


def test_a_density_has_no_class_to_decide_about() -> None:
    model = likely.fit({"sky": ["sun", "rain"]}, learner=likely.Density())
    with pytest.raises(SettingError, match="density"):
        likely.decide(model, {"sky": "sun"})
