"""Scoring is defined once: the page's script, run in a real browser, agrees with the model on awkward rows."""

from __future__ import annotations

import json
import math
import sys
import unicodedata
from datetime import date
from typing import Any

import numpy as np
import pytest
from page.conftest import Watched
from portable.test_portable import ASKED, OTHERS, TEXTS, close, fitted, rows_of, table

import likely
from likely.models.model import Model
from likely.models.text import Text
from likely.page.bundling import bundle
from likely.portable import forms
from likely.portable.describing import portable
from likely.portable.reading import cells_of, number_label, words_of
from likely.portable.scoring import terms
from likely.portable.writing import text_of
from likely.table.tokens import Tokens

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
    form = portable(model)
    found = script.evaluate(SCORE, [text_of(form), [{n: told(v) for n, v in row.items()} for row in rows]])
    for row, (logs, chances) in zip(rows, found, strict=True):
        (batch,) = model.batches(model.table_of_one(row))
        size = 1.0
        if isinstance(form.score, forms.Sum):
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


def test_words_are_the_same_for_every_character(script: Any) -> None:
    """Characters that this Python's Unicode has; a browser may know newer ones."""
    known = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) not in ("Cn", "Cs")]
    text = "".join(f"x{c}y{c.upper()} " for c in known)
    found = script.evaluate("(text) => globalThis.likelyScript.wordsOf(text, { shortest: 1, stop: [] })", text)
    assert found == words_of(text, forms.Words())


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
