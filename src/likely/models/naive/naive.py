"""Naive Bayes: given the class, attributes (or blocks of them) are taken to be independent. Settings; how to learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from likely.errors import SettingError, shown
from likely.models.contracts import Factor, Learning, Model, Trait
from likely.models.factors.categorical import LevelSettings, categorical, domain
from likely.models.factors.joint import CellSettings, CutSettings
from likely.models.factors.normal import CovarianceSettings, NormalSettings
from likely.models.factors.numeric import NumberSettings, number_factor
from likely.models.heldout import weighing
from likely.models.learning import looks_at_rows
from likely.models.model import learnable
from likely.models.naive.blocks import BlockSettings, arrange_blocks, block_factor, block_requests
from likely.models.naive.prior_vs_rows import known_notes
from likely.models.naive.product import product_of, weight_product
from likely.models.naive.settings import NaiveBayesSettings
from likely.models.prior import (
    Shares,
    check_known,
    known_classes,
    known_levels,
    known_normals,
    known_prior,
    prior_quotients,
)
from likely.models.shapes import FARTHEST
from likely.models.text.factor import text_factor, text_notes
from likely.models.text.settings import Text, as_text
from likely.sums import state
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import prepare_moments
from likely.sums.contracts import State
from likely.sums.state import read_number, require
from likely.sums.summary import Summary
from likely.sums.words.counting import Words
from likely.table.schema import Schema


@dataclass(frozen=True)
class NaiveBayes(NaiveBayesSettings):
    """P(class | row) is proportional to P(class) times the product of P(cell | class).

    >>> NaiveBayes(pseudo_count=0.5).variance
    'unbiased'
    """

    traits: ClassVar[frozenset[Trait]] = frozenset({"independent", "reads text"})

    def needs(self, schema: Schema) -> frozenset[str]:
        """Counts and sums of the first order are enough, but for blocks: what each is made of, of its columns alone."""
        return block_requests(self.blocks, schema, self._is_binned)

    def _is_binned(self, name: str) -> bool:
        return self.number_settings().kind(name) == "binned"

    @looks_at_rows
    def learn(self, summary: Summary) -> Learning[Model]:
        """Derive the model. Changes nothing; other settings can be tried on the same summary.

        Where settings of text are to be chosen, that needs a look at the rows.
        """
        summary = learnable(summary, known_classes(self.knowledge, summary.schema), text=True)
        self.check(summary.schema)
        if self.temperature == "auto":
            from likely.models.heldout.search import learn_temperature

            return (yield from learn_temperature(self, summary))
        if not any(isinstance(held, Words) for held in summary.columns.values()):
            return self.model(summary)
        from likely.models.text.search import choose_texts

        return self.model(summary, (yield from choose_texts(self, summary)))

    def restore(self, summary: Summary, found: State) -> Model:
        """The model with the settings of text and the temperature that a file keeps."""
        summary = learnable(summary, known_classes(self.knowledge, summary.schema), text=True)
        require(found.keys() <= {"text", "temperature"}, "naive Bayes searches for these alone")
        chosen = {name: replace(state.built(Text, said)) for name, said in found.get("text", {}).items()}
        for name, text in chosen.items():
            require(isinstance(summary.columns.get(name), Words), "settings of text are those of a text")
            require(not text.has_open, "settings of text are chosen")
            require(text.scale == "none" or float(text.scale) <= FARTHEST, "a scale is within what sums can hold")
        heat = found.get("temperature")
        return self.model(
            summary, chosen, None if heat is None else read_number(heat, 0.0, weighing.MOST, "a temperature")
        )

    def model(
        self, summary: Summary, chosen: Mapping[str, Text] | None = None, temperature: float | None = None
    ) -> Model:
        """`product`, its factors raised to the attribute weights and the temperature where there are any."""
        heat = self.temperature if temperature is None else temperature
        if self.attribute_weights is None and heat in (1.0, "auto") and temperature is None:
            return self.product(summary, chosen)
        plain = replace(self, attribute_weights=None, temperature=1.0).product(summary, chosen)
        return weight_product(plain, self.attribute_weights or {}, self, 1.0 if heat == "auto" else float(heat))

    def untempered(self) -> NaiveBayes:
        """The same settings, with evidence as it is."""
        return replace(self, temperature=1.0)

    def tempered(self, model: Model, temperature: float, note: str) -> Model:
        """What `untempered` has learned, its evidence multiplied."""
        product = model.details.get("product", model)
        return weight_product(product, self.attribute_weights or {}, self, temperature, note)

    def text_settings(self, name: str) -> Text:
        """What was said of a text column."""
        return as_text(self.text_by_column.get(name, self.text))

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
        self.blocks_by_column(schema)

    def product(self, summary: Summary, chosen: Mapping[str, Text] | None = None) -> Model:
        """The model of a summary that is fit to learn from, with the settings of text that were chosen."""
        chosen, numbers = chosen or {}, self.number_settings()
        self.check(summary.schema)
        factors: list[Factor] = []
        notes: list[str] = []
        blocks = self.blocks_by_column(summary.schema)
        if numbers.kinds != "binned":
            prepare_moments(summary.columns.values())
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
                how = chosen[column.name] if column.name in chosen else said.with_defaults()
                words = text_factor(column.name, statistic, how, len(summary.classes))
                notes += text_notes(column.name, said, how, words, column.name in chosen)
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
        return product_of(
            self,
            summary,
            prior,
            tuple(factors),
            notes=tuple(notes),
            refuse_unseen=self.unseen == "error",
            chosen={name: how for name, how in chosen.items() if name in summary.columns},
        )

    def blocks_by_column(self, schema: Schema) -> dict[str, tuple[str, ...]]:
        """The block of each column that shares one; a block that does not fit the columns or settings is refused."""
        blocks, numbers = arrange_blocks(self.blocks, schema, self._is_binned), self.number_settings()
        for name in (name for block in blocks for name in block):
            if name in (self.level_weights or {}):
                raise SettingError(f"Level weights are of an attribute by itself, and {shown(name)} is in a block.")
            if any(name == known.attribute for known in self.knowledge):
                raise SettingError(f"Knowledge is of an attribute by itself, and {shown(name)} is in a block.")
            if schema[name].kind != "nominal":
                if numbers.kind(name) == "kernel":
                    raise SettingError(
                        f"Numbers in a block have a normal density together or are cut into bins, but {shown(name)} is "
                        "to be kernel. Say gaussian or binned of it (numbers), or take it out of the block."
                    )
                if numbers.kind(name) == "gaussian" and self.variance_floor > 1:
                    raise SettingError(
                        f"variance_floor is {shown(self.variance_floor)}. It must be a number between 0 and 1."
                    )
        return {name: block for block in blocks for name in block}

    def block_settings(self) -> BlockSettings:
        """How the sums of a block become its factor."""
        return BlockSettings(
            CellSettings(self.pseudo_count, self.unseen == "reserve", self.m_estimate, self.missing == "level"),
            CovarianceSettings(self.variance, self.variance_floor, self.shrinkage),
            CutSettings(self.number_settings().edges, self.bins_closed),
            self._is_binned,
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


def plain_naive_bayes(model: Model) -> Model:
    """Naive Bayes from the sums of another model, which does not say how rows come about."""
    return NaiveBayes(text="multinomial").model(model.summary)
