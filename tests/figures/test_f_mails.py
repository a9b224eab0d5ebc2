"""Figure F, eight mails of words a b c d e, of which d and e are stop words: Bernoulli and multinomial disagree."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest

import likely

SPAM = ["bdebbde", "bcebbddecc", "adadeaee", "badbedab"]
HAM = ["abababaed", "acacacaed", "eaedaea", "deded"]
TABLE = {"mail": [" ".join(m) for m in SPAM + HAM], "label": ["spam"] * 4 + ["ham"] * 4}
TOKENS = likely.Tokens(stop=("d", "e"))


def fitted(model: str, prior: object = "observed") -> likely.Model:
    learner = likely.NaiveBayes(text=likely.Text(model), prior=prior)  # type: ignore[arg-type]
    return likely.fit(TABLE, "label", learner, types={"mail": "text"}, tokens=TOKENS)


def likelihood(model: likely.Model, mail: str) -> dict[str, float]:
    (batch,) = model.batches([{"mail": mail}])
    return dict(zip(model.classes, np.exp(model.terms(batch).array[0, 1]).tolist(), strict=True))


def test_bernoulli_counts_documents_and_what_is_absent() -> None:
    model = fitted("bernoulli")
    (text,) = model.texts
    assert list(text.scores.vocabulary) == ["a", "b", "c"]
    odds = np.exp(text.scores.weights)
    found = {
        name: [F(p).limit_denominator(100) for p in odds[:, k] / (1 + odds[:, k])]
        for k, name in enumerate(model.classes)
    }
    assert found == {"spam": [F(3, 6), F(4, 6), F(2, 6)], "ham": [F(4, 6), F(2, 6), F(2, 6)]}
    given = likelihood(model, "a b")  # x = (1, 1, 0)
    assert given["spam"] == pytest.approx(float(F(3, 6) * F(4, 6) * F(4, 6)), rel=1e-12)
    assert given["ham"] == pytest.approx(float(F(4, 6) * F(2, 6) * F(4, 6)), rel=1e-12)
    assert round(given["spam"], 3) == 0.222 and round(given["ham"], 3) == 0.148
    assert given["spam"] / given["ham"] == pytest.approx(1.5, rel=1e-12)
    assert model.predict({"mail": "a b"}) == "spam"
    # How often a word occurs makes no difference, nor do stop words.
    assert likelihood(model, "A a a e b d d") == given


def test_prior_odds_of_one_to_two_make_it_ham() -> None:
    model = fitted("bernoulli", {"spam": 1 / 3, "ham": 2 / 3})
    found = model.posterior({"mail": "b a"})
    assert found.prob("spam") / found.prob("ham") == pytest.approx(3 / 4, rel=1e-12) and found.best == "ham"


def test_multinomial_counts_words_and_says_the_opposite() -> None:
    model = fitted("multinomial")
    (text,) = model.texts
    shares = np.exp(text.scores.weights)
    found = {name: [F(p).limit_denominator(100) for p in shares[:, k]] for k, name in enumerate(model.classes)}
    assert found == {"spam": [F(6, 20), F(10, 20), F(4, 20)], "ham": [F(12, 20), F(4, 20), F(4, 20)]}
    mail = "a b a a"  # x = (3, 1, 0)
    given = likelihood(model, mail)
    assert given["spam"] / given["ham"] == pytest.approx(5 / 16, rel=1e-12)
    assert model.predict({"mail": mail}) == "ham"


def test_the_multinomial_coefficient_where_a_likelihood_is_asked_for() -> None:
    """4! / 3! 1! 0! = 4 orders: .054 and .1728, which the posterior does not see."""
    for name, expected in (("spam", 0.054), ("ham", 0.1728)):
        sure = {"spam": 0.0, "ham": 0.0} | {name: 1.0}
        model = fitted("multinomial", sure)
        assert math.exp(model.log_density({"mail": "a b a a"})) == pytest.approx(expected, rel=1e-12)
        both = model.log_density([{"mail": "a b a a"}, {"mail": "b"}, {"mail": None}])
        assert np.exp(both) == pytest.approx([expected, {"spam": 0.5, "ham": 0.2}[name], 1.0], rel=1e-12)
    model = fitted("multinomial")
    assert math.exp(model.log_density({"mail": "a b a a"})) == pytest.approx((0.054 + 0.1728) / 2, rel=1e-12)


def test_stop_words_and_unknown_ones_are_skipped_and_only_the_unknown_are_counted() -> None:
    model = fitted("multinomial")
    found = model.posterior([{"mail": "a b a a d e d"}, {"mail": "x a y x"}])
    assert found.words == {"mail": (8, 3)}
    assert found.matrix[0] == pytest.approx(model.posterior({"mail": "a b a a"}).matrix[0], rel=1e-12)


def test_a_mail_of_stop_words_is_a_document_and_an_empty_one_is_missing() -> None:
    model = fitted("bernoulli")
    prior = model.posterior({"mail": None}).matrix[0]
    assert prior.tolist() == [0.5, 0.5] == model.posterior({"mail": ""}).matrix[0].tolist()
    spam, ham = F(3, 6) * F(2, 6) * F(4, 6), F(2, 6) * F(4, 6) * F(4, 6)
    assert model.posterior({"mail": "d e"}).prob("spam") == pytest.approx(float(spam / (spam + ham)), rel=1e-12)
    assert fitted("multinomial").posterior({"mail": "d e"}).matrix[0].tolist() == [0.5, 0.5]
