"""Attributes that repeat each other given the class: oracles, the test under chance, and what is reported."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import likely
from likely.evaluate.attributes.redundancy import REPEATED_BY_CHANCE, holm, push, repetition


def counted(a, b, c, shape) -> np.ndarray:
    table = np.zeros(shape)
    np.add.at(table, (a, b, c), 1)
    return table


def test_information_and_statistic_against_their_definitions() -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(0, 9, (3, 4, 2)).astype(float)
    found = repetition(table)
    nats, statistic, total = 0.0, 0.0, table.sum()
    for k in range(2):
        part = table[:, :, k]
        expected = stats.contingency.expected_freq(part)
        statistic += stats.chi2_contingency(part, correction=False).statistic
        some = part > 0
        nats += (part[some] * np.log(part[some] / expected[some])).sum() / total
    assert found.freedom == 12
    assert found.statistic == pytest.approx(statistic)
    assert found.bits == pytest.approx(max(nats - 12 / (2 * total), 0) / math.log(2))


@pytest.mark.parametrize(("rows", "levels", "others", "classes"), [(40, 3, 4, 1), (200, 12, 9, 3), (60, 20, 2, 2)])
def test_p_values_are_even_under_chance_however_empty_the_table(rows, levels, others, classes) -> None:
    rng = np.random.default_rng(1)
    a = np.minimum(rng.geometric(1.5 / levels, rows) - 1, levels - 1)  # some levels are rare
    b, c = rng.integers(0, others, rows), rng.integers(0, classes, rows)
    shape = (levels, others, classes)
    chances = []
    for _ in range(1500):
        shuffled = b.copy()
        for k in range(classes):
            own = np.flatnonzero(c == k)
            shuffled[own] = rng.permutation(shuffled[own])
        chances.append(repetition(counted(a, shuffled, c, shape)).p)
    for wanted in (0.5, 0.1, 0.05):
        assert 0.5 * wanted < np.mean(np.array(chances) < wanted) < 1.25 * wanted
    assert np.mean(np.array(chances) < 0.01) < 0.02


def test_a_chi_square_with_many_rows_is_the_usual_one() -> None:
    table = np.random.default_rng(2).integers(900, 1100, (2, 3, 1)).astype(float)
    assert repetition(table).p == pytest.approx(stats.chi2_contingency(table[:, :, 0]).pvalue, rel=0.02)


def test_a_copy_pushes_the_odds_by_its_own_evidence() -> None:
    table = np.zeros((2, 2, 2))
    table[0, 0], table[1, 1] = (8000, 2000), (2000, 8000)
    found = push(table)
    assert found.bits == pytest.approx(2.0, abs=0.02)  # log2(0.8 / 0.2)
    assert found.gain > 0.05
    told = repetition(table)
    assert told.share == pytest.approx(1, abs=1e-3) and told.bits == pytest.approx(0.7219, abs=1e-3)


def test_what_is_independent_pushes_nothing() -> None:
    rng = np.random.default_rng(3)
    c = rng.integers(0, 2, 5000)
    a, b = (np.where(rng.random(5000) < 0.8, c * 5, 0) + rng.integers(0, 5, 5000) for _ in range(2))
    table = counted(a, b, c, (10, 10, 2))
    assert abs(push(table).bits) < 0.1 and repetition(table).p > 0.001
    assert repetition(table.sum(axis=2, keepdims=True)).p < 1e-9, "without the class they do depend on each other"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2), st.sampled_from([1.0, 0.25, 7.0])),
        max_size=30,
    )
)
def test_any_table_gives_figures(cells) -> None:
    table = np.zeros((4, 3, 3))
    for a, b, c, weight in cells:
        table[a, b, c] += weight
    found, pushed = repetition(table), push(table)
    assert 0 <= found.p <= 1 and 0 <= found.share <= 1 and found.bits >= 0
    assert math.isfinite(pushed.bits) and math.isfinite(pushed.gain)
    turned = repetition(table.transpose(1, 0, 2))
    assert turned.bits == pytest.approx(found.bits, abs=1e-9) and turned.p == pytest.approx(found.p)


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_is_between_the_plain_value_and_bonferroni(chances) -> None:
    corrected = holm(chances)
    for plain, found in zip(chances, corrected, strict=True):
        assert plain <= found <= min(1.0, len(chances) * plain) + 1e-12
    order = sorted(range(len(chances)), key=lambda k: chances[k])
    assert all(corrected[a] <= corrected[b] for a, b in pairwise(order))


# -- what look and repeats make of it -------------------------------------------------------------------------


def classed(rng, y, right, levels):
    """An attribute that has the class's own level with chance `right`, independent of all else given the class."""
    own = np.array([levels[int(c)] for c in y])
    return np.where(rng.random(len(y)) < right, own, rng.choice(levels, len(y)))


@pytest.fixture
def honest():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 3000)
    data = {f"a{k}": classed(rng, y, 0.6, ["u", "v", "w"]) for k in range(6)}
    return {**data, "x": rng.normal(size=3000) + y, "y": np.where(y, "yes", "no")}


def matters(record) -> set[frozenset[str]]:
    return {frozenset((p.one, p.other)) for p in record.redundant if p.matters}


def test_attributes_that_only_the_class_binds_are_not_reported(honest) -> None:
    record = likely.look(honest, "y", likely.NaiveBayes())
    assert len(record.redundant) == 21
    assert not matters(record) and "redundant" not in "\n".join(record.warnings)
    assert sum(p.p_of_all < REPEATED_BY_CHANCE for p in record.redundant) == 0


