"""Text through the command line: what look, show and explain say of words, and texts that nobody expects."""

from __future__ import annotations

import json
import random
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

NASTY = ("[red]", "a=b c", "it's", "new\nline", "\x1b[31m")


def mails(rows: int = 240, header: bool = False) -> str:
    """CSV of made-up mails."""
    rng = random.Random(3)
    out = ["body,kb,label"]
    for k in range(rows):
        spam = k % 3 == 0
        own = ["cheap", "prize", "money", "win"] if spam else ["lunch", "report", "meeting", "late"]
        words = rng.choices([*own, "hello", "you", "now"], k=10)
        top = f"Subject {k} List {'bulk' if spam else 'staff'}: " if header else ""
        out.append(f"{top}{' '.join(words)}!,{rng.gauss(5 if spam else 3, 1):.2f},{'spam' if spam else 'ham'}")
    return "\n".join(out) + "\n"


@pytest.fixture
def model(run, write) -> str:
    write("mails.csv", mails())
    run("fit", "mails.csv", "label", "-o", "m.likely", "--learner", "NaiveBayes").done()
    return "m.likely"


def test_look(run, write) -> None:
    write("mails.csv", mails())
    plain = ("look", "mails.csv", "label", "--learner", "NaiveBayes")
    told = run(*plain, "--all").done().out
    assert "Words of body that alone tell most" in told and "with 'prize'" in told and re.search(r"≥ [\d.]+ %", told)
    assert "left out" not in told.split("How the columns were read")[0] and "nothing is learned" not in told
    assert run(*plain, encoding="ascii").done().out.isascii()
    found = json.loads(run(*plain, "--json").done().out)
    (text,) = found["texts"]
    assert text["words"]["name"] == "body" and text["words"]["documents"] == 240
    assert text["words"]["in_nearly_all"] == text["words"]["deciding"] == [] and text["copies"]["copied"] == 0
    best = {w["word"]: w for w in text["words"]["strongest"]}["prize"]
    assert best["label"] == "spam" and best["elsewhere"] == 0
    (body,) = (a for a in found["attributes"] if a["name"] == "body")
    assert best["bits"] < body["bits"] <= found["entropy"]


def test_look_without_words(run, write, examples) -> None:
    assert json.loads(run("look", examples / "weather.csv", "play", "--json").done().out)["texts"] == []


def test_other_learners_say_that_they_leave_text_out(run, write) -> None:
    write("mails.csv", mails())
    for learner in ("TreeAugmented", "Logistic", "Neighbors"):
        told = run("look", "mails.csv", "label", "--learner", learner).done().out
        assert "'body' is free text" in told, learner


def test_headers_and_copies_are_told(run, write) -> None:
    write("mails.csv", mails(header=True))
    told = run("look", "mails.csv", "label", "--learner", "NaiveBayes", "--all").done().out
    assert "2 words are in at least 95 % of the texts of 'body': 'list', 'subject'" in told
    assert "The word 'bulk' alone nearly determines whether 'body' is of class 'spam'" in told
    assert "'spam': 100 % of its texts have it" in told
    rows = mails().splitlines()
    doubled = [r.replace("!", " ???").upper() if k % 2 else r for k, r in enumerate(rows[1:41])]
    write("twice.csv", "\n".join([*rows, *(r.replace("HAM", "ham").replace("SPAM", "spam") for r in doubled)]) + "\n")
    told = run("look", "twice.csv", "label", "--learner", "NaiveBayes", "--all").done().out
    assert "80 of 280 texts of 'body' (28.6 %) occur more than once" in told and "with a copy in another fold" in told


def test_show(model, run) -> None:
    told = run("show", model).done().out
    assert "different words" in told and "speak most" not in told
    told = run("show", model, "body").done().out
    assert "Texts of each class" in told and "prize*" in told and "No text of another class" in told
    assert run("show", model, "body", encoding="ascii").done().out.isascii()
    found = json.loads(run("show", model, "body", "--json").done().out)
    rows = found["tables"][1]["rows"]
    assert {r["for class"] for r in rows} == {"ham", "spam"}
    run("show", model, "body", "--fractions").refused("'body' is a text")


def test_explain(model, run) -> None:
    text = "Hello you, [red] PRIZE lunch\nzzzz"
    told = run("explain", model, f"body={text}", "--counterfactual", "--class", "spam").done().out
    assert "1 of 6 words is not known" not in told and "2 of 6 words are not known" in told
    assert "[PRIZE+" in told and "[lunch-" in told and "[red]" in told and "\n  zzzz" in told
    assert "What would change the decision" in told
    assert run("explain", model, f"body={text}", encoding="ascii").done().out.isascii()
    assert "[PRIZE×" in run("explain", model, f"body={text}", "--unit", "odds", "--class", "spam").done().out
    found = json.loads(run("explain", model, f"body={text}", "--json", "--class", "spam").done().out)
    entry = next(e for e in found["entries"] if e["name"] == "body")
    part = next(p for p in entry["parts"] if p["name"] == "prize")
    assert part["times"] == 1 and text[slice(*part["offsets"][0])] == "PRIZE" and part["evidence"] > 0
    assert entry["unknown_words"] == 2
    assert json.loads(run("explain", model, "--row", 1, "mails.csv", "--json").done().out)["prediction"] == "spam"


