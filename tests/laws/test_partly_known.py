"""Right with whatever is known: P(class | known) is the mean of P(class | row) over what the unknown may be.

The laws for every learner that averages, on a table whose columns depend on each other, and on real ones where they are
at hand.
"""

from __future__ import annotations

import csv
import itertools
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely
from likely.apply.decide.priors import with_prior
from likely.apply.fitting import unlearn
from likely.errors import LikelyError

LEARNERS: dict[str, Any] = {
    "default": likely.Auto(),
    "additive": likely.Additive(),
    "additive, pairs": likely.Additive(order=2),
    "forest": likely.Forest(),
    "logistic": likely.Logistic(),
    "logistic, bins": likely.Logistic(numbers="binned"),
    "pool": likely.Pool((likely.Additive(order=1), likely.Logistic(numbers="binned"), likely.NaiveBayes())),
}
SUMMING = {
    "naive": likely.NaiveBayes(),
    "tree": likely.TreeAugmented(),
    "full": likely.FullBayes(density="table", pseudo_count=0),
}


def table(rows: int = 3000, seed: int = 0, gaps: float = 0.0) -> dict[str, list[Any]]:
    """A class that hangs on three columns, which hang on each other; one copy of a column, one of noise."""
    rng = np.random.default_rng(seed)
    school = rng.choice(["low", "mid", "high", "top"], rows, p=[0.4, 0.3, 0.2, 0.1])
    level = np.array([{"low": 0, "mid": 1, "high": 2, "top": 3}[s] for s in school])
    job = np.where(rng.random(rows) < 0.75, level, rng.integers(0, 4, rows))
    pay = 20 + 8 * job + 4 * level + rng.normal(size=rows) * 5
    odds = 0.15 * (pay - 45) + 0.5 * (job == 3) - 0.6 * (level == 0)
    rich = rng.random(rows) < 1 / (1 + np.exp(-odds))
    columns: dict[str, list[Any]] = {
        "school": school.tolist(),
        "years": (8 + 3 * level).tolist(),
        "job": [f"j{j}" for j in job],
        "pay": np.round(pay, 1).tolist(),
        "hand": rng.choice(["left", "right"], rows).tolist(),
    }
    for name, own in columns.items():
        gone = rng.random(rows) < gaps
        columns[name] = [None if g else v for g, v in zip(gone, own, strict=True)]
    return {**columns, "rich": ["yes" if r else "no" for r in rich]}


TABLE = table()
ROWS = [dict(zip(TABLE, cells, strict=True)) for cells in zip(*TABLE.values(), strict=True)]
PRIOR = float(np.mean([row["rich"] == "yes" for row in ROWS]))


@pytest.fixture(scope="module")
def models() -> dict[str, likely.Model]:
    return {name: likely.fit(TABLE, "rich", learner) for name, learner in (LEARNERS | SUMMING).items()}


def shares(column: str) -> dict[Any, tuple[int, float]]:
    """For each value with at least 200 rows: how many, and how many of them are rich."""
    out = {}
    for value in set(TABLE[column]):
        own = [row["rich"] == "yes" for row in ROWS if row[column] == value]
        if len(own) >= 200:
            out[value] = len(own), float(np.mean(own))
    return out


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_all_known_is_as_before_and_nothing_known_is_the_prior(models: dict[str, likely.Model], name: str) -> None:
    model = models[name]
    assert model.references is not None
    rows = {column: cells[:300] for column, cells in TABLE.items() if column != "rich"}
    assert model.posterior(rows).matrix.tobytes() == replace(model, references=None).posterior(rows).matrix.tobytes()
    assert model.posterior({}).prob("yes") == pytest.approx(PRIOR, abs=1e-12)


@pytest.mark.parametrize("name", sorted(LEARNERS | SUMMING))
@pytest.mark.parametrize("column", ["school", "job", "years", "hand"])
def test_one_known_value_is_the_share_in_the_table(models: dict[str, likely.Model], name: str, column: str) -> None:
    model, weighed, total = models[name], 0.0, 0
    for value, (rows, share) in shares(column).items():
        if column == "years" and name in SUMMING and model.schema["years"].kind == "number":
            continue  # a normal density of four values has no shares
        found = model.posterior({column: value}).prob("yes")
        assert found == pytest.approx(share, abs=0.02), (value, rows)
        weighed, total = weighed + rows * found, total + rows
    if total == len(ROWS):
        assert weighed / total == pytest.approx(PRIOR, abs=0.01)


def test_what_says_nothing_by_itself_says_nothing_by_itself(examples: Path) -> None:
    """An exclusive or: every switch alone is on as often as off."""
    model = likely.fit(examples / "switches.csv", "lamp")
    for row in ({"hall": "up"}, {"hall": "down"}):
        assert model.posterior(row).prob("on") == pytest.approx(0.5, abs=0.02)
    assert model.posterior({}).prob("on") == pytest.approx(0.5, abs=1e-12)
    # What the daylight is does not matter, so not to know it changes next to nothing.
    both = {"hall": "up", "stairs": "down"}
    known = {row["daylight"] for row in csv.DictReader((examples / "switches.csv").open())}
    light = [model.posterior({**both, "daylight": value}).prob("on") for value in known]
    assert min(light) - 0.02 <= model.posterior(both).prob("on") <= max(light) + 0.02


