"""How the page is read: by screen readers, on a phone, in any light; where one is, and what can be taken away."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from page.conftest import Watched
from page.test_drawing import luminance, tokens
from page.test_evidence import people
from page.test_whatif import settled

import likely
from likely.present.page.writing import page

EXAMPLES = Path(__file__).parents[2] / "examples"


def many_classes() -> dict[str, Any]:
    """24 classes with long names, three of them frequent, and columns that say nothing."""
    rng = np.random.default_rng(8)
    names = [f"mixed_cochlear_and_something_else_{k:02d}" for k in range(24)]
    code = rng.choice(24, 500, p=np.array([40, 60, 30, *[4] * 21]) / 214)
    out: dict[str, Any] = {
        "sound": np.where(rng.random(500) < 0.8, code % 6, 0).tolist(),
        "pitch": code + rng.random(500),
    }
    out |= {f"nothing_{k:02d}": rng.choice(["f", "t"], 500).tolist() for k in range(14)}
    return {**out, "diagnosis": [names[k] for k in code]}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder, held = tmp_path_factory.mktemp("pages"), {}
    tables: dict[str, tuple[Any, str, Any, dict[str, Any]]] = {
        "iris": (EXAMPLES / "iris.csv", "species", None, {}),
        "people": (people(500), "income", likely.Additive(order=2), {}),
        "many": (many_classes(), "diagnosis", likely.NaiveBayes(), {"folds": 3}),
        "mails": (EXAMPLES / "mails.csv", "label", likely.NaiveBayes(), {"types": {"text": "text"}}),
    }

    def one(name: str) -> str:
        if name not in held:
            data, target, learner, more = tables[name]
            held[name] = folder / f"{name}.html"
            record = likely.look(data, target, learner, picture=True, **more)
            held[name].write_text(page(record, command="likely look"), encoding="utf-8")
        return str(held[name].as_uri())

    return one


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["iris", "people", "many", "mails"])
def test_no_rule_of_axe_is_broken(browser: Any, pages: Any, name: str, dark: bool) -> None:
    axe = pytest.importorskip("axe_playwright_python", reason="pip install axe-playwright-python")
    context = browser.new_context(bypass_csp=True, color_scheme="dark" if dark else "light")
    tab = context.new_page()
    tab.goto(pages(name))
    settled(tab)
    tab.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    settled(tab)
    tab.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
    found = tab.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    context.close()
    assert not [(v["id"], v["nodes"][0]["html"]) for v in found]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_series_and_controls_stand_out_from_their_ground(dark: bool) -> None:
    found = tokens(dark)
    names = [*(f"k{k}" for k in range(8)), "other", "edge", "accent"]
    for name, ground in itertools.product(names, ("paper", "sheet")):
        high, low = sorted((luminance(found[name]), luminance(found[ground])), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 3, (name, ground)


def test_the_list_of_sections_follows_and_leaves_the_row_alone(watched: Watched, pages: Any) -> None:
    tab = watched.tab
    tab.goto(pages("iris"))
    settled(tab)
    here = tab.locator('nav a[aria-current="true"]')
    assert here.inner_text() == "Result"
    tab.locator("#whatif").get_by_label("petal_width", exact=True).fill("1.7")
    row = tab.evaluate("location.hash")
    assert "petal_width=1.7" in row
    tab.locator('nav a[href="#confusion"]').click()
    tab.wait_for_timeout(900)
    assert here.inner_text() == "Errors" and tab.evaluate("location.hash") == row
    assert tab.evaluate("document.activeElement.id") == "confusion"
    box = tab.locator("#confusion").bounding_box()
    assert box is not None and abs(box["y"]) < 120
    watched.is_quiet()


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_chart_can_be_saved(watched: Watched, pages: Any, tmp_path: Path, kind: str) -> None:
    tab = watched.tab
    tab.goto(pages("people"))
    settled(tab)
    figure = tab.locator("#attributes figure").first
    figure.hover()
    with tab.expect_download() as waiting:
        figure.get_by_role("button", name=f"Save this chart as {kind.upper()}").click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    assert path.suffix == f".{kind}"
    if kind == "png":
        data = path.read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(data[16:20]) == 2 * (440 + 16)
    else:
        drawn = ElementTree.parse(path).getroot()
        kinds = {element.tag.rpartition("}")[2] for element in drawn.iter()}
        assert {"text", "path"} <= kinds and not [e for e in drawn.iter() if "var(" in str(e.attrib)]
    assert not [c for c in watched.complaints if "blob:" not in c]


def test_a_phone_sees_everything_or_is_told_that_there_is_more(browser: Any, pages: Any) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    tab = context.new_page()
    for name in ("people", "many"):
        tab.goto(pages(name))
        settled(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        cut = tab.evaluate(
            """() => [...document.querySelectorAll("main h1, main p, .card-name, .card-about, .rung-name, .w-name")]
            .filter((e) => e.checkVisibility() && getComputedStyle(e).display !== "inline"
                    && (e.getBoundingClientRect().right > 391 || e.scrollWidth > e.clientWidth + 1))
            .map((e) => e.outerHTML.slice(0, 90))"""
        )
        assert not cut
        # What is wider than the phone scrolls, and a shadow at its edge says so.
        wide = "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth + 1)"
        assert tab.evaluate(f"{wide}.every((e) => getComputedStyle(e).backgroundImage.includes('gradient'))")
        # Which class a value speaks for is written, not only coloured.
        assert tab.locator(".levels .for").first.is_visible() if name == "people" else True
    context.close()


def test_many_classes_and_silent_columns(watched: Watched, pages: Any) -> None:
    tab = watched.tab
    tab.goto(pages("many"))
    settled(tab)
    table = tab.locator("#answer .two > div").nth(1)
    weights = [int(v) for v in table.locator("tbody td:nth-child(2)").all_inner_texts()]
    assert weights == sorted(weights, reverse=True) and len(weights) == 24
    hues = [b.get_attribute("class") for b in table.locator("tbody svg.bar rect").all()]
    assert hues == [*(f"k{k}" for k in range(20)), *["other"] * 4]
    key = {dot.get_attribute("class").split()[1] for dot in tab.locator("#w-key .dot").all()}
    lines = {line.get_attribute("class").split()[0] for line in tab.locator(".w-answer .w-line").all()}
    assert key == lines and len(key) == 3, "the key names every class that is drawn"
    names = tab.locator("#confusion svg text.tick").all_text_contents()
    assert len(names) == 48 and len(set(names)) == 24, (
        "every class is named on both sides, none is cut to another's name"
    )
    assert tab.locator("#confusion svg rect title").first.text_content().count("mixed_cochlear") == 3
    start = tab.locator("#w-start option").all_inner_texts()
    first = table.locator("tbody th").first.inner_text()
    assert start[2] == f"a typical row of {first}"
    shown = tab.locator("#attributes > .card .card-about strong").all_inner_texts()
    assert shown and "0.000 bits" not in shown, "attributes of no bits are folded"
    assert tab.locator("#attributes > .card").count() < 16 and "nothing" in tab.locator("#attributes").inner_text()
    watched.is_quiet()


def test_paper_has_whole_cards_and_margins(watched: Watched, pages: Any) -> None:
    tab = watched.tab
    tab.goto(pages("people"))
    settled(tab)
    tab.emulate_media(media="print")
    assert set(tab.locator(".card").evaluate_all("(all) => all.map((e) => getComputedStyle(e).breakInside)")) == {
        "avoid"
    }
    assert not tab.locator(".save").first.is_visible()
    assert "@page" in tab.locator("style").text_content()
    watched.is_quiet()
