"""A model as what is taken elsewhere: `portable(model)`, its score over the levels that rows are read with.

`Portable` holds a score of the same kinds of terms as the model's (models/shapes), and it scores rows as well as the
model's does. Tables and axes have a place for each level that a row may have, in the order of `Attribute.levels`; codes
that a term does not tell apart are one. What cannot be said without the rows of training is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Floats
from likely.models import shapes
from likely.models.contracts import Model
from likely.models.fractions import log_of
from likely.sums.columns.counts import Counts
from likely.table.labels import Labels, number_label
from likely.table.schema import OTHER, Column
from likely.table.texts.numbers import LEVELS
from likely.table.words import Tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Attribute:
    """One attribute of a row. Dates are seconds since 1970."""

    name: str
    kind: Literal["level", "number", "date", "text"]
    levels: tuple[str, ...] = ()
    """Of a nominal attribute: all that the model knows."""
    numeric: bool = False
    """Whether levels are numbers, so that 1, "1.0" and "1" are one level."""
    words: Tokens | None = None
    rest: str | None = None
    """The level of all that have no name of their own, where there is one."""
    part: str | None = None
    """Where it is a part of a date in another column: which."""
    part_of: str | None = None
    names: tuple[str, ...] = ()
    """Of such a part: what its numbers are called, from 0 on; none where they are just numbers."""

    @property
    def date(self) -> Attribute:
        """The date that it is a part of."""
        assert self.part_of is not None
        return Attribute(self.part_of, "date")


@dataclass(frozen=True)
class Portable:
    """How a model scores a row. P(class | row) is exp(score) over its sum; undefined where all are minus infinity."""

    classes: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    missing: tuple[str, ...]
    """Texts that stand for a missing cell; the empty one always does."""
    score: shapes.Score
    learner: str
    target: str | None = None
    proper: bool = True
    """Whether the posterior is made of probabilities, or of scores that sum to one."""
    generative: bool = False
    """Whether the scores are log P(class, row), so that the log of their sum is the log density of the row."""
    references: shapes.References | None = None
    """Rows that stand for the table, over which unknown cells are averaged."""
    refuse_unseen: bool = False
    """Whether a row with a level that training did not have is refused."""
    origin: Mapping[str, str] = field(default_factory=dict)
    """What the model is from, and how good it was: lines by name."""

    @property
    def full_score(self) -> shapes.Score:
        """How any row is scored: averaged over references, where cells are unknown."""
        return self.score if self.references is None else shapes.Completed(self.score, self.references)

    def attribute(self, name: str) -> Attribute:
        """The attribute of this name."""
        return next(a for a in self.attributes if a.name == name)


Attributes: TypeAlias = Mapping[str, Attribute]
"""By name."""


def portable(model: Model) -> Portable:
    """The one description of how this model scores a row.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
    >>> found = portable(model)
    >>> found.classes, found.attributes[0].levels, type(found.score).__name__
    (('n', 'y'), ('rain', 'sun'), 'Sum')
    """
    score = model.shape()
    if score is None:
        odd = next((m for m in model.members if m.shape() is None), model)
        raise SettingError(
            f"{odd.called()} cannot be taken elsewhere. {odd.shapeless} Use NaiveBayes, Logistic or "
            "another model that scores rows from tables alone."
        )
    attributes = tuple(_attribute(model, column) for column in model.schema.attributes)
    target = model.schema.target
    if model.refuse_unseen and any(attribute.rest is not None for attribute in attributes):
        raise SettingError(
            f"The model refuses unseen levels, but rare ones were made {shown(OTHER)}, as unseen ones are. Learn with "
            "unseen='skip', or without least_count, to take it elsewhere."
        )
    read = {attribute.name: attribute for attribute in attributes}
    return Portable(
        classes=model.classes,
        attributes=attributes,
        missing=model.schema.missing,
        score=align(score, read),
        references=None if model.references is None else _align_references(model.references, read),
        learner=type(model.learner).__name__,
        target=None if target is None else target.name,
        proper=bool(model.proper),
        generative=bool(model.generative),
        refuse_unseen=model.refuse_unseen,
    )


def is_portable(model: Model) -> bool:
    """Whether `portable` would not refuse it."""
    return model.shape() is not None


def _attribute(model: Model, column: Column) -> Attribute:
    if column.part is not None:
        names = LEVELS.get(column.part, ())
        plain = _attribute(model, replace(column, part=None, part_of=None))
        return replace(plain, part=column.part, part_of=column.part_of, names=names)
    if column.kind == "text":
        return Attribute(column.name, "text", words=column.tokens or Tokens())
    if not isinstance(model.summary.columns[column.name], Counts):
        return Attribute(column.name, "date" if column.reading == "date" else "number")
    levels = tuple(model.levels(column.name))
    rest = OTHER if column.kept is not None and OTHER in levels else None
    if column.reading == "number" and column.kept is not None:
        levels = tuple(level for level in levels if level != OTHER)  # no number, so no cell says it
    # Languages compare numbers as doubles; where these cannot tell levels apart, the digits are compared as text.
    numeric = column.reading == "number" and all(number_label(float(level)) == level for level in levels)
    return Attribute(column.name, "level", levels, numeric, rest=rest)


# -- a score over the levels that rows are read with ----------------------------------------------------------------


def align(score: shapes.Score, read: Attributes) -> shapes.Score:
    """The same score over the levels of these attributes; terms that count nothing are left out."""
    match score:
        case shapes.Sum():
            kept = [(_aligned(term, read), float(power)) for term, power in score.powered if power]
            return replace(score, terms=tuple(t for t, _ in kept), powers=tuple(power for _, power in kept))
        case shapes.Normalised() | shapes.Shifted():
            return replace(score, inner=align(score.inner, read))
        case shapes.Clipped() | shapes.Duels():
            outputs = align(score.outputs, read)
            assert isinstance(outputs, shapes.Sum)
            return replace(score, outputs=outputs)
        case shapes.Mixture():
            return replace(score, members=tuple(replace(m, inner=align(m.inner, read)) for m in score.members))
        case shapes.OneDependence():
            return replace(score, axes=tuple(_axis(axis, read) for axis in score.axes))
    raise SettingError(f"{type(score).__name__} has no portable form.")


def _align_references(references: shapes.References, read: Attributes) -> shapes.References:
    """The same references over the levels of these attributes."""
    return replace(references, axes=tuple(_axis(axis, read) for axis in references.axes))


def _aligned(term: Any, read: Attributes) -> Any:
    match term:
        case shapes.LevelTable(name, labels, table):
            rest = labels.index.get(read[name].rest or "", -2)  # the row of unseen levels, where none is for the rest
            # A level that the table does not have is no rare one: the level that linear models measure others from.
            rows = [labels.index.get(level, -2) for level in read[name].levels]
            return shapes.LevelTable(name, Labels(read[name].levels), table[[*rows, rest, -1]])
        case shapes.JointTable() | shapes.Block(joint=shapes.JointTable()):
            joint = term.joint if isinstance(term, shapes.Block) else term
            assert isinstance(joint, shapes.JointTable)
            found = shapes.CellTable.of(shapes.line_name(term), joint)
            return replace(found, axes=tuple(_axis(axis, read) for axis in found.axes))
        case shapes.Tree():
            return replace(term, axes=tuple(_axis(axis, read) for axis in term.axes))
        case shapes.PairTable():
            return _pair(term, read)
        case shapes.TreeSum():
            return _trees(term, read)
        case shapes.Column() | shapes.Curve() | shapes.Block() | shapes.MultivariateNormal():
            return term  # numbers and texts have no levels
    raise SettingError(f"{shown(term)} has no portable form.")


def _axis(axis: shapes.Axis, read: Attributes) -> shapes.Axis:
    if axis.edges is not None:
        return axis
    own, code_of = read[axis.name], axis.code_of
    groups = np.array([code_of.get(level, axis.unseen) for level in own.levels], np.int32)
    rest = code_of.get(own.rest or "", axis.unseen)
    return shapes.Axis(axis.name, Labels(own.levels), None, groups, axis.missing, rest, axis.size)


def _pair(pair: shapes.PairTable, read: Attributes) -> shapes.PairTable:
    (first, rows), (second, columns) = (
        _merge(_axis(axis, read), cells[: axis.size + 1]) for axis, cells in zip(pair.axes, pair.cells, strict=True)
    )
    table = np.ascontiguousarray(pair.table[np.ix_(pair.cells[0][rows], pair.cells[1][columns])])
    places = np.arange(len(rows), dtype=np.int32), np.arange(len(columns), dtype=np.int32)
    return shapes.PairTable(pair.name, (first, second), places, table)


def _trees(trees: shapes.TreeSum, read: Attributes) -> shapes.TreeSum:
    axes, left = [], np.zeros_like(trees.left)
    for j, axis in enumerate(trees.axes):
        nodes = np.flatnonzero(trees.axis == j)
        sides = trees.left[nodes, : axis.size + 1] != 0
        # Codes that go the same way everywhere have the same number.
        alike = np.unique(sides, axis=1, return_inverse=True)[1] if len(nodes) else np.zeros(axis.size + 1, np.intp)
        own, kept = _merge(_axis(axis, read), alike.reshape(-1))
        axes.append(own)
        left[nodes, : len(kept)] = sides[:, kept]
    below = np.where(trees.axis < 0, np.int32(0), trees.below)
    return replace(trees, axes=tuple(axes), below=below, left=left)


def _merge(axis: shapes.Axis, alike: NDArray[np.integer]) -> tuple[shapes.Axis, NDArray[np.intp]]:
    """The axis with one code for codes that have the same number in `alike`, and for each new code one of the old ones.

    The last of the old codes is that of a missing cell. New ones are in the order of the old, and bins become one only
    side by side.
    """
    gaps, last = axis.missing >= 0, len(alike) - 1
    if axis.edges is not None:
        new = np.concatenate([[True], alike[1:last] != alike[: last - 1]])
        kept = np.append(np.flatnonzero(new), last) if gaps else np.flatnonzero(new)
        gone = len(kept) - 1 if gaps else -1
        return replace(axis, edges=axis.edges[new[1:]], missing=gone, count=len(kept)), kept
    assert axis.groups is not None
    kept = np.sort(np.unique(alike if gaps else alike[:last], return_index=True)[1])
    place = {int(alike[old]): k for k, old in enumerate(kept.tolist())}

    def renumber(code: int) -> int:
        return place[int(alike[code])] if code >= 0 else -1

    groups = np.array([renumber(code) for code in axis.groups.tolist()], np.int32)
    missing, unseen = renumber(axis.missing), renumber(axis.unseen)
    return replace(axis, groups=groups, missing=missing, unseen=unseen, count=len(kept)), kept


def columns_of(term: shapes.PairTable | shapes.TreeSum) -> Floats:
    """What it adds to each class, (classes, places or nodes); of two that mirror each other, to the second alone."""
    values = term.values if isinstance(term, shapes.TreeSum) else term.table.reshape(-1, term.table.shape[2])
    mirrored = values.shape[1] == 2 and bool((values[:, 0] == -values[:, 1]).all())
    return values.T[1:] if mirrored else values.T


def presence_of(block: shapes.Block) -> list[tuple[str, Floats, Floats]]:
    """Where gaps are evidence: each attribute, with what it adds where it is known and where it is missing."""
    sides = [[log_of(side) for side in zip(*shares, strict=True)] for shares in block.presence]
    return [(name, known, gone) for name, (known, gone) in zip(block.names, sides, strict=False)]
