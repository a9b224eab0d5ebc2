"""What `doctor`, `compare`, `curve` and `repeats` say, as small tables and remarks."""

from __future__ import annotations

from likely.errors import shown
from likely.evaluate.attributes.redundancy import FAR, REPEATED_BY_CHANCE, RepeatedPair
from likely.evaluate.compare import Compared, Comparison, Counted, RepeatChange, Repeats
from likely.evaluate.curve import Curve, Point, Trend
from likely.evaluate.doctor import Checkup
from likely.evaluate.scores.intervals import Measure
from likely.evaluate.scores.scores import is_better
from likely.evaluate.troubles.columns import CHANCE
from likely.evaluate.troubles.rows import Suspect
from likely.machinery.words import chance, clean, interval, number, percent, plural
from likely.present.charts.drawing import Chart, stacked_charts
from likely.present.charts.lines import learning
from likely.present.document import Document, Table, bar_cell, numbers_from
from likely.present.report.look import folds_title, learner_name, loss_bits, number_bounds, share_bounds
from likely.table.infer import type_option

# What `likely doctor` says, as small tables and remarks. Knows the record, no rows.

MOST_FINDINGS = 12
MOST_EXAMPLES = 5


def present_checkup(record: Checkup, everything: bool = False) -> Document:
    """A verdict and the warnings; suspects and contradictions row by row; what else was found, as remarks."""
    where = f"{clean(record.target)} in {clean(record.source)}: {plural(record.rows, 'row')}"
    where += f", {plural(len(record.classes), 'class')}, {plural(len(record.attributes), 'attribute')}."
    grave = len(record.grave)
    rest = len(record.findings) - grave
    verdict = f"{plural(grave, 'warning')}" if grave else "No problems found"
    verdict += f", {plural(rest, 'note')}." if rest else "."
    tables = [_suspects(record), _surprises(record), _contradictions(record, everything)]
    if everything:
        tables.append(_attributes(record))
    warnings, remarks = [f"Warning: {f.words}" for f in record.grave], list[str]()
    notes = [f.words for f in record.findings if not f.grave]
    remarks += notes if everything else notes[:MOST_FINDINGS]
    if len(notes) > MOST_FINDINGS and not everything:
        remarks.append(f"{len(notes) - MOST_FINDINGS} more notes; --all shows them, and every attribute.")
    if record.left_out:
        rows = "1 row has" if record.left_out == 1 else f"{record.left_out:,} rows have"
        remarks.append(f"{rows} no class or no weight and were not checked.")
    if record.suspects:
        remarks.append("An improbable class is not necessarily wrong: the row may be rare, or the model overconfident.")
    return Document(f"{where}\n{verdict}", (*warnings, *(t for t in tables if t.rows), *remarks))


def _suspects(record: Checkup) -> Table:
    rows = tuple(
        (
            f"{s.row:,}",
            clean(s.label, 20),
            chance_of(s.probability),
            clean(s.likely, 20),
            chance_of(s.likely_probability),
            _against(s),
        )
        for s in record.suspects
    )
    name = learner_name(record, first=False)
    title = f"Rows whose class may be wrong, judged by {name} trained without them"
    header = ("row", "its class", "probability", "more likely", "probability", "evidence against it, bits")
    return Table(title, header, rows, frozenset({0, 2, 4}))


def _against(suspect: Suspect) -> str:
    """The bits first: a narrow terminal cuts ends."""
    return ", ".join(f"{a.bits:,.1f} by {clean(a.attribute, 20)}={clean(a.cell, 20)}" for a in suspect.against)


def chance_of(probability: float) -> str:
    """A probability that may be very small.

    >>> chance_of(0.25), chance_of(3.2e-7), chance_of(0)
    ('25.0 %', '3.2e-07', '0')
    """
    if probability in (0.0, 1.0):
        return f"{probability:.0f}"
    return percent(probability) if 0.001 <= probability < 0.9995 else f"{probability:.2g}" if probability < 0.5 else (
        "> 99.9 %"
    )  # fmt: skip


def _surprises(record: Checkup) -> Table:
    rows = tuple(
        (f"at most {100 * s.below:g} %", number(s.rows), f"{s.expected:,.1f}") for s in record.surprises if s.rows
    )
    title = "Improbable classes, and how many the models expect"
    return Table(title, ("probability of the class", "rows", "expected"), rows, frozenset({1, 2}))


