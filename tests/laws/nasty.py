"""Awkward rows for the laws: values, weights, groups and levels that break sums which are not exact.

Every statistic of likely.sums has an entry in CASES; test_laws.py sees to it that none is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from numpy.typing import NDArray

from likely import Schema, Summary, Tokens
from likely.sums.columns.counts import Counts, Profile
from likely.sums.columns.numbers import Numbers
from likely.sums.contracts import weights
from likely.sums.rows.pairs import Cells, Pairs
from likely.sums.rows.products import ONE, Products
from likely.sums.rows.rows import Rows
from likely.sums.words.counting import Words
from likely.table.batch import Batch, Codes, Texts, pack_texts
from likely.table.labels import Labels
from likely.table.schema import MISSING, Column
from likely.table.texts.numbers import token_hashes

GROUPS = 3
LARGEST, LEAST = 1.7976931348623157e308, 5e-324
VALUES = [
    *(0.0, -0.0, 1.0, -1.0, 0.1, 0.2, 1 / 3, 1e300, -1e300, 1e-300, LARGEST, -LARGEST, LEAST, -LEAST, 2.2e-308),
    *(float("nan"), float("inf"), float("-inf"), 1e9, 1e9 + 1e-7, 1e9 - 1e-7, 2.0**53, 2.0**53 + 2, 4503599627370497.5),
]
WEIGHTS = [1.0, 2.0, 0.0, 0.1, 1 / 3, LEAST, 2.0**-1074 * 3, 1e300, 1e-300, 4294967296.0, 4294967295.5, 1e15]
LEVELS = ["a", "b", "", "ä", "0", "00", "x,y", "line\nbreak", "😀", "A" * 200, "array", "?"]


@dataclass(frozen=True)
class Case:
    """A statistic to be checked: how an empty one is made, a batch of rows, and how a batch is given weights."""

    make: Callable[[], Any]
    batch: Any
    rows: int
    weigh: Callable[[Any, NDArray[np.float64]], Any] | None = None


@st.composite
def numbers(draw: st.DrawFn, rows: int) -> NDArray[np.float64]:
    """Cells of a numeric column: special values, any doubles, a mean far above its spread, or all different."""
    some = st.sampled_from(VALUES) | st.floats(allow_subnormal=True)
    kind = draw(st.sampled_from(["special", "narrow", "wide"]))
    if kind == "special" and rows <= 60:
        return np.array(draw(st.lists(some, min_size=rows, max_size=rows)), np.float64)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if kind == "narrow":
        out = 1e9 + rng.standard_normal(rows) * 1e-6
    else:
        out = rng.standard_normal(rows) * 10.0 ** rng.uniform(-300, 300, rows)
    strange = rng.random(rows) < 0.2
    return np.where(strange, rng.choice(VALUES, rows), out)


@st.composite
def row_weights(draw: st.DrawFn, rows: int) -> NDArray[np.float64] | None:
    """Weights of rows, or None where every row weighs one."""
    if draw(st.booleans()):
        return None
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.choice(draw(st.lists(st.sampled_from(WEIGHTS), min_size=1, max_size=4)), rows)


def codes(draw: st.DrawFn, rows: int, names: list[str]) -> Codes:
    """Cells of a nominal column; some missing, some levels in no row at all."""
    order = draw(st.permutations(names))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return Codes(rng.integers(-1, len(order), rows).astype(np.int32), Labels(order))


def groups(draw: st.DrawFn, rows: int) -> NDArray[np.int32]:
    """Groups of rows: one is often empty, some rows belong to none."""
    some = draw(st.lists(st.integers(-1, GROUPS - 1), min_size=1, max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.choice(np.array(some, np.int32), rows)


SIZES = st.integers(0, 40) | st.sampled_from([0, 1, 2, 300])


def _weigh(batch: tuple[Any, ...], weight: NDArray[np.float64]) -> tuple[Any, ...]:
    return (*batch[:2], weights(weight))


@st.composite
def of_counts(draw: st.DrawFn) -> Case:
    rows = draw(SIZES)
    names = draw(st.lists(st.sampled_from(LEVELS), min_size=1, unique=True))
    batch = (codes(draw, rows, names), groups(draw, rows), weights(draw(row_weights(rows))))
    return Case(lambda: Counts(GROUPS), batch, rows, _weigh)


@st.composite
def of_numbers(draw: st.DrawFn) -> Case:
    rows, cap = draw(SIZES), draw(st.sampled_from([2, 3, 16, 100, 2048]))
    batch = (draw(numbers(rows)), groups(draw, rows), weights(draw(row_weights(rows))))
    return Case(lambda: Numbers(GROUPS, cap), batch, rows, _weigh)


TOKENS = token_hashes(MISSING)
CELLS = [
    "1",
    "2.5",
    "007",
    "1e5",
    "2020-01-31",
    "?",
    "",
    "NA",
    " a ",
    "a",
    "two words",
    "a b c d",
    "1,234",
    "ß",
    "inf",
    "-",
]


class TextColumn(Profile):
    """A profile that knows which cells are missing, so that a batch is one array."""

    __slots__ = ()

    def update(self, array: Any, missing: Any = TOKENS) -> None:
        super().update(array, missing)


@st.composite
def of_profile(draw: st.DrawFn) -> Case:
    rows = draw(SIZES)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cells = rng.choice(np.array([*CELLS, None], object), rows)
    if draw(st.booleans()):
        cells = np.where(rng.random(rows) < 0.5, cells, [f"id {k}" for k in range(rows)] if rows else cells)
    array = pa.array(cells.tolist(), pa.string())
    if draw(st.booleans()):
        array = array.dictionary_encode()
    return Case(TextColumn, array, rows)


TABLE = Schema(
    (
        Column("x", "number", "attribute", "number"),
        Column("when", "date", "attribute", "date"),
        Column("colour", "nominal", "attribute", "text"),
        Column("note", "text", "attribute", "text", tokens=Tokens()),
        Column("class", "nominal", "target", "text"),
    )
)


@st.composite
def of_summary(draw: st.DrawFn) -> Case:
    rows = draw(SIZES)
    target = draw(st.lists(st.sampled_from(LEVELS), min_size=1, max_size=4, unique=True))
    cells: dict[str, Any] = {"x": draw(numbers(rows)), "when": draw(numbers(rows)), "colour": codes(draw, rows, LEVELS)}
    cells["note"] = documents(draw, rows)
    batch = Batch(rows, cells, codes(draw, rows, target), draw(row_weights(rows)))
    return Case(lambda: Summary(TABLE), batch, rows, lambda batch, weight: replace(batch, weight=weight))


@st.composite
def of_rows(draw: st.DrawFn) -> Case:
    rows = draw(SIZES)
    few = np.random.default_rng(draw(st.integers(0, 2**32))).choice(np.array(VALUES), rows)  # so that rows repeat
    cells: dict[str, Any] = {"x": draw(numbers(rows)), "y": few, "colour": codes(draw, rows, LEVELS)}
    batch = (Batch(rows, cells), groups(draw, rows), weights(draw(row_weights(rows))))
    return Case(lambda: Rows(["x", "y"], ["colour"], GROUPS), batch, rows, _weigh)


PRODUCTS = [ONE, ("value", "x", ""), ("there", "x", ""), ("value", "when", ""), ("there", "when", "")]


@st.composite
def of_products(draw: st.DrawFn) -> Case:
    rows = draw(SIZES)
    cells: dict[str, Any] = {"x": draw(numbers(rows)), "when": draw(numbers(rows)), "colour": codes(draw, rows, LEVELS)}
    batch = (Batch(rows, cells), groups(draw, rows), weights(draw(row_weights(rows))))
    return Case(lambda: Products(PRODUCTS, GROUPS), batch, rows, lambda b, w: (*b[:2], weights(w)))


@st.composite
def of_cells(draw: st.DrawFn) -> Case:
    rows = draw(SIZES)
    cells: dict[str, Any] = {"colour": codes(draw, rows, LEVELS), "shape": codes(draw, rows, LEVELS[:3])}
    batch = (Batch(rows, cells), groups(draw, rows), weights(draw(row_weights(rows))))
    return Case(lambda: Cells(["colour", "shape"], GROUPS), batch, rows, _weigh)


PAIRED = ["colour", "x", "shape"]
PAIRED_CELLS = [
    *(("colour", name) for name in LEVELS[::-1][:8]),  # not in order, and not all: the others are unseen
    *(("x", str(k)) for k in range(4)),
    *(("shape", name) for name in LEVELS[:3]),
]


@st.composite
def of_pairs(draw: st.DrawFn) -> Case:
    rows = draw(SIZES)
    cells: dict[str, Any] = {
        "colour": codes(draw, rows, LEVELS),
        "x": draw(numbers(rows)),
        "shape": codes(draw, rows, LEVELS[:3]),
    }
    if draw(st.booleans()):  # an attribute without any level: merging must not move it
        cells["colour"] = Codes(np.full(rows, -1, np.int32), Labels())
    batch = (Batch(rows, cells), groups(draw, rows), weights(draw(row_weights(rows))))
    edges = {"x": (-1.0, 0.0, 1e9)}
    return Case(lambda: Pairs(PAIRED, list(PAIRED_CELLS), edges, GROUPS), batch, rows, _weigh)


DOCUMENTS = [
    *("", "a", "A a a", "the cat sat on the mat, the CAT!", "ΑΣ Α.Σ Σ", "İstanbul", "ß ẞ", "!?", "\0", "x" * 300),
    *("😀 ok 👍🏽", "e\u0301 été", "שלום عالم", "a_1 a-1 1", "one two three four five six seven eight nine"),
]
TOKENS_OF_TEXT = [Tokens(), Tokens(shortest=2, pairs=True, stop=("the",)), Tokens(grams=(2, 3)), Tokens(vocabulary=3)]


def documents(draw: st.DrawFn, rows: int) -> Texts:
    """Cells of a text column: awkward ones, some of many words, some missing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    some = [*DOCUMENTS, None, *(" ".join(map(str, rng.integers(0, 30, 40))) for _ in range(4))]
    return pack_texts([some[k] for k in rng.integers(0, len(some), rows)])


@st.composite
def of_words(draw: st.DrawFn, tokens: Tokens = TOKENS_OF_TEXT[0]) -> Case:
    rows = draw(SIZES)
    batch = (documents(draw, rows), groups(draw, rows), weights(draw(row_weights(rows))))
    return Case(lambda: Words(GROUPS, tokens), batch, rows, _weigh)


CASES: dict[type, st.SearchStrategy[Case]] = {
    Counts: of_counts(),
    Numbers: of_numbers(),
    Profile: of_profile(),
    Summary: of_summary(),
    Rows: of_rows(),
    Products: of_products(),
    Cells: of_cells(),
    Pairs: of_pairs(),
    Words: of_words(),
}
