"""A model in the form that exports read."""

from __future__ import annotations

import ast
import math
import sys
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conformance.interacting import KINDS, additive
from conformance.test_conformance import asked
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
import likely.table.schema
from likely import Model, Text
from likely.apply.decide.missing import average_missing
from likely.apply.decide.priors import with_prior
from likely.errors import FileFormatError, SettingError
from likely.models import kernels, shapes
from likely.models.registry import LEARNERS
from likely.portable import logs
from likely.portable.abilities import LANGUAGES, abilities_sentence, can_learn, languages_of
from likely.portable.describe import is_portable, portable
from likely.portable.reading import cells_of, portable_of
from likely.portable.scoring import chances, posterior, scores, terms
from likely.portable.writing import text_of

TYPES = {"a": "nominal", "b": "nominal of numbers", "x": "number", "y": "number", "d": "date", "t": "nominal"}
CELLS: dict[str, list[Any]] = {
    "a": ["u", "v", "ä\n,", "True", "</script>", None],
    "b": ["0", "1", "2.50", None],
    "x": [1e9, 1e9 + 1e-7, 1.5, -3.0, 0.0, None],
    "y": [1e300, -1e300, 5e-324, 1e-200, 7.0, -2.0, math.inf, None],
    "d": ["2020-01-31", "1999-12-31 23:59:60.5", "2020-02-01T01:00+02:00", None],
}
ASKED: dict[str, list[Any]] = {
    "a": ["u", " v ", "\u00a0v\u2003", "new", "", "?", "NA", True, False, 3, 2.0, math.nan, None, "😀"],
    "b": [0, "0", 1.0, "1e0", "2.5", "+2.5", "x", True, "1,000", math.inf, "", None],
    "x": [1e9, "1e9", "1,500.25", 1.5, 1e300, "inf", math.inf, "nan", "-.5", "5.", "1e999", True, 2**70, "x", None],
    "y": [1e300, 1.7e308, -1e300, 0.0, 1e-200, math.nan, -math.inf, 7, "7", None],
    "d": ["2020-01-31", "2020-02-30", "2020/02/29 12:30:15,25", 1.5e9, "1999-12-31T23:59Z", date(2020, 1, 31), None],
}


def table(cells: dict[str, list[Any]], seed: int, rows: int, names: tuple[str, ...]) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    return {name: [cells[name][k] for k in rng.integers(0, len(cells[name]), rows)] for name in names}


