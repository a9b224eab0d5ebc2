"""Least squares on a board: the normal equations in the attributes' own units, and what each attribute adds to a line.

Reads exact sums of products and the weights that solve them; solves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.models.linear.design import Weighed, constant_of, weight_rows
from likely.models.shapes import Exhibit, Slope
from likely.models.working.records import Step
from likely.models.working.writing import clean, signed
from likely.sums.rows.products import ONE, Feature, Products
from likely.table.batch import Batch
from likely.table.labels import label

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_COLUMNS = 12
"""More columns than this and normal equations are no table for people."""


def normal_equations(
    products: Products, groups: Sequence[int], sides: Sequence[tuple[str, Sequence[int]]], ridge: float = 0.0
) -> list[Exhibit]:
    """XᵀX · weights = Xᵀy as one table: a row for each column of X, and on the right Xᵀy of each output.

    `sides` are the outputs: a name, and y in each of the groups. X has a 1, the numbers (0 where one is missing, and
    then a column for that), and an indicator of each level. None where there are too many columns.
    """
    own = products.canonical()
    mixes = _columns(own)
    if len(mixes) > MOST_COLUMNS:
        return []
    product = _Sums(own, groups)
    constant = mixes[0][1]
    right = {name: [sum(y * s for y, s in zip(ys, product(mix, constant), strict=True)) for _, mix in mixes]
             for name, ys in sides}  # fmt: skip
    return _exhibit(mixes, product, right, ridge)


def line_equations(products: Products, target: str, ridge: float = 0.0) -> list[Exhibit]:
    """The same for a regression of the number `target`, itself a column of these sums: Xᵀy is its products."""
    own = products.canonical()
    mixes = [(name, mix) for name, mix in _columns(own) if name != target]
    if len(mixes) > MOST_COLUMNS:
        return []
    y = {own.features.index(("value", target, "")): 1}
    product = _Sums(own, [0])
    return _exhibit(mixes, product, {target: [sum(product(mix, y)) for _, mix in mixes]}, ridge)


class _Sums:
    """Exact sums of the product of two columns, each a mix of features, in some groups."""

    def __init__(self, products: Products, groups: Sequence[int]) -> None:
        size = len(products.features)
        sums = products.table[:, :, [*groups]].fractions()
        self.table = np.array(sums, object).reshape(size, size, len(groups))

    def __call__(self, one: Mapping[int, int], other: Mapping[int, int]) -> Any:
        return sum(f * g * self.table[i, j] for i, f in one.items() for j, g in other.items())


def _exhibit(mixes: Sequence[tuple[str, Mapping[int, int]]], product: _Sums, right: Any, ridge: float) -> list[Exhibit]:
    """The table; none where its sums are beyond doubles."""
    rows: list[tuple[str | float, ...]] = []
    try:
        for k, (name, mix) in enumerate(mixes):
            left = [float(sum(product(mix, other))) for _, other in mixes]
            rows.append((name, *left, *(float(side[k]) for side in right.values())))
    except OverflowError:
        return []
    more = f", plus {ridge:g} times the squared weights on standardised columns" if ridge else ""
    title = f"Normal equations: each row times the weights is its right-hand side{more}"
    return [Exhibit(title, ("", *(name for name, _ in mixes), *(f"= {name}" for name in right)), tuple(rows))]


def _columns(products: Products) -> list[tuple[str, dict[int, int]]]:
    """The columns of X as mixes of features: what is missing is 1 less what is there."""
    at = {feature: k for k, feature in enumerate(products.features)}
    one = at[ONE]
    out: list[tuple[str, dict[int, int]]] = [("1", {one: 1})]
    total = products.table.sum(2)
    for feature, k in at.items():
        kind, name, level = feature
        if kind == "level":
            out.append((f"{name}={level}", {k: 1}))
        elif kind == "value":
            out.append((name, {k: 1}))
            there = at[_there(name)]
            if total[one, there].fractions() != total[one, one].fractions():
                out.append((f"{name} missing", {one: 1, there: -1}))
    return out


def _there(name: str) -> Feature:
    return "there", name, ""


def output_steps(
    names: Sequence[str],
    constant: NDArray[np.float64],
    parts: Sequence[Weighed],
    batch: Batch,
    row: Mapping[str, object],
) -> list[Step]:
    """The outputs of a row as sums: the constant, and weight × number or the weight of its level, in own units."""

    def named(values: Sequence[float]) -> dict[str, float]:
        return dict(zip(names, values, strict=True))

    free = named([constant_of(float(c), parts, k) for k, c in enumerate(constant)])
    texts = {name: signed(v) for name, v in free.items()}
    steps = [Step("", None, free, free, title="constant", texts=texts)]
    own = {(name, level): weights for name, level, weights in weight_rows(parts)}
    for part in parts:
        cell, cells = label(row.get(part.name)), batch.cells[part.name]
        added = np.zeros((1, len(names)))
        if isinstance(part, Slope) and np.isfinite(cells[0]):
            weights, x = own[part.name, ""], float(cells[0])
            texts = dict(zip(names, [f"{signed(w)} × {signed(x)}" for w in weights], strict=True))
            values = named([w * x for w in weights])
            steps.append(Step(part.name, cell, values, values, title=f"weight × {clean(part.name)}", texts=texts))
            continue
        note = ""
        if isinstance(part, Slope):
            found = own.get((part.name, "(missing)"))
            if found is None:  # training had none: it counts as the mean
                found = [-float(part.standard.at_zero(w)) for w in part.weights.tolist()]
                note = f"{clean(part.name)} is missing and counts as its mean."
            values, title = named(found), f"{clean(part.name)} missing"
        else:
            part.add(batch, added)
            values, title = named(added[0].tolist()), f"weight of {clean(part.name)}={clean(cell or 'missing')}"
        texts = {name: signed(v) for name, v in values.items()}
        steps.append(Step(part.name, cell, values, values, note, title=title, texts=texts))
    return steps
