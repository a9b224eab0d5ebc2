"""What each attribute says: a card with its spread, its range and the evidence of its values or words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, TypeAlias

import numpy as np

from likely.evaluate.attributes.information import value_logs
from likely.evaluate.look import AttributeBits
from likely.machinery.arrays import Floats
from likely.machinery.words import clean, duration, moment, number, percent, plural, signed, tie
from likely.models.contracts import Model
from likely.models.shapes import Density
from likely.present.charts.bars import MOST_COLUMNS, POINTS, bar, bin_edges, diverging, fitted, spark, stacked
from likely.present.charts.drawing import Chart, class_colours
from likely.present.charts.lines import MOST_BITS, ValueSpread, value_chart
from likely.present.document import Document, Part, Styled, Table, numbers_from
from likely.present.effects import evidence_bits, mean_range, prior_of
from likely.present.report.model import class_quantiles
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.table.labels import date_label

# The words of a text column that speak most for each class, and how much each says. Reads factors; no rows.

MOST_WORDS = 10
MOST_CLASSES = 12
"""Classes whose words are listed, the most frequent ones."""


def word_bits(model: Model, name: str) -> tuple[list[str], Floats]:
    """The known words of a text column, and what each says for each class in a text that has no other known word."""
    speakers = [(factor, power) for factor, power in model.word_speakers(name) if power]
    if not speakers:
        return [], np.zeros((0, len(model.classes)))
    found: dict[str, Floats] = {}
    for factor, power in speakers:
        scale = factor.settings.scale
        logs = power * (scale if isinstance(scale, float) else 1.0) * factor.scores.weights
        for k in range(len(factor.scores.vocabulary)):
            word = factor.scores.vocabulary[k]
            found[word] = found[word] + logs[k] if word in found else logs[k]
    return list(found), evidence_bits(np.stack(list(found.values())), prior_of(model))


def speaking_words(model: Model, name: str) -> tuple[tuple[Table, ...], str]:
    """The strongest words for the most frequent classes, a table each; and what is to be said of the column."""
    speakers = [factor for factor, power in model.word_speakers(name) if power]
    if not speakers:
        return (), ""
    words, bits = word_bits(model, name)
    place = {word: k for k, word in enumerate(words)}
    totals = model.summary.total.floats()
    hues = class_colours(totals.tolist())
    groups = sorted(np.argsort(-totals, kind="stable")[:MOST_CLASSES].tolist())
    picked = {}
    for group in groups:
        # Those that the factors hold for telling: a word of one text alone may weigh more and mean less.
        strong = {f.scores.vocabulary[k] for f in speakers for k in f.strongest(group, MOST_WORDS)}
        picked[group] = sorted(strong, key=lambda word: -bits[place[word], group])[:MOST_WORDS]
    finite = [abs(float(bits[place[w], g])) for g, ws in picked.items() for w in ws]
    most = max((b for b in finite if math.isfinite(b)), default=1.0) or 1.0
    out = []
    for group, some in picked.items():
        rows = tuple(
            (
                clean(w, 30),
                signed(value := float(bits[place[w], group])),
                Styled("", "bar-cell", bar(value / most, hues[group])),
            )
            for w in some
        )
        if rows:
            title = Styled(clean(model.classes[group], 40), hues[group])
            out.append(Table(title, ("word", "bits", ""), rows, frozenset({1}), "speaking"))
    shared = any(getattr(f.settings, "length", False) for f in speakers)
    told = f"{plural(len(words), 'known word')}. What each says in bits, as the only known word of a text"
    told += "; of n known words each counts 1/√n of that." if shared else "."
    return tuple(out), told


# What each attribute says: a card with its spread, its range and the evidence of its values, levels or words.

CARDS = 40
"""Attributes that are shown in full: those that tell most."""
MOST_LEVELS, FEW_LEVELS = 12, 8
"""Levels of a card; fewer where there are many cards, and of those that are closed at first."""
MANY_CARDS, OPEN_CARDS, FEW_CARDS = 20, 6, 8
"""From how many cards on they are shorter; how many are open; up to how many also those that say nothing are shown."""
ASKED = 400
"""Levels that the model is asked about."""
GRID = 97
"""Places of the curve of a number."""
LISTED = 50
"""Classes in the table of a number."""
TALL = 3
"""With more classes, the table of a number has a line for each."""
FEW_FAINT = 3
LEAST_BAR = 0.25
"""Bits of the longest bar of all cards, at least: what is next to nothing shall look so."""
LEAST_BITS, LEAST_PUSH = 0.0005, 0.005
"""An attribute that tells less, and moves the odds less, says nothing worth a card."""


@dataclass(frozen=True)
class Card:
    """What the page shows of one attribute, and where: in full, closed, among those that count only beside others."""

    document: Document
    quiet: bool = False
    """Whether it says nothing."""
    silent: bool = False
    """Whether the model makes nothing of it."""
    faint: bool = False
    """Whether it reveals nothing by itself, though the model uses it."""


def make_cards(model: Model, order: Sequence[str], told: Mapping[str, AttributeBits]) -> tuple[Card, ...]:
    """The cards of these attributes; `told` is what a first look said of them."""
    known = [name for name in order if name in model.summary.columns][:CARDS]
    asked = {name: asked_values(model, name) for name in known}
    logs = value_logs(model, {name: [_as_cell(model, name, v) for v in some] for name, some in asked.items()})
    many = len(known) > MANY_CARDS
    most = [FEW_LEVELS if many or k >= OPEN_CARDS else MOST_LEVELS for k in range(len(known))]
    nominal = [k for k, name in enumerate(known) if isinstance(model.summary.columns[name], Counts)]
    scale = _longest(model, [logs[known[k]][: most[k]] for k in nominal])
    cards = [
        _card(model, name, f"a{k}", told.get(name), most[k], asked[name], logs[name], len(known) > FEW_CARDS, scale)
        for k, name in enumerate(known)
    ]
    if sum(card.faint and not card.quiet for card in cards) < FEW_FAINT:  # a fold for one or two is none
        cards = [replace(card, faint=False) for card in cards]
    return tuple(cards)


def _longest(model: Model, logs: Sequence[Floats]) -> float:
    """The bits of the longest bar of all cards, so that bars of two cards can be compared."""
    if not logs or len(model.classes) < 2:
        return 1.0
    bits = np.abs(evidence_bits(np.vstack(logs), prior_of(model)))
    return max(min(float(bits[np.isfinite(bits)].max(initial=0.0)), MOST_BITS), LEAST_BAR)


def asked_values(model: Model, name: str) -> list[Any]:
    """The values that the card of an attribute is about: its levels, or places within the range of a number."""
    statistic = model.summary.columns[name]
    if isinstance(statistic, Counts):
        weight = statistic.table[: len(statistic.labels)].floats().sum(axis=1)
        return [statistic.labels.names[k] for k in np.argsort(-weight, kind="stable")[:ASKED].tolist()]
    if not isinstance(statistic, Numbers):
        return []
    edges = _edges(statistic)
    return [] if edges is None else np.linspace(edges[0], edges[-1], GRID).tolist()


def _as_cell(model: Model, name: str, value: Any) -> Any:
    return date_label(value) if model.schema[name].kind == "date" else value


def _edges(numbers: Numbers) -> Floats | None:
    values, tally = numbers.tally()
    if len(values) < 2 or not tally.floats().sum() > 0:
        return None
    return bin_edges(values, tally.floats().sum(axis=1))


Content: TypeAlias = tuple[tuple[str, ...], str, float | None, tuple[Part, ...]]
"""Of a card: facts (its range, how many values it has), a small drawing of how it is spread, how far it moves the odds
(in bits, mean over rows; None: not known), and what is shown below."""


def _card(
    model: Model,
    name: str,
    key: str,
    told: AttributeBits | None,
    most: int,
    asked: list[Any],
    logs: Floats,
    many: bool,
    scale: float,
) -> Card:
    statistic, about, together = model.summary.columns[name], "", model.block_of(name)
    if together is not None:
        others = " & ".join(clean(n, 30) for n in together.names if n != name)
        about = f"The model takes it together with {others}; this is {clean(name, 30)} by itself."
    if isinstance(statistic, Counts):
        facts, drawn, push, parts = _of_levels(model, name, key, statistic, asked, logs, most, scale)
    elif isinstance(statistic, Numbers):
        facts, drawn, push, parts = _of_number(model, name, key, statistic, np.array(asked), logs)
        about = about or ("" if parts else "All rows have the same value, or none.")
    else:
        words, about = speaking_words(model, name)
        facts = (plural(len(statistic.vocabulary()), "word"),) if hasattr(statistic, "vocabulary") else ()
        drawn, push, parts = "", None if words else 0.0, (Document("", words, key, style="words"),) if words else ()
    gone = 0.0 if told is None else told["missing"]
    missing = f"{percent(gone)} missing" if gone else "none missing" if told is not None else ""
    beside = told is not None and (told["importance"] or 0.0) >= LEAST_PUSH
    silent = push is not None and push < LEAST_PUSH and not beside
    quiet = many and silent and (told is None or told["bits"] < LEAST_BITS)
    if silent and not quiet and not about:
        about = "The model leaves it out: it adds nothing to what the others say."
    elif push is not None and push < LEAST_PUSH and beside:
        about = "By itself it says next to nothing; the model uses it together with others."
    faint = many and told is not None and told["bits"] < LEAST_BITS
    line = " · ".join(escape(tie(fact)) for fact in (model.schema[name].kind, *facts, missing) if fact)
    if told is not None:
        moves = "" if told["importance"] is None else f"<strong>{told['importance']:.2f} bits</strong> · "
        line = f"{moves}alone {tie(percent(told['share']))} of the uncertainty · {line}"
    markup = f'<span class="card-name">{escape(clean(name, 60))}</span>{drawn}<span class="card-about">{line}</span>'
    notes = (Styled(about, "note"),) if about else ()
    return Card(Document(Styled(clean(name, 60), markup=markup), (*notes, *parts), key), quiet, silent, faint)


def _push(logs: Floats, weight: Floats) -> float:
    """How far values move the odds, in bits, mean over rows."""
    return round(mean_range(logs, weight) / math.log(2), 3)


def _of_levels(
    model: Model, name: str, key: str, counts: Counts, asked: list[str], logs: Floats, most: int, scale: float
) -> Content:
    """A line for each level: how many rows, of which classes, and what it says."""
    table = counts.table[: len(counts.labels)].floats()[[counts.labels.index[level] for level in asked]]
    hues = class_colours(model.summary.total.floats().tolist())
    bits = evidence_bits(logs, prior_of(model)) if len(asked) and len(model.classes) > 1 else np.zeros_like(logs)
    weight, two = table.sum(axis=1), len(model.classes) == 2
    rows = []
    for k, level in enumerate(asked[:most]):
        own = bits[k]
        of = 1 if two else int(np.argmax(np.where(np.isfinite(own), np.abs(own), 1e300)))
        value = float(own[of])
        side = 0 if two and value < 0 else of
        shares = table[k] / weight[k] if weight[k] > 0 else table[k]
        named = ", ".join(
            f"{clean(model.classes[c], 20)} {percent(float(shares[c]))}" for c in np.argsort(-shares, kind="stable")[:4]
        )
        speaks = clean(model.classes[side], 40) if two or value >= 0 else f"not {clean(model.classes[of], 40)}"
        speaks = speaks if abs(value) >= 0.005 else ""
        drawn = diverging(value, scale, hues[side])
        markup = f'<span class="num">{signed(value)}</span>{drawn}<span class="for">{escape(speaks)}</span>'
        mix = Styled(named, "mix", stacked(shares.tolist(), named, hues))
        rows.append(
            (clean(level, 60), number(float(weight[k])), mix, Styled(f"{signed(value)} {speaks}", "ev", markup))
        )
    classes = [clean(c, 40) for c in model.classes]
    sides = f" for {classes[1]} (right) or {classes[0]} (left)" if two else ""
    header = ("level", "rows", Styled("classes of these rows", "mix"), f"evidence{sides}, bits")
    label, more = f"{clean(name, 60)}: evidence of each level", len(counts.labels) - len(rows)
    levels = Table("", header, tuple(rows), frozenset({1}), "levels", key, label)
    hidden = f"{more} more {'level has' if more == 1 else 'levels have'} fewer rows."
    parts = (levels, *((Styled(hidden, "note"),) if more else ())) if rows else ()
    spread = spark(table, hues, f"{clean(name, 60)}: rows of each level, the most frequent first")
    return (plural(len(counts.labels), "level"),), spread, _push(logs, weight), parts


def _of_number(model: Model, name: str, key: str, numbers: Numbers, grid: Floats, logs: Floats) -> Content:
    """What each value says, above the histograms of the classes; and quantiles of each class."""
    dates = model.schema[name].kind == "date"
    place = moment if dates else figure
    values, tally = numbers.tally()
    weights = tally.floats()
    facts: tuple[str, ...] = ()
    if len(values):
        below = np.cumsum(weights.sum(axis=1))
        middle = float(values[np.searchsorted(below, below[-1] / 2)]) if below[-1] > 0 else float(values[0])
        several = "more than " if numbers.level else ""
        facts = (
            f"{place(float(values[0]))} to {place(float(values[-1]))}, median {place(middle)}",
            several + plural(len(values), "value"),
        )
    edges = _edges(numbers)
    if edges is None:
        return facts, "", 0.0, ()
    counts = np.zeros((len(edges) - 1, weights.shape[1]))
    where = np.searchsorted(edges, values, side="right") - 1
    inside = (where >= 0) & (where < len(counts))
    np.add.at(counts, where[inside], weights[inside])
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(weights.sum(axis=0) > 0, counts / weights.sum(axis=0), 0.0)
    hues = class_colours(model.summary.total.floats().tolist())
    near = np.abs(grid[:, None] - (edges[:-1] + edges[1:])[None, :] / 2).argmin(axis=1)
    push = _push(logs, counts.sum(axis=1)[near]) if len(model.classes) > 1 else 0.0
    bits = evidence_bits(logs, prior_of(model)) if len(model.classes) > 1 else np.zeros_like(logs)
    spread, classes = ValueSpread(edges, shares, _density(model, name, edges)), [clean(c, 40) for c in model.classes]
    chart = value_chart(clean(name, 40), grid, bits if push else None, spread, classes, hues, dates)
    beside = len(model.classes) <= TALL
    header, rows = _quantiles(model, name, numbers, dates)
    label, right = f"{clean(name, 60)} in each class", numbers_from(1, len(header))
    table = Table("", header, rows, right, "values" if beside else "wide", key, label)
    few = counts if len(counts) <= MOST_COLUMNS else counts[:MOST_COLUMNS]
    drawn = spark(few, hues, f"{clean(name, 60)}: how its values are spread")
    both = Document("", (chart, table) if beside else (chart,), style="beside")
    return facts, drawn, push, (both,) if beside else (both, table)


def _density(model: Model, name: str, edges: Floats) -> tuple[Floats, Floats] | None:
    """The density that the model has fitted, as shares of a bin; None where it has none."""
    factor = model.factor_of(name)
    if not isinstance(factor, Density):
        return None
    places = np.linspace(edges[0], edges[-1], POINTS)
    logs = fitted(factor, places, len(model.classes))
    return None if logs is None else (places, np.exp(logs) * (edges[1] - edges[0]))


def draw_number(model: Model, name: str) -> Chart | None:
    """The chart of one number alone; None where it has no two values."""
    (card,) = make_cards(model, [name], {})
    charts = (one for part in card.document.parts if isinstance(part, Document) for one in part.parts)
    return next((chart for chart in charts if isinstance(chart, Chart)), None)


def _quantiles(
    model: Model, name: str, numbers: Numbers, dates: bool
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """For each class: mean and deviation, where the model has fitted them, and quantiles."""
    place, length = (moment, duration) if dates else (figure, figure)
    factor = model.factor_of(name)
    normal = factor.normal if isinstance(factor, Density) else None
    rows, quantiles = [], class_quantiles(numbers)
    for k, label in enumerate(model.classes[:LISTED]):
        cells = ["–" if v is None else place(v) for v in quantiles[k][1]]
        own = () if normal is None else (place(float(normal.mean[k])), length(float(normal.deviation[k])))
        rows.append((clean(label, 40), *own, *cells))
    fitted_names = () if normal is None else ("mean", "sd")
    header = ("class", *fitted_names, "least", "25 %", "median", "75 %", "greatest")
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
    return (f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else number(value)).replace("-", "−")
