"""The page in a real browser, opened from disk: it is quiet, whole, and usable by eye, by key, on a phone, on paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page.conftest import Watched
from page.test_writing import EVIL, EXAMPLES, TARGET

import likely
from likely.present.page.writing import page


def made(name: str, folder: Path) -> Path:
    """The page of a table, as a file."""
    rng = np.random.default_rng(2)
    more: dict[str, Any] = {}
    plain = likely.NaiveBayes()
    if name == "iris":
        record = likely.look(EXAMPLES / "iris.csv", "species", picture=True)
        more = {"curve": likely.curve(EXAMPLES / "iris.csv", "species", likely.NaiveBayes(), folds=3, steps=4)}
        more["comparison"] = likely.compare(EXAMPLES / "iris.csv", "species", {"one": likely.NaiveBayes()}, folds=3)
    elif name == "weather":
        record = likely.look(EXAMPLES / "weather.csv", "play", likely.TreeAugmented(), picture=True)
    elif name == "mails":
        record = likely.look(EXAMPLES / "mails.csv", "label", plain, picture=True, types={"text": "text"})
    elif name == "evil":
        record = likely.look(EVIL, TARGET, plain, folds=3, picture=True, types={"text of <i>words</i>": "text"})
    elif name == "wide":
        wide: dict[str, Any] = {f"n{k}": rng.normal(size=90) for k in range(150)}
        wide |= {f"c{k}": rng.choice(["u", "v"], 90) for k in range(150)}
        record = likely.look({**wide, "y": rng.choice(["a", "b", "c"], 90)}, "y", plain, folds=3, picture=True)
    else:
        many = rng.integers(0, 50, 1500)
        table = {"x": many + rng.normal(size=1500), "l": [f"l{m % 11}" for m in many], "y": [f"c{m}" for m in many]}
        record = likely.look(table, "y", plain, folds=3, picture=True)
    path = folder / f"{name}.html"
    path.write_text(page(record, command="likely look data.csv y", version="0", **more), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Pages by name, each made once."""
    folder, held = tmp_path_factory.mktemp("pages"), {}

    def one(name: str) -> str:
        if name not in held:
            held[name] = made(name, folder)
        return held[name].as_uri()

    return one


@pytest.mark.parametrize("name", ["weather", "iris", "mails", "evil", "wide", "fifty"])
def test_it_opens_quietly_and_fits_every_width(watched: Watched, pages: Any, name: str) -> None:
    tab = watched.tab
    tab.on("dialog", lambda dialog: pytest.fail(f"a script of the data ran: {dialog.message}"))
    tab.goto(pages(name))
    for width in (1280, 800, 380):
        tab.set_viewport_size({"width": width, "height": 800})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    # Every link within the page leads somewhere, every chart says what it shows, every input has a name.
    assert tab.evaluate(
        """() => [...document.querySelectorAll('a[href^="#"]')].filter((a) => !document.getElementById(a.hash.slice(1)))
        .length"""
    ) == 0  # fmt: skip
    assert tab.evaluate("[...document.querySelectorAll('svg.chart')].every((s) => s.getAttribute('aria-label'))")
    heads = tab.locator("section > h2").all_text_contents()
    assert all(heads) and heads == tab.locator("nav li").all_text_contents()
    assert tab.evaluate("new Set([...document.querySelectorAll('[id]')].map((e) => e.id)).size") == tab.evaluate(
        "document.querySelectorAll('[id]').length"
    )
    watched.is_quiet()


def test_names_are_shown_as_they_are(watched: Watched, pages: Any) -> None:
    watched.tab.goto(pages("evil"))
    names = watched.tab.locator(".card-name").all_inner_texts()
    assert {"<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "{{ 7*7 }}{% raw %}"} <= set(names)
    assert TARGET in watched.tab.locator("h1").inner_text()


def test_a_box_of_the_graph_shows_its_table_by_pointer_and_key(watched: Watched, pages: Any) -> None:
    tab = watched.tab
    tab.goto(pages("weather"))
    panel, boxes = tab.locator("#graph-table"), tab.locator("#graph .node")
    assert boxes.count() == 5
    box = tab.get_by_role("button", name="Table of humidity")
    box.click()
    assert panel.locator("h3").inner_text() == "humidity"
    assert panel.locator("tbody th").all_inner_texts() == ["high", "normal"]
    assert box.get_attribute("aria-pressed") == "true"
    tab.get_by_role("button", name="Table of play").focus()
    tab.keyboard.press("Enter")
    assert panel.locator("tbody th").all_inner_texts() == ["no", "yes"]
    assert tab.locator("#graph .link").count() == 3  # the tree of four attributes
    watched.is_quiet()


def test_a_link_to_an_attribute_opens_its_card(watched: Watched, pages: Any) -> None:
    tab = watched.tab
    tab.goto(pages("wide"))
    card = tab.locator("#a20")
    assert card.get_attribute("open") is None
    tab.locator('#bits a[href="#a20"]').click()
    assert card.get_attribute("open") is not None
    watched.is_quiet()


def test_of_many_attributes_those_that_tell_less_are_found_by_name(watched: Watched, pages: Any) -> None:
    tab = watched.tab
    tab.goto(pages("wide"))
    shown = tab.locator("#bits table.bits").first.locator("tbody th").all_inner_texts()
    tab.locator("#find summary").click()
    rows = tab.locator("#find tbody th")
    names = rows.all_inner_texts()
    assert len(shown) == 40 and sorted(shown + names) == sorted([f"{k}{n}" for k in "nc" for n in range(150)])
    tab.locator("#find input").fill(names[-1].upper())
    found = [text for text in names if names[-1] in text]
    assert [row.inner_text() for row in rows.all() if row.is_visible()] == found
    tab.locator("#find input").fill("")
    assert all(row.is_visible() for row in rows.all())
    watched.is_quiet()


def test_dark_rooms_and_paper(watched: Watched, pages: Any) -> None:
    tab = watched.tab
    tab.goto(pages("iris"))
    ground = "getComputedStyle(document.body).backgroundColor"
    light = tab.evaluate(ground)
    tab.emulate_media(color_scheme="dark")
    dark = tab.evaluate(ground)
    assert light != dark and sum(int(n) for n in dark[4:-1].split(",")) < 120
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate(ground) == "rgb(255, 255, 255)"
    assert not tab.locator("nav").is_visible() and not tab.locator("#whatif").is_visible()
    assert tab.locator("#plane").is_visible()
    assert len(tab.pdf()) > 10_000
    watched.is_quiet()


def test_the_numbers_of_the_page_are_those_of_the_record(watched: Watched, pages: Any) -> None:
    tab = watched.tab
    tab.goto(pages("iris"))
    record = likely.look(EXAMPLES / "iris.csv", "species")
    cells = tab.locator("#confusion td.right, #confusion td.wrong").all_inner_texts()
    assert [float(c) for c in cells] == [v for row in record.confusion for v in row]
    bits = tab.locator("#bits table.bits tbody tr").all()
    assert [(r.locator("th").inner_text(), r.locator("td").nth(0).inner_text()) for r in bits] == [
        (a["name"], f"{a['importance']:.2f}") for a in record.attributes
    ]
    assert tab.locator("#plane .regions figure").count() == 4
    assert tab.locator("#learning svg").count() == 2
    assert tab.locator("#comparison tbody tr").count() == 1
