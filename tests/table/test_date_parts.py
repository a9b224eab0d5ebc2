"""Parts of dates: right by Python's own calendar, usable by learners, the same from every road, kept in files."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely.errors import ColumnError, SettingError
from likely.present.page.writing import page_of_model
from likely.sums import state
from likely.table.texts.numbers import NO_TOKENS, take_part

RNG = np.random.default_rng(3)
START = dt.datetime(2023, 1, 1)
MOMENTS = [START + dt.timedelta(hours=int(h)) for h in RNG.integers(0, 24 * 700, 600)]
WORKDAY = ["rest" if m.weekday() > 4 or not 8 <= m.hour < 18 else "work" for m in MOMENTS]
TABLE = {"when": [m.isoformat(" ") for m in MOMENTS], "y": WORKDAY}


@given(st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59)))
def test_parts_are_those_of_the_calendar(moment: dt.datetime) -> None:
    array = pa.array([moment.isoformat(), "nothing"])
    weekday, month, day, hour = (
        take_part(array, part, NO_TOKENS).to_pylist() for part in ("weekday", "month", "day", "hour")
    )
    known = dt.date(2024, moment.month, 1).strftime("%B")
    names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    assert weekday == [names[moment.weekday()], None]
    assert month == [known, None] and day == [float(moment.day), None] and hour == [float(moment.hour), None]


def bits(data: object) -> bytes:
    tree = likely.summarize(data, "y", dates="parts").canonical().state()
    return state.dump({key: value for key, value in tree.items() if key != "schema"})


def test_every_road_gives_the_same_parts(tmp_path: Path) -> None:
    wanted = bits(TABLE)
    pd.DataFrame(TABLE).to_csv(tmp_path / "t.csv", index=False)
    typed = pa.table({"when": pa.array(MOMENTS, pa.timestamp("us")), "y": WORKDAY})
    for data in (tmp_path / "t.csv", typed, pd.DataFrame({"when": MOMENTS, "y": WORKDAY}), typed.to_pylist()[::-1]):
        assert bits(data) == wanted


@pytest.mark.parametrize("learner", [likely.NaiveBayes(), likely.Logistic(), likely.Additive(), None])
def test_learners_use_them(learner: likely.models.contracts.Learner | None) -> None:
    without = likely.look(TABLE, "y", learner)
    beside = likely.look(TABLE, "y", learner, dates="parts")
    assert {"when: weekday", "when: hour"} <= {a["name"] for a in beside.attributes}
    assert beside.scores.log_loss < without.scores.log_loss - 0.1


def test_new_rows_have_dates_or_parts(tmp_path: Path) -> None:
    model = likely.fit(TABLE, "y", likely.NaiveBayes(), dates="parts")
    assert model.schema.names == ("when", "when: weekday", "when: month", "when: day", "when: hour", "y")
    wanted = model.posterior({"when": TABLE["when"][:9]}).matrix
    model.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    assert np.array_equal(again.posterior({"when": TABLE["when"][:9]}).matrix, wanted)
    assert np.array_equal(again.posterior({"when": MOMENTS[:9]}).matrix, wanted)
    empty = dict.fromkeys(("when: weekday", "when: month", "when: day", "when: hour"))
    rows = [{"when": when, **empty} for when in TABLE["when"][:9]]
    assert np.array_equal(again.posterior(rows).matrix, wanted)  # as whoever fills in all columns sends them
    one = again.posterior({"when: weekday": "Sunday", "when: hour": 3})
    assert one.prob("rest") > 0.8
    assert [str(c) for c in likely.learn(model, TABLE).predict({"when": TABLE["when"][:3]})]


def test_dates_without_a_time_have_no_hour() -> None:
    days = [m.date().isoformat() for m in MOMENTS]
    schema = likely.summarize({"when": days, "y": WORKDAY}, "y", dates="parts").schema
    assert schema["when: hour"].role == "left out" and schema["when: weekday"].role == "attribute"


def test_one_column_may_be_said_and_a_spec_says_it() -> None:
    table = {**TABLE, "other": [d.date().isoformat() for d in MOMENTS]}
    model = likely.fit(table, "y", likely.NaiveBayes(), types={"other": "date in parts"})
    assert "other: weekday" in model.schema.names and "when: weekday" not in model.schema.names
    from likely.apply.spec import spec_of

    assert spec_of(model).columns["other"] == "date in parts"


def test_exports_refuse_and_say_why() -> None:
    model = likely.fit(TABLE, "y", likely.NaiveBayes(), dates="parts")
    for to in ("sql", "python", "onnx"):
        with pytest.raises(SettingError, match=r"parts of dates, such as 'when: weekday'"):
            likely.export(model, to)  # type: ignore[arg-type]


def test_a_name_that_is_taken_and_a_wrong_word_are_sentences() -> None:
    with pytest.raises(ColumnError, match="has a column 'when: day'"):
        likely.summarize({**TABLE, "when: day": [1.5, 2.5] * 300}, "y", dates="parts")
    with pytest.raises(SettingError, match="dates"):
        likely.summarize(TABLE, "y", dates="pieces")


def test_the_page_explains_and_draws_them() -> None:
    model = likely.fit(TABLE, "y", likely.NaiveBayes(), dates="parts")
    ledger = likely.explain(model, {"when": TABLE["when"][0]})
    assert f"when: weekday={MOMENTS[0]:%A}" in str(ledger) and "Unknown" not in str(ledger)
    text = page_of_model(model)
    assert "when: weekday" in text and "Saturday" in text
