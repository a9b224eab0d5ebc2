"""Attributes of wide tables that tell nothing, alone or in pairs, are left out before learners are tried."""

import itertools

import numpy as np
import pytest

import likely
from likely.apply.spec import spec_of
from likely.models.heldout import kept_rows
from likely.models.pool import screening
from likely.models.pool.screening import LEAST_COLUMNS, deviations, find_pairs

ROWS = 1_500
SAID = "tell nothing beyond chance"


def wide(rows=ROWS, columns=100, seed=3, noise=False):
    """`plain` tells by itself, `one` and `two` only together, `letter` is a level that tells; the rest is noise."""
    rng = np.random.default_rng(seed)
    cells = {f"x{k:03d}": rng.normal(size=rows) for k in range(columns - 4)}
    plain, one, two = rng.normal(size=(3, rows))
    letter = rng.choice([*"abc"], rows)
    odds = 1.2 * plain + 2.5 * np.sign(one * two) + np.where(letter == "a", 1.5, -0.5)
    late = rng.random(rows) < (0.4 if noise else 1 / (1 + np.exp(-odds)))
    named = {"plain": plain, "one": one, "two": two, "letter": letter}
    every = {**cells, **named, "late": np.where(late, "y", "n")}
    return {name: own.tolist() for name, own in every.items()}


def cut(table, rows):
    return {name: [cells[i] for i in rows] for name, cells in table.items()}


def log_loss(model, table):
    chance = np.where(np.array(table["late"]) == "y", *(model.posterior(table).prob(c) for c in "yn"))
    return float(-np.log(chance).mean())


def remark_of(model):
    return next((r for r in model.remarks if SAID in r), "")


@pytest.fixture(scope="module")
def model():
    return likely.fit(wide(), "late")


def test_what_tells_alone_or_in_a_pair_stays_and_the_rest_is_left_out_and_said(model):
    kept = {c.name for c in model.schema.attributes}
    assert {"plain", "one", "two", "letter"} <= kept
    assert len(kept) <= 4 + 5
    assert remark_of(model) == (
        f"{100 - len(kept)} of 100 attributes {SAID}, alone or in pairs, on 1,500 rows; they are left out."
    )
    gone = next(c for c in model.schema.columns if c.role == "left out")
    assert str(gone.reason) == "it tells nothing of the classes beyond chance"


def test_a_pair_that_tells_only_together_is_worth_what_it_is_worth_on_a_narrow_table(model):
    new = wide(seed=4)
    narrow = [name for name in wide() if not name.startswith("x")]
    alone = likely.fit({name: wide()[name] for name in narrow}, "late")
    assert log_loss(model, new) < log_loss(alone, {name: new[name] for name in narrow}) + 0.02


def test_a_column_that_is_left_out_is_taken_and_says_nothing(model, tmp_path):
    new = cut(wide(seed=5), range(30))
    gone = next(c.name for c in model.schema.columns if c.role == "left out")
    said = model.posterior(new).matrix
    np.testing.assert_array_equal(model.posterior({**new, gone: [1e6] * 30}).matrix, said)
    row = {name: cells[0] for name, cells in new.items() if name != "late"}
    assert model.posterior(row).prob("y") == said[0, list(model.classes).index("y")]
    assert model.posterior({k: v for k, v in row.items() if k != gone}).prob("y") == model.posterior(row).prob("y")
    model.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    np.testing.assert_array_equal(again.posterior(new).matrix, said)
    assert remark_of(again) == remark_of(model)


def test_what_was_chosen_learns_the_same_again_without_choosing(model):
    new, spec = cut(wide(seed=7), range(20)), spec_of(model)
    again = likely.fit(wide(), "late", spec.learner, **spec.reading())
    assert [c.name for c in again.schema.attributes] == [c.name for c in model.schema.attributes]
    np.testing.assert_allclose(again.posterior(new).matrix, model.posterior(new).matrix, rtol=1e-9)


def test_no_order_of_rows_and_no_thread_changes_a_bit(model):
    table, new = wide(), cut(wide(seed=6), range(50))
    order = np.random.default_rng(1).permutation(ROWS)
    other = likely.fit(cut(table, order), "late", threads=1)
    assert remark_of(other) == remark_of(model)
    np.testing.assert_array_equal(other.posterior(new).matrix, model.posterior(new).matrix)


