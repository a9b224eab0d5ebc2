"""Evidence of hypotheses, and what is mixed by it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import dblquad
from scipy.special import logsumexp

import likely
from likely import Model, Prior, Schema, Summary
from likely.errors import InputError, SettingError
from likely.evaluate.crossval.validate import validate
from likely.intake.reading import Reading
from likely.intake.schema import draft_schema
from likely.models.contracts import Learning, Sweep
from likely.models.heldout.kept_rows import uniform_numbers
from likely.models.pool.choosing import stack_scores
from likely.models.pool.hypotheses import MEAN_ROWS, SPREAD_SHAPE, log_evidence
from likely.models.registry import LEARNERS
from likely.sums import state
from likely.table.open import open_source
from likely.table.schema import Column
from likely.testing import bits

NAIVE = (likely.NaiveBayes(), likely.NaiveBayes(pseudo_count=0.5), likely.NaiveBayes(pseudo_count=5))
MANY = (likely.NaiveBayes(), likely.Neighbors(k=3), likely.FullBayes(), Prior())


def scores(model: Any, data: object) -> Any:
    return np.concatenate([model.log_joint(batch) for batch in model.batches(data)])


def test_members_are_plain_values_and_come_back() -> None:
    mixture = likely.Mixture(NAIVE, weights=(0.5, 0.25, 0.25))
    assert mixture.learners == NAIVE
    assert state.built(likely.Mixture, state.plain(mixture)) == mixture
    assert likely.Mixture([{"name": "NaiveBayes", "pseudo_count": 5}, "Neighbors"]).learners == (  # type: ignore[arg-type]
        likely.NaiveBayes(pseudo_count=5),
        likely.Neighbors(),
    )
    assert mixture.titles == ("NaiveBayes", "NaiveBayes(pseudo_count=0.5)", "NaiveBayes(pseudo_count=5.0)")
    assert likely.Mixture((Prior(), Prior())).titles == ("Prior", "Prior #2")
    gibbs = likely.Gibbs(NAIVE, seed=4)
    assert state.built(likely.Gibbs, state.plain(gibbs)) == gibbs


def test_weights_may_be_given_by_title() -> None:
    mixture = likely.Mixture(NAIVE, weights={"NaiveBayes": 0.75, "NaiveBayes(pseudo_count=5.0)": 0.25})
    assert mixture.weights == (0.75, 0.0, 0.25)


def test_the_posterior_is_the_sum_over_hypotheses(examples: Path) -> None:
    path = examples / "weather_mixed.csv"
    weights = (0.2, 0.5, 0.3)
    model = likely.fit(path, "play", likely.Mixture(NAIVE, weights=weights))
    alone = [likely.fit(path, "play", member).posterior(path).matrix for member in NAIVE]
    expected = sum(w * m for w, m in zip(weights, alone, strict=True))
    np.testing.assert_allclose(model.posterior(path).matrix, expected, rtol=1e-12)


def test_a_hypothesis_that_calls_a_row_impossible_says_nothing(examples: Path) -> None:
    members = (likely.NaiveBayes(pseudo_count=0), likely.NaiveBayes())
    query = {"height": "t", "weight": "h", "long_hair": "y"}
    model = likely.fit(examples / "people.csv", "sex", likely.Mixture(members, weights=(0.5, 0.5)))
    alone = likely.fit(examples / "people.csv", "sex", members[1])
    np.testing.assert_allclose(model.posterior(query).matrix, alone.posterior(query).matrix, rtol=1e-12)
    sure = likely.fit(examples / "people.csv", "sex", likely.Mixture(members, weights=(1, 0)))
    assert sure.predict(query) is None


def test_evidence_gives_p_of_h_given_the_data(examples: Path) -> None:
    summary = likely.summarize(examples / "weather.csv", "play")
    model: Any = likely.Mixture(NAIVE, prior=(0.2, 0.2, 0.6)).learn(summary)
    logs = np.array([log_evidence(member, summary) for member in NAIVE], float)
    expected = np.exp(logs - logs.max()) * [0.2, 0.2, 0.6]
    np.testing.assert_allclose(model.beliefs.weight, expected / expected.sum())
    table, best = model.exhibits()
    assert table.header == ("hypothesis", "P(h | data)", "log P(data | h)")
    assert best.rows[0][0] == model.beliefs.titles[model.beliefs.best]


def test_evidence_is_derived_anew_by_merging(examples: Path, tmp_path: Path) -> None:
    lines = (examples / "weather.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    whole: Any = likely.fit(examples / "weather.csv", "play", likely.Mixture(NAIVE))
    halves = []
    for k, rows in enumerate((lines[1:8], lines[8:])):
        (tmp_path / f"{k}.csv").write_text(lines[0] + "".join(rows), encoding="utf-8")
        halves.append(likely.summarize(tmp_path / f"{k}.csv", schema=whole.schema))
    merged: Any = likely.Mixture(NAIVE).learn(halves[0] + halves[1])
    assert scores(merged, examples / "weather.csv").tobytes() == scores(whole, examples / "weather.csv").tobytes()


@pytest.mark.parametrize("maker", [likely.Mixture, likely.Gibbs])
def test_held_out_weights_survive_the_file_and_the_threads(maker: Any, examples: Path, tmp_path: Path) -> None:
    path, learner = examples / "iris.csv", maker(MANY, weights="held-out")
    one: Any = likely.fit(path, "species", learner, threads=1)
    two = likely.fit(path, "species", learner, threads=2)
    assert one.beliefs.weight.sum() == pytest.approx(1)
    assert one.beliefs.weight[3] < 0.02  # the prior alone is no help
    assert scores(one, path).tobytes() == scores(two, path).tobytes()
    one.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    assert again.learner == learner and again.notes == one.notes
    assert again.beliefs.weight.tobytes() == one.beliefs.weight.tobytes()
    assert scores(again, path).tobytes() == scores(one, path).tobytes()


def test_learning_changes_nothing(examples: Path) -> None:
    summary = likely.summarize(examples / "iris.csv", "species", more=["rows", "products"])
    before = bits(summary)
    likely.Mixture(MANY, weights=(0.25,) * 4).learn(summary)
    assert bits(summary) == before


def test_stacking_finds_the_best_weights() -> None:
    rng = np.random.default_rng(0)
    chance = rng.dirichlet([1, 1, 1], 300) @ np.array([[0.9, 0.4, 0.5], [0.2, 0.8, 0.5], [0.1, 0.1, 0.5]])
    weight = rng.choice([0.5, 1.0, 2.0], 300)
    found, _, notes = stack_scores(np.log(chance), weight)

    def score(w: Any) -> float:
        return float(weight @ np.log(chance @ w) / weight.sum())

    best = score(found)
    assert not notes
    for a in np.linspace(0, 1, 41):
        for b in np.linspace(0, 1 - a, 41):
            assert score(np.array([a, b, 1 - a - b])) <= best + 1e-6
    turned, _, _ = stack_scores(np.log(chance[::-1]), weight[::-1].copy())
    assert turned.tobytes() == found.tobytes()


def test_rows_that_no_hypothesis_gives_a_chance_do_not_count() -> None:
    logs = np.array([[-math.inf, -math.inf], [0.0, -1.0]])
    found, _, notes = stack_scores(logs, np.ones(2))
    assert found[0] > 0.999
    assert len(notes) == 1


def test_the_lot_is_drawn_by_row_number_alone(examples: Path) -> None:
    model: Any = likely.fit(examples / "iris.csv", "species", likely.Gibbs(MANY, weights=(0.4, 0.3, 0.2, 0.1), seed=9))
    (batch,) = model.batches(examples / "iris.csv")
    whole = model.log_joint(batch)
    for at in (1, 70, 149):
        parts = [batch.sliced(slice(0, at)), replace(batch.sliced(slice(at, 150)), start=at)]
        assert np.concatenate([model.log_joint(part) for part in parts]).tobytes() == whole.tobytes()
    lot = model.draw_members(replace(batch, start=0))
    for h, member in enumerate(model.members):
        rows = np.flatnonzero(lot == h)
        alone = member.posterior(examples / "iris.csv").matrix[rows]
        np.testing.assert_allclose(np.exp(whole[rows]), alone, rtol=1e-9, atol=1e-300)
    other: Any = likely.Gibbs(MANY, weights=(0.4, 0.3, 0.2, 0.1), seed=10).learn(model.summary)
    assert (other.draw_members(batch) != lot).any()


def test_lots_are_even() -> None:
    found = uniform_numbers(5, 0, 200_000)
    assert found.min() >= 0 and found.max() < 1
    np.testing.assert_allclose(np.histogram(found, 10, (0, 1))[0] / 20_000, 1, atol=0.03)
    assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 0.01
    assert abs(np.corrcoef(found, uniform_numbers(6, 0, 200_000))[0, 1]) < 0.01


@dataclass(frozen=True)
class Looking:
    """Learns the prior by looking at the rows again, to stand for learners that search."""

    def needs(self, schema: Any) -> frozenset[str]:
        return frozenset()

    def learn(self, summary: Any) -> Learning[Model]:
        summary = summary.canonical()

        def look(batch: Any, group: Any, weight: Any) -> tuple[Any, ...]:
            some = group >= 0
            return (np.bincount(group[some], weight[some], len(summary.classes)),)

        for _ in range(2):
            (counts,) = yield Sweep(look)
        shares = dict(zip(summary.classes, (counts / counts.sum()).tolist(), strict=True))
        return Prior(prior=shares).learn(summary)


@pytest.mark.parametrize("weights", ["held-out", (0.5, 0.5)])
def test_members_that_search_get_their_sweeps(weights: Any, examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LEARNERS, "Looking", Looking)
    path = examples / "weather.csv"
    slow: Any = likely.fit(path, "play", likely.Mixture((Looking(), likely.NaiveBayes()), weights=weights))
    quick: Any = likely.fit(path, "play", likely.Mixture((Prior(), likely.NaiveBayes()), weights=weights))
    np.testing.assert_allclose(slow.beliefs.weight, quick.beliefs.weight, rtol=1e-12)
    np.testing.assert_allclose(scores(slow, path), scores(quick, path), rtol=1e-12)


def validated(data: object, target: str, learners: dict[str, Any], folds: int = 3) -> Any:
    reading = Reading(target)
    source = open_source(data)
    return validate(source, draft_schema(source, reading), reading, learners, folds, 0)


def test_mixtures_are_cross_validated_like_others(examples: Path) -> None:
    learners = {
        "mixture": likely.Mixture(MANY, weights="held-out"),
        "gibbs": likely.Gibbs(MANY, weights=(0.4, 0.4, 0.2, 0)),
        "naive": likely.NaiveBayes(),
        "near": likely.Neighbors(),
    }
    found = validated(examples / "iris.csv", "species", learners)
    assert not found.refused
    accuracy = {name: scorer.read().accuracy for name, scorer in found.scorers.items()}
    assert min(accuracy.values()) > 0.9, accuracy


def test_cross_validation_where_a_class_is_in_one_fold_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LEARNERS, "Looking", Looking)
    table = {"x": [0.5, *(float(k % 7) for k in range(30))], "y": ["a", *("bc"[k % 3 == 0] for k in range(30))]}
    learners = {"held": likely.Mixture((Looking(), likely.Neighbors(k=3)), weights="held-out"), "look": Looking()}
    found = validated(table, "y", {**learners, "prior": Prior()})
    assert not found.refused
    assert bits_of(found.scorers["look"]) == bits_of(found.scorers["prior"])


def bits_of(scorer: Any) -> Any:
    return scorer.read().accuracy, scorer.read().brier


def test_a_search_that_must_refuse_does_not_stop_the_others() -> None:
    table = {"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]}
    learners = {"held": likely.Mixture((likely.NaiveBayes(),), weights="held-out", parts=2), "prior": Prior()}
    found = validated(table, "y", learners, folds=3)
    assert "prior" in found.scorers
    assert ("held" in found.refused) != ("held" in found.scorers)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"members": ()}, "no members"),
        ({"members": (3,)}, "not a learner"),
        ({"members": (likely.NaiveBayes,)}, "not a learner"),
        ({"members": ({"pseudo_count": 1},)}, "name of its learner"),
        ({"members": ({"name": "NaiveBays"},)}, "NaiveBayes"),
        ({"members": ({"name": "NaiveBayes", "pseudo": 1},)}, "pseudo"),
        ({"members": (likely.Mixture((Prior(),)),)}, "cannot be a member"),
        ({"members": (Prior(),), "weights": "luck"}, "weights is"),
        ({"members": (Prior(),), "weights": (0.5, 0.5)}, "one for each"),
        ({"members": (Prior(), Prior()), "weights": (0.5, 0.6)}, "not to 1"),
        ({"members": (Prior(), Prior()), "weights": (-0.5, 1.5)}, "between 0 and 1"),
        ({"members": (Prior(),), "weights": {"Priör": 1}}, "Prior"),
        ({"members": (Prior(),), "weights": (1.0,), "prior": (1.0,)}, "goes with"),
        ({"members": (Prior(),), "parts": 1}, "parts is"),
    ],
)
def test_settings_that_make_no_sense_are_refused(bad: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingError, match=said):
        likely.Mixture(**bad)
    with pytest.raises(SettingError, match=said):
        likely.Gibbs(**bad)


def test_what_cannot_be_learned_is_a_sentence(examples: Path) -> None:
    path = examples / "iris.csv"
    with pytest.raises(SettingError, match="no closed form"):
        likely.fit(path, "species", likely.Mixture((likely.NaiveBayes(), likely.Neighbors())))
    with pytest.raises(SettingError, match="too few rows"):
        likely.fit({"x": [1.5], "y": ["a"]}, "y", likely.Mixture((Prior(),), weights="held-out"))
    with pytest.raises(InputError, match="no row with a class"):
        likely.Mixture((Prior(),)).learn(likely.Summary(likely.summarize(path, "species").schema))
    with pytest.raises(SettingError, match="whole number"):
        likely.Gibbs((Prior(),), seed=1.5)  # type: ignore[arg-type]


def test_one_class_only() -> None:
    table = {"x": [1.5, 2.5, 3.5, 4.5], "y": ["a"] * 4}
    for weights in ("held-out", (0.5, 0.5)):
        model = likely.fit(table, "y", likely.Mixture((Prior(), likely.Neighbors()), weights=weights))  # type: ignore[arg-type]
        assert model.posterior({"x": 2.0}).prob("a") == 1


def test_the_evidence_of_full_bayes_of_one_number_is_that_of_naive_bayes(examples: Path) -> None:
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=40) * 3 + 7, "y": rng.choice(["a", "b"], 40), "w": rng.choice([0.5, 1, 2], 40)}
    summary = likely.summarize(table, "y", weight="w", more=["products"])
    full, naive = log_evidence(likely.FullBayes(), summary), log_evidence(likely.NaiveBayes(), summary)
    assert full == pytest.approx(naive, rel=1e-12)
    people = likely.summarize({"x": ["u", "v", "u", "u"], "y": ["a", "b", "a", "b"]}, "y", more=["cells"])
    assert log_evidence(likely.FullBayes(), people) == pytest.approx(log_evidence(likely.NaiveBayes(), people))


def test_the_evidence_of_a_normal_is_the_product_of_what_each_row_was_expected_to_be() -> None:
    # The chain rule: each row given those before it has a Student density of several dimensions.
    from scipy.stats import multivariate_t

    rng = np.random.default_rng(1)
    x = rng.normal(size=(12, 3)) @ rng.normal(size=(3, 3)) + [1, 5, -2]
    table = {**{f"x{k}": x[:, k] for k in range(3)}, "y": ["a"] * 12}
    found = log_evidence(likely.FullBayes(), likely.summarize(table, "y", more=["products"]))
    kappa, freedom, mean = 1.0, 2.0 + 3 - 1, x.mean(axis=0)
    scale = np.diag(2 * x.var(axis=0, ddof=1))
    expected = 0.0
    for row in x:
        df = freedom - 3 + 1
        expected += multivariate_t.logpdf(row, mean, scale * (kappa + 1) / (kappa * df), df)
        scale = scale + kappa / (kappa + 1) * np.outer(row - mean, row - mean)
        mean = (kappa * mean + row) / (kappa + 1)
        kappa, freedom = kappa + 1, freedom + 1
    assert found == pytest.approx(expected, rel=1e-10)


def test_the_evidence_of_a_joint_table_by_hand() -> None:
    table = {"a": ["u", "u", "v"], "b": ["s", "s", "t"], "y": ["p"] * 3}
    found = log_evidence(likely.FullBayes(), likely.summarize(table, "y", more=["cells"]))
    assert found == pytest.approx(math.log(1 / 4 * 2 / 5 * 1 / 6))  # four cells, a pseudo-count of 1 each
    table["a"][0] = None  # type: ignore[call-overload]
    assert log_evidence(likely.FullBayes(), likely.summarize(table, "y", more=["cells"])) is None


def test_naive_and_full_bayes_side_by_side_by_evidence(examples: Path) -> None:
    model: Any = likely.fit(examples / "iris.csv", "species", likely.Mixture((likely.NaiveBayes(), likely.FullBayes())))
    assert model.beliefs.best == 1  # lengths and widths of petals go together, and the rows say so
    assert model.beliefs.weight[1] > 0.99


def test_a_search_of_logistic_regression_is_kept_in_the_file(examples: Path, tmp_path: Path) -> None:
    members = (likely.Logistic(), likely.NaiveBayes())
    model: Any = likely.fit(examples / "iris.csv", "species", likely.Mixture(members, weights="held-out"))
    model.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    assert scores(again, examples / "iris.csv").tobytes() == scores(model, examples / "iris.csv").tobytes()


def test_scores_that_are_no_probabilities_are_refused(examples: Path) -> None:
    with pytest.raises(SettingError, match="not probabilities"):
        likely.fit(examples / "iris.csv", "species", likely.Mixture((likely.LeastSquares(),), weights=(1.0,)))


# The evidence in closed form: the same by predicting row after row, by listing all tables, and by integration.


NB = likely.NaiveBayes
TYPES = {"a": "nominal", "x": "number", "y": "nominal"}


def summary_of(rows: list[tuple[Any, ...]], names: str, weight: str | None = None) -> Summary:
    data = {n: [r[k] for r in rows] for k, n in enumerate(names)}
    return likely.summarize(data, "y", types={n: TYPES[n] for n in names if n in TYPES}, weight=weight)


@pytest.mark.parametrize(
    "learner",
    [
        NB(prior_pseudo_count=0.5),
        NB(pseudo_count=0.3, missing="level"),
        NB(m_estimate=2, level_weights={"a": {"u": 0.5, "v": 0.3, "w": 0.2}}),
        NB(unseen="reserve", prior="uniform"),
        NB(m_estimate=3, missing="level", unseen="reserve", prior={"p": 0.4, "q": 0.6}),
    ],
    ids=repr,
)
def test_levels_by_predicting_row_after_row(learner: Any) -> None:
    rows = [("u", "p"), ("v", "q"), ("u", "p"), (None, "q"), ("w", "p"), ("w", "q"), (None, "p")]
    whole = summary_of(rows, "ay")
    levels = ("u", "v", "w")
    given = (learner.level_weights or {}).get("a")
    m, gamma = learner.m_estimate, learner.pseudo_count
    share = {v: gamma if m is None else m * (given[v] if given else 1 / 3) for v in levels}
    one = sum(share.values()) / 3
    extra = dict(share)
    if learner.missing == "level":
        extra[None] = one
    if learner.unseen == "reserve":
        extra["(other)"] = one
    log = 0.0
    seen: dict[Any, float] = {}
    for level, label in rows:
        if learner.prior == "observed":
            g = learner.prior_pseudo_count or 1.0
            log += math.log((seen.get(label, 0) + g) / (sum(seen.get(c, 0) for c in "pq") + 2 * g))
        else:
            log += math.log(0.5 if learner.prior == "uniform" else learner.prior[label])
        seen[label] = seen.get(label, 0) + 1
        if level in extra:
            there = sum(n for key, n in seen.items() if isinstance(key, tuple) and key[1] == label)
            log += math.log((seen.get((level, label), 0) + extra[level]) / (there + sum(extra.values())))
            seen[level, label] = seen.get((level, label), 0) + 1
    assert log_evidence(learner, whole) == pytest.approx(log, rel=1e-12)


def test_all_tables_of_three_rows_sum_to_one() -> None:
    # Levels and classes that a schema declares count whether or not a table has them; classes must all occur to count,
    # so the prior is given.
    learner = NB(pseudo_count=0.7, prior={"p": 0.25, "q": 0.75})
    logs = []
    for cells in product("uv", repeat=3):
        for labels in product("pq", repeat=3):
            data = {"a": ["u", "v", *cells], "y": ["p", "q", *labels]}
            logs.append(log_evidence(learner, likely.summarize(data, "y", types={"a": "nominal"})))
    before = log_evidence(learner, likely.summarize({"a": ["u", "v"], "y": ["p", "q"]}, "y", types={"a": "nominal"}))
    # P(three more rows | the first two), over all of them.
    assert logsumexp(np.array(logs) - before) == pytest.approx(0, abs=1e-12)


NUMBERS = [(1.0, "p"), (2.5, "p"), (2.0, "q"), (7.0, "q"), (8.5, "q"), (None, "p")]


def test_numbers_by_predicting_row_after_row() -> None:
    whole = summary_of(NUMBERS, "xy")
    learner = NB(prior="uniform")
    x = np.array([v for v, _ in NUMBERS if v is not None])
    centre, variance = x.mean(), x.var(ddof=1)
    log = 6 * math.log(0.5)
    for label in "pq":
        rows, mean, shape, scale = MEAN_ROWS, centre, SPREAD_SHAPE, SPREAD_SHAPE * variance
        for v in (v for v, c in NUMBERS if c == label and v is not None):
            log += stats.t.logpdf(v, 2 * shape, mean, math.sqrt(scale * (rows + 1) / (shape * rows)))
            scale += rows * (v - mean) ** 2 / (2 * (rows + 1))
            mean, rows, shape = (rows * mean + v) / (rows + 1), rows + 1, shape + 0.5
    assert log_evidence(learner, whole) == pytest.approx(log, rel=1e-12)


def test_numbers_by_integration() -> None:
    whole = summary_of(NUMBERS[:5], "xy")
    x = np.array([v for v, _ in NUMBERS[:5]])
    centre, variance = x.mean(), x.var(ddof=1)
    scale = SPREAD_SHAPE * variance
    total = 5 * math.log(0.5)

    def log_normal(value: float, mean: float, v: float) -> float:
        return -0.5 * (math.log(2 * math.pi * v) + (value - mean) ** 2 / v)

    for label in "pq":
        own = [v for v, c in NUMBERS[:5] if c == label]

        def density(mean: float, log_v: float, own: Any = own) -> float:
            v = math.exp(log_v)
            log = SPREAD_SHAPE * math.log(scale) - math.lgamma(SPREAD_SHAPE) - (SPREAD_SHAPE + 1) * log_v - scale / v
            log += log_normal(mean, centre, v / MEAN_ROWS) + sum(log_normal(x, mean, v) for x in own)
            return math.exp(log + log_v)

        total += math.log(dblquad(density, -6, 12, -60, 60, epsabs=1e-10)[0])
    assert log_evidence(NB(prior="uniform"), whole) == pytest.approx(total, rel=1e-4)


def test_bins_are_densities_too() -> None:
    whole = summary_of([r for r in NUMBERS if r[0] is not None], "xy")
    learner = NB(numbers="binned", bins={"x": [2.25, 7.5]}, prior="uniform")
    # p: one below 2.25, one between; q: one in each. Widths 1.25, 5.25, 1.
    log = 5 * math.log(0.5) + math.log(1 / 3 * 1 / 4) + math.log(1 / 3 * 1 / 4 * 1 / 5)
    log -= 2 * math.log(1.25) + 2 * math.log(5.25)
    assert log_evidence(learner, whole) == pytest.approx(log, rel=1e-12)
    for bins in ("width", "frequency"):
        assert math.isfinite(log_evidence(NB(numbers="binned", bins=bins, bin_count=2), whole) or math.nan)


@pytest.mark.parametrize(
    "learner",
    [
        NB(pseudo_count=0),
        NB(m_estimate=0),
        NB(numbers="kernel"),
        NB(numbers="binned"),
        Prior(),
    ],
    ids=repr,
)
def test_none_where_there_is_no_closed_form(learner: Any) -> None:
    assert log_evidence(learner, summary_of([("u", 1.0, "p"), ("v", 2.0, "q"), ("u", 4.0, "q")], "axy")) is None


def test_what_a_prior_calls_impossible_has_no_evidence() -> None:
    whole = summary_of([("u", "p"), ("v", "q")], "ay")
    assert log_evidence(NB(prior={"p": 1.0, "q": 0.0}), whole) == -math.inf
    assert log_evidence(NB(m_estimate=1, level_weights={"a": {"u": 1.0, "v": 0.0}}), whole) == -math.inf


def test_weight_two_is_the_row_twice_and_order_does_not_matter() -> None:
    rows = [("u", 1.0, "p"), ("v", 2.5, "q"), ("u", 4.0, "q"), ("u", 0.5, "p")]
    twice = log_evidence(NB(), summary_of(rows * 2, "axy"))
    heavy = likely.summarize(
        {"a": [r[0] for r in rows], "x": [r[1] for r in rows], "y": [r[2] for r in rows], "w": [2.0] * 4},
        "y",
        types=TYPES,
        weight="w",
    )
    assert log_evidence(NB(), heavy) == twice == log_evidence(NB(), summary_of(rows[::-1] * 2, "axy"))


def test_scale_shifts_the_evidence_by_the_unit_alone() -> None:
    base = log_evidence(NB(), summary_of([(v, c) for v, c in NUMBERS], "xy"))
    for factor in (1e-200, 1e200):
        other = log_evidence(NB(), summary_of([(v and v * factor, c) for v, c in NUMBERS], "xy"))
        assert other == pytest.approx(base - 5 * math.log(factor), rel=1e-9)


def test_evidence_prefers_the_attribute_that_matters() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["p", "q"], 300)
    told = np.where(rng.random(300) < 0.9, np.where(y == "p", "u", "v"), "u")
    noise = rng.permutation(told)
    one, two = (likely.summarize({"a": a, "y": y}, "y", types={"a": "nominal"}) for a in (told, noise))
    assert log_evidence(NB(), one) > log_evidence(NB(), two) + 20  # type: ignore[operator]


def test_an_empty_schema_is_the_classes_alone() -> None:
    summary = likely.summarize({"y": ["p", "p", "q"], "k": [1.0, 1.0, 1.0]}, "y", types={"k": "number"})
    assert isinstance(summary.schema, Schema) and isinstance(summary.schema.columns[0], Column)
    assert log_evidence(NB(), summary) == pytest.approx(math.log(1 / 2 * 2 / 3 * 1 / 4), rel=1e-12)
