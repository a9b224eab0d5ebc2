"""The default reads dates by their parts where held-out rows say so; other learners take a date as one number."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import likely
from likely.sklearn import AutoClassifier

PARTS = ("when: weekday", "when: month", "when: day", "when: day of year", "when: hour")


def moments(rows: int) -> list[datetime]:
    rng = np.random.default_rng(2)
    return [datetime(2022, 1, 1) + timedelta(minutes=m) for m in rng.integers(0, 900 * 24 * 60, rows).tolist()]


def table(rows: int = 900, chance: bool = False) -> dict[str, list[Any]]:
    """Late on Fridays and in the evening; or by chance."""
    rng, when = np.random.default_rng(3), moments(rows)
    high = [0.0 if chance else 2.0 * (w.weekday() == 4) + 2.0 * (w.hour >= 18) - 1.0 for w in when]
    late = ["late" if h > e else "in time" for h, e in zip(high, rng.logistic(size=rows), strict=True)]
    return {"when": [w.isoformat(" ") for w in when], "x": rng.normal(size=rows).round(2).tolist(), "late": late}


@pytest.fixture(scope="module")
def model() -> likely.Model:
    return likely.fit(table(), "late")


def test_parts_are_kept_where_they_pay_and_the_remark_says_how_much(model: likely.Model) -> None:
    assert model.schema.names == ("when", *PARTS, "x", "late")
    (told,) = [note for note in model.notes if note.startswith("Dates are also read in parts")]
    assert "('when' by weekday, month, day, day of year and hour)" in told and "bits" in told
    before, after = (float(word) for word in told.replace("from", "to").split(" to ")[1:] for word in [word.split()[0]])
    assert after < before - 0.05
    assert likely.look(table(), "late").scores.log_loss < likely.look(table(), "late", dates="whole").scores.log_loss


def test_parts_are_dropped_where_they_say_nothing() -> None:
    data = table(chance=True)
    assert likely.fit(data, "late").schema == likely.fit(data, "late", dates="whole").schema


def test_who_does_not_choose_takes_the_date_as_one_number(model: likely.Model, tmp_path: Path) -> None:
    data = table()
    whole = ("when", "x", "late")
    assert likely.summarize(data, "late").schema.names == whole
    assert likely.fit(data, "late", likely.NaiveBayes()).schema.names == whole
    few = {name: cells[:25] for name, cells in data.items()}
    assert likely.fit(few, "late").schema.names == whole  # naive Bayes, as the rows are few
    pd.DataFrame(data).to_csv(tmp_path / "t.csv", index=False)
    kept = likely.fit(tmp_path / "t.csv", "late", keep=tmp_path / "kept")
    assert kept.schema.names == whole  # sums alone
    rows = {name: cells[:300] for name, cells in data.items()}
    together = likely.compare(rows, "late", ["Auto", "NaiveBayes", "TreeAugmented"], folds=3)
    alone = likely.compare(rows, "late", ["NaiveBayes", "TreeAugmented"], folds=3)
    scores = {one.name: one.scores for one in together.learners}
    told = "'dates': read in parts; chosen by log loss on held-out rows in every fold."
    assert told in next(one for one in together.learners if one.name == "Auto").notes
    assert [scores[one.name] for one in alone.learners] == [one.scores for one in alone.learners]


def test_all_roads_learn_the_same(model: likely.Model, tmp_path: Path) -> None:
    frame = pd.DataFrame({**table(), "when": moments(900)})
    rows = [{"when": w, "x": 0.1} for w in ("2023-03-03 19:30", "1969-12-31", None)]
    wanted = model.posterior(rows).matrix
    learned = AutoClassifier().fit(frame[["when", "x"]], frame["late"])
    found = learned.predict_proba(
        pd.DataFrame(
            {"when": [None if r["when"] is None else datetime.fromisoformat(r["when"]) for r in rows], "x": 0.1}
        )
    )
    assert np.array_equal(found, wanted)
    model.save(tmp_path / "m.likely")
    assert np.array_equal(likely.load(tmp_path / "m.likely").posterior(rows).matrix, wanted)
    asked = likely.fit(table(), "late", dates="parts")
    assert asked.schema == model.schema and np.array_equal(asked.posterior(rows).matrix, wanted)


def test_a_missing_date_has_no_parts_and_one_that_is_there_has_all(model: likely.Model) -> None:
    assert model.references is not None
    gone = [axis.name for axis in model.references.axes if axis.name.startswith("when")]
    (batch,) = model.batches([{"when": None, "x": 0.1}])
    unknown = model.references.unknown(batch)
    assert unknown is not None
    names = [axis.name for axis in model.references.axes]
    assert [n for n, own in zip(names, unknown[0].tolist(), strict=True) if own] == gone
    # Rows that stand for the table bring all parts of one date, so no part contradicts another.
    drawn, _ = model.references.draw(batch, unknown, 64)
    filled = model.references.fill(batch, unknown, drawn)
    months = [filled.cells["when: month"].labels.names[c] for c in filled.cells["when: month"].codes]
    days = filled.cells["when: day of year"]
    for month, day in zip(months, days.tolist(), strict=True):
        apart = (datetime(2023, 1, 1) + timedelta(days=day - 1)).month - datetime.strptime(month, "%B").month
        assert abs(apart) in (0, 1, 11)  # numbers are known by their bins
    assert model.posterior({"x": 0.1}).prob("late") == pytest.approx(table()["late"].count("late") / 900, abs=0.1)


def test_a_part_that_never_changes_is_left_out() -> None:
    when = [f"2024-05-{1 + k % 28:02d}" for k in range(600)]
    schema = likely.summarize({"when": when, "y": ["a", "b"] * 300}, "y", dates="parts").schema
    roles = {name: schema[name].role for name in PARTS}
    assert roles == {**dict.fromkeys(PARTS, "attribute"), "when: month": "left out", "when: hour": "left out"}


def test_names_that_are_taken_stand_in_the_way_only_of_who_asks() -> None:
    data = {**table(), "when: hour": [0.5, 1.5] * 450}
    assert likely.fit(data, "late").schema.names == ("when", "x", "late", "when: hour")


def test_evidence_is_told_in_words(model: likely.Model) -> None:
    ledger = likely.explain(model, {"when": "2023-03-03 19:30"})
    assert "when on Fridays" in str(ledger) and "when at 19 h" in str(ledger) and "weekday=" not in str(ledger)
    assert "when on Fridays" in ledger._repr_html_()
    (friday,) = [e for e in ledger.to_dict()["entries"] if e["name"] == "when: weekday"]
    assert friday["value"] == "Friday" and friday["words"].startswith("when on Fridays speaks for late")
    odd = {("<b>\x1b[31m" if name == "when" else name): cells for name, cells in table().items()}
    told = likely.explain(likely.fit(odd, "late"), {"<b>\x1b[31m": "2023-03-03 19:30"})
    assert "\x1b" not in str(told) and "<b>" not in told._repr_html_() and "on Fridays" in str(told)


def test_a_date_and_its_parts_are_asked_for_and_changed_together(model: likely.Model) -> None:
    asked = likely.ask(model, {})
    assert {q.attribute for q in asked.questions} == {"when", "x"}
    drops = {q.attribute: q.drop for q in asked.questions}
    assert drops["when"] > 0.05 > drops["x"]
    row = {"when": "2023-03-03 19:30", "x": 0.1}
    found = likely.counterfactual(model, row)
    assert not any(change.name.startswith("when") for change in (*found.changes, *found.alone)) and not found.complete
    assert "Dates of which parts are read stay as they are: 'when'." in found.remarks
    with pytest.raises(likely.errors.ColumnError, match="a date and its parts change together"):
        likely.counterfactual(model, row, change="when: hour")


def test_a_look_shows_the_parts_that_are_read_and_takes_them_away_with_their_date() -> None:
    assert {a["name"] for a in likely.look(table(), "late").attributes} == {"when", "x", *PARTS}
    assert {a["name"] for a in likely.look(table(chance=True), "late").attributes} == {"when", "x"}
    weekend = ["rest" if w.weekday() > 4 else "work" for w in moments(900)]
    record = likely.look({**table(chance=True), "late": weekend}, "late")
    assert "'when: weekday' alone nearly determines" in record.warnings[0]
    assert record.warnings[0].endswith("To leave it out: --type when=ignore")
    assert record.without_leaks is not None and (record.without_leaks.value or 1) < 0.8
    alone = {"when": table()["when"], "late": weekend}
    assert likely.look(alone, "late").without_leaks is None  # nothing else would be left
