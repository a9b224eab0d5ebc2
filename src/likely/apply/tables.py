"""The tables of a model as books print them: counts, counts with pseudo-counts, P and smoothed P, side by side.

All of it exact, read off the shapes of the model's factors; how it is printed is in present/.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from likely.errors import ColumnError, SettingError, nearest, shown
from likely.machinery.presented import Presented
from likely.models.contracts import Model
from likely.models.factors.categorical import shares_in_training
from likely.models.fractions import Quotient, as_written
from likely.models.model import numbered
from likely.models.shapes import BinTable, Density, LevelTable, WordWeights
from likely.sums.columns.counts import Counts
from likely.table.encode import Encoder
from likely.table.open import open_source

MOST_WORDS = 1000
"""Of a text so many words are listed."""


@dataclass(frozen=True)
class LevelRow:
    """One level (bin, word), with a number for each class of the table."""

    level: str
    counts: tuple[Fraction, ...]
    """n: what the rows of each class weigh that have the level."""
    added: tuple[Fraction, ...]
    """The same with what smoothing adds."""
    plain: tuple[Quotient, ...]
    """n / N, maximum likelihood."""
    smoothed: tuple[Quotient, ...]
    """P(level | class) as the model has it."""


@dataclass(frozen=True)
class AttributeTable:
    """All levels of one attribute, bins of a number, or words of a text."""

    name: str
    kind: Literal["level", "bin", "word", "class"]
    classes: tuple[str, ...]
    rows: tuple[LevelRow, ...]

    @property
    def is_smoothed(self) -> bool:
        """Whether the model's probabilities differ from plain shares."""
        return any(p.value != q.value for row in self.rows for p, q in zip(row.plain, row.smoothed, strict=True))


@dataclass(frozen=True)
class NumberTable:
    """A number with a density: its mean and standard deviation in each class."""

    name: str
    classes: tuple[str, ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]


AnyTable: TypeAlias = AttributeTable | NumberTable


class AttributeTables(Presented, tuple[AnyTable, ...]):
    """Tables of several attributes, which show themselves as books print them."""

    __slots__ = ()


def tables(
    model: Model,
    *,
    attribute: str | None = None,
    levels: Mapping[str, Sequence[str]] | None = None,
    levels_of: object = None,
) -> AttributeTables:
    """The class, then every attribute (or one): counts and probabilities, or mean and deviation.

    Levels come in the order of the model, in that of their first appearance in a table (`levels_of`), or as said:
    `levels={"outlook": ["sunny", "overcast", "rainy"]}`; those that are not named follow. Classes are levels of the
    target.

    >>> import likely
    >>> model = likely.fit({"sky": ["sun", "sun", "rain", "rain"], "play": ["y", "y", "n", "y"]}, target="play")
    >>> [(row.level, str(row.plain[1]), str(row.smoothed[1])) for row in likely.tables(model)[1].rows]
    [('rain', '1/3', '2/5'), ('sun', '2/3', '3/5')]
    """
    order = {} if levels_of is None else levels_in_order(model, levels_of)
    for name, said in (levels or {}).items():
        order[name] = _checked(model, name, said)
    target = model.schema.target
    places = [*range(len(model.classes))]
    if target is not None and target.name in order:
        places = [model.classes.index(c) for c in _sorted(list(model.classes), order[target.name])]
    out: list[AnyTable] = []
    if target is not None and attribute in (None, target.name):
        out.append(_class_table(model, target.name, places))
    for column in model.schema.attributes:
        if attribute is None and "joint" in model.learned.details:
            continue  # what it believes of single attributes follows from its joint table, and is not what it goes by
        if attribute is None or attribute == column.name:
            found = _table_of(model, column.name, places, order.get(column.name, []))
            out += [] if found is None else [found]
    if not out and attribute is not None:
        known = [c.name for c in model.schema.attributes]
        if attribute not in known:
            raise ColumnError(f"{shown(attribute)} is not an attribute of the model. {nearest(attribute, known)}")
        raise SettingError(
            f"The model has no table of {shown(attribute)} by itself. `likely show` without --all says what there is."
        )
    return AttributeTables(out)


