"""Cells of text become codes, numbers and words; what is crossed with a class."""

from __future__ import annotations

import math
import subprocess
import sys
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import likely
from likely import Schema, Summary, Tokens
from likely.errors import ColumnError, InputError, SettingError, UnseenLevel
from likely.intake.observe import Observation, ObservationPlan
from likely.sums import state
from likely.table.arrow import FEW, few_values, name_array
from likely.table.batch import MISSING_CODE, UNSEEN_CODE, Batch, Codes
from likely.table.encode import Encoder
from likely.table.labels import Labels
from likely.table.schema import MISSING, Column
from likely.table.texts.levels import encode_levels
from likely.table.texts.numbers import column_form, describe_text, parse_numbers, token_hashes
from likely.table.views import text_cells

TOKENS = token_hashes(MISSING)
TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.dictionary(pa.int8(), pa.string())]
TEXTS += [pa.dictionary(pa.uint32(), pa.large_string())]


def plain(values: np.ndarray) -> list[float | None]:
    return [None if math.isnan(v) else v for v in values.tolist()]


def names(array: pa.Array, missing: frozenset[str] = frozenset(MISSING), reading: str = "text") -> list[str | None]:
    """The levels of an array, cell by cell."""
    labels = Labels()
    codes = encode_levels(array, missing, labels, False, reading)
    assert codes.dtype == np.int32 and codes.min(initial=0) >= MISSING_CODE
    return [None if c < 0 else labels.names[c] for c in codes]


def typed(cells: list[str | None], kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(kind):
        coded = pa.array(cells, kind.value_type).dictionary_encode()
        return pa.DictionaryArray.from_arrays(coded.indices.cast(kind.index_type), coded.dictionary)
    return pa.array(cells, pa.string()).cast(kind)


CELLS = st.lists(
    st.none()
    | st.sampled_from(["1", "2.5", " 3 ", "x", "?", "", "1,234", "0.12345678901234567890", "1e400", "ä", "a b"]),
    max_size=30,
)


@settings(max_examples=200)
@given(CELLS, st.sampled_from(TEXTS), st.integers(0, 30), st.integers(0, 30))
def test_text_of_every_kind_sliced_anywhere(
    cells: list[str | None], kind: pa.DataType, start: int, length: int
) -> None:
    array = typed(cells, kind).slice(start, length)
    seen = cells[start : start + length]

    def number(cell: str | None) -> float | None:
        try:
            return float(cell.replace(",", "")) if cell is not None else None
        except ValueError:
            return None

    values, strays = parse_numbers(array, TOKENS)
    assert plain(values) == [number(c) for c in seen]
    assert strays == sum(c in ("x", "ä", "a b") for c in seen)
    assert names(array) == [None if c is None or c.strip() in MISSING else c for c in seen]
    described = describe_text(array, TOKENS)
    assert described.totals[:6].sum() == len(seen)
    assert described.totals[0] == sum(c is None or c.strip() in MISSING for c in seen)


ODD = pa.DictionaryArray.from_arrays(
    pa.array([0, 3, None, 2, 4, 0], pa.int16()), pa.array(["5", "unused stray", "x", "5", None, "6"])
)


def test_a_dictionary_with_doubles_nulls_and_unused_entries() -> None:
    for start in range(6):
        cells = ["5", "5", None, "x", None, "5"][start:]
        array = ODD.slice(start)
        values, strays = parse_numbers(array, TOKENS)
        assert plain(values) == [5.0 if c == "5" else None for c in cells]
        assert strays == cells.count("x")
        assert names(array) == cells
    labels = Labels()
    encode_levels(ODD, frozenset(), labels, False)
    assert labels.names == ["5", "x"], "an unused entry is no level"


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
)
def test_whole_numbers_of_every_width(kind: pa.DataType) -> None:
    bits, signed = kind.bit_width, pa.types.is_signed_integer(kind)
    most, least = (2 ** (bits - 1) - 1, -(2 ** (bits - 1))) if signed else (2**bits - 1, 0)
    cells = [most, None, least, 7, None]
    for start in range(5):
        array = pa.array(cells, kind).slice(start)
        assert plain(parse_numbers(array, TOKENS)[0]) == [None if c is None else float(c) for c in cells[start:]]
    assert names(pa.array([3, None, 3], kind), reading="number") == ["3", None, "3"]
    assert plain(parse_numbers(pa.array([1, 2], kind), TOKENS)[0]) == [1, 2]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_floats_of_every_width(kind: pa.DataType) -> None:
    cells = np.array([0.1, -0.0, np.inf, np.nan, 65504.0], kind.to_pandas_dtype())
    values, strays = parse_numbers(pa.array(cells), TOKENS)
    assert strays == 0
    assert values.tobytes() == cells.astype(np.float64).tobytes()
    gaps = pa.array([1.5, None, 2.5, math.nan], kind).slice(1)
    assert plain(parse_numbers(gaps, TOKENS)[0]) == [None, 2.5, None]
    assert names(pa.array([1.5, -0.0, 0.0, 3.0, math.nan, math.inf, None], kind), reading="number") == [
        *("1.5", "0", "0", "3"),
        *(None, None, None),
    ]


