"""Losses: named on both axes, exact where they were given so, kept by a TOML file; bad ones are sentences."""

from __future__ import annotations

import tomllib
from fractions import Fraction as F
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely import Loss
from likely.errors import InputError, LikelyError, SettingError
from likely.models.loss import DONT_KNOW, loss_of, parse_loss, read_loss

NAMES = st.sampled_from(
    [
        "a",
        "",
        "no cancer",
        "don't know",
        "abstain",
        "[red]",
        "x=1",
        'quo"te',
        "é😀",
        "a.b",
        "back\\slash",
        "\x7f",
        "loss",
    ]
)
COSTS = (
    st.integers(-(10**20), 10**20)
    | st.fractions(-1000, 1000)
    | st.floats(-1e300, 1e300)
    | st.sampled_from([0, -0.0, 5e-324, 1e300])
)


def test_what_is_not_named_costs_nothing_and_dont_know_comes_last() -> None:
    loss = Loss({"cancer": {"send home": 10}, "healthy": {"operate": 1}}, abstain="1/3")
    assert loss.actions == ("send home", "operate", DONT_KNOW)
    assert loss.rows(("healthy", "cancer")) == ((0, 1, F(1, 3)), (10, 0, F(1, 3)))
    assert loss.cost("cancer", "operate") == 0
    named = Loss({"a": {DONT_KNOW: 2, "x": 1}, "b": {"y": 3}})
    assert named.actions == ("x", "y", DONT_KNOW)
    assert named.cost("b", DONT_KNOW) == 0  # said of one class only


def test_zero_one() -> None:
    assert Loss.zero_one(("a", "b", "c"), abstain=0.2).rows(("b",)) == ((1, 0, 1, 0.2),)


def test_names_are_labels() -> None:
    loss = Loss({True: {"go": 1}, 2.0: {"stay": 1}, 3: {}})  # type: ignore[dict-item]
    assert loss.classes == ("true", "2", "3")


@given(
    st.dictionaries(NAMES, st.dictionaries(NAMES, COSTS, min_size=2, max_size=4), min_size=1, max_size=4),
    st.none() | COSTS,
)
def test_a_page_keeps_everything(costs: dict[str, dict[str, F]], abstain: F | None) -> None:
    try:
        loss = Loss(costs, abstain)
    except SettingError as error:
        assert "twice" in str(error) or "only the action" in str(error)
        return
    part = tomllib.loads(loss.toml(under="loss"))["loss"]
    for back in (parse_loss(loss.toml()), loss_of(part, "spec")):
        assert back.actions == loss.actions
        assert back.rows(costs) == loss.rows(costs)
        assert [list(map(type, r)) for r in back.rows(costs)] == [list(map(type, r)) for r in loss.rows(costs)]


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ({}, "names no action"),
        ({"a": {"x": 1}}, "only the action 'x'"),
        ({"a": {"x": float("nan"), "y": 1}}, "the action 'x' in the class 'a' is 'nan'"),
        ({"a": {"x": float("inf"), "y": 1}}, "finite"),
        ({"a": {"x": "1e-999999999", "y": 1}}, "finite"),
        ({"a": {"x": "1/0", "y": 1}}, "finite"),
        ({"a": {"x": "dear", "y": 1}}, "'dear'"),
        ({"a": {"x": True, "y": 1}}, "'True'"),
        ({"a": {"x": None, "y": 1}}, "'None'"),
        ({"a": {"x": 10**400, "y": 1}}, "finite"),
        ({"a": 5}, "not a cost for each action"),
        ([[0, 1], [1, 0]], "by class and action"),
        ({"a": {"x": 1, "y": 2}, "a ": {"x": 1}}, "'a' twice"),
    ],
)
def test_bad_costs_are_sentences(costs: object, words: str) -> None:
    with pytest.raises(SettingError) as caught:
        Loss(costs)  # type: ignore[arg-type]
    assert words in str(caught.value)


def test_dont_know_has_one_cost() -> None:
    with pytest.raises(SettingError, match="twice"):
        Loss({"a": {"x": 1, DONT_KNOW: 2}}, abstain=1)
    with pytest.raises(SettingError, match="twice"):
        parse_loss('abstain = 1\n"don\'t know" = 2\n[a]\nx = 1')
    with pytest.raises(SettingError, match="finite"):
        Loss({"a": {"x": 1, "y": 2}}, abstain=float("nan"))


