"""What `likely show` says of a model: its settings, its tables as books print them, its terms by strength."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from likely.apply.tables import AnyTable, AttributeTable, NumberTable
from likely.errors import ColumnError, SettingError, nearest, shown
from likely.machinery.arrays import Floats
from likely.machinery.words import clean, duration, moment, number, plural, signed, weighed_rows
from likely.models.contracts import Factor, Model, setting_of
from likely.models.factors.categorical import shares_in_training
from likely.models.factors.normal import root_of
from likely.models.fractions import Quotient
from likely.models.heldout.importance import MOST_ROWS as MEASURED
from likely.models.registry import spoken_titles, weighed_names
from likely.models.settings import changed_settings
from likely.models.shapes import BinTable, Density, Exhibit, LevelTable, Plane, graph_of
from likely.portable.origin import judgement_sentence
from likely.present.document import Document, Table, bar_cell, numbers_from
from likely.present.effects import (
    Effect,
    EffectGrid,
    coarsen,
    evidence_bits,
    find_effects,
    has_evidence,
    pair_grid,
    prior_of,
    strength_of,
)
from likely.sums import state
from likely.sums.columns.counts import Counts
from likely.sums.columns.numbers import Numbers
from likely.sums.words.counting import Words
from likely.table.batch import MISSING_CODE, UNSEEN_CODE
from likely.table.labels import date_within
from likely.table.schema import Column

# Tables of words for a model that is a sum of terms: terms by strength, curves of attributes, grids of pairs.

MOST_TERMS, MOST_PAIRS, MOST_STEPS, MOST_GRID, MOST_CLASSES = 20, 5, 20, 6, 8
"""Attributes, pairs, steps of a curve, lines of a grid and classes that are written out."""
SPARKS = "▁▂▃▄▅▆▇█"
SPARK_STEPS = 16
WIDEST = 12
BOTH = "The bits of two attributes are what they share of what they, and perhaps others, say together."
OWN_TERM = "own term, bits"
STRONG = 0.02
"""Bits, in the mean: a pair that says less has no grid."""


def rows_measured(model: Model) -> str:
    """The rows over which it was measured how far each attribute moves the answers."""
    return "all rows of the table" if model.importance is None else f"up to {MEASURED:,} rows of the table"


def term_tables(model: Model, everything: bool = False) -> tuple[Table, ...]:
    """Attributes, and two together, those first that move answers most; and what the strongest two say as a grid."""
    if not has_evidence(model):
        return ()
    assert model.importance is not None
    effects, two, found = find_effects(model), len(model.classes) == 2, model.importance
    ordered = sorted(found.each.items(), key=lambda item: -item[1])
    longest = ordered[0][1] if ordered else 0.0
    kept = ordered if everything else ordered[:MOST_TERMS]
    rows = [
        (
            clean(name, 30),
            f"{value / math.log(2):.3f}",
            bar_cell(value / longest if longest else 0.0, WIDEST),
            f"{strength_of(model, effects[name]) / math.log(2):.3f}" if name in effects else "",
            *((_spark(effects.get(name)),) if two else ()),
        )
        for name, value in kept
    ]
    if len(ordered) > len(kept):
        rest = sum(value for _, value in ordered[len(kept) :]) / math.log(2)
        more = plural(len(ordered) - len(kept), "more attribute")
        rows.append((f"… {more}", f"{rest:.3f}", *[""] * (len(rows[0]) - 2)))
    of = f"least value to greatest: higher speaks for {clean(model.classes[-1], 20)}"
    header = ("attribute", "bits", "", OWN_TERM, *((f"its curve, {of}",) if two else ()))
    title = f"How far each attribute moves the answers, mean over {rows_measured(model)}"
    out = [Table(title, header, tuple(rows), frozenset({1, 3}), spare=(OWN_TERM, ""))]
    pairs = [(pair, value) for pair, value in found.together.items() if everything or value >= STRONG * math.log(2)]
    if pairs:
        out.append(_pair_table("What two attributes say together, in the mean", pairs, everything))
    strongest = next((pair for pair, value in pairs if all(name in effects for name in pair)), None)
    return (*out, *(() if strongest is None else (grid_table(model, effects, strongest),)))


def _pair_table(title: str, pairs: Sequence[tuple[tuple[str, str], float]], everything: bool) -> Table:
    kept = pairs if everything else pairs[:MOST_PAIRS]
    longest = kept[0][1] or 1.0
    rows = tuple(
        (" × ".join(clean(n, 30) for n in pair), f"{value / math.log(2):.3f}", bar_cell(value / longest, WIDEST))
        for pair, value in kept
    )
    return Table(title, ("attributes", "bits", ""), rows, frozenset({1}))


def _spark(effect: Effect | None) -> str:
    """A curve of two classes as a line of blocks, one for each of a few steps of equal weight; nothing for levels."""
    if effect is None or effect.edges is None or not effect.weight.sum() > 0:
        return ""
    bits = (effect.logs[:, 1] - effect.logs[:, 0]) / math.log(2)
    below = np.cumsum(effect.weight) / effect.weight.sum()
    places = np.minimum(np.searchsorted(below, (np.arange(SPARK_STEPS) + 0.5) / SPARK_STEPS), len(bits) - 1)
    drawn, low, span = bits[places], bits[places].min(), np.ptp(bits[places])
    if not span > 0:
        return f"flat where most rows are; {signed(float(bits.min()))} to {signed(float(bits.max()))}"
    blocks = "".join(SPARKS[round(7 * float((b - low) / span))] for b in drawn)
    return f"{blocks}  {signed(float(bits.min()))} to {signed(float(bits.max()))}"


def present_effect(model: Model, name: str, everything: bool = False) -> Document | None:
    """What one attribute says by itself and together with others; None where the model is not told by evidence."""
    if not has_evidence(model):
        return None
    assert model.importance is not None
    effects = find_effects(model)
    effect, says = effects.get(name), model.importance.each.get(name, 0.0) / math.log(2)
    tables = () if effect is None else (curve_table(model, effect, everything),)
    pairs = [(pair, value) for pair, value in model.importance.together.items() if name in pair]
    if pairs:
        tables = (*tables, _pair_table("What it says together with others", pairs, everything))
        strong = [p for p, value in pairs if value >= STRONG * math.log(2) and all(n in effects for n in p)]
        tables = (*tables, *(grid_table(model, effects, p) for p in (strong if everything else strong[:1])))
    if not says:
        return Document(f"{clean(name)}: the model leaves it out, because it told held-out rows nothing.", tables)
    own = 0.0 if effect is None else strength_of(model, effect) / math.log(2)
    remarks = []
    if effect is not None and not everything and effect.edges is not None and len(effect.logs) > MOST_STEPS:
        remarks.append(
            f"The curve has {len(effect.logs)} steps; those that say nearly the same are shown as one. --json has all."
        )
    if pairs:
        remarks.append(BOTH)
    if effect is None or effect.missing is None:
        remarks.append("A value that is missing, or that training did not have, adds nothing.")
    first = f"{clean(name)} says {says:.3f} bits, mean over {rows_measured(model)}; its own term {own:.3f} bits."
    return Document(first, (*tables, *remarks))


def curve_table(model: Model, effect: Effect, everything: bool = False) -> Table:
    """Each bin or level: its weight in training, and its evidence in bits."""
    steps = effect if everything else coarsen(effect, MOST_STEPS)
    labels, logs, weight = list(steps.labels), steps.logs, [number(float(w)) for w in steps.weight]
    if effect.missing is not None:
        labels, logs, weight = [*labels, "(missing)"], np.vstack([logs, effect.missing]), [*weight, ""]
    bits = evidence_bits(logs, prior_of(model))
    first = (effect.word, "weight")
    classes = [clean(c, 20) for c in model.classes]
    if len(classes) == 2:
        most = float(np.abs(bits[:, 1]).max()) or 1.0
        rows: tuple[tuple[str, ...], ...] = tuple(
            (label, w, signed(float(b)), *_sides(float(b) / most))
            for label, w, b in zip(labels, weight, bits[:, 1], strict=True)
        )
        title = f"Evidence in bits, for {classes[1]} (to the right) against {classes[0]}"
        return Table(title, (*first, "bits", *classes), rows, frozenset({1, 2, 3}))
    said = steps.weight @ np.abs(bits[: len(steps.weight)])
    shown = np.sort(np.argsort(-said, kind="stable")[: len(classes) if everything else MOST_CLASSES])
    rows = tuple(
        (label, w, *(signed(float(b[k])) for k in shown)) for label, w, b in zip(labels, weight, bits, strict=True)
    )
    title = "Evidence in bits for each class against the others together"
    if len(shown) < len(classes):
        title = f"Evidence in bits for the {len(shown)} classes of which it says most"
    return Table(title, (*first, *(classes[k] for k in shown)), rows, numbers_from(1, 2 + len(shown)))


def _sides(share: float) -> tuple[str, str]:
    bar = "▇" * (round(WIDEST * abs(share)) or (1 if abs(share) > 0.01 else 0))
    return (bar, "") if share < 0 else ("", bar)


def grid_table(model: Model, effects: Mapping[str, Effect], pair: tuple[str, str], most: int = MOST_GRID) -> Table:
    """What two say together, as a small grid, for the class of which they say most (of two, the second)."""
    grid = pair_grid(model, (effects[pair[0]], effects[pair[1]]), most)
    bits, k = grid_bits(model, grid)
    across, down = (clean(n, 30) for n in (grid.names[1], grid.names[0]))
    rows = tuple((label, *(signed(float(b)) for b in line)) for label, line in zip(grid.labels[0], bits, strict=True))
    title = f"{down} × {across} (columns): bits for {clean(model.classes[k], 20)} beyond what each says by itself"
    return Table(title, (down, *grid.labels[1]), rows, numbers_from(1, 1 + len(grid.labels[1])))


def grid_bits(model: Model, grid: EffectGrid) -> tuple[Floats, int]:
    """The bits of each place for one class, (lines, columns), and which class that is."""
    bits = evidence_bits(grid.logs, prior_of(model))
    if len(model.classes) == 2:
        return bits[..., 1], 1
    by_class = np.einsum("i,j,ijk->k", *grid.weights, np.abs(np.where(np.isfinite(bits), bits, 0.0)))
    k = int(by_class.argmax())
    return bits[..., k], k


# Tables of words: what `show` says, ready to be printed in any way. Knows models, no rows.

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


# -- show ---------------------------------------------------------------------------------------------------


def present_model(model: Model, fractions: bool = False, everything: bool = False) -> Document:
    """What `likely show` says of a whole model; `everything` leaves no term out."""
    summary, target = model.summary, model.schema.target
    weights = summary.total.floats()
    shares = [Quotient(w, sum(summary.total.fractions(), Fraction(0))) for w in summary.total.fractions()]
    priors = model.prior or shares
    classes = Table(
        "Classes",
        ("class", "weight", "P(class)"),
        tuple(
            (clean(c), number(w), str(p) if fractions else number(float(p)))
            for c, w, p in zip(model.classes, weights, priors, strict=True)
        ),
        numbers_from(1, 3),
    )
    rows: list[tuple[str, ...]] = []
    for column in model.schema.columns:
        if column.role != "attribute":
            rows.append((clean(column.name, 40), column.kind, column.role, clean(column.why, 70)))
            continue
        rows.append((clean(column.name, 40), column.kind, "attribute", tell_values(model, column)))
    columns = Table("Columns", ("column", "kind", "role", "about"), tuple(rows))
    name = clean(target.name) if target else "a density"
    # Words are many: `likely show MODEL COLUMN` has them.
    apart = {e.title for text in model.texts for e in text.exhibits(model.classes)}
    exhibits = [e for e in model.exhibits() if e.title not in apart]
    chose = model.called() == "The model" and bool(changed_settings(model.learner))
    decimal = fractions and not all(e.has_quotients for e in exhibits)
    remarks = ("Only counts have fractions; weights and densities stay decimal.",) if decimal else ()
    return Document(
        f"{name} by {made_of(model)}, from {weighed_rows(summary.rows, float(weights.sum()))}"
        + (f" ({plural(summary.left_out, 'row')} left out)" if summary.left_out else ""),
        (
            *((classes,) if target else ()),
            columns,
            *term_tables(model, everything),
            *(exhibit_table(e, fractions) for e in exhibits),
            *remarks,
            judgement_sentence(model),
            *((f"Learned by {learner_settings(model.learner)}.",) if chose else ()),
            *model.notes,
            *((BOTH,) if has_evidence(model) and model.importance and model.importance.together else ()),
        ),
    )


def tell_values(model: Model, column: Column) -> str:
    """Which values of an attribute the model knows."""
    statistic = model.summary.columns[column.name]
    if isinstance(statistic, Counts):
        return plural(len(model.levels(column.name)), "level")
    if isinstance(statistic, Words):
        return plural(len(statistic.tally().vocabulary) - 1, "different word")
    values, _ = statistic.tally()
    tell = _moment_of(statistic) if column.kind == "date" else number
    about = f"{tell(values[0])} to {tell(values[-1])}" if len(values) else "no values"
    about = f"about {about}" if len(values) and column.kind == "date" and statistic.level else about
    return f"{about} {column.unit}" if column.unit else about


def exhibit_table(exhibit: Exhibit, fractions: bool = False) -> Table:
    """What a model shows of itself, as a table of words; what was counted in `fractions`, if asked."""
    cells = exhibit.cells(fractions)
    rows = tuple(tuple(clean(c) if isinstance(c, str) else number(c) for c in row) for row in cells)
    right = frozenset(k for row in exhibit.rows for k, c in enumerate(row) if not isinstance(c, str))
    return Table(exhibit.title, tuple(clean(h, 40) for h in exhibit.header), rows, right)


def made_of(model: Model) -> str:
    """What a chosen model is made of, in plain words; of others the learner, with its settings."""
    if model.called() != "The model":
        return learner_settings(model.learner)
    names = spoken_titles([member.learner for member in model.members])
    return weighed_names(names, [*model.weights]) if names else "the class frequencies"


def learner_settings(learner: Any) -> str:
    """A learner's name, with the settings that are not the usual ones."""
    name, said = type(learner).__name__, changed_settings(learner)
    if "members" in said:
        said["members"] = setting_of(learner, "titles")
    pieces = len(said.pop("knowledge", ()))
    known = f" and {plural(pieces, 'piece')} of knowledge" if pieces else ""
    listed = ", ".join(f"{k}={clean(repr(v), 80)}" for k, v in said.items())
    return (f"{name}({listed})" if said else f"{name} with the usual settings") + known


