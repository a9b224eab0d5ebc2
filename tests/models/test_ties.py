"""Of equally probable classes the first is named, by fractions and not by rounding, wherever a class is named."""

from __future__ import annotations

import json
import runpy
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conformance.databases import Duck, Lite
from conformance.test_conformance import run_onnx
from hypothesis import example, given, settings
from hypothesis import strategies as st

import likely
from likely.cli import run

A, B = ["u", "v", "w"], ["0", "1"]
ROWS = st.lists(
    st.tuples(st.sampled_from(A), st.sampled_from(B), st.sampled_from("pqr"), st.integers(1, 5)), min_size=2, max_size=9
)
Rows = list[tuple[str, str, str, int]]
UNEVEN: Rows = [("u", "0", "p", 1), ("v", "0", "p", 2), ("u", "0", "q", 1)]
"""3/4 × 1/3 = 1/4 × 1/1, of which the logs differ in the last place."""
TIED = {"a": ["u", "v", "v", "u"], "k": ["p", "p", "p", "q"]}


def table_of(rows: Rows) -> dict[str, list[Any]]:
    return {name: [row[k] for row in rows] for k, name in enumerate(("a", "b", "k", "n"))}


def fitted(rows: Rows, learner: Any) -> likely.Model:
    return likely.fit(table_of(rows), "k", learner, types={"a": "nominal", "b": "nominal"}, weight="n")


def naive(rows: Rows, a: str, b: str) -> dict[str, F]:
    """P(class, a, b) of counts, the definition."""
    out = {}
    for name in sorted({r[2] for r in rows}):
        own = [r for r in rows if r[2] == name]
        size = sum(r[3] for r in own)
        out[name] = F(size, sum(r[3] for r in rows))
        for k, value in enumerate((a, b)):
            out[name] *= F(sum(r[3] for r in own if r[k] == value), size)
    return out


def joint(rows: Rows, a: str, b: str) -> dict[str, F]:
    """P(class, a, b) of the joint table."""
    whole = sum(r[3] for r in rows)
    return {name: F(sum(r[3] for r in rows if r[:3] == (a, b, name)), whole) for name in sorted({r[2] for r in rows})}


def first_of_equals(chances: dict[str, F]) -> str | None:
    return max(chances, key=lambda name: chances[name]) if any(chances.values()) else None


def check(model: likely.Model, row: dict[str, str], exact: dict[str, F]) -> None:
    found = model.posterior(row)
    best, top = first_of_equals(exact), max(exact.values())
    assert found.best == best == model.predict([row, row])[1]
    if best is None or len(exact) < 2:
        return
    equal = [name for name in exact if exact[name] == top]
    assert {name for name in exact if found.prob(name) == found.prob(best)} == set(equal)
    ledger = likely.explain(model, row)
    said = [text for text in ledger.remarks if "equally probable" in text]
    assert bool(said) == (len(equal) > 1) and ledger.best == best
    assert likely.decide(model, row, likely.Loss.zero_one(model.classes)).action == best


@settings(max_examples=60, deadline=None)
@example(UNEVEN)
@given(ROWS)
def test_naive_bayes_of_counts(rows: Rows) -> None:
    model = fitted(rows, likely.NaiveBayes(pseudo_count=0))
    # A column without variation is left out, which multiplies by 1: the definition says the same of its only level.
    for a in sorted({r[0] for r in rows}):
        for b in sorted({r[1] for r in rows}):
            check(model, {"a": a, "b": b}, naive(rows, a, b))


@settings(max_examples=60, deadline=None)
@example(UNEVEN)
@given(ROWS)
def test_a_joint_table(rows: Rows) -> None:
    model = fitted(rows, likely.FullBayes(pseudo_count=0))
    for a in sorted({r[0] for r in rows}):
        for b in sorted({r[1] for r in rows}):
            check(model, {"a": a, "b": b}, joint(rows, a, b))


@settings(max_examples=40, deadline=None)
@given(ROWS, st.sampled_from([F(1), F(1, 2), F(1, 3), F(7, 5)]))
def test_pseudo_counts_and_their_working(rows: Rows, extra: F) -> None:
    """The working multiplies fractions, exactly; where it has a tie the model has one, and names the first."""
    model = fitted(rows, likely.NaiveBayes(pseudo_count=float(extra)))
    for a in A:
        working = model.working({"a": a, "b": "1"})
        exact = {name: F(value) for name, value in working.products.items()}
        assert model.predict({"a": a, "b": "1"}) == first_of_equals(exact) == working.best
        top = max(exact.values())
        assert ("the first of equals" in str(working)) == (sum(v == top for v in exact.values()) > 1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 12), min_size=2, max_size=4), st.lists(st.integers(0, 6), min_size=12, max_size=12))
