"""What a learner may want beyond the first order: frozen descriptions, each of one more statistic of the same rows.

Equal wants are swept once. A want knows how to begin its statistic from the summary of the first order; no settings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from likely.sums.cells import Cells
from likely.sums.pairs import Pairs
from likely.sums.products import Products
from likely.sums.rows import Rows

if TYPE_CHECKING:
    from likely.sums.summary import Summary

STATISTICS: dict[str, type[Any]] = {"products": Products, "pairs": Pairs, "cells": Cells, "rows": Rows}
"""The statistics beyond the first order, by the name under which a file keeps them."""


class Want(Protocol):
    """`name` is the key under which the summary keeps the statistic; `begin` makes an empty one."""

    @property
    def name(self) -> str: ...

    def begin(self, summary: Summary) -> Any: ...


@dataclass(frozen=True)
class WantProducts:
    """Sums of products of all numbers and level indicators (order 2)."""

    name: str = "products"

    def begin(self, summary: Summary) -> Products:
        return Products.over(summary)


@dataclass(frozen=True)
class WantPairs:
    """Counts of every pair of levels of two attributes; numbers in unsupervised bins (order 2)."""

    name: str = "pairs"

    def begin(self, summary: Summary) -> Pairs:
        return Pairs.over(summary)


@dataclass(frozen=True)
class WantCells:
    """Counts of whole rows of levels: the joint table."""

    name: str = "cells"

    def begin(self, summary: Summary) -> Cells:
        return Cells.over(summary)


@dataclass(frozen=True)
class WantRows:
    """The rows themselves, as a multiset: for what cannot be a smaller sum."""

    name: str = "rows"

    def begin(self, summary: Summary) -> Rows:
        return Rows.over(summary)
