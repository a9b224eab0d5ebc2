"""Values of settings that are more than a number or a word: priors, weights, kinds of numbers, bins, blocks.

Each is checked and copied, so that nobody changes it from outside. Knows names, no data; imports nothing heavy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from numbers import Real
from typing import Any, Literal, get_args

from likely.errors import SettingError, shown
from likely.models.settings import check_choice, setting
from likely.table.labels import label

Prior = Literal["observed", "uniform"] | Mapping[str, float]
Variance = Literal["unbiased", "ml"]
Shrinkage = float | Literal["auto"]
Kind = Literal["gaussian", "kernel", "binned"]
Kinds = Kind | Mapping[str, Kind]
Bandwidth = Literal["silverman", "scott", "likelihood"] | float
Rule = Literal["mdl", "width", "frequency"]
Bins = Rule | Mapping[str, Rule | tuple[float, ...]]
Closed = Literal["left", "right"]
Blocks = tuple[tuple[str, ...], ...]

KINDS: tuple[Kind, ...] = get_args(Kind)
RULES: tuple[Rule, ...] = get_args(Rule)
WIDTHS = ("silverman", "scott", "likelihood")


def check_prior(prior: Any) -> Any:
    """A copy of a given prior, so that nobody changes it from outside; any other is left as it is."""
    return check_shares(prior, "the prior") if isinstance(prior, Mapping) else prior


def check_shares(values: Mapping[Any, Any], where: str) -> dict[str, float]:
    """Numbers by the name of a class or level, however the name was given (a number, a truth value)."""
    for name, value in values.items():
        if not isinstance(value, Real) or isinstance(value, bool):
            raise SettingError(f"In {where}, {shown(name)} has the value {shown(value)}. It must be a number.")
    return {str(label(name)): float(value) for name, value in values.items()}


def check_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights of attributes."""
    for name, value in weights.items():
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < math.inf:
            raise SettingError(
                f"The weight of attribute {shown(name)} is {shown(value)}. It must be a finite number, zero or more."
            )
    return {str(name): float(value) for name, value in weights.items()}


def check_level_weights(weights: Mapping[str, Mapping[Any, Any]]) -> dict[str, dict[str, float]]:
    """For each attribute the share of each level."""
    return {name: check_shares(shares, f"the level weights of {shown(name)}") for name, shares in weights.items()}


def check_kinds(value: object) -> Kinds:
    """`numbers`, copied, so that nobody changes it from outside."""
    if not isinstance(value, Mapping):
        check_choice("numbers", value, KINDS)
        return value  # type: ignore[return-value]
    for name, kind in value.items():
        check_choice(f"numbers of {shown(name)}", kind, KINDS)
    return {str(name): kind for name, kind in value.items()}


def check_bandwidth(value: object) -> Bandwidth:
    """`bandwidth`: a rule, or a number of standard deviations."""
    if isinstance(value, Real) and not isinstance(value, bool):
        if 0 < float(value) < math.inf:
            return float(value)
    elif value in WIDTHS:
        return value  # type: ignore[return-value]
    raise SettingError(
        f"bandwidth is {shown(value)}. It must be one of {', '.join(WIDTHS)}, or a number above zero: "
        "so many standard deviations."
    )


def check_bins(value: object) -> Bins:
    """`bins`, copied: a rule, or a rule or edges for each column."""
    if not isinstance(value, Mapping):
        check_choice("bins", value, RULES)
        return value  # type: ignore[return-value]
    return {str(name): _check_edges(str(name), rule) for name, rule in value.items()}


def _check_edges(name: str, rule: object) -> Rule | tuple[float, ...]:
    if isinstance(rule, str):
        check_choice(f"bins of {shown(name)}", rule, RULES)
        return rule  # type: ignore[return-value]
    edges = list(rule) if isinstance(rule, Sequence) or hasattr(rule, "__len__") else []  # type: ignore[call-overload]
    if not edges or not all(isinstance(e, Real) and math.isfinite(e) for e in edges):
        raise SettingError(
            f"bins of {shown(name)} are {shown(rule)}. Give numbers to cut at, such as 10, 20, 30, "
            f"or one of {', '.join(RULES)}."
        )
    found = tuple(float(e) for e in edges)
    for low, high in pairwise(found):
        if not low < high:
            raise SettingError(f"bins of {shown(name)}: the edge {high:g} follows {low:g}. Put the edges in order.")
    return found


def check_blocks(blocks: Any) -> Blocks:
    """Blocks as tuples of names; what can be no block of any table is refused."""
    form = 'Write blocks=(("outlook", "windy"), ("temperature", "humidity")).'
    if isinstance(blocks, (str, Mapping)) or not isinstance(blocks, Iterable):
        raise SettingError(f"blocks is {shown(blocks)}, which is not a list of blocks. {form}")
    out: list[tuple[str, ...]] = []
    where: dict[str, int] = {}
    for number, block in enumerate(blocks, 1):
        if isinstance(block, (str, Mapping)) or not isinstance(block, Iterable):
            raise SettingError(f"Block {number} is {shown(block)}, which is not a list of columns. {form}")
        names = tuple(block)
        if not names:
            raise SettingError(f"Block {number} is empty. Name its columns, or leave it out.")
        for name in names:
            if not isinstance(name, str):
                raise SettingError(f"Block {number} holds {shown(name)}, which is not the name of a column. {form}")
            if name in where:
                twice = f"twice in block {number}" if where[name] == number else f"in blocks {where[name]} and {number}"
                raise SettingError(f"Column {shown(name)} is {twice}. A column belongs to one block: name it once.")
            where[name] = number
        out.append(names)
    return tuple(out)


# -- settings that several learners have, declared once --------------------------------------------------------------


def prior_setting(meaning: str = "Prior of the classes: observed, uniform, or a probability for each.") -> Any:
    """How probable the classes are before anything is known of a row."""
    return setting("observed", meaning, convert=check_prior)


def prior_pseudo_count_setting() -> Any:
    """Smoothing of the prior."""
    return setting(0.0, "Added to the count of every class when the prior is observed.", at_least=0)


def variance_setting(divisor: str = "n-1") -> Any:
    """By what sums of squares are divided."""
    return setting("unbiased", f"unbiased divides by {divisor}, ml by n.", choices=get_args(Variance))


def bin_count_setting() -> Any:
    """How many bins there may be."""
    return setting(10, "Bins of equal width or frequency, at most.", at_least=2, at_most=10_000, whole=True)


def bins_closed_setting() -> Any:
    """To which bin an edge belongs."""
    meaning = "Whether a bin holds the edge below it, [a, b), or the one above it, (a, b]."
    return setting("left", meaning, choices=get_args(Closed))


def shrinkage_setting(of: str = "Every") -> Any:
    """How far correlations are drawn towards 0."""
    meaning = f"{of} correlation is multiplied by 1 - shrinkage; auto takes more where rows are few."
    return setting(0.0, meaning, at_least=0, at_most=1, choices=("auto",))


def unseen_setting(skip: str, reserve: str) -> Any:
    """What a level that training did not have says."""
    meaning = f"A level not seen in training: {skip}, {reserve}, or refused."
    return setting("skip", meaning, choices=("skip", "reserve", "error"))


def parts_setting(meaning: str = "Number of parts the rows are split into, by seed and content.") -> Any:
    """How many parts are held out in turn."""
    return setting(5, meaning, at_least=2, at_most=1000, whole=True)
