"""The working of a product: prior × factors, each perhaps raised to a power.

Knows the factors and what they gave for one row; must not compute a score of its own: the logs are those of `terms`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from likely.errors import shown
from likely.machinery.arrays import Floats
from likely.models.posterior import Posterior
from likely.models.quotient import Quotient
from likely.models.working.cells import factor_value
from likely.models.working.records import Quantity, Step, Working, multiply
from likely.table.batch import Batch

if TYPE_CHECKING:
    pass


def product_working(
    classes: tuple[str, ...],
    prior: Sequence[Quotient],
    factors: Sequence[object],
    powers: Sequence[float],
    terms: Floats,
    batch: Batch,
    row: Mapping[str, object],
    posterior: Posterior,
) -> Working:
    """Write down the answer for a batch of one row; `terms` are its logs, (1 + factors, classes), and `powers` what the
    prior and each factor are raised to. A factor is a term of `shapes`: of one attribute, or of several."""
    steps = [Step("", None, dict(zip(classes, prior, strict=True)), by_class(classes, terms[0]), power=powers[0])]
    quantities: list[Quantity] = []
    for factor, logs, power in zip(factors, terms[1:], powers[1:], strict=True):
        found = factor_value(factor, batch, logs / power if power else logs, row, classes)
        name: str = getattr(factor, "name", "") or " & ".join(factor.names)  # type: ignore[attr-defined]
        values, note = found.values, found.note
        if not power:
            values, note = None, f"{shown(name)} has the weight 0: left out."
        named = {} if values is None else dict(zip(classes, values, strict=True))
        quantities += found.quantities if named else ()
        steps.append(Step(name, found.cell, named, by_class(classes, logs), note, found.cells, power or 1.0))
    return multiplied(classes, steps, quantities, posterior, all(power == 1.0 for power in powers))


def multiplied(
    classes: tuple[str, ...],
    steps: Sequence[Step],
    quantities: Sequence[Quantity],
    posterior: Posterior,
    exact: bool = True,
) -> Working:
    """The working of steps that are multiplied."""
    totals = {name: sum(step.log_values[name] for step in steps) for name in classes}
    return Working(
        classes,
        tuple(steps),
        {name: multiply([s.values[name] for s in steps if s.values], totals[name], exact) for name in classes},
        {name: total / math.log(10) for name, total in totals.items()},
        by_class(classes, posterior.matrix[0]),
        best_of(classes, posterior),
        quantities=tuple(quantities),
    )


def by_class(classes: tuple[str, ...], values: Floats) -> dict[str, float]:
    """Numbers by the names of their classes."""
    return dict(zip(classes, values.tolist(), strict=True))


def best_of(classes: tuple[str, ...], posterior: Posterior) -> str | None:
    """The answer, None where there is none."""
    return None if posterior.undefined[0] else classes[int(posterior.codes[0])]
