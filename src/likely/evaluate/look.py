"""The first look at a table: how well the target can be predicted, by what, and what to beware of.

Two sweeps: one for the sums of ten folds, one to score each row by a model that has not seen its fold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import ColumnError, InputError, SettingError, nearest, shown
from likely.evaluate.attributes.entropy import Piece
from likely.evaluate.attributes.information import Attribute, entropy, evidence
from likely.evaluate.attributes.plane import Plane
from likely.evaluate.attributes.redundancy import Pair, outside
from likely.evaluate.attributes.watching import LEARNER, Watch, alone, with_named
from likely.evaluate.crossval.dealing import Folds, set_apart
from likely.evaluate.crossval.temperature import Tempered, cooled, tempered_model
from likely.evaluate.crossval.validate import Validation, judged_rows, validate
from likely.evaluate.scores.calibration import Reliability, calibrations
from likely.evaluate.scores.ceiling import Ceiling, ceiling
from likely.evaluate.scores.held_out import HeldOut
from likely.evaluate.scores.intervals import Intervals, Paired, intervals, paired
from likely.evaluate.scores.losses import LossScores, loss_scores
from likely.evaluate.scores.per_class import OfClass, of_classes
from likely.evaluate.scores.ranking import Ranking, rankings
from likely.evaluate.scores.scores import Scores
from likely.evaluate.scores.sharpness import Sharpened, sharpened
from likely.evaluate.troubles.beware import LEAK, MUCH_MISSING, NEARLY_MISSING, warnings
from likely.evaluate.troubles.cautions import TextSeen, notes
from likely.evaluate.troubles.duplicates import Twice, twice
from likely.intake.further import run_search
from likely.intake.reading import Reading, with_encoding
from likely.intake.schema import draft_schema
from likely.machinery import html as showing
from likely.models.default import default_learner
from likely.models.model import Learner, Model
from likely.models.naive.baseline import Prior
from likely.models.naive.naive import NaiveBayes
from likely.models.naive.one_rule import OneRule
from likely.models.naive.product import Product
from likely.probability.loss import Loss
from likely.sums import state
from likely.table.schema import Column
from likely.table.source import Source
from likely.table.wrappers.parsed_once import parse_once

if TYPE_CHECKING:
    from likely.sums.summary import Summary

__all__ = ["LEAK", "MUCH_MISSING", "NEARLY_MISSING", "Look", "look"]
BASELINE, ONE_RULE = "baseline", "one rule"
MOST_RANKED = 20
"""Classes up to which each is ranked against all others."""


@dataclass(frozen=True, kw_only=True)
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
    folds: int
    seed: int
    scores: Scores
    baseline: Scores
    confusion: tuple[tuple[float, ...], ...]
    attributes: tuple[dict[str, Any], ...]
    evidence: tuple[Piece, ...]
    redundant: tuple[Pair, ...]
    """Every pair of attributes that was looked at, those that push the odds farthest first."""
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    decisions: LossScores | None = None
    """What deciding costs, where a loss was given."""
    texts: tuple[TextSeen, ...] = ()
    """The words of each text column that tell most, and copies of texts."""
    repeats: int = 1
    """How often all folds were dealt anew."""
    dealt: str = "stratified"
    """How rows were dealt to folds: 'stratified', 'group', 'time' or 'leave-one-out'."""
    dealt_by: str | None = None
    """The column of the groups or of the time."""
    intervals: Intervals
    """The scores with 95 % bounds."""
    baseline_intervals: Intervals
    one_rule: Scores | None = None
    """Of the one attribute that tells most, chosen anew for each fold."""
    one_rule_intervals: Intervals | None = None
    one_attribute: str | None = None
    """That attribute, where all rows are learned from; None where none tells more than the frequencies."""
    against: tuple[Paired, ...] = ()
    """The learner's log loss and accuracy against those of the baselines, on the same folds."""
    per_class: tuple[OfClass, ...] = ()
    positive: str = ""
    """The class that is looked for, in lift and curves: the rarer of two, unless another was asked for."""
    calibration: tuple[Reliability, ...] = ()
    """The curve that matters most first: of the class looked for, if there are two; else of the class named."""
    sharpened: Sharpened | None = None
    """What multiplying all evidence by one number would change."""
    tempered: Tempered | None = None
    """What all evidence is multiplied by, where no learner was asked for and naive Bayes proved too sure of itself."""
    rankings: dict[str, Ranking] = field(default_factory=dict)
    """Of each class against all others."""
    macro_auc: float | None = None
    """The mean area under the ROC curve over all classes."""
    ceiling: Ceiling | None = None
    """Bounds of what any learner could reach, from nearest neighbours."""
    copies: Twice | None = None
    """Rows that occur more than once."""
    plane: Plane | None = None
    """The picture of the two numbers that tell most, where it was asked for."""
    model: Model | None = field(default=None, repr=False, compare=False)
    """What the learner believes after all rows; None where it would have to be searched for, and no page was wanted."""

    def _repr_html_(self) -> str:
        """How well the target is predicted and what tells most, for a notebook."""
        most = max((a["bits"] for a in self.attributes), default=0.0) or 1.0
        return showing.table(
            f"{self.target} in {self.source}: {100 * self.scores.accuracy:.1f} % right on rows not learned from, "
            f"against {100 * self.baseline.accuracy:.1f} % by the most frequent class",
            ("attribute", "", "bits", "missing"),
            [(a["name"], showing.share(a["bits"] / most), f"{a['bits']:.4f}", f"{100 * a['missing']:.1f} %")
             for a in self.attributes],
            right=(2, 3),
            bars=(1,),
            remarks=tuple(f"Beware: {w}" for w in self.warnings[:5]),
        )  # fmt: skip

    def json(self) -> bytes:
        """The whole record as JSON; the model has a file of its own, the picture is for the page."""
        tree = state.plain(replace(self, model=None, plane=None))
        return state.as_json({name: value for name, value in tree.items() if name not in ("model", "plane")})


