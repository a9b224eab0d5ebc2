"""Blocks of naive Bayes: one block of all columns is full Bayes, blocks of one are none, and all that lies between."""

from __future__ import annotations

import math
import re
import tempfile
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import likely
from likely.apply.fitting import merge_files, unlearn
from likely.errors import LikelyError
from likely.models.pool.hypotheses import log_evidence
from likely.models.registry import learner_named, settings_of
from likely.sums.contracts import request

NB = likely.NaiveBayes
TYPES = {**dict.fromkeys("abct", "nominal"), **dict.fromkeys("xyz", "number")}
LEVELS = {
    "a": st.sampled_from(["u", "v", "w", None]),
    "b": st.sampled_from(["0", "1", "ä\n,", None]),
    "c": st.sampled_from(["yes", "no", None]),
}
NUMBERS = {
    "x": st.sampled_from([1e9, 1e9 + 1e-7, 1.5, -3.0, 0.0, math.inf, None]),
    "y": st.sampled_from([1e-200, 5e-324, 7.0, -1e-3, None]),
    "z": st.floats(-1e6, 1e6) | st.none(),
}
REST = {"t": st.sampled_from(["c", "d", "e"]), "w": st.sampled_from([1.0, 2.0, 0.3, 1e-9])}


def tables(cells: dict[str, Any]) -> Any:
    return st.lists(st.fixed_dictionaries({**cells, **REST}), min_size=2, max_size=14)


ASKED = st.lists(
    st.fixed_dictionaries(
        {
            "a": st.sampled_from(["u", "v", "new", None]),
            "b": st.sampled_from(["0", "2", None]),
            "c": st.sampled_from(["yes", "no", "", None]),
            "x": st.sampled_from([1e9, 1.5, -1e300, math.nan, None]),
            "y": st.sampled_from([7.0, 0.0, None]),
            "z": st.floats(-1e9, 1e9) | st.none(),
        }
    ),
    min_size=1,
    max_size=6,
)


def columns(rows: list[dict[str, Any]], names: Any) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in names}


def summarized(rows: list[dict[str, Any]], names: str, more: Any = (), weighted: bool = True) -> likely.Summary:
    types = {n: TYPES[n] for n in [*names, "t"]}
    data = columns(rows, [*names, "t", *("w" if weighted else "")])
    return likely.summarize(data, "t", types=types, weight="w" if weighted else None, more=more)


def scores(model: Any, rows: list[dict[str, Any]], names: str) -> Any:
    (batch,) = model.batches(columns(rows, names))
    return model.log_joint(batch)


def learned(learner: Any, rows: list[dict[str, Any]], names: str) -> Any:
    first = summarized(rows, names)
    return learner.learn(summarized(rows, names, learner.needs(first.schema)))


# -- the two ends of the scale ------------------------------------------------------------------------------------


@given(tables(LEVELS), ASKED, st.sampled_from([0, 0.3, 1]), st.sampled_from(["skip", "reserve"]))
@settings(max_examples=30)
def test_one_block_of_all_levels_is_full_bayes(rows: Any, asked: Any, pseudo_count: float, unseen: Any) -> None:
    shared: dict[str, Any] = {"pseudo_count": pseudo_count, "unseen": unseen}
    block = learned(NB(blocks=(("c", "a", "b"),), **shared), rows, "abc")
    full = learned(likely.FullBayes(**shared), rows, "abc")
    assert block.summary.more.keys() == {"cells"}  # the same sums serve both
    assert np.array_equal(scores(block, asked, "abc"), scores(full, asked, "abc"))
    summary = block.summary
    assert log_evidence(block.learner, summary) == log_evidence(full.learner, summary)


@given(tables(NUMBERS), ASKED, st.sampled_from([1e-3, 1e-6]), st.sampled_from(["auto", 0, 0.5]))
@settings(max_examples=30)
def test_one_block_of_all_numbers_is_full_bayes(rows: Any, asked: Any, floor: float, shrinkage: Any) -> None:
    shared: dict[str, Any] = {"variance_floor": floor, "shrinkage": shrinkage}
    block = learned(NB(blocks=(("x", "y", "z"),), **shared), rows, "xyz")
    full = learned(likely.FullBayes(density="normal", **shared), rows, "xyz")
    assert block.summary.more.keys() == {"products"}
    assert np.array_equal(scores(block, asked, "xyz"), scores(full, asked, "xyz"))
    assert log_evidence(block.learner, block.summary) == log_evidence(full.learner, block.summary)


