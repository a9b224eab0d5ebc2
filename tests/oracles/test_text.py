"""Text beside scikit-learn, where definitions agree: MultinomialNB, BernoulliNB and ComplementNB on counts of words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

import likely
from likely.testing import bits

THEIRS = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB, "complement": ComplementNB}
WORDS = ["the", "Cat", "dog", "ß", "élan", "élan", "x1", "_", "incomprehensibilities", "naïve", "β", "on", "in"]


def documents(seed: int, rows: int, classes: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    labels = [f"c{k}" for k in rng.integers(0, classes, rows - classes)] + [f"c{k}" for k in range(classes)]
    some = []
    for name in labels:
        chances = np.ones(len(WORDS))
        chances[int(name[1:])] = 8.0
        words = rng.choice(WORDS, rng.integers(1, 30), p=chances / chances.sum())
        some.append(" ".join(words) + rng.choice(["", ".", " !?"]))
    return some, labels


def scores(model: likely.Model, column: str, texts: list[str]) -> Any:
    return np.concatenate([model.log_joint(batch) for batch in model.batches([{column: t} for t in texts])])


@pytest.mark.parametrize("model", THEIRS)
@pytest.mark.parametrize("pseudo_count", [1.0, 0.1, 3.5])
@pytest.mark.parametrize("classes", [2, 5])
def test_scores_are_those_of_scikit_learn(model: str, pseudo_count: float, classes: int) -> None:
    texts, labels = documents(3, 200, classes)
    weight = np.random.default_rng(0).choice([1.0, 2.0, 0.25], len(texts))
    vectorizer = CountVectorizer(token_pattern=r"\w+")
    theirs = THEIRS[model](alpha=pseudo_count).fit(vectorizer.fit_transform(texts), labels, sample_weight=weight)
    new = [*documents(4, 50, classes)[0], "words that nobody knows", "the the the unknown the"]
    table = {"text": texts, "y": labels, "w": weight}
    prior = "uniform" if model == "complement" else "observed"  # theirs has no prior
    learner = likely.NaiveBayes(prior=prior, text=likely.Text(model, pseudo_count=pseudo_count, scale="none"))
    ours = likely.fit(table, "y", learner, types={"text": "text"}, weight="w")
    expected = theirs.predict_joint_log_proba(vectorizer.transform(new))
    if model == "complement":
        expected = expected - np.log(classes)
    np.testing.assert_allclose(scores(ours, "text", new), expected, rtol=1e-9, atol=1e-9)
    assert ours.predict([{"text": t} for t in new]) == theirs.predict(vectorizer.transform(new)).tolist()
    assert ours.proper == (model != "complement") == ours.generative


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["multinomial", "complement", "contrast"]),
    st.sampled_from(["none", "log", "root", "binary"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 2, 5]),
    st.sampled_from([None, 1, 4]),
    st.sampled_from(["none", 0.5, 7.0]),
)
def test_every_setting_against_a_matrix(
    seed: int,
    model: str,
    damping: str,
    length: bool,
    idf: bool,
    telling: bool,
    least: int,
    most: int | None,
    scale: Any,
) -> None:
    """Damped counts, lengths, idf, telling and pruning, from the matrix of documents and words that we never make."""
    texts, labels = documents(seed, 40, 3)
    how = likely.Text(model, 0.3, damping, length, idf, least, most, scale, telling)
    ours = likely.fit({"t": texts, "y": labels}, "y", likely.NaiveBayes(text=how), types={"t": "text"})
    vectorizer = CountVectorizer(token_pattern=r"\w+")
    counts = vectorizer.fit_transform(texts).toarray().astype(float)
    truth = np.array([int(name[1:]) for name in labels])
    having = np.array([(counts[truth == c] > 0).sum(0) for c in range(3)])
    names, documents_of = vectorizer.get_feature_names_out(), np.bincount(truth)
    kept = having.sum(0) >= least
    if most is not None:
        told = [sum(_bits(having[:, w], documents_of)) for w in range(len(names))]
        order = sorted(np.flatnonzero(kept), key=lambda w: (-round(told[w], 12), names[w].encode()))
        kept = np.isin(np.arange(len(names)), order[:most])
    if not kept.any():
        assert not ours.texts
        return
    damped = {"none": counts, "log": np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)}
    f = damped.get(damping, np.sqrt(counts) if damping == "root" else (counts > 0).astype(float))
    idf_ = np.log((1 + len(texts)) / (1 + having.sum(0))) + 1 if idf else np.ones(len(names))
    size = np.array([int(n).bit_length() for n in counts.sum(1)])
    share = 2 ** ((0.5 - size) / 2) if length else np.ones(len(texts))
    table = np.array([(f * share[:, None])[truth == c].sum(0) for c in range(3)]) * idf_
    table = table[:, kept]
    others = table.sum(0) - table + 0.3
    weights = np.zeros(table.shape)
    if model != "multinomial":
        weights -= np.log(others / others.sum(1, keepdims=True))
    if model != "complement":
        weights += np.log((table + 0.3) / (table + 0.3).sum(1, keepdims=True))
    if telling:
        share = table.sum(1) / table.sum()
        chance = np.array([(table[:, w] + 0.9 * share) / (table[:, w].sum() + 0.9) for w in range(table.shape[1])])
        weights *= np.sqrt(np.maximum([entropy(c, share) for c in chance], 0.0))
    found = (f * idf_)[:, kept] @ weights.T * (1.0 if scale == "none" else scale)
    if length:
        found /= np.sqrt(np.maximum(counts[:, kept].sum(1), 1))[:, None]
    found += np.log(documents_of / len(texts))
    close = 1e-6 if telling else 1e-9  # a word that tells nothing counts the root of what rounding leaves
    np.testing.assert_allclose(scores(ours, "t", texts), found, rtol=1e-9, atol=close)


def _bits(having: Any, documents_of: Any) -> Any:
    total = documents_of.sum()
    for side, there in ((having, having.sum()), (documents_of - having, total - having.sum())):
        for n, of in zip(side, documents_of, strict=True):
            if n:
                yield n / total * np.log2(n * total / (there * of))


def corpus(rows: int) -> tuple[list[str], list[str]]:
    """Documents of all lengths, their words by Zipf's law from 40,000, short and long, some beyond ASCII."""
    rng = np.random.default_rng(11)
    ends = ["", "s", "ing", "_2", "É", "ß", "straßenbahnhaltestelle", "Σ", "語"]
    words = [f"{'ab'[k % 2]}{k:x}{ends[k % len(ends)] if k % 7 == 0 else ''}" for k in range(40_000)]
    gaps = [" ", ", ", "\n", " -- ", " «", "'", "\t\t", "; "]
    labels, texts = [f"c{k}" for k in rng.integers(0, 7, rows)], []
    for size in (2.0 ** rng.uniform(0, 11, rows)).astype(int):
        some = [words[k] for k in np.minimum(rng.zipf(1.25, size), len(words)) - 1]
        some = [word.upper() if k % 9 == 0 else word for k, word in enumerate(some)]
        texts.append("".join(word + gap for word, gap in zip(some, rng.choice(gaps, size), strict=True)))
    return texts, labels


def test_words_of_a_corpus_are_counted_as_scikit_learn_counts_them_on_any_threads() -> None:
    texts, labels = corpus(1500)
    vectorizer = CountVectorizer(token_pattern=r"\w+")
    counts = vectorizer.fit_transform(texts)
    classes = sorted(set(labels))
    expected = np.array([np.asarray(counts[np.array(labels) == name].sum(0))[0] for name in classes]).T
    having = np.array([np.asarray((counts[np.array(labels) == name] > 0).sum(0))[0] for name in classes]).T
    names = vectorizer.get_feature_names_out().tolist()
    order = sorted(range(len(names)), key=lambda k: names[k].encode())
    first = None
    for threads, turn in ((1, 1), (2, 1), (3, -1)):
        table = {"text": texts[::turn], "y": labels[::turn]}
        words = likely.summarize(table, "y", types={"text": "text"}, threads=threads).columns["text"]
        first = bits(words) if first is None else first
        assert bits(words) == first
        held = words.tally()
        assert list(held.vocabulary) == ["", *(names[k] for k in order)]
        assert np.array_equal(held.collected(np.positive, np.ones(32), 7)[1:], expected[order])
        assert np.array_equal(held.having(7)[1:], having[order])
