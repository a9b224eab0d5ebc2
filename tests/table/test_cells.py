"""Numbers in cells: their forms, units and parts of dates."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely.errors import ColumnError, InputError, SchemaMismatch, SettingError
from likely.present.page.writing import page_of_model
from likely.present.report.model import present_model
from likely.sums import state
from likely.table.arrow import text_array
from likely.table.texts import cells
from likely.table.texts.numbers import (
    NO_TOKENS,
    UNITS,
    describe_cells,
    describe_numbers,
    describe_text,
    parse_numbers,
    parse_with_unit,
    take_part,
    token_hashes,
)
from likely.table.views import text_cells

NONE_OF_THEM = token_hashes(())
FORMS = {
    value: name
    for name, value in vars(cells).items()
    if name in ("MISSING", "WHOLE", "DECIMAL", "CODE", "DATE", "WORDS")
}


def read(texts: list[str], dates: bool = False) -> list[float | None]:
    """The numbers (or seconds since 1970) of cells; None where a cell is none."""
    values, strays = parse_numbers(pa.array(texts, pa.string()), NONE_OF_THEM, dates)
    out = [None if math.isnan(v) else v for v in values.tolist()]
    assert strays == out.count(None) - sum(not t.strip() for t in texts)
    return out


def form(text: str) -> str:
    return FORMS[describe_text(pa.array([text], pa.string()), NONE_OF_THEM).forms[0]]


def same(found: list[float | None], wanted: list[float]) -> None:
    """Equal to the last bit, the sign of zero included."""
    assert [None if x is None else x.hex() for x in found] == [x.hex() for x in wanted]


SPELLINGS = st.from_regex(r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,4})?", fullmatch=True)
DOUBLES = st.floats(allow_nan=False)


@settings(max_examples=100)
@given(st.lists(SPELLINGS, min_size=1, max_size=20))
def test_every_spelling_of_a_number_is_what_python_reads(texts: list[str]) -> None:
    same(read(texts), [float(t) for t in texts])


@settings(max_examples=300)
@given(st.lists(DOUBLES, min_size=1, max_size=20), st.sampled_from(["r", ".17g", ".16e", ".20f", ".15g", ".30e"]))
def test_every_double_comes_back(values: list[float], how: str) -> None:
    texts = [repr(v) if how == "r" else format(v, how) for v in values]
    same(read(texts), [float(t) for t in texts])


@settings(max_examples=300)
@given(st.integers(0, 2**64), st.integers(-30, 30))
def test_halfway_cases_are_rounded_to_even(whole: int, power: int) -> None:
    # 2**53 + odd numbers lie halfway between doubles; so do their neighbours by one digit.
    for k in (2**53 + 2 * whole + 1, 2**54 + 4 * whole + 2, whole):
        texts = [str(k), f"{k}.0", f"{k}.00000000000000000001", f"{k}e{power}", f"-{k}e-{abs(power)}"]
        same(read(texts), [float(t) for t in texts])


@pytest.mark.parametrize(
    "text",
    [
        "1e400",
        "-1e400",
        "1e-400",
        "5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e99999999999999999999",
        "0e99999",
        "-0",
        "+5",
        ".5",
        "5.",
        "1E+05",
        "0." + "0" * 400 + "1e401",
        "9" * 400,
        "1" + "0" * 308,
        "000.5",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "9007199254740993",
        "123456789012345678901234567890",
        "1e23",
        "inf",
        "-Infinity",
        "+INF",
        "8.41470984807896504e-1",
        "0" * 50 + "1.5",
    ],
)
def test_awkward_numbers(text: str) -> None:
    same(read([text, f"  {text}\t\n"]), [float(text)] * 2)


@pytest.mark.parametrize(
    "text",
    [
        "-",
        "+",
        ".",
        "e5",
        ".e5",
        "1e",
        "1e+",
        "1e5.5",
        "1_000",
        "0x10",
        "1 2",
        "1..2",
        "1.2.3",
        "--1",
        "+-1",
        "1-",
        "1f",
        "½",
        "１２",
        "1e5e5",
        "infinit",
        "infinity!",
        "in",
        "1,23",
        ",123",
        "1234,567",
        "1,2345",
        "1,234,56",
        "1,,234",
        "1,234,",
        "1.234,567",
        "12,34,567",
        "1e1,000",
        "-,123",
        "$5",
        "5%",
        "١٢",
    ],
)
def test_what_is_no_number(text: str) -> None:
    assert read([text]) == [None]
    assert form(text) == "WORDS"


@settings(max_examples=300)
@given(st.text(st.sampled_from("0123456789+-.,eE_x "), min_size=1, max_size=12))
def test_the_grammar_is_pythons_with_thousands_marks_and_without_underscores(text: str) -> None:
    plain = text.strip()
    if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?([eE][+-]?\d+)?", plain):
        plain = plain.replace(",", "")
    try:
        wanted = float(plain) if "_" not in plain else None
    except ValueError:
        wanted = None
    assert read([text]) == [wanted]


@settings(max_examples=200)
@given(st.integers(-(10**30), 10**30), st.sampled_from(["", ".5", ".", ".12345678901234567890", "e3"]))
def test_thousands_marks_change_nothing(whole: int, rest: str) -> None:
    same(read([f"{whole:,}{rest}"]), [float(f"{whole}{rest}")])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        *(("0", "WHOLE"), ("-12", "WHOLE"), ("+5", "WHOLE"), ("1,234,567", "WHOLE"), ("9" * 30, "WHOLE")),
        *(("007", "CODE"), ("00", "CODE"), ("-01", "CODE"), ("0123456789012345678901", "CODE")),
        *(("0.5", "DECIMAL"), ("5.", "DECIMAL"), ("1e5", "DECIMAL"), ("007.5", "DECIMAL"), ("inf", "DECIMAL")),
        *(("2020-02-29", "DATE"), ("2020/02/29 10:00", "DATE"), ("2021-02-29", "WORDS"), ("20200229", "WHOLE")),
        *(("", "MISSING"), (" \t\r\n", "MISSING"), ("a", "WORDS"), ("\x00", "WORDS"), ("\xa0", "WORDS")),
    ],
)
def test_forms(text: str, wanted: str) -> None:
    assert form(text) == wanted


def test_columns_of_text_read_in_one_call_are_each_what_they_are_alone() -> None:
    words = ["1", " -2.50", "", "0.1234567890123456789e-5", "n/a", "2024-02-29", "two words", "1,000", "7e400"]
    columns = [words, words[::-1], [str(k / 7) for k in range(9)], [""] * 9, [f"2024-01-0{k + 1}" for k in range(9)]]
    arrays, dates = [text_array(column) for column in columns], [False, True, False, False, True]
    arrays[2] = arrays[2].cast(pa.large_string())
    missing = token_hashes(("n/a",))
    for array, date, (values, strays, seen) in zip(
        arrays, dates, describe_numbers(arrays, missing, dates), strict=True
    ):
        alone, alone_strays = parse_numbers(array, missing, date)
        assert (values.tobytes(), strays) == (alone.tobytes(), alone_strays)
        described = describe_text(array, missing)
        for part in ("forms", "hashes", "totals"):
            assert np.array_equal(getattr(seen, part), getattr(described, part))
    with pytest.raises(ValueError, match="as many cells"):
        describe_numbers([arrays[0], arrays[1].slice(1)], missing, [False, False])


def test_words_are_counted() -> None:
    seen = describe_text(pa.array(["a", " a  b\tc\n", "", "12 34", "über alles", None]), NONE_OF_THEM)
    assert seen.totals.tolist() == [2, 0, 0, 0, 0, 4, 1 + 3 + 2 + 2]
    doubled = describe_cells(text_cells(pa.array(["a b", "1", "never", ""])), NONE_OF_THEM, np.array([2, 3, 0, 5]))
    assert doubled.totals.tolist() == [5, 3, 0, 0, 0, 2, 2 * 2 + 3]
    assert [h == 0 for h in doubled.hashes.tolist()] == [False, False, True, True]


ZONES = st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))
MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))


def stamp(moment: datetime) -> float:
    """Seconds since 1970, without a zone as if in UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1)


