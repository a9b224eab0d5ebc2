"""Words are what Python finds, on any text: the compiled tokeniser against `re`, and settings that are refused."""

from __future__ import annotations

import re
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from likely import Tokens
from likely.errors import SettingError
from likely.sums.words.counting import Words
from likely.table import words as letters
from likely.table.batch import pack_texts
from likely.table.words import first_broken, words_of

CHARACTERS = st.characters(exclude_categories=["Cs"])
NASTY = [
    *(
        "İ",
        "Σ",
        "ς",
        "σ",
        "ſ",
        "K",
        "Å",
        "ß",
        "ẞ",
        "ŉ",
        "ǅ",
        "Ⱥ",
        "Ⓐ",
        "²",
        "½",
        "٣",
        "_",
        "'",
        "’",
        ".",
        ":",
        "\u00ad",
    ),
    *(
        "\u0301",
        "\u0307",
        "\u200d",
        "\u0345",
        "א",
        "ش",
        "你",
        "😀",
        "👨‍👩‍👧",
        "𝐀",
        "𐐀",
        "𞤀",
        "\0",
        "\n",
        " ",
        "a",
        "A",
        "Z",
        "9",
    ),
]
TEXTS = st.text(st.sampled_from("".join(NASTY)) | CHARACTERS, max_size=40) | st.text(CHARACTERS)


def counted(some: list[str | None], tokens: Tokens | None = None) -> Counter[str]:
    words = Words(1, tokens or Tokens())
    words.update(pack_texts(some), np.zeros(len(some), np.int32))
    out: Counter[str] = Counter()
    held = words.tally()
    for word, times, weight in zip(held.word.tolist(), held.times.tolist(), held.weight.floats(), strict=True):
        out[held.vocabulary[word]] += int(times * weight)
    out.pop("", None)
    return out


@settings(max_examples=500)
@given(st.lists(TEXTS, max_size=4))
@example(["ΑΣ ΑΣΑ Α.Σ Α.ΣΑ Σ ΣΣ Α\u0301Σ\u0301 ΑΣ\u0301Α"])
@example(["İSTANBUL aİb İ İİ"])
@example(["Ⱥ" * 50])
def test_words_are_those_that_python_finds(some: list[str]) -> None:
    assert counted(some) == Counter(word for text in some for word in re.findall(r"\w+", text.lower()))


def test_every_character_alone_and_between_letters() -> None:
    points = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]
    for form in ("{}", "A{}B", "Α{}Σ", "ΑΣ{}Α"):
        text = "\n".join(form.format(c) for c in points)
        assert counted([text]) == Counter(re.findall(r"\w+", text.lower()))


def test_only_one_character_has_a_small_form_of_several() -> None:
    # The tables have one place for each character: if Unicode gains another such, this says so.
    longer = [c for c in range(sys.maxunicode + 1) if len(chr(c).lower()) != 1]
    assert longer == [0x130] and letters.alphabet().small[0x130] == letters.DOTTED


SETTINGS = st.one_of(
    st.builds(
        Tokens,
        shortest=st.integers(1, 4),
        pairs=st.booleans(),
        stop=st.sets(st.sampled_from(["a", "b", "ß", "the", "ab", "9"])).map(lambda s: tuple(sorted(s))),
    ),
    st.builds(
        Tokens,
        shortest=st.integers(1, 3),
        grams=st.tuples(st.integers(1, 6), st.integers(1, 6)).map(lambda g: (min(g), max(g))),
    ),
)


@settings(max_examples=300)
@given(st.lists(TEXTS | st.text("aAbß the.", max_size=60), max_size=4), SETTINGS)
def test_pairs_runs_stop_words_and_short_words(some: list[str], tokens: Tokens) -> None:
    assert counted(some, tokens) == Counter(word for text in some for word in words_of(text, tokens))


@pytest.mark.parametrize("grams", [(1, 1), (2, 4), (3, 5), (5, 9)])
def test_runs_of_characters_are_those_of_scikit_learn(grams: tuple[int, int]) -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    text = "the cat_1 ß naïve ab c 你好 antidisestablishmentarianism"
    analyse = CountVectorizer(analyzer="char_wb", ngram_range=grams).build_analyzer()
    assert counted([text], Tokens(grams=grams)) == Counter(analyse(text))


@pytest.mark.parametrize("pairs", [False, True])
def test_words_and_pairs_are_those_of_scikit_learn(pairs: bool) -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    text = "The quick brown fox; the QUICK brown dog a I (x_1) naïve-Bayes"
    analyse = CountVectorizer(ngram_range=(1, 1 + pairs), stop_words=["brown"]).build_analyzer()
    assert counted([text], Tokens(shortest=2, pairs=pairs, stop=("brown",))) == Counter(analyse(text))


@settings(max_examples=300)
@given(st.lists(st.binary(max_size=12) | st.text(CHARACTERS, max_size=4).map(str.encode), max_size=5))
@example([b"\xed\xa0\x80"])
@example([b"\xf4\x90\x80\x80"])
@example([b"\xc0\x80"])
@example([b"\xe2\x82", b"\xac"])
def test_the_first_broken_cell_is_the_one_that_python_refuses(some: list[bytes]) -> None:
    offsets = np.cumsum([0, *(len(b) for b in some)]).astype(np.int64)
    data = np.frombuffer(b"".join(some), np.uint8)
    assert first_broken(data, offsets[:-1], offsets[1:]) == next((k for k, b in enumerate(some) if broken(b)), -1)


def broken(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in (
        {"shortest": 0},
        {"vocabulary": 0},
        {"grams": (3, 2)},
        {"grams": (0, 2)},
        {"grams": (2, 99)},
        {"grams": (2, 3), "pairs": True},
        {"stop": ("The",)},
        {"stop": ("two words",)},
    ):
        with pytest.raises(SettingError):
            Tokens(**wrong)


def test_texts_of_awkward_kinds() -> None:
    assert counted(["!?., -- ()", "\0\0", "", None, "👍🏽 🤷"]) == Counter()
    assert counted(["a\0b"]) == Counter(["a", "b"])
    assert counted(["שלום עולם", "مرحبا بالعالم"]) == Counter(["שלום", "עולם", "مرحبا", "بالعالم"])
    assert counted(["e\u0301t\u00e9"]) == Counter(re.findall(r"\w+", "e\u0301t\u00e9"))


def test_a_word_of_ten_megabytes_and_a_document_of_many() -> None:
    assert counted(["x" * 10_000_000]) == Counter(["x" * 10_000_000])
    assert counted(["Ⱥ" * 1_000_000]) == Counter(["ⱥ" * 1_000_000])
    long = " ".join(f"w{k % 1000}" for k in range(2_000_000))
    assert counted([long]) == Counter({f"w{k}": 2000 for k in range(1000)})
    many = " ".join(map(str, range(300_000)))
    assert len(counted([many, "a"])) == 300_001
