"""What `likely curve` says: a verdict, a table with bars, and the chart. Knows the record, no rows."""

from __future__ import annotations

from likely.errors import shown
from likely.evaluate.curve import Curve, Point
from likely.evaluate.scores.intervals import Measure
from likely.evaluate.scores.scores import is_better
from likely.evaluate.trend import Trend
from likely.present.charts.drawing import Chart, stacked_charts
from likely.present.charts.lines import learning
from likely.present.sections import Bar, Report, Table
from likely.present.words import clean, number, percent, plural

BAR = 16
"""Places of the longest bar."""
MOST_NOTES = 3


def present_curve(record: Curve) -> Report:
    """What `likely curve` prints."""
    last = record.points[-1]
    where = f"{clean(record.target)} in {clean(record.source)}: {plural(record.rows, 'row')}"
    name = clean(record.learner.partition("(")[0])
    headline = (
        f"{where}.\n{name} predicts {_share(last.accuracy)} of held-out rows correctly after learning from "
        f"{_rows(last)}.\n{_guessing(last)}"
    )
    tables = [_sizes(record)]
    bought = _bought(record)
    if bought.rows:
        tables.append(bought)
    notes = [*record.notes[:MOST_NOTES]]
    if len(record.notes) > MOST_NOTES:
        notes.append(f"Not shown: {plural(len(record.notes) - MOST_NOTES, 'note')}; --json has them.")
    return Report(headline, tuple(tables), (*_outlook(record), *_reasons(record), *notes))


def _guessing(last: Point) -> str:
    """What always naming the most frequent class comes to, and whether the learner is any better."""
    gets = percent(last.baseline.accuracy)
    if is_better(last.accuracy.value or 0.0, last.baseline.accuracy):
        return f"Always guessing the most frequent class gets {gets}."
    return f"That is no better than always guessing the most frequent class, which gets {gets}."


def _sizes(record: Curve) -> Table:
    base = record.points[-1].baseline
    most = max([p.log_loss.value for p in record.points if p.log_loss.value is not None], default=0.0) or 1.0
    if base.log_loss:
        most = min(most, 2 * base.log_loss)  # one loss beyond measure must not make the other bars vanish
    rows = tuple(
        (
            _count(p.rows),
            percent(p.accuracy.value or 0.0),
            _between(p.accuracy, 100, 1),
            _bar(p.accuracy.value or 0.0),
            "infinite" if p.log_loss.value is None else f"{p.log_loss.value:.4f}",
            _between(p.log_loss, 1, 3),
            "" if p.log_loss.value is None else _bar(p.log_loss.value / most),
            f"{p.brier.value or 0.0:.4f}",
        )
        for p in record.points
    )
    loss = "infinite" if base.log_loss is None else f"{base.log_loss:.4f}"
    rows += (("frequencies only", percent(base.accuracy), "", _bar(base.accuracy), loss, "", "", f"{base.brier:.4f}"),)
    scores = ("accuracy", "95 % interval", "", "log loss, bits per row", "95 % interval", "", "Brier score")
    header = ("rows learned from", *scores)
    title = f"Learning curve: each of {record.folds} folds is predicted from more and more rows of the others"
    return Table(title, header, rows, frozenset({0, 1, 4, 7}))


def _bought(record: Curve) -> Table:
    """What the law of the curve says of more rows."""
    rows = []
    last = record.points[-1]
    for k, times in enumerate((2, 4)):
        cells = []
        for trend, share in ((record.accuracy, True), (record.log_loss, False)):
            if trend.verdict != "forecast":
                cells += ["", ""]
                continue
            found = trend.forecasts[k]
            if share:
                cells += [percent(1 - found.loss), f"{100 * (1 - found.high):.1f} to {100 * (1 - found.low):.1f}"]
            else:
                cells += [f"{found.loss:.4f}", f"{found.low:.3f} to {found.high:.3f}"]
        if any(cells):
            rows.append((f"{times} times as many, {_count(times * last.rows)}", *cells))
    header = ("rows learned from", "accuracy", "95 % interval", "log loss, bits per row", "95 % interval")
    return Table("What more rows would bring if the curve continues", header, tuple(rows), frozenset({1, 3}))


