"""What attributes and words tell of the class, in bits, and which of them repeat each other."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import mutual_info_score

import likely
from likely.evaluate.attributes import information as wordbits
from likely.evaluate.attributes.information import BINS, attributes, evidence, information, word_statistics
from likely.evaluate.attributes.redundancy import REPEATED_BY_CHANCE, holm, push, repetition
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


# Attributes that repeat each other given the class: oracles, the test under chance, and what is reported.


def counted(a, b, c, shape) -> np.ndarray:
    table = np.zeros(shape)
    np.add.at(table, (a, b, c), 1)
    return table


def test_information_and_statistic_against_their_definitions() -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(0, 9, (3, 4, 2)).astype(float)
    found = repetition(table)
    nats, statistic, total = 0.0, 0.0, table.sum()
    for k in range(2):
        part = table[:, :, k]
        expected = stats.contingency.expected_freq(part)
        statistic += stats.chi2_contingency(part, correction=False).statistic
        some = part > 0
        nats += (part[some] * np.log(part[some] / expected[some])).sum() / total
    assert found.freedom == 12
    assert found.statistic == pytest.approx(statistic)
    assert found.bits == pytest.approx(max(nats - 12 / (2 * total), 0) / math.log(2))


@pytest.mark.parametrize(("rows", "levels", "others", "classes"), [(40, 3, 4, 1), (200, 12, 9, 3), (60, 20, 2, 2)])
def test_p_values_are_even_under_chance_however_empty_the_table(rows, levels, others, classes) -> None:
    rng = np.random.default_rng(1)
    a = np.minimum(rng.geometric(1.5 / levels, rows) - 1, levels - 1)  # some levels are rare
    b, c = rng.integers(0, others, rows), rng.integers(0, classes, rows)
    shape = (levels, others, classes)
    chances = []
    for _ in range(1500):
        shuffled = b.copy()
        for k in range(classes):
            own = np.flatnonzero(c == k)
            shuffled[own] = rng.permutation(shuffled[own])
        chances.append(repetition(counted(a, shuffled, c, shape)).p)
    for wanted in (0.5, 0.1, 0.05):
        assert 0.5 * wanted < np.mean(np.array(chances) < wanted) < 1.25 * wanted
    assert np.mean(np.array(chances) < 0.01) < 0.02


def test_a_chi_square_with_many_rows_is_the_usual_one() -> None:
    table = np.random.default_rng(2).integers(900, 1100, (2, 3, 1)).astype(float)
    assert repetition(table).p == pytest.approx(stats.chi2_contingency(table[:, :, 0]).pvalue, rel=0.02)


def test_a_copy_pushes_the_odds_by_its_own_evidence() -> None:
    table = np.zeros((2, 2, 2))
    table[0, 0], table[1, 1] = (8000, 2000), (2000, 8000)
    found = push(table)
    assert found.bits == pytest.approx(2.0, abs=0.02)  # log2(0.8 / 0.2)
    assert found.gain > 0.05
    told = repetition(table)
    assert told.share == pytest.approx(1, abs=1e-3) and told.bits == pytest.approx(0.7219, abs=1e-3)


def test_what_is_independent_pushes_nothing() -> None:
    rng = np.random.default_rng(3)
    c = rng.integers(0, 2, 5000)
    a, b = (np.where(rng.random(5000) < 0.8, c * 5, 0) + rng.integers(0, 5, 5000) for _ in range(2))
    table = counted(a, b, c, (10, 10, 2))
    assert abs(push(table).bits) < 0.1 and repetition(table).p > 0.001
    assert repetition(table.sum(axis=2, keepdims=True)).p < 1e-9, "without the class they do depend on each other"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2), st.sampled_from([1.0, 0.25, 7.0])),
        max_size=30,
    )
)
def test_any_table_gives_figures(cells) -> None:
    table = np.zeros((4, 3, 3))
    for a, b, c, weight in cells:
        table[a, b, c] += weight
    found, pushed = repetition(table), push(table)
    assert 0 <= found.p <= 1 and 0 <= found.share <= 1 and found.bits >= 0
    assert math.isfinite(pushed.bits) and math.isfinite(pushed.gain)
    turned = repetition(table.transpose(1, 0, 2))
    assert turned.bits == pytest.approx(found.bits, abs=1e-9) and turned.p == pytest.approx(found.p)


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_is_between_the_plain_value_and_bonferroni(chances) -> None:
    corrected = holm(chances)
    for plain, found in zip(chances, corrected, strict=True):
        assert plain <= found <= min(1.0, len(chances) * plain) + 1e-12
    order = sorted(range(len(chances)), key=lambda k: chances[k])
    assert all(corrected[a] <= corrected[b] for a, b in pairwise(order))


# -- what look and repeats make of it -------------------------------------------------------------------------


def classed(rng, y, right, levels):
    """An attribute that has the class's own level with chance `right`, independent of all else given the class."""
    own = np.array([levels[int(c)] for c in y])
    return np.where(rng.random(len(y)) < right, own, rng.choice(levels, len(y)))


@pytest.fixture
def honest():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 3000)
    data = {f"a{k}": classed(rng, y, 0.6, ["u", "v", "w"]) for k in range(6)}
    return {**data, "x": rng.normal(size=3000) + y, "y": np.where(y, "yes", "no")}


def matters(record) -> set[frozenset[str]]:
    return {frozenset((p.one, p.other)) for p in record.redundant if p.matters}


