"""Sums of terms: how they are learned, shown and edited, and what is unknown to them."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely import Model
from likely.models.shapes import PairTable, TreeSum, sum_of

ORDERS: tuple[Any, ...] = (1, 2, 3, "any")


def table(rows: int = 400, seed: int = 1) -> dict[str, list[Any]]:
    """Two numbers, two nominal columns, three classes; b and c speak only together; some cells are missing."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=rows).round(2), rng.integers(0, 5, rows)
    b, c = rng.integers(0, 2, rows), rng.integers(0, 2, rows)
    score = np.stack([x, 2.0 * (b ^ c) - 1 + 0.3 * z, np.zeros(rows)], axis=1) + rng.gumbel(size=(rows, 3)) * 0.5
    hidden = rng.random(rows) < 0.1
    return {
        "x": [None if h else float(v) for v, h in zip(x, hidden, strict=True)],
        "z": z.tolist(),
        "b": ["yes" if v else "no" for v in b],
        "c": ["red" if v else "green" for v in c],
        "t": [f"k{k}" for k in score.argmax(axis=1)],
    }


def reordered(data: dict[str, list[Any]], order: np.ndarray[Any, Any]) -> dict[str, list[Any]]:
    return {name: [cells[k] for k in order] for name, cells in data.items()}


def fitted(data: Any, **settings: Any) -> likely.Model:
    return likely.fit(data, "t", likely.Additive(**settings))


@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=5)
@given(seed=st.integers(0, 9999))
def test_no_order_of_rows_changes_a_bit(order: Any, seed: int) -> None:
    data = table(150)
    mixed = reordered(data, np.random.default_rng(seed).permutation(150))
    assert fitted(data, order=order).to_bytes() == fitted(mixed, order=order).to_bytes()


