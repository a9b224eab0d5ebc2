"""Figure F, spam words: a table of posteriors, its odds, a word that is not known, and what naive ratios hide."""

from __future__ import annotations

from fractions import Fraction as F

from likely.classroom import Conditional, Joint, bayes

SPAM = {(0, 0): "0.31", (0, 1): "0.65", (1, 0): "0.80", (1, 1): "0.40"}
ROWS = {words: {"spam": p, "ham": str(1 - F(p))} for words, p in SPAM.items()}


def table() -> Conditional:
    return Conditional(ROWS, "class", given=["viagra", "lottery"])


def test_posterior_table_and_odds() -> None:
    found = table()
    odds = {}
    for (viagra, lottery), p in SPAM.items():
        here = found.p("class", given={"viagra": viagra, "lottery": lottery})
        assert here.p({"class": "spam"}) == F(p)
        assert (here.p({"class": "spam"}) > F(1, 2)) == (viagra + lottery == 1)
        belief = bayes({"spam": here.p({"class": "spam"}), "ham": here.p({"class": "ham"})})
        odds[viagra, lottery] = float(belief.odds("spam"))
    assert [float(f"{o:.2g}") for o in odds.values()] == [0.45, 1.9, 4.0, 0.67]


def test_a_word_that_is_not_known_is_averaged_over() -> None:
    unknown = Joint({1: "0.10", 0: "0.90"}, "viagra")
    found = table().given(lottery=1).total(unknown)
    assert found.p({"class": "spam"}) == F("0.625") and found.p({"class": "ham"}) == F("0.375")


def test_naive_likelihood_ratios() -> None:
    viagra, lottery = {"spam": F("0.40"), "ham": F("0.12")}, {"spam": F("0.21"), "ham": F("0.13")}

    def seen(word: dict[str, F], there: int) -> dict[str, F]:
        return word if there else {c: 1 - p for c, p in word.items()}

    ratios = {}
    for words in SPAM:
        belief = bayes({"spam": "1/2", "ham": "1/2"}, seen(viagra, words[0])).update(seen(lottery, words[1]))
        assert belief.odds("spam") == belief.likelihood_ratio("spam")  # even prior odds
        ratios[words] = float(belief.odds("spam"))
    assert [float(f"{r:.2g}") for r in ratios.values()] == [0.62, 1.1, 3.0, 5.4]
    # The last one misleads: the true odds are below one.
    assert ratios[1, 1] > 1 > F(SPAM[1, 1]) / (1 - F(SPAM[1, 1]))
