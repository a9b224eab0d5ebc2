"""What boosting ends in: log P(class) plus what each attribute, pair and larger set says; and its state in files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from likely.machinery.arrays import Floats
from likely.models.additive.anova import Anova, Pair, TreeSet
from likely.models.additive.coding import Coding
from likely.models.additive.histograms import CODES
from likely.models.contracts import Learner, Model
from likely.models.fractions import log_of
from likely.models.prior import prior_quotients
from likely.models.shapes import Axis, BinTable, Exhibit, LevelTable, PairTable, Sum, TreeSum
from likely.sums.contracts import State
from likely.sums.state import read_array, read_finite, read_mapping, read_wholes, require

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The terms of an additive model as a file holds them, checked when they are read.

FACTS = ("rounds", "held_out_rows", "held_out_log_loss")
"""How boosting stopped."""
LARGEST = 1e6
"""No term is larger than this, in nats."""


def anova_state(anova: Anova) -> State:
    """The terms as arrays."""
    return {
        "mains": list(anova.mains),
        "pairs": [
            {"at": np.array(at, np.int64), "rows": _small(pair.cells[0]), "columns": _small(pair.cells[1]),
             "table": pair.table}
            for at, pair in sorted(anova.pairs.items())
        ],
        "sets": [
            {"at": np.array(at, np.int64), **trees_state(trees)} for at, trees in sorted(anova.sets.items())
        ],
    }  # fmt: skip


def trees_state(trees: TreeSet) -> State:
    """Trees as arrays, their masks by bits."""
    return {
        "roots": trees.roots,
        "axis": trees.axis,
        "below": trees.below,
        "left": np.packbits(trees.left, axis=1),
        "values": trees.values,
    }


def _small(cells: NDArray[np.int32]) -> NDArray[np.uint8]:
    return cells.astype(np.uint8)


def read_anova(found: State, sizes: Sequence[int], classes: int) -> Anova:
    """The terms of a file; what cannot be is refused."""
    mains = found["mains"]
    require(isinstance(mains, list) and len(mains) == len(sizes), "there is a table for each attribute")
    tables = tuple(_scores(table, (size, classes)) for table, size in zip(mains, sizes, strict=True))
    pairs: dict[tuple[int, int], Pair] = {}
    for one in _listed(found["pairs"]):
        at = _places(one["at"], len(sizes))
        require(len(at) == 2 and at not in pairs, "a pair has two attributes, and no two pairs the same")
        rows, columns = (_cells(one[side], sizes[j]) for side, j in zip(("rows", "columns"), at, strict=True))
        shape = (int(rows.max()) + 1, int(columns.max()) + 1, classes)
        pairs[at[0], at[1]] = Pair((rows, columns), _scores(one["table"], shape))
    sets: dict[tuple[int, ...], TreeSet] = {}
    for one in _listed(found["sets"]):
        at = _places(one["at"], len(sizes))
        require(len(at) > 2 and at not in sets, "a set has more than two attributes, and no two sets the same")
        sets[at] = read_trees(one, len(at), classes)
    return Anova(np.zeros(classes), tables, pairs, sets)


def _listed(value: object) -> list[Any]:
    require(isinstance(value, list), "terms are a list")
    assert isinstance(value, list)
    return [read_mapping(one, "a term") for one in value]


def _scores(value: object, shape: tuple[int, ...]) -> NDArray[np.float64]:
    scores = read_finite(value, shape, "scores", least=-LARGEST)
    require((scores <= LARGEST).all(), f"scores are no larger than {LARGEST:g}")
    return np.ascontiguousarray(scores)


def _places(value: object, count: int) -> tuple[int, ...]:
    places = read_wholes(value, 1, "attributes of a term")
    sound = len(places) and places[0] >= 0 and places[-1] < count and (places[1:] > places[:-1]).all()
    require(sound, "attributes of a term are numbers in order")
    return tuple(places.tolist())


def _cells(value: object, size: int) -> NDArray[np.int32]:
    cells = read_wholes(value, 1, "places of codes")
    require(len(cells) == size and (cells >= 0).all() and (cells < CODES).all(), "every code has a place")
    return cells.astype(np.int32)


def read_trees(one: State, axes: int, classes: int) -> TreeSet:
    """Trees of a file over so many attributes; what cannot be is refused."""
    axis, below, roots = (read_wholes(one[name], 1, name) for name in ("axis", "below", "roots"))
    nodes = np.arange(len(axis))
    require(len(below) == len(axis) and len(roots), "trees have nodes")
    require((axis >= -1).all() and (axis < axes).all(), "a node is parted by an attribute of its set")
    inner = axis >= 0
    # Children come after their parents, so that every way down ends.
    require((below[inner] > nodes[inner]).all() and (below[inner] < len(axis) - 1).all(), "children come later")
    require((roots >= 0).all() and (roots < len(axis)).all(), "roots are nodes")
    packed = read_array(one["left"], "u", 2, "masks")
    require(packed.dtype == np.uint8 and packed.shape == (len(axis), CODES // 8), "every node has a mask")
    return TreeSet(
        roots.astype(np.int32),
        axis.astype(np.int32),
        below.astype(np.int32),
        np.ascontiguousarray(np.unpackbits(packed, axis=1)),
        _scores(one["values"], (len(axis), classes)),
    )


# What boosting ends in: log P(class) plus what each attribute, pair and larger set says. Knows no search.

Part: TypeAlias = BinTable | LevelTable | PairTable | TreeSum


def additive_model(
    learner: Learner,
    coding: Coding,
    anova: Anova,
    facts: Mapping[str, float],
    notes: Sequence[str],
) -> Model:
    """log P(class) + sum of f_S(cells of S). What is unknown adds 0: with nothing known the answer is the prior.

    The offsets are in the mains: what each value says against not knowing it. It says nothing of how rows come about.
    """
    prior = prior_quotients(coding.summary, "observed", 0.0)
    log_prior, terms = log_of(prior), additive_terms(coding.axes, anova)
    state: State = {**anova_state(anova), "facts": dict(facts)} if facts else {}
    return Model(
        learner=learner,
        summary=coding.summary,
        score=Sum(log_prior, terms),
        prior=prior,
        log_prior=log_prior,
        notes=tuple(notes),
        facts=facts,
        details={"coding": coding, "anova": anova, "parts": terms},
        state=state,
        show=_show_stopping,
    )


def additive_terms(axes: Sequence[Axis], anova: Anova) -> tuple[Part, ...]:
    """The terms: of attributes in schema order, then of pairs and larger sets."""
    mains = [_single(axes[j], table) for j, table in enumerate(anova.mains) if table.any()]
    pairs = [
        PairTable(_called(axes, at), (axes[at[0]], axes[at[1]]), pair.cells, pair.table)
        for at, pair in sorted(anova.pairs.items())
    ]
    larger = [
        TreeSum(_called(axes, at), tuple(axes[j] for j in at), t.roots, t.axis, t.below, t.left, t.values)
        for at, t in sorted(anova.sets.items())
    ]
    return (*mains, *pairs, *larger)


def _show_stopping(model: Model) -> tuple[Exhibit, ...]:
    """How boosting stopped."""
    # In bits, as all else that is told of the model.
    shown_as = {"held_out_log_loss": ("held-out log loss, bits", 1 / math.log(2))}
    rows = []
    for name, value in model.facts.items():
        if name != FACTS[0] and not model.facts[FACTS[1]]:
            continue  # the rounds were given, so that no rows were held out
        title, scale = shown_as.get(name, (name.replace("_", " "), 1.0))
        rows.append((title, value * scale))
    return (Exhibit("How boosting stopped", ("what", "value"), tuple(rows)),)


def _called(axes: Sequence[Axis], at: Sequence[int]) -> str:
    """The name of a term, which is that of no attribute and no other term: a sign that no attribute's name has."""
    sign = " × "
    while any(sign in axis.name for axis in axes):
        sign = f" ×{sign[1:]}"
    return sign.join(axes[j].name for j in at)


def _single(axis: Axis, table: Floats) -> BinTable | LevelTable:
    """What one attribute says; bins that say the same become one."""
    size, classes = axis.size, table.shape[1]
    absent = table[size : size + 1] if axis.missing >= 0 else np.zeros((1, classes))
    if axis.edges is not None:
        new = np.flatnonzero((table[1:size] != table[: size - 1]).any(axis=1))
        kept = np.concatenate([[0], new + 1]).astype(np.intp)
        return BinTable(axis.name, axis.edges[new], np.ascontiguousarray(np.concatenate([table[kept], absent])))
    places = np.arange(size) if axis.groups is None else axis.groups
    rows = np.concatenate([table[places], np.zeros((1, classes)), absent])
    return LevelTable(axis.name, axis.levels, np.ascontiguousarray(rows))
