"""Tables of words for `likely explain`: a ledger, its working and what would change the decision. Computes nothing."""

from __future__ import annotations

import math
import re
from typing import Any

from likely.apply.explain import ledger as ledger_words
from likely.apply.explain import words
from likely.apply.explain.counterfactual import Counterfactual
from likely.apply.explain.ledger import Ledger
from likely.apply.explain.marking import mark_words
from likely.apply.explain.sureness import Sureness
from likely.models.working.records import LogBase, Working
from likely.models.working.writing import Style
from likely.present.report.model import exhibit_table
from likely.present.sections import Passage, Report, Table
from likely.sums import state


def present_ledger(
    ledger: Ledger,
    other: Counterfactual | None = None,
    working: Style | None = None,
    everything: bool = False,
    sure: Sureness | str | None = None,
    base: LogBase = "10",
) -> Report:
    """What `likely explain` says; `sure` is how sure the number is, or a sentence why that cannot be said."""
    found = ledger_words.lines(ledger, everything)
    of, against = ledger_words.sides(ledger)
    title = f"Evidence for {of} (to the right) against {against}"
    tables = [Table(title, found.header, found.rows, found.right)]
    remarks = list(ledger_words.remarks(ledger, everything))
    if working is not None and ledger.working is not None:
        tables += working_tables(ledger.working, working, base)
    elif working is not None:
        remarks.append(ledger.workless)
    if other is not None:
        tables.append(
            Table("What would change the decision", (other.headline,), tuple((line,) for line in other.lines))
        )
        remarks += other.remarks
    headline = ledger_words.headline(ledger)
    if isinstance(sure, str):
        remarks.append(sure)
    elif sure is not None and ledger.best is not None:
        headline += f"\nUncertainty ({100 * sure.level:g} % interval): {sure.words(ledger.best)}."
    return Report(headline, tuple(tables), tuple(remarks), _passages(ledger, everything))


def working_tables(working: Working, style: Style, base: LogBase = "10") -> list[Table]:
    """A working as tables: the rows that go into it, the quantities, and the lines."""
    tables = [exhibit_table(exhibit) for exhibit in working.tables]
    first, *lines = working.written(style, base).splitlines()
    return [*tables, Table("The working", (first,), tuple((line,) for line in lines))]


def _passages(ledger: Ledger, everything: bool) -> tuple[Passage, ...]:
    """The texts of the row, their words marked with what they say."""
    of, against = ledger_words.sides(ledger)
    out = []
    for entry in ledger.ordered:
        said = {p.name: (p.log_ratio, p.spans) for p in entry.parts if p.spans and p.log_ratio is not None}
        if entry.cell is None or not said:
            continue
        pieces = mark_words(entry.cell, said, everything)
        most = max((abs(p.log_ratio) for p in pieces if p.log_ratio and math.isfinite(p.log_ratio)), default=1.0)
        stretches = []
        for piece in pieces:
            before = " … " if piece.cut else ""
            log = piece.log_ratio
            if log is None:
                stretches.append((before + _lines(piece.text), "", 0.0))
                continue
            if before:
                stretches.append((before, "", 0.0))
            strength = math.copysign(1.0, log) if math.isinf(log) else log / most
            stretches.append((_lines(piece.text), ledger_words.mark(ledger, log), strength))
        title = f"{words.clean(entry.name)}, words marked with their evidence (+ for {of}, - for {against})"
        out.append(Passage(title, tuple(stretches)))
    return tuple(out)


def _lines(text: str) -> str:
    """A stretch of a text fit for a terminal: lines stay lines, whatever else is not printable is replaced."""
    plain = re.sub(r"\n\s*\n\s*\n", "\n\n", re.sub(r"\r\n?", "\n", text)).replace("\t", " ")
    return "".join(c if c == "\n" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in plain)


def ledger_json(
    ledger: Ledger,
    other: Counterfactual | None = None,
    working: Style | None = None,
    sure: Sureness | str | None = None,
    base: LogBase = "10",
) -> bytes:
    """The same as JSON."""
    out: dict[str, Any] = ledger.to_dict()
    if working is not None:
        out["working"] = {"lines": [], "why": ledger.workless}
        if ledger.working is not None:
            out["working"] = ledger.working.to_dict(working, base)
    if other is not None:
        out["counterfactual"] = other.to_dict()
    if sure is not None:
        out["sureness"] = None if isinstance(sure, str) else sure.to_dict()
    return state.as_json(out)