@settings(max_examples=150)
@given(st.lists(st.none() | st.decimals(-(10**12), 10**12, places=6), max_size=10), st.integers(0, 3))
def test_decimals_become_the_nearest_double(cells: list[Decimal | None], start: int) -> None:
    for kind in (pa.decimal128(38, 6), pa.decimal256(50, 6)):
        values, strays = parse_numbers(pa.array(cells, kind).slice(start), TOKENS)
        assert (plain(values), strays) == ([None if c is None else float(Fraction(c)) for c in cells[start:]], 0)


def test_booleans() -> None:
    array = pa.array([True, None, False, True])
    assert plain(parse_numbers(array.slice(1), TOKENS)[0]) == [None, 0, 1]
    assert names(array, reading="boolean") == ["true", None, "false", "true"]


def test_dates_and_times() -> None:
    days = [date(1969, 12, 31), None, date(2020, 2, 29)]
    wanted = [-86400.0, None, 1582934400.0]
    for kind in (pa.date32(), pa.date64()):
        assert plain(parse_numbers(pa.array(days, kind), TOKENS)[0]) == wanted
        assert plain(parse_numbers(pa.array(days, kind).slice(1), TOKENS)[0]) == wanted[1:]
    moment = datetime(2020, 2, 29, 10, 20, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    for unit in ("s", "ms", "us", "ns"):
        aware = pa.array([None, moment], pa.timestamp(unit, "Asia/Kolkata"))
        assert plain(parse_numbers(aware, TOKENS)[0]) == [None, moment.timestamp()]
        naive = pa.array([moment.astimezone(UTC).replace(tzinfo=None)], pa.timestamp(unit))
        assert plain(parse_numbers(naive, TOKENS)[0]) == [moment.timestamp()]
    text = parse_numbers(pa.array([moment.isoformat()]), TOKENS, dates=True)[0]
    assert plain(text) == [moment.timestamp()], "text and typed columns mean the same moment"
    assert plain(parse_numbers(pa.array([time(0, 1), None], pa.time32("s")), TOKENS)[0]) == [60, None]
    assert plain(parse_numbers(pa.array([timedelta(minutes=1), None], pa.duration("s")), TOKENS)[0]) == [60, None]


EVERY = [
    pa.null(),
    pa.bool_(),
    pa.int8(),
    pa.uint64(),
    pa.float32(),
    pa.decimal128(9, 2),
    pa.date32(),
    pa.timestamp("ns", "UTC"),
]
EVERY += [pa.time32("s"), pa.time64("ns"), pa.duration("ms"), *TEXTS]


@pytest.mark.parametrize("kind", EVERY, ids=str)
@pytest.mark.parametrize("rows", [0, 1, 9])
def test_columns_of_nulls_and_columns_of_nothing(kind: pa.DataType, rows: int) -> None:
    array = pa.nulls(rows + 2, kind).slice(1, rows)
    for dates in (False, True):
        values, strays = parse_numbers(array, TOKENS, dates)
        assert (plain(values), strays, values.dtype) == ([None] * rows, 0, np.float64)
    assert names(array) == [None] * rows
    assert column_form(kind) != "other"


def test_forms_of_columns() -> None:
    assert column_form(pa.list_(pa.int8())) == "other"
    assert column_form(pa.struct([("a", pa.int8())])) == "other"
    assert column_form(pa.dictionary(pa.int8(), pa.int64())) == "number"
    assert column_form(pa.null()) == "empty"


SCHEMA = Schema(
    (
        Column("c", "nominal", "attribute", "text"),
        Column("x", "number", "attribute", "number"),
        Column("skipped", "text", "left out", "text"),
        Column("w", "number", "weight", "number"),
        Column("t", "nominal", "target", "number", edges=(10.0, 20.0)),
    )
)


def record(**columns: list) -> pa.RecordBatch:
    return pa.record_batch(columns)


def test_a_record_batch_becomes_a_batch() -> None:
    encoder = Encoder(SCHEMA)
    first = encoder.encode(
        record(t=[9, 10, 20, None], w=["1", "2", "0", "0.5"], x=["1", "n/a", "oops", "2"], c=["a", "b", None, "a"])
    )
    assert (first.rows, first.start) == (4, 0)
    assert first.cells["c"].codes.tolist() == [0, 1, -1, 0]
    assert plain(first.cells["x"]) == [1, None, None, 2]
    assert first.weight.tolist() == [1, 2, 0, 0.5]
    assert first.target.labels.names == ["below 10", "10 to below 20", "20 or more"]
    assert first.target.codes.tolist() == [0, 1, 2, -1]
    assert encoder.strays == {"x": 1}
    second = encoder.encode(record(t=[15], w=[1], x=[3], c=["new"]), start=4)
    assert second.cells["c"].labels is first.cells["c"].labels
    assert second.cells["c"].labels.names == ["a", "b", "new"]
    assert second.start == 4


@pytest.mark.parametrize("weight", ["-1", "inf", "heavy", None, "nan"])
def test_a_weight_that_is_none_is_refused_with_its_row(weight: str | None) -> None:
    with pytest.raises(ColumnError, match="row 12 of column 'w'"):
        Encoder(SCHEMA).encode(record(t=[1, 1], w=["1", weight], x=[1, 1], c=["a", "a"]), start=10)


def test_closed_labels_know_what_they_have_not_seen() -> None:
    closed = Encoder(SCHEMA, labels={"c": Labels(["a"])}, classes=Labels(["10 to below 20"]))
    batch = closed.encode(record(t=[1, 15, None], x=[1, 1, 1], c=["a", "z", None]))
    assert batch.cells["c"].codes.tolist() == [0, UNSEEN_CODE, MISSING_CODE]
    assert batch.target.codes.tolist() == [UNSEEN_CODE, 0, MISSING_CODE]
    assert closed.unseen == {"c": 1}
    strict = Encoder(SCHEMA, labels={"c": Labels(["a"])}, refuse_unseen=True)
    with pytest.raises(UnseenLevel, match=r"Row 8 has .*'z'.* column 'c'"):
        strict.encode(record(x=[1, 1, 1], c=["a", "a", "z"]), start=5)


def test_a_column_that_is_not_there_is_missing() -> None:
    encoder = Encoder(SCHEMA, labels={"c": Labels(["a"])})
    batch = encoder.encode(record(x=[1.0, 2.0]))
    assert batch.cells["c"].codes.tolist() == [-1, -1]
    assert (encoder.absent, batch.target, batch.weight) == ({"c"}, None, None)


def test_cells_that_cannot_be_numbers_at_all() -> None:
    schema = Schema((Column("x", "number", "attribute", "number"),))
    with pytest.raises(InputError, match="'x'"):
        Encoder(schema).encode(pa.record_batch({"x": pa.array([[1], [2]])}))


def test_rows_of_a_batch() -> None:
    batch = Encoder(SCHEMA).encode(record(t=[1, 15, 25], w=[1, 2, 3], x=[1, 2, 3], c=["a", "b", "a"]))
    for part in (batch.sliced(slice(1, 3)), batch.take(np.array([1, 2]))):
        assert (part.rows, plain(part.cells["x"]), part.weight.tolist()) == (2, [2, 3], [2, 3])
        assert part.target.codes.tolist() == [1, 2]


def test_a_few_texts_are_looked_up_as_many_are() -> None:
    """Codes of known levels, of unseen ones, of blanks and of missing cells, whether rows come one by one or not."""
    column = Column("c", "nominal", "attribute", "text")
    texts = ["sun", "rain", None, "", " ", "NA", "snow", " sun ", "1", "1.0", "true"]
    closed = {"c": Labels(["rain", "sun", "1", "True"])}
    many = Encoder(Schema((column,)), closed).encode(pa.record_batch({"c": pa.array(texts * 3)})).cells["c"].codes
    encoder = Encoder(Schema((column,)), closed)
    for _ in range(2):  # looked up, then remembered
        rows = [pa.record_batch({"c": pa.array([t], pa.string())}) for t in texts]
        one_by_one = [encoder.encode(row).cells["c"].codes for row in rows]
        assert np.concatenate(one_by_one).tolist() == many[: len(texts)].tolist()
    truth = [encoder.encode(pa.record_batch({"c": pa.array([t])})).cells["c"].codes[0] for t in (True, 1)]
    assert truth == [3, 2]  # what is no text is not taken for one


def test_a_text_that_is_none_is_refused_though_it_comes_alone() -> None:
    encoder = Encoder(Schema((Column("c", "nominal", "attribute", "text"),)), {"c": Labels(["a"])})
    offsets = pa.py_buffer(np.array([0, 1], np.int32).tobytes())
    broken = pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(b"\xff")])
    with pytest.raises(InputError, match="Row 1 of column 'c' is not valid UTF-8"):
        encoder.encode(pa.RecordBatch.from_arrays([broken], names=["c"]))