@settings(max_examples=300)
@given(
    MOMENTS, st.none() | ZONES, st.sampled_from("T t"), st.sampled_from(["hours", "minutes", "seconds", "microseconds"])
)
def test_dates_are_those_of_datetime(moment: datetime, zone: timezone | None, mark: str, precision: str) -> None:
    text = moment.replace(tzinfo=zone).isoformat(sep=mark, timespec=precision)
    if precision == "hours":  # a date alone
        text = moment.date().isoformat()
    found = read([text, f" {text} "], dates=True)
    wanted = stamp(datetime.fromisoformat(text))
    assert found[0] == found[1] is not None
    # The fraction is rounded twice (as a fraction, then as a sum), so it may miss by a unit in the last place.
    assert abs(found[0] - wanted) <= (math.ulp(wanted) if precision == "microseconds" else 0)
    assert form(text) == "DATE"


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("2020-02-29T10:20:30Z", "2020-02-29T10:20:30+00:00"),
        ("2020-02-29 10:20:30z", "2020-02-29T10:20:30+00:00"),
        ("2020/02/29", "2020-02-29"),
        ("2020-02-29T10:20+0530", "2020-02-29T10:20+05:30"),
        ("2020-02-29T10:20-05", "2020-02-29T10:20-05:00"),
        ("2020-02-29T10:20:30,5", "2020-02-29T10:20:30.500"),
        ("2020-02-29T24:00", "2020-03-01T00:00"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00+00:00"),
        ("1900-01-01", "1900-01-01T00:00:00"),
    ],
)
def test_other_spellings_of_a_moment(text: str, same_as: str) -> None:
    assert read([text], dates=True) == [stamp(datetime.fromisoformat(same_as))]


