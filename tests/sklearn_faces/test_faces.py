"""The estimators at work: frames as they are, scikit-learn's tools, pieces that add up, plain pickles."""

from __future__ import annotations

import pickle
import pickletools
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likely
import likely.sklearn as faces
from likely.table.formats import memory as counted

ROWS = 90
FACES = [name for name in faces.__all__ if hasattr(getattr(faces, name), "_maker")]
CLASSIFIERS = [name for name in FACES if name.endswith("Classifier")]
OF_NUMBERS = ("FullBayesClassifier", "LinearDiscriminantClassifier")  # which take columns of one kind
MIXED = [name for name in CLASSIFIERS if name not in OF_NUMBERS]


def table() -> tuple[pd.DataFrame, Any, Any]:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, ROWS)
    columns = {
        "city's [red]": rng.choice(["a", "b", "<script>", "", "="], ROWS),
        "category": pd.Categorical(np.where(rng.random(ROWS) < 0.7, y, 0).astype(str)),
        "truth": rng.random(ROWS) > 0.5,
        "when": pd.date_range("2020", periods=ROWS)[rng.permutation(ROWS)],
        "number": np.where(rng.random(ROWS) < 0.1, np.nan, rng.normal(size=ROWS) + y),
        "few": rng.integers(0, 4, ROWS),
        "text": [" ".join(rng.choice(["good", "bad", "day"], 5)) + f" w{v} n{i}" for i, v in enumerate(y)],
    }
    return pd.DataFrame(columns, index=rng.permutation(ROWS)), np.array([30, -4, 200])[y], rng.random(ROWS)


X, Y, WEIGHT = table()
NUMBERS = np.random.default_rng(4).normal(size=(ROWS, 4)) + Y[:, None] / 50


def made(name: str) -> Any:
    said: dict[str, dict[str, Any]] = {
        "NaiveBayesClassifier": {"text": likely.Text()},
        "AutoClassifier": {"members": ("Prior", "NaiveBayes"), "parts": 2},
        "AdditiveClassifier": {"rounds": 20},
        "ForestClassifier": {"trees": 9},
        "PoolClassifier": {"members": ("Prior", "NaiveBayes"), "weights": (0.5, 0.5)},
    }
    return getattr(faces, name)(**said.get(name, {}))


def rows_for(name: str) -> Any:
    return NUMBERS if name in OF_NUMBERS else X


@pytest.mark.parametrize("name", MIXED)
def test_any_frame_gives_what_the_core_gives(name: str) -> None:
    table = X.assign(target=[str(v) for v in Y])
    core = likely.fit(table, "target", made(name)._learner(), types={"target": "nominal"}).posterior(X)
    order = [core.classes.index(c) for c in ("-4", "30", "200")]
    for frame in (X, pl.from_pandas(X), pa.Table.from_pandas(X, preserve_index=False)):
        found = made(name).fit(frame, Y)
        assert found.feature_names_in_.tolist() == list(X.columns) and found.n_features_in_ == 7
        assert found.classes_.tolist() == [-4, 30, 200]
        np.testing.assert_array_equal(found.predict_proba(frame), core.matrix[:, order])
        np.testing.assert_allclose(np.exp(found.predict_log_proba(frame)), core.matrix[:, order], atol=1e-12)
        assert found.predict(frame).dtype == Y.dtype and found.score(frame, Y) > 0.4


@pytest.mark.parametrize("name", FACES)
@pytest.mark.parametrize("weighted", ["no", "all", "later"])
def test_pieces_give_the_model_of_the_whole(name: str, weighted: str) -> None:
    rows, frame = rows_for(name), not isinstance(rows_for(name), np.ndarray)
    order = np.argsort(Y, kind="stable")  # so that classes come one after the other
    weight = np.where(np.arange(ROWS) < 40, 1.0, WEIGHT) if weighted == "later" else WEIGHT
    whole, pieces = made(name), made(name)
    y, w = Y[order], weight[order] if weighted == "all" else weight
    taken = rows.iloc[order] if frame else rows[order]
    given = {} if name == "DensityEstimator" else {"y": y}
    whole.fit(taken, **given, **({} if weighted == "no" else {"sample_weight": w}))
    for start, end in ((0, 1), (1, 5), (5, 40), (40, ROWS)):
        part = taken.iloc[start:end] if frame else taken[start:end]
        more = {} if name == "DensityEstimator" else {"y": y[start:end]}
        if weighted == "all" or (weighted == "later" and start >= 40):
            more["sample_weight"] = w[start:end]
        pieces = pickle.loads(pickle.dumps(pieces.partial_fit(part, **more)))
    assert pieces.model_.to_bytes() == whole.model_.to_bytes()
    if name != "DensityEstimator":
        assert pieces.classes_.tolist() == [-4, 30, 200]
        np.testing.assert_array_equal(pieces.predict_proba(taken), whole.predict_proba(taken))


