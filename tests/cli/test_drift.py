"""likely diff of two tables: what it says, exit codes for pipelines, names that are data."""

from __future__ import annotations

import json
import random

import pytest

NASTY = "sky = [red]"


def month(seed: int, rows: int, later: bool = False) -> str:
    chance = random.Random(seed)
    lines = [f'{NASTY},"wind, ""m/s""",tar get']
    for _ in range(rows):
        y = "ja [b]" if chance.random() < (0.8 if later else 0.5) else "nein"
        sky = chance.choice(["sun", "<script>"] + (["[/] fög"] if later else ["snow"]))
        wind = "" if later and chance.random() < 0.3 else f"{chance.gauss(5, 1):.2f}"
        lines.append(f"{sky},{wind},{y}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def months(write) -> None:
    write("jan.csv", month(0, 400))
    write("jan2.csv", month(1, 300))
    write("feb.csv", month(2, 350, True))


def test_what_changed(run, months) -> None:
    out = run("diff", "jan.csv", "feb.csv", "--target", "tar get").done().out
    assert out.startswith("jan.csv: 400 rows. feb.csv: 350 rows.\nChanged: the class frequencies, 2 of 2 attributes.")
    assert "new: [/] fög; gone: snow" in out and NASTY in out and "missing 0.0 % → " in out and 'wind, "m/s"' in out
    assert "ja [b]" in out and "p < 0.001" in out and "given the class" in out
    plain = run("diff", "jan.csv", "feb.csv").done().out
    assert "3 of 3 attributes" in plain and "given the class" not in plain
    same = run("diff", "jan.csv", "jan2.csv", "--target", "tar get").done().out
    assert "No significant change." in same
    assert NASTY in run("diff", "jan.csv", "jan2.csv", "--all").done().out


def test_exit_codes_and_json(run, months) -> None:
    assert run("diff", "jan.csv", "feb.csv", "--fail").code == 1
    assert run("diff", "jan.csv", "jan2.csv", "--fail", "--target", "tar get").code == 0
    failed = run("diff", "jan.csv", "feb.csv", "--fail", "--json", "--target", "tar get")
    assert failed.code == 1 and json.loads(failed.out)["changed"] is True
    loose = run("diff", "jan.csv", "jan2.csv", "--fail", "--chance", "0.99")
    assert loose.code in (0, 1)


def test_models_and_standard_input(run, months) -> None:
    run("fit", "jan.csv", "tar get", "--learner", "NaiveBayes", "-o", "jan.likely").done()
    against = json.loads(run("diff", "jan.likely", "feb.csv", "--json").done().out)
    assert against["target"] == "tar get" and against["changed"]
    run("fit", "feb.csv", "tar get", "--schema", "jan.likely", "--learner", "NaiveBayes", "-o", "feb.likely").done()
    assert run("diff", "jan.likely", "feb.likely", "--fail").code == 1
    assert run("diff", "jan.likely", "jan.likely", "--fail").code == 0
    piped = run("diff", "jan.csv", "-", "--target", "tar get", stdin=month(2, 350, True).encode()).done().out
    assert "standard input: 350 rows" in piped


def test_columns_that_only_one_has(run, months, write) -> None:
    write(
        "more.csv",
        month(3, 300).replace("tar get", "tar get,<i>new", 1).replace("\n", ",1\n").replace("<i>new,1", "<i>new", 1),
    )
    out = run("diff", "jan.csv", "more.csv", "--target", "tar get").done().out
    assert "Only more.csv has <i>new." in out and "the columns (1 remark below)" in out
    write("blind.csv", "\n".join(line.rsplit(",", 1)[0] for line in month(3, 300).splitlines()) + "\n")
    out = run("diff", "jan.csv", "blind.csv", "--target", "tar get").done().out
    assert "blind.csv has no column 'tar get'" in out and "not compared" in out


def test_bad_input(run, months, write) -> None:
    run("diff", "jan.csv", "feb.csv", "--target", "targ").refused("Did you mean 'tar get'?")
    run("diff", "jan.csv", "no.csv").refused("no.csv")
    run("diff", "jan.csv", "feb.csv", "--chance", "2").refused("chance is")
    run("diff", "jan.csv", "feb.csv", "--grown").refused("--grown")
    write("empty.csv", "a,b\n")
    run("diff", "jan.csv", "empty.csv").refused("no rows")
    run("fit", "jan.csv", "tar get", "--learner", "NaiveBayes", "-o", "jan.likely").done()
    run("diff", "jan.likely", "feb.csv", "--target", "tar get").refused("Leave --target out")
    for words in (["--target", "tar get"], ["--dates", "parts"], ["--least-count", "2"], ["--word-pairs"]):
        run("diff", "jan.likely", "jan.likely", *words).refused("are for tables")
