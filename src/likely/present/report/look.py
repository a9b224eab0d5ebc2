"""What `likely look` says, and the sentences that the page shares with it. Knows the record, no rows."""

from __future__ import annotations

from likely.evaluate.look import Look
from likely.evaluate.scores.calibration import Reliability
from likely.evaluate.scores.losses import LossScores
from likely.present.report.look_tables import (
    attribute_table,
    baseline_table,
    calibration_table,
    class_of,
    class_table,
    column_table,
    confusion_table,
    evidence_table,
    learner_name,
    lift_table,
    precision_table,
    score_table,
    word_table,
)
from likely.present.sections import Report, Table
from likely.present.words import clean, interval, number, percent, plural, weighed_rows

MOST_ATTRIBUTES, MOST_WARNINGS, MOST_NOTES = 5, 2, 3
"""Lines of each in the short view, which fits a terminal of 24 lines."""
NEARLY, LEAST_GAIN, GAP = 0.02, 0.001, 0.05
"""A temperature so near to 1, so few bits a row gained by one, or a smaller gap of a bin, is not worth a word."""


def present_look(record: Look, everything: bool = False) -> Report:
    """What `likely look` says: the answer, scores, the strongest attributes and warnings; or everything there is."""
    said = [_verdict(record), *(f"Warning: {words}" for words in leak_sentences(record))]
    headline = "\n".join([f"{clean(record.target)} in {clean(record.source)}: {size(record)}.", *said])
    if everything:
        return Report(headline, tuple(t for t in _all_tables(record) if t.rows), tuple(_all_remarks(record)))
    tables = [score_table(record), attribute_table(record).first(MOST_ATTRIBUTES)]
    tables += [word_table(text.words).first(MOST_ATTRIBUTES) for text in record.texts[:1]]
    others = record.warnings[len(leak_sentences(record)) :]
    warnings, notes = others[:MOST_WARNINGS], [*record.notes, *trust_sentences(record)]
    left = len(others) - len(warnings) + max(0, len(notes) - MOST_NOTES)
    counts = ((len(record.attributes) - MOST_ATTRIBUTES, "more attribute"), (left, "more remark"))
    counted = [plural(count, word) for count, word in counts if count > 0]
    hint = f"--all shows {', '.join([*counted, 'classes, the strongest evidence, errors, columns'])}."
    remarks = [*(f"Warning: {w}" for w in warnings), *notes[:MOST_NOTES], hint]
    return Report(headline, tuple(t for t in tables if t.rows), tuple(remarks))


def _all_tables(record: Look) -> list[Table]:
    tables = [score_table(record), class_table(record), calibration_table(record), lift_table(record)]
    tables += [precision_table(record), baseline_table(record), attribute_table(record)]
    tables += [word_table(text.words) for text in record.texts]
    return [*tables, evidence_table(record), confusion_table(record), column_table(record.columns)]


def _all_remarks(record: Look) -> list[str]:
    more = "likely curve shows what more rows would bring."
    warnings = (f"Warning: {w}" for w in record.warnings[len(leak_sentences(record)) :])
    return [*trust_sentences(record), *warnings, *record.notes, more]


def size(record: Look) -> str:
    """How much there is."""
    rows = weighed_rows(record.rows, sum(record.classes.values()))
    return f"{rows}, {plural(len(record.classes), 'class')}, {plural(len(record.attributes), 'attribute')}"


# -- sentences ----------------------------------------------------------------------------------------------


def _verdict(record: Look) -> str:
    """How well the target is predicted, in a few short sentences that claim no more than the scores do."""
    if not record.attributes:
        return "No other column can be used, so nothing but the frequency of the classes is known."
    if record.decisions is not None:
        return cost_sentence(record.decisions, learner_name(record))
    said = (answer_sentence(record), one_attribute_sentence(record), guess_sentence(record), qualification(record))
    return "\n".join(words for words in said if words)


def leak_sentences(record: Look) -> tuple[str, ...]:
    """What must be known before the answer is believed: columns that give the class away."""
    return record.warnings[: len(record.leaks)]


def answer_sentence(record: Look) -> str:
    """The answer, with its interval."""
    bounds = record.intervals.accuracy
    wide = interval(bounds.low, bounds.high)
    return (
        f"{learner_name(record)} predicts {clean(record.target)} correctly for {percent(record.scores.accuracy)} of "
        f"unseen rows{f' ({wide})' if wide else ''}."
    )


def guess_sentence(record: Look) -> str:
    """What always naming the most frequent class comes to."""
    frequent, guessing = clean(record.baselines.guess, 40), percent(record.baseline.accuracy)
    if not record.beats_guessing:
        return f"That is no better than always guessing {frequent}, which gets {guessing}."
    if not record.clearly_beats_guessing:
        return f"That is not clearly better than always guessing {frequent}, which gets {guessing}."
    return f"Always guessing {frequent} gets {guessing}."


