"""What results show of themselves: tables and charts, in `print` and in a notebook, whatever a function returns."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import likely
from likely.machinery.presented import PRESENTERS
from likely.present.document import Document, Table, fit_table, to_html, to_text

ROW = {"species": "Gentoo", "body_mass_g": 5000}
LONG = "a name of a column that is quite long and goes on and on"
SENTENCES = {"counterfactual", "drift", "changes"}
"""What is told in sentences: that nothing changed, and what would have to."""
NO_RESULT = {"card", "database", "remarks"}
"""Public functions that return a table, a text or sentences as they are, not a result."""


@pytest.fixture(scope="module")
def results(examples: Path) -> dict[str, Any]:
    """A result of every public function."""
    table = examples / "penguins.csv"
    model, naive = likely.fit(table, "sex"), likely.fit(table, "sex", likely.NaiveBayes())
    return {
        "fit": model,
        "summarize": likely.summarize(table, "sex"),
        "learn": likely.learn(naive, table),
        "load": _loaded(naive),
        "decide": likely.decide(model, ROW),
        "decide a table": likely.decide(model, table),
        "by_missing": likely.by_missing(naive, "averaged"),
        "ask": likely.ask(naive, ROW),
        "explain": likely.explain(model, ROW),
        "counterfactual": likely.counterfactual(model, ROW),
        "sureness": likely.sureness(naive, ROW),
        "sureness of a table": likely.sureness(naive, table),
        "tables": likely.tables(naive),
        "look": (look := likely.look(table, "sex", likely.NaiveBayes(), folds=3)),
        "how far to trust it": look.trust,
        "scores by subgroup": look.subgroups,
        "judgement": model.judgement,
        "compare": likely.compare(table, "sex", {"naive": likely.NaiveBayes(), LONG: likely.OneRule()}, folds=3),
        "curve": likely.curve(table, "sex", learner=likely.NaiveBayes(), folds=3, steps=3),
        "repeats": likely.repeats(table, "sex"),
        "doctor": likely.doctor(table, "sex"),
        "drift": likely.drift(table, table),
        "changes": likely.changes(model, naive),
        "two_numbers": likely.two_numbers(table, "species", "body_mass_g", "bill_depth_mm"),
        "straight_line": likely.straight_line(table, "body_mass_g", "bill_depth_mm"),
        "joint": likely.joint(table, ["sex", "species"]),
        "regress": likely.regress(table, "body_mass_g"),
        "export": None,  # text or bytes of another language
        "plot": likely.plot(naive, attribute="species"),
        "posterior": model.posterior(ROW),
        "posterior of a table": model.posterior(table),
        "schema": model.schema,
    }


def _loaded(model: likely.Model) -> likely.Model:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/m.likely")
        return likely.load(f"{folder}/m.likely")


def test_every_public_function_is_among_them(results: dict[str, Any]) -> None:
    functions = {n for n in likely.__all__ if inspect.isfunction(getattr(likely, n))}
    assert functions - NO_RESULT <= {*results}


def test_no_result_is_a_wall(results: dict[str, Any]) -> None:
    for name, found in results.items():
        if found is None:
            continue
        html, text = found._repr_html_(), str(found)
        assert re.match('<(div class="likely"|svg|iframe)', html), name
        assert name in SENTENCES or re.search("<table|<svg|<iframe", html), name
        if name == "plot":
            continue
        assert len(repr(found)) < 200 and "\n" not in repr(found), name
        assert f"{type(found).__name__}(" not in text, name  # which is how dataclasses are written
        assert "\n" in text or len(text) < 200, name


def test_what_is_presented_has_a_presenter(results: dict[str, Any]) -> None:
    shown = {c.__name__ for found in results.values() for c in type(found).__mro__} & {*PRESENTERS}
    assert shown == {*PRESENTERS}
    for place in PRESENTERS.values():
        module, _, function = place.partition(" ")
        assert callable(getattr(import_module(module), function))


def test_print_is_what_the_terminal_shows(results: dict[str, Any], examples: Path, run: Callable[..., Any]) -> None:
    ran = run("doctor", str(examples / "penguins.csv"), "sex")
    assert ran.out.splitlines()[1] == str(results["doctor"]).splitlines()[1]
    assert str(results["doctor"]).splitlines()[0] in ran.out


def test_data_is_never_markup() -> None:
    ugly = Document("<b>&", (Table("<i>", ("<u>",), (("<script>",), ("a\x1b[31m",))), "<img>"))
    html = to_html(ugly)
    assert not re.search("<(b|i|u|script|img)>", html) and "\x1b" not in html
    assert "&lt;script&gt;" in html


# Tables in a narrow terminal: nothing is wider than it.


def _wide() -> dict[str, list[Any]]:
    """Twenty classes of long names, a column of a long name, words and numbers."""
    rows = range(400)
    return {
        LONG: [f"level {k % 7} of a column with long levels that say much" for k in rows],
        "number_with_a_rather_long_name_as_well": [float((k * 37) % 101) + k % 20 for k in rows],
        "missing": [None if k % 3 else "x" for k in rows],
        "class": [f"comp.os.ms-windows.misc.{k % 20:02}" for k in rows],
    }


@pytest.fixture(scope="module")
def wide_results() -> dict[str, Any]:
    table, naive = _wide(), likely.NaiveBayes()
    model = likely.fit(table, "class", naive)
    half = {name: cells[::2] for name, cells in table.items()}
    row = {name: table[name][0] for name in table if name != "class"}
    return {
        "look": likely.look(table, "class", naive, folds=3),
        "compare": likely.compare(table, "class", {LONG: naive, "prior": likely.Prior()}, folds=3),
        "curve": likely.curve(table, "class", learner=naive, folds=3, steps=3),
        "doctor": likely.doctor(table, "class"),
        "explain": likely.explain(model, row),
        "show": model,
        "tables": likely.tables(model),
        "drift": likely.drift(half, table),
        "posterior": model.posterior(table),
    }


def _table_lines(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line.startswith("  "))


@pytest.mark.parametrize("places", [80, 100])
def test_every_table_fits(wide_results: dict[str, Any], places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(places))
    for name, found in wide_results.items():
        lines = list(_table_lines(str(found)))
        assert lines, name
        assert max(map(len, lines)) <= places, (name, max(lines, key=len))


def test_what_is_least_needed_goes_first() -> None:
    table = Table("", ("name", "n", "spread"), (("x" * 20, "1", "2"),), frozenset({1, 2}), spare=("spread", "n"))
    assert [t.header for t in fit_table(table, 40)] == [("name", "n", "spread")]
    assert [t.header for t in fit_table(table, 27)] == [("name", "n")]
    assert [t.rows[0][0] for t in fit_table(table, 15)] == ["xxxxxxxx…xxxxxx"]


def test_what_is_still_too_wide_goes_on_below() -> None:
    header = ("class", *(f"P({k:06})" for k in range(12)))
    table = Table("", header, (("a", *("0.0833" for _ in range(12))),), frozenset(range(1, 13)))
    pieces = fit_table(table, 60)
    assert len(pieces) > 1 and all(p.header[0] == "class" for p in pieces)
    assert [h for p in pieces for h in p.header[1:]] == list(header[1:])


def test_bars_are_shortened_in_proportion() -> None:
    table = Table("", ("name", ""), (("a", "▇" * 20), ("b", "▇" * 10)))
    assert [r[1] for r in fit_table(table, 18)[0].rows] == ["▇" * 12, "▇" * 6]
    assert to_text(Document("x", (table,)), 18).splitlines()[-2:] == ["  a     " + "▇" * 12, "  b     " + "▇" * 6]


def test_errors_speak_the_language_that_asked(examples: Path, run: Callable[..., Any]) -> None:
    table = examples / "penguins.csv"
    with pytest.raises(likely.LikelyError) as refused:
        likely.fit(table, "body_mass_g")
    assert "target_bins=4, or say types={'body_mass_g': 'nominal'}" in str(refused.value)
    assert "--" not in str(refused.value)
    run("fit", table, "body_mass_g").refused("--target-bins 4, or say --type body_mass_g=nominal")
    assert "--" not in str(likely.look(table, "sex", likely.NaiveBayes())).replace("----", "")
