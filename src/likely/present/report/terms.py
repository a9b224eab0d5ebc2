"""Tables of words for a model that is a sum of terms: terms by strength, curves of attributes, grids of pairs.

Only words: what is said, and in which steps, is in effects.py.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from likely.machinery.arrays import Floats
from likely.models.contracts import Model
from likely.present.effects import (
    Effect,
    Grid,
    coarsen,
    evidence_bits,
    find_effects,
    find_pairs,
    find_strengths,
    pair_grid,
    prior_of,
)
from likely.present.sections import Bar, Report, Table, numbers_from
from likely.present.words import clean, number, plural, signed

if TYPE_CHECKING:
    pass


MOST_TERMS, MOST_STEPS, MOST_GRID, MOST_CLASSES = 20, 20, 6, 8
"""Terms, steps of a curve, lines of a grid and classes that are written out."""
SPARKS = "▁▂▃▄▅▆▇█"
SPARK_STEPS = 16
WIDEST = 12
TITLES = (("What each attribute says by itself", 1), ("What pairs add", 2), ("What larger sets add", 3))
NOT_APART = "The bits of sets of three and more attributes also count what their attributes say by themselves."
STRONG = 0.02
"""Bits, in the mean: a pair that says less has no grid."""


def term_tables(model: Model, everything: bool = False) -> tuple[Table, ...]:
    """Attributes, pairs and larger sets, the strongest first, and the strongest pair as a grid."""
    if not model.term_strengths():
        return ()
    effects, two = find_effects(model), len(model.classes) == 2
    ordered = sorted(find_strengths(model, effects).items(), key=lambda item: -item[1])
    longest = ordered[0][1]
    out = []
    of = f", least value to greatest: higher speaks for {clean(model.classes[-1], 20)}"
    for title, count in TITLES:
        some = [(names, s) for names, s in ordered if min(len(names), 3) == count]
        kept = some if everything else some[:MOST_TERMS]
        rows = [
            (
                " × ".join(clean(n, 30) for n in names),
                f"{s / math.log(2):.3f}",
                Bar(s / longest if longest else 0.0, WIDEST),
                *((_spark(effects.get(names[0])),) if count == 1 and two else ()),
            )
            for names, s in kept
        ]
        if len(some) > len(kept):
            rest = sum(s for _, s in some[len(kept) :]) / math.log(2)
            rows.append((f"… {plural(len(some) - len(kept), 'more term')}", f"{rest:.3f}", *[""] * (len(rows[0]) - 2)))
        if rows:
            header: tuple[str, ...] = ("attribute" if count == 1 else "attributes", "bits", "")
            header = (*header, f"its curve{of}") if count == 1 and two else header
            out.append(Table(f"{title}, mean over rows", header, tuple(rows), frozenset({1})))
    strongest = next((names for names, s in ordered if len(names) == 2 and s >= STRONG * math.log(2)), None)
    return (*out, *(() if strongest is None else (grid_table(model, strongest),)))


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


def present_effect(model: Model, name: str, everything: bool = False) -> Report | None:
    """What one attribute says by itself and together with others; None where the model has no such terms."""
    if not model.term_strengths():
        return None
    effects = find_effects(model)
    strengths = find_strengths(model, effects)
    effect, own = effects.get(name), strengths.get((name,), 0.0) / math.log(2)
    tables = () if effect is None else (curve_table(model, effect, everything),)
    others = sorted(
        ((names, s) for names, s in strengths.items() if name in names and len(names) > 1), key=lambda item: -item[1]
    )
    if others:
        kept = others if everything else others[:MOST_TERMS]
        rows = tuple((" × ".join(clean(n, 30) for n in names), f"{s / math.log(2):.3f}") for names, s in kept)
        tables = (*tables, Table("What it adds together with others", ("attributes", "bits"), rows, frozenset({1})))
        pairs = [names for names, s in others if len(names) == 2 and s >= STRONG * math.log(2)]
        tables = (*tables, *(grid_table(model, names) for names in (pairs if everything else pairs[:1])))
    if not tables:
        return Report(f"{clean(name)}: the model leaves it out, because it told held-out rows nothing.")
    says = f"says {own:.3f} bits by itself, mean over rows" if own else "says nothing by itself"
    remarks = []
    if effect is not None and not everything and effect.edges is not None and len(effect.logs) > MOST_STEPS:
        remarks.append(
            f"The curve has {len(effect.logs)} steps; those that say nearly the same are shown as one. --json has all."
        )
    if any(len(names) > 2 for names, _ in others):
        remarks.append(NOT_APART)
    if effect is None or effect.missing is None:
        remarks.append("A value that is missing, or that training did not have, adds nothing.")
    return Report(f"{clean(name)} {says}.", tables, tuple(remarks))


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


def grid_table(model: Model, names: tuple[str, ...], most: int = MOST_GRID) -> Table:
    """What a pair adds, as a small grid, for the class of which it says most (of two, the second)."""
    grid = pair_grid(model, *find_pairs(model)[names], most)
    bits, k = grid_bits(model, grid)
    across, down = (clean(n, 30) for n in (grid.names[1], grid.names[0]))
    rows = tuple((label, *(signed(float(b)) for b in line)) for label, line in zip(grid.labels[0], bits, strict=True))
    title = f"{down} × {across} (columns): bits for {clean(model.classes[k], 20)} beyond what each says by itself"
    return Table(title, (down, *grid.labels[1]), rows, numbers_from(1, 1 + len(grid.labels[1])))


def grid_bits(model: Model, grid: Grid) -> tuple[Floats, int]:
    """The bits of each place for one class, (lines, columns), and which class that is."""
    bits = evidence_bits(grid.logs, prior_of(model))
    if len(model.classes) == 2:
        return bits[..., 1], 1
    by_class = np.einsum("i,j,ijk->k", *grid.weights, np.abs(np.where(np.isfinite(bits), bits, 0.0)))
    k = int(by_class.argmax())
    return bits[..., k], k
