"""Attributes that others determine: against dictionaries, and what must not be called a function."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from likely import doctor
from likely.evaluate.troubles.columns import Dependency, _determined

CODES = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 2), st.integers(-1, 5)), min_size=1, max_size=40)


@given(CODES)
@settings(max_examples=100, deadline=None)
def test_determined_is_what_a_dictionary_says(rows: list[tuple[int, int, int]]) -> None:
    codes = np.array(rows, np.int32)
    held, repeats, _ = _determined(codes[:, 0], codes)
    for k in range(3):
        seen: dict[int, set[int]] = {}
        pairs = [(a, b) for a, b in codes[:, [0, k]].tolist() if a >= 0 and b >= 0]
        for a, b in pairs:
            seen.setdefault(a, set()).add(b)
        if (codes[:, 0] >= 0).any():
            assert held[k] == all(len(s) == 1 for s in seen.values())
        assert repeats[k] == len(pairs) - len(seen)


def bonds(table: dict[str, object]) -> dict[str, Dependency]:
    rng = np.random.default_rng(9)
    rows = len(next(iter(table.values())))  # type: ignore[arg-type]
    return {b.name: b for b in doctor(table | {"y": rng.choice(["p", "q"], rows)}, "y", suspects=0, folds=2).bonds}


def test_every_kind_of_bond() -> None:
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=600), rng.normal(size=600)
    town = rng.choice(list("abcdef"), 600)
    whole = rng.integers(0, 40, 600)
    found = bonds(
        {
            "town": town,
            "code": [f"#{ord(t)}" for t in town],
            "land": ["north" if t in "abc" else "south" for t in town],
            "x": x,
            "log": np.exp(x),
            "minus": -3 * x + 1,
            "z": z,
            "sum": np.round(2 * x - z + 5, 4),
            "near": x + 0.01 * rng.normal(size=600),
            "whole": whole,
            "odd": whole % 2,
            "free": rng.normal(size=600),
        }
    )
    told = {name: (b.how, b.by, b.exact) for name, b in found.items()}
    assert told == {
        "code": ("copy", ("town",), True),
        "land": ("function", ("town",), True),
        "odd": ("function", ("whole",), True),
        "log": ("rank", ("x",), True),
        "minus": ("rank", ("x",), True),
        "near": ("rank", ("x",), False),
        "sum": ("linear", ("x", "z"), True),
    }
    assert found["log"].correlation == 1 and found["minus"].correlation == -1 and found["near"].correlation > 0.99


def test_values_that_never_repeat_determine_nothing() -> None:
    rng = np.random.default_rng(3)
    assert not bonds({"x": rng.normal(size=500), "town": rng.choice(list("abc"), 500), "z": rng.normal(size=500)})


def test_what_is_constant_where_the_other_is_known_is_no_function_of_it() -> None:
    rng = np.random.default_rng(3)
    there = rng.random(500) < 0.6
    value = rng.integers(0, 9, 500) * 1.5
    found = bonds({"value": [v if t else None for v, t in zip(value, there, strict=True)], "measured": there})
    assert "measured" not in found


def test_exceptions_and_gaps() -> None:
    rng = np.random.default_rng(3)
    town = rng.choice(list("abcdef"), 500)
    code = np.array([f"#{t}" for t in town], object)
    assert "code" in bonds({"town": town, "code": np.where(rng.random(500) < 0.3, None, code)})
    code[17] = "#b" if town[17] == "a" else "#a"
    assert not bonds({"town": town, "code": code})


def test_a_value_whose_rows_are_all_of_one_class_names_a_group() -> None:
    rng = np.random.default_rng(3)
    who = rng.integers(0, 60, 600)
    table = {"who": [f"p{w}" for w in who], "x": rng.normal(size=600), "y": np.where(who % 2, "a", "b")}
    table["text"] = [f"words that many rows have in this order, number {w // 2 * 2 + w % 2}" for w in who]
    found = doctor(table, "y", suspects=0, types={"text": "text"})
    (group,) = [f for f in found.findings if f.kind == "group"]
    assert group.columns == ("who",) and group.grave
