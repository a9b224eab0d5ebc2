"""The first look at a table: how well the target can be predicted, by what, and what to beware of.

Two sweeps: one for the sums of ten folds, one to score each row by a model that has not seen its fold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from likely.errors import SettingError, shown
from likely.evaluate.attributes.information import Attribute, entropy, evidence
from likely.evaluate.attributes.plane import Plane
from likely.evaluate.attributes.redundancy import Pair
from likely.evaluate.attributes.word_information import Piece
from likely.evaluate.crossval.answered import with_answers
from likely.evaluate.crossval.dealing import Dealing, Folds
from likely.evaluate.crossval.folds import draft_folds
from likely.evaluate.crossval.validate import Validation, require_target, validate
from likely.evaluate.look_scores import (
    BASELINE,
    NAIVE_BAYES,
    ONE_RULE,
    Baselines,
    Trust,
    compare_baselines,
    positive_class,
    trust_scores,
)
from likely.evaluate.look_sweep import LEARNER, LookSweep, SweepResult, alone_name, with_predicted
from likely.evaluate.scores.intervals import ClassScores, Intervals, Measure
from likely.evaluate.scores.losses import LossScores, loss_scores
from likely.evaluate.scores.scores import Scores, is_better
from likely.evaluate.troubles.findings import TextColumn, look_findings
from likely.evaluate.troubles.leaks import date_findings, leak_findings, without_sentence
from likely.evaluate.troubles.placeholders import placeholder_findings
from likely.intake.arguments import GivenLearner, read_arguments, read_learner
from likely.intake.extend import run_search
from likely.intake.options import ReadingOptions
from likely.intake.reading import Reading, with_encoding
from likely.machinery.html import html_table, share_bar
from likely.models.contracts import JudgesBeside, Learner, Model, Search, begin_learning, has_trait, setting_of
from likely.models.default import default_learner
from likely.models.naive.baseline import Prior
from likely.models.naive.one_rule import OneRule
from likely.probability.loss import Loss
from likely.sums import state
from likely.table.schema import Column, Schema
from likely.table.source import Source
from likely.table.wrappers.parsed_once import parse_once

if TYPE_CHECKING:
    from likely.sums.summary import Summary

FOLDS = 10


class AttributeBits(TypedDict):
    """What one attribute alone tells about the target."""

    name: str
    bits: float
    share: float
    """Of the target's entropy."""
    missing: float


@dataclass(frozen=True, kw_only=True, repr=False)
class Look:
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
    decisions: LossScores | None = None
    """What deciding costs, where a loss was given."""
    trust: Trust
    attributes: tuple[AttributeBits, ...]
    evidence: tuple[Piece, ...]
    redundant: tuple[Pair, ...]
    """Every pair of attributes that was looked at, those that push the odds farthest first."""
    texts: tuple[TextColumn, ...] = ()
    """The words of each text column that tell most, and copies of texts."""
    leaks: tuple[str, ...] = ()
    """Columns that alone give the class away, or look like identifiers that do; the first warnings are about them."""
    without_leaks: Measure | None = None
    """The accuracy of the same learner, judged in the same way, without these columns; None where it was not tried."""
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    plane: Plane | None = None
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

    @property
    def _answer(self) -> str:
        if self.decisions is not None:
            cost = self.decisions
            return (
                f"decided at a cost of {cost.mean:.4g} a row on held-out rows; always choosing {shown(cost.constant)} "
                f"would cost {cost.constant_mean:.4g}"
            )
        right = f"{100 * self.scores.accuracy:.1f} % accuracy on held-out rows"
        than = "" if self.beats_guessing else "no better than "
        guessing = f"{100 * self.baseline.accuracy:.1f} %"
        return f"{right}; {than}always guessing {shown(self.baselines.guess)}: {guessing}"

    def _repr_html_(self) -> str:
        """How well the target is predicted and what tells most, for a notebook."""
        most = max((a["bits"] for a in self.attributes), default=0.0) or 1.0
        return html_table(
            f"{self.target} in {self.source}: {self._answer}",
            ("attribute", "", "bits", "missing"),
            [(a["name"], share_bar(a["bits"] / most), f"{a['bits']:.4f}", f"{100 * a['missing']:.1f} %")
             for a in self.attributes],
            right=(2, 3),
            bars=(1,),
            remarks=tuple(f"Warning: {w}" for w in self.warnings[:5]),
        )  # fmt: skip

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
    **reading: Unpack[ReadingOptions],
) -> Look:
    """How well `target` can be predicted, cross-validated; `reading` takes what `summarize` takes.

    Where no learner is given it is the one that `fit` takes, judged by the rows that it holds out while it is made:
    neither its members nor their weights have seen them. Where folds, a seed, a group or a time are given, each fold is
    predicted by what was made without it. With a loss, also what deciding by it costs. `group` and `time` name columns
    that rows are dealt to folds by; the class that curves look for is `positive`, or the rarer of two. With `picture`,
    also what the page draws of two numbers, and the model also where it must be searched for.

    >>> record = look({"x": [1.0, 2.0, 8.0, 9.0] * 5, "y": ["a", "a", "b", "b"] * 5}, "y", folds=5)
    >>> record.scores.accuracy, record.baseline.accuracy
    (1.0, 0.5)
    """
    data, how = read_arguments(data, target, reading)

    dealt = Folds(FOLDS if folds is None else folds, seed, repeats, group, time, leave_one_out)
    own = folds is not None or seed != 0 or dealt != Folds(dealt.count)
    asked = _Asked(dealt, own, read_learner(learner), Loss.of(loss), positive, picture)

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


