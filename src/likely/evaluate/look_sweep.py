"""The sweep of a first look: what is gathered while rows are scored, and how much each text column tells by itself.

Gathered are a sample of rows, to see which attributes repeat each other, equal rows and texts, and two numbers to draw.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np

from likely.evaluate.attributes.information import Attribute, attributes, entropy, information
from likely.evaluate.attributes.plane import Plane, PlaneSampler, worth_a_picture
from likely.evaluate.attributes.redundancy import Pair, Sampler, outside
from likely.evaluate.troubles.duplicates import Copies, Duplicates, RepeatedRows, repeated_rows
from likely.intake.row_cache import Piece
from likely.models.contracts import Model
from likely.sums.summary import Summary
from likely.sums.words.words import Words

LEARNER = "learner"


@dataclass(frozen=True)
class SweepResult:
    """What the sweep brought home."""

    pairs: tuple[Pair, ...]
    """Attributes that repeat each other."""
    rows: RepeatedRows
    texts: dict[str, Copies]
    """Texts that occur more than once, by column."""
    plane: Plane | None

    def dealt_by_content(self) -> SweepResult:
        """The same where equal rows were held out together: copies of texts are apart only where their rows differ."""
        equal = self.rows.copied
        texts = {n: replace(c, across=min(c.across, max(c.copied - equal, 0))) for n, c in self.texts.items()}
        return replace(self, rows=replace(self.rows, across=0), texts=texts)

    def left_out_in_turn(self) -> SweepResult:
        """The same where each row was a fold of its own: every copy is in another one."""
        texts = {name: replace(c, across=c.copied) for name, c in self.texts.items()}
        return replace(self, rows=replace(self.rows, across=self.rows.copied), texts=texts)


class Collector:
    """Takes the pieces of one thread."""

    def __init__(self, total: Summary, found: list[Attribute], plane: tuple[str, str] | None = None) -> None:
        self.sampler = Sampler(total, found)
        self.plane = None if plane is None else PlaneSampler(total, plane)
        self.texts = {name: Duplicates() for name, held in total.columns.items() if isinstance(held, Words)}
        self.rows = Duplicates()
        self._names = [c.name for c in total.schema.attributes]

    def take(self, piece: Piece, start: int) -> None:
        """Some rows of the table."""
        self.sampler.take(piece, start)
        self.rows.take_rows(piece.batch, self._names, piece.fold)
        if self.plane is not None:
            self.plane.take(piece, start)
        for name, texts in self.texts.items():
            texts.take_texts(piece.batch, name, piece.fold)


class LookSweep:
    """Makes the collectors of one look, and reads what they gathered."""

    def __init__(self, picture: bool = False) -> None:
        self.picture = picture
        """Whether the two numbers that tell most are to be drawn."""
        self.only = ""
        """The text column that the learner's models know alone, if there is one."""
        self.attributes: list[Attribute] = []
        self._total: Summary | None = None

    def __call__(self, total: Summary) -> Collector:
        if self._total is not total:
            self.attributes, self._total = attributes(total), total
        return Collector(total, self.attributes, worth_a_picture(self.attributes, total) if self.picture else None)

    def of_texts(self, models: Mapping[str, list[Model]]) -> dict[str, list[Model]]:
        """For each text column the learner's models with that factor alone, where they have others too."""
        held = [m for m in models.get(LEARNER, []) if m.factored]
        if not held or len(held) < len(models[LEARNER]):
            return {}
        out: dict[str, list[Model]] = {}
        for name in (text.name for text in held[0].texts):
            own = [m.only([name]) for m in held]
            if all(len(m.factors) == len(text.factors) == 1 for m, text in zip(held, own, strict=True)):
                self.only = name
            elif all(text.factors for text in own):
                out[alone_name(name)] = own
        return out

    @staticmethod
    def read(parts: Sequence[Collector], total: Summary, blocks: Iterable[Collection[str]]) -> SweepResult:
        """What all threads gathered; pairs that are joined in a block are counted once."""
        planes = [p.plane for p in parts if p.plane is not None]
        return SweepResult(
            outside(reduce(add, (p.sampler.sample for p in parts)).pairs(), blocks),
            repeated_rows(reduce(add, (p.rows for p in parts)), total),
            {name: reduce(add, (p.texts[name] for p in parts)).copies() for name in parts[0].texts},
            reduce(add, planes).drawn(total) if planes else None,
        )


def alone_name(column: str) -> str:
    """What the models of a text column by itself are called among the learners."""
    return f"{column} alone"


def with_predicted(attribute: Attribute, confusion: Sequence[Sequence[float]], rows: float) -> Attribute:
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