def _contradictions(record: Checkup, everything: bool) -> Table:
    rows = tuple(
        (f"{c.row:,}", clean(c.label, 20), f"{c.other:,}", clean(c.other_label, 20), number(c.rows))
        for c in record.twins.examples[: None if everything else MOST_EXAMPLES]
    )
    header = ("row", "class", "and row", "class", "such rows in total")
    return Table("Rows with equal attributes but different classes", header, rows, frozenset({0, 2, 4}))


def _attributes(record: Checkup) -> Table:
    rows = tuple(
        (
            clean(t.name, 30),
            t.kind,
            f"{t.bits:.4f}",
            chance(t.p_of_all) if t.p_of_all < CHANCE else "not significant",
            percent(t.missing),
            "" if not t.missing else chance(t.p_missing_of_all) if t.p_missing_of_all < CHANCE else "not significant",
            number(t.values),
        )
        for t in record.attributes
    )
    header = ("attribute", "kind", "bits", "values and class", "missing", "missing and class", "values")
    spare = ("missing and class", "values", "kind")
    return Table("How each attribute relates to the class", header, rows, frozenset({2, 4, 6}), spare=spare)


# Tables of words: what `compare` says, ready to be printed in any way. Knows records, no rows.

MOST_NOTES = 3
"""Notes of one learner that a comparison shows; JSON has all of them."""
TOLD_APART = 0.05


def present_comparison(record: Comparison) -> Document:
    """What `likely compare` says."""
    rows, refused = [], []
    unanswered = any(one.scores is not None and one.scores.unclassified for one in record.learners)
    for one in record.learners:
        if one.scores is None or one.intervals is None:
            refused.append(f"{called(one, first=True)} was not compared: {one.refused}")
            continue
        loss = loss_bits(one.scores.log_loss)
        row = (called(one), percent(one.scores.accuracy), share_bounds(one.intervals.accuracy), loss,
               number_bounds(one.intervals.log_loss), f"{one.scores.brier:.4f}", _told_apart(one))  # fmt: skip
        rows.append((*row, number(one.scores.unclassified)) if unanswered else row)
    where, over = f"{clean(record.target)} in {clean(record.source)}", f"{plural(record.rows, 'row')}"
    often = f", {record.dealing.repeats} times" if record.dealing.repeats > 1 else ""
    headline = f"{where}: {_winner(record)} on {over}, cross-validated in {record.dealing.folds} folds{often}."
    scores = ("accuracy", "95 % interval", "log loss, bits per row", "95 % interval", "Brier score")
    header = ("learner", *scores, "vs. the first", *(["no answer"] if unanswered else []))
    title = "Learners" if record.dealing.dealt == "stratified" else f"Learners. {folds_title(record.dealing)}"
    spare = ("Brier score", "95 % interval", "vs. the first")
    tables = (Table(title, header, tuple(rows), numbers_from(1, len(header)), spare=spare),) if rows else ()
    odd = [called(one, first=True) for one in record.learners if not one.proper]
    told = [f"{name} outputs scores, not probabilities, so its log loss is not comparable." for name in odd]
    told += [f"{called(one, first=True)}: {note}" for one in record.learners for note in one.notes[:MOST_NOTES]]
    if any(one.learner == "Auto" and one.scores is not None for one in record.learners):
        told.insert(0, "The model is made anew for each fold here, so its figures differ a little from those of look.")
    return Document(headline, (*tables, *_explained(record), *record.notes, *told, *refused))


def called(one: Compared, limit: int = 60, first: bool = False) -> str:
    """What people call a learner of a comparison that has no name of its own; others as they were named."""
    plain = {"Auto": "the model", "Prior": "always guessing"} if one.name == one.learner else {}
    name = plain.get(one.name, clean(one.name, limit))
    return name[:1].upper() + name[1:] if first and one.name in plain else name


def _told_apart(one: Compared) -> str:
    """How often chance alone would set it so far from the first: by log loss, or accuracy where that is infinite."""
    return next((chance(pair.p_of_all) for pair in one.against if pair.score in ("log_loss", "accuracy")), "")


def _explained(record: Comparison) -> list[str]:
    tested = next((one.against[0] for one in record.learners if one.against), None)
    if tested is None:
        return []
    best = next((called(one, 30) for one in record.learners if one.name == tested.other), clean(tested.other, 30))
    # Where a log loss is infinite, or made of scores that are no probabilities, there is nothing to compare.
    finite = [one for one in record.learners if one.against and one.proper and one.against[0].score == "log_loss"]
    close = [called(one, 30) for one in finite if one.against[0].p_of_all > TOLD_APART]
    out = [
        f"p: how often chance alone would produce so large a difference in log loss from {best}; "
        f"paired by fold, {tested.test}, corrected for the number of learners (Holm)."
    ]
    if close:
        some = ", ".join(close[:6]) + (f" and {len(close) - 6} more" if len(close) > 6 else "")
        out.append(f"No significant difference from {best}: {some}.")
    return out


