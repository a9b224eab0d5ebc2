"""Text in naive Bayes: what is chosen, kept, merged, taken apart and refused."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely import Text
from likely.apply.fitting import merge_files, unlearn
from likely.apply.spec import parse_spec, spec_of
from likely.errors import ColumnError, SettingError
from likely.models.registry import learner_named, settings_of
from likely.models.text.factor import ABSENT, HeldOutRows, best_scales
from likely.sums import state

SPEAK = {"spam": ["win", "free", "cash", "now"], "ham": ["lunch", "report", "team", "thanks"], "ad": ["buy", "sale"]}
EVERY = ["the", "a", "to", "you", "and"]
TYPES = {"body": "text", "head line": "text", "n": "number", "sky": "nominal"}


def mails(rows: int, seed: int = 0, noise: float = 0.3, classes: int = 2) -> dict[str, list[Any]]:
    """Mails with two texts, a number and a level; some cells are missing."""
    rng = np.random.default_rng(seed)
    names = list(SPEAK)[:classes]
    out: dict[str, list[Any]] = {"body": [], "head line": [], "n": [], "sky": [], "label": []}
    for k in range(rows):
        label = names[int(rng.integers(classes))]

        def text(count: int, label: str = label) -> str:
            own = SPEAK[label] if rng.random() > noise else SPEAK[names[int(rng.integers(classes))]]
            return " ".join(rng.choice(own) if rng.random() < 0.4 else rng.choice(EVERY) for _ in range(count))

        out["body"].append(None if k % 11 == 3 else text(int(rng.integers(1, 40))))
        out["head line"].append(text(int(rng.integers(1, 4))) + (f" nr{k}" if k % 3 else " ...!"))
        out["n"].append(float(rng.normal(names.index(label))))
        out["sky"].append(rng.choice(["sun", "rain"]))
        out["label"].append(label)
    return out


def fitted(table: dict[str, list[Any]], learner: Any = None, **how: Any) -> Any:
    own = learner or likely.NaiveBayes()
    return likely.fit(table, "label", own, types={n: k for n, k in TYPES.items() if n in table}, **how)


def some(table: dict[str, list[Any]], rows: slice) -> dict[str, list[Any]]:
    return {name: cells[rows] for name, cells in table.items()}


SETTINGS = [
    Text(),
    Text("bernoulli"),
    Text("complement", 0.1, "root", True, scale=3.0),
    Text("complement", idf=True, damping="log", least_documents=2, scale="none"),
    Text("contrast", 0.01, "root", True, scale=2.0, telling=True),
    Text("multinomial", most_words=5),
]


@pytest.mark.parametrize("how", SETTINGS, ids=lambda how: how.written())
def test_terms_and_parts_add_up_and_texts_stand_beside_numbers_and_levels(how: Text) -> None:
    table = mails(120, classes=3)
    model = fitted(table, likely.NaiveBayes(text=how))
    assert [f.name for f in model.factors] == ["body", "head line", "n", "sky"]
    (batch,) = model.batches(table)
    terms = model.terms(batch)
    assert terms.names == ("prior", "body", "head line", "n", "sky")
    joint = terms.array[:, 0].copy()
    for k in range(1, 5):
        joint += terms.array[:, k]
    np.testing.assert_array_equal(joint, model.log_joint(batch))
    for row in (0, 3, 5, 7):
        for place, factor in ((1, model.texts[0]), (2, model.texts[1])):
            names, logs = factor.parts(batch.cells[factor.name].take([row]))
            np.testing.assert_allclose(logs.sum(0), terms.array[row, place], atol=1e-12)
            assert (ABSENT in names) == (how.model == "bernoulli" and table[factor.name][row] is not None)
    assert not terms.array[3, 1].any()  # a missing text says nothing
    assert likely.explain(model, {n: table[n][0] for n in TYPES}).additive


def test_a_text_that_is_not_there_is_missing() -> None:
    model = fitted(mails(60), likely.NaiveBayes(text=Text()))
    assert (
        model.posterior({"n": 1.0}).matrix.tolist()
        == model.posterior({"n": 1.0, "body": "", "head line": None}).matrix.tolist()
    )


# -- choosing -----------------------------------------------------------------------------------------------------


def test_settings_are_chosen_said_kept_and_frozen(tmp_path: Path) -> None:
    table = mails(600)
    model = fitted(table)
    assert set(model.chosen) == {"body", "head line"}
    for name, how in model.chosen.items():
        assert not how.is_open and isinstance(how.scale, float)
        assert any(note.startswith(repr(name)) and "chosen by log loss" in note for note in model.notes)
    assert model.proper and not model.generative
    model.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    assert again.chosen == model.chosen and again.notes == model.notes
    np.testing.assert_array_equal(again.posterior(table).matrix, model.posterior(table).matrix)
    again.save(tmp_path / "n.likely")
    assert (tmp_path / "n.likely").read_bytes() == (tmp_path / "m.likely").read_bytes()
    spec = parse_spec(spec_of(model).toml(), "spec")
    assert spec.learner.text_by_column == model.chosen and spec.flat() == spec_of(again).flat()
    frozen = fitted(table, spec.learner)
    np.testing.assert_array_equal(frozen.posterior(table).matrix, model.posterior(table).matrix)
    assert not frozen.search_state()


def test_one_text_column_is_frozen_as_the_setting_of_text() -> None:
    table = mails(300)
    del table["head line"]
    model = fitted(table)
    spec = parse_spec(spec_of(model).toml(), "spec")
    assert spec.learner.text == model.chosen["body"] and not spec.learner.text_by_column
    assert "[learner.text]" in spec.toml()


@pytest.mark.parametrize("rows", [200, 1500])
def test_neither_threads_nor_batches_change_the_choice(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow as pa

    table = pa.table(mails(rows, classes=3))
    cut = pa.Table.from_batches(table.to_batches(max_chunksize=37))
    found = []
    for threads in (1, 3):
        monkeypatch.setenv("LIKELY_THREADS", str(threads))  # for candidates, which are judged side by side
        found += [fitted_arrow(t, threads) for t in (table, cut)]
    assert len({json.dumps(state.plain(m.chosen), sort_keys=True) for m in found}) == 1
    assert len({m.posterior(table).matrix.tobytes() for m in found}) == 1


@pytest.mark.parametrize(("rows", "in_turn"), [(60, True), (5_000, True), (21_000, False)])
def test_all_rows_are_held_out_where_they_and_their_words_are_few(rows: int, in_turn: bool) -> None:
    from likely.models.text.search import held_out_in_turn

    table = {"body": ["win cash", "a lunch today"] * (rows // 2), "label": ["x", "y"] * (rows // 2)}
    summary = likely.summarize(table, "label", types={"body": "text"})
    assert held_out_in_turn(summary, ["body"]) is in_turn
    long = {"body": ["win cash " * 1000, "a lunch " * 1000] * 1500, "label": ["x", "y"] * 1500}
    if rows == 5_000:
        assert not held_out_in_turn(likely.summarize(long, "label", types={"body": "text"}), ["body"])


def fitted_arrow(table: Any, threads: int) -> Any:
    return likely.fit(table, "label", likely.NaiveBayes(), types=TYPES, threads=threads)


def test_the_choice_is_good_on_rows_that_were_not_learned() -> None:
    """Better than the textbook model, whose words are counted as if they were independent, by far."""
    table, new = mails(1500, 1, noise=0.4), mails(800, 2, noise=0.4)
    truth = np.array([["spam", "ham"].index(v) for v in new["label"]])

    def loss(model: Any) -> float:
        found = model.posterior({n: new[n] for n in TYPES})
        order = [model.classes.index(c) for c in ("spam", "ham")]
        return float(-np.log(found.matrix[:, order][np.arange(len(truth)), truth]).mean())

    assert loss(fitted(table)) < loss(fitted(table, likely.NaiveBayes(text=Text()))) - 0.02


def test_what_is_said_is_not_chosen() -> None:
    table = mails(300)
    model = fitted(table, likely.NaiveBayes(text="bernoulli", text_by_column={"head line": Text.auto(damping="log")}))
    assert model.chosen["body"].model == "bernoulli" and model.chosen["head line"].damping == "log"
    model = fitted(table, likely.NaiveBayes(text=Text("complement", 0.5, length=True)))
    assert {h.scale for h in model.chosen.values()} != {1.0}
    assert {(h.model, h.pseudo_count, h.length, h.damping) for h in model.chosen.values()} == {
        ("complement", 0.5, True, "none")
    }


def test_a_class_is_told_by_words_that_tell_among_many_that_do_not() -> None:
    """Texts of a few telling words in hundreds that are everyone's: what tells must count more, and that is chosen."""
    rng = np.random.default_rng(5)
    names, everyone = [f"c{k}" for k in range(6)], [f"w{k}" for k in range(5000)]

    def texts(rows: int) -> tuple[list[str], list[str]]:
        labels = [names[int(k)] for k in rng.integers(0, 6, rows)]
        out = []
        for label in labels:
            topics = [label if rng.random() < 0.6 else names[int(rng.integers(6))] for _ in range(4)]
            own = [f"{topic}{rng.integers(30)}" for topic in topics]
            out.append(" ".join([*own, *rng.choice(everyone, int(rng.integers(30, 150)))]))
        return out, labels

    (train, labels), (new, truth) = texts(1200), texts(600)
    model = likely.fit({"t": train, "y": labels}, "y", likely.NaiveBayes(), types={"t": "text"})
    assert model.chosen["t"].telling is True

    def loss(model: Any) -> float:
        chances = model.posterior({"t": new}).matrix
        return float(-np.log(chances[np.arange(600), [model.classes.index(t) for t in truth]]).mean())

    other = likely.NaiveBayes(text=Text.auto(telling=False))
    assert loss(model) < 0.85 * loss(likely.fit({"t": train, "y": labels}, "y", other, types={"t": "text"}))


