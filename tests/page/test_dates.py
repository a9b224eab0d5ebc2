"""A date that is read in parts has one control in the browser, which moves them all; answers are those of Python."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from page.conftest import Watched
from page.test_whatif import chances, opened, part, row_in, same, settled

import likely

NAMES = ("when", "a <b>day</b> & 'time'")


def table(name: str, timed: bool) -> dict[str, list[object]]:
    rng = np.random.default_rng(8)
    when = [datetime(2023, 1, 1) + timedelta(hours=int(h)) for h in rng.integers(0, 600 * 24, 700)]
    when = when if timed else [w.replace(hour=0) for w in when]
    high = [2.5 * (w.weekday() == 4) + 2.0 * (w.hour >= 18) + 1.5 * (w.month == 7) - 1.0 for w in when]
    late = ["late" if h > e else "in time" for h, e in zip(high, rng.logistic(size=700) * 0.5, strict=True)]
    return {name: [w.isoformat(" ") for w in when], "x": rng.normal(size=700).round(2).tolist(), "late": late}


@pytest.mark.parametrize(("name", "timed"), [(NAMES[0], True), (NAMES[1], True), (NAMES[0], False)])
def test_one_control_moves_a_date_and_its_parts(watched: Watched, tmp_path: Path, name: str, timed: bool) -> None:
    model = likely.fit(table(name, timed), "late")
    assert f"{name}: weekday" in model.schema.names
    tab = opened(watched, tmp_path, model)
    assert tab.locator("#w-fields .w-field").count() == 2 and {*row_in(tab)} == {name, "x"}
    same(tab, model, row_in(tab))
    box = part(tab).get_by_label(name, exact=True)
    assert box.get_attribute("type") == ("datetime-local" if timed else "date")
    seen = set()
    for day in ("2024-02-29", "2023-07-07", "2023-07-08", "1969-12-31", "9999-12-31"):
        box.fill(f"{day}T19:30" if timed else day)
        settled(tab)
        row = {**row_in(tab), name: f"{day} 19:30" if timed else day}
        same(tab, model, row)
        seen.add(round(chances(tab)["late"], 6))
    assert len(seen) > 2
    box.fill("2023-07-07T19:30" if timed else "2023-07-07")
    settled(tab)
    lines = tab.locator("#w-ledger tr th").all_inner_texts()
    assert f"{name} on Fridays" in lines and (f"{name} at 19 h" in lines) == timed
    assert not any(f"{name}: " in line and " = " in line for line in lines), lines
    changes = [li.get_attribute("data-name") for li in tab.locator("#w-changes li").all()]
    assert not any(change.startswith(name) for change in changes)
    part(tab).get_by_label("unknown").first.check()
    settled(tab)
    same(tab, model, row_in(tab))
    assert name not in row_in(tab)
    part(tab).locator("input[type=range]").first.fill("750")
    settled(tab)
    moved = row_in(tab)
    assert name in moved
    same(tab, model, moved)
    value = box.input_value().replace("T", " ")
    assert value.startswith(moved[name][:10])
    tab.reload()  # the address keeps the date alone
    settled(tab)
    assert row_in(tab) == moved
    watched.is_quiet()
