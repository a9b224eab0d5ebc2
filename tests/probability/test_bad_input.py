"""Every bad number, name or event is refused by a sentence that says what, where and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import likely
from likely import Loss
from likely.classroom import Conditional, Hypotheses, Joint, bayes, bayes_error, diagnosis
from likely.errors import LikelyError

J = Joint.listed({"A": [0, 1], "hours per week": ["few", "many"]}, ["0.5", "0.25", "0.25", 0])

REFUSED: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "sum too small": (lambda: Joint({0: "0.5", 1: "0.4"}, "A"), ["sum to 0.9", "0.1 too little", "from_counts"]),
    "sum too large": (lambda: Joint({0: 0.5, 1: 0.75}, "A"), ["sum to 1.25", "0.25 too much"]),
    "almost one, exactly": (lambda: Joint({0: "0.333333", 1: "0.666666"}, "A"), ["sum to 0.999999", "0.000001 too"]),
    "negative": (lambda: Joint({0: "-0.5", 1: "1.5"}, "A"), ["P(A=0)", "'-0.5'", "negative"]),
    "percent": (lambda: bayes({"a": 98, "b": "0.02"}, {"a": 1, "b": 1}), ["'a'", "98", "divide it by 100"]),
    "no number": (lambda: Joint({0: "half", 1: "0.5"}, "A"), ["P(A=0)", "'half'", "0.25"]),
    "nan": (lambda: Joint({0: float("nan"), 1: 0.5}, "A"), ["P(A=0)", "'nan'", "finite"]),
    "infinite": (lambda: Joint.from_counts({0: float("inf"), 1: 1}, "A"), ["A=0", "finite"]),
    "bomb": (lambda: Joint({0: "1e-999999999", 1: 1}, "A"), ["finite"]),
    "over zero": (lambda: Joint({0: "1/0", 1: 1}, "A"), ["finite"]),
    "cell too short": (lambda: Joint({(0,): 1}, ("A", "B")), ["1 values", "2 variables", "'A', 'B'"]),
    "listed too few": (lambda: Joint.listed({"A": [0, 1], "B": [0, 1]}, ["1/2", "1/2"]), ["2 × 2 = 4", "2 prob"]),
    "name twice": (lambda: Joint({(0, 0): 1}, ("A", "A")), ["'A' is named twice"]),
    "name no text": (lambda: Joint({0: 1}, (3,)), ["'3'", "Names are text"]),  # type: ignore[arg-type]
    "all zero": (lambda: Joint.from_counts({0: 0, 1: 0}, "A"), ["All counts are zero"]),
    "negative count": (lambda: Joint.from_counts({0: -1, 1: 2}, "A"), ["count of A=0", "negative"]),
    "unknown variable": (lambda: J.p({"hours per wek": "few"}), ["'hours per wek'", "Did you mean 'hours per week'"]),
    "unknown value": (lambda: J.p({"hours per week": "fw"}), ["'hours per week'", "'fw'", "Did you mean 'few'"]),
    "unhashable": (lambda: J.p(A={"x": 1}), ["value of 'A'", "'0', '1'"]),
    "given twice": (lambda: J.p({"A": 1}, A=0), ["'A' is given twice"]),
    "name and values": (lambda: J.p("A", B=1), ["distribution of 'A'", "given"]),  # type: ignore[call-overload]
    "no event": (lambda: J.p(3), ["An event is '3'"]),  # type: ignore[call-overload]
    "impossible given": (lambda: J.given({"A": 1, "hours per week": "many"}), ["P(A=1, hours per week=many) is 0"]),
    "impossible in p": (lambda: J.p(A=1, given={"A": 1, "hours per week": "many"}), ["is 0", "possible"]),
    "marginal of nothing known": (lambda: J.marginal("B"), ["There is no variable 'B'"]),
    "both sides": (lambda: J.independent("A", "A"), ["'A' stands on more than one side"]),
    "no side": (lambda: J.independent("A", ()), ["at least one variable on each"]),
    "level": (lambda: J.independent("A", "hours per week", level=5), ["level", "0.05"]),
    "rows": (lambda: J.sample(-1), ["rows is -1"]),
    "overlap": (lambda: J * J, ["'A' is on both sides"]),
    "text of no variable": (lambda: J.text(across="B"), ["There is no variable 'B'"]),
    "row off": (lambda: Conditional({"y": {1: "0.5", 0: "0.4"}}, "t", "d"), ["given d=y", "0.1 too little"]),
    "row missing": (
        lambda: Joint({"y": "1/2", "n": "1/2"}, "d") * Conditional({"y": {1: 1}}, "t", "d"),
        ["P(t | d)", "no row for d=n"],
    ),
    "parent missing": (lambda: Conditional({"y": {1: 1}}, "t", "d").p(t=1, given={}), ["needs the value of 'd'"]),
    "prior off": (lambda: bayes({"a": "0.5", "b": "0.4"}, {"a": 1, "b": 1}), ["'a', 'b'", "0.1 too little"]),
    "prior above one": (lambda: bayes({"a": "0.7", "b": "0.4"}, {"a": 1, "b": 1, "c": 1}), ["1.1", "too much"]),
    "two left out": (lambda: bayes({"a": "0.5"}, {"a": 1, "b": 1, "c": 1}), ["neither 'b' and 'c'", "at most one"]),
    "nothing": (lambda: bayes({}), ["no hypothesis"]),
    "likelihood missing": (lambda: bayes({"a": "0.5", "b": "0.5"}, {"a": 1}), ["under 'b'", "is not given"]),
    "likelihood misspelled": (
        lambda: bayes({"flu": "0.5", "cold": "0.5"}, {"flu": 1, "cold": 1}).update({"flu": 1, "clod": 1}),
        ["no hypothesis 'clod'", "Did you mean 'cold'"],
    ),
    "likelihood misspelled at once": (
        lambda: bayes({"flu": 0.1, "cold": 0.9}, {"flu": 1, "clod": 1}), ["'clod'", "Did you mean 'cold'"],
    ),
    "likelihood above one": (lambda: bayes({"a": 1}, {"a": "1.5"}), ["the evidence | a", "above 1"]),
    "impossible evidence": (lambda: bayes({"a": "1/2", "b": "1/2"}, {"a": 0, "b": 0}, "x"), ["'x' is impossible"]),
    "prior of zero": (
        lambda: bayes({"a": 0, "b": 1}, {"a": "0.9", "b": 0}, "seen"),
        ["'seen' is possible only under 'a', whose prior is zero", "above zero"],
    ),
    "ruled out": (
        lambda: bayes({"a": "1/2", "b": "1/2"}, {"a": 0, "b": 1}).update({"a": 1, "b": 0}),
        ["only under 'a', which earlier evidence ruled out"],
    ),
    "hypothesis unknown": (lambda: bayes({"flu": 1}).p("fly"), ["no hypothesis 'fly'", "'flu'"]),
    "sensitivity": (lambda: diagnosis("0.1", "98", "0.9"), ["The sensitivity", "98", "divide it by 100"]),
    "loss without a class": (
        lambda: bayes({"a": "1/2", "b": "1/2"}).decide(Loss({"a": {"x": 1, "y": 2}})),
        ["does not name the class 'b'"],
    ),
    "predicts nothing": (lambda: Hypotheses({"h": 1}, {}), ["'h' predicts nothing"]),
    "belief missing": (lambda: Hypotheses({"h": 1}, {"h": 1, "g": 0}), ["no belief in 'g'"]),
    "beliefs off": (lambda: Hypotheses({"h": "0.5"}, {"h": 1}), ["beliefs", "0.5 too little"]),
    "prediction off": (lambda: Hypotheses({"h": 1}, {"h": {"+": "0.5"}}), ["'h'", "0.5 too little"]),
    "no such target": (lambda: bayes_error(J, "C"), ["no variable 'C'"]),
    "learn a file": (lambda: Joint.learn("adult.csv"), ["'adult.csv'", "likely.joint"]),
    "learn nothing": (lambda: Joint.learn({"a": []}), ["no rows to count"]),
    "learn gaps": (lambda: Joint.learn({"a": [None, float("nan")]}), ["All 2 rows lack a value"]),
    "learn no column": (lambda: Joint.learn({"sky": ["x"]}, ["ski"]), ["no column 'ski'", "Did you mean 'sky'"]),
    "learn ragged": (lambda: Joint.learn({"a": [1, 2], "b": [1]}), ["'b' has 1 values", "'a' has 2"]),
    "learn rows": (lambda: Joint.learn([{"a": 1}, 3]), ["Row 2 is '3'"]),
    "learn lists": (lambda: Joint.learn({"a": [[1], [2]]}), ["cannot be a level"]),
    "level not given": (lambda: Joint.learn({"a": ["x", "z"]}, levels={"a": ["x", "y"]}), ["'z'", "not among"]),
    "levels of nothing": (lambda: Joint({0: 1}, "a", levels={"b": [1]}), ["'b', which is not a variable"]),
    "too many cells": (
        lambda: Joint.learn({n: list(range(60)) for n in "abcd"}, pseudo_count=1),
        ["12,960,000 cells", "pseudo_count of 0"],
    ),
    "joint no column": (lambda: likely.joint({"sky": ["x"]}, ["ski"]), ["no column 'ski'", "'sky'"]),
    "joint no variable": (lambda: likely.joint({"sky": ["x"]}, []), ["No variable"]),
    "joint edges": (lambda: likely.joint({"a": [1]}, ["a"], edges={"a": [2, 1]}), ["edges of 'a'", "increase"]),
    "joint edges of": (lambda: likely.joint({"a": [1]}, ["a"], edges={"b": [1]}), ["'b', which is not a variable"]),
    "joint not numbers": (lambda: likely.joint({"a": ["x", "y"]}, ["a"], edges={"a": [1]}), ["'a' are not numbers"]),
    "joint closed": (lambda: likely.joint({"a": [1]}, ["a"], closed="both"), ["'both'", "'left' or 'right'"]),  # type: ignore[arg-type]
    "joint gaps": (lambda: likely.joint({"a": [None], "b": ["x"]}, ["a", "b"]), ["no row in which every"]),
    "joint weight": (lambda: likely.joint({"a": ["x"]}, ["a"], weight="a"), ["both a variable and the weight"]),
    "joint option": (lambda: likely.joint({"a": ["x"]}, ["a"], target="a"), ["does not take 'target'"]),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    call, words = REFUSED[case]
    with pytest.raises(LikelyError) as caught:
        call()
    text = str(caught.value)
    assert text.endswith((".", "?")) and "\n" not in text
    for word in words:
        assert word in text, (word, text)


def test_a_prior_of_zero_is_told_where_it_does_not_stop_the_rule() -> None:
    belief = bayes({"a": 0, "b": 1}, {"a": "0.9", "b": "0.1"})
    assert belief.p("a") == 0
    assert belief.notes == ("The prior of 'a' is zero, and no evidence can raise it.",)
    assert belief.notes[0] in belief.working()


def test_floats_may_be_off_by_rounding_and_no_more() -> None:
    tenths = {k: 0.1 for k in range(10)}
    assert sum(tenths.values()) != 1
    assert Joint(tenths, "A").p(A=3) == 0.1
    with pytest.raises(LikelyError):
        Joint({**tenths, 0: 0.1 + 1e-6}, "A")


def test_numbers_of_numpy_are_numbers() -> None:
    j = Joint({0: np.float64(0.25), 1: np.float32(0.75)}, "A")
    assert j.p(A=np.int64(1)) == 0.75 and not j.exact
    assert Joint.from_counts({0: np.int64(1), 1: np.int8(2)}, "A").exact
