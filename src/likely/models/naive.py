"""Naive Bayes: given the class, each attribute is taken to be independent of the others. Settings, and how to learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Literal

from likely.errors import SettingError, shown
from likely.models import numeric
from likely.models.bins import Closed
from likely.models.categorical import LevelSettings, categorical
from likely.models.gaussian import NormalSettings, Variance
from likely.models.kernel import Bandwidth
from likely.models.model import learnable
from likely.models.numeric import Bins, Kinds, NumberSettings, number_factor
from likely.models.prior import Prior, prior_quotients
from likely.models.product import Factor, Product
from likely.models.quotient import log_of
from likely.models.ranges import check_choice, checked
from likely.sums.counts import Counts
from likely.sums.summary import Summary
from likely.table.labels import label
from likely.table.schema import Schema


@dataclass(frozen=True)
class NaiveBayes:
    """P(class | row) is proportional to P(class) times the product of P(cell | class).

    >>> NaiveBayes(pseudo_count=0.5).variance
    'unbiased'
    """

    pseudo_count: float = 1.0
    """Added to the count of every level in every class: 0 is maximum likelihood, 1 is Laplace's rule."""
    m_estimate: float | None = None
    """Weight in rows of the prior share of each level, (n + m*p) / (N + m); takes the place of the pseudo-count."""
    level_weights: Mapping[str, Mapping[str, float]] | None = None
    """For the m-estimate: for each attribute the prior share p of each level; equal shares where none are given."""
    prior: Prior = "observed"
    """'observed', 'uniform', or a probability for each class."""
    prior_pseudo_count: float = 0.0
    """Added to the count of every class when the prior is observed."""
    variance: Variance = "unbiased"
    """'unbiased' divides by n-1, 'ml' by n."""
    variance_floor: float = 1e-3
    """No class's variance is taken to be less than this share of the attribute's own variance over all classes."""
    missing: Literal["skip", "level"] = "skip"
    """'skip' leaves a missing cell's factor out; 'level' takes being missing as evidence."""
    unseen: Literal["skip", "reserve", "error"] = "skip"
    """A level that training did not have: left out, given the mass of one more level, or refused."""
    numbers: Kinds = "gaussian"
    """What a number's density is taken to be: 'gaussian', 'kernel' or 'binned'; or, by column, one of these ('*' stands
    for the columns that are not named, which are gaussian if nothing is said of them)."""
    bandwidth: Bandwidth = "silverman"
    """Of kernels: 'silverman', 'scott', 'likelihood', or a number of standard deviations."""
    bins: Bins = "mdl"
    """Where to cut: 'mdl', 'width', 'frequency'; or, by column, one of these or the edges ('*' as in
    `numbers`; MDL if nothing is said)."""
    bin_count: int = 10
    """How many bins of equal width or frequency there are at most."""
    bins_closed: Closed = "left"
    """'left': a bin holds the edge below it, [a, b); 'right': the one above it, (a, b]."""

    def __post_init__(self) -> None:
        checked(self, "pseudo_count", "prior_pseudo_count", "variance_floor")
        if self.m_estimate is not None:
            checked(self, "m_estimate")
        for name, allowed in (
            ("variance", ("unbiased", "ml")),
            ("missing", ("skip", "level")),
            ("unseen", ("skip", "reserve", "error")),
            ("bins_closed", ("left", "right")),
        ):
            check_choice(name, getattr(self, name), allowed)
        if self.level_weights is not None and self.m_estimate is None:
            raise SettingError("level_weights need an m_estimate: say how many rows they are worth.")
        # Copies, so that nobody changes the settings from outside; names may be given as numbers or truth values.
        if isinstance(self.prior, Mapping):
            self._set("prior", _named(self.prior, "the prior"))
        if self.level_weights is not None:
            of = "the level weights of "
            self._set("level_weights", {a: _named(w, of + shown(a)) for a, w in self.level_weights.items()})

        self._set("numbers", numeric.checked_kinds(self.numbers))
        self._set("bandwidth", numeric.checked_bandwidth(self.bandwidth))
        self._set("bins", numeric.checked_bins(self.bins))
        self._set("bin_count", numeric.checked_count(self.bin_count))

    def _set(self, name: str, value: object) -> None:
        """Only while the settings are being made."""
        object.__setattr__(self, name, value)

    def needs(self, schema: Schema) -> frozenset[str]:
        """Counts and sums of the first order are enough."""
        return frozenset()

    def learn(self, summary: Summary) -> Product:
        """Derive the model. Changes nothing; other settings can be tried on the same summary."""
        summary = learnable(summary)
        for name in self.level_weights or {}:
            if summary.schema[name].kind != "nominal":
                raise SettingError(f"There are level weights for {shown(name)}, which is not a nominal attribute.")
        numbers = self.number_settings()
        numbers.check(summary.schema)
        factors: list[Factor] = []
        notes: list[str] = []
        for column in summary.schema.attributes:
            statistic = summary.columns[column.name]
            if isinstance(statistic, Counts):
                factors.append(categorical(column, statistic, self.level_settings(column.name)))
                continue
            factor, told = number_factor(column.name, statistic, numbers, summary.classes)
            notes += told
            if factor is not None:
                factors.append(factor)
        prior = prior_quotients(summary, self.prior, self.prior_pseudo_count)
        return Product(
            learner=self,
            summary=summary,
            prior=prior,
            log_prior=log_of(prior),
            factors=tuple(factors),
            notes=tuple(notes),
            refuse_unseen=self.unseen == "error",
        )

    def level_settings(self, name: str) -> LevelSettings:
        """How the counts of one attribute become probabilities."""
        shares = (self.level_weights or {}).get(name)
        return LevelSettings(
            self.pseudo_count, self.m_estimate, shares, self.missing == "level", self.unseen == "reserve"
        )

    def normal_settings(self) -> NormalSettings:
        """How the sums of a numeric attribute become densities."""
        # Known or missing are two levels: the m-estimate gives each half of its weight.
        extra = self.pseudo_count if self.m_estimate is None else self.m_estimate / 2
        return NormalSettings(self.variance, self.variance_floor, self.missing == "level", extra)

    def number_settings(self) -> NumberSettings:
        """How numeric attributes become densities, or bins with probabilities."""
        return NumberSettings(
            self.numbers,
            self.bandwidth,
            self.bins,
            self.bin_count,
            self.bins_closed,
            self.normal_settings(),
            self.level_settings(""),
        )


def _named(values: Mapping[str, float], where: str) -> dict[str, float]:
    """Numbers by the name of a class or level, however the name was given."""
    for name, value in values.items():
        if not isinstance(value, Real):
            raise SettingError(f"In {where}, {shown(name)} has the value {shown(value)}. It must be a number.")
    return {str(label(name)): float(value) for name, value in values.items()}
