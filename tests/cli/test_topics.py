"""likely how: a concept as textbooks call it leads to the setting, the command, the Python and the chapter."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize(
    ("topic", "asked"),
    [
        ("m-estimate", "--m-estimate"),
        ("Laplace", "--pseudo-count"),
        ("level weights", "--level-weights"),
        ("bandwidth", "--bandwidth"),
        ("word model", "--text KIND"),
        ("kNN", "--learner Neighbors"),
        ("training error", "--training"),
        ("outliers", "--lowest"),
        ("hyperplane", "--between"),
        ("joint table", "likely joint"),
        ("full Bayes", "--learner FullBayes"),
    ],
)
def test_a_concept_is_found(run, topic: str, asked: str) -> None:
    assert asked in json.loads(run("how", topic, "--json").done().out)["topics"][0]["command"]


def test_what_it_prints(run) -> None:
    out = run("how", "m-estimate").done().out
    assert "  likely.NaiveBayes(m_estimate=…)" in out and "level_weights of NaiveBayes" in out
    assert "The course has it in chapter 9, Estimating" in run("how", "laplace").done().out
    found = json.loads(run("how", "full", "Bayes", "--json").done().out)
    assert found["topics"][0]["python"] == "likely.FullBayes()" and found["chapter"].endswith("likely course 6")
    run("how", "xyzzy").refused("xyzzy")
    run("how", "…").refused("no word")


def test_every_place_can_be_asked_for(run) -> None:
    """No entry names an option that its command does not have."""
    for topic in ("pseudo count", "bins", "prior", "weights", "seed"):
        for found in json.loads(run("how", topic, "--json").done().out)["topics"]:
            words = found["command"].split()
            help_of = run(words[1], "--help").done().out
            assert all(
                word in help_of for word in words if word.startswith("--") and word not in ("--set", "--help")
            ), found
