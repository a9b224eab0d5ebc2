"""What a model says that it can do is what it does: exports are written or refused as the sentence has it."""

from __future__ import annotations

import numpy as np
import pytest

import likely
from likely.errors import SettingError
from likely.portable.abilities import LANGUAGES, abilities_sentence, can_learn, languages_of

COUNT = 400


def odd_table(numbers: int) -> dict[str, list]:
    """Numbers with two humps (kernels fit them best), related to each other (blocks do), and levels."""
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 3, COUNT)
    common = rng.normal(size=COUNT)
    columns = {
        f"x{k}": np.where(rng.random(COUNT) < 0.5, -3, 3) * (1 + codes % 2) + common + rng.normal(size=COUNT)
        for k in range(numbers)
    }
    table: dict[str, list] = {name: [round(v, 3) for v in values.tolist()] for name, values in columns.items()}
    table["level"] = [f"l{(c + i) % 4}" for i, c in enumerate(codes.tolist())]
    return table | {"y": [f"c{c}" for c in codes.tolist()]}


def exported(model: likely.Model) -> list[str]:
    out = []
    for language in LANGUAGES:
        try:
            likely.export(model, language.lower())
        except SettingError:
            continue
        out.append(language)
    return out


LEARNERS = [
    likely.NaiveBayes(),
    likely.NaiveBayes(numbers="kernel"),
    likely.NaiveBayes(blocks=(("x0", "x1", "x2", "x3", "x4", "x5", "x6"),)),
    likely.NaiveBayes(blocks=(("x0", "x1"),)),
    likely.NaiveBayes(unseen="error"),
    likely.TunedNaiveBayes(),
    likely.Logistic(),
    likely.Additive(order=3),
    likely.TreeAugmented(),
    likely.Neighbors(),
    likely.LeastSquares(),
    likely.Auto(),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_languages_that_are_named_write_the_model_and_others_refuse(learner) -> None:
    model = likely.fit(odd_table(7), "y", learner)
    assert languages_of(model) == exported(model)


@pytest.mark.parametrize("purpose", ["sql", "onnx", "pmml"])
@pytest.mark.parametrize("effort", ["normal", "best"])
def test_a_model_for_a_language_is_written_in_it(purpose, effort) -> None:
    model = likely.fit(odd_table(7), "y", for_=purpose, effort=effort)
    assert purpose.upper() in exported(model)


def test_a_model_for_updates_learns() -> None:
    model = likely.fit(odd_table(2), "y", for_="updates")
    assert can_learn(model) and "can learn, unlearn and merge rows" in abilities_sentence(model)


def test_who_is_refused_hears_of_the_option_that_avoids_it() -> None:
    table = odd_table(7)
    members = [{"name": "NaiveBayes", "numbers": "kernel"}]
    pool = likely.fit(table, "y", likely.Auto(members=members))
    with pytest.raises(SettingError, match=r"kernel density.*likely fit --for sql\.$"):
        likely.export(pool, "sql")
    assert "--for sql" in abilities_sentence(pool)
    alone = likely.fit(table, "y", likely.NaiveBayes(numbers="kernel"))
    with pytest.raises(SettingError) as refusal:
        likely.export(alone, "sql")
    assert "--for" not in str(refusal.value) + abilities_sentence(alone)


def test_a_block_of_a_pool_is_told_by_its_cells() -> None:
    table = odd_table(3)
    members = [{"name": "NaiveBayes", "blocks": [["x0", "x1", "x2"]]}]
    model = likely.fit(table, "y", likely.Auto(members=members))
    row = {"x0": 3.0, "x1": -3.0, "level": "l1"}
    told = [entry.cell for entry in likely.explain(model, row).entries if entry.kind == "block"]
    assert told == ["x0=3, x1=-3"]


def test_a_model_without_attributes_is_not_said_to_be_exported() -> None:
    model = likely.fit({"c": ["x"] * 8, "y": ["p", "q"] * 4}, "y")
    assert languages_of(model) == exported(model) == []
    with pytest.raises(SettingError, match="has no attributes"):
        likely.export(model, "sql")
