"""How terms become the score of a model: their sum, a mixture of sums, duels; and what follows from that alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from likely.machinery.arrays import Floats
from likely.models.shapes.block import Axis, Block, Tree
from likely.models.shapes.column import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Sum:
    """constant + power * term of each, in order."""

    constant: Floats
    terms: tuple[object, ...]
    """Columns, blocks, curves, trees, joint tables, normal densities; a term of another kind has no portable form."""
    powers: tuple[float, ...] | None = None
    """None: each is 1."""

    @property
    def powered(self) -> list[tuple[object, float]]:
        """Each term with its power."""
        return list(zip(self.terms, self.powers or (1.0,) * len(self.terms), strict=True))


@dataclass(frozen=True, eq=False)
class Normalised:
    """The scores inside, less the log of the sum of their exponentials: log P(class | row)."""

    inner: Score


@dataclass(frozen=True, eq=False)
class Shifted:
    """The scores inside, plus `by`: another prior."""

    inner: Score
    by: Floats


@dataclass(frozen=True, eq=False)
class Member:
    """One of a mixture: P(class | row)**temperature, normalised, counts `weight`."""

    inner: Score
    weight: float
    temperature: float
    classes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Mixture:
    """log of the sum over members of weight * P(class | row); a member that finds the row impossible says nothing."""

    members: tuple[Member, ...]


@dataclass(frozen=True, eq=False)
class Clipped:
    """log of max(output, 0), over their sum; where no output is above 0, the largest (the first of equals) has all."""

    outputs: Sum


@dataclass(frozen=True, eq=False)
class Duels:
    """Output k is at least 0: the first class of pair k wins, else the second. A class that wins all has everything;
    with `votes` each class has its share of the duels."""

    outputs: Sum
    pairs: tuple[tuple[int, int], ...]
    votes: bool


@dataclass(frozen=True, eq=False)
class OneDependence:
    """log of the mean, over the cells that may be parents, of P(class, cell) * product of P(other cell | class, cell).

    Cells are numbered over all axes, axis after axis. Where no cell of the row serves: prior + sum of alone.
    """

    axes: tuple[Axis, ...]
    serves: NDArray[np.int32]
    prior: Floats
    alone: Floats
    joint: Floats
    given: Floats
    """(parent's cell, cell, class)"""


Score: TypeAlias = Sum | Normalised | Shifted | Mixture | Clipped | Duels | OneDependence


@dataclass(frozen=True)
class Plane:
    """constant + the sum of weight * value (a level: 1 where a row has it) is above 0 where `first` beats `second`."""

    first: str
    second: str
    constant: float
    weights: tuple[tuple[str, str, float], ...]
    """Attribute, level ("" of a number, "(missing)" where it is not known), weight."""

    def equation(self) -> str:
        """`0.5 − 2·x + 1·[sky=sun] = 0`."""
        parts = [f"{self.constant:.6g}".replace("-", "−", 1) if self.constant or not self.weights else ""]
        for name, level, weight in self.weights:
            if weight:
                what = name if not level else f"[no {name}]" if level == "(missing)" else f"[{name}={level}]"
                sign = "−" if weight < 0 else "+" if any(parts) else ""
                parts.append(f"{sign} {abs(weight):.6g}·{what}" if any(parts) else f"{sign}{abs(weight):.6g}·{what}")
        return " ".join(part for part in parts if part) + " = 0"


@dataclass(frozen=True)
class Graph:
    """What hangs on the class, and on what besides: arrows from parent to child, attributes that are taken together."""

    names: tuple[str, ...]
    arrows: tuple[tuple[str, str], ...] = ()
    blocks: tuple[tuple[str, ...], ...] = ()

    def parent(self, name: str) -> str | None:
        """What an attribute depends on besides the class."""
        return next((parent for parent, child in self.arrows if child == name), None)


def sum_of(score: Score) -> tuple[Sum, float] | None:
    """The one sum whose order of classes a score has, and the power that all of it is raised to; None if there is none.

    What is the same for all classes is left aside, and so is another prior.
    """
    match score:
        case Sum():
            return score, 1.0
        case Normalised(inner) | Shifted(inner, _):
            return sum_of(inner)
        case Mixture((member,)):
            found = sum_of(member.inner)
            return None if found is None else (found[0], found[1] * member.temperature)
    return None


def graph_of(score: Score) -> Graph | None:
    """The graph of a sum of P(block | class); None for other scores."""
    match score:
        case Sum():
            return _graph(score)
        case Shifted(inner, _) | Mixture((Member(inner),)):
            return graph_of(inner)
    return None


def _graph(score: Sum) -> Graph | None:
    names: list[str] = []
    arrows: list[tuple[str, str]] = []
    blocks: list[tuple[str, ...]] = []
    for term in score.terms:
        match term:
            case Tree():
                own = [axis.name for axis in term.axes]
                arrows += [(own[u], own[v]) for v, u in enumerate(term.parents.tolist()) if u >= 0]
                names += own
            case Column() | Block():
                names += term.names
                blocks += [term.names] if len(term.names) > 1 else []
            case _:
                return None  # all attributes together: no graph
    return Graph(tuple(names), tuple(arrows), tuple(blocks)) if names else None