def present_attribute(model: Model, name: str, fractions: bool = False, everything: bool = False) -> Document:
    """What `likely show` says of one attribute: counts and probabilities, or the densities, or its term."""
    column = model.schema[name]
    if column.role == "target":
        return Document(f"{clean(name)} is the target.", present_model(model, fractions).tables[:1])
    if column.role != "attribute":
        known = [c.name for c in model.schema.attributes]
        role = "the weight" if column.role == "weight" else column.role
        raise ColumnError(f"{shown(name)} is {role}, so the model does not use it. {nearest(name, known)}")
    page = _attribute(model, name, fractions)
    effect = present_effect(model, name, everything)
    if effect is not None:
        return Document(effect.headline, (*effect.tables, *page.tables, *effect.remarks, *page.remarks))
    block = model.block_of(name)
    if block is None:
        return page
    others = " & ".join(clean(n, 30) for n in block.names if n != name)
    told = f"The model takes {clean(name, 30)} together with {others}; this is {clean(name, 30)} by itself."
    tables = tuple(exhibit_table(e) for e in block.exhibits(model.classes))
    return replace(page, parts=(*page.tables, *tables, *page.remarks, told))


TableRows = tuple[tuple[str, ...], ...]
"""The header, then the rows."""


def graph_tables(model: Model, names: Iterable[str], fractions: bool = False) -> dict[str, tuple[TableRows, TableRows]]:
    """What stands beside the nodes of a graph: P(level | class), or means and deviations; and the same in fractions.

    With `fractions` the other way round: these stand there, and decimals behind them. None of a model that does not
    believe such tables, but adds up what it learned of the class.
    """
    out: dict[str, tuple[TableRows, TableRows]] = {}
    if not model.generative:
        return out
    for name in names:
        if not isinstance(model.summary.columns[name], (Counts, Numbers)):
            continue
        decimals = exact = _attribute(model, name, False).tables[0]
        if decimals.header[0] in ("level", "bin"):
            exact = _attribute(model, name, True).tables[0]
        kept = [
            k for k, title in enumerate(decimals.header) if not k or title.startswith("P(") or title in ("mean", "sd")
        ]
        both = [(t.header, *t.rows) for t in (decimals.keep(kept), exact.keep(kept))]
        out[name] = (both[1], both[0]) if fractions else (both[0], both[1])
    return out


