"""What `likely score` and `likely regress` say: the density of rows, and the weights of a regression. Knows no rows."""

from __future__ import annotations

import math

from likely.apply.regression import Regression
from likely.apply.score import Scored
from likely.present.report.model import exhibit_table
from likely.present.sections import Report, Table
from likely.present.words import clean, finite, number, percent, plural
from likely.sums import state


def present_scores(found: Scored, name: str) -> Report:
    """What `likely score` says."""
    if not found.rows:
        return Report(f"{clean(name)} has no rows.", (), found.remarks)
    headline = (
        f"{clean(name)}: log P of all {plural(found.rows, 'row')} is {number(found.total, 8)} nats, "
        f"{number(found.mean, 6)} per row."
    )
    rows = tuple((number(row), number(value, 6)) for row, value in found.lowest)
    table = Table("Rows with the lowest density", ("row", "log P(row)"), rows, frozenset({0, 1}))
    return Report(headline, (table,) if rows else (), found.remarks)


def scores_json(found: Scored) -> bytes:
    """The same as JSON; minus infinity is null."""

    return state.as_json(
        {
            "rows": found.rows,
            "impossible": found.impossible,
            "log_density": finite(found.total),
            "mean": finite(found.mean),
            "lowest": [{"row": row, "log_density": finite(v)} for row, v in found.lowest],
            "remarks": list(found.remarks),
        }
    )


def present_regression(found: Regression, working: bool = False) -> Report:
    """The equation, how much it explains, and the weights with their standard errors; and the normal equations."""
    rows = [("(constant)", "", number(found.constant, 6), "")]
    for w in found.weights:
        error = "" if math.isnan(w.error) else number(w.error)
        rows.append((clean(w.attribute, 40), clean(w.level, 40) if w.level else "", number(w.weight, 6), error))
    title = f"What each column adds to {clean(found.target, 40)}"
    table = Table(title, ("attribute", "level", "weight", "standard error"), tuple(rows), frozenset({2, 3}))
    if math.isnan(found.r2):
        explained = "There is no variance to explain in"
    else:
        explained = f"The other columns explain {percent(found.r2)} of the variance of"
    headline = f"{explained} {clean(found.target)}, on the {plural(found.rows, 'row')} it was fitted to"
    remarks = [*found.notes, clean(found.equation(), 2000)]
    if not math.isnan(found.residual):
        remarks.insert(0, f"Standard deviation of the residuals: {number(found.residual)}.")
    if found.left_out:
        remarks.append(f"{plural(found.left_out, 'row')} left out: no target value, or weight 0.")
    equations = tuple(exhibit_table(e) for e in found.equations) if working else ()
    if working and not equations:
        remarks.append("The normal equations have too many columns, or too large numbers, to print.")
    return Report(headline + ".", (*equations, table), tuple(remarks))


def regression_json(found: Regression) -> bytes:
    """The same as JSON; a number that is not known is null."""

    return state.as_json(
        {
            "target": found.target,
            "constant": finite(found.constant),
            "weights": [
                {"attribute": w.attribute, "level": w.level, "weight": finite(w.weight), "error": finite(w.error)}
                for w in found.weights
            ],
            "r2": finite(found.r2),
            "residual": finite(found.residual),
            "rows": found.rows,
            "left_out": found.left_out,
            "equation": found.equation(),
            "normal_equations": [
                {"title": e.title, "header": list(e.header), "rows": [list(row) for row in e.rows]}
                for e in found.equations
            ],
            "notes": list(found.notes),
        }
    )
