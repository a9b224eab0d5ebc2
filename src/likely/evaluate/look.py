"""The first look at a table: how well the target can be predicted, by what, and what to beware of."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, TypedDict, Unpack

import numpy as np

from likely.apply.fitting import run_learning
from likely.errors import SettingError, shown
from likely.evaluate.attributes.information import (
    AttributeInformation,
    CellEvidence,
    attributes,
    entropy,
    evidence,
    find_importances,
    information,
)
from likely.evaluate.attributes.plane import ClassPlane, PlaneSampler, worth_a_picture
from likely.evaluate.attributes.redundancy import RepeatedPair, Sampler, outside
from likely.evaluate.crossval.dealing import Dealing, Folds
from likely.evaluate.crossval.folds import draft_folds
from likely.evaluate.crossval.validate import Validation, require_target, validate, with_answers
from likely.evaluate.judging import score_rows, with_judge
from likely.evaluate.scores.intervals import Baselines, ClassScores, Intervals, Measure, paired
from likely.evaluate.scores.ranking import (
    MOST_RANKED,
    Ranking,
    Reliability,
    Sharpened,
    calibrations,
    positive_class,
    rankings,
    sharpened,
)
from likely.evaluate.scores.scores import LossScores, Scores, is_better, loss_scores
from likely.evaluate.scores.subgroups import SubgroupScores
from likely.evaluate.troubles.columns import placeholder_findings
from likely.evaluate.troubles.findings import TextFinding, date_findings, leak_findings, look_findings, without_sentence
from likely.evaluate.troubles.rows import Copies, Duplicates, RepeatedRows, repeated_rows
from likely.intake.engine import Piece
from likely.intake.reading import (
    GivenLearner,
    Reading,
    ReadingOptions,
    read_arguments,
    read_learner,
    try_dates,
    with_encoding,
)
from likely.intake.summarize import row_sweeper
from likely.machinery.presented import Presented, framed_page, open_page
from likely.machinery.words import clean
from likely.models.contracts import Learner, Learning, Model, has_trait, setting_of
from likely.models.default import default_learner
from likely.models.judgement import Subgroups
from likely.models.learning import begin, start
from likely.models.loss import Loss
from likely.models.naive.one_rule import BEST_ATTRIBUTE, FREQUENCIES
from likely.models.naive.product import only_factors
from likely.sums import state
from likely.sums.summary import Summary
from likely.sums.words.counting import Words
from likely.table.schema import Column, Schema
from likely.table.source import Source
from likely.table.wrappers import parse_once

# The sweep of a first look: what is gathered while rows are scored, and how much each text column tells by itself.

LEARNER = "learner"


@dataclass(frozen=True)
class SweepResult:
    """What the sweep brought home."""

    pairs: tuple[RepeatedPair, ...]
    """Attributes that repeat each other."""
    rows: RepeatedRows
    texts: dict[str, Copies]
    """Texts that occur more than once, by column."""
    plane: ClassPlane | None

    def dealt_by_content(self) -> SweepResult:
        """The same where equal rows were held out together: copies of texts are apart only where their rows differ."""
        equal = self.rows.copied
        texts = {n: replace(c, across=min(c.across, max(c.copied - equal, 0))) for n, c in self.texts.items()}
        return replace(self, rows=replace(self.rows, across=0), texts=texts)

    def left_out_in_turn(self) -> SweepResult:
        """The same where each row was a fold of its own: every copy is in another one."""
        texts = {name: replace(c, across=c.copied) for name, c in self.texts.items()}
        return replace(self, rows=replace(self.rows, across=self.rows.copied), texts=texts)


class Collector:
    """Takes the pieces of one thread."""

    def __init__(self, total: Summary, found: list[AttributeInformation], plane: tuple[str, str] | None = None) -> None:
        self.sampler = Sampler(total, found)
        self.plane = None if plane is None else PlaneSampler(total, plane)
        self.texts = {name: Duplicates() for name, held in total.columns.items() if isinstance(held, Words)}
        self.rows = Duplicates()
        self._names = [c.name for c in total.schema.attributes]

    def take(self, piece: Piece, start: int) -> None:
        """Some rows of the table."""
        self.sampler.take(piece, start)
        self.rows.take_rows(piece.batch, self._names, piece.fold)
        if self.plane is not None:
            self.plane.take(piece, start)
        for name, texts in self.texts.items():
            texts.take_texts(piece.batch, name, piece.fold)


class LookSweep:
    """Makes the collectors of one look, and reads what they gathered."""

    def __init__(self, picture: bool = False) -> None:
        self.picture = picture
        """Whether the two numbers that tell most are to be drawn."""
        self.only = ""
        """The text column that the learner's models know alone, if there is one."""
        self.attributes: list[AttributeInformation] = []
        self._total: Summary | None = None

    def __call__(self, total: Summary) -> Collector:
        if self._total is not total:
            self.attributes, self._total = attributes(total), total
        return Collector(total, self.attributes, worth_a_picture(self.attributes, total) if self.picture else None)

    def of_texts(self, models: Mapping[str, list[Model]]) -> dict[str, list[Model]]:
        """For each text column the learner's models with that factor alone, where they have others too."""
        held = [m for m in models.get(LEARNER, []) if m.factored]
        if not held or len(held) < len(models[LEARNER]):
            return {}
        out: dict[str, list[Model]] = {}
        for name in (text.name for text in held[0].texts):
            own = [only_factors(m, [name]) for m in held]
            if all(len(m.factors) == len(text.factors) == 1 for m, text in zip(held, own, strict=True)):
                self.only = name
            elif all(text.factors for text in own):
                out[alone_name(name)] = own
        return out

    @staticmethod
    def read(parts: Sequence[Collector], total: Summary, blocks: Iterable[Collection[str]]) -> SweepResult:
        """What all threads gathered; pairs that are joined in a block are counted once."""
        planes = [p.plane for p in parts if p.plane is not None]
        return SweepResult(
            outside(reduce(add, (p.sampler for p in parts)).pairs(), blocks),
            repeated_rows(reduce(add, (p.rows for p in parts)), total),
            {name: reduce(add, (p.texts[name] for p in parts)).copies() for name in parts[0].texts},
            reduce(add, planes).drawn(total) if planes else None,
        )


