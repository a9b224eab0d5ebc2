"""Bits of words are what a direct computation over the texts gives; chance is allowed for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely.evaluate.attributes import information as wordbits
from likely.evaluate.attributes.information import attributes, evidence, information, word_statistics
from likely.table.words import words_of

TEXT = st.lists(st.sampled_from(["a", "bb", "C", "dd", "…"]), max_size=5).map(" ".join)


def summary(cells: list[str], classes: list[str], **more: list) -> likely.Summary:
    data = {"t": cells, "y": classes, **more}
    return likely.summarize(data, "y", types={"t": "text", "y": "nominal"}, weight="w" if "w" in more else None)


def told_of(held: likely.Summary) -> wordbits.WordsTold:
    return word_statistics("t", held.columns["t"], held.classes, float(held.total.floats().sum()))


@settings(max_examples=60)
@given(st.lists(st.tuples(TEXT, st.sampled_from("xyz")), min_size=3, max_size=40))
def test_bits_are_those_of_a_table_of_texts(rows: list[tuple[str, str]]) -> None:
    held = summary([t for t, _ in rows], [y for _, y in rows])
    if len(held.classes) < 2:
        return
    kept = [(set(words_of(t)), y) for t, y in rows if t]
    told = told_of(held)
    assert told.documents == len(kept)
    assert told.missing == pytest.approx(1 - len(kept) / len(rows))
    vocabulary = set().union(*(w for w, _ in kept)) if kept else set()
    assert told.vocabulary == len(vocabulary)
    tables = {}
    for word in vocabulary:
        table = np.zeros((2, len(held.classes)))
        for w, y in kept:
            table[0 if word in w else 1, held.classes.index(y)] += 1
        tables[word] = table
    for found in told.strongest:
        assert found.bits == pytest.approx(information(tables[found.word]), abs=1e-12)
        assert found.documents == tables[found.word][0].sum()
        c = held.classes.index(found.label)
        assert found.share == pytest.approx(tables[found.word][0, c] / tables[found.word][:, c].sum())
    if told.strongest:
        assert told.strongest[0].bits == pytest.approx(max(information(t) for t in tables.values()), abs=1e-12)
    assert [f.bits for f in told.strongest] == sorted((f.bits for f in told.strongest), reverse=True)


def test_a_word_among_many_may_be_good_by_chance() -> None:
    rng = np.random.default_rng(2)
    cells = [" ".join(f"w{k}" for k in rng.choice(3000, 40)) for _ in range(60)]
    told = told_of(summary(cells, ["a", "b"] * 30))
    assert told.strongest == () and told.bits == 0.0
    told = told_of(summary([c + " yes" * (k % 2) for k, c in enumerate(cells)], ["a", "b"] * 30))
    assert told.strongest[0].word == "yes" and told.strongest[0].label == "b"
    assert told.strongest[0].bits == pytest.approx(1 - 1 / (120 * math.log(2)))
    assert [w.word for w in told.deciding] == ["yes"] and told.in_nearly_all == ()


def test_headers_are_found_among_all_texts_and_in_one_class() -> None:
    rng = np.random.default_rng(3)
    classes = np.repeat(["one", "two", "three"], 60)
    cells = [f"From someone{k} Group {y}: " + " ".join(rng.choice(list("abcdefgh"), 6)) for k, y in enumerate(classes)]
    held = summary(cells, classes.tolist())
    told = told_of(held)
    assert {w.word for w in told.in_nearly_all} == {"from", "group"}
    assert {(w.word, w.label) for w in told.deciding} == {("one", "one"), ("two", "two"), ("three", "three")}
    assert all((w.share, w.elsewhere) == (1.0, 0.0) for w in told.deciding)
    pieces = evidence(attributes(held), held.classes)
    assert {(p.attribute, p.cell) for p in pieces[:3]} == {
        ("t", "with 'one'"),
        ("t", "with 'two'"),
        ("t", "with 'three'"),
    }


def test_shares_of_a_row_are_scaled_and_whole_weights_are_rows() -> None:
    cells, classes = ["a b", "b", "a", "c b", "c"] * 20, ["x", "y", "x", "y", "x"] * 20
    once = attributes(summary(cells, classes))[0]
    shares = attributes(summary(cells, classes, w=[0.01] * 100))[0]
    assert once.bits == pytest.approx(shares.bits, rel=1e-9) and once.words.strongest
    twice = attributes(summary(cells * 2, classes * 2))[0]
    weighed = attributes(summary(cells, classes, w=[2.0] * 100))[0]
    assert twice.bits == pytest.approx(weighed.bits, rel=1e-9)


def test_blocks_of_words_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    classes = rng.choice(["p", "q", "r"], 200)
    cells = [" ".join([*(f"w{k}" for k in rng.choice(50, 8)), *([f"is{y}"] * (rng.random() < 0.7))]) for y in classes]
    held = summary(cells, classes.tolist())
    whole = told_of(held)
    monkeypatch.setattr(wordbits, "BLOCK", 7)
    assert told_of(held) == whole
    assert {w.word for w in whole.strongest[:3]} == {"isp", "isq", "isr"}


@pytest.mark.parametrize("cells", [["", "", "", ""], ["!", "?", "…", "."], ["a", "a", "a", "a"], ["", "", "a", "b"]])
def test_nothing_to_say(cells: list[str]) -> None:
    held = summary(cells, ["x", "y", "x", "y"])
    told = told_of(held)
    assert told.strongest == told.in_nearly_all == told.deciding == told.pieces == ()
