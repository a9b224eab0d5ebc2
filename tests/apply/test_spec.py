"""The spec: a model's assumptions as TOML, there and back, compared line by line; a page that is wrong is refused."""

from __future__ import annotations

import csv
import tomllib
from dataclasses import fields
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely.apply.spec import Spec, differences, parse_spec, read_spec, spec_of
from likely.errors import LikelyError
from likely.models.registry import learner_named, settings_of
from likely.table.infer import USUAL

NAMES = st.text(st.characters(blacklist_categories=("Cs",)), max_size=8)
LEARNERS = st.sampled_from(
    [
        likely.NaiveBayes(pseudo_count=0.1, prior={"a\n": 0.25, 'b"=': 0.75}),
        likely.NaiveBayes(numbers={"x": "kernel", "*": "binned"}, bins={"[bold]": (1.0, 2.5e300)}, bandwidth=1e-300),
        likely.NaiveBayes(blocks=(("a", "b,"), ('"', "[c]")), shrinkage="auto"),
        likely.FullBayes(shrinkage="auto"),
        likely.TreeAugmented(root="ä = 'x'"),
        likely.Neighbors(k=7, attribute_weights={"\x7f\u2028": 0.0, "😀": 1e22}),
        likely.LeastSquares(mode="pairwise", ridge=5e-324),
        likely.Logistic(max_sweeps=3),
        likely.Mixture((likely.NaiveBayes(), likely.TreeAugmented(root="\\")), weights=(0.1, 0.9)),
        likely.Gibbs((likely.Prior(),), weights="held-out", seed=-5),
        likely.Density(density="naive"),
        likely.Prior(prior="uniform"),
        likely.LinearDiscriminant(),
        likely.OneDependence(minimum=30),
    ]
)
SPECS = st.builds(
    Spec,
    target=st.none() | NAMES,
    options=st.fixed_dictionaries(
        {},
        optional={
            "weight": NAMES,
            "target_bins": st.integers(2, 99) | st.lists(st.floats(-1e9, 1e300), min_size=1, max_size=3),
            "missing": st.lists(NAMES, max_size=3),
            "types": st.dictionaries(NAMES, st.sampled_from([*USUAL, "constant of dates"]), min_size=1, max_size=4),
        },
    ),
    learner=LEARNERS,
)


@given(SPECS)
def test_a_page_comes_back_as_it_was(spec: Spec) -> None:
    back = parse_spec(spec.toml(), "page")
    assert back == spec and differences(spec, back) == []
    assert back.toml() == spec.toml()


@given(SPECS, SPECS)
def test_differences_are_what_differs(one: Spec, two: Spec) -> None:
    found = differences(one, two)
    assert (found == []) == (one == two)
    assert sorted(differences(two, one)) == sorted((k, b, a) for k, a, b in found)


def test_members_are_compared_setting_by_setting() -> None:
    one = Spec(learner=likely.Mixture((likely.NaiveBayes(), likely.TreeAugmented())))
    two = Spec(learner=likely.Mixture((likely.NaiveBayes(), likely.TreeAugmented(pseudo_count=0.5))))
    assert differences(one, two) == [("learner.members.2.pseudo_count", "1.0", "0.5")]


def test_every_setting_is_on_the_page() -> None:
    page = tomllib.loads(Spec(learner=likely.Neighbors()).toml())["learner"]
    assert {*page, "attribute_weights"} == {"name", *(f.name for f in fields(likely.Neighbors))}


def refit(data: Any, target: str | None, learner: Any, **reading: Any) -> tuple[Any, Any]:
    """A model, and the one that its spec makes of the same table."""
    model = likely.fit(data, target, learner, **reading)
    spec = parse_spec(spec_of(model).toml(), "page")
    return model, likely.fit(data, spec.target, spec.learner, **spec.reading())


@pytest.mark.parametrize(
    "reading",
    [
        {},
        {"target_bins": 3},
        {"target_bins": [2.0, 4.0]},
        {"types": {"y": "nominal", "k": "ignore"}},
        {"weight": "w", "target_bins": 2, "missing": ["none", "l1"]},
    ],
)
def test_a_spec_reads_the_table_as_the_model_did(reading: dict[str, Any]) -> None:
    rows = [{"x": k / 4, "k": f"l{k % 3}", "w": k % 2 + 0.5, "y": float(k % 6)} for k in range(30)]
    model, again = refit(rows, "y", likely.NaiveBayes(), **reading)
    assert again.schema == model.schema and again.summary == model.summary and again.learner == model.learner


