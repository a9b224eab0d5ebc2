"""What single values say of the classes, by the model: its term of an attribute at each value. Reads no rows of data.

It is the one definition of the evidence of a value; cards, curves and tables of page and terminal show it, and
`likely.explain` has the same figure in the line of that value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import SettingError
from likely.machinery.arrays import Floats
from likely.models.contracts import Model
from likely.models.shapes import TreeSum, sum_of

if TYPE_CHECKING:
    pass


def value_logs(model: Model, values: Mapping[str, Sequence[Any]]) -> dict[str, Floats]:
    """For each attribute and each of its values a log for each class, in nats: (values, classes).

    Rows are asked that have this one value and no other. Where the model has a term of the attribute it is that term,
    with what larger sets of attributes say of it alone. Where the attribute is part of a block, where it speaks through
    the term of another one (a tree), or where scores are no sum, it is how the value by itself changes the scores.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
    >>> np.exp(value_logs(model, {"sky": ["sun"]})["sky"]).round(3)
    array([[0.333, 0.6  ]])
    """
    wanted = {name: list(some) for name, some in values.items() if len(some)}
    if not wanted:
        return {name: np.zeros((0, len(model.classes))) for name in values}
    total = sum(len(some) for some in wanted.values())
    table: dict[str, list[Any]] = {}
    places: dict[str, slice] = {}
    start = 0
    for name, some in wanted.items():
        places[name] = slice(start, start + len(some))
        table[name] = [None] * start + some + [None] * (total + 1 - start - len(some))
        start += len(some)
    scores: list[Floats] = []
    terms: list[dict[str, Floats]] = []
    for batch in model.batches(table):  # the last row knows nothing
        scores.append(model.log_joint(batch))
        terms.append(_attribute_terms(model, batch))
    joint = np.vstack(scores)
    with np.errstate(invalid="ignore"):
        alone = joint[:-1] - joint[-1]
    alone = np.where(np.isnan(alone), 0.0, alone)
    each = {name: np.vstack([one[name] for one in terms]) for name in terms[0]}
    sets = [each.pop(name) for name in set_names(model) if name in each]
    more = sum((logs[:-1] - logs[-1] for logs in sets), np.zeros_like(alone))
    out = {name: np.zeros((0, len(model.classes))) for name in values}
    for name, place in places.items():
        others = [logs[place] for other, logs in each.items() if other != name]
        own = each[name][place] if name in each else np.zeros_like(alone[place])
        by_itself = (name in each or sets) and not any(_differs(logs) for logs in others)
        out[name] = own + more[place] if by_itself else alone[place]
    return out


def missing_logs(model: Model) -> dict[str, Floats]:
    """What a missing cell of each attribute says, a log for each class, where the model has a term of it."""
    names = [column.name for column in model.schema.attributes]
    if not names:
        return {}
    batches = model.batches({name: [None] for name in names})
    own = {name: logs[0] for batch in batches for name, logs in _attribute_terms(model, batch).items()}
    return {name: own[name] for name in names if name in own}


def _attribute_terms(model: Model, batch: Any) -> dict[str, Floats]:
    """The terms of a batch that are those of one attribute, or of a set; none where scores are no sum."""
    try:
        terms = model.terms(batch)
    except SettingError:
        return {}
    own = {column.name for column in model.schema.attributes}.union(set_names(model))
    return {name: terms.array[:, k] for k, name in enumerate(terms.names) if name in own and k > 0}


def set_names(model: Model) -> tuple[str, ...]:
    """The terms of larger sets of attributes, which also hold what these say by themselves."""
    shape = model.shape()
    whole = None if shape is None else sum_of(shape)
    return () if whole is None else tuple(term.name for term in whole[0].terms if isinstance(term, TreeSum))


def _differs(logs: Floats) -> bool:
    """Whether terms say something of the classes."""
    return bool((np.abs(logs - logs[:, :1]) > 1e-9).any())
