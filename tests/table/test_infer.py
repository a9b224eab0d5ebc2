"""How columns are read and why: each rule of inference by example, what the user may say instead, and no row order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely.errors import ColumnError, InputError, SettingError
from likely.sums.columns.counts import Counts
from likely.table.infer import (
    FEW_NUMBERS,
    MANY_CLASSES,
    NUMERIC_CLASSES,
    ROWS_PER_LEVEL,
    TextProfile,
    infer_text_column,
    is_serial,
)
from likely.table.schema import Column
from likely.testing import bits

ROWS = 60


def column(cells: list, **asked: object) -> Column:
    """How a column beside a target is read."""
    target = ["yes", "no"] * len(cells)
    return likely.summarize({"x": cells, "play": target[: len(cells)]}, "play", **asked).schema["x"]


def over(*cells: object) -> list:
    """These cells, again and again."""
    return [cells[k % len(cells)] for k in range(ROWS)]


DECIMALS = [f"{k / 7:.3f}" for k in range(ROWS)]
WORDS = [f"the {k} quick brown fox jumps over {k * k} lazy dogs" for k in range(ROWS)]


@pytest.mark.parametrize(
    ("cells", "kind", "role", "why"),
    [
        (over("red", "green", "blue"), "nominal", "attribute", "3 levels"),
        (over(True, False), "nominal", "attribute", "true or false"),
        (over("true", "false", ""), "nominal", "attribute", "2 levels"),
        (over(1, 2, 3), "nominal", "attribute", "whole numbers with only 3 values"),
        (over("1", "2", "3"), "nominal", "attribute", "whole numbers with only 3 values"),
        (over("0", "1"), "nominal", "attribute", "whole numbers with only 2 values"),
        (over(*range(0, 3 * FEW_NUMBERS + 3, 3)), "number", "attribute", "keeps numbers"),
        ([*range(0, 40, 4)], "number", "attribute", "keeps numbers"),
        (over("1", "2", "2.5"), "number", "attribute", "every cell is a number"),
        (over("007", "013", "099"), "nominal", "attribute", "3 codes with leading zeros"),
        (over("007", *map(str, range(10, 19))), "nominal", "attribute", "10 codes with leading zeros"),
        (over("007", "13", "99"), "nominal", "attribute", "3 codes with leading zeros"),
        (DECIMALS, "number", "attribute", "every cell is a number"),
        ([*DECIMALS[:-1], "1,234"], "number", "attribute", "every cell is a number"),
        ([*DECIMALS[:-4], "?", "NA", "", "null"], "number", "attribute", "every cell is a number"),
        ([*DECIMALS[:-4], "n/a", "N/A", "NaN", None], "number", "attribute", "every cell is a number"),
        ([*DECIMALS[:-2], "unknown", "1,23"], "number", "attribute", "numbers; 2 other cells ('"),
        ([*DECIMALS[:-1], "2020-01-01"], "number", "attribute", "numbers; 1 other cell counts as missing"),
        (
            [*DECIMALS[:35], *["low"] * 25],
            "nominal",
            "attribute",
            "mostly numbers; 25 other cells ('low') are no numbers",
        ),
        ([*DECIMALS[:30], *over("low", "high")[:30]], "nominal", "attribute", "32 levels"),
        ([f"2020-01-{k % 28 + 1:02}" for k in range(ROWS)], "date", "attribute", "every cell is a date"),
        (
            [*(f"2020-01-{k % 28 + 1:02}T10:00" for k in range(59)), "2020-02-30"],
            "date",
            "attribute",
            "dates; 1 other cell ('2020-02-30') counts as missing",
        ),
        ([f"id-{k}" for k in range(ROWS)], "identifier", "left out", "almost every cell is different (60 in 60 rows)"),
        ([f"{k:05}" for k in range(ROWS)], "identifier", "left out", "almost every cell is different"),
        ([*range(1, ROWS + 1)], "identifier", "left out", "whole numbers that count the rows"),
        ([str(k) for k in range(100, 100 + ROWS)], "identifier", "left out", "whole numbers that count the rows"),
        (over("same"), "constant", "left out", "every cell is the same"),
        (over("5"), "constant", "left out", "every cell is the same"),
        (over(5.5), "constant", "left out", "every cell is the same"),
        (over("same", "?", None), "constant", "left out", "every cell is the same"),
        (over("?", "", "NA"), "constant", "left out", "every cell is missing"),
        (over(None), "constant", "left out", "every cell is missing"),
        (over(float("nan")), "constant", "left out", "every cell is missing"),
        (over("2020-01-01"), "constant", "left out", "every cell is the same"),
        (WORDS, "text", "attribute", "free text, 10 words a cell"),
        (over([1, 2], [3]), "ignored", "left out", "cannot be used"),
    ],
)
def test_each_rule(cells: list, kind: str, role: str, why: str) -> None:
    found = column(cells)
    assert (found.kind, found.role) == (kind, role)
    assert why in found.why


def test_the_strays_are_told_and_count_as_missing() -> None:
    cells = [*DECIMALS[:-3], "unknown", "unknown", "see\nnotes"]
    summary = likely.summarize({"x": cells, "play": over("a", "b")}, "play")
    assert "'unknown'" in summary.schema["x"].why and "see\\nnotes" in summary.schema["x"].why
    assert summary["x"].other.sum(0).sum().fractions() == [3]


def test_few_numbers_need_rows_enough() -> None:
    several = [1, 5, 7]
    assert column(several * ROWS_PER_LEVEL).kind == "nominal"
    assert column((several * ROWS_PER_LEVEL)[:-1]).kind == "number"
    assert column([1, 5, 5]).kind == "nominal", "two whole numbers are a yes and a no, however few the rows"


def test_levels_of_numbers_have_one_spelling() -> None:
    summary = likely.summarize({"x": over("1", "1.0", "+1", "2", "2e0", "-0", "0"), "play": over("a", "b")}, "play")
    counts = summary["x"]
    assert isinstance(counts, Counts)
    assert counts.labels.names == ["0", "1", "2"]
    typed = likely.summarize({"x": over(1.0, 1.0, 1.0, 2.0, 2.0, -0.0, 0.0), "play": over("a", "b")}, "play")
    assert typed["x"] == counts


def test_text_is_told_from_identifiers_and_levels() -> None:
    def kind(distinct: int, rows: int, words: float) -> str:
        seen = TextProfile(rows, 0, 0, 0, 0, 0, rows, distinct, words, ())
        return infer_text_column("x", seen).kind

    assert kind(1000, 1000, 8) == "text"
    assert kind(400, 1000, 8) == "text"
    assert kind(20, 1000, 8) == "nominal", "long levels that come again are levels"
    assert kind(1000, 1000, 1) == "identifier"
    assert kind(950, 1000, 1) == "identifier"
    assert kind(800, 1000, 1) == "nominal"
    assert kind(4, 4, 1) == "nominal", "four rows are too few to call anything an identifier"
    assert kind(20_000, 1_000_000, 1) == "identifier", "too many levels"


def test_serial_numbers_are_found_where_the_tally_has_lost_bits() -> None:
    rows = 20_000
    summary = likely.summarize({"n": range(rows), "x": np.sqrt(np.arange(rows)), "play": np.arange(rows) % 2}, "play")
    assert [c.kind for c in summary.schema.columns] == ["identifier", "number", "nominal"]
    assert not is_serial(np.array([1.0, 2, 3, 4]), np.ones(4))
    assert not is_serial(np.arange(10.0) * 7, np.ones(10))
    assert not is_serial(np.arange(10.0), np.full(10, 3.0))


CELLS = st.sampled_from(
    ["1", "2", "3.5", "007", "x", "y", "n/a", "?", "", "2020-01-01", "2021-06-30", "a b c d e", "1,000", "stray"]
)


@settings(max_examples=60)
@given(st.lists(CELLS, min_size=4, max_size=60), st.integers(0, 2**32))
def test_inference_does_not_see_the_order_of_rows(cells: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = {"x": np.array(cells, object), "play": np.array(over("a", "b")[: len(cells)], object)}
    kept = bits(likely.summarize({k: v.tolist() for k, v in table.items()}, "play", threads=1))
    order = rng.permutation(len(cells))
    cut = int(rng.integers(0, len(cells)))
    parts = [pa.table({k: v[part].tolist() for k, v in table.items()}) for part in (order[:cut], order[cut:])]
    mixed = pa.concat_tables([p for p in parts if p.num_rows])
    assert bits(likely.summarize(mixed, "play", threads=2)) == kept


# -- what the user says -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "said", "kind", "role"),
    [
        (over("1", "2", "3"), "number", "number", "attribute"),
        (over(1, 2, 3), "number", "number", "attribute"),
        (DECIMALS, "nominal", "nominal", "attribute"),
        (over(1.5, 2.5), "nominal", "nominal", "attribute"),
        ([f"id-{k}" for k in range(ROWS)], "nominal", "nominal", "attribute"),
        (over("red", "blue"), "text", "text", "attribute"),
        (over("red", "blue"), "ignore", "ignored", "left out"),
        (over("2020-01-01", "2021-01-01"), "nominal", "nominal", "attribute"),
        (over("007", "013"), "number", "number", "attribute"),
        (over(True, False), "number", "number", "attribute"),
    ],
)
def test_types_override(cells: list, said: str, kind: str, role: str) -> None:
    found = column(cells, types={"x": said})
    assert (found.kind, found.role, found.why) == (kind, role, "as asked")


def test_types_that_cannot_be() -> None:
    with pytest.raises(SettingError, match="'colour'"):
        column(over("a", "b"), types={"x": "colour"})
    with pytest.raises(ColumnError, match="Did you mean 'play'"):
        likely.summarize({"x": over("a"), "play": over("a", "b")}, "play", types={"plya": "number"})
    with pytest.raises(InputError, match="60 of 60 cells of column 'x'"):
        column(over("red", "blue"), types={"x": "number"})


def test_missing_tokens_override() -> None:
    cells = over("1", "2.5", "-999", "unknown", "NA")
    assert column(cells).kind == "nominal", "two in five cells are no numbers"
    summary = likely.summarize(
        {"x": cells, "play": over("a", "b")}, "play", missing=["-999", " unknown "], types={"x": "nominal"}
    )
    assert summary["x"].labels.names == ["1", "2.5", "NA"]
    assert column([*DECIMALS[:40], *["-"] * 20], missing=["-"]).kind == "number"
    assert summary.schema.missing == ("", "-999", "unknown"), "the empty cell is always missing"


def test_a_target_may_be_text_whole_or_boolean() -> None:
    x = [k / 7 for k in range(ROWS)]
    for cells, classes in (
        (over("b", "a", "?"), ("a", "b")),
        (over(10, 9, None), ("9", "10")),
        (over("10", "9", "9.0"), ("9", "10")),
        (over(True, False), ("false", "true")),
        (over("2020-01-01", "2019-01-01"), ("2019-01-01", "2020-01-01")),
        (over("only"), ("only",)),
        (over(1.5, 2.5, float("nan")), ("1.5", "2.5")),
        ([f"c{k // 2}" for k in range(ROWS)], tuple(sorted(f"c{k}" for k in range(ROWS // 2)))),
    ):
        assert likely.summarize({"x": x, "t": cells}, "t").classes == classes


def test_a_target_with_many_numbers_must_be_binned() -> None:
    x = over("a", "b")
    for cells in ([k / 7 for k in range(ROWS)], DECIMALS, [*range(NUMERIC_CLASSES + 1), *range(29)]):
        with pytest.raises(ColumnError, match="target_bins=4"):
            likely.summarize({"x": x, "t": cells}, "t")
    assert len(likely.summarize({"x": x, "t": over(*range(NUMERIC_CLASSES))}, "t").classes) == NUMERIC_CLASSES
    with pytest.raises(ColumnError, match="too many for classes"):
        rows = MANY_CLASSES + 1
        likely.summarize({"x": ["a"] * rows, "t": [f"name {k}" for k in range(rows)]}, "t")


def test_target_bins() -> None:
    table = {"x": over("a", "b"), "t": [*range(ROWS - 1), None]}
    four = likely.summarize(table, "t", target_bins=4)
    assert four.total.floats().tolist() == [15, 15, 15, 14]
    assert four.classes == ("below 15", "15 to below 30", "30 to below 45", "45 or more")
    assert (four.rows, four.left_out) == (ROWS - 1, 1)
    given_ = likely.summarize(table, "t", target_bins=[10, 50.5])
    assert given_.classes == ("below 10", "10 to below 50.5", "50.5 or more")
    assert given_.total.floats().tolist() == [10, 41, 8]
    text = {"x": table["x"], "t": [str(k) if k is not None else "?" for k in table["t"]]}
    assert likely.summarize(text, "t", target_bins=4).total == four.total
    skewed = likely.summarize({"x": over("a", "b"), "t": [0.0] * 50 + [1.5] * 10}, "t", target_bins=4)
    assert skewed.total.floats().tolist() == [50, 10], "bins without rows are not made"
    for bins, said in ((1, "at least 2"), ([], "increase"), ([3, 2], "increase"), ([1, float("inf")], "increase")):
        with pytest.raises(SettingError, match=said):
            likely.summarize(table, "t", target_bins=bins)
    with pytest.raises(ColumnError, match="cannot be cut into bins"):
        likely.summarize({"x": over("a", "b"), "t": over(3)}, "t", target_bins=2)


def test_a_schema_reads_another_table_the_same_way() -> None:
    first = likely.summarize({"x": over("1", "2", "3"), "y": DECIMALS, "t": over("a", "b")}, "t")
    other = {"t": ["b", "c"], "extra": [1, 2], "y": ["7", "8"], "x": ["3", "11"]}
    second = likely.summarize(other, "t", schema=first.schema, types=None)
    assert second.schema == first.schema
    assert second["x"].labels.names == ["11", "3"]
    assert (first + second).classes == ("a", "b", "c")
    with pytest.raises(ColumnError, match="'y'"):
        likely.summarize({"x": ["1"], "t": ["a"]}, "t", schema=first.schema)
    with pytest.raises(InputError, match="3 of 4 cells of column 'y'"):
        likely.summarize({"x": ["1"] * 4, "y": ["1", "p", "q", "r"], "t": ["a"] * 4}, "t", schema=first.schema)


def test_a_weight_column() -> None:
    table = {"x": over("a", "b"), "w": over("2", "0.5", "0"), "t": over("p", "q", "q")}
    summary = likely.summarize(table, "t", weight="w")
    assert summary.schema["w"].role == "weight"
    assert dict(zip(summary.classes, summary.total.floats().tolist(), strict=True)) == {"p": 40.0, "q": 10.0}
    assert (summary.rows, summary.left_out) == (40, 20)
    assert summary["x"].table.sum(1).floats().tolist() == [25.0, 25.0]
    with pytest.raises(ColumnError, match="row 2 of column 'w'"):
        likely.summarize({**table, "w": over("1", "-1")}, "t", weight="w")
    with pytest.raises(ColumnError, match="'weight'"):
        likely.summarize(table, "t", weight="weight")
    with pytest.raises(SettingError, match="both"):
        likely.summarize(table, "t", weight="t")
    with pytest.raises(InputError, match="None of the 60 rows"):
        likely.summarize({**table, "w": over("0")}, "t", weight="w")
