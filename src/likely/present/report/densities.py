"""Tables of words for `likely score`: what the rows of a table come to under a model. Knows no rows."""

from __future__ import annotations

import math

from likely.apply.score import Scored
from likely.present.report.tables import Page, Table
from likely.present.report.words import clean, number, plural
from likely.sums import state


def of_scores(found: Scored, name: str) -> Page:
    """What `likely score` says."""
    if not found.rows:
        return Page(f"{clean(name)} has no rows.", (), found.remarks)
    headline = (
        f"{clean(name)}: log P of all {plural(found.rows, 'row')} is {number(found.total, 8)} nats, "
        f"{number(found.mean, 6)} a row."
    )
    rows = tuple((number(row), number(value, 6)) for row, value in found.lowest)
    table = Table("Rows of lowest density", ("row", "log P(row)"), rows, frozenset({0, 1}))
    return Page(headline, (table,) if rows else (), found.remarks)


def scores_json(found: Scored) -> bytes:
    """The same as JSON; minus infinity is null."""

    def value(x: float) -> float | None:
        return x if math.isfinite(x) else None

    return state.as_json(
        {
            "rows": found.rows,
            "impossible": found.impossible,
            "log_density": value(found.total),
            "mean": value(found.mean),
            "lowest": [{"row": row, "log_density": value(v)} for row, v in found.lowest],
            "remarks": list(found.remarks),
        }
    )
