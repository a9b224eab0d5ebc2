"""Reliability: what was said against what happened, beside scikit-learn; exact over any batching."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.calibration import calibration_curve

import likely
from likely.evaluate.reliability import Reliability, wilson
from likely.models.posterior import Posterior
from likely.sums.weights import weights

Floats = NDArray[np.float64]


def drawn(rows: int, classes: int, seed: int) -> tuple[Floats, NDArray[np.int32]]:
    rng = np.random.default_rng(seed)
    joint = np.log(rng.dirichlet(np.full(classes, 0.4), rows))
    return joint, rng.integers(0, classes, rows).astype(np.int32)


def read(
    joint: Floats, truth: NDArray[np.int32], weight: Floats | None = None, cuts: tuple[int, ...] = ()
) -> Reliability:
    """The sums of all rows, batch by batch, each batch by a worker of its own."""
    classes = joint.shape[1]
    out = Reliability(classes)
    for rows in np.split(np.arange(len(truth)), cuts):
        worker = Reliability(classes)
        found = Posterior.of(tuple(f"c{k}" for k in range(classes)), joint[rows], one=False)
        worker.update(found, truth[rows], weights(None if weight is None else weight[rows]))
        out = out + worker
    return out


def test_two_classes_are_as_scikit_learn_has_them() -> None:
    joint, truth = drawn(20_000, 2, 1)
    found = read(joint, truth).read(("no", "yes"), len(truth))
    happened, said = calibration_curve(truth, np.exp(joint[:, 1]), n_bins=20)
    assert found.of == "yes"
    assert [b.said for b in found.bins] == pytest.approx(said)
    assert [b.happened for b in found.bins] == pytest.approx(happened)
    each = np.array([b.weight for b in found.bins])
    assert found.error == pytest.approx(float((each * np.abs(said - happened)).sum() / each.sum()))


def test_of_more_classes_it_is_the_one_named() -> None:
    joint, truth = drawn(5000, 4, 2)
    found = read(joint, truth).read(tuple("abcd"), len(truth))
    best, right = np.exp(joint).max(1), joint.argmax(1) == truth
    assert found.of is None
    assert sum(b.weight for b in found.bins) == 5000
    assert sum(b.weight * b.happened for b in found.bins) == pytest.approx(right.sum())
    assert sum(b.weight * b.said for b in found.bins) == pytest.approx(best.sum())


@given(seed=st.integers(0, 1000), cuts=st.lists(st.integers(0, 60), max_size=3), twice=st.booleans())
def test_batches_and_weights_change_no_bit(seed: int, cuts: list[int], twice: bool) -> None:
    joint, truth = drawn(60, 3, seed)
    whole = read(joint, truth).read(tuple("abc"), 60)
    weight = np.full(60, 2.0) if twice else None
    assert read(joint, truth, None, tuple(sorted(cuts))).read(tuple("abc"), 60) == whole
    doubled = read(joint, truth, weight).read(tuple("abc"), 60)
    assert [(b.said, b.happened, b.low, b.high) for b in doubled.bins] == [
        (b.said, b.happened, b.low, b.high) for b in whole.bins
    ]


def test_few_rows_are_taken_together() -> None:
    joint, truth = drawn(40, 2, 3)
    bins = read(joint, truth).read(("a", "b"), 40).bins
    assert all(b.weight >= 10 for b in bins) and sum(b.weight for b in bins) == 40


def test_rows_without_an_answer_are_passed_over() -> None:
    joint = np.array([[-np.inf, -np.inf], [0.0, -np.inf]])
    (only,) = read(joint, np.array([0, 0], np.int32)).read(("a", "b"), 2).bins
    assert (only.weight, only.said, only.happened) == (1.0, 0.0, 0.0)
    assert read(joint[:1], np.array([0], np.int32)).read(("a", "b"), 1).bins == ()


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_wilson_bounds_are_where_the_normal_test_turns(share: float) -> None:
    for bound in wilson(share, 50):
        if 0 < bound < 1:  # (share - p)**2 / (p (1 - p) / n) is 1.96**2 there
            assert (share - bound) ** 2 / (bound * (1 - bound) / 50) == pytest.approx(1.959963984540054**2)


def test_a_look_has_it() -> None:
    table = {"x": ["u", "v", "v", "u"] * 20, "y": ["a", "b", "b", "b"] * 20}
    found = likely.look(table, "y").reliability
    assert found is not None and found.of == "b" and found.error < 0.1
    assert sum(b.weight for b in found.bins) == 80
    assert sum(b.weight * b.happened for b in found.bins) == pytest.approx(60)
