"""Decisions: of a row, of a table, and of rows that are unlike those of training."""

from __future__ import annotations

import csv
import dataclasses
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely import Loss, Posterior
from likely.apply.decide.decider import decide_table, decider, make_decision
from likely.apply.decide.familiar import familiar
from likely.errors import ColumnError, InputError, LikelyError, SettingError
from likely.intake.reading import Reading

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


# Decisions about whole tables: streamed in several batches, the same as row by row; a file appears whole or not.


LOSS = {"no [red]": {'go "out"': 5}, "yes, é": {"stay=home": 1}}
RNG = np.random.default_rng(2)
ROWS = 1000


@pytest.fixture(scope="module")
def table() -> dict:
    target = RNG.choice(list(LOSS), ROWS)
    return {
        "sky": np.where(RNG.random(ROWS) < 0.6, target, "fog").tolist(),
        "x": [None if k % 11 == 0 else float(v) for k, v in enumerate(RNG.normal(size=ROWS))],
        "play": target.tolist(),
    }


def test_batches_of_parquet_give_what_rows_give(table: dict, tmp_path: Path) -> None:
    model = likely.fit(table, "play", likely.NaiveBayes(), loss=LOSS)
    pq.write_table(pa.table(table), tmp_path / "rows.parquet", row_group_size=64)
    settings = {"prior": {"no [red]": 0.3}, "missing_by": "averaged", "unlike": 0.01, "training": table}
    how = decider(model, **settings)
    seen: list[int] = []
    done = decide_table(how, str(tmp_path / "rows.parquet"), str(tmp_path / "out.csv"), Reading(progress=seen.append))
    whole = likely.decide(model, table, **settings)
    with open(tmp_path / "out.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert done.rows == len(rows) == ROWS
    assert list(rows[0]) == ["action", 'loss(go "out")', "loss(stay=home)", "margin", "reason"]
    assert [r["action"] for r in rows] == whole.action
    assert [float(r["margin"]) for r in rows] == whole.margin.tolist()
    assert [float(r['loss(go "out")']) for r in rows] == whole.expected_loss('go "out"').tolist()
    assert done.strange == sum(r["reason"] == "unlike the training rows" for r in rows) > 0
    assert sum(done.chosen.values()) + done.strange == ROWS
    handed: list[int] = []
    decide_table(how, table, None, each=lambda d: handed.append(len(d)))
    assert sum(handed) == ROWS


def test_rows_without_an_action_are_empty_cells_with_a_reason(tmp_path: Path) -> None:
    table = {"k": ["u", "v"] * 5, "j": ["s", "t"] * 5, "y": ["a", "b"] * 5}
    how = decider(likely.fit(table, "y", likely.NaiveBayes(pseudo_count=0)))
    done = decide_table(how, {"k": ["u", "u"], "j": ["s", "t"]}, str(tmp_path / "out.csv"), keep=True)
    assert (tmp_path / "out.csv").read_text() == (
        "k,j,action,loss(a),loss(b),margin,reason\nu,s,a,0,1,1,\nu,t,,,,,every class is impossible\n"
    )
    assert done.undecided == 1 and "every class is impossible" in done.remarks[-1]
    decide_table(how, {"k": ["u", "u"], "j": ["s", "t"]}, str(tmp_path / "out.parquet"))
    assert pq.read_table(tmp_path / "out.parquet")["action"].to_pylist() == ["a", None]


def test_no_rows_are_a_header_alone(tmp_path: Path) -> None:
    how = decider(likely.fit({"k": ["u", "v"] * 5, "y": ["a", "b"] * 5}, "y"))
    (tmp_path / "none.csv").write_text("k\n")
    done = decide_table(how, str(tmp_path / "none.csv"), str(tmp_path / "out.csv"))
    assert done.rows == 0 and (tmp_path / "out.csv").read_text() == "action,loss(a),loss(b),margin,reason\n"


def test_kept_columns_must_not_be_hidden(tmp_path: Path) -> None:
    how = decider(likely.fit({"k": ["u", "v"] * 5, "y": ["a", "b"] * 5}, "y"))
    with pytest.raises(ColumnError, match="already has a column 'margin'"):
        decide_table(how, {"k": ["u"], "margin": [1]}, str(tmp_path / "out.csv"), keep=True)
    assert not (tmp_path / "out.csv").exists()


def test_scores_that_are_no_probabilities_are_told(table: dict, tmp_path: Path) -> None:
    how = decider(likely.fit(table, "play", likely.LeastSquares()), LOSS)
    assert any("not probabilities" in r for r in decide_table(how, table, str(tmp_path / "o.csv")).remarks)


# None of these: rows less probable than almost all rows of training, or than rows drawn from the model.


DRAWN = np.random.default_rng(3)
MANY = 400
TARGET = DRAWN.choice(["a", "b"], MANY)
TABLE = {
    "x": (DRAWN.normal(size=MANY) + 3 * (TARGET == "b")).tolist(),
    "z": DRAWN.normal(size=MANY).tolist(),
    "k": DRAWN.choice(["u", "v"], MANY).tolist(),
    "y": TARGET.tolist(),
}


@pytest.fixture(scope="module")
def model() -> likely.Model:
    return likely.fit(TABLE, "y", likely.NaiveBayes())


@pytest.mark.parametrize("share", [0.0025, 0.05, 0.5])
def test_against_training_rows_it_is_the_share_that_is_as_improbable(model: likely.Model, share: float) -> None:
    known = model.log_density(TABLE)
    probes = {"x": np.linspace(-9, 12, 200).tolist(), "z": [0.5] * 200, "k": ["u"] * 200}
    found = likely.decide(model, probes, unlike=share, training=TABLE)
    density = model.log_density(probes)
    as_improbable = (known[None, :] <= density[:, None]).mean(axis=1)
    assert [a == "none of these" for a in found.action] == (as_improbable < share).tolist()
    told = [r for r in found.reason if r is not None]
    assert told and set(told) == {"unlike the training rows"}
    assert not np.isnan(found.expected).any()  # what actions would cost is still told


def test_of_training_itself_hardly_any_row_is_strange(model: likely.Model) -> None:
    action = likely.decide(model, TABLE, unlike=0.01, training=TABLE).action
    assert action.count("none of these") <= 0.01 * MANY
    drawn = likely.decide(model, TABLE, unlike=0.001).action
    assert drawn.count("none of these") <= 0.02 * MANY


def test_a_row_that_lacks_cells_is_compared_with_rows_without_them(model: likely.Model) -> None:
    # x alone is common; with z out of the way nothing is strange, and a strange z stays strange without x.
    assert likely.decide(model, {"x": 0.0}, unlike=0.01, training=TABLE).action != "none of these"
    assert likely.decide(model, {"z": 30.0}, unlike=0.01, training=TABLE).action == "none of these"
    assert likely.decide(model, {}, unlike=0.5, training=TABLE).action != "none of these"
    # Compared with whole rows, whose densities have more factors, a short row would never be strange.
    everything = model.log_density({n: c for n, c in TABLE.items() if n != "y"})
    assert model.log_density({"k": "u"}) > np.quantile(everything, 0.99)


def test_impossible_rows_are_none_of_these() -> None:
    table = {"k": ["u", "v"] * 10, "j": ["s", "t"] * 10, "y": ["a", "b"] * 10}
    model = likely.fit(table, "y", likely.NaiveBayes(pseudo_count=0))
    row = {"k": "u", "j": "t"}
    assert likely.decide(model, row).action is None
    assert likely.decide(model, row, unlike=0.01).action == "none of these"
    assert likely.decide(model, row, unlike=0.01, training=table).action == "none of these"


def test_averaging_does_not_change_what_is_strange(model: likely.Model) -> None:
    probes = {"x": [None, 0.0, 50.0, None], "z": [30.0, None, None, 0.0], "k": ["u", None, "v", "w"]}
    plain = likely.decide(model, probes, unlike=0.01, training=TABLE).action
    averaged = likely.decide(model, probes, unlike=0.01, training=TABLE, missing_by="averaged").action
    assert (
        [a == "none of these" for a in plain] == [a == "none of these" for a in averaged] == [True, False, True, False]
    )


@pytest.mark.parametrize(
    "learner",
    [
        likely.TreeAugmented(),
        likely.OneDependence(),
        likely.NaiveBayes(missing="level"),
        likely.NaiveBayes(unseen="reserve"),
    ],
)
def test_every_model_of_rows_can_tell(learner) -> None:
    model = likely.fit(TABLE, "y", learner)
    for training in (None, TABLE):
        found = likely.decide(model, {"x": 0.0, "z": 0.0, "k": "u"}, unlike=0.001, training=training)
        assert found.action in ("a", "b")
    if getattr(learner, "unseen", "") == "reserve":
        assert (
            likely.decide(model, {"x": 0.0, "z": 0.0, "k": "new"}, unlike=0.01, training=TABLE).action
            == "none of these"
        )


def test_it_says_what_rows_were_compared_with(model: likely.Model) -> None:
    drawn = decider(model, unlike=0.001).notes
    assert "drawn from the model (seed 0)" in drawn[0] and "0.1 %" in drawn[0]
    assert "400 rows of training" in decider(model, unlike=0.001, training=TABLE).notes[0]


def test_many_training_rows_are_thinned_by_their_numbers(model: likely.Model) -> None:
    found = familiar(model, 0.01, TABLE, most=100)
    assert found.reference.rows == 100 and "every 4th of 400 rows" in found.told
    assert found.reference.cells["x"].tolist() == TABLE["x"][::4]


def test_weights_count(model: likely.Model) -> None:
    table = {"x": [0.0, 1.0, 2.0, 3.0, 50.0], "w": [1, 1, 1, 1, 96], "y": ["a", "b", "a", "b", "a"]}
    weighed = likely.fit(table, "y", likely.NaiveBayes(), weight="w", types={"x": "number"})
    # Nearly all weight lies at 50, so that 0 is unlike nearly everything, though four of five rows are near it.
    assert likely.decide(weighed, {"x": 0.0}, unlike=0.05, training=table).action == "none of these"
    assert likely.decide(weighed, {"x": 50.0}, unlike=0.05, training=table).action == "a"


def test_what_has_no_density_is_refused(model: likely.Model) -> None:
    logistic = likely.fit(TABLE, "y", likely.Logistic())
    with pytest.raises(SettingError, match=r"not P\(row\)"):
        likely.decide(logistic, {"x": 0.0}, unlike=0.01)
    with pytest.raises(InputError, match="no row"):
        likely.decide(model, {"x": 0.0}, unlike=0.01, training={"x": [1.0], "y": [None]})
    with pytest.raises(LikelyError, match="none of the attributes"):
        likely.decide(model, {"x": 0.0}, unlike=0.01, training={"q": [1.0]})