def _outlook(record: Curve) -> list[str]:
    """What the last step brought, and what twice the rows would bring, for each score."""
    out = []
    if len(record.points) > 1:
        one, two = record.points[-2], record.points[-1]
        right, loss = record.accuracy.last_step, record.log_loss.last_step
        told = f"accuracy {_change(right, 100, 1)} points" if right.value is not None else ""
        if loss.value is not None:
            told += f", log loss {_change(Measure(-loss.value, _less(loss.high), _less(loss.low)), 1, 4)} bits per row"
        out.append(f"The last step, from {_count(one.rows)} to {_rows(two)}, changed {told}.")
    for name, trend in (("accuracy", record.accuracy), ("log loss", record.log_loss)):
        out.append(_sentence(name, trend, record))
    return out


def _sentence(name: str, trend: Trend, record: Curve) -> str:
    first, last = record.points[0], record.points[-1]
    if trend.verdict == "forecast":
        found = trend.forecasts[0]
        if name == "accuracy":
            about = f"{percent(1 - found.loss)}, between {100 * (1 - found.high):.1f} and {100 * (1 - found.low):.1f} %"
        else:
            about = f"{found.loss:.3f} bits per row, between {found.low:.3f} and {found.high:.3f}"
        now = percent(last.accuracy.value or 0.0) if name == "accuracy" else f"{last.log_loss.value or 0.0:.3f}"
        return f"With twice the rows, expect {name} of about {about} (now {now})."
    why = {
        "short": "there are too few sizes at which it is finite" if name == "log loss" else "there are too few sizes",
        "unclear": f"how it changed from {_count(first.rows)} to {_rows(last)} differs too much from fold to fold",
        "rising": f"it is worse after {_rows(last)} than after {_count(first.rows)}",
        "noisy": "its curve is too noisy",
    }[trend.verdict]
    return f"How {name} would change with twice the rows cannot be predicted: {why}."


def _reasons(record: Curve) -> list[str]:
    """Why a log loss is infinite, and why sizes are not in the table."""
    out = []
    for p in record.points:
        if p.log_loss.value is None:
            out.append(f"After {_rows(p)} the log loss is infinite: {_impossible(p, record.folds)}.")
    for rows, why in record.refused.items():
        out.append(f"About {rows} rows are too few for this learner: {why}")
    if not record.proper:
        out.append("The learner outputs scores, not probabilities, so its log loss is not comparable.")
    if record.left_out:
        out.append(f"{plural(record.left_out, 'row')} left out: no class or no weight.")
    return out


def _impossible(point: Point, folds: int) -> str:
    weight = f"{plural(point.impossible, 'row')} of a class the model considered impossible"
    if not point.lacking:
        return weight
    label, count = max(point.lacking.items(), key=lambda item: item[1])
    more = "" if len(point.lacking) == 1 else f", like {plural(len(point.lacking) - 1, 'other class')},"
    return f"{weight}; {shown(label)}{more} was not among the rows learned from in {count} of {folds} folds"


def draw_curve(record: Curve) -> Chart:
    """The chart: accuracy and log loss against the rows learned from, and all that is said of them."""
    last = record.points[-1]
    told = f"After {_rows(last)} accuracy is {percent(last.accuracy.value or 0.0)}. {_guessing(last)} " + " ".join(
        _outlook(record)
    )
    return stacked_charts(learning(record), f"Learning curve of {clean(record.target)} in {clean(record.source)}", told)


def _bar(share: float) -> Bar:
    return Bar(share, BAR)


def _between(measure: Measure, scale: float, digits: int) -> str:
    if measure.low is None or measure.high is None:
        return ""
    return f"{scale * measure.low:.{digits}f} to {scale * measure.high:.{digits}f}"


def _change(measure: Measure, scale: float, digits: int) -> str:
    told = f"by {scale * (measure.value or 0.0):+z.{digits}f}"
    if measure.low is None or measure.high is None:
        return told
    return f"{told} ({scale * measure.low:+z.{digits}f} to {scale * measure.high:+z.{digits}f})"


def _less(value: float | None) -> float | None:
    return None if value is None else -value


def _share(measure: Measure) -> str:
    return percent(measure.value or 0.0)


def _count(rows: float) -> str:
    return number(round(rows)) if rows >= 10 else number(round(rows, 1))


def _rows(point: Point) -> str:
    return f"{_count(point.rows)} rows"