def test_of_two_classes_contrast_is_multinomial_twice() -> None:
    table = mails(200)
    for telling in (False, True):
        one = fitted(table, likely.NaiveBayes(text=Text("contrast", 0.1, "root", True, scale=1.0, telling=telling)))
        two = fitted(table, likely.NaiveBayes(text=Text("multinomial", 0.1, "root", True, scale=2.0, telling=telling)))
        np.testing.assert_allclose(one.posterior(table).matrix, two.posterior(table).matrix, rtol=1e-9)


def test_with_few_rows_the_textbook_model_is_taken_and_said() -> None:
    model = fitted(mails(30))
    assert not model.chosen and {t.settings for t in model.texts} == {Text(scale="none")} and model.generative
    assert sum("too few rows" in note for note in model.notes) == 2
    model = fitted(mails(30), likely.NaiveBayes(text="complement"))
    assert not model.proper and any("not probabilities" in note for note in model.notes)


def test_weights_are_rows() -> None:
    table = mails(90)
    double = {name: cells + cells for name, cells in table.items()}
    heavy = {**table, "w": [2.0] * 90}
    for how in SETTINGS:
        one = fitted(double, likely.NaiveBayes(text=how))
        two = fitted(heavy, likely.NaiveBayes(text=how), weight="w")
        np.testing.assert_allclose(one.posterior(table).matrix, two.posterior(table).matrix, rtol=1e-9)


