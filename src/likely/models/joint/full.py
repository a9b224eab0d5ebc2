"""Full Bayes: given the class, attributes may depend on each other in any way. Settings, and how to learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from likely.errors import SettingError, shown
from likely.models.factors.joint import CellSettings, table
from likely.models.factors.normal import CovarianceSettings, normal
from likely.models.factors.scatter import scatter
from likely.models.joint.joints import Joint
from likely.models.joint.normals import Normals
from likely.models.model import learnable
from likely.models.prior import prior_quotients
from likely.models.quotient import log_of
from likely.models.setting_values import (
    Prior,
    Shrinkage,
    Variance,
    prior_pseudo_count_setting,
    prior_setting,
    shrinkage_setting,
    unseen_setting,
    variance_setting,
)
from likely.models.settings import Settings, setting
from likely.sums.summary import Summary
from likely.table.schema import Column, Schema


@dataclass(frozen=True)
class FullBayes(Settings):
    """P(class | row) is proportional to P(class) * P(row | class): a normal density, or a table of all rows of levels.

    >>> FullBayes(shrinkage="auto").density
    'auto'
    """

    density: Literal["auto", "normal", "table"] = setting(
        "auto",
        "normal for numbers, table for nominal attributes; auto takes what fits the columns.",
        choices=("auto", "normal", "table"),
    )
    pseudo_count: float = setting(
        1.0,
        "Added to the count of every cell of the joint table, in every class: 0 is maximum likelihood.",
        at_least=0,
    )
    prior: Prior = prior_setting()
    prior_pseudo_count: float = prior_pseudo_count_setting()
    variance: Variance = variance_setting()
    variance_floor: float = setting(
        1e-6,
        "Least variance in a class as a share of the attribute's own, and least eigenvalue of a correlation matrix.",
        at_least=0,
        at_most=1,
    )
    shrinkage: Shrinkage = shrinkage_setting()
    unseen: Literal["skip", "reserve", "error"] = unseen_setting("as if missing", "one more level of the table")

    def needs(self, schema: Schema) -> frozenset[str]:
        """Sums of products for a normal density, counts of whole rows for a table."""
        return needs_of(density_kind(schema, self.density), schema)

    def learn(self, summary: Summary) -> Normals | Joint:
        """Derive the model. Changes nothing; other settings can be tried on the same summary."""
        summary = learnable(summary)
        kind = density_kind(summary.schema, self.density)
        refuse_others("FullBayes", kind, summary.schema)
        prior = prior_quotients(summary, self.prior, self.prior_pseudo_count)
        about: dict[str, Any] = {"learner": self, "summary": summary, "prior": prior, "log_prior": log_of(prior)}
        if kind == "normal":
            settings = CovarianceSettings(self.variance, self.variance_floor, self.shrinkage)
            found = normal(scatter(summary), summary.classes, settings, pooled=False)
            return Normals(**about, normal=found, notes=found.notes)
        cells, notes = table(summary, CellSettings(self.pseudo_count, self.unseen == "reserve"))
        return Joint(**about, table=cells, notes=tuple(notes), refuse_unseen=self.unseen == "error")


def density_kind(schema: Schema, density: str) -> str:
    """The density that fits the columns, where it is left open: normal, table, or mixed."""
    if density != "auto":
        return density
    kinds = {c.kind == "nominal" for c in schema.attributes if c.kind != "text"}
    return "mixed" if len(kinds) == 2 else ("normal" if kinds == {False} else "table")


def needs_of(kind: str, schema: Schema) -> frozenset[str]:
    """The statistics that a density is made of; none where it does not fit the columns, which `learn` will say."""
    some = [c for c in schema.attributes if c.kind != "text"]  # from which these learn nothing
    if not some or any(_is_other(kind, c) for c in some):
        return frozenset()
    return {"normal": frozenset({"products"}), "table": frozenset({"cells"})}.get(kind, frozenset())


def _is_other(kind: str, column: Column) -> bool:
    return kind == "mixed" or (column.kind == "nominal") != (kind == "table")


def refuse_others(who: str, kind: str, schema: Schema) -> None:
    """Refuse columns that the density does not take."""
    takes = {"normal": "numbers", "table": "nominal attributes"}.get(kind, "either numbers or nominal attributes")
    nominal = [c.name for c in schema.attributes if c.kind == "nominal"]
    numbers = [c.name for c in schema.attributes if c.kind != "nominal"]
    wrong = {"normal": nominal, "table": numbers}.get(kind, nominal if len(nominal) < len(numbers) else numbers)
    if wrong:
        many = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise SettingError(
            f"{who} takes {takes} only, and {shown(wrong[0])}{many} would be out of place. Leave columns out "
            "(--type COLUMN=ignore), or use a learner of mixed columns: NaiveBayes, TreeAugmented, OneDependence, "
            "LeastSquares, Logistic or Neighbors."
        )
