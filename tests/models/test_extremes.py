"""Tables that are as odd as tables can be: a learner answers with probabilities, or refuses with a sentence.

Columns without any value, of one value, of infinities, of 1e308 and 5e-324, the same column twice; rows of any weight;
two rows, one class.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import likely
from likely.cli import run
from likely.errors import LikelyError

Table = dict[str, list[Any]]

FAR = (0.0, -0.0, 1.0, -1.0, 5e-324, 1e-300, 1e154, 1e200, 1e308, -1e308, math.inf, -math.inf, None)
WEIGHTS = (1.0, 0.0, 5e-324, 1e-300, 1e300, 1e308, 2.5)
LEARNERS: dict[str, Any] = {
    "default": None,
    "NaiveBayes": likely.NaiveBayes(),
    "kernel": likely.NaiveBayes(numbers="kernel"),
    "binned": likely.NaiveBayes(numbers="binned"),
    "tempered": likely.NaiveBayes(temperature="auto"),
    "TreeAugmented": likely.TreeAugmented(),
    "FullBayes": likely.FullBayes(),
    "LeastSquares": likely.LeastSquares(),
    "Logistic": likely.Logistic(),
    "Additive": likely.Additive(least=0),
    "Forest": likely.Forest(trees=5),
    "Neighbors": likely.Neighbors(),
}


@st.composite
def tables(draw: st.DrawFn) -> Table:
    rows = draw(st.sampled_from((1, 2, 3, 12, 110)))
    seed = draw(st.integers(0, 2**32 - 1))
    chance = np.random.default_rng(seed)

    def numbers() -> list[Any]:
        kind = draw(st.sampled_from(("normal", "far", "constant", "missing", "scales", "infinite")))
        if kind == "far":
            some = draw(st.lists(st.sampled_from(FAR), min_size=1, max_size=4))
            return [some[k] for k in chance.integers(0, len(some), rows)]
        if kind in ("constant", "missing", "infinite"):
            return [{"constant": draw(st.sampled_from(FAR)), "missing": None, "infinite": math.inf}[kind]] * rows
        if kind == "scales":
            return (10.0 ** chance.integers(-300, 300, rows)).tolist()
        return (chance.normal(size=rows) * draw(st.sampled_from((1.0, 1e-160, 1e160, 1e300)))).tolist()

    x = numbers()
    table: Table = {"x": x, "z": numbers()}
    if draw(st.booleans()):
        table["again"] = x
    if draw(st.booleans()):
        table["level"] = [("p", "q", None)[k] for k in chance.integers(0, 3, rows)]
    classes = draw(st.sampled_from((("a",), ("a", "b"), ("a", "b", "c"))))
    table["y"] = [classes[k] for k in chance.integers(0, len(classes), rows)]
    if draw(st.booleans()):
        weights = draw(st.lists(st.sampled_from(WEIGHTS), min_size=1, max_size=3))
        table["w"] = [weights[k] for k in chance.integers(0, len(weights), rows)]
    return table


def common(weight: list[float], **columns: list[Any]) -> Table:
    chance = np.random.default_rng(3)
    rows = len(weight)
    x, z = chance.normal(size=(2, rows)).tolist()
    return {"x": x, "z": z, **columns, "y": [("a", "b")[k] for k in chance.integers(0, 2, rows)], "w": weight}


PROBES: Table = {"x": [1e308, -1e308, None, 0.5, math.inf], "z": [0.0, None, 1.0, -1e308, 5e-324]}


def check(model: likely.Model, table: Table) -> None:
    for rows in (table, PROBES):
        posterior = model.posterior({k: v for k, v in rows.items() if k not in ("y", "w")})
        matrix, sums = posterior.matrix, posterior.matrix.sum(axis=1)
        assert not np.isnan(matrix).any() and not np.isnan(posterior.log_evidence).any()
        assert (np.isclose(sums, 1.0) | (posterior.undefined & (sums == 0.0))).all()


@pytest.mark.parametrize("name", LEARNERS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@example(common([1e308] * 110))
@example(common([5e-324] * 110))
@example(common([0.0] * 110))
@example(common([1e308, 5e-324] * 55))
@example(common([1e300, 1.0] * 55))
@example({"x": [1.0, 1.0, 0.0], "z": [1.0, 2.0, None], "y": ["a", "b", "a"], "w": [1e300, 1e300, 5e-324]})
@given(table=tables())
def test_a_learner_answers_or_refuses(name: str, table: Table) -> None:
    types = {k: "number" for k in ("x", "z", "again") if k in table}
    if name == "FullBayes" and "level" in table:
        types["level"] = "ignore"
    try:
        model = likely.fit(table, "y", LEARNERS[name], weight="w" if "w" in table else None, types=types)
    except LikelyError:
        return
    check(model, table)


def test_weights_that_no_double_holds_are_refused_with_the_remedy() -> None:
    for weight, words in ((1e308, "more than 1.8e+308"), (5e-324, "less than 2.2e-308"), (0.0, "weight")):
        with pytest.raises(LikelyError) as refused:
            likely.fit(common([weight] * 120), "y", weight="w")
        assert words in str(refused.value)


@pytest.mark.parametrize("weight", ["1e308", "5e-324", "0", "1e306"])
@pytest.mark.parametrize("far", ["1e308", "inf", ""])
def test_the_command_line_answers_or_refuses(weight: str, far: str, tmp_path: Path, capfd: Any) -> None:
    lines = [f"{far if k % 5 == 0 else k / 7},{'pq'[k % 2]},{weight},{'ab'[k % 3 == 0]}" for k in range(110)]
    (tmp_path / "t.csv").write_text("x,l,w,y\n" + "\n".join(lines) + "\n")
    model, out = str(tmp_path / "m.likely"), tmp_path / "out.csv"
    code = run(["fit", str(tmp_path / "t.csv"), "y", "--weight", "w", "--type", "x=number", "-o", model])
    assert code in (0, 2), capfd.readouterr().err
    if code == 0:
        assert run(["predict", model, str(tmp_path / "t.csv"), "-o", str(out)]) == 0
        for row in csv.DictReader(out.open()):
            cells = [row["p(a)"], row["p(b)"]]
            assert cells == ["", ""] or math.isclose(sum(map(float, cells)), 1.0)
