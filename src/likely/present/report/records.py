"""Decisions as JSON, written as they come: one record for each row, memory does not grow with the rows."""

from __future__ import annotations

import json
from typing import Any, TextIO

from likely.apply.decide.decider import Decider
from likely.apply.decide.decision import Decision
from likely.apply.decide.tables import Decided


class Records:
    """One object: what was decided by, then the rows (where they are not written to a file), then what they come to."""

    def __init__(self, how: Decider, out: TextIO) -> None:
        self._how, self._out, self._rows = how, out, 0
        self._begun = False

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
        self._begun = True

    def take(self, decision: Decision) -> None:
        """Write the rows of one batch."""
        if not self._begun:
            self._begin()
        actions, reason = decision.actions, decision.reason
        names = decision.action
        assert isinstance(names, list) and isinstance(reason, list)
        expected, margins = decision.expected.tolist(), decision.margins.tolist()
        for action, why, costs, margin in zip(names, reason, expected, margins, strict=True):
            record = {
                "action": action,
                "expected_loss": {a: _known(c) for a, c in zip(actions, costs, strict=True)},
                "margin": _known(margin),
                "reason": why,
            }
            self._out.write((',\n "rows": [\n  ' if not self._rows else ",\n  ") + _text(record))
            self._rows += 1

    def end(self, done: Decided) -> None:
        """Write what the rows come to."""
        if not self._begun:
            self._begin()
        rest = {
            "count": done.rows,
            "chosen": done.chosen,
            "undecided": done.undecided,
            "none_of_these": done.strange,
            "remarks": done.remarks,
        }
        self._out.write(("]" if self._rows else "") + ",\n " + _text(rest)[1:] + "\n")


def _known(value: float) -> float | None:
    return None if value != value else value


def _text(value: Any) -> str:
    return json.dumps(value, allow_nan=False)
