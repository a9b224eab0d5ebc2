"""Of more rows than are kept to choose by, the default has a member that learns from all but those that judge."""

import numpy as np
import pytest

import likely
from likely.models.heldout import kept_rows
from likely.models.pool import candidates

ROWS = 6_000


@pytest.fixture(autouse=True)
def few_rows_are_many(monkeypatch):
    monkeypatch.setattr(kept_rows, "MOST_ROWS", 1_500)
    monkeypatch.setattr(candidates, "ROWS_A_LEAF", 100)


def made(order=None, holes=False):
    """A class that depends on three columns at once, in patches that 1,500 rows do not show."""
    rng = np.random.default_rng(11)
    a, b, c = rng.integers(0, 12, ROWS), rng.integers(0, 12, ROWS), rng.random(ROWS)
    odds = np.random.default_rng(5).normal(size=(12, 12))[a, b] * 2 + np.sin(9 * c)
    late = rng.random(ROWS) < 1 / (1 + np.exp(-odds))
    table = {
        "a": [f"a{v}" for v in a],
        "b": [f"b{v}" for v in b],
        "c": [None if holes and k % 7 == 0 else float(v) for k, v in enumerate(c)],
        "late": ["yes" if v else "no" for v in late],
    }
    return table if order is None else {name: [cells[i] for i in order] for name, cells in table.items()}


def larger_of(model):
    return [m for m in model.members if isinstance(m.learner, likely.Additive) and m.learner.leaves > 16]


def test_the_larger_member_learns_from_all_rows_but_those_that_judge():
    model = likely.fit(made(), "late")
    (larger,) = larger_of(model)
    assert larger.learner.leaves == 32
    told = [note for note in model.notes if "others judged it" in note]
    assert len(told) == 1
    counts = [int(word.replace(",", "")) for word in told[0].split() if word.replace(",", "").isdigit()]
    # Of so few kept rows every part judges; rows that are equal by bins are one.
    assert 1_400 <= counts[1] <= 1_600
    assert 0.9 * ROWS <= sum(counts) <= ROWS


def test_it_answers_better_than_what_was_chosen_on_a_sample():
    table = made()
    train = {name: cells[: ROWS - 1_500] for name, cells in table.items()}
    test = {name: cells[ROWS - 1_500 :] for name, cells in table.items()}

    def loss(model):
        said = model.posterior({n: c for n, c in test.items() if n != "late"}).matrix
        truth = [model.classes.index(name) for name in test["late"]]
        return -np.log(said[np.arange(len(truth)), truth]).mean()

    default, other = likely.fit(train, "late"), likely.fit(train, "late", likely.Auto(for_=("sql",)))
    assert larger_of(default)
    assert not larger_of(other)  # the same candidates: each of them can be exported to SQL
    assert loss(default) < loss(other)
    # What is announced is of rows that it has not seen.
    assert default.held_out is not None
    assert abs(-default.held_out.score - loss(default)) < 0.08


@pytest.mark.parametrize("holes", [False, True])
def test_the_order_of_rows_changes_no_bit(holes):
    whole = likely.fit(made(holes=holes), "late")
    mixed = likely.fit(made(np.random.default_rng(1).permutation(ROWS), holes), "late")
    assert whole.to_bytes() == mixed.to_bytes()


def test_a_file_answers_as_the_model_does(tmp_path):
    model = likely.fit(made(), "late")
    model.save(tmp_path / "late.likely")
    again = likely.load(tmp_path / "late.likely")
    rows = {n: c[:200] for n, c in made().items() if n != "late"}
    assert np.array_equal(model.posterior(rows).matrix, again.posterior(rows).matrix)
    assert [n for n in again.notes if "others judged it" in n]


@pytest.mark.parametrize("settings", [{"for_": ("sql",)}, {"effort": "quick"}])
def test_who_asks_for_something_smaller_has_none(settings):
    assert not larger_of(likely.fit(made(), "late", likely.Auto(**settings)))
