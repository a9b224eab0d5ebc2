"""Generators of nasty joint tables: zeros, single values, tiny and huge weights, names that are not Python's."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from hypothesis import strategies as st

from likely.classroom import Joint

NAMES = ["A", "B", "C", "hours per week", "a=b", "", "given", "[red]", "ünï|cödé", "self", "event"]
VALUES: list[Hashable] = [0, 1, 2, "x", "", "a,b", "true", "[bold]", 2.5, "中", "new\nline", frozenset({1})]

WEIGHTS = st.one_of(
    st.integers(0, 5),
    st.sampled_from([Fraction(1, 3), Fraction(1, 10**30), Fraction(10**30), Fraction(7, 2**60)]),
    st.fractions(0, 3, max_denominator=50),
)
FLOATS = st.one_of(st.floats(0, 1, allow_subnormal=False), st.sampled_from([0.0, 1e-12, 1e-3, 1.0]))


@st.composite
def joints(draw: Any, least: int = 1, most: int = 4, exact: bool | None = True) -> Joint:
    """A joint table; exact, or floats, or either."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=least, max_size=most, unique=True))
    # Values that are written alike would be two values of one name.
    levels = {n: draw(st.lists(st.sampled_from(VALUES), min_size=1, max_size=3, unique_by=str)) for n in names}
    cells = list(product(*levels.values()))
    kind = WEIGHTS if exact or (exact is None and draw(st.booleans())) else FLOATS
    weights = draw(st.lists(kind, min_size=len(cells), max_size=len(cells)).filter(any))
    return Joint.from_counts(dict(zip(cells, weights, strict=True)), names, levels=levels)


@st.composite
def parts(draw: Any, joint: Joint, count: int) -> list[tuple[str, ...]]:
    """Groups of the variables of a joint, apart from each other; the first two are not empty."""
    order = draw(st.permutations(joint.variables))
    cuts = sorted(draw(st.lists(st.integers(2, len(order)), min_size=count - 2, max_size=count - 2)))
    rest = [tuple(order[a:b]) for a, b in pairwise([*cuts, len(order)])]
    return [(order[0],), (order[1],), *rest]
