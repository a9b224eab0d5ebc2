"""Words are found where they stand, as the tokeniser finds them; a long text is cut around those that weigh most."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely import Tokens
from likely.apply.explain.pieces import MOST_LETTERS, Marked, mark_words, places_of, spans_of
from likely.table.words import words_of

RICH = st.text(
    st.one_of(st.sampled_from("aAbB zZ.,_09ΣσςİıéÉ\n\t\x00-́漢😀שׁ"), st.characters(exclude_categories=["Cs"]))
)
HOW = st.sampled_from(
    [
        Tokens(),
        Tokens(shortest=2),
        Tokens(pairs=True),
        Tokens(stop=("a", "b")),
        Tokens(grams=(2, 3)),
        Tokens(grams=(1, 9)),
    ]
)


@given(RICH, HOW)
def test_words_and_their_places(text: str, how: Tokens) -> None:
    found = spans_of(text, how)
    assert [word for word, _ in found] == words_of(text, how)
    for word, (a, b) in found:
        assert 0 <= a < b <= len(text)
        if how.grams is None and not how.pairs and "İ" not in text and "Σ" not in text:
            assert text[a:b].lower() == word


@given(RICH, HOW)
def test_nothing_of_a_short_text_is_lost(text: str, how: Tokens) -> None:
    said = {w: (1.0 if k % 2 else -2.0, s) for k, (w, s) in enumerate(places_of(text, how).items())}
    for everything in (False, True):
        assert "".join(p.text for p in mark_words(text, said, everything)) == text


def test_what_all_occurrences_say_is_dealt_to_them() -> None:
    text = "Buy, buy! now"
    pieces = mark_words(text, {"buy": (3.0, places_of(text, Tokens())["buy"]), "now": (-0.1, [(10, 13)])})
    assert pieces == (Marked("Buy", 1.5), Marked(", "), Marked("buy", 1.5), Marked("! now"))
    assert mark_words(text, {"now": (-0.1, [(10, 13)])})[-1] == Marked("now", -0.1)


def test_pairs_and_runs_are_put_down_to_words() -> None:
    text, how = "good day", Tokens(pairs=True)
    places = places_of(text, how)
    assert places == {"good": ((0, 4),), "day": ((5, 8),), "good day": ((0, 8),)}
    pieces = mark_words(text, {"good": (1.0, places["good"]), "good day": (4.0, places["good day"])})
    assert [(p.text, p.log_ratio) for p in pieces] == [("good", 3.0), (" ", None), ("day", 2.0)]
    runs = places_of("ab", Tokens(grams=(2, 2)))
    assert runs == {" a": ((0, 1),), "ab": ((0, 2),), "b ": ((1, 2),)}
    assert mark_words("ab", {r: (1.0, s) for r, s in runs.items()}) == (Marked("ab", 3.0),)


def test_a_long_text_is_cut_around_its_strongest_words() -> None:
    text = "filler " * 2000 + "strongest" + " filler" * 2000 + " strong end"
    places = places_of(text, Tokens())
    said = {
        "strongest": (5.0, places["strongest"]),
        "strong": (-2.0, places["strong"]),
        "filler": (1.0, places["filler"]),
    }
    pieces = mark_words(text, said)
    shown = "".join(p.text for p in pieces)
    assert len(shown) <= MOST_LETTERS and pieces[0].cut and "strongest" in shown and shown.endswith("strong end")
    assert {p.log_ratio for p in pieces if p.log_ratio is not None} == {5.0, -2.0}
    assert "".join(p.text for p in mark_words(text, said, everything=True)) == text
    assert all(not p.text or p.text.split()[0] in ("filler", "strongest", "strong", "end") for p in pieces)


@pytest.mark.parametrize("text", ["x" * 10_000_000, "?" * 5000, "\x00" * 5000])
def test_one_huge_word_or_none(text: str) -> None:
    said = {w: (1.0, s) for w, s in places_of(text, Tokens()).items()}
    assert len("".join(p.text for p in mark_words(text, said))) <= MOST_LETTERS


def test_an_impossible_word_is_marked() -> None:
    pieces = mark_words("no way", {"no": (float("-inf"), [(0, 2)]), "way": (0.5, [(3, 6)])})
    assert [p.log_ratio for p in pieces] == [float("-inf"), None, 0.5]
