"""One row has the answer of a table that holds it, to the last bit, whoever learned: whether its values were met before
or not, missing, unseen, extreme or badly spelled."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from conformance.test_conformance import ASKED, COUNT, LEARNERS, SKY, TARGET, TYPES, WIND, Row, asked, training

import likely
from likely import Model
from likely.errors import LikelyError

OTHERS: dict[str, Any] = {
    "auto": likely.Auto(effort="quick"),
    "mixture": likely.Mixture([likely.NaiveBayes(), likely.Logistic()], weights=(0.5, 0.5)),
    "gibbs": likely.Gibbs([likely.NaiveBayes(), likely.Prior()], weights=(0.5, 0.5)),
    "one dependence": likely.OneDependence(),
    "neighbours": likely.Neighbors(k=3),
    "one rule": likely.OneRule(),
    "tuned": likely.TunedNaiveBayes(),
    "words": likely.TextLogistic(),
    "additive, all sets": likely.Additive(order="any", rounds=30),
    "forest": likely.Forest(trees=9),
    "additive, pairs": likely.Additive(order=2, rounds=30),
}
EVERYONE = {**LEARNERS, **OTHERS}
SPELLED: dict[str, list[Any]] = {
    SKY: [True, False, 1, 0, -0.0, 0.0, 2.5, b"sun", "sun ", np.str_("sun"), date(2024, 1, 1), Decimal("1.5")],
    COUNT: ["1", "1.0", " 2.5 ", "?", "one", 1, True, 2**70, np.float64(1.0), Decimal("2.5"), "", -1],
    WIND: ["12", "1,234", "1e3", "twelve", "NA", "-999", 12, True, -999, 2**53 + 1, 2**63, -(2**63), -(2**70), -0.0],
    "z": [np.float32(1.5), np.int64(2), datetime(2024, 1, 1), "0", 0, 10**400],
}


def same(one: Any, other: Any) -> bool:
    return (
        one.matrix.tobytes() == other.matrix.tobytes()
        and one.log_evidence.tobytes() == other.log_evidence.tobytes()
        and (one.classes, one.proper, one.unseen, one.strays, one.absent, one.words)
        == (other.classes, other.proper, other.unseen, other.strays, other.absent, other.words)
    )


def answer(model: Model, data: Any) -> Any:
    """The posterior, or what is said in its place."""
    try:
        return model.posterior(data)
    except LikelyError as error:
        return str(error)


@pytest.fixture(scope="module", params=sorted(EVERYONE))
def model(request: pytest.FixtureRequest) -> Model:
    data = training(gaps=0) if request.param.startswith("without gaps") else training()
    return likely.fit(data, TARGET, EVERYONE[request.param], types=TYPES)


def spelled() -> list[Row]:
    plain = {SKY: "sun", COUNT: 1.0, WIND: 12.0, "z": 1.0}
    return [{**plain, name: cell} for name, cells in SPELLED.items() for cell in cells]


def test_one_row_has_the_bits_of_its_table(model: Model) -> None:
    for row in [*asked(), *spelled(), {}, {SKY: "sun"}, {**asked()[0], TARGET: "no"}]:
        told = answer(model, model.table_of_one(row))
        for _ in range(3):  # met for the first time, and again
            found = answer(model, row)
            assert found == told if isinstance(told, str) else same(found, told), row
            assert isinstance(found, str) or found.one


def test_rows_of_a_large_table_have_these_bits_too(model: Model) -> None:
    if isinstance(model.learner, likely.Gibbs):
        return  # it draws a hypothesis for each row, by its place
    rows = asked()
    whole = model.posterior({name: [row[name] for row in rows] for name in ASKED})
    for k, row in enumerate(rows):
        assert model.posterior(row).matrix[0].tobytes() == whole.matrix[k].tobytes(), row


@pytest.mark.parametrize("learner", [likely.FullBayes(), likely.LinearDiscriminant(), likely.LeastSquares()], ids=repr)
def test_learners_of_numbers_alone(learner: Any) -> None:
    data = training()
    model = likely.fit({name: data[name] for name in (WIND, "z", TARGET)}, TARGET, learner, types={TARGET: "nominal"})
    for row in ({WIND: w, "z": z} for w in ASKED[WIND] for z in ASKED["z"]):
        for _ in range(2):
            assert same(model.posterior(row), model.posterior(model.table_of_one(row))), row


def test_what_is_no_row_and_what_is_unknown_is_refused_as_ever(model: Model) -> None:
    plain = asked()[0]
    model.posterior(plain)
    with pytest.raises(LikelyError, match="no column"):
        model.posterior({**plain, "skye": "sun"})
    assert len(model.posterior({name: [cell, cell] for name, cell in plain.items()})) == 2
    with pytest.raises(LikelyError):
        model.posterior({**plain, TARGET: ["no", "no"]})


def test_a_level_that_is_refused_is_refused_every_time() -> None:
    model = likely.fit(training(), TARGET, likely.NaiveBayes(unseen="error"), types=TYPES)
    row = {**asked()[0], SKY: "never seen"}
    for _ in range(3):
        with pytest.raises(LikelyError, match="never seen"):
            model.posterior(row)
    assert model.posterior(asked()[0]).one


def test_a_missing_token_among_numbers_units_and_dates() -> None:
    data = {
        "price": ["$1.50", "$2", "$3", "$4.25"] * 9,
        "day": ["2024-01-02", "2024-02-03", "2024-03-04", "2024-04-05"] * 9,
        "n": [1.0, 2.0, -999.0, 4.0] * 9,
        "y": list("abab") * 9,
    }
    model = likely.fit(data, "y", likely.NaiveBayes(), missing=["-999"])
    rows = [
        {"price": price, "day": day, "n": n}
        for price in ("$2", 2.0, 2, None, "2 apples")
        for day in ("2024-02-03", date(2024, 2, 3), datetime(2024, 2, 3), None, "someday")
        for n in (2.0, -999, -999.0, "-999", math.nan, None)
    ]
    for row in rows:
        told = answer(model, model.table_of_one(row))
        for _ in range(2):
            found = answer(model, row)
            assert found == told if isinstance(told, str) else same(found, told), row


def test_texts_and_parts_of_dates_go_the_way_of_tables() -> None:
    words = {"text": ["good day", "bad night", "good night", "bad day"] * 10, "y": list("abab") * 10}
    model = likely.fit(words, "y", likely.NaiveBayes(), types={"text": "text"})
    for row in ({"text": "good day indeed"}, {"text": None}, {}):
        assert same(model.posterior(row), model.posterior(model.table_of_one(row)))
    days = {"day": [f"2024-0{1 + k % 6}-1{k % 9} 0{k % 5}:00:00" for k in range(60)], "y": list("ab") * 30}
    parts = likely.fit(days, "y", likely.NaiveBayes(), dates="parts")
    for day in (days["day"][3], "2024-05-05", None, "never"):
        for _ in range(2):
            assert same(parts.posterior({"day": day}), parts.posterior(parts.table_of_one({"day": day})))
