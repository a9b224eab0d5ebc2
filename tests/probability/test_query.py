"""Queries of joint tables as text: every one is what counting cells by hand says, however ugly the names are."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely.classroom import Joint
from likely.classroom.query import Query, parse_event, parse_query, quote
from likely.errors import SettingError

ABC = Joint.listed(
    {"A": [0, 1], "B": [0, 1], "C": [0, 1]}, ["0.30", "0.05", "0.10", "0.05", "0.05", "0.10", "0.25", "0.10"]
)
BINS = Joint.listed({"hours per week": ["up to 40", "above 40"], "n": ["below 5", "5 or more", "x, y"]}, ["1/6"] * 6)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("P(A=1)", "1/2"),
        ("p( A = 1 , B = 0 )", "3/20"),
        ("A=1 | C=1", "2/3"),
        ("P(A=1 and B=1|C=0)", "5/14"),
        ("P(A=1 or B=1)", "13/20"),
        ("P(A=1 or B=1 | C=1)", "5/6"),
        ("P(A=1, B=1 or A=0, B=0)", "7/10"),
        ("P(A=0 or 1)", "1"),
        ("P(A!=0 | C≠0)", "2/3"),
        ("P(A=1 or B=1 or C=1)", "7/10"),
        ("P('A'=\"1\" | C=0 or 1)", "1/2"),
    ],
)
def test_by_hand(text: str, value: str) -> None:
    assert ABC.query(text).value == Fraction(value)


def test_the_sum_rule_is_written_out() -> None:
    assert str(ABC.query("P(A=1 or B=1)")) == (
        "P(A=1 or B=1) = P(A=1) + P(B=1) − P(A=1, B=1) = 0.5 + 0.5 − 0.35 = 0.65"
    )
    exclusive = ABC.query("P(A=1, B=0 or A=0, B=1)")
    assert exclusive.value == Fraction(3, 10) and "− 0 = 0.15 + 0.15 − 0 = 0.3" in exclusive.working


def test_the_working_of_a_sample_shows_its_counts() -> None:
    j = Joint.learn({"sky": ["sun", "rain", "sun"], "play": ["yes", "no", "no"]})
    assert str(j.query("P(play=yes | sky=sun)")).endswith("= (1/3) / (2/3) = 0.5")
    assert str(j.query("P(play=yes | sky=sun)", fractions=True)).endswith("= 1/2 ≈ 0.5")


def test_tables() -> None:
    assert ABC.query("P(A)").table == ABC.marginal("A")
    assert ABC.query("P(A, B | C=1)").table == ABC.given(C=1)
    assert ABC.query("P(B | A)").table == ABC.conditional("B", "A")
    assert "0.7" in ABC.query("P(B | A)").working and "7/10" in ABC.query("P(B | A)", fractions=True).working


def test_a_level_that_holds_or_needs_no_quotes() -> None:
    assert BINS.query("P(n=5 or more)").value == Fraction(1, 3)
    assert BINS.query("P(n=5 or more or below 5 | hours per week=above 40)").value == Fraction(2, 3)
    assert BINS.query("P(n=x, y, hours per week=up to 40)").value == Fraction(1, 6)


def test_levels_of_comparisons() -> None:
    j = Joint({("<=50K", "a"): "1/4", (">50K", "a"): "3/4"}, ("income", "x"))
    assert j.query("P(income=<=50K)").value == Fraction(1, 4)
    assert j.query("P(income!=<=50K | x=a)").value == Fraction(3, 4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "lacks a name"),
        ("P()", "lacks a name"),
        ("P(A=)", "lacks a name"),
        ("P(=1)", "lacks a name"),
        ("P(A=1 |)", "lacks a name"),
        ("P(A=1,)", "lacks a name"),
        ("P(D=1)", "no variable 'D'"),
        ("P(A=2)", "value of 'A' that is '2'"),
        ("P(A=1 | B=1 | C=1)", "more than one bar"),
        ("P(A=1, B)", "some variables"),
        ("P(A=1 | B)", "no value to 'B'"),
        ("P(A | B, C=1)", "behind the bar"),
        ("P(A or B)", "'or' between names"),
        ("P(A=1, A=0)", "twice"),
        ("P(A | A)", "both sides"),
        ("P(A | B=1 or C=1)", "behind the bar"),
        ("P(B=1 | A=1 or C=1, A=0 or D=1)", "'D'"),
        ("P('A=1)", "not closed"),
        ("P('A'x=1)", "not closed"),
    ],
)
def test_what_is_not_a_query_is_refused(text: str, words: str) -> None:
    with pytest.raises(SettingError) as refused:
        ABC.query(text)
    assert words in str(refused.value)


def test_a_condition_of_several_variables() -> None:
    """P(A | B or C) counts every cell once: three urns that depend on each other (issue V)."""
    eighths = ["1/8", "1/8", "1/4", "0", "1/8", "1/8", "0", "1/4"]
    urns = Joint.listed({"A": ["red", "blue"], "B": ["red", "blue"], "C": ["red", "blue"]}, eighths)
    found = urns.query("P(A=red | B=red or C=red)")
    # Of B or C red: (r,r,r) 1/8, (r,r,b) 1/8, (r,b,r) 1/4 against (b,r,r) 1/8, (b,r,b) 1/8 and (b,b,r) 0.
    assert found.value == Fraction(2, 3)
    assert "P(A=red, (B=red or C=red)) / P(B=red or C=red) = 0.5 / 0.75 = 2/3" in str(found)
    assert str(found.query) == "P(A=red | B=red or C=red)"
    assert urns.query("P(A=red or C=blue | B=red, A=blue or C=red)").value == Fraction(4, 5)
    assert urns.p_any([{"A": "red"}], given=[{"B": "red"}, {"C": "red"}]) == Fraction(2, 3)
    with pytest.raises(SettingError, match="is 0"):
        urns.p_any([{"A": "red"}], given=[{"A": "red", "B": "blue", "C": "blue"}])


def test_a_condition_of_probability_zero_is_refused() -> None:
    j = Joint({("a", "x"): 1}, ("p", "q"), levels={"p": ["a", "b"], "q": ["x"]})
    with pytest.raises(SettingError, match="is 0"):
        j.query("P(q=x | p=b)")
    with pytest.raises(SettingError, match="not one event"):
        parse_event("p=a | q=x", j)


NASTY = st.text(st.sampled_from("ab \"'=|,()!≠oradn\u2028é"), max_size=6)


@settings(max_examples=200)
@given(
    st.lists(NASTY, min_size=2, max_size=3, unique=True),
    st.lists(NASTY, min_size=2, max_size=3, unique=True),
    st.data(),
)
def test_quoted_names_are_always_read_back(names: list[str], values: list[str], data: st.DataObject) -> None:
    cells = list(product(values, repeat=len(names)))
    joint = Joint.listed(dict.fromkeys(names, values), [Fraction(1, len(cells))] * len(cells))
    some = data.draw(st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True))
    query = Query(({names[0]: some},), {names[1]: [data.draw(st.sampled_from(values))]})

    def always(text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    # Everything in quotes, and only what needs them: both are the same query.
    right = f"{always(names[1])}={always(query.given[names[1]][0])}"
    full = f"P({always(names[0])}={' or '.join(map(always, some))} | {right})"
    for text in (full, str(query)):
        assert parse_query(text, joint) == query, text
    assert parse_query(f"P({quote(names[0])} | {quote(names[1])})", joint) == Query(
        names=(names[0],), given_names=(names[1],)
    )
