"""Intervals for the probabilities of classes: against exact beta intervals, by simulation, and at their limits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import likely
from likely import NaiveBayes, sureness

EVEN = {"n": 0.5, "y": 0.5}


def table(counts: dict[tuple[str, str], int], missing: int = 0) -> dict[str, list[str | None]]:
    """Rows of one attribute x and the class y."""
    rows = [pair for pair, n in counts.items() for _ in range(n)]
    return {
        "x": [x for x, _ in rows],
        "y": [y for _, y in rows],
        "rest": ["a", "b"] * (len(rows) // 2) + ["a"] * (len(rows) % 2),
    }


def test_without_evidence_it_is_the_beta_interval_of_the_class() -> None:
    data = table({("a", "y"): 6, ("b", "y"): 3, ("a", "n"): 3, ("b", "n"): 2})
    for extra, half in ((0.0, 0.5), (1.0, 1.0), (2.5, 2.5)):
        model = likely.fit(data, "y", NaiveBayes(prior_pseudo_count=extra))
        low, high = sureness(model, {}, draws=200_000).interval("y")
        exact = stats.beta(9 + half, 5 + half)
        assert (low, high) == pytest.approx(exact.interval(0.9), abs=0.004)


def test_one_attribute_given_the_prior() -> None:
    # P(y | a) = A / (A + B) with two independent betas, by numerical integration of the ratio.
    data = table({("a", "y"): 7, ("b", "y"): 2, ("a", "n"): 1, ("b", "n"): 8})
    model = likely.fit(data, "y", NaiveBayes(prior=EVEN), types={"rest": "ignore"})
    found = sureness(model, {"x": "a"}, draws=200_000, level=0.8)
    low, high = found.interval("y")
    one, two = stats.beta(8, 3), stats.beta(2, 9)
    grid = (np.arange(4000) + 0.5) / 4000
    at = two.ppf(grid)

    def below(p: float) -> float:  # P(A / (A + B) <= p) = P(A <= B p / (1 - p))
        return float(one.cdf(at * p / (1 - p)).mean())

    assert below(low) == pytest.approx(0.1, abs=0.005) and below(high) == pytest.approx(0.9, abs=0.005)
    assert found.matrix[0, 1] == pytest.approx(model.posterior({"x": "a"}).prob("y"))


def test_a_count_to_which_nothing_is_added_has_half_a_row_on_each_side() -> None:
    data = table({("a", "y"): 9, ("b", "y"): 1, ("b", "n"): 10})
    model = likely.fit(data, "y", NaiveBayes(pseudo_count=0, prior=EVEN), types={"rest": "ignore"})
    found = sureness(model, {"x": "a"}, draws=100_000)
    low, high = found.interval("n")
    one, two = stats.beta(0.5, 10.5).rvs(400_000, random_state=1), stats.beta(9.5, 1.5).rvs(400_000, random_state=2)
    assert low == 0.0, "the model says 0, and the interval holds what the model says"
    assert high == pytest.approx(np.quantile(one / (one + two), 0.95), rel=0.03)
    thin = found.thinnest()
    assert thin is not None and (thin.attribute, thin.value, thin.label, thin.cases) == ("x", "a", "n", 0)
    assert "no case like this ('x' is 'a' in class 'n')" in found.words()


def test_a_normal_density_has_the_normal_inverse_gamma_posterior() -> None:
    rng = np.random.default_rng(5)
    x = {"y": rng.normal(2, 1, 8), "n": rng.normal(0, 3, 12)}
    data = {"x": [*x["y"], *x["n"]], "y": ["y"] * 8 + ["n"] * 12}
    for variance in ("unbiased", "ml"):
        model = likely.fit(data, "y", NaiveBayes(prior=EVEN, variance=variance), types={"x": "number"})
        low, high = sureness(model, {"x": 1.5}, draws=100_000).interval("y")
        chance = np.random.default_rng(1)
        density = {}
        for name, values in x.items():
            n, mean = len(values), values.mean()
            sigma = np.sqrt(((values - mean) ** 2).sum() / chance.chisquare(n - 1, 400_000))
            density[name] = stats.norm.pdf(1.5, chance.normal(mean, sigma / np.sqrt(n)), sigma)
        wanted = np.quantile(density["y"] / (density["y"] + density["n"]), [0.05, 0.95])
        assert (low, high) == pytest.approx(tuple(wanted), abs=0.01)


@pytest.mark.parametrize("numbers", ["gaussian", "binned", "kernel"])
def test_more_rows_narrow_it_by_the_root_of_their_number(numbers: str) -> None:
    rng = np.random.default_rng(0)
    widths = []
    for rows in (200, 800, 3200):
        y = rng.choice(["n", "y"], rows)
        data = {"k": np.where(rng.random(rows) < 0.6, y, "n"), "x": rng.normal(size=rows) + (y == "y"), "y": y}
        model = likely.fit(data, "y", NaiveBayes(numbers=numbers, bins="frequency", bin_count=4))
        low, high = sureness(model, {"k": "n", "x": 0.6}).interval("y")
        widths.append(high - low)
    for wide, narrow in pairwise(widths):
        assert 1.4 < wide / narrow < 2.9  # about 2; kernels gain less, as their bandwidth shrinks too


def test_coverage_where_parameters_come_from_the_prior_that_smoothing_stands_for() -> None:
    # Shares drawn from Dirichlet(1) are what the pseudo-count 1 believes: then 90 % intervals hold 90 % of the truth.
    rng = np.random.default_rng(11)
    inside, total = 0, 0
    for _ in range(60):
        prior = rng.dirichlet([1, 1, 1])
        shares = [rng.dirichlet(np.ones(k), 3) for k in (2, 3, 4)]
        rows = int(rng.integers(15, 60))
        y = np.concatenate([[0, 1, 2], rng.choice(3, rows, p=prior)])[3:] if rows else []
        cells = [np.array([rng.choice(len(s[c]), p=s[c]) for c in y]) for s in shares]
        names = [[f"v{k}" for k in range(s.shape[1])] for s in shares]
        if len(np.unique(y)) < 3 or any(len(np.unique(c)) < len(n) for c, n in zip(cells, names, strict=True)):
            continue  # all levels must be known to the model
        data = {f"a{k}": [n[v] for v in c] for k, (c, n) in enumerate(zip(cells, names, strict=True))}
        model = likely.fit(data | {"y": [f"c{c}" for c in y]}, "y", NaiveBayes(prior_pseudo_count=1))
        new = [rng.integers(0, s.shape[1], 8) for s in shares]
        found = sureness(
            model, {f"a{k}": [n[v] for v in c] for k, (c, n) in enumerate(zip(new, names, strict=True))}, draws=1000
        )
        joint = prior * np.prod([s[:, c].T for s, c in zip(shares, new, strict=True)], axis=0)
        truth = joint / joint.sum(axis=1, keepdims=True)
        inside += int(((found.low <= truth) & (truth <= found.high)).sum())
        total += truth.size
    assert total > 400
    assert 0.86 < inside / total < 0.95


def test_coverage_of_a_known_model_with_numbers() -> None:
    rng = np.random.default_rng(4)
    inside, total, at = 0, 0, np.array([-1.0, 0.3, 1.0, 2.0])
    truth = stats.norm.pdf(at, 1, 1.5) * 0.4
    truth = truth / (truth + 0.6 * stats.norm.pdf(at, 0, 1))
    for _ in range(100):
        y = rng.random(40) < 0.4
        x = np.where(y, rng.normal(1, 1.5, 40), rng.normal(0, 1, 40))
        model = likely.fit({"x": x, "y": np.where(y, "y", "n")}, "y", NaiveBayes(), types={"x": "number"})
        low, high = sureness(model, {"x": at}, draws=500).interval("y")
        inside += int(((low <= truth) & (truth <= high)).sum())
        total += len(at)
    assert 0.85 < inside / total < 0.95


MIXED = {
    "k": ["a", "b", "a", None, "c", "b", "a", "b"] * 4,
    "x": [1.0, 2.5, None, 4.0, 2.0, 3.0, 1.5, 0.5] * 4,
    "y": ["p", "q", "p", "q", "r", "q", "p", "p"] * 4,
}


@pytest.mark.parametrize(
    "learner",
    [
        NaiveBayes(),
        NaiveBayes(pseudo_count=0),
        NaiveBayes(missing="level", unseen="reserve"),
        NaiveBayes(numbers="kernel", missing="level"),
        NaiveBayes(numbers="binned", m_estimate=2),
        NaiveBayes(prior="uniform"),
        NaiveBayes(prior={"p": 1, "q": 0, "r": 0}),
        likely.Prior(),
    ],
    ids=repr,
)
def test_every_setting_gives_an_interval_around_the_number(learner) -> None:
    model = likely.fit(MIXED, "y", learner)
    rows = {"k": ["a", "zz", None, "c"], "x": [1.0, 1e9, None, 2.2]}
    found = sureness(model, rows, draws=300)
    assert found.matrix == pytest.approx(model.posterior(rows).matrix)
    told = ~np.isnan(found.low)
    assert (found.low[told] <= found.matrix[told]).all() and (found.matrix[told] <= found.high[told]).all()
    assert ((found.low[told] >= 0) & (found.high[told] <= 1)).all()
    assert told.any()


def test_a_row_has_the_same_interval_alone_and_among_others() -> None:
    model = likely.fit(MIXED, "y", NaiveBayes())
    rows = {"k": ["a", "b", None, "c"] * 50, "x": [1.0, 2.0, 3.0, None] * 50}
    many = sureness(model, rows)
    alone = sureness(model, {"k": "b", "x": 2.0})
    assert many.low[1] == pytest.approx(alone.low[0]) and many.high[197] == pytest.approx(alone.high[0])
    again = sureness(model, {"k": "b", "x": 2.0}, seed=1)
    assert again.low[0] != pytest.approx(alone.low[0], abs=1e-9)
    assert again.low[0] == pytest.approx(alone.low[0], abs=0.05)


def test_blocks() -> None:
    rng = np.random.default_rng(2)
    y = rng.choice(["n", "y"], 300)
    a = np.where(rng.random(300) < 0.7, y, "n")
    b = np.where(rng.random(300) < 0.9, a, y)
    x = rng.normal(size=300) + (y == "y")
    data = {"a": a, "b": b, "x": x, "z": x + 0.3 * rng.normal(size=300), "y": y}
    model = likely.fit(data, "y", NaiveBayes(blocks=(("a", "b"), ("x", "z"))))
    for row in ({"a": "n", "b": "y", "x": 0.5, "z": 0.4}, {"a": "n", "x": 0.5}, {}):
        found = sureness(model, row)
        low, high = found.interval("y")
        assert low < found.matrix[0, 1] < high and high - low < 0.6


def test_a_block_of_one_number_is_as_sure_as_the_number_by_itself() -> None:
    rng = np.random.default_rng(3)
    y = rng.choice(["n", "y"], 40)
    data = {"x": rng.normal(size=40) + (y == "y"), "z": rng.normal(size=40), "y": y}
    alone = likely.fit(data, "y", NaiveBayes(prior=EVEN))
    block = likely.fit(data, "y", NaiveBayes(prior=EVEN, blocks=(("x", "z"),), variance_floor=0))
    one, two = (sureness(m, {"x": 0.7}, draws=50_000).interval("y") for m in (alone, block))
    assert one == pytest.approx(two, abs=0.01)


def test_knowledge_counts_for_what_it_is_worth() -> None:
    from likely import Knowledge

    data = table({("a", "y"): 2, ("b", "y"): 1, ("a", "n"): 1, ("b", "n"): 2})
    widths = []
    for worth in (5, 500):
        known = [Knowledge("x", given=c, levels={"a": p, "b": 1 - p}, worth=worth) for c, p in (("y", 0.9), ("n", 0.3))]
        model = likely.fit(data, "y", NaiveBayes(knowledge=known, prior=EVEN), types={"rest": "ignore"})
        found = sureness(model, {"x": "a"})
        thin = found.thinnest()
        assert thin is not None and thin.cases > 0.3 * worth
        widths.append(float(found.high[0, 0] - found.low[0, 0]))
    assert widths[1] < widths[0] / 5


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", "", None]), st.floats(-1e300, 1e300) | st.none(), st.sampled_from("pqr")),
        min_size=4,
        max_size=25,
    ),
    st.floats(-1e308, 1e308),
    st.sampled_from([0, 1e-12, 1, 50]),
)
def test_nasty_tables(rows, x, extra) -> None:
    data = {"k": [r[0] for r in rows], "x": [r[1] for r in rows], "y": [r[2] for r in rows]}
    types = {"k": "nominal", "x": "number", "y": "nominal"}
    model = likely.fit(data, "y", NaiveBayes(pseudo_count=extra), types=types)
    found = sureness(model, {"k": "a", "x": x}, draws=100)
    told = ~np.isnan(found.low)
    assert (found.low[told] <= found.high[told]).all()
    assert isinstance(found.words(), str) and found.to_dict()["level"] == 0.9


def test_words() -> None:
    model = likely.fit(
        table({("a", "y"): 6, ("b", "y"): 3, ("a", "n"): 3, ("b", "n"): 2}), "y", types={"rest": "ignore"}
    )
    words = sureness(model, {"x": "b"}).words()
    assert words.startswith("60 %, between ") and words.endswith("only 2 cases like this ('x' is 'b' in class 'n')")


def test_undefined_rows() -> None:
    data = {"k": ["a", "b"] * 5, "l": ["u", "v"] * 5, "y": ["p", "q"] * 5}
    model = likely.fit(data, "y", NaiveBayes(pseudo_count=0))
    found = sureness(model, {"k": "a", "l": "v"})
    assert np.isnan(found.low).all() and "impossible" in found.words()


def test_what_is_refused() -> None:
    model = likely.fit(MIXED, "y", NaiveBayes())
    for bad in ({"level": 1.0}, {"level": "x"}, {"draws": 5}, {"draws": 2.5}, {"seed": -1}, {"level": True}):
        with pytest.raises(likely.LikelyError, match=next(iter(bad))):
            sureness(model, {}, **bad)
    with pytest.raises(likely.LikelyError, match="Did you mean 'k'"):
        sureness(model, {"K": "a"})
    with pytest.raises(likely.LikelyError, match="no class"):
        sureness(model, {}).interval("zz")
    for learner in (likely.TreeAugmented(), likely.LinearDiscriminant()):
        other = likely.fit(
            {n: c for n, c in MIXED.items() if n != ("x" if isinstance(learner, likely.TreeAugmented) else "k")},
            "y",
            learner,
        )
        with pytest.raises(likely.LikelyError, match=f"{type(learner).__name__} does not keep"):
            sureness(other, {})
    with pytest.raises(likely.LikelyError, match="density"):
        sureness(likely.fit({"k": MIXED["k"]}, learner=likely.Density()), {})


def test_an_empty_table() -> None:
    model = likely.fit(MIXED, "y", NaiveBayes())
    assert len(sureness(model, {"k": [], "x": []})) == 0