@pytest.mark.parametrize("name", NASTY)
def test_ugly_names_and_words(name: str, run, tmp_path) -> None:
    rng = random.Random(1)
    own = {"[bold]x": "[red]α̂ \x1b[2J \u202eevil prize", "": "", "it's": "ליום טוב 🎉 漢字 lunch"}
    classes = [c for c in own if c] * 40
    cells = [" ".join(rng.sample((own[c] + " a b c d").split(" "), 5)) for c in classes]
    pq.write_table(pa.table({name: cells, "y'=": classes}), tmp_path / "t.parquet")
    types = ("--type", f"{name}=text", "--learner", "NaiveBayes")
    told = run("look", "t.parquet", "y'=", *types).done().out
    assert "\u202e" not in told
    run("fit", "t.parquet", "y'=", *types, "-o", "t.likely").done()
    told = run("show", "t.likely", name).done().out
    assert "prize" in told and "\u202e" not in told
    told = run("explain", "t.likely", f"{name}=PRIZE \u202e\x07 ליום טוב 🎉").done().out
    assert "[PRIZE" in told and "\u202e" not in told and "\x07" not in told


WILD = {
    "long": "cheap prize " * 40_000,
    "one word": "x" * 1_000_000,
    "punctuation": "?!,.;:…" * 1000,
    "nulls": "win\x00prize\x00\x00 cheap",
    "right to left": "שלום עולם هذا نص prize",
    "marks": "e\u0301te\u0301 \u0301 Z\u0335\u0321a",
    "emoji": "🎉🎉 win 👩‍👩‍👧 prize",
    "empty": "",
    "blank": " \n\t ",
}


def test_wild_texts_from_end_to_end(run, write, tmp_path) -> None:
    rows = [line.rsplit(",", 2) for line in mails(120).splitlines()[1:]]
    cells = [r[0] for r in rows]
    for place, kind in enumerate(WILD, 5):
        cells[place] = cells[place + 95] = WILD[kind]
    classes = [r[2] if k % 10 else "" for k, r in enumerate(rows)]  # some rows have no class
    pq.write_table(pa.table({"body": cells, "y": classes}), tmp_path / "t.parquet")
    told = run("look", "t.parquet", "y").done().out
    assert "12 rows have no class" in told
    run("fit", "t.parquet", "y", "-o", "t.likely").done()
    run("show", "t.likely", "body").done()
    run("predict", "t.likely", "t.parquet", "-o", "p.csv").done()
    for row, kind in enumerate(WILD, 6):
        told = run("explain", "t.likely", "--row", row, "t.parquet").done().out
        assert len(told) < 20_000, kind
        if kind in ("long", "nulls", "emoji", "right to left"):
            assert "prize+" in told or "prize-" in told, kind


def test_broken_utf8_is_told_with_its_row_or_replaced(run, tmp_path) -> None:
    cells = [r.rsplit(",", 2)[0].encode() for r in mails().splitlines()[1:]]
    cells[17] = b"win \xff\xfe prize"
    body = pa.array(cells, pa.binary()).view(pa.string())
    classes = [("spam" if k % 3 == 0 else "ham") for k in range(len(cells))]
    pq.write_table(pa.table({"body": body, "y": classes}), tmp_path / "t.parquet")
    for command in (("look", "t.parquet", "y"), ("fit", "t.parquet", "y", "-o", "t.likely")):
        run(*command).refused("Row 18", "'body'", "UTF-8")
        run(*command, "--replace-invalid").done()
    run("explain", "t.likely", "--row", 18, "t.parquet").refused("UTF-8", "--replace-invalid")
    told = run("explain", "t.likely", "--row", 18, "t.parquet", "--replace-invalid").done().out
    assert "prize" in told and "\N{REPLACEMENT CHARACTER}" in told
    run("fit", "t.parquet", "y", "-o", "d.likely", "--replace-invalid", "--set", 'text={model="multinomial"}').done()
    for command in (
        ("decide", "d.likely", "t.parquet", "-o", "d.csv"),
        ("score", "t.parquet", "--model", "d.likely"),
        ("ask", "d.likely", "--row", 18, "t.parquet"),
    ):
        run(*command).refused("Row 18", "UTF-8", "--replace-invalid")
        run(*command, "--replace-invalid").done()


def test_every_learner_that_leaves_text_out_says_so(run, write) -> None:
    write("mails.csv", mails())
    sentence = "'body' is free text, which only NaiveBayes and TextLogistic can use"
    members = 'members=["NaiveBayes", {name="NaiveBayes", pseudo_count=0.5}]'
    for learner in (("TreeAugmented",), ("Neighbors",), *((m, "--set", members) for m in ("Mixture", "Gibbs"))):
        told = run("fit", "mails.csv", "label", "-o", "m.likely", "--learner", *learner).done().err
        assert told.count(sentence) == 1, learner
        assert run("show", "m.likely").done().out.count(sentence) == 1, learner
    told = run("compare", "mails.csv", "label", "--learner", "TreeAugmented", "--learner", "Prior").done().out
    assert told.count(f"{sentence}; the others leave it out.") == 1


def test_what_folds_chose_is_told_once(run, write) -> None:
    write("mails.csv", mails())
    told = run("look", "mails.csv", "label").done().out
    assert told.count("chosen by log loss on held-out rows") == 1


def test_decisions_about_texts(run, write) -> None:
    """Texts are asked about, averaged over and compared where that makes sense; else a sentence says why not."""
    write("mails.csv", mails())
    run("fit", "mails.csv", "label", "-o", "m.likely", "--set", 'text={model="multinomial"}').done()
    told = run("ask", "m.likely").done().out
    assert "What 'body' is worth cannot be computed: it is free text." in told
    assert "'body'" not in run("ask", "m.likely", "body=win a prize").done().out
    told = run("decide", "m.likely", "mails.csv", "--missing-by", "averaged", "-o", "d.csv").done().err
    assert "What a text may say is not averaged over: 'body' left out where missing." in told
    run("decide", "m.likely", "mails.csv", "--unlike", "0.01").refused("'body' is free text", "unlike")