def test_batches_and_threads_change_no_bit(tmp_path: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = pa.table(table(3000))
    pq.write_table(whole, tmp_path / "small.parquet", row_group_size=101)
    pq.write_table(whole, tmp_path / "large.parquet")
    one, two, three = (
        likely.fit(tmp_path / name, "t", likely.Additive(), threads=threads).to_bytes()
        for name, threads in (("small.parquet", 1), ("small.parquet", 3), ("large.parquet", 2))
    )
    assert one == two == three


def test_a_row_of_weight_two_is_the_row_twice() -> None:
    data = table(200)
    twice = {name: [*cells, *cells[:50]] for name, cells in data.items()}
    heavy = {**data, "w": [2.0] * 50 + [1.0] * 150}
    weighed = likely.fit(heavy, "t", likely.Additive(), weight="w")
    rows = {name: cells for name, cells in data.items() if name != "t"}
    assert np.array_equal(weighed.posterior(rows).matrix, fitted(twice).posterior(rows).matrix)


@pytest.mark.parametrize("order", ORDERS)
def test_terms_add_up_to_the_score_to_the_last_bit(order: Any) -> None:
    model = fitted(table(), order=order)
    (batch,) = model.batches(table(50, seed=2))
    terms = model.terms(batch).array
    total = terms[:, 0].copy()
    for k in range(1, terms.shape[1]):
        total = total + terms[:, k]
    assert total.tobytes() == model.log_joint(batch).tobytes()


@pytest.mark.parametrize("order", ORDERS)
def test_nothing_known_is_the_prior_and_unknown_adds_nothing(order: Any) -> None:
    data = table()
    model = fitted(data, order=order)
    found = model.posterior({"x": None, "z": None, "b": None, "c": None})
    counts = [data["t"].count(name) / 400 for name in model.classes]
    assert found.matrix[0] == pytest.approx(counts, abs=1e-12)
    (batch,) = model.batches([{"x": None, "z": 2, "b": "never seen", "c": "red"}])
    terms = dict(zip(model.terms(batch).names, model.terms(batch).array[0], strict=True))
    assert not any(terms[name].any() for name in ("x", "b") if name in terms)
    assert not any(logs.any() for name, logs in terms.items() if name in ("x × z", "b × c", "x × b"))


def test_one_unknown_cell_is_near_the_average_over_it() -> None:
    """Against averaging over what the cell may be: nearer than the model that was told the mean of log-odds."""
    data = table(3000)
    model = fitted(data, order=2)
    rows = {name: cells[:300] for name, cells in data.items() if name != "t"}
    zs = sorted(set(data["z"]))
    share = [data["z"].count(z) / 3000 for z in zs]
    each = [model.posterior({**rows, "z": [z] * 300}).matrix for z in zs]
    truth = sum(p * m for p, m in zip(share, each, strict=True))
    found = model.posterior({**rows, "z": [None] * 300}).matrix

    def distance(q: Any) -> float:
        return float((truth * np.log(truth / q)).sum(axis=1).mean())

    logs = sum(p * np.log(m) for p, m in zip(share, each, strict=True))
    geometric = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    assert distance(found) < 0.02
    assert distance(found) < 2 * distance(geometric) + 0.003


def test_pairs_are_pure_and_have_what_is_said_together_only() -> None:
    """The mean of a pair over the rows of each of its places is 0: functional ANOVA by the training weights."""
    data = table()
    data["x"] = [0.0 if x is None else x for x in data["x"]]
    model = fitted(data)
    (pair,) = [part for part in model.parts if isinstance(part, PairTable) and part.names == ("b", "c")]
    assert np.abs(pair.table).max() > 0.5  # neither says anything by itself: no greedy tree begins with them
    (batch,) = model.batches({name: cells for name, cells in data.items() if name != "t"})
    for part in model.parts:
        if not isinstance(part, PairTable):
            continue
        places = [cells[axis.codes(batch.cells[axis.name])] for axis, cells in zip(part.axes, part.cells, strict=True)]
        known = np.logical_and.reduce([axis.codes(batch.cells[axis.name]) >= 0 for axis in part.axes])
        said = np.zeros((batch.rows, 3))
        part.add(batch, said)
        for place in places:
            for k in np.unique(place[known]):
                # Tables have four digits after the point.
                assert np.abs(said[known & (place == k)].mean(axis=0)).max() < 2e-4


def _widest(part: Any) -> int:
    """How many attributes a term takes together: of trees, the one that has most."""
    if not hasattr(part, "roots"):
        return len(part.names)
    ends = [*part.roots[1:], len(part.axis)]
    each = (part.axis[start:end] for start, end in zip(part.roots, ends, strict=True))
    return max(len({*axis[axis >= 0].tolist()}) for axis in each)


@pytest.mark.parametrize("order", ORDERS)
def test_no_term_has_more_attributes_than_it_may(order: Any) -> None:
    model = fitted(table(), order=order)
    most = max(_widest(part) for part in model.parts)
    assert most <= (4 if order == "any" else order) and (order == 1 or most > 1)


def test_exclusive_or_needs_two_attributes() -> None:
    """What one attribute says is nothing; a pair says all."""
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 2, 500), rng.integers(0, 2, 500)
    data = {"a": [f"v{k}" for k in a], "b": [f"v{k}" for k in b], "t": [f"k{k}" for k in a ^ b]}
    asked = {"a": ["v0", "v0", "v1", "v1"], "b": ["v0", "v1", "v0", "v1"]}
    assert fitted(data, order=2).predict(asked) == ["k0", "k1", "k1", "k0"]
    alone = fitted(data, order=1).posterior(asked).matrix
    assert np.abs(alone - 0.5).max() < 0.1


