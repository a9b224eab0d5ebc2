"""Bits and odds are what a direct computation over the rows gives."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

import likely
from likely.evaluate.attributes.information import BINS, information
from likely.sums.tallies import quantile_edges
from likely.table.labels import bin_labels, shortest_between


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
