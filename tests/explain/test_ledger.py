"""The ledger cannot disagree with the prediction: laws over every learner, and worked examples."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models.tables import ASKED, ROWS, TYPES, columns

import likely
from likely.apply.explain.ledger import UNITS, heading, in_unit, lines, sum_ratios
from likely.apply.explain.row import split_assignment
from likely.models.factors.categorical import Categorical
from likely.models.registry import LEARNERS

SETTINGS: dict[str, list[Any]] = {
    "NaiveBayes": [
        likely.NaiveBayes(pseudo_count=0),
        likely.NaiveBayes(numbers="kernel", missing="level", unseen="reserve"),
        likely.NaiveBayes(numbers="binned", pseudo_count=0.5),
        likely.NaiveBayes(blocks=(("a", "b"),)),
    ],
    "Pool": [likely.Pool(("NaiveBayes", "TreeAugmented"), weights=(0.5, 0.7))],
    "Mixture": [likely.Mixture(("NaiveBayes", "Prior"), weights=(0.5, 0.5))],
    "Gibbs": [likely.Gibbs(("NaiveBayes", "Prior"), weights=(0.5, 0.5))],
    "FullBayes": [likely.FullBayes(density="table")],
    "LinearDiscriminant": [likely.LinearDiscriminant()],
    "Density": [likely.Density()],
    "Additive": [likely.Additive(order=1), likely.Additive(least=0), likely.Additive(order="any", least=0)],
    "Forest": [likely.Forest(trees=9, leaves=8)],
    "Auto": [likely.Auto(members=("NaiveBayes", "TreeAugmented", "LinearDiscriminant"), parts=2)],
    "TunedNaiveBayes": [likely.TunedNaiveBayes(parts=2)],
}
ADDITIVE = {"NaiveBayes", "Prior", "LinearDiscriminant", "TreeAugmented", "Logistic", "TunedNaiveBayes", "OneRule"}
ADDITIVE |= {"Additive", "Forest", "TextLogistic"}
CASES = [(name, learner) for name in LEARNERS for learner in SETTINGS.get(name) or [LEARNERS[name]()]]


def learned(name: str, learner: Any, rows: list[dict[str, Any]]) -> likely.Model:
    """The learner on the columns that it takes."""
    without = {"FullBayes": ("w", "x"), "LinearDiscriminant": ("w", "a", "b", "c"), "Density": ("w", "t")}.get(
        name, ("w",)
    )
    data = columns(rows, *without)
    types = {n: kind for n, kind in TYPES.items() if n in data}
    return likely.fit(data, None if name == "Density" else "t", learner, types=types)


@pytest.mark.parametrize(("name", "learner"), CASES, ids=lambda v: v if isinstance(v, str) else "")
@settings(max_examples=25)
@given(rows=ROWS, asked=ASKED, data=st.data())
def test_the_ledger_is_the_prediction(
    name: str, learner: Any, rows: list[dict[str, Any]], asked: list[dict[str, Any]], data: st.DataObject
) -> None:
    try:
        model = learned(name, learner, rows)
    except likely.LikelyError:  # rows without a spread, or too few for this learner
        return
    row = {n: v for n, v in asked[0].items() if n in model.schema.names and model.schema[n].role == "attribute"}
    if model.schema.target is None or len(model.classes) < 2:
        with pytest.raises(likely.LikelyError, match=r"density|only the class"):
            likely.explain(model, row)
        return
    of = data.draw(st.sampled_from([None, *model.classes]))
    against = data.draw(st.sampled_from([None, "rest", *(c for c in model.classes if c != of)]))
    if of is None and model.predict(row) in (None, against):  # a row that no class can have is explained by the first
        against = None
    ledger = likely.explain(model, row, of=of, against=against)
    assert ledger.additive or name not in ADDITIVE

    posterior = model.posterior(row)
    assert list(ledger.posterior.values()) == posterior.matrix[0].tolist() and ledger.best == posterior.best
    (batch,) = model.batches(model.table_of_one(row))
    joint = model.log_joint(batch)[0]
    assert list(ledger.log_joint.values()) == joint.tolist()

    # The entries of each class add up to its score; logistic regression leaves out what is the same for all.
    total = np.zeros(len(model.classes))
    for entry in ledger.entries:
        total = total + np.array(list(entry.log_values.values()))
    # What several attributes say is shared among them, which rounds once more.
    if name in ("NaiveBayes", "Prior") and not getattr(learner, "blocks", ()):
        assert total.tobytes() == joint.tobytes()
    size = 1 + sum(abs(v) for e in ledger.entries for v in e.log_values.values() if math.isfinite(v))
    size += float(np.abs(joint[np.isfinite(joint)]).max(initial=0))  # what all classes share may be far larger
    again = likely.Posterior.of(model.classes, total[None])
    # Doubles of 1e13 are a thousandth apart, and those of 1e16 two: no probability can be told from such scores.
    close = min(1e-12 * size, 1e-3) if size < 1e12 else 1.0
    np.testing.assert_allclose(again.matrix, posterior.matrix, rtol=0, atol=close)

    # What the entries add to the odds is the odds.
    whole = sum_ratios([e.log_ratio for e in ledger.entries])
    assert (whole is None) == (ledger.log_odds is None)
    if whole is not None:
        assert ledger.log_odds is not None
        assert whole == ledger.log_odds or math.isclose(whole, ledger.log_odds, rel_tol=0, abs_tol=1e-12 * size)
        p = ledger.posterior[ledger.of]
        q = 1 - p if ledger.against is None else ledger.posterior[ledger.against]
        if math.isfinite(whole) and model.proper and abs(whole) < 30 and p and q:  # else a third class leaves them none
            # Scores of -1e17 have no digits left for what small terms add: the posterior was rounded from such sums.
            assert math.log(p / q) == pytest.approx(whole, abs=max(1e-6, 1e-12 * size))
    assert "nan" not in str(ledger).replace("nan", "", str(row).count("nan"))
    json.dumps(ledger.to_dict(), allow_nan=False)


@given(rows=ROWS, asked=ASKED, pseudo=st.sampled_from([0, 1]))
@settings(max_examples=60)
def test_steps_against_the_rest_are_the_odds_of_a_row_that_grows(
    rows: list[dict[str, Any]], asked: list[dict[str, Any]], pseudo: float
) -> None:
    model = learned("NaiveBayes", likely.NaiveBayes(pseudo_count=pseudo), rows)
    if len(model.classes) < 3:
        return
    row, of = asked[0], model.classes[0]
    entries = likely.explain(model, row, of=of, against="rest").entries
    for k in range(len(entries)):
        shown = {e.name: row[e.name] for e in entries[1 : k + 1]}
        (batch,) = model.batches(model.table_of_one(shown))
        own, *rest = model.log_joint(batch)[0].tolist()
        others = float(np.logaddexp.reduce(rest))
        found = sum_ratios([e.log_ratio for e in entries[: k + 1]])
        if own == others == -math.inf:
            assert found is None
        elif math.isinf(own) or math.isinf(others):
            assert found == own - others
        else:
            size = 1 + sum(abs(v) for e in entries for v in e.log_values.values() if math.isfinite(v))
            assert found == pytest.approx(own - others, abs=1e-12 * size)


WEATHER = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}


@pytest.fixture
def weather(examples: Path) -> likely.Model:
    return likely.fit(examples / "weather.csv", "play", likely.NaiveBayes(pseudo_count=0))


def test_the_weather_as_ratios(weather: likely.Model) -> None:
    ledger = likely.explain(weather, WEATHER)
    assert (ledger.best, ledger.of, ledger.against) == ("no", "no", "yes")
    ratios = {e.name: math.exp(e.log_ratio) for e in ledger.entries if e.log_ratio is not None}
    expected = {"": 5 / 9, "outlook": 27 / 10, "temperature": 3 / 5, "humidity": 12 / 5, "windy": 9 / 5}
    assert ratios == pytest.approx(expected)
    assert [e.name for e in ledger.ordered] == ["", "outlook", "humidity", "windy", "temperature"]
    assert [e.name for e in likely.explain(weather, WEATHER, order="schema").ordered] == list(expected)
    text = str(ledger)
    assert "outlook=sunny     +1.43" in text and "speaks for no: 2.7 times as likely" in text
    assert "outlook=sunny speaks for no: 1.43 bits, 2.7 times as likely" in [
        e["words"] for e in ledger.to_dict()["entries"]
    ]
    other = likely.explain(weather, WEATHER, of="yes", against="rest", unit="odds")
    assert other.log_odds == pytest.approx(-ledger.log_odds) and other.against == "no"
    assert "× 1.8" in str(other) and "÷ 2.7" in str(other)


def test_units() -> None:
    assert [in_unit(math.log(100), u) for u in UNITS] == pytest.approx([math.log2(100), 20, math.log(100), 100])
    assert in_unit(1e4, "odds") == math.inf


def test_what_is_missing_unseen_impossible(weather: likely.Model) -> None:
    ledger = likely.explain(weather, {"outlook": "overcast", "windy": "tru"})
    states = {e.name: (e.state, e.log_ratio, e.silent) for e in ledger.entries[1:]}
    assert states == {
        "outlook": ("known", math.inf, False),
        "temperature": ("missing", 0.0, True),
        "humidity": ("missing", 0.0, True),
        "windy": ("unseen", 0.0, True),
    }
    text = str(ledger)
    assert "impossible for no" in text and "not in training: left out" in text and "Did you mean 'true'?" in text
    assert "Unknown, so left out: temperature, humidity." in text
    assert ledger.entries[1].impossible == ("no",) and ledger.log_odds == math.inf


def test_a_row_that_no_class_allows() -> None:
    model = likely.fit({"a": ["u", "v"], "t": ["p", "q"], "b": ["x", "y"]}, "t", likely.NaiveBayes(pseudo_count=0))
    ledger = likely.explain(model, {"a": "u", "b": "y"})
    assert ledger.best is None and ledger.log_odds is None
    assert "cannot be predicted" in str(ledger) and "p by b=y; q by a=u" in str(ledger)
    both = likely.explain(model, {"a": "u", "b": "y"}, of="q", against="p")
    assert [e.log_ratio for e in both.entries] == [0.0, -math.inf, math.inf]


@dataclass(frozen=True, eq=False)
class Halved(Categorical):
    """A factor that can tell two halves of its term apart, as a text its words."""

    def parts(self, cells: Any) -> tuple[list[str], np.ndarray]:
        term = np.zeros((1, self.log_table.shape[1]))
        self.add_cells(cells, term)
        return ["one", "two"], np.concatenate([term * 0.25, term * 0.75])


@pytest.mark.parametrize("against", [None, "rest"])
def test_parts_add_up_to_their_entry(examples: Path, against: str | None) -> None:
    model = likely.fit(examples / "iris.csv", "species", likely.NaiveBayes(), types={"petal_width": "nominal"})
    (nominal,) = (f for f in model.factors if isinstance(f, Categorical))
    halved = Halved(**{n: getattr(nominal, n) for n in nominal.__dataclass_fields__})
    factors = tuple(halved if f is nominal else f for f in model.factors)
    model = replace(model, factors=factors, score=replace(model.score, terms=factors))
    ledger = likely.explain(model, examples / "iris.csv", number=71, against=against)
    (entry,) = (e for e in ledger.entries if e.name == "petal_width")
    assert [p.name for p in entry.parts] == ["one", "two"]
    assert sum(p.log_ratio for p in entry.parts) == pytest.approx(entry.log_ratio, abs=1e-12)
    assert len(ledger.to_dict()["entries"][[e.name for e in ledger.ordered].index("petal_width")]["parts"]) == 2
    assert "    one" in str(ledger)


def test_a_row_of_a_table_is_the_row_that_predict_reads(examples: Path) -> None:
    model = likely.fit(examples / "iris.csv", "species", likely.NaiveBayes())
    whole = model.posterior(examples / "iris.csv")
    for number in (1, 71, 150):
        assert (
            list(likely.explain(model, examples / "iris.csv", number=number).posterior.values())
            == whole.matrix[number - 1].tolist()
        )
    with pytest.raises(likely.LikelyError, match="150 rows, so there is no row 151"):
        likely.explain(model, examples / "iris.csv", number=151)
    with pytest.raises(likely.LikelyError, match="more than one row"):
        likely.explain(model, examples / "iris.csv")
    strange = {"sepal_length": ["wide"], "petal_width": [0.2]}
    ledger = likely.explain(model, strange, number=1)
    assert ledger.entries[1].state == "stray" and "not a number, so taken as missing" in str(ledger)


def test_scores_are_called_so(examples: Path) -> None:
    ledger = likely.explain(
        likely.fit(examples / "iris.csv", "species", likely.LeastSquares()), examples / "iris.csv", number=1
    )
    assert not ledger.proper and "a score of" in str(ledger) and "not probabilities" in str(ledger)


@pytest.mark.parametrize(
    ("row", "options", "words"),
    [
        ({"outlok": "sunny"}, {}, "Did you mean 'outlook'"),
        ({}, {"of": "maybe"}, "no class 'maybe'"),
        ({}, {"against": "ye"}, "Did you mean 'yes'"),
        ({}, {"of": "yes", "against": "yes"}, "with itself"),
        ({}, {"unit": "bit"}, "unit"),
        ({}, {"order": "name"}, "order"),
        ({"outlook": "sunny"}, {"number": 3}, "no row 3"),
    ],
)
def test_bad_input(weather: likely.Model, row: dict[str, str], options: dict[str, Any], words: str) -> None:
    with pytest.raises(likely.LikelyError, match=words):
        likely.explain(weather, row, **options)


def test_a_word_for_a_number_is_refused(examples: Path) -> None:
    model = likely.fit(examples / "weather_mixed.csv", "play")
    with pytest.raises(likely.LikelyError, match="'temperature' is a number, and 'hot' is none"):
        likely.explain(model, {"temperature": "hot"})
    assert likely.explain(model, {"temperature": "?"}).entries[2].state == "missing"


def test_names_with_equals_signs() -> None:
    assert split_assignment("a=b=c", ["a=b", "a=b=c"]) == ("a=b", "c")
    assert split_assignment("=x", ["", "y"]) == ("", "x")
    with pytest.raises(likely.LikelyError, match="no equals sign"):
        split_assignment("a", ["a"])


@pytest.mark.parametrize("missing", ["skip", "level"])
@pytest.mark.parametrize("order", [2, "any"])
def test_only_what_is_known_has_a_share(order: Any, missing: Any) -> None:
    """One line for each attribute, whatever it says together with others; what is unknown has no share of pairs."""
    rng = np.random.default_rng(4)
    a, b, c = (rng.integers(0, 3, 600) for _ in range(3))
    gone = rng.random(600) < 0.2
    cells = {"a": [None if g else f"v{k}" for k, g in zip(a, gone, strict=True)],
             "b": [f"v{k}" for k in b], "c": [f"v{k}" for k in c]}  # fmt: skip
    table = {**cells, "t": [f"k{k % 2}" for k in a * b + b * c + a * c * (1 + gone)]}
    model = likely.fit(table, "t", likely.Additive(order=order, missing=missing))
    for row in ({"b": "v1"}, {"a": "v2", "b": "v1"}, {"b": "v1", "c": "never"}, {"a": "v0", "b": "v2", "c": "v1"}, {}):
        ledger = likely.explain(model, row)
        assert sum(e.log_ratio or 0.0 for e in ledger.entries) == pytest.approx(ledger.log_odds, abs=1e-12)
        assert [e.name for e in ledger.entries] == ["", "a", "b", "c"]
        known = {n for n in row if row[n] != "never"} | ({"a"} if missing == "level" else set())
        assert {e.name for e in ledger.entries[1:] if not e.silent} <= known
        for entry in ledger.entries:
            parts = [p.log_ratio or 0.0 for p in entry.parts]
            assert not parts or sum(parts) == pytest.approx(entry.log_ratio, abs=1e-12)
            assert len({p.name for p in entry.parts}) == len(parts)


@pytest.mark.parametrize("unit", ["bits", "decibans", "nats"])
@pytest.mark.parametrize("learner", [likely.NaiveBayes(), likely.Additive(order=3, least=0)])
def test_printed_lines_add_up_to_the_last_digit(unit: Any, learner: Any) -> None:
    """Of ten rounded lines the sum is often off by some hundredths: those cut most are rounded the other way."""
    rows = [{f"c{j}": "pq"[k * (j + 3) % 7 > 2 + j % 3] for j in range(12)} | {"t": "ab"[k % 3 > 0]} for k in range(60)]
    model = likely.fit({name: [row[name] for row in rows] for name in rows[0]}, "t", learner)

    def hundredths(line: tuple[str, ...]) -> int:
        return round(100 * float(line[1] or 0))

    for row in rows[:30]:
        ledger = likely.explain(model, {n: v for n, v in row.items() if n != "t"}, unit=unit)
        for everything in (False, True):
            _, *printed = lines(ledger, everything)
            first = [k for k, line in enumerate(printed) if not line[0].startswith(" ")]
            assert sum(hundredths(printed[k]) for k in first[:-1]) == hundredths(printed[-1]), printed
            for start, end in pairwise(first):
                parts = [line for line in printed[start + 1 : end] if not line[0].startswith("    ")]
                assert not parts or sum(map(hundredths, parts)) == hundredths(printed[start]), printed[start:end]
        exact = {heading(e): ledger.evidence(e) for e in ledger.entries}
        assert all(abs(float(line[1] or 0) - (exact[line[0]] or 0.0)) < 0.01 for line in printed if line[0] in exact)
