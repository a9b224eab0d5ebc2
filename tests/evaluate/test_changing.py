"""What changed from one table to another, how much, and whether chance explains it."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import jensenshannon

import likely
from likely import changes, summarize
from likely.errors import InputError, SettingError
from likely.evaluate.drift.changes import amounts, divergence, homogeneity_test, total_variation, wilcoxon_test

ROWS = 400


def drawn(seed: int, rows: int = ROWS, shift: float = 0.0, widen: float = 1.0, rare: float = 0.1) -> dict[str, list]:
    """Two classes, a level, a number with a heavy tail, a text; `shift` and `widen` change the number."""
    rng = np.random.default_rng(seed)
    play = rng.choice(["no", "yes"], rows, p=[0.4, 0.6])
    sky = np.where(rng.random(rows) < rare, "fog", np.where(rng.random(rows) < 0.5, "sun", "rain"))
    wind = np.exp(widen * rng.normal(size=rows) + shift) + (play == "yes")
    words = [
        " ".join(rng.choice(["a", "b", "c", "d", "e"], 4)) + (" storm" if r < rare else "") for r in rng.random(rows)
    ]
    return {"sky": sky.tolist(), "wind": wind.tolist(), "note": words, "play": play.tolist()}


TYPES = {"note": "text", "sky": "nominal", "wind": "number"}


def both(a: dict[str, list], b: dict[str, list]) -> tuple[likely.Summary, likely.Summary]:
    one = likely.summarize(a, "play", types=TYPES)
    return one, likely.summarize(b, schema=one.schema)


def test_chance_alone_is_called_so_at_the_rate_it_says() -> None:
    found = [changes(*both(drawn(2 * k), drawn(2 * k + 1)), chance=0.05) for k in range(40)]
    alarms = sum(bool(f.significant) or f.p_classes < 0.05 for f in found)
    assert alarms <= 6  # 2 expected; more than 6 has a chance below 1 %


@pytest.mark.parametrize(
    ("change", "names"),
    [({"rare": 0.35}, {"sky", "note"}), ({"shift": 0.4}, {"wind"}), ({"widen": 1.8}, {"wind"})],
)
def test_what_changed_is_found_and_the_rest_is_not(change: dict[str, float], names: set[str]) -> None:
    found = changes(*both(drawn(1), drawn(2, 600, **change)))
    assert {c.name for c in found.significant} == names
    assert found.p_classes > 0.01 and (found.rows_before, found.rows_after) == (400, 600)
    if "sky" in names:
        sky = next(c for c in found.attributes if c.name == "sky")
        assert {m.cell for m in sky.cells[:2]} == {"fog"} and sky.cells[0].after > sky.cells[0].before + 0.1
        note = next(c for c in found.attributes if c.name == "note")
        assert note.cells[0].cell == "with 'storm'" and note.cells[0].surprise > 4


def test_class_shares_alone_change_nothing_given_the_class() -> None:
    a, b = drawn(5, 3000), drawn(6, 3000)
    keep = [k for k, c in enumerate(b["play"]) if c == "yes" or k % 5 == 0]
    found = changes(*both(a, {name: [cells[k] for k in keep] for name, cells in b.items()}))
    assert found.p_classes < 1e-6
    wind = next(c for c in found.attributes if c.name == "wind")
    assert wind.p_given_class > 0.01 and wind.p_overall < 0.01  # it is higher where play is yes


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=8, max_size=60))
def test_ranks_are_wilcoxons(rows: list[tuple[int, bool]]) -> None:
    x, y = [v for v, s in rows if s], [v for v, s in rows if not s]
    values = sorted({v for v, _ in rows})
    one, two = (np.array([[float(side.count(v))] for v in values]) for side in (x, y))
    if not x or not y or len(values) == 1:
        assert wilcoxon_test(one, two) == 1.0
        return
    wanted = stats.mannwhitneyu(x, y, use_continuity=False, method="asymptotic").pvalue
    assert wilcoxon_test(one, two) == pytest.approx(wanted, rel=1e-9)


def test_levels_are_tested_as_pearson_does_where_rows_are_many() -> None:
    one, two = np.array([[500.0, 30], [400, 70], [100, 900]]), np.array([[450.0, 25], [470, 80], [90, 880]])
    pearson = [stats.chi2_contingency([one[:, c], two[:, c]], correction=False).statistic for c in (0, 1)]
    assert homogeneity_test(one, two) == pytest.approx(stats.chi2.sf(sum(pearson), 4), rel=0.01)
    assert total_variation(one[:, :1], two[:, :1]) == pytest.approx(
        np.abs([0.5 - 450 / 1010, 0.4 - 470 / 1010, 0.1 - 90 / 1010]).sum() / 2
    )


def test_means_are_those_of_the_exact_sums() -> None:
    # Sums of doubles would lose all but the size of 1e17.
    a = {"x": [1e17, 1.0, -1e17, 2.0], "play": ["y"] * 4}
    b = {"x": [1e17, 1.0, -1e17, 4.0], "play": ["y"] * 4}
    one = likely.summarize(a, "play", types={"x": "number"})
    (found,) = changes(one, likely.summarize(b, schema=one.schema)).attributes
    assert (found.spreads[0].mean_before, found.spreads[0].mean_after) == (0.75, 1.25)
    values = [Fraction(v) for v in a["x"]]
    mean = sum(values) / 4
    assert found.spreads[0].deviation_before == pytest.approx(float(sum((v - mean) ** 2 for v in values) / 3) ** 0.5)


def test_numbers_at_the_end_of_the_range_have_a_deviation() -> None:
    one = likely.summarize({"x": [1.7e308, -1.7e308, 1.0] * 9, "play": ["y"] * 27}, "play", types={"x": "number"})
    (found,) = changes(one, one + one).attributes
    assert found.spreads[0].deviation_before == pytest.approx(1.7e308 * (2 / 3) ** 0.5, rel=0.05)


def test_rows_that_are_new_are_told_from_those_that_were_there() -> None:
    one, two = both(drawn(1), drawn(2, rare=0.4))
    grown = one + two
    found = changes(one, grown)
    assert found.contained and not changes(one, two).contained
    new = changes(one, grown, grown=True)
    # (The tallies of the difference may be coarser, so p-values of numbers may differ in their last digits.)
    assert new.rows_after == two.rows and not new.contained
    assert {c.name for c in new.significant} == {c.name for c in changes(one, two).significant} == {"sky", "note"}
    with pytest.raises(InputError, match="did not learn on from the first"):
        changes(two, one, grown=True)


def test_odd_columns_classes_and_weights() -> None:
    one = likely.summarize({"a": ["x", "y"] * 20, "n": [1, 2] * 20, "old": ["p", "q"] * 20, "t": ["k", "l"] * 20}, "t")
    two = likely.summarize(
        {"a": ["x", ""] * 20, "n": ["p", "q"] * 20, "new": ["p", "q"] * 20, "t": ["l", "l", "m", "m"] * 10},
        "t",
        types={"a": "nominal"},
    )
    found = changes(one, two)
    assert (found.only_before, found.only_after) == (("old",), ("new",))
    assert [name for name, _ in found.read_differently] == ["n"] or "n" in [c.name for c in found.attributes]
    assert [s.name for s in found.classes] == ["k", "l", "m"] and found.p_classes < 0.01
    (a,) = (c for c in found.attributes if c.name == "a")
    assert a.gone_levels == ("y",) and any(m.cell == "missing" for m in a.cells)
    assert json.loads(found.json())["classes"][2] == {"name": "m", "before": 0.0, "after": 0.5}
    light = {"a": ["x", "y"] * 20, "w": [0.001] * 40, "t": ["k", "l"] * 20}
    heavy = {"a": ["x", "x"] * 20, "w": [0.001] * 40, "t": ["k", "l"] * 20}
    first = likely.summarize(light, "t", weight="w")
    assert changes(first, likely.summarize(heavy, schema=first.schema)).significant  # 40 rows, not 0.04 of one


def test_what_cannot_be_compared_is_refused() -> None:
    one, two = both(drawn(1), drawn(2))
    other = likely.summarize(drawn(1), "sky", types={"note": "text"})
    with pytest.raises(SettingError, match="the target 'play' and the target 'sky'"):
        changes(one, other)
    with pytest.raises(SettingError, match="chance is '2'"):
        changes(one, two, chance=2)
    with pytest.raises(InputError, match="first has no rows"):
        changes(one - one, two)


# How far an attribute moved: against scipy, numpy and exact fractions.


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
