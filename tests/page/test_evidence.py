"""One evidence: the figure of a value is the same in its card, the what-if, the nomogram, explain and the terminal."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page.conftest import Watched
from page.test_whatif import row_in, settled

import likely
from likely import Model
from likely.evaluate.attributes.information import value_logs
from likely.machinery.words import interval, signed, tie
from likely.present.page.writing import page_of_model
from likely.present.report.model import present_effect


def people(rows: int = 900) -> dict[str, Any]:
    """A census in small: levels that overlap, a skewed number, missing cells."""
    rng = np.random.default_rng(4)
    married = rng.random(rows) < 0.5
    relationship = np.where(
        married, rng.choice(["Husband", "Wife"], rows), rng.choice(["Not-in-family", "Own-child"], rows)
    )
    age = np.round(np.where(relationship == "Own-child", 17 + rng.gamma(2, 3, rows), 25 + rng.gamma(4, 5, rows)))
    gain = np.where(rng.random(rows) < 0.9, 0, np.round(rng.gamma(2, 4000, rows)))
    odds = -2.2 + 1.6 * married + 0.04 * (age - 35) + 2.0 * (gain > 5000)
    rich = rng.random(rows) < 1 / (1 + np.exp(-odds))
    sex = [None if rng.random() < 0.05 else v for v in rng.choice(["Female", "Male"], rows)]
    return {"relationship": relationship.tolist(), "age": age.tolist(), "capital-gain": gain.tolist(), "sex": sex,
            "income": np.where(rich, ">50K", "<=50K").tolist()}  # fmt: skip


LEARNERS = {
    "naive": likely.NaiveBayes(),
    "logistic": likely.Logistic(),
    "additive": likely.Additive(order=2),
    "larger sets": likely.Additive(order=3),
    "pool": likely.Pool((likely.NaiveBayes(), likely.Logistic(), likely.Additive(order=2)), weights=(0.3, 0.4, 0.5)),
}


@pytest.fixture(scope="module", params=LEARNERS)
def model(request: pytest.FixtureRequest) -> Model:
    return likely.fit(people(), "income", LEARNERS[request.param])


def test_card_whatif_nomogram_and_explain_agree(watched: Watched, tmp_path: Path, model: Model) -> None:
    path = tmp_path / "page.html"
    path.write_text(page_of_model(model), encoding="utf-8")
    tab = watched.tab
    row = {"relationship": "Not-in-family", "age": "39", "capital-gain": "0", "sex": "Male"}
    tab.goto(f"{path.as_uri()}#" + "&".join(f".{k}={v}" for k, v in row.items()))
    settled(tab)
    assert row_in(tab) == row
    ledger = likely.explain(model, row, of=">50K", against="<=50K")
    alone = {e.name: [p.log_ratio for p in e.parts if p.name == "by itself"] or [e.log_ratio] for e in ledger.entries}
    said = {name: (ratios[0] or 0.0) / math.log(2) for name, ratios in alone.items()}  # which the card tells
    for name in ("relationship", "sex"):
        card = tab.locator(".card", has=tab.locator(f".card-name:text-is('{name}')"))
        if not said[name]:  # what the model leaves out has no line in the what-if
            assert name == "sex" and "leaves it out" in card.text_content()
            continue
        line = card.locator("tr", has=tab.locator(f"th:text-is('{row[name]}')"))
        written = line.locator(".ev .num").text_content()
        opener = tab.locator(f'#w-ledger tr[data-name="{name}"] .w-open')
        opener.click()
        assert tab.locator(".w-multiples svg").first.is_visible(), "every line opens, and what is in it is drawn"
        if len(next(e for e in ledger.entries if e.name == name).parts) > 1:
            shown = tab.locator(
                f'#w-ledger tr[data-name="{name}"] ~ tr[data-name="by itself"] .num'
            ).first.text_content()
        else:
            shown = tab.locator(f'#w-ledger tr[data-name="{name}"] .num').text_content()
        assert written == shown == signed(said[name]), name
        assert line.locator(".for").text_content() == (">50K" if said[name] > 0 else "<=50K")
    assert tab.locator("#w-ledger-of").inner_text().startswith("Bits for >50K (right) against <=50K (left)")
    tab.locator("#w-nomogram summary").click()
    settled(tab)
    # A mark of the nomogram is what the ledger of the row would say of that value, were it alone another.
    values = ["Husband", "Not-in-family", "Own-child", "Wife"]
    odds = np.diff(np.log(model.posterior([{**row, "relationship": v} for v in values]).matrix))[:, 0]
    own = next(e.log_ratio for e in ledger.entries if e.name == "relationship")
    lines = tab.evaluate(NOMOGRAM)
    line_ = next(one for one in lines if one["name"] == "relationship")
    marks = {mark["told"]: mark["ratio"] for mark in line_["marks"]}
    assert marks == pytest.approx(dict(zip(values, (own + odds - odds[1]).tolist(), strict=True)), abs=1e-9)
    several = any(len(e.parts) > 1 for e in ledger.entries)
    assert ("for this row only" in tab.locator("#w-points").inner_text()) == several
    watched.is_quiet()


NOMOGRAM = """() => {
  const w = globalThis.likelyWhatIf;
  return w.lines().lines;
}"""


def test_the_terminal_has_the_same_figures(model: Model) -> None:
    report = present_effect(model, "relationship")
    if report is None or not report.tables:
        pytest.skip("`show` tells this model by its counts")
    logs = value_logs(model, {"relationship": ["Wife"]})["relationship"]
    wife = next(row for row in report.tables[0].rows if row[0] == "Wife")
    assert wife[2] == signed(float(logs[0, 1] - logs[0, 0]) / math.log(2))


def test_evidence_of_a_block_is_what_the_value_alone_changes() -> None:
    for learner in (likely.FullBayes(density="table"), likely.OneDependence(), likely.TreeAugmented()):
        model = likely.fit(people(), "income", learner)
        logs = value_logs(model, {"age": [30.0, 60.0]})["age"]
        for value, found in zip((30.0, 60.0), logs, strict=True):
            after, before = model.posterior({"age": value}).matrix[0], model.posterior({}).matrix[0]
            wanted = math.log(after[1] / after[0]) - math.log(before[1] / before[0])
            assert found[1] - found[0] == pytest.approx(wanted, abs=1e-9)


def test_figures_have_one_form() -> None:
    assert [signed(v) for v in (1.234, -0.005, -0.004, 0.0, -1234.5, math.inf, math.nan)] == [
        "+1.23", "−0.01", "+0.00", "+0.00", "−1,234.50", "+∞", "–",
    ]  # fmt: skip
    assert interval(0.8649, 0.8722) == "86.5–87.2 %" and interval(0.0, 1.0) == "0–100 %" and interval(None, 1.0) == ""
    assert tie("5 % of 7 %x") == "5\xa0% of 7\xa0%x"


def test_the_page_has_no_long_numbers_and_no_broken_per_cent(watched: Watched, tmp_path: Path) -> None:
    from likely.present.page.writing import page

    rng = np.random.default_rng(1)
    table = {**people(400), "thirds": (rng.integers(1, 90, 400) / 7).tolist(), "tiny": (rng.random(400) / 3e5).tolist()}
    record = likely.look(table, "income", LEARNERS["pool"], folds=3, picture=True)
    path = tmp_path / "page.html"
    path.write_text(page(record, command="likely look"), encoding="utf-8")
    watched.tab.goto(path.as_uri())
    settled(watched.tab)
    text = watched.tab.locator("main").inner_text() + " ".join(watched.tab.locator("svg text").all_text_contents())
    assert not re.findall(r"\d\.\d{7,}", text)
    assert not re.findall(r"\d[ \n]%", text.replace("\u202f", " "))
    assert not re.findall(r"(?<![\w-])-\d", watched.tab.locator("#attributes").inner_text())
    watched.is_quiet()
