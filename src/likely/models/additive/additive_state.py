"""The terms of an additive model as a file holds them, checked when they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.models.additive.anova import Anova, Pair, Strengths, TreeSet
from likely.models.additive.histograms import CODES
from likely.sums.checks import read_array, read_finite, read_mapping, read_wholes, require
from likely.sums.contracts import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
            {
                "at": np.array(at, np.int64),
                "roots": t.roots,
                "axis": t.axis,
                "below": t.below,
                "left": np.packbits(t.left, axis=1),
                "values": t.values,
            }
            for at, t in sorted(anova.sets.items())
        ],
    }  # fmt: skip


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
        sets[at] = _trees(one, len(at), classes)
    return Anova(np.zeros(classes), tables, pairs, sets)


def read_strengths(found: State, anova: Anova) -> Strengths:
    """How strong each term of a file is."""
    terms = anova.places
    strengths = read_finite(found["strengths"], (len(terms),), "strengths", least=0.0)
    return dict(zip(terms, strengths.tolist(), strict=True))


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


def _trees(one: State, axes: int, classes: int) -> TreeSet:
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
