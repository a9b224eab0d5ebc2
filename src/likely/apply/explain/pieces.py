"""The score of a row taken apart: a piece for the prior and for each attribute or block, words of texts as parts.

It is `Model.terms`, put beside the cells that they speak of; no odds yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likely.apply.explain.asked import Asked, State
from likely.apply.explain.marking import Span, places_of
from likely.errors import SettingError, shown
from likely.models.dependence.tree import TreeAugmentedModel
from likely.models.joint.normals import Discriminant
from likely.models.linear.log_odds import LogOdds
from likely.models.model import Model
from likely.models.naive.product import Product
from likely.models.naive.weighed import Weighed
from likely.models.pool.chosen import Chosen
from likely.models.text.factor import TextFactor

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind = Literal["prior", "constant", "value", "block", "all", "part", "rest"]


@dataclass(frozen=True)
class Piece:
    """One term of the score: a log for each class, and whose it is."""

    name: str
    kind: Kind
    logs: NDArray[np.float64]
    cell: str | None = None
    state: State = "known"
    note: str = ""
    parts: tuple[Piece, ...] = ()
    spans: tuple[Span, ...] = ()
    unknown: int | None = None


def pieces_of(model: Model, row: Asked, joint: NDArray[np.float64]) -> tuple[list[Piece], str | None]:
    """The terms of a row, and the sentence why they are not one for each attribute, where they are not.

    A factor of a product may have a method `parts(cells)`: names and (parts, classes) logs of the first cell, which
    add up to its term.
    """
    try:
        terms = model.terms(row.batch)
    except SettingError as error:
        return _whole(model, joint), str(error)
    names, array = list(terms.names), terms.array[0]
    # What normalises logistic regression, or a density that all classes share, is the same for all: it is no evidence.
    last = len(names) - isinstance(model, (LogOdds, Chosen, Discriminant))
    pieces = [Piece("", "constant" if isinstance(model, LogOdds) or _is_mixed(model) else "prior", array[0])]
    alone, power = alone_in(model)
    factors: dict[str, Any] = {f.name: f for f in alone.factors} if isinstance(alone, (Product, Weighed)) else {}
    found: dict[str, Piece] = {}
    for name, logs in zip(names[1:last], array[1:last], strict=True):
        factor = factors.get(name)
        members = tuple(getattr(factor, "names", ()))
        own = power * (alone.power_of(name) if isinstance(alone, Weighed) else 1.0)
        piece = _of_block(name, members, logs, row) if members else _of_one(alone, name, factor, logs, row, own)
        found.update(dict.fromkeys(members or (name,), piece))
    nothing = np.zeros(len(model.classes))
    for column in model.schema.attributes:
        out = "is left out of the model, so it says nothing"
        unused = Piece(column.name, "value", nothing, row.cells.get(column.name), row.states[column.name], out)
        piece = found.get(column.name, unused)
        if not any(piece is p for p in pieces):  # a block stands where its first attribute does
            pieces.append(piece)
    if _is_mixed(model) or (isinstance(model, Discriminant) and _differs(array)):
        pieces.append(Piece("", "rest", array[-1]))
    return pieces, None


def _differs(array: NDArray[np.float64]) -> bool:
    """Whether the last term rules classes out, or differs between them by more than the rounding of those before it."""
    rounding = 8 * float(np.finfo(np.float64).eps) * np.abs(array[:-1]).sum()
    return not (np.isfinite(array[-1]).all() and np.ptp(array[-1]) <= rounding)


def alone_in(model: Model) -> tuple[Model, float]:
    """The one model that speaks, and the power that its evidence is raised to: its temperature, where it has one."""
    if isinstance(model, Chosen) and len(model.members) == 1:
        return model.members[0], float(model.temperatures[0])
    return model, 1.0


def _is_mixed(model: Model) -> bool:
    """Whether several members were averaged, so that their terms are not all there is."""
    return isinstance(model, Chosen) and len(model.members) > 1


def _of_one(model: Model, name: str, factor: Any, logs: NDArray[np.float64], row: Asked, power: float) -> Piece:
    if isinstance(factor, TextFactor):
        return _of_text(name, factor, logs, row, power)
    split: Any = getattr(factor, "parts", None)
    parts: tuple[Piece, ...] = ()
    if split is not None:
        told, each = split(row.batch.cells[name])
        parts = tuple(Piece(str(t), "part", power * np.asarray(v)) for t, v in zip(told, each, strict=True))
    note = _tree_note(model, name, row, logs) if isinstance(model, TreeAugmentedModel) else ""
    return Piece(name, "value", logs, row.cells.get(name), row.states[name], note, parts)


def _of_text(name: str, factor: TextFactor, logs: NDArray[np.float64], row: Asked, power: float) -> Piece:
    """A text with its words, each with its places in the text."""
    cells = row.batch.cells[name]
    text = cells.text(0)
    places = places_of(text, factor.scores.tokens)
    told, each = factor.parts(cells)
    parts = tuple(
        Piece(str(t), "part", power * np.asarray(v), spans=places.get(t, ())) for t, v in zip(told, each, strict=True)
    )
    total = sum(map(len, places.values()))
    unknown = total - sum(len(p.spans) for p in parts)
    note = f"{unknown:,} of {total:,} words {'is' if unknown == 1 else 'are'} not known" if unknown else ""
    if not total and row.states[name] != "missing":
        note = "has no words, so it says nothing"
    elif unknown == total > 0:
        note = "none of its words is known, so it says nothing"
    return Piece(name, "value", logs, text, row.states[name], note, parts, unknown=unknown)


def _of_block(name: str, members: tuple[str, ...], logs: NDArray[np.float64], row: Asked) -> Piece:
    """Attributes that are modelled together have one term."""
    known = [m for m in members if row.states[m] != "missing"]
    cell = ", ".join(f"{m}={row.cells.get(m)}" for m in known)
    return Piece(name, "block", logs, cell, "known" if known else "missing")


def _whole(model: Model, joint: NDArray[np.float64]) -> list[Piece]:
    """Where scores are no sum over attributes: the prior, if there is one, and all values together."""
    prior = getattr(model, "log_prior", None) if model.generative else None
    if prior is None:
        return [Piece("", "all", joint)]
    rest = np.where(np.isneginf(prior), 0.0, joint - np.where(np.isneginf(prior), 0.0, prior))
    return [Piece("", "prior", prior), Piece("", "all", rest)]


def _tree_note(model: TreeAugmentedModel, name: str, row: Asked, logs: NDArray[np.float64]) -> str:
    names = [axis.name for axis in model.grid.axes]
    if name not in names:  # left out of the tree
        return ""
    parent = int(model.parents[names.index(name)])
    if row.states[name] != "known":
        return "is not known: what it says is what depends on it" if logs.any() else ""
    if parent < 0:
        return ""
    if row.states[names[parent]] == "known":
        return f"given {shown(names[parent])}"
    return "" if logs.any() else f"is weighed together with {shown(names[parent])}, on which it depends"
