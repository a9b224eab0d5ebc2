"""Sweeps that a learner asks for, and rows held out from it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import likely
from likely import Model, Prior
from likely.errors import LikelyError, SettingError
from likely.intake.summarize import row_sweeper
from likely.models.contracts import Learning, Sweep
from likely.models.heldout.search import HeldOutParts, keep_rows, log_posterior
from likely.models.learning import begin, in_step, learn_without_rows, learning, run, side_by_side
from likely.models.registry import LEARNERS
from likely.table.batch import Batch
from likely.table.open import open_source

TABLE = {"x": ["a", "b", "b", "a", "c", "c"] * 5, "y": list("pqqpqp") * 5}
LOOKS: list[int] = []


def count_rows(batch: Batch, group: Any, weight: Any) -> tuple[int]:
    LOOKS.append(batch.rows)
    return (batch.rows,)


@dataclass(frozen=True)
class Sweeping:
    """Sees the rows so many times, each time all of them. Its `learn` is a bare generator."""

    times: int
    needed: bool = True

    def needs(self, schema: Any) -> frozenset[str]:
        return frozenset()

    def learn(self, summary: likely.Summary) -> Learning[Model]:
        for _ in range(self.times):
            sums = yield Sweep(count_rows, (), self.needed)
            if sums is not None and sums[0] > 1000:
                raise SettingError("too many rows")
        return Prior().learn(summary)


@pytest.fixture(autouse=True)
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    monkeypatch.setitem(LEARNERS, "Sweeping", Sweeping)
    LOOKS.clear()
    return LOOKS


def test_a_learner_has_as_many_sweeps_as_it_wants(looks: list[int]) -> None:
    for times in (0, 1, 3):
        looks.clear()
        assert likely.fit(TABLE, "y", Sweeping(times)).predict({}) == "p"
        assert looks == [30] * times


def test_who_needs_no_rows_has_learned_when_it_begins() -> None:
    summary = likely.summarize(TABLE, "y")
    assert isinstance(begin(Sweeping(0), summary), Model)
    assert isinstance(begin(likely.NaiveBayes(), summary), Model)
    for learner in (Sweeping(1), likely.Logistic(), likely.Auto(), likely.TunedNaiveBayes()):
        held = begin(learner, summary)
        assert isinstance(held, Generator)
        assert isinstance(next(held), Sweep)  # the first sweep is asked for once more: nothing is lost by beginning


def test_a_sweep_that_is_not_needed_is_done_without() -> None:
    summary = likely.summarize(TABLE, "y")
    assert learn_without_rows(Sweeping(2), summary) is None
    assert isinstance(learn_without_rows(Sweeping(2, needed=False), summary), Model)
    texts = {"body": ["win cash now", "see you at lunch"] * 40, "y": ["spam", "ham"] * 40}
    words = likely.summarize(texts, "y", types={"body": "text"})
    assert learn_without_rows(likely.NaiveBayes(temperature="auto"), words) is None
    plain = learn_without_rows(likely.NaiveBayes(), words)
    assert plain is not None and plain.predict({"body": "win cash"}) == "spam"
    with pytest.raises(SettingError, match="NaiveBayes must see the rows"):
        likely.NaiveBayes().learn(words)


def test_many_learners_share_their_sweeps(looks: list[int]) -> None:
    """Ten folds of three learners: as many sweeps as the one who wants most, each row seen by nine folds of ten."""
    learners = {"two": Sweeping(2), "three": Sweeping(3), "none": Sweeping(0)}
    likely.compare(TABLE, "y", learners, folds=10)
    assert len(looks) == 10 * (2 + 3) and sum(looks) == 9 * 30 * (2 + 3)


def test_one_that_is_refused_stops_with_its_group_and_nobody_else() -> None:
    summary = likely.summarize(TABLE, "y")
    refused: dict[str, str] = {}

    def refuse(key: str, error: LikelyError) -> list[str]:
        refused[key] = str(error)
        return ["b2"]

    asked = []

    def answer(wanted: dict[str, Sweep]) -> dict[str, Any]:
        asked.append(sorted(wanted))
        return {key: (2000 if key == "b1" else 1,) for key in wanted}

    some = {key: learning(Sweeping(3), summary) for key in ("a", "b1", "b2")}
    found = run(in_step(some, refuse), answer)
    assert list(found) == ["a"] and refused == {"b1": "too many rows"}
    assert asked == [["a", "b1", "b2"], ["a"], ["a"]]
    with pytest.raises(SettingError, match="too many rows"):
        run(in_step({"a": learning(Sweeping(1), summary)}), lambda wanted: {"a": (2000,)})


def test_side_by_side_is_one_after_the_other() -> None:
    rng = np.random.default_rng(3)
    table = {"x": rng.normal(size=300), "z": rng.normal(size=300)}
    table["y"] = np.where(table["x"] + rng.normal(size=300) > 0, "p", "q")
    learners = {"newton": likely.Logistic(), "steps": likely.Logistic(tolerance=0.05), "trees": likely.Additive()}
    summary = likely.summarize(table, "y")
    sweeper = row_sweeper(open_source(table), summary)
    together = run(side_by_side({n: learning(learner, summary) for n, learner in learners.items()}), sweeper)
    for name, learner in learners.items():
        # Who fits looks at the rows once more when a model is learned: for rows to complete others by, and importances.
        alone = replace(likely.fit(table, "y", learner), references=None, importance=None, judge=None)
        assert together[name].to_bytes() == alone.to_bytes()


# The held-out engine: what is said of a row comes from rows of other parts alone, by whichever learner.


ROWS, PARTS = 240, 4


def some_table(seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], ROWS, p=[0.6, 0.38, 0.02])
    return {"x": rng.normal(size=ROWS) + (y == "a"), "k": np.where(rng.random(ROWS) < 0.7, y, "b"), "y": y}


def kept(table: dict[str, Any], requests: tuple[str, ...] = ()) -> tuple[likely.Summary, HeldOutParts]:
    summary = likely.summarize(table, "y", types={"x": "number"}, more=requests)
    rows = run(keep_rows(summary, PARTS), row_sweeper(open_source(table), summary))
    return summary, HeldOutParts.of(summary, rows, requests)


def without(table: dict[str, Any], parts: HeldOutParts, part: int) -> dict[str, Any]:
    """The rows of a table that are not in a part, which goes by what rows hold."""
    place = {float(x): int(p) for x, p in zip(parts.rows.batch.cells["x"], parts.rows.part, strict=True)}
    mine = np.array([place[float(x)] != part for x in table["x"]])
    return {name: column[mine] for name, column in table.items()}


@pytest.mark.parametrize("learner", [likely.NaiveBayes(), likely.Neighbors(k=5), likely.Logistic(numbers="binned")])
def test_a_part_is_scored_by_the_model_of_the_others(learner: Any) -> None:
    table = some_table()
    schema = likely.summarize(table, "y", types={"x": "number"}).schema
    summary, parts = kept(table, tuple(learner.needs(schema)))
    assert list(parts.training) == list(range(PARTS)) and len(parts.rows) == ROWS
    places = parts.places()
    assert sorted(places.tolist()) == list(range(ROWS))

    def logs(model: Any, batch: Any, truth: Any) -> Any:
        return log_posterior(model, batch, summary.classes)

    (found,) = parts.scores([learner], places, logs, lambda h: SettingError("improper"))
    evidence, same = parts.evidence(learner, places)
    assert same is learner
    for part, own in parts.training.items():
        rest = without(table, parts, part)
        model = likely.fit(rest, learner=learner, schema=summary.schema)
        assert own.total == model.summary.total and own.columns == model.summary.columns
        inside = parts.rows.part[places] == part
        wanted = log_posterior(model, parts.rows.take(places[inside]).batch, summary.classes)
        np.testing.assert_allclose(found[inside], wanted, rtol=1e-9, atol=1e-9)
        share = np.array([np.mean(rest["y"] == c) for c in summary.classes])
        known = share > 0
        np.testing.assert_allclose(
            evidence[inside][:, known], (wanted - np.log(np.where(known, share, 1.0)))[:, known], rtol=1e-9, atol=1e-9
        )


def test_a_class_that_no_other_part_has_is_not_known() -> None:
    table = some_table()
    table["y"][0] = "z"
    _, parts = kept(table)
    odd = parts.classes.index("z")
    assert not parts.known[parts.rows.group == odd].any() and parts.known[parts.rows.group != odd].all()
    assert set(parts.sample(3).tolist()) == set(np.flatnonzero(parts.known).tolist())


def test_parts_are_taken_from_the_sums_of_more_rows() -> None:
    table, other = some_table(), some_table(1)
    summary, parts = kept(table)
    more = summary + likely.summarize(other, schema=summary.schema)
    taken = HeldOutParts.of(summary, parts.rows, whole=more)
    for part, own in taken.training.items():
        rest = likely.summarize(without(table, parts, part), schema=summary.schema)
        assert own == rest + likely.summarize(other, schema=summary.schema)
    alone = HeldOutParts.of(summary, parts.rows.take(np.flatnonzero(parts.rows.part == 0)))
    assert not alone.training and not len(alone.places())


def test_scores_that_are_no_probabilities_are_refused() -> None:
    table = some_table()
    _, parts = kept(table, ("products",))
    with pytest.raises(SettingError, match="improper 1"):
        parts.scores(
            [likely.NaiveBayes(), likely.LeastSquares()],
            parts.places(),
            lambda model, batch, truth: model.log_joint(batch),
            lambda h: SettingError(f"improper {h}"),
        )
