"""likely hypotheses: what a page may hold, ugly names, and every bad page refused with a sentence."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

BASE = '[prior]\n"a = b|" = 0.25\n"" = 0.75\n'


def test_ugly_names(run, write) -> None:
    page = BASE + '[attributes."x or y"]\n"a = b|" = {"né\\u0007" = 1}\n"" = {"né\\u0007" = "1/3", "" = "2/3"}\n'
    write("page.toml", page)
    out = run("hypotheses", "page.toml").done().out
    assert "\a" not in out and "infinite" not in out
    found = json.loads(run("hypotheses", "page.toml", "x or y=né\a", "--json").done().out)
    assert found["belief"]["exact"] == {"a = b|": "1/2", "": "1/2"}
    assert run("hypotheses", "page.toml", encoding="ascii").done().out.isascii()


def test_evidence_seen_several_times_and_three_hypotheses(run, write) -> None:
    write(
        "coins.toml",
        '[prior]\nfair = "1/3"\n"two heads" = "1/3"\n'
        '[[evidence]]\nname = "head"\ntimes = 2\nlikelihood = {fair = 0.5, "two heads" = 1, "no head" = 0}\n'
        '[predicts]\nfair = {head = 0.5, tail = 0.5}\n"two heads" = "head"\n"no head" = "tail"\n',
    )
    found = json.loads(run("hypotheses", "coins.toml", "--json").done().out)
    assert found["belief"]["exact"] == {"fair": "1/5", "two heads": "4/5", "no head": "0"}
    assert found["predictions"]["prediction"]["head"]["exact"] == "9/10"
    assert found["likelihood_ratio"] is None and found["break_even"] is None
    out = run("hypotheses", "coins.toml").done().out
    assert "Evidence 2: head" in out and "each believed as after the evidence" in out


def test_a_case_that_no_hypothesis_allows(run, write) -> None:
    write("page.toml", "[prior]\na = 0.5\nb = 0.5\n[attributes]\nx = {a = 0, b = 0}\n")
    assert "impossible" in run("hypotheses", "page.toml").done().out
    run("hypotheses", "page.toml", "x=1").refused("impossible under every hypothesis")


def test_a_prior_alone_and_a_known_table_alone(run, write) -> None:
    write("page.toml", "[prior]\na = 0.5\nb = 0.5\n")
    assert "Most probable: a, 0.5." in run("hypotheses", "page.toml").done().out
    table = "[[table]]\nwhen = {x = 1}\na = 0.2\n[[table]]\nwhen = {x = 0}\na = 0.9\n"
    write("page.toml", "[prior]\na = 0.5\nb = 0.5\n" + table)
    out = run("hypotheses", "page.toml").done().out
    assert "What is known" in out and "0.25" in out
    assert "Known: P(a | x=1) = 0.2" in run("hypotheses", "page.toml", "x=1").done().out


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("", "no [prior]"),
        ("prior = 3", "prior is '3'"),
        ("[prior]\na = 0.5", "sum to 0.5"),
        ("[prior]\na = 0.5\nb = 0.6", "sum to 1.1"),
        ("[prior]\na = 2\nb = -1", "above 1"),
        ("[prior]\na = nan", "finite number"),
        ("[prior]\na = 1\n[priors]\na = 1", "[[priors]]"),
        ("[prior]\na = 1\n[[priors]]\nb = 1", "not a hypothesis"),
        ("[prior]\na = 1\n[predict]\na = 1", "Did you mean 'predicts'?"),
        ("[prior]\na = 0.5\nb = 0.5\n[predicts]\na = 1", "says nothing of the hypothesis 'b'"),
        ("[prior]\na = 1\n[predicts]\na = [1]", "predicts a list"),
        ("[prior]\na = 1\n[predicts]\na = {x = 0.5}", "sum to 0.5"),
        ("[prior]\na = 1\n[[evidence]]\nlikelihood = 1", "Give a value for each"),
        ("[prior]\na = 1\n[[evidence]]\nlike = 1", "has 'like'"),
        ("[prior]\na = 1\n[[evidence]]\nlikelihood = {a = 2}", "above 1"),
        ("[prior]\na = 1\n[[evidence]]\nlikelihood = {a = 0}", "impossible under every"),
        ("[prior]\na = 1\n[[evidence]]\nlikelihood = {a = 1}\ntimes = 0", "times is '0'"),
        ("[prior]\na = 1\n[attributes]\nx = 3", "Give a value for each"),
        ("[prior]\na = 1\n[attributes]\nx = {a = {u = 0.5}}", "sum to 0.5"),
        ("[prior]\na = 0.5\nb = 0.5\n[attributes]\nx = {a = 0.5, b = {u = 1}}", "one or the other"),
        ("[prior]\na = 1\n[row]\nx = 1", "not an attribute"),
        ("[prior]\na = 1\n[attributes]\nx = {a = 0.5}\n[row]\nx = 2", "value of 'x' that is '2'"),
        ("[prior]\na = 1\n[bag]\nseen = {a = 1}", "[bag.given]"),
        ("[prior]\na = 1\n[bag]\nseen = {w = -1}\ngiven = {a = {w = 1}}", "whole number"),
        ("[prior]\na = 1\n[bag]\nseen = {w = 1}\ngiven = {a = {v = 1}}", "probability of the words"),
        ("[prior]\na = 1\n[[table]]\na = 1", "no when"),
        (
            "[prior]\na = 1\n[[table]]\nwhen = {x = 1}\na = 1\n[[table]]\nwhen = {y = 1}\na = 1",
            "attributes of the first",
        ),
        ("[prior]\na = 1\n[[table]]\nwhen = {x = 1}\na = 1\n[[table]]\nwhen = {x = 1}\na = 1", "earlier one"),
        ("[prior]\na = 1\n[[table]]\nwhen = {x = 1, y = 1}\na = 1\n[row]\nx = 1", "[values.y]"),
        ("[prior", "not TOML"),
    ],
)
def test_bad_pages_are_refused(run, write, page: str, words: str) -> None:
    write("page.toml", page)
    run("hypotheses", "page.toml").refused(words)


def test_bad_options_are_refused(run, examples, write) -> None:
    cancer = examples / "cancer.toml"
    run("hypotheses", "none.toml").refused("Cannot read")
    run("hypotheses", cancer, "x=1").refused("not an attribute")
    run("hypotheses", cancer, "x").refused("equals sign")
    run("hypotheses", cancer, "--prior", "flu=0.5").refused("not a hypothesis")
    run("hypotheses", cancer, "--try-prior", "cancer=1.5").refused("above 1")
    run("hypotheses", cancer, "--draws", "5").refused("[predicts]")
    run("hypotheses", examples / "viagra_lottery.toml", "viagra=1", "viagra=0").refused("twice")


def test_the_best_action_in_every_case_and_its_cost(run, write, examples) -> None:
    """Two results of a test, three hypotheses: all posteriors, and Σ over cases of the least expected cost."""
    write(
        "page.toml",
        '[prior]\na = "1/2"\nb = "1/3"\nc = "1/6"\n[attributes]\nt = {a = "1/10", b = "1/2", c = "9/10"}\n',
    )
    costs = [f"{h}:{act}={c}" for act, each in {"go": (0, 3, 12), "stay": (2, 1, 0)}.items()
             for h, c in zip("abc", each, strict=True)]  # fmt: skip
    asked = ["hypotheses", "page.toml", *(word for cost in costs for word in ("--loss", cost))]
    found = json.loads(run(*asked, "--json").done().out)
    prior, ones = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)]
    go, stay = (0, 3, 12), (2, 1, 0)
    cost, actions = Fraction(0), []
    for t in (0, 1):
        joint = [p * (q if t else 1 - q) for p, q in zip(prior, ones, strict=True)]
        each = {"go": sum(p * c for p, c in zip(joint, go, strict=True))}
        each["stay"] = sum(p * c for p, c in zip(joint, stay, strict=True))
        actions.append(min(each, key=each.__getitem__))
        cost += each[actions[-1]]
        exact = [Fraction(v["exact"]) for v in found["cases"][t]["posterior"].values()]
        assert exact == [p / sum(joint) for p in joint]
    assert found["policy"]["actions"] == actions == ["go", "stay"]
    assert Fraction(found["policy"]["cost"]["exact"]) == cost == Fraction(29, 30)
    assert (found["policy"]["blind_action"], found["policy"]["blind_cost"]["exact"]) == ("stay", "4/3")
    out = run(*asked).done().out
    assert "P(a | x)  P(b | x)  P(c | x)  action" in out and "cost = 29/30 ≈ 0.9667 on average" in out
    assert "always stay, which costs 4/3 ≈ 1.333: what is seen is worth 11/30 ≈ 0.3667." in out
    assert run(*asked, "t=1").done().out.count("Least expected loss: stay") == 1
    run("hypotheses", "page.toml", "--loss", "d:go=1").refused("not a hypothesis")
