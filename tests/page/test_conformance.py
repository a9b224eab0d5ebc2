"""Scoring is defined once: the page's script, run in a real browser, agrees with the model on awkward rows."""

from __future__ import annotations

import json
import math
import sys
import unicodedata
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from page.conftest import Watched
from portable.test_portable import ALWAYS, ASKED, OTHERS, TEXTS, close, fitted, rows_of, table

import likely
from likely import Model, Text, Tokens
from likely.models import shapes
from likely.portable.describe import Attribute, Portable, portable
from likely.portable.reading import cells_of, number_label, portable_of, words_of
from likely.portable.scoring import posterior, scores, terms
from likely.portable.writing import text_of
from likely.present.page.writing import bundle
from likely.table.labels import Labels

API = "globalThis.likelyScript = { cellsOf, scoresOf, chancesOf, revived, wordsOf, numberLabel, scoresBy };"
SCORE = """([portable, rows]) => {
  const { cellsOf, scoresOf, chancesOf, revived } = globalThis.likelyScript;
  const form = revived(JSON.parse(portable));
  const told = (v) => (Number.isFinite(v) ? v : String(v));
  const number = (v) => (v && v.number !== undefined ? Number(v.number) : v);
  return rows.map((row) => {
    const read = new Map(Object.entries(row).map(([name, v]) => [name, number(v)]));
    const logs = scoresOf(form, cellsOf(form, read));
    return [logs.map(told), chancesOf(logs).map(told)];
  });
}"""


@pytest.fixture
def script(watched: Watched) -> Any:
    """A tab that has the page's script and nothing else."""
    watched.tab.goto("about:blank")
    watched.tab.add_script_tag(content=bundle() + API, type="module")
    watched.tab.wait_for_function("globalThis.likelyScript")
    yield watched.tab
    assert not watched.complaints


