"""What `likely decide` and `likely ask` say: priors as they changed, decisions row by row as JSON, what to ask next."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, TextIO

from likely.apply.decide.asking import Questions
from likely.apply.decide.decider import Decider
from likely.apply.decide.decision import Decision
from likely.apply.decide.tables import Decided
from likely.present.sections import Report, Table
from likely.present.words import clean, finite, number
from likely.sums import state

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


def present_questions(found: Questions, unseen: Sequence[str] = ()) -> Report:
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
    return Report(headline, (table,) if rows else (), (*remarks, *found.notes))


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

    def end(self, done: Decided) -> None:
        """Write what the rows come to."""
        if not self._started:
            self._begin()
        rest = {
            "count": done.rows,
            "chosen": done.chosen,
            "undecided": done.undecided,
            "none_of_these": done.strange,
            "remarks": done.remarks,
        }
        self._out.write(("]" if self._rows else "") + ",\n " + _text(rest)[1:] + "\n")


def _text(value: Any) -> str:
    return json.dumps(value, allow_nan=False)