def test_classes_that_are_named_and_never_come() -> None:
    found = faces.NaiveBayesClassifier().partial_fit(NUMBERS, Y, classes=[-4, 30, 200, 7])
    assert found.classes_.tolist() == [-4, 7, 30, 200] and (found.predict_proba(NUMBERS)[:, 1] == 0).all()


def test_settings_of_text_are_not_chosen_from_pieces() -> None:
    with pytest.raises(ValueError, match="partial_fit keeps no rows"):
        faces.NaiveBayesClassifier().partial_fit(X, Y)


@pytest.mark.parametrize("name", FACES)
def test_a_pickle_is_plain(name: str) -> None:
    fitted = made(name).fit(rows_for(name), Y)
    data = pickle.dumps(made(name).partial_fit(rows_for(name), Y) if name == "TreeAugmentedClassifier" else fitted)
    strings: list[str] = []
    for operation, argument, _ in pickletools.genops(data):
        if isinstance(argument, str):
            strings.append(argument)
        assert operation.name != "GLOBAL" or not str(argument).startswith("likely")
    ours = {s for s in strings if s.startswith("likely.") and not s.startswith("likely.sklearn")}
    assert ours <= {"likely.models.text.settings"}  # the setting text=Text()
    again = pickle.loads(data)
    ask = "score_samples" if name == "DensityEstimator" else "predict_proba"
    np.testing.assert_array_equal(getattr(again, ask)(rows_for(name)), getattr(fitted, ask)(rows_for(name)))


def test_the_tools_of_scikit_learn() -> None:
    face = faces.NaiveBayesClassifier(text=likely.Text())
    assert clone(face).get_params() == face.get_params()
    grid = GridSearchCV(
        face, {"pseudo_count": [0.1, 1.0], "numbers": ["gaussian", "kernel"]}, cv=2, error_score="raise"
    )
    for frame in (X, pl.from_pandas(X), pa.Table.from_pandas(X, preserve_index=False)):
        assert grid.fit(frame, Y).predict(frame).shape == (ROWS,)
        assert cross_val_score(face, frame, Y, cv=2, error_score="raise").mean() > 0.4
    assert np.isfinite(cross_val_score(face, X, Y, cv=2, scoring="neg_log_loss", error_score="raise")).all()
    calibrated = CalibratedClassifierCV(faces.TreeAugmentedClassifier(), cv=2).fit(X, Y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)


def test_a_pipeline_that_hands_over_frames() -> None:
    scaled = make_column_transformer((StandardScaler(), ["number"]), remainder="passthrough")
    for kind in ("pandas", "polars", "default"):
        pipe = make_pipeline(scaled, faces.NaiveBayesClassifier()).set_output(transform=kind)
        assert pipe.fit(X.drop(columns="text"), Y).score(X.drop(columns="text"), Y) > 0.4


def test_weights_are_routed() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        face = faces.NaiveBayesClassifier().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        found = cross_validate(face, NUMBERS, Y, params={"sample_weight": WEIGHT}, cv=2, return_estimator=True)
        assert all(e.model_.schema.weight is not None for e in found["estimator"])
    doubled = faces.NaiveBayesClassifier().fit(np.repeat(NUMBERS, 2, axis=0), np.repeat(Y, 2))
    heavy = faces.NaiveBayesClassifier().fit(NUMBERS, Y, sample_weight=np.full(ROWS, 2.0))
    np.testing.assert_array_equal(heavy.predict_proba(NUMBERS), doubled.predict_proba(NUMBERS))


@pytest.mark.parametrize(
    "classes", [[True, False], [2.0, 10.0], ["NA", " a "], ["?", "", "NA", "'NA'"], ["true", "True"], [10**15, 3]]
)
def test_classes_may_be_called_anything(classes: list[Any]) -> None:
    y = np.array(classes)[np.arange(ROWS) % len(classes)]
    rows = NUMBERS + (np.arange(ROWS) % len(classes))[:, None] * 20
    found = faces.NaiveBayesClassifier().fit(rows, y)
    assert len(found.model_.classes) == len(classes)
    assert found.predict(rows).tolist() == y.tolist()
    assert found.explain(rows, 1, of=classes[1]).of == found._class_name(classes[1])