def told(value: Any) -> Any:
    """A cell as it travels to the browser: JSON has no infinite numbers, and no dates."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")}
    return value.isoformat() if isinstance(value, date) else value


def agree(script: Any, model: Model, rows: list[dict[str, Any]], rel: float = 1e-12) -> None:
    text = text_of(portable(model))
    form = portable_of(text)
    found = script.evaluate(SCORE, [text, [{n: told(v) for n, v in row.items()} for row in rows]])
    for row, (logs, chances) in zip(rows, found, strict=True):
        (batch,) = model.batches(model.table_of_one(row))
        size = 1.0
        if form.score.form == "Sum":
            added = (v for _, own in terms(form.score, cells_of(form, row), form) for v in own)
            size = max((abs(v) for v in added if math.isfinite(v)), default=1.0)
        for one, other in zip(logs, model.log_joint(batch)[0].tolist(), strict=True):
            one = float(one.replace("Infinity", "inf")) if isinstance(one, str) else one
            assert close(one, other, size, rel), (row, logs, model.log_joint(batch)[0])
        for one, other in zip(chances, model.posterior(row).matrix[0].tolist(), strict=True):
            assert close(one, other, min(size, 1e3), rel), (row, chances)


def test_every_learner_scores_in_the_browser_as_in_python(script: Any) -> None:
    for k, (learner, names, rel) in enumerate(OTHERS.values()):
        agree(script, fitted(learner, k, names, 90), rows_of(table(ASKED, k, 40, names)), rel)


def test_naive_bayes_scores_in_the_browser_as_in_python(script: Any) -> None:
    every = tuple(ASKED)
    for k, settings in enumerate(
        (
            {},
            {"pseudo_count": 0},
            {"missing": "level", "unseen": "reserve"},
            {"numbers": "kernel"},
            {"numbers": "binned", "missing": "level"},
            {"blocks": (("a", "b"), ("x", "d")), "missing": "level"},
        )
    ):
        rows = rows_of(table(ASKED, k, 60, every))
        agree(script, fitted(likely.NaiveBayes(**settings), k, every), rows, 1e-9 if "blocks" in settings else 1e-12)


def test_rare_and_unseen_levels_are_other_in_the_browser_too(script: Any) -> None:
    data = {"a": [*"uvwuvw" * 9, "rare"], "b": [0, 1, 2] * 18 + [77], "t": [*"cde" * 18, "c"], "x": [*range(55)]}
    types = {"a": "nominal", "b": "nominal of numbers", "x": "number"}
    learners = likely.NaiveBayes(), likely.NaiveBayes(blocks=(("a", "b"),)), likely.TreeAugmented(), likely.Logistic()
    for learner in learners:
        model = likely.fit(data, target="t", learner=learner, types=types, least_count=2)
        assert "other" in model.levels("a") and "rare" not in text_of(portable(model))
        agree(
            script, model, [{"a": a, "b": b, "x": 3} for a in ("u", "rare", "new", "other", None) for b in (0, 77, 5)]
        )


@pytest.mark.parametrize("words", [{}, {"shortest": 2, "pairs": True, "stop": ("the",)}, {"grams": (2, 3)}], ids=str)
def test_texts_score_in_the_browser_as_in_python(script: Any, words: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    data = {"note": [" ".join(rng.choice(TEXTS, 4)) for _ in range(60)], "t": ["c", "d", "e"] * 20, "x": [*range(60)]}
    asked = [*TEXTS, "", "  ", " NA ", "unknown words only", "😀", " " * 70, None, "the " * 40 + "été ÉTÉ e\u0301"]
    for text in (Text(), Text("bernoulli"), Text("complement", damping="root", length=True, idf=True, scale=0.5)):
        model = likely.fit(
            data,
            target="t",
            learner=likely.NaiveBayes(text=text),
            types={"note": "text", "x": "number"},
            tokens={"note": Tokens(**words)},
        )
        agree(script, model, [{"note": cell, "x": 3} for cell in asked])


def unit(name: str, shift: int, spread: float, center: float, rest: float) -> shapes.Standard:
    return shapes.Standard(name, Fraction(0), shift, spread, center, rest, False)


UNITS = unit("x", 3, 0.75, 1.5, 1e-17), unit("y", -2000, 1.0, 0.0, 0.0)
CURVE = shapes.Curve(
    "x",
    0,
    UNITS,
    np.array([[0.1, 0.2, 0.3], [0.3, -0.2, 1.0], [1.0, 0.0, -1.0]]),
    np.array([-0.2, 0.7, 0.0]),
    np.array([0.5, 0.0, 0.1]),
)
BINS = shapes.BinTable(
    "y", np.array([-1.0, 2.0]), np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 0.0], [2.0, 0.0, 1.0], [0.1, 0.2, 0.3]])
)
LEVELS = shapes.LevelTable(
    "a", Labels(["-inf", "nan"]), np.array([[0.0, -math.inf], [-1.0, 2.0], [-0.5, -0.25], [0.0, 0.0]])
)
SLOPE = shapes.Slope("y", UNITS[1], np.array([2.0, -1.0]), np.array([0.3, -0.6]), np.array([0.0, 0.5]))
NAMES = ("-inf", "nan", "inf")
SYNTHETIC = Portable(
    classes=NAMES,
    attributes=(Attribute("x", "number"), Attribute("y", "number"), Attribute("a", "level", ("-inf", "nan"))),
    missing=("", "-999"),
    score=shapes.Mixture(
        (
            shapes.Member(shapes.Normalised(shapes.Sum(np.array([0.1, -0.2, 0.0]), (CURVE, BINS))), 0.25, 1.7, NAMES),
            shapes.Member(
                shapes.Shifted(
                    shapes.Sum(np.array([0.0, -1.0]), (LEVELS, SLOPE), (0.3, 1.0)), np.array([0.5, -math.inf])
                ),
                0.75,
                0.4,
                ("inf", "other"),
            ),
        ),
        NAMES,
    ),
    learner="made up",
)


def test_scores_that_learners_of_today_do_not_make(script: Any) -> None:
    """Weights of attributes, temperatures, squares, members with other classes; names that look like numbers."""
    values: list[Any] = [0.5, -3.0, 1e300, "1,000.5", "-999", None, math.inf, "x"]
    rows = [{"x": x, "y": y, "a": a} for x in values for y in values for a in ("-inf", "nan", "new", None)]
    text = text_of(SYNTHETIC)
    found, read = (
        script.evaluate(SCORE, [text, [{n: told(v) for n, v in row.items()} for row in rows]]),
        portable_of(text),
    )
    for row, (logs, chances) in zip(rows, found, strict=True):
        wanted = scores(read, cells_of(read, row))
        assert [float(str(v).replace("Infinity", "inf")) for v in logs] == pytest.approx(wanted, rel=1e-12, abs=1e-12)
        assert chances == pytest.approx(posterior(read, row), rel=1e-12, abs=1e-12)


def test_cells_are_read_in_the_browser_as_in_python(script: Any) -> None:
    rng = np.random.default_rng(5)
    letters = np.array(list("0123456789,.eE+-inf \t\u00a0\u2003\x1c\x85\ufeffTZ:/?"))
    texts = [*ALWAYS, *("".join(rng.choice(letters, rng.integers(0, 10))) for _ in range(4000))]
    levels = tuple(sorted({text.strip() for text in texts[::3]} - {""}))
    kinds = {
        "a": Attribute("a", "level", levels),
        "b": Attribute("b", "level", ("0", "1", "12", "1234", "1000", "0.5", "1e+16"), True),
        "x": Attribute("x", "number"),
        "d": Attribute("d", "date"),
    }
    form = replace(SYNTHETIC, attributes=tuple(kinds.values()), missing=("", "?", "-1", "e"))
    plain = portable_of(text_of(form))
    found = script.evaluate(
        """([portable, texts]) => {
          const form = JSON.parse(portable);
          return texts.map((text) => {
            const cells = globalThis.likelyScript.cellsOf(form, new Map(form.attributes.map((a) => [a.name, text])));
            return [...cells.values()].map(String);
          });
        }""",
        [text_of(form), texts],
    )
    for text, read in zip(texts, found, strict=True):
        wanted = list(cells_of(plain, dict.fromkeys(kinds, text)).values())
        got = [float(v.replace("Infinity", "inf")) for v in read]
        assert got == pytest.approx(wanted, rel=0, abs=0, nan_ok=True), (text, read, wanted)


def test_words_are_the_same_for_every_character(script: Any) -> None:
    """Characters that this Python's Unicode has; a browser may know newer ones."""
    known = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) not in ("Cn", "Cs", "Co")]
    text = "".join(f"x{c}y{c.upper()} " for c in known)
    found = script.evaluate("(t) => globalThis.likelyScript.wordsOf(t, { shortest: 1, stop: [] }).join(' ')", text)
    assert found == " ".join(words_of(text, Tokens()))


def test_numbers_are_spelled_as_python_spells_them(script: Any) -> None:
    values = [
        0.1,
        -0.0,
        1e15,
        1e16,
        123456789012345680.0,
        1e22,
        1e-4,
        1e-5,
        2.5e-7,
        -1.5,
        1 / 3,
        5e-324,
        1.7e308,
        2.0**53,
    ]
    assert script.evaluate("(v) => v.map(globalThis.likelyScript.numberLabel)", values) == [*map(number_label, values)]


def test_the_script_closes_no_tag_and_needs_no_other_file() -> None:
    assert "</script" not in bundle() and "<!--" not in bundle()
    assert not [line for line in bundle().splitlines() if line.startswith(("import ", "export "))]
    assert json.dumps(bundle())