def _winner(record: Comparison) -> str:
    """Who gives the best probabilities; nobody, where the frequencies of the classes do as well."""
    scored = [one for one in record.learners if one.scores is not None]
    if not scored:
        return "no learner could learn"
    best = scored[0].scores
    if any(one.learner == "Prior" and one.scores == best for one in scored):
        return "no learner beats the class frequencies"
    if best is not None and best.log_loss is None:
        return f"{called(scored[0])} has the highest accuracy (every log loss is infinite)"
    wide = "" if scored[0].intervals is None else number_bounds(scored[0].intervals.log_loss).replace(" to ", "–")
    loss = "" if best is None else f", {loss_bits(best.log_loss)} bits a row"
    return f"{called(scored[0])} has the lowest log loss{loss}{f' ({wide})' if wide else ''},"


# What `likely curve` says: a verdict, a table with bars, and the chart. Knows the record, no rows.

BAR = 16
"""Places of the longest bar."""
MOST_REMARKS = 3


def present_curve(record: Curve) -> Document:
    """What `likely curve` prints."""
    last = record.points[-1]
    where = f"{clean(record.target)} in {clean(record.source)}: {plural(record.rows, 'row')}"
    wide = interval(last.accuracy.low, last.accuracy.high)
    headline = (
        f"{where}.\n{learner_name(record)} predicts {percent(last.accuracy.value or 0.0)} of held-out rows correctly"
        f"{f' ({wide})' if wide else ''} after learning from {_rows(last)}; its folds are not those of look, so "
        f"figures differ a little.\n{_guessing(last)}"
    )
    tables = [_sizes(record)]
    bought = _bought(record)
    if bought.rows:
        tables.append(bought)
    notes = [*record.notes[:MOST_REMARKS]]
    if len(record.notes) > MOST_REMARKS:
        notes.append(f"Not shown: {plural(len(record.notes) - MOST_REMARKS, 'note')}; --json has them.")
    return Document(headline, (*tables, *_outlook(record), *_reasons(record), *notes))


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
    rows += (("guessing", percent(base.accuracy), "", _bar(base.accuracy), loss, "", "", f"{base.brier:.4f}"),)
    scores = ("accuracy", "95 % interval", "", "log loss, bits per row", "95 % interval", "", "Brier score")
    header = ("rows learned from", *scores)
    title = f"Learning curve: each of {record.folds} folds is predicted from more and more rows of the others"
    spare = ("Brier score", "", "95 % interval")
    return Table(title, header, rows, frozenset({0, 1, 2, 4, 5, 7}), spare=spare)


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


def _bar(share: float) -> str:
    return bar_cell(share, BAR)


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


def _count(rows: float) -> str:
    return number(round(rows)) if rows >= 10 else number(round(rows, 1))


def _rows(point: Point) -> str:
    return f"{_count(point.rows)} rows"


# What `likely repeats` says, as small tables. Knows the record, no rows.


def present_repeats(record: Repeats, everything: bool = False) -> Document:
    """A verdict, the pairs, and for each of the worst what would change."""
    where = f"{clean(record.target)} in {clean(record.source)}: {plural(record.rows, 'row')}"
    matter = [p for p in record.pairs if p.matters]
    looked = plural(len(record.pairs), "pair")
    if not record.pairs:
        return Document(f"{where}.\nThere are no two attributes to compare.")
    headline = f"{where}, {looked} of attributes checked.\n" + (
        f"{plural(len(matter), 'pair')} {'is' if len(matter) == 1 else 'are'} "
        + (
            "redundant given the class, so naive Bayes counts the evidence twice."
            if all(p.same for p in matter)
            else "not independent given the class, as naive Bayes takes them to be: its odds are off."
        )
        if matter
        else "No pair is so redundant that counting both would distort the odds much."
    )
    same = [p for p in record.pairs if p.same and not p.matters]
    usual = matter[:10] + same[:5] or [p for p in record.pairs if p.p_of_all < REPEATED_BY_CHANCE][:5]
    shown_pairs = record.pairs if everything else usual
    rows = tuple(
        (
            clean(p.one, 30),
            clean(p.other, 30),
            f"{p.bits:.3f}",
            percent(p.share),
            "the same" if p.same else chance(p.p_of_all),
            "–" if p.push is None else f"{p.push:+z.2f}",
        )
        for p in shown_pairs
    )
    header = ("one", "other", "bits shared", "share", "p", "odds off by, bits")
    title = "Pairs: what one reveals about the other within a class"
    pairs = Table(title, header, rows, frozenset({2, 3, 5}))
    tables = ((pairs,) if rows else ()) + tuple(
        table for one in record.counted for table in (*_odds(one), _what_if(record, one))
    )
    remarks = [_same(p) for p in shown_pairs if p.same]
    remarks += [_advice(record, one) for one in record.counted]
    for one in record.counted:
        remarks += [
            f"{clean(one.pair.one, 30)} and {clean(one.pair.other, 30)} cannot be joined: {c.refused}"
            for c in one.changes
            if c.joined and c.scores is None
        ]
    if len(matter) > len(shown_pairs):
        remarks.append(f"Not shown: {plural(len(matter) - len(shown_pairs), 'pair')}; --all shows them.")
    if matter:
        remarks.append(
            "A pair is listed if both have the same value in every row and that matters, or if p is below "
            f"{REPEATED_BY_CHANCE:g} (Holm, over all pairs) and the odds are off by {FAR:g} bits or more "
            "(1 bit is a factor of 2)."
        )
    return Document(headline, (*tables, *remarks))


