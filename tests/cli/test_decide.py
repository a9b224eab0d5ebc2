"""likely decide, likely ask, and losses on other commands: tables, JSON, ugly names, and a sentence for bad input."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import run_here as run

LOSS = """\
abstain = "2/5"
[no]
"go [red]" = 5
[yes]
"stay = home" = 1
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: Any, examples: Path) -> Path:
    folder: Path = tmp_path_factory.mktemp("decide")
    (folder / "loss.toml").write_text(LOSS, encoding="utf-8")
    for name, more in (("plain", []), ("priced", ["--loss", folder / "loss.toml"])):
        done = run("fit", examples / "weather_mixed.csv", "play", "-o", folder / f"{name}.likely", *more)
        assert done.code == 0, done.err
    done = run("fit", examples / "weather.csv", "play", "--learner", "Logistic", "-o", folder / "logistic.likely")
    assert done.code == 0, done.err
    return folder


def table_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_action_losses_and_margin_of_every_row(place: Path, examples: Path) -> None:
    data = examples / "weather_mixed.csv"
    done = run("decide", place / "plain.likely", data, "--loss", place / "loss.toml", "--keep")
    assert done.code == 0 and done.err == ""
    rows = table_of(done.out)
    assert len(rows) == 14
    for row in rows:
        costs = {a: float(row[f"loss({a})"]) for a in ("go [red]", "stay = home", "don't know")}
        best, second = sorted(costs.values())[:2]
        assert row["action"] == min(costs, key=costs.__getitem__)
        assert costs["don't know"] == pytest.approx(0.4) and float(row["margin"]) == pytest.approx(second - best)
        assert costs["go [red]"] / 5 + costs["stay = home"] == pytest.approx(1)
    assert run("decide", place / "priced.likely", data, "--keep").out == done.out  # the model's own loss


def test_without_a_loss_it_names_the_most_probable_class(place: Path, examples: Path) -> None:
    data = examples / "weather_mixed.csv"
    decided, predicted = run("decide", place / "plain.likely", data), run("predict", place / "plain.likely", data)
    named = [r["prediction"] for r in table_of(predicted.out)]
    assert [r["action"] for r in table_of(decided.out)] == named
    by_map = run("decide", place / "priced.likely", data, "--rule", "map")
    assert [r["action"] for r in table_of(by_map.out)] == named


def test_old_and_new_prior_are_shown(place: Path, examples: Path) -> None:
    data = examples / "weather_mixed.csv"
    done = run("decide", place / "plain.likely", data, "--prior", "no=0.008")
    assert "no 0.3571 → 0.008, yes 0.6429 → 0.992" in done.err
    same = run("decide", place / "plain.likely", data, "--prior", f"no={5 / 14!r}")
    assert same.err == "" and same.out == run("decide", place / "plain.likely", data).out
    ml = run("decide", place / "plain.likely", data, "--rule", "ml")
    assert "divided out" in ml.err
    assert ml.out == run("decide", place / "plain.likely", data, "--prior", "uniform").out


def test_json_has_everything(place: Path, examples: Path, tmp_path: Path) -> None:
    data = examples / "weather_mixed.csv"
    done = run("decide", place / "priced.likely", data, "--json", "--prior", "yes=0.9")
    found = json.loads(done.out)
    assert found["actions"] == ["go [red]", "stay = home", "don't know"]
    assert found["loss"]["no"] == {"go [red]": 5, "stay = home": 0, "don't know": 0.4}
    assert found["prior"]["model"]["yes"] == pytest.approx(9 / 14)
    assert found["prior"]["decided_by"]["yes"] == 0.9
    assert found["count"] == len(found["rows"]) == sum(found["chosen"].values()) == 14
    assert found["rows"][0].keys() == {"action", "expected_loss", "margin", "reason"}
    both = run("decide", place / "priced.likely", data, "--json", "-o", tmp_path / "o.csv")
    assert "rows" not in json.loads(both.out) and len(table_of((tmp_path / "o.csv").read_text())) == 14
    (tmp_path / "none.csv").write_text("outlook\n")
    assert json.loads(run("decide", place / "priced.likely", tmp_path / "none.csv", "--json").out)["count"] == 0


