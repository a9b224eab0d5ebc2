"""What `explain`, `decide`, `ask`, `score` and `regress` say of single answers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any, TextIO

from likely.apply.decide.asking import Questions
from likely.apply.decide.decider import DecidedRows, Decider, Decision
from likely.apply.explain import ledger as words
from likely.apply.explain.counterfactual import Counterfactual
from likely.apply.explain.ledger import Ledger
from likely.apply.explain.pieces import mark_words
from likely.apply.explain.sureness import Sureness
from likely.apply.predict import Scored
from likely.machinery.words import clean, finite, number, weighed_rows
from likely.models.working.records import LogBase, Style, Working
from likely.present.document import Document, Passage, Table
from likely.present.report.model import exhibit_table
from likely.sums import state

# Tables of words for `likely explain`: a ledger, its working and what would change the decision. Computes nothing.


def present_ledger(
    ledger: Ledger,
    other: Counterfactual | None = None,
    working: Style | None = None,
    everything: bool = False,
    sure: Sequence[Sureness] = (),
    base: LogBase = "10",
    why_unsure: str = "",
) -> Document:
    """What `likely explain` says; `sure` is how sure the number is, `why_unsure` why that cannot be said.

    Who asks for the working gets that alone, with `everything` after the evidence.
    """
    alone = working is not None and ledger.working is not None and not everything
    tables: list[Table] = []
    remarks: list[str] = []
    if not alone:
        header, *rows = words.lines(ledger, everything)
        of, against = words.sides(ledger)
        title = f"Evidence for {of} (to the right) against {against}"
        tables = [Table(title, header, tuple(rows), words.RIGHT, spare=(header[2:4],))]
        remarks = list(words.remarks(ledger, everything))
    if working is not None and ledger.working is not None:
        tables += working_tables(ledger.working, working, base)
    elif working is not None:
        remarks.append(ledger.workless)
    if other is not None:
        tables.append(
            Table("What would change the decision", (other.headline,), tuple((line,) for line in other.lines))
        )
        remarks += other.remarks
    headline = words.headline(ledger)
    if alone:
        return Document(headline, (*tables, *remarks))
    if why_unsure:
        remarks.append(why_unsure)
    for one in sure if ledger.best is not None else ():
        by_counts = f"Uncertainty ({100 * one.level:g} % interval): " if one.sets is None else ""
        headline += f"\n{by_counts}{one.words(ledger.best)}."
    return Document(headline, (*tables, *_passages(ledger, everything), *remarks))


def working_tables(working: Working, style: Style, base: LogBase = "10") -> list[Table]:
    """A working as tables: the rows that go into it, the quantities, and the lines."""
    tables = [exhibit_table(exhibit) for exhibit in working.tables]
    first, *lines = working.written(style, base).splitlines()
    return [*tables, Table("The working", (first,), tuple((line,) for line in lines))]


def _passages(ledger: Ledger, everything: bool) -> tuple[Passage, ...]:
    """The texts of the row, their words marked with what they say."""
    of, against = words.sides(ledger)
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
            stretches.append((_lines(piece.text), words.mark(ledger, log), strength))
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
    sure: Sequence[Sureness] = (),
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
    out["sureness"] = sure[0].to_dict() if sure else None
    if len(sure) > 1:
        out["held_out_sureness"] = sure[1].to_dict()
    return state.as_json(out)


# What `likely decide` and `likely ask` say: priors as they changed, decisions row by row as JSON, what to ask next.

ACTIONS = 8
"""The most actions and classes that a sentence names."""


def prior_sentences(how: Decider) -> list[str]:
    """Old and new prior, where they differ."""
    if how.new == how.old:
        return []
    pairs = zip(how.model.classes, how.old, how.new, strict=True)
    listed = [f"{clean(c, 30)} {float(o):.4g} → {float(n):.4g}" for c, o, n in pairs]
    more = f" and {len(listed) - ACTIONS} more" if len(listed) > ACTIONS else ""
    why = "divided out" if how.rule == "ml" else "as given"
    return [f"Prior {why}: {', '.join(listed[:ACTIONS])}{more}."]


def present_questions(found: Questions, unseen: Sequence[str] = ()) -> Document:
    """What `likely ask` says."""
    now = found.now
    expected = now.expected[0].tolist()
    cheapest = sorted(sorted(range(len(expected)), key=expected.__getitem__)[:ACTIONS])
    costs = ", ".join(f"{clean(now.actions[k], 30)} {number(expected[k])}" for k in cheapest)
    costs += f"; {len(expected) - ACTIONS} more cost at least as much" if len(expected) > ACTIONS else ""
    headline = f"Best action now: {clean(now.action)}. Expected loss: {costs}."
    rows = tuple(
        (
            clean(q.attribute, 40),
            number(q.drop),
            f"{q.bits:.4f}",
            q.how + _accuracy(q.error),
        )
        for q in found.questions
    )
    header = ("attribute", "drop in expected loss", "bits about the class", "how")
    table = Table("What to ask next: what each missing attribute is worth", header, rows, frozenset({1, 2}))
    remarks = [f"{clean(name, 40)}: this level was not in the training data, so it is ignored." for name in unseen]
    if not rows:
        remarks.append("Nothing is missing, so there is nothing to ask.")
    elif not any(q.drop > 1e-12 for q in found.questions):
        remarks.append("No single answer would change the action.")
    return Document(headline, (*((table,) if rows else ()), *remarks, *found.notes))


def _accuracy(error: float) -> str:
    """How far a number may be off, as a power of ten above it."""
    if not error:
        return ""
    return ", to within 1e" + (f"{max(math.ceil(math.log10(error)), -12):+d}" if math.isfinite(error) else "+inf")


def questions_json(found: Questions) -> bytes:
    """The same as JSON."""
    now = found.now
    return state.as_json(
        {
            "action": now.action,
            "expected_loss": dict(zip(now.actions, now.expected[0].tolist(), strict=True)),
            "margin": now.margin,
            "probabilities": dict(zip(now.posterior.classes, now.posterior.matrix[0].tolist(), strict=True)),
            "questions": [
                {"attribute": q.attribute, "drop": q.drop, "bits": q.bits, "how": q.how, "error": finite(q.error)}
                for q in found.questions
            ],
            "remarks": list(found.notes),
        }
    )


class DecisionWriter:
    """Decisions as one object of JSON, written as they come: what was decided by, the rows, what they come to."""

    def __init__(self, how: Decider, out: TextIO) -> None:
        self._how, self._out, self._rows = how, out, 0
        self._started = False

    def _begin(self) -> None:
        how, classes = self._how, self._how.model.classes
        table = how.loss.rows(classes)
        head: dict[str, Any] = {
            "rule": how.rule,
            "actions": how.loss.actions,
            "loss": {
                c: {a: float(v) for a, v in zip(how.loss.actions, row, strict=True)}
                for c, row in zip(classes, table, strict=True)
            },
            "prior": {
                "model": dict(zip(classes, map(float, how.old), strict=True)),
                "decided_by": dict(zip(classes, map(float, how.new), strict=True)),
            },
        }
        self._out.write(_text(head)[:-1])
        self._started = True

    def take(self, decision: Decision) -> None:
        """Write the rows of one batch."""
        if not self._started:
            self._begin()
        actions, reason = decision.actions, decision.reason
        names = decision.action
        assert isinstance(names, list) and isinstance(reason, list)
        expected, margins = decision.expected.tolist(), decision.margins.tolist()
        for action, why, costs, margin in zip(names, reason, expected, margins, strict=True):
            record = {
                "action": action,
                "expected_loss": {a: finite(c) for a, c in zip(actions, costs, strict=True)},
                "margin": finite(margin),
                "reason": why,
            }
            self._out.write((',\n "rows": [\n  ' if not self._rows else ",\n  ") + _text(record))
            self._rows += 1

    def end(self, done: DecidedRows) -> None:
        """Write what the rows come to."""
        if not self._started:
            self._begin()
        rest = {
            "count": done.rows,
            "chosen": done.chosen,
            "undecided": done.undecided,
            "none_of_these": done.strange,
            "unsure": done.unsure,
            "remarks": done.remarks,
        }
        self._out.write(("]" if self._rows else "") + ",\n " + _text(rest)[1:] + "\n")


def _text(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


# What `likely score` and `likely regress` say: the density of rows, and the weights of a regression. Knows no rows.


def present_scores(found: Scored, name: str) -> Document:
    """What `likely score` says."""
    if not found.rows:
        return Document(f"{clean(name)} has no rows.", found.remarks)
    headline = (
        f"{clean(name)}: log P of all {weighed_rows(found.rows, found.weight)} is {number(found.total, 8)} nats, "
        f"{number(found.mean, 6)} per row."
    )
    rows = tuple((number(row), number(value, 6)) for row, value in found.lowest)
    table = Table("Rows with the lowest density", ("row", "log P(row)"), rows, frozenset({0, 1}))
    return Document(headline, (*((table,) if rows else ()), *found.remarks))


def scores_json(found: Scored) -> bytes:
    """The same as JSON; minus infinity is null."""

    return state.as_json(
        {
            "rows": found.rows,
            "weight": found.weight,
            "impossible": found.impossible,
            "log_density": finite(found.total),
            "mean": finite(found.mean),
            "lowest": [{"row": row, "log_density": finite(v)} for row, v in found.lowest],
            "remarks": list(found.remarks),
        }
    )