@given(tables(LEVELS | NUMBERS), ASKED, st.sampled_from(["skip", "level"]), st.sampled_from(["gaussian", "kernel"]))
@settings(max_examples=40)
def test_blocks_of_one_are_naive_bayes(rows: Any, asked: Any, missing: Any, numbers: Any) -> None:
    plain = NB(missing=missing, numbers=numbers)
    apart = NB(missing=missing, numbers=numbers, blocks=tuple((n,) for n in "zxcbay"))
    one, two = learned(plain, rows, "abcxyz"), learned(apart, rows, "abcxyz")
    assert two.summary == one.summary and not two.summary.more and two.notes == one.notes
    assert np.array_equal(scores(one, asked, "abcxyz"), scores(two, asked, "abcxyz"))
    assert log_evidence(plain, one.summary) == log_evidence(apart, two.summary)


# -- between them -------------------------------------------------------------------------------------------------

LEARNERS = st.builds(
    NB,
    pseudo_count=st.sampled_from([0, 0.5, 1]),
    m_estimate=st.sampled_from([None, 0, 2.0]),
    missing=st.sampled_from(["skip", "level"]),
    unseen=st.sampled_from(["skip", "reserve"]),
    variance=st.sampled_from(["unbiased", "ml"]),
    shrinkage=st.sampled_from([0.0, 0.5, "auto"]),
    blocks=st.sampled_from(
        [(("a", "b"),), (("z", "x"), ("c", "b")), (("x", "y", "z"), ("a", "b", "c")), (("y", "z"),)]
    ),
)


@given(tables(LEVELS | NUMBERS), ASKED, LEARNERS)
@settings(max_examples=40)
def test_terms_working_file_and_sampling(rows: Any, asked: Any, learner: Any) -> None:
    model = learned(learner, rows, "abcxyz")
    (batch,) = model.batches(columns(asked, "abcxyz"))
    terms, joint = model.terms(batch), model.log_joint(batch)
    total = np.zeros_like(joint)
    for k in range(len(terms.names)):
        total += terms.array[:, k]
    assert np.array_equal(total, joint) and not np.isnan(joint).any()
    assert len(set(terms.names)) == len(terms.names) == 1 + len(model.factors)
    for row in asked:
        told = model.working({n: row[n] for n in "abcxyz"})
        assert str(told) and "Traceback" not in str(told)
        for step in told.steps[1:]:
            for name, value in step.values.items():
                if not isinstance(value, float):
                    log = math.log(value) if float(value) else -math.inf
                    assert math.isclose(log, step.log_values[name], abs_tol=1e-13)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.likely"
        model.save(path)
        back = likely.load(path)
        assert back.learner == learner and back.summary == model.summary
        assert np.array_equal(back.log_joint(batch), joint)
        back.save(Path(folder) / "n.likely")
        assert path.read_bytes() == (Path(folder) / "n.likely").read_bytes()
    assert learner_named("NaiveBayes", settings_of(learner)) == learner
    drawn = model.sample(5, seed=3)
    assert all(len(cells) == 5 for cells in drawn.values()) and list(drawn)[-1] == "t"
    assert all(e.header and all(len(r) == len(e.header) for r in e.rows) for e in model.exhibits())


@given(tables(LEVELS | NUMBERS), tables(LEVELS | NUMBERS), LEARNERS)
@settings(max_examples=40)
def test_merged_is_swept_at_once_and_unlearned_is_never_learned(one: Any, two: Any, learner: Any) -> None:
    whole = learned(learner, one + two, "abcxyz").summary
    wishes = learner.needs(whole.schema)
    parts = [
        likely.summarize(columns(rows, [*"abcxyz", "t", "w"]), schema=whole.schema, more=wishes) for rows in (one, two)
    ]
    assert parts[0] + parts[1] == parts[1] + parts[0] == whole
    assert whole - parts[0] == parts[1]
    assert whole.more.keys() == wishes


