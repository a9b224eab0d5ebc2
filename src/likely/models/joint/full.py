"""Full Bayes: given the class, attributes may depend on each other in any way. Settings, and how to learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from likely.errors import SettingError, shown
from likely.models.factors.bins import edges_of, rule_for
from likely.models.factors.joint import CellSettings, table
from likely.models.factors.joint_bins import CutSettings, binned_joint_table
from likely.models.factors.normal import CovarianceSettings, normal
from likely.models.factors.scatter import scatter
from likely.models.factors.value_tally import ValueTally
from likely.models.joint.joints import Joint
from likely.models.joint.normals import Normals
from likely.models.model import learnable
from likely.models.prior import prior_quotients
from likely.models.quotient import log_of
from likely.models.setting_values import (
    Bins,
    Closed,
    Prior,
    Shrinkage,
    Variance,
    bin_count_setting,
    bins_closed_setting,
    check_bins,
    prior_pseudo_count_setting,
    prior_setting,
    shrinkage_setting,
    unseen_setting,
    variance_setting,
)
from likely.models.settings import Settings, setting
from likely.sums.summary import Summary
from likely.table.schema import Column, Schema

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class FullBayes(Settings):
    """P(class | row) is proportional to P(class) * P(row | class): a normal density, or a table of all rows of levels.

    >>> FullBayes(shrinkage="auto").density
    'auto'
    """

    density: Literal["auto", "normal", "table"] = setting(
        "auto",
        "normal for numbers, table for nominal attributes and numbers cut into bins; auto takes normal for numbers "
        "alone, a table for nominal attributes alone.",
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
    bins: Bins = setting(
        "mdl",
        "Where a table cuts numbers: mdl, width or frequency; or by column one of these, or the edges.",
        convert=check_bins,
    )
    bin_count: int = bin_count_setting()
    bins_closed: Closed = bins_closed_setting()

    def needs(self, schema: Schema) -> frozenset[str]:
        """Sums of products for a normal density, counts of whole rows for a table, or, with bins, a tally of rows."""
        return frozenset({"rows"}) if self._has_bins(schema) else needs_of(density_kind(schema, self.density), schema)

    def _has_bins(self, schema: Schema) -> bool:
        return self.density == "table" and any(c.kind in ("number", "date") for c in schema.attributes)

    def learn(self, summary: Summary) -> Normals | Joint:
        """Derive the model. Changes nothing; other settings can be tried on the same summary."""
        summary = learnable(summary)
        kind = density_kind(summary.schema, self.density)
        self._check_bins(summary.schema)
        if not self._has_bins(summary.schema):
            refuse_others("FullBayes", kind, summary.schema)
        prior = prior_quotients(summary, self.prior, self.prior_pseudo_count)
        about: dict[str, Any] = {"learner": self, "summary": summary, "prior": prior, "log_prior": log_of(prior)}
        if kind == "normal":
            settings = CovarianceSettings(self.variance, self.variance_floor, self.shrinkage)
            found = normal(scatter(summary), summary.classes, settings, pooled=False)
            return Normals(**about, normal=found, notes=found.notes)
        how = CellSettings(self.pseudo_count, self.unseen == "reserve")
        if self._has_bins(summary.schema):
            cells, notes = binned_joint_table(summary, how, CutSettings(self._edges, self.bins_closed))
        else:
            cells, notes = table(summary, how)
        return Joint(**about, table=cells, notes=tuple(notes), refuse_unseen=self.unseen == "error")

    def _edges(self, name: str, tally: ValueTally) -> NDArray[np.float64]:
        return edges_of(tally, rule_for(self.bins, name), self.bin_count, self.bins_closed)

    def _check_bins(self, schema: Schema) -> None:
        """Refuse bins of columns that are no numbers, or where numbers are not cut."""
        said = [name for name in self.bins if name != "*"] if isinstance(self.bins, Mapping) else []
        for name in said:
            column = schema[name]
            if column.role != "attribute" or column.kind not in ("number", "date"):
                raise SettingError(f"There are bins for {shown(name)}, which is not a numeric attribute.")
        if said and not self._has_bins(schema):
            raise SettingError(f"There are bins for {shown(said[0])}, but numbers are not cut. Say density='table'.")


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
    cut = ", say density='table', which cuts numbers into bins" if who == "FullBayes" else ""
    if wrong:
        many = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise SettingError(
            f"{who} takes {takes} only, and {shown(wrong[0])}{many} would not fit. Leave columns out "
            f"(--type COLUMN=ignore){cut}, or use a learner for mixed columns: NaiveBayes, TreeAugmented, "
            "OneDependence, LeastSquares, Logistic or Neighbors."
        )