@pytest.mark.parametrize("name", ["default", "additive", "logistic"])
def test_masked_rows_are_calibrated_and_better_than_the_prior(models: dict[str, likely.Model], name: str) -> None:
    fresh, model = table(4000, seed=1), models[name]
    truth = np.array([v == "yes" for v in fresh["rich"]])
    names = [column for column in fresh if column != "rich"]
    guessing = -np.mean(np.where(truth, np.log(PRIOR), np.log(1 - PRIOR)))
    for known in range(1, len(names)):
        ranks = np.random.default_rng(known).random((len(truth), len(names))).argsort(1).argsort(1)
        masked = {
            column: [v if r < known else None for v, r in zip(fresh[column], ranks[:, k], strict=True)]
            for k, column in enumerate(names)
        }
        p = np.asarray(model.posterior(masked).prob("yes"))
        bins = np.minimum((p * 10).astype(int), 9)
        error = sum(abs(np.sum(p[bins == b]) - np.sum(truth[bins == b])) for b in range(10)) / len(p)
        assert error <= 0.03, (known, error)
        assert -np.mean(np.where(truth, np.log(p), np.log(1 - p))) < guessing


def test_the_answer_is_the_mean_over_what_the_unknown_may_be(models: dict[str, likely.Model]) -> None:
    """Against a direct count: the mean of the model's own answers over all rows that have the known values."""
    model = models["default"]
    for school, job in itertools.product(("low", "top"), ("j0", "j3")):
        alike = [row for row in ROWS if row["school"] == school and row["job"] == job]
        if len(alike) < 150:
            continue
        whole = {column: [row[column] for row in alike] for column in TABLE if column != "rich"}
        mean = float(np.mean(model.posterior(whole).prob("yes")))
        assert model.posterior({"school": school, "job": job}).prob("yes") == pytest.approx(mean, abs=0.08)


@pytest.mark.parametrize("name", ["default", "logistic", "additive, pairs"])
def test_order_and_weights_of_rows_change_no_bit(name: str) -> None:
    order = np.random.default_rng(5).permutation(600)
    some = {column: cells[:600] for column, cells in TABLE.items()}
    one = likely.fit(some, "rich", LEARNERS[name])
    other = likely.fit({c: [v[k] for k in order] for c, v in some.items()}, "rich", LEARNERS[name])
    assert one.references is not None and other.references is not None
    assert one.references.codes.tobytes() == other.references.codes.tobytes()
    rows: list[dict[str, Any]] = [{"school": "top"}, {"job": "j1", "pay": 33.0}, {}, {"pay": 60.0, "hand": "left"}]
    for row in rows:
        assert one.posterior(row).matrix.tobytes() == other.posterior(row).matrix.tobytes()


def test_references_are_nobodys_rows(models: dict[str, likely.Model]) -> None:
    references = models["default"].references
    assert references is not None
    (batch,) = models["default"].batches({c: v for c, v in TABLE.items() if c != "rich"})
    own = np.stack([axis.codes(batch.cells[axis.name]) for axis in references.axes], axis=1)
    different, often = np.unique(own, axis=0, return_counts=True)
    rare = {tuple(row) for row, times in zip(different.tolist(), often.tolist(), strict=True) if times < 5}
    assert len(references.codes) > 500
    assert not rare & {tuple(row) for row in references.codes.tolist()}


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_the_ledger_of_a_partly_known_row_adds_up(models: dict[str, likely.Model], name: str) -> None:
    for row in ({"school": "top"}, {"job": "j0", "pay": 30.0}, {"hand": "left"}):
        ledger = likely.explain(models[name], row)
        assert ledger.posterior["yes"] == models[name].posterior(row).prob("yes")
        assert sum(entry.log_ratio or 0.0 for entry in ledger.entries) == pytest.approx(ledger.log_odds, abs=1e-9)
        assert {entry.name for entry in ledger.entries if entry.log_ratio} <= {"", *row}
        assert "averaged over what they may be" in str(ledger)
    whole = {column: cells[0] for column, cells in TABLE.items() if column != "rich"}
    assert "averaged over" not in str(likely.explain(models[name], whole))


def test_another_prior_multiplies_the_averaged_answer(models: dict[str, likely.Model]) -> None:
    row = {"school": "top", "hand": "left"}
    plain = models["default"].posterior(row).matrix[0]
    shifted = with_prior(models["default"], {"yes": 0.5}).posterior(row).matrix[0]
    wanted = plain * np.array([0.5 / (1 - PRIOR), 0.5 / PRIOR])
    assert shifted == pytest.approx(wanted / wanted.sum(), abs=1e-12)


