"""The temperature of naive Bayes: every line of the ledger times one number, found on held-out rows."""

from __future__ import annotations

import numpy as np
import pytest

import likely


def powers(probabilities: np.ndarray, temperature: float) -> np.ndarray:
    """P(class)**temperature, normalised for each row."""
    out = probabilities**temperature
    return out / out.sum(axis=1, keepdims=True)


def thrice(rows: int = 400, seed: int = 0) -> dict[str, list]:
    """One attribute, three times."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["p", "q"], rows)
    k = np.where(rng.random(rows) < 0.7, y, rng.choice(["p", "q", "r"], rows)).tolist()
    return {"k": k, "again": k, "once more": k, "x": rng.normal(size=rows).tolist(), "y": y.tolist()}


def test_one_is_the_textbook_and_any_number_is_a_power() -> None:
    table = thrice()
    plain = likely.fit(table, "y", likely.NaiveBayes())
    assert likely.NaiveBayes().temperature == 1.0 and set(plain.powers) == {1.0}
    half = likely.fit(table, "y", likely.NaiveBayes(temperature=0.5))
    rows = [
        {"k": "p", "again": "q", "once more": "r", "x": 0.3},
        {"k": "p", "again": None, "once more": "p", "x": None},
    ]
    want = powers(plain.posterior(rows).matrix, 0.5)
    assert half.posterior(rows).matrix == pytest.approx(want, rel=1e-12)
    (batch,) = half.batches(rows)
    total = half.terms(batch).array
    so_far = total[:, 0]
    for k in range(1, total.shape[1]):
        so_far = so_far + total[:, k]
    assert (so_far == half.log_joint(batch)).all(), "the ledger's lines add up to the score"
    assert total == pytest.approx(0.5 * plain.terms(batch).array)
    assert not half.generative and half.proper


def test_auto_counts_what_is_there_three_times_once(tmp_path) -> None:
    table = thrice()
    model = likely.fit(table, "y", likely.NaiveBayes(temperature="auto"))
    assert model.temperature == pytest.approx(1 / 3, abs=0.08) and "scaled by" in model.notes[0]
    model.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    row = {"k": "p", "again": "p", "once more": "p", "x": 0.1}
    assert again.posterior(row).matrix.tolist() == model.posterior(row).matrix.tolist()
    frozen = likely.fit(table, "y", model.frozen)
    assert frozen.posterior(row).matrix.tolist() == model.posterior(row).matrix.tolist()
    ledger, plain = likely.explain(model, row), likely.explain(likely.fit(table, "y", likely.NaiveBayes()), row)
    for one, other in zip(ledger.entries, plain.entries, strict=True):
        assert one.log_ratio == pytest.approx(model.temperature * other.log_ratio)


def test_auto_is_better_calibrated_out_of_fold() -> None:
    table = thrice(800, 3)
    plain, auto = (likely.look(table, "y", likely.NaiveBayes(temperature=t), folds=4) for t in (1.0, "auto"))
    assert auto.scores.log_loss < 0.8 * plain.scores.log_loss and auto.scores.accuracy == plain.scores.accuracy
    assert auto.trust.calibration[0].error < plain.trust.calibration[0].error
    assert plain.trust.sharpened.temperature == pytest.approx(1 / 3, abs=0.08)
    assert auto.trust.sharpened.temperature == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    "more", [{"numbers": "kernel"}, {"blocks": (("k", "again"),)}, {"attribute_weights": {"k": 0}}]
)
def test_auto_goes_with_other_settings(more: dict) -> None:
    table = thrice(120)
    model = likely.fit(table, "y", likely.NaiveBayes(temperature="auto", **more))
    plain = likely.fit(table, "y", likely.NaiveBayes(**more))
    row = {"k": "p", "again": "q", "once more": "p", "x": 0.1}
    want = powers(plain.posterior(row).matrix, model.temperature)
    assert model.posterior(row).matrix == pytest.approx(want, rel=1e-9)
    assert likely.explain(model, row).additive


def test_few_rows_or_classes_stay_as_they_are() -> None:
    for table in ({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]}, {"x": [1.0, 2.0] * 20, "y": ["a"] * 40}):
        model = likely.fit(table, "y", likely.NaiveBayes(temperature="auto"))
        assert model.temperature == 1.0 and any("evidence is not scaled" in note for note in model.notes)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "warm", None, True])
def test_what_is_no_temperature(value: object) -> None:
    with pytest.raises(likely.LikelyError, match="temperature"):
        likely.NaiveBayes(temperature=value)