def alone_name(column: str) -> str:
    return f"{column} alone"  # what the models of a text column by itself are called among the learners


def with_predicted(
    attribute: AttributeInformation, confusion: Sequence[Sequence[float]], rows: float
) -> AttributeInformation:
    """A text with what the class that it alone leads to, out of fold, tells about the target, if that is more.

    Whatever is worked out from a text tells no more than the text does, so this too is a least.
    """
    table = np.array(confusion)
    weight = float(table.sum())
    bits = information(table, max(1.0, rows / weight) if weight else 1.0)
    whole = entropy(table.sum(axis=1)) if weight else 0.0
    if bits <= attribute.bits or whole <= 0:
        return attribute
    return replace(attribute, bits=bits, share=bits / whole)


# What a first look says of scores beyond themselves: the baselines, and how far probabilities can be trusted.

BASELINE, ONE_RULE, NAIVE_BAYES = "baseline", "one rule", "naive Bayes"


@dataclass(frozen=True, repr=False)
class Trust(Presented):
    """How far the probabilities can be trusted."""

    positive: str
    """The class that is looked for, in lift and curves: the rarer of two, unless another was asked for."""
    calibration: tuple[Reliability, ...]
    """The curve that matters most first: of the class looked for, if there are two; else of the class named."""
    sharpened: Sharpened | None
    """What multiplying all evidence by one number would change."""
    rankings: dict[str, Ranking]
    """Of each class against all others."""
    macro_auc: float | None
    """The mean area under the ROC curve over all classes."""
    copies: RepeatedRows | None
    """Rows that occur more than once."""


