"""The ledger of a text: its words add up to what it says; what is unknown is counted; words that would change it."""

from __future__ import annotations

import math
import re
from itertools import combinations

import numpy as np
import pytest

import likely
from likely import Text, Tokens, counterfactual

SPAM = ["Win a prize now", "cheap money, win win", "prize money now", "win cheap"]
HAM = ["lunch now?", "see you at lunch", "the report is late", "you win some", "report the money"]
WAYS = [
    Text("multinomial"),
    Text("bernoulli"),
    Text("complement", damping="root", length=True, pseudo_count=0.1, scale=2.0),
    Text("multinomial", damping="log", idf=True, scale=0.5),
]


def words_of(text: str) -> list[str]:
    """Runs of letters, in small ones: these texts hold nothing else of note."""
    return re.findall(r"[a-z]+", text.lower())


def fitted(how: Text, **reading: object) -> likely.Model:
    data = {
        "t": [*SPAM, *HAM],
        "x": [1.0, 2.0, 1.5, 2.5, 7.0, 8.0, 6.0, 7.5, 8.5],
        "y": ["spam"] * len(SPAM) + ["ham"] * len(HAM),
    }
    return likely.fit(data, "y", likely.NaiveBayes(text=how), types={"t": "text"}, **reading)


@pytest.mark.parametrize("how", WAYS, ids=lambda h: h.model + h.damping)
@pytest.mark.parametrize("against", [None, "rest"])
def test_words_add_up_to_the_text(how: Text, against: str | None) -> None:
    model = fitted(how)
    text = " Win, WIN a lunch! zzz prize\n"
    ledger = likely.explain(model, {"t": text, "x": 3.0}, against=against)
    entry = next(e for e in ledger.entries if e.name == "t")
    assert entry.cell == text and entry.unknown == 1 and entry.note.startswith("1 of 6 words is")
    assert math.fsum(p.log_ratio for p in entry.parts) == pytest.approx(entry.log_ratio, abs=1e-9)
    for part in entry.parts:
        assert all(text[a:b].lower() == part.name for a, b in part.spans)
    (win,) = (p for p in entry.parts if p.name == "win")
    assert win.spans == ((1, 4), (6, 9))
    found = next(e for e in ledger.to_dict()["entries"] if e["name"] == "t")
    told = next(p for p in found["parts"] if p["name"] == "win")
    assert told["times"] == 2 and told["offsets"] == [[1, 4], [6, 9]] and found["unknown_words"] == 1


def test_what_says_nothing() -> None:
    model = fitted(Text("multinomial"))
    for text, words in (("", "missing"), ("?!", "has no words"), ("zzz qqq", "none of its words is known")):
        entry = next(e for e in likely.explain(model, {"t": text}).entries if e.name == "t")
        assert entry.silent and (entry.state == "missing" if text == "" else words in entry.note)
    assert next(e for e in likely.explain(model, {}).entries if e.name == "t").state == "missing"


def test_pairs_have_places() -> None:
    model = fitted(Text("multinomial"), tokens=Tokens(pairs=True))
    entry = next(e for e in likely.explain(model, {"t": "so: cheap MONEY"}).entries if e.name == "t")
    assert {p.name: p.spans for p in entry.parts} == {
        "cheap": ((4, 9),),
        "money": ((10, 15),),
        "cheap money": ((4, 15),),
    }


def test_the_fewest_words_of_two_classes() -> None:
    model = fitted(Text("multinomial"))
    for text in ("win a prize now cheap", "see you at lunch, report", "win lunch", "cheap money now see the prize"):
        now = model.predict({"t": text})
        (found,) = counterfactual(model, {"t": text}, change=["t"]).wordless or (None,)
        different = list(dict.fromkeys(words_of(text)))
        least = None
        for size in range(1, len(different) + 1):
            for gone in combinations(different, size):
                left = " ".join(w for w in words_of(text) if w not in gone)
                if model.predict({"t": left}) != now:
                    least = size
                    break
            if least is not None:
                break
        assert (None if found is None else len(found.words)) == least
        if found is not None:
            left = " ".join(w for w in words_of(text) if w not in found.words)
            assert model.predict({"t": left}) == found.decision != now
            assert found.chance == pytest.approx(model.posterior({"t": left}).prob(found.decision))


def test_words_are_looked_for_beside_other_values_and_towards_a_class() -> None:
    rng = np.random.default_rng(1)
    words = {"a": "apple ant", "b": "bear bee", "c": "cow cat"}
    y = rng.choice(list("abc"), 120)
    data = {"t": [" ".join(rng.choice([*words[c].split(), "the", "is"], 6)) for c in y], "y": y.tolist()}
    how = Text("complement", length=True, scale=4.0)
    model = likely.fit(data, "y", likely.NaiveBayes(text=how), types={"t": "text"})
    row = {"t": "apple ant bee cow cow"}
    for towards in "abc":
        if towards == model.predict(row):
            continue
        (found,) = counterfactual(model, row, towards=towards).wordless
        assert found.decision == towards and model.predict({"t": " ".join(
            w for w in words_of(row["t"]) if w not in found.words)}) == towards  # fmt: skip
    told = counterfactual(model, row)
    assert not told.changes and "lost some of its words" in told.headline and "without the word" in str(told)
    assert told.to_dict()["without_words"][0]["words"]
    assert "Found no change" in counterfactual(model, {"t": "the"}).headline