def test_attributes_that_only_the_class_binds_are_not_reported(honest) -> None:
    record = likely.look(honest, "y", likely.NaiveBayes())
    assert len(record.redundant) == 21
    assert not matters(record) and "redundant" not in "\n".join(record.warnings)
    assert sum(p.p_of_all < REPEATED_BY_CHANCE for p in record.redundant) == 0


def test_a_copy_and_a_noisy_copy_are_reported(honest) -> None:
    rng = np.random.default_rng(1)
    noisy = np.where(rng.random(3000) < 0.85, honest["a1"], rng.choice(["u", "v", "w"], 3000))
    record = likely.look(
        {**honest, "copy": [f"is {v}" for v in honest["a0"]], "noisy": noisy, "x2": honest["x"] * 3 + 1},
        "y",
        likely.NaiveBayes(),
    )
    assert matters(record) == {frozenset(("a0", "copy")), frozenset(("a1", "noisy")), frozenset(("x", "x2"))}
    words = "\n".join(record.warnings)
    assert "depend on each other given 'y'" in words and "p < 0.001" in words and "misstates the odds" in words
    # The other learners, and those who join them, do not count twice.
    assert "repeat" not in "\n".join(
        likely.look({"a": honest["a0"], "b": honest["a0"], "y": honest["y"]}, "y", likely.TreeAugmented()).warnings
    )
    told = likely.look(
        {"a": honest["a0"], "b": honest["a0"], "y": honest["y"]}, "y", likely.NaiveBayes(blocks=(("a", "b"),))
    )
    assert "repeat" not in "\n".join(told.warnings)


def test_a_copy_of_a_number_with_noise_is_found_in_few_rows() -> None:
    # In as many bins as `look` shows of a number, 500 rows leave cells too empty to tell.
    rng = np.random.default_rng(3)
    y = rng.random(500) < 0.4
    celsius = rng.normal(37.2 + y, 0.6)
    data = {"celsius": celsius, "fahrenheit": celsius * 1.8 + 32 + rng.normal(0, 0.2, 500), "y": np.where(y, "y", "n")}
    (pair,) = likely.look(data, "y", likely.NaiveBayes()).redundant
    own = (celsius - 37.7) / 0.6**2  # log of the ratio of the two normal densities
    assert pair.matters and 0.5 < pair.push / (np.abs(own).mean() / math.log(2)) < 1.05


def test_a_copy_that_says_nothing_of_the_class_is_not_worth_a_word(honest) -> None:
    rng = np.random.default_rng(2)
    noise = rng.choice(["p", "q"], 3000)
    record = likely.look({**honest, "n1": noise, "n2": noise}, "y", likely.NaiveBayes())
    (pair,) = [p for p in record.redundant if {p.one, p.other} == {"n1", "n2"}]
    assert pair.p_of_all < 1e-9 and pair.share > 0.9 and not pair.matters


def test_false_alarms_among_many_pairs_are_rare() -> None:
    alarms = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, 400)
        data = {f"a{k}": classed(rng, y, 0.5, list("uvwxz")) for k in range(12)}
        record = likely.look({**data, "y": [f"c{v}" for v in y]}, "y", likely.NaiveBayes(), folds=2)
        alarms += any(p.p_of_all < REPEATED_BY_CHANCE for p in record.redundant)
    assert alarms <= 2  # 66 pairs each time; one table in a hundred is expected to raise any


def test_json_carries_every_pair(honest) -> None:
    record = json.loads(likely.look(honest, "y", likely.NaiveBayes()).json())
    assert len(record["redundant"]) == 21
    keys = {"one", "other", "bits", "share", "p", "p_of_all", "push", "gain", "matters", "rows", "same"}
    assert keys == record["redundant"][0].keys()


def test_repeats_works_out_what_would_change(honest) -> None:
    data = {**honest, "copy": honest["a0"], "copy2": honest["a0"]}
    found = likely.repeats(data, "y", most=1)
    assert len(found.pairs) == 36 and len(found.counted) == 1
    (one,) = found.counted
    assert {one.pair.one, one.pair.other} <= {"a0", "copy", "copy2"}
    assert {c.without for c in one.changes} == {None, one.pair.one, one.pair.other}
    assert all(c.scores is not None and c.scores.log_loss < found.scores.log_loss for c in one.changes)
    # As cross-validation gives it where the column is ignored, or the block is asked for.
    for change in one.changes:
        if change.joined:
            wanted = likely.look(data, "y", likely.NaiveBayes(blocks=((one.pair.one, one.pair.other),)))
        else:
            wanted = likely.look(data, "y", likely.NaiveBayes(), types={change.without: "ignore"})
        assert change.scores == wanted.scores


def test_repeats_of_numbers_and_of_mixed_pairs(honest) -> None:
    found = likely.repeats({**honest, "x2": honest["x"] + 1e-3, "s": np.where(honest["x"] > 0.5, "big", "small")}, "y")
    by = {frozenset((c.pair.one, c.pair.other)): c for c in found.counted}
    numbers = by[frozenset(("x", "x2"))]
    assert all(c.scores is not None for c in numbers.changes)
    (mixed,) = [c for c in by[frozenset(("x", "s"))].changes if c.joined]
    assert mixed.scores is None and "either levels or numbers" in mixed.refused


def test_what_repeats_refuses(honest) -> None:
    with pytest.raises(likely.LikelyError, match="Logistic does not assume independent attributes"):
        likely.repeats(honest, "y", likely.Logistic())
    with pytest.raises(likely.LikelyError, match="most is"):
        likely.repeats(honest, "y", most=-1)
    with pytest.raises(likely.LikelyError, match="Did you mean 'y'"):
        likely.repeats(honest, "Y")
