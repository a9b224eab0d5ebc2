"""Charts: ticks are round, few and around the numbers; whatever the numbers and words are, the SVG is sound."""

from __future__ import annotations

from types import SimpleNamespace as Record
from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from likely.evaluate.scores.intervals import Measure
from likely.present.charts.drawing import stacked_charts, ticks
from likely.present.charts.lines import learning

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


def curve(points: list[tuple[float, float]], ahead: bool) -> Any:
    """A learning curve of these sizes and losses."""
    each = [
        Record(rows=n, accuracy=Measure(0.5, 0.4, 0.6), log_loss=Measure(v, v - 1, v + 1),
               baseline=Record(accuracy=0.3, log_loss=v))
        for n, v in sorted(points)
    ]  # fmt: skip
    more = [Record(rows=2 * each[-1].rows, loss=0.4, low=0.3, high=0.5)] if ahead and each else []
    return Record(points=each, accuracy=Record(forecasts=more), log_loss=Record(forecasts=more))


@given(st.text(), st.text(), st.lists(st.tuples(SIZES, NUMBERS), max_size=6), st.booleans())
def test_the_svg_is_sound(title: str, words: str, points: list[tuple[float, float]], ahead: bool) -> None:
    charts = learning(curve(points, ahead))
    root = ElementTree.fromstring(stacked_charts(charts, title, words))
    circles = [*root.iter("{http://www.w3.org/2000/svg}circle")]
    assert len(circles) == (2 * (len(points) + ahead) if len(points) > 1 else 0)
    for c in circles:
        assert 0 <= float(c.attrib["cx"]) <= 640 and -1 <= float(c.attrib["cy"]) <= 560