def test_tables_of_fewer_columns_are_as_they_were():
    few = LEAST_COLUMNS - 1
    model = likely.fit(wide(300, few), "late")
    assert len(model.schema.attributes) == few
    assert not remark_of(model)


@pytest.mark.parametrize("seed", range(4))
def test_of_noise_alone_nothing_is_learned(seed):
    table = wide(200, 400, seed, noise=True)
    model, new = likely.fit(table, "late"), wide(2_000, 400, seed + 50, noise=True)
    share = np.mean(np.array(table["late"]) == "y")
    guess = -np.log(np.where(np.array(new["late"]) == "y", share, 1 - share)).mean()
    assert log_loss(model, new) <= guess + 1e-3


def test_where_pairs_are_too_many_columns_are_judged_alone(monkeypatch):
    monkeypatch.setattr(screening, "MOST_PAIR_WORK", 100_000)
    model = likely.fit(wide(), "late")
    assert "alone (the pairs are too many to look at)" in remark_of(model)
    kept = {c.name for c in model.schema.attributes}
    assert {"plain", "letter"} <= kept
    assert not {"one", "two"} & kept


def test_whoever_names_members_or_wants_updates_keeps_all_columns():
    for learner in (likely.Auto(members=[likely.NaiveBayes()]), likely.Auto(for_="updates", effort="quick")):
        assert not remark_of(likely.fit(wide(400), "late", learner))


def test_others_are_judged_beside_with_all_their_columns():
    table = wide(400)
    summary = likely.summarize(table, "late")

    def beside(learner):
        from likely.intake.summarize import row_sweeper
        from likely.models.learning import run
        from likely.table.open import open_source

        asked = learner.learn_beside(summary, {"nb": likely.NaiveBayes()})
        return run(asked, row_sweeper(open_source(table), summary)).held_out_answers.beside["nb"]

    np.testing.assert_array_equal(beside(likely.Auto()), beside(likely.Auto(members=[likely.OneRule()])))


def test_rows_with_many_copies_are_sampled_as_ever(monkeypatch):
    """Few different rows: those with small hashes are fewer than are wanted, and all rows are taken in once more."""
    rng = np.random.default_rng(2)
    table = {"a": rng.choice(12, 6_000).tolist(), "b": rng.choice([*"pqr"], 6_000).tolist()}
    table["late"] = np.where(np.array(table["a"]) + rng.normal(size=6_000) > 6, "y", "n").tolist()
    want = likely.fit(table, "late")
    monkeypatch.setattr(kept_rows, "MOST_ROWS", 500)
    assert likely.fit(table, "late").trial.rows == want.trial.rows


def test_pairs_are_measured_as_counted_by_hand():
    rng = np.random.default_rng(8)
    codes, group = rng.integers(0, 3, (4, 200)).astype(np.uint8), rng.integers(0, 3, 200).astype(np.int32)
    codes[3] = (codes[0] + group) % 3
    weight = rng.random(200)

    def total(*columns):
        table = {}
        for key, w in zip(zip(*columns, strict=True), weight, strict=True):
            table[key] = table.get(key, 0.0) + w
        return sum(n * np.log(n) for n in table.values())

    def information(*columns):
        return total(*columns, group) - total(*columns) - total(group) + total([0] * 200)

    want = np.full(4, -np.inf)
    for i, j in itertools.combinations(range(4), 2):
        both = 2 * (information(codes[i], codes[j]) - information(codes[i]) - information(codes[j]))
        z = deviations(np.array([both]), np.array([8.0]))[0]
        want[[i, j]] = np.maximum(want[[i, j]], z)
    best, alone = np.full(4, -np.inf), np.array([total(c, group) - total(c) for c in codes])
    find_pairs(codes, np.full(4, 3), group, weight, 3, np.zeros(4, np.int64), alone,
               total(group) - total([0] * 200), 0, 4, np.empty(27), best)  # fmt: skip
    np.testing.assert_allclose(best, want, atol=2e-6)
    assert best.argmax() in (0, 3)
