"""Additive: evidence of one, two or more attributes at a time, found by boosting small trees. Settings and search.

Rows are seen once, as codes of one byte a cell; what follows is in boosting.py, anova.py and heldout/masking.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Bools, Floats, Hashes
from likely.models.additive.anova import DECIMALS, Anova, decompose
from likely.models.additive.boosting import boost, boost_many, most_tried, score_parts
from likely.models.additive.coding import (
    MOST_CODES,
    CodedParts,
    CodedRows,
    Coding,
    check_curves,
    code_rows,
    coding_of,
    curve_axis,
    curve_table,
    with_base,
)
from likely.models.additive.exchange import ALONE, RowSums, find_start, keep_first
from likely.models.additive.histograms import padded
from likely.models.additive.model import FACTS, additive_model, additive_terms, read_anova
from likely.models.additive.recipe import Recipe, TreeArrays
from likely.models.contracts import Exchange, Learner, Learning, Model, Sweep
from likely.models.fractions import log_of
from likely.models.heldout.kept_rows import KeptRows
from likely.models.heldout.search import HeldOutParts
from likely.models.heldout.weighing import PATTERNS, ROWS, fit_offsets
from likely.models.learning import looks_at_rows
from likely.models.model import learnable
from likely.models.prior import prior_quotients
from likely.models.settings import Settings, setting
from likely.models.shapes import Sum
from likely.sums.contracts import State
from likely.sums.state import read_number
from likely.sums.summary import Summary
from likely.table.batch import Batch
from likely.table.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_BYTES = 1 << 30
"""What the histograms of a tree may take up (where there are very many columns, they have fewer bins), and rows too."""
BYTES_A_CELL, BYTES_A_ROW = 3, 80
"""What rows take up while they are boosted: codes as they came, without those that are held out, and column by column;
scores, gradients, hashes, weights, places."""
LEAST_CODES = 4

MOST_HOME = 20_000_000
"""Different rows up to which they are brought home as codes, by who has them elsewhere: boosting there takes longer, as
machines wait for each other at every step."""


def check_names(value: Any) -> tuple[str, ...]:
    """Names of columns."""
    if isinstance(value, str) or not isinstance(value, Iterable) or not all(isinstance(v, str) for v in (*value,)):
        raise SettingError(f'{shown(value)} is not a list of columns. Write ["age", "hours"].')
    return tuple(value)


def check_sets(value: Any) -> tuple[tuple[str, ...], ...]:
    """Sets of names of columns."""
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise SettingError(
            f'{shown(value)} is not a list of sets of columns. Write [["age", "hours"], ["sex", "race"]].'
        )
    return tuple(check_names(names) for names in value)


@dataclass(frozen=True)
class Additive(Settings):
    """log P(class | row) = log P(class) + sum over small sets S of attributes of f_S(row_S), less what normalises it.

    Small trees are added one after the other, each a step of Newton's method on what those before leave unexplained,
    over at most `order` attributes; rows that are held out say when to stop, and all rows are learned from then. Trees
    over one or two attributes are added up in tables, from which what each attribute says by itself is taken out
    (functional ANOVA). Gradients are rounded to whole multiples of a fixed unit and summed exactly: no order of rows,
    batches or threads changes a bit.

    >>> Additive(order=3).leaves
    16
    """

    order: int | Literal["any"] = setting(
        2,
        "So many attributes take part in a term at most. 1: a curve for each attribute. 2: and what pairs say "
        "together. any: no limit.",
        at_least=1,
        whole=True,
        choices=("any",),
    )
    pairs: int | None = setting(
        None,
        "With order 2: pairs at most; of more, those that say least are left out. None: no limit.",
        at_least=0,
        whole=True,
        optional=True,
    )
    rounds: int = setting(1000, "Trees at most; held-out rows usually stop earlier.", at_least=1, whole=True)
    stopping: Literal["held-out", "never"] = setting(
        "held-out",
        "held-out: rows that are held out say after how many rounds to stop. never: all rounds are taken.",
        choices=("held-out", "never"),
    )
    rate: float | None = setting(
        None,
        "What each tree's step is multiplied by: smaller is more careful and takes longer. After 300 trees it grows "
        "by a 300th of itself with each. None: 0.1 for two classes, 0.2 for more, of which a tree serves all at once.",
        above=0,
        at_most=1,
        optional=True,
    )
    leaves: int = setting(16, "Leaves of a tree at most.", at_least=2, at_most=256, whole=True)
    ridge: float = setting(1.0, "Ridge penalty on the values of leaves, in rows without evidence.", above=0)
    least: float = setting(
        1.0, "The least curvature of a leaf: that of four rows of which nothing is known is 1.", at_least=0
    )
    bins: int = setting(MOST_CODES, "Bins of a number at most.", at_least=2, at_most=MOST_CODES, whole=True)
    missing: Literal["skip", "level"] = setting(
        "skip", "Leave missing cells out, or treat being missing as evidence.", choices=("skip", "level")
    )
    rising: tuple[str, ...] = setting(
        (), "Numbers with which the second of two classes may only become more probable.", convert=check_names
    )
    falling: tuple[str, ...] = setting(
        (), "Numbers with which the second of two classes may only become less probable.", convert=check_names
    )
    apart: tuple[tuple[str, ...], ...] = setting(
        (), "Sets of attributes no two of which may be in one term.", convert=check_sets
    )
    curves: Mapping[str, Mapping[str, Any]] = setting(
        {},
        "Curves given by hand, in natural logs: such an attribute says just that, and takes part in no other term.",
        convert=check_curves,
    )
    most_rows: int | None = setting(
        None,
        "Different rows that are learned from at most: of more, those with the smallest hashes of their content. None: "
        "as many as take up a gigabyte, whatever the machine (eight million of 20 attributes).",
        at_least=100,
        whole=True,
        optional=True,
    )

    @property
    def spoken(self) -> str:
        """By how many attributes take part in a term, and whether it is larger than usual."""
        terms = {1: "curves", 2: "pairs", 3: "triples", "any": "trees"}.get(self.order, f"sets of {self.order}")
        return f"{'larger ' * (self.leaves > type(self).leaves)}boosted {terms}"

    def needs(self, schema: Schema) -> frozenset[str]:
        """Nothing beyond the first order: levels, and tallies of numbers, which say where to cut."""
        return frozenset()

    @looks_at_rows
    def learn(self, summary: Summary) -> Learning[Model]:
        """The model of rows as codes, seen once; with a single class or no attribute there is nothing to look for."""
        summary = learnable(summary)
        coding = self._coding(summary)
        self._check(coding)
        known = int((summary.total.floats() > 0).sum())
        if known < 2 or not coding.axes:
            return additive_model(self, coding, empty_terms(coding), {}, ())
        return self._model(coding, (yield from self._find(coding)))

    def restore(self, summary: Summary, found: State) -> Model:
        """The model as a file keeps it."""
        summary = learnable(summary)
        coding = self._coding(summary)
        if not found:
            return additive_model(self, coding, empty_terms(coding), {}, ())
        facts = {name: read_number(found["facts"][name], 0.0, math.inf, name) for name in FACTS}
        anova = read_anova(found, coding.sizes.tolist(), len(summary.classes))
        return additive_model(self, coding, anova, facts, ())

    def _coding(self, summary: Summary) -> Coding:
        classes = len(summary.classes)
        scores = padded(classes if classes > 2 else 1)
        columns = max(len(summary.schema.attributes), 1)
        fits = MOST_BYTES // (8 * scores * self.leaves * columns)
        schema = summary.schema
        for name in self.curves:
            if schema[name].role != "attribute":
                raise SettingError(f"{shown(name)} is not an attribute, so it can have no curve.")
        given = {name: curve_axis(name, curve, summary) for name, curve in self.curves.items()}
        return coding_of(summary, max(LEAST_CODES, min(self.bins, fits)), self.missing == "level", given)

    def most_of(self, coding: Coding) -> int:
        """Different rows that are learned from at most."""
        return (
            MOST_BYTES // (BYTES_A_CELL * len(coding.axes) + BYTES_A_ROW) if self.most_rows is None else self.most_rows
        )

    def _check(self, coding: Coding) -> None:
        """Refuse names of no attribute, and curves that cannot be told to rise."""
        schema = coding.summary.schema
        for name in (*self.rising, *self.falling, *(name for names in self.apart for name in names)):
            if schema[name].role != "attribute":
                raise SettingError(f"{shown(name)} is not an attribute, so Additive cannot be told anything of it.")
        if self.pairs is not None and self.order not in (1, 2):
            raise SettingError(f"pairs is for order 2, and order is {self.order}. Say order=2, or leave pairs out.")
        both = set(self.rising) & set(self.falling)
        if both:
            raise SettingError(f"{shown(min(both))} cannot be rising and falling at once. Say one of them.")
        ordered = dict(zip(coding.names, coding.ordered, strict=True))
        for name in (*self.rising, *self.falling):
            if not ordered.get(name, False):
                raise SettingError(f"{shown(name)} has no order in which anything could rise: its levels are names.")
        if (self.rising or self.falling) and len(coding.summary.classes) != 2:
            raise SettingError(
                f"rising and falling are for two classes; there are {len(coding.summary.classes)}. Leave them out, or "
                "make two classes of the target."
            )

    def recipe(self, coding: Coding, start: Floats) -> Recipe:
        """How trees are grown over these codes."""
        names, count = coding.names, len(coding.axes)
        direction = [(name in self.rising) - (name in self.falling) for name in names]
        apart = np.zeros((count, count) if self.apart else (0, 0), np.bool_)
        for some in self.apart:
            places = [names.index(name) for name in some if name in names]
            apart[np.ix_(places, places)] = True
        if self.apart:
            np.fill_diagonal(apart, False)
        return Recipe(
            sizes=coding.sizes,
            nominal=~np.array(coding.ordered, np.bool_),
            direction=np.array(direction, np.int64),
            apart=apart,
            start=start,
            order=count if self.order == "any" else int(self.order),
            leaves=self.leaves,
            rate=(0.1 if len(start) == 1 else 0.2) if self.rate is None else self.rate,
            ridge=self.ridge,
            least=self.least,
            rounds=self.rounds,
        )

    def prepared(self, coding: Coding) -> tuple[Recipe, dict[int, Floats]]:
        """How trees are grown over these codes, and the curves that are given, by the place of their attribute."""
        log_prior = log_of(prior_quotients(coding.summary, "observed", 0.0))
        start = log_prior[1:] - log_prior[:1] if len(log_prior) == 2 else log_prior
        given = {coding.names.index(n): curve_table(n, c, coding.summary.classes) for n, c in self.curves.items()}
        return self.recipe(coding, start), given

    def terms_of(self, coding: Coding, trees: list[TreeArrays], rows: RowSums) -> Anova:
        """Trees taken apart, and what knowing an attribute is worth."""
        recipe, given = self.prepared(coding)
        log_prior = log_of(prior_quotients(coding.summary, "observed", 0.0))
        anova = decompose(trees, rows, coding.sizes.tolist(), recipe.start)
        anova = anova if self.pairs is None else anova.with_strongest_pairs(self.pairs, rows)
        return with_offsets(anova.for_two_classes() if len(log_prior) == 2 else anova, coding, rows, log_prior, given)

    def hold_out(self, parts: HeldOutParts, places: NDArray[np.intp]) -> tuple[Floats, Learner]:
        """What models of the other parts say of held-out rows, all with the number of rounds that these rows say."""
        total = learnable(parts.total)
        coding = self._coding(total)
        self._check(coding)
        if not coding.axes:
            return np.zeros((len(places), len(total.classes))), self
        recipe, given = self.prepared(coding)
        said, rounds = score_parts(self, coding, recipe, given, [*parts.training], parts.rows, places)
        return said, replace(self, rounds=max(rounds, 1), stopping="never")

    def learn_beside(self, summary: Summary, held_out: KeptRows) -> Learning[tuple[Model, Floats, Additive]]:
        """The model of all rows but some, which say how many trees; what it says of these beyond the prior; and the
        learner, with so many rounds."""
        summary = learnable(summary)
        coding = self._coding(summary)
        self._check(coding)
        own = CodedRows.of(coding, held_out.batch, held_out.group, held_out.weight, len(held_out) + 1)
        found = yield from self._find(coding, own.hashes)
        settled = replace(self, rounds=max(int(found.facts[FACTS[0]]), 1), stopping="never")
        model = settled._model(coding, found)
        told = (
            f"Learned from {found.rows:,} rows that differ once numbers are cut into bins; {len(held_out):,} others "
            "judged it, and are not learned from."
        )
        said = model.log_joint(held_out.batch) - log_of(prior_quotients(coding.summary, "observed", 0.0))
        return replace(model, notes=(told, *model.notes)), said, settled

    @property
    def told_by_trees(self) -> bool:
        """Whether all that trees say is kept in the terms."""
        return self.pairs is None

    def evidence(self, coding: Coding, trees: list[TreeArrays], learned: CodedRows, batch: Batch) -> Floats:
        """What trees that were learned from some rows say of others beyond the prior."""
        terms = additive_terms(coding.axes, self.terms_of(coding, trees, RowSums(learned)))
        log_prior = log_of(prior_quotients(coding.summary, "observed", 0.0))
        return Sum(log_prior, terms).scored(batch)[0] - log_prior

    def _find(self, coding: Coding, judges: Hashes | None = None) -> Learning[FoundTerms]:
        """What boosting finds, here or, of very many rows, where they are."""
        few, most = max(MOST_HOME, most_tried(self.stopping == "held-out")), self.most_of(coding)
        many = min(coding.summary.rows, most) > few
        together = BoostTogether(self, coding, few, judges) if many else None
        (found,) = yield Sweep(code_rows, (coding, most), together=together)
        return found if isinstance(found, FoundTerms) else self.find_terms(coding, found.joined(), judges=judges)

    def find_terms(
        self, coding: Coding, rows: CodedRows, exchange: Exchange = ALONE, judges: Hashes | None = None
    ) -> FoundTerms:
        """Boost, take the trees apart, and find what knowing an attribute is worth; with machines that have other
        rows, through `exchange`. Rows with the hashes of `judges` say when to stop, and are not learned from."""
        recipe, given = self.prepared(coding)
        seen, search = with_base(rows, given, len(coding.summary.classes) == 2), self.stopping == "held-out"
        if exchange is ALONE and judges is None:
            trees, stopped = boost(recipe, seen, search)
        else:
            out = None if judges is None else np.isin(rows.hashes, judges)
            trees, stopped = boost_many(recipe, seen, search, exchange, out)
            rows = rows if out is None else rows.take(~out)
        sums = RowSums(rows, exchange)
        anova = self.terms_of(coding, trees, sums)
        count = find_start(rows, exchange)[1]
        facts = dict(zip(FACTS, (float(stopped.rounds), stopped.weight, stopped.loss), strict=True))
        return FoundTerms(anova, facts, count, rows.dropped)

    def _model(self, coding: Coding, found: FoundTerms) -> Model:
        notes = []
        if found.dropped:
            notes.append(
                f"Learned from {found.rows:,} of the different rows: those with the smallest hashes of their content "
                "(most_rows)."
            )
        return additive_model(self, coding, found.anova, found.facts, notes)


@dataclass(frozen=True)
class FoundTerms:
    """What boosting found."""

    anova: Anova
    facts: dict[str, float]
    rows: int
    """How many different rows were learned from."""
    dropped: bool
    """Whether there were more."""


@dataclass(frozen=True)
class BoostTogether:
    """Boosting where the rows are: machines exchange sums, and each grows the same trees."""

    learner: Additive
    coding: Coding
    few: int
    """Up to so many different rows are brought home."""
    judges: Hashes | None

    def deal(self, sums: tuple[CodedParts], places: int) -> list[CodedParts]:
        """The rows by hash."""
        return sums[0].dealt(places)

    def work(self, dealt: Sequence[CodedParts], exchange: Exchange) -> tuple[CodedParts] | tuple[FoundTerms] | None:
        """The first place says what was found; of few rows, each those that it has."""
        none, most = CodedRows.none(len(self.coding.axes)), self.learner.most_of(self.coding)
        rows = CodedParts((none, *(part for parts in dealt for part in parts.parts))).joined()
        rows = keep_first(rows, most, exchange)
        if find_start(rows, exchange)[1] <= self.few:
            return (CodedParts((replace(rows, most=most),)),)
        found = self.learner.find_terms(self.coding, rows, exchange, self.judges)
        return (found,) if exchange.place == 0 else None


def empty_terms(coding: Coding) -> Anova:
    """Terms that say nothing."""
    classes = len(coding.summary.classes)
    return Anova(np.zeros(classes), tuple(np.zeros((int(size), classes)) for size in coding.sizes), {}, {})


def with_offsets(anova: Anova, coding: Coding, rows: RowSums, log_prior: Floats, given: Mapping[int, Floats]) -> Anova:
    """The terms, with what it is worth to know each attribute: unknown says nothing, and nothing known is the prior.

    Given curves are among them as they are.
    """
    sample = rows.first.take(slice(0, ROWS))
    strengths = anova.weigh_attributes(sample.codes.astype(np.int32))
    anova = replace(anova, mains=tuple(given.get(j, table) for j, table in enumerate(anova.mains)))
    codes = coding.as_told(sample.codes)
    finite = np.isfinite(log_prior)
    total = np.where(finite, anova.constant - np.where(finite, log_prior, 0.0), 0.0)
    total[finite] -= total[finite].mean()

    def score(known: Bools) -> Floats:
        out = np.tile(log_prior, (len(known), 1))
        anova.add_codes(np.where(known, np.tile(codes, (PATTERNS, 1)), np.int32(-1)), out)
        return out

    classes = sample.group.astype(np.intp)
    offsets = fit_offsets(score, sample.hashes, codes >= 0, classes, sample.weight, total, strengths)
    mains = []
    for j, table in enumerate(anova.mains):
        if j in given:
            mains.append(table)
            continue
        there = rows.by_code[j][: len(table)] > 0
        mains.append(np.round(table + np.where(there[:, None], offsets[j], 0.0), DECIMALS) + 0.0)
    return replace(anova, constant=log_prior, mains=tuple(mains))