def _look(source: Source, reading: Reading, asked: _Asked) -> Look:
    folds = asked.folds
    first = draft_folds(source, reading, folds)
    require_target(first.schema)
    beside: dict[str, Learner] = {BASELINE: Prior()}
    if not folds.leave_one_out:  # it would have to choose its attribute as often as there are rows
        beside[ONE_RULE] = OneRule()
    sweep, textbook = LookSweep(asked.picture), default_learner("textbook").learner

    def judged(total: Summary) -> dict[str, Learner]:
        # What holds rows out itself, while it is made, is judged by these, unless folds were asked for.
        own = asked.learner or (default_learner("fit", total).learner if asked.own_folds else textbook)
        return {LEARNER: own, **beside}

    found = validate(source, first, reading, judged, folds, 0, sweep, asked.loss, sweep.of_texts, frozenset({LEARNER}))
    total = found.total
    learner = asked.learner or default_learner("fit", total).learner
    if total.rows < 2 * folds.count and folds.count > 2 and folds.plain:
        # Fewer than two rows a fold: fewer folds, so that each is scored on something.
        return _look(source, reading, replace(asked, folds=replace(folds, count=max(2, total.rows // 2))))
    if LEARNER in found.refused:
        raise SettingError(found.refused[LEARNER])
    told = _by_themselves(sweep, found)
    whole = begin_learning(learner, total)
    model = whole if isinstance(whole, Model) else None
    dealing = Dealing(found.folds, folds.seed, folds.repeats, folds.how, folds.column)
    if isinstance(whole, JudgesBeside) and asked.learner is None and not asked.own_folds:
        model = run_search(source, whole.beside({**beside, NAIVE_BAYES: textbook}), total, reading.threads)
        if model.held_out_answers is not None:
            found = with_answers(found, LEARNER, model.held_out_answers, asked.loss)
            dealing = Dealing(found.folds, 0, 1, "content")
    if isinstance(whole, Search) and model is None and asked.picture:
        model = run_search(source, whole, total, reading.threads)
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
    record = _record(source, found, dealing, learner, told, seen, trust, schema)
    said = model.notes if model is not None else found.notes.get(LEARNER, ())
    notes = (note for note in (*source.notes, *found.told, *said, *record.notes) if note not in record.warnings)
    return replace(record, notes=tuple(notes), model=model)


def _without_leaks(source: Source, reading: Reading, asked: _Asked, record: Look) -> Look:
    """The record, with the accuracy that is left without the columns that give the class away, where there are any."""
    names = record.leaks
    if not names or record.decisions is not None or reading.schema is not None or len(names) == len(record.attributes):
        return record
    types = {**(reading.types or {}), **dict.fromkeys(names, "ignore")}
    left = _look(source, replace(reading, types=types), replace(asked, picture=False)).intervals.accuracy
    first = f"{record.warnings[0]} {without_sentence(names, left)}"
    return replace(record, without_leaks=left, warnings=(first, *record.warnings[1:]))


def _record(
    source: Source,
    found: Validation,
    dealing: Dealing,
    learner: Learner,
    told: list[Attribute],
    seen: SweepResult,
    trust: Trust,
    schema: Schema,
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
    texts = tuple(TextColumn(a.words, seen.texts[a.name]) for a in told if a.words is not None)
    twice = seen.pairs if has_trait(learner, "independent") else ()
    accuracy = bounds.accuracy if decisions is None else None
    least = FOLDS if dealing.dealt == "content" else min(found.folds, FOLDS)
    leaks = list(leak_findings(total, told))
    troubles = [*leaks, *look_findings(total, told, texts, seen.rows, twice, accuracy, classes, least, schema)]
    troubles += date_findings(total, told) if dealing.dealt != "time" else []
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
        decisions=decisions,
        trust=trust,
        attributes=tuple(AttributeBits(name=a.name, bits=a.bits, share=a.share, missing=a.missing) for a in told),
        evidence=tuple(evidence(told, total.classes)),
        redundant=seen.pairs,
        texts=texts,
        leaks=tuple(name for f in leaks for name in f.columns),
        warnings=tuple(f.words for f in troubles if f.grave),
        notes=tuple(f.words for f in troubles if not f.grave),
        plane=seen.plane,
    )


def _by_themselves(sweep: LookSweep, found: Validation) -> list[Attribute]:
    """The attributes, the most informative first; texts with what models of them alone name out of fold."""
    out = []
    for attribute in sweep.attributes:
        scorer = found.scorers.get(LEARNER if attribute.name == sweep.only else alone_name(attribute.name))
        if attribute.words is not None and scorer is not None:
            attribute = with_predicted(attribute, scorer.table(), found.total.rows)
        out.append(attribute)
    return sorted(out, key=lambda a: -a.bits)
