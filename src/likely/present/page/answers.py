"""The sentences of the page: the answer first, what its probabilities are worth, how to make it again. No rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from likely.errors import shown
from likely.evaluate.look import Look
from likely.evaluate.scores.calibration import Reliability
from likely.models.settings import changed_settings
from likely.present.charts.drawing import Chart, at, told
from likely.present.page import trusting
from likely.present.report import costs
from likely.present.report.looking import called
from likely.present.report.trust import weighed
from likely.present.report.words import clean, number, percent, plural

if TYPE_CHECKING:
    from likely.models.contracts import Model


@dataclass(frozen=True)
class Answer:
    """How well the target can be predicted, in a sentence; what is to be added; and a picture of it."""

    sentence: str
    more: str
    gauge: Chart | None


def answer(record: Look) -> Answer:
    """The first thing that the page says."""
    target, scores, base = clean(record.target, 60), record.scores, record.baseline
    if not record.attributes:
        told_ = f"Nothing but the frequencies of its classes is known about {target}: no other column can be used."
        return Answer(told_, "", None)
    if record.decisions is not None:
        return Answer(costs.verdict(record.decisions, called(record)).replace("\n", " "), "", None)
    low, high = trusting.bounds(record, "accuracy") or (0.0, 1.0)
    frequent = clean(max(record.classes, key=lambda c: record.classes[c]), 40)
    sentence = (
        f"{target} can be told from the other columns in {percent(scores.accuracy)} of rows never seen before "
        f"(95 % interval: {100 * low:.1f} to {100 * high:.1f} %); always saying {frequent} is right in "
        f"{percent(base.accuracy)}."
    )
    if scores.accuracy <= base.accuracy:
        sentence = (
            f"{target} cannot be told from the other columns any better than by always saying {frequent}: "
            f"{percent(scores.accuracy)} of rows never seen before are right (95 % interval: {100 * low:.1f} to "
            f"{100 * high:.1f} %), against {percent(base.accuracy)}."
        )
    more = (
        _more(record) if record.trust.tempered is None else f"{_more(record)} {weighed(record.trust.tempered)}".strip()
    )
    return Answer(sentence, more, gauge(scores.accuracy, low, high, base.accuracy))


def _more(record: Look) -> str:
    scores, base = record.scores, record.baseline
    named = scores.accuracy > base.accuracy
    sharper = scores.log_loss is not None and (base.log_loss is None or scores.log_loss < base.log_loss)
    if named and scores.log_loss is None and base.log_loss is None:
        return ""  # a class that only held-out rows have is impossible to both
    if named and not sharper:
        return "But it is too sure of itself (see log loss): trust its classes, not its percentages."
    if sharper and not named:
        return "Still, its probabilities tell more than the frequencies alone do (see log loss)."
    if not named:
        return "Nothing is gained: neither its classes nor its log loss are better."
    return (
        f"Its probabilities, too, are better than the frequencies alone: {_bits(scores.log_loss)} against "
        f"{_bits(base.log_loss)} bits of surprise a row."
    )


def _bits(value: float | None) -> str:
    return "infinitely many" if value is None else f"{value:.3f}"


def gauge(value: float, low: float, high: float, base: float) -> Chart:
    """Accuracy on a line from 0 to 100 %: its interval, and the baseline."""
    label = f"accuracy {percent(value)}, interval {percent(low)} to {percent(high)}, baseline {percent(base)}"
    marks = "".join(
        f'<text class="tick" x="{k}%" y="60" text-anchor="{"start" if k == 0 else "end" if k == 100 else "middle"}">'
        f"{k} %</text>"
        for k in (0, 25, 50, 75, 100)
    )
    side = "end" if base > 0.5 else "start"
    shift = -6 if base > 0.5 else 6
    body = (
        '<rect class="track" y="26" width="100%" height="14" rx="7"/>'
        f'<rect class="accent" y="26" width="{at(100 * value)}%" height="14" rx="7"/>'
        f'<rect class="band" x="{at(100 * low)}%" y="22" width="{at(100 * (high - low))}%" height="22" rx="3"/>'
        f'<svg x="{at(100 * value)}%" overflow="visible">'
        '<rect class="mark" x="-1.5" y="20" width="3" height="26"/></svg>'
        f'<rect class="base" x="{at(100 * base)}%" y="14" width="2" height="32"/>'
        f'<svg x="{at(100 * base)}%" overflow="visible"><text class="tick" x="{shift}" y="12" text-anchor="{side}">'
        f"most frequent class {told(percent(base))}</text></svg>{marks}"
    )
    return Chart(f'<svg class="gauge" role="img" aria-label="{told(label)}">{body}</svg>')


def reliable(found: Reliability) -> str:
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


def plane(record: Look) -> str:
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
        ("cross-validation", f"{record.dealing.folds} folds, stratified; seed {record.dealing.seed}"),
        ("likely", version or "not told"),
    )


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


def python(record: Look) -> str:
    """The same by Python."""
    folds = "" if record.dealing.folds == 10 else f", folds={record.dealing.folds}"
    seed = f", seed={record.dealing.seed}" if record.dealing.seed else ""
    learner = ""
    if record.model is not None and record.trust.tempered is None:  # the look itself weighs evidence, unasked
        said = changed_settings(record.model.learner)
        name = type(record.model.learner).__name__
        if said or name != "NaiveBayes":
            learner = f", likely.{name}({', '.join(f'{k}={v!r}' for k, v in said.items())})"
    learner = learner if len(learner) < 300 else ", learner"
    source, target = shown(record.source, 200), repr(record.target)
    return f"import likely\nfound = likely.look({source}, {target}{learner}{folds}{seed})"
