"""How far an attribute moved: against scipy, numpy and exact fractions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from likely import changes, summarize
from likely.evaluate.drift.changes import amounts, divergence

TALLY = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), min_size=1, max_size=8)


@given(TALLY)
@settings(max_examples=100, deadline=None)
def test_divergence_is_scipys_less_what_chance_gives(rows: list[tuple[int, int]]) -> None:
    one, two = (np.array([r[k] for r in rows], np.float64) for k in (0, 1))
    if not one.sum() or not two.sum():
        assert divergence(one, two) == 0
        return
    raw = jensenshannon(one / one.sum(), two / two.sum(), base=2) ** 2
    cells = np.count_nonzero(one + two)
    allowed = (cells - 1) * (1 / one.sum() + 1 / two.sum()) / (8 * np.log(2))
    assert divergence(one, two) == pytest.approx(max(np.nan_to_num(raw) - allowed, 0.0), abs=1e-9)
    assert divergence(one, two) == pytest.approx(divergence(two, one))


def test_what_chance_gives_in_the_mean() -> None:
    rng = np.random.default_rng(0)
    p = np.array([0.4, 0.3, 0.2, 0.1])
    raw = []
    for _ in range(400):
        a, b = rng.multinomial(300, p), rng.multinomial(900, p)
        raw.append(jensenshannon(a / 300, b / 900, base=2) ** 2)
    assert np.mean(raw) == pytest.approx(3 * (1 / 300 + 1 / 900) / (8 * np.log(2)), rel=0.15)


def test_amounts_of_levels_numbers_and_texts() -> None:
    rng = np.random.default_rng(1)

    def table(rows: int, later: bool) -> dict[str, object]:
        number = rng.normal(2 + later, 1 + later, rows)
        text = [f"some words of row number {k}" + (" and more of them" if later and k % 2 else "") for k in range(rows)]
        gone = rng.random(rows) < (0.4 if later else 0.1)
        return {
            "level": rng.choice(["a", "b"], rows, p=[0.2, 0.8] if later else [0.8, 0.2]),
            "number": [None if g else x for g, x in zip(gone, number.tolist(), strict=True)],
            "text": [None if later and k % 5 == 0 else t for k, t in enumerate(text)],
            "same": rng.choice(["u", "v"], rows),
        }

    before, after = table(500, False), table(700, True)
    one = summarize(before, types={"text": "text"})
    two = summarize(after, schema=one.schema)
    found = {a.name: a for a in amounts(one, two, changes(one, two).attributes)}
    x, y = (np.array([v for v in t["number"] if v is not None]) for t in (before, after))  # type: ignore[attr-defined]
    number = found["number"]
    assert number.mean_before == pytest.approx(x.mean()) and number.deviation_after == pytest.approx(y.std(ddof=1))
    assert number.shift == pytest.approx((y.mean() - x.mean()) / x.std(ddof=1))
    assert number.missing_before == pytest.approx(1 - len(x) / 500) and number.p_missing < 1e-9
    assert found["text"].missing_after == pytest.approx(0.2) and found["text"].p_missing < 1e-9
    assert found["text"].bits == pytest.approx(0.31, abs=0.03) and found["level"].bits == pytest.approx(0.28, abs=0.06)
    assert found["same"].bits < 0.01 and found["same"].p_missing == 1 and found["same"].shift is None


def test_coarse_tallies_and_weights() -> None:
    rng = np.random.default_rng(1)
    one = summarize({"x": rng.normal(size=5000), "w": np.full(5000, 0.01)}, weight="w")
    two = summarize({"x": rng.normal(1, 1, size=4000), "w": np.full(4000, 0.01)}, schema=one.schema)
    (found,) = amounts(one, two, changes(one, two).attributes)
    assert found.shift == pytest.approx(1, abs=0.1) and 0.1 < found.bits < 0.2
