"""The ball around one row: the neighbours in it, how far they are, and what their votes come to, as on a board.

Knows distances, classes and weights, no schema. The votes are those of the compiled search; here they are written down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats
from likely.models.posterior import Posterior
from likely.models.quotient import Quotient, as_written
from likely.models.shapes import Exhibit
from likely.models.working.product import by_class, multiplied
from likely.models.working.records import Quantity, Step, Working
from likely.models.working.writing import Value, exp

if TYPE_CHECKING:
    from numpy.typing import NDArray


SLACK = 1e-12
"""A compiled sum and numpy's may differ by the last bit: so much farther than the radius is still at it."""
MOST_SHOWN = 50
"""So many neighbours are listed."""


def distances(
    query: Floats,
    query_codes: NDArray[np.int32],
    points: Floats,
    codes: NDArray[np.int32],
    unknown: Floats,
    far: Floats,
    apart: Floats,
    city: bool,
) -> Floats:
    """The distance of one row from all training rows, added up column by column as the search does."""
    out = np.zeros(points.shape[1])
    for q, column, none, gone in zip(query, points, unknown, far, strict=True):
        if np.isnan(q):
            out += none
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            x = column - q
            out += np.where(np.isnan(x), gone, np.abs(x) if city else x * x)
    for code, levels, step in zip(query_codes.tolist(), codes, apart, strict=True):
        out += step if code < 0 else np.where(levels == code, 0.0, step)
    return out if city else np.sqrt(out)


@dataclass(frozen=True, eq=False)
class Ball:
    """All training rows by their distance from one row, of which those within the radius are its neighbours."""

    classes: tuple[str, ...]
    k: int
    distance: Floats
    radius: float
    group: NDArray[np.int32]
    weight: Floats
    votes: Floats
    """K_i of each class, as the search counted them."""

    @property
    def members(self) -> NDArray[np.intp]:
        """The neighbours, the nearest first; rows at one distance by class."""
        inside = np.flatnonzero(self.distance <= self.radius * (1 + SLACK))
        return inside[np.lexsort((self.group[inside], self.distance[inside]))]

    def exhibit(self, columns: Sequence[tuple[str, list[float | str | None]]], metric: str, scaled: bool) -> Exhibit:
        """The neighbours themselves. `columns` are their cells."""
        members = self.members[:MOST_SHOWN]
        how = f"{metric.capitalize()} distance" + (", numbers scaled to [0, 1]" if scaled else "")
        total = float(self.weight[self.members].sum())
        title = f"The {total:,.6g} nearest rows" if total != 1 else "The nearest row"
        more = f"; the first {MOST_SHOWN}" if len(self.members) > MOST_SHOWN else ""
        rows: list[tuple[str | float, ...]] = []
        for place, who in enumerate(members.tolist()):
            cells = ("missing" if (v := held[place]) is None else v for _, held in columns)
            known = self.classes[int(self.group[who])]
            rows.append((float(place + 1), *cells, known, float(self.weight[who]), float(self.distance[who])))
        header = ("", *(name for name, _ in columns), "class", "rows", "distance")
        return Exhibit(f"{title}{more} ({how})", header, tuple(rows))

    def remarks(self, by_distance: bool) -> tuple[str, ...]:
        """What is special about how votes were counted."""
        out = []
        total, last = float(self.weight[self.members].sum()), self.distance[self.members] >= self.radius * (1 - SLACK)
        if total > self.k and float(self.weight[self.members][~last].sum()) < self.k:
            out.append(
                f"{int(last.sum())} rows at the distance r = {self.radius:.4g} share the places that are left, so that "
                f"exactly {self.k} are counted."
            )
        if by_distance:
            out.append("A neighbour's vote is divided by its distance, that of the nearest being 1.")
        return tuple(out)

    def _counts(self) -> tuple[list[Fraction], list[Quantity]]:
        """K_i as they are written, and what is told of them."""
        counts = [as_written(v) for v in self.votes.tolist()]
        named: dict[str, Value] = dict(zip(self.classes, counts, strict=True))
        out = [
            Quantity("r, the distance of the last neighbour", {"": self.radius}),
            Quantity("K(class)", named),
            Quantity("K", {"": sum(counts, Fraction(0))}),
        ]
        return counts, out

    def shares(
        self,
        pseudo_count: float,
        prior: Sequence[Quotient],
        totals: Sequence[Fraction],
        log_joint: Floats,
        posterior: Posterior,
        tables: tuple[Exhibit, ...],
        remarks: tuple[str, ...],
    ) -> Working:
        """P(class | x) = K_i / K; with a prior of its own, times the prior over the share of the class in all rows."""
        counts, quantities = self._counts()
        title = "K(class) / K"
        rows = sum(totals, Fraction(0))
        if pseudo_count:
            extra = [as_written(pseudo_count) * n / rows for n in totals]
            counts = [n + e for n, e in zip(counts, extra, strict=True)]
            quantities.append(Quantity("pseudo-votes", dict(zip(self.classes, extra, strict=True))))
            title = "(K(class) + pseudo-votes) / all votes"
        whole = sum(counts, Fraction(0))
        values = [Quotient(n, whole) for n in counts]
        ratio = np.zeros(len(self.classes))
        steps: list[Step] = []
        if prior:
            each = [Quotient(p.value * rows, n) for p, n in zip(prior, totals, strict=True)]
            with np.errstate(divide="ignore"):
                ratio = np.log(np.array([float(q) for q in each]))
            steps.append(
                Step(
                    "prior",
                    None,
                    dict(zip(self.classes, each, strict=True)),
                    by_class(self.classes, ratio),
                    title="P(class) / (n(class) / n)",
                )
            )
        with np.errstate(invalid="ignore"):
            logs = np.where(np.isneginf(log_joint), -np.inf, log_joint - ratio)
        steps.insert(
            0,
            Step(
                "votes", None, dict(zip(self.classes, values, strict=True)), by_class(self.classes, logs), title=title
            ),
        )
        out = multiplied(self.classes, steps, quantities, posterior)
        return replace(out, tables=tables, remarks=remarks, sign="L({})" if prior else "P({} | x)")

    def density(
        self,
        prior: Sequence[Quotient],
        logs: Floats,
        totals: Sequence[Fraction],
        log_volume: float,
        dimensions: int,
        posterior: Posterior,
        tables: tuple[Exhibit, ...],
        remarks: tuple[str, ...],
    ) -> Working:
        """P(class) times K_i / (n_i V); `logs` are those of both, (2, classes)."""
        _, quantities = self._counts()
        volume = f"V, the volume of the ball in {dimensions} dimension{'s' if dimensions != 1 else ''}"
        named: dict[str, Value] = dict(zip(self.classes, totals, strict=True))
        quantities += [Quantity(volume, {"": exp(log_volume)}), Quantity("n(class)", named)]
        density = {name: exp(v) for name, v in by_class(self.classes, logs[1]).items()}
        steps = [
            Step("", None, dict(zip(self.classes, prior, strict=True)), by_class(self.classes, logs[0])),
            Step("density", None, density, by_class(self.classes, logs[1]), title="K(class) / (n(class) V)"),
        ]
        if not dimensions:
            steps[1] = replace(steps[1], values={}, note="No number of the row is known, so there is no ball.")
        return replace(multiplied(self.classes, steps, quantities, posterior), tables=tables, remarks=remarks)