def test_none_of_these(place: Path, examples: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("outlook,temperature,humidity\nsunny,75,80\nsunny,7500,80\n,75,\n")
    for more, told in (
        (["--training", examples / "weather_mixed.csv"], "14 rows of training"),
        (["--seed", 3], "10,000 rows drawn from the model (seed 3)"),
    ):
        done = run("decide", place / "plain.likely", tmp_path / "rows.csv", "--unlike", "0.001", *more)
        assert told in done.err, done.err
        assert [r["action"] == "none of these" for r in table_of(done.out)] == [False, True, False]
        assert table_of(done.out)[1]["reason"] == "unlike the training rows"


def test_missing_three_ways(place: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("outlook,windy\nsunny,\n,true\n")
    found = {}
    for way in ("left-out", "averaged", "informative"):
        done = run("decide", place / "plain.likely", tmp_path / "rows.csv", "--missing-by", way)
        assert done.code == 0, done.err
        assert ("averaged over their values" in done.err) == (way == "averaged")
        found[way] = done.out
    assert len(set(found.values())) == 3
    assert found["left-out"] == run("decide", place / "plain.likely", tmp_path / "rows.csv").out


def test_what_to_ask_next(place: Path, examples: Path) -> None:
    done = run("ask", place / "priced.likely", "outlook=sunny", "windy=true")
    assert done.code == 0 and "Best action now: stay = home" in done.out
    lines = [line.split()[0] for line in done.out.splitlines() if "integrated" in line]
    assert sorted(lines) == ["humidity", "temperature"]
    found = json.loads(run("ask", place / "priced.likely", "outlook=sunny", "--json").out)
    drops = [q["drop"] for q in found["questions"]]
    assert len(drops) == 3 and drops == sorted(drops, reverse=True) and min(drops) >= 0
    row = run("ask", place / "priced.likely", "--row", 3, examples / "weather_mixed.csv")
    assert "Nothing is missing" in row.out


def test_ugly_names(tmp_path: Path) -> None:
    rows = "a=b,[red] \"x\",é\nu v,,yes=1\nu v,1.5,yes=1\nq,2.5,[no]\nq,,[no]\n'w',3.5,yes=1\n"
    text = rows.replace('[red] "x"', '"[red] ""x"""')
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    (tmp_path / "loss.toml").write_text('["yes=1"]\n"=" = 3\n["[no]"]\n"[bold]a,b" = 1\n', encoding="utf-8")
    model = tmp_path / "m.likely"
    assert run("fit", tmp_path / "t.csv", "é", "-o", model, "--type", '[red] "x"=number').code == 0
    done = run("decide", model, tmp_path / "t.csv", "--loss", tmp_path / "loss.toml", "--prior", "yes=1=0.25")
    assert done.code == 0 and list(table_of(done.out)[0])[1:3] == ["loss(=)", "loss([bold]a,b)"]
    assert "yes=1 0.6 → 0.25" in done.err
    asked = run("ask", model, "a=b=u v", "--loss", tmp_path / "loss.toml")
    assert asked.code == 0 and '[red] "x"' in asked.out, asked.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--loss", "{place}/nothing.toml"], "Cannot read"),
        (["--loss", "{place}/plain.likely"], "Cannot read"),
        (["--loss", "{bad}/broken.toml"], "is not TOML"),
        (["--loss", "{bad}/one.toml"], "names only the action 'x'"),
        (["--loss", "{bad}/nan.toml"], "finite number"),
        (["--loss", "{bad}/other.toml"], "so what an action costs there is not known. Did you mean 'noo'?"),
        (["--prior", "no=0.5", "--prior", "yes=0.4"], "which is 0.1 too little"),
        (["--prior", "no=-0.5"], "between 0 and 1"),
        (["--prior", "no=nan"], "between 0 and 1"),
        (["--prior", "nope=0.5"], "'nope', which is not a class"),
        (["--prior", "no=0.5", "--prior", "no=0.4"], "twice"),
        (["--prior", "no"], "no equals sign"),
        (["--unlike", "7"], "between 0 and 1"),
        (["--training", "x.csv"], "unlike"),
        (["--rule", "map", "--loss", "{place}/loss.toml"], "Leave the loss out"),
        (["--rule", "best"], "Invalid value"),
    ],
)
def test_bad_input_is_a_sentence(place: Path, examples: Path, tmp_path: Path, arguments: list[str], words: str) -> None:
    pages = {
        "broken": "[no\n",
        "one": "[no]\nx = 1\n[yes]\n",
        "nan": "[no]\nx = nan\ny = 1\n[yes]\n",
        "other": "[noo]\nx = 1\ny = 2\n[yes]\n",
    }
    for name, text in pages.items():
        (tmp_path / f"{name}.toml").write_text(text)
    given = [a.format(place=place, bad=tmp_path) for a in arguments]
    done = run("decide", place / "plain.likely", examples / "weather_mixed.csv", *given)
    assert done.code == 2 and words in done.err and "Traceback" not in done.err, done.err
    assert done.out == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ask", "{place}/plain.likely", "outlok=sunny"], "Did you mean 'outlook'?"),
        (["ask", "{place}/plain.likely", "sunny"], "no equals sign"),
        (["ask", "{place}/plain.likely", "humidity=wet"], "'wet' is none"),
        (["ask", "{place}/plain.likely", "outlook=sunny", "outlook=rainy"], "twice"),
        (["ask", "{place}/plain.likely", "--row", "99", "{examples}/weather_mixed.csv"], "no row 99"),
        (["ask", "{place}/plain.likely", "--row", "2"], "--row N needs one table"),
        (["decide", "{place}/logistic.likely", "{examples}/weather.csv", "--unlike", "0.1"], "not P(row)"),
        (
            ["decide", "{place}/logistic.likely", "{examples}/weather.csv", "--missing-by", "informative"],
            "must see the rows",
        ),
        (["decide", "{place}/none.likely", "{examples}/weather.csv"], "Cannot read"),
        (["look", "{examples}/iris.csv", "species", "--loss", "{place}/loss.toml"], "does not name the class"),
        (["fit", "{examples}/iris.csv", "species", "-o", "{place}/x.likely", "--loss", "{place}/loss.toml"], "name"),
    ],
)
def test_bad_questions_are_sentences(place: Path, examples: Path, arguments: list[str], words: str) -> None:
    done = run(*(a.format(place=place, examples=examples) for a in arguments))
    assert done.code == 2 and words in done.err and "Traceback" not in done.err, done.err