def test_levels_by_fractions() -> None:
    """P(cells | class) counted by hand, over all completions of what is missing."""
    rng = np.random.default_rng(5)
    rows = [
        {"a": "uvw"[rng.integers(3)], "b": "01"[rng.integers(2)], "c": ["yes", "no"][rng.integers(2)], "t": "de"[k % 2]}
        for k in range(25)
    ]
    rows[3]["a"] = rows[8]["c"] = None  # type: ignore[assignment]
    model = likely.fit(columns(rows, "abct"), "t", NB(pseudo_count=0.5, blocks=(("a", "c"),)), types={"b": "nominal"})
    half = Fraction(1, 2)
    for asked in ({"a": "u", "c": "no"}, {"a": "w"}, {"c": "yes"}, {"a": "new", "c": "yes"}):
        known = {n: v for n, v in asked.items() if v != "new"}
        step = model.working(asked).steps[1]
        assert step.name == "a & c" and {n for n, _ in step.cells} == {*known}
        for label in "de":
            complete = [r for r in rows if r["t"] == label and None not in (r["a"], r["c"])]
            cells = [
                cell
                for cell in product("uvw", ("yes", "no"))
                if all(dict(zip("ac", cell, strict=True))[n] == v for n, v in known.items())
            ]
            wanted = sum(Fraction(sum((r["a"], r["c"]) == cell for r in complete)) + half for cell in cells)
            assert step.values[label].value == wanted / (len(complete) + 6 * half)  # type: ignore[union-attr]
    assert "weight 2 lack a cell" in model.notes[0] and "a & c" in model.notes[0]


def test_numbers_by_scipy_missing_cells_integrated_out() -> None:
    rng = np.random.default_rng(6)
    x = rng.standard_normal((60, 3)) @ np.array([[1, 0.5, 0.2], [0, 1, -0.7], [0, 0, 1]]) + [5, 0, 1e6]
    label = np.array(["p", "q"] * 30)
    data = {**{n: x[:, k].tolist() for k, n in enumerate("xyz")}, "t": label.tolist()}
    model = likely.fit(data, "t", NB(blocks=(("x", "z"),), variance_floor=0))
    assert [f.name for f in model.factors] == ["x & z", "y"]
    assert model.summary.more.keys() == {request("products", ["x", "z"])}
    asked = [{"x": 4.0, "z": 1e6}, {"x": 4.0}, {"z": 1e6 + 1}, {"x": 4.0, "y": 0.5, "z": 1e6}]
    for row in asked:
        at = ["xyz".index(n) for n in row if n in "xz"]
        value = [row["xyz"[k]] for k in at]
        for k, name in enumerate("pq"):
            mine = x[label == name]
            cov = np.cov(mine.T)[np.ix_(at, at)]
            wanted = stats.multivariate_normal(mine.mean(0)[at], cov).logpdf(value)
            (batch,) = model.batches([{n: row.get(n) for n in "xyz"}])
            assert math.isclose(model.terms(batch).array[0, 1, k], wanted, rel_tol=1e-9)


@pytest.mark.parametrize("missing", ["skip", "level"])
@pytest.mark.parametrize("unseen", ["skip", "reserve"])
@pytest.mark.parametrize("m_estimate", [None, 3.0])
def test_all_rows_together_have_probability_one(missing: Any, unseen: Any, m_estimate: Any) -> None:
    rows = [{"a": "uvw"[k % 3], "b": "01"[k % 2], "c": "yes", "t": "de"[k % 4 > 0]} for k in range(12)]
    rows += [{"a": None, "b": "1", "c": "no", "t": "d"}, {"a": "u", "b": None, "c": "no", "t": "e"}]
    learner = NB(missing=missing, unseen=unseen, m_estimate=m_estimate, blocks=(("a", "c"),))
    model = likely.fit(columns(rows, "abct"), "t", learner, types=dict.fromkeys("abct", "nominal"))
    more = ([None] if missing == "level" else []) + (["new"] if unseen == "reserve" else [])
    every = [
        dict(zip("abc", cell, strict=True)) for cell in product([*"uvw", *more], [*"01", *more], ["yes", "no", *more])
    ]
    (batch,) = model.batches(every)
    assert math.isclose(np.exp(model.log_joint(batch)).sum(), 1, rel_tol=1e-12)