def _attribute(model: Model, name: str, fractions: bool) -> Document:
    """What is to be said of one attribute by itself."""
    column, statistic = model.schema[name], model.summary.columns[name]
    factor = model.factor_of(name)
    if isinstance(statistic, Counts):
        own = factor if isinstance(factor, LevelTable) else None
        return _levels(model, own or shares_in_training(column, statistic), own is not None, fractions)
    if isinstance(factor, BinTable) and factor.levels is not None:
        names = factor.called(moment) if column.kind == "date" else None
        return _levels(model, factor.levels, True, fractions, "bin", names)
    if fractions:
        raise SettingError(
            f"{shown(name)} is a number: it has a density, which is not a fraction. Leave --fractions out."
        )
    return _densities(model, column.kind == "date", factor, model.summary.column(name, Numbers), name)


def _levels(
    model: Model, factor: LevelTable, own: bool, fractions: bool, word: str = "level", told: list[str] | None = None
) -> Document:
    """Levels, or bins as levels; `told` says how they are called where that is not by their names."""
    names, ratios = factor.labels.names, factor.ratios()
    rows = []
    for code, level in [*enumerate(told or names), (UNSEEN_CODE, "(any other)"), (MISSING_CODE, "(missing)")]:
        ratio, quotients = ratios(code) if ratios is not None else None, factor.quotients(code)
        if quotients is None and (ratios is not None or code < 0):
            continue
        seen = ["–"] * len(model.classes) if ratio is None else [number(n) for n in ratio.seen]
        chances = np.exp(factor.log_table[code]) if quotients is None else quotients
        rows.append((clean(level, 40), *seen, *(str(q) if fractions else number(float(q)) for q in chances)))
    classes = [clean(c, 20) for c in model.classes]
    header: tuple[str, ...] = (word, *(f"n({c})" for c in classes), *(f"P({word}|{c})" for c in classes))
    if model.schema.target is None:
        header = (word, "n", f"P({word})")
    statistic = model.summary.columns[factor.name]
    assert isinstance(statistic, (Counts, Numbers))
    missing = statistic.other.floats()[0] if isinstance(statistic, Counts) else statistic.other.sum(0).floats()
    remarks = []
    if missing.any() and factor.quotients(MISSING_CODE) is None:
        each = ", ".join(f"{c} {number(m)}" for c, m in zip(classes, missing, strict=True) if m)
        remarks.append(f"Missing, and left out: {each}.")
    title = f"Counts, and the {'probability' if own else 'share in training'} of each {word}"
    title += " in each class" if model.schema.target is not None else ""
    table = Table(title, header, tuple(rows), numbers_from(1, len(header)))
    return Document(f"{clean(factor.name)}: {plural(len(names), word)}", (table, *remarks))


