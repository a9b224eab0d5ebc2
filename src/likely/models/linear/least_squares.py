"""Linear classification by least squares, and its normal equations on a board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likely.errors import SettingError
from likely.models.contracts import Model, setting_of
from likely.models.linear.design import (
    Weighed,
    constant_notes,
    constant_of,
    exhibit,
    hyperplane,
    plane_exhibit,
    weight_rows,
)
from likely.models.linear.squares import Solution, Squares, mix_outputs, plane_between, plane_of
from likely.models.model import learnable
from likely.models.posterior import Posterior
from likely.models.settings import Settings, setting
from likely.models.shapes import Clipped, Duels, Exhibit, Plane, Slope, Sum
from likely.models.working.records import Step, Working, clean, shorten, signed
from likely.models.working.working import added
from likely.sums.rows.products import ONE, Feature, Products
from likely.sums.summary import Summary
from likely.table.batch import Batch
from likely.table.labels import label
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Least squares on a board: the normal equations in the attributes' own units, and what each attribute adds to a
# line.

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
    return [Exhibit(title, ("column", *(name for name, _ in mixes), *(f"= {name}" for name in right)), tuple(rows))]


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


# Linear classification by least squares: a 0/1 regression for each class, or a ±1 regression for each pair of them.

MOST_EQUATIONS = 3
"""Pairs of classes whose normal equations are written down."""
MOST_PAIRS = 2_000
"""Duels between classes that are still worth a regression each."""


@dataclass(frozen=True)
class LeastSquares(Settings):
    """Least squares. "multi": each class has a regression on 1 (its rows) and 0 (all others); the largest output wins.
    "pairwise": each pair of classes has a regression on +1 and -1; a class that wins all its duels wins.

    Columns of the design: (x - mean) / sd of each number, 0 where it is missing, and then, only where training had
    missing cells, an indicator of that; an indicator of every level of each nominal attribute, all 0 for a missing
    cell or an unseen level. Of collinear solutions, the one whose weights on this design have the least norm is taken.

    >>> LeastSquares(mode="pairwise").ties
    'dont_know'
    """

    mode: Literal["multi", "pairwise"] = setting(
        "multi", "A regression for each class, or for each pair of classes.", choices=("multi", "pairwise")
    )
    ridge: float = setting(
        0.0,
        "Added times the sum of squared weights on the design (the constant is free) to the sum of squared errors.",
        at_least=0,
    )
    ties: Literal["dont_know", "votes"] = setting(
        "dont_know",
        "Pairwise, where no class wins all its duels: no prediction, or the class with most votes (first of equals).",
        choices=("dont_know", "votes"),
    )
    tolerance: float = setting(
        1e-12,
        "Directions of the design whose variance is at most this share of the largest count as collinear.",
        at_least=0,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tolerance >= 1:
            raise SettingError(f"tolerance is {self.tolerance}. It is a share of the largest variance, so below 1.")

    def needs(self, schema: Schema) -> frozenset[str]:
        """Sums of products."""
        return frozenset({"products"})

    def learn(self, summary: Summary) -> Model:
        """Derive the model from sums of products."""
        summary = learnable(summary)
        products = summary.more.get("products")
        if not isinstance(products, Products):
            raise SettingError('LeastSquares needs sums of products: summarize(…, more=["products"]).')
        squares = Squares(products, summary.schema.attributes)
        notes = constant_notes(squares.left_out)
        classes = len(summary.classes)
        weight = summary.total.floats()
        if self.mode == "multi":
            whole = squares.solve(range(classes), np.eye(classes, dtype=int), self.ridge, weight.sum(), self.tolerance)
            found = [whole]
            pairs: tuple[tuple[int, int], ...] = ()
        else:
            pairs = tuple(combinations(range(classes), 2))
            if len(pairs) > MOST_PAIRS:
                raise SettingError(
                    f"{classes:,} classes make {len(pairs):,} pairs, too many for a regression each (at most "
                    f"{MOST_PAIRS:,}). Use mode='multi'."
                )
            found = [squares.solve(p, [[1], [-1]], self.ridge, weight[list(p)].sum(), self.tolerance) for p in pairs]
        if any(squares.dependent(s.rank) for s in found) and not self.ridge:
            notes.append(
                f"The {len(squares)} columns of the design are collinear (rank {min(s.rank for s in found)}), so many "
                "solutions fit equally well; the one with the smallest norm is used."
            )
        constant = np.concatenate([np.empty(0), *(s.constant for s in found)])
        outputs = Sum(constant, squares.parts(_beside(found, len(squares))))
        how = "each pair of classes is a duel, and its winner gets a vote"
        score: Clipped | Duels = Duels(outputs, pairs, self.ties == "votes", classes)
        if self.mode == "multi":
            score = Clipped(outputs)
        if not pairs:
            how = "outputs below zero are cut off and the rest is normalised"
        return Model(
            learner=self,
            summary=summary,
            score=score,
            proper=False,
            notes=tuple(notes),
            sumless=f"The outputs of LeastSquares are sums over attributes, but its scores are not: {how}. "
            "`likely show` prints the weights; Logistic gives scores that add up.",
            show=_show_weights,
            work=_work_outputs,
            divide=_divide_classes,
        )


def _beside(found: list[Solution], columns: int) -> NDArray[np.float64]:
    """The weights of all outputs side by side."""
    return np.ascontiguousarray(np.concatenate([np.empty((columns, 0)), *(s.weights for s in found)], axis=1))


# The model has linear outputs. Of "multi" the posterior is max(output, 0), normalised; where no output is above 0, the
# largest (the first of equals) has it all. Of "pairwise" a class that won all its duels has it all; "votes" shares by
# votes.


def _outputs(model: Model) -> tuple[Sum, tuple[tuple[int, int], ...]]:
    """The linear outputs, and the pairs of classes that they are about, where they are duels."""
    score = model.score
    assert isinstance(score, (Clipped, Duels))
    return score.outputs, score.pairs if isinstance(score, Duels) else ()


def _work_outputs(model: Model, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working:
    """The normal equations, the lines that solve them, and the outputs of the row."""
    tables: list[Exhibit] = []
    products, ridge = model.summary.more.get("products"), float(setting_of(model.learner, "ridge"))
    outputs, pairs = _outputs(model)
    names = _output_names(model)
    if isinstance(products, Products) and len(outputs.constant):
        if pairs:
            for (a, b), title in list(zip(pairs, names, strict=True))[:MOST_EQUATIONS]:
                tables += normal_equations(products, (a, b), [(title, (1, -1))], ridge)
        else:
            sides = [(name, tuple(int(k == j) for j in range(len(names)))) for k, name in enumerate(names)]
            tables += normal_equations(products, range(len(names)), sides, ridge)
    steps = output_steps(names, outputs.constant, outputs.terms, batch, row)
    won = "most votes win"
    if setting_of(model.learner, "ties") == "dont_know":
        won = "a class that wins all its duels wins"
    remarks: tuple[str, ...] = ("The largest output wins; scores are max(y, 0), normalised.",)
    if isinstance(model.score, Duels) and pairs:
        rule = f"Each y ≥ 0 is a duel won by the first class of the pair, else by the second; {won}."
        values = [sum(float(step.values[name]) for step in steps) for name in names]
        told = [_tell_duel(model.classes, pair, y) for pair, y in zip(pairs, values, strict=True)]
        listed = ", ".join(shorten(told))
        remarks = (rule, f"Duels: {listed}.", f"Votes: {model.score.tell_votes(batch, model.classes)}.")
        if posterior.undefined[0]:
            remarks = (*remarks, "Don't know: no class wins all its duels.")
    named = names if pairs else None
    return added(model.classes, steps, posterior, sign="y({})", names=named, tables=tables, remarks=remarks)


def _tell_duel(classes: tuple[str, ...], pair: tuple[int, int], y: float) -> str:
    """Who beats whom where the output of a duel is y."""
    first, second = (clean(classes[k]) for k in pair)
    return f"{first} beats {second}" if y >= 0 else f"{second} beats {first}"


def _output_names(model: Model) -> tuple[str, ...]:
    outputs, pairs = _outputs(model)
    duels = tuple(f"{model.classes[a]} / {model.classes[b]}" for a, b in pairs)
    return (duels if pairs else model.classes)[: len(outputs.constant)]


def _show_weights(model: Model) -> tuple[Exhibit, ...]:
    """The weights in the attributes' own units, and for two classes the hyperplane between them."""
    outputs, pairs = _outputs(model)
    names = _output_names(model)
    if len(names) < len(pairs or model.classes):
        return ()
    title = "Weights: +1 for the first of a pair, −1 for the second" if pairs else "Weights of each class"
    tables = [exhibit(title, names, outputs.constant, outputs.terms)]
    plane = _hyperplane(model)
    if plane:
        tables.append(plane_exhibit(plane, model.classes[0]))
    return tuple(tables)


def _hyperplane(model: Model) -> str:
    """Of two classes: the equation of the points where both outputs are equal; above 0 the first class wins."""
    if len(model.classes) != 2:
        return ""
    outputs, pairs = _outputs(model)
    if pairs:
        return hyperplane(float(outputs.constant[0]), outputs.terms, 0)
    both = np.array([[1.0], [-1.0]])
    between = tuple(mix_outputs(part, both) for part in outputs.terms)
    return hyperplane(float(outputs.constant @ both[:, 0]), between, 0)


def _divide_classes(model: Model, first: str, second: str) -> Plane:
    """Where the outputs of two classes are equal, or (pairwise) where the output of their duel is 0."""
    a, b = model.classes.index(first), model.classes.index(second)
    outputs, pairs = _outputs(model)
    if not pairs:
        return plane_between(outputs.constant, outputs.terms, a, b, (first, second))
    turn = np.zeros((len(pairs), 1))
    turn[pairs.index((min(a, b), max(a, b)))] = 1.0 if a < b else -1.0
    parts = [mix_outputs(part, turn) for part in outputs.terms]
    return plane_of(float(outputs.constant @ turn[:, 0]), parts, 0, (first, second))
