"""look warns when there is reason to, and only then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likely


def told(table: Any, target: str = "y", **more: Any) -> str:
    return "\n".join(likely.look(table, target, likely.NaiveBayes(), **more).warnings)


@pytest.fixture
def sound() -> dict[str, list]:
    """A table with nothing to beware of."""
    rng = np.random.default_rng(0)
    y = rng.choice(["p", "q"], 400)
    return {
        "k": np.where(rng.random(400) < 0.7, y, rng.choice(["p", "q", "r"], 400)).tolist(),
        "x": np.round(rng.normal(size=400) + (y == "p"), 3).tolist(),
        "y": y.tolist(),
    }


def test_nothing_is_said_of_a_sound_table(sound) -> None:
    assert told(sound) == ""


def test_nothing_is_said_of_iris(examples) -> None:
    assert told(str(examples / "iris.csv"), "species") == ""


def test_adult_repeats_its_education(shared) -> None:
    words = told(str(shared / "data" / "adult.csv"), "income")
    assert words.count("\n") == 2
    assert "'capital-gain' is 99999 in 244 rows" in words
    assert "'education' and 'education-num' depend on each other given 'income'" in words and "likely repeats" in words
    assert "'relationship' and 'marital-status' depend on each other given 'income'" in words


def test_a_leak(sound) -> None:
    assert "'leak' alone nearly determines 'y'" in told({**sound, "leak": [f"is {y}" for y in sound["y"]]})
    numbers = [float(k % 97) / 7 + (1000 if y == "p" else 0) for k, y in enumerate(sound["y"])]
    assert "'leak' alone nearly determines 'y'" in told({**sound, "leak": numbers})
    half = [f"is {y}" if k % 2 else None for k, y in enumerate(sound["y"])]
    assert "'leak' alone nearly determines 'y'" in told({**sound, "leak": half})
    # A few cells that happen to fit decide nothing.
    assert "decides" not in told({**sound, "few": [y if k < 20 else None for k, y in enumerate(sound["y"])]})


def test_an_identifier_and_free_text(sound) -> None:
    assert "'id' looks like an identifier" in told({**sound, "id": [f"u{k * 7919}" for k in range(400)]})
    assert "'id' looks like an identifier" in told({**sound, "id": list(range(1, 401))})
    words = told({**sound, "note": [f"the {k} quick brown fox jumps over {k * 3} dogs" for k in range(400)]})
    assert "7 words are in at least 95 % of the texts of 'note'" in words and "free text" not in words
    assert "'note'" not in told(
        {**sound, "note": ["a b c d e f"] * 200 + ["g h i j k l"] * 200}, types={"note": "ignore"}
    )


def test_cells_unlike_the_rest(sound) -> None:
    mixed = ["n.v." if k % 10 == 0 else str(k / 8) for k in range(400)]
    words = told({**sound, "mixed": mixed})
    assert "'mixed' is mixed: numbers; 40 other cells ('n.v.') count as missing" in words
    assert "--type mixed=nominal" in words


def test_missing_classes_weights_and_cells(sound) -> None:
    assert "1 row has no class" in told({**sound, "y": [None, *sound["y"][1:]]})
    assert "3 rows have no class" in told({**sound, "y": [None] * 3 + sound["y"][3:]})
    weights = [0.0] * 5 + [1.5] * 395
    assert "5 rows have no class or no weight" in told({**sound, "w": weights}, weight="w")
    gaps = {f"g{j}": [("a" if k % 3 else "b") if k % 5 == 0 else None for k in range(400)] for j in range(2)}
    words = told({**sound, **gaps})
    assert "2 attributes are missing in at least half of the rows: 'g0', 'g1'" in words


def test_few_rows_and_small_classes(sound) -> None:
    few = {n: c[:30] for n, c in sound.items()}
    assert "With only 30 rows, the true accuracy may be from" in told(few)
    rare = {**sound, "y": ["rare"] * 3 + sound["y"][3:]}
    assert "Class 'rare' has fewer than 10 rows" in told(rare)


def test_a_pair_that_repeats_itself_in_other_words(sound) -> None:
    other = {"p": "eins", "q": "zwei", "r": "drei"}
    words = told({**sound, "k2": [other[k] for k in sound["k"]]})
    assert "'k2' and 'k' depend on each other" in words or "'k' and 'k2' depend on each other" in words
    assert "repeat" not in told({**sound, "k3": sound["k"][::-1]})


def test_the_baseline_is_what_was_observed_whatever_the_prior(sound) -> None:
    skewed = {**sound, "y": ["q" if k % 4 else "p" for k in range(400)]}
    usual = likely.look(skewed, "y", likely.NaiveBayes())
    for prior in ("uniform", {"p": 0.9, "q": 0.1}):
        assert likely.look(skewed, "y", likely.NaiveBayes(prior=prior)).baseline == usual.baseline
    assert usual.baseline.accuracy == 0.75