def test_missing_numbers_as_evidence() -> None:
    """P(known or missing | class) for each number of a block, times the density of those that are known."""
    rng = np.random.default_rng(7)
    x = rng.standard_normal((40, 2))
    data = {"x": x[:, 0].tolist(), "y": [None if k % 5 == 0 else v for k, v in enumerate(x[:, 1].tolist())]}
    data["t"] = ["p" if k < 15 else "q" for k in range(40)]  # type: ignore[misc]
    skip, level = (likely.fit(data, "t", NB(missing=m, blocks=(("x", "y"),))) for m in ("skip", "level"))  # type: ignore[arg-type]
    gone = {"p": (3 + 1) / 17, "q": (5 + 1) / 27}
    for row, there in (({"x": 0.3}, False), ({"x": 0.3, "y": -1.0}, True)):
        (batch,) = skip.batches([{"x": row["x"], "y": row.get("y")}])
        for k, name in enumerate("pq"):
            wanted = skip.log_joint(batch)[0, k] + math.log((1 - gone[name]) if there else gone[name])
            wanted += math.log({"p": 16 / 17, "q": 26 / 27}[name])  # x is always known
            assert math.isclose(level.log_joint(batch)[0, k], wanted, rel_tol=1e-12)
    drawn = level.sample(20_000, seed=1)
    share = np.mean([v is None for v, t in zip(drawn["y"], drawn["t"], strict=True) if t == "p"])
    assert abs(share - 4 / 17) < 0.02


def test_samples_come_home() -> None:
    rng = np.random.default_rng(8)
    a = rng.integers(0, 2, 400)
    data: dict[str, Any] = {
        "a": [f"a{v}" for v in a],
        "b": [f"b{v}" for v in a ^ (rng.random(400) < 0.1)],
        "x": rng.standard_normal(400).tolist(),
    }
    data["z"] = [0.9 * v + 0.3 * e for v, e in zip(data["x"], rng.standard_normal(400), strict=True)]
    data["t"] = ["p" if v else "q" for v in rng.random(400) < 0.4]
    learner = NB(blocks=(("a", "b"), ("x", "z")))
    model = likely.fit(data, "t", learner)
    drawn = model.sample(40_000, seed=2)
    assert list(drawn) == ["a", "b", "x", "z", "t"] and drawn == model.sample(40_000, seed=2)
    again = likely.fit(drawn, "t", learner)
    for one, two in zip(model.factors, again.factors, strict=True):
        if one.name == "a & b":
            assert np.allclose(*(np.exp(f.table.part(np.arange(2)).log_table[:4]) for f in (one, two)), atol=0.02)
        else:
            assert np.allclose(one.normal.covariance, two.normal.covariance, atol=0.05)


def test_a_block_sees_what_naive_bayes_cannot(tmp_path: Path) -> None:
    """The class is whether a and b differ: neither tells anything alone."""
    rows = [(p, q, "same" if p == q else "not", k % 3) for k, (p, q) in enumerate(list(product("01", "01")) * 25)]
    path = tmp_path / "xor.csv"
    path.write_text("a,b,t,n\n" + "".join(f"l{p},m{q},{t},l{n}\n" for p, q, t, n in rows))
    learners = {"alone": NB(), "block": NB(blocks=(("a", "b"),)), "full": likely.FullBayes()}
    found = {one.name: one.scores.accuracy for one in likely.compare(path, "t", learners).learners if one.scores}
    assert found["alone"] < 0.6 and found["block"] == found["full"] == 1
    record = likely.look(path, "t", learners["block"])
    assert record.scores.accuracy == 1 and record.baseline.accuracy < 0.6
    both = likely.compare(path, "t", {"one": NB(blocks=(("a", "b", "n"),)), "two": likely.FullBayes()}).learners
    assert both[0].scores is not None and both[0].scores == both[1].scores