def look(
    data: object,
    target: str,
    learner: Learner | None = None,
    *,
    loss: Loss | Mapping[str, Any] | None = None,
    folds: int = 10,
    seed: int = 0,
    repeats: int = 1,
    group: str | None = None,
    time: str | None = None,
    leave_one_out: bool = False,
    positive: str | None = None,
    picture: bool = False,
    **reading: Any,
) -> Look:
    """How well `target` can be predicted, cross-validated; `reading` takes what `summarize` takes.

    Where no learner is given it is naive Bayes, whose evidence is weighed if held-out rows say that it is too sure of
    itself (`tempered`). With a loss, also what deciding by it costs. `group` and `time` name columns that rows are
    dealt to folds by; the class that curves look for is `positive`, or the rarer of two. With `picture`, also what the
    page draws of two numbers, and the model also where it must be searched for.

    >>> record = look({"x": [1.0, 2.0, 8.0, 9.0] * 5, "y": ["a", "a", "b", "b"] * 5}, "y", folds=5)
    >>> record.scores.accuracy, record.baseline.accuracy
    (1.0, 0.5)
    """
    how, asked = Reading(target, **reading), Folds(folds, seed, repeats, group, time, leave_one_out)
    costs = Loss.of(loss)

    def work(source: Source) -> Look:
        return _look(parse_once(source), how, learner, asked, costs, positive, picture)

    return with_encoding(data, how, work)  # type: ignore[no-any-return]


