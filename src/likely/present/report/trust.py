"""Words for how far a look can be trusted: bounds, baselines, calibration, ranks, ceiling. Knows records, no rows."""

from __future__ import annotations

from likely.evaluate.crossval.dealing import Dealing
from likely.evaluate.crossval.temperature import Tempered
from likely.evaluate.look import Look
from likely.evaluate.scores.calibration import Reliability
from likely.evaluate.scores.intervals import Intervals, Measure, Paired
from likely.present.report.tables import Table, numbers_from
from likely.present.report.words import clean, number, percent, plural

NEARLY = 0.02
"""A temperature so near to 1 changes nothing worth a word."""


def shares(bounds: Measure) -> str:
    """Bounds of a share, in per cent."""
    if bounds.low is None or bounds.high is None:
        return ""
    return f"{100 * bounds.low:.1f} to {100 * bounds.high:.1f} %"


def numbers(bounds: Measure, digits: int = 4) -> str:
    """Bounds of a number."""
    if bounds.low is None or bounds.high is None:
        return ""
    return f"{bounds.low:.{digits}f} to {bounds.high:.{digits}f}"


def bits(value: float | None) -> str:
    """A log loss."""
    return "infinite" if value is None else f"{value:.4f}"


def folds_of(dealing: Dealing) -> str:
    """How rows were dealt, as a title."""
    folds, repeats, dealt, by = dealing.folds, dealing.repeats, dealing.dealt, dealing.dealt_by
    if dealt == "leave-one-out":
        return "Cross-validated: each row is predicted by what all others taught"
    others = "the other one" if folds == 2 else f"the other {folds - 1}"
    if dealt == "time":
        return f"In the order of {clean(by, 30)}: each of {folds} parts is predicted by what the rows before it taught"
    told = f"Cross-validated: each of {folds} folds is predicted by what {others} taught"
    if dealt == "group":
        told += f"; rows with the same {clean(by, 30)} are in one fold"
    return told if repeats == 1 else f"{told}; {repeats} times"


def score_table(record: Look, called: str, decided: tuple[tuple[str, ...], ...] | None) -> Table:
    """The scores of the learner with their bounds, beside those of the baselines."""
    one, two, three = record.scores, record.baseline, record.baselines.one_rule
    bounds: Intervals = record.intervals
    rule = record.baselines.one_attribute is not None and three is not None
    rows: list[tuple[str, ...]] = []
    if decided is None:
        third = percent(three.accuracy) if three is not None else ""
        rows.append(("accuracy", percent(one.accuracy), shares(bounds.accuracy), percent(two.accuracy), third))
    else:
        rows += [(name, own, "", base, "") for name, own, base, *_ in decided]
    third = bits(three.log_loss) if three is not None else ""
    rows.append(("log loss, bits a row", bits(one.log_loss), numbers(bounds.log_loss), bits(two.log_loss), third))
    third = f"{three.brier:.4f}" if three is not None else ""
    rows.append(("Brier score, 0 to 2", f"{one.brier:.4f}", numbers(bounds.brier), f"{two.brier:.4f}", third))
    if one.unclassified:
        third = number(three.unclassified) if three is not None else ""
        rows.append(("cannot be classified", number(one.unclassified), "", number(two.unclassified), third))
    if record.trust.calibration and decided is None:
        error = record.trust.calibration[0].error
        rows.append(("calibration error", percent(error.value or 0.0), shares(error), "", ""))
    if record.trust.positive in record.trust.rankings and len(record.classes) == 2:
        auc = record.trust.rankings[record.trust.positive].roc.auc
        rows.append(("area under ROC", f"{auc.value or 0.0:.4f}", numbers(auc), "0.5000", ""))
    header = ["score", called, "95 % bounds", "frequencies", f"{clean(record.baselines.one_attribute or '', 20)} alone"]
    width = 5 if rule else 4
    title = folds_of(record.dealing)
    return Table(title, tuple(header[:width]), tuple(row[:width] for row in rows), numbers_from(1, width))


def class_table(record: Look, everything: bool) -> Table:
    """The classes: how frequent each is, and how well it is named."""
    total, weighed = sum(record.classes.values()), any(c.role == "weight" for c in record.columns)
    named = record.decisions is None and len(record.per_class) == len(record.classes)
    ranked = bool(record.trust.rankings) and len(record.classes) > 2 and named
    header = ["class", "weight" if weighed else "rows", "share"]
    header += ["precision", "recall", "F1"] if named else []
    header += ["area under ROC"] if ranked else []
    by = {one.label: one for one in record.per_class}
    rows = []
    for label, n in list(record.classes.items())[: None if everything else 20]:
        cells = [clean(label), number(n), percent(n / total)]
        if named:
            one = by[label]
            cells += [_percent(one.precision.value), _percent(one.recall.value), _percent(one.f1)]
        if ranked:
            cells.append(f"{record.trust.rankings[label].roc.auc.value:.4f}" if label in record.trust.rankings else "–")
        rows.append(tuple(cells))
    return Table("Classes", tuple(header), tuple(rows), numbers_from(1, len(header)))


def _percent(value: float | None) -> str:
    return "–" if value is None else percent(value)


