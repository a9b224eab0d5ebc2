"""How much each attribute moves a model's answers: the mean of its folded evidence. Knows scores and rows; no words."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from likely.machinery.arrays import Floats
from likely.models.judgement import Importance
from likely.models.shapes import PairTable, Score
from likely.models.shapes.folding import fold_lines
from likely.models.shapes.lines import Line
from likely.table.batch import Batch

IMPOSSIBLE = 52 * math.log(2)
"""What rules a class out counts so much: beyond it doubles cannot tell a share from one."""
MOST_PAIRS = 20
MOST_ROWS, MOST_ASKED = 2_000, 200
"""Rows whose evidence is folded at most; and where a term is asked about subsets of its attributes."""


def measure_importance(score: Score, attributes: Iterable[str], batch: Batch, weight: Floats) -> Importance | None:
    """How far attributes move the answers to the first rows of a batch; None where evidence cannot be folded. Of the
    score, terms say nothing of unknown cells: nothing is averaged. The rows may be those that the model learned from:
    what values say of the classes does not take the class of the row."""
    if not score.is_sum or score.opaque is not None:
        return None
    one = score.take_apart(batch.sliced(slice(0, 1))) if batch.rows else None
    if one is None:
        return None
    most = MOST_ASKED if any(_is_asked(line) for line in one.lines) else MOST_ROWS
    rows = batch.sliced(slice(0, min(most, batch.rows)))
    terms = score.take_apart(rows)
    assert terms is not None
    total: dict[str, Floats] = {}
    pairs: dict[tuple[str, ...], Floats] = {}
    for share in fold_lines(terms, rows)[0]:
        total[share.name] = total.get(share.name, 0.0) + share.logs
        if len(share.together) == 1:
            pair = tuple(sorted((share.name, *share.together)))
            pairs[pair] = pairs.get(pair, 0.0) + share.logs
    weight = weight[: rows.rows] / weight[: rows.rows].sum()

    def mean(logs: Floats) -> float:
        return float(evidence_range(logs) @ weight)

    found = sorted(((mean(logs), pair) for pair, logs in pairs.items()), key=lambda one: (-one[0], one[1]))
    each = {name: mean(total[name]) if name in total else 0.0 for name in attributes}
    return Importance(each, {(a, b): value for value, (a, b) in found[:MOST_PAIRS] if value > 0})


def evidence_range(logs: Floats) -> Floats:
    """How far each row of logs, one for each class, moves the odds of the two classes that it moves most, in nats."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(logs.max(axis=1) - logs.min(axis=1), posinf=IMPOSSIBLE))


def _is_asked(line: Line) -> bool:
    """Whether folding a line takes answers for subsets of its attributes."""
    if not line.parts or line.parts[-1].share is not None:
        return False
    term = line.parts[-1].term
    return not isinstance(term, PairTable) and len(getattr(term, "names", ())) > 1
