"""Rare levels are people: with `least_count`, no name of fewer rows is in the model, the page or an export."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely
from likely.errors import LikelyError, SchemaMismatch
from likely.portable.describe import portable
from likely.portable.reading import portable_of
from likely.portable.scoring import posterior
from likely.portable.writing import text_of

ROWS = 300
SECRETS = ("Zanzibar", "Onassis", "quetzalcoatl")


def table() -> dict[str, list[Any]]:
    chance = np.random.default_rng(0)
    name = [("ann", "bob", "cy")[k % 3] for k in range(ROWS)]
    sky = chance.choice(["sun", "rain", "fog"], ROWS).tolist()
    name[5], name[8], sky[7] = "Onassis", "Onassis II", "Zanzibar"
    y = ["p" if (n == "ann") ^ (chance.random() < 0.2) else "q" for n in name]
    note = [f"good {('day', 'night')[k % 2]} and word number {('one', 'two')[k % 2]} here" for k in range(ROWS)]
    note[11] += " quetzalcoatl"
    return {"name": name, "sky": sky, "x": chance.normal(size=ROWS).tolist(), "note": note, "y": y}


TABLE = table()
LEARNERS = ["NaiveBayes", "TreeAugmented", "OneDependence", "Logistic", "TunedNaiveBayes", "Neighbors", "Auto",
            "Additive(order=3)", "NaiveBayes(unseen='reserve')", "NaiveBayes(blocks=[['name', 'sky']])"]  # fmt: skip


def found_in(content: str) -> list[str]:
    return [secret for secret in SECRETS if re.search(secret, content, re.IGNORECASE)]


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_name_that_occurs_once_is_nowhere(learner: str, tmp_path: Path) -> None:
    own = {n: v for n, v in TABLE.items() if n != "note" or learner == "NaiveBayes"}
    model = likely.fit(own, "y", learner, least_count=2, types={"note": "text"} if "note" in own else None)
    model.save(tmp_path / "m.likely")
    kept = likely.load(tmp_path / "m.likely")
    assert model.levels("name") == kept.levels("name") == ["ann", "bob", "cy", "other"]
    assert not found_in((tmp_path / "m.likely").read_bytes().decode("latin-1"))
    assert not found_in(str(kept.summary.state()) + str(kept.search_state()))
    rows = [{"name": n, "sky": "sun", "x": 0.3} for n in ("other", "Onassis", "nobody yet")]
    answers = [kept.posterior(row).matrix.tolist() for row in rows]
    assert answers[0] == answers[1] == answers[2]
    for language in ("sql", "python"):
        try:
            text = likely.export(kept, language)
        except LikelyError:
            continue  # what a language cannot say
        assert not found_in(text if isinstance(text, str) else text.decode())


def test_the_plain_model_has_the_name_so_the_test_can_find_it(tmp_path: Path) -> None:
    model = likely.fit(TABLE, "y", "NaiveBayes", types={"note": "text"})
    model.save(tmp_path / "m.likely")
    assert found_in(str(likely.load(tmp_path / "m.likely").summary.state())) == ["Zanzibar", "Onassis"]
    assert "quetzalcoatl" in list(model.summary["note"].tally().vocabulary)  # type: ignore[union-attr]


def test_sums_under_one_schema_stay_exact() -> None:
    whole = likely.summarize(TABLE, "y", least_count=2, types={"note": "text"})
    parts = [
        likely.summarize({n: v[a:b] for n, v in TABLE.items()}, schema=whole.schema)
        for a, b in ((0, 6), (6, 100), (100, ROWS))
    ]
    assert parts[0] + parts[1] + parts[2] == whole == parts[2] + (parts[0] + parts[1])
    assert (whole + parts[0]) - parts[0] == whole
    assert "quetzalcoatl" not in list(whole["note"].tally().vocabulary)  # type: ignore[union-attr]
    counts = likely.summarize(TABLE, "y", types={"note": "text"})["name"].table.sum(1).floats()  # type: ignore[union-attr]
    other = whole["name"].table.sum(1).floats()[-1]  # type: ignore[union-attr]
    assert other == 2.0 and counts.sum() == ROWS


def test_tables_that_kept_different_names_are_not_merged() -> None:
    one = likely.summarize({"a": ["x", "x", "y", "y"], "t": ["p", "q"] * 2}, "t", least_count=2)
    two = likely.summarize({"a": ["x", "x", "z", "z"], "t": ["p", "q"] * 2}, "t", least_count=2)
    with pytest.raises(SchemaMismatch, match=r"frequent enough.*same schema"):
        one + two
    with pytest.raises(LikelyError, match="least_count"):
        likely.summarize({"a": ["x"], "t": ["p"]}, schema=one.schema, least_count=2)
    with pytest.raises(LikelyError, match="whole number"):
        likely.summarize({"a": ["x"], "t": ["p"]}, "t", least_count=0)


def test_rows_learned_later_bring_no_new_names() -> None:
    model = likely.fit({"a": ["x", "y"] * 5, "t": ["p", "q"] * 5}, "t", "NaiveBayes", least_count=2)
    assert model.levels("a") == ["x", "y"]  # nothing was rare, so there is no "other" yet
    more = likely.learn(model, {"a": ["Onassis", "x"], "t": ["p", "q"]})
    assert more.levels("a") == ["other", "x", "y"]
    assert likely.learn(model, {"a": ["x"], "t": ["p"]}).levels("a") == ["x", "y"]


@pytest.mark.parametrize(
    "learner",
    [
        "NaiveBayes",
        "TreeAugmented",
        "OneDependence",
        "NaiveBayes(blocks=[['name', 'sky']])",
        "Logistic",
        "LeastSquares",
        "Additive",
        "Additive(order='any', least=0)",
    ],
)
def test_the_portable_form_reads_unseen_levels_as_other(learner: str) -> None:
    own = {n: v for n, v in TABLE.items() if n != "note"}
    model = likely.fit(own, "y", learner, least_count=2)
    form = portable_of(text_of(portable(model)))
    for name in ("other", "Onassis", "nobody yet", "ann", "bob", "cy", None):
        row = {"name": name, "sky": "fog", "x": -0.2}
        wanted = model.posterior(row).matrix[0]
        assert posterior(form, row) == pytest.approx(wanted, rel=1e-12)


def test_levels_that_are_numbers_or_truth_values() -> None:
    own = {"k": [1, 2, 3] * 40 + [7], "b": [True, False] * 60 + [True], "y": (["p", "q"] * 61)[:121]}
    model = likely.fit(own, "y", "NaiveBayes", least_count=2, types={"k": "nominal"})
    assert model.levels("k") == ["1", "2", "3", "other"] and model.levels("b") == ["false", "true"]
    for k in (7, 8, 1, "2.0", None, "x"):
        row = {"k": k, "b": True}
        assert posterior(portable_of(text_of(portable(model))), row) == pytest.approx(
            model.posterior(row).matrix[0], rel=1e-12
        )
    assert model.posterior({"k": 7}).matrix.tolist() == model.posterior({"k": 8}).matrix.tolist()
    assert model.posterior({"k": 7}).matrix.tolist() != model.posterior({}).matrix.tolist()


def test_sql_says_other_of_unseen_levels() -> None:
    import duckdb

    own = {n: v for n, v in TABLE.items() if n in ("name", "sky", "y")}
    model = likely.fit(own, "y", "NaiveBayes", least_count=2)
    rows = [(n, "sun") for n in ("other", "Onassis", "nobody yet", "ann")]
    database = duckdb.connect()
    database.execute("create table data (name varchar, sky varchar)")
    database.executemany("insert into data values (?, ?)", rows)
    query = likely.export(model, "sql", table="data")
    answer = database.sql(query if isinstance(query, str) else query.decode())
    place = answer.columns.index("p(p)")
    found = sorted(line[place] for line in answer.fetchall())
    assert found == pytest.approx(sorted(model.posterior({"name": n, "sky": s}).prob("p") for n, s in rows), rel=1e-12)


def test_onnx_says_other_of_unseen_levels() -> None:
    runtime = pytest.importorskip("onnxruntime")
    runtime.set_default_logger_severity(3)
    own = {n: v for n, v in TABLE.items() if n != "note"}
    own["k"] = [k % 3 for k in range(ROWS - 1)] + [77]
    types = {"k": "nominal of numbers", "x": "number"}
    for learner in ("NaiveBayes", "Logistic", "LeastSquares", "NaiveBayes(blocks=[['name', 'sky']])"):
        model = likely.fit(own, "y", learner, least_count=2, types=types)
        exported = likely.export(model, "onnx")
        assert isinstance(exported, bytes) and not found_in(exported.decode("latin-1"))
        names = ["other", "Onassis", "nobody yet", "ann", ""]
        numbers = [1.0, 77.0, 5.0, np.nan, 2.0]
        feed = {"name": np.array([[n] for n in names], object), "sky": np.array([["Zanzibar"]] * 5, object),
                "x": np.full((5, 1), 0.3), "k": np.array(numbers)[:, None]}  # fmt: skip
        _, found = runtime.InferenceSession(exported).run(None, feed)
        for name, number, chances in zip(names, numbers, found.tolist(), strict=True):
            row = {"name": name, "sky": "Zanzibar", "x": 0.3, "k": None if np.isnan(number) else number}
            if model.references is not None and (row["k"] is None or not row["name"]):
                assert np.isnan(chances).all()  # averaged over, which ONNX cannot say
                continue
            assert chances == pytest.approx(model.posterior(row).matrix[0].tolist(), rel=1e-9)


def test_look_and_doctor_warn_and_the_page_holds_none_of_it() -> None:
    from likely.present.page.writing import page

    own = {n: v for n, v in TABLE.items() if n != "note"}
    plain = likely.look(own, "y", picture=True)
    assert any("in a single row (2 of 'name', 1 of 'sky')" in w and "--least-count" in w for w in plain.notes)
    assert found_in(page(plain, command="", version="", data="t"))
    hidden = likely.look(own, "y", picture=True, least_count=2)
    assert not any("single row" in w for w in (*hidden.warnings, *hidden.notes))
    text = page(hidden, command="", version="", data="t")
    assert not found_in(text)
    assert "names and numbers from it" in text
    assert [f.columns for f in likely.doctor(own, "y", folds=3).findings if f.kind == "rare"] == [("name", "sky")]
    assert not [f for f in likely.doctor(own, "y", folds=3, least_count=2).findings if f.kind == "rare"]


def test_the_command_line_hides_names_too(tmp_path: Path) -> None:
    lines = ["name,sky,y", *(f"{a},{b},{c}" for a, b, c in zip(TABLE["name"], TABLE["sky"], TABLE["y"], strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    place = tmp_path / "m.likely"
    command = [sys.executable, "-m", "likely", "fit", tmp_path / "t.csv", "y", "--least-count", "2", "-o", place]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert likely.load(place).levels("sky") == ["fog", "other", "rain", "sun"]