def compare_baselines(found: Validation) -> Baselines:
    """The one rule, and how the learner differs from it and from the frequencies of the classes."""
    against = []
    for name, called in ((BASELINE, "guessing"), (ONE_RULE, "one attribute"), (NAIVE_BAYES, "naive Bayes")):
        for score in ("log_loss", "accuracy"):
            one = paired(found.parts[LEARNER], found.parts[name], called, score) if name in found.parts else None
            against += [] if one is None else [one]
    bounds = {name: found.bounds(name) for name in (BASELINE, ONE_RULE, NAIVE_BAYES) if name in found.scorers}
    always = found.scorers[BASELINE].always
    assert always is not None
    guess = found.classes[always]
    if ONE_RULE not in bounds:
        return Baselines(bounds[BASELINE], guess, against=tuple(against))
    naive = found.scorers[NAIVE_BAYES].read(found.times) if NAIVE_BAYES in bounds else None
    factors = BEST_ATTRIBUTE.learn(found.total).factors
    one_rule, attribute = found.scorers[ONE_RULE].read(found.times), factors[0].name if factors else None
    return Baselines(
        bounds[BASELINE], guess, one_rule, bounds[ONE_RULE], attribute, naive, bounds.get(NAIVE_BAYES), tuple(against)
    )


def trust_scores(found: Validation, positive: str, seen: SweepResult) -> Trust:
    """What the predictions of rows, one by one, say."""
    rows, few = found.gathered[LEARNER], len(found.classes) <= MOST_RANKED
    ranked = rankings(rows, found.design_effect(LEARNER)) if few else {}
    areas = [one.roc.auc.value for one in ranked.values() if one.roc.auc.value is not None]
    proper = LEARNER not in found.improper
    return Trust(
        positive=positive,
        calibration=calibrations(rows, positive) if few else (),
        sharpened=sharpened(rows) if proper else None,
        rankings=ranked,
        macro_auc=float(np.mean(areas)) if areas else None,
        copies=seen.rows,
    )


# The first look at a table: how well the target can be predicted, by what, and what to beware of.

FOLDS = 10


class AttributeBits(TypedDict):
    """How far an attribute moves the model's answers, and what it alone tells about the target."""

    name: str
    importance: float | None
    """The mean evidence in bits, over rows, of all that the model makes of it; None where that is not known."""
    bits: float
    """What it alone tells."""
    share: float
    """Of the target's entropy."""
    missing: float


@dataclass(frozen=True, kw_only=True, repr=False)
class Look(Presented):
    """Everything `likely look` shows, without any row of the data."""

    source: str
    target: str
    rows: int
    left_out: int
    classes: dict[str, float]
    entropy: float
    columns: tuple[Column, ...]
    learner: str
    dealing: Dealing
    """How rows were dealt to folds."""
    scores: Scores
    intervals: Intervals
    """The scores with 95 % bounds."""
    baseline: Scores
    """Its accuracy is that of always guessing `baselines.guess`; its log loss and Brier score are those of the
    frequencies of the classes, learned as the learner was."""
    baselines: Baselines
    confusion: tuple[tuple[float, ...], ...]
    per_class: tuple[ClassScores, ...] = ()
    subgroups: tuple[Subgroups, ...] = ()
    """How well the rows of each level of a nominal attribute are answered; of attributes with few levels."""
    decisions: LossScores | None = None
    """What deciding costs, where a loss was given."""
    trust: Trust
    attributes: tuple[AttributeBits, ...]
    evidence: tuple[CellEvidence, ...]
    redundant: tuple[RepeatedPair, ...]
    """Every pair of attributes that was looked at, those that push the odds farthest first."""
    texts: tuple[TextFinding, ...] = ()
    """The words of each text column that tell most, and copies of texts."""
    leaks: tuple[str, ...] = ()
    """Columns that alone give the class away, look like identifiers that do, or are dates that tell most: the first
    warnings are about them."""
    without_leaks: Measure | None = None
    """The accuracy of the same learner, judged in the same way, without these columns; None where it was not tried."""
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    training: Scores | None = None
    """How the model answers the rows it learned from, where that was asked for."""
    plane: ClassPlane | None = None
    """The picture of the two numbers that tell most, where it was asked for."""
    model: Model | None = field(default=None, repr=False, compare=False)
    """What the learner believes after all rows; None where it would have to be searched for, and no page was wanted."""

    def __repr__(self) -> str:
        right = f"{100 * self.scores.accuracy:.1f} % accuracy on held-out rows"
        return f"<Look at {shown(self.target)} in {shown(self.source)}: {self.rows:,} rows, {right}>"

    @property
    def beats_guessing(self) -> bool:
        """Whether the accuracy is better than that of always guessing one class, as it is printed."""
        return is_better(self.scores.accuracy, self.baseline.accuracy)

    @property
    def clearly_beats_guessing(self) -> bool:
        """Whether also the lower end of its interval is better."""
        low = self.intervals.accuracy.low
        return self.beats_guessing and low is not None and is_better(low, self.baseline.accuracy)

    def page(self) -> str:
        """The page that `likely look` writes, as HTML."""
        return str(self._made("likely.present.page.writing page", self))

    def _repr_html_(self) -> str:
        """The page, in a notebook: in a frame of its own, which has nothing to do with what is around it."""
        return framed_page(self.page(), f"A first look at {clean(self.target)}")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        state.write(path, self.page().encode())

    def open(self) -> str:
        """Show the page in a browser; the file, in a folder for temporary files, that it is read from."""
        return open_page(self.page())

    def json(self) -> bytes:
        """The whole record as one flat object of JSON; the model has a file of its own, the picture is for the page."""
        tree = state.plain(replace(self, model=None, plane=None))
        del tree["model"], tree["plane"]
        for group in ("dealing", "baselines", "trust"):
            tree |= tree.pop(group)
        return state.as_json(tree)


