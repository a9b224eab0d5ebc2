"""What is computed, or read once, when it is asked for: swept as often as need be, and never half of it."""

from __future__ import annotations

import csv
import gc
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import likely
from likely.errors import InputError

COLUMNS = {"x": [1.5, 2.5, 3.5, 4.5] * 10, "y": ["a", "a", "b", "b"] * 10}
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


def test_a_generator_is_kept_for_every_sweep_and_let_go_with_it() -> None:
    long = "a" * 1_000_000
    given = (pa.record_batch({**{name: [cell] for name, cell in row.items()}, "note": [long]}) for row in ROWS)
    first = likely.fit(given, "y", likely.Logistic(), types={"note": "ignore"})
    again = likely.fit(given, "y", likely.Logistic(), types={"note": "ignore"})
    assert np.array_equal(first.posterior(ROWS).matrix, again.posterior(ROWS).matrix)
    kept = pa.total_allocated_bytes()
    del given
    gc.collect()
    assert pa.total_allocated_bytes() < kept - len(ROWS) * len(long) / 2


def test_iterators_of_every_kind(tmp_path: Path) -> None:
    wanted = repr(likely.summarize(ROWS, "y").canonical().state())
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{row['x']},{row['y']}\n" for row in ROWS))
    for given in (iter(ROWS), map(dict, ROWS), (row for row in ROWS)):
        assert repr(likely.summarize(given, "y").canonical().state()) == wanted
        assert repr(likely.summarize(given, "y").canonical().state()) == wanted
    with open(tmp_path / "t.csv", newline="") as file:
        assert likely.summarize(csv.DictReader(file), "y").classes == ("a", "b")


def test_an_iterator_that_gives_nothing_or_no_rows_is_a_sentence() -> None:
    with pytest.raises(InputError, match="at its end"):
        likely.summarize(row for row in [])
    with pytest.raises(InputError, match="gives a int"):
        likely.summarize(row for row in [1, 2])
    with pytest.raises(InputError, match="Row 2 of the list is a int"):
        likely.summarize(row for row in [{"a": 1}, 2])
    with pytest.raises(InputError, match="do not agree"):
        likely.summarize(pa.record_batch(c) for c in ({"a": [1]}, {"a": [[1]]}))


def test_arrays_with_names() -> None:
    array = np.array(list(zip(*COLUMNS.values(), strict=True)), [("x", "f8"), ("y", "U3")])
    wanted = likely.summarize(COLUMNS, "y").canonical().state()
    assert repr(likely.summarize(array, "y").canonical().state()) == repr(wanted)
    assert repr(likely.summarize(array.view(np.recarray), "y").canonical().state()) == repr(wanted)
    with pytest.raises(InputError, match=r"Name its columns: dict\(zip\(names, X.T\)\)"):
        likely.summarize(np.ones((3, 2)))


def test_predictions_come_of_lazy_frames() -> None:
    frame = pl.DataFrame(COLUMNS)
    model = likely.fit(frame.lazy(), "y", likely.NaiveBayes())
    assert [str(c) for c in model.predict(frame.lazy())] == [str(c) for c in model.predict(frame)]


def test_a_target_may_be_given_as_values() -> None:
    frame = pl.DataFrame({"x": COLUMNS["x"]})
    assert likely.summarize(frame.lazy(), COLUMNS["y"]).classes == ("a", "b")


def test_files_of_a_list_must_agree(tmp_path: object) -> None:
    with pytest.raises(InputError, match="There is no file"):
        likely.summarize(["none.csv", "neither.csv"])
