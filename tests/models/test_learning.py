"""Learning is a generator: who has the rows answers its sweeps, alone or for many at once; no sweep in vain."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import likely
from likely import Model, Prior
from likely.errors import LikelyError, SettingError
from likely.intake.summarize import row_sweeper
from likely.models.contracts import Learning, Sweep
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
        assert together[name].to_bytes() == likely.fit(table, "y", learner).to_bytes()