def look(
    data: object,
    target: object = None,
    learner: GivenLearner = None,
    *,
    loss: Loss | Mapping[str, Any] | None = None,
    folds: int | None = None,
    seed: int = 0,
    repeats: int = 1,
    group: str | None = None,
    time: str | None = None,
    leave_one_out: bool = False,
    positive: str | None = None,
    picture: bool = False,
    training: bool = False,
    model: Model | None = None,
    **reading: Unpack[ReadingOptions],
) -> Look:
    """How well `target` can be predicted, cross-validated; `reading` takes what `summarize` takes.

    Where no learner is given it is the one that `fit` takes, judged by the rows that it holds out while it is made:
    neither its members nor their weights have seen them. Where folds, a seed, a group or a time are given, each fold is
    predicted by what was made without it. With a loss, also what deciding by it costs. `group` and `time` name columns
    that rows are dealt to folds by; the class that curves look for is `positive`, or the rarer of two. With `picture`,
    also what the page draws of two numbers, and the model also where it must be searched for; with `training`, also how
    it answers the very rows it learned from. `model`, of an earlier look at the same rows, is not learned again.

    >>> record = look({"x": [1.0, 2.0, 8.0, 9.0] * 5, "y": ["a", "a", "b", "b"] * 5}, "y", folds=5)
    >>> record.scores.accuracy, record.baseline.accuracy
    (1.0, 0.5)
    """
    data, how = read_arguments(data, target, reading)

    dealt = Folds(FOLDS if folds is None else folds, seed, repeats, group, time, leave_one_out)
    own = folds is not None or seed != 0 or dealt != Folds(dealt.count)
    asked = _Asked(dealt, own, read_learner(learner), Loss.of(loss), positive, picture, model, training)
    how = try_dates(how, [asked.learner])

    def work(source: Source) -> Look:
        rows = parse_once(source)
        return _without_leaks(rows, how, asked, _look(rows, how, asked))

    return with_encoding(data, how, work)


@dataclass(frozen=True)
class _Asked:
    """What a look was asked for."""

    folds: Folds
    own_folds: bool
    """Whether it was said how rows are to be dealt."""
    learner: Learner | None
    loss: Loss | None
    positive: str | None
    picture: bool
    model: Model | None = None
    training: bool = False