def test_look_reports_what_deciding_costs(place: Path, examples: Path) -> None:
    data = examples / "weather_mixed.csv"
    done = run("look", data, "play", "--no-page", "--loss", place / "loss.toml")
    assert done.code == 0 and "expected loss, a row" in done.out and "accuracy" not in done.out
    assert "always choosing don't know would cost 0.4" in done.out
    found = json.loads(run("look", data, "play", "--loss", place / "loss.toml", "--json").out)["decisions"]
    costs = {"no": (5, 0, 0.4), "yes": (0, 1, 0.4)}
    spent = sum(
        w * c for row, name in zip(found["table"], costs, strict=True) for w, c in zip(row, costs[name], strict=True)
    )
    assert found["mean"] == pytest.approx(spent / 14)
    assert found["constant"] == "don't know" and found["constant_mean"] == 0.4
    assert json.loads(run("look", data, "play", "--json").out)["decisions"] is None


def test_the_spec_has_the_loss(place: Path, examples: Path, tmp_path: Path) -> None:
    spec = run("show", place / "priced.likely", "--spec").out
    assert '[loss.no]\n"go [red]" = 5' in spec and 'abstain = "2/5"' in spec
    (tmp_path / "s.toml").write_text(spec, encoding="utf-8")
    data = examples / "weather_mixed.csv"
    assert run("fit", data, "--spec", tmp_path / "s.toml", "-o", tmp_path / "m.likely").code == 0
    assert run("decide", tmp_path / "m.likely", data).out == run("decide", place / "priced.likely", data).out
    twice = run("fit", data, "--spec", tmp_path / "s.toml", "--loss", place / "loss.toml", "-o", tmp_path / "n.likely")
    assert twice.code == 2 and "Leave --loss out" in twice.err
    done = run("diff", place / "plain.likely", place / "priced.likely")
    assert "loss.no.go [red]" in done.out and "loss.don't know" in done.out
