"""Figure F, spam words: a word that is not known is averaged over, by a model learned from rows."""

from __future__ import annotations

import pytest

import likely

SPAM = {(0, 0): 31, (0, 1): 65, (1, 0): 80, (1, 1): 40}
"""P(spam | viagra, lottery), in hundredths."""
SHARE = {0: 9, 1: 1}
"""P(viagra), in tenths; lottery is as frequent as not."""
ROWS = [
    {"viagra": viagra, "lottery": lottery, "mail": mail, "n": SHARE[viagra] * part}
    for (viagra, lottery), spam in SPAM.items()
    for mail, part in (("spam", spam), ("ham", 100 - spam))
]


@pytest.fixture(scope="module")
def model() -> likely.Model:
    types = {"viagra": "nominal", "lottery": "nominal"}
    return likely.fit(ROWS, "mail", likely.FullBayes(pseudo_count=0), weight="n", types=types)


def test_the_model_is_the_table(model: likely.Model) -> None:
    for (viagra, lottery), spam in SPAM.items():
        found = model.posterior({"viagra": viagra, "lottery": lottery}).prob("spam")
        assert found == pytest.approx(spam / 100, abs=1e-12)


def test_viagra_unknown_lottery_there(model: likely.Model) -> None:
    found = likely.decide(model, {"lottery": 1}, missing_by="averaged")
    assert found.posterior.prob("spam") == pytest.approx(0.65 * 0.9 + 0.40 * 0.1, abs=1e-12)
    assert found.posterior.prob("spam") == pytest.approx(0.625, abs=1e-12)
    assert found.posterior.prob("ham") == pytest.approx(0.375, abs=1e-12)
    assert found.action == "spam"


def test_asking_for_viagra_would_change_the_answer_now_and_then(model: likely.Model) -> None:
    """With viagra=1 (one time in ten) ham is right by 0.60: the expected error drops from 0.375 by 0.1 * 0.2."""
    (question,) = likely.ask(model, {"lottery": 1}).questions
    assert question.attribute == "viagra"
    assert question.drop == pytest.approx(0.1 * (0.60 - 0.40), abs=1e-12)