def test_evidence_of_blocks_multiplies() -> None:
    """Independent blocks: the evidence is that of each, without the classes counted twice."""
    rng = np.random.default_rng(9)
    cells = {n: [f"{n}{v}" for v in rng.integers(0, 3, 30)] for n in "abc"}
    numbers = {n: rng.standard_normal(30).tolist() for n in "xz"}
    target = ["pq"[v] for v in rng.integers(0, 2, 30)]
    data = {**cells, **numbers, "t": target}

    def evidence(learner: Any, names: str) -> float:
        model = likely.fit(columns_of(data, names), "t", learner)
        found = log_evidence(learner, model.summary)
        assert found is not None
        return found

    prior = evidence(likely.NaiveBayes(), "t")
    whole = evidence(NB(blocks=(("a", "c"), ("x", "z"))), "abcxzt") - prior
    apart = [evidence(likely.FullBayes(), "act"), evidence(NB(), "bt"), evidence(likely.FullBayes(), "xzt")]
    assert math.isclose(whole, sum(v - prior for v in apart), rel_tol=1e-12)
    mixture = likely.fit(data, "t", likely.Mixture((NB(), NB(blocks=(("a", "b"),)))))
    assert math.isclose(sum(mixture.beliefs.weight), 1)
    held_out = likely.fit(data, "t", likely.Mixture((NB(), NB(blocks=(("a", "b"), ("x", "z")))), weights="held-out"))
    assert len(held_out.beliefs.weight) == 2


def columns_of(data: dict[str, Any], names: str) -> dict[str, Any]:
    return {n: data[n] for n in names}


def test_a_wide_table_pays_for_its_blocks_only() -> None:
    """200 attributes of 5 levels: 10**12 cells in one block, and only those of the block are kept."""
    rng = np.random.default_rng(10)
    data: dict[str, Any] = {f"c{k}": [f"l{v}" for v in rng.integers(0, 5, 300)] for k in range(60)}
    data["t"] = ["pq"[v] for v in rng.integers(0, 2, 300)]
    names = tuple(f"c{k}" for k in range(20))
    model = likely.fit(data, "t", NB(blocks=(names, ("c30", "c31"))))
    assert model.summary.more.keys() == {request("cells", names), request("cells", ["c30", "c31"])}
    factor = model.factors[0]
    assert factor.table.cells == 5**20 > 10**12
    (batch,) = model.batches(data)
    assert np.isfinite(model.log_joint(batch)).all()
    assert len(str(model.working({n: data[n][0] for n in data if n != "t"})))


def test_sums_of_all_columns_serve_a_block_too() -> None:
    rng = np.random.default_rng(11)
    data: dict[str, Any] = {n: [f"{n}{v}" for v in rng.integers(0, 3, 50)] for n in "abc"}
    data["a"][3] = None
    data |= {n: rng.standard_normal(50).tolist() for n in "xyz"} | {"t": ["pq"[k % 2] for k in range(50)]}
    learner = NB(blocks=(("a", "b"), ("x", "z")))
    own = likely.fit(data, "t", learner)
    all_of = likely.summarize(data, "t", more=["cells", "products"])
    (batch,) = own.batches(data)
    assert np.array_equal(learner.learn(all_of).log_joint(batch), own.log_joint(batch))
    with pytest.raises(LikelyError, match=re.escape('more=[\'cells["a","b"]\']')):
        learner.learn(likely.summarize(data, "t"))
    with pytest.raises(LikelyError, match="keeps cells of 'a' & 'b', products of 'x' & 'z' of its rows"):
        own.summary + likely.summarize(data, "t")


