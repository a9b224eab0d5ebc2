"""Tables of words: what `compare` says, ready to be printed in any way. Knows records, no rows."""

from __future__ import annotations

from likely.evaluate.attributes.redundancy import chance
from likely.evaluate.compare import Compared, Comparison
from likely.present.report.look_tables import folds_title, loss_bits, number_bounds, share_bounds
from likely.present.sections import Report, Table, numbers_from
from likely.present.words import clean, number, percent, plural

MOST_NOTES = 3
"""Notes of one learner that a comparison shows; JSON has all of them."""
TOLD_APART = 0.05


def present_comparison(record: Comparison) -> Report:
    """What `likely compare` says."""
    rows, refused = [], []
    unanswered = any(one.scores is not None and one.scores.unclassified for one in record.learners)
    for one in record.learners:
        if one.scores is None or one.intervals is None:
            refused.append(f"{clean(one.name)} was not compared: {one.refused}")
            continue
        loss = loss_bits(one.scores.log_loss)
        row = (clean(one.name), percent(one.scores.accuracy), share_bounds(one.intervals.accuracy), loss,
               number_bounds(one.intervals.log_loss), f"{one.scores.brier:.4f}", _told_apart(one))  # fmt: skip
        rows.append((*row, number(one.scores.unclassified)) if unanswered else row)
    where, over = f"{clean(record.target)} in {clean(record.source)}", f"{plural(record.rows, 'row')}"
    often = f", {record.dealing.repeats} times" if record.dealing.repeats > 1 else ""
    headline = f"{where}: {_winner(record)} on {over}, cross-validated in {record.dealing.folds} folds{often}."
    scores = ("accuracy", "95 % interval", "log loss, bits per row", "95 % interval", "Brier score")
    header = ("learner", *scores, "vs. the first", *(["no answer"] if unanswered else []))
    title = "Learners" if record.dealing.dealt == "stratified" else f"Learners. {folds_title(record.dealing)}"
    tables = (Table(title, header, tuple(rows), numbers_from(1, len(header))),) if rows else ()
    odd = [clean(one.name) for one in record.learners if not one.proper]
    told = [f"{name} outputs scores, not probabilities, so its log loss is not comparable." for name in odd]
    told += [f"{clean(one.name)}: {note}" for one in record.learners for note in one.notes[:MOST_NOTES]]
    return Report(headline, tables, (*_explained(record), *record.notes, *told, *refused))


def _told_apart(one: Compared) -> str:
    """How often chance alone would set it so far from the first: by log loss, or accuracy where that is infinite."""
    return next((chance(pair.p_of_all) for pair in one.against if pair.score in ("log_loss", "accuracy")), "")


def _explained(record: Comparison) -> list[str]:
    tested = next((one.against[0] for one in record.learners if one.against), None)
    if tested is None:
        return []
    # Where a log loss is infinite, or made of scores that are no probabilities, there is nothing to compare.
    finite = [one for one in record.learners if one.against and one.proper and one.against[0].score == "log_loss"]
    close = [clean(one.name, 30) for one in finite if one.against[0].p_of_all > TOLD_APART]
    out = [
        f"p: how often chance alone would produce so large a difference in log loss from {clean(tested.other, 30)}; "
        f"paired by fold, {tested.test}, corrected for the number of learners (Holm)."
    ]
    if close:
        some = ", ".join(close[:6]) + (f" and {len(close) - 6} more" if len(close) > 6 else "")
        out.append(f"No significant difference from {clean(tested.other, 30)}: {some}.")
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
        return f"{clean(scored[0].name)} has the highest accuracy (every log loss is infinite)"
    return f"{clean(scored[0].name)} has the lowest log loss"
