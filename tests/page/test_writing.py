"""The page as a file: sound, closed to everything from outside, of bounded size, and without any row of the data."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely
from likely.evaluate.crossval.dealing import Dealing
from likely.present.page import contents, writing
from likely.present.page.packing import LETTERS, packed
from likely.present.page.writing import embedded, page, page_of_model
from likely.present.report.look import present_look

EXAMPLES = Path(__file__).parents[2] / "examples"
PLAIN = likely.NaiveBayes()
EVIL = {
    "<script>alert(1)</script>": ["</script>", "<!--", "]]>", "' onx='"] * 30,
    '"><img src=x onerror=alert(2)>': [1.5, 2.5, -3.0, 9.0, 4.0, 7.5] * 20,
    "{{ 7*7 }}{% raw %}": [0.5, 0.25, 8.0] * 40,
    "ünï\u2028cödé": ["<svg onload=alert(5)>", "\u2028", "\u202eabc", "javascript:alert(1)", ""] * 24,
    "text of <i>words</i>": ["</title> <b>one</b> two", "three &amp; four", "five six </style>"] * 40,
    "</script><script>alert(3)</script>": ["</script><script>alert(4)</script>", "<b>no</b>", "&amp;"] * 40,
}
TARGET = "</script><script>alert(3)</script>"


class Sheet(HTMLParser):
    """Every tag and attribute of a page, and what its scripts and styles hold."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.held: dict[str, list[str]] = {"script": [], "style": []}
        self.open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in self.held:
            self.open = tag
            self.held[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == self.open:
            self.open = ""

    def handle_data(self, data: str) -> None:
        if self.open:
            self.held[self.open][-1] += data

    def json(self, name: str) -> Any:
        scripts = [a for tag, a in self.tags if tag == "script"]
        number = next(k for k, a in enumerate(scripts) if a.get("id") == name)
        text = self.held["script"][number]
        return json.loads(unpack(text) if scripts[number]["type"] == "application/gzip" else text)


def unpack(text: str) -> str:
    """What a page holds in letters of 13 bits a pair."""
    places = {chr(letter): k for k, letter in enumerate(LETTERS)}
    bits = "".join(
        f"{places[pair[0]] * 91 + places[pair[1]]:013b}" if len(pair) == 2 else f"{places[pair]:06b}"
        for pair in (text[k : k + 2] for k in range(0, len(text), 2))
    )
    return gzip.decompress(bytes(int(bits[k : k + 8], 2) for k in range(0, len(bits) - 7, 8))).decode()


def looked(table: dict[str, list[Any]] | Path, target: str, learner: Any = PLAIN, **more: Any) -> str:
    return page(
        likely.look(table, target, learner, picture=True, **more), command="likely look", version="1", data="data.csv"
    )


def safe(text: str) -> Sheet:
    """Only our scripts and styles are there, each known to the policy by what it holds; no handler, no address."""
    sheet = Sheet(text)
    held = [(a.get("id"), a.get("type")) for t, a in sheet.tags if t == "script"]
    assert held.pop(0)[0] == "likely-model" if held[0][0] == "likely-model" else True
    figures = [("likely-figures", "application/gzip")] * (("likely-figures", "application/gzip") in held)
    assert held == [
        ("likely-page", "application/json"),
        *figures,
        ("likely-script", "application/gzip"),
        (None, "module"),
    ]
    assert len(sheet.held["style"]) == 1
    policy = next(a["content"] for t, a in sheet.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and "default-src 'none'" in policy and "unsafe" not in policy
    unpacked = unpack(sheet.held["script"][-2])
    digests = [
        base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        for content in (sheet.held["style"][0], sheet.held["script"][-1], unpacked)
    ]
    assert f"style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}' 'sha256-{digests[2]}'; " in policy
    for tag, attributes in sheet.tags:
        assert tag not in ("img", "iframe", "object", "embed", "base", "b", "i")
        assert not any(name.startswith("on") or name == "style" for name in attributes), (tag, attributes)
        for name in ("href", "src", "action"):
            assert re.match(r"#|data:,$", attributes.get(name) or "#"), (tag, attributes)
    return sheet


@pytest.mark.parametrize("size", range(40))
def test_what_is_packed_comes_out_again(size: int) -> None:
    text = "".join(chr(40 + k * k % 90) for k in range(size))
    assert unpack(packed(text)) == text and not set(packed(text)) & set("<&\\ ")


@pytest.fixture(scope="module")
def evil() -> str:
    return looked(EVIL, TARGET, types={"text of <i>words</i>": "text"}, folds=5)


def test_names_and_levels_are_words_and_nothing_else(evil: str) -> None:
    sheet = safe(evil)
    assert sheet.json("likely-page")["target"] == TARGET
    assert "<script>alert(1)</script>" in json.dumps(sheet.json("likely-model"))
    assert "49" not in re.findall(r'card-name">(.*?)</span>', evil)  # the template took no name for a template


def test_compiled_templates_are_kept_where_only_we_may_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKELY_CACHE", str(tmp_path))
    record = likely.look({"x": [1.0, 2.0, 8.0, 9.0] * 5, "y": list("aabb") * 5}, "y", likely.NaiveBayes(), folds=2)

    def made_anew() -> str:
        writing.template.cache_clear()
        return writing.page(record)

    first = made_anew()
    kept = {path: path.read_bytes() for path in tmp_path.iterdir() if path.suffix == ".template"}
    assert len(kept) == 2  # the page, and what it includes
    stamps = {path: path.stat().st_mtime_ns for path in kept}
    assert made_anew() == first
    assert {path: path.stat().st_mtime_ns for path in kept} == stamps  # read, not written again
    for path, data in kept.items():
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert made_anew() == first
    assert {path: path.read_bytes() for path in kept} == kept  # what was damaged is not believed, and replaced
    writing.template.cache_clear()


def test_json_cannot_close_its_tag() -> None:
    text = json.dumps({"a": "</script><!--\u2028\u2029&amp;]]>"}, ensure_ascii=False)
    held = embedded(text)
    assert not set("<>&\u2028\u2029") & set(held)
    assert json.loads(held) == json.loads(text)


def test_a_model_alone_has_a_page_too() -> None:
    model = likely.fit(EXAMPLES / "weather.csv", "play")
    text = page_of_model(model, command="likely serve")
    safe(text)
    ids = re.findall(r'<section id="(\w+)"', text)
    assert {"judgement", "classes", "whatif", "attributes", "columns", "graph", "reproduce"} <= set(ids)
    assert not {"answer", "bits", "confusion", "reliability", "learning", "comparison", "plane"} & set(ids)


def test_sections_come_and_go_with_their_data() -> None:
    iris = likely.look(EXAMPLES / "iris.csv", "species", PLAIN, picture=True)
    curve = likely.curve(EXAMPLES / "iris.csv", "species", PLAIN)
    rivals = {
        "naive": likely.NaiveBayes(),
        "prior": likely.Prior(),
        "refuses": likely.NaiveBayes(level_weights={"x": {}}, m_estimate=1),
    }
    compared = likely.compare(EXAMPLES / "iris.csv", "species", rivals)
    order = ["answer", "whatif", "bits", "attributes", "confusion", "ranks", "reliability", "learning", "comparison",
             "columns", "graph", "plane", "reproduce"]  # fmt: skip
    text = page(iris, curve=curve, comparison=compared, command="likely look x")
    assert re.findall(r'<section id="(\w+)"', text) == order
    assert {link for link in re.findall(r'href="#(\w+)"', text)} <= set(re.findall(r' id="(\w+)"', text))
    weather = looked(EXAMPLES / "weather.csv", "play")
    found = re.findall(r'<section id="(\w+)"', weather)
    assert not {"learning", "comparison", "plane"} & set(found) and "warnings" in found


def words_of(text: str, tag: str) -> str:
    """What a reader reads in the first element of this name."""
    found = re.search(rf"<{tag}[ >].*?</{tag}>", text, re.DOTALL)
    assert found is not None
    return " ".join(re.sub(r"<[^>]+>", "", found[0]).replace("\xa0", " ").split())


def test_the_answer_is_first_with_interval_and_baseline() -> None:
    text = looked(EXAMPLES / "iris.csv", "species")
    assert words_of(text, "h1") == "Naive Bayes predicts species correctly for 95.3 % of unseen rows (90.4–97.8 %)"
    assert text.index("<h1>") < text.index("<h2")
    ladder = re.findall(
        r'<li class="(\w+)"><span class="rung-name">(.*?)</span>.*?<span class="num">(.*?)</span>', text
    )
    assert [kind for kind, _, _ in ladder] == ["base", "one", "own"]
    assert [(name, share.replace("\xa0", " ")) for _, name, share in ladder] == [
        ("always Iris-setosa", "33.3 %"), ("petal_width alone", "94.7 %"), ("Naive Bayes", "95.3 %"),
    ]  # fmt: skip


def test_the_page_of_a_pool_says_who_learned_and_how_to_make_it_again() -> None:
    record = likely.look(EXAMPLES / "iris.csv", "species", picture=True)
    text = page(record, command="likely look iris.csv species", version="1", data=str(EXAMPLES / "iris.csv"))
    sheet = safe(text)
    assert words_of(text, "h1").startswith("The model predicts species correctly for")
    assert re.search(
        r"Chosen by held-out rows: (naive Bayes and full Bayes|full Bayes and naive Bayes), \d+ : \d+\.", text
    )
    assert "held-out rows, chosen by a hash of their content" in text
    assert sheet.json("likely-page")["learner"] == [] and sheet.json("likely-model")["note"] == ""
    again = contents.python(record).replace("'iris.csv'", repr(str(EXAMPLES / "iris.csv")))
    found: dict[str, Any] = {}
    exec(again, found)
    assert found["found"].scores == record.scores and found["found"].dealing == record.dealing
    # Where folds were asked for, Auto is named: unasked it would be judged by the rows that it holds out.
    asked = replace(record, dealing=Dealing(10, 0))
    assert "likely.look('iris.csv', 'species', likely.Auto())" in contents.python(asked)


def test_one_attribute_that_does_as_well_is_in_the_first_sentence() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 400)
    table: dict[str, Any] = {"k": np.where(rng.random(400) < 0.8, y, "a"), "y": y}
    noise = {f"n{j}": rng.choice(["u", "v"], 400) for j in range(3)}
    for more, said in ((noise, True), ({}, False), ({"k2": np.where(rng.random(400) < 0.8, y, "b")}, False)):
        record = likely.look({**table, **more}, "y", PLAIN)
        lead, printed = contents.lead_sentences(record)[0], present_look(record).headline
        for words in (lead, printed):
            found = re.search(r"(One column does as well|Not clearly better than one column): k alone gets \d", words)
            assert (found is not None) == said, more.keys()


def test_how_rows_were_dealt_is_told_as_it_was_done() -> None:
    rng = np.random.default_rng(3)
    table = {"x": rng.choice(["u", "v"], 60).tolist(), "g": [f"g{k % 12}" for k in range(60)],
             "when": [float(k) for k in range(60)], "y": rng.choice(["a", "b"], 60).tolist()}  # fmt: skip
    for asked, words, code in (
        ({}, "5 folds, stratified; seed 0", "folds=5)"),
        ({"repeats": 2}, "5 folds, stratified, 2 times; seed 0", "folds=5, repeats=2)"),
        ({"group": "g"}, "5 folds, rows with the same g in one; seed 0", "folds=5, group=&#x27;g&#x27;)"),
        ({"time": "when"}, "5 parts in the order of when, each predicted from the rows before it",
         "time=&#x27;when&#x27;)"),
        ({"leave_one_out": True}, "each row left out in turn", "leave_one_out=True)"),
    ):  # fmt: skip
        text = looked(table, "y", folds=5, **asked)
        assert f"<dt>judged by</dt><dd>{words}</dd>" in text, asked
        assert code in text, asked


@pytest.mark.parametrize(
    ("learner", "graph"),
    [
        (likely.TreeAugmented(), True),
        (likely.NaiveBayes(blocks=(("outlook", "windy"),)), True),
        (likely.NaiveBayes(pseudo_count=0.0), True),
        (likely.OneDependence(), False),
        (likely.Neighbors(k=3), False),
        (likely.Logistic(), False),
        (likely.Prior(), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_learner_has_a_page(learner: Any, graph: bool) -> None:
    text = looked(EXAMPLES / "weather.csv", "play", learner=learner)
    safe(text)
    assert ('class="chart graph"' in text) == graph


@pytest.mark.parametrize("numbers", ["kernel", "binned"])
def test_numbers_of_every_kind_are_drawn(numbers: Any) -> None:
    text = looked(EXAMPLES / "iris.csv", "species", learner=likely.NaiveBayes(numbers=numbers))
    safe(text)
    assert text.count('class="chart values-chart"') == 4


def test_odd_tables_have_a_page() -> None:
    tables: list[dict[str, list[Any]]] = [
        {"y": ["a", "b"] * 10, "c": ["x"] * 20},  # nothing to learn from
        {"y": ["a", "b"] * 10, "d": ["2020-01-01", "2021-05-05", "2020-02-02", None] * 5},
        {"y": ["", "b", "c", "d"] * 10, "x": [1e300, -1e300, 5e-324, 0.0] * 10},
        {"y": ["a", "b"] * 10, "x": [None] * 19 + [1.0], "z": [float("inf"), 1.0] * 10},
        {"y": ["a"] * 39 + ["b"], "x": list(range(40))},
    ]
    for table in tables:
        safe(looked(table, "y"))
    loss = {"a": {"go": 1, "stay": 0}, "b": {"go": 0, "stay": 5}}
    safe(looked({"y": ["a", "b"] * 20, "x": ["u", "v", "v", "v"] * 10}, "y", loss=loss))


def test_no_row_of_the_data_is_in_the_page() -> None:
    rng = np.random.default_rng(5)
    words = ["red", "green", "blue", "round", "square", "heavy", "light"]
    texts = [" ".join(rng.choice(words, 9)) for _ in range(200)]
    names = [f"person {rng.integers(10**12)}" for _ in range(200)]
    numbers = rng.normal(size=200).tolist()
    table = {"who": names, "said": texts, "x": numbers, "z": rng.normal(size=200).tolist(),
             "y": rng.choice(["a", "b"], 200).tolist()}  # fmt: skip
    text = looked(table, "y", types={"said": "text"})
    assert not [t for t in texts if t in text]
    assert not [n for n in names if n in text]
    inner = sorted(numbers)[1:-1]  # the least and the greatest are told, as ranges
    assert len([x for x in inner if repr(x)[:9] in text]) < 12  # some are edges of bins


def test_size_is_bounded_by_attributes_and_classes() -> None:
    rng = np.random.default_rng(6)
    classes = rng.choice(list("abc"), 120)
    wide: dict[str, list[Any]] = {f"n{k}": rng.normal(size=120).tolist() for k in range(150)}
    wide |= {f"c{k}": rng.choice(["u", "v", "w"], 120).tolist() for k in range(150)}
    text = looked({**wide, "y": classes.tolist()}, "y", folds=3)
    assert len(text.encode()) <= 2_000_000
    safe(text)
    many = rng.integers(0, 50, 2000)
    table = {"x": (many + rng.normal(size=2000)).tolist(), "z": rng.normal(size=2000).tolist(),
             "l": [f"l{(m + 3) % 11}" for m in many], "y": [f"class {m}" for m in many]}  # fmt: skip
    text = looked(table, "y", folds=3)
    assert len(text.encode()) <= 400_000
    assert 'class="chart confusion-map"' in text