def test_a_copy_and_a_noisy_copy_are_reported(honest) -> None:
    rng = np.random.default_rng(1)
    noisy = np.where(rng.random(3000) < 0.85, honest["a1"], rng.choice(["u", "v", "w"], 3000))
    record = likely.look(
        {**honest, "copy": [f"is {v}" for v in honest["a0"]], "noisy": noisy, "x2": honest["x"] * 3 + 1},
        "y",
        likely.NaiveBayes(),
    )
    assert matters(record) == {frozenset(("a0", "copy")), frozenset(("a1", "noisy")), frozenset(("x", "x2"))}
    words = "\n".join(record.warnings)
    assert "depend on each other given 'y'" in words and "p < 0.001" in words and "misstates the odds" in words
    # The other learners, and those who join them, do not count twice.
    assert "repeat" not in "\n".join(
        likely.look({"a": honest["a0"], "b": honest["a0"], "y": honest["y"]}, "y", likely.TreeAugmented()).warnings
    )
    told = likely.look(
        {"a": honest["a0"], "b": honest["a0"], "y": honest["y"]}, "y", likely.NaiveBayes(blocks=(("a", "b"),))
    )
    assert "repeat" not in "\n".join(told.warnings)


def test_a_copy_of_a_number_with_noise_is_found_in_few_rows() -> None:
    # In as many bins as `look` shows of a number, 500 rows leave cells too empty to tell.
    rng = np.random.default_rng(3)
    y = rng.random(500) < 0.4
    celsius = rng.normal(37.2 + y, 0.6)
    data = {"celsius": celsius, "fahrenheit": celsius * 1.8 + 32 + rng.normal(0, 0.2, 500), "y": np.where(y, "y", "n")}
    (pair,) = likely.look(data, "y", likely.NaiveBayes()).redundant
    own = (celsius - 37.7) / 0.6**2  # log of the ratio of the two normal densities
    assert pair.matters and 0.5 < pair.push / (np.abs(own).mean() / math.log(2)) < 1.05


def test_a_copy_that_says_nothing_of_the_class_is_not_worth_a_word(honest) -> None:
    rng = np.random.default_rng(2)
    noise = rng.choice(["p", "q"], 3000)
    record = likely.look({**honest, "n1": noise, "n2": noise}, "y", likely.NaiveBayes())
    (pair,) = [p for p in record.redundant if {p.one, p.other} == {"n1", "n2"}]
    assert pair.p_of_all < 1e-9 and pair.share > 0.9 and not pair.matters


def test_false_alarms_among_many_pairs_are_rare() -> None:
    alarms = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, 400)
        data = {f"a{k}": classed(rng, y, 0.5, list("uvwxz")) for k in range(12)}
        record = likely.look({**data, "y": [f"c{v}" for v in y]}, "y", likely.NaiveBayes(), folds=2)
        alarms += any(p.p_of_all < REPEATED_BY_CHANCE for p in record.redundant)
    assert alarms <= 2  # 66 pairs each time; one table in a hundred is expected to raise any


def test_json_carries_every_pair(honest) -> None:
    record = json.loads(likely.look(honest, "y", likely.NaiveBayes()).json())
    assert len(record["redundant"]) == 21
    keys = {"one", "other", "bits", "share", "p", "p_of_all", "push", "gain", "matters", "rows", "same"}
    assert keys == record["redundant"][0].keys()


def test_repeats_works_out_what_would_change(honest) -> None:
    data = {**honest, "copy": honest["a0"], "copy2": honest["a0"]}
    found = likely.repeats(data, "y", most=1)
    assert len(found.pairs) == 36 and len(found.counted) == 1
    (one,) = found.counted
    assert {one.pair.one, one.pair.other} <= {"a0", "copy", "copy2"}
    assert {c.without for c in one.changes} == {None, one.pair.one, one.pair.other}
    assert all(c.scores is not None and c.scores.log_loss < found.scores.log_loss for c in one.changes)
    # As cross-validation gives it where the column is ignored, or the block is asked for.
    for change in one.changes:
        if change.joined:
            wanted = likely.look(data, "y", likely.NaiveBayes(blocks=((one.pair.one, one.pair.other),)))
        else:
            wanted = likely.look(data, "y", likely.NaiveBayes(), types={change.without: "ignore"})
        assert change.scores == wanted.scores


def test_repeats_of_numbers_and_of_mixed_pairs(honest) -> None:
    found = likely.repeats({**honest, "x2": honest["x"] + 1e-3, "s": np.where(honest["x"] > 0.5, "big", "small")}, "y")
    by = {frozenset((c.pair.one, c.pair.other)): c for c in found.counted}
    numbers = by[frozenset(("x", "x2"))]
    assert all(c.scores is not None for c in numbers.changes)
    (mixed,) = [c for c in by[frozenset(("x", "s"))].changes if c.joined]
    assert mixed.scores is None and "either levels or numbers" in mixed.refused


def test_what_repeats_refuses(honest) -> None:
    with pytest.raises(likely.LikelyError, match="Logistic does not assume independent attributes"):
        likely.repeats(honest, "y", likely.Logistic())
    with pytest.raises(likely.LikelyError, match="most is"):
        likely.repeats(honest, "y", most=-1)
    with pytest.raises(likely.LikelyError, match="Did you mean 'y'"):
        likely.repeats(honest, "Y")