def test_scales_maximise_the_log_score() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 500)
    scores = [rng.normal(size=(500, 3)) + np.eye(3)[truth] * size for size in (1.0, 3.0)]
    rows = HeldOutRows(np.zeros((500, 3)), scores, truth, rng.choice([1.0, 0.5], 500))
    found, value = best_scales([rows], None)
    for step in ([0.01, 0], [-0.01, 0], [0, 0.01], [0, -0.01]):
        assert best_scales([rows], found + np.array(step))[1] < value
    worse = HeldOutRows(np.zeros((500, 3)), [-scores[1]], truth, np.ones(500))
    assert best_scales([worse], None)[0].tolist() == [0.001]


def test_huge_texts_are_learned_from_and_answered() -> None:
    """A text of two million words, and a word of three million letters: neither is held out, both are known again."""
    table = mails(300)
    long, word = "win " * 2_000_000, "y" * 3_000_000
    table = {"body": [*table["body"], long, word], "label": [*table["label"], "spam", "ham"]}
    chosen, plain = fitted(table), fitted(table, likely.NaiveBayes(text=Text()))
    assert plain.predict({"body": long}) == "spam" and plain.predict({"body": f"{word} {word}"}) == "ham"
    assert np.isfinite(chosen.posterior({"body": [long, word]}).matrix).all()