def _same(pair: RepeatedPair) -> str:
    names = f"{clean(pair.other, 30)} is {clean(pair.one, 30)} entered twice"
    return (
        f"{names}: the same value in all {plural(pair.rows, 'row')} checked. Counting both overstates the "
        f"odds by {pair.push or 0.0:.2f} bits on average. Keep one: {type_option(pair.other, 'ignore')}"
    )


def _odds(one: Counted) -> tuple[Table, ...]:
    """What an attribute entered twice does to the odds, level by level."""
    if not one.odds:
        return ()

    def written(odds: float | None) -> str:
        return "infinite" if odds is None else number(odds)

    rows = tuple(
        (clean(o.level, 30), clean(o.name, 30), written(o.before), written(o.once), written(o.twice)) for o in one.odds
    )
    names = f"{clean(one.pair.one, 30)} and {clean(one.pair.other, 30)}"
    title = f"{names} are the same: odds of a class from this attribute alone"
    return (Table(title, ("level", "class", "before", "counted once", "twice"), rows, frozenset({2, 3, 4})),)


def _loss(value: float | None) -> str:
    return "infinite" if value is None else f"{value:.4f}"


def _what_if(record: Repeats, one: Counted) -> Table:
    now = record.scores
    rows = [("unchanged", percent(now.accuracy), _loss(now.log_loss), "")]
    for change in one.changes:
        if change.scores is None:
            rows.append((_name(change), "–", "–", ""))
            continue
        loss, before = change.scores.log_loss, now.log_loss
        less = "" if loss is None or before is None else f"{loss - before:+z.4f}"
        rows.append((_name(change), percent(change.scores.accuracy), _loss(loss), less))
    title = (
        f"{clean(one.pair.one, 30)} and {clean(one.pair.other, 30)}: what would change ({number(record.folds)} folds)"
    )
    return Table(title, ("", "accuracy", "log loss, bits per row", "change"), tuple(rows), frozenset({1, 2, 3}))


def _name(change: RepeatChange) -> str:
    return "joined" if change.without is None else f"without {clean(change.without, 30)}"


def _advice(record: Repeats, one: Counted) -> str:
    """The best way, if any is better than to leave things as they are."""
    pair = f"{clean(one.pair.one, 30)} and {clean(one.pair.other, 30)}"
    best, before = one.changes[0], record.scores.log_loss
    loss = None if best.scores is None else best.scores.log_loss
    if best.scores is None or loss is None or (before is not None and loss >= before):
        if one.pair.same:  # the same column twice is one piece of evidence, whatever a few rows say
            return f"{pair}: on held-out rows of this table none of the changes tried improves log loss."
        return f"{pair}: none of the changes tried improves log loss; leave them as they are."
    told = f"from {_loss(before)} to {_loss(loss)} bits per row"
    if best.without is None:
        joined = ",".join(_csv(n) for n in (one.pair.one, one.pair.other))
        how = "joining them"
        option = f"--block {_quoted(joined)}"
    else:
        how, option = f"leaving {clean(best.without, 30)} out", type_option(best.without, "ignore")
    return f"{pair}: {how} improves log loss {told}. Try {option}."


def _csv(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"' if doubled != name or "," in name or name != name.strip() else name


def _quoted(text: str) -> str:
    from shlex import quote

    return clean(quote(text), 200)
