"""Density: no target; how probable is a row as a whole? A naive product, a normal density or a joint table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from likely.errors import SettingError, shown
from likely.models.contracts import Model, Trait
from likely.models.full_bayes import FullBayes, density_kind, needs_of, refuse_others
from likely.models.naive.blocks import block_requests
from likely.models.naive.naive import NaiveBayes
from likely.models.settings import (
    Blocks,
    Settings,
    Shrinkage,
    Variance,
    check_blocks,
    setting,
    shrinkage_setting,
    unseen_setting,
    variance_setting,
)
from likely.sums.summary import Summary
from likely.table.schema import Schema


@dataclass(frozen=True)
class Density(Settings):
    """P(row), all rows taken as one class. `model.log_density(data)` gives its log for each row.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "sun"]}, learner=Density(pseudo_count=0))
    >>> import math; round(math.exp(model.log_density({"sky": "sun"})), 3)
    0.75
    """

    traits: ClassVar[frozenset[Trait]] = frozenset({"density"})

    density: Literal["auto", "naive", "normal", "table"] = setting(
        "auto",
        "auto takes a normal density where all columns are numbers, a table where all are nominal, else the naive "
        "product (of which alone texts are a part).",
        choices=("auto", "naive", "normal", "table"),
    )
    pseudo_count: float = setting(
        1.0, "Added to the count of every cell of the table (of every level, if naive).", at_least=0
    )
    variance: Variance = variance_setting()
    variance_floor: float = setting(
        1e-6,
        "Least eigenvalue of the correlation matrix.",
        at_least=0,
        at_most=1,
    )
    shrinkage: Shrinkage = shrinkage_setting()
    unseen: Literal["skip", "reserve", "error"] = unseen_setting(
        "as if missing", "given the probability of one more level"
    )
    blocks: Blocks = setting(
        (), "Columns that are modelled together in the naive product; the others stand alone.", convert=check_blocks
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.blocks and self.density not in ("auto", "naive"):
            raise SettingError(
                f"Blocks are factors of the naive product, but density is {self.density}. Leave one of them out."
            )

    def _kind(self, schema: Schema) -> str:
        text = self.density == "auto" and any(c.kind == "text" for c in schema.attributes)
        kind = "naive" if self.blocks or text else density_kind(schema, self.density)
        return "naive" if kind == "mixed" else kind

    def needs(self, schema: Schema) -> frozenset[str]:
        """Sums of products for a normal density, counts of whole rows for a table, what blocks are made of."""
        kind = self._kind(schema)
        return block_requests(self.blocks, schema) if kind == "naive" else needs_of(kind, schema)

    def learn(self, summary: Summary) -> Model:
        """Derive the model. Changes nothing; other settings can be tried on the same summary."""
        target = summary.schema.target
        if target is not None:
            raise SettingError(
                f"Density takes no target: leave it out, and {shown(target.name)} is one more column. "
                "FullBayes and NaiveBayes have a density for each class."
            )
        kind = self._kind(summary.schema)
        inner: FullBayes | NaiveBayes
        if kind == "naive":
            inner = NaiveBayes(
                pseudo_count=self.pseudo_count,
                variance=self.variance,
                variance_floor=self.variance_floor,
                unseen=self.unseen,
                blocks=self.blocks,
                shrinkage=self.shrinkage,
            )
        else:
            refuse_others("Density", kind, summary.schema)
            inner = FullBayes(
                density="normal" if kind == "normal" else "table",
                pseudo_count=self.pseudo_count,
                variance=self.variance,
                variance_floor=self.variance_floor,
                shrinkage=self.shrinkage,
                unseen=self.unseen,
            )
        model = inner.learn(summary)
        assert isinstance(model, Model)  # there is one class, so nothing of a text can be chosen by it
        return replace(model, learner=self)
