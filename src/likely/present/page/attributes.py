"""What each attribute says: its levels with their evidence, a number's histogram, the strongest words of a text.

Reads the sums and the factors of a model; no rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.evaluate.look import AttributeBits
from likely.models.contracts import Factor, Model
from likely.models.factors.categorical import shares_in_training
from likely.models.shapes import BinTable, Density, LevelTable, WordWeights
from likely.present.charts.bars import bar, diverging, stacked
from likely.present.charts.drawing import COLOURS, Chart, colour
from likely.present.charts.histograms import histogram, inner_range
from likely.present.charts.terms import effect_curve
from likely.present.effects import Effect, coarsen, evidence, evidence_bits, find_effects, prior_of
from likely.present.report.model import class_quantiles
from likely.present.words import clean, duration, moment, number, percent, plural
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.words.words import Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CARDS = 40
"""Attributes that are shown in full: those that tell most."""
MOST_LEVELS, FEW_LEVELS = 14, 8
"""Levels of a card; fewer where there are many cards."""
MANY_CARDS = 20
MOST_STEPS = 64
"""Steps of the curve of a number."""
MOST_WORDS = 10
NAMED = 3
"""With more classes, P(level | class) has no column for each."""
LISTED = 50
"""Classes in the table of a number."""
TALL = 3
"""With more classes, the table of a number has a line for each."""


@dataclass(frozen=True)
class Level:
    """One line of a card: a level, or a bin."""

    name: str
    rows: str
    chances: tuple[str, ...]
    """P(level | class), where the classes are few."""
    mix: Chart
    """P(class | level), stacked."""
    evidence: Chart
    bits: str
    speaks: str
    """The class that it speaks for most."""


@dataclass(frozen=True)
class Speaking:
    """The strongest words for one class."""

    label: str
    colour: str
    words: tuple[tuple[str, str, Chart], ...]


@dataclass(frozen=True)
class Card:
    """Everything the page shows of one attribute."""

    key: str
    name: str
    kind: str
    bits: str
    missing: str
    levels: tuple[Level, ...] = ()
    word: str = "level"
    hidden: int = 0
    chart: Chart | None = None
    header: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    words: tuple[Speaking, ...] = ()
    about: str = ""
    named: tuple[str, ...] = field(default_factory=tuple)
    """Classes that have a column."""
    mixed: str = "classes given it"
    """What the bar of a level shows; empty: there is none."""
    strength: str = ""
    """Of a term: bits that it says, mean over rows."""
    beside: bool = False
    """Whether the table is small enough to stand beside the chart."""


def card(model: Model, name: str, key: str, told: AttributeBits | None, many: bool) -> Card:
    """The card of one attribute; `told` is what a first look said of it."""
    column, statistic = model.schema[name], model.summary.columns[name]
    about: dict[str, Any] = {
        "key": key,
        "name": clean(name, 60),
        "kind": column.kind,
        "bits": "" if told is None else f"{told['bits']:.3f}",
        "missing": percent(told["missing"]) if told is not None and told["missing"] else "",
    }
    factor, together = model.factor_of(name), model.block_of(name)
    if together is not None:
        others = " & ".join(clean(n, 30) for n in together.names if n != name)
        about["about"] = f"The model takes it together with {others}; this is {clean(name, 30)} by itself."
    most = FEW_LEVELS if many else MOST_LEVELS
    effect = find_effects(model).get(name)
    if effect is not None:
        return _of_effect(model, effect, most, about)
    strengths = model.term_strengths()
    if strengths and not isinstance(statistic, Words):
        alone = not any(name in names for names in strengths)
        words = "The model leaves it out." if alone else "It says nothing by itself, only together with others."
        return Card(**about | {"about": words})
    if isinstance(statistic, Counts):
        levels = factor if isinstance(factor, LevelTable) else shares_in_training(column, statistic, 0.5)
        return _of_levels(model, levels, list(levels.labels.names), most, "level", about)
    if isinstance(statistic, Words):
        return _of_words(model, factor, about)
    assert isinstance(statistic, Numbers)
    dates = column.kind == "date"
    chart = histogram(clean(name, 40), statistic, factor, model.classes, prior_of(model), dates)
    if isinstance(factor, BinTable) and factor.levels is not None:
        names = factor.called(moment) if dates else list(factor.levels.labels.names)
        return _of_levels(model, factor.levels, names, most, "bin", about | {"chart": chart}, ordered=True)
    header, table = _numbers(model, factor, statistic, dates)
    if len(model.classes) > LISTED:
        about["about"] = f"The first {LISTED} of {len(model.classes)} classes are listed."
    return Card(**about, chart=chart, header=header, table=table, beside=len(model.classes) <= TALL)


def draw_curve(model: Model, effect: Effect) -> Chart | None:
    """The curve of a number; None where there is nothing to draw."""
    effect = coarsen(effect, MOST_STEPS)
    values, tally = model.summary.column(effect.name, Numbers).tally()
    if effect.edges is None or not len(values):
        return None
    bits, ends = evidence_bits(effect.logs, prior_of(model)), inner_range(values, tally.floats().sum(axis=1))
    classes, dates = [clean(c, 24) for c in model.classes], model.schema[effect.name].kind == "date"
    return effect_curve(clean(effect.name, 40), effect.edges, ends, bits, classes, dates)


def _of_effect(model: Model, effect: Effect, most: int, about: dict[str, Any]) -> Card:
    """What the term of an attribute says: the curve of a number, or each level."""
    about = about | {"strength": f"{model.term_strengths().get((effect.name,), 0.0) / math.log(2):.3f}"}
    chart = None if effect.edges is None else draw_curve(model, effect)
    if chart is not None:
        numbers, dates = model.summary.column(effect.name, Numbers), model.schema[effect.name].kind == "date"
        header, table = _numbers(model, None, numbers, dates, fitted=False)
        return Card(**about, chart=chart, header=header, table=table, beside=len(model.classes) <= TALL)
    effect = coarsen(effect, most)
    chances = np.exp(effect.logs - effect.logs.max(axis=1, keepdims=True))
    ordered = effect.edges is not None
    return _lines(model, chances, effect.weight, effect.labels, most, effect.word, about, ordered, are_chances=False)


def _of_levels(
    model: Model, factor: LevelTable, names: Sequence[str], most: int, word: str, about: dict[str, Any],
    ordered: bool = False,
) -> Card:  # fmt: skip
    chances, ratios = np.exp(factor.log_table[: len(names)]), factor.ratios()
    weight = np.array([0.0 if (r := ratios and ratios(k)) is None else r.seen.sum() for k in range(len(names))])
    return _lines(model, chances, weight, names, most, word, about, ordered)


def _lines(
    model: Model, chances: Floats, weight: Floats, names: Sequence[str], most: int, word: str, about: dict[str, Any],
    ordered: bool, are_chances: bool = True,
) -> Card:  # fmt: skip
    """A line for each level; `chances` are P(level | class), or in proportion to what a term makes of the classes."""
    prior = prior_of(model)
    if not len(names) or len(model.classes) < 1:
        return Card(**about)
    bits = evidence(chances, prior) if len(model.classes) > 1 else np.zeros_like(chances)
    if ordered:
        order = np.arange(len(names))
    else:
        order = np.argsort(-weight, kind="stable")
    kept = order[:most]
    two = len(model.classes) == 2
    finite = np.abs(bits[kept][np.isfinite(bits[kept])])
    scale = float(finite.max()) if finite.size else 1.0
    lines = []
    for k in kept.tolist():
        joint = chances[k] * prior
        mix = joint / joint.sum() if joint.sum() > 0 else joint
        # Of two classes the sign says which it speaks for; of more, the class that it says most of is named.
        of = 1 if two else int(np.argmax(np.where(np.isfinite(bits[k]), bits[k], np.sign(bits[k]) * 1e300)))
        value = float(bits[k, of])
        towards = of if value >= 0 or not two else 0
        level = clean(names[k], 40)
        shares = ", ".join(
            f"{clean(model.classes[c], 20)} {percent(float(mix[c]))}" for c in np.argsort(-mix, kind="stable")[:4]
        )
        lines.append(
            Level(
                level,
                number(float(weight[k])),
                tuple(percent(float(p)) for p in chances[k]) if len(model.classes) <= NAMED and are_chances else (),
                stacked(mix.tolist(), f"{level}: {shares}") if are_chances else Chart(),
                diverging(value if two else max(value, 0.0), scale or 1.0, colour(towards, len(model.classes))),
                "impossible" if math.isinf(value) else f"{value if not two else abs(value):+.2f}",
                clean(model.classes[towards], 24),
            )
        )
    mixed = "classes given it" if len(model.classes) <= COLOURS else "most probable class given it"
    mixed = mixed if are_chances else ""
    named = tuple(clean(c, 16) for c in model.classes) if len(model.classes) <= NAMED and are_chances else ()
    return Card(**about, levels=tuple(lines), word=word, hidden=len(names) - len(kept), named=named, mixed=mixed)


def _of_words(model: Model, factor: Factor | None, about: dict[str, Any]) -> Card:
    if not isinstance(factor, WordWeights):
        return Card(**about)
    scale = factor.settings.scale
    times = (scale if isinstance(scale, float) else 1.0) / math.log(2)
    classes = np.argsort(-model.summary.total.floats(), kind="stable")[:12].tolist()
    picked = {group: factor.strongest(group, MOST_WORDS) for group in sorted(classes)}
    most = max((abs(float(factor.evidence[k, g])) for g, ks in picked.items() for k in ks), default=1.0) * times
    out = []
    for group, words in picked.items():
        rows = tuple(
            (
                clean(factor.scores.vocabulary[k], 30),
                f"{(bits := float(factor.evidence[k, group]) * times):+.2f}",
                bar(bits / (most or 1.0), f"{colour(group, len(model.classes))} fill"),
            )
            for k in words
        )
        if rows:
            out.append(Speaking(clean(model.classes[group], 30), colour(group, len(model.classes)), rows))
    told = f"{plural(len(factor.scores.vocabulary), 'known word')}; {factor.settings.written()}."
    return Card(**(about | {"about": told}), words=tuple(out))


def _numbers(
    model: Model, factor: Factor | None, numbers: Numbers, dates: bool, fitted: bool = True
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """For each class: mean and deviation as the model has them, where it is fitted by them, and quantiles."""
    place, length = (moment, duration) if dates else (figure, figure)
    rows, quantiles = [], class_quantiles(numbers)
    normal = factor.normal if isinstance(factor, Density) else None
    for k, label in enumerate(model.classes[:LISTED]):
        cells = ["–" if v is None else place(v) for v in quantiles[k][1]]
        middle = "–" if normal is None else place(float(normal.mean[k]))
        spread = "–" if normal is None else length(float(normal.deviation[k]))
        rows.append((clean(label, 24), *((middle, spread) if fitted else ()), *cells))
    own = ("mean", "sd") if fitted else ()
    header = ("class", *own, "least", "25 %", "median", "75 %", "greatest")
    if len(rows) > TALL:
        return header, tuple(rows)
    # Few classes have columns, so that the table fits beside its chart.
    lines = list(zip(header, *rows, strict=True))
    return lines[0], tuple(lines[1:])


def figure(value: float) -> str:
    """A number of a table: whole from a thousand on, else with four digits.

    >>> figure(14760.03), figure(36.8721), figure(-0.0)
    ('14,760', '36.87', '0')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else number(value)
