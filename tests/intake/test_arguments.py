"""The front door of Python: what people pass as table, target, learner and options is taken or refused in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pandas as pd
import polars as pl
import pytest

import likely
from likely.errors import LikelyError
from likely.intake.options import (
    FILE,
    SEVERAL,
    WORKING,
    CellOptions,
    FileOptions,
    MoreRowsOptions,
    Reading,
    ReadingOptions,
    options_about,
)
from likely.models.learning import begin

FRAME = pd.DataFrame(
    {"sky": ["sun", "rain", "sun", "fog"] * 10, "x": np.arange(40.0) % 7, "y": ["a", "b", "a", "b"] * 10}
)
X, Y = FRAME[["sky", "x"]], FRAME["y"]
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "fit": likely.fit,
    "look": likely.look,
    "compare": partial(likely.compare, folds=2),
    "curve": partial(likely.curve, folds=2),
    "doctor": likely.doctor,
    "summarize": likely.summarize,
    "repeats": likely.repeats,
}


def refused(*words: str) -> Any:
    return pytest.raises(LikelyError, match=".*".join(words))


def test_without_a_target_there_is_a_sentence_unless_a_density_is_wanted() -> None:
    with refused("No target", r"fit\(data, 'column'\)", "Density"):
        likely.fit(FRAME)
    with refused("No target"):
        likely.fit(FRAME, learner=likely.NaiveBayes())
    assert likely.fit(FRAME, learner=likely.Density()).schema.target is None
    schema = likely.summarize(FRAME, "y").schema
    assert likely.fit(FRAME, schema=schema, learner="NaiveBayes").classes == ("a", "b")


@pytest.mark.parametrize("name", ["look", "compare", "curve", "doctor", "repeats"])
def test_without_a_target_the_columns_are_named(name: str) -> None:
    for given in ((FRAME,), (FRAME, None)):
        with refused("No target was named", "Name a column", "'sky', 'x', 'y'"):
            FUNCTIONS[name](*given)


HALF = "sun \ud800"


def test_half_of_a_character_is_refused_in_words() -> None:
    model = likely.fit(FRAME, "y", "NaiveBayes")
    tables: list[Any] = [
        {"sky": HALF},
        [{"sky": "sun"}, {"sky": HALF}],
        {"sky": ["sun", HALF], "x": [1, 2]},
        {"x": HALF},
    ]
    for data in (*tables, pd.DataFrame({"sky": ["sun", HALF]}, dtype=object)):
        for ask in (model.predict, model.posterior):
            with refused("Row [12] of the column '(sky|x)'", "half of a character"):
                ask(data)


def test_half_of_a_character_in_training_or_in_a_name_is_refused_in_words() -> None:
    cells = {"sky": ["sun", HALF] * 9, "y": ["a", "b"] * 9}
    for table in (cells, pd.DataFrame(cells, dtype=object)):
        with refused("Row 2 of the column 'sky'", "half of a character"):
            likely.fit(table, "y")
    named = {HALF: ["sun", "rain"] * 9, "y": ["a", "b"] * 9}
    with refused("the table has the column", "half of a character", "Rename it"):
        likely.fit(named, "y")


def test_a_learner_may_be_named_or_be_a_class() -> None:
    wanted = likely.fit(FRAME, "y", likely.TreeAugmented())
    for given in ("TreeAugmented", likely.TreeAugmented):
        found = likely.fit(FRAME, "y", given)
        assert found.learner == wanted.learner
        assert (found.posterior(X).matrix == wanted.posterior(X).matrix).all()
    assert likely.fit(FRAME, "y", "Neighbors(k=3)").learner == likely.Neighbors(k=3)
    assert likely.fit(FRAME, learner=likely.Density).learner == likely.Density()
    with refused("no learner 'Tree'", "TreeAugmented"):
        likely.fit(FRAME, "y", "Tree")
    with refused("no setting 'kk'", "k"):
        likely.fit(FRAME, "y", "Neighbors(kk=3)")
    with refused("members"):
        likely.fit(FRAME, "y", likely.Mixture)
    for nothing in (3, object(), ["NaiveBayes"], dict):
        with refused("learner is", "likely.NaiveBayes"):
            likely.fit(FRAME, "y", nothing)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["look", "curve", "doctor", "repeats"])
def test_learners_are_taken_alike_everywhere(name: str) -> None:
    for given in ("NaiveBayes", likely.NaiveBayes, likely.NaiveBayes()):
        FUNCTIONS[name](FRAME, "y", given)
    with refused("no learner 'Nave'"):
        FUNCTIONS[name](FRAME, "y", "Nave")
    with refused("learner is"):
        FUNCTIONS[name](FRAME, "y", 3)


def test_compare_takes_names_classes_and_lists_of_names() -> None:
    mixed = likely.compare(FRAME, "y", {"a": "NaiveBayes", "b": likely.Prior, "c": likely.Neighbors(k=3)})
    assert {one.name for one in mixed.learners} == {"a", "b", "c"}
    listed = likely.compare(FRAME, "y", ["NaiveBayes", "Neighbors(k=3)"], also={"least": "Prior"})
    assert {one.name for one in listed.learners} == {"NaiveBayes", "Neighbors(k=3)", "least"}
    with refused("no learner 'Nave'"):
        likely.compare(FRAME, "y", ["Nave"])


@pytest.mark.parametrize("target", [Y, Y.to_list(), Y.to_numpy(), pl.Series("y", Y.to_list()), Y.astype("category")])
def test_the_target_may_be_the_column_itself(target: Any) -> None:
    name = "y" if hasattr(target, "name") else "target"
    wanted = likely.fit(FRAME, "y", "NaiveBayes")
    for table in (X, X.to_dict("list"), pl.DataFrame(X.to_dict("list")), FRAME if name == "y" else X):
        model = likely.fit(table, target, "NaiveBayes")
        assert model.schema.target is not None and model.schema.target.name == name
        assert (model.posterior(X).matrix == wanted.posterior(X).matrix).all()


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_targets_are_taken_and_refused_alike_everywhere(name: str) -> None:
    function = FUNCTIONS[name]
    function(X, Y)
    with refused("5 values", "40 rows"):
        function(X, Y[:5])
    with refused("index of the target", "loc"):
        function(X, Y[::-1])
    for nothing in (True, 1.5, FRAME[["y"]], {"y": 1}, b"y"):
        with refused("target is a"):
            function(FRAME, nothing)
    with refused("no column 'why'"):
        function(FRAME, "why")
    with refused("several parts", "df.columns"):
        function(pd.DataFrame({("a", "x"): [1.0, 2.0] * 10, ("a", "y"): ["p", "q"] * 10}), ("a", "y"))


def test_a_series_does_not_go_with_a_file(tmp_path: Any) -> None:
    X.to_csv(tmp_path / "x.csv", index=False)
    with refused("x.csv", "not a table in memory"):
        likely.fit(tmp_path / "x.csv", Y)


def test_columns_called_by_numbers() -> None:
    frame = pd.DataFrame({0: FRAME["sky"], 1: FRAME["y"]})
    for target in (1, np.int64(1), "1"):
        model = likely.fit(frame, target, "NaiveBayes")
        assert model.schema.target is not None and model.schema.target.name == "1"
    assert (np.array(model.predict(frame[[0]])) == np.where(FRAME["sky"] == "sun", "a", "b")).all()
    with refused("no column '2'"):
        likely.fit(frame, 2)
    with refused("'1'"):
        likely.fit(pd.DataFrame({1: FRAME["sky"], "1": FRAME["y"]}), 1)


def test_names_of_several_parts_are_refused_with_the_remedy() -> None:
    frame = pd.DataFrame({("a", "x"): [1.0, 2.0] * 10, ("a", "y"): ["p", "q"] * 10})
    with refused("MultiIndex", "df.columns ="):
        likely.fit(frame, "y")
    frame.columns = ["_".join(map(str, c)) for c in frame.columns]
    assert likely.fit(frame, "a_y").classes == ("p", "q")


def test_arrays_without_names_are_told_how_to_name_columns() -> None:
    with refused("ndarray", "names"):
        likely.fit(np.zeros((4, 2)), [0, 1, 0, 1])


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "summarize"])
def test_a_misspelt_option_is_told_with_the_nearest(name: str) -> None:
    with refused("no option 'mising'", "'missing'"):
        FUNCTIONS[name](FRAME, "y", mising=["?"])


def test_a_regression_takes_its_target_as_fit_does() -> None:
    wanted = likely.regress(FRAME, "x")
    assert likely.regress(FRAME[["sky", "y"]], FRAME["x"]).weights == wanted.weights
    assert likely.regress(FRAME.set_axis([0, 1, 2], axis=1), 1).constant == wanted.constant
    for target, words in ((0, "no column '0'"), (None, "No target"), (("a", "x"), "several parts"), (True, "a bool")):
        with refused(words):
            likely.regress(FRAME, target)
    with refused("no option 'type'", "'types'"):
        likely.regress(FRAME, "x", type={"sky": "nominal"})  # type: ignore[call-arg]
    with refused("no option 'type'", "'types'"):
        likely.straight_line(FRAME, "x", "y", type={})  # type: ignore[call-arg]


def test_a_series_is_no_table() -> None:
    model = likely.fit(FRAME, "y", likely.NaiveBayes)
    for row in (X.iloc[0], X["sky"], pl.Series([1.0])):
        for ask in (model.predict, model.posterior, model.log_density):
            with refused("A Series may be a row or a column", r"row.to_dict\(\)"):
                ask(row)
    assert model.predict(X.iloc[0].to_dict()) == model.predict(X.iloc[[0]])[0]


def test_a_file_is_answered_by_a_table(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "new.csv", index=False)
    model = likely.fit(FRAME, "y", "NaiveBayes")
    found = model.posterior(tmp_path / "new.csv").frame()
    assert found.to_pandas().equals(model.posterior(FRAME).frame())
    decided = likely.decide(model, tmp_path / "new.csv").frame()
    assert decided.column("action").to_pylist() == model.predict(tmp_path / "new.csv")


def test_a_file_of_sums_is_no_model_unless_sums_are_asked_for(tmp_path: Path) -> None:
    model = likely.fit(FRAME, "y", "NaiveBayes")
    model.save(tmp_path / "m.likely")
    model.summary.save(tmp_path / "s.likely")
    with refused("'s.likely' holds sums without a model", r"likely.load\(path, likely.Summary\)"):
        likely.load(tmp_path / "s.likely")
    for name in ("m.likely", "s.likely"):
        assert likely.load(tmp_path / name, likely.Summary) == model.summary
    assert likely.load(tmp_path / "m.likely").learner == model.learner


def test_a_name_that_is_not_there_is_answered_by_the_nearest() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'Tree'\. Did you mean 'TreeAugmented'"):
        likely.Tree  # noqa: B018


@pytest.mark.parametrize("call", [likely.fit, likely.summarize, likely.look])
def test_an_option_out_of_its_range_or_unknown_is_refused(call: Callable[..., object]) -> None:
    with refused("threads is '-1'. It must be a whole number, one or more"):
        call(FRAME, "y", threads=-1)
    with refused("dates is 'half'. It must be one of auto, whole, parts"):
        call(FRAME, "y", dates="half")
    with refused("There is no option 'encodng' of reading a table. Did you mean 'encoding'"):
        call(FRAME, "y", encodng="utf-8")


def test_typed_keywords_are_those_that_are_declared() -> None:
    """The one exception to "an option of reading is declared in one place": editors read typed dictionaries."""

    def typed(options: type) -> dict[str, str]:
        return {name: hint.__forward_arg__ for name, hint in options.__annotations__.items()}

    types = {f.name: f.type for f in fields(Reading) if f.metadata}
    assert typed(ReadingOptions) == types
    assert types.keys() == {f.name for f in fields(Reading)} - {"target", "keep_row_numbers", "tries_dates"}
    assert {*typed(FileOptions)} == {*options_about(FILE, WORKING)}
    assert {*typed(MoreRowsOptions)} == {*options_about(FILE, WORKING, SEVERAL)}
    assert {*typed(CellOptions)} == {*options_about(FILE, WORKING), "missing", "weight"}


TYPED = [
    likely.NaiveBayes(),
    likely.NaiveBayes(temperature="auto"),
    likely.NaiveBayes(attribute_weights={"x": 0.5}),
    likely.TunedNaiveBayes(),
    likely.TreeAugmented(),
    likely.OneDependence(),
    likely.FullBayes(),
    likely.LinearDiscriminant(),
    likely.LeastSquares(),
    likely.Logistic(),
    likely.TextLogistic(),
    likely.Neighbors(),
    likely.Mixture([likely.NaiveBayes(), likely.Logistic()], weights="held-out"),
    likely.Gibbs([likely.NaiveBayes(), likely.Prior()], weights=[0.5, 0.5]),
    likely.Auto(effort="quick"),
    likely.Pool([likely.NaiveBayes(), likely.Logistic()]),
    likely.OneRule(),
    likely.Prior(),
    likely.Additive(order=1),
    likely.Forest(trees=3),
]


@pytest.mark.parametrize("learner", TYPED, ids=lambda learner: type(learner).__name__)
def test_fit_gives_the_model_that_learn_promises(learner: Any) -> None:
    table = {"x": FRAME["x"], "z": FRAME["x"] ** 2 % 5, "y": FRAME["y"]}
    if isinstance(learner, likely.FullBayes | likely.LinearDiscriminant):
        table["y"] = FRAME["sky"]
    promised = get_type_hints(type(learner).learn)["return"]
    for rows in (table, {**table, "y": ["a"] * 40}):
        assert isinstance(likely.fit(rows, "y", learner, types={"x": "number", "z": "number"}), promised)


def test_learn_refuses_where_rows_must_be_seen_and_gives_a_model_elsewhere() -> None:
    summary = likely.summarize(FRAME, "y")
    assert likely.NaiveBayes().learn(summary).predict({"sky": "sun"}) == "a"
    for learner in (likely.Logistic(), likely.Auto(), likely.Additive(), likely.NaiveBayes(temperature="auto")):
        with refused(f"{type(learner).__name__} must see the rows", r"likely.fit\(data, target"):
            learner.learn(summary)
        assert not isinstance(begin(learner, summary), likely.Model)
