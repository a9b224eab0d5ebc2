"""How a table would be read: what is said of each column agrees with what summarizing the table finds."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likely
from likely.errors import ColumnError, InputError
from likely.intake.summarize import inspect_columns

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["weather.csv", "weather_mixed.csv", "iris.csv", "mails.csv", "people.csv"])
def test_columns_are_read_as_summarize_reads_them(name: str) -> None:
    seen = inspect_columns(EXAMPLES / name)
    schema = likely.summarize(EXAMPLES / name).schema
    assert [(c.name, c.kind, c.role, c.why) for c in seen.columns] == [
        (c.name, c.kind, c.role, c.why) for c in schema.columns
    ]


def test_missing_and_distinct_cells_are_counted_alike_in_text_and_in_typed_tables(tmp_path: Path) -> None:
    table = pa.table({
        "age": [31, None, 31, 58, 40, 40, 22, 19],
        "town": ["Ulm", "Bonn", None, "Ulm", "Ulm", "Bonn", "Köln", "Ulm"],
        "ill": [True, False, None, True, False, False, True, True],
    })  # fmt: skip
    pq.write_table(table, tmp_path / "t.parquet")
    lines = zip(*(table.column(n).to_pylist() for n in table.column_names), strict=True)
    text = "age,town,ill\n" + "".join(
        ",".join("" if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in line) + "\n"
        for line in lines
    )
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    for name in ("t.parquet", "t.csv"):
        seen = inspect_columns(tmp_path / name)
        assert seen.rows == 8 and seen.target == "ill"
        assert [(c.name, c.missing, c.distinct) for c in seen.columns] == [("age", 1, 5), ("town", 1, 3), ("ill", 1, 2)]
        assert seen.columns[1].examples == ("Ulm", "Bonn", "Köln")


def test_what_is_said_of_columns_is_heeded_or_refused() -> None:
    iris = EXAMPLES / "iris.csv"
    seen = {c.name: c for c in inspect_columns(iris, types={"petal_width": "nominal"}, missing=["0.2"]).columns}
    width = seen["petal_width"]
    assert (width.kind, width.why, width.missing) == ("nominal", "as asked", iris.read_text().count(",0.2,"))
    assert "0.2" not in width.examples
    with pytest.raises(InputError, match="species"):
        inspect_columns(iris, types={"species": "number"})
    with pytest.raises(ColumnError, match="petal_width"):
        inspect_columns(iris, types={"petal_widht": "number"})


def test_columns_that_cannot_be_used_have_no_counts_and_long_cells_are_cut() -> None:
    seen = inspect_columns(pa.table({"a": [[1], [2]], "b": ["x" * 1000, "y"], "c": pa.nulls(2)}))
    assert (seen.columns[0].kind, seen.columns[0].missing, seen.columns[0].distinct) == ("ignored", None, None)
    assert len(seen.columns[1].examples[0]) == 60 and seen.target == "b"
    many = inspect_columns({"x": [k / 7 for k in range(20_000)], "y": ["a", "b"] * 10_000})
    assert many.columns[0].distinct is None and many.columns[0].kind == "number"
