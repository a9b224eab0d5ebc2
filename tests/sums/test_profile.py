"""The profile of a text column: its forms, its examples, and how many cells are distinct."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from laws.nasty import TextColumn

import likely
from likely.testing import bits

KEEP = 1 << 14
"""So many distinct cells are counted exactly; of more, their number is estimated."""


def profiled(*arrays: list[str | None]) -> TextColumn:
    out = TextColumn()
    for cells in arrays:
        out.update(pa.array(cells, pa.string()))
    return out


def test_forms_are_counted() -> None:
    cells = ["1", "-2", "2.5", "1e3", "007", "2020-02-29", "2021-02-29", "?", "", None, " NA ", "a b", "1,234"]
    seen = profiled(cells).read()
    assert (seen.rows, seen.missing) == (9, 4)
    assert (seen.whole, seen.decimal, seen.code, seen.date, seen.words) == (3, 2, 1, 1, 2)
    assert seen.distinct == 9
    assert sorted(seen.examples) == ["2021-02-29", "a b"]
    assert seen.words_per_cell == 10 / 9


def test_blanks_around_a_cell_are_for_the_reader_of_text_files_to_take_away(tmp_path: Path) -> None:
    cells = ["a", " a", "a\t", "\n a "]
    assert profiled(cells).distinct() == 4  # what is typed already is never trimmed
    lines = (f'"{cell}",{name}\n' for cell, name in zip(cells, "ppqq", strict=True))
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(lines))
    summary = likely.summarize(tmp_path / "t.csv", "y", types={"x": "nominal"})
    assert summary["x"].labels.names == ["a"]


@pytest.mark.parametrize("rows", [0, 1, KEEP - 1, KEEP])
def test_distinct_is_exact_while_there_are_few(rows: int) -> None:
    assert profiled([f"cell {k}" for k in range(rows)] * 2).distinct() == rows


@pytest.mark.parametrize("rows", [KEEP + 1, 2 * KEEP + 1, 200_000])
def test_distinct_is_estimated_beyond(rows: int) -> None:
    cells = np.array([f"cell {k}" for k in range(rows)], object)
    whole = profiled(cells.tolist())
    assert abs(whole.distinct() - rows) < 0.05 * rows
    mixed = np.random.default_rng(rows).permutation(cells)
    parts = [profiled(part.tolist()) for part in np.array_split(mixed, 3)]
    for merged in (
        parts[0] + parts[1] + parts[2],
        parts[2] + (parts[1] + parts[0]),
        profiled(mixed.tolist(), cells.tolist()[:9]),
    ):
        assert merged.distinct() == whole.distinct()
    assert bits(parts[0] + parts[1] + parts[2]) == bits(whole)


def test_examples_do_not_depend_on_how_often_a_stray_comes() -> None:
    often = ["alpha"] * 50 + ["beta"] * 50 + ["gamma"] * 50 + ["delta"]
    whole, singly = profiled(often), profiled(*[[cell] for cell in often])
    assert whole.read().examples == singly.read().examples
    assert len(whole.read().examples) == 3


def test_a_dictionary_counts_only_what_its_rows_use() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([1, None, 1, 3], pa.int8()), ["unused", "a", "5", "a", None])
    out = TextColumn()
    out.update(array)
    seen = out.read()
    assert (seen.rows, seen.missing, seen.words, seen.whole, seen.distinct) == (3, 1, 3, 0, 1)


def test_a_profile_that_forgot_some_cells_remembers_that_it_did() -> None:
    whole = profiled([f"cell {k}" for k in range(3 * KEEP)])
    kept = TextColumn.from_state(whole.state())
    assert (kept + kept).distinct() == (kept + TextColumn()).distinct() == whole.distinct() > 2 * KEEP