def test_rows_of_texts_are_kept_by_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few words may stand among many blanks: they are not kept, and nothing else changes."""
    from likely.intake import engine as holding

    table = {k: v for k, v in mails(200).items() if k in ("body", "label")}
    wide = {**table, "body": [f"{cell}{' ' * 4000}." if cell else cell for cell in table["body"]]}
    kept: list[int] = []
    monkeypatch.setattr(holding, "MOST_BYTES", 200_000)
    real = holding.RowCache.__iter__

    def watched(held: holding.RowCache) -> Any:
        yield from real(held)
        kept.append(len(held._pieces or ()))

    monkeypatch.setattr(holding.RowCache, "__iter__", watched)
    one, two = fitted(table), fitted(wide)
    assert one.chosen == two.chosen and kept[0] > 0 == kept[-1]


# -- sums -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "learner", [likely.NaiveBayes(text=how) for how in SETTINGS[:3]] + [likely.NaiveBayes()], ids=str
)
def test_learning_on_and_unlearning_keep_the_settings(learner: Any, tmp_path: Path) -> None:
    table = mails(400)
    one, two = some(table, slice(0, 250)), some(table, slice(250, 400))
    first = fitted(one, learner)
    more = likely.learn(first, two)
    assert more.chosen == first.chosen and more.summary == fitted(table, learner).summary
    back = unlearn(more, two)
    np.testing.assert_array_equal(back.posterior(table).matrix, first.posterior(table).matrix)
    first.save(tmp_path / "a.likely")
    other = likely.fit(two, "label", learner, schema=first.schema)
    other.save(tmp_path / "b.likely")
    both = merge_files([tmp_path / "a.likely", tmp_path / "b.likely"])
    np.testing.assert_array_equal(both.posterior(table).matrix, more.posterior(table).matrix)


def test_folds_choose_for_themselves() -> None:
    table = mails(500)
    found = likely.look(table, "label", folds=4, types=TYPES)
    assert found.scores.accuracy > 0.75
    assert any("chosen" in note for note in found.notes)
    both = {"chosen": likely.NaiveBayes(), "textbook": likely.NaiveBayes(text=Text())}
    found = likely.compare(table, "label", both, folds=3, types=TYPES)
    loss = {one.name: one.scores.log_loss for one in found.learners if one.scores is not None}
    assert loss["chosen"] < loss["textbook"]


def test_a_class_that_only_held_out_rows_have_does_not_matter() -> None:
    table = mails(300)
    table["label"][7] = "rare"
    model = fitted(table)
    assert "rare" in model.classes and model.chosen


def test_knowledge_of_classes_and_of_numbers_goes_with_text() -> None:
    known = [likely.Knowledge.prior({"spam": 0.5, "ham": 0.3, "odd": 0.2}, worth=100)]
    model = fitted(mails(300), likely.NaiveBayes(knowledge=known))
    assert model.chosen and "odd" in model.classes
    bad = [likely.Knowledge("body", given="spam", probability=0.5, worth=10)]
    with pytest.raises(SettingError, match="is a text, of whose words nothing can be known"):
        fitted(mails(60), likely.NaiveBayes(knowledge=bad))


def test_blocks_go_with_text() -> None:
    table = mails(300)
    table["m"] = [x + 0.5 for x in table["n"]]
    model = fitted(table, likely.NaiveBayes(blocks=[["n", "m"]]))
    assert model.chosen and model.block_of("m") is not None
    with pytest.raises(ColumnError, match="is a text"):
        fitted(table, likely.NaiveBayes(blocks=[["n", "body"]]))


# -- for people -----------------------------------------------------------------------------------------------------


def test_strongest_words_and_words_of_one_class() -> None:
    table = {
        "body": ["win cash the", "win the", "win cash", "lunch the", "lunch a the", "lunch team"],
        "label": ["spam"] * 3 + ["ham"] * 3,
    }
    model = fitted(table, likely.NaiveBayes(text=Text()))
    (text,) = model.texts
    words = list(text.scores.vocabulary)
    assert [words[k] for k in text.strongest(model.classes.index("spam"))][:2] == ["win", "cash"]
    assert [words[k] for k in text.only_in(model.classes.index("ham"))] == ["lunch", "a", "team"]
    titles = {e.title: e.rows for e in model.exhibits()}
    rows = titles["Words of 'body' that speak most for each class"]
    assert rows[0][:2] == ("ham", "lunch") and rows[0][3:] == (3.0, 0.0)
    ham, spam = (Counter(" ".join(table["body"][some]).split()) for some in (slice(3, 6), slice(3)))
    count = len(words)
    expected = math.log2((ham["lunch"] + 1) / (ham.total() + count) * (spam.total() + count) / (spam["lunch"] + 1))
    assert rows[0][2] == pytest.approx(expected)


def test_words_drawn_are_words_of_the_class() -> None:
    table = {"body": ["win cash"] * 5 + ["lunch team lunch"] * 5, "label": ["spam"] * 5 + ["ham"] * 5}
    for how in (Text(pseudo_count=0), Text("bernoulli", 1e-9)):
        drawn = fitted(table, likely.NaiveBayes(text=how)).sample(50, seed=3)
        for body, label in zip(drawn["body"], drawn["label"], strict=True):
            assert set(body.split()) <= ({"win", "cash"} if label == "spam" else {"lunch", "team"})
    with pytest.raises(SettingError, match="does not say how texts come about"):
        fitted(table, likely.NaiveBayes(text=Text("complement", scale=2.0))).sample(2)
    with pytest.raises(SettingError, match="pairs of words"):
        fitted(table, likely.NaiveBayes(text=Text()), tokens=likely.Tokens(pairs=True)).sample(2)


def test_a_density_is_refused_where_the_score_is_none() -> None:
    model = fitted(mails(60), likely.NaiveBayes(text=Text("complement", scale=2.0)))
    with pytest.raises(SettingError, match=r"not P\(words\)"):
        model.log_density({"body": "win"})


def test_the_working_speaks_of_the_words() -> None:
    model = fitted(mails(60), likely.NaiveBayes(text=Text()))
    found = model.working({"body": "win the unheard", "n": 1.0})
    assert any("2 of 3 are known" in note for note in found.notes)
    assert any("'head line' is missing" in note for note in found.notes)


def test_other_learners_leave_text_out() -> None:
    table = mails(60)
    for learner in (likely.TreeAugmented(), likely.Logistic(), likely.FullBayes(density="table"), likely.Prior()):
        model = likely.fit(
            {k: v for k, v in table.items() if k != "n"},
            "label",
            learner,
            types={k: v for k, v in TYPES.items() if k != "n"},
        )
        assert model.schema["body"].role == "left out"


# -- what may be said ------------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(
    st.builds(
        Text.auto,
        model=st.sampled_from(["auto", "multinomial", "complement", "contrast"]),
        pseudo_count=st.sampled_from(["auto", 0.5, 2]),
        damping=st.sampled_from(["auto", "none", "log", "root", "binary"]),
        length=st.sampled_from(["auto", True, False]),
        idf=st.booleans(),
        least_documents=st.sampled_from(["auto", 1, 3]),
        most_words=st.sampled_from([None, 7]),
        scale=st.sampled_from(["auto", "none", 2.5]),
        telling=st.sampled_from(["auto", True, False]),
    )
)
def test_settings_survive_json_and_toml(how: Text) -> None:
    learner = likely.NaiveBayes(text=how, text_by_column={'a.b "c"': how, "d": "bernoulli"})
    plain = json.loads(json.dumps(settings_of(learner)))
    assert learner_named("NaiveBayes", plain) == learner
    assert state.built(likely.NaiveBayes, plain) == learner
    from likely.apply.spec import Spec

    assert parse_spec(Spec(learner=learner).toml(), "s").learner == learner
    assert not how.with_defaults().is_open


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"model": "poisson"}, "must be one of auto, multinomial"),
        ({"pseudo_count": -1}, "zero or more"),
        ({"pseudo_count": math.nan}, "finite"),
        ({"model": "complement", "pseudo_count": 0}, "Say a small one"),
        ({"model": "bernoulli", "damping": "log"}, "have no place"),
        ({"model": "bernoulli", "length": True}, "have no place"),
        ({"model": "bernoulli", "telling": True}, "have no place"),
        ({"model": "contrast", "pseudo_count": 0}, "Say a small one"),
        ({"telling": "much"}, "one of true, false, auto"),
        ({"least_documents": 0}, "whole number"),
        ({"most_words": 2.5}, "whole number"),
        ({"scale": 0}, "say nothing"),
        ({"scale": "big"}, "finite"),
        ({"length": "yes"}, "one of true, false, auto"),
        ({"damping": "cube"}, "must be one of"),
        ({"dampin": "log"}, "Did you mean 'damping'"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(said: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        learner_named("NaiveBayes", {"text": said})


def test_settings_of_a_column_that_is_no_text_are_refused() -> None:
    with pytest.raises(SettingError, match="not a text attribute"):
        fitted(mails(60), likely.NaiveBayes(text_by_column={"n": Text()}))
    with pytest.raises(ColumnError, match=r"There is no column 'bodi'\. Did you mean 'body'"):
        fitted(mails(60), likely.NaiveBayes(text_by_column={"bodi": Text()}))


def test_words_that_fewer_texts_have_and_the_most_telling_ones() -> None:
    model = fitted(mails(200), likely.NaiveBayes(text=Text(least_documents=2, most_words=3)))
    assert all(len(t.scores.vocabulary) == 3 for t in model.texts)
    assert set(model.texts[0].scores.vocabulary) <= {w for words in SPEAK.values() for w in words}
    none = fitted(mails(60), likely.NaiveBayes(text=Text(least_documents=1000)))
    assert not none.texts and sum("no word to learn from" in note for note in none.notes) == 2


def test_tokens_are_said_for_all_columns_or_for_one() -> None:
    table = mails(60)
    model = fitted(table, likely.NaiveBayes(text=Text()), tokens={"body": likely.Tokens(pairs=True)})
    assert any(" " in word for word in model.texts[0].scores.vocabulary)
    assert not any(" " in word for word in model.texts[1].scores.vocabulary)
    spec = parse_spec(spec_of(model).toml(), "s")
    assert spec.tokens == {"body": likely.Tokens(pairs=True)}
    again = likely.fit(table, "label", spec.learner, **spec.reading())
    assert again.schema == model.schema and again.summary == model.summary
    with pytest.raises(ColumnError, match="the column is number"):
        fitted(table, tokens={"n": likely.Tokens()})
    with pytest.raises(ColumnError, match="no such column"):
        fitted(table, tokens={"bodi": likely.Tokens()})