@pytest.mark.parametrize(
    "text",
    [
        "2021-02-29",
        "1900-02-29",
        "2020-13-01",
        "2020-00-10",
        "2020-01-00",
        "2020-04-31",
        "2020-1-1",
        "20-01-01",
        "2020-01/01",
        "2020-01-01T",
        "2020-01-01T10",
        "2020-01-01T25:00",
        "2020-01-01T10:60",
        "2020-01-01T10:20:61",
        "2020-01-01X10:20",
        "2020-01-01T10:20:30.",
        "2020-01-01T10:20+5",
        "2020-01-01T10:20+05:",
        "2020-01-01T10:20+05:3",
        "2020-01-01T10:20Zulu",
        "2020-01-01T10:20+05:60",
        "2020-01-01 10:20 PM",
        "2020-01-01-02",
        "01/02/2020",
        "2020.01.01",
        "today",
        "12345",
        "٢٠٢٠-01-01",
    ],
)
def test_what_is_no_date(text: str) -> None:
    assert read([text], dates=True) == [None]
    assert form(text) != "DATE"


@settings(max_examples=200)
@given(st.integers(0, 9999), st.integers(0, 20), st.integers(0, 40))
def test_only_days_of_the_calendar_are_dates(year: int, month: int, day: int) -> None:
    text = f"{year:04}-{month:02}-{day:02}"
    try:
        wanted = stamp(datetime.fromisoformat(text))
    except ValueError:
        wanted = None
    if year > 0:  # Python has no year 0; astronomers do
        assert read([text], dates=True) == [wanted]


def test_tokens_are_missing_however_they_are_padded() -> None:
    tokens = token_hashes(("", "?", "-999"))
    values, strays = parse_numbers(pa.array(["?", " ? ", "-999", "-999.0", "", "??", "NA"]), tokens)
    assert [None if math.isnan(v) else v for v in values] == [None, None, None, -999.0, None, None, None]
    assert strays == 2


def test_cells_may_hold_anything() -> None:
    texts = ["\x00", "1\x00", "a" * 100_000, "1" * 100_000, "\ud7ff", "😀", "-" * 9, "0" * 100_000, "1e" + "9" * 5000]
    assert read(texts)[3] == math.inf
    assert read(texts)[7:] == [0.0, math.inf]
    assert read(texts, dates=True) == [None] * 9


# Percentages and amounts of money are numbers where a whole column is so written, by every road, to the last bit.