def every_kind(path: Path) -> Path:
    """A table with a column of each kind that inference knows; cells of one number are spelled in several ways."""
    spelled = ["1", "2.0", "3", "1.0", "2", "3.00"]
    table: dict[str, list[Any]] = {
        "words": ["red", "green", "[blue]"] * 20,
        "codes": ["007", "010", "011"] * 20,
        "few numbers": [spelled[k % 6] for k in range(60)],
        "=two": ["0", "1", "+1.0"] * 20,
        "truth": ["True", "false", "TRUE"] * 20,
        "number": [f"{k * 0.37:.3f}" for k in range(60)],
        "mixed": ["none" if k % 10 == 0 else str(k * k + 0.5) for k in range(60)],
        "day": [f"2024-{k % 12 + 1:02}-{k % 28 + 1:02}" for k in range(60)],
        "id": [f"x{k * k}" for k in range(60)],
        "serial": [str(k + 1) for k in range(60)],
        "same": ["always"] * 60,
        "same number": ["7"] * 60,
        "same day": ["2024-02-29"] * 60,
        "empty": [""] * 60,
        "text": [f"the {k} quick brown fox jumps over dog number {k * k}" for k in range(60)],
        "y": ["1", "2.0", "1.0", "2"] * 15,
    }
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(table)
            rows.writerows(zip(*table.values(), strict=True))
        return path
    kept: dict[str, Any] = {n: pa.array(table[n]) for n in ("words", "codes", "id", "text", "same")}
    kept |= {n: pa.array([float(v) for v in table[n]]) for n in ("few numbers", "=two", "number", "same number")}
    kept |= {n: pa.array([int(float(v)) for v in table[n]]) for n in ("serial", "y")}
    kept["truth"] = pa.array([v.lower() == "true" for v in table["truth"]])
    kept |= {n: pa.array([date.fromisoformat(v) for v in table[n]]) for n in ("day", "same day")}
    kept["empty"], kept["nested"] = pa.nulls(60), pa.array([[k] for k in range(60)])
    pq.write_table(pa.table(kept), path)
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_every_kind_of_column_comes_back(name: str, tmp_path: Path) -> None:
    path = every_kind(tmp_path / name)
    model, again = refit(path, "y", likely.NaiveBayes())
    found = {(c.kind, c.reading) for c in model.schema.columns}
    more = {("ignored", "text")} if name == "t.parquet" else set()
    assert found == {
        *(("nominal", r) for r in ("text", "number")),
        *(("constant", r) for r in ("text", "number", "date")),
        *(("identifier", r) for r in ("text", "number")),
        ("number", "number"),
        ("date", "date"),
        ("text", "text"),
        *more,
    }
    assert again.schema == model.schema and again.summary == model.summary
    assert again.learner == spec_of(model).learner  # what was chosen for the text is said there
    (batch,) = model.batches(path)
    assert (again.log_joint(batch) == model.log_joint(batch)).all()
    assert spec_of(again) == spec_of(model)
    assert spec_of(model).columns["few numbers"] == "nominal of numbers"
    assert len(model.summary.columns["few numbers"].labels) == 3  # 1 and 1.0 are one level


def test_numbers_as_levels_by_hand() -> None:
    rows = [{"n": cell, "y": "ab"[k % 2]} for k, cell in enumerate(["1", "1.0", "2", "2.00", "x"] * 2)]
    levels = {
        said: likely.fit(rows, "y", types={"n": said}).summary.columns["n"].labels.names
        for said in ("nominal", "nominal of numbers")
    }
    assert sorted(levels["nominal"]) == ["1", "1.0", "2", "2.00", "x"] and levels["nominal of numbers"] == ["1", "2"]
    numbers = [{"n": k % 2, "y": str(float(k % 3))} for k in range(12)]
    model, again = refit(numbers, "y", likely.NaiveBayes(), types={"y": "nominal of numbers", "n": "nominal"})
    assert model.classes == ("0", "1", "2") and again.schema == model.schema
    with pytest.raises(
        LikelyError, match="Say one of nominal, nominal of numbers, number, date, date in parts, text, ignore"
    ):
        likely.fit(rows, "y", types={"n": "nominal of number"})