def levels_in_order(model: Model, data: object) -> dict[str, list[str]]:
    """The levels of each nominal attribute, and the classes, in the order in which a table first has them."""
    source = open_source(data)
    columns = [c for c in model.schema.columns if c.role in ("attribute", "target") and c.kind != "text"]
    names = [c.name for c in columns if c.name in source.schema.names]
    if not names:
        raise ColumnError(f"{source.name} has none of the columns of this model, so it has no order of their levels.")
    encoder, out = Encoder(model.schema.with_columns(columns)), {}
    for start, arrow in numbered(source.batches(names)):
        batch = encoder.encode(arrow, start)
        for name, cells in batch.cells.items():
            if hasattr(cells, "labels"):
                out[name] = list(cells.labels.names)
        if batch.target is not None and model.schema.target is not None:
            out[model.schema.target.name] = list(batch.target.labels.names)
    return out


def _checked(model: Model, name: str, said: Sequence[str]) -> list[str]:
    column = model.schema[name]
    known = list(model.classes) if column.role == "target" else model.levels(name)
    if not known:
        raise SettingError(f"{shown(name)} has no levels to put in order.")
    for level in said:
        if level not in known:
            raise ColumnError(f"{shown(name)} has no level {shown(level)}. {nearest(level, known)}")
    return [*said]


def _sorted(names: list[str], first: Sequence[str]) -> list[str]:
    """The names, those that are listed first in that order."""
    there = [name for name in first if name in names]
    return [*there, *(name for name in names if name not in set(there))]


def _class_table(model: Model, name: str, places: list[int]) -> AttributeTable:
    """Rows of each class, and P(class)."""
    weights = model.summary.total.fractions()
    whole = sum(weights, Fraction(0))
    plain = [Quotient(w, whole) for w in weights]
    prior = list(model.prior) or plain
    # A prior that was given rather than counted has no count with something added.
    added = [p.top if p.bottom != 1 and model.prior else w for p, w in zip(prior, weights, strict=True)]
    rows = [LevelRow(model.classes[k], (weights[k],), (added[k],), (plain[k],), (prior[k],)) for k in places]
    return AttributeTable(name, "class", ("",), tuple(rows))


def _table_of(model: Model, name: str, places: list[int], first: Sequence[str]) -> AnyTable | None:
    factor, statistic = model.factor_of(name), model.summary.columns[name]
    classes = tuple(model.classes[k] for k in places)
    text = next((t for t in model.texts if t.name == name), None)
    if text is not None:
        return _word_table(text, classes, places)
    if isinstance(statistic, Counts):
        own = factor if isinstance(factor, LevelTable) else shares_in_training(model.schema[name], statistic)
        return _level_table(own, "level", classes, places, first)
    if isinstance(factor, BinTable) and factor.levels is not None:
        return _level_table(factor.levels, "bin", classes, places, (), name)
    if isinstance(factor, Density):
        mean, deviation = factor.normal.mean.tolist(), factor.normal.deviation.tolist()
        return NumberTable(name, classes, tuple(mean[k] for k in places), tuple(deviation[k] for k in places))
    return None


def _level_table(
    factor: LevelTable,
    kind: Literal["level", "bin"],
    classes: tuple[str, ...],
    places: list[int],
    first: Sequence[str],
    name: str = "",
) -> AttributeTable | None:
    names, ratios = factor.labels.names, factor.ratios()
    if ratios is None:
        return None
    found: dict[str, tuple[list[Fraction], tuple[Quotient, ...]]] = {}
    for code, level in enumerate(names):
        ratio, quotients = ratios(code), factor.quotients(code)
        if ratio is not None and quotients is not None:
            found[level] = ([as_written(float(n)) for n in ratio.seen], quotients)
    totals = [sum((seen[k] for seen, _ in found.values()), Fraction(0)) for k in range(len(factor.log_table[0]))]
    rows = []
    for level in _sorted(list(found), first):
        seen, quotients = found[level]
        rows.append(
            LevelRow(
                level,
                tuple(seen[k] for k in places),
                tuple(quotients[k].top for k in places),
                tuple(Quotient(seen[k], totals[k]) for k in places),
                tuple(quotients[k] for k in places),
            )
        )
    return AttributeTable(name or factor.name, kind, classes, tuple(rows))


def _word_table(text: WordWeights, classes: tuple[str, ...], places: list[int]) -> AttributeTable | None:
    rows = []
    for k, word in enumerate(text.scores.vocabulary):
        plain, smoothed = text.word_quotients(k, smoothed=False), text.word_quotients(k)
        if plain is None or smoothed is None:
            return None  # weights that are no probabilities
        if k == MOST_WORDS:
            break
        rows.append(
            LevelRow(
                word,
                tuple(plain[j].top for j in places),
                tuple(smoothed[j].top for j in places),
                tuple(plain[j] for j in places),
                tuple(smoothed[j] for j in places),
            )
        )
    return AttributeTable(text.name, "word", classes, tuple(rows))