def class_quantiles(numbers: Numbers) -> list[tuple[float, list[float | None]]]:
    """For each class the weight of its rows that have a number, and its least, quartiles and greatest value."""
    values, table = numbers.tally()
    out: list[tuple[float, list[float | None]]] = []
    for below in np.cumsum(table.floats(), axis=0).T:
        if not len(below) or below[-1] <= 0:
            out.append((0.0, [None] * len(QUANTILES)))
            continue
        places = np.searchsorted(below, np.maximum(np.array(QUANTILES) * below[-1], np.nextafter(0, 1)))
        out.append((float(below[-1]), [float(values[min(i, len(values) - 1)]) for i in places]))
    return out


def _moment_of(numbers: Numbers) -> Callable[[float], str]:
    """How times of a tally are written: where it has dropped low bits, the shortest date in the stretch that is left.

    A time is known to begin that stretch, and would else be told as one before the first row.
    """
    if not numbers.level:
        return moment
    return lambda at: date_within(at, at + abs(float(np.spacing(at))) * 2.0**numbers.level)


def _densities(model: Model, dates: bool, factor: Factor | None, numbers: Numbers, name: str) -> Document:
    at, length = (moment, duration) if dates else (number, number)
    tallied = _moment_of(numbers) if dates else number
    moments = numbers.moments()
    bandwidth = factor.kernels.bandwidth if isinstance(factor, Density) and factor.kernels is not None else None
    rows = []
    for k, (label, (weighed, spread)) in enumerate(zip(model.classes, class_quantiles(numbers), strict=True)):
        mean, sd, width = "–", "–", []
        if isinstance(factor, Density):
            mean, sd = at(float(factor.normal.mean[k])), length(float(factor.normal.deviation[k]))
        elif factor is None and moments[k][0] > 1:
            weight, first, second = moments[k]
            mean, sd = at(float(first / weight)), length(root_of((second - first * first / weight) / (weight - 1)))
        if bandwidth is not None:
            width = [length(float(bandwidth[k]))]
        gone = numbers.other[:, k].sum(0).floats()
        rows.append(
            (
                clean(label, 20),
                number(weighed),
                number(float(gone)),
                mean,
                sd,
                *width,
                *("–" if v is None else tallied(v) for v in spread),
            )
        )
    kernels = ["bandwidth"] if bandwidth is not None else []
    header = ("class", "weight", "missing", "mean", "sd", *kernels, "min", "25 %", "median", "75 %", "max")
    left_out = factor is None and model.factored and model.generative and model.block_of(name) is None
    remarks = ["All values are equal, so the model leaves this attribute out."] if left_out else []
    if numbers.level:
        remarks.append("Quantiles are from rounded values; mean and sd are exact.")
    kind = "kernel" if bandwidth is not None else "normal"
    title = f"A {kind} density for each class" if factor is not None else "Values"
    spare = ("25 %", "75 %", "missing", "bandwidth", "weight")
    table = Table(title, header, tuple(rows), numbers_from(1, len(header)), spare=spare)
    return Document(f"{clean(name)}: numbers", (table, *remarks))


