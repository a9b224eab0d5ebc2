"""What the text of a cell means, against Python's own float() and datetime, through the crossing that reads files."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely.table.texts import cells
from likely.table.texts.numbers import describe_cells, describe_text, parse_numbers, token_hashes
from likely.table.views import text_cells

NO_TOKENS = token_hashes(())
FORMS = {
    value: name
    for name, value in vars(cells).items()
    if name in ("MISSING", "WHOLE", "DECIMAL", "CODE", "DATE", "WORDS")
}


def read(texts: list[str], dates: bool = False) -> list[float | None]:
    """The numbers (or seconds since 1970) of cells; None where a cell is none."""
    values, strays = parse_numbers(pa.array(texts, pa.string()), NO_TOKENS, dates)
    out = [None if math.isnan(v) else v for v in values.tolist()]
    assert strays == out.count(None) - sum(not t.strip() for t in texts)
    return out


def form(text: str) -> str:
    return FORMS[describe_text(pa.array([text], pa.string()), NO_TOKENS).forms[0]]


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


def test_words_are_counted() -> None:
    seen = describe_text(pa.array(["a", " a  b\tc\n", "", "12 34", "über alles", None]), NO_TOKENS)
    assert seen.totals.tolist() == [2, 0, 0, 0, 0, 4, 1 + 3 + 2 + 2]
    doubled = describe_cells(text_cells(pa.array(["a b", "1", "never", ""])), NO_TOKENS, np.array([2, 3, 0, 5]))
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
