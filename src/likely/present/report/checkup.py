"""What `likely doctor` says, as small tables and remarks. Knows the record, no rows."""

from __future__ import annotations

from likely.evaluate.attributes.redundancy import chance
from likely.evaluate.doctor import Checkup
from likely.evaluate.troubles.association import CHANCE
from likely.evaluate.troubles.labels import Suspect
from likely.present.sections import Report, Table
from likely.present.words import clean, number, percent, plural

MOST_NOTES = 12
MOST_EXAMPLES = 5


def present_checkup(record: Checkup, everything: bool = False) -> Report:
    """A verdict, then suspects and contradictions row by row; what else was found, grave first, as remarks."""
    where = f"{clean(record.target)} in {clean(record.source)}: {plural(record.rows, 'row')}"
    where += f", {plural(len(record.classes), 'class')}, {plural(len(record.attributes), 'attribute')}."
    grave = len(record.grave)
    rest = len(record.findings) - grave
    verdict = f"{plural(grave, 'warning')}" if grave else "No problems found"
    verdict += f", {plural(rest, 'note')}." if rest else "."
    tables = [_suspects(record), _surprises(record), _contradictions(record, everything)]
    if everything:
        tables.append(_attributes(record))
    remarks = [f"Warning: {f.words}" for f in record.grave]
    notes = [f.words for f in record.findings if not f.grave]
    remarks += notes if everything else notes[:MOST_NOTES]
    if len(notes) > MOST_NOTES and not everything:
        remarks.append(f"{len(notes) - MOST_NOTES} more notes; --all shows them, and every attribute.")
    if record.left_out:
        rows = "1 row has" if record.left_out == 1 else f"{record.left_out:,} rows have"
        remarks.append(f"{rows} no class or no weight and were not checked.")
    if record.suspects:
        remarks.append("An improbable class is not necessarily wrong: the row may be rare, or the model overconfident.")
    return Report(f"{where}\n{verdict}", tuple(t for t in tables if t.rows), tuple(remarks))


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
    name = record.learner.partition("(")[0]
    title = f"Rows whose class may be wrong, judged by {name} trained without them"
    header = ("row", "its class", "probability", "more likely", "probability", "evidence against its class, bits")
    return Table(title, header, rows, frozenset({0, 2, 4}))


def _against(suspect: Suspect) -> str:
    return ", ".join(f"{clean(a.attribute, 20)}={clean(a.cell, 20)} {a.bits:.1f}" for a in suspect.against)


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
    return Table("How each attribute relates to the class", header, rows, frozenset({2, 4, 6}))