def _look(source: Source, reading: Reading, asked: _Asked) -> Look:
    folds = asked.folds
    first = draft_folds(source, reading, folds)
    require_target(first.schema)
    beside: dict[str, Learner] = {BASELINE: FREQUENCIES}
    if not folds.leave_one_out:  # it would have to choose its attribute as often as there are rows
        beside[ONE_RULE] = BEST_ATTRIBUTE
    sweep, textbook = LookSweep(asked.picture), default_learner("textbook").learner

    def judges_itself(learner: Learner) -> bool:
        """Whether it is judged by the rows that it holds out itself, while it is made, as no folds were asked for."""
        return asked.learner is None and not asked.own_folds and hasattr(learner, "learn_beside")

    def judged(total: Summary) -> dict[str, Learner]:
        own = asked.learner or default_learner("fit", total).learner
        if judges_itself(own):  # how much a text tells by itself is found by models of it alone
            return {LEARNER: textbook} if any(isinstance(c, Words) for c in total.columns.values()) else {}
        return {LEARNER: own, **beside}

    gather = frozenset({LEARNER})
    found = validate(source, first, reading, judged, folds, 0, sweep, asked.loss, sweep.of_texts, gather)
    total = found.total
    learner = asked.learner or default_learner("fit", total).learner
    if total.rows < 2 * folds.count and folds.count > 2 and folds.plain:
        # Fewer than two rows a fold: fewer folds, so that each is scored on something.
        return _look(source, reading, replace(asked, folds=replace(folds, count=max(2, total.rows // 2))))
    if LEARNER in found.refused:
        raise SettingError(found.refused[LEARNER])
    told = _by_themselves(sweep, found)
    judges = getattr(learner, "learn_beside", None) if judges_itself(learner) else None
    whole: Model | Learning[Model] = (
        begin(learner, total) if judges is None else start(judges(total, {**beside, NAIVE_BAYES: textbook}))
    )
    model = whole if isinstance(whole, Model) else None
    dealing = Dealing(found.folds, folds.seed, folds.repeats, folds.how, folds.column)
    if (model is None or model.state) and (judges is not None or asked.picture or asked.training):
        known = asked.model
        is_known = known is not None and known.held_out_answers is not None and known.summary == total
        model = known if is_known else run_learning(whole, row_sweeper(source, total, reading.threads))
    if judges is not None:
        answers = None if model is None else model.held_out_answers
        if answers is not None:
            found = with_answers(found, LEARNER, answers, asked.loss, always=BASELINE)
            dealing = Dealing(found.folds, 0, 1, "content")
        else:  # too few rows to hold any out, so it is plain naive Bayes
            by, extras = {LEARNER: textbook, **beside}, found.extras
            found = validate(source, first, reading, by, folds, 0, None, asked.loss, None, gather)
            found = replace(found, extras=extras)
    if model is not None and model.schema != found.total.schema:  # parts of dates that were tried in vain
        found = replace(found, total=found.total.with_schema(model.schema))
        told = [one for one in told if one.name in found.total.columns]
    if model is not None and asked.loss is not None:
        model = replace(model, loss=asked.loss)
    seen = sweep.read(found.extras, total, setting_of(learner, "blocks", ()))
    if dealing.dealt == "content":
        seen = seen.dealt_by_content()
    if folds.leave_one_out:
        seen = seen.left_out_in_turn()
    if isinstance(whole, Model):  # a block takes its attributes together, so nothing is counted twice
        blocks = {name: factor.names for factor in whole.factors for name in factor.names}
        seen = replace(seen, pairs=tuple(p for p in seen.pairs if p.other not in blocks.get(p.one, ())))
    trust = trust_scores(found, positive_class(asked.positive, total), seen)
    schema = whole.schema if isinstance(whole, Model) else total.schema
    importances = {} if model is None else find_importances(model)
    record = _record(source, found, dealing, learner, told, seen, trust, schema, importances)
    said = model.notes if model is not None else found.notes.get(LEARNER, ())
    notes = (note for note in (*source.notes, *found.told, *said, *record.notes) if note not in record.warnings)
    trained = None if model is None or not asked.training else score_rows(model, source).read()
    return replace(record, notes=tuple(notes), training=trained, model=None if model is None else with_judge(model))


def _without_leaks(source: Source, reading: Reading, asked: _Asked, record: Look) -> Look:
    """The record, with the accuracy that is left without the columns that give the class away, where there are any."""
    stored = {a["name"]: _stored_name(source, a["name"]) for a in record.attributes}
    names = list(dict.fromkeys(stored.get(name, name) for name in record.leaks))
    if not names or record.decisions is not None or reading.schema is not None or {*names} == {*stored.values()}:
        return record
    left = judge_without(source, reading, names, asked)
    first = f"{record.warnings[0]} {without_sentence(names, left)}"
    return replace(record, without_leaks=left, warnings=(first, *record.warnings[1:]))


def judge_without(source: Source, reading: Reading, names: Sequence[str], asked: _Asked | None = None) -> Measure:
    """The accuracy of a look, or of the usual one, without some columns."""
    types = {**(reading.types or {}), **dict.fromkeys(names, "ignore")}
    usual = asked or _Asked(Folds(FOLDS), False, None, None, None, False)
    usual = replace(usual, picture=False, training=False, model=None)
    return _look(source, replace(reading, types=types), usual).intervals.accuracy


def _stored_name(source: Source, name: str) -> str:
    """The column of the table that an attribute is made of: of a part of a date, that of the date."""
    return name if name in source.schema.names else name.rpartition(": ")[0]


def _record(
    source: Source,
    found: Validation,
    dealing: Dealing,
    learner: Learner,
    told: list[AttributeInformation],
    seen: SweepResult,
    trust: Trust,
    schema: Schema,
    importances: Mapping[str, float],
) -> Look:
    """Everything but the model, with what there is to beware of."""
    total, scorer, baseline = found.total, found.scorers[LEARNER], found.scorers[BASELINE]
    assert total.schema.target is not None
    # Those that only knowledge names come last and weigh nothing.
    classes = {c: 0.0 for c in found.classes} | dict(zip(total.classes, total.total.floats().tolist(), strict=True))
    decisions = None
    if scorer.chosen is not None and baseline.chosen is not None:
        decisions = loss_scores(scorer.chosen, baseline.chosen, found.times)
    bounds = found.bounds(LEARNER)
    texts = tuple(TextFinding(a.words, seen.texts[a.name]) for a in told if a.words is not None)
    twice = seen.pairs if has_trait(learner, "independent") else ()
    accuracy = bounds.accuracy if decisions is None else None
    least = FOLDS if dealing.dealt == "content" else min(found.folds, FOLDS)
    leaks = [*leak_findings(total, told), *(date_findings(total, told) if dealing.dealt != "time" else ())]
    troubles = [*leaks, *look_findings(total, told, texts, seen.rows, twice, accuracy, classes, least, schema)]
    troubles += placeholder_findings(total)
    return Look(
        source=source.name,
        target=total.schema.target.name,
        rows=total.rows,
        left_out=total.left_out,
        classes=classes,
        entropy=entropy(total.total.floats()),
        columns=total.schema.columns,
        learner=repr(learner),
        dealing=dealing,
        scores=scorer.read(found.times),
        intervals=bounds,
        baseline=baseline.read(found.times),
        baselines=compare_baselines(found),
        confusion=tuple(tuple(row) for row in scorer.table(found.times)),
        per_class=tuple(found.by_class(LEARNER)),
        subgroups=SubgroupScores(found.by_subgroup(LEARNER, trust.positive)),
        decisions=decisions,
        trust=trust,
        attributes=_ordered(told, importances),
        evidence=tuple(evidence(told, total.classes)),
        redundant=seen.pairs,
        texts=texts,
        leaks=tuple(name for f in leaks for name in f.columns),
        warnings=tuple(f.words for f in troubles if f.grave),
        notes=tuple(f.words for f in troubles if not f.grave),
        plane=seen.plane,
    )


def _ordered(told: Iterable[AttributeInformation], importances: Mapping[str, float]) -> tuple[AttributeBits, ...]:
    """The attributes, those first that the model goes by most; where that is not known, those that tell most alone."""
    known = {name: value / math.log(2) for name, value in importances.items()}
    found = {a.name: known.get(a.name, 0.0) if known else None for a in told}
    each = [
        AttributeBits(name=a.name, importance=found[a.name], bits=a.bits, share=a.share, missing=a.missing)
        for a in told
    ]
    return tuple(sorted(each, key=lambda a: -(a["importance"] or 0.0)))


def _by_themselves(sweep: LookSweep, found: Validation) -> list[AttributeInformation]:
    """The attributes, the most informative first; texts with what models of them alone name out of fold."""
    out = []
    for attribute in sweep.attributes:
        scorer = found.scorers.get(LEARNER if attribute.name == sweep.only else alone_name(attribute.name))
        if attribute.words is not None and scorer is not None:
            attribute = with_predicted(attribute, scorer.table(), found.total.rows)
        out.append(attribute)
    return sorted(out, key=lambda a: -a.bits)
