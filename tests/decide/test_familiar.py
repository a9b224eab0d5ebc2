"""None of these: rows less probable than almost all rows of training, or than rows drawn from the model."""

from __future__ import annotations

import numpy as np
import pytest

import likely
from likely.apply.decide.decider import decider
from likely.apply.decide.familiar import familiar
from likely.errors import InputError, LikelyError, SettingError

RNG = np.random.default_rng(3)
ROWS = 400
TARGET = RNG.choice(["a", "b"], ROWS)
TABLE = {
    "x": (RNG.normal(size=ROWS) + 3 * (TARGET == "b")).tolist(),
    "z": RNG.normal(size=ROWS).tolist(),
    "k": RNG.choice(["u", "v"], ROWS).tolist(),
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
    assert action.count("none of these") <= 0.01 * ROWS
    drawn = likely.decide(model, TABLE, unlike=0.001).action
    assert drawn.count("none of these") <= 0.02 * ROWS


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