def test_a_target_of_many_numbers_stays_nominal(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{k / 4},{k % 40}\n" for k in range(80)))
    model, again = refit(path, "y", likely.NaiveBayes(), types={"y": "nominal"})
    assert again.schema == model.schema and len(again.classes) == 40


def test_levels_that_a_file_declares_are_not_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "t.arff"
    cells = "".join(f"{'ab'[k % 2]},{k % 2 + 1}.0,{k / 4},{'pq'[k % 3 > 0]}\n" for k in range(24))
    path.write_text(
        "@relation t\n@attribute k {a,b,never}\n@attribute n numeric\n@attribute x numeric\n@attribute y {p,q,none}\n"
        f"@data\n{cells}"
    )
    model, again = refit(path, "y", likely.NaiveBayes())
    assert model.schema["k"].levels == ("a", "b", "never") and model.schema["n"].kind == "nominal"
    assert again.schema == model.schema and again.summary == model.summary


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ('targt = "play"', "Did you mean 'target'"),
        ("target = ", "is not TOML"),
        ('target = "a"\ntarget = "b"', "is not TOML"),
        ("\x00", "is not TOML"),
        ("x = " + "[" * 5000 + "]" * 5000, "too deeply"),
        ("target = 5", 'target = "play"'),
        ("weight = true", 'weight = "n"'),
        ('missing = "?"', "missing = "),
        ("missing = [1]", "missing = "),
        ("target_bins = 2.5", "target_bins = 4"),
        ("target_bins = [true]", "target_bins = 4"),
        ('columns = ["a"]', "columns"),
        ("[columns]\na = 5", "columns"),
        ('learner = "TreeAugmented"', 'name = "TreeAugmented"'),
        ("[learner]\nk = 3", "does not name its learner"),
        ("[learner]\nname = 3", "does not name its learner"),
        ('[learner]\nname = "Tre"', "Did you mean 'TreeAugmented'"),
        ('[learner]\nname = "TreeAugmented"\npseudocount = 1', "Did you mean 'pseudo_count'"),
        ('[learner]\nname = "TreeAugmented"\npseudo_count = 2020-01-01', "pseudo_count"),
        ('[learner]\nname = "LeastSquares"\nridge = inf', "ridge"),
        ('[learner]\nname = "Mixture"', "needs the setting members"),
        ('[learner]\nname = "Mixture"\nmembers = [{name = "Tre"}]', "Did you mean 'TreeAugmented'"),
    ],
)
def test_a_page_that_is_wrong_is_refused(page: str, words: str) -> None:
    with pytest.raises(LikelyError) as refusal:
        parse_spec(page, "p.toml")
    assert words in str(refusal.value)


def test_files(tmp_path: Path, examples: Path) -> None:
    with pytest.raises(LikelyError, match="No such file"):
        read_spec(str(tmp_path / "none.toml"))
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LikelyError, match="not text"):
        read_spec(str(tmp_path / "b.toml"))
    likely.summarize(examples / "weather.csv", "play").save(tmp_path / "s.likely")
    with pytest.raises(LikelyError, match="without a learner"):
        read_spec(str(tmp_path / "s.likely"))


def test_a_spec_is_not_contradicted_in_silence(tmp_path: Path, examples: Path, capsys: Any) -> None:
    from likely.cli import run

    page = tmp_path / "p.toml"
    page.write_text('target = "play"\n[learner]\nname = "TreeAugmented"\n[columns]\nwindy = "ignore"\n')
    told = ["fit", str(examples / "weather.csv"), "--spec", str(page), "-o", str(tmp_path / "m.likely")]
    for more in (
        ["--learner", "LeastSquares"],
        ["--set", "root=outlook"],
        ["--pseudo-count", "2"],
        ["--type", "windy=text"],
    ):
        assert run([*told, *more]) == 2
        assert f"already sets {more[0]}." in capsys.readouterr().err
    assert run([*told, "--missing", "none"]) == 0  # of which the spec says nothing
    assert likely.load(tmp_path / "m.likely").learner == likely.TreeAugmented()


def test_the_settings_of_a_learner_make_it_again() -> None:
    for learner in (
        likely.Mixture((likely.NaiveBayes(),)),
        likely.TreeAugmented(root="x"),
        likely.NaiveBayes(prior={"a": 1.0}),
    ):
        assert learner_named(type(learner).__name__, settings_of(learner)) == learner
