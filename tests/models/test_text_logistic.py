"""Words and the texts that hold them."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely import Tokens
from likely.errors import SettingError
from likely.models.text.factor import WordScores
from likely.models.text_logistic import documents
from likely.models.text_logistic import learner as logistic_search
from likely.models.text_logistic.documents import find_residuals, residual_bits, sum_gradient
from likely.sums.words.vocabulary import Vocabulary
from likely.table.batch import Batch, Codes, pack_texts
from likely.table.labels import Labels
from likely.table.words import words_of

WORDS = [f"w{k}" for k in range(40)]
TYPES = {"note": "text"}


def mails(rows: int, seed: int = 0, weights: bool = False) -> dict[str, list[Any]]:
    """Texts of three classes: each class has words of its own, pairs of words that only come together, and noise."""
    rng = np.random.default_rng(seed)
    out: dict[str, list[Any]] = {"note": [], "sky": [], "wind": [], "class": []}
    for _ in range(rows):
        c = int(rng.integers(3))
        words = list(rng.choice(WORDS, rng.integers(3, 12)))
        if rng.random() < 0.7:
            words += [f"own{c}", f"twin{c}", f"twin{c}"]
        if rng.random() < 0.2:
            words.append(f"own{(c + 1) % 3}")
        rng.shuffle(words)
        out["note"].append(" ".join(words) if rng.random() > 0.05 else None)
        out["sky"].append(
            ["sun", "rain", None][int(rng.integers(3))] if rng.random() < 0.5 else ["sun", "rain", "fog"][c]
        )
        out["wind"].append(float(rng.normal() + c))
        out["class"].append("abc"[c])
    if weights:
        out["weight"] = [float(w) for w in rng.choice([0.5, 1.0, 3.0, 0.0], rows)]
    return out


def texts(rows: int, seed: int = 0) -> dict[str, list[Any]]:
    table = mails(rows, seed)
    return {"note": table["note"], "class": table["class"]}


def shuffled(table: dict[str, list[Any]], seed: int) -> dict[str, list[Any]]:
    order = np.random.default_rng(seed).permutation(len(table["class"]))
    return {name: [column[k] for k in order] for name, column in table.items()}


def fitted(table: dict[str, list[Any]], learner: Any = None, **how: Any) -> Any:
    return likely.fit(table, "class", learner or likely.TextLogistic(), types=TYPES, **how)


def log_loss(model: Any, table: dict[str, list[Any]]) -> float:
    chances = model.posterior(table).matrix
    own = [model.classes.index(c) for c in table["class"]]
    return float(-np.log(chances[np.arange(len(own)), own]).mean())


# -- what it finds ------------------------------------------------------------------------------------------


def test_words_that_come_together_are_counted_once() -> None:
    """Naive Bayes takes twins to be two witnesses; learned weights know better, and so the log loss is less."""
    train, new = texts(600), texts(600, 1)
    learned, naive = fitted(train), fitted(train, likely.NaiveBayes(text=likely.Text()))
    assert log_loss(learned, new) < 0.8 * log_loss(naive, new)
    assert log_loss(learned, new) <= 1.02 * log_loss(fitted(train, likely.NaiveBayes()), new)


def test_weights_are_where_the_penalised_log_loss_is_least() -> None:
    """With a given ridge and no pooling: the gradient, in double arithmetic from the definition, is nearly 0."""
    rng = np.random.default_rng(2)
    rows, words, classes = 80, 15, 3
    times = rng.integers(0, 3, (rows, words)).astype(np.int32)
    own = rng.integers(0, classes, rows).astype(np.int32)
    where = np.argwhere(times.T > 0)
    starts = np.concatenate([[0], np.cumsum((times > 0).sum(0))]).astype(np.int64)
    docs = documents.Documents(
        own,
        np.ones(rows),
        np.arange(rows).astype(np.uint64),
        starts,
        where[:, 1].astype(np.int32),
        times.T[times.T > 0].astype(np.int32),
        np.zeros(words, np.int32),
        np.arange(rows),
    )
    offset = np.log(np.bincount(own, minlength=classes) / rows) + np.zeros((rows, classes))
    fit = logistic_search.WordFit(docs, offset, np.ones(rows, np.bool_), 1)
    at = fit.find(0.5, None, 0.0)
    table = fit.weights(at, logistic_search.RidgeChoice(0.5, 1))
    share = np.sqrt(times / np.maximum(times.sum(1, keepdims=True), 1))
    scores = offset + share @ table
    chance = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    residual = chance - np.eye(classes)[own]
    gradient = fit.spread[:, None] * (share.T @ residual) + 0.5 * at.reshape(words, classes)
    assert np.abs(gradient).max() < 1e-3  # shares are rounded to 2**-16
    assert np.allclose(table.sum(1), 0.0, atol=1e-6)  # weights of all classes are centred


def test_lbfgs_finds_the_least_of_a_quadratic() -> None:
    rng = np.random.default_rng(0)
    half = rng.normal(size=(30, 30))
    matrix, aim = half @ half.T + np.eye(30), rng.normal(size=30)

    def function(x: Any) -> tuple[float, Any]:
        return float(0.5 * x @ matrix @ x - aim @ x) + 1e3, matrix @ x - aim

    found, _ = logistic_search.minimise(function, np.zeros(30), 200, 0.0)
    assert np.allclose(found, np.linalg.solve(matrix, aim), atol=1e-5)


# -- nothing depends on order -------------------------------------------------------------------------------


@pytest.mark.parametrize("others", [False, True])
@pytest.mark.parametrize("weights", [False, True])
def test_the_order_of_rows_and_threads_change_no_bit(others: bool, weights: bool) -> None:
    table = mails(300, weights=weights)
    if not others:
        table = {name: column for name, column in table.items() if name not in ("sky", "wind")}
    how = {"weight": "weight"} if weights else {}
    one = fitted(table, threads=1, **how)
    two = fitted(shuffled(table, 5), threads=2, **how)
    assert one.found.ridge == two.found.ridge and one.found.scales == two.found.scales
    assert one.found.others == two.found.others and one.found.tried == two.found.tried
    assert np.array_equal(one.found.weights["note"], two.found.weights["note"])
    assert one.notes == two.notes


def test_sums_of_residuals_are_exact() -> None:
    rng = np.random.default_rng(1)
    rows, classes = 50, 4
    scores, own = rng.normal(size=(rows, classes)) * 5, rng.integers(0, classes, rows).astype(np.int32)
    residual, loss = np.empty((rows, classes), np.int32), np.zeros(2, np.int64)
    unit = float(2 ** residual_bits(rows))
    find_residuals(scores, own, rng.random(rows), np.array([unit]), residual, loss)
    share = rng.integers(0, 1 << 16, rows).astype(np.int32)
    row, starts = rng.permutation(rows).astype(np.int32), np.array([0, rows])
    out = np.empty((1, classes), np.int64)
    sum_gradient(starts, row, share, residual, out)
    whole = [sum(int(share[e]) * int(residual[row[e], c]) for e in range(rows)) for c in range(classes)]
    assert out[0].tolist() == whole


@pytest.mark.parametrize("rows", [1, 1000, 1 << 24, 1 << 30])
def test_no_sum_leaves_63_bits(rows: int) -> None:
    assert (1 << 16) * (1 << residual_bits(rows)) * rows < 1 << 63


def test_rows_are_hashed_by_what_they_hold_not_by_codes_or_place() -> None:
    cells = pack_texts(["sun and sea", "sea sun and", "sun", "sun and sea"])
    columns = [documents.KnownWords("note", Vocabulary.of(["sun"]), likely.Tokens(), 0)]
    found = []
    for names, codes in ((["b", "a"], [1, 1, 0, 1]), (["a", "b", "c"], [0, 0, 1, 0])):
        sky = Codes(np.array(codes, np.int32), Labels(names))
        batch = Batch(4, {"note": cells, "sky": sky, "x": np.array([0.0, -0.0, 1.0, np.nan])})
        found.append(documents.CountedBatch.of(batch, columns, ["sky", "x"]).hash)
    assert found[0].tolist() == found[1].tolist()
    assert found[0][0] == found[0][1]  # the same words, the same level, the same number
    assert len({*found[0].tolist()}) == 3


# -- what adds nothing --------------------------------------------------------------------------------------


def test_an_empty_text_and_unknown_words_say_nothing() -> None:
    model = fitted(texts(300))
    prior = model.posterior({"note": None}).matrix[0]
    counts = [texts(300)["class"].count(c) for c in "abc"]
    assert prior == pytest.approx([(n + 1) / 303 for n in counts], abs=0.01)
    for nothing in ("", "zebra quagga", "?!"):
        assert model.posterior({"note": nothing}).matrix[0].tolist() == prior.tolist()
    with_more = model.posterior({"note": "own0 zebra quagga"}).matrix[0]
    assert with_more.tolist() == model.posterior({"note": "own0"}).matrix[0].tolist()


def test_without_a_text_other_attributes_speak_as_in_naive_bayes_by_one_weight() -> None:
    table = mails(400)
    model = fitted(table)
    naive = likely.fit({k: v for k, v in table.items() if k != "note"}, "class", likely.NaiveBayes())
    row = {"sky": "fog", "wind": 1.5}
    said = np.log(model.posterior(row).matrix[0]) - model.log_prior
    wanted = np.log(naive.posterior(row).matrix[0]) - naive.log_prior
    assert np.diff(said) == pytest.approx(model.found.others * np.diff(wanted), abs=1e-9)
    assert 0.5 < model.found.others < 2
    assert log_loss(model, mails(400, 1)) < log_loss(naive, mails(400, 1))


def test_terms_and_words_add_up() -> None:
    model = fitted(mails(300))
    batch = next(model.batches(mails(50, 4)))
    terms = model.terms(batch)
    whole = terms.array[:, 0].copy()
    for k in range(1, len(terms.names)):
        whole += terms.array[:, k]
    assert np.array_equal(whole, model.log_joint(batch))
    (factor,) = model.texts
    cells = batch.take(np.array([0])).cells["note"]
    out = np.zeros((1, 3))
    factor.add_cells(cells, out)
    names, parts = factor.parts(cells)
    assert parts.sum(0) == pytest.approx(out[0], abs=1e-12) and len(names) == len(set(names))


# -- settings, file, ends -----------------------------------------------------------------------------------


def test_a_file_gives_the_same_model_back(tmp_path: Path) -> None:
    model = fitted(mails(300))
    model.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    assert again.posterior(mails(60, 2)).matrix.tolist() == model.posterior(mails(60, 2)).matrix.tolist()
    assert again.notes == model.notes and again.found.tried == model.found.tried
    assert [e.title for e in again.exhibits()] == [e.title for e in model.exhibits()]
    assert again.frozen == likely.TextLogistic(ridge=model.found.ridge, least_documents=model.found.least)


def test_settings() -> None:
    table = texts(200)
    held, free = fitted(table, likely.TextLogistic(ridge=100.0)), fitted(table, likely.TextLogistic(ridge=0.1))
    assert held.found.ridge == 100.0 and len(held.found.tried) <= 2
    assert fitted(table, "TextLogistic(ridge=0.1)").found.scales == free.found.scales
    assert len(fitted(table, likely.TextLogistic(least_documents=30)).texts[0].scores.vocabulary) < 40
    for bad in ({"ridge": 0}, {"ridge": "much"}, {"least_documents": 0}):
        with pytest.raises(SettingError):
            likely.TextLogistic(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "table",
    [
        {"note": ["a b", "c d"] * 10, "class": ["x"] * 20},
        {"note": [None, ""] * 10, "class": ["x", "y"] * 10},
        {"note": ["a b", "c d"] * 3, "class": ["x", "y"] * 3},
        {"note": ["only one"] * 80, "class": ["x", "y"] * 40},
        {"note": ["a b", "c d"] * 50 + ["e f"], "class": ["x", "y"] * 50 + ["lonely"]},
        {"note": [f"id{k}" for k in range(120)], "class": ["x", "y"] * 60},
    ],
)
def test_odd_tables(table: dict[str, list[Any]]) -> None:
    model = fitted(table)
    chances = model.posterior({"note": ["a b", "zzz", None]}).matrix
    assert np.isfinite(chances).all() and np.allclose(chances.sum(axis=1), 1.0)
    assert model.predict({"note": "a b"}) in model.classes


def test_without_any_text_it_says_so() -> None:
    model = likely.fit({"sky": ["sun", "rain"] * 20, "class": ["a", "b"] * 20}, "class", likely.TextLogistic())
    assert "No column is a text" in model.notes[0]


def test_weights_count_as_copies_of_rows() -> None:
    table = texts(120)
    doubled = {name: column * 2 for name, column in table.items()}
    heavy = {**table, "weight": [2.0] * 120}
    one, two = fitted(doubled, likely.TextLogistic(0.3, 1)), fitted(heavy, likely.TextLogistic(0.3, 1), weight="weight")
    new = texts(50, 3)
    assert two.posterior(new).matrix == pytest.approx(one.posterior(new).matrix, abs=0.05)


def test_many_words_and_many_rows_are_bounded_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logistic_search, "MOST_ENTRIES", 800)
    monkeypatch.setattr(logistic_search, "MOST_WEIGHTS", 60)
    table = texts(300)
    model = fitted(table)
    assert len(model.texts[0].scores.vocabulary) <= 20
    told = " ".join(model.notes)
    assert "leave room for 20 words" in told and "% of the rows, drawn by a hash" in told
    again = fitted(shuffled(table, 1), threads=1)
    assert np.array_equal(model.found.weights["note"], again.found.weights["note"])


def test_it_is_explained_compared_and_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = mails(200)
    model = fitted(table)
    ledger = likely.explain(model, {"note": "own0 twin0 w1", "sky": "sun"})
    assert "note" in str(ledger)
    compared = likely.compare(table, "class", ["NaiveBayes", "TextLogistic"], types=TYPES, folds=2)
    assert {row.name for row in compared.learners} == {"NaiveBayes", "TextLogistic"}
    assert all(row.scores is not None for row in compared.learners)
    told = next(row.notes for row in compared.learners if row.name == "TextLogistic")
    assert any("logistic regression, ridge" in note and " fold" in note for note in told)  # one note of all folds
    likely.export(model, "python", tmp_path / "exported.py")
    spec = importlib.util.spec_from_file_location("exported", tmp_path / "exported.py")
    assert spec is not None and spec.loader is not None
    exported = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "exported", exported)
    spec.loader.exec_module(exported)
    for row in ({"note": "own0 w3 twin1 TWIN1!", "sky": "fog", "wind": 0.25}, {"note": None, "sky": None, "wind": 2.0}):
        found, wanted = exported.posterior(row), model.posterior(row).matrix[0]
        assert [found[c] for c in model.classes] == pytest.approx(wanted.tolist(), abs=1e-9)
    assert model.held_out is not None and math.isfinite(model.held_out.score)


# Scores of documents against the plain sum over their words, and what is counted on the way.


KNOWN = sorted(
    {"a", "b", "the", "ß", "incomprehensibilities", "incomprehensibly", "a b", " a", "a ", "é"}, key=str.encode
)
WEIGHTS = np.random.default_rng(0).standard_normal((len(KNOWN), 3))


@settings(max_examples=100)
@given(
    st.lists(
        st.lists(st.sampled_from([*KNOWN, "A", "x", "ẞ", "incomprehensibility"]), max_size=12).map(" ".join), max_size=5
    ),
    st.sampled_from([Tokens(), Tokens(pairs=True), Tokens(stop=("the",)), Tokens(grams=(2, 2))]),
)
def test_scores_are_sums_over_words(some: list[str], tokens: Tokens) -> None:
    model = WordScores(Vocabulary.of(KNOWN), WEIGHTS, tokens, lambda t: 1 + np.log(t))
    found = model.score(pack_texts(some))
    for row, text in enumerate(some):
        times = Counter(words_of(text, tokens))
        known = {w: t for w, t in times.items() if w in KNOWN}
        expected = sum((WEIGHTS[KNOWN.index(w)] * (1 + np.log(t)) for w, t in known.items()), np.zeros(3))
        assert found.scores[row] == pytest.approx(expected, abs=1e-12)
        assert found.words[row] == times.total()
        assert found.unknown[row] == times.total() - sum(known.values())


def test_a_word_that_occurs_very_often_and_a_very_long_one() -> None:
    model = WordScores(Vocabulary.of(["a"]), np.ones((1, 1)), Tokens(), lambda t: t)
    found = model.score(pack_texts(["a " * 100_000, "x" * 1_000_000, "", None, "a"]))
    assert found.scores[:, 0].tolist() == [100_000, 0, 0, 0, 1]
    assert found.words.tolist() == [100_000, 1, 0, 0, 1] and found.unknown.tolist() == [0, 1, 0, 0, 0]
    assert model.words("A b a") == [("a", 0, 2), ("b", -1, 1)]


def test_an_empty_vocabulary_knows_no_word() -> None:
    found = WordScores(Vocabulary.of([]), np.empty((0, 2)), Tokens(), lambda t: t).score(pack_texts(["a b"]))
    assert found.scores.tolist() == [[0, 0]] and found.unknown.tolist() == [2]
