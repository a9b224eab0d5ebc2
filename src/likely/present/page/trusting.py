"""What a look says beyond scores: bounds, one rule, ranks, each class, the ceiling, where it has them. No rows."""

from __future__ import annotations

from typing import Any

from likely.evaluate.look import Look
from likely.evaluate.scores.calibration import Reliability
from likely.present.charts.drawing import Axis, Chart, Frame, line, path, svg
from likely.present.report.words import clean, number, percent, plural


def bounds(record: Look, score: str) -> tuple[float, float] | None:
    """95 % bounds of a score that has any."""
    found = getattr(record.intervals, score, None)
    return None if found is None or found.low is None or found.high is None else (found.low, found.high)


def reliable(record: Look) -> Reliability | None:
    """The reliability curve that matters most."""
    return record.trust.calibration[0] if record.trust.calibration and record.trust.calibration[0].bins else None


def one_rule(record: Look) -> tuple[str, Any] | None:
    """The scores of the one attribute that tells most, and what to call them."""
    if record.baselines.one_rule is None:
        return None
    name = record.baselines.one_attribute
    return "one attribute" if name is None else f"{clean(name, 24)} alone", record.baselines.one_rule


def ceiling(record: Look) -> str:
    """What the best learner could reach."""
    found = record.trust.ceiling
    if found is None or record.decisions is not None:
        return ""
    low, high = found.accuracy
    of = "" if found.rows >= record.rows else f" of a sample of {plural(found.rows, 'row')}"
    return (
        f"By the nearest neighbours{of}, the best that any learner could reach with these attributes lies between "
        f"{percent(low)} and {percent(high)}."
    )


def each_class(record: Look) -> tuple[tuple[str, ...], ...]:
    """For each class: rows, share found, share right when named, each with its bounds."""

    def told(found: Any) -> str:
        if found.value is None:
            return "–"
        wide = "" if found.low is None else f" ({100 * found.low:.1f} to {100 * found.high:.1f})"
        return f"{percent(found.value)}{wide}"

    return tuple((clean(c.label, 40), number(c.rows), told(c.recall), told(c.precision)) for c in record.per_class[:60])


def ranked(record: Look) -> tuple[str, tuple[Chart, ...], tuple[tuple[str, ...], ...]]:
    """How well rows of the class looked for rank above the others: a sentence, charts, and what the top holds."""
    found = record.trust.rankings.get(record.trust.positive)
    if found is None:
        return "", (), ()
    area, of = found.roc.auc, clean(found.roc.of, 40)
    wide = "" if area.low is None else f" (95 % interval: {area.low:.3f} to {area.high:.3f})"
    sentence = (
        f"A row of {of} ranks above one of another class with probability {area.value:.3f}{wide}; by chance it "
        "would be 0.5."
    )
    charts = (
        _square(found.roc.points, "others mistaken for it", f"{of} found", "ROC curve", diagonal=True),
        _square(found.precision_recall.points, f"{of} found", "right when named", "Precision and recall",
                level=found.precision_recall.prevalence),
    )  # fmt: skip
    lift = tuple((percent(r.share), percent(r.found), percent(r.precision), f"×{r.lift:.2f}") for r in found.lift.rows)
    return sentence, charts, lift


def _square(points: Any, x: str, y: str, title: str, diagonal: bool = False, level: float | None = None) -> Chart:
    """A curve of shares against shares."""
    frame = Frame(Axis(0.0, 1.0, x, "percent"), Axis(0.0, 1.0, y, "percent"), width=240, height=200)
    body = [frame.drawn()]
    if diagonal:
        body.append(line(frame.across(0), frame.up(0), frame.across(1), frame.up(1), "ideal"))
    if level is not None:
        body.append(line(frame.across(0), frame.up(level), frame.across(1), frame.up(level), "ideal"))
    every = max(1, len(points) // 120)  # a curve of more points looks the same
    kept = [p for k, p in enumerate(points) if k % every == 0 or k == len(points) - 1]
    body.append(path([(frame.across(a), frame.up(b)) for a, b in kept], "accent-line"))
    return svg(312, frame.bottom + 42, f"{title}: {y} against {x}", "".join(body), "ranks")
