"""likely doctor: what it names, names that are data, exit codes, bad input."""

from __future__ import annotations

import json
import random

import pytest


@pytest.fixture
def ugly(write) -> str:
    """A table in which everything is wrong, under names that a shell, CSV and rich's markup stumble over."""
    chance = random.Random(0)
    lines = ['"a=b, c","again ""q""",[bold]leak,gaps <b>,one,täg,noise,tar get']
    for k in range(400):
        y = "[red]" if k < 200 else "ja 'so'"
        a = chance.choice(["x", "[/]", "<script>"])
        leak = "p" if y == "[red]" else "q"
        gap = "" if y == "[red]" and chance.random() < 0.7 else f"{chance.random():.3f}"
        lines.append(f'"{a}","{a}!",{leak},{gap},same,2024-01-{k // 14 + 1:02d},{chance.gauss(0, 1):.3f},"{y}"')
    lines += lines[-3:]
    lines.append(lines[-1].replace("ja 'so'", "[red]"))
    write("ugly.csv", "\n".join(lines) + "\n")
    return "ugly.csv"


def test_everything_is_named(run, ugly) -> None:
    out = run("doctor", ugly, "tar get").done().out
    assert "'[bold]leak' alone nearly determines 'tar get'" in out
    assert "Whether 'gaps <b>' is missing carries" in out and "of the rows of class '[red]'" in out
    assert "The position of a row in the table carries" in out and "sorted by class" in out
    assert "'again \"q\"' is 'a=b, c' under other names" in out
    assert "'one' has a single value (or none) and carries no information." in out
    assert "The date 'täg' carries" in out
    assert "6 of 404 rows (1.5 %) equal another row in all attributes and class" in out
    assert "3 of 404 rows (0.74 %) equal a row of another class" in out
    assert "1 attribute has no relation to 'tar get'" not in out or "'noise'" in out
    assert "404  [red]" in out, "the row that was given another class"


def test_json_and_exit_codes(run, ugly, write) -> None:
    done = run("doctor", ugly, "tar get", "--json", "--suspects", "1", "--seed", "3", "--learner", "NaiveBayes")
    record = json.loads(done.done().out)
    assert record["suspects"][0]["row"] == 404 and record["suspects"][0]["label"] == "[red]"
    assert len(record["suspects"]) == 1 and record["seed"] == 3 and record["twins"]["examples"][0]["other"] == 404
    assert {"leak", "missing", "order", "copy", "constant"} <= {f["kind"] for f in record["findings"]}
    failed = run("doctor", ugly, "tar get", "--fail", "--learner", "NaiveBayes")
    assert failed.code == 1 and "Warning" in failed.out
    rng = random.Random(1)
    rows = [f"{rng.gauss(0, 1):.5f},{rng.choice('pq')}" for _ in range(60)]
    write("fine.csv", "x,y\n" + "\n".join(rows) + "\n")
    fine = run("doctor", "fine.csv", "y", "--fail").done()
    assert "No problems found" in fine.out


def test_all_shows_every_attribute(run, ugly) -> None:
    out = run("doctor", ugly, "tar get", "--all", "--learner", "NaiveBayes").done().out
    assert "How each attribute relates to the class" in out and "judged by naive Bayes trained without them" in out
    assert "not significant" in out


def test_texts_and_few_rows(run, write, examples) -> None:
    assert "play in weather.csv: 14 rows" in run("doctor", str(examples / "weather.csv"), "play").done().out
    rows = [f'"some {w} words about it, and number {k}",{w}' for k in range(40) for w in ("good", "bad")]
    write("text.csv", "note,y\n" + "\n".join(rows) + "\n")
    assert "The word 'good' alone nearly determines" in run("doctor", "text.csv", "y").done().out
    write("two.csv", "x,y\n1,a\n2,b\n")
    assert "2 rows" in run("doctor", "two.csv", "y").done().out
    write("none.csv", "y\na\nb\na\nb\n")
    assert "0 attributes" in run("doctor", "none.csv", "y").done().out


def test_bad_input(run, ugly, write) -> None:
    run("doctor", ugly, "targ").refused("Did you mean 'tar get'?")
    run("doctor", ugly).refused("TARGET")
    run("doctor", ugly, "one").refused("same class 'same'")
    run("doctor", ugly, "tar get", "--suspects", "-1").refused("suspects")
    run("doctor", "no.csv", "y").refused("no.csv")
    run("doctor", ugly, "tar get", "--learner", "Nobody").refused("Nobody")
