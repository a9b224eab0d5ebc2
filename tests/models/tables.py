"""Small awkward tables for learners of pairs: levels, numbers, weights, all with gaps."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

TYPES = {"a": "nominal", "b": "nominal", "x": "number", "c": "nominal", "t": "nominal"}
CELLS = {
    "a": st.sampled_from(["u", "v", "w", None]),
    "b": st.sampled_from(["0", "1", "ä\n,", None]),
    "x": st.sampled_from([1e9, 1e9 + 1e-7, 1.5, -3.0, 0.0, math.inf, None]),
    "c": st.sampled_from(["yes", "no", None]),
}
ROWS = st.lists(
    st.fixed_dictionaries(
        {**CELLS, "t": st.sampled_from(["c", "d", "e"]), "w": st.sampled_from([1.0, 2.0, 0.3, 1e-9])}
    ),
    min_size=1,
    max_size=12,
).map(lambda rows: rows * 4)  # repeated, so that some cuts of the numbers pay
ASKED = st.lists(
    st.fixed_dictionaries(
        {
            "a": st.sampled_from(["u", "v", "new", None]),
            "b": st.sampled_from(["0", "2", None]),
            "x": st.sampled_from([1e9, 1.5, -1e300, math.nan, math.inf, None]),
            "c": st.sampled_from(["yes", "no", None]),
        }
    ),
    min_size=1,
    max_size=8,
)


def columns(rows: list[dict[str, Any]], *without: str) -> dict[str, list[Any]]:
    """Rows as columns."""
    return {name: [row[name] for row in rows] for name in rows[0] if name not in without}
