"""Two tables beside each other: what changed, what only looks so, and what cannot be compared."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from likely import NaiveBayes, changes, drift, fit, summarize
from likely.errors import LikelyError

NAMES = ["sun [b]", "rain", ""]


def table(seed: int, rows: int = 300, **more: object) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    y = rng.choice(["yes", "no"], rows)
    sky = np.where(rng.random(rows) < 0.7, np.where(y == "yes", NAMES[0], NAMES[1]), rng.choice(NAMES[:2], rows))
    return {"sky": sky, "wind": rng.normal(size=rows) + (y == "yes"), "noise": rng.normal(size=rows), "y": y, **more}


def names(found: Any) -> set[str]:
    return {c.name for c in found.changes.significant}


def test_nothing_changed_in_twenty_samples_of_one_kind() -> None:
    assert sum(drift(table(2 * k), table(2 * k + 1), "y").changed for k in range(20)) <= 1


def test_it_is_what_changes_says_of_the_two_summaries() -> None:
    one, two = table(0), table(1, wind=np.random.default_rng(9).normal(3, 1, 300))
    first = summarize(one, "y")
    wanted = changes(first, summarize(two, schema=first.schema))
    assert drift(one, two, "y").changes.attributes == wanted.attributes


def test_given_the_class_and_in_all_are_told_apart() -> None:
    rng = np.random.default_rng(3)
    one, two = table(0, 800), table(1, 800)
    keep = (two["y"] == "yes") | (rng.random(800) < 0.3)  # type: ignore[operator]
    fewer = {name: np.array(column)[keep] for name, column in two.items()}
    found = drift(one, fewer, "y")
    assert found.changes.p_classes < 0.01
    wind = next(c for c in found.changes.attributes if c.name == "wind")
    assert wind.p_overall < 0.01 <= wind.p_given_class, "only the shares of the classes changed"


def test_columns_come_and_go_and_change_their_kind() -> None:
    one = table(
        0,
        gone=["a", "b"] * 150,
        now_words=list(range(300)),
        code=["1", "2", "3"] * 100,
        id=[f"k{k}" for k in range(300)],
    )
    two = table(
        1,
        new=["a", "b"] * 150,
        now_words=["low", "high"] * 150,
        code=["x", "y"] * 150,
        id=[f"z{k}" for k in range(300)],
    )
    one["now_words"] = np.random.default_rng(0).normal(size=300)
    found = drift(one, two, "y")
    assert found.only_one == ("gone",) and found.only_two == ("new",) and found.changed
    assert [(r.name, r.before, r.after) for r in found.retyped] == [("now_words", "number", "nominal")]
    code = next(c for c in found.changes.attributes if c.name == "code")
    assert code.new_levels == ("x", "y") and code.gone_levels == ("1", "2", "3")
    assert "id" not in {c.name for c in found.changes.attributes}
    back = drift(two, one, "y")
    assert [(r.name, r.before, r.after) for r in back.retyped] == [("now_words", "nominal", "number")]


@pytest.mark.parametrize("kind", ["levels", "numbers"])
def test_what_was_constant_and_what_became_so(kind: str) -> None:
    same, other = (["a"] * 300, ["b"] * 300) if kind == "levels" else ([1.5] * 300, [2.5] * 300)
    varied = ["a", "b", "c"] * 100 if kind == "levels" else np.random.default_rng(0).normal(size=300)
    for before, after in ((same, other), (same, varied), (varied, same)):
        found = drift(table(0, x=before), table(1, x=after), "y")
        assert names(found) == {"x"} and not found.retyped, (before[0], after[0])
    assert not drift(table(0, x=same), table(1, x=same), "y").changed
    gone = drift(table(0, x=varied), table(1, x=[None] * 300), "y")
    assert names(gone) == {"x"} and next(a for a in gone.amounts if a.name == "x").missing_after == 1


def test_missing_cells_alone() -> None:
    rng = np.random.default_rng(0)
    gaps = [None if g < 0.3 else "a" for g in rng.random(300)]
    found = drift(table(0, x=["a", "b"] * 150), table(1, x=gaps), "y")
    amount = next(a for a in found.amounts if a.name == "x")
    assert amount.p_missing < 1e-6 and amount.missing_after == pytest.approx(0.3, abs=0.08)


def test_without_a_target_and_where_the_second_has_none() -> None:
    found = drift(table(0), table(1))
    assert found.target is None and {c.name for c in found.changes.attributes} == {"sky", "wind", "noise", "y"}
    new = table(1, wind=np.random.default_rng(0).normal(4, 1, 300))
    del new["y"]
    found = drift(table(0), new, "y")
    assert found.target is None and names(found) == {"wind"} and found.only_one == () and "'y'" in found.remarks[0]


def test_a_model_and_a_table_either_way() -> None:
    model = fit(table(0), "y", NaiveBayes())
    moved = table(1, wind=np.random.default_rng(0).normal(4, 1, 300))
    tables, one_way, other = drift(table(0), moved, "y"), drift(model, moved), drift(moved, model)
    assert one_way.changes.attributes == tables.changes.attributes
    assert names(other) == names(tables) == {"wind"} and other.changes.rows_after == 300
    assert drift(model, table(0)).changed is False


def test_bins_of_a_numeric_target_are_those_of_the_first() -> None:
    found = drift(table(0), table(1, wind=np.random.default_rng(0).normal(2, 1, 300)), "wind", target_bins=3)
    assert len(found.changes.classes) == 3 and found.changes.p_classes < 0.01


def test_classes_that_only_one_has() -> None:
    two = table(1)
    two["y"] = np.where(np.array(two["y"]) == "no", "never <script>", two["y"])
    found = drift(table(0), two, "y")
    assert {s.name: (s.before > 0, s.after > 0) for s in found.changes.classes} == {
        "no": (True, False),
        "yes": (True, True),
        "never <script>": (False, True),
    }


def test_json_and_bad_input() -> None:
    record = json.loads(drift(table(0), table(1), "y").json())
    assert record["changed"] is False and len(record["amounts"]) == 3 and record["changes"]["chance"] == 0.01
    for bad in (
        lambda: drift(table(0), table(1), "z"),
        lambda: drift(table(0), table(1), "y", chance=0),
        lambda: drift(table(0), {"sky": []}),
        lambda: drift(fit(table(0), "y", NaiveBayes()), table(1), "y"),
        lambda: (
            drift(table(0), fit(table(0), "sky", NaiveBayes()), None)
            and drift(table(0), fit(table(0), "y", NaiveBayes()), "y")
        ),
    ):
        with pytest.raises(LikelyError):
            bad()


def test_fewer_classes_and_numbers_whose_squares_no_double_holds() -> None:
    huge = np.random.default_rng(0).choice([1e308, -1e308, 5e-324, 0.5], 300)
    two = table(1, huge=huge) | {"y": ["yes"] * 300}
    found = drift(table(0, huge=huge), two, "y")
    assert {s.name: s.after for s in found.changes.classes} == {"no": 0.0, "yes": 1.0}
    amount = next(a for a in found.amounts if a.name == "huge")
    assert amount.deviation_before is not None and 1e307 < amount.deviation_before < 1e308
    assert drift(two, table(0, huge=huge), "y").changed