# Tables of words for `likely show --all`: every attribute at once, as books print it; and planes between classes.

MOST_ROWS = 60
"""Of levels, bins or words so many are printed; JSON has all."""


def present_tables(model: Model, found: Sequence[AnyTable], fractions: bool, whole: bool = True) -> Document:
    """Counts, counts with pseudo-counts, P and smoothed P side by side; means and deviations of numbers."""
    tables = [*attribute_tables(found, fractions)]
    remarks = []
    if any(isinstance(t, AttributeTable) and t.is_smoothed for t in found):
        remarks.append(
            "n+ is the count with what smoothing adds to it; P is n over all rows of the class, P+ is smoothed."
        )
    long = [t.name for t in found if isinstance(t, AttributeTable) and len(t.rows) > MOST_ROWS]
    if long:
        remarks.append(f"Only the first {MOST_ROWS} of {', '.join(clean(n) for n in long)}; --json has all.")
    if whole:
        blocks = [factor for factor in model.factors if len(factor.names) > 1]
        tables += [exhibit_table(e, fractions) for factor in blocks for e in factor.exhibits(model.classes)]
        tables += [exhibit_table(e, fractions) for e in model.cell_tables()]
        remarks += [*_graph(model), judgement_sentence(model)]
    target = clean(model.schema.target.name) if model.schema.target is not None else "a density"
    return Document(f"{target}: {plural(len(tables), 'table')}", (*tables, *remarks))