def _look(
    source: Source,
    reading: Reading,
    asked: Learner | None,
    folds: Folds,
    loss: Loss | None,
    positive: str | None,
    picture: bool,
) -> Look:
    learner = asked or default_learner("look").learner
    first = set_apart(source, draft_schema(source, reading), folds)
    target = first.schema.target
    if target is None:
        raise InputError("The schema names no target, so there is nothing to predict. Give a target.")
    learners: dict[str, Learner] = {LEARNER: learner, BASELINE: Prior()}
    if not folds.leave_one_out:  # it would have to choose its attribute as often as there are rows
        learners[ONE_RULE] = OneRule()
    watch = Watch(picture)
    found = validate(source, first, reading, learners, folds, 0, watch, loss, watch.of_texts, frozenset({LEARNER}))
    total = found.total
    if total.rows < 2 * folds.count and folds.count > 2 and folds.plain:
        # Fewer than two rows a fold: fewer folds, so that each is scored on something.
        fewer = replace(folds, count=max(2, total.rows // 2))
        return _look(source, reading, asked, fewer, loss, positive, picture)
    if LEARNER in found.refused:
        raise SettingError(found.refused[LEARNER])
    ranks = found.gathered[LEARNER]
    found, heat = (found, None) if asked is not None else cooled(found, LEARNER, loss, folds.leave_one_out)
    scorer, baseline = found.scorers[LEARNER], found.scorers[BASELINE]
    redundant = outside(watch.sample(found.extras).pairs(), getattr(learner, "blocks", ()))
    whole = learner.learn(total)
    if isinstance(whole, Product):  # a block takes its attributes together, so nothing is counted twice
        redundant = tuple(p for p in redundant if not whole.share_block(p.one, p.other))
    told = _by_themselves(watch, found)
    copies = watch.copies(found.extras)
    texts = tuple(TextSeen(a.words, copies[a.name]) for a in told if a.words is not None)
    said = whole.notes if isinstance(whole, Model) else found.notes.get(LEARNER, ())
    model = whole if isinstance(whole, Model) else run_search(source, whole, total, reading) if picture else None
    if heat is not None:
        learner = NaiveBayes(temperature=heat.temperature)
        model = None if model is None else tempered_model(model, heat.temperature)
    # Those that only knowledge names come last and weigh nothing.
    classes = {c: 0.0 for c in found.classes} | dict(zip(total.classes, total.total.floats().tolist(), strict=True))
    record = Look(
        source=source.name,
        target=target.name,
        rows=total.rows,
        left_out=total.left_out,
        classes=classes,
        entropy=entropy(total.total.floats()),
        columns=total.schema.columns,
        learner=repr(learner),
        folds=found.folds,
        seed=folds.seed,
        scores=scorer.read(found.times),
        baseline=baseline.read(found.times),
        confusion=tuple(tuple(row) for row in scorer.table(found.times)),
        attributes=tuple({"name": a.name, "bits": a.bits, "share": a.share, "missing": a.missing} for a in told),
        evidence=tuple(evidence(told, total.classes)),
        redundant=redundant,
        warnings=(),
        notes=(*source.notes, *found.told, *said, *(note for text in texts for note in notes(text))),
        decisions=None
        if scorer.chosen is None or baseline.chosen is None
        else loss_scores(scorer.chosen, baseline.chosen, found.times),
        texts=texts,
        repeats=folds.repeats,
        dealt=folds.how,
        dealt_by=folds.column,
        intervals=intervals(scorer, found.parts[LEARNER], judged_rows(found, LEARNER)),
        baseline_intervals=intervals(baseline, found.parts[BASELINE], judged_rows(found, BASELINE)),
        copies=twice(watch.row_copies(found.extras), total),
        ceiling=ceiling(total, watch.sampled(found.extras)),
        **_baselines(found),
        **_curves(found, _positive(positive, total), ranks),
        tempered=heat,
        plane=watch.plane(found.extras, total),
        model=model if model is None or loss is None else replace(model, loss=loss),
    )
    return replace(record, warnings=tuple(warnings(record, total, whole, learner)))


def _positive(asked: str | None, total: Summary) -> str:
    """The class that is looked for: as asked, else the rarest that has rows, of equals the last."""
    if asked is not None and asked not in total.classes:
        raise ColumnError(f"There is no class {shown(asked)}. {nearest(asked, total.classes)}")
    weights = total.total.floats()
    return asked or total.classes[len(weights) - 1 - int(np.argmin(weights[::-1]))]


def _baselines(found: Validation) -> dict[str, Any]:
    """The one rule, and how the learner differs from it and from the frequencies of the classes."""
    against = []
    for name, called in ((BASELINE, "frequencies only"), (ONE_RULE, "one attribute")):
        for score in ("log_loss", "accuracy"):
            one = paired(found.parts[LEARNER], found.parts[name], called, score) if name in found.parts else None
            against += [] if one is None else [one]
    if ONE_RULE not in found.scorers:
        return {"against": tuple(against)}
    rule, factors = found.scorers[ONE_RULE], OneRule().learn(found.total).factors
    return {
        "against": tuple(against),
        "one_rule": rule.read(found.times),
        "one_rule_intervals": intervals(rule, found.parts[ONE_RULE], judged_rows(found, ONE_RULE)),
        "one_attribute": factors[0].name if factors else None,
    }


def _curves(found: Validation, positive: str, ranks: HeldOut) -> dict[str, Any]:
    """What the predictions of rows, one by one, say; their ranks do not depend on how all evidence is weighed."""
    rows = found.gathered[LEARNER]
    scorer = found.scorers[LEARNER]
    lost = scorer.unclassified.floats()[0] / found.times
    table = scorer.table(found.times)
    weights = [sum(row) + float(one) for row, one in zip(table, lost, strict=True)]
    ranked = rankings(ranks) if len(found.classes) <= MOST_RANKED else {}
    areas = [one.roc.auc.value for one in ranked.values() if one.roc.auc.value is not None]
    proper = LEARNER not in found.improper
    return {
        "positive": positive,
        "per_class": tuple(of_classes(found.classes, table, weights)),
        "calibration": calibrations(rows, positive) if len(found.classes) <= MOST_RANKED else (),
        "sharpened": sharpened(ranks) if proper and ranks is rows else None,
        "rankings": ranked,
        "macro_auc": float(np.mean(areas)) if areas else None,
    }


def _by_themselves(watch: Watch, found: Validation) -> list[Attribute]:
    """The attributes, the most informative first; texts with what models of them alone name out of fold."""
    out = []
    for attribute in watch.attributes:
        scorer = found.scorers.get(LEARNER if attribute.name == watch.only else alone(attribute.name))
        if attribute.words is not None and scorer is not None:
            attribute = with_named(attribute, scorer.table(), found.total.rows)
        out.append(attribute)
    return sorted(out, key=lambda a: -a.bits)
