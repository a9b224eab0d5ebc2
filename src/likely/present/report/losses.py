"""Words for decisions: priors as they changed, what to ask next, and what a look says where actions have costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from likely.apply.decide.asking import Questions
from likely.apply.decide.decider import Decider
from likely.present.report.tables import Page, Table
from likely.present.report.words import clean, number
from likely.sums import state

ACTIONS = 8
"""The most actions and classes that a sentence names."""


def priors_told(how: Decider) -> list[str]:
    """Old and new prior, where they differ."""
    if how.new == how.old:
        return []
    pairs = zip(how.model.classes, how.old, how.new, strict=True)
    listed = [f"{clean(c, 30)} {float(o):.4g} → {float(n):.4g}" for c, o, n in pairs]
    more = f" and {len(listed) - ACTIONS} more" if len(listed) > ACTIONS else ""
    why = "divided out" if how.rule == "ml" else "as given"
    return [f"Prior {why}: {', '.join(listed[:ACTIONS])}{more}."]


def of_questions(found: Questions, unseen: Sequence[str] = ()) -> Page:
    """What `likely ask` says."""
    now = found.now
    expected = now.expected[0].tolist()
    cheapest = sorted(sorted(range(len(expected)), key=expected.__getitem__)[:ACTIONS])
    costs = ", ".join(f"{clean(now.actions[k], 30)} {number(expected[k])}" for k in cheapest)
    costs += f"; {len(expected) - ACTIONS} more cost at least as much" if len(expected) > ACTIONS else ""
    headline = f"As things stand: {clean(now.action)}. Expected loss: {costs}."
    rows = tuple(
        (
            clean(q.attribute, 40),
            number(q.drop),
            f"{q.bits:.4f}",
            q.how + _accuracy(q.error),
        )
        for q in found.questions
    )
    header = ("attribute", "drop of expected loss", "bits about the class", "how")
    table = Table("What to ask next: what learning each missing attribute is worth", header, rows, frozenset({1, 2}))
    remarks = [f"{clean(name, 40)}: training did not have this level, so it says nothing." for name in unseen]
    if not rows:
        remarks.append("Nothing is missing, so there is nothing to ask.")
    elif not any(q.drop > 1e-12 for q in found.questions):
        remarks.append("Whatever one of these turns out to be, the action stays the same.")
    return Page(headline, (table,) if rows else (), (*remarks, *found.notes))


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
                {"attribute": q.attribute, "drop": q.drop, "bits": q.bits, "how": q.how, "error": plain(q.error)}
                for q in found.questions
            ],
            "remarks": list(found.notes),
        }
    )


def plain(value: Any) -> Any:
    """A number as JSON has it: what is not finite is null."""
    return value if math.isfinite(value) else None