def test_curves_rise_and_fall_as_told() -> None:
    rng = np.random.default_rng(3)
    x, u = rng.uniform(0, 1, 600), rng.uniform(0, 1, 600)
    up = rng.random(600) < np.where(x < 0.5, x, 1 - x)  # rises, then falls
    data = {"x": x.round(3).tolist(), "u": u.round(3).tolist(), "t": ["yes" if v else "no" for v in up]}
    grid = np.linspace(0, 1, 101).tolist()
    for how, sign in (("rising", 1), ("falling", -1)):
        for order in (1, 2, "any"):
            model = fitted(data, order=order, **{how: ["x"]})
            for other in (0.1, 0.5, 0.9):
                said = model.posterior({"x": grid, "u": [other] * 101}).prob("yes")
                assert all(sign * (b - a) >= -1e-12 for a, b in pairwise(np.asarray(said).tolist()))
    free = fitted(data, order=1).posterior({"x": grid, "u": [0.5] * 101}).prob("yes")
    assert np.max(free) > free[-1] + 0.1


def test_what_must_not_be_combined_is_not() -> None:
    data = table()
    model = fitted(data, order="any", apart=[["b", "c"], ["x", "z"]])
    for part in model.parts:
        assert not {"b", "c"} <= set(part.names) and not {"x", "z"} <= set(part.names)


@pytest.mark.parametrize("order", ORDERS)
def test_a_file_keeps_it(order: Any, tmp_path: Any) -> None:
    model = fitted(table(), order=order, missing="level")
    model.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    (batch,) = model.batches(table(60, seed=7))
    assert again.log_joint(batch).tobytes() == model.log_joint(batch).tobytes()
    assert again.to_bytes() == model.to_bytes()


def test_being_missing_is_evidence_where_it_is_said_to_be() -> None:
    rng = np.random.default_rng(8)
    gone = rng.random(400) < 0.4
    data = {"x": [None if g else float(v) for g, v in zip(gone, rng.normal(size=400), strict=True)],
            "t": ["a" if g else "b" for g in gone]}  # fmt: skip
    assert fitted(data, missing="level").posterior({"x": None}).prob("a") > 0.9
    assert fitted(data).posterior({"x": None}).prob("a") == pytest.approx(float(gone.mean()), abs=1e-12)


def test_a_class_of_two_rows_does_not_ruin_the_rest() -> None:
    data = table(600)
    data["t"][:2] = ["rare", "rare"]
    fresh = table(600, seed=4)
    found = fitted(data, order="any").posterior({n: c for n, c in fresh.items() if n != "t"})
    loss = -np.mean([math.log(found.prob(t)[k]) for k, t in enumerate(fresh["t"])])
    without = fitted(table(600), order="any").posterior({n: c for n, c in fresh.items() if n != "t"})
    assert loss < -np.mean([math.log(without.prob(t)[k]) for k, t in enumerate(fresh["t"])]) + 0.05


def test_numbers_that_were_called_levels_have_their_order_here() -> None:
    model = fitted(table(), order=1)
    ordered = dict(zip(model.coding.names, model.coding.ordered, strict=True))
    assert ordered == {"x": True, "z": True, "b": False, "c": False}


def test_many_levels_share_the_last_code() -> None:
    rng = np.random.default_rng(2)
    level = rng.integers(0, 700, 5000)
    data = {"v": [f"v{k}" for k in level], "t": ["a" if k % 2 else "b" for k in level]}
    model = fitted(data, order=1)
    assert model.coding.axes[0].size == 255
    assert model.posterior({"v": "never seen"}).prob("a") == pytest.approx(data["t"].count("a") / 5000, abs=1e-12)


