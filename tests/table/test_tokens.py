"""Words of a text, and what hashes of cells bear."""

from __future__ import annotations

import pickle
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import likely
from likely import Tokens
from likely.errors import SettingError
from likely.sums.columns import counts
from likely.sums.columns import numbers as numbers_module
from likely.sums.columns.counts import Profile
from likely.sums.columns.numbers import Numbers
from likely.sums.contracts import EVERY_ROW_ONE
from likely.sums.words import counting, vocabulary
from likely.sums.words.counting import WordCounter, Words
from likely.sums.words.vocabulary import Vocabulary
from likely.table import words as letters
from likely.table import words as tokens
from likely.table.batch import Texts, pack_texts
from likely.table.texts import cells, grammar
from likely.table.texts.grammar import TextIndex
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


# Texts that were chosen to fall into one place of a hash table do not: places depend on secret keys, answers do not.


COUNT = 20_000


def unmix(h: int) -> int:
    """What `mix_bits` made h of: each of its steps can be undone."""
    mask = 2**64 - 1

    def unshift(value: int, by: int) -> int:
        out = value
        for _ in range(64 // by + 1):
            out = value ^ (out >> by)
        return out

    h = unshift(h, 31) * pow(int(tokens._MIX2), -1, 2**64) & mask
    h = unshift(h, 27) * pow(int(tokens._MIX1), -1, 2**64) & mask
    return unshift(h, 30)


def chosen_texts() -> Texts:
    """Texts of eight bytes whose unkeyed hashes agree in their lowest 40 bits."""
    data, start = bytearray(), 8 * 0x9E3779B97F4A7C15 % 2**64
    for k in range(1, COUNT + 1):
        h = unmix(k << 40 | 12345)
        folded = 0
        for _ in range(4):
            folded = h ^ (folded >> 29)
        block = folded * pow(int(tokens._PRIME), -1, 2**64) % 2**64 ^ start
        data += block.to_bytes(8, "little")
    bounds = np.arange(0, len(data) + 1, 8)
    return Texts(np.frombuffer(bytes(data), np.uint8), bounds[:-1].copy(), bounds[1:].copy())


def distances(homes: NDArray[np.uint64], places: NDArray[np.int64], size: int) -> float:
    """How far things are from where they are looked for first, on average."""
    return float(((places - (homes & np.uint64(size - 1)).astype(np.int64)) % size).mean())


def test_the_texts_are_an_attack() -> None:
    texts, out = chosen_texts(), np.empty(COUNT, np.uint64)
    cells.hash_cells(texts.data, texts.starts, texts.ends, out)
    low = out & np.uint64((1 << 40) - 1)
    assert np.median((low == low[0]).astype(float)) == 1  # but for those with blanks at their ends
    assert len(np.unique(out)) == COUNT


def test_chosen_texts_are_found_at_once() -> None:
    table = TextIndex()
    assert table.numbers(chosen_texts()).tolist() == list(range(COUNT))
    used = np.flatnonzero(table._slots >= 0)
    assert distances(table._hashes[table._slots[used]], used, len(table._slots)) < 4


def test_chosen_hashes_are_found_at_once() -> None:
    texts, hashes = chosen_texts(), np.empty(COUNT, np.uint64)
    cells.hash_cells(texts.data, texts.starts, texts.ends, hashes)
    cells_seen = Profile()
    cells_seen._add_hashes(hashes[:10_000])
    used = np.flatnonzero(cells_seen._kept)
    key, held = int(cells_seen._keys[0]), [int(h) for h in cells_seen._kept[used]]
    homes = np.array([(h * key >> 64 ^ h * key) % 2**64 for h in held], np.uint64)
    assert distances(homes, used, len(cells_seen._kept)) < 4
    assert np.array_equal(cells_seen._smallest(), np.unique(hashes[:10_000]))


def test_blocks_that_undo_each_other_are_told_apart() -> None:
    """A difference in the highest bit passes through a product by a known number, so a second one could undo it."""
    plain = np.frombuffer(b"01234567" * 3, np.uint8)
    made = [plain.copy() for _ in range(64)]
    for k, text in enumerate(made):
        for bit in range(6):
            text[7 + 8 * (bit % 3)] ^= 0x80 * (k >> bit & 1) if bit < 3 else 0x40 * (k >> bit & 1)
    data = np.concatenate(made)
    bounds = np.arange(0, len(data) + 1, 24)
    table = TextIndex()
    table.numbers(Texts(data, bounds[:-1].copy(), bounds[1:].copy()))
    assert len(set(table._hashes[: table.known].tolist())) == table.known == 64


def fold_products(values: NDArray[np.uint64], key: np.uint64) -> NDArray[np.uint64]:
    """`fold_product` in Python."""
    return np.array([(v * int(key) >> 64 ^ v * int(key)) % 2**64 for v in values.tolist()], np.uint64)


def filled_by_hash(hashes: NDArray[np.uint64], size: int) -> float:
    """How far things are from where they are looked for first, on average, where their hashes alone decide."""
    slots, places = set[int](), []
    for home in (hashes & np.uint64(size - 1)).tolist():
        at = home
        while at in slots:
            at = (at + 1) % size
        slots.add(at)
        places.append(at)
    return distances(hashes, np.array(places), size)


def chosen_short_words() -> list[str]:
    """Words of eight letters whose hashes, which everybody can compute, agree in their lowest bits."""
    letters = np.random.default_rng(1).integers(97, 123, (1 << 20, 8)).astype(np.uint8)
    many = Vocabulary(letters.reshape(-1), np.arange(0, letters.size + 1, 8))
    return [many[k] for k in np.flatnonzero((many.hashes & np.uint64(511)) == 7).tolist()]


def fold(h: int, block: int) -> int:
    h = (h ^ block) * int(tokens._PRIME) % 2**64
    return h ^ h >> 29


def chosen_long_words() -> list[str]:
    """2,048 words of the same hash: of each sixteen letters there are two forms, of which the second half undoes what
    the first half changes."""
    rng, h, words = np.random.default_rng(2), int(tokens.BASIS), [""]
    while len(words) < 2048:
        first, second = (int.from_bytes(rng.integers(97, 123, 8).astype(np.uint8).tobytes(), "little") for _ in "12")
        other = first ^ 0x40 << 56  # p to y become digits
        undone = second ^ fold(h, first) ^ fold(h, other)
        forms = [(a.to_bytes(8, "little") + b.to_bytes(8, "little")) for a, b in ((first, second), (other, undone))]
        texts = [form.decode("ascii", "replace") for form in forms]
        if all(text.isascii() and words_of(text) == [text] for text in texts):
            words, h = [word + text for word in words for text in texts], fold(fold(h, first), second)
    return [word + "end" for word in words]


@pytest.mark.parametrize("choose", [chosen_short_words, chosen_long_words])
def test_chosen_words_are_found_at_once(choose: Callable[[], list[str]]) -> None:
    words = choose()
    counter = WordCounter(Tokens())
    data = np.frombuffer(" ".join(words).encode(), np.uint8)
    cells = Texts(data, np.array([0]), np.array([len(data)]))
    counter.take(cells, 0, np.zeros(1, np.int32), EVERY_ROW_ONE, np.uint64(2**64 - 1))
    held = Vocabulary.of(sorted(words))
    assert filled_by_hash(held.hashes, len(counter._index)) > 50  # an attack it is
    for keys, table in ((counter._keys, counter._index), held.tables[2:]):
        used = np.flatnonzero(table[:, 0])
        assert len(used) == len(words) == len(set(words))
        assert distances(fold_products(table[used, 0], keys[2]), used, len(table)) < 4
        assert len(np.unique(table[used, 0])) == len(words)
    tally = counter.finish()
    assert list(tally.vocabulary) == ["", *sorted(words)]


def test_chosen_numbers_are_found_at_once() -> None:
    """Doubles whose product with a known number has equal halves, or that differ in their highest bits alone.

    Multiples of a secret number are spread evenly by most secrets, by one in ten not quite: nobody can choose numbers
    that are slow to find for most tables, so several tables are asked.
    """
    draw = np.random.default_rng(3).integers(0, 2**32, 4000, dtype=np.uint64)
    inverse = np.uint64(pow(0x9E3779B97F4A7C15, -1, 2**64))
    halves = ((draw << np.uint64(32) | draw) * inverse).view(np.float64)
    for chosen in (halves[np.isfinite(halves)][:1500], 2.0 ** np.arange(-1000, 1000)):
        found = []
        for _ in range(15):
            numbers = Numbers(1)
            numbers.update(chosen, np.zeros(len(chosen), np.int32))
            assert numbers._index is not None
            assert numbers._known == len(chosen)
            used = np.flatnonzero(numbers._index >= 0)
            homes = fold_products(numbers._keys[numbers._index[used]], numbers._secret[0])
            found.append(distances(homes, used, len(numbers._index)))
        assert np.median(found) < 4


def test_tables_take_their_keys_to_another_process() -> None:
    """What is pickled while it is filled, or after it was asked, goes on as the first one does."""
    numbers = Numbers(1)
    texts = {"t": ["red apple", "green pear tree", "incomprehensibilities", "apple"] * 3, "k": ["a", "b", "b", "a"] * 3}
    model = likely.fit(texts, "k", likely.NaiveBayes(), types={"t": "text"})
    first = model.posterior(texts).matrix
    assert np.array_equal(pickle.loads(pickle.dumps(model)).posterior(texts).matrix, first)
    x, group = np.arange(100.0), np.zeros(100, np.int32)
    numbers.update(x, group)
    other = pickle.loads(pickle.dumps(numbers))
    for one in (numbers, other):
        one.update(x, group)
    assert other == numbers
    assert len(other.tally()[0]) == 100


def test_answers_do_not_depend_on_the_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    levels = [f"level {k}" for k in rng.integers(0, 700, 3000)]
    lines = [
        f"{level},{'long words of a text ' * (k % 3)}{level},{k % 97 / 7},{k % 3}" for k, level in enumerate(levels)
    ]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,x,c", *lines]) + "\n")
    made = []
    for seed in (3, 5):
        keys = np.array([seed, seed << 40 | 1, ~seed & 2**64 - 1 | 1], np.uint64)
        for module in (grammar, counts, vocabulary, counting, numbers_module):
            monkeypatch.setattr(module, "draw_keys", lambda keys=keys: keys)
        model = likely.fit(path, "c", likely.NaiveBayes(), types={"b": "text"})
        made.append((model.to_bytes(), model.posterior(path).matrix.tobytes()))
    assert made[0] == made[1]
