"""Settings of naive Bayes: what is refused, in which words, and that nothing can change them afterwards."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely
from likely.errors import ColumnError, SettingError

NB = likely.NaiveBayes
TABLE = {"a": ["u", "v", "v", "u"], "x": [1.5, 2.0, 8.0, 9.5], "t": ["no", "yes", "yes", "yes"]}


@pytest.fixture(scope="module")
def summary() -> likely.Summary:
    return likely.summarize(TABLE, "t")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"pseudo_count": -1}, "pseudo_count is '-1'. It must be a finite number, zero or more."),
        ({"pseudo_count": float("nan")}, "pseudo_count is 'nan'"),
        ({"pseudo_count": "1"}, "pseudo_count is '1'"),
        ({"pseudo_count": None}, "pseudo_count is 'None'"),
        ({"m_estimate": float("inf")}, "m_estimate is 'inf'"),
        ({"prior_pseudo_count": -0.5}, "prior_pseudo_count is"),
        ({"variance_floor": -1e-9}, "variance_floor is"),
        ({"variance": "n"}, "variance is 'n'. It must be one of unbiased, ml."),
        ({"missing": "drop"}, "missing is 'drop'"),
        ({"unseen": None}, "unseen is 'None'"),
        ({"level_weights": {"a": {"u": 1.0}}}, "level_weights need an m_estimate"),
        ({"prior": {"no": "half", "yes": 0.5}}, "In the prior, 'no' has the value 'half'. It must be a number."),
    ],
)
def test_a_setting_out_of_range_is_refused(setting: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError) as caught:
        NB(**setting)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ({"no": 0.5, "yess": 0.5}, "The prior names 'yess', which is not a class. Did you mean 'yes'?"),
        ({"no": 1.0}, "does not say how probable 'yes' is"),
        ({"no": -0.5, "yes": 1.5}, "The prior of 'no' is -0.5. Probabilities lie between 0 and 1."),
        ({"no": 0.5, "yes": 0.6}, "The given prior sums to 1.1, not to 1."),
        ({"no": float("nan"), "yes": 0.6}, "The prior of 'no' is nan"),
        ("even", "There is no prior 'even'. Say 'observed', 'uniform'"),
    ],
)
def test_a_prior_that_is_none_is_refused(summary: likely.Summary, prior: Any, words: str) -> None:
    with pytest.raises(SettingError) as caught:
        NB(prior=prior).learn(summary)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        ({"a": {"u": 0.5, "w": 0.5}}, SettingError, "The level weights of 'a' name 'w'."),
        ({"a": {"u": 0.5, "v": 0.6}}, SettingError, "must sum to 1, not 1.1"),
        ({"a": {"u": -0.5, "v": 1.5}}, SettingError, "must not be negative"),
        ({"a": {"u": 0.5, "v": float("nan")}}, SettingError, "must sum to 1, not nan"),
        ({"a": {}}, SettingError, "must sum to 1, not 0"),
        ({"aa": {"u": 1.0}}, ColumnError, "There is no column 'aa'. Did you mean 'a'?"),
        ({"x": {"u": 1.0}}, SettingError, "level weights for 'x', which is not a nominal attribute"),
    ],
)
def test_level_weights_that_do_not_fit_are_refused(
    summary: likely.Summary, weights: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as caught:
        NB(m_estimate=1, level_weights=weights).learn(summary)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        ("observed", [0.25, 0.75]),
        ("uniform", [0.5, 0.5]),
        ({"yes": 0.9, "no": 0.1}, [0.1, 0.9]),
        ({"yes": 1, "no": 0}, [0.0, 1.0]),
    ],
)
def test_the_prior(summary: likely.Summary, prior: Any, expected: list[float]) -> None:
    model = NB(prior=prior).learn(summary)
    np.testing.assert_allclose(model.posterior({}).matrix, [expected], rtol=1e-15)


def test_a_given_prior_may_name_numbers_and_truth_values() -> None:
    for labels, prior in (([0, 1, 1], {0: 0.25, 1: 0.75}), ([True, False, True], {False: 0.25, True: 0.75})):
        model = likely.fit({"a": list("uvu"), "t": labels}, "t", NB(prior=prior))
        np.testing.assert_allclose(model.posterior({}).matrix, [[0.25, 0.75]], rtol=1e-15)


def test_settings_are_frozen() -> None:
    prior, weights = {"no": 0.5, "yes": 0.5}, {"a": {"u": 1.0}}
    learner = NB(prior=prior, m_estimate=1, level_weights=weights)
    with pytest.raises(dataclasses.FrozenInstanceError):
        learner.pseudo_count = 2  # type: ignore[misc]
    prior["no"], weights["a"]["u"] = 9.0, 9.0
    assert learner.prior == {"no": 0.5, "yes": 0.5} and learner.level_weights == {"a": {"u": 1.0}}


@pytest.mark.parametrize(
    "learner",
    [
        NB(prior={"no": 0.1, "yes": 0.9}),
        NB(m_estimate=2, level_weights={"a": {"u": 1 / 3, "v": 2 / 3}}),
        NB(pseudo_count=np.int64(3), variance_floor=np.float32(0.5), prior_pseudo_count=np.float64(1)),
        NB(missing="level", unseen="error", variance="ml", prior="uniform"),
        NB(unseen="reserve", pseudo_count=1e-300),
    ],
    ids=repr,
)
def test_a_file_keeps_the_settings(summary: likely.Summary, learner: likely.NaiveBayes, tmp_path: Path) -> None:
    model = learner.learn(summary)
    model.save(tmp_path / "m.likely")
    back = likely.load(tmp_path / "m.likely")
    assert back.learner == learner
    asked = {"a": ["u", "v", None], "x": [2.0, None, 7.0]}
    assert back.posterior(asked).matrix.tobytes() == model.posterior(asked).matrix.tobytes()
    assert str(back.working({"a": "u", "x": 3})) == str(model.working({"a": "u", "x": 3}))


def test_a_file_keeps_settings_whatever_the_columns_are_called(tmp_path: Path) -> None:
    learner = NB(m_estimate=2, level_weights={"array": {"u": 0.5, "v": 0.5}})
    model = likely.fit({"array": list("uvv"), "t": list("ppq")}, "t", learner)
    model.save(tmp_path / "m.likely")
    assert likely.load(tmp_path / "m.likely").learner == learner
