"""Files of Additive that were altered, with a right checksum: what no boosting can have ended in is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models.test_additive import table

import likely
from likely.errors import FileFormatError
from likely.sums import state

Tree = dict[str, Any]


def altered(array: Any, place: int, value: float) -> Any:
    """A copy with another value at one place."""
    out = np.array(array, np.float64 if array.dtype.kind == "f" else array.dtype)
    out.reshape(-1)[place] = value
    return out


@cache
def content(order: Any) -> bytes:
    model = likely.fit(table(), "t", likely.Additive(order=order))
    return model.to_bytes()


def pair(**changes: Callable[[Any], Any]) -> Callable[[Tree], object]:
    return lambda f: f["pairs"][0].update({name: change(f["pairs"][0][name]) for name, change in changes.items()})


def trees(**changes: Callable[[Any], Any]) -> Callable[[Tree], object]:
    return lambda f: f["sets"][0].update({name: change(f["sets"][0][name]) for name, change in changes.items()})


def curve(change: Callable[[Any], Any]) -> Callable[[Tree], object]:
    return lambda f: f["mains"].__setitem__(0, change(f["mains"][0]))


CASES: dict[str, tuple[Any, Callable[[Tree], object]]] = {
    "curves less": (2, lambda f: f["mains"].pop()),
    "a curve of other shape": (2, curve(lambda c: c[1:])),
    "a curve that is none": (2, curve(lambda c: altered(c, 0, np.nan))),
    "a curve beyond any sum": (2, curve(lambda c: altered(c, 0, 1e300))),
    "a pair with itself": (2, pair(at=lambda a: a[[0, 0]])),
    "a pair of nobody": (2, pair(at=lambda a: np.array([0, 99]))),
    "one of a pair": (2, pair(at=lambda a: a[:1])),
    "a pair twice": (2, lambda f: f["pairs"].append(f["pairs"][0])),
    "places beyond a pair's table": (2, pair(rows=lambda r: altered(r, 0, 200))),
    "places too few": (2, pair(columns=lambda r: r[1:])),
    "a pair's table of other shape": (2, pair(table=lambda t: t[1:])),
    "pairs that are no list": (2, lambda f: f.update(pairs={})),
    "facts less": (2, lambda f: f["facts"].pop("rounds")),
    "a tree that goes in circles": ("any", trees(below=lambda b: b * 0)),
    "a tree of other attributes": ("any", trees(axis=lambda a: a + 7)),
    "a tree of attributes below none": ("any", trees(axis=lambda a: a - 5)),
    "children beyond the end": ("any", trees(below=lambda b: b + 10**6)),
    "roots beyond the end": ("any", trees(roots=lambda r: r + 10**6)),
    "no roots": ("any", trees(roots=lambda r: r[:0])),
    "masks of other width": ("any", trees(left=lambda m: m[:, 1:])),
    "masks less": ("any", trees(left=lambda m: m[1:])),
    "leaves that are none": ("any", trees(values=lambda v: altered(v, 0, np.inf))),
    "a set of two": ("any", trees(at=lambda a: a[:2])),
}


@pytest.mark.parametrize("what", CASES)
def test_what_cannot_be_is_refused(what: str, tmp_path: Path) -> None:
    order, alter = CASES[what]
    tree = state.parse(content(order), "m.likely")
    alter(tree["found"])
    (tmp_path / "m.likely").write_bytes(state.dump(tree))
    with pytest.raises(FileFormatError, match=r"m\.likely"):
        likely.load(tmp_path / "m.likely")


@pytest.mark.parametrize("order", [2, "any"])
def test_as_it_was_it_is_read(order: Any, tmp_path: Path) -> None:
    (tmp_path / "m.likely").write_bytes(state.dump(state.parse(content(order), "m.likely")))
    assert likely.load(tmp_path / "m.likely").to_bytes() == content(order)