ROWS = 60
NUMBERS = [round(1234.5 + 17.25 * k - (k % 7) * 400, 2) for k in range(ROWS)]
TARGET = ["a" if k % 7 < 3 else "b" for k in range(ROWS)]


def bits(data: object, **more: object) -> bytes:
    tree = likely.summarize(data, "y", **more).canonical().state()  # type: ignore[arg-type]
    return state.dump({key: value for key, value in tree.items() if key != "schema"})


def dollars(x: float) -> str:
    return f"-${-x:,.2f}" if x < 0 else f"${x:,.2f}"


WRITTEN = {
    "%": lambda x: f"{x} %",
    " %": lambda x: f"{x:,.2f}%",
    "$": dollars,
    "€": lambda x: f"€ {x:,.2f}",
    "£": lambda x: f"(£{-x:,.2f})" if x < 0 else f"£{x}",
    "CHF": lambda x: f"{x:,.2f}\u00a0CHF",
    "EUR": lambda x: f"EUR {x}",
}


@pytest.mark.parametrize("how", WRITTEN)
def test_the_sums_are_those_of_the_numbers_by_every_road(how: str, tmp_path: Path) -> None:
    cells = [WRITTEN[how](x) for x in NUMBERS]
    wanted = bits({"x": NUMBERS, "y": TARGET})
    table = pa.table({"x": cells, "y": TARGET})
    (tmp_path / "t.csv").write_text(
        "x,y\n" + "".join(f'"{c}",{y}\n' for c, y in zip(cells, TARGET, strict=True)), encoding="utf-8"
    )
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, table.to_pylist())))
    coded = table.set_column(0, "x", table.column("x").dictionary_encode())
    for data in (table, coded, pl.from_arrow(table), tmp_path / "t.csv", tmp_path / "t.jsonl", table.to_pylist()[::-1]):
        assert bits(data) == wanted
    schema = likely.summarize(table, "y").schema
    assert (schema["x"].kind, schema["x"].unit) == ("number", how.strip())
    assert schema["x"].why == ("every cell is a percentage" if "%" in how else "every cell is an amount of money")


