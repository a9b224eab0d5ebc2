"""Troubles of rows: copies of rows and of texts, and labels that are doubtful."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

import likely
from likely import NaiveBayes, doctor
from likely.evaluate import kernels
from likely.evaluate.troubles.rows import BELOW, Duplicates, EqualRows
from likely.sums.rows.rows import row_hashes, text_hashes
from likely.sums.words.vocabulary import Vocabulary
from likely.table.batch import Batch, Codes, pack_texts
from likely.table.labels import Labels
from likely.table.words import words_of

RICH = st.text(
    st.one_of(st.sampled_from("aAbB zZ.,_09ΣσςİıéÉ\n\t\x00-߿́漢😀"), st.characters(exclude_categories=["Cs"]))
)


@given(st.lists(RICH, max_size=20))
def test_the_hash_is_that_of_the_words(some: list[str]) -> None:
    joined = [" ".join(words_of(text)) for text in some]
    expected = [Vocabulary.of([text]).hashes[0] for text in joined]
    assert text_hashes(pack_texts(some)).tolist() == expected


@pytest.mark.parametrize("word", ["incomprehensible", "ÀÉÎõü", "İi", "ΑΣ Σ", "b", "x" * 9000, "-"])
def test_texts_of_several_pieces(word: str) -> None:
    some = ["a" + "." * lead + word + " b " + word for lead in range(8192 - 24, 8192 + 4)]
    some += [f"{'ab ' * 3000}{word}", word * 3, f"{'é ' * 5000}{word}", f"{'z' * 8190}{word}"]
    expected = [Vocabulary.of([" ".join(words_of(text))]).hashes[0] for text in some]
    assert text_hashes(pack_texts(some)).tolist() == expected


def test_punctuation_and_case_make_no_difference() -> None:
    one, two, three, none, empty = text_hashes(pack_texts(["Hello,  World!", "hello world", "helloworld", "?!…", ""]))
    assert one == two != three
    assert none == empty == 0


CLASSES = Labels([f"c{k}" for k in range(10)])


def take(held: Duplicates, some: list[str], fold: np.ndarray, group: np.ndarray) -> None:
    held.take_texts(Batch(len(some), {"t": pack_texts(some)}, Codes(group.astype(np.int32), CLASSES)), "t", fold)


ROW = st.tuples(st.sampled_from(["a b", "A, b.", "c", "d d d", "", "!", "e"]), st.integers(0, 2), st.integers(-1, 2))


@given(st.lists(ROW, max_size=40), st.integers(1, 4))
def test_counted_as_one_would(rows: list[tuple[str, int, int]], cuts: int) -> None:
    kept = [(" ".join(words_of(t)), f, c) for t, f, c in rows if c >= 0 and words_of(t)]
    times = Counter(t for t, _, _ in kept)
    folds, classes = defaultdict(set), defaultdict(set)
    for t, f, c in kept:
        folds[t].add(f)
        classes[t].add(c)
    parts = [Duplicates() for _ in range(cuts)]
    for k, (t, f, c) in enumerate(rows):
        take(parts[k % cuts], [t], np.array([f], np.int32), np.array([c], np.int32))
    whole = parts[0]
    for part in parts[1:]:
        whole = part + whole
    found = whole.copies()
    assert (found.texts, found.sampled) == (len(kept), False)
    assert found.copied == sum(times[t] > 1 for t, _, _ in kept)
    assert found.across == sum(len(folds[t]) > 1 for t, _, _ in kept)
    assert found.disputed == sum(len(classes[t]) > 1 for t, _, _ in kept)


@pytest.mark.parametrize("bound", [4, 50])
def test_beyond_the_bound_the_sample_does_not_depend_on_order(bound: int) -> None:
    cells = [f"text number {k % 300}" for k in range(500)]
    parts = np.array_split(np.arange(500), 3)
    found = set()
    for order in permutations(range(3)):
        one, two = Duplicates(bound), Duplicates(bound)
        for j, k in enumerate(order):
            rows = parts[k] if j else parts[k][::-1]
            some = [cells[i] for i in rows]
            take(one if j != 1 else two, some, (rows % 10).astype(np.int32), np.zeros(len(rows), np.int32))
        found |= {(one + two).copies(), (two + one).copies()}
    (only,) = found
    assert only.sampled and only.texts < 500
    if bound == 50:
        assert 0.4 < only.copied / only.texts <= 1  # 400 of 500 are copies


def test_one_text_alone_fills_no_bound() -> None:
    copied = Duplicates(3)
    for _ in range(5):
        take(copied, ["the same"] * 10, np.zeros(10, np.int32), np.arange(10))
    assert copied.copies().copied == copied.copies().disputed == 50 and not copied.copies().sampled


# Equal rows: against a dictionary; any cut into batches and any order of merging gives the same.


ROWS = st.lists(
    st.tuples(
        st.integers(-1, 1),
        st.sampled_from([0.0, -0.0, 1.5, np.nan, np.inf]),
        st.sampled_from([None, "a b", "A  b", "c"]),
        st.integers(-1, 2),
        st.integers(0, 2),
    ),
    max_size=30,
)
LABELS, PAIR, NAMES = Labels(["u", "v"]), ("p", "q", "r"), ("level", "number", "text")


def batch(rows: list[tuple]) -> Batch:
    cells = {
        "level": Codes(np.array([r[0] for r in rows], np.int32), LABELS),
        "number": np.array([r[1] for r in rows], np.float64),
        "text": pack_texts([r[2] for r in rows]),
    }
    return Batch(len(rows), cells, Codes(np.array([r[3] for r in rows], np.int32), Labels(PAIR)))


def swept(rows: list[tuple], cuts: list[int], bound: int = 1 << 20) -> EqualRows:
    places = sorted({0, *(c % (len(rows) + 1) for c in cuts), len(rows)})
    parts = []
    for a, b in zip(places, places[1:] or [0], strict=False):
        part = Duplicates(bound)
        part.take_rows(batch(rows[a:b]), NAMES, np.array([r[4] for r in rows[a:b]], np.int32), a)
        parts.append(part)
    out = Duplicates(bound)
    for part in reversed(parts):
        out = part + out
    return out.equal_rows(PAIR)


def key(row: tuple) -> tuple:
    number = row[1] + 0.0 if np.isfinite(row[1]) else None
    return row[0], number, None if row[2] is None else row[2].lower().split().__repr__()


@given(ROWS, st.lists(st.integers(0, 60), max_size=4))
@settings(max_examples=60, deadline=None)
def test_against_a_dictionary(rows: list[tuple], cuts: list[int]) -> None:
    found = swept(rows, cuts)
    groups: dict[tuple, list[tuple[int, tuple]]] = defaultdict(list)
    for k, row in enumerate(rows):
        if row[3] >= 0:
            groups[key(row)].append((k, row))
    copied = across = contradicted = best = 0
    for members in groups.values():
        each = Counter(r[3] for _, r in members)
        best += max(each.values())
        contradicted += len(members) if len(each) > 1 else 0
        for label, count in each.items():
            copied += count if count > 1 else 0
            across += count if count > 1 and len({r[4] for _, r in members if r[3] == label}) > 1 else 0
    total = sum(map(len, groups.values()))
    assert (found.rows, found.copied, found.across, found.contradicted) == (total, copied, across, contradicted)
    assert found.ceiling == pytest.approx(best / total if total else 1.0)
    for example in found.examples:
        one, other = rows[example.row - 1], rows[example.other - 1]
        assert key(one) == key(other) and example.row < example.other
        assert (PAIR[one[3]], PAIR[other[3]]) == (example.label, example.other_label) and one[3] != other[3]
        assert example.rows == len(groups[key(one)])
    if contradicted:
        assert found.examples[0].row == 1 + min(m[0][0] for m in groups.values() if len({r[3] for _, r in m}) > 1)


def test_beyond_the_bound_a_sample_by_hash_that_no_order_changes() -> None:
    rng = np.random.default_rng(0)
    rows = [
        (0, float(n), None, int(c), 0)
        for n, c in zip(rng.integers(0, 300, 2000), rng.integers(0, 3, 2000), strict=True)
    ]
    one, two = swept(rows, [], bound=100), swept(rows, [100, 700, 1500], bound=100)
    assert one == two and one.sampled and 0 < one.rows < 1200
    whole = swept(rows, [])
    assert not whole.sampled and whole.rows == 2000
    assert one.ceiling == pytest.approx(whole.ceiling, abs=0.05)


def test_rows_of_no_weight_do_not_count_and_hashes_tell_columns_apart() -> None:
    same = Codes(np.array([0, 1], np.int32), LABELS)
    other = Codes(np.array([1, 0], np.int32), LABELS)
    hashes = row_hashes(Batch(2, {"a": same, "b": other}), ["a", "b"])
    assert hashes[0] != hashes[1]
    light = batch([(0, 1.0, None, 0, 0), (0, 1.0, None, 1, 0)])
    light = Batch(2, light.cells, light.target, np.array([1.0, 0.0]))
    twins = Duplicates()
    twins.take_rows(light, NAMES, np.zeros(2, np.int32))
    assert twins.equal_rows(PAIR).contradicted == 0 and twins.equal_rows(PAIR).rows == 1


# Label suspects: the probabilities are those of really refitting, and planted errors are found.


def folds_of(y: list[str], folds: int, seed: int) -> np.ndarray:
    """The fold of each row, dealt as every cross-validation deals them."""
    order = {c: k for k, c in enumerate(dict.fromkeys(y))}
    codes = np.array([order[c] for c in y], np.int32)
    ordinal, out = np.empty(len(y), np.int64), np.empty(len(y), np.int32)
    kernels.ordinals(codes, np.zeros(len(order), np.int64), ordinal)
    kernels.stratified(codes, ordinal, folds, seed, out)
    return out


def test_probabilities_are_those_of_models_that_have_not_seen_the_row() -> None:
    rng = np.random.default_rng(4)
    y = rng.choice(["no", "yes", "perhaps"], 120).tolist()
    table = {
        "n": rng.normal(size=120) + [3.0 * ["no", "yes", "perhaps"].index(c) for c in y],
        "l": rng.choice(["a", "b"], 120).tolist(),
    }
    found = doctor(table | {"y": y}, "y", NaiveBayes(), suspects=120, folds=3, seed=7)
    fold = folds_of(y, 3, 7)
    schema = likely.summarize(table | {"y": y}, "y").schema
    expected, everyone = np.zeros((120, 3)), {}
    for k in range(3):
        rest = {
            name: [v for v, f in zip(column, fold, strict=True) if f != k]
            for name, column in (table | {"y": y}).items()
        }
        model = likely.fit(rest, learner=NaiveBayes(), schema=schema)
        own = {name: [v for v, f in zip(column, fold, strict=True) if f == k] for name, column in table.items()}
        expected[fold == k] = model.posterior(own).matrix
        everyone = {c: i for i, c in enumerate(model.classes)}
    given = expected[np.arange(120), [everyone[c] for c in y]]
    for suspect in found.suspects:
        assert suspect.probability == pytest.approx(given[suspect.row - 1], rel=1e-9)
        assert suspect.label == y[suspect.row - 1] and suspect.label != suspect.likely
        assert suspect.likely_probability == pytest.approx(expected[suspect.row - 1].max(), rel=1e-9)
    wanted = [k + 1 for k in np.argsort(given, kind="stable") if given[k] <= 0.2 and given[k] < expected[k].max()]
    assert [s.row for s in found.suspects] == wanted and len(wanted) > 2
    for surprise, below in zip(found.surprises, BELOW, strict=True):
        assert surprise.rows == (given <= below).sum()
        assert surprise.expected == pytest.approx(expected[expected <= below].sum())


@pytest.fixture(scope="module")
def planted() -> tuple[dict[str, object], set[int]]:
    """A real table, and 5 % of its classes turned around."""
    data = load_breast_cancer()
    rng = np.random.default_rng(2)
    wrong = rng.choice(len(data.target), len(data.target) // 20, replace=False)
    y = data.target.copy()
    y[wrong] = 1 - y[wrong]
    table: dict[str, object] = {str(data.feature_names[k]): data.data[:, k] for k in range(20, 28)}
    return table | {"y": np.array(["malignant", "benign"])[y]}, {int(w) + 1 for w in wrong}


def test_planted_errors_come_first(planted: tuple[dict[str, object], set[int]]) -> None:
    table, wrong = planted
    found = doctor(table, "y", suspects=len(wrong))
    hits = [s.row in wrong for s in found.suspects]
    assert sum(hits) >= 0.75 * len(wrong) and sum(hits[:10]) >= 8, hits
    worst = found.suspects[0]
    assert worst.against and worst.against[0].bits > 1 and worst.against[0].attribute in table
    rare = next(s for s in found.surprises if s.below == 0.01)
    assert rare.rows > 3 * rare.expected


def test_neither_threads_nor_how_many_are_asked_for_change_a_bit(planted: tuple[dict[str, object], set[int]]) -> None:
    table, _ = planted
    one = doctor(table, "y", NaiveBayes(), suspects=20, threads=1)
    three = doctor(table, "y", NaiveBayes(), suspects=20, threads=3)
    assert one.json() == three.json()
    assert doctor(table, "y", NaiveBayes(), suspects=5).suspects == one.suspects[:5]
    assert doctor(table, "y", NaiveBayes(), suspects=0).suspects == ()


def test_a_class_held_impossible_is_the_first_suspect_and_json_can_say_it() -> None:
    table = {"x": ["a", "b"] * 60, "y": ["p", "q"] * 59 + ["p", "p"]}
    found = doctor(table, "y", NaiveBayes(pseudo_count=0))
    assert found.suspects[0].row == 120 and found.suspects[0].probability == 0
    assert json.loads(found.json())["suspects"][0]["probability"] == 0


def test_scores_that_are_no_sums_name_no_evidence() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["p", "q"], 200)
    x = np.where(y == "p", 3.0, -3.0) + rng.normal(size=200)
    y[3] = "q" if y[3] == "p" else "p"
    found = doctor({"x": x, "y": y}, "y", likely.Neighbors(k=9))
    assert found.suspects[0].row == 4 and found.suspects[0].against == ()
