"""What `likely regress` says: the weights of a regression as a page. Knows the record, no rows."""

from __future__ import annotations

import math

from likely.apply.regression import Regression
from likely.present.report.tables import Page, Table
from likely.present.report.words import clean, number, percent, plural
from likely.sums import state


def of_regression(found: Regression) -> Page:
    """The equation, how much it explains, and the weights with their standard errors."""
    rows = [("(constant)", "", number(found.constant, 6), "")]
    for w in found.weights:
        error = "" if math.isnan(w.error) else number(w.error)
        rows.append((clean(w.attribute, 40), clean(w.level, 40) if w.level else "", number(w.weight, 6), error))
    title = f"What each column adds to {clean(found.target, 40)}"
    table = Table(title, ("attribute", "level", "weight", "standard error"), tuple(rows), frozenset({2, 3}))
    explained = "has no variance to explain" if math.isnan(found.r2) else f"is explained to {percent(found.r2)}"
    headline = f"{clean(found.target)} {explained} (variance, on the {plural(found.rows, 'row')} it was fitted to)"
    remarks = [*found.notes, clean(found.equation(), 2000)]
    if not math.isnan(found.residual):
        remarks.insert(0, f"Standard deviation of what is left: {number(found.residual)}.")
    if found.left_out:
        remarks.append(f"{plural(found.left_out, 'row')} without a number there (or of weight 0) left out.")
    return Page(headline + ".", (table,), tuple(remarks))


def regression_json(found: Regression) -> bytes:
    """The same as JSON; a number that is not known is null."""

    def known(value: float) -> float | None:
        return value if math.isfinite(value) else None

    return state.as_json(
        {
            "target": found.target,
            "constant": known(found.constant),
            "weights": [
                {"attribute": w.attribute, "level": w.level, "weight": known(w.weight), "error": known(w.error)}
                for w in found.weights
            ],
            "r2": known(found.r2),
            "residual": known(found.residual),
            "rows": found.rows,
            "left_out": found.left_out,
            "equation": found.equation(),
            "notes": list(found.notes),
        }
    )
