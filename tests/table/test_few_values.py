"""Few values of Python become the array that Arrow makes of them, though pandas is not imported for it."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from likely.table.arrow import FEW, few_values, name_array

CELLS = [
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
@given(st.one_of(st.lists(st.none() | cells, max_size=20) for cells in CELLS))
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
