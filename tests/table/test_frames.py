"""Frames in, frames out: predictions come back in the kind of frame that came in, with its index."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import likely
from likely.table.arrow import pack_table, unpack_table
from likely.table.formats import memory
from likely.table.formats.memory import FrameKind, named_table, stack_tables
from likely.table.open import open_source

TABLE: dict[str, list[Any]] = {
    "a 'b' = [red]": ["x", "y", "x", None, "y", "x"],
    "n": [1.5, 2.5, None, 8.0, 9.5, 7.25],
    "<play>": ["no", "no", "no", "yes", "yes", "yes"],
}
NEW = {name: values for name, values in TABLE.items() if name != "<play>"}


@pytest.fixture(scope="module")
def model() -> likely.Model:
    return likely.fit(TABLE, "<play>", types={"n": "number"})


def test_pandas_keeps_its_index(model: likely.Model) -> None:
    index = pd.MultiIndex.from_tuples([(1, "a"), (1, "b"), (2, "a"), (2, "a"), (0, ""), (9, "z")], names=["k", "l"])
    frame = pd.DataFrame(NEW, index=index)
    found, posterior = model.predict(frame), model.posterior(frame)
    assert isinstance(found, pd.Series) and found.name == "prediction" and found.index.equals(index)
    assert found.tolist() == posterior.best
    whole = posterior.frame()
    assert isinstance(whole, pd.DataFrame) and whole.index.equals(index)
    assert list(whole.columns) == ["prediction", "p(no)", "p(yes)"]
    np.testing.assert_array_equal(whole[["p(no)", "p(yes)"]], posterior.matrix)
    density = model.log_density(frame)
    assert isinstance(density, pd.Series) and density.index.equals(index)
    decision = likely.decide(model, frame, {"no": {"go": 9}, "yes": {"stay": 1}})
    assert decision.frame().index.equals(index) and decision.frame()["action"].tolist() == decision.action


def test_polars_and_pyarrow_get_their_own_kind(model: likely.Model) -> None:
    best = model.predict(NEW)
    assert isinstance(best, list)
    assert isinstance(model.predict(pl.DataFrame(NEW)), pl.Series)
    assert model.predict(pl.DataFrame(NEW)).to_list() == best
    assert isinstance(model.posterior(pl.DataFrame(NEW)).frame(), pl.DataFrame)
    assert isinstance(model.predict(pa.table(NEW)), pa.ChunkedArray)
    assert model.predict(pa.table(NEW)).to_pylist() == best
    assert isinstance(model.posterior(pa.table(NEW)).frame(), pa.Table)
    assert model.posterior(NEW).frame()["prediction"].to_pylist() == best
    assert isinstance(model.predict({"n": 9.0}), str)


def test_frames_without_rows_and_rows_without_a_class(model: likely.Model) -> None:
    empty = pd.DataFrame(NEW).iloc[:0]
    assert model.predict(empty).empty and "p(no)" in model.posterior(empty).frame().columns
    strict = likely.fit({"a": ["x", "y"] * 3, "c": ["u", "v"] * 3}, "c", likely.NaiveBayes(pseudo_count=0))
    frame = pd.DataFrame({"a": ["x", "z"]}, index=[7, 3])
    sure = likely.fit({"a": ["x", "y"] * 3, "b": ["x", "y"] * 3, "c": ["u", "v"] * 3}, "c", strict.learner)
    found = sure.predict(pd.DataFrame({"a": ["x", "x"], "b": ["x", "y"]}, index=[7, 3]))
    assert found[7] == "u" and pd.isna(found[3])
    assert strict.predict(frame).index.tolist() == [7, 3]


def test_a_regression_answers_a_frame_by_a_column() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0], "y": [3.0, 5.0, 9.0]}, index=["p", "q", "r"])
    found = likely.regress(frame, "y", types={"x": "number"}).predict(frame)
    assert isinstance(found, pd.Series) and found.name == "y" and found.index.tolist() == ["p", "q", "r"]
    np.testing.assert_allclose(found, frame["y"])


def test_what_is_no_frame_has_no_kind() -> None:
    for data in ({"a": [1]}, [{"a": 1}], "file.csv", np.zeros((2, 2)), pl.Series([1]), pd.Series([1])):
        assert FrameKind.of(data) is None


def test_tables_one_below_the_other_need_not_agree_on_types() -> None:
    one = named_table(pd.DataFrame({"a": [None, None], "b": pd.Categorical(["u", "v"])}), ["a", "b"])
    two = named_table(pd.DataFrame({"a": ["x", None], "b": ["w", "u"]}), ["a", "b"])
    three = named_table(np.array([[1, 2]]), ["n", "m"])
    four = named_table(np.array([[1.5, 2.0]]), ["n", "m"])
    both = stack_tables([one, two]).table.to_pydict()
    assert both == {"a": [None, None, "x", None], "b": ["u", "v", "w", "u"]}
    assert stack_tables([three, four]).table.to_pydict() == {"n": [1.0, 1.5], "m": [2.0, 2.0]}
    assert unpack_table(pack_table(two.table)).equals(two.table)


ROWS = [
    {"a": 1, "b": 2.5, "c": "x", "d": None, "e": True, "f": float("nan")},
    {"a": np.float64(3), "b": np.int32(4), "c": np.str_("q"), "d": np.bool_(True), "e": np.float32(0.1)},
    {"a": date(2020, 1, 1), "b": datetime(2020, 1, 1, 3), "c": Decimal("1.5"), "d": b"xy"},
    {"a": 2**63, "b": -(2**63), "c": 2**70},
    {"a": {"x": 1}, "b": np.datetime64("2020-01-01")},
    {"a": "1", "b": 7},
    {"b": "z"},
    {"a": True},
]


@pytest.mark.parametrize("row", range(len(ROWS)))
def test_one_row_makes_the_table_that_its_columns_make(row: int, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = open_source([ROWS[row]]).table  # type: ignore[attr-defined]
    monkeypatch.setattr(memory, "_of_one_row", lambda row: None)
    assert quick.equals(open_source([ROWS[row]]).table)  # type: ignore[attr-defined]
