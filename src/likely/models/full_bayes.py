"""Full Bayes: a normal density of all numbers, or a joint table of all levels, for each class; linear discriminant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likely.errors import SettingError, shown
from likely.models.contracts import Learner, Model, setting_of
from likely.models.factors.bins import ValueTally, edges_of, rule_for
from likely.models.factors.joint import CellSettings, CutSettings, binned_joint_table, table
from likely.models.factors.normal import CovarianceSettings, exact_moments, normal, scatter
from likely.models.fractions import Quotient, invert, log_of, readable
from likely.models.model import learnable
from likely.models.posterior import Posterior
from likely.models.prior import DrawnRows, chance, number_cells, prior_quotients
from likely.models.settings import (
    Bins,
    Closed,
    Prior,
    Settings,
    Shrinkage,
    Variance,
    bin_count_setting,
    bins_closed_setting,
    check_bins,
    prior_pseudo_count_setting,
    prior_setting,
    setting,
    shrinkage_setting,
    unseen_setting,
    variance_setting,
)
from likely.models.shapes import Exhibit, JointTable, MultivariateNormal, Plane, Sum
from likely.models.working.records import Working
from likely.models.working.working import product_working
from likely.sums.summary import Summary
from likely.table.batch import Batch
from likely.table.schema import Column, Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The model of all attributes together: a normal density or a joint table for each class. Knows no settings.

WIDE = 12
"""More attributes than this and a covariance is no table for people."""
SHOWN, MOST_CELLS = 20, 60
"""So many cells are shown, and by `show --all`."""
LEAST = 1e-100
"""A smaller deviation has no variance that a double holds well, so no inverse is shown."""


def joint_model(
    learner: Learner,
    summary: Summary,
    prior: tuple[Quotient, ...],
    joint: MultivariateNormal | JointTable,
    notes: Sequence[str],
    refuse_unseen: bool = False,
) -> Model:
    """log P(class) + log P(row | class), by one term of all attributes; missing cells are summed or integrated out."""
    log_prior = log_of(prior)
    # Where classes share one covariance, what tells them apart is a sum over attributes.
    pooled = isinstance(joint, MultivariateNormal) and joint.pooled
    return Model(
        learner=learner,
        summary=summary,
        score=Sum(log_prior, (joint,) if joint.names else (), whole=not pooled),
        prior=prior,
        log_prior=log_prior,
        generative=True,
        notes=tuple(notes),
        refuse_unseen=refuse_unseen,
        details={"joint": joint},
        show=_show_joint,
        show_cells=_show_whole,
        draw=_draw_joint,
        work=_work_joint,
        divide=_divide_normals if pooled else None,
    )


def _work_joint(model: Model, batch: Batch, row: Mapping[str, object], posterior: Posterior) -> Working:
    """P(class) times the density at the point, or P(cells | class) of the table, and what that is made of."""
    joint = with_exact_moments(model)
    terms = [model.log_prior]
    if joint.names:
        logs = np.zeros((1, len(model.classes)))
        joint.add(batch, logs)
        terms.append(logs[0])
    factors = (joint,)[: len(terms) - 1]
    powers = [1.0] * len(terms)
    return product_working(model.classes, model.prior, factors, powers, np.stack(terms), batch, row, posterior)  # type: ignore[arg-type]


def _divide_normals(model: Model, first: str, second: str) -> Plane:
    """Where both classes are as probable, all numbers being known; of one covariance for all classes."""
    joint: MultivariateNormal = model.details["joint"]
    assert model.log_prior is not None
    a, b = model.classes.index(first), model.classes.index(second)
    mean, deviation = joint.mean, joint.deviation[0]
    apart, middle = (mean[a] - mean[b]) / deviation, (mean[b] + mean[a]) / 2
    weights = np.linalg.solve(joint.correlation[0], apart) / deviation
    named = tuple((name, "", float(w)) for name, w in zip(joint.names, weights, strict=True))
    return Plane(first, second, float(model.log_prior[a] - model.log_prior[b] - weights @ middle), named)


def _show_joint(model: Model) -> tuple[Exhibit, ...]:
    """Means and covariances, and the hyperplane between two classes; or the cells that weigh most."""
    joint = with_exact_moments(model)
    if isinstance(joint, JointTable):
        return cells_that_weigh(joint, model.classes, "The cells")
    tables = means_and_covariances(joint, model.classes, joint.pooled)
    if joint.pooled and joint.names and len(model.classes) == 2:
        first, second = model.classes
        plane = _divide_normals(model, second, first)
        rows = (("constant", plane.constant), *((name, weight) for name, _, weight in plane.weights))
        title = f"Hyperplane: {second} where constant + sum of weight * value > 0, else {first}"
        tables.append(Exhibit(title, ("attribute", "weight"), rows))
    return tuple(tables)


def _show_whole(model: Model) -> tuple[Exhibit, ...]:
    """Means, covariances, their inverses and determinants; or the cells, those without rows as well where few."""
    joint = with_exact_moments(model)
    if isinstance(joint, JointTable):
        return cells_that_weigh(joint, model.classes, "The cells", MOST_CELLS)
    return tuple(means_and_covariances(joint, model.classes, joint.pooled, inverse=True))


def with_exact_moments(model: Model) -> JointTable | MultivariateNormal:
    """What the model believes; a density of few numbers with its means and covariances as fractions."""
    joint: JointTable | MultivariateNormal = model.details["joint"]
    if isinstance(joint, JointTable) or not 0 < len(joint.names) <= WIDE:
        return joint
    return replace(joint, exact=exact_moments(model.summary, joint, setting_of(model.learner, "variance")))


def _draw_joint(model: Model, rows: int, seed: int) -> DrawnRows:
    """A class by its prior, then its cells together."""
    joint = model.details["joint"]
    rng, chances = chance(rows, seed), np.array([float(p) for p in model.prior])
    group = rng.choice(len(chances), int(rows), p=chances / chances.sum()).astype(np.intp)
    cells = joint.draw(group, rng)
    columns = cells if isinstance(cells, dict) else dict(zip(joint.names, cells.T, strict=True))
    out: dict[str, list[Any]] = {}
    for column in model.schema.columns:
        if column.role == "target":
            out[column.name] = np.array(model.classes, object)[group].tolist()
        elif column.name in columns:
            drawn = columns[column.name]
            out[column.name] = drawn if isinstance(drawn, list) else number_cells(drawn, column.kind)
    return out


def means_and_covariances(
    normal: MultivariateNormal, classes: tuple[str, ...], pooled: bool = False, inverse: bool = False
) -> list[Exhibit]:
    """The parameters of a normal density for each class, as tables for people; with `inverse` also what follows."""
    names, shown = normal.names, [c or "(all)" for c in classes]
    exact = normal.exact or (None,) * len(shown)
    moments = [own or near for own, *near in zip(exact, normal.mean.tolist(), normal.covariance.tolist(), strict=True)]
    out = [Exhibit("Means", ("class", *names), _rows(shown, [mean for mean, _ in moments]))] if names else []
    if not 0 < len(names) <= WIDE:
        return out
    inverses, determinants, header = list[Exhibit](), list[tuple[str, Quotient | float]](), ("attribute", *names)
    for label, (_, covariance) in zip(shown[: 1 if pooled else None], moments, strict=False):
        of = "all classes" if pooled else label
        out.append(Exhibit(f"Covariance of {of}", header, _rows(names, covariance)))
        if inverse and np.isfinite(normal.covariance).all() and normal.deviation.min() > LEAST:
            rows, determinant = invert([[Fraction(v) for v in row] for row in covariance])
            inverses.append(Exhibit(f"Inverse of the covariance of {of}", header, _rows(names, rows)))
            determinants.append((of, readable(determinant)))
    last = [Exhibit("Determinants of the covariances", ("class", "determinant"), tuple(determinants))]
    return [*out, *inverses, *(last if determinants else ())]


def _rows(names: Any, table: Any) -> tuple[tuple[str | float | Quotient, ...], ...]:
    return tuple((name, *map(readable, row)) for name, row in zip(names, table, strict=True))


def cells_that_weigh(table: JointTable, classes: tuple[str, ...], what: str, most: int = SHOWN) -> tuple[Exhibit, ...]:
    """The cells that weigh most, as a table for people; where there are no more than `most`, those without rows too."""
    if not table.names or not len(table.codes):
        return ()
    weight = table.counts.floats()
    whole, totals = table.extra * table.cells, table.totals()
    order, few = np.argsort(-weight.sum(axis=1), kind="stable"), most > SHOWN and table.cells <= most
    places = {tuple(code): k for k, code in enumerate(table.codes.tolist())}
    listed = product(*map(range, table.sizes)) if few else [tuple(table.codes[k].tolist()) for k in order[:most]]
    words = [[*a.levels.names, *["(other)"] * (a.unseen >= 0), "(missing)"] for a in table.axes]
    rows = []
    for code in listed:
        k = places.get(code)
        tops = [Fraction(0)] * len(totals) if k is None else table.counts[k : k + 1].sum(0).fractions()
        chances = [Quotient(n + table.extra, t + whole) for n, t in zip(tops, totals, strict=True)]
        levels = [names[c] for names, c in zip(words, code, strict=True)]
        rows.append((*levels, *map(float, tops), *chances))
    counts = [f"n({c})" if c else "n" for c in classes]
    header = (*table.names, *counts, *(f"P(cell|{c})" if c else "P(cell)" for c in classes))
    title = f"{what} that weigh most, of {len(table.codes):,} with rows and {table.cells:,} in all"
    title = f"{what}: {len(table.codes):,} of {table.cells:,} have rows" if few else title
    return (Exhibit(title, header, tuple(rows)),)


# Full Bayes: given the class, attributes may depend on each other in any way. Settings, and how to learn.


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

    def learn(self, summary: Summary) -> Model:
        """Derive the model. Changes nothing; other settings can be tried on the same summary."""
        summary = learnable(summary)
        kind = density_kind(summary.schema, self.density)
        self._check_bins(summary.schema)
        if not self._has_bins(summary.schema):
            refuse_others("FullBayes", kind, summary.schema)
        prior = prior_quotients(summary, self.prior, self.prior_pseudo_count)
        if kind == "normal":
            settings = CovarianceSettings(self.variance, self.variance_floor, self.shrinkage)
            found = normal(scatter(summary), summary.classes, settings, pooled=False)
            return joint_model(self, summary, prior, found, found.notes)
        how = CellSettings(self.pseudo_count, self.unseen == "reserve")
        if self._has_bins(summary.schema):
            cells, notes = binned_joint_table(summary, how, CutSettings(self._edges, self.bins_closed))
        else:
            cells, notes = table(summary, how)
        return joint_model(self, summary, prior, cells, notes, refuse_unseen=self.unseen == "error")

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


# The linear discriminant: normal classes that differ in their means alone, with one covariance for all.


@dataclass(frozen=True)
class LinearDiscriminant(Settings):
    """P(row | class) is a normal density about the mean of the class, with the covariance within all classes.

    >>> LinearDiscriminant(variance="ml").shrinkage
    0.0
    """

    prior: Prior = prior_setting()
    prior_pseudo_count: float = prior_pseudo_count_setting()
    variance: Variance = variance_setting("n - classes")
    variance_floor: float = setting(
        1e-6,
        "Least variance as a share of the attribute's own, and least eigenvalue of the correlation matrix.",
        at_least=0,
        at_most=1,
    )
    shrinkage: Shrinkage = shrinkage_setting()

    def needs(self, schema: Schema) -> frozenset[str]:
        """Sums of products."""
        return needs_of("normal", schema)

    def learn(self, summary: Summary) -> Model:
        """Derive the model. Changes nothing; other settings can be tried on the same summary."""
        summary = learnable(summary)
        refuse_others("LinearDiscriminant", "normal", summary.schema)
        prior = prior_quotients(summary, self.prior, self.prior_pseudo_count)
        settings = CovarianceSettings(self.variance, self.variance_floor, self.shrinkage)
        found = replace(normal(scatter(summary), summary.classes, settings, pooled=True), pooled=True)
        return joint_model(self, summary, prior, found, found.notes)
