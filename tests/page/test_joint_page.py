"""The page of a joint table in a real browser: what is clicked is asked, and answered as exact fractions answer."""

from __future__ import annotations

import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from page.conftest import Watched

import likely
from likely.classroom import Joint
from likely.classroom.joint_page import joint_page
from likely.classroom.joint_table import study_joint
from likely.errors import SettingError

EXAMPLES = Path(__file__).parents[2] / "examples"
UGLY = {
    "</script><b>": ["<!--", "a|b", "it's", ""],
    "x or y = z": ['"', "a, b", "{{ 7*7 }}"],
    "ünï\u2028": ["P(", "and", "\u202eabc", "x=y"],
}


def opened(watched: Watched, folder: Path, joint: Joint, **more: Any) -> Any:
    path = folder / "joint.html"
    path.write_text(joint_page(study_joint(joint, **more), command="likely joint 'a b'"), encoding="utf-8")
    watched.tab.goto(path.as_uri())
    watched.tab.locator("#all").wait_for()
    return watched.tab


def value(tab: Any) -> Fraction:
    """The fraction at the end of the working."""
    end = tab.locator("#working").inner_text().split(" = ")[-1].split(" ≈ ")[0]
    return Fraction(end)


def mode(tab: Any, name: str, choice: str) -> None:
    tab.locator(f'input[name="{name}"][value="{choice}"]').check()


def test_cells_rows_and_margins_are_clicked(watched: Watched, tmp_path: Path) -> None:
    joint = likely.joint(EXAMPLES / "weather.csv", ["outlook", "windy", "play"])
    tab = opened(watched, tmp_path, joint)
    rows = tab.locator("#table tbody tr")
    assert rows.count() == 7 and tab.locator("#all").inner_text() == "1"
    sunny_windy = rows.nth(5)  # overcast, rainy, sunny by false, true
    assert sunny_windy.inner_text().split()[:2] == ["sunny", "true"]
    sunny_windy.locator("td button").nth(1).click()
    assert tab.locator("#query").inner_text() == "P(outlook=sunny, windy=true, play=yes)"
    assert value(tab) == joint.p(outlook="sunny", windy="true", play="yes") == Fraction(1, 14)
    sunny_windy.locator("td.margin button").click()  # the margin of a row
    assert value(tab) == joint.p(outlook="sunny", windy="true") == Fraction(2, 14)
    rows.nth(6).locator("td button").nth(0).click()  # the margin of a column
    assert tab.locator("#query").inner_text() == "P(play=no)" and value(tab) == Fraction(5, 14)
    mode(tab, "mode", "given")
    rows.nth(4).locator("th button").nth(0).click()  # sunny
    assert tab.locator("#working").inner_text() == (
        "P(play=no | outlook=sunny) = P(play=no, outlook=sunny) / P(outlook=sunny) = (3/14) / (5/14) = 3/5 ≈ 0.6"
    )
    mode(tab, "show", "given")
    assert rows.nth(6).locator("td button").nth(0).inner_text() == "0.6"
    assert rows.nth(0).locator("td button").nth(0).inner_text() == "0"
    mode(tab, "show", "fraction")
    assert rows.nth(6).locator("td button").nth(0).inner_text() == "5/14"
    # The same click again takes it back; Clear takes everything.
    rows.nth(4).locator("th button").nth(0).click()
    assert tab.locator("#query").inner_text() == "P(play=no)"
    tab.locator("#clear").click()
    assert tab.locator("#working").inner_text() == "Nothing is chosen yet."
    watched.is_quiet()


def test_one_event_or_another(watched: Watched, tmp_path: Path) -> None:
    joint = likely.joint(EXAMPLES / "weather.csv", ["outlook", "play"])
    tab = opened(watched, tmp_path, joint)
    mode(tab, "join", "or")
    for k, v in ((0, 2), (1, 0)):
        tab.locator(f'.chip[data-variable="{k}"][data-level="{v}"]').click()
    assert tab.locator("#query").inner_text() == "P(outlook=sunny or play=no)"
    assert value(tab) == joint.p_any([{"outlook": "sunny"}, {"play": "no"}]) == Fraction(1, 2)
    watched.is_quiet()


def test_by_key_and_on_a_phone(watched: Watched, tmp_path: Path) -> None:
    joint = Joint.listed({"A": [0, 1], "B": [0, 1]}, ["0.4", "0.1", "0.2", "0.3"])
    watched.tab.set_viewport_size({"width": 390, "height": 800})
    tab = opened(watched, tmp_path, joint)
    assert tab.evaluate("document.documentElement.scrollWidth <= 390")
    tab.locator("#table tbody td button").first.focus()
    tab.keyboard.press("Enter")
    assert value(tab) == Fraction(2, 5)
    watched.is_quiet()


def test_every_query_of_ugly_names_is_what_the_command_line_answers(watched: Watched, tmp_path: Path) -> None:
    rng = random.Random(5)
    size = 4 * 3 * 4
    counts = [rng.choice([0, 1, 10**30, 7]) for _ in range(size)]
    whole = sum(counts)
    joint = Joint.listed(UGLY, [Fraction(n, whole) for n in counts])
    tab = opened(watched, tmp_path, joint, queries=["P('x or y = z'='a, b')"])
    names = list(UGLY)
    assert tab.locator(".chip-row strong").all_inner_texts()[0] == names[0]
    for _ in range(10):
        tab.locator("#clear").click()
        mode(tab, "join", rng.choice(["and", "or"]))
        for side in ("asked", "given"):
            mode(tab, "mode", side)
            for k in rng.sample(range(3), rng.choice([1, 2])):
                for v in rng.sample(range(len(UGLY[names[k]])), rng.choice([1, 1, 2])):
                    tab.locator(f'.chip[data-variable="{k}"][data-level="{v}"]').click()
        text = tab.locator("#query").text_content()
        if "is 0, so" in tab.locator("#working").inner_text():
            with pytest.raises(SettingError, match="is 0"):
                joint.query(text)
            continue
        found = joint.query(text)  # what the page writes can be typed
        assert value(tab) == found.value, text
        shown = re.search(r"≈ (\S+)$", tab.locator("#working").inner_text())
        if shown:
            assert float(shown[1]) == pytest.approx(float(found.value), rel=1e-5)
    watched.is_quiet()


def test_a_table_that_is_too_large_is_refused() -> None:
    joint = Joint.from_counts({(k, k): 1 for k in range(60)}, ("a", "b"))
    with pytest.raises(SettingError, match="3,600 cells"):
        joint_page(study_joint(joint))


def test_floats_too(watched: Watched, tmp_path: Path) -> None:
    tab = opened(watched, tmp_path, Joint({"x": 0.25, "y": 0.75}, "v"))
    tab.locator("#table tbody td button").nth(1).click()
    assert tab.locator("#working").inner_text() == "P(v=y) = 0.75"
    watched.is_quiet()
