"""likely explain: rows by hand and by number, all that can be asked of them, and a sentence for what cannot."""

from __future__ import annotations

import json

import pytest

import likely

NASTY = ("a=b", "b", "quo'te", "[red]", "中文", "new\nline", "x\x1b[31m", "--all")


@pytest.fixture
def model(examples, run) -> str:
    run("fit", examples / "weather.csv", "play", "--pseudo-count", 0, "-o", "w.likely").done()
    return "w.likely"


def test_by_hand(model, run) -> None:
    row = ("outlook=sunny", "temperature=cool", "humidity=high", "windy=true")
    told = run("explain", model, *row, "--working", "--counterfactual").done().out
    assert told.startswith("play is no (79.5 %); yes: 20.5 %.")
    assert "9/14 × 2/9 × 3/9 × 3/9 × 3/9 = 1/189 = 0.005291" in told
    assert "outlook=overcast instead of sunny" in told
    # The working alone: no ledger, and nothing after it; with --all it comes after the evidence.
    alone = run("explain", model, *row, "--working").done().out
    assert "speaks for" not in alone and alone.rstrip().endswith("P(no) = 0.7954, P(yes) = 0.2046: no")
    told = run("explain", model, *row, "--working", "--all").done().out
    assert told.index("speaks for no: 2.7 times as likely") < told.index("= 1/189 = 0.005291")
    assert run("explain", model, *row, encoding="ascii").done().out.isascii()
    found = json.loads(run("explain", model, *row, "--json", "--unit", "decibans", "--class", "yes").done().out)
    assert found["class"] == "yes" and found["against"] == "no" and found["unit"] == "decibans"
    assert found["entries"][1]["evidence"] == pytest.approx(-4.3136, abs=1e-4)
    assert "counterfactual" not in found and "working" not in found


def test_a_row_of_a_table(model, run, examples) -> None:
    told = run("explain", model, "--row", 3, examples / "weather.csv", "--json", "--counterfactual", "--working").done()
    found = json.loads(told.out)
    assert found["prediction"] == "yes" and found["posterior"] == {"no": 0.0, "yes": 1.0}
    assert found["entries"][1]["impossible"] == ["no"] and found["entries"][1]["evidence"] is None
    assert found["counterfactual"]["exact"] and found["working"]["lines"][0].startswith("L(class)")
    run("explain", model, "--row", 15, examples / "weather.csv").refused("14 rows", "no row 15")
    run("explain", model, "--row", 0, examples / "weather.csv").refused("--row")
    run("explain", model, "--row", 1).refused("needs one table")
    run("explain", model, examples / "weather.csv").refused("--row N")


def test_changes(model, run, write) -> None:
    row = ("outlook=sunny", "humidity=high", "windy=true")
    told = run("explain", model, *row, "--change", "windy,humidity", "--towards", "yes").done().out
    assert "humidity=normal instead of high" in told and "outlook=overcast" not in told
    write("loss.toml", "abstain = 0.2\n[yes]\nstay = 1\n[no]\ngo = 1\n")
    told = run("explain", model, *row, "--counterfactual", "--loss", "loss.toml").done().out
    assert "Now the decision is stay" in told or "Now the decision is don't know" in told
    run("explain", model, *row, "--loss", "loss.toml").refused("--counterfactual")
    run("explain", model, *row, "--towards", "maybe").refused("maybe")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("outlok=sunny",), ("Did you mean 'outlook'?",)),
        (("outlook",), ("no equals sign",)),
        (("outlook=sunny", "outlook=rainy"), ("twice",)),
        (("outlook=sunny", "--class", "ye"), ("Did you mean 'yes'?",)),
        (("outlook=sunny", "--unit", "bit"), ("--unit",)),
        (("outlook=sunny", "--change", "windi"), ("Did you mean 'windy'?",)),
        (("outlook=sunny", "--counterfactual", "--loss", "none.toml"), ("none.toml",)),
    ],
)
def test_bad_input(model, run, arguments, words) -> None:
    run("explain", model, *arguments).refused(*words)


def test_a_word_for_a_number(run, examples) -> None:
    run("fit", examples / "weather_mixed.csv", "play", "-o", "m.likely").done()
    run("explain", "m.likely", "temperature=hot").refused("'temperature' is a number", "'hot'")
    assert "temperature=70" in run("explain", "m.likely", "temperature=70").done().out


