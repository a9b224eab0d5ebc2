"""Whom to call, groups, and one row to hand on, in a real browser: what they say is what the record says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pytest
from page.conftest import Watched
from page.test_whatif import EXAMPLES, chances, settled

import likely
from likely.evaluate.look import Look
from likely.machinery.words import percent
from likely.present.page import writing
from likely.present.page.writing import page
from likely.present.report import look as tables

COMMAND = "likely look /data/ann/penguins.csv sex --out /out/sheet.html"


@pytest.fixture(scope="module")
def penguins() -> Look:
    return likely.look(EXAMPLES / "penguins.csv", "sex", picture=True)


@pytest.fixture(scope="module")
def rare() -> Look:
    """One row of twenty is a buyer, and rows are ranked well, but no row is more probably a buyer than not."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=4000)
    buys = rng.random(4000) < 0.04 * np.exp(0.5 * x - 0.125)
    table: dict[str, Any] = {"x": x.tolist(), "y": np.where(buys, "yes", "no").tolist()}
    return likely.look(table, "y", likely.Logistic(), picture=True, folds=3)


def opened(watched: Watched, folder: Path, record: Look, hash: str = "") -> Any:
    path = folder / "sheet.html"
    path.write_text(page(record, command=COMMAND, version="1", data="/data/ann/penguins.csv"), encoding="utf-8")
    watched.tab.set_viewport_size({"width": 1280, "height": 720})
    watched.tab.goto("about:blank")
    watched.tab.goto(path.as_uri() + hash)
    settled(watched.tab)
    return watched.tab


def words(tab: Any, where: str) -> str:
    return tab.locator(where).inner_text().replace("\xa0", " ").replace("\n", " ")


def test_the_slider_says_how_much_is_reached(watched: Watched, tmp_path: Path, rare: Look) -> None:
    tab = opened(watched, tmp_path, rare)
    ranking = rare.trust.rankings["yes"]
    shares = np.cumsum([0.0, *np.diff([row.share for row in ranking.lift.rows], prepend=0.0)])
    found = [0.0, *(row.found for row in ranking.lift.rows)]
    base = ranking.precision_recall.prevalence
    for k in range(1, int(tab.locator("#t-slider").get_attribute("max")), 9):
        tab.locator("#t-slider").fill(str(k))
        said = re.search(r"top ([\d.]+) %, .*: reach ([\d.]+) % of “yes”; ([\d.]+) % of", words(tab, "#t-said"))
        assert said is not None
        share, reached, right = (float(v) / 100 for v in said.groups())
        assert reached == pytest.approx(float(np.interp(share, shares, found)), abs=0.05)
        assert right == pytest.approx(reached * base / share, abs=0.02 + 0.001 / share)
        cost = float(words(tab, "#t-cost").split()[2])  # a false alarm costs 1, and so does a miss
        assert cost == pytest.approx(share - reached * base + (1 - reached) * base, abs=0.002)
    # Where a miss costs more, more rows are worth a call.
    tab.locator("#t-least").click()
    few = int(tab.locator("#t-slider").input_value())
    tab.locator("#t-miss").fill("20")
    tab.locator("#t-least").click()
    assert int(tab.locator("#t-slider").input_value()) > few
    watched.is_quiet()


def test_any_class_can_be_looked_for(watched: Watched, tmp_path: Path) -> None:
    record = likely.look(EXAMPLES / "iris.csv", "species", likely.NaiveBayes(), picture=True)
    tab = opened(watched, tmp_path, record)
    tab.locator("#ranks .fold summary").click()
    for name in record.classes:
        tab.locator("#t-of").select_option(label=name)
        ranking = record.trust.rankings[name]
        cells = [row.locator("th, td").all_inner_texts() for row in tab.locator("#ranks tbody tr").all()]
        wanted = [list(row) for row in tables.lift_of(ranking).rows]
        assert [[c.replace("\xa0", " ").replace("100 %", "100.0 %") for c in row] for row in cells] == [
            [c.replace("100 %", "100.0 %") for c in row] for row in wanted
        ]
        assert f"{ranking.roc.auc.value:.3f}" in words(tab, "#ranks > p >> nth=-1") and name in words(tab, "#t-said")
    watched.is_quiet()


