"""What a look says where naive Bayes is too sure of itself: evidence is weighed by held-out rows, honestly scored."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely
from likely.evaluate.crossval.temperature import LEAST_ROWS, PARTS
from likely.models.heldout.tempering import temperature_of, tempered
from likely.present.report.look import present_look


def thrice(rows: int = 900, seed: int = 0, classes: str = "pq") -> dict[str, list[Any]]:
    """One attribute, three times."""
    rng = np.random.default_rng(seed)
    y = rng.choice(list(classes), rows)
    k = np.where(rng.random(rows) < 0.6, y, rng.choice([*classes, "r"], rows)).tolist()
    return {"k": k, "again": k, "once more": k, "x": rng.normal(size=rows).tolist(), "y": y.tolist()}


@pytest.mark.parametrize("classes", ["pq", "pqs"])
def test_what_is_printed_is_not_too_sure(classes: str) -> None:
    table = thrice(classes=classes)
    plain, found = likely.look(table, "y", likely.NaiveBayes()), likely.look(table, "y", picture=True)
    assert plain.trust.tempered is None and found.trust.tempered is not None
    assert found.trust.tempered.temperature == pytest.approx(1 / 3, abs=0.08)
    assert found.trust.tempered.before == plain.scores.log_loss
    assert found.trust.tempered.log_loss == found.scores.log_loss < 0.95 * plain.scores.log_loss
    assert found.scores.brier < plain.scores.brier
    assert found.trust.calibration[0].error.value < 0.6 * plain.trust.calibration[0].error.value
    assert found.scores.accuracy == plain.scores.accuracy and found.confusion == plain.confusion
    assert found.scores.rows == plain.scores.rows and found.trust.rankings == plain.trust.rankings
    assert found.intervals.log_loss.value == found.scores.log_loss
    model = found.model
    assert model.temperature == found.trust.tempered.temperature and model.learner == likely.NaiveBayes(
        temperature=found.trust.tempered.temperature
    )
    row = {"k": "p", "again": "p", "once more": "p", "x": 0.1}
    raw = likely.fit(table, "y", likely.NaiveBayes()).posterior(row).matrix
    want = np.exp(tempered(np.log(raw), model.temperature))
    assert model.posterior(row).matrix == pytest.approx(want, rel=1e-12)
    said = "\n".join(present_look(found).remarks)
    assert f"Evidence is weighed by {found.trust.tempered.temperature:g}" in said and "--temperature" not in said
    assert f"{plain.scores.log_loss:.4f} → {found.scores.log_loss:.4f}" in said
    assert "weighed" not in "\n".join(present_look(plain).remarks)


def test_the_number_of_a_row_was_learned_without_its_fold() -> None:
    """Every row is really scored by a temperature from rows of other folds."""
    table = thrice(240, 2)
    found, plain = likely.look(table, "y", folds=5), likely.look(table, "y", likely.NaiveBayes(), folds=5)
    gathered = _gathered(table, 5)
    logs, truth = -np.logaddexp(0.0, -gathered.log_odds), gathered.truth.astype(np.intp)
    surprise = np.empty(len(truth))
    for part in range(PARTS):
        own = gathered.fold % PARTS == part
        rest = ~own
        assert not set(gathered.fold[own]) & set(gathered.fold[rest])
        shares = np.bincount(truth[rest], minlength=2) / rest.sum()
        t = temperature_of(logs[rest], truth[rest], np.ones(rest.sum()), shares, float(rest.sum()))
        surprise[own] = -tempered(logs[own], t)[np.arange(own.sum()), truth[own]]
    assert found.scores.log_loss == pytest.approx(surprise.mean() / math.log(2), rel=1e-12)
    assert found.scores.log_loss < plain.scores.log_loss


def _gathered(table: dict[str, list[Any]], folds: int) -> Any:
    from likely.evaluate.crossval.dealing import Folds
    from likely.evaluate.crossval.validate import validate
    from likely.intake.reading import Reading, open_table
    from likely.intake.schema import draft_schema

    reading = Reading("y")
    source = open_table(table, reading)
    first = draft_schema(source, reading)
    return validate(source, first, reading, {"nb": likely.NaiveBayes()}, Folds(folds, 0), 0, gather=frozenset({"nb"}))\
        .gathered["nb"]  # fmt: skip


def test_textbooks_few_rows_and_noise_are_left_alone(examples: Path) -> None:
    for name, target in (("weather.csv", "play"), ("iris.csv", "species")):
        record, plain = (likely.look(examples / name, target, how) for how in (None, likely.NaiveBayes()))
        assert record.trust.tempered is None and record.scores == plain.scores and record.learner == plain.learner
    rng = np.random.default_rng(1)
    y = rng.choice(["p", "q"], 1500)
    right = {"a": np.where(rng.random(1500) < 0.7, y, "q").tolist(), "x": (rng.normal(size=1500) + (y == "p")).tolist()}
    assert likely.look({**right, "y": y.tolist()}, "y").trust.tempered is None, "it is as sure as it may be"
    assert likely.look(thrice(LEAST_ROWS - 1), "y").trust.tempered is None


def test_other_ways_to_deal_and_weigh() -> None:
    table = thrice(600)
    out = likely.look(table, "y", leave_one_out=True)
    assert out.trust.tempered is not None and out.scores.log_loss < out.trust.tempered.before
    assert likely.look(table, "y", repeats=2).trust.tempered is None
    heavy = likely.look({**table, "w": [2.0] * 600}, "y", weight="w")
    assert heavy.trust.tempered.temperature == pytest.approx(
        likely.look(table, "y").trust.tempered.temperature, rel=0.02
    )
    for learner in (likely.NaiveBayes(pseudo_count=2), likely.TreeAugmented(), likely.NaiveBayes(temperature=0.9)):
        assert likely.look(table, "y", learner).trust.tempered is None, (
            "a learner that was asked for is judged as it is"
        )


def test_decisions_are_those_of_the_weighed_probabilities() -> None:
    table, loss = thrice(), {"p": {"go": 0, "stay": 9}, "q": {"go": 1, "stay": 0}}
    plain, found = (likely.look(table, "y", how, loss=loss) for how in (likely.NaiveBayes(), None))
    assert found.trust.tempered is not None and found.decisions.mean <= plain.decisions.mean
    t = found.trust.tempered.temperature
    told = likely.look(table, "y", likely.NaiveBayes(temperature=t), loss=loss)
    assert found.decisions.mean == pytest.approx(told.decisions.mean, rel=0.1)


def test_a_class_that_one_fold_has_alone_changes_nothing_else() -> None:
    table = thrice()
    table["y"][5] = "z"
    found = likely.look(table, "y")
    assert found.scores.log_loss is None and found.trust.tempered is not None
    assert found.trust.tempered.before is None and "infinite" not in "".join(present_look(found).remarks)


def test_the_page_says_so_and_its_what_if_is_the_weighed_model() -> None:
    import json

    from likely.portable.scoring import posterior
    from likely.portable.writing import portable_of
    from likely.present.page.writing import page

    table = thrice()
    record = likely.look(table, "y", picture=True)
    text = page(record)
    assert f"Evidence is weighed by {record.trust.tempered.temperature:g}, because" in text
    assert "temperature" not in text.split("found = likely.look(")[1].split("</")[0]
    told = json.loads(text.split('id="likely-model"')[1].split(">", 1)[1].split("</script>")[0])
    form = portable_of(json.dumps(told["portable"]))
    row = {"k": "p", "again": "q", "once more": "p", "x": 0.3}
    assert list(posterior(form, row)) == pytest.approx(record.model.posterior(row).matrix[0].tolist(), rel=1e-12)