def test_costs(weights: list[int], costs: list[int]) -> None:
    """Actions whose expected costs are equal as fractions are equal, and the first is taken."""
    names = "pqrs"[: len(weights)]
    table = {"k": list(names), "x": ["c", "d", "c", "d"][: len(names)], "n": weights}
    model = likely.fit(table, "k", likely.Prior(), weight="n")
    loss = likely.Loss(
        {c: dict(zip(("go", "stay", "wait"), costs[3 * k :], strict=False)) for k, c in enumerate(names)}
    )
    whole = sum(weights)
    expected = {
        a: sum(F(w, whole) * costs[3 * k + j] for k, w in enumerate(weights)) for j, a in enumerate(loss.actions)
    }
    found = likely.decide(model, {}, loss)
    assert found.action == min(expected, key=lambda a: expected[a])
    second = sorted(expected.values())[1] - min(expected.values())
    assert found.margin == pytest.approx(float(second), rel=1e-12, abs=0) and (found.margin == 0) == (second == 0)


def test_every_language_names_the_first(tmp_path: Path) -> None:
    model = likely.fit(TIED, "k", likely.NaiveBayes(pseudo_count=0))
    assert model.posterior({"a": "u"}).matrix.tolist() == [[0.5, 0.5]] and model.predict({"a": "u"}) == "p"
    likely.export(model, "python", tmp_path / "tied.py")
    alone = runpy.run_path(str(tmp_path / "tied.py"))
    assert alone["predict"]({"a": "u"}) == "p" and alone["posterior"]({"a": "u"}) == {"p": 0.5, "q": 0.5}
    for base in (Duck, Lite):
        query = likely.export(model, "sql", dialect=base.dialect, table="rows", keep=[])
        assert [[*row] for row in base().run(query, "rows", ["a"], ["text"], [["u"]])] == [["u", "p", 0.5, 0.5]]
    ((_, label, chances),) = run_onnx(likely.export(model, "onnx"), [{"a": "u"}])
    assert (label, chances) == ("p", [0.5, 0.5])
    script = likely.export(model, "javascript")
    assert "2**-40" in script.replace(" ", "")


def test_a_tie_is_said(tmp_path: Path, capfdbinary: Any) -> None:
    def printed(*words: str) -> str:
        assert run([*words]) == 0
        return str(capfdbinary.readouterr().out.decode())

    model = likely.fit(TIED, "k", likely.NaiveBayes(pseudo_count=0))
    model.save(tmp_path / "m.likely")
    said = "p and q are equally probable; p comes first."
    assert said in printed("explain", str(tmp_path / "m.likely"), "a=u")
    assert "p (the first of equals)" in printed("explain", str(tmp_path / "m.likely"), "a=u", "--working")
    assert said in json.loads(printed("explain", str(tmp_path / "m.likely"), "a=u", "--json"))["remarks"]
    assert said in likely.explain(model, {"a": "u"})._repr_html_()
    assert "equally" not in printed("explain", str(tmp_path / "m.likely"), "a=v")
    thirds = [word for k in (1, 2, 3) for word in ("--prior", f"M{k}=1/3")]
    seen = [word for k, n in ((1, 10), (2, 9), (3, 10)) for word in ("--likelihood", f"M{k}={n}/30")]
    text = printed("bayes", *thirds, *seen)
    assert "(MAP): M1, 0.3448. M1 and M3 are equally probable; M1 comes first." in text
    assert "(ML): M1, 0.3333. M1 and M3 make it equally probable; M1 comes first." in text
    loss = ["--loss", "M1:go=1", "--loss", "M2:go=0", "--loss", "M3:stay=1"]
    assert "Least expected loss: go. go and stay are expected to cost the same; go" in printed(
        "bayes", *thirds, *seen, *loss
    )
    page = tmp_path / "page.toml"
    page.write_text('[prior]\nh1 = "1/2"\nh2 = "1/2"\n[predicts]\nh1 = "+"\nh2 = "-"\n', encoding="utf-8")
    text = printed("hypotheses", str(page))
    assert "h1 and h2 are equally probable; h1 comes first." in text
    assert "+ and - are equally probable; + comes first." in text


def test_scores_that_differ_are_no_tie() -> None:
    found = likely.Posterior.of(("p", "q"), np.array([[0.0, 2.0**-39], [0.0, 2.0**-41]]))
    assert found.best == ["q", "p"]