def test_groups_by_any_attribute(watched: Watched, tmp_path: Path, penguins: Look) -> None:
    tab = opened(watched, tmp_path, penguins)
    assert {own.attribute for own in penguins.subgroups} == {"species", "island", "year"}
    for own in penguins.subgroups:
        tab.locator("#g-of").select_option(label=own.attribute)
        rows = [
            [cell.replace("\xa0", " ") for cell in row.locator("th, td").all_inner_texts()]
            for row in tab.locator("#subgroups tbody tr").all()
        ]
        assert [(r[0], r[2], r[5]) for r in rows] == [
            (g.level, percent(g.accuracy.value or 0.0), percent(g.actual.value or 0.0)) for g in own.groups
        ]
    watched.is_quiet()


def test_a_decision_is_one_sheet(watched: Watched, tmp_path: Path, penguins: Look) -> None:
    tab = opened(watched, tmp_path, penguins)
    tab.evaluate("globalThis.print = () => {}")  # a browser without a head has no printer
    tab.locator("#w-ledger .w-open").first.click()
    parts = tab.locator("#w-ledger .w-multiples svg").count()
    assert parts and tab.locator("#w-ledger .w-word").count() >= parts
    tab.locator("#w-share summary").click()
    tab.locator("#w-print").click()
    tab.emulate_media(media="print")
    assert tab.locator("#w-letter").is_visible() and not tab.locator("#answer").is_visible()
    sheet = words(tab, "#w-letter")
    best = max(chances(tab), key=lambda name: chances(tab)[name])
    group = next(
        g for own in penguins.subgroups for g in own.groups if own.attribute == "species" and g.level == "Adelie"
    )
    for told in (f"Answer: {best}", "together", percent(penguins.scores.accuracy), "penguins.csv", "species = Adelie",
                 percent(group.accuracy.value or 0.0), "page made"):  # fmt: skip
        assert told in sheet, told
    assert "thin line" not in sheet, "there is none on paper"
    assert tab.locator("#w-letter .w-word").count() == 0, "on paper each attribute has one line"
    assert tab.locator("#w-ledger .w-multiples svg").count() == parts
    assert tab.pdf().count(b"/Type /Page\n") == 1
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not tab.locator("#w-letter").is_visible() and tab.locator("#answer").is_visible()
    watched.is_quiet()


def test_a_card_opens_the_page_at_its_row(watched: Watched, tmp_path: Path, penguins: Look) -> None:
    tab = opened(watched, tmp_path, penguins, "#.species=Gentoo&.body_mass_g=5000&.bill_depth_mm=14.5")
    said = chances(tab)
    tab.locator("#w-share summary").click()
    with tab.expect_download() as given:
        tab.locator("#w-card-svg").click()
    drawn = ElementTree.parse(given.value.path()).getroot()
    texts = " ".join(" ".join(drawn.itertext()).replace("\xa0", " ").split())
    best = max(said, key=said.__getitem__)
    assert best in texts and f"{100 * said[best]:.1f} %" in texts and "species = Gentoo" in texts
    link = next(e.get("href") for e in drawn.iter() if e.tag.endswith("}a"))
    assert link is not None and link.startswith("sheet.html#") and "/" not in unquote(link.partition("#")[0])
    with tab.expect_download() as given:
        tab.locator("#w-card-png").click()
    assert Path(given.value.path()).read_bytes().startswith(b"\x89PNG")
    tab.goto("about:blank")
    tab.goto((tmp_path / link.partition("#")[0]).as_uri() + "#" + link.partition("#")[2])
    settled(tab)
    assert chances(tab) == said
    watched.is_quiet()


def test_letter_and_card_say_what_training_had_nothing_like(watched: Watched, tmp_path: Path, penguins: Look) -> None:
    tab = opened(watched, tmp_path, penguins, "#.body_mass_g=50000&.island=Nowhere")
    tab.evaluate("globalThis.print = () => {}")
    shown = words(tab, "#w-novel")
    assert "body_mass_g=50000 is beyond all values of training (2700 to 6300)." in shown
    assert "island has a level that training did not have." in shown
    tab.locator("#w-share summary").click()
    with tab.expect_download() as given:
        tab.locator("#w-card-svg").click()
    drawn = " ".join(ElementTree.parse(given.value.path()).getroot().itertext()).replace("\xa0", " ")
    tab.locator("#w-print").click()
    for told in shown.split(". "):
        assert told in words(tab, "#w-letter") and told in drawn
    watched.is_quiet()