# Text columns as they come from Arrow: every kind of array, cells that are missing, and bytes that are no text.


TEXT_CELLS = ["two words", None, "", "ß 😀", "NA", " ? ", "two words", "x" * 100]
TEXT_SCHEMA = Schema((Column("t", "text", "attribute", "text", tokens=Tokens()),))


def arrays() -> dict[str, pa.Array]:
    plain = pa.array(TEXT_CELLS, pa.string())
    return {
        "string": plain,
        "large": plain.cast(pa.large_string()),
        "view": plain.cast(pa.string_view()),
        "dictionary": plain.dictionary_encode(),
        "binary": plain.cast(pa.binary()),
        "large binary": plain.cast(pa.large_binary()),
        "slice": pa.concat_arrays([pa.array(["before"]), plain, pa.array(["after"])]).slice(1, len(TEXT_CELLS)),
        "sliced dictionary": pa.concat_arrays([pa.array(["before", None]), plain]).dictionary_encode().slice(2),
    }


@pytest.mark.parametrize("kind", arrays())
def test_every_kind_of_array_gives_the_same_texts(kind: str) -> None:
    array = arrays()[kind]
    cells = text_cells(array)
    assert [cells.text(k) for k in range(len(cells))] == [c or "" for c in TEXT_CELLS]
    read = Encoder(TEXT_SCHEMA).encode(pa.record_batch([array], names=["t"])).cells["t"]
    expected = ["two words", "", "", "ß 😀", "", "", "two words", "x" * 100]
    assert [read.text(k) for k in range(len(read))] == expected


