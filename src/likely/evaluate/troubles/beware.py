"""What to beware of after a first look, as sentences: leaks, gaps, rare classes, copies, attributes that repeat.

Knows the record of a look and the sums; no rows. Everything that came from data is escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from likely.errors import shown
from likely.evaluate.attributes.redundancy import chance
from likely.evaluate.troubles.cautions import beware
from likely.evaluate.troubles.duplicates import Twice
from likely.intake.schema import remarks
from likely.models.model import Learner, Model
from likely.models.naive.naive import NaiveBayes
from likely.sums.columns.numbers import Numbers
from likely.sums.summary import Summary

if TYPE_CHECKING:
    from likely.evaluate.look import Look

LEAK = 0.95
"""An attribute that tells this share of the target alone may be an effect of it rather than a cause."""
MUCH_MISSING = 0.5
NEARLY_MISSING = 0.9
"""Too few cells to say that an attribute decides anything."""
FEW_ROWS = 100


def warnings(record: Look, total: Summary, whole: object, learner: Learner) -> list[str]:
    """One sentence for each thing that may mislead."""
    out = []
    if record.left_out:
        rows = "1 row has" if record.left_out == 1 else f"{record.left_out:,} rows have"
        out.append(f"{rows} no class, or no weight, and cannot be used.")
    if record.rows < FEW_ROWS and record.decisions is None:
        right = record.intervals.accuracy
        low, high = right.low or 0.0, 1.0 if right.high is None else right.high
        out.append(
            f"With only {record.rows} rows, the accuracy may as well be {100 * low:.0f} % or {100 * high:.0f} %."
        )
    small = [c for c, weight in record.classes.items() if weight < record.folds]
    if small and record.rows >= FEW_ROWS:
        named = (
            f"Class {shown(small[0])} has"
            if len(small) == 1
            else f"{len(small)} classes, such as {shown(small[0])}, have"
        )
        out.append(f"{named} fewer rows than there are folds: little is known about how well it is predicted.")
    if record.copies is not None and record.copies.matters:
        out.append(_copied(record.copies))
    words = {text.words.name for text in record.texts}
    for a in record.attributes:
        if a["name"] in words:
            continue
        if a["missing"] < NEARLY_MISSING and a["share"] >= LEAK * (1 - a["missing"]):
            out.append(
                f"{shown(a['name'])} alone nearly decides {shown(record.target)}: is it known before the target is?"
            )
    for text in record.texts:
        out += beware(text)
    gaps = [a["name"] for a in record.attributes if a["missing"] >= MUCH_MISSING]
    if gaps:
        some = ", ".join(shown(name, 30) for name in gaps[:5]) + (" …" if len(gaps) > 5 else "")
        count = "1 attribute is" if len(gaps) == 1 else f"{len(gaps)} attributes are"
        out.append(f"{count} missing in at least half of the rows: {some}.")
    if isinstance(learner, NaiveBayes):
        out += _repeated(record)
    out += remarks(whole.schema if isinstance(whole, Model) else total.schema)
    for name, statistic in total.columns.items():
        if isinstance(statistic, Numbers):
            infinite = float(statistic.other[1:].sum(0).floats().sum())
            if infinite:
                out.append(f"{shown(name)} has {infinite:g} infinite numbers, which count as missing.")
    return out


def _repeated(record: Look) -> list[str]:
    """What naive Bayes counts twice: one line for each of the worst pairs."""
    worst = [p for p in record.redundant if p.matters]
    out = [
        f"{shown(pair.one)} and {shown(pair.other)} repeat each other given {shown(record.target)} "
        f"({pair.bits:.2f} bits, {chance(pair.p_of_all)}): counted as two, they push the odds {pair.push:.1f} bits "
        f"too far.{' What joining them or leaving one out would change: see likely repeats.' if not k else ''}"
        for k, pair in enumerate(worst[:3])
    ]
    if len(worst) > 3:
        out.append(f"{len(worst) - 3} more pairs of attributes repeat each other.")
    return out


def _copied(found: Twice) -> str:
    of = f"{found.rows:,}" + (" that were compared" if found.sampled else "")
    return (
        f"{found.across:,} of {of} rows ({100 * found.across / found.rows:.1f} %) have a copy in another fold, which "
        "was learned from before they were predicted: the scores may flatter. If they belong together, say --group."
    )
