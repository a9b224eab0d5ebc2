"""What is asked of a joint table in one go: a condition, queries, independence, the best rule for a target.

One record for the terminal, JSON and the page. Knows probability; reads no rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from likely.errors import SettingError, shown
from likely.probability.hypotheses import bayes_error
from likely.probability.independence import Independence
from likely.probability.joint import Answer, Joint
from likely.probability.numbers import as_float, log
from likely.probability.query import Query, parse_event, parse_names

if TYPE_CHECKING:
    from likely.probability.cells import Cell
    from likely.probability.numbers import Number

MOST_VARIABLES = 4
"""Of so many variables every pair is tested for independence without being asked."""


@dataclass(frozen=True)
class BestRule:
    """The rule that errs least: what it says of each case, and how often it errs."""

    target: str
    error: Number
    """Σ over the cases of P(case) · (1 − max P(value | case)): the Bayes error."""
    cases: tuple[tuple[Cell, Number, object, Number], ...]
    """Values of the other variables, P(case), the value to say, and P(that value | case)."""


@dataclass(frozen=True)
class JointStudy:
    """A joint table, and the answers to what was asked of it."""

    source: str
    joint: Joint
    """Under the condition, if there is one."""
    given: str
    """The condition as a query writes it; empty without one."""
    answers: tuple[Answer, ...]
    independence: tuple[Independence, ...]
    rule: BestRule | None
    log_likelihood: float | None
    """Of a sample: Σ n · log P(cell), natural, of the rows under their own table."""
    fractions: bool = False
    """Whether numbers are written as fractions throughout."""


def study_joint(
    joint: Joint,
    source: str = "the table",
    *,
    queries: Sequence[str] = (),
    given: str | None = None,
    independent: Sequence[str] = (),
    target: str | None = None,
    fractions: bool = False,
) -> JointStudy:
    """Ask a joint table: queries are text like "P(a=x | b=y)", `independent` like "a, b | c".

    With `given` ("c=z") everything is asked under that condition. Without `independent` every pair of up to four
    variables is tested, and with three of them every pair given the third.

    >>> urns = Joint.listed({"first": "rb", "second": "rb"}, ["4/9", "2/9", "2/9", "1/9"])
    >>> found = study_joint(urns, queries=["P(first=r | second=b)"], target="second")
    >>> found.answers[0].value, str(found.independence[0]), found.rule.error
    (Fraction(2, 3), 'first and second are independent.', Fraction(1, 3))
    """
    known = ""
    if given is not None:
        event = parse_event(given, joint)
        known = str(Query((event,)))[2:-1]
        if all(len(event.get(name, ())) == 1 for name in joint.variables):
            raise SettingError(f"{shown(given)} leaves no variable open. Ask for its probability with a query.")
        joint = joint.given(event)
    answers = tuple(joint.query(text, fractions) for text in queries)
    wanted = [_named(text, joint) for text in independent] or _pairs(joint)
    tests = tuple(joint.independent(a, b, c) for a, b, c in wanted)
    rule = None if target is None else _best_rule(joint, target)
    return JointStudy(source, joint, known, answers, tests, rule, _log_likelihood(joint), fractions)


def _named(text: str, joint: Joint) -> tuple[str, str, tuple[str, ...]]:
    names, given = parse_names(text, joint)
    if len(names) != 2:
        raise SettingError(f"{shown(text)} does not name two variables. Write it like a, b or a, b | c.")
    return names[0], names[1], given


def _pairs(joint: Joint) -> list[tuple[str, str, tuple[str, ...]]]:
    names = joint.variables
    if len(names) > MOST_VARIABLES:
        return []
    pairs: list[tuple[str, str, tuple[str, ...]]] = [(a, b, ()) for a, b in combinations(names, 2)]
    if len(names) == 3:
        pairs += [(a, b, tuple(n for n in names if n not in (a, b))) for a, b in combinations(names, 2)]
    return pairs


def _best_rule(joint: Joint, target: str) -> BestRule:
    error, place = bayes_error(joint, target), joint.variables.index(target)
    cases: dict[Cell, dict[object, Number]] = {}
    for cell, p in joint.cells.items():
        cases.setdefault(cell[:place] + cell[place + 1 :], {})[cell[place]] = p
    rows = []
    for cell, beliefs in cases.items():
        whole = sum(beliefs.values())
        best = max(beliefs, key=lambda v: beliefs[v])
        rows.append((cell, whole, best, beliefs[best] / whole))
    return BestRule(target, error, tuple(rows))


def _log_likelihood(joint: Joint) -> float | None:
    if joint.counts is None:
        return None
    return sum(as_float(n) * log(joint._share(joint.weights[cell])) for cell, n in joint.counts.items())
