"""What a look may bring beyond scores: shown where it is there, left out where it is not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace as Record
from typing import Any
from xml.etree import ElementTree

import likely
from likely.evaluate.crossval.dealing import Dealing
from likely.evaluate.scores.intervals import Measure as measure
from likely.present.charts.lines import learning, precision_recall, roc
from likely.present.page import contents, trusting
from likely.present.report import look
from likely.present.report import look as tables

EXAMPLES = Path(__file__).parents[2] / "examples"


def trusted() -> Any:
    """A look with everything."""
    bins = (
        Record(low=0.1, high=0.3, probability=0.2, share=measure(0.25, 0.1, 0.4), weight=30.0),
        Record(low=0.8, high=1.0, probability=0.9, share=measure(0.8, 0.7, 0.9), weight=70.0),
    )
    ranking = Record(
        roc=Record(of="<b>", auc=measure(0.9, 0.85, 0.95), points=((0.0, 0.0), (0.1, 0.7), (1.0, 1.0))),
        precision_recall=Record(prevalence=0.3, average_precision=0.8, points=((0.0, 1.0), (1.0, 0.3))),
        lift=Record(rows=(Record(share=0.1, found=0.3, precision=0.9, lift=3.0),)),
    )
    trust = Record(
        calibration=(Record(of="<b>", bins=bins, error=0.085),),
        positive="<b>",
        rankings={"<b>": ranking},
    )
    rule = Record(accuracy=0.7, log_loss=None, brier=0.4, unclassified=0)
    naive = Record(accuracy=0.75, log_loss=0.6, brier=0.35, unclassified=0)
    return Record(
        scores=Record(accuracy=0.8, log_loss=0.5, brier=0.3, unclassified=0, rows=100.0),
        rows=100, decisions=None, trust=trust,
        baseline=Record(accuracy=0.6, log_loss=0.9, brier=0.5, unclassified=0), learner="Auto()",
        dealing=Dealing(10, 0), classes={"<b>": 30.0, "other": 70.0},
        intervals=Record(accuracy=measure(0.8, 0.7, 0.88), log_loss=measure(0.5, 0.4, 0.6), brier=measure(None)),
        baselines=Record(guess="other", one_rule=rule, one_attribute="a [red]", naive_bayes=naive),
        attributes=({"name": "a [red]"},), model=None,
        per_class=(Record(label="<b>", rows=30.0, recall=measure(0.5, 0.4, 0.6), precision=measure(None), f1=None),),
    )  # fmt: skip


def test_everything_is_shown() -> None:
    record = trusted()
    scores = tables.score_table(record)
    assert scores.header == ("score", "the model", "95 % interval", "guessing", "a [red] alone", "naive Bayes")
    assert scores.rows[0] == ("accuracy", "80.0 %", "70.0 to 88.0 %", "60.0 %", "70.0 %", "75.0 %")
    assert scores.rows[1] == ("log loss, bits a row", "0.5000", "0.4000 to 0.6000", "0.9000", "infinite", "0.6000")
    assert scores.rows[2][2] == "", "the Brier score has no bounds"
    assert scores.rows[3:] == (
        ("calibration error", "8.5 %", "", "", "", ""),
        ("area under ROC", "0.9000", "0.8500 to 0.9500", "0.5000", "", ""),
    )
    curve = tables.calibration_table(record)
    assert "rows were <b>, by predicted" in curve.title and [row[1:3] for row in curve.rows] == [
        ("20.0 %", "25.0 %"),
        ("90.0 %", "80.0 %"),
    ]
    assert [name.style for name, *_ in contents.ladder(record)[0].rows] == ["base", "one", "own"]
    assert tables.precision_table(record).rows == (("<b>", "30", "–", "50.0 % (40.0 to 60.0)", "–"),)
    ranking = record.trust.rankings["<b>"]
    assert "0.900 (95 % interval: 0.850 to 0.950)" in trusting.rank_sentence(ranking)
    assert [ElementTree.fromstring(chart(ranking)).get("aria-label") for chart in (roc, precision_recall)] == [
        "ROC curve: recall of <b> against false positive rate",
        "Precision and recall: precision against recall of <b>",
    ]
    assert tables.lift_table(record).rows == (("10.0 %", "30.0 %", "90.0 %", "×3.00"),)


def test_nothing_is_made_up() -> None:
    bare = trusted()
    bare.intervals, bare.per_class = Record(accuracy=measure(0.5), log_loss=measure(None), brier=measure(None)), ()
    bare.trust = Record(calibration=(), positive="", rankings={})
    bare.baselines = Record(guess="other", one_rule=None, one_attribute=None, naive_bayes=None)
    scores = tables.score_table(bare)
    assert len(scores.header) == 4 and [row[2] for row in scores.rows] == ["", "", ""]
    for table in (tables.calibration_table(bare), tables.precision_table(bare), tables.lift_table(bare)):
        assert table.rows == ()
    assert [name.style for name, *_ in contents.ladder(bare)[0].rows] == ["base", "own"]


def test_a_look_of_today_has_a_curve() -> None:
    assert tables.calibration_table(likely.look(EXAMPLES / "iris.csv", "species", likely.NaiveBayes())).rows


def test_calibration_is_told_as_it_is_drawn() -> None:
    def told(doubted: bool, share: float) -> str:
        bins = (
            Record(low=0.0, high=0.2, probability=0.1, share=measure(0.1, 0.0, 0.2), weight=70.0),
            Record(low=0.9, high=1.0, probability=0.95, share=measure(share, 0.6, 0.9), weight=30.0),
        )
        gap = 0.3 * abs(0.95 - share)
        curve: Any = Record(of="spam", bins=bins, error=gap, doubted=doubted)
        return look.calibration_sentence(curve)

    worst = "where it gives spam 95.0 %, that is right for 75.0 % of 30 rows"
    assert (
        told(True, 0.75) == f"Its probabilities are off by 6.0 points on average, more than chance explains: {worst}."
    )
    assert told(False, 0.75).endswith(f"So few rows could do that by chance; {worst}.")
    assert told(False, 0.94) == "Its probabilities are off by 0.3 points on average, no more than chance would make it."


def test_an_infinite_loss_is_explained() -> None:
    record = trusted()
    assert "The log loss of one attribute is infinite: at least one row" in contents.infinity_sentence(record)
    record.scores.log_loss = None
    assert "The log loss of the model and one attribute is infinite" in contents.infinity_sentence(record)


def test_one_spike_does_not_flatten_a_learning_curve() -> None:
    def point(rows: float, loss: float) -> Any:
        base = Record(accuracy=0.5, log_loss=1.0)
        return Record(
            rows=rows, accuracy=measure(0.7, 0.6, 0.8), log_loss=measure(loss, loss - 0.1, loss + 0.1), baseline=base
        )

    trend = Record(forecasts=())
    found: Any = Record(
        points=(point(10, 20.4), point(20, 0.9), point(40, 0.7), point(80, 0.6)), accuracy=trend, log_loss=trend
    )
    chart = ElementTree.fromstring(learning(found)[1])
    circles = [float(c.get("cy") or 0) for c in chart.iter("circle")]
    assert circles[0] < circles[1] < circles[2] < circles[3]
    assert circles[3] - circles[1] > 10, "the rest of the curve can still be read"
    assert "↑ 20.4" in "".join(chart.itertext())


def test_a_group_is_clearly_worse_only_for_so_many_that_are_looked_at() -> None:
    def groups(*rights: float) -> Any:
        own = Record(attribute="a", of="y")
        return [(own, Record(level=str(k), rows=400.0, accuracy=measure(p, None, None))) for k, p in enumerate(rights)]

    alone = trusting.clearly_worse(groups(0.75), 0.8)  # 2.5 standard errors below
    assert [group.level for _, group in alone] == ["0"]
    assert not trusting.clearly_worse(groups(0.75, *[0.8] * 200), 0.8), "one of 200 is as low by chance"
    both = trusting.clearly_worse(groups(0.85, 0.6, *[0.8] * 200, 0.7), 0.8)
    assert [group.level for _, group in both] == ["1", "202"]
    assert not trusting.clearly_worse(groups(1.0, 0.9), 1.0)