def test_arrays_without_any_text() -> None:
    for array in (pa.nulls(3), pa.nulls(3, pa.string()), pa.nulls(3).dictionary_encode()):
        read = Encoder(TEXT_SCHEMA).encode(pa.record_batch([array], names=["t"])).cells["t"]
        assert [read.text(k) for k in range(len(read))] == ["", "", ""]
    assert len(text_cells(pa.array([], pa.string()))) == 0
    absent = Encoder(TEXT_SCHEMA).encode(pa.record_batch([pa.array([1, 2])], names=["other"]))
    assert len(absent.cells["t"]) == 2


def broken(kind: pa.DataType) -> pa.Table:
    some = [b"sound text here and there", b"bro\xffken text of some words", b"a c\xc3\xa9 b d"]
    data = pa.array([text + b" %d" % k for k in range(4) for text in some], pa.binary())
    text = pa.Array.from_buffers(kind, len(data), data.buffers())
    return pa.table({"t": text, "x": [0.5, 1.5, 2.5] * 4, "y": ["a", "b", "a"] * 4})


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()], ids=str)
def test_broken_text_is_refused_with_its_row_or_replaced(kind: pa.DataType, tmp_path) -> None:
    pq.write_table(broken(kind), tmp_path / "broken.parquet")
    for table in (broken(kind), tmp_path / "broken.parquet"):
        for types in ({"t": "text"}, None, {"x": "ignore"}):
            with pytest.raises(InputError, match="Row 2 of column 't' is not valid UTF-8"):
                likely.summarize(table, "y", types=types)
            words = likely.summarize(table, "y", types=types, encoding_errors="replace")["t"]
            assert {"bro", "ken", "cé"} <= set(words.tally().vocabulary)
        if kind == pa.string():  # levels kept as bytes are told apart by what can be read of them
            with pytest.raises(InputError, match="Row 2 of column 't' is not valid UTF-8"):
                likely.summarize(table, "y", types={"t": "nominal"})
    with pytest.raises(SettingError, match="encoding_errors"):
        likely.summarize({"y": ["a", "b"]}, "y", encoding_errors="ignore")


