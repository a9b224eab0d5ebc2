"""The sentences that only the page has: the answer first, what its probabilities are worth, how to make it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likely.errors import shown
from likely.evaluate.crossval.dealing import Dealing
from likely.evaluate.look import Look
from likely.evaluate.scores.calibration import Reliability
from likely.evaluate.scores.ranking import Ranking
from likely.machinery.toml import toml_value
from likely.models.default import default_learner
from likely.models.settings import changed_settings
from likely.present.report import look, look_tables
from likely.present.words import clean, number, percent, plural

if TYPE_CHECKING:
    from likely.models.contracts import Model


def answer_sentence(record: Look) -> str:
    """The first thing that the page says."""
    target, scores, base = clean(record.target, 60), record.scores, record.baseline
    learner = look_tables.learner_name(record)
    if not record.attributes:
        return f"Nothing but the frequencies of its classes is known about {target}: no other column can be used."
    if record.decisions is not None:
        return look.cost_sentence(record.decisions, learner).replace("\n", " ")
    bounds = look_tables.share_bounds(record.intervals.accuracy) or "0.0 to 100.0 %"
    frequent = clean(max(record.classes, key=lambda c: record.classes[c]), 40)
    if scores.accuracy <= base.accuracy:
        return (
            f"{learner} predicts {target} no better than always saying {frequent}: {percent(scores.accuracy)} of "
            f"rows it has not learned from are right (95 % interval: {bounds}), against {percent(base.accuracy)}."
        )
    alone = look.one_attribute_clause(record)
    alone = f", {alone}" if alone else ""
    return (
        f"{learner} predicts {target} correctly for {percent(scores.accuracy)} of rows it has not learned from "
        f"(95 % interval: {bounds}){alone}; always saying {frequent} is right for "
        f"{percent(base.accuracy)}."
    )


def qualification(record: Look) -> str:
    """What the probabilities are worth, and why they are what they are."""
    if record.decisions is not None:
        return ""
    one, two = record.scores.log_loss, record.baseline.log_loss
    out = look.qualification(record)
    if not out and one is not None:
        against = "infinitely many" if two is None else f"{two:.3f}"
        out = (
            f"Its probabilities, too, are better than the frequencies alone: {one:.3f} against {against} bits of "
            "surprise a row."
        )
    return out


def ceiling_sentence(record: Look) -> str:
    """What the best learner could reach."""
    bounds = look.ceiling_bounds(record)
    if bounds is None or record.decisions is not None:
        return ""
    low, high = bounds
    return (
        f"By the nearest neighbours{look.ceiling_sample(record)}, the best that any learner could reach with these "
        f"attributes lies between {percent(low)} and {percent(high)}."
    )


def rank_sentence(found: Ranking) -> str:
    """How well rows of the class looked for rank above the others."""
    area = found.roc.auc
    wide = "" if area.low is None else f" (95 % interval: {look_tables.number_bounds(area, 3)})"
    return (
        f"A row of {clean(found.roc.of, 40)} ranks above one of another class with probability {area.value:.3f}{wide}; "
        "by chance it would be 0.5."
    )


def calibration_sentence(found: Reliability) -> str:
    """What the reliability curve comes to."""
    error = 100 * (found.error.value or 0.0)
    what = "the class it names" if found.of is None else clean(found.of, 40)
    if error < 2:
        verdict = "Its percentages can be taken at their word."
    elif error < 6:
        verdict = "Its percentages are roughly right."
    else:
        sure = [b for b in found.bins if b.probability > 0.5]
        bold = sum(b.weight * (b.probability - (b.share.value or 0.0)) for b in sure)
        verdict = "It is too sure of itself." if bold > 0 else "It is less sure than it could be."
    return (
        f"{verdict} What it gives to {what} is off by {error:.1f} percentage points in the mean, over rows that it had "
        "not learned from. On the dashed line, what was said is what happened; larger dots stand for more rows."
    )


def plane_sentence(record: Look) -> str:
    """How the picture of two numbers was made."""
    found = record.plane
    if found is None:
        return ""
    of = "all" if found.every else f"{plural(found.rows, 'row')} out of"
    total = f"{number(found.rows)} rows that have both" if found.every else f"{number(record.rows)}"
    return (
        f"{clean(found.x, 40)} and {clean(found.y, 40)}, the two numbers that tell most. Ellipses hold one and two "
        f"standard deviations of a class; thin lines are contours of the density of all rows. Drawn from {of} {total}."
    )


def facts(record: Look, version: str) -> tuple[tuple[str, str], ...]:
    """What must be known to make the page again."""
    left = f" ({plural(record.left_out, 'row')} left out)" if record.left_out else ""
    return (
        ("data", f"{clean(record.source, 120)}: {plural(record.rows, 'row')}{left}"),
        ("learner", clean(settings(record.model.learner) if record.model is not None else record.learner, 300)),
        ("cross-validation", dealing_words(record.dealing)),
        ("likely", version or "not told"),
    )


def dealing_words(dealing: Dealing) -> str:
    """How rows were dealt to folds.

    >>> dealing_words(Dealing(10, 0)), dealing_words(Dealing(5, 1, 2, "group", "patient"))
    ('10 folds, stratified; seed 0', '5 folds, rows with the same patient in one, 2 times; seed 1')
    """
    by = clean(dealing.dealt_by, 40)
    if dealing.dealt == "leave-one-out":
        return "each row left out in turn"
    if dealing.dealt == "content":
        return "rows dealt by their content; each predicted by members and weights that have not seen it"
    if dealing.dealt == "time":
        return f"{dealing.folds} parts in the order of {by}, each predicted by what the rows before it taught"
    how = "stratified" if dealing.dealt == "stratified" else f"rows with the same {by} in one"
    often = f", {dealing.repeats} times" if dealing.repeats > 1 else ""
    return f"{dealing.folds} folds, {how}{often}; seed {dealing.seed}"


def model_facts(model: Model, version: str) -> tuple[tuple[str, str], ...]:
    """What a model was made by."""
    return (
        ("rows", number(model.summary.rows)),
        ("learner", settings(model.learner)),
        ("likely", version or "not told"),
    )


def settings(learner: object) -> str:
    """A learner's name, with the settings that are not the usual ones."""
    said = ", ".join(f"{k}={clean(repr(v), 80)}" for k, v in changed_settings(learner).items())
    return f"{type(learner).__name__}({said})" if said else f"{type(learner).__name__} with the usual settings"