def test_names_and_levels_are_data(run, write) -> None:
    rows = [NASTY, *(tuple(NASTY[(k + j) % 3] for j in range(len(NASTY))) for k in range(12))]
    text = "\n".join(
        ",".join('"' + c.replace('"', '""') + '"' for c in (*row, "t" if not k else "ye=s" if k % 2 else "[no]"))
        for k, row in enumerate(rows)
    )
    write("n.csv", text + "\n")
    run("fit", "n.csv", "t", "-o", "n.likely").done()
    given = [f"{name}={NASTY[0]}" for name in NASTY]
    told = run("explain", "n.likely", "--counterfactual", "--all", "--", *given).done().out
    assert "a=b=a=b" in told and "[red]=a=b" in told and "--all=a=b" in told and "\\x1b[31m" in told
    found = json.loads(run("explain", "n.likely", "--json", "--class", "ye=s", "--", *given).done().out)
    assert {e["name"] for e in found["entries"]} == {"", *NASTY}
    assert all(e["state"] == "known" for e in found["entries"])


def test_a_model_that_is_no_sum(run, examples) -> None:
    run("fit", examples / "iris.csv", "species", "--learner", "FullBayes", "-o", "f.likely").done()
    told = run("explain", "f.likely", "--row", 71, examples / "iris.csv", "--working", "--all").done().out
    assert "the mean over all orders" in told and "not a sum over attributes" in told and "determinant |S|" in told
    run("fit", examples / "iris.csv", "--learner", "Density", "-o", "d.likely").done()
    run("explain", "d.likely", "--row", 71, examples / "iris.csv").refused("density")


def test_what_no_interval_can_be_given_for_is_said(run, examples) -> None:
    run("fit", examples / "weather.csv", "play", "--learner", "FullBayes", "-o", "m.likely").done()
    told = run("explain", "m.likely", "outlook=sunny").done().out
    assert "FullBayes does not keep what an interval needs; " in told and "likely fit --judge" in told
    assert json.loads(run("explain", "m.likely", "outlook=sunny", "--json").done().out)["sureness"] is None
    for learner in (("Logistic",), ("FullBayes", "--judge")):  # one sees rows anyway, the other is asked to
        run("fit", examples / "weather.csv", "play", "--learner", *learner, "-o", "m.likely").done()
        assert "Of held-out rows answered like this" in run("explain", "m.likely", "outlook=sunny").done().out


def test_a_word_among_levels_that_are_numbers_is_refused(run, write) -> None:
    """It was dropped without a word: a column of few whole numbers is nominal, but its cells are numbers."""
    data = write("t.csv", "a,y\n" + "1,p\n2,q\n3,p\n1,q\n" * 10)
    run("fit", data, "y", "-o", "m.likely").done()
    run("explain", "m.likely", "a=x").refused("'a' is a number, and 'x' is none")
    assert "Training did not have" in run("explain", "m.likely", "a=7").done().out
    run("explain", "m.likely", "a=?").done()


def test_why_a_row_has_no_answer(run, write, examples, tmp_path) -> None:
    """The reason is that of the model: empty cells of a joint table, or duels that no class wins."""
    run("fit", examples / "people.csv", "sex", "--learner", "FullBayes", "--set", "pseudo_count=0", "-o", "f.likely")
    told = run("explain", "f.likely", "height=t", "weight=l", "long_hair=y").done().out
    assert "f by these values together; m by these values together" in told and "by the prior" not in told
    # Three classes around a triangle: each beats one and loses to the other.
    places = {"A": [(6, 2), (4, 4), (3, 8), (6, 4)], "B": [(2, 6), (1, 8), (4, 2), (3, 6)], "C": [(8, 6), (1, 2)]}
    rows = [f"{x},{y},{c}" for c, points in places.items() for x, y in points]
    write("cycle.csv", "\n".join(["x,y,c", *rows]) + "\n")
    run("fit", "cycle.csv", "c", "--learner", "LeastSquares", "--set", "mode=pairwise", "-o", "p.likely").done()
    model = likely.load(tmp_path / "p.likely")
    grid = [{"x": x, "y": y} for x in range(-20, 21) for y in range(-20, 21)]
    lost = [row for row, name in zip(grid, model.predict(grid), strict=True) if name is None]
    assert lost, "no duels disagree"
    told = run("explain", "p.likely", *(f"{k}={v}" for k, v in lost[0].items()), "--working").done().out
    assert told.startswith("c: don't know, because no class wins all its duels (votes: A 1, B 1, C 1).")
    assert "Votes: A 1, B 1, C 1." in told and "impossible" not in told and "by the prior" not in told
    told = run("explain", "p.likely", *(f"{k}={v}" for k, v in lost[0].items())).done().out
    assert "each pair of classes is a duel" in told and "cut off" not in told


def test_averages_over_missing_cells_have_no_interval(run, examples) -> None:
    run("fit", examples / "weather.csv", "play", "--learner", "NaiveBayes", "-o", "m.likely").done()
    told = run("explain", "m.likely", "outlook=sunny", "--missing-by", "averaged").done().out
    assert "There is no interval where an answer is averaged over what missing cells may hold." in told
    assert "Only NaiveBayes" not in told
