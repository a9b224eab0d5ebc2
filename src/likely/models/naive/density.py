"""Density: no target; how probable is a row as a whole? A naive product, a normal density or a joint table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from likely.errors import SettingError, shown
from likely.models.factors.gaussian import Variance
from likely.models.factors.normal import Shrinkage, check_covariance_settings
from likely.models.joint.full import FullBayes, as_floats, chosen, needs_of, refuse_others
from likely.models.model import Model
from likely.models.naive.blocks import Blocks, checked_blocks, wishes
from likely.models.naive.naive import NaiveBayes
from likely.models.ranges import check_choice, checked
from likely.sums.summary import Summary
from likely.table.schema import Schema


@dataclass(frozen=True)
class Density:
    """P(row), all rows taken as one class. `model.log_density(data)` gives its log for each row.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "sun"]}, learner=Density(pseudo_count=0))
    >>> import math; round(math.exp(model.log_density({"sky": "sun"})), 3)
    0.75
    """

    density: Literal["auto", "naive", "normal", "table"] = "auto"
    """'auto': a normal density where all columns are numbers, a table where all are nominal, else the naive product (of
    which alone texts are a part)."""
    pseudo_count: float = 1.0
    """Added to the count of every cell of the table (of every level, if naive)."""
    variance: Variance = "unbiased"
    """'unbiased' divides by n-1, 'ml' by n."""
    variance_floor: float = 1e-6
    """Least eigenvalue of the correlation matrix."""
    shrinkage: Shrinkage = 0.0
    """Every correlation is multiplied by 1 - shrinkage; 'auto' takes more where rows are few (see `normal`)."""
    unseen: Literal["skip", "reserve", "error"] = "skip"
    """A level that training did not have: as if missing, given the mass of one more level, or refused."""
    blocks: Blocks = ()
    """Columns that are modelled together in the naive product: (("outlook", "windy"), …). The others stand alone."""

    def __post_init__(self) -> None:
        check_choice("density", self.density, ("auto", "naive", "normal", "table"))
        check_choice("unseen", self.unseen, ("skip", "reserve", "error"))
        check_covariance_settings(self.variance, self.variance_floor, self.shrinkage)
        checked(self, "pseudo_count")
        object.__setattr__(self, "blocks", checked_blocks(self.blocks))
        if self.blocks and self.density not in ("auto", "naive"):
            raise SettingError(
                f"Blocks are factors of the naive product, but density is {self.density}. Leave one of them out."
            )
        as_floats(self, "variance_floor", "shrinkage")

    def _kind(self, schema: Schema) -> str:
        text = self.density == "auto" and any(c.kind == "text" for c in schema.attributes)
        kind = "naive" if self.blocks or text else chosen(schema, self.density)
        return "naive" if kind == "mixed" else kind

    def needs(self, schema: Schema) -> frozenset[str]:
        """Sums of products for a normal density, counts of whole rows for a table, what blocks are made of."""
        kind = self._kind(schema)
        return wishes(self.blocks, schema) if kind == "naive" else needs_of(kind, schema)

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
