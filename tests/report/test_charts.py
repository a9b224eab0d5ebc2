"""Charts: ticks are round, few and around the numbers; whatever the numbers and words are, the SVG is sound."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from likely.present.report.charts import Dot, Line, Panel, chart, ticks

NUMBERS = st.floats(-1e9, 1e9, allow_subnormal=False)
SIZES = st.floats(0.1, 1e12)


@given(NUMBERS, st.floats(1e-6, 1e9))
def test_ticks_are_few_and_around(low: float, wide: float) -> None:
    high = low + wide
    if high - low < 1e-9 * abs(low):  # no room between two numbers
        return
    found = ticks(low, high)
    step = found[1] - found[0]
    assert 2 <= len(found) <= 9 and found == sorted(found)
    assert found[0] <= low + 1e-6 * step and found[-1] >= high - 1e-6 * step


@given(st.text(), st.text(), st.lists(st.tuples(SIZES, NUMBERS), max_size=6), st.sampled_from(["plain", "dotted", "<"]))
def test_the_svg_is_sound(title: str, name: str, dots: list[tuple[float, float]], style: str) -> None:
    line = Line(name, tuple(Dot(x, y, y - 1, y + 1) for x, y in dots), style)
    root = ElementTree.fromstring(chart(title, name, [Panel(name, title, name, (line,)), Panel("", "", "", ())]))
    circles = [*root.iter("{http://www.w3.org/2000/svg}circle")]
    assert len(circles) == len(dots)
    for c in circles:
        assert 0 <= float(c.attrib["cx"]) <= 640 and -1 <= float(c.attrib["cy"]) <= 560