def test_more_different_rows_than_wanted_are_a_sample_by_content() -> None:
    data = table(2000)
    model = fitted(data, most_rows=500)
    assert any("smallest hashes" in note for note in model.notes)
    mixed = reordered(data, np.random.default_rng(0).permutation(2000))
    assert model.to_bytes() == fitted(mixed, most_rows=500).to_bytes()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rising": ["b"]}, "no order"),
        ({"rising": ["x"]}, "two classes"),
        ({"rising": ["x"], "falling": ["x"]}, "at once"),
        ({"rising": ["nowhere"]}, "nowhere"),
        ({"rising": "x"}, "list of columns"),
        ({"apart": ["x"]}, "columns"),
        ({"order": 0}, "order"),
        ({"order": "all"}, "order"),
        ({"leaves": 1}, "leaves"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(likely.LikelyError, match=words):
        fitted(table(100), **settings)


def test_larger_sets_stay_trees_and_stop_where_a_cell_is_unknown() -> None:
    model = fitted(table(), order="any")
    trees = [part for part in model.parts if isinstance(part, TreeSum)]
    assert trees
    for part in trees:
        out = np.zeros((1, 3))
        part.add_codes([np.array([-1], np.int32)] * len(part.axes), out)
        assert not out.any()  # the mean of all training rows, which was taken off


def test_one_class_or_no_attribute_says_the_prior() -> None:
    assert fitted({"x": [1.0, 2.0, 3.0], "t": ["a", "a", "a"]}).predict({"x": 1.0}) == "a"
    assert fitted({"x": [1.0, 1.0, 1.0], "t": ["a", "a", "b"]}).posterior({"x": 1.0}).prob("a") == pytest.approx(2 / 3)


def test_a_curve_given_by_hand_is_what_the_model_says() -> None:
    rng = np.random.default_rng(3)
    x, u = rng.uniform(0, 100, 800).round(1), rng.normal(size=800).round(2)
    data = {
        "x": x.tolist(),
        "u": u.tolist(),
        "t": ["yes" if v else "no" for v in rng.random(800) < 0.3 + 0.4 * (u > 0)],
    }
    curve = {"starts": [20.0, 60.0], "yes": [-1.0, 0.5, 2.0]}
    model = fitted(data, curves={"x": curve})
    (batch,) = model.batches({"x": [5.0, 20.0, 60.0, None], "u": [0.1] * 4})
    terms = dict(zip(model.terms(batch).names, model.terms(batch).array.transpose(1, 0, 2), strict=True))
    assert terms["x"][:, model.classes.index("yes")].tolist() == [-1.0, 0.5, 2.0, 0.0]
    assert all("x" not in part.names or part.name == "x" for part in model.parts)
    assert model.curve("x") == {**curve, "no": [0.0, 0.0, 0.0]}
    nothing = model.posterior({"x": None, "u": None})
    assert nothing.prob("yes") == pytest.approx(data["t"].count("yes") / 800, abs=1e-12)
    # What the rest says is learned beside it: rows of high x must be held back elsewhere.
    plain = fitted(data)
    assert model.posterior({"x": 80.0, "u": 1.0}).prob("yes") > plain.posterior({"x": 80.0, "u": 1.0}).prob("yes")


def test_a_learned_curve_can_be_edited_and_given_back(tmp_path: Any) -> None:
    data = table()
    curve = fitted(data, order=1).curve("z")
    curve["k1"][-1] = 3.0
    model = fitted(data, order=1, curves={"z": curve})
    assert model.curve("z") == curve
    model.save(tmp_path / "m.likely")
    assert likely.load(tmp_path / "m.likely").to_bytes() == model.to_bytes()


@pytest.mark.parametrize("name", ["starts", "levels"])
def test_a_class_that_is_called_as_steps_are_has_no_curves(name: str) -> None:
    data = {"x": [0.0, 1.0] * 40, "t": [name, "other"] * 40}
    with pytest.raises(likely.LikelyError, match=f"cannot name the class '{name}'"):
        fitted(data).curve("x")


@pytest.mark.parametrize(
    ("curve", "words"),
    [
        ({"x": {"starts": [1.0], "k0": [1.0]}}, "must be 2"),
        ({"x": {"starts": [2.0, 1.0], "k0": [1.0, 1.0, 1.0]}}, "rise"),
        ({"x": {"levels": ["1"], "k0": [1.0]}}, "must have starts"),
        ({"b": {"starts": [1.0], "k0": [1.0, 2.0]}}, "must have levels"),
        ({"x": {"k0": [1.0]}}, "either"),
        ({"x": {"starts": list(range(300)), "k0": [0.0] * 301}}, "steps"),
        ({"x": {"starts": [1.0], "k9": [1.0, 2.0]}}, "not a class"),
        ({"x": {"starts": [1.0], "k0": [1.0, float("nan")]}}, "list of numbers"),
        ({"y": {"starts": [1.0], "k0": [1.0, 2.0]}}, "y"),
        ({"x": 3}, "curves"),
    ],
)
def test_a_curve_that_cannot_be_is_refused(curve: Any, words: str) -> None:
    with pytest.raises(likely.LikelyError, match=words):
        fitted(table(100), curves=curve)


def test_an_attribute_may_be_called_as_a_pair_would_be() -> None:
    """Terms go by their names: "b × c" by itself and the pair of "b" and "c" must not be taken for each other."""
    data = table()
    data["b × c"] = [f"v{k}" for k in np.random.default_rng(9).integers(0, 2, 400)]
    data["t"] = [t if v == "v0" else "k0" for t, v in zip(data["t"], data["b × c"], strict=True)]
    model = fitted(data)
    names = [part.name for part in model.parts]
    assert "b × c" in names and "b ×× c" in names and len(names) == len(set(names))
    ledger = likely.explain(model, {"b": "yes", "c": "red", "b × c": "v1"})
    assert sum(e.log_ratio or 0.0 for e in ledger.entries) == pytest.approx(ledger.log_odds, abs=1e-12)
    assert {e.name for e in ledger.entries if e.kind == "value"} == {"x", "z", "b", "c", "b × c"}


# What is not known adds nothing: of every learner whose terms begin with the prior, on a table of awkward names.


SKY, WIND, COUNT, SAID = 'sky\'s "colour", <b>', "wind, m/s", "n° = [1]; --", "what was 'said'"
TARGET = "to 'play'?"
LEVELS = ["it's", 'a "b"', "new\nline", "ünï ☃", "?!"]
TYPES = {SKY: "nominal", WIND: "number", COUNT: "nominal", "z": "number", TARGET: "nominal"}
NEVER = "never 'seen'"


def training(gaps: float, classes: int = 3, rows: int = 300) -> dict[str, list[Any]]:
    rng = np.random.default_rng(5)
    group = np.minimum(rng.integers(0, classes + 1, rows), classes - 1)  # not all equally frequent
    sky = (group + rng.integers(0, 3, rows)) % len(LEVELS)
    wind, z = 3 * group + 2 * rng.normal(size=rows), np.exp(rng.normal(size=rows)) * (1 + group)
    cells = {
        SKY: [LEVELS[k] for k in sky],
        WIND: wind.round(2).tolist(),
        COUNT: [f"c{k}" for k in (sky + group * rng.integers(0, 2, rows)) % 3],  # depends on the sky
        "z": z.round(2).tolist(),
    }
    gone = rng.random((rows, 4)) < gaps
    out = {n: [None if g else v for v, g in zip(c, gone[:, k], strict=True)] for k, (n, c) in enumerate(cells.items())}
    return {**out, TARGET: [f"class '{k}'" for k in group]}


def with_words(data: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The same with a text, in which each class has words of its own."""
    rng = np.random.default_rng(6)
    own = {name: [f"w{k}x{j}" for j in range(4)] for k, name in enumerate(sorted(set(data[TARGET])))}
    texts = [" ".join([*rng.choice(own[t], 2), *rng.choice(["and", "of", "it"], 3)]) for t in data[TARGET]]
    return {**data, SAID: [None if k % 11 == 0 else text for k, text in enumerate(texts)]}


ALONE: dict[str, Any] = {
    "naive": likely.NaiveBayes(),
    "naive, without smoothing": likely.NaiveBayes(pseudo_count=0),
    "naive, bins": likely.NaiveBayes(numbers="binned"),
    "naive, kernels": likely.NaiveBayes(numbers="kernel"),
    "tuned": likely.TunedNaiveBayes(),
    "one rule": likely.OneRule(),
    "logistic": likely.Logistic(),
    "logistic, squares": likely.Logistic(numbers="squares"),
    "logistic, bins": likely.Logistic(numbers="binned"),
    "logistic, stopped at once": likely.Logistic(max_sweeps=1),
    "additive, 1": likely.Additive(order=1, rounds=40),
    "additive, 2": likely.Additive(order=2, rounds=40),
    "additive, 3": likely.Additive(order=3, rounds=40),
    "additive, any": likely.Additive(order="any", rounds=40),
    "discriminant": likely.LinearDiscriminant(),
    "words": likely.TextLogistic(),
}
"""Each cell has its own term, which is 0 where the cell is unknown; sets of attributes have terms of their own."""
TOGETHER: dict[str, Any] = {
    "tree": likely.TreeAugmented(),
    "blocks": likely.NaiveBayes(blocks=((SKY, COUNT), (WIND, "z"))),
}
"""Unknown cells are summed out of what several say together."""
UNTOLD: dict[str, Any] = {"full": likely.FullBayes(), "one dependence": likely.OneDependence()}
"""Their scores are no sum over attributes; with nothing known they say the prior, too."""


def fitted_with_gaps(name: str, gaps: float = 0.0, classes: int = 3) -> Model:
    learner = {**ALONE, **TOGETHER, **UNTOLD}[name]
    data, types = training(gaps, classes), dict(TYPES)
    if name in ("discriminant", "full"):  # numbers only
        data = {n: data[n] for n in (WIND, "z", TARGET)}
    if name == "words":
        data, types = with_words(data), {**TYPES, SAID: "text"}
    return likely.fit(data, TARGET, learner, types={n: k for n, k in types.items() if n in data})


def prior_of(model: Model) -> Any:
    total = model.summary.total.floats()
    return total / total.sum()


def unknown_cells(model: Model, name: str) -> list[Any]:
    """Cells of an attribute of which nothing is known."""
    if model.schema[name].kind == "text":
        return [None, "", "nobody 'knows' these"]
    return [None, np.nan, np.inf, -np.inf] if model.schema[name].kind == "number" else [None, NEVER]


def spoken(model: Model, row: dict[str, Any]) -> dict[str, Any]:
    """What each attribute or set of attributes says of a row, by its name."""
    (batch,) = model.batches({name: [cell] for name, cell in row.items()})
    terms = model.terms(batch)
    last = 1 + len(terms.lines)
    total = np.zeros(len(model.classes))
    for logs in terms.array[0]:
        total = total + logs
    if terms.last == "rounding" or terms.averaged:  # what is left over is itself rounded
        np.testing.assert_allclose(total, model.log_joint(batch)[0], rtol=1e-15, atol=1e-15 if terms.averaged else 0)
    else:
        assert total.tobytes() == model.log_joint(batch)[0].tobytes()
    return dict(zip(terms.names[1:last], terms.array[0, 1:last], strict=True))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", [*ALONE, *TOGETHER, *UNTOLD])
def test_with_nothing_known_the_answer_is_the_prior(name: str, classes: int) -> None:
    model = fitted_with_gaps(name, classes=classes)
    attributes = [c.name for c in model.schema.attributes]
    rows: list[dict[str, Any]] = [{}, dict.fromkeys(attributes)]
    rows += [{n: cells[k % len(cells)] for n in attributes for cells in [unknown_cells(model, n)]} for k in range(4)]
    for row in rows:
        np.testing.assert_allclose(model.posterior(row).matrix[0], prior_of(model), rtol=1e-12, atol=0)
        if name not in UNTOLD:
            said = spoken(model, {n: row.get(n) for n in attributes})
            assert all((logs == 0.0).all() for logs in said.values()), (row, said)


@pytest.mark.parametrize("name", ALONE)
def test_an_unknown_cell_adds_exactly_nothing(name: str) -> None:
    """To the score itself; what unknown cells would probably say comes on top (tests/laws/test_partly_known.py)."""
    model, data = replace(fitted_with_gaps(name), references=None), with_words(training(0.0))
    shape = model.shape()
    whole = None if shape is None else sum_of(shape)
    terms = () if whole is None else whole[0].terms
    sets = {t.name: (t.names, isinstance(t, PairTable)) for t in terms if isinstance(t, (PairTable, TreeSum))}
    attributes, rng = [c.name for c in model.schema.attributes], np.random.default_rng(8)
    spoke = 0
    for k in range(60):
        row = {n: data[n][k] for n in attributes}
        hidden = [n for n in attributes if rng.random() < 0.5]
        for n in hidden:
            cells = unknown_cells(model, n)
            row[n] = cells[rng.integers(0, len(cells))]
        for called, logs in spoken(model, row).items():
            own, pair = sets.get(called, ((called,), False))
            # Larger sets speak of those that are known; of a pair nothing is left where one is not.
            silent = any(n in hidden for n in own) if pair else all(n in hidden for n in own)
            assert not silent or (logs == 0.0).all(), (called, row)
            spoke += not silent and bool(logs.any())
    assert spoke > 10


@pytest.mark.parametrize("name", [n for n in ALONE if n != "words"])
def test_the_ledger_has_no_line_for_what_is_unknown(name: str) -> None:
    model = fitted_with_gaps(name)
    names = [c.name for c in model.schema.attributes]
    known = names[0]
    ledger = likely.explain(model, {known: training(0.0)[known][0]})
    assert ledger.entries[0].kind == "prior"
    written = str(ledger).splitlines()
    start = next(k for k, line in enumerate(written) if line.strip().startswith("together"))
    others = [n.split(",")[0] for n in names[1:]]
    assert not any(other in line for line in written[: start + 1] for other in others if len(other) > 1)
    how = "left out" if model.references is None else "averaged over what they may be"
    assert f"Unknown, so {how}" in written[start + 1]


@pytest.mark.parametrize("name", TOGETHER)
def test_unknown_cells_of_a_block_are_summed_out(name: str) -> None:
    """P(class, known cells) is the sum over the levels that the unknown cell may have."""
    model, data = fitted_with_gaps(name), training(0.0)
    for k in range(20):
        row = {n: data[n][k] for n in (SKY, WIND, COUNT, "z")}
        for n in (SKY, COUNT):
            each = [{**row, n: level} for level in model.levels(n)]
            (batch,) = model.batches({m: [r[m] for r in [{**row, n: None}, {**row, n: NEVER}, *each]] for m in row})
            joint = np.exp(model.log_joint(batch))
            np.testing.assert_allclose(joint[0], joint[2:].sum(axis=0), rtol=1e-9)
            np.testing.assert_array_equal(joint[0], joint[1])


@pytest.mark.parametrize("numbers", ["linear", "squares", "binned"])
@pytest.mark.parametrize("gaps", [0.0, 0.15])
def test_logistic_is_its_regression_measured_from_the_prior(numbers: Any, gaps: float) -> None:
    """The terms and the textbook's sum of weights give complete rows, and cells that the search has seen missing, the
    same probabilities."""
    model: Any = likely.fit(training(gaps), TARGET, likely.Logistic(numbers=numbers, missing="level"), types=TYPES)
    data = training(gaps)
    rows = [k for k in range(300) if data[SKY][k] is not None and data[COUNT][k] is not None]
    (batch,) = model.batches({n: [data[n][k] for k in rows] for n in (SKY, WIND, COUNT, "z")})
    scores = np.tile(model.weights[0], (len(rows), 1))
    for part in model.design.parts(model.weights):
        part.add(batch, scores)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(np.exp(model.log_joint(batch)), odds / odds.sum(axis=1, keepdims=True), atol=1e-13)
    np.testing.assert_array_equal(model.terms(batch).array[:, 0], np.tile(model.log_prior, (len(rows), 1)))


@pytest.mark.parametrize("numbers", ["linear", "squares", "binned"])
def test_what_logistic_learned_of_missing_numbers_is_evidence_where_it_is_told_so(numbers: Any) -> None:
    data = training(0.15)
    data[WIND] = [
        None if t == "class '1'" and k % 3 else v for k, (v, t) in enumerate(zip(data[WIND], data[TARGET], strict=True))
    ]
    data["z"] = training(0.0)["z"]
    model = likely.fit(data, TARGET, likely.Logistic(numbers=numbers, missing="level"), types=TYPES)
    said = spoken(model, dict.fromkeys((SKY, WIND, COUNT, "z")))
    assert said[WIND][1] - said[WIND][0] > 1  # where it is missing, the second class is likely
    assert not any(said[n].any() for n in (SKY, COUNT, "z"))
    assert model.posterior({}).prob("class '1'") > 2 * prior_of(model)[1]
    np.testing.assert_array_equal(spoken(model, {SKY: None, WIND: np.inf, COUNT: NEVER, "z": None})[WIND], said[WIND])
    usual = likely.fit(data, TARGET, likely.Logistic(numbers=numbers), types=TYPES)
    assert not any(one.any() for one in spoken(usual, dict.fromkeys((SKY, WIND, COUNT, "z"))).values())
    np.testing.assert_allclose(usual.posterior({}).matrix[0], prior_of(usual), atol=1e-12)


def test_where_no_attribute_says_anything_logistic_says_the_prior() -> None:
    same = likely.fit({"x": [5.0] * 4, "y": list("aaab")}, "y", likely.Logistic(), types={"x": "number"})
    one = likely.fit({"c": ["only"] * 4, "y": list("aaab")}, "y", likely.Logistic(), types={"c": "nominal"})
    for model, row in ((same, {"x": 5.0}), (same, {}), (one, {"c": "only"}), (one, {}), (one, {"c": "other"})):
        assert model.posterior(row).prob("a") == pytest.approx(0.75, rel=1e-9)


def test_words_that_are_unknown_add_nothing_beside_those_that_are_known() -> None:
    model = fitted_with_gaps("words")
    row = dict.fromkeys((SKY, WIND, COUNT, "z"))
    known = spoken(model, {**row, SAID: "w0x1 and"})[SAID]
    assert known.any()
    np.testing.assert_array_equal(spoken(model, {**row, SAID: "w0x1 nobody and 'knows' these"})[SAID], known)


def test_the_strongest_pairs_stay() -> None:
    """Those whose mean square over the rows is greatest, recomputed by asking each pair's table about every row."""
    data = table(400)
    whole = fitted(data, order=2)

    def pairs(model: Model) -> dict[tuple[str, ...], PairTable]:
        return {term.names: term for term in sum_of(model.score)[0].terms if isinstance(term, PairTable)}  # type: ignore[index]

    (batch,) = whole.batches(data)
    strength = {}
    for names, term in pairs(whole).items():
        said = np.zeros((batch.rows, 3))
        term.add(batch, said)
        strength[names] = float((said**2).mean())
    ranked = sorted(strength, key=lambda names: -strength[names])
    assert len(ranked) >= 3
    for count in (0, 1, 2, 99):
        fewer = fitted(data, order=2, pairs=count)
        assert {*pairs(fewer)} == {*ranked[:count]}
        assert all(pairs(fewer)[names].table.tobytes() == pairs(whole)[names].table.tobytes() for names in pairs(fewer))
    with pytest.raises(likely.errors.SettingError, match="pairs is for order 2"):
        fitted(data, order=3, pairs=2)
