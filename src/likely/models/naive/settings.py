"""The settings of naive Bayes, declared: options of the command line are made of them. Knows no data and no numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from likely.errors import SettingError
from likely.models.knowledge import Knowledge, check_knowledge
from likely.models.settings import (
    Bandwidth,
    Bins,
    Blocks,
    Closed,
    Kinds,
    Prior,
    Settings,
    Shrinkage,
    Variance,
    bin_count_setting,
    bins_closed_setting,
    check_bandwidth,
    check_bins,
    check_blocks,
    check_kinds,
    check_level_weights,
    check_weights,
    prior_pseudo_count_setting,
    prior_setting,
    setting,
    shrinkage_setting,
    unseen_setting,
    variance_setting,
)
from likely.models.text.settings import Said, check_text, check_texts


@dataclass(frozen=True)
class NaiveBayesSettings(Settings):
    """What `NaiveBayes` may be told."""

    pseudo_count: float = setting(
        1.0,
        "Added to the count of every level in every class: 0 is maximum likelihood, 1 is Laplace's rule.",
        at_least=0,
    )
    m_estimate: float | None = setting(
        None,
        "Weight in rows of the prior share of each level, (n + m*p) / (N + m); replaces the pseudo-count.",
        at_least=0,
        optional=True,
    )
    level_weights: Mapping[str, Mapping[str, float]] | None = setting(
        None,
        "For the m-estimate: for each attribute the prior share p of each level; equal shares where none are given.",
        optional=True,
        convert=check_level_weights,
    )
    prior: Prior = prior_setting()
    prior_pseudo_count: float = prior_pseudo_count_setting()
    variance: Variance = variance_setting()
    variance_floor: float = setting(
        1e-3, "Smallest variance of a class, as a share of the attribute's variance over all classes.", at_least=0
    )
    missing: Literal["skip", "level"] = setting(
        "skip", "Leave missing cells out, or treat being missing as evidence.", choices=("skip", "level")
    )
    unseen: Literal["skip", "reserve", "error"] = unseen_setting("left out", "given the probability of one more level")
    numbers: Kinds = setting(
        "gaussian",
        "The density of a number: gaussian, kernel or binned; for all columns, or by column, where * stands for those "
        "that are not named.",
        convert=check_kinds,
    )
    bandwidth: Bandwidth = setting(
        "silverman",
        "Width of kernels: silverman, scott, likelihood, or a number of standard deviations; by column one of these "
        "rules, or the width in units of the column.",
        convert=check_bandwidth,
    )
    bins: Bins = setting(
        "mdl",
        "Where binned numbers are cut: mdl, width or frequency; or by column one of these, or the edges.",
        convert=check_bins,
    )
    bin_count: int = bin_count_setting()
    bins_closed: Closed = bins_closed_setting()
    blocks: Blocks = setting(
        (),
        "Attributes that are modelled together given the class: levels and binned numbers by a joint "
        "table, other numbers by a normal density.",
        convert=check_blocks,
    )
    shrinkage: Shrinkage = shrinkage_setting("Of blocks of numbers: every")
    text: Said = setting(
        "auto",
        "The model of words: settings are chosen on held-out rows, or given as Text(…).",
        convert=check_text,
    )
    text_by_column: Mapping[str, Said] = setting(
        {}, "The same for single columns, of which `text` then does not speak.", convert=check_texts
    )
    knowledge: Sequence[Knowledge] = setting(
        (),
        "What is known before any row, and how many rows that is worth: [Knowledge('fever', given='flu', …), …].",
        convert=check_knowledge,
    )
    attribute_weights: Mapping[str, float] | None = setting(
        None,
        "What an attribute's evidence is multiplied by; 1 where none is given, 0 leaves it out.",
        optional=True,
        convert=check_weights,
    )
    temperature: float | Literal["auto"] = setting(
        1.0,
        "All evidence, including the prior, is multiplied by this: below 1 where attributes are redundant; auto takes "
        "the value with the best log loss on held-out rows.",
        above=0,
        choices=("auto",),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.level_weights is not None and self.m_estimate is None:
            raise SettingError("level_weights need an m_estimate: say how many rows they are worth.")