def fit_options(model: Model) -> list[str]:
    """What `likely fit` must be told so that the same learner learns: nothing, where it is what learns unasked."""
    learner = model.learner
    if learner == default_learner("fit", model.summary).learner:
        return []
    out = ["--learner", type(learner).__name__]
    for name, value in changed_settings(learner).items():
        out += ["--set", f"{name}={toml_value(value)}"]
    return out


def python(record: Look) -> str:
    """The same by Python."""
    learner, dealing = "", record.dealing
    usual = None if record.model is None else default_learner("fit", record.model.summary)
    # Auto is named where folds were asked for: unasked it is judged by the rows that it holds out itself.
    unasked = usual is not None and usual.reason != "chosen" and repr(usual.learner) == record.learner
    if record.model is not None and dealing.dealt != "content" and not unasked:
        said = changed_settings(record.model.learner)
        name = type(record.model.learner).__name__
        learner = f", likely.{name}({', '.join(f'{k}={v!r}' for k, v in said.items())})"
    learner = learner if len(learner) < 300 else ", learner"
    own = dealing.folds != 10 and dealing.dealt not in ("leave-one-out", "content")
    folds = f", folds={dealing.folds}" if own else ""
    folds += f", seed={dealing.seed}" if dealing.seed else ""
    folds += f", repeats={dealing.repeats}" if dealing.repeats > 1 else ""
    by = {"group": f", group={dealing.dealt_by!r}", "time": f", time={dealing.dealt_by!r}",
          "leave-one-out": ", leave_one_out=True"}.get(dealing.dealt, "")  # fmt: skip
    source, target = shown(record.source, 200), repr(record.target)
    return f"import likely\nfound = likely.look({source}, {target}{learner}{folds}{by})"
