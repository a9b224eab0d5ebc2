"""The working of a sum: evidence in nats that adds up to a score, or outputs of lines, or a mean over several answers.

Knows steps and what a model gave for one row; computes no score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from likely.machinery.arrays import Floats
from likely.models.posterior import Posterior
from likely.models.quotient import Quotient
from likely.models.shapes import Exhibit
from likely.models.working.product import best_of, by_class
from likely.models.working.records import Quantity, Step, Working
from likely.models.working.writing import clean, signed
from likely.table.labels import label

if TYPE_CHECKING:
    pass


def added(
    classes: tuple[str, ...],
    steps: Sequence[Step],
    posterior: Posterior,
    *,
    sign: str,
    names: tuple[str, ...] | None = None,
    quantities: Sequence[Quantity] = (),
    tables: Sequence[Exhibit] = (),
    remarks: Sequence[str] = (),
) -> Working:
    """The working of steps that are added; `names` are those of its lines where these are pairs of classes."""
    lines = classes if names is None else names
    return Working(
        lines,
        tuple(steps),
        {name: _total([s.values[name] for s in steps if s.values]) for name in lines},
        {name: math.nan for name in lines},
        by_class(classes, posterior.matrix[0]),
        best_of(classes, posterior),
        operator="+",
        sign=sign,
        each="class" if names is None else "pair",
        quantities=tuple(quantities),
        tables=tuple(tables),
        remarks=tuple(remarks),
        scores=not posterior.proper,
    )


def _total(values: Sequence[Quotient | float]) -> Fraction | float:
    counted = [v.value for v in values if isinstance(v, Quotient)]
    if values and len(counted) == len(values):
        return sum(counted, Fraction(0))
    return float(sum(float(v) for v in values))


def evidence_working(
    classes: tuple[str, ...],
    names: Sequence[str],
    terms: Floats,
    first: str,
    last: str,
    row: Mapping[str, object],
    posterior: Posterior,
) -> Working:
    """Any sum of evidence: log P(class), or a constant, and what each value adds, in nats.

    What is the same for all classes is left out: P(class | x) = exp(g(class)) / Σ exp(g). `terms` are (terms, classes).
    """
    upto = len(names) - (last in ("same", "rounding"))
    title = "log P(class)" if first == "prior" else "constant"
    steps = [_nats(Step("", None, {}, {}, title=title), classes, terms[0])]
    silent = []
    for name, logs in zip(names[1:upto], terms[1:upto], strict=True):
        cell = label(row.get(name))
        told = f"{clean(name)}={clean(cell)}" if cell is not None else clean(name)
        step = _nats(Step(name, cell, {}, {}, title=f"g({told})"), classes, logs)
        if not logs.any():
            silent.append(told)
            step = replace(step, values={})
        steps.append(step)
    remarks = ["P(class | x) = exp(g(class)) / the sum of exp(g) over the classes; logs are natural."]
    if silent:
        listed = ", ".join(silent[:8]) + (f" and {len(silent) - 8} more" if len(silent) > 8 else "")
        remarks.insert(0, f"Adds nothing: {listed}.")
    return added(classes, steps, posterior, sign="g({})", remarks=remarks)


def _nats(step: Step, classes: tuple[str, ...], logs: Floats) -> Step:
    values = by_class(classes, logs)
    return replace(step, values=values, log_values=values, texts={name: signed(v) for name, v in values.items()})
