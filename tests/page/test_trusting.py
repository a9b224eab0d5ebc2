"""What a look may bring beyond scores: shown where it is there, left out where it is not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace as Record
from typing import Any
from xml.etree import ElementTree

import likely
from likely.present.page import trusting

EXAMPLES = Path(__file__).parents[2] / "examples"


def measure(value: float | None, low: float | None = None, high: float | None = None) -> Any:
    return Record(value=value, low=low, high=high)


def trusted() -> Any:
    """A look with everything."""
    bins = (
        Record(probability=0.2, share=measure(0.25, 0.1, 0.4), weight=30.0),
        Record(probability=0.9, share=measure(0.8, 0.7, 0.9), weight=70.0),
    )
    ranking = Record(
        roc=Record(of="<b>", auc=measure(0.9, 0.85, 0.95), points=((0.0, 0.0), (0.1, 0.7), (1.0, 1.0))),
        precision_recall=Record(prevalence=0.3, points=((0.0, 1.0), (1.0, 0.3))),
        lift=Record(rows=(Record(share=0.1, found=0.3, precision=0.9, lift=3.0),)),
    )
    return Record(
        scores=Record(accuracy=0.8), rows=100, decisions=None,
        intervals=Record(accuracy=measure(0.8, 0.7, 0.88), log_loss=measure(0.5, 0.4, 0.6)),
        trust=Record(
            calibration=(Record(of="<b>", bins=bins, error=measure(0.085)),), positive="<b>", rankings={"<b>": ranking},
            ceiling=Record(rows=50, accuracy=(0.81, 0.9)),
        ),
        baselines=Record(one_rule=Record(accuracy=0.7), one_attribute="a [red]"),
        per_class=(Record(label="<b>", rows=30.0, recall=measure(0.5, 0.4, 0.6), precision=measure(None)),),
    )  # fmt: skip


def test_everything_is_shown() -> None:
    record = trusted()
    assert trusting.bounds(record, "accuracy") == (0.7, 0.88)
    assert trusting.bounds(record, "log_loss") == (0.4, 0.6) and trusting.bounds(record, "brier") is None
    curve = trusting.reliable(record)
    assert (
        curve is not None
        and curve.of == "<b>"
        and [(b.probability, b.share.value) for b in curve.bins] == [(0.2, 0.25), (0.9, 0.8)]
    )
    rule = trusting.one_rule(record)
    assert rule is not None and rule[0] == "a [red] alone" and rule[1].accuracy == 0.7
    assert "between 81.0 % and 90.0 %" in trusting.ceiling(record) and "sample of 50 rows" in trusting.ceiling(record)
    assert trusting.each_class(record) == (("<b>", "30", "50.0 % (40.0 to 60.0)", "–"),)
    sentence, charts, lift = trusting.ranked(record)
    assert "0.900 (95 % interval: 0.850 to 0.950)" in sentence
    assert [ElementTree.fromstring(chart).get("aria-label") for chart in charts] == [
        "ROC curve: <b> found against others mistaken for it",
        "Precision and recall: right when named against <b> found",
    ]
    assert lift == (("10.0 %", "30.0 %", "90.0 %", "×3.00"),)


def test_nothing_is_made_up() -> None:
    bare = Record(
        scores=Record(accuracy=0.5), rows=100, decisions=None, intervals=Record(accuracy=measure(0.5)), per_class=(),
        trust=Record(calibration=(), ceiling=None, positive="", rankings={}),
        baselines=Record(one_rule=None, one_attribute=None),
    )  # fmt: skip
    assert trusting.bounds(bare, "accuracy") is None
    assert trusting.reliable(bare) is None and trusting.one_rule(bare) is None
    assert trusting.ceiling(bare) == "" and trusting.each_class(bare) == () and trusting.ranked(bare) == ("", (), ())


def test_a_look_of_today_has_a_curve() -> None:
    found = trusting.reliable(likely.look(EXAMPLES / "iris.csv", "species"))
    assert found is not None and found.bins
