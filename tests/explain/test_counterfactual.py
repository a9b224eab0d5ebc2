"""The fewest changes are the fewest: compared with trying everything, for classes, actions, levels and numbers."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import likely
from likely import Knowledge, Loss

LEVELS = {"a": ["u", "v", "w"], "b": ["0", "1"], "c": ["x", "y", "z"], "d": ["p", "q"]}
TABLES = st.lists(
    st.fixed_dictionaries({n: st.sampled_from(v) for n, v in LEVELS.items()} | {"t": st.sampled_from(["r", "s", "k"])}),
    min_size=2,
    max_size=14,
)
ROW = st.fixed_dictionaries({n: st.sampled_from(v) for n, v in LEVELS.items()})
LOSSES = [
    None,
    Loss({"r": {"go": 3}, "s": {"stay": 2}, "k": {"stay": 1, "go": 1}}, abstain=0.6),
    Loss.zero_one(("r", "s", "k")),
]


TIED = [
    {"a": "v", "b": "1", "c": "z", "d": "q", "t": "k"},
    {"a": "v", "b": "0", "c": "z", "d": "q", "t": "s"},
    {"a": "v", "b": "0", "c": "x", "d": "q", "t": "r"},
]
"""Under naive Bayes k and r both have 2/5 for the row (u, 1, x, p), which rounding tells apart."""


def decision(model: likely.Model, row: dict[str, str], loss: Loss | None) -> str | None:
    if loss is None:
        return model.predict(row)
    chances = model.posterior(row).matrix[0]
    if not chances.any():
        return None
    # By the definition, in fractions: costs below the costliest action of each class, equal if they differ by less than
    # one part in 2^40; the first of equals.
    costs = [[F(str(c)) for c in row] for row in loss.rows(model.classes)]
    expected = [
        sum((F(p) * (row[a] - max(row)) for p, row in zip(chances.tolist(), costs, strict=True)), F(0))
        for a in range(len(loss.actions))
    ]
    return next(name for name, e in zip(loss.actions, expected, strict=True) if e <= min(expected) * (1 - F(1, 2**40)))


def fewest(
    model: likely.Model, row: dict[str, str], names: list[str], loss: Loss | None, towards: str | None
) -> int | None:
    """By trying everything."""
    now = decision(model, row, loss)
    for size in range(1, len(names) + 1):
        for some in combinations(names, size):
            for values in product(*(model.encoder().labels[n].names for n in some)):  # type: ignore[index]
                found = decision(model, {**row, **dict(zip(some, values, strict=True))}, loss)
                if found is not None and found != now and found == (towards or found):
                    return size
    return None


@pytest.mark.parametrize(
    "learner",
    [
        likely.NaiveBayes(),
        likely.NaiveBayes(pseudo_count=0),
        likely.TreeAugmented(),
        likely.Logistic(),
        likely.NaiveBayes(blocks=(("a", "b"),)),
    ],
    ids=["naive", "plain counts", "tree", "logistic", "block"],
)
@settings(max_examples=25)
@example(table=TIED, row={"a": "u", "b": "1", "c": "x", "d": "p"}, loss=LOSSES[2], towards=None, change=None)
@example(table=TIED, row={"a": "u", "b": "1", "c": "x", "d": "p"}, loss=None, towards=None, change=None)
@given(
    table=TABLES,
    row=ROW,
    loss=st.sampled_from(LOSSES),
    towards=st.none() | st.sampled_from(["r", "s", "k", "go", "stay", "don't know"]),
    change=st.sampled_from([None, ["a", "c"], ["d"]]),
)
def test_as_few_as_trying_everything_finds(
    learner: Any,
    table: list[dict[str, str]],
    row: dict[str, str],
    loss: Loss | None,
    towards: str | None,
    change: list[str] | None,
) -> None:
    columns = {n: [r[n] for r in table] for n in table[0]}
    try:
        model = likely.fit(columns, "t", learner, types=dict.fromkeys(columns, "nominal"))
    except likely.LikelyError:
        return
    if len(model.classes) < 2:
        return
    now = decision(model, row, loss)
    towards = towards if towards in (loss.actions if loss else model.classes) and towards != now else None
    found = likely.counterfactual(model, row, towards=towards, change=change, loss=loss)
    assert found.exact and found.decision == now
    assert (len(found.changes) or None) == fewest(model, row, change or list(LEVELS), loss, towards)
    if found.changes:
        changed = {**row, **{c.name: c.after for c in found.changes}}
        assert decision(model, changed, loss) == found.towards != now
        assert all(row[c.name] == c.before != c.after for c in found.changes)
        for one in found.alone:
            assert all(decision(model, {**row, one.name: level}, loss) == one.decision for level in one.levels)


def test_many_attributes_take_the_largest_gains_first() -> None:
    rng = np.random.default_rng(7)
    t = rng.integers(0, 2, 400)
    columns = {f"a{k}": np.where(rng.random(400) < 0.5 + 0.01 * k, t, 1 - t).astype(str).tolist() for k in range(30)}
    model = likely.fit(
        {**columns, "t": t.astype(str).tolist()},
        "t",
        likely.NaiveBayes(),
        types=dict.fromkeys([*columns, "t"], "nominal"),
    )
    row = dict.fromkeys(columns, "1")
    found = likely.counterfactual(model, row)
    assert found.exact and found.decision == "1"
    gains = sorted(
        (f.log_table[0, 0] - f.log_table[1, 0] + f.log_table[1, 1] - f.log_table[0, 1] for f in model.factors),
        reverse=True,
    )
    need = likely.explain(model, row).log_odds
    assert sum(gains[: len(found.changes)]) > need >= sum(gains[: len(found.changes) - 1])


@settings(max_examples=40)
@given(
    rows=st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5), st.sampled_from(["r", "s"])), min_size=6, max_size=20),
    x=st.floats(-5, 5),
    y=st.floats(-5, 5),
)
def test_numbers_do_at_least_as_well_as_a_fine_grid(rows: list[tuple[float, float, str]], x: float, y: float) -> None:
    table = {"x": [r[0] for r in rows], "y": [r[1] for r in rows], "t": [r[2] for r in rows]}
    model = likely.fit(table, "t", types={"x": "number", "y": "number"})
    if len(model.classes) < 2 or len(model.factors) < 2:
        return
    row = {"x": x, "y": y}
    found = likely.counterfactual(model, row)
    now = model.predict(row)
    grids = {n: np.linspace(min(table[n]), max(table[n]), 201) for n in "xy"}
    # Of a column of whole numbers only whole ones are proposed.
    grids = {n: np.round(g) if all(v == round(v) for v in table[n]) else g for n, g in grids.items()}
    single = [
        n
        for n in "xy"
        if any(p not in (now, None) for p in model.predict({"x": [x] * 201, "y": [y] * 201, n: grids[n].tolist()}))
    ]
    assert {a.name for a in found.alone} >= set(single)
    if found.changes:
        assert model.predict({**row, **{c.name: float(c.after) for c in found.changes}}) == found.towards != now
    for one in found.alone:
        assert one.nearest is not None
        assert model.predict({**row, one.name: one.nearest}) == one.decision
        # Nothing on the fine grid is nearer by more than what rounding may have moved it.
        hits = [
            g
            for g, p in zip(
                grids[one.name],
                model.predict({**{n: [v] * 201 for n, v in row.items()}, one.name: grids[one.name].tolist()}),
                strict=True,
            )
            if p == one.decision
        ]
        way = abs(one.nearest - row[one.name])
        assert not hits or min(abs(h - row[one.name]) for h in hits) >= way * 0.98 - 1e-9


def test_the_nearest_value_and_the_words(examples: Path) -> None:
    model = likely.fit(examples / "weather_mixed.csv", "play")
    found = likely.counterfactual(model, examples / "weather_mixed.csv", number=1)
    assert str(found).splitlines() == [
        "Now the decision is no. It would be yes if one value were different:",
        "  outlook=overcast instead of sunny",
        "  temperature 79 or less instead of 85",
        "  humidity 75 or less instead of 85",
    ]
    row = {"outlook": "sunny", "humidity": 85, "windy": "false"}
    # Training had whole numbers, so whole numbers are named: 80 would not do.
    assert model.predict({**row, "temperature": 79}) == "yes" and model.predict({**row, "temperature": 80}) == "no"
    iris = likely.fit(examples / "iris.csv", "species", likely.NaiveBayes(numbers="binned"))
    text = str(likely.counterfactual(iris, examples / "iris.csv", number=71))
    assert "petal_length from 2.45 to below 4.75 instead of 4.8" in text


def test_a_narrow_region_between_two_crossings_is_found() -> None:
    # s lies within 0.01 of 0, between values of training: only where the two scores cross is it to be seen.
    x = [-100.0, 100.0, -50.0, 50.0] * 3 + [-0.003, 0.003, -0.004, 0.004]
    model = likely.fit({"x": x, "t": ["r"] * 12 + ["s"] * 4}, "t", likely.NaiveBayes(variance_floor=1e-12))
    found = likely.counterfactual(model, {"x": 60.0})
    (one,) = found.alone
    assert one.decision == "s" and 0 < one.nearest < 0.1 and -0.1 < one.farthest < 0


def test_missing_values_are_filled_in_only_if_named(examples: Path) -> None:
    model = likely.fit(examples / "weather.csv", "play")
    plain = likely.counterfactual(model, {"outlook": "sunny"})
    assert {a.name for a in plain.alone} == {"outlook"} and "stay missing" in str(plain)
    named = likely.counterfactual(model, {"outlook": "sunny"}, change=["humidity"])
    assert [(c.name, c.before, c.after) for c in named.changes] == [("humidity", None, "normal")]


def test_the_search_says_when_it_gave_up(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("likely.apply.explain.counterfactual.TRIES", 3)
    model = likely.fit(examples / "weather.csv", "play", likely.TreeAugmented())
    found = likely.counterfactual(model, {"outlook": "overcast", "humidity": "normal", "windy": "false"})
    assert not found.exact and "too many combinations" in str(found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"towards": "maybe"}, "no class 'maybe'"),
        ({"towards": "no"}, "already"),
        ({"change": ["outlok"]}, "Did you mean 'outlook'"),
        ({"change": ["play"]}, "not an attribute of this model"),
        ({"towards": "fly", "loss": Loss({"yes": {"stay": 1}, "no": {"go": 1}})}, "no action 'fly'"),
        ({"loss": Loss({"yes": {"stay": 1}, "maybe": {"go": 1}})}, "does not name the class 'no'"),
    ],
)
def test_bad_input(examples: Path, options: dict[str, Any], words: str) -> None:
    model = likely.fit(examples / "weather.csv", "play")
    with pytest.raises(likely.LikelyError, match=words):
        likely.counterfactual(model, {"outlook": "sunny", "humidity": "high"}, **options)


def test_gibbs_is_refused(examples: Path) -> None:
    model = likely.fit(examples / "weather.csv", "play", likely.Gibbs(("NaiveBayes", "Prior"), weights=(0.5, 0.5)))
    with pytest.raises(likely.LikelyError, match="Use Mixture"):
        likely.counterfactual(model, {"outlook": "sunny"})


def test_knowledge_alone_says_where_a_number_may_lie() -> None:
    """Without a row there is no range of training: what is known takes its place."""
    knowledge = [
        Knowledge.prior({"flu": 0.01, "cold": 0.99}, worth=1000),
        Knowledge("t", given="flu", mean=39, deviation=0.8, worth=20),
        Knowledge("t", given="cold", mean=37, deviation=0.5, worth=20),
    ]
    model = likely.fit(None, "disease", likely.NaiveBayes(knowledge=knowledge))
    found = likely.counterfactual(model, {"t": 37})
    (alone,) = found.alone
    assert found.decision == "cold" and found.towards == "flu" and found.exact and found.complete
    # Where 0.01 * N(x; 39, 0.8) = 0.99 * N(x; 37, 0.5), found by bisection of the definition.
    low, high = 37.0, 39.0

    def ahead(x: float) -> float:
        flu, cold = math.log(0.01 / 0.8) - ((x - 39) / 0.8) ** 2 / 2, math.log(0.99 / 0.5) - ((x - 37) / 0.5) ** 2 / 2
        return flu - cold

    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if ahead(middle) < 0 else (low, middle)
    assert high <= alone.nearest <= high + 0.02 * (high - 37)  # rounded by at most a fiftieth of the way
    more = likely.learn(model, {"t": [36.5, 37.5], "disease": ["cold", "cold"]})
    assert likely.counterfactual(more, {"t": 37}).towards == "flu"  # two rows do not take the knowledge away


def test_none_was_found_is_not_there_is_none() -> None:
    """With three classes and a loss a number is tried at some values only, and the sentence says no more than that."""
    table = {"x": [0.0, 1.0, 2.0, 3.0] * 9, "y": ["a", "b", "a", "c"] * 9}
    model = likely.fit(table, "y", likely.NaiveBayes(), types={"x": "number"})
    never = Loss({"a": {"no": 9, "yes": 0}, "b": {"no": 9, "yes": 0}, "c": {"no": 9, "yes": 0}})
    found = likely.counterfactual(model, {"x": 1.0}, loss=never)
    assert found.exact and not found.complete and not found.changes
    assert "Found no change that leads to another decision." in str(found)
    levels = likely.fit(table, "y", likely.NaiveBayes(), types={"x": "nominal"})
    assert "No change of these values leads to" in str(likely.counterfactual(levels, {"x": 1}, loss=never))


def test_a_loss_and_what_may_change_are_given_as_elsewhere() -> None:
    table = {"sky": ["sun", "sun", "rain", "rain"], "n": ["p", "q", "p", "q"], "play": ["y", "y", "n", "n"]}
    model, costs = likely.fit(table, "play"), {"y": {"stay": 1}, "n": {"go": 4}}
    row = {"sky": "sun", "n": "p"}
    found = likely.counterfactual(model, row, loss=costs, change="sky")
    assert found == likely.counterfactual(model, row, loss=Loss(costs), change=["sky"])
    assert found.decision == likely.decide(model, row, costs).action
