"""What a person should know is told in Python as on the command line: columns left out, suspected, misread."""

from __future__ import annotations

import json
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

import likely
from likely.cli import run


@pytest.mark.parametrize("rows", [5, 6, 29, 30, 200, 1000])
@pytest.mark.parametrize("first", [0, 1, 100])
def test_an_x_that_counts_the_rows_is_the_line_of_a_regression(rows: int, first: int) -> None:
    x = list(range(first, first + rows))
    found = likely.regress({"x": x, "y": [1 + 2 * k for k in x]}, "y")
    assert [(w.attribute, round(w.weight, 9)) for w in found.weights] == [("x", 2.0)]
    assert found.constant == pytest.approx(1) and found.r2 == pytest.approx(1)
    (note,) = found.notes
    assert "'x' counts the rows, and is kept as a number" in note and "--type x=ignore" in note


def test_least_squares_of_six_rows_by_hand() -> None:
    x, y = range(6), [1, 3, 5, 7, 9, 12]
    slope = F(
        6 * sum(a * b for a, b in zip(x, y, strict=True)) - sum(x) * sum(y), 6 * sum(a * a for a in x) - sum(x) ** 2
    )
    found = likely.regress({"x": list(x), "y": y}, "y")
    assert found.weights[0].weight == pytest.approx(float(slope)) == pytest.approx(15 / 7)
    assert found.constant == pytest.approx(float((sum(y) - slope * sum(x)) / 6))


def test_what_regress_leaves_out_is_told(tmp_path: Any, capfdbinary: Any) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=60).round(3)
    table = {
        "id": [f"k{k * 7919}" for k in range(60)],
        "n": list(range(60)),
        "said": [f"word{k} and then some more of it {k % 7}" for k in range(60)],
        "x": x.tolist(),
        "y": (3 * x).round(3).tolist(),
    }
    found = likely.regress(table, "y")
    told = " ".join(found.notes)
    assert "'id' looks like an identifier" in told and "'n' counts the rows" in told and "'said' is free text" in told
    path = tmp_path / "t.csv"
    path.write_text(
        ",".join(table) + "\n" + "\n".join(",".join(map(str, row)) for row in zip(*table.values(), strict=True))
    )
    assert run(["regress", str(path), "y", "--json"]) == 0
    record = json.loads(capfdbinary.readouterr().out)
    assert record["notes"] == list(likely.regress(path, "y").notes) == list(found.notes)


@pytest.mark.parametrize(("rows", "kept"), [(12, True), (29, True), (30, False), (200, False)])
def test_row_numbers_are_kept_in_small_tables_alone_and_told_always(rows: int, kept: bool) -> None:
    table = {"n": list(range(1, rows + 1)), "x": ["a", "b"] * (rows // 2) + ["a"] * (rows % 2)}
    table["y"] = ["p" if v == "a" else "q" for v in table["x"]]
    model = likely.fit(table, "y", likely.NaiveBayes())
    assert ("n" in [c.name for c in model.schema.attributes]) == kept
    (told,) = model.remarks
    assert told.startswith("'n' counts the rows, and is kept" if kept else "'n' looks like an identifier")
    assert told in likely.look(table, "y", likely.NaiveBayes()).warnings


def test_python_has_every_remark_of_fit(tmp_path: Any, capfdbinary: Any) -> None:
    path = tmp_path / "t.csv"
    lines = [f"k{k * 31},{k % 3},{'p' if k % 2 else 'q'}" for k in range(40)]
    path.write_text("id,x,y\n" + "\n".join([*lines, "k0,1,", "k1,2,"]) + "\n")
    assert run(["fit", str(path), "y", "-o", str(tmp_path / "m.likely")]) == 0
    said = capfdbinary.readouterr().err.decode()
    model = likely.fit(path, "y")
    assert len(model.remarks) >= 2 and "2 rows without a class or weight are left out." in model.remarks
    for sentence in model.remarks:
        assert sentence in said
    assert likely.load(tmp_path / "m.likely").remarks == model.remarks
