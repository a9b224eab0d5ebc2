"""Knowledge before data: exact fractions by hand, what it is the same as, its laws, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import likely
from likely import Knowledge, NaiveBayes
from likely.errors import ColumnError, LikelyError, NotLearned, SettingError
from likely.models.pool.hypotheses import log_evidence
from likely.models.shapes import Gaussian
from likely.sums import state
from likely.table.batch import UNSEEN_CODE

WORTH = {"worth": 10}
SICK = {
    "fever": ["yes", "yes", "no", "yes", "no", "no"],
    "temp": [39.0, 40.0, 37.5, 36.5, 37.0, 36.0],
    "disease": ["flu", "flu", "flu", "cold", "cold", "cold"],
}
TYPES = {"fever": "nominal", "temp": "number"}
KNOWN = [
    Knowledge.prior({"flu": 0.01, "cold": 0.99}, worth=1000),
    Knowledge("fever", given="flu", probability=0.9, worth=40),
    Knowledge("temp", given="flu", mean=39, deviation=0.8, worth=20),
]


def model_of(data: Any, knowledge: Any, target: str = "disease", types: Any = None, **settings: Any) -> Any:
    return likely.fit(data, target, NaiveBayes(knowledge=knowledge, **settings), types=types)


def sick(**settings: Any) -> Any:
    return likely.fit(SICK, "disease", NaiveBayes(**settings), types=TYPES)


def chance(model: Any, name: str, level: str, label: str) -> F:
    factor = next(f for f in model.factors if f.name == name)
    quotient = factor.quotients(factor.labels.index[level])[model.classes.index(label)]
    logged = factor.log_table[factor.labels.index[level], model.classes.index(label)]
    assert logged == pytest.approx(math.log(quotient.value) if quotient.value else -math.inf, rel=1e-12)
    return quotient.value


def normal(model: Any, name: str, label: str) -> tuple[float, float]:
    factor = next(f for f in model.factors if f.name == name)
    assert isinstance(factor, Gaussian)
    k = model.classes.index(label)
    return float(factor.mean[k]), float(factor.deviation[k])


# -- by hand ------------------------------------------------------------------------------------------------


def test_a_level_a_mean_and_a_prior_by_hand() -> None:
    model = sick(knowledge=KNOWN, variance="ml")
    assert chance(model, "fever", "yes", "flu") == F(2 + 36, 3 + 40)
    assert chance(model, "fever", "no", "flu") == F(1 + 4, 3 + 40)
    assert chance(model, "fever", "yes", "cold") == F(1 + 1, 3 + 2)  # nothing known: the pseudo-count
    assert [q.value for q in model.prior] == [F(3 + 990, 1006), F(3 + 10, 1006)]
    # 39, 40, 37.5 and twenty rows of mean 39 and variance 0.64, by the textbook.
    rows, mean = [F(39), F(40), F(75, 2)], F("116.5") / 23 + F(20 * 39, 23)
    squares = sum((x - mean) ** 2 for x in rows) + 20 * (F(16, 25) + (39 - mean) ** 2)
    assert normal(model, "temp", "flu") == pytest.approx((float(mean), math.sqrt(squares / 23)), rel=1e-15)
    assert normal(model, "temp", "cold") == pytest.approx((36.5, math.sqrt(0.5 / 3)), rel=1e-15)


def test_the_unbiased_variance_takes_one_from_the_rows_and_nothing_from_knowledge() -> None:
    model = sick(knowledge=KNOWN)
    rows, mean = [F(39), F(40), F(75, 2)], F("116.5") / 23 + F(20 * 39, 23)
    squares = sum((x - mean) ** 2 for x in rows) + 20 * (F(16, 25) + (39 - mean) ** 2)
    assert normal(model, "temp", "flu")[1] == pytest.approx(math.sqrt(squares / (3 - 1 + 20)), rel=1e-15)
    alone = likely.fit(None, "disease", NaiveBayes(knowledge=KNOWN))
    assert normal(alone, "temp", "flu") == (39.0, 0.8)  # as it was said, under either estimator
    assert normal(likely.fit(None, "disease", NaiveBayes(knowledge=KNOWN, variance="ml")), "temp", "flu") == (39.0, 0.8)
    half = [Knowledge("temp", given="flu", mean=39, deviation=0.8, worth=0.5), *KNOWN[:2]]
    assert normal(likely.fit(None, "disease", NaiveBayes(knowledge=half)), "temp", "flu") == (39.0, 0.8)


def test_the_working_shows_knowledge_in_its_fractions() -> None:
    model = sick(knowledge=KNOWN[:2])
    text = str(model.working({"fever": "yes"}))
    assert "L(cold) = 993/1006 × 2/5" in text and "L(flu) = 13/1006 × 38/43" in text


def test_what_is_left_of_one_is_shared_by_the_other_levels() -> None:
    data = {"sky": ["sun", "rain", "snow", "sun"], "play": ["y", "y", "n", "n"]}
    model = model_of(data, [Knowledge("sky", level="sun", given="y", probability=0.3, worth=10)], "play")
    assert [chance(model, "sky", v, "y") for v in ("rain", "snow", "sun")] == [F(9, 24), F(7, 24), F(8, 24)]
    both = [Knowledge("sky", level=v, given="y", probability=p, worth=10) for v, p in (("sun", 0.3), ("rain", 0.5))]
    one = Knowledge("sky", levels={"sun": 0.3, "rain": 0.5}, given="y", worth=10)
    for said in (both, [one], one):
        model = model_of(data, said, "play")
        assert [chance(model, "sky", v, "y") for v in ("rain", "snow", "sun")] == [F(6, 12), F(2, 12), F(4, 12)]


def test_what_is_left_waits_for_levels_yet_to_come() -> None:
    data = {"sky": ["sun", "sun"], "play": ["y", "n"]}
    known = Knowledge("sky", level="sun", given="y", probability=0.3, worth=10)
    model = model_of(data, known, "play", {"sky": "nominal"})
    assert chance(model, "sky", "sun", "y") == F(1 + 3, 1 + 10)
    model = model_of(data, known, "play", {"sky": "nominal"}, unseen="reserve")
    (factor,) = model.factors
    other, seen = factor.quotients(UNSEEN_CODE)[1], factor.quotients(0)[1]
    assert (other.value + seen.value, other.value) == (1, F(7 + 3, 1 + 10 + 3))
    more = likely.learn(model, {"sky": ["rain"], "play": ["y"]})
    assert chance(more, "sky", "rain", "y") == F(1 + 7, 2 + 10 + 5)  # and one more share for others


def test_levels_and_classes_that_no_row_has_are_known() -> None:
    known = [
        Knowledge("fever", given="malaria", levels={"yes": 0.8, "every third day": 0.2}, worth=5),
        Knowledge.prior({"malaria": 0.1}, worth=10),
    ]
    model = sick(knowledge=known)
    assert model.classes == ("cold", "flu", "malaria")
    assert [q.value for q in model.prior] == [F(3 + F(9, 2), 16), F(3 + F(9, 2), 16), F(1, 16)]
    assert chance(model, "fever", "every third day", "malaria") == F(1, 5)
    assert chance(model, "fever", "no", "malaria") == 0
    assert chance(model, "fever", "every third day", "flu") == F(1, 6)
    found = model.posterior({"fever": "every third day"})
    # 15/32 × 1/6 for each of the two classes that rows have, against 1/16 × 1/5
    assert found.unseen == {} and found.prob("malaria") == pytest.approx(F(1, 80) / (2 * F(15, 192) + F(1, 80)))
    assert any("'malaria'" in n for n in model.notes) and any("'every third day'" in n for n in model.notes)
    assert sum(model.posterior({"temp": 39.0}).matrix[0]) == pytest.approx(1)


def test_a_class_that_only_knowledge_names_is_impossible_until_its_frequency_is_known() -> None:
    model = sick(knowledge=[Knowledge("fever", given="flue", probability=0.9, worth=5)])
    assert [q.value for q in model.prior] == [F(1, 2), F(1, 2), F(0)]
    assert any("'flue'" in n and "prior is 0" in n and "'flu'" in n for n in model.notes)


@pytest.mark.parametrize(
    ("cells", "true"),
    [
        (["yes", "no"], "yes"),
        (["TRUE", "FALSE"], "TRUE"),
        (["N", "N"], "Y"),
        (["No", "No"], "Yes"),
        ([True, False], "true"),
        (["f", "t"], "t"),
        (["1", "0"], "1"),
        ([1, 0], "1"),
    ],
)
def test_the_level_that_means_true(cells: list[Any], true: str) -> None:
    data = {"fever": cells, "disease": ["flu", "cold"]}
    known = Knowledge("fever", given="flu", probability=0.9, worth=9)
    model = model_of(data, known, types={"fever": "nominal"})
    first = label_of(cells[0])
    assert chance(model, "fever", true, "flu") == F(81, 10) / 10 + (F(1, 10) if first == true else 0)
    assert sum(chance(model, "fever", v, "flu") for v in model.levels("fever")) == 1


def label_of(cell: Any) -> str:
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


def test_who_says_how_probable_yes_is_has_said_it_of_no() -> None:
    for said in ({"level": "yes", "probability": 0.9}, {"level": "no", "probability": 0.1}):
        model = likely.fit(None, "d", NaiveBayes(knowledge=[Knowledge("fever", given="flu", **said, worth=10)]))
        assert model.levels("fever") == ["no", "yes"]
        assert chance(model, "fever", "yes", "flu") == F(9, 10)


def test_truth_in_python_is_spelled_as_the_file_spells_it() -> None:
    data = {"fever": ["True", "False"], "disease": ["flu", "cold"]}
    model = model_of(
        data, Knowledge("fever", level=True, given="flu", probability=0.9, worth=9), types={"fever": "nominal"}
    )
    assert model.levels("fever") == ["False", "True"]


# -- what it is the same as ---------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [{}, {"missing": "level"}, {"unseen": "reserve"}])
def test_with_worth_m_it_is_the_m_estimate_bit_for_bit(more: dict[str, Any]) -> None:
    data = {"a": ["u", "v", None, "w", "u", "u"], "t": ["p", "p", "p", "q", "q", "q"]}
    shares = {"u": 0.5, "v": 0.3, "w": 0.2}
    one = likely.fit(data, "t", NaiveBayes(m_estimate=7, level_weights={"a": shares}, **more))
    two = likely.fit(data, "t", NaiveBayes(knowledge=[Knowledge("a", levels=shares, worth=7)], **more))
    rows = {"a": ["u", "v", "w", None, "x"]}
    assert np.array_equal(one.posterior(rows).matrix, two.posterior(rows).matrix)
    for code in (0, 1, 2, -1, -2):
        assert one.factors[0].quotients(code) == two.factors[0].quotients(code)
    assert log_evidence(one.learner, one.summary) == log_evidence(two.learner, two.summary)


def test_equal_shares_are_the_pseudo_count() -> None:
    shares = {"yes": 0.5, "no": 0.5}
    one, two = sick(), sick(knowledge=[Knowledge("fever", levels=shares, worth=2)])
    assert np.array_equal(one.posterior(SICK).matrix, two.posterior(SICK).matrix)
    one, two = sick(prior_pseudo_count=5), sick(knowledge=[Knowledge.prior({"flu": 0.5, "cold": 0.5}, worth=10)])
    assert one.prior == two.prior


def test_under_ml_it_is_as_if_rows_had_said_it() -> None:
    # 38.2 and 39.8 have mean 39 and variance 0.64; ten of each are twenty rows.
    rows = {k: [*v] for k, v in SICK.items()}
    for value in (38.25, 39.75):
        rows["temp"] += [value] * 10
        rows["fever"] += ["yes"] * 9 + ["no"]
        rows["disease"] += ["flu"] * 10
    known = [
        Knowledge("temp", given="flu", mean=39, deviation=0.75, worth=20),
        Knowledge("fever", given="flu", probability=0.9, worth=20),
        Knowledge.prior({"flu": 1}, worth=20),
    ]
    one = likely.fit(rows, "disease", NaiveBayes(variance="ml", pseudo_count=0), types=TYPES)
    two = sick(knowledge=known, variance="ml", pseudo_count=0)
    assert np.allclose(one.posterior(SICK).matrix, two.posterior(SICK).matrix, rtol=1e-13)
    assert one.prior == two.prior


def test_a_small_deviation_that_is_known_is_not_raised_to_the_floor() -> None:
    known = [Knowledge("x", given=c, mean=m, deviation=0.01, worth=5) for c, m in (("a", 0), ("b", 1000))]
    model = likely.fit(None, "y", NaiveBayes(knowledge=known))
    assert normal(model, "x", "b") == (1000.0, 0.01)


def test_a_class_of_which_nothing_is_known_borrows_from_what_is() -> None:
    known = [Knowledge("x", given="a", mean=3, deviation=2, worth=5), Knowledge.prior({"a": 0.5, "b": 0.5}, worth=1)]
    model = likely.fit(None, "y", NaiveBayes(knowledge=known))
    assert normal(model, "x", "b") == normal(model, "x", "a") == (3.0, 2.0)
    assert model.posterior({"x": 99.0}).prob("a") == 0.5


# -- laws ---------------------------------------------------------------------------------------------------


shares = st.lists(st.integers(0, 20), min_size=3, max_size=3).filter(any)
tables = st.lists(
    st.tuples(
        st.sampled_from(["u", "v", "w", None]),
        st.one_of(st.none(), st.floats(-1e6, 1e6), st.sampled_from([1e12, 1e12 + 1, 0.1])),
        st.sampled_from(["p", "q", "r r", None]),
    ),
    max_size=8,
)
worths = st.sampled_from([0.001, 0.5, 1.0, 3.0, 40.0, 1e6])


def knowledge_of(draw: Any) -> list[Knowledge]:
    parts = draw(shares)
    worth = draw(worths)
    levels = {v: n / sum(parts) for v, n in zip("uvz", parts, strict=True)}
    return [
        Knowledge("a", given=draw(st.sampled_from([None, "p", "s"])), levels=levels, worth=worth),
        Knowledge("x", given="q", mean=draw(st.floats(-1e3, 1e3)), deviation=draw(st.floats(0.01, 1e3)), worth=worth),
        Knowledge.prior({"p": 0.25, "q": 0.25, "s": 0.5}, worth=worth),
    ]


def columns(rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    # A row that does not count keeps the kinds of the columns.
    every = [*rows, ("u", 0.5, None)]
    return {name: [r[k] for r in every] for k, name in enumerate(("a", "x", "t"))}


def saved(model: Any, folder: Path) -> bytes:
    model.save(folder / "m.likely")
    return (folder / "m.likely").read_bytes()


@settings(max_examples=25, deadline=None)
@given(data=st.data(), one=tables, two=tables)
def test_learning_on_is_fitting_at_once_and_knowledge_counts_once(
    tmp_path_factory: pytest.TempPathFactory, data: Any, one: Any, two: Any
) -> None:
    folder = tmp_path_factory.mktemp("law")
    learner = NaiveBayes(knowledge=knowledge_of(data.draw))
    start = likely.fit(None, "t", learner)
    schema = start.schema

    def fitted(rows: list[Any]) -> Any:
        if not any(r[2] for r in rows):
            return learner.learn(likely.Summary(schema))
        return likely.fit(columns(rows), learner=learner, schema=schema)

    def learned(model: Any, rows: list[Any]) -> Any:
        return likely.learn(model, columns(rows)) if any(r[2] for r in rows) else model

    whole = fitted([*one, *two])
    steps = learned(learned(start, one), two)
    other = learned(learned(start, two), one)
    merged = learner.learn(fitted(one).summary + fitted(two).summary)  # both had the knowledge
    probes = {"a": ["u", "v", "z", None, "new"], "x": [0.0, None, 1e6, -3.5, 1.0]}
    want = whole.posterior(probes).matrix
    for model in (steps, other, merged):
        assert model.classes == whole.classes and model.prior == whole.prior
        assert model.summary == whole.summary
        assert np.array_equal(model.posterior(probes).matrix, want, equal_nan=True)
    again = likely.load(_file(steps, folder))
    assert np.array_equal(again.posterior(probes).matrix, want, equal_nan=True) and again.classes == whole.classes
    assert saved(again, folder) == saved(steps, folder)
    back = learner.learn(whole.summary - fitted(two).summary)
    assert np.array_equal(back.posterior(probes).matrix, fitted(one).posterior(probes).matrix, equal_nan=True)
    for factor in whole.factors:
        if not isinstance(factor, Gaussian):
            table = [factor.quotients(k) for k in range(len(factor.labels))]
            for column in zip(*table, strict=True):
                assert sum(q.value for q in column) == 1
    assert sum(q.value for q in whole.prior) == 1


def _file(model: Any, folder: Path) -> Path:
    model.save(folder / "f.likely")
    return folder / "f.likely"


@settings(max_examples=40, deadline=None)
@given(st.floats(0, 1), st.floats(-5, 50), st.floats(0.5, 9))
def test_worth_little_is_nothing_and_worth_much_is_all(p: float, mean: float, deviation: float) -> None:
    def at(worth: float) -> Any:
        said = [
            Knowledge.prior({"flu": p, "cold": 1 - p}, worth=worth),
            Knowledge("fever", given="flu", probability=p, worth=worth),
            Knowledge("temp", given="flu", mean=mean, deviation=deviation, worth=worth),
        ]
        return sick(knowledge=said, pseudo_count=0)

    none, little, much = sick(pseudo_count=0), at(1e-12), at(1e12)
    assert [float(q) for q in little.prior] == pytest.approx([float(q) for q in none.prior], abs=1e-9)
    assert float(chance(little, "fever", "yes", "flu")) == pytest.approx(float(chance(none, "fever", "yes", "flu")))
    assert normal(little, "temp", "flu") == pytest.approx(normal(none, "temp", "flu"), rel=1e-9)
    assert [float(q) for q in much.prior] == pytest.approx([1 - p, p], abs=1e-9)
    assert float(chance(much, "fever", "yes", "flu")) == pytest.approx(p, abs=1e-9)
    assert normal(much, "temp", "flu") == pytest.approx((mean, deviation), rel=1e-6, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_settings_there_and_back(data: Any) -> None:
    learner = NaiveBayes(knowledge=knowledge_of(data.draw))
    assert state.built(NaiveBayes, state.plain(learner)) == learner
    assert eval(repr(learner)) == learner


def test_knowledge_of_summaries_does_not_change_them() -> None:
    summary = likely.summarize(SICK, "disease", types=TYPES)
    before = state.dump(summary.state())
    model = NaiveBayes(knowledge=[*KNOWN, Knowledge("fever", given="new", probability=1, worth=1)][1:]).learn(summary)
    assert state.dump(summary.state()) == before == state.dump(model.summary.state())
    assert summary.classes == ("cold", "flu") and model.classes == ("cold", "flu", "new")


# -- from nothing -------------------------------------------------------------------------------------------


def test_a_model_of_knowledge_alone() -> None:
    model = likely.fit(None, "disease", NaiveBayes(knowledge=KNOWN))
    assert [(c.name, c.kind, c.role) for c in model.schema.columns] == [
        ("fever", "nominal", "attribute"),
        ("temp", "number", "attribute"),
        ("disease", "nominal", "target"),
    ]
    assert model.classes == ("cold", "flu") and model.summary.rows == 0
    found = model.posterior({"fever": True})
    assert found.prob("flu") == pytest.approx(0.01 * 0.9 / (0.01 * 0.9 + 0.99 * 0.5))
    assert any("no rows yet" in note for note in model.notes)
    drawn = model.sample(200, seed=1)
    assert set(drawn["disease"]) <= {"cold", "flu"} and set(drawn["fever"]) == {"true", "false"}
    (batch,) = model.batches([{"fever": "true", "temp": 39}])
    assert np.array_equal(model.terms(batch).array.sum(axis=1), model.log_joint(batch))


def test_without_frequencies_all_classes_are_alike_until_rows_come() -> None:
    known = [Knowledge("fever", given=c, probability=p, worth=4) for c, p in (("flu", 0.9), ("cold", 0.2))]
    model = likely.fit(None, "disease", NaiveBayes(knowledge=known))
    assert [q.value for q in model.prior] == [F(1, 2), F(1, 2)] and "equally frequent" in model.notes[0]
    more = likely.learn(model, {"fever": ["true"], "disease": ["flu"]})
    assert [q.value for q in more.prior] == [0, 1]


def test_columns_that_only_the_user_names() -> None:
    types = {"town": "nominal", "age": "number", "note": "ignore", "day": "date"}
    model = likely.fit(None, "disease", NaiveBayes(knowledge=KNOWN), types=types, weight="n", missing=["-"])
    assert model.schema.names == ("town", "age", "note", "day", "fever", "temp", "n", "disease")
    rows = {
        "town": ["Bonn", "-"], "age": [3, 4], "note": ["", ""], "day": ["2020-01-01", "2020-01-03"],
        "fever": ["true", "false"], "temp": [39, 38], "n": [2, 3], "disease": ["flu", "cold"],
    }  # fmt: skip
    more = likely.learn(model, rows)
    assert more.summary.total.floats().tolist() == [3, 2]
    assert model.posterior({"town": "Bonn"}).unseen == {"town": 1}
    bins = likely.fit(
        None, "y", NaiveBayes(knowledge=[Knowledge("a", given="below 3", probability=0.5, worth=1)]), target_bins=[3]
    )
    assert likely.learn(bins, {"a": ["true", "false"], "y": [1, 9]}).classes == ("below 3", "3 or more")


def test_unlearning_every_row_leaves_the_knowledge() -> None:
    from likely.apply.fitting import unlearn

    model = sick(knowledge=KNOWN)
    less = unlearn(model, SICK)
    assert less.summary.rows == 0 and normal(less, "temp", "flu") == (39.0, 0.8)
    with pytest.raises(NotLearned):
        unlearn(sick(), SICK)


# -- beside the rest of the house ---------------------------------------------------------------------------


def test_what_was_known_is_shown_beside_what_the_rows_say() -> None:
    (shown,) = sick(knowledge=KNOWN).exhibits()
    rows = {(r[0], r[1]): r[2:] for r in shown.rows}
    assert rows["P(flu)", "–"] == pytest.approx((0.01, 1000, 0.5, 6, 13 / 1006))
    assert rows["fever=yes", "flu"] == pytest.approx((0.9, 40, 2 / 3, 3, 38 / 43))
    mean = rows["temp, mean", "flu"]
    assert mean[:4] == pytest.approx((39, 20, 116.5 / 3, 3))
    assert ("fever=yes", "cold") not in rows
    assert sick().exhibits() == ()


def test_cross_validation_counts_the_share_of_classes_that_only_knowledge_names() -> None:
    data = {"a": ["u", "v"] * 20, "t": ["p", "q"] * 20}
    plain = likely.look(data, "t", folds=4)
    known = [Knowledge.prior({"s": 0.5}, worth=40), Knowledge("a", given="s", levels={"u": 0.5, "v": 0.5}, worth=9)]
    found = likely.look(data, "t", NaiveBayes(knowledge=known), folds=4)
    assert found.scores.log_loss > plain.scores.log_loss
    assert list(found.classes.items()) == [("p", 20.0), ("q", 20.0), ("s", 0.0)]
    assert [len(row) for row in found.confusion] == [3, 3, 3]


def test_a_member_of_a_mixture_may_know_something() -> None:
    members = (NaiveBayes(), NaiveBayes(knowledge=KNOWN))
    model = likely.fit(SICK, "disease", likely.Mixture(members), types=TYPES)
    assert sum(model.posterior({"fever": "yes"}).matrix[0]) == pytest.approx(1)


def test_evidence_with_knowledge_by_predicting_row_after_row() -> None:
    rows = [("u", "p"), ("v", "q"), ("u", "p"), ("w", "p"), ("w", "q"), ("u", "q")]
    known = [Knowledge("a", given="p", levels={"u": 0.5, "v": 0.25}, worth=4), Knowledge.prior({"p": 0.75}, worth=8)]
    learner = NaiveBayes(knowledge=known)
    summary = likely.summarize({"a": [r[0] for r in rows], "t": [r[1] for r in rows]}, "t", types={"a": "nominal"})
    extra = {"p": {"u": 2.0, "v": 1.0, "w": 1.0}, "q": {"u": 1.0, "v": 1.0, "w": 1.0}}
    prior = {"p": 6.0, "q": 2.0}
    log = 0.0
    for level, label in rows:
        log += math.log(prior[label] / sum(prior.values()))
        log += math.log(extra[label][level] / sum(extra[label].values()))
        prior[label] += 1
        extra[label][level] += 1
    assert log_evidence(learner, summary) == pytest.approx(log, rel=1e-12)


def test_evidence_of_numbers_with_knowledge_by_predicting_value_after_value() -> None:
    values, worth, mean, deviation = [1.0, 2.5, 2.0], 3.0, 1.5, 0.7
    known = [Knowledge("x", given="p", mean=mean, deviation=deviation, worth=worth), Knowledge.prior({"p": 1}, worth=1)]
    summary = likely.summarize({"x": values, "t": ["p"] * 3}, "t", types={"x": "number"})
    # Student's t predicts each value from knowledge and the values before it.
    rows, centre, squares, log = worth, mean, worth * deviation**2, 0.0
    for value in values:
        log += stats.t.logpdf(value, rows, centre, math.sqrt(squares / rows * (rows + 1) / rows))
        squares += rows / (rows + 1) * (value - centre) ** 2
        centre = (rows * centre + value) / (rows + 1)
        rows += 1
    assert log_evidence(NaiveBayes(knowledge=known), summary) == pytest.approx(log, rel=1e-12)


def test_evidence_declines_where_nothing_says_how_far_values_lie_apart() -> None:
    known = [Knowledge("x", given="p", mean=1, deviation=1, worth=1)]
    summary = likely.summarize({"x": [2.0, 2.0], "t": ["p", "q"]}, "t", types={"x": "number"})
    assert log_evidence(NaiveBayes(knowledge=known), summary) is None


# -- bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"attribute": "a", "probability": 1.2, **WORTH}, "'1.2'"),
        ({"attribute": "a", "probability": -0.1, **WORTH}, "between 0 and 1"),
        ({"attribute": "a", "probability": float("nan"), **WORTH}, "between 0 and 1"),
        ({"attribute": "a", "probability": True, **WORTH}, "between 0 and 1"),
        ({"attribute": "a", "probability": 0.5}, "does not say what it is worth"),
        ({"attribute": "a", "probability": 0.5, "worth": -1}, "above zero"),
        ({"attribute": "a", "probability": 0.5, "worth": float("inf")}, "above zero"),
        ({"attribute": "a", "levels": {"u": 0.6, "v": 0.5}, **WORTH}, "sum to 1.1"),
        ({"attribute": "a", "levels": {}, **WORTH}, "Give each level its probability"),
        ({"attribute": "a", "levels": {"u": "x"}, **WORTH}, "'x'"),
        ({"attribute": "a", "levels": {True: 0.1, "true": 0.2}, **WORTH}, "twice"),
        ({"attribute": "a", "levels": {"u": 0.5}, "level": "v", "probability": 0.1, **WORTH}, "among the levels"),
        ({"attribute": "a", "level": "u", **WORTH}, "no probability"),
        ({"attribute": "a", "level": "", "probability": 0.1, **WORTH}, "empty cell"),
        ({"attribute": "a", **WORTH}, "says nothing"),
        ({"attribute": "x", "mean": 1, **WORTH}, "lacks a deviation"),
        ({"attribute": "x", "deviation": 1, **WORTH}, "lacks a mean"),
        ({"attribute": "x", "mean": 1, "deviation": 0, **WORTH}, "above zero"),
        ({"attribute": "x", "mean": 1, "deviation": -2, **WORTH}, "above zero"),
        ({"attribute": "x", "mean": float("inf"), "deviation": 2, **WORTH}, "finite"),
        ({"attribute": "x", "mean": 1, "deviation": 1, "probability": 0.5, **WORTH}, "both a probability and a mean"),
        ({"attribute": 3, "mean": 1, "deviation": 1, **WORTH}, "'3'"),
        ({"mean": 1, "deviation": 1, **WORTH}, "of which attribute"),
        ({"probability": 0.1, **WORTH}, "about the classes"),
        ({"given": "p", "levels": {"p": 1}, **WORTH}, "about the classes"),
    ],
)
def test_knowledge_that_cannot_be(said: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError) as refused:
        Knowledge(**said)
    assert words in str(refused.value)
    with pytest.raises(SettingError):
        NaiveBayes(knowledge=[said])


A, X = {"attribute": "a", "given": "p", **WORTH}, {"attribute": "x", "given": "p", **WORTH}


@pytest.mark.parametrize(
    ("several", "words"),
    [
        ([{**A, "probability": 0.1}, {**A, "probability": 0.2}], "said twice"),
        ([{**A, "level": "u", "probability": 0.1}, {**A, "levels": {"u": 0.1}}], "'u'"),
        ([{**A, "level": "u", "probability": 0.1}, {**A, "probability": 0.2}], "Name the level"),
        ([{**A, "level": "u", "probability": 0.6}, {**A, "level": "v", "probability": 0.6}], "sum to 1.2"),
        (
            [{**A, "level": "u", "probability": 0.1}, {**A, "level": "v", "probability": 0.1, "worth": 3}],
            "10 rows here",
        ),
        ([{**X, "mean": 1, "deviation": 1}, {**X, "mean": 1, "deviation": 1}], "said twice"),
        ([{**X, "mean": 1, "deviation": 1}, {**X, "given": "q", "probability": 0.1}], "a mean and of a level"),
        ([{"given": "p", "probability": 0.7, **WORTH}, {"levels": {"q": 0.6}, **WORTH}], "sum to 1.3"),
        ([{"given": "p", "probability": 0.7, **WORTH}, {"levels": {"p": 0.7}, **WORTH}], "said twice"),
        ("fever", "Give a list"),
        ([3], "knowledge holds '3'"),
        ([{"atribute": "a", "probability": 0.1, **WORTH}], "Did you mean 'attribute'?"),
    ],
)
def test_knowledge_that_contradicts_itself(several: Any, words: str) -> None:
    with pytest.raises(SettingError) as refused:
        NaiveBayes(knowledge=several)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("known", "more", "words"),
    [
        (Knowledge("fewer", given="flu", probability=0.9, worth=1), {}, "Did you mean 'fever'?"),
        (Knowledge("disease", level="flu", probability=0.9, worth=1), {}, "Knowledge.prior"),
        (Knowledge("fever", given="flu", mean=1, deviation=1, worth=1), {}, "is nominal"),
        (Knowledge("temp", given="flu", probability=0.9, worth=1), {}, "is a number"),
        (Knowledge("temp", given="flu", mean=1, deviation=1, worth=1), {"numbers": "kernel"}, "kernel"),
        (Knowledge("temp", given="flu", mean=1, deviation=1, worth=1), {"numbers": {"temp": "binned"}}, "gaussian"),
        (Knowledge("fever", level="?", probability=0.9, worth=1), {}, "means missing"),
        (Knowledge.prior({"flu": 0.5, "cold": 0.5}, worth=1), {"prior": "uniform"}, "no say"),
        (Knowledge.prior({"flu": 0.5, "cold": 0.4}, worth=1), {}, "sum to 0.9"),
    ],
)
def test_knowledge_that_does_not_fit_the_table(known: Any, more: dict[str, Any], words: str) -> None:
    with pytest.raises(LikelyError) as refused:
        sick(knowledge=[known], **more)
    assert words in str(refused.value)


def test_a_level_must_be_named_where_none_means_true() -> None:
    data = {"sky": ["sun", "rain"], "disease": ["flu", "cold"]}
    with pytest.raises(SettingError, match="level=…, one of 'rain', 'sun'"):
        model_of(data, Knowledge("sky", given="flu", probability=0.9, worth=1), types={"sky": "nominal"})


def test_knowledge_of_numbers_as_levels_and_classes() -> None:
    data = {"rooms": [1, 2, 3, 1], "t": [10, 20, 10, 20]}
    known = [Knowledge("rooms", given="10.0", levels={"1.0": 0.5, 4: 0.5}, worth=2)]
    model = likely.fit(data, "t", NaiveBayes(knowledge=known), types={"rooms": "nominal"})
    assert model.classes == ("10", "20") and model.levels("rooms") == ["1", "2", "3", "4"]
    assert chance(model, "rooms", "1", "10") == F(2, 4)
    for said in ({"given": "ten", "probability": 0.5}, {"level": "one", "probability": 1}):
        bad = Knowledge("rooms", **said, worth=1)
        with pytest.raises(SettingError, match="numbers"):
            likely.fit(data, "t", NaiveBayes(knowledge=[bad]), types={"rooms": "nominal"})


def test_knowledge_of_a_column_that_is_left_out() -> None:
    data = {"fever": ["yes", "yes"], "x": [1.5, 2.5], "disease": ["flu", "cold"]}
    with pytest.raises(ColumnError, match="left out"):
        model_of(data, Knowledge("fever", given="flu", probability=0.9, worth=1))
    with pytest.raises(SettingError, match="block"):
        likely.fit(
            {**SICK, "b": ["u", "v"] * 3},
            "disease",
            NaiveBayes(knowledge=KNOWN[1:2], blocks=(("fever", "b"),)),
            types=TYPES,
        )


def test_no_table_and_no_knowledge() -> None:
    with pytest.raises(SettingError, match="no knowledge to start from"):
        likely.fit(None, "disease")
    with pytest.raises(SettingError, match="TreeAugmented"):
        likely.fit(None, "disease", likely.TreeAugmented())
    with pytest.raises(SettingError, match="target"):
        likely.fit(None, learner=NaiveBayes(knowledge=KNOWN))
    with pytest.raises(SettingError, match="edges"):
        likely.fit(None, "disease", NaiveBayes(knowledge=KNOWN), target_bins=3)
    with pytest.raises(SettingError, match="'flu'"):
        likely.fit(None, "disease", NaiveBayes(knowledge=KNOWN), target_bins=[3, 4])
    with pytest.raises(SettingError, match="No target was named"):
        likely.fit(SICK, learner=NaiveBayes(knowledge=KNOWN), types=TYPES)


def test_every_table_of_two_rows_has_its_share() -> None:
    """The evidence of all tables of two rows sums to 1: knowledge is a proper prior."""
    known = [
        Knowledge("a", given="p", levels={"u": 0.25, "v": 0.75}, worth=3),
        Knowledge.prior({"p": 0.5, "q": 0.5}, 2),
    ]
    known += [Knowledge("a", given="q", levels={"u": 0.5, "v": 0.5}, worth=1)]
    total = 0.0
    for cells, labels in product(product("uv", repeat=2), product("pq", repeat=2)):
        summary = likely.summarize({"a": cells, "t": labels}, "t", types={"a": "nominal"})
        total += math.exp(log_evidence(NaiveBayes(knowledge=known), summary))  # type: ignore[arg-type]
    assert total == pytest.approx(1, rel=1e-12)