def one_attribute_sentence(record: Look) -> str:
    """That one column alone does as well, as far as these rows can tell; else nothing."""
    alone, name = record.baselines.one_rule, record.baselines.one_attribute
    pairs = [p for p in record.baselines.against if (p.other, p.score) == ("one attribute", "log_loss")]
    if alone is None or name is None or not pairs or len(record.attributes) < 2:
        return ""
    named = [p for p in record.baselines.against if (p.other, p.score) == ("one attribute", "accuracy")]
    if any(p.difference.low is not None and p.difference.low > 0 for p in named):
        return ""  # its probabilities may be worse; that is said of its percentages
    if record.baseline.log_loss is None or alone.log_loss is None or alone.log_loss >= record.baseline.log_loss:
        return ""  # the attribute tells nothing either, and the baseline says so already
    worse = pairs[0].difference.high is not None and pairs[0].difference.high < 0
    if worse or pairs[0].difference.value is None or is_one_rule(record):
        return ""
    if alone.accuracy >= record.scores.accuracy:
        return f"One column does as well: {clean(name, 30)} alone gets {percent(alone.accuracy)}."
    return f"Not clearly better than one column: {clean(name, 30)} alone gets {percent(alone.accuracy)}."


def is_one_rule(record: Look) -> bool:
    """Whether the learner itself goes by one attribute."""
    return record.learner.startswith("OneRule(")


def qualification(record: Look) -> str:
    """What must be added where classes and probabilities are not both better than those of the baseline."""
    scores, baseline = record.scores, record.baseline
    named = record.beats_guessing
    # As it is printed: of two equal figures none is better.
    sharper = scores.log_loss is not None and (
        baseline.log_loss is None or round(scores.log_loss, 4) < round(baseline.log_loss, 4)
    )
    if named and scores.log_loss is None and baseline.log_loss is None:
        return ""  # a class that only held-out rows have is impossible to both
    if named and not sharper:
        if not record.clearly_beats_guessing:
            return "Its probabilities are no better than the class frequencies (see log loss)."
        return "But it is overconfident (see log loss): trust its classes, not its probabilities."
    if sharper and not named:
        return "Still, its probabilities beat the class frequencies (see log loss)."
    return "" if named else "Nothing is gained: neither its classes nor its log loss are better."


def cost_sentence(scores: LossScores, called: str) -> str:
    """What deciding costs, beside knowing nothing."""
    out = (
        f"{called} decides at a cost of {number(scores.mean)} a row on rows it has not learned from;\n"
        f"always choosing {clean(scores.constant, 30)} would cost {number(scores.constant_mean)}, "
        f"deciding by the frequencies of the classes {number(scores.baseline)}."
    )
    if scores.mean >= min(scores.constant_mean, scores.baseline):
        out += "\nNothing is gained: knowing nothing of a row costs no more."
    return out


def trust_sentences(record: Look) -> list[str]:
    """What there is to say of calibration, in a sentence each."""
    out, trust = [], record.trust
    doubted = bool(trust.calibration) and trust.calibration[0].doubted
    if doubted and record.decisions is None:
        out.append(calibration_sentence(trust.calibration[0]))
    better, loss = trust.sharpened, record.scores.log_loss
    if better is not None and abs(better.temperature - 1) <= NEARLY:
        better = None
    # Better than 1 by more than noise: chance hardly explains the calibration error.
    if better is not None and doubted and (loss is None or better.log_loss < min(0.99 * loss, loss - LEAST_GAIN)):
        how = "sure of itself" if better.temperature < 1 else "timid"
        words = f"It is too {how}: all evidence times {better.temperature:.2g} gives {better.log_loss:.4f} bits a row."
        if record.learner.startswith("NaiveBayes("):
            words += " To learn so: --temperature auto; to have the best learner chosen: --learner Auto."
        out.append(words)
    return out


def calibration_sentence(found: Reliability) -> str:
    """What the reliability curve comes to: how far off it is, whether chance explains that, and where it is worst."""
    error = 100 * found.error
    worst = max(found.bins, key=lambda b: b.weight * abs(b.probability - (b.share.value or 0.0)))
    gap = abs(worst.probability - (worst.share.value or 0.0))
    where = (
        f"where it gives {class_of(found)} {percent(worst.probability)}, that is right for "
        f"{percent(worst.share.value or 0.0)} of {plural(worst.weight, 'row')}"
    )
    off = f"Its probabilities are off by {error:.1f} points on average"
    if found.doubted:
        return f"{off}, more than chance explains: {where}."
    if gap >= GAP:
        return f"{off}. So few rows could do that by chance; {where}."
    return f"{off}, no more than chance would make it."
