"""Each recipe of docs/architecture.md, proved: a small plug-in passes the laws and appears where it should."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.conftest import run as run
from plugins.toy_export import to_outline
from plugins.toy_factor import Signs
from plugins.toy_learner import Lifts
from plugins.toy_source import Dice
from plugins.toy_statistic import Gaps
from plugins.toy_sweeper import FittedLifts

import likely
from likely.cli.listing import COMMANDS
from likely.errors import SettingError
from likely.models.contracts import Sweep
from likely.models.registry import LEARNERS, register
from likely.models.shapes import Sum
from likely.portable.languages.export import WRITERS
from likely.sums.summary import MORE
from likely.testing import check_learner, check_statistic

REGISTRIES: tuple[dict[str, Any], ...] = (LEARNERS, MORE, COMMANDS, WRITERS)


@pytest.fixture(scope="module", autouse=True)
def plugins() -> Iterator[None]:
    """The plug-ins are registered for these tests alone: one line each."""
    before = [dict(registry) for registry in REGISTRIES]
    register(Lifts, spoken="lifts of levels", face="LiftsClassifier")
    register(Signs)
    register(FittedLifts)
    MORE["gaps"] = Gaps
    COMMANDS["classes"] = "plugins.toy_command"
    WRITERS["outline"] = to_outline
    yield
    for registry, names in zip(REGISTRIES, before, strict=True):
        for name in [n for n in registry if n not in names]:
            del registry[name]


@pytest.fixture
def weather(examples: Path) -> Path:
    return examples / "weather.csv"


def test_a_learner_keeps_the_laws() -> None:
    table = {"sky": ["sun", "rain", None, "fog", "sun"] * 4, "wind": list("abcab") * 4, "y": list("xyxyz") * 4}
    check_learner(Lifts(strength=0.5), table, "y")
    with pytest.raises(SettingError, match="strength is '-1'"):
        Lifts(strength=-1)


ROWS = {"sky": ["sun", "rain", None, "fog", "sun"] * 8, "wind": list("abcabbca") * 5, "y": list("xyxyzyxy") * 5}


def test_a_learner_that_sees_the_rows_again_keeps_the_laws(run: Callable[..., Any], weather: Path) -> None:
    check_learner(FittedLifts(), ROWS, "y")
    model = likely.fit(ROWS, "y", FittedLifts())
    assert model.strength > 0
    same = likely.fit(ROWS, "y", Lifts(model.strength))
    rows = {name: ROWS[name] for name in ("sky", "wind")}
    bare = replace(model, references=None)  # unknown cells are averaged over, where rows were seen again
    assert bare.posterior(rows).matrix.tobytes() == same.posterior(rows).matrix.tobytes()
    with pytest.raises(SettingError, match=r"FittedLifts must see the rows .* likely\.fit\(data, target"):
        FittedLifts().learn(model.summary)
    run("fit", weather, "play", "--learner", "FittedLifts", "-o", "m.likely").done()
    assert "outlook" in run("explain", "m.likely", "outlook=sunny").done().out
    compared = json.loads(run("compare", weather, "play", "--json", "--folds", "3").done().out)
    assert "FittedLifts" in [one["name"] for one in compared["learners"]]


def test_a_learner_that_remembers_other_sweeps_is_found_out() -> None:
    """A generator keeps what it knows in its own names: two that learn beside each other must not meet."""
    seen: list[Any] = []

    class Shared(FittedLifts):
        def learn(self, summary: likely.Summary) -> Any:
            def look(batch: Any, group: Any, weight: Any) -> tuple[Any, ...]:
                seen.append(len(group))
                return (np.zeros(1),)

            seen.clear()
            yield Sweep(look)
            return self.at(summary, 1.0 / len(seen))

    LEARNERS["Shared"] = Shared
    with pytest.raises(AssertionError, match="beside another in the same sweeps"):
        check_learner(Shared(), ROWS, "y")


def test_a_learner_that_breaks_a_law_is_found_out() -> None:
    class Forgetful(Sum):
        def scored(self, batch: Any) -> Any:
            logs, words = super().scored(batch)
            return logs + np.log(1.5), words

    class Broken(Lifts):
        def learn(self, summary: likely.Summary) -> Any:
            model = super().learn(summary)
            return replace(model, score=Forgetful(model.score.constant, model.score.terms))

    LEARNERS["Broken"] = Broken
    with pytest.raises(AssertionError, match="terms do not add up"):
        check_learner(Broken(), {"sky": ["sun", "rain"] * 5, "y": list("xyyxx") * 2}, "y")


def test_a_learner_appears_on_the_command_line(run: Callable[..., Any], weather: Path) -> None:
    run("fit", weather, "play", "--learner", "Lifts", "--set", "strength=0.5", "-o", "m.likely").done()
    assert json.loads(run("show", "m.likely", "--json").done().out)
    assert "strength" in run("show", "m.likely", "--spec").done().out
    told = run("explain", "m.likely", "outlook=sunny", "windy=true").done().out
    assert "outlook" in told and "windy" in told
    assert "sunny" in run("show", "m.likely", "outlook").done().out
    run("predict", "m.likely", weather, "-o", "out.csv").done()
    compared = json.loads(run("compare", weather, "play", "--json", "--folds", "3").done().out)
    assert "Lifts" in [one["name"] for one in compared["learners"]]
    run("compare", weather, "play", "--learner", "Lift").refused("Did you mean 'Lifts'")


def test_a_learner_appears_on_the_page_and_in_other_languages(run: Callable[..., Any], weather: Path) -> None:
    run("look", weather, "play", "--learner", "Lifts", "-o", "page.html").done()
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Lifts" in page and 'id="whatif"' in page
    model = likely.fit(weather, "play", Lifts())
    names: dict[str, Any] = {}
    exec(str(likely.export(model, "python")), names)
    row = {"outlook": "sunny", "windy": "true"}
    assert "case" in str(likely.export(model, "sql")).lower()
    assert likely.explain(model, row).posterior == pytest.approx(
        dict(zip(model.classes, model.posterior(row).matrix[0].tolist(), strict=True))
    )


def test_a_learner_can_be_written_down_and_read_again(run: Callable[..., Any], weather: Path) -> None:
    run("fit", weather, "play", "--learner", "Lifts", "--set", "strength=0.25", "-o", "m.likely").done()
    Path("spec.toml").write_text(run("show", "m.likely", "--spec").done().out)
    run("fit", weather, "--spec", "spec.toml", "-o", "again.likely").done()
    one, two = likely.load("m.likely"), likely.load("again.likely")
    assert one.learner == two.learner
    assert np.array_equal(one.posterior(weather).matrix, two.posterior(weather).matrix)


def test_a_learner_is_called_as_people_call_it(run: Callable[..., Any], weather: Path) -> None:
    assert (
        "\nLifts of levels predicts play correctly for" in run("look", weather, "play", "--learner", "Lifts").done().out
    )


def test_a_learner_is_an_estimator() -> None:
    pytest.importorskip("sklearn")
    import pickle

    from sklearn.base import clone

    from likely.sklearn import LiftsClassifier  # type: ignore[attr-defined]

    one = clone(LiftsClassifier(strength=0.5))
    assert one.get_params()["strength"] == 0.5
    X, y = [["sun", "hot"], ["rain", "cold"], ["sun", "cold"], ["rain", "hot"]] * 3, [1, 0, 1, 0] * 3
    rows = [["sun", "hot"], ["rain", "hot"]]
    assert one.fit(X, y).predict(rows).tolist() == [1, 0]
    assert pickle.loads(pickle.dumps(one)).predict(rows).tolist() == [1, 0]
    with pytest.raises(ImportError):
        from likely.sklearn import SignsClassifier  # type: ignore[attr-defined]  # noqa: F401


def test_a_factor_is_scored_explained_and_exported() -> None:
    import duckdb

    table = {"x": [-1.5, -2.25, 3.5, 4.0, None, -0.0] * 4, "y": list("aabbab") * 4}
    check_learner(Signs(), table, "y", types={"x": "number"})
    model = likely.fit(table, "y", Signs(), types={"x": "number"})
    assert model.posterior({"x": -5}).prob("a") == pytest.approx(9 / 10 / (9 / 10 + 1 / 14))
    (factor,) = [term for term in likely.explain(model, {"x": -5}).entries if term.name == "x"]
    assert abs(factor.log_ratio) == pytest.approx(np.log(9 / 10 * 14))
    query = str(likely.export(model, "sql", dialect="duckdb"))
    with duckdb.connect() as base:
        base.execute("create table rows as select * from (values (-5.0::double), (2.0), (null)) as t(x)")
        there = [row[-2:] for row in base.execute(query).fetchall()]
    assert np.allclose(np.array(there, float), model.posterior({"x": [-5.0, 2.0, None]}).matrix, atol=1e-12)


def test_a_statistic_keeps_the_laws_and_is_kept_in_files(tmp_path: Path) -> None:
    from likely.table.batch import Codes
    from likely.table.labels import Labels

    table = {"sky": ["sun", None, "rain", "sun"] * 3, "x": [1.5, None, None, 4.25] * 3, "y": list("ab") * 6}
    more = {"types": {"x": "number", "sky": "nominal"}, "more": ["gaps"]}
    whole = likely.summarize(table, "y", **more)
    assert whole.more["gaps"].counts == {(0, "11"): 3, (0, "10"): 3, (1, "00"): 3, (1, "11"): 3}
    halves = [{n: c[part] for n, c in table.items()} for part in (slice(0, 5), slice(5, 12))]
    one, two = (likely.summarize(half, "y", schema=whole.schema, more=["gaps"]) for half in halves)
    assert one + two == whole and (one + two) - two == one
    labels = Labels(["a", "b"])

    def batch(codes: list[int]) -> tuple[Any, Any]:
        from likely.table.batch import Batch

        cells = {"sky": Codes(np.array(codes, np.int32), labels)}
        return Batch(len(codes), cells, None, None), np.zeros(len(codes), np.int32)

    check_statistic(lambda: Gaps(("sky",), 1), [batch([0, -1]), batch([]), batch([1, 1, -1])])


def test_a_command_is_listed_and_runs(run: Callable[..., Any], weather: Path) -> None:
    assert "classes" in run("--help").done().out
    assert run("classes", weather, "play").done().out == "no: 5\nyes: 9\n"
    run("classes", "nothing.csv", "play").refused("nothing.csv")


def test_a_language_can_be_exported_to(run: Callable[..., Any], weather: Path) -> None:
    run("fit", weather, "play", "-o", "m.likely").done()
    assert run("export", "m.likely", "--to", "outline").done().out.startswith("play: no, yes\n- outlook\n")
    run("export", "m.likely", "--to", "outlin").refused("Did you mean 'outline'")


def test_a_source_is_a_table_everywhere(tmp_path: Path) -> None:
    model = likely.fit(Dice(300), "seven", likely.TreeAugmented())
    assert model.summary.rows == 300
    assert likely.compare(Dice(120), "seven", {"it": likely.NaiveBayes()}, folds=3).learners[0].scores is not None
    assert likely.look(Dice(120), "seven", likely.NaiveBayes(), folds=3).rows == 120
    assert len(model.predict(Dice(70))) == 70
