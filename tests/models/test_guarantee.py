"""What held-out rows say of answers: Venn-Abers and conformal sets, beside their definitions in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely.errors import SettingError
from likely.models.shapes import guarantee
from likely.models.shapes.guarantee import Guarantee, gap_counts, gaps_of, intervals_by_gap, sets_by_gap

ROWS = st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=14)


def isotonic(points, at):
    """The value at a place of the isotonic regression of (place, outcome), by its max-min formula."""
    places = sorted({place for place, _ in points})

    def mean(low, high):
        some = [Fraction(outcome) for place, outcome in points if low <= place <= high]
        return sum(some) / len(some)

    return max(min(mean(low, high) for high in places if high >= at) for low in places if low <= at)


@given(rows=ROWS, at=st.integers(-1, 26))
@settings(max_examples=150, deadline=None)
def test_venn_abers_is_isotonic_regression_with_the_new_row(rows, at) -> None:
    # A new row may stand at a place of held-out rows (even), between or beyond.
    said = np.array([place / 16 + 1 / 32 for place, _ in rows])
    truth = np.array([int(hit) for _, hit in rows])
    found = Guarantee.of(np.stack([1 - said, said], axis=1), truth, np.ones(len(rows)))
    new = at / 32 + 1 / 32
    both = np.array([[1 - new, new]])
    points = [(2 * place, hit) for place, hit in rows]
    none, one = (isotonic([*points, (at, label)], at) for label in (False, True))
    low, high = found.intervals(both, 1e-12)  # of no level, Wilson's bounds are the shares themselves
    assert low[0, 1] == pytest.approx(float(none), abs=1e-9) and high[0, 1] == pytest.approx(float(one), abs=1e-9)
    wider = found.intervals(both, 0.9)
    assert wider[0][0, 1] <= low[0, 1] and high[0, 1] <= wider[1][0, 1] and 0 <= wider[0].min() <= wider[1].max() <= 1


def test_bounds_of_none_and_all() -> None:
    said = np.linspace(0.01, 0.99, 60)
    truth = (said > 0.5).astype(int)
    low, high = Guarantee.of(np.stack([1 - said, said], axis=1), truth, np.ones(60)).intervals(
        np.array([[0.9, 0.1], [0.1, 0.9]]), 0.95
    )
    assert low[0, 1] == 0 and high[1, 1] == 1  # no lower than none, no higher than all
    assert 0 < high[0, 1] < 0.25 and 0.75 < low[1, 1] < 1  # 30 rows leave room


def few_rows(rng, count, classes):
    said = rng.dirichlet(np.ones(classes), count)
    return said, np.array([rng.choice(classes, p=own) for own in said])


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
def test_limits_are_those_of_the_definition(level, monkeypatch) -> None:
    monkeypatch.setattr(guarantee, "LEAST_MISSED", 0.0)
    rng = np.random.default_rng(3)
    said, truth = few_rows(rng, 300, 3)
    limits = Guarantee.of(said, truth, np.ones(300)).limits(level)
    for k in range(3):
        own = np.sort(said[truth == k, k])[::-1]
        wanted = int(np.ceil(Fraction(str(level)) * (len(own) + 1)))
        expected = own[wanted - 1] if wanted <= len(own) else 0.0
        assert limits[k] == pytest.approx(expected, abs=1e-9) and limits[k] <= expected


def test_classes_with_few_rows_have_a_limit_together() -> None:
    rng = np.random.default_rng(4)
    said, truth = few_rows(rng, 400, 4)
    limits = Guarantee.of(said, truth, np.ones(400)).limits(0.99)  # some 100 rows each: one of 100 may be missed
    own = np.sort(said[np.arange(400), truth])[::-1]
    assert len(set(limits)) == 1 and limits[0] == pytest.approx(own[int(np.ceil(0.99 * 401)) - 1], abs=1e-9)
    nothing = Guarantee.of(said[:5], truth[:5], np.ones(5)).limits(0.99)
    assert (nothing == 0).all()  # five rows cannot rule anything out at this level


def test_sets_cover_as_often_as_asked() -> None:
    rng = np.random.default_rng(5)
    covered, sizes = [], []
    for _ in range(60):
        said, truth = few_rows(rng, 400, 3)
        sharp = said**2 / (said**2).sum(axis=1, keepdims=True)  # what is said is overconfident: sets make up for it
        found = Guarantee.of(sharp[:200], truth[:200], np.ones(200))
        inside = found.sets(sharp[200:], 0.9)
        covered.append(inside[np.arange(200), truth[200:]].mean())
        sizes.append(inside.sum(axis=1).mean())
        low, high = found.intervals(sharp[200:], 0.9)
        assert (low <= high).all()
    assert 0.89 < np.mean(covered) < 0.93 and np.mean(sizes) < 2.6


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_the_order_of_rows_changes_no_bit(seed) -> None:
    rng = np.random.default_rng(seed)
    said, truth = few_rows(rng, 3000, 2)
    said, weight = said.round(2 if seed % 2 else 6), rng.integers(1, 4, 3000) * 0.1
    order = rng.permutation(3000)
    one = Guarantee.of(said, truth, weight)
    other = Guarantee.of(said[order], truth[order], weight[order])
    assert all(np.array_equal(a, b) for a, b in zip(one.steps, other.steps, strict=True))


def test_many_rows_are_put_together_to_the_safe_side() -> None:
    rng = np.random.default_rng(6)
    said, truth = few_rows(rng, 20_000, 2)
    found = Guarantee.of(said, truth, np.ones(20_000))
    assert max(map(len, found.steps)) <= guarantee.MOST_STEPS
    for level in (0.8, 0.9, 0.95, 0.99):
        for k, limit in enumerate(found.limits(level)):
            own = said[truth == k, k]
            assert level <= (own >= limit).mean() < level + 0.005
    low, high = found.intervals(said[:500], 1e-12)
    assert ((high - low) < 0.02).mean() > 0.95


def test_equal_rows_that_were_put_together_count_as_one() -> None:
    said, truth = np.array([[0.8, 0.2], [0.3, 0.7]]), np.array([0, 1])
    apart = Guarantee.of(said.repeat(6, axis=0), truth.repeat(6), np.ones(12))
    assert apart.rows == pytest.approx(12)
    as_one = Guarantee.of(said, truth, np.full(2, 6.0), np.full(2, 36.0))
    assert as_one.rows == pytest.approx(2)


def test_files_hold_it_and_altered_ones_are_refused() -> None:
    said, truth = few_rows(np.random.default_rng(7), 50, 3)
    found = Guarantee.of(said, truth, np.ones(50))
    again = Guarantee.from_state(list(found.steps), 3)
    assert all(np.array_equal(a, b) for a, b in zip(found.steps, again.steps, strict=True))
    whole = [own.copy() for own in found.steps]
    for harm in (
        lambda s: s.pop(),
        lambda s: s.__setitem__(0, s[0][:0]),
        lambda s: s.__setitem__(0, s[0][::-1]),
        lambda s: s[1].__setitem__((0, 2), np.nan),
        lambda s: s[1].__setitem__((0, 2), -1.0),
        lambda s: s[2].__setitem__((0, slice(2, 4)), 0.0),
        lambda s: s.__setitem__(0, s[0][:, :3]),
    ):
        steps = [own.copy() for own in whole]
        harm(steps)
        with pytest.raises(ValueError):
            Guarantee.from_state(steps, 3)
    with pytest.raises(ValueError):
        Guarantee.from_state({"steps": 1}, 3)


@pytest.mark.parametrize("level", [0, 1, -0.5, 2, "x", True, float("nan")])
def test_levels_that_are_none(level) -> None:
    said, truth = few_rows(np.random.default_rng(8), 20, 2)
    with pytest.raises(SettingError, match="level"):
        Guarantee.of(said, truth, np.ones(20)).sets(said, level)


@pytest.mark.parametrize("attributes", [1, 2, 3, 4, 7, 14, 100])
def test_gaps_are_told_by_the_share_that_is_unknown(attributes) -> None:
    each = gaps_of(np.arange(attributes + 1), attributes)
    assert each[0] == 0 and each[-1] == guarantee.GAPS and (np.diff(each) >= 0).all()
    for gap in range(1, guarantee.GAPS + 1):
        assert gap_counts(gap, attributes).tolist() == np.flatnonzero(each == gap).tolist()


def test_rows_of_which_nothing_is_known_have_neither() -> None:
    said, truth = few_rows(np.random.default_rng(9), 60, 2)
    held = (Guarantee.of(said, truth, np.ones(60)),)
    gaps = np.array([0, 2], np.int8)
    inside = sets_by_gap(held, said[:2], gaps, 0.9)
    low, high = intervals_by_gap(held, said[:2], gaps, 0.9)
    assert inside[0].any() and not inside[1].any() and np.isnan(low[1]).all() and not np.isnan(high[0]).any()
    impossible = sets_by_gap(held, np.zeros((1, 2)), np.zeros(1, np.int8), 0.9)
    assert not impossible.any()
