"""Naive Bayes: given the class, attributes (or blocks of them) are taken to be independent. Settings; how to learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from likely.errors import SettingError, shown
from likely.models.factors import numeric
from likely.models.factors.bins import Closed
from likely.models.factors.categorical import LevelSettings, categorical, domain
from likely.models.factors.gaussian import NormalSettings, Variance
from likely.models.factors.joint import CellSettings
from likely.models.factors.kernel import Bandwidth
from likely.models.factors.normal import CovarianceSettings, Shrinkage, check_covariance_settings, check_shrinkage
from likely.models.factors.numeric import Bins, Kinds, NumberSettings, number_factor
from likely.models.knowledge.knowledge import Knowledge, checked_knowledge
from likely.models.knowledge.known import Shares, check_known, known_classes, known_levels, known_normals, known_prior
from likely.models.model import Model, Search, learnable
from likely.models.naive.blocks import Blocks, BlockSettings, arranged, block_factor, checked_blocks, wishes
from likely.models.naive.prior_vs_rows import known_notes
from likely.models.naive.product import Factor, Product
from likely.models.prior import Prior, named, named_prior, prior_quotients
from likely.models.quotient import log_of
from likely.models.ranges import check_choice, checked, checked_temperature, checked_weights
from likely.models.text.factor import text_factor, told_of
from likely.models.text.settings import Said, Text, checked_text, checked_texts, text_said
from likely.sums import state
from likely.sums.columns.counts import Counts
from likely.sums.summary import Summary
from likely.sums.words.words import Words
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
    blocks: Blocks = ()
    """Attributes that are modelled together given the class: (("outlook", "windy"), …). Levels have a joint table,
    numbers a normal density. The others stand alone."""
    shrinkage: Shrinkage = 0.0
    """Of blocks of numbers: every correlation is multiplied by 1 - shrinkage; 'auto' takes more where rows are few."""

    text: Said = "auto"
    """How the words of text columns speak: Text(…); a model ('multinomial', 'bernoulli', 'complement', 'contrast') of
    which the rest is chosen; or 'auto'. What is not said is chosen by the log score of rows held out."""
    text_by_column: Mapping[str, Said] = field(default_factory=dict)
    """The same for single columns, which `text` then does not speak of."""

    knowledge: tuple[Knowledge, ...] = ()
    """What is known before any row, and how many rows that is worth: [Knowledge("fever", given="flu", …), …]."""

    attribute_weights: Mapping[str, float] | None = None
    """What an attribute's evidence is multiplied by; 1 where none is given, 0 leaves it out."""

    temperature: float | Literal["auto"] = 1.0
    """What all evidence is multiplied by, the prior too: below 1 for attributes that repeat each other. 'auto' takes
    what makes the log score of held-out rows best."""

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
        self._set("prior", named_prior(self.prior))
        if self.level_weights is not None:
            of = "the level weights of "
            self._set("level_weights", {a: named(w, of + shown(a)) for a, w in self.level_weights.items()})

        if self.attribute_weights is not None:
            self._set("attribute_weights", checked_weights(self.attribute_weights))
        self._set("temperature", checked_temperature(self.temperature))
        self._set("numbers", numeric.checked_kinds(self.numbers))
        self._set("bandwidth", numeric.checked_bandwidth(self.bandwidth))
        self._set("bins", numeric.checked_bins(self.bins))
        self._set("bin_count", numeric.checked_count(self.bin_count))
        self._set("blocks", checked_blocks(self.blocks))
        self._set("knowledge", checked_knowledge(self.knowledge))
        self._set("text", checked_text(self.text))
        self._set("text_by_column", checked_texts(self.text_by_column))
        check_shrinkage(self.shrinkage)
        self._set("shrinkage", self.shrinkage if self.shrinkage == "auto" else float(self.shrinkage))

    def _set(self, name: str, value: object) -> None:
        """Only while the settings are being made."""
        object.__setattr__(self, name, value)

    def needs(self, schema: Schema) -> frozenset[str]:
        """Counts and sums of the first order are enough, but for blocks: what each is made of, of its columns alone."""
        return wishes(self.blocks, schema)

    def learn(self, summary: Summary) -> Model | Search:
        """Derive the model, a `Product`. Changes nothing; other settings can be tried on the same summary.

        Where settings of text are to be chosen, that needs a look at the rows. With attribute weights it is a product
        of powers, `Weighed`.
        """
        summary = learnable(summary, known_classes(self.knowledge, summary.schema), text=True)
        self.check(summary.schema)
        if self.temperature == "auto":
            from likely.models.naive.temperature_search import begun as heated

            return heated(self, summary)
        if not any(isinstance(held, Words) for held in summary.columns.values()):
            return self.model(summary)
        from likely.models.text.search import begun

        return begun(self, summary) or self.model(summary)

    def restored(self, summary: Summary, found: dict[str, Any]) -> Model:
        """The model with the settings of text and the temperature that a file keeps."""
        summary = learnable(summary, known_classes(self.knowledge, summary.schema), text=True)
        chosen = {name: replace(state.built(Text, said)) for name, said in found.get("text", {}).items()}
        return self.model(summary, chosen, found.get("temperature"))

    def model(
        self, summary: Summary, chosen: Mapping[str, Text] | None = None, temperature: float | None = None
    ) -> Model:
        """`product`, its factors raised to the attribute weights and the temperature where there are any."""
        heat = self.temperature if temperature is None else temperature
        if self.attribute_weights is None and heat in (1.0, "auto") and temperature is None:
            return self.product(summary, chosen)
        from likely.models.naive.weighed import weighed

        plain = replace(self, attribute_weights=None, temperature=1.0).product(summary, chosen)
        return weighed(plain, self.attribute_weights or {}, self, 1.0 if heat == "auto" else float(heat))

    def text_settings(self, name: str) -> Text:
        """What was said of a text column."""
        return text_said(self.text_by_column.get(name, self.text))

    def check(self, schema: Schema) -> None:
        """Refuse what is said of columns that are not of that kind."""
        for name in self.text_by_column:
            if schema[name].kind != "text":
                raise SettingError(f"There are settings of text for {shown(name)}, which is not a text attribute.")
        for name in self.attribute_weights or {}:
            if schema[name].role != "attribute":
                raise SettingError(f"There is an attribute weight for {shown(name)}, which is not an attribute.")
        for name in self.level_weights or {}:
            if schema[name].kind != "nominal":
                raise SettingError(f"There are level weights for {shown(name)}, which is not a nominal attribute.")
        numbers = self.number_settings()
        numbers.check(schema)
        check_known(self.knowledge, schema, numbers.kind)
        self.arranged_blocks(schema)

    def product(self, summary: Summary, chosen: Mapping[str, Text] | None = None) -> Product:
        """The model of a summary that is fit to learn from, with the settings of text that were chosen."""
        chosen, numbers = chosen or {}, self.number_settings()
        self.check(summary.schema)
        factors: list[Factor] = []
        notes: list[str] = []
        blocks = self.arranged_blocks(summary.schema)
        for column in summary.schema.attributes:
            statistic = summary.columns[column.name]
            if column.name in blocks:
                block = blocks[column.name]
                if block[0] == column.name:  # it stands where its first column stood
                    together, told = block_factor(block, summary, self.block_settings())
                    notes += told
                    factors += [] if together is None else [together]
                continue
            if isinstance(statistic, Counts):
                factors.append(categorical(column, statistic, self.level_settings(column.name, summary)))
                continue
            if isinstance(statistic, Words):
                said = self.text_settings(column.name)
                how = chosen[column.name] if column.name in chosen else said.settled()
                words = text_factor(column.name, statistic, how, len(summary.classes))
                notes += told_of(column.name, said, how, words, column.name in chosen)
                factors += [] if words is None else [words]
                continue
            known = known_normals(self.knowledge, column.name, summary.classes, summary.schema)
            factor, told = number_factor(column.name, statistic, numbers, summary.classes, known)
            notes += told
            if factor is not None:
                factors.append(factor)
        known_shares = known_prior(self.knowledge, summary.schema)
        prior = prior_quotients(summary, self.prior, self.prior_pseudo_count, known_shares)
        if self.knowledge:
            notes = [*known_notes(summary, factors, prior), *notes]
        return Product(
            learner=self,
            summary=summary,
            prior=prior,
            log_prior=log_of(prior),
            factors=tuple(factors),
            notes=tuple(notes),
            refuse_unseen=self.unseen == "error",
            chosen={name: how for name, how in chosen.items() if name in summary.columns},
        )

    def arranged_blocks(self, schema: Schema) -> dict[str, tuple[str, ...]]:
        """The block of each column that shares one; a block that does not fit the columns or settings is refused."""
        blocks, numbers = arranged(self.blocks, schema), self.number_settings()
        for name in (name for block in blocks for name in block):
            if name in (self.level_weights or {}):
                raise SettingError(f"Level weights are of an attribute by itself, and {shown(name)} is in a block.")
            if any(name == known.attribute for known in self.knowledge):
                raise SettingError(f"Knowledge is of an attribute by itself, and {shown(name)} is in a block.")
            if schema[name].kind != "nominal":
                if numbers.kind(name) != "gaussian":
                    raise SettingError(
                        f"Numbers in a block have a normal density together, but {shown(name)} is to be "
                        f"{numbers.kind(name)}. Say gaussian of it (numbers), or take it out of the block."
                    )
                check_covariance_settings(self.variance, self.variance_floor, self.shrinkage)
        return {name: block for block in blocks for name in block}

    def block_settings(self) -> BlockSettings:
        """How the sums of a block become its factor."""
        return BlockSettings(
            CellSettings(self.pseudo_count, self.unseen == "reserve", self.m_estimate, self.missing == "level"),
            CovarianceSettings(self.variance, self.variance_floor, self.shrinkage),
        )

    def level_settings(self, name: str, summary: Summary | None = None) -> LevelSettings:
        """How the counts of one attribute become probabilities; with a summary, with what is known of its levels."""
        shares = (self.level_weights or {}).get(name)
        known: tuple[Shares | None, ...] = ()
        if summary is not None and self.knowledge:
            column, counts = summary.schema[name], summary.columns[name]
            seen = domain(column, counts) if isinstance(counts, Counts) else []
            known = known_levels(self.knowledge, column, seen, summary.classes, summary.schema)
        return LevelSettings(
            self.pseudo_count, self.m_estimate, shares, self.missing == "level", self.unseen == "reserve", known
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
