"""How far each attribute moves the answers: the mean of the ledger's own lines, whatever the learner."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely
from likely.sklearn import AutoClassifier, NaiveBayesClassifier
from tests.explain.test_folding import board


def mean_evidence(model: likely.Model, table: dict[str, list[Any]]) -> dict[str, float]:
    """By explaining every row, whole as it is: how far each line moves the two classes that it moves most."""
    names = [name for name in table if name != "t"]
    out = dict.fromkeys(names, 0.0)
    count = len(table["t"])
    for k in range(count):
        ledger = likely.explain(model, {name: table[name][k] for name in names})
        for entry in ledger.entries:
            if entry.name:
                logs = [*entry.log_values.values()]
                out[entry.name] += (max(logs) - min(logs)) / count
    return out


LEARNERS: dict[str, Any] = {
    "default": None,
    "boosting": likely.Additive(order=3),
    "naive": likely.NaiveBayes(),
    "logistic": likely.Logistic(),
    "pool": likely.Pool((likely.Additive(order=2), likely.NaiveBayes(blocks=(("side", "sky"),)))),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("classes", [2, 3])
def test_it_is_the_mean_of_the_lines_over_rows(name: str, classes: int) -> None:
    table = board(150)
    if classes == 3:
        table["t"] = [c if s != "k2" else "c2" for c, s in zip(table["t"], table["sky"], strict=True)]
    model = likely.fit(table, "t", LEARNERS[name])
    found = likely.evaluate.attributes.information.find_importances(model)  # type: ignore[attr-defined]
    assert found == pytest.approx(mean_evidence(model, table), rel=1e-9, abs=1e-9)
    assert max(found, key=found.__getitem__) != "sky" or classes == 3


def test_strong_evidence_counts_as_it_is() -> None:
    """An identifier in blocks moves odds by thousands of bits; no cap hides that."""
    table = {"id": [k / 2 + 300 * (k % 2) for k in range(120)], "t": ["ab"[k % 2] for k in range(120)]}
    model = likely.fit(table, "t", likely.NaiveBayes())
    found = likely.evaluate.attributes.information.find_importances(model)  # type: ignore[attr-defined]
    assert found["id"] == pytest.approx(mean_evidence(model, table)["id"]) and found["id"] > 60 * math.log(2)


def test_it_is_kept_in_the_file(tmp_path: Path) -> None:
    model = likely.fit(board(150), "t")
    model.save(tmp_path / "m.likely")
    assert model.importance and likely.load(tmp_path / "m.likely").importance == model.importance


def test_a_look_is_headed_by_what_the_model_goes_by() -> None:
    """What only speaks together tells nothing by itself, yet decides."""
    found = likely.look(board(), "t")
    assert found.model is not None
    order = [a["name"] for a in found.attributes]
    assert order == sorted(order, key=lambda n: -found.model.importance.each[n])  # type: ignore[union-attr]
    first = found.attributes[0]
    assert first["name"] != "sky" and first["share"] < 0.02
    assert first["importance"] == pytest.approx(found.model.importance.each[first["name"]] / math.log(2))


@pytest.mark.parametrize("estimator", [AutoClassifier(), NaiveBayesClassifier()])
def test_scikit_learn_asks_for_shares(estimator: Any) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = (X[:, 1] > 0).astype(int)
    shares = estimator.fit(X, y).feature_importances_
    assert shares.sum() == pytest.approx(1) and shares.argmax() == 1 and shares[1] > 0.7