def test_unknown_names_are_sentences() -> None:
    loss = Loss({"cancer": {"send home": 10}, "healthy": {"operate": 1}})
    with pytest.raises(SettingError, match=r"does not name the class 'cancr'.*Did you mean 'cancer'"):
        loss.rows(("cancr",))
    with pytest.raises(SettingError, match=r"no action 'operat'.*Did you mean 'operate'"):
        loss.cost("cancer", "operat")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[a\nx = 1", "is not TOML"),
        ("a = 1", "neither a class"),
        ("[a]\nx.y = 1", "finite number"),
        ("[a]\nx = inf\ny = 1", "finite number"),
        ("a = " + "[" * 5000 + "]" * 5000, "loss.toml"),
    ],
)
def test_bad_pages_are_sentences(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "loss.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LikelyError) as caught:
        read_loss(path)
    assert words in str(caught.value)


def test_files_that_cannot_be_read_are_sentences(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.toml"):
        with pytest.raises(InputError, match="Cannot read"):
            read_loss(path)
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not text"):
        read_loss(tmp_path / "bytes.toml")


def test_a_spec_keeps_the_loss_and_refuses_a_bad_one() -> None:
    from likely.apply.spec import differences, parse_spec, spec_of

    loss = Loss({"abstain": {"go [red]": "1/3"}, "don't know": {"stay": -2.5}, "é": {}}, abstain=1)
    table = {"k": ["u", "v", "w"] * 4, "y": ["abstain", "don't know", "é"] * 4}
    spec = spec_of(likely.fit(table, "y", loss=loss))
    back = parse_spec(spec.toml(), "spec")
    assert back.loss is not None and back.loss.actions == loss.actions
    assert back.loss.rows(loss.classes) == loss.rows(loss.classes)
    plain = spec_of(likely.fit(table, "y"))
    assert {name for name, _, _ in differences(plain, spec)} == {
        "loss.abstain.go [red]",
        "loss.don't know.stay",
        "loss.é",
        "loss.don't know",
    }
    with pytest.raises(SettingError, match="neither a class"):
        parse_spec("[loss]\ncancer = 3", "spec")
    with pytest.raises(SettingError, match="Write it like this"):
        parse_spec("loss = 3", "spec")


def test_an_action_has_a_name() -> None:
    """An empty one could not be told from a row without an action."""
    table = {"x": ["p", "q"] * 9, "y": ["a", "b"] * 9}
    model = likely.fit(table, target="y")
    for name in ("", "  "):
        loss = {"a": {"go": 1}, "b": {name: 1}}
        for use in (
            lambda loss=loss: likely.decide(model, {"x": "p"}, loss),
            lambda loss=loss: likely.fit(table, "y", loss=loss),
            lambda loss=loss: likely.look(table, "y", loss=loss),
        ):
            with pytest.raises(SettingError, match="an action without a name"):
                use()


def test_a_class_may_be_called_dont_know() -> None:
    """Then it stays in its place, so that ties go to the same class as the prediction's."""
    names = ("a", DONT_KNOW, "z")
    assert Loss.zero_one(names).actions == names
    model = likely.fit({"x": ["p", "p"], "y": [DONT_KNOW, "z"]}, target="y")
    assert model.predict({"x": "p"}) == likely.decide(model, {"x": "p"}).action == DONT_KNOW


def test_a_table_of_costs_is_read_both_ways_round(tmp_path: Path) -> None:
    wanted = Loss({"ill": {"home": 10, "treat": 0}, "well": {"home": 0, "treat": "1/3"}})
    classes, actions = tmp_path / "c.csv", tmp_path / "a.tsv"
    classes.write_text("\ufeffClass;home;treat\nill;10;\nwell;0;1/3\n", encoding="utf-8")
    actions.write_text("action\till\twell\nhome\t10\t0\ntreat\t0\t1/3\n")
    assert read_loss(classes) == read_loss(actions) == wanted
    known = tmp_path / "k.csv"
    known.write_text("truth,home,treat,don't know\nill,10,0,.5\nwell,0,1,.5\n")
    assert read_loss(known).actions == ("home", "treat", DONT_KNOW)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,home,treat\nill,1,2\n", "first cell must say what the rows are"),
        ("", "first cell must say what the rows are"),
        ("class,home,treat\nill,1\n", "Row 2 of 'l.csv' has 2 cells where the first has 3"),
        ("class,home,home\nill,1,2\n", "has the column 'home' twice"),
        ("class,home,treat\nill,1,2\nill,2,3\n", "has the row 'ill' twice"),
        ("class,home,treat\nill,1,much\n", "must be a finite number"),
    ],
)
def test_a_table_of_costs_that_is_none_is_a_sentence(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(text)
    with pytest.raises(SettingError, match=words):
        read_loss(tmp_path / "l.csv")