def test_counts_of_words_are_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*X["text"], ""]
    y = [*Y, 30]
    counts = CountVectorizer(token_pattern=r"\w+").fit_transform(texts)
    # Settings are chosen on rows that are dealt by their content, and the words of a matrix are x0, x1 …
    spelled = [" ".join(f"x{j}" for j, n in enumerate(row) for _ in range(n)) for row in counts.toarray()]
    for said, words in (("auto", spelled), (likely.Text("bernoulli"), texts)):
        named = pd.DataFrame({"t": [t or "." for t in words]})
        by_text = faces.NaiveBayesClassifier(text=said, types={"t": "text"}).fit(named, y)
        by_count = faces.NaiveBayesClassifier(text=said).fit(counts, y)
        np.testing.assert_allclose(by_count.predict_proba(counts), by_text.predict_proba(named), atol=1e-12)
    monkeypatch.setattr(counted, "_MOST", 50)  # many batches
    in_batches = faces.NaiveBayesClassifier(text=likely.Text("bernoulli")).fit(counts, y)
    assert in_batches.model_.to_bytes() == by_count.model_.to_bytes()
    pieces = faces.NaiveBayesClassifier(text=likely.Text("bernoulli"))
    for start in range(0, len(y), 20):
        pieces.partial_fit(counts[start : start + 20], y[start : start + 20])
    assert pieces.model_.to_bytes() == by_count.model_.to_bytes()
    assert "x" in str(by_count.explain(counts, 0))


