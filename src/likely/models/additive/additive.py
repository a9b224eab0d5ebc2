"""Additive: evidence of one, two or more attributes at a time, found by boosting small trees. Settings and search.

Rows are seen once, as codes of one byte a cell; what follows is in boosting.py, anova.py and heldout/masking.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likely.errors import SettingError, shown
from likely.machinery.arrays import Bools, Floats
from likely.models.additive.anova import DECIMALS, Anova, decompose, measure_terms
from likely.models.additive.boosting import Stopped, boost, boost_beside, score_parts, score_rows
from likely.models.additive.coding import (
    MOST_CODES,
    CodedRows,
    Coding,
    check_curves,
    code_rows,
    coding_of,
    curve_axis,
    curve_table,
    with_base,
)
from likely.models.additive.histograms import padded
from likely.models.additive.model import FACTS, additive_model, additive_terms, read_anova, read_strengths
from likely.models.additive.recipe import Recipe, TreeArrays
from likely.models.contracts import Learner, Learning, Model, Sweep
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
MEASURED = 1 << 12
"""Rows on which the strengths of terms are measured at most: those with the smallest hashes."""


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
            return additive_model(self, coding, empty_terms(coding), {}, {}, ())
        (parts,) = yield Sweep(code_rows, (coding, self._most_rows(coding)))
        return self.model_of(coding, parts.joined())

    def restore(self, summary: Summary, found: State) -> Model:
        """The model as a file keeps it."""
        summary = learnable(summary)
        coding = self._coding(summary)
        if not found:
            return additive_model(self, coding, empty_terms(coding), {}, {}, ())
        facts = {name: read_number(found["facts"][name], 0.0, math.inf, name) for name in FACTS}
        anova = read_anova(found, coding.sizes.tolist(), len(summary.classes))
        return additive_model(self, coding, anova, facts, read_strengths(found, anova), ())

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

    def _most_rows(self, coding: Coding) -> int:
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

    def terms_of(self, coding: Coding, trees: list[TreeArrays], rows: CodedRows) -> Anova:
        """Trees taken apart, and what knowing an attribute is worth."""
        recipe, given = self.prepared(coding)
        log_prior = log_of(prior_quotients(coding.summary, "observed", 0.0))
        anova = decompose(trees, rows, coding.sizes.tolist(), recipe.start)
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
        recipe, given = self.prepared(coding)
        two = len(summary.classes) == 2
        (parts,) = yield Sweep(code_rows, (coding, self._most_rows(coding)))
        rows = parts.joined()
        del parts
        outside = CodedRows.of(coding, held_out.batch, held_out.group, held_out.weight, len(held_out) + 1)
        out = np.isin(rows.hashes, outside.hashes)
        learned, others = rows.take(~out), rows.take(out)
        del rows
        trees, found = boost_beside(recipe, with_base(learned, given, two), with_base(others, given, two))
        said = score_rows(self, coding, trees, given, learned, held_out)
        settled = replace(self, rounds=max(len(trees), 1), stopping="never")
        model = settled.model_of_trees(coding, learned, trees, found)
        told = f"Learned from {len(learned):,} different rows; {len(others):,} others judged it."
        return replace(model, notes=(told, *model.notes)), said, settled

    def evidence(self, coding: Coding, trees: list[TreeArrays], learned: CodedRows, batch: Batch) -> Floats:
        """What trees that were learned from some rows say of others beyond the prior."""
        terms = additive_terms(coding.axes, self.terms_of(coding, trees, learned))
        log_prior = log_of(prior_quotients(coding.summary, "observed", 0.0))
        return Sum(log_prior, terms).scored(batch)[0] - log_prior

    def model_of(self, coding: Coding, rows: CodedRows) -> Model:
        """Boost, and take the trees apart."""
        recipe, given = self.prepared(coding)
        two = len(coding.summary.classes) == 2
        trees, found = boost(recipe, with_base(rows, given, two), self.stopping == "held-out")
        return self.model_of_trees(coding, rows, trees, found)

    def model_of_trees(self, coding: Coding, rows: CodedRows, trees: list[TreeArrays], found: Stopped) -> Model:
        """Take trees apart, and find what knowing an attribute is worth."""
        anova = self.terms_of(coding, trees, rows)
        log_prior = log_of(prior_quotients(coding.summary, "observed", 0.0))
        notes = []
        if rows.dropped:
            notes.append(
                f"Learned from {len(rows):,} of the different rows: those with the smallest hashes of their content "
                "(most_rows)."
            )
        facts = dict(zip(FACTS, (float(found.rounds), found.weight, found.loss), strict=True))
        some = rows.take(slice(0, MEASURED))
        strengths = measure_terms(anova, coding.as_told(some.codes), some.weight, np.isfinite(log_prior))
        return additive_model(self, coding, anova, facts, strengths, notes)


def empty_terms(coding: Coding) -> Anova:
    """Terms that say nothing."""
    classes = len(coding.summary.classes)
    return Anova(np.zeros(classes), tuple(np.zeros((int(size), classes)) for size in coding.sizes), {}, {})


def with_offsets(
    anova: Anova, coding: Coding, rows: CodedRows, log_prior: Floats, given: Mapping[int, Floats]
) -> Anova:
    """The terms, with what it is worth to know each attribute: unknown says nothing, and nothing known is the prior.

    Given curves are among them as they are.
    """
    sample = rows.take(slice(0, ROWS))
    strengths = _strengths(anova, sample.codes.astype(np.int32))
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
        there = np.bincount(rows.codes[:, j], minlength=len(table)) > 0
        mains.append(np.round(table + np.where(there[:, None], offsets[j], 0.0), DECIMALS) + 0.0)
    return replace(anova, constant=log_prior, mains=tuple(mains))


def _strengths(anova: Anova, codes: NDArray[np.int32]) -> Floats:
    """How much each attribute says: the mean square of its terms, shared among the attributes of a term."""
    out = np.zeros(len(anova.mains))
    for at, said in anova.each_term(codes):
        out[list(at)] += (said * said).mean() / len(at)
    return out
