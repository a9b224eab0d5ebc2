"""What a first look watches for while rows are scored: attributes that repeat each other, and copies of texts.

And how much each text column tells by itself, from models of it alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from likely.evaluate.attributes.information import Attribute, attributes, entropy, information
from likely.evaluate.attributes.plane import Plane, PlaneSampler, worth_a_picture
from likely.evaluate.attributes.redundancy import Sample, Sampler
from likely.evaluate.scores.ceiling import Sampled
from likely.evaluate.troubles.copies import Copied, Copies
from likely.evaluate.troubles.duplicates import RowCopies
from likely.intake.row_cache import Piece
from likely.models.model import Model
from likely.models.naive.product import Product
from likely.sums.summary import Summary
from likely.sums.words.words import Words
from likely.table.batch import Codes, Texts

LEARNER = "learner"


class Watcher:
    """One for each thread."""

    def __init__(self, total: Summary, found: list[Attribute], plane: tuple[str, str] | None = None) -> None:
        self.sampler = Sampler(total, found)
        self.plane = None if plane is None else PlaneSampler(total, plane)
        self.copies = {name: Copied() for name, held in total.columns.items() if isinstance(held, Words)}
        self.rows, self.sampled = RowCopies(total), Sampled(total)

    def take(self, piece: Piece, start: int) -> None:
        """Watch some rows."""
        self.sampler.take(piece, start)
        self.rows.take(piece, start)
        self.sampled.take(piece, start)
        if self.plane is not None:
            self.plane.take(piece, start)
        batch = piece.batch
        for name, copied in self.copies.items():
            cells, target = batch.cells[name], batch.target
            assert isinstance(cells, Texts) and isinstance(target, Codes)
            group = target.codes if batch.weight is None else np.where(batch.weight > 0, target.codes, np.int32(-1))
            copied.take(cells, piece.fold, group)


class Watch:
    """Makes the watchers of one look, and reads what they saw."""

    def __init__(self, picture: bool = False) -> None:
        self.picture = picture
        """Whether the two numbers that tell most are to be drawn."""
        self.only = ""
        """The text column that the learner's models know alone, if there is one."""
        self.attributes: list[Attribute] = []
        self._total: Summary | None = None

    def __call__(self, total: Summary) -> Watcher:
        if self._total is not total:
            self.attributes, self._total = attributes(total), total
        return Watcher(total, self.attributes, worth_a_picture(self.attributes, total) if self.picture else None)

    def of_texts(self, models: Mapping[str, list[Model]]) -> dict[str, list[Model]]:
        """For each text column the learner's models with that factor alone, where they have others too."""
        held = [m for m in models.get(LEARNER, []) if isinstance(m, Product)]
        if not held or len(held) < len(models[LEARNER]):
            return {}
        out: dict[str, list[Model]] = {}
        for name in (text.name for text in held[0].texts):
            own = [tuple(f for f in m.factors if f.name == name) for m in held]
            if all(len(m.factors) == len(factors) == 1 for m, factors in zip(held, own, strict=True)):
                self.only = name
            elif all(own):
                out[alone(name)] = [replace(m, factors=factors) for m, factors in zip(held, own, strict=True)]
        return out

    @staticmethod
    def sample(watchers: Sequence[Watcher]) -> Sample:
        """The sample of rows of all of them."""
        return reduce(add, (w.sampler.sample for w in watchers))

    @staticmethod
    def row_copies(watchers: Sequence[Watcher]) -> Copies:
        """Rows that occur more than once."""
        return reduce(add, (w.rows.copied for w in watchers)).read()

    @staticmethod
    def sampled(watchers: Sequence[Watcher]) -> list[Sampled]:
        """Rows that were kept."""
        return [w.sampled for w in watchers]

    @staticmethod
    def plane(watchers: Sequence[Watcher], total: Summary) -> Plane | None:
        """The picture of two numbers, where there is one."""
        held = [w.plane for w in watchers if w.plane is not None]
        return reduce(add, held).drawn(total) if held else None

    @staticmethod
    def copies(watchers: Sequence[Watcher]) -> dict[str, Copies]:
        """Texts that occur more than once, by column."""
        return {name: reduce(add, (w.copies[name] for w in watchers)).read() for name in watchers[0].copies}


def alone(column: str) -> str:
    """What the models of a text column by itself are called among the learners."""
    return f"{column} alone"


def with_named(attribute: Attribute, confusion: Sequence[Sequence[float]], rows: float) -> Attribute:
    """A text with what the class that it alone leads to, out of fold, tells about the target, if that is more.

    Whatever is worked out from a text tells no more than the text does, so this too is a least.
    """
    table = np.array(confusion)
    weight = float(table.sum())
    bits = information(table, max(1.0, rows / weight) if weight else 1.0)
    whole = entropy(table.sum(axis=1)) if weight else 0.0
    if bits <= attribute.bits or whole <= 0:
        return attribute
    return replace(attribute, bits=bits, share=bits / whole)