def attribute_tables(found: Sequence[AnyTable], fractions: bool = False) -> tuple[Table, ...]:
    """The tables alone."""
    return tuple(_number_table(t) if isinstance(t, NumberTable) else _level_table(t, fractions) for t in found)


def _graph(model: Model) -> list[str]:
    """What hangs on what, in a line."""
    shape, target = model.shape(), model.schema.target
    graph = None if shape is None or target is None else graph_of(shape)
    if graph is None or target is None:
        return []
    lines = [f"{clean(target.name)} → {', '.join(clean(n) for n in graph.names)}"]
    lines += [f"{clean(parent)} → {clean(child)}" for parent, child in graph.arrows]
    return [f"The graph: {'; '.join(lines)}."]


def _level_table(table: AttributeTable, fractions: bool) -> Table:
    def chance(value: Quotient) -> str:
        return str(value) if fractions else number(float(value))

    classes = [f"({clean(c, 20)})" if c else "" for c in table.classes]
    given = [f"({table.kind}|{clean(c, 20)})" if c else "(class)" for c in table.classes]
    smoothed = table.is_smoothed
    header = [table.kind, *(f"n{c}" for c in classes)]
    header += [f"n+{c}" for c in classes] if smoothed else []
    header += [f"P{g}" for g in given]
    header += [f"P+{g}" for g in given] if smoothed else []
    rows = []
    for row in table.rows[:MOST_ROWS]:
        cells = [clean(row.level, 40), *(_count(n) for n in row.counts)]
        cells += [_count(n) for n in row.added] if smoothed else []
        cells += [chance(p) for p in row.plain]
        cells += [chance(p) for p in row.smoothed] if smoothed else []
        rows.append(tuple(cells))
    return Table(clean(table.name, 60), tuple(header), tuple(rows), numbers_from(1, len(header)))


