"""Terms of one attribute put together: weighed tables over the same levels, or over bins, add up to one table.

Knows shapes; no models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.models.shapes import BinTable, LevelTable
from likely.table.labels import Labels

if TYPE_CHECKING:
    pass


Powered = tuple[object, float]


def join_terms(terms: Sequence[Powered], classes: int) -> list[Powered]:
    """The same sum with fewer terms: tables of one attribute become one, where its first one stood."""
    tables: dict[tuple[type, str], list[Any]] = {}
    for term, power in terms:
        for kind in (LevelTable, BinTable):
            if isinstance(term, kind):
                tables.setdefault((kind, term.name), []).append((term, power))
    out: list[Powered] = []
    done: set[tuple[type, str]] = set()
    for term, power in terms:
        if not isinstance(term, (LevelTable, BinTable)):
            out.append((term, power))
            continue
        key = (LevelTable if isinstance(term, LevelTable) else BinTable, term.name)
        if key not in done:
            done.add(key)
            some: Any = tables[key]
            join = _levels if isinstance(term, LevelTable) else _bins
            out.append((term, power) if len(some) == 1 else (join(some, classes), 1.0))
    return out


def _levels(tables: Sequence[tuple[LevelTable, float]], classes: int) -> LevelTable:
    """One table over all levels that any of them knows; what one does not know is unseen by it."""
    names = sorted({name for table, _ in tables for name in table.labels.names})
    whole = np.zeros((len(names) + 2, classes))
    for table, power in tables:
        places = [table.labels.index.get(name, -2) for name in names]
        whole += power * table.log_table[[*places, -2, -1]]
    return LevelTable(tables[0][0].name, Labels(names), whole)


def _bins(tables: Sequence[tuple[BinTable, float]], classes: int) -> BinTable:
    """One table over the bins that all edges together cut."""
    starts = np.unique(np.concatenate([table.starts for table, _ in tables]))
    whole = np.zeros((len(starts) + 2, classes))
    for table, power in tables:
        # The bin of each start, and before the first the first.
        places = np.concatenate([[0], np.searchsorted(table.starts, starts, side="right")]).astype(np.intp)
        whole[:-1] += power * table.log_table[places]
        whole[-1] += power * table.log_table[-1]
    return BinTable(tables[0][0].name, starts, whole)