def test_a_class_that_only_one_part_has(tmp_path: Path) -> None:
    data = [{"a": "uv"[k % 2], "b": "01"[k % 3 > 0], "t": "p" if k < 9 else "q"} for k in range(18)]
    learner = NB(blocks=(("a", "b"),))
    types = {"a": "nominal", "b": "nominal"}
    whole = likely.fit(data, "t", learner, types=types)
    for k, part in enumerate((data[:9], data[9:])):
        likely.fit(part, None, learner, schema=whole.schema).save(tmp_path / f"{k}.likely")
    both = merge_files([tmp_path / "1.likely", tmp_path / "0.likely"])
    assert both.summary == whole.summary
    assert unlearn(both, data[9:]).classes == ("p",)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"blocks": (("a", "bb"),)}, "no column 'bb'"),
        ({"blocks": (("a", "t"),)}, "'t' is the target"),
        ({"blocks": (("a", "w"),)}, "'w' is the weight"),
        ({"blocks": (("a", "k"),)}, "'k' is left out of the model"),
        ({"blocks": (("a", "x"),)}, "either levels or numbers, and 'a' has levels while 'x' has numbers"),
        ({"blocks": (("x", "z"),), "numbers": "kernel"}, "'x' is to be kernel"),
        ({"blocks": (("x", "z"),), "variance_floor": 2.0}, "variance_floor"),
        ({"blocks": (("x", "z"),), "variance_floor": 0.0}, "Block 'x & z': Class 'p' has attributes that follow"),
        ({"blocks": (("a", "b"),), "m_estimate": 1.0, "level_weights": {"a": {"u": 1}}}, "Level weights are of an"),
    ],
)
def test_blocks_that_do_not_fit_the_table(settings: dict[str, Any], words: str) -> None:
    rows = [
        {"a": "uv"[n % 2], "b": f"b{n % 3}", "x": n * 1.5, "z": n * 3.0, "k": "same", "w": 1.0, "t": "pq"[n % 4 > 1]}
        for n in range(20)
    ]
    with pytest.raises(LikelyError, match=re.escape(words)):
        likely.fit(rows, "t", NB(**settings), weight="w")


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ((("a", "b"), ("c", "a")), "Column 'a' is in blocks 1 and 2"),
        ((("a", "a"),), "Column 'a' is twice in block 1"),
        ((("a", "b"), ()), "Block 2 is empty"),
        ("ab", "not a list of blocks"),
        (("ab",), "Block 1 is 'ab', which is not a list of columns"),
        (((1, 2),), "not the name of a column"),
        (7, "not a list of blocks"),
    ],
)
def test_blocks_that_fit_no_table(blocks: Any, words: str) -> None:
    with pytest.raises(LikelyError, match=re.escape(words)):
        NB(blocks=blocks)
    with pytest.raises(LikelyError, match=re.escape(words)):
        learner_named("NaiveBayes", {"blocks": blocks})


def test_numbers_that_follow_from_each_other_are_told() -> None:
    data = {"x": [k / 4 for k in range(20)], "z": [2.5 * k for k in range(20)], "t": ["p", "q"] * 10}
    model = likely.fit(data, "t", NB(blocks=(("x", "z"),)))
    assert any(note.startswith("Block 'x & z': Class 'p' has attributes that follow") for note in model.notes)
    assert np.isfinite(model.posterior({"x": 3.0, "z": 6.0}).matrix).all()


def test_a_column_that_is_called_like_a_block() -> None:
    data = {"a": ["u", "v"] * 6, "b": ["k", "l", "l"] * 4, "a & b": ["s", "s", "r"] * 4, "t": ["p", "q"] * 6}
    model = likely.fit(data, "t", NB(blocks=(("a", "b"),)))
    assert [f.name for f in model.factors] == ["(a & b)", "a & b"]
    assert model.block_of("a") is model.factors[0] and model.block_of("a & b") is None


def test_a_density_has_blocks_too() -> None:
    rng = np.random.default_rng(12)
    data: dict[str, Any] = {n: [f"{n}{v}" for v in rng.integers(0, 3, 40)] for n in "abc"}
    data |= {n: rng.standard_normal(40).tolist() for n in "xz"}
    model = likely.fit(data, learner=likely.Density(blocks=(("a", "c"), ("x", "z"))))
    assert [f.name for f in model.factors] == ["a & c", "b", "x & z"]
    assert {*model.summary.more} == {request("cells", "ac"), request("products", "xz")}
    row = {n: data[n][0] for n in data}
    parts = [likely.fit({n: data[n] for n in names}, learner=likely.Density(variance_floor=1e-6)) for names in
             ("ac", "b", "xz")]  # fmt: skip
    apart = [m.log_density({n: row[n] for n in names}) for m, names in zip(parts, ("ac", "b", "xz"), strict=True)]
    assert math.isclose(model.log_density(row), sum(apart), rel_tol=1e-12)
    with pytest.raises(LikelyError, match="Blocks are factors of the naive product"):
        likely.Density(density="table", blocks=(("a", "b"),))