def test_a_file_keeps_references_and_an_altered_one_is_refused(models: dict[str, likely.Model], tmp_path: Path) -> None:
    model, path = models["default"], tmp_path / "m.likely"
    model.save(path)
    row = {"school": "mid", "pay": 41.0}
    assert likely.load(path).posterior(row).matrix.tobytes() == model.posterior(row).matrix.tobytes()
    assert model.references is not None
    for wrong in (
        replace(model.references, codes=np.full_like(model.references.codes, 200)),
        replace(model.references, relevance=model.references.relevance[:-1]),
        replace(model.references, places=model.references.places[:-1]),
        replace(model.references, axes=tuple(replace(a, name=f"no {a.name}") for a in model.references.axes)),
        replace(model.references, shares=tuple(np.full_like(own, np.nan) for own in model.references.shares)),
    ):
        replace(model, references=wrong).save(path)
        with pytest.raises(LikelyError, match="Make it again"):
            likely.load(path)


def test_references_stay_when_rows_are_learned_and_unlearned() -> None:
    """As weights do that rows chose: there and back again is the same file."""
    half = {column: cells[:400] for column, cells in TABLE.items()}
    more = {column: cells[400:500] for column, cells in TABLE.items()}
    members = (likely.NaiveBayes(), likely.NaiveBayes(numbers="binned"))
    model = likely.fit(half, "rich", likely.Pool(members, weights=(0.4, 0.5)))
    assert model.references is not None
    unjudged = replace(model, judge=None)  # how it was judged was said of another way to come to these rows
    assert unlearn(likely.learn(model, more), more).to_bytes() == unjudged.to_bytes()


def test_missing_cells_of_training_go_the_same_way() -> None:
    """A pattern of gaps that many rows of training have is answered as it was learned; any other is averaged."""
    gappy = table(2000, seed=3, gaps=0.05)
    model = likely.fit(gappy, "rich", likely.Additive())
    assert model.references is not None and len(model.references.usual)
    bare = replace(model, references=None)
    usual = {"school": "top", "years": 17, "job": "j3", "pay": 60.0}  # hand is missing, as in 1 of 20 rows
    assert model.posterior(usual).matrix.tobytes() == bare.posterior(usual).matrix.tobytes()
    assert model.posterior({"school": "top"}).matrix.tobytes() != bare.posterior({"school": "top"}).matrix.tobytes()


def test_a_gap_among_others_is_answered_as_learned() -> None:
    """A cell that is unknown in many rows, though hardly ever alone, is no news: what that means was learned."""
    some = table(2000, seed=3)
    for k in range(400):
        some["hand"][k] = None
        if k >= 5:  # fewer rows lack this cell alone than make a pattern of their own
            some[("school", "years", "job", "pay")[k % 4]][k] = None
    model = likely.fit(some, "rich", likely.Additive())
    assert model.references is not None
    bare, full = replace(model, references=None), {"school": "top", "years": 17, "job": "j3", "pay": 60.0}
    assert model.posterior(full).matrix.tobytes() == bare.posterior(full).matrix.tobytes()
    batch = {name: [*cells] for name, cells in some.items() if name != "rich"}
    together, alone = model.posterior(batch), bare.posterior(batch)
    assert together.matrix[:400].tobytes() == alone.matrix[:400].tobytes(), "rows of training have such gaps"
    rare = {"hand": "left", "years": 17, "job": "j3", "pay": 60.0}  # nobody lacks the school and has a hand
    assert model.posterior(rare).matrix.tobytes() != bare.posterior(rare).matrix.tobytes()


def test_what_to_ask_next_is_asked_of_the_default(models: dict[str, likely.Model]) -> None:
    """The column that says most, given what is known, comes first; a coin of a column is worth nothing."""
    asked = likely.ask(models["default"], {"school": "mid"})
    order = [question.attribute for question in asked.questions]
    assert order[0] == "pay" and {q.attribute: round(q.drop, 2) for q in asked.questions}["hand"] == 0
    assert order.index("job") < order.index("hand")


def test_left_out_and_averaged_are_still_to_be_had(models: dict[str, likely.Model]) -> None:
    model, row = models["default"], {"school": "top"}
    assert likely.by_missing(model, "averaged") is model
    left = likely.by_missing(model, "left-out").posterior(row).prob("yes")
    assert left != model.posterior(row).prob("yes")


@cache
def learn_census(shared: Path) -> likely.Model:
    return likely.fit(shared / "data" / "adult.csv", "income", likely.Additive(order=2))


@pytest.mark.parametrize(
    ("column", "value"),
    [("education", "Doctorate"), ("sex", "Female"), ("marital-status", "Married-civ-spouse"),
     ("occupation", "Exec-managerial")],
)  # fmt: skip
def test_shares_of_the_census(shared: Path, column: str, value: str) -> None:
    rows = list(csv.DictReader((shared / "data" / "adult.csv").open()))
    census = learn_census(shared)
    share = np.mean([row["income"] == ">50K" for row in rows if row[column] == value])
    assert census.posterior({column: value}).prob(">50K") == pytest.approx(share, abs=0.02)