def test_the_answer_stays_beside_every_control(watched: Watched, tmp_path: Path, penguins: Look) -> None:
    tab = opened(watched, tmp_path, penguins)
    for field in tab.locator(".w-field").all():
        field.scroll_into_view_if_needed()
        box = tab.locator("#w-bars").bounding_box()
        assert box is not None and box["y"] >= 0 and box["y"] + box["height"] <= 720


def test_small_probabilities_have_a_scale_that_shows_them(watched: Watched, tmp_path: Path, rare: Look) -> None:
    tab = opened(watched, tmp_path, rare, "#.x=-1")
    plot = tab.locator(".w-plot")
    top = float(plot.locator("svg").get_attribute("data-top"))
    assert 0.05 <= top <= 0.5 and plot.locator(".w-most").inner_text() == f"{100 * top:g}\xa0%"
    plot.locator("svg").hover(position={"x": 3, "y": 20})
    value, chance = re.match(r"(\S+): .*?([\d.]+)\xa0%", plot.locator(".w-tip").inner_text()).groups()  # type: ignore[union-attr]
    assert rare.model is not None
    said = 100 * rare.model.posterior({"x": float(value.replace("−", "-"))}).prob(
        "not" if top > 0.9 else rare.model.classes[1]
    )
    assert float(chance) == pytest.approx(said, abs=0.2)
    watched.is_quiet()


def test_a_headline_that_gains_nothing_says_so_first(rare: Look) -> None:
    first = re.search(r"<h1 class=\"(\w+)\">(.*?)</h1>", page(rare), re.DOTALL)
    assert first is not None and first[1] == "ranks" and "no more than always guessing no" in first[2]
    top = next(row for row in rare.trust.rankings["yes"].lift.rows if row.share == 0.05)
    assert f"{top.lift:.1f}×" in first[2] and percent(top.found).replace(" ", "\xa0") in first[2].replace(" %", "\xa0%")
    weather = page(likely.look(EXAMPLES / "weather.csv", "play"))
    first = re.search(r"<h1 class=\"(\w+)\">(.*?)</h1>", weather, re.DOTALL)
    assert first is not None and first[1] == "quiet" and "No better than always guessing yes" in first[2]


def test_no_folder_of_the_machine_is_in_it(penguins: Look) -> None:
    text = page(penguins, command=COMMAND, version="1", data="/data/ann/penguins.csv")
    assert "/data" not in text and "/out" not in text and "likely look penguins.csv sex --out sheet.html" in text


def test_a_large_vocabulary_is_cut_to_its_strongest_words(watched: Watched, tmp_path: Path, monkeypatch: Any) -> None:
    record = likely.look(EXAMPLES / "mails.csv", "label", likely.NaiveBayes(), picture=True, types={"text": "text"})
    assert record.model is not None
    (factor, _), *_ = record.model.word_speakers("text")
    monkeypatch.setattr(writing, "MOST_WEIGHTS", 10)
    tab = opened(watched, tmp_path, record)
    held = tab.evaluate("likelyWhatIf.portable.score.terms.map((t) => (t.inner ?? t)).find((t) => t.words).words")
    strength = np.ptp(factor.scores.weights, axis=1) * factor.having.sum(axis=1)
    strongest = [factor.scores.vocabulary[k] for k in np.argsort(-strength, kind="stable")[:5]]
    assert sorted(held) == sorted(strongest) and f"{len(strength):,} words" in words(tab, "#w-note")
    watched.is_quiet()


def test_the_model_draws_its_own_regions(penguins: Look) -> None:
    text = page(penguins)
    assert "The model, of these two alone" in text
    assert penguins.plane is not None and penguins.model is not None
    from likely.present.page.contents import _own_regions

    codes = next(iter(_own_regions(penguins).values()))
    row = {penguins.plane.x: penguins.plane.x_range[0], penguins.plane.y: penguins.plane.y_range[0]}
    named = penguins.plane.classes[penguins.plane.codes.index(codes[0])]
    assert named == penguins.model.predict(row)