def test_threads_and_pieces_see_the_same(tmp_path: Path) -> None:
    rows = 200_000
    cells = [f"{k % 997 / 8} %" for k in range(rows)]
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{c},{'ab'[k % 2]}\n" for k, c in enumerate(cells)))
    one, two = (bits(tmp_path / "t.csv", threads=n) for n in (1, 2))
    assert one == two == bits({"x": [k % 997 / 8 for k in range(rows)], "y": ["a", "b"] * (rows // 2)})


def test_missing_cells_do_not_matter_and_new_rows_are_read_alike(tmp_path: Path) -> None:
    cells = [None if k % 9 == 4 else "NA" if k % 9 == 5 else dollars(x) for k, x in enumerate(NUMBERS)]
    model = likely.fit({"x": cells, "y": TARGET}, "y", likely.NaiveBayes())
    plain = likely.fit(
        {"x": [None if k % 9 in (4, 5) else x for k, x in enumerate(NUMBERS)], "y": TARGET}, "y", likely.NaiveBayes()
    )
    new = [1234.5, 99.0, -3.25]
    wanted = plain.posterior({"x": new}).matrix
    for way in (new, [dollars(x) for x in new], [str(x) for x in new], [f"{x} $" for x in new]):
        assert np.array_equal(model.posterior({"x": way}).matrix, wanted)
    assert np.array_equal(model.posterior({"x": ["€5"]}).matrix, plain.posterior({"x": [None]}).matrix)
    assert " $'" in str(present_model(model))  # the range of the column, with its unit
    model.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    assert again.schema["x"].unit == "$"
    assert np.array_equal(again.posterior({"x": [dollars(x) for x in new]}).matrix, wanted)


def test_exports_work_on_numbers() -> None:
    model = likely.fit({"x": [dollars(x) for x in NUMBERS], "y": TARGET}, "y", likely.NaiveBayes())
    query = likely.export(model, "sql", table="t", dialect="duckdb")
    with duckdb.connect() as base:
        base.register("t", pa.table({"x": NUMBERS}))
        found = base.sql(query).to_arrow_table().column("prediction").to_pylist()
    assert found == [str(c) for c in model.predict({"x": [dollars(x) for x in NUMBERS]})]


@pytest.mark.parametrize(
    "odd", ["12", "ask", "12 kg", "5 € %", "$", "%", "€ € 5", "$007", "--$5", "($-5)", "5 %%", "12,1 %", "$inf", "%5"]
)
def test_one_other_cell_and_the_column_is_what_it_was(odd: str) -> None:
    cells = [f"{x} %" for x in range(ROWS - 1)]
    column = likely.summarize({"x": [*cells, odd], "y": TARGET}, "y").schema["x"]
    assert column.unit is None and column.kind in ("identifier", "text")


def test_several_units_are_told() -> None:
    cells = [f"{'$€'[k % 2]}{k % 20}" for k in range(ROWS)]
    found = likely.look({"x": cells, "y": TARGET}, "y", likely.NaiveBayes())
    assert likely.summarize({"x": cells, "y": TARGET}, "y").schema["x"].kind == "nominal"
    assert any("its numbers have several units ('$', '€')" in words for words in found.warnings)


def test_few_whole_percentages_stay_numbers_and_the_target_stays_classes() -> None:
    cells = ["5 %", "10 %", "20 %"] * 20
    assert likely.summarize({"x": cells, "y": TARGET}, "y").schema["x"].kind == "number"
    assert likely.summarize({"x": TARGET, "y": cells}, "y").classes == ("10 %", "20 %", "5 %")


def test_a_target_with_a_unit_is_cut_at_given_edges() -> None:
    table = {"x": TARGET, "y": [dollars(x) for x in NUMBERS]}
    plain = {"x": TARGET, "y": NUMBERS}
    assert bits(table, target_bins=[500, 1500]) == bits(plain, target_bins=[500, 1500])
    with pytest.raises(ColumnError, match=r"has numbers in \$, of which only given edges make bins"):
        likely.summarize(table, "y", target_bins=3)


def test_a_unit_can_be_said_and_a_spec_says_it() -> None:
    table = {"x": [*[f"{x} %" for x in range(ROWS - 1)], "unclear"], "y": TARGET}
    column = likely.summarize(table, "y", types={"x": "number in %"}).schema["x"]
    assert (column.kind, column.unit) == ("number", "%")
    prices = {"x": list(range(ROWS)), "price": [f"${2 * k + 1}" for k in range(ROWS)]}
    assert likely.regress(prices, "price").weights[0].weight == pytest.approx(2)


def test_tables_that_differ_in_units_do_not_merge() -> None:
    one, two = (likely.summarize({"x": [f"{k}{u}" for k in range(ROWS)], "y": TARGET}, "y") for u in "%€")
    with pytest.raises(SchemaMismatch, match="numbers in % here, in € there"):
        one + two
    with pytest.raises(InputError, match="60 of 60 cells"):
        likely.summarize({"x": ["a", "b"] * 30, "y": TARGET}, "y", types={"x": "number in %"})


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=3) | st.integers(-(10**30), 10**30),
    st.sampled_from(UNITS),
    st.sampled_from(["{n}{u}", "{n} {u}", "{u}{n}", "{u} {n}", "({u}{n})", "-{u}{n}"]),
)
def test_the_nearest_double_as_python_has_it(number: object, unit: str, form: str) -> None:
    text = str(number)
    if unit == "%":
        form = "{n} {u}"
    if form[0] in "(-":
        text = text.lstrip("-")
    wanted = -float(text) if form[0] in "(-" else float(text)
    if text.lstrip("-").lower().lstrip("0").startswith("e") or (
        len(text.lstrip("-")) > 1 and text.lstrip("-")[0] == "0"
    ):
        return  # codes such as 007 are names
    values, strays = parse_with_unit(text_array([form.format(n=text, u=unit)]), NO_TOKENS, unit)
    assert strays == 0 and values[0] == wanted


# Parts of dates: right by Python's own calendar, usable by learners, the same from every road, kept in files.


RNG = np.random.default_rng(3)
START = dt.datetime(2023, 1, 1)
DATED = [START + dt.timedelta(hours=int(h)) for h in RNG.integers(0, 24 * 700, 600)]
WORKDAY = ["rest" if m.weekday() > 4 or not 8 <= m.hour < 18 else "work" for m in DATED]
TABLE = {"when": [m.isoformat(" ") for m in DATED], "y": WORKDAY}


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


def bits_of_parts(data: object) -> bytes:
    tree = likely.summarize(data, "y", dates="parts").canonical().state()
    return state.dump({key: value for key, value in tree.items() if key != "schema"})


def test_every_road_gives_the_same_parts(tmp_path: Path) -> None:
    wanted = bits_of_parts(TABLE)
    pd.DataFrame(TABLE).to_csv(tmp_path / "t.csv", index=False)
    typed = pa.table({"when": pa.array(DATED, pa.timestamp("us")), "y": WORKDAY})
    for data in (tmp_path / "t.csv", typed, pd.DataFrame({"when": DATED, "y": WORKDAY}), typed.to_pylist()[::-1]):
        assert bits_of_parts(data) == wanted


@pytest.mark.parametrize("learner", [likely.NaiveBayes(), likely.Logistic(), likely.Additive(), None])
def test_learners_use_them(learner: likely.models.contracts.Learner | None) -> None:
    without = likely.look(TABLE, "y", learner, dates="whole")
    beside = likely.look(TABLE, "y", learner, dates="parts")
    assert {"when: weekday", "when: hour"} <= {a["name"] for a in beside.attributes}
    assert beside.scores.log_loss < without.scores.log_loss - 0.1


PARTS = ("when: weekday", "when: month", "when: day", "when: day of year", "when: hour")


def test_new_rows_have_dates_or_parts(tmp_path: Path) -> None:
    model = likely.fit(TABLE, "y", likely.NaiveBayes(), dates="parts")
    assert model.schema.names == ("when", *PARTS, "y")
    wanted = model.posterior({"when": TABLE["when"][:9]}).matrix
    model.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    assert np.array_equal(again.posterior({"when": TABLE["when"][:9]}).matrix, wanted)
    assert np.array_equal(again.posterior({"when": DATED[:9]}).matrix, wanted)
    empty = dict.fromkeys(PARTS)
    rows = [{"when": when, **empty} for when in TABLE["when"][:9]]
    assert np.array_equal(again.posterior(rows).matrix, wanted)  # as whoever fills in all columns sends them
    one = again.posterior({"when: weekday": "Sunday", "when: hour": 3})
    assert one.prob("rest") > 0.8
    assert [str(c) for c in likely.learn(model, TABLE).predict({"when": TABLE["when"][:3]})]


def test_dates_without_a_time_have_no_hour() -> None:
    days = [m.date().isoformat() for m in DATED]
    schema = likely.summarize({"when": days, "y": WORKDAY}, "y", dates="parts").schema
    assert schema["when: hour"].role == "left out" and schema["when: weekday"].role == "attribute"


def test_one_column_may_be_said_and_a_spec_says_it() -> None:
    table = {**TABLE, "other": [d.date().isoformat() for d in DATED]}
    model = likely.fit(table, "y", likely.NaiveBayes(), types={"other": "date in parts"})
    assert "other: weekday" in model.schema.names and "when: weekday" not in model.schema.names
    from likely.apply.spec import spec_of

    assert spec_of(model).columns["other"] == "date in parts"


def test_a_name_that_is_taken_and_a_wrong_word_are_sentences() -> None:
    with pytest.raises(ColumnError, match="has a column 'when: day'"):
        likely.summarize({**TABLE, "when: day": [1.5, 2.5] * 300}, "y", dates="parts")
    with pytest.raises(SettingError, match="dates"):
        likely.summarize(TABLE, "y", dates="pieces")


def test_the_page_explains_and_draws_them() -> None:
    model = likely.fit(TABLE, "y", likely.NaiveBayes(), dates="parts")
    ledger = likely.explain(model, {"when": TABLE["when"][0]})
    assert f"when on {DATED[0]:%A}s" in str(ledger) and "Unknown" not in str(ledger)
    text = page_of_model(model)
    assert "when: weekday" in text and "Saturday" in text
