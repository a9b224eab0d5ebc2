"""What attributes and words tell of the class, in bits."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

import likely
from likely.evaluate.attributes import information as wordbits
from likely.evaluate.attributes.information import BINS, attributes, evidence, information, word_statistics
from likely.sums.tallies import quantile_edges
from likely.table.labels import bin_labels, shortest_between
from likely.table.words import words_of


def direct(cells: list, classes: list) -> float:
    """Mutual information in bits, corrected as Miller and Madow do, over the rows where the cell is known; a row."""
    known = [(c, y) for c, y in zip(cells, classes, strict=True) if c not in ("", None)]
    n = len(known)
    joint, left, right = Counter(known), Counter(c for c, _ in known), Counter(y for _, y in known)
    bits = math.fsum(m / n * math.log2(m * n / (left[c] * right[y])) for (c, y), m in joint.items())
    corrected = bits - (len(left) - 1) * (len(right) - 1) / (2 * n * math.log(2))
    return max(corrected, 0.0) * n / len(cells)


@pytest.fixture
def table() -> dict:
    rng = np.random.default_rng(4)
    y = rng.choice(["p", "q", "r"], 600, p=[0.5, 0.3, 0.2])
    k = np.where(rng.random(600) < 0.6, y, rng.choice(["p", "q", "s", "t"], 600))
    return {
        "k": np.where(rng.random(600) < 0.2, "", k).tolist(),
        "x": (np.round(rng.normal(size=600), 1) + (y == "p")).tolist(),
        "noise": rng.choice(["a", "b"], 600).tolist(),
        "y": y.tolist(),
    }


def test_bits_of_levels(table) -> None:
    record = likely.look(table, "y", likely.NaiveBayes())
    told = {a["name"]: a for a in record.attributes}
    for name in ("k", "noise"):
        assert told[name]["bits"] == pytest.approx(direct(table[name], table["y"]), abs=1e-12)
    assert told["k"]["missing"] == pytest.approx(table["k"].count("") / 600)
    counts = np.array(list(Counter(table["y"]).values())) / 600
    assert record.entropy == pytest.approx(float(-(counts * np.log2(counts)).sum()))
    assert told["k"]["share"] == pytest.approx(told["k"]["bits"] / record.entropy)
    assert [a["bits"] for a in record.attributes] == sorted((a["bits"] for a in record.attributes), reverse=True)


def test_bits_of_numbers_are_those_of_their_bins(table) -> None:
    values = np.array(table["x"])
    edges = quantile_edges(*np.unique(values, return_counts=True), BINS)
    assert len(edges) <= 15
    assert np.bincount(np.searchsorted(edges, values, side="right")).min() > 600 / 16 / 3
    best = max(np.unique(values)[1:], key=lambda edge: direct((values < edge).tolist(), table["y"]))
    bins = np.searchsorted(np.union1d(edges, [best]), values, side="right")
    told = {a["name"]: a["bits"] for a in likely.look(table, "y", likely.NaiveBayes()).attributes}
    assert told["x"] == pytest.approx(direct(bins.tolist(), table["y"]), abs=1e-12)


def test_the_correction_is_all_that_differs_from_scikit_learn(table) -> None:
    codes = {n: np.unique(table[n], return_inverse=True)[1] for n in ("noise", "y")}
    cells = np.zeros((2, 3))
    np.add.at(cells, (codes["noise"], codes["y"]), 1)
    raw = mutual_info_score(codes["noise"], codes["y"]) / np.log(2)
    assert information(cells, 1e30) == pytest.approx(raw, abs=1e-12)


def test_odds_are_likelihood_ratios(table) -> None:
    y, k = np.array(table["y"]), np.array(table["k"])
    pieces = [p for p in likely.look(table, "y", likely.NaiveBayes()).evidence if p.attribute == "k"]
    assert pieces
    for piece in pieces:
        levels = sorted({c for c in k if c})
        cells = np.array([[((k == c) & (y == label)).sum() for label in "pqr"] for c in levels]) + 0.5
        column, row = "pqr".index(piece.label), levels.index(piece.cell)
        inside = cells[row, column] / cells[:, column].sum()
        outside = np.delete(cells[row], column).sum() / np.delete(cells, column, axis=1).sum()
        assert piece.bits == pytest.approx(math.log2(inside / outside))
        assert piece.rows == (k == piece.cell).sum()
        assert 0 < piece.least < piece.bits


def test_evidence_of_a_handful_of_rows_is_not_strong() -> None:
    table = {"k": ["a"] * 4 + ["b"] * 96 + ["c"] * 100, "y": ["p"] * 100 + ["q"] * 100}
    record = likely.look(table, "y", likely.NaiveBayes())
    assert {p.cell for p in record.evidence} == {"b", "c"}
    assert all(p.bits > 0 for p in record.evidence)
    assert [p.least for p in record.evidence] == sorted((p.least for p in record.evidence), reverse=True)


def test_weights_that_are_shares_change_nothing(table) -> None:
    plain = likely.look(table, "y", likely.NaiveBayes())
    shares = likely.look({**table, "w": [1 / 512] * 600}, "y", likely.NaiveBayes(), weight="w", types={"w": "number"})
    twice = likely.look({**table, "w": [2.0] * 600}, "y", likely.NaiveBayes(), weight="w")
    doubled = likely.look({n: c * 2 for n, c in table.items()}, "y", likely.NaiveBayes())
    for one, other in ((plain, shares), (twice, doubled)):
        assert [a["name"] for a in one.attributes] == [a["name"] for a in other.attributes]
        assert [a["bits"] for a in one.attributes] == pytest.approx([a["bits"] for a in other.attributes])


def test_edges_are_short_and_cut_where_the_values_do() -> None:
    rng = np.random.default_rng(0)
    for values in (rng.normal(size=50), rng.normal(size=50) * 1e-9, rng.normal(size=50) * 1e12, np.arange(-20.0, 20.0)):
        values = np.unique(values)
        for low, high in pairwise(values.tolist()):
            edge = shortest_between(low, high)
            assert low < edge <= high and len(repr(edge)) <= len(repr(high))
    assert bin_labels([shortest_between(23.61, 23.83746751620238)]) == ["below 23.8", "23.8 or more"]


def test_dates_are_told_as_dates() -> None:
    """Their bins were told in seconds since 1970."""
    days = [f"2024-0{1 + k % 9}-1{k % 10}" for k in range(90)]
    found = likely.look({"day": days, "y": ["p" if d < "2024-05" else "q" for d in days]}, "y", likely.NaiveBayes())
    (piece, *_) = found.evidence
    assert piece.attribute == "day" and "2024-0" in piece.cell, piece


# Bits of words are what a direct computation over the texts gives; chance is allowed for.


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
