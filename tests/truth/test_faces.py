"""What the terminal prints, page, Markdown, notebook and JSON say as well: the same figures, in the same words."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.conftest import Ran
from page.test_writing import unpack
from truth.printed import Printed, read_printed
from truth.sentences import close, groups, number
from truth.tables import CASES

import likely

PAGES = True
SOME = (
    "balanced_three", "exact_ties", "mixed", "real_weights", "rare_class", "ugly_names", "interactions_only",
    "oversampled",
)  # fmt: skip


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _page_text(page: str) -> str:
    """The words of a page, without scripts and drawings."""
    body = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return _plain(html.unescape(re.sub(r"<[^>]+>", " ", body)))


def _look(name: str, run: Callable[..., Ran], folder: Path, *more: str) -> str:
    case = CASES[name]
    path = case.write(folder)
    weight = ("--weight", case.weight) if case.weight else ()
    return run("look", path.name, case.target, *weight, *more).done().out


def _figures(printed: Printed, beginnings: tuple[str, ...]) -> list[str]:
    """The lines of these tables, cell after cell, without bars."""
    out = []
    for table in printed.tables:
        if table.title.startswith(beginnings):
            out += [_plain(" ".join(cell for cell in row if "▇" not in cell)) for row in table.rows]
    return out


def _check_groups(printed: Printed, source: str, page: str) -> None:
    """The groups of every attribute are where the script takes them, cell for cell; those of one stand on the page."""
    (packed,) = re.findall(r'id="likely-figures">([^<]+)<', source)
    held = dict(json.loads(unpack(packed))["groups"])
    expected: dict[str, list[list[str]]] = {}
    lines = printed.table("Scores by subgroup").rows if printed.has("Scores by subgroup") else []
    for attribute, level, rows, accuracy, bounds, *shares in lines:
        name = attribute or [*expected][-1]
        bounds, few, _ = bounds.partition(" (few rows)")
        expected.setdefault(name, []).append([level, rows + (" (few)" if few else ""), accuracy, bounds, *shares])
    assert {name: [[*map(_plain, row)] for row in rows] for name, rows in held.items()} == expected
    assert not lines or any(all(" ".join(row) in page for row in rows) for rows in expected.values())


def _check_headline(answer: str, guessing: str, printed: Printed, page: str) -> None:
    """The answer and what guessing gets, with the figures of the terminal. Where nothing is clearly gained, the page
    says that first, and where rows are ranked better than by chance all the same, how much better."""
    if guessing.startswith("Always"):
        assert answer.rstrip(".") in page and guessing.rstrip(".") in page, (answer, guessing)
        return
    how, who = guessing.removeprefix("That is ").rstrip("."), answer[0].lower() + answer[1:].rstrip(".")
    scores, ranked = printed.table("Scores" if printed.has("Scores on") else "Cross-validated"), None
    if any(row[0] == "area under ROC" for row in scores.rows) and how.startswith("no better"):
        low = scores.row("area under ROC")["95 % interval"].split(" to ")[0]
        ranked = printed.table("Lift").row("5.0 %") if number(low) > 0.5 else None
    if ranked is None:
        assert f"{how[0].upper()}{how[1:]}: {who}" in page, (how, who)
        return
    right, label = groups(r"for (\S+ %)", answer)[0], groups(r"guessing (.+), which", how)[0]
    said = rf"right for {right} of unseen rows, no more than always guessing {re.escape(label)}; but it ranks y well: "
    found = groups(rf"{said}among the 5 % of rows .+? is ([\d.]+)× as frequent .+?; they hold (\S+ %) of it", page)
    (reached,) = (cell for name, cell in ranked.items() if name.startswith("of ") and name != "of all rows")
    assert close(found[0], number(ranked["lift"].removeprefix("×"))) and found[1] == reached


@pytest.mark.parametrize("name", SOME)
def test_page(name: str, run: Callable[..., Ran], tmp_path: Path) -> None:
    """The answer, scores, errors, lift and calibration of the terminal stand on the page, cell for cell."""
    printed = read_printed(_look(name, run, tmp_path, "--all", "-o", "page.html"))
    page = _page_text((tmp_path / "page.html").read_text("utf-8"))
    tables = ("Scores on held-out", "Cross-validated", "Calibration", "Lift", "Precision", "True class", "Strongest")
    for line in _figures(printed, tables):
        assert line in page, line
    _check_groups(printed, (tmp_path / "page.html").read_text("utf-8"), page)
    headline = [s for s in printed.sentences if " predicts " in s or "lways guessing" in s]
    assert len(headline) == 2
    _check_headline(*map(_plain, headline), printed, page)
    if "What more rows would bring" in page:  # unasked, it is naive Bayes' curve
        assert ("The curve is that of naive Bayes" in page) == (not headline[0].startswith("Naive Bayes ")), headline
    for warning in (s for s in printed.sentences if s.startswith("Warning: ")):
        assert _plain(warning.removeprefix("Warning: ")) in page, warning


@pytest.mark.parametrize("name", SOME)
def test_notebook_and_json(name: str, run: Callable[..., Ran], tmp_path: Path) -> None:
    printed = read_printed(_look(name, run, tmp_path, "--no-page"))
    record = json.loads(_look(name, run, tmp_path, "--json"))
    case = CASES[name]
    shown = _page_text(likely.look(tmp_path / f"{name}.csv", case.target, weight=case.weight).page())
    scores = next(t for t in printed.tables if "score" in t.header)
    accuracy, guess = scores.row("accuracy")[scores.header[1]], scores.row("accuracy")["guessing"]
    assert accuracy in shown and guess in shown
    assert abs(100 * record["scores"]["accuracy"] - number(accuracy.removesuffix(" %"))) <= 0.0501
    assert abs(record["scores"]["brier"] - number(scores.row("Brier score, 0 to 2")[scores.header[1]])) <= 0.000051


@pytest.mark.parametrize("name", SOME)
def test_markdown(name: str, run: Callable[..., Ran], tmp_path: Path) -> None:
    """Markdown has every cell of the terminal."""
    printed = read_printed(_look(name, run, tmp_path, "--all", "--no-page"))
    written = html.unescape(_look(name, run, tmp_path, "--all", "--md"))
    markdown = _plain(re.sub(r"\\(.)", r"\1", written).replace("|", " ").replace("▇", ""))
    for table in printed.tables:
        for row in table.rows:
            line = _plain(" ".join(cell for cell in row if "▇" not in cell).replace("|", " "))
            assert line in markdown, line
