"""How good a model is on rows that it had not seen, and what it goes by: plain records that its file keeps."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.machinery.arrays import Floats, Ints
from likely.machinery.presented import Presented
from likely.models.shapes.guarantee import GAPS, Guarantee
from likely.sums.contracts import State
from likely.sums.state import Positive, Share, built, plain, read_finite, read_wholes, require, require_plain
from likely.table.batch import Batch, Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

DAY = re.compile(r"\d{4}-\d\d-\d\d")
MOST_LEVELS = 20
"""An attribute of more levels makes no subgroups: there would be few rows in each, and nobody would read them."""


@dataclass(frozen=True)
class HeldOut:
    """How a model did on rows that were held out: their number, the share of hits, the mean log score in nats."""

    rows: int
    hits: float
    score: float


@dataclass(frozen=True, eq=False)
class HeldOutAnswers:
    """log P(class | row) of rows that nothing of the model has seen: neither its parts nor how they were joined."""

    logs: Floats
    truth: NDArray[np.intp]
    weight: Floats
    side: Ints
    """Rows of one side were answered by the same parts, put together without them."""
    learned: float
    """What the rows weigh that were learned from, for each row's answer; of parts held out in turn, the mean."""
    beside: Mapping[str, Floats]
    """The logs of learners that were judged beside it, on the same rows."""
    folds: int = 1
    """How often parts were learned, each time without other rows; 1: the same parts answered all rows."""
    squares: Floats | None = None  # of the weights, as `KeptRows` has them
    cells: Mapping[str, Codes] = field(default_factory=dict)
    """Of the attributes that make subgroups, the level of each row."""


@dataclass(frozen=True)
class Measure:
    """A number, and 95 % bounds for it; None where it is infinite, or where one fold alone says nothing of bounds."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Subgroup:
    """How well the rows of one level of an attribute are answered, out of fold."""

    level: str | None
    """None: the rows in which the attribute is missing."""
    rows: Positive
    """What they weigh."""
    small: bool
    """Whether they are so few that little can be said of them: read the bounds, not the figure."""
    accuracy: Measure
    predicted: Share
    """Mean probability of the class looked for."""
    actual: Measure
    """Share of the rows that are of it."""
    gap: Measure
    """Predicted less actual: above zero where too much is promised. Of 20 groups one has bounds without zero by
    chance."""


@dataclass(frozen=True)
class Subgroups:
    """The rows of each level of an attribute, those of most rows first, missing cells last."""

    attribute: str
    of: str
    """The class looked for."""
    groups: tuple[Subgroup, ...]


@dataclass(frozen=True)
class Importance:
    """How far attributes move the answers, in nats, the mean over rows; of two classes, or the two that move most."""

    each: Mapping[str, float]
    """All that an attribute says: by itself, and its share of what several say. By name, in the order of the schema."""
    together: Mapping[tuple[str, str], float]
    """What two attributes share of what they, and perhaps others, say together; those that share most."""

    def state(self) -> State:
        """As a file holds it."""
        places = {name: k for k, name in enumerate(self.each)}
        return {
            "each": np.array([*self.each.values()]),
            "pairs": np.array([[places[n] for n in pair] for pair in self.together], np.int64).reshape(-1, 2),
            "together": np.array([*self.together.values()]),
        }

    @classmethod
    def from_state(cls, found: State, names: Sequence[str]) -> Importance:
        """As a file holds it; what cannot be is refused."""
        each = read_finite(found["each"], (len(names),), "importances", least=0.0).tolist()
        pairs = read_wholes(found["pairs"], 2, "pairs of attributes")
        require(pairs.shape[1] == 2 and ((pairs >= 0) & (pairs < len(names))).all(), "pairs are of attributes")
        together = read_finite(found["together"], (len(pairs),), "what pairs share", least=0.0).tolist()
        told = [(names[a], names[b]) for a, b in pairs.tolist()]
        return cls(dict(zip(names, each, strict=True)), dict(zip(told, together, strict=True)))


@dataclass(frozen=True)
class Origin:
    """By whom and when a model was made, as the command line says it: what Python makes of a table says nothing of it,
    so that the same rows give the same file."""

    table: str
    """What the table is called; no path."""
    day: str
    """YYYY-MM-DD, in UTC."""
    command: str


@dataclass(frozen=True, kw_only=True, repr=False)
class Judgement(Presented):
    """How a model answered rows that nothing of it had seen, when it was made; and from what, by what."""

    version: str
    """Of likely."""
    rows: Positive
    """What the rows weigh that were answered."""
    learned: int
    """Rows that were learned from, for each answer."""
    parts: int
    """Parts that were held out in turn; 1: one part of the rows was held out."""
    accuracy: Measure
    log_loss: Measure
    """Bits a row."""
    brier: Measure
    guess: str
    """The class that most of the rows have, and what always naming it gets."""
    guessing: Share
    of: str
    """The class looked for."""
    auc: Measure
    calibration_of: str | None
    """The class whose probability the curve is of; None: the class named."""
    calibration_error: Share | None
    calibration: tuple[tuple[Share, Share, Share, Share, Positive], ...]
    """(mean probability, share, its bounds, rows) of rows of about the same probability."""
    roc: tuple[tuple[Share, Share], ...]
    """(share of the others, share of the class) found."""
    gain: tuple[tuple[Share, Share], ...]
    """(share of the rows that rank highest, share of the class among them)."""
    subgroups: tuple[Subgroups, ...]
    origin: Origin | None = None
    guarantees: tuple[Any, ...] = field(default=(), repr=False)
    """How rows came out by what was said of them (`Guarantee`): as they are, and with a few, some, most cells unknown.
    The latter are missing where rows were not at hand."""

    def state(self) -> State:
        """As a file holds it."""
        found: State = plain(replace(self, guarantees=()))
        found["guarantees"] = [list(one.steps) for one in self.guarantees]
        return found

    @classmethod
    def from_state(cls, found: State, classes: Collection[str], names: Collection[str]) -> Judgement:
        """As a file holds it; what cannot be is refused."""
        held = {name: found[name] for name in found if name != "guarantees"}
        own, attributes = built(cls, held), [one["attribute"] for one in found["subgroups"]]
        steps = found.get("guarantees", [])  # files of before have none
        require(isinstance(steps, list) and len(steps) in (0, 1, 1 + GAPS), "there is a guarantee for each gap")
        own = replace(own, guarantees=tuple(Guarantee.from_state(one, len(classes)) for one in steps))
        require({own.guess, own.of, own.calibration_of or own.of} <= {*classes}, "what is judged are classes")
        require({*attributes} <= {*names} and len({*attributes}) == len(attributes), "subgroups are of attributes")
        require_plain(held)
        groups = [group for one in own.subgroups for group in one.groups]
        shares = own.accuracy, own.auc, *(g.accuracy for g in groups), *(g.actual for g in groups)
        require(all(0 <= (v or 0) < 1.001 for m in shares for v in (m.value, m.low, m.high)), "shares are from 0 to 1")
        require(own.origin is None or DAY.fullmatch(own.origin.day) is not None, "a day is written YYYY-MM-DD")
        return own


def group_cells(batch: Batch, rows: NDArray[np.intp]) -> Mapping[str, Codes]:
    """The attributes by whose levels rows are told apart, with their cells in some rows of a batch."""
    few = {name: c for name, c in batch.cells.items() if isinstance(c, Codes) and 1 < len(c.labels) <= MOST_LEVELS}
    return {name: Codes(cells.codes[rows].astype(np.int8), cells.labels) for name, cells in few.items()}
