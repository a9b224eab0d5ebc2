"""Wrappers are transparent: a temperature, weights, another prior or a loss change answers, and nothing else."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import likely
from likely import Model, ask, plot
from likely.apply.decide.missing import average_missing
from likely.apply.decide.priors import with_prior
from likely.machinery.words import signed
from likely.models.naive.product import tempered, weight_product
from likely.models.shapes import graph_of
from likely.portable.describe import portable
from likely.present.charts.planes import graph
from likely.present.document import Document
from likely.present.page.attributes import make_cards
from likely.present.page.writing import whatif
from likely.present.report.model import present_attribute

HEAT = 0.3
ROW = {"outlook": "sunny", "temperature": 66, "windy": True}


def weather(examples: Path, **settings: object) -> Model:
    learner = likely.NaiveBayes(numbers={"humidity": "kernel", "*": "gaussian"}, **settings)  # type: ignore[arg-type]
    return likely.fit(examples / "weather_mixed.csv", "play", learner)


def wrapped(model: Model) -> dict[str, Model]:
    weights = {"outlook": 0.5, "humidity": 2.0}
    return {
        "temperature": tempered(model, HEAT),
        "weights": weight_product(model, weights, replace(model.learner, attribute_weights=weights)),  # type: ignore
        "prior": with_prior(model, {"yes": 0.2}),
        "averaged": average_missing(model),
        "loss": replace(model, loss=likely.Loss({"no": {"go": 9}, "yes": {"stay": 1}})),
    }


@pytest.mark.parametrize("which", ["temperature", "weights", "prior", "averaged", "loss"])
def test_what_is_believed_of_the_columns_stays(examples: Path, which: str) -> None:
    plain = weather(examples)
    model = wrapped(plain)[which]
    assert model.factors == plain.factors
    for column in plain.schema.attributes:
        name = column.name
        assert model.factor_of(name) is plain.factor_of(name)
        assert present_attribute(model, name) == present_attribute(plain, name)
    if which != "prior":
        drawn = [c for m in (plain, model) for c in make_cards(m, ("outlook", "temperature", "humidity"), {})]
        spread = [card.document.headline.__html__() for card in drawn]
        assert spread[:3] == spread[3:] and "<svg" in spread[0]  # how values are spread
        fitted = [beside.tables for card in drawn for beside in card.document.parts if isinstance(beside, Document)]
        assert fitted[:2] == fitted[2:] and len(fitted) == 4  # means and deviations
        # What they say is what this model says, as in its ledger.
        ledger = likely.explain(model, {"outlook": "sunny"}, of="yes")
        (line,) = [row[3].partition(" ")[0] for row in drawn[3].document.tables[0].rows if row[0] == "sunny"]
        prior = likely.explain(model, {}, of="yes").log_odds
        assert ledger.log_odds is not None and prior is not None
        assert line == signed((ledger.log_odds - prior) / math.log(2))
        assert plot(model, attribute="outlook").count(f">{line}<") == 1


@pytest.mark.parametrize("which", ["temperature", "weights", "prior", "loss"])
def test_shape_graph_and_export_remain(examples: Path, which: str) -> None:
    plain = weather(examples)
    model = wrapped(plain)[which]
    shape, own = model.shape(), plain.shape()
    assert shape is not None and own is not None and graph_of(shape) == graph_of(own) == graph(model)
    assert likely.export(model, "python") and portable(model).classes == plain.classes
    assert [e.name for e in likely.explain(model, ROW).entries] == [e.name for e in likely.explain(plain, ROW).entries]
    assert likely.counterfactual(model, ROW).exact
    assert likely.sureness(model, ROW).thinnest() is not None


def test_a_tempered_model_shows_and_asks_what_the_plain_one_does(examples: Path) -> None:
    plain = weather(examples, blocks=(("outlook", "windy"),))
    model = tempered(plain, HEAT)
    assert model.exhibits()[: len(plain.exhibits())] == plain.exhibits()
    assert ask(model, ROW).questions == ask(plain, ROW).questions
    assert model.block_of("windy") is plain.block_of("windy")
    # The plain one says how rows come about: its graph has tables beside it, but the same nodes and links.
    assert graph(model) == graph(plain) and plot(model) != plot(plain)
    assert likely.sureness(model, ROW).matrix.max() < likely.sureness(plain, ROW).matrix.max()


def test_evidence_is_multiplied_by_the_temperature(examples: Path) -> None:
    plain = weather(examples)
    ledgers = [likely.explain(m, ROW) for m in (plain, tempered(plain, HEAT))]
    for one, other in zip(ledgers[0].entries, ledgers[1].entries, strict=True):
        assert (one.log_ratio or 0.0) * HEAT == pytest.approx(other.log_ratio or 0.0)


def test_the_working_of_a_power(examples: Path) -> None:
    plain = weather(examples)
    model = tempered(plain, HEAT)
    steps, own = (m.working(ROW).steps for m in (plain, model))
    assert [s.values for s in own if s.values] == [pytest.approx(s.values) for s in steps if s.values]
    assert own[0].power == HEAT and own[0].heading == "P(class)^0.3"
    text = str(model.working(ROW))
    assert "(9/14)^0.3" in text and "P(outlook=sunny | class)^0.3" in text
    whole = np.array(list(model.working(ROW).products.values()))
    assert np.allclose(whole / whole.sum(), model.posterior(ROW).matrix[0])
    prior = with_prior(plain, {"yes": 0.2})
    assert "1/5" in str(prior.working(ROW))
    assert prior.working(ROW).posterior["yes"] == pytest.approx(prior.posterior(ROW).prob("yes"))


def test_the_what_if_knows_how_rows_come_about(examples: Path) -> None:
    plain = weather(examples)
    found = json.loads(whatif(tempered(plain, HEAT)))
    assert found["prior"] == plain.log_prior.tolist()  # type: ignore[union-attr]
    inner = [term["inner"] for term in found["portable"]["score"]["terms"]]
    assert inner == json.loads(whatif(plain))["portable"]["score"]["terms"]
    assert json.loads(whatif(plain))["prior"] is None


def test_an_attribute_of_a_block_of_a_pool_is_not_said_to_be_left_out(examples) -> None:
    model = likely.fit(examples / "iris.csv", "species", likely.Pool(members=("FullBayes",), weights=(0.7,)))
    told = str(likely.explain(model, {"sepal_length": 6.1, "petal_length": 4.9}))
    assert "sepal_length=6.1" in told and "petal_length=4.9" in told and "left out of the model" not in told
