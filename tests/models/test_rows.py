"""The ways in which new rows may be given, which must all lead to the same numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import likely
from likely.errors import ColumnError

ROWS: list[dict[str, Any]] = [
    {"sky": "sun", "wind": 3.5, "stars": 2},
    {"sky": None, "wind": 9.25, "stars": 1},
    {"sky": "fog", "wind": None, "stars": 1},
    {"sky": "rain", "wind": -1.0, "stars": 2},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


@pytest.fixture(scope="module")
def model() -> likely.Model:
    table = {
        "sky": ["sun", "rain", "sun", "rain", "sun"] * 4,
        "wind": [1.5, 2.5, 7.0, 4.25, 3.0] * 4,
        "stars": [1, 2, 1, 1, 2] * 4,
        "day": ["mon", "tue", "wed", "thu", "fri"] * 4,
        "good": ["y", "n", "n", "n", "y"] * 4,
    }
    return likely.fit(table, "good", types={"day": "ignore"})


def test_every_container_gives_the_same_numbers(model: likely.Model, tmp_path: Path) -> None:
    csv = tmp_path / "rows.csv"
    csv.write_text("sky,wind,stars\nsun,3.5,2\n,9.25,1\nfog,,1\nrain,-1.0,2\n", encoding="utf-8")
    frame = pd.DataFrame(COLUMNS)
    parquet = tmp_path / "rows.parquet"
    frame.to_parquet(parquet)
    expected = np.concatenate([model.posterior(row).matrix for row in ROWS])
    containers = (ROWS, COLUMNS, frame, pl.DataFrame(COLUMNS), pa.table(COLUMNS), csv, str(csv), parquet)
    for data in (*containers, frame.astype({"sky": "category"})):
        posterior = model.posterior(data)
        assert posterior.matrix.tobytes() == expected.tobytes(), type(data)
        assert posterior.unseen == {"sky": 1} and posterior.absent == ()
        found = model.predict(data)
        found = found.to_pylist() if isinstance(found, pa.ChunkedArray) else list(found)
        assert posterior.best == found and len(posterior) == 4


def test_one_row_gives_one_answer_and_a_table_gives_a_list(model: likely.Model) -> None:
    one, many = model.posterior(ROWS[0]), model.posterior(ROWS[:1])
    assert isinstance(one.prob("y"), float) and isinstance(one.best, str)
    assert isinstance(many.prob("y"), np.ndarray) and many.best == [one.best]


def test_an_unknown_name_is_refused_with_the_nearest(model: likely.Model) -> None:
    for ask in (model.posterior, model.working, model.predict):
        with pytest.raises(ColumnError, match=r"There is no column 'winds'. Did you mean 'wind'\?"):
            ask({"winds": 3})


def test_the_target_and_columns_left_out_may_be_in_the_row(model: likely.Model) -> None:
    plain = model.posterior(ROWS[0]).matrix.tolist()
    assert model.posterior({**ROWS[0], "good": "n", "day": "sat"}).matrix.tolist() == plain
    assert model.posterior([{**ROWS[0], "good": "never heard of", "day": None}]).matrix.tolist() == plain


def test_an_absent_column_counts_as_missing_and_is_reported(model: likely.Model) -> None:
    posterior = model.posterior({"wind": COLUMNS["wind"]})
    assert posterior.absent == ("sky", "stars")
    expected = model.posterior({**COLUMNS, "sky": [None] * 4, "stars": [None] * 4})
    assert posterior.matrix.tobytes() == expected.matrix.tobytes()


def test_a_table_without_any_attribute_is_refused(model: likely.Model) -> None:
    with pytest.raises(ColumnError, match="has none of the attributes of this model"):
        model.posterior({"wnd": [1.0, 2.0]})


def test_a_level_that_is_a_number_is_found_however_it_is_given(model: likely.Model) -> None:
    assert model.schema["stars"].kind == "nominal"
    expected = model.posterior({"stars": 2}).matrix.tolist()
    for value in (2.0, "2", "2.0", " 2 ", np.int8(2), np.float32(2)):
        assert model.posterior({"stars": value}).matrix.tolist() == expected
        assert model.working({"stars": value}).best == model.predict({"stars": 2})
    for column in ([2, 2], [2.0, None], ["2", "2.0"], np.array([2, 2], np.uint8), pd.Series([2, 1], dtype="category")):
        assert model.posterior({"stars": column}).matrix[:1].tolist() == expected
    assert model.posterior({"stars": 3}).unseen == {"stars": 1}


def test_integer_classes() -> None:
    model = likely.fit({"a": list("uvuv"), "t": [1, 10, 1, 2]}, "t")
    assert model.classes == ("1", "2", "10")
    posterior = model.posterior({"a": "u"})
    for name in (1, "1", 1.0, np.int64(1), True):
        assert posterior.prob(name) == posterior.matrix[0, 0]
    with pytest.raises(ColumnError, match="There is no class '3'"):
        posterior.prob(3)


def test_boolean_classes_and_levels() -> None:
    model = likely.fit({"a": [True, False, True, False], "t": [True, True, False, True]}, "t")
    assert model.classes == ("false", "true")
    posterior = model.posterior({"a": True})
    for name in (True, "true", np.True_):
        assert posterior.prob(name) == posterior.matrix[0, 1]
    for cell in ("true", np.True_):
        assert model.posterior({"a": cell}).matrix.tolist() == posterior.matrix.tolist()


def test_booleans_are_found_in_a_file_that_spells_them_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    for yes, no in (("True", "False"), ("TRUE", "FALSE"), ("true", "false")):
        path.write_text(f"a,t\n{yes},{yes}\n{no},{no}\n{yes},{no}\n{no},{no}\n", encoding="utf-8")
        model = likely.fit(path, "t")
        assert model.classes == (no, yes)
        posterior = model.posterior({"a": True})
        assert posterior.unseen == {}
        assert posterior.prob(True) == model.posterior({"a": yes}).prob(yes) > model.posterior({"a": no}).prob(yes)
        frame = pd.DataFrame({"a": [True, False]})
        assert model.posterior(frame).matrix[0].tolist() == posterior.matrix[0].tolist()
        assert model.posterior(frame).unseen == {}


def test_a_weight_column_plays_no_part_in_new_rows() -> None:
    table = {"a": list("uvuv"), "w": [1.0, 2.0, 1.0, 0.5], "t": list("ppqq")}
    model = likely.fit(table, "t", weight="w")
    expected = model.posterior([{"a": "u"}]).matrix.tolist()
    assert model.posterior({"a": "u"}).matrix.tolist() == expected
    assert model.posterior({"a": "u", "w": 3}).matrix.tolist() == expected
    assert model.posterior([{"a": "u", "w": None}]).matrix.tolist() == expected
