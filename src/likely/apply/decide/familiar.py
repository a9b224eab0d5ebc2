"""Whether a row is like those a model knows: its density beside that of rows of training, or of rows the model draws.

Knows densities of rows and patterns of missing cells; nothing of losses.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from likely.apply.decide.missing import is_missing
from likely.apply.decide.priors import describer_sentence
from likely.errors import InputError, SettingError, shown
from likely.machinery.arrays import Floats
from likely.models.contracts import Model, setting_of
from likely.models.model import numbered
from likely.models.posterior import Posterior
from likely.models.shapes import patterns
from likely.table.batch import MISSING_CODE, Batch, Codes
from likely.table.open import open_source

if TYPE_CHECKING:
    from numpy.typing import NDArray

DRAWN = 10_000
"""Rows drawn from the model, where no training rows are given."""
KEPT = 20_000
"""The most rows of training that are kept: of more, every second, every fourth …"""


@dataclass(frozen=True)
class Familiar:
    """A row is strange if fewer than `share` of the reference rows are as improbable as it is.

    A row that lacks cells is compared with those reference rows that have its other cells, without the rest.
    """

    model: Model
    share: float
    reference: Batch
    told: str
    """What rows are compared with, as a sentence."""
    itself: bool = True
    """Whether it is this model that decides, too, so that what it found of rows need not be reckoned again."""
    _thresholds: dict[bytes, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def strange(self, batch: Batch, log_evidence: NDArray[np.float64] | None = None) -> NDArray[np.bool_]:
        """Which rows of a batch are unlike the reference rows; `log_evidence` is the model's, where it is known."""
        if log_evidence is None or not self.itself:
            log_evidence = Posterior.of(self.model.classes, self.model.log_joint(batch)).log_evidence
        out = np.zeros(batch.rows, np.bool_)
        names = list(self.reference.cells)
        there = np.column_stack([np.ones(batch.rows, np.bool_), *(~self._gone(batch.cells[n]) for n in names)])
        for columns, rows in patterns(there):
            known = [names[k - 1] for k in columns[1:]]
            out[rows] = log_evidence[rows] < self._threshold(known)
        return out

    def _gone(self, cells: Codes | Floats) -> NDArray[np.bool_]:
        """Cells that a score leaves out: missing ones, and levels that training did not have, unless they have mass."""
        if setting_of(self.model.learner, "missing") == "level":
            return np.zeros(len(cells.codes if isinstance(cells, Codes) else cells), np.bool_)
        if isinstance(cells, Codes) and setting_of(self.model.learner, "unseen") != "reserve":
            return cells.codes < 0
        return is_missing(cells)

    def _threshold(self, known: list[str]) -> float:
        """The log density below which a row that has just these cells is strange."""
        key = "\0".join(known).encode("utf-8", "surrogatepass")
        with self._lock:
            found = self._thresholds.get(key)
        if found is None:
            found = self._measured(known)
            with self._lock:
                self._thresholds[key] = found
        return found

    def _measured(self, known: list[str]) -> float:
        reference, there = self.reference, np.ones(self.reference.rows, np.bool_)
        for name in known:
            there &= ~self._gone(reference.cells[name])
        like = reference.take(np.flatnonzero(there))
        if not like.rows:
            return -np.inf  # no row to compare with: nothing is called strange
        cells = {name: own if name in known else _blank(own) for name, own in like.cells.items()}
        joint = self.model.log_joint(replace(like, cells=cells))
        density = Posterior.of(self.model.classes, joint).log_evidence
        order = np.argsort(density, kind="stable")
        weight = np.ones(like.rows) if like.weight is None else like.weight
        below = np.cumsum(weight[order])
        # The first reference row by which `share` of the weight is reached: whoever is below it has less below.
        place = int(np.searchsorted(below, self.share * below[-1], side="left"))
        return float(density[order[min(place, like.rows - 1)]])


def familiar(model: Model, share: float, training: object = None, seed: int = 0, most: int = KEPT) -> Familiar:
    """What rows are compared with: the rows of `training` (at most so many), or rows drawn from the model."""
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share < 1:
        raise SettingError(f"unlike is {shown(share)}. Give a share of rows between 0 and 1, such as 0.001.")
    whole = model
    model = (model if model.generative else model.learned).of_rows
    if texts := [shown(c.name) for c in model.schema.attributes if c.kind == "text"]:
        raise SettingError(
            f"{texts[0]} is free text: the longer a text, the less probable it is, so rows cannot be called unlike "
            "others by it. Leave unlike out, or learn without the column (--type COLUMN=ignore)."
        )
    if training is None:
        parts = list(model.batches(model.sample(DRAWN, seed)))
        told = f"{DRAWN:,} rows drawn from the model (seed {seed}), as no training rows were given"
    else:
        parts, rows, step = _rows_of(model, training, most)
        told = f"{rows:,} rows of training" if step == 1 else f"every {step}th of {rows:,} rows of training"
    return Familiar(
        model,
        float(share),
        reduce(_join_batches, parts),
        f"A row is none of these if it is less probable than all but {100 * share:g} % of {told}."
        + ("" if model is whole else f" {describer_sentence(whole, model)}"),
        model is whole,
    )


def _rows_of(model: Model, training: object, most: int) -> tuple[list[Batch], int, int]:
    """The rows of a table that have a class and weight, thinned by their numbers alone, so that no batch matters."""
    source = open_source(training)
    encoder = replace(model.encoder(), schema=model.schema, strays={}, unseen={}, absent=set())
    wanted = model.columns_in(source)
    parts: list[Batch] = []
    rows, step = 0, 1
    for _, arrow in numbered(source.batches(wanted)):
        batch = encoder.encode(arrow, rows)
        counts = np.ones(batch.rows, np.bool_)
        if batch.target is not None:
            counts &= batch.target.codes >= 0
        if batch.weight is not None:
            counts &= batch.weight > 0
        batch = batch.take(np.flatnonzero(counts))
        first = -rows % step
        parts.append(batch.take(np.arange(first, batch.rows, step)))
        rows += batch.rows
        while sum(p.rows for p in parts) > most:
            parts = [reduce(_join_batches, parts)]
            parts = [parts[0].take(np.arange(0, parts[0].rows, 2))]
            step *= 2
    if not rows:
        raise InputError(f"{source.name} has no row that the model could have learned from. Give its training rows.")
    return parts, rows, step


def _join_batches(one: Batch, two: Batch) -> Batch:
    def both(a: Codes | Floats, b: Codes | Floats) -> Codes | Floats:
        if isinstance(a, Codes) and isinstance(b, Codes):
            return Codes(np.concatenate([a.codes, b.codes]), a.labels)
        return np.concatenate([a, b])

    weight = None if one.weight is None or two.weight is None else np.concatenate([one.weight, two.weight])
    cells = {name: both(own, two.cells[name]) for name, own in one.cells.items()}
    return Batch(one.rows + two.rows, cells, None, weight)


def _blank(cells: Codes | Floats) -> Codes | Floats:
    """The same column with every cell missing."""
    if isinstance(cells, Codes):
        return Codes(np.full(len(cells.codes), MISSING_CODE, np.int32), cells.labels)
    return np.full(len(cells), np.nan)