def rows_of(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def fitted(learner: Any, seed: int, names: tuple[str, ...], rows: int = 40, **more: Any) -> Model:
    data = table(CELLS, seed, rows, names)
    rng = np.random.default_rng(seed + 1)
    data["t"] = [("c", "d", "e")[k] for k in rng.integers(0, 3, rows)]
    types = {name: TYPES[name] for name in (*names, "t")}
    return likely.fit(data, target="t", learner=learner, types=types, **more)


def close(found: float, wanted: float, size: float = 1.0, rel: float = 1e-12) -> bool:
    return found == wanted or math.isclose(found, wanted, rel_tol=rel, abs_tol=rel * max(size, 1.0))


def form_of(model: Model) -> Any:
    """The model, on its way through JSON."""
    return portable_of(text_of(portable(model)))


def agree(model: Model, rows: list[dict[str, Any]], rel: float = 1e-12) -> None:
    """The score over the levels of the portable form, and its JSON, score each row as the model does."""
    form, aligned = form_of(model), portable(model).full_score
    for row in rows:
        (batch,) = model.batches(model.table_of_one(row))
        wanted = model.log_joint(batch)[0].tolist()
        cells = cells_of(form, row)
        found = scores(form, cells)
        own = aligned.scored(batch)[0][0].tolist()
        # What is added may be much larger than the sum, whose last digits it then decides.
        size = 1.0
        if form.score.form == "Sum":
            size = max(
                (abs(v) for _, own in terms(form.score, cells, form) for v in own if math.isfinite(v)), default=1
            )
        for one, other in zip(found, wanted, strict=True):
            assert close(one, other, size, rel), (row, found, wanted)
        for one, other in zip(own, wanted, strict=True):
            assert close(one, other, size, rel), (row, own, wanted)
        chance = model.posterior(row).matrix[0].tolist()
        for one, other in zip(posterior(form, row), chance, strict=True):
            assert close(one, other, min(size, 1e3), rel), (row, posterior(form, row), chance)


NAIVE = st.builds(
    likely.NaiveBayes,
    pseudo_count=st.sampled_from([0, 0.5, 1]),
    variance_floor=st.sampled_from([1e-6, 0.1]),
    missing=st.sampled_from(["skip", "level"]),
    unseen=st.sampled_from(["skip", "reserve"]),
    numbers=st.sampled_from(["gaussian", "kernel", "binned", {"x": "kernel", "y": "binned"}]),
    bins_closed=st.sampled_from(["left", "right"]),
    blocks=st.sampled_from([(), (("a", "b"),), (("x", "y"),), (("a", "b"), ("x", "d"))]),
)


@given(NAIVE, st.integers(0, 10**6))
@settings(max_examples=60)
def test_naive_bayes_is_what_its_portable_form_says(learner: likely.NaiveBayes, seed: int) -> None:
    if any("x" in block for block in learner.blocks):
        learner = replace(learner, numbers="gaussian")
    model = fitted(learner, seed, tuple(CELLS))
    agree(model, rows_of(table(ASKED, seed + 2, 12, tuple(ASKED))), 1e-9 if learner.blocks else 1e-12)


MIXED = likely.Mixture((likely.NaiveBayes(), likely.TreeAugmented(), likely.Prior()), weights=(0.5, 0.3, 0.2))
OTHERS: dict[str, tuple[Any, tuple[str, ...], float]] = {
    "Prior": (likely.Prior(), ("a",), 1e-12),
    "Logistic": (likely.Logistic(), tuple(CELLS), 1e-12),
    "TextLogistic": (likely.TextLogistic(), tuple(CELLS), 1e-12),
    "LeastSquares": (likely.LeastSquares(), tuple(CELLS), 1e-12),
    "duels": (likely.LeastSquares(mode="pairwise"), tuple(CELLS), 1e-12),
    "votes": (likely.LeastSquares(mode="pairwise", ties="votes"), tuple(CELLS), 1e-12),
    "TreeAugmented": (likely.TreeAugmented(), tuple(CELLS), 1e-12),
    "TreeAugmented without counts": (likely.TreeAugmented(pseudo_count=0), tuple(CELLS), 1e-12),
    "OneDependence": (likely.OneDependence(), tuple(CELLS), 1e-12),
    "OneDependence, parents": (likely.OneDependence(minimum=9, pseudo_count=0), tuple(CELLS), 1e-12),
    "FullBayes, table": (likely.FullBayes(), ("a", "b"), 1e-12),
    "FullBayes, reserve": (likely.FullBayes(unseen="reserve", pseudo_count=0.25), ("a", "b"), 1e-12),
    "FullBayes, normal": (likely.FullBayes(), ("x", "y", "d"), 1e-9),
    "LinearDiscriminant": (likely.LinearDiscriminant(), ("x", "y", "d"), 1e-9),
    "Mixture": (MIXED, tuple(CELLS), 1e-12),
    "OneRule": (likely.OneRule(), tuple(CELLS), 1e-12),
    "TunedNaiveBayes": (likely.TunedNaiveBayes(parts=2), tuple(CELLS), 1e-12),
    "Pool": (likely.Pool(("NaiveBayes", "TreeAugmented", "Logistic"), weights=(0.5, 0.25, 0.5)), tuple(CELLS), 1e-12),
    "Logistic, squares": (likely.Logistic(numbers="squares"), tuple(CELLS), 1e-9),
    "Logistic, binned": (likely.Logistic(numbers="binned"), tuple(CELLS), 1e-12),
    "Additive": (likely.Additive(rounds=20, least=0.1), tuple(CELLS), 1e-12),
    "Forest": (likely.Forest(trees=9, leaves=20), tuple(CELLS), 1e-12),
    "NaiveBayes, temperature": (likely.NaiveBayes(temperature=0.5), tuple(CELLS), 1e-12),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_learner_is_what_its_portable_form_says(name: str, seed: int) -> None:
    learner, names, rel = OTHERS[name]
    model = fitted(learner, seed, names, 90)
    agree(model, rows_of(table(ASKED, seed, 25, names)), rel)


def test_no_learner_is_forgotten() -> None:
    said = {type(learner).__name__ for learner, _, _ in OTHERS.values()} | {"NaiveBayes", "Density"}
    assert said | {"Neighbors", "Gibbs", "Auto"} == set(LEARNERS)  # what Auto makes is a pool


def test_density_and_another_prior_and_declared_classes() -> None:
    names = ("a", "b", "x")
    data = table(CELLS, 4, 50, names)
    model = likely.fit(data, learner=likely.Density(), types={n: TYPES[n] for n in names})
    agree(model, rows_of(table(ASKED, 5, 15, names)))
    agree(with_prior(fitted(likely.NaiveBayes(), 6, names), {"c": 0.9}), rows_of(table(ASKED, 7, 15, names)))


TEXTS = [
    "a",
    "A a a",
    "the cat sat on the mat, the CAT!",
    "ΑΣ Α.Σ Σ",
    "İstanbul",
    "ß ẞ",
    "!?",
    "e\u0301 été",
    "a_1 a-1",
]


@pytest.mark.parametrize(
    "text",
    [
        Text(),
        Text("bernoulli"),
        Text("complement", damping="root", length=True, idf=True, scale=0.5),
        Text(damping="log", least_documents=2, scale=2.0),
    ],
    ids=lambda t: t.written(),
)
@pytest.mark.parametrize("words", [{}, {"shortest": 2, "pairs": True, "stop": ("the",)}, {"grams": (2, 3)}], ids=str)
def test_texts(text: Text, words: dict[str, Any]) -> None:
    from likely import Tokens

    rng = np.random.default_rng(3)
    data = {"note": [" ".join(rng.choice(TEXTS, 4)) for _ in range(60)], "t": ["c", "d", "e"] * 20, "x": [*range(60)]}
    model = likely.fit(
        data,
        target="t",
        learner=likely.NaiveBayes(text=text),
        types={"note": "text", "x": "number"},
        tokens={"note": Tokens(**words)},
    )
    asked = [*TEXTS, "", "  ", " NA ", "unknown words only", "😀", " " * 70, None, "the " * 40 + "été ÉTÉ e\u0301"]
    agree(model, [{"note": cell, "x": 3} for cell in asked])


@pytest.mark.parametrize("learner", [likely.Neighbors(), likely.Gibbs((likely.NaiveBayes(),), weights=(1.0,))])
def test_what_cannot_be_taken_elsewhere_is_refused_with_a_sentence(learner: Any) -> None:
    model = fitted(learner, 1, ("a", "x"))
    assert not is_portable(model)
    with pytest.raises(SettingError, match=r"cannot be taken elsewhere\. .+\."):
        portable(model)
    with pytest.raises(SettingError, match="many times over"):
        portable(average_missing(fitted(likely.NaiveBayes(), 1, ("a", "x"))))


def test_a_mixture_with_neighbours_is_refused() -> None:
    both = likely.Mixture((likely.NaiveBayes(), likely.Neighbors()), weights=(0.5, 0.5))
    assert not is_portable(fitted(both, 1, ("a", "x")))


def test_an_unseen_level_is_refused_where_the_model_refuses_it() -> None:
    form = form_of(fitted(likely.NaiveBayes(unseen="error"), 1, ("a",)))
    with pytest.raises(likely.errors.UnseenLevel, match="'new'"):
        posterior(form, {"a": "new"})


def test_infinite_scores_survive_and_foreign_files_are_refused() -> None:
    model = fitted(likely.NaiveBayes(pseudo_count=0), 1, ("a", "b"), rows=8)
    text = text_of(portable(model))
    assert '"-inf"' in text and "Infinity" not in text
    rows = [*portable_of(text).score.terms[0].scores, *portable_of(text).score.terms[1].scores]
    assert -math.inf in {score for row in rows for score in row}
    for broken in ("", "{}", "[1]", '{"form":"Sum"}', text.replace('"classes"', '"glasses"')):
        with pytest.raises(FileFormatError):
            portable_of(broken)


def test_impossible_rows_have_no_probabilities() -> None:
    assert chances((-math.inf, -math.inf)) == (0.0, 0.0)


def test_points_in_time_are_seconds() -> None:
    form = form_of(fitted(likely.NaiveBayes(), 1, ("d",)))
    for value in (date(2020, 1, 31), datetime(2020, 1, 31), "2020-01-31", " 2020/01/31 ", "2020-01-31T00:00Z"):
        assert cells_of(form, {"d": value})["d"] == 1580428800.0


NUMBERS = st.text(alphabet="0123456789,.eE+-inf \t", max_size=12)
DATES = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(["2020-02-29", "2021-02-29", "1970-01-01", "2020/12/31", "0001-01-01", "9999-12-31", "2020-1-1"]),
    st.sampled_from(["", " ", "T", "t", "x"]),
    st.sampled_from(
        ["", "12:30", "24:00", "23:59:60", "12:30:15.123456789123", "12:30:15,5", "12:30:", "1:2", "12:60"]
    ),
    st.sampled_from(["", "Z", "z", "+01", "-0130", "+01:30", "+25:00", "+1"]),
    st.sampled_from(["", " ", "x"]),
)
CELL_TEXTS = st.one_of(
    st.text(max_size=8), NUMBERS, DATES, st.sampled_from(["?", " NA ", "<NA>", "1e400", "-0", "١", "1_000"])
)


ALWAYS = [
    *(
        "1,234",
        "1,234,567.5",
        "1234,567",
        "12,34",
        "1,2345",
        ",123",
        "1,234e3",
        "1,234,",
        ".",
        "5.",
        ".5e-3",
        "+.5",
        "e5",
        "1e",
    ),
    *("1e+", "--1", "0x10", "1d5", "Infinity", "-INF", "infinit", "9007199254740993", "123456789012345678901234567890"),
    *(
        "1970-01-01 12:30:15.123456789",
        "1970-01-01 12:30:15.1234567891",
        "1969-12-31T23:59:60Z",
        "1970-01-01T00:00+0130",
    ),
    *("1970-01-01 00:00:61", "1970-13-01", "1970-00-10", "1900-02-29", "2000-02-29", "1970-01/01", "1970-01-01T"),
]


@given(st.lists(CELL_TEXTS, min_size=1, max_size=40))
@settings(max_examples=100)
def test_cells_are_read_as_tables_are(cells: list[str]) -> None:
    """The plain reading of a cell, against the encoder that reads tables."""
    cells = [*cells, *ALWAYS]
    known = sorted({text.strip() for text in cells[::2]} - {""} - set(likely.table.schema.MISSING)) or ["a"]
    types = {"a": "nominal", "b": "nominal of numbers", "x": "number", "d": "date", "t": "nominal"}
    size = max(len(known), 2)
    training = {
        "a": (known * size)[:size],
        "b": [str(k) for k in range(size)],
        "x": [float(k) for k in range(size)],
        "d": [f"2020-01-{k % 28 + 1:02}" for k in range(size)],
        "t": ["u", "v"] * (size // 2) + ["u"] * (size % 2),
    }
    model = _reader(training, types)
    form = form_of(model)
    (batch,) = model.batches({name: cells for name in "abxd"})
    for k, text in enumerate(cells):
        read = cells_of(form, dict.fromkeys("abxd", text))
        for name in "ab":
            assert read[name] == batch.cells[name].codes[k], (name, text)
        for name in "xd":
            one, other = read[name], float(batch.cells[name][k])
            assert isinstance(one, float) and (one == other or (math.isnan(one) and math.isnan(other))), (name, text)


def _reader(training: dict[str, list[Any]], types: dict[str, str]) -> Model:
    return likely.fit(training, target="t", types=types, missing=["?", "NA", "<NA>"])


def test_the_reference_needs_no_library() -> None:
    """What defines a score can be read, and run, with Python alone."""
    ours = ("likely.portable", "likely.errors")
    names = ("reading", "scoring", "joint_terms", "logs")
    for path in (f"portable/{name}.py" for name in names):
        tree = ast.parse(Path(likely.__file__).parent.joinpath(path).read_text("utf-8"))
        for node in ast.walk(tree):
            found = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            found += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for module in found:
                first = module.split(".")[0]
                assert first in sys.stdlib_module_names or module.startswith(ours), module


# What pairs and larger sets of attributes say, as plain values: rare and grouped levels, weights, size.


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_kind_is_what_its_portable_form_says(kind: Any) -> None:
    model = additive(*kind)
    agree(model, asked())
    form = form_of(model)
    made = {term.form for term in form.score.terms}
    assert {1: "BinTerm", 2: "PairTerm", 3: "TreesTerm", "any": "TreesTerm"}[kind[0]] in made
    # Of two classes that mirror each other, one is held.
    held = {len(t.table) for t in form.score.terms if t.form == "PairTerm"}
    held |= {len(t.values) for t in form.score.terms if t.form == "TreesTerm"}
    assert held <= {1 if kind[2] == 2 else 3}


@pytest.mark.parametrize("order", [2, "any"])
@pytest.mark.parametrize("missing", ["skip", "level"])
def test_many_levels_and_levels_that_are_rare(order: Any, missing: Any) -> None:
    """300 levels are more than there are codes, so that some share one; with `least_count` unseen ones are "other"."""
    rng = np.random.default_rng(4)
    place, x = rng.integers(0, 300, 4000), rng.normal(size=4000)
    number = rng.integers(0, 290, 4000) * 0.5
    target = np.where((place % 7 < 3) ^ (x > 0) ^ (number > 60), "u", "v")
    data = {"a": [f"l{k}" for k in place], "b": number.tolist(), "x": x.tolist(), "t": target.tolist()}
    data["a"][:40], data["b"][40:80], data["x"][80:120] = [None] * 40, [None] * 40, [None] * 40
    types = {"a": "nominal", "b": "nominal of numbers", "x": "number"}
    learner = likely.Additive(order=order, missing=missing, rounds=40)
    rows = [
        {"a": a, "b": b, "x": c}
        for a in ("l0", "l7", "l255", "l299", "new", "other", None)
        for b in (0, 0.5, 77, 1e9, None)
        for c in (-0.1, 3.0, None)
    ]
    for more in ({}, {"least_count": 12}):
        model = likely.fit(data, "t", learner, types=types, **more)
        assert ("other" in model.levels("a")) == bool(more)
        agree(model, rows)


def test_a_weight_multiplies_all_that_a_pair_or_a_set_says() -> None:
    for kind in ((2, "skip", 3), ("any", "level", 2)):
        whole = portable(additive(*kind))
        assert isinstance(whole.score, shapes.Sum)
        score = replace(whole.score, powers=(0.3,) * len(whole.score.terms))
        form, powered = form_of(additive(*kind)), portable_of(text_of(replace(whole, score=score))).score
        for row in asked()[:30]:
            cells = cells_of(form, row)
            all_ = scores(form, cells)
            for k, (a, b) in enumerate(zip(form.score.constant, all_, strict=True)):
                added = sum(own[k] for _, own in terms(powered, cells, form))
                assert math.isclose(added, 0.3 * (b - a), abs_tol=1e-12)


def test_codes_that_nothing_tells_apart_are_one() -> None:
    form = form_of(additive(2, "skip", 2))
    for term in form.score.terms:
        if term.form == "PairTerm":
            first, second = term.axes
            assert [len(column) for column in term.table] == [first.size * second.size]
            for axis in term.axes:
                assert axis.codes is None or set(axis.codes) <= set(range(-1, axis.size))
                assert axis.codes is not None or axis.size == len(axis.starts) + 1
    assert len(text_of(portable(additive(2, "skip", 2)))) < 120_000


# What a model says that it can do is what it does: exports are written or refused as the sentence has it.


COUNT = 400


def odd_table(numbers: int) -> dict[str, list]:
    """Numbers with two humps (kernels fit them best), related to each other (blocks do), and levels."""
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 3, COUNT)
    common = rng.normal(size=COUNT)
    columns = {
        f"x{k}": np.where(rng.random(COUNT) < 0.5, -3, 3) * (1 + codes % 2) + common + rng.normal(size=COUNT)
        for k in range(numbers)
    }
    table: dict[str, list] = {name: [round(v, 3) for v in values.tolist()] for name, values in columns.items()}
    table["level"] = [f"l{(c + i) % 4}" for i, c in enumerate(codes.tolist())]
    return table | {"y": [f"c{c}" for c in codes.tolist()]}


def exported(model: likely.Model) -> list[str]:
    out = []
    for language in LANGUAGES:
        try:
            likely.export(model, language.lower())
        except SettingError:
            continue
        out.append(language)
    return out


WITH_SETTINGS = [
    likely.NaiveBayes(),
    likely.NaiveBayes(numbers="kernel"),
    likely.NaiveBayes(blocks=(("x0", "x1", "x2", "x3", "x4", "x5", "x6"),)),
    likely.NaiveBayes(blocks=(("x0", "x1"),)),
    likely.NaiveBayes(unseen="error"),
    likely.TunedNaiveBayes(),
    likely.Logistic(),
    likely.Additive(order=3),
    likely.TreeAugmented(),
    likely.Neighbors(),
    likely.LeastSquares(),
    likely.Auto(),
]


@pytest.mark.parametrize("learner", WITH_SETTINGS, ids=repr)
def test_languages_that_are_named_write_the_model_and_others_refuse(learner) -> None:
    model = likely.fit(odd_table(7), "y", learner)
    assert languages_of(model) == exported(model)


@pytest.mark.parametrize("purpose", ["sql", "onnx", "pmml"])
@pytest.mark.parametrize("effort", ["normal", "best"])
def test_a_model_for_a_language_is_written_in_it(purpose, effort) -> None:
    model = likely.fit(odd_table(7), "y", for_=purpose, effort=effort)
    assert purpose.upper() in exported(model)


def test_a_model_for_updates_learns() -> None:
    model = likely.fit(odd_table(2), "y", for_="updates")
    assert can_learn(model) and "can learn, unlearn and merge rows" in abilities_sentence(model)


def test_who_is_refused_hears_of_the_option_that_avoids_it() -> None:
    table = odd_table(7)
    members = [{"name": "NaiveBayes", "numbers": "kernel"}]
    pool = likely.fit(table, "y", likely.Auto(members=members))
    with pytest.raises(SettingError, match=r"kernel density.*likely.fit\(…, for_='sql'\)\.$"):
        likely.export(pool, "sql")
    assert "--for sql" in abilities_sentence(pool)
    alone = likely.fit(table, "y", likely.NaiveBayes(numbers="kernel"))
    with pytest.raises(SettingError) as refusal:
        likely.export(alone, "sql")
    assert "--for" not in str(refusal.value) + abilities_sentence(alone)


def test_a_block_of_a_pool_is_told_attribute_by_attribute() -> None:
    table = odd_table(3)
    members = [{"name": "NaiveBayes", "blocks": [["x0", "x1", "x2"]]}]
    model = likely.fit(table, "y", likely.Auto(members=members))
    row = {"x0": 3.0, "x1": -3.0, "level": "l1"}
    told = {entry.name: entry.log_ratio for entry in likely.explain(model, row).entries}
    assert [*told] == ["", *model.schema.names[:-1]] and told["x0"] and told["x1"] and not told["x2"]


def test_a_model_without_attributes_is_not_said_to_be_exported() -> None:
    model = likely.fit({"c": ["x"] * 8, "y": ["p", "q"] * 4}, "y")
    assert languages_of(model) == exported(model) == []
    with pytest.raises(SettingError, match="has no attributes"):
        likely.export(model, "sql")


def test_a_tie_is_as_wide_in_exports_as_in_kernels() -> None:
    assert kernels.TIE == logs.TIE == 2.0**-40
