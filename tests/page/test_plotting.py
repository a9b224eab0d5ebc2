"""Single charts and what notebooks show: sound XML with a style of their own, escaped, and refused with a sentence."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import likely
from likely.errors import LikelyError

EXAMPLES = Path(__file__).parents[2] / "examples"
UGLY = {"<b>": ["</svg>", "&", "'", '"'] * 5, "x\x00": [1.5, 2.0, 3.0, 9.0] * 5, "k": ["<i>", "</style>"] * 10}


@pytest.fixture(scope="module")
def iris() -> Any:
    return likely.look(EXAMPLES / "iris.csv", "species", likely.NaiveBayes(), picture=True)


@pytest.fixture(scope="module")
def weather() -> Any:
    return likely.fit(EXAMPLES / "weather.csv", "play")


def drawn(chart: str) -> ElementTree.Element:
    found = ElementTree.fromstring(chart)
    assert found.tag == "{http://www.w3.org/2000/svg}svg" and found.get("aria-label")
    assert found[0].tag.endswith("style") and "--k0" in (found[0].text or "")
    return found


@pytest.mark.parametrize("what", [None, "bits", "confusion", "reliability", "plane", "graph"])
def test_charts_of_a_look(iris: Any, what: str | None) -> None:
    drawn(likely.plot(iris, what))


def test_charts_of_the_rest(iris: Any, weather: Any, tmp_path: Path) -> None:
    row = {"outlook": "sunny", "windy": "true"}
    drawn(likely.plot(iris, attribute="petal_width"))
    drawn(likely.plot(weather, attribute="outlook"))
    drawn(likely.plot(weather))
    drawn(
        likely.plot(
            likely.fit(EXAMPLES / "mails.csv", "label", likely.NaiveBayes(), types={"text": "text"}), attribute="text"
        )
    )
    drawn(likely.plot(likely.curve(EXAMPLES / "iris.csv", "species", likely.NaiveBayes(), folds=3, steps=3)))
    posterior = "".join(drawn(likely.plot(weather.posterior(row))).itertext())
    assert f"{100 * weather.posterior(row).prob('no'):.1f}\xa0%" in posterior
    ledger = likely.explain(weather, row)
    assert "outlook = sunny" in "".join(drawn(likely.plot(ledger)).itertext())
    likely.plot(ledger).save(tmp_path / "ledger.svg")
    drawn((tmp_path / "ledger.svg").read_text(encoding="utf-8"))


def test_what_cannot_be_drawn_is_refused_with_a_sentence(iris: Any, weather: Any) -> None:
    bad: list[Callable[[], object]] = [
        lambda: likely.plot(iris, "bitz"),
        lambda: likely.plot(iris, attribute="petal"),
        lambda: likely.plot(weather, "confusion"),
        lambda: likely.plot(weather, attribute="play"),
        lambda: likely.plot(weather.posterior(EXAMPLES / "weather.csv")),
        lambda: likely.plot(weather.posterior({"outlook": "sunny"}), "graph"),
        lambda: likely.plot("adult.csv"),
        lambda: likely.plot(likely.fit(EXAMPLES / "iris.csv", "species", likely.Neighbors())),
        lambda: likely.plot(likely.look(EXAMPLES / "weather.csv", "play"), "plane"),
    ]
    for attempt in bad:
        with pytest.raises(LikelyError) as raised:
            attempt()
        assert str(raised.value)[-1] in ".?"


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)


def test_notebooks_show_small_escaped_tables() -> None:
    record = likely.look(UGLY, "k", folds=3)
    model = record.model
    assert model is not None
    row = {"<b>": "&"}
    for thing in (model, model.posterior(row), model.posterior(UGLY), likely.explain(model, row), record):
        text = thing._repr_html_()
        small = {"div", "p", "br", "strong", "style", "table", "thead", "tbody", "tr", "th", "td", "svg", "rect"}
        assert Tags(text).found <= ({"iframe"} if thing is record else small)
        assert thing is record or len(text) < 12_000
    drawn(likely.plot(model, attribute="<b>"))
    drawn(likely.plot(record, attribute="x\x00"))