def _count(value: Fraction) -> str:
    return number(float(value))


def _number_table(table: NumberTable) -> Table:
    rows = tuple(
        (clean(c, 30), number(m), number(d))
        for c, m, d in zip(table.classes, table.means, table.deviations, strict=True)
    )
    return Table(f"{clean(table.name, 60)}: a normal density", ("class", "mean", "sd"), rows, numbers_from(1, 3))


def tables_json(model: Model, found: Sequence[AnyTable]) -> bytes:
    """The same as JSON: counts as numbers, probabilities as fractions and decimals."""

    def chances(table: AttributeTable, values: Sequence[Quotient]) -> dict[str, object]:
        each = ({"fraction": str(v), "value": float(v)} for v in values)
        return dict(zip(table.classes, each, strict=True))

    def one(table: AnyTable) -> dict[str, object]:
        if isinstance(table, NumberTable):
            pairs = zip(table.classes, table.means, table.deviations, strict=True)
            return {"name": table.name, "kind": "number", "classes": {c: {"mean": m, "sd": d} for c, m, d in pairs}}
        rows = [
            {
                table.kind: row.level,
                "counts": {c: float(n) for c, n in zip(table.classes, row.counts, strict=True)},
                "smoothed_counts": {c: float(n) for c, n in zip(table.classes, row.added, strict=True)},
                "shares": chances(table, row.plain),
                "probabilities": chances(table, row.smoothed),
            }
            for row in table.rows
        ]
        return {"name": table.name, "kind": table.kind, "rows": rows}

    given = [
        {"title": e.title, "header": list(e.header), "rows": [list(r) for r in e.cells()]} for e in model.cell_tables()
    ]
    return state.as_json({"tables": [one(t) for t in found], "given_parents": given, "remarks": _graph(model)})


def present_plane(plane: Plane) -> Document:
    """The hyperplane between two classes: its equation, and the weights."""
    rows = [("(constant)", number(plane.constant, 6))]
    for name, level, weight in plane.weights:
        rows.append((clean(name, 40) + (f" {level}" if level == "(missing)" else f" = {clean(level)}" if level else ""),
                     number(weight, 6)))  # fmt: skip
    first, second = clean(plane.first), clean(plane.second)
    title = f"The hyperplane between {first} and {second}"
    return Document(
        f"{first} where this is above 0, {second} where it is below: {clean(plane.equation(), 2000)}",
        (Table(title, ("attribute", "weight"), tuple(rows), numbers_from(1, 2)),),
    )


def plane_json(plane: Plane) -> bytes:
    """The same as JSON."""
    weights = [{"attribute": name, "level": level, "weight": w} for name, level, w in plane.weights]
    return state.as_json(
        {
            "first": plane.first,
            "second": plane.second,
            "constant": plane.constant,
            "weights": weights,
            "equation": plane.equation(),
        }
    )
