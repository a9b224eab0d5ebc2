"""Columns counted with the classes while they are read: the counts, codes and times that reading alone gives."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely import Schema, Summary
from likely.errors import InputError
from likely.intake.observe import Observation, ObservationPlan
from likely.sums import state
from likely.table.batch import Batch, Codes
from likely.table.encode import Encoder
from likely.table.labels import Labels
from likely.table.schema import Column

ENTRIES = ["red", "green", " blue ", "", "NA", "?", "never used"]
CLASSES = ["p", "q", "r"]
SCHEMA = Schema((Column("colour", "nominal", "attribute", "text"), Column("class", "nominal", "target", "text")))


def rows(colours: list[int | None], classes: list[int | None], offset: int = 0) -> pa.RecordBatch:
    """A batch whose columns are slices: nulls are then looked up from the middle of a byte."""
    columns = []
    for codes, entries in ((colours, ENTRIES), (classes, CLASSES)):
        array = pa.DictionaryArray.from_arrays(pa.array([None] * offset + codes, pa.int32()), pa.array(entries))
        columns.append(array.slice(offset))
    return pa.RecordBatch.from_arrays(columns, names=["colour", "class"])


def some(count: int) -> st.SearchStrategy[list[int | None]]:
    return st.lists(st.one_of(st.none(), st.integers(0, count - 1)), min_size=150, max_size=150)


@given(colours=some(6), classes=some(3), offset=st.integers(0, 9))
def test_counted_while_read_or_afterwards(colours: list[int | None], classes: list[int | None], offset: int) -> None:
    batch = rows(colours, classes, offset)
    sums, cells, held = [], [], []
    for crosses in (True, False):
        encoder, summary = Encoder(SCHEMA, crosses=crosses), Summary(SCHEMA)
        for part in (batch, batch.slice(0, 140), batch):
            encoded = encoder.encode(part)
            assert (encoded.cells["colour"].crossed is not None) == crosses
            summary.update(encoded)
        own = encoded.cells["colour"]
        cells.append([own.labels.names[c] if c >= 0 else None for c in own.codes])
        sums.append(state.dump({"sums": summary.state()}))
        described = encoder.take_description("colour")
        assert described is not None
        _, texts, times = described
        held.append({texts.text(k): times.tolist()[k] for k in range(len(texts))})
    assert sums[0] == sums[1] and cells[0] == cells[1] and held[0] == held[1]


def test_rows_of_other_classes_or_weights_are_counted_anew() -> None:
    """What was counted holds for the classes it was counted with, and for rows that count once."""
    draw = np.random.default_rng(3)
    batch = rows(draw.integers(0, 6, 500).tolist(), draw.integers(0, 3, 500).tolist())
    plain = pa.RecordBatch.from_arrays([c.cast(pa.string()) for c in batch.columns], names=batch.schema.names)
    labels = Labels(["one", "two"])
    other = Codes(draw.integers(0, 2, 500).astype(np.int32), labels)
    weight = draw.integers(0, 3, 500).astype(np.float64)
    found = []
    for given_rows in (batch, plain):
        encoded = Encoder(SCHEMA, crosses=True).encode(given_rows)
        for target, weights in ((other, None), (encoded.target, weight), (encoded.target, None)):
            summary = Summary(SCHEMA)
            summary.update(Batch(500, encoded.cells, target, weights))
            found.append(state.dump({"sums": summary.state()}))
    assert found[:3] == found[3:] and len(set(found)) == 3


def test_a_large_dictionary_is_not_crossed() -> None:
    names = pa.array([f"level {k}" for k in range(400)])
    codes = pa.array(np.arange(1000, dtype=np.int32) % 400)
    classes = pa.array(["p", "q"] * 500)
    batch = pa.RecordBatch.from_arrays(
        [pa.DictionaryArray.from_arrays(codes, names), classes], names=["colour", "class"]
    )
    assert Encoder(SCHEMA, crosses=True).encode(batch).cells["colour"].crossed is None


def test_known_levels_are_never_crossed() -> None:
    encoder = Encoder(SCHEMA, {"colour": Labels(["red"])}, Labels(CLASSES), crosses=True)
    cells = encoder.encode(rows([0, 1, None] * 50, [0, 1, 2] * 50)).cells["colour"]
    assert cells.crossed is None and cells.codes[:3].tolist() == [0, -2, -1]


@pytest.mark.parametrize("wild", [-1, 7, 2_000_000_000])
@pytest.mark.parametrize("null", [False, True])
def test_codes_beyond_the_dictionary_are_refused(wild: int, null: bool) -> None:
    codes = pa.array([0, wild, 1] * 100, pa.int32(), mask=np.array([False, False, null] * 100))
    column = pa.DictionaryArray.from_arrays(codes, pa.array(ENTRIES), safe=False)
    data = pa.table({"colour": column, "class": ["p", "q", "r"] * 100})
    with pytest.raises(InputError, match="codes that its dictionary does not have"):
        likely.summarize(data, "class")


def test_what_lies_below_a_null_is_nobodys() -> None:
    codes = pa.array([0, 99, 1] * 100, pa.int32(), mask=np.array([False, True, False] * 100))
    column = pa.DictionaryArray.from_arrays(codes, pa.array(ENTRIES), safe=False)
    seen = Observation(ObservationPlan((), None, SCHEMA))
    seen.update(pa.RecordBatch.from_arrays([column, pa.array(["p", "q", "r"] * 100)], names=["colour", "class"]))
    assert seen.summary is not None
    colour = seen.summary.canonical().columns["colour"]
    assert colour.other.floats().tolist() == [[0.0, 100.0, 0.0]]


@pytest.mark.parametrize("offset", [0, 3, 8])
def test_numbers_below_a_null_are_missing(offset: int) -> None:
    values = np.arange(20.0)
    array = pa.array(values, mask=values % 3 == 0).slice(offset)
    batch = pa.RecordBatch.from_arrays([array], names=["x"])
    cells = Encoder(Schema((Column("x", "number", "attribute", "number"),))).encode(batch).cells["x"]
    np.testing.assert_array_equal(cells, np.where(values % 3 == 0, np.nan, values)[offset:])