def test_a_sparse_matrix_of_other_numbers_is_the_array(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts are words; a matrix that does not hold counts is what the same array would be, when asked, too."""
    rng = np.random.default_rng(3)
    x = np.where(rng.random((40, 6)) < 0.5, 0.0, rng.normal(size=(40, 6)))
    y = rng.integers(0, 3, 40)
    for face in (faces.NaiveBayesClassifier, faces.TextLogisticClassifier):
        dense, sparse = face().fit(x, y), face().fit(csr_array(x), y)
        assert sparse.model_.to_bytes() == dense.model_.to_bytes()
        whole = np.round(x)  # new rows that happen to be whole are still numbers
        for rows in (x, csr_array(x), whole, csr_array(whole)):
            full = rows.toarray() if hasattr(rows, "toarray") else rows
            np.testing.assert_array_equal(sparse.predict_proba(rows), dense.predict_proba(full))
    pieces = faces.NaiveBayesClassifier().partial_fit(csr_array(x[:20]), y[:20], classes=[0, 1, 2])
    pieces.partial_fit(csr_array(np.abs(np.round(x[20:]))), y[20:])
    monkeypatch.setattr("likely.sklearn.estimator.MOST_CELLS", 100)
    with pytest.raises(ValueError, match=r"too large.*Give counts of words"):
        faces.NaiveBayesClassifier().fit(csr_array(x), y)


def test_what_is_no_count_is_refused() -> None:
    counted = faces.NaiveBayesClassifier(text=likely.Text()).fit(csr_array(np.eye(4)), [0, 1, 0, 1])
    for bad in ([[0.5, 1.0, 0, 0]], [[-1.0, 1.0, 0, 0]], [[np.inf, 1.0, 0, 0]]):
        with pytest.raises(ValueError, match=r"sparse matrix is read as counts"):
            counted.predict(csr_array(np.array(bad)))
    with pytest.raises(ValueError, match="a sparse matrix of word counts"):
        counted.predict(np.eye(4))
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        faces.TreeAugmentedClassifier().fit(csr_array(np.eye(4)), [0, 1, 0, 1])


def test_impossible_rows_are_told() -> None:
    frame = pd.DataFrame({"a": list("xxxyy"), "b": list("uuuvv")})
    found = faces.NaiveBayesClassifier(pseudo_count=0).fit(frame, [1, 1, 1, 0, 0])
    odd = pd.DataFrame({"a": ["x", "y"], "b": ["v", "v"]})
    with pytest.warns(UserWarning, match="1 of 2 rows cannot be classified"):
        chances = found.predict_proba(odd)
    assert np.isnan(chances[0]).all() and chances[1].tolist() == [1.0, 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found.predict(odd).tolist() == [1, 0]


def test_decisions_and_explanations_speak_of_the_classes() -> None:
    found = faces.NaiveBayesClassifier(text=likely.Text(), loss=None).fit(X, Y)
    decision = found.decide(X, {30: {"go": 9}, -4: {"stay": 1}, 200: {"stay": 2}})
    assert decision.frame().index.equals(X.index) and set(decision.action) <= {"go", "stay"}
    ledger = found.explain(X, row=4, of=200, against=-4)
    assert ledger.of == "200" and ledger.against == "-4"
    assert found.explain(X, row=-1).posterior == found.explain(X, row=ROWS - 1).posterior
    with pytest.raises(IndexError, match="90 rows, counted from 0"):
        found.explain(X, row=ROWS)
    plain = faces.NaiveBayesClassifier().fit(NUMBERS, Y)
    assert [e.name for e in plain.explain(NUMBERS[:1], order="schema").entries][1:] == ["x0", "x1", "x2", "x3"]


def test_a_refused_setting_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="pseudo_count is '-1'") as told:
        faces.NaiveBayesClassifier(pseudo_count=-1).fit(NUMBERS, Y)
    assert isinstance(told.value.__cause__, likely.LikelyError)
    with pytest.raises(ValueError, match="numbers or nominal attributes only"):
        faces.FullBayesClassifier().fit(X.drop(columns="text"), Y)
    with pytest.raises(ValueError, match="0 sample"):
        faces.TreeAugmentedClassifier().fit(X.iloc[:0], [])


def test_the_density_estimator() -> None:
    found = faces.DensityEstimator(density="naive").fit(X)
    assert found.score(X) == pytest.approx(np.mean(found.score_samples(X)))
    assert found.score_samples(X.assign(number=1e6)).max() < found.score_samples(X).min()
    assert len(found.sample(3)["number"]) == 3
    assert not hasattr(faces.LogisticClassifier(), "score_samples")


def test_without_scikit_learn_a_sentence_names_the_extra() -> None:
    program = "import sys; sys.modules['sklearn'] = None\nimport likely\nimport likely.sklearn"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode and "pip install 'likely[sklearn]'" in done.stderr.splitlines()[-1]


ODD = np.random.default_rng(5).normal(size=(400, 2))
RARE = np.where(ODD[:, 0] + np.random.default_rng(6).normal(size=400) > 1.8, "rare", "usual")


@pytest.mark.parametrize("name", ["NaiveBayes", "Additive", "Auto"])
def test_class_weights_are_row_weights(name: str) -> None:
    maker, rare = getattr(likely.sklearn, f"{name}Classifier"), RARE == "rare"
    one = maker(class_weight={"rare": 4, "usual": 0.5}).fit(ODD, RARE)
    same = maker().fit(ODD, RARE, sample_weight=np.where(rare, 4, 0.5))
    assert np.array_equal(one.predict_proba(ODD), same.predict_proba(ODD))
    even, plain = maker(class_weight="balanced").fit(ODD, RARE), maker().fit(ODD, RARE)
    assert even.model_.summary.total.floats().tolist() == pytest.approx([200, 200])
    assert (even.predict(ODD) == "rare").sum() > (plain.predict(ODD) == "rare").sum()
    both = maker(class_weight={"rare": 2}).fit(ODD, RARE, sample_weight=np.full(400, 3.0))
    assert both.model_.summary.total.floats().tolist() == [6 * rare.sum(), 3 * (~rare).sum()]


def test_balanced_classes_cannot_be_known_piece_by_piece() -> None:
    with pytest.raises(ValueError, match="needs all rows at once"):
        likely.sklearn.NaiveBayesClassifier(class_weight="balanced").partial_fit(ODD, RARE)
    part = likely.sklearn.NaiveBayesClassifier(class_weight={"rare": 4}).partial_fit(ODD[:200], RARE[:200])
    part.partial_fit(ODD[200:], RARE[200:])
    whole = likely.sklearn.NaiveBayesClassifier(class_weight={"rare": 4}).fit(ODD, RARE)
    assert np.array_equal(part.predict_proba(ODD), whole.predict_proba(ODD))


@pytest.mark.parametrize("name", ["monotone", "monotonic_cst"])
def test_what_others_call_monotone_is_rising_or_falling(name: str) -> None:
    with pytest.raises(TypeError, match="rising and falling name columns"):
        likely.sklearn.AdditiveClassifier(**{name: {"x": 1}})
