"""The check-up of a table: everything in it that may mislead a model or its scores, from the sums and one more sweep.

Nothing is changed and nothing is left out by it: it names what a person should look at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, Unpack

import numpy as np

from likely.errors import SettingError
from likely.evaluate.attributes.information import AttributeInformation, attributes, entropy, information
from likely.evaluate.attributes.redundancy import Sampler, outside
from likely.evaluate.crossval.dealing import Folds, deal_stratified
from likely.evaluate.crossval.folds import FoldedRows, draft_folds, sum_folds
from likely.evaluate.crossval.validate import all_classes, check_classes, check_whole, require_target, teach_folds
from likely.evaluate.look import judge_without
from likely.evaluate.scores.intervals import Measure
from likely.evaluate.troubles.checkup import RowOrder, checkup_findings
from likely.evaluate.troubles.columns import (
    AttributeTests,
    CellSample,
    Dependency,
    association,
    association_tests,
    dependencies,
)
from likely.evaluate.troubles.findings import Finding, TextFinding, without_sentence
from likely.evaluate.troubles.rows import Copies, Duplicates, EqualRows, Surprise, Suspect, SuspectFinder, repeated_rows
from likely.intake.engine import Piece
from likely.intake.reading import GivenLearner, Reading, ReadingOptions, read_arguments, read_learner, with_encoding
from likely.machinery.presented import Presented
from likely.models.contracts import Learner, Model, setting_of
from likely.models.default import default_learner
from likely.sums import state
from likely.sums.summary import Summary
from likely.sums.words.counting import Words
from likely.table.source import Source
from likely.table.wrappers import parse_once

MOST_SUSPECTS = 10_000
BLOCKS = 16
"""Runs of rows that the order of the table is looked at in."""
ROWS_A_BLOCK = 10


@dataclass(frozen=True, repr=False)
class Checkup(Presented):
    """Everything `likely doctor` shows; of the rows only numbers, and the cells that speak against suspects."""

    source: str
    target: str
    rows: int
    left_out: int
    classes: tuple[str, ...]
    findings: tuple[Finding, ...]
    """What may be wrong, grave first."""
    attributes: tuple[AttributeTests, ...]
    order: RowOrder | None
    """What the place of a row tells; None where there are too few rows."""
    bonds: tuple[Dependency, ...]
    twins: EqualRows
    suspects: tuple[Suspect, ...]
    """Rows whose class is least probable, the worst first."""
    surprises: tuple[Surprise, ...]
    learner: str
    folds: int
    seed: int
    without_leaks: Measure | None = None
    """The accuracy that `look` finds without the columns that give the class away; None where there are none."""

    @property
    def grave(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.grave)

    def json(self) -> bytes:
        """The whole record as JSON."""
        return state.as_json(state.plain(self))


class _Examiner:
    """One for each thread: everything that is looked at in one sweep."""

    def __init__(self, total: Summary, found: list[AttributeInformation], models: list[Model], suspects: int) -> None:
        self.sampler = Sampler(total, found)
        self.texts = {name: Duplicates() for name, held in total.columns.items() if isinstance(held, Words)}
        self.cells, self.rows = CellSample(total), Duplicates()
        classes = all_classes(total, {("", k): model for k, model in enumerate(models)})
        self.suspects = SuspectFinder(models, classes, suspects)
        self._all = total.rows + total.left_out
        self.order = np.zeros((min(BLOCKS, self._all // ROWS_A_BLOCK), len(total.classes)), np.int64)

    def take(self, piece: Piece, start: int) -> None:
        for one in (self.sampler, self.cells, self.suspects):
            one.take(piece, start)
        batch = piece.batch
        self.rows.take_rows(batch, list(batch.cells), piece.fold, start)
        for name, texts in self.texts.items():
            texts.take_texts(batch, name, piece.fold)
        assert batch.target is not None
        group = batch.target.codes if batch.weight is None else np.where(batch.weight > 0, batch.target.codes, -1)
        if len(self.order):
            at = np.flatnonzero(group >= 0)
            np.add.at(self.order, ((start + at) * len(self.order) // self._all, group[at]), 1)


def doctor(
    data: object,
    target: object = None,
    learner: GivenLearner = None,
    *,
    suspects: int = 10,
    folds: int = 5,
    seed: int = 0,
    **reading: Unpack[ReadingOptions],
) -> Checkup:
    """What may be wrong with a table; `reading` takes what `summarize` takes.

    `suspects` rows at most are named whose class the rest of the table makes improbable, by models of `learner`.

    >>> found = doctor({"x": ["a", "b"] * 200, "again": ["c", "d"] * 200, "y": ["p", "q"] * 199 + ["p", "p"]}, "y")
    >>> [(f.kind, f.columns) for f in found.grave if f.columns]
    [('leak', ('x',)), ('leak', ('again',)), ('copy', ('again', 'x'))]
    >>> [(s.row, s.label, s.likely) for s in found.suspects]
    [(400, 'p', 'q')]
    """
    most = check_whole("suspects", suspects, 0, MOST_SUSPECTS)
    data, how = read_arguments(data, target, reading)
    asked = read_learner(learner)

    def work(source: Source) -> Checkup:
        rows = parse_once(source)
        return _with_rest(rows, how, _examined(rows, how, asked, most, folds, seed))

    return with_encoding(data, how, work)


def _with_rest(source: Source, reading: Reading, record: Checkup) -> Checkup:
    """The record, with what `look` would say of the other columns beside the first that gives the class away."""
    told = sorted(record.attributes, key=lambda t: -t.bits)
    strongest = told[0].name if told else ""
    first = [f for f in record.grave if f.kind == "leak" or (f.kind == "date" and f.columns == (strongest,))]
    names = list(dict.fromkeys(name for f in first for name in f.columns))
    if not names or reading.schema is not None or {*names} == {t.name for t in told}:
        return record
    left = judge_without(source, reading, names)
    words = f"{first[0].words.partition(' To leave it out:')[0]} {without_sentence(names, left)}"
    rest = (f for f in record.findings if f not in first)
    return replace(record, findings=(replace(first[0], words=words), *first[1:], *rest), without_leaks=left)


def _examined(
    source: Source, reading: Reading, learner: Learner | None, suspects: int, folds: int, seed: int
) -> Checkup:
    first, deal = draft_folds(source, reading, Folds(folds, seed)), deal_stratified(folds, seed)
    target = require_target(first.schema)
    sums = sum_folds(source, first, reading, deal)
    total = sums.total
    check_classes(total, source)
    if total.rows < 2 * folds and folds > 2:  # as `look` does
        return _examined(source, reading, learner, suspects, max(2, total.rows // 2), seed)
    chosen = default_learner("doubt", total).learner if learner is None else learner
    rows = FoldedRows(source, total, reading, deal)
    models, refused = teach_folds(rows, {"": chosen}, sums)
    if refused:
        raise SettingError(refused[""])
    found = attributes(total)
    workers = rows.sweep(lambda: _Examiner(total, found, models[""], suspects))
    bound, grouped = dependencies(reduce(add, (w.cells for w in workers)))
    suspected = reduce(add, (w.suspects for w in workers))
    pairs = outside(reduce(add, (w.sampler for w in workers)).pairs(), setting_of(chosen, "blocks", ()))
    copies = {name: reduce(add, (w.texts[name] for w in workers)).copies() for name in workers[0].texts}
    texts = tuple(TextFinding(a.words, copies[a.name]) for a in found if a.words is not None)
    each = association_tests(total, found)
    order = _order(sum(w.order for w in workers), total)
    contents = reduce(add, (w.rows for w in workers))
    equal = contents.equal_rows(total.classes)
    same = Copies(equal.rows, equal.copied, equal.across, equal.contradicted, equal.sampled)
    by_chance = not repeated_rows(contents, total, same).matters
    return Checkup(
        source.name,
        target.name,
        total.rows,
        total.left_out,
        total.classes,
        checkup_findings(total, each, found, order, bound, grouped, pairs, texts, equal, by_chance),
        each,
        order,
        bound,
        equal,
        suspected.suspects(),
        suspected.surprises(),
        repr(chosen),
        folds,
        seed,
    )


def _order(table: Any, total: Summary) -> RowOrder | None:
    """Whether the classes' shares change along the table."""
    if len(table) < 2:
        return None
    counts = table.astype(np.float64)
    whole = entropy(counts.sum(axis=0))
    return RowOrder(information(counts) / whole if whole > 0 else 0.0, association(counts), len(table))