def full_tables(record: Look) -> list[Table]:
    """What the short view leaves out: the reliability curve, lift, and what is compared with the baselines."""
    out = [_bins(record.trust.calibration[0], record)] if record.trust.calibration else []
    if len(record.classes) == 2 and record.trust.positive in record.trust.rankings:
        ranking = record.trust.rankings[record.trust.positive]
        rows = tuple(
            (percent(r.share), percent(r.found), percent(r.precision), f"×{r.lift:.2f}") for r in ranking.lift.rows
        )
        name, average = clean(record.trust.positive, 20), ranking.precision_recall
        title = (
            f"Lift: how much of {name} is among the rows that rank highest "
            f"(average precision {average.average_precision:.4f}, of {average.prevalence:.4f} by chance)"
        )
        out.append(Table(title, ("of all rows", f"of {name}", "are it", "lift"), rows, numbers_from(0, 4)))
    if record.per_class and record.decisions is None:
        rows = tuple(
            (clean(c.label, 30), shares(c.precision) or "–", shares(c.recall) or "–", _percent(c.f1))
            for c in record.per_class
        )
        title = "Precision and recall of each class, 95 % bounds"
        out.append(Table(title, ("class", "precision", "recall", "F1"), rows, numbers_from(1, 4)))
    if record.baselines.against:
        out.append(against_table(f"{record.learner.partition('(')[0]} less the baselines", record.baselines.against))
    return out


def against_table(title: str, pairs: tuple[Paired, ...]) -> Table:
    """Differences with their bounds, and how often chance would make as much."""
    called = {"log_loss": "log loss, bits a row", "accuracy": "accuracy", "brier": "Brier score"}
    rows = tuple(
        (clean(p.other, 30), called[p.score], f"{p.difference.value or 0.0:+.4f}", numbers(p.difference), chance(p.p))
        for p in pairs
    )
    head = ("against", "score", "difference", "95 % bounds", "by chance alone")
    return Table(f"{title}: {pairs[0].test}, over {pairs[0].folds} folds", head, rows, numbers_from(2, 5))


def chance(p: float) -> str:
    """A p-value.

    >>> chance(0.0312), chance(1e-9)
    ('p = 0.031', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def _bins(curve: Reliability, record: Look) -> Table:
    of = "the class it names" if curve.of is None else clean(curve.of, 20)
    rows = tuple(
        (
            f"{percent(b.low)} to {percent(b.high)}",
            percent(b.probability),
            percent(b.share.value or 0.0),
            shares(b.share),
            number(b.weight),
        )
        for b in curve.bins
    )
    title = f"Calibration: how often rows turn out to be {of} to which it gave this probability"
    header = ("probability", "in the mean", "turned out so", "95 % bounds", "rows")
    return Table(title, header, rows, numbers_from(0, 5))


def sentences(record: Look) -> list[str]:
    """What there is to say of calibration and of the ceiling, in a sentence each."""
    out = []
    if record.trust.calibration and record.decisions is None:
        curve = record.trust.calibration[0]
        if curve.doubted:
            worst = max(curve.bins, key=lambda b: b.weight * abs(b.probability - (b.share.value or 0.0)))
            of = "the class it names" if curve.of is None else clean(curve.of, 20)
            out.append(
                f"Its percentages are off by {percent(curve.error.value or 0.0)} in the mean: where it gives "
                f"{of} {percent(worst.probability)}, that is right for {percent(worst.share.value or 0.0)} of "
                f"{plural(worst.weight, 'row')}."
            )
    if record.trust.tempered is not None:
        out.append(weighed(record.trust.tempered))
    found = record.trust.sharpened
    if found is not None and abs(found.temperature - 1) > NEARLY and _gained(record):
        how = "sure of itself" if found.temperature < 1 else "timid"
        sentence = f"It is too {how}: all evidence times {found.temperature:.2g} gives {found.log_loss:.4f} bits a row."
        if record.learner.startswith("NaiveBayes("):
            sentence += " To learn so: --temperature auto; to have the best learner chosen: --learner Auto."
        out.append(sentence)
    if record.trust.ceiling is not None:
        low, high = record.trust.ceiling.accuracy
        of = (
            ""
            if record.trust.ceiling.rows >= record.rows
            else f" of a sample of {plural(record.trust.ceiling.rows, 'row')}"
        )
        out.append(f"Ceiling by nearest neighbours{of} (Cover and Hart): accuracy {percent(low)} to {percent(high)}.")
    return out


def weighed(found: Tempered) -> str:
    """Why probabilities are what they are, where evidence was weighed."""
    gain = ""
    if found.before is not None and found.log_loss is not None:
        gain = f" (log loss {found.before:.4f} → {found.log_loss:.4f} bits a row)"
    return (
        f"Evidence is weighed by {found.temperature:g}, because rows that were held out showed naive Bayes too sure of "
        f"itself{gain}."
    )


def _gained(record: Look) -> bool:
    """Whether the temperature is better than 1 by more than noise: chance hardly explains the calibration error."""
    found, loss = record.trust.sharpened, record.scores.log_loss
    if not record.trust.calibration or not record.trust.calibration[0].doubted:
        return False
    return found is not None and (loss is None or found.log_loss < 0.99 * loss)
