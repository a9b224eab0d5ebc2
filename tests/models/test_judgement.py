"""What a model's file keeps of how the model was judged: figures, bounds, curves, subgroups; and from what it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import likely
from likely.apply.fitting import learn, merge_files, model_from_tree, unlearn
from likely.errors import FileFormatError
from likely.evaluate.judging import sign
from likely.models.judgement import Origin

PENGUINS = "examples/penguins.csv"


@pytest.fixture(scope="module")
def model() -> likely.Model:
    return likely.fit(PENGUINS, "sex")


def test_a_judgement_says_what_a_look_says(model: likely.Model) -> None:
    found, record = model.judgement, likely.look(PENGUINS, "sex")
    assert found is not None
    assert found.accuracy == record.intervals.accuracy and found.log_loss == record.intervals.log_loss
    assert found.brier == record.intervals.brier and found.subgroups == record.subgroups
    assert (found.guess, found.guessing) == (record.baselines.guess, record.baseline.accuracy)
    ranking = record.trust.rankings[found.of]
    assert found.auc == ranking.roc.auc and found.roc == ranking.roc.points
    assert found.gain == tuple((row.share, row.found) for row in ranking.lift.rows)
    curve = record.trust.calibration[0]
    assert found.calibration_error == curve.error and found.calibration_of == curve.of
    assert [point[0] for point in found.calibration] == [b.probability for b in curve.bins]
    assert record.model is not None and record.model.judgement == found


@pytest.mark.parametrize("copies", [1, 3])
def test_it_says_how_many_rows_were_learned_from(copies: int) -> None:
    rows = [{"x": k * 37 % 1009 / 10, "g": "pq"[k % 3 > 0], "y": "ab"[k * 37 % 1009 > 600]} for k in range(3000)]
    table = [*rows, *(rows[: len(rows) // 2] * (copies - 1))]
    model = likely.fit(table, "y")
    found, held_out = model.judgement, model.held_out_answers
    assert found is not None and held_out is not None and found.rows == held_out.weight.sum()
    if found.parts == 1:
        assert found.rows + found.learned == len(table)
    else:
        assert found.learned == round(len(table) - found.rows / found.parts)


def test_a_file_keeps_it(model: likely.Model, tmp_path: Path) -> None:
    model.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    assert again.judgement == model.judgement and again.digest == model.digest
    again.save(tmp_path / "n.likely")
    assert (tmp_path / "m.likely").read_bytes() == (tmp_path / "n.likely").read_bytes()


def test_parts_of_dates_that_were_tried_in_vain_are_not_among_the_subgroups(tmp_path: Path) -> None:
    days = [f"2024-{1 + k * 7 % 3:02}-{1 + k * 11 % 28:02}" for k in range(200)]
    table = {"when": days, "x": [k % 10 for k in range(200)], "y": [str(k % 10 > 4) for k in range(200)]}
    model = likely.fit(table, "y", types={"x": "nominal"})
    assert model.held_out_answers is not None and "when: weekday" in model.held_out_answers.cells
    assert "when: weekday" not in model.schema.names and model.judgement is not None
    assert [one.attribute for one in model.judgement.subgroups] == ["x"]
    assert [one.attribute for one in likely.look(table, "y", types={"x": "nominal"}).subgroups] == ["x"]
    model.save(tmp_path / "m.likely")
    assert likely.load(tmp_path / "m.likely").judgement == model.judgement


def test_the_same_rows_in_another_order_are_judged_alike() -> None:
    rows = [
        dict(zip(("x", "g", "y"), (k * 37 % 101 / 10, "pq"[k % 3 > 0], "ab"[k * 37 % 101 > 60]), strict=True))
        for k in range(300)
    ]
    one, two = likely.fit(rows, "y"), likely.fit(rows[::-1], "y")
    assert one.judgement is not None and one.to_bytes() == two.to_bytes() and one.digest == two.digest
    assert one.digest != likely.fit(rows[1:], "y").digest


def test_what_was_learned_since_is_not_judged(tmp_path: Path) -> None:
    model = likely.fit(PENGUINS, "sex", for_="updates")
    assert model.judgement is not None
    model.save(tmp_path / "m.likely")
    more = tmp_path / "more.csv"
    more.write_text("".join(Path(PENGUINS).read_text(encoding="utf-8").splitlines(keepends=True)[:3]), encoding="utf-8")
    for other in (learn(model, more), unlearn(learn(model, more), more), merge_files([tmp_path / "m.likely"] * 2)):
        assert isinstance(other, likely.Model) and other.judgement is None and "judged" not in other.tree()
    assert likely.fit(PENGUINS, "sex", "NaiveBayes").judgement is None


def test_a_signature_needs_a_judgement(model: likely.Model) -> None:
    origin = Origin("penguins.csv", "2026-01-31", "likely fit penguins.csv sex")
    signed = sign(model, origin)
    assert signed.judgement is not None and signed.judgement.origin == origin
    assert model.judgement is not None and model.judgement.origin is None
    plain = likely.fit(PENGUINS, "sex", "NaiveBayes")
    assert sign(plain, origin) is plain


def altered(tree: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    judged = dict(tree["judged"])
    change(judged)
    return {**tree, "judged": judged}


@pytest.mark.parametrize(
    "change",
    [
        lambda own: own.pop("accuracy"),
        lambda own: own.update(rows=-1.0),
        lambda own: own.update(rows="many"),
        lambda own: own.update(guess="neither"),
        lambda own: own.update(of=None),
        lambda own: own.update(guessing=1.5),
        lambda own: own.update(guessing=float("nan")),
        lambda own: own.update(log_loss={"value": float("inf")}),
        lambda own: own.update(accuracy={"value": 0.9, "low": -3.0, "high": 1.0}),
        lambda own: own.update(roc=[[0.0, 0.0, 0.0]]),
        lambda own: own.update(calibration=[[0.1, 0.1, 0.0, 2.0, 5.0]]),
        lambda own: own.update(subgroups=[{**own["subgroups"][0], "attribute": "no such"}]),
        lambda own: own.update(origin={"table": "t", "day": "<script>", "command": ""}),
        lambda own: own.update(origin={"table": "\ud800", "day": "2026-01-01", "command": ""}),
        lambda own: own.update(version=None),
    ],
)
def test_a_judgement_that_cannot_be_is_refused(model: likely.Model, change: Callable[[dict[str, Any]], object]) -> None:
    with pytest.raises(FileFormatError, match="cannot read"):
        model_from_tree(altered(model.tree(), change), "m.likely")
