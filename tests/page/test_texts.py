"""Texts in the what-if: words coloured in place by what they say, and those without which the answer would change."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from page.conftest import Watched
from page.test_whatif import opened, part, row_in, settled

import likely
from likely import Model
from likely.present.page.attributes import word_bits

TABLE = {
    "sms": ["claim a prize now", "are you home", "claim your free prize", "see you soon at home"] * 12,
    "label": ["spam", "ham"] * 24,
}


def fitted(**how: Any) -> Model:
    return likely.fit(TABLE, "label", likely.NaiveBayes(text=likely.Text(**how)), types={"sms": "text"})


@pytest.mark.parametrize("how", [{}, {"length": True, "damping": "root"}], ids=["plain", "length"])
def test_words_are_coloured_where_they_stand(watched: Watched, tmp_path: Path, how: dict[str, Any]) -> None:
    model = fitted(**how)
    tab = opened(watched, tmp_path, model)
    text = "Claim it at HOME, claim xyzzy"
    part(tab).get_by_label("sms").fill(text)
    settled(tab)
    ink = tab.locator(".w-ink")
    assert ink.text_content().rstrip("\n") == text
    marks = [
        (m.text_content(), m.get_attribute("class"), m.get_attribute("data-bits")) for m in ink.locator("mark").all()
    ]
    # The same figures as explain has for the words, for the second class, once for each time that the text has them.
    parts = {p.name: p for e in likely.explain(model, {"sms": text}, of="spam").entries for p in e.parts}
    for word, hue, bits in marks:
        entry = parts[word.lower()]
        each = entry.log_ratio / len(entry.spans) / math.log(2)
        assert float(bits.replace("−", "-")) == pytest.approx(each, abs=0.0051)
        assert hue == ("k1" if each > 0 else "k0")  # ham, spam
    assert [word for word, _, _ in marks if word.lower() != "at"] == ["Claim", "HOME", "claim"]
    # The ink lies exactly under the text of the box.
    boxes = [tab.locator(s).evaluate("(e) => [e.clientWidth, getComputedStyle(e).font, getComputedStyle(e).padding]")
             for s in (".w-text textarea", ".w-ink")]  # fmt: skip
    assert boxes[0] == boxes[1]
    watched.is_quiet()


def test_without_a_word_it_would_be_another_class(watched: Watched, tmp_path: Path) -> None:
    model = fitted()
    tab = opened(watched, tmp_path, model)
    part(tab).get_by_label("sms").fill("claim it, see you")
    settled(tab)
    assert tab.locator("#w-action").inner_text() == "ham"
    for text in ("claim your home", "claim a prize, free prize, see you"):
        part(tab).get_by_label("sms").fill(text)
        settled(tab)
        now = likely.decide(model, {"sms": text}).action
        assert tab.locator("#w-action").inner_text() == now
        line = tab.locator("#w-changes li[data-without]")
        words = set(line.get_attribute("data-without").split())
        assert (
            f"it would be {'ham' if now == 'spam' else 'spam'}" in line.inner_text()
            and "Without “" in line.inner_text()
        )
        left = " ".join(w for w in text.split() if w.strip(",") not in words)
        assert likely.decide(model, {"sms": left}).action != now
        # No single word is enough where several are named.
        if len(words) > 1:
            for word in set(text.replace(",", "").split()):
                rest = " ".join(w for w in text.replace(",", "").split() if w != word)
                assert likely.decide(model, {"sms": rest}).action == now
        line.get_by_role("button").click()
        settled(tab)
        assert tab.locator("#w-action").inner_text() != now
        assert not words & set(row_in(tab)["sms"].replace(",", "").split())
    watched.is_quiet()


def test_the_words_of_a_card_are_those_of_explain() -> None:
    for how in ({}, {"length": True}, {"model": "complement"}):
        model = fitted(**how)
        words, bits = word_bits(model, "sms")
        for word in ("claim", "home", "you"):
            entries = likely.explain(model, {"sms": word}, of="spam", against="ham").entries
            (own,) = [p for e in entries for p in e.parts]
            assert bits[words.index(word), 1] == pytest.approx(own.log_ratio / math.log(2), abs=1e-9), (how, word)
