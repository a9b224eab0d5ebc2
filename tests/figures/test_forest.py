"""A forest of one tree with two leaves, worked by hand: shares of a leaf, shrunk towards the prior."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import likely

SKY = {"sky": ["sun"] * 4 + ["rain"] * 6, "play": ["y", "y", "y", "n"] + ["y"] + ["n"] * 5}
"""Of ten days four are played on; of four with sun three, of six with rain one."""


def chance(model: likely.Model, row: dict[str, Any]) -> float:
    return float(model.posterior(row).matrix[0, model.classes.index("y")])


@pytest.mark.parametrize("m", [0.1, 1.0])
def test_one_tree_with_two_leaves(m: float) -> None:
    model = likely.fit(SKY, "play", likely.Forest(trees=1, leaves=2, m_estimate=m))
    # (3 + m 4/10) / (4 + m) with sun, (1 + m 4/10) / (6 + m) with rain: log P(y) is added, and taken off again.
    assert chance(model, {"sky": "sun"}) == pytest.approx((3 + 0.4 * m) / (4 + m), abs=2e-6)
    assert chance(model, {"sky": "rain"}) == pytest.approx((1 + 0.4 * m) / (6 + m), abs=2e-6)
    assert chance(model, {}) == 0.4
    # The evidence of sun: the odds in its leaf over the odds of all days.
    (entry,) = [e for e in likely.explain(model, {"sky": "sun"}, of="y", against="n").entries if e.name == "sky"]
    assert entry.log_ratio == pytest.approx(math.log((3 + 0.4 * m) / (1 + 0.6 * m) / (4 / 6)), abs=4e-6)


def test_logarithms_are_averaged_and_a_number_is_cut_once() -> None:
    """Every cut of 1, 1, 2, 2 parts them alike, so that many trees say what one says; with three classes too."""
    table = {"x": [1.0, 1.0, 1.0, 2.0, 2.0, 2.0], "t": ["a", "a", "b", "b", "c", "c"]}
    for trees in (1, 7):
        model = likely.fit(table, "t", likely.Forest(trees=trees, leaves=2, m_estimate=0.6), types={"x": "number"})
        # A third of 0.6 rows more for each class: 2.2 : 1.2 : 0.2 of 3.6.
        wanted = np.array([2.2, 1.2, 0.2]) / 3.6
        assert model.posterior({"x": 1.0}).matrix[0] == pytest.approx(wanted, abs=1e-5)
        assert model.posterior({"x": 2.0}).matrix[0] == pytest.approx(wanted[::-1], abs=1e-5)