def test_words_of_a_parquet_file_do_not_depend_on_threads(tmp_path) -> None:
    rng = np.random.default_rng(0)
    some = [" ".join(f"w{k}" for k in rng.integers(0, 2000, 400)) for _ in range(6000)]
    pq.write_table(pa.table({"t": some, "y": rng.choice(["a", "b"], 6000)}), tmp_path / "t.parquet")
    one = likely.summarize(tmp_path / "t.parquet", "y", threads=1)
    assert one.schema["t"].kind == "text" and one.schema["t"].role == "attribute"
    assert likely.summarize(tmp_path / "t.parquet", "y", threads=3) == one
    assert (one + one) - one == one
    one.save(tmp_path / "s.likely")
    assert likely.load(tmp_path / "s.likely", likely.Summary) == one


# Few values of Python become the array that Arrow makes of them, though pandas is not imported for it.


FEW_CELLS = [
    st.text(st.characters(exclude_categories=["Cs"])),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.booleans(),
]


@example([math.nan])
@example([math.nan, None])
@example([math.nan, 1.0])
@example([])
@example([None, None])
@given(st.one_of(st.lists(st.none() | cells, max_size=20) for cells in FEW_CELLS))
def test_the_array_is_the_one_that_arrow_makes(values: list[Any]) -> None:
    made, wanted = few_values(values), pa.array(values, from_pandas=True)
    assert made is not None
    made.validate(full=True)
    assert made.type == wanted.type and made.null_count == wanted.null_count
    assert [repr(v) for v in made.to_pylist()] == [repr(v) for v in wanted.to_pylist()]  # minus zero is told from zero


@pytest.mark.parametrize(
    "values", [[1, "a"], [1, 2.5], [True, 1], [b"x"], [np.float64(1)], [2**63], [[1]], [1.0] * (FEW + 1), [object()]]
)
def test_what_is_of_several_kinds_unusual_or_much_is_left_to_arrow(values: list[Any]) -> None:
    assert few_values(values) is None


def test_half_a_character_is_no_text() -> None:
    with pytest.raises(UnicodeEncodeError):
        few_values(["\ud800"])


def test_names_of_codes() -> None:
    codes, valid = np.array([1, 0, -1, 1]), np.array([True, True, False, True])
    assert name_array(codes, ["a", "é"], valid).to_pylist() == ["é", "a", None, "é"]
    assert name_array(codes[:2], ["a", "é"]).type == pa.string() and name_array(codes[:0], []).to_pylist() == []


def test_a_row_is_read_alike_with_and_without_pandas() -> None:
    pytest.importorskip("pandas")
    row = {"t": "x", "n": 1, "x": 2.5, "gone": None, "nan": math.nan, "yes": True, "é": "ü"}
    program = (
        "import sys, math\n"
        "if sys.argv[1] == 'with': import pandas\n"
        "from likely.table.open import open_source\n"
        f"(batch,) = open_source([{row!r}]).batches()\n"
        "print(batch.schema, batch.to_pylist(), sep='\\n')\n"
        "print('pandas' in sys.modules, file=sys.stderr)\n"
    ).replace("'nan': nan", "'nan': math.nan")
    with_it, without = (
        subprocess.run([sys.executable, "-c", program, how], capture_output=True, text=True, check=True)
        for how in ("with", "without")
    )
    assert with_it.stdout == without.stdout
    assert without.stderr.strip() == "False"


# Columns counted with the classes while they are read: the counts, codes and times that reading alone gives.


ENTRIES = ["red", "green", " blue ", "", "NA", "?", "never used"]
CLASSES = ["p", "q", "r"]
CROSSED = Schema((Column("colour", "nominal", "attribute", "text"), Column("class", "nominal", "target", "text")))


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
        encoder, summary = Encoder(CROSSED, crosses=crosses), Summary(CROSSED)
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
        encoded = Encoder(CROSSED, crosses=True).encode(given_rows)
        for target, weights in ((other, None), (encoded.target, weight), (encoded.target, None)):
            summary = Summary(CROSSED)
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
    assert Encoder(CROSSED, crosses=True).encode(batch).cells["colour"].crossed is None


def test_known_levels_are_never_crossed() -> None:
    encoder = Encoder(CROSSED, {"colour": Labels(["red"])}, Labels(CLASSES), crosses=True)
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
    seen = Observation(ObservationPlan((), None, CROSSED))
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
