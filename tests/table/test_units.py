"""Percentages and amounts of money are numbers where a whole column is so written, by every road, to the last bit."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely.errors import ColumnError, InputError, SchemaMismatch
from likely.present.report.model import present_model
from likely.sums import state
from likely.table.arrow import text_array
from likely.table.texts.numbers import NO_TOKENS, UNITS, parse_with_unit

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
