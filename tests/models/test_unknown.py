"""What is not known adds nothing: of every learner whose terms begin with the prior, on a table of awkward names.

Unknown is a level that training did not have, and a missing cell, unless being missing is evidence: where a learner is
told so (missing="level"). Of attributes that are modelled
together (a block, the tree of TreeAugmented) those that are not known are summed out: the block as a whole adds nothing
only where none of them is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likely
from likely import Model
from likely.models.shapes import PairTable, TreeSum, sum_of

SKY, WIND, COUNT, SAID = 'sky\'s "colour", <b>', "wind, m/s", "n° = [1]; --", "what was 'said'"
TARGET = "to 'play'?"
LEVELS = ["it's", 'a "b"', "new\nline", "ünï ☃", "?!"]
TYPES = {SKY: "nominal", WIND: "number", COUNT: "nominal", "z": "number", TARGET: "nominal"}
NEVER = "never 'seen'"


def training(gaps: float, classes: int = 3, rows: int = 300) -> dict[str, list[Any]]:
    rng = np.random.default_rng(5)
    group = np.minimum(rng.integers(0, classes + 1, rows), classes - 1)  # not all equally frequent
    sky = (group + rng.integers(0, 3, rows)) % len(LEVELS)
    wind, z = 3 * group + 2 * rng.normal(size=rows), np.exp(rng.normal(size=rows)) * (1 + group)
    cells = {
        SKY: [LEVELS[k] for k in sky],
        WIND: wind.round(2).tolist(),
        COUNT: [f"c{k}" for k in (sky + group * rng.integers(0, 2, rows)) % 3],  # depends on the sky
        "z": z.round(2).tolist(),
    }
    gone = rng.random((rows, 4)) < gaps
    out = {n: [None if g else v for v, g in zip(c, gone[:, k], strict=True)] for k, (n, c) in enumerate(cells.items())}
    return {**out, TARGET: [f"class '{k}'" for k in group]}


def with_words(data: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The same with a text, in which each class has words of its own."""
    rng = np.random.default_rng(6)
    own = {name: [f"w{k}x{j}" for j in range(4)] for k, name in enumerate(sorted(set(data[TARGET])))}
    texts = [" ".join([*rng.choice(own[t], 2), *rng.choice(["and", "of", "it"], 3)]) for t in data[TARGET]]
    return {**data, SAID: [None if k % 11 == 0 else text for k, text in enumerate(texts)]}


ALONE: dict[str, Any] = {
    "naive": likely.NaiveBayes(),
    "naive, without smoothing": likely.NaiveBayes(pseudo_count=0),
    "naive, bins": likely.NaiveBayes(numbers="binned"),
    "naive, kernels": likely.NaiveBayes(numbers="kernel"),
    "tuned": likely.TunedNaiveBayes(),
    "one rule": likely.OneRule(),
    "logistic": likely.Logistic(),
    "logistic, squares": likely.Logistic(numbers="squares"),
    "logistic, bins": likely.Logistic(numbers="binned"),
    "logistic, stopped at once": likely.Logistic(max_sweeps=1),
    "additive, 1": likely.Additive(order=1, rounds=40),
    "additive, 2": likely.Additive(order=2, rounds=40),
    "additive, 3": likely.Additive(order=3, rounds=40),
    "additive, any": likely.Additive(order="any", rounds=40),
    "discriminant": likely.LinearDiscriminant(),
    "words": likely.TextLogistic(),
}
"""Each cell has its own term, which is 0 where the cell is unknown; sets of attributes have terms of their own."""
TOGETHER: dict[str, Any] = {
    "tree": likely.TreeAugmented(),
    "blocks": likely.NaiveBayes(blocks=((SKY, COUNT), (WIND, "z"))),
}
"""Unknown cells are summed out of what several say together."""
UNTOLD: dict[str, Any] = {"full": likely.FullBayes(), "one dependence": likely.OneDependence()}
"""Their scores are no sum over attributes; with nothing known they say the prior, too."""


def fitted(name: str, gaps: float = 0.0, classes: int = 3) -> Model:
    learner = {**ALONE, **TOGETHER, **UNTOLD}[name]
    data, types = training(gaps, classes), dict(TYPES)
    if name in ("discriminant", "full"):  # numbers only
        data = {n: data[n] for n in (WIND, "z", TARGET)}
    if name == "words":
        data, types = with_words(data), {**TYPES, SAID: "text"}
    return likely.fit(data, TARGET, learner, types={n: k for n, k in types.items() if n in data})


def prior_of(model: Model) -> Any:
    total = model.summary.total.floats()
    return total / total.sum()


def unknown_cells(model: Model, name: str) -> list[Any]:
    """Cells of an attribute of which nothing is known."""
    if model.schema[name].kind == "text":
        return [None, "", "nobody 'knows' these"]
    return [None, np.nan, np.inf, -np.inf] if model.schema[name].kind == "number" else [None, NEVER]


def spoken(model: Model, row: dict[str, Any]) -> dict[str, Any]:
    """What each attribute or set of attributes says of a row, by its name."""
    (batch,) = model.batches({name: [cell] for name, cell in row.items()})
    terms = model.terms(batch)
    last = 1 + len(terms.lines)
    total = np.zeros(len(model.classes))
    for logs in terms.array[0]:
        total = total + logs
    if terms.last == "rounding":  # what is left over is itself rounded
        np.testing.assert_allclose(total, model.log_joint(batch)[0], rtol=1e-15)
    else:
        assert total.tobytes() == model.log_joint(batch)[0].tobytes()
    return dict(zip(terms.names[1:last], terms.array[0, 1:last], strict=True))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", [*ALONE, *TOGETHER, *UNTOLD])
def test_with_nothing_known_the_answer_is_the_prior(name: str, classes: int) -> None:
    model = fitted(name, classes=classes)
    attributes = [c.name for c in model.schema.attributes]
    rows: list[dict[str, Any]] = [{}, dict.fromkeys(attributes)]
    rows += [{n: cells[k % len(cells)] for n in attributes for cells in [unknown_cells(model, n)]} for k in range(4)]
    for row in rows:
        np.testing.assert_allclose(model.posterior(row).matrix[0], prior_of(model), rtol=1e-12, atol=0)
        if name not in UNTOLD:
            said = spoken(model, {n: row.get(n) for n in attributes})
            assert all((logs == 0.0).all() for logs in said.values()), (row, said)


@pytest.mark.parametrize("name", ALONE)
def test_an_unknown_cell_adds_exactly_nothing(name: str) -> None:
    model, data = fitted(name), with_words(training(0.0))
    shape = model.shape()
    whole = None if shape is None else sum_of(shape)
    terms = () if whole is None else whole[0].terms
    sets = {t.name: (t.names, isinstance(t, PairTable)) for t in terms if isinstance(t, (PairTable, TreeSum))}
    attributes, rng = [c.name for c in model.schema.attributes], np.random.default_rng(8)
    spoke = 0
    for k in range(60):
        row = {n: data[n][k] for n in attributes}
        hidden = [n for n in attributes if rng.random() < 0.5]
        for n in hidden:
            cells = unknown_cells(model, n)
            row[n] = cells[rng.integers(0, len(cells))]
        for called, logs in spoken(model, row).items():
            own, pair = sets.get(called, ((called,), False))
            # Larger sets speak of those that are known; of a pair nothing is left where one is not.
            silent = any(n in hidden for n in own) if pair else all(n in hidden for n in own)
            assert not silent or (logs == 0.0).all(), (called, row)
            spoke += not silent and bool(logs.any())
    assert spoke > 10


@pytest.mark.parametrize("name", [n for n in ALONE if n != "words"])
def test_the_ledger_has_no_line_for_what_is_unknown(name: str) -> None:
    model = fitted(name)
    names = [c.name for c in model.schema.attributes]
    known = names[0]
    ledger = likely.explain(model, {known: training(0.0)[known][0]})
    assert ledger.entries[0].kind == "prior"
    written = str(ledger).splitlines()
    start = next(k for k, line in enumerate(written) if line.strip().startswith("together"))
    others = [n.split(",")[0] for n in names[1:]]
    assert not any(other in line for line in written[: start + 1] for other in others if len(other) > 1)
    assert "Unknown, so left out" in written[start + 1]


@pytest.mark.parametrize("name", TOGETHER)
def test_unknown_cells_of_a_block_are_summed_out(name: str) -> None:
    """P(class, known cells) is the sum over the levels that the unknown cell may have."""
    model, data = fitted(name), training(0.0)
    for k in range(20):
        row = {n: data[n][k] for n in (SKY, WIND, COUNT, "z")}
        for n in (SKY, COUNT):
            each = [{**row, n: level} for level in model.levels(n)]
            (batch,) = model.batches({m: [r[m] for r in [{**row, n: None}, {**row, n: NEVER}, *each]] for m in row})
            joint = np.exp(model.log_joint(batch))
            np.testing.assert_allclose(joint[0], joint[2:].sum(axis=0), rtol=1e-9)
            np.testing.assert_array_equal(joint[0], joint[1])


@pytest.mark.parametrize("numbers", ["linear", "squares", "binned"])
@pytest.mark.parametrize("gaps", [0.0, 0.15])
def test_logistic_is_its_regression_measured_from_the_prior(numbers: Any, gaps: float) -> None:
    """The terms and the textbook's sum of weights give complete rows, and cells that the search has seen missing, the
    same probabilities."""
    model: Any = likely.fit(training(gaps), TARGET, likely.Logistic(numbers=numbers, missing="level"), types=TYPES)
    data = training(gaps)
    rows = [k for k in range(300) if data[SKY][k] is not None and data[COUNT][k] is not None]
    (batch,) = model.batches({n: [data[n][k] for k in rows] for n in (SKY, WIND, COUNT, "z")})
    scores = np.tile(model.weights[0], (len(rows), 1))
    for part in model.design.parts(model.weights):
        part.add(batch, scores)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(np.exp(model.log_joint(batch)), odds / odds.sum(axis=1, keepdims=True), atol=1e-13)
    np.testing.assert_array_equal(model.terms(batch).array[:, 0], np.tile(model.log_prior, (len(rows), 1)))


@pytest.mark.parametrize("numbers", ["linear", "squares", "binned"])
def test_what_logistic_learned_of_missing_numbers_is_evidence_where_it_is_told_so(numbers: Any) -> None:
    data = training(0.15)
    data[WIND] = [
        None if t == "class '1'" and k % 3 else v for k, (v, t) in enumerate(zip(data[WIND], data[TARGET], strict=True))
    ]
    data["z"] = training(0.0)["z"]
    model = likely.fit(data, TARGET, likely.Logistic(numbers=numbers, missing="level"), types=TYPES)
    said = spoken(model, dict.fromkeys((SKY, WIND, COUNT, "z")))
    assert said[WIND][1] - said[WIND][0] > 1  # where it is missing, the second class is likely
    assert not any(said[n].any() for n in (SKY, COUNT, "z"))
    assert model.posterior({}).prob("class '1'") > 2 * prior_of(model)[1]
    np.testing.assert_array_equal(spoken(model, {SKY: None, WIND: np.inf, COUNT: NEVER, "z": None})[WIND], said[WIND])
    usual = likely.fit(data, TARGET, likely.Logistic(numbers=numbers), types=TYPES)
    assert not any(one.any() for one in spoken(usual, dict.fromkeys((SKY, WIND, COUNT, "z"))).values())
    np.testing.assert_allclose(usual.posterior({}).matrix[0], prior_of(usual), atol=1e-12)


def test_where_no_attribute_says_anything_logistic_says_the_prior() -> None:
    same = likely.fit({"x": [5.0] * 4, "y": list("aaab")}, "y", likely.Logistic(), types={"x": "number"})
    one = likely.fit({"c": ["only"] * 4, "y": list("aaab")}, "y", likely.Logistic(), types={"c": "nominal"})
    for model, row in ((same, {"x": 5.0}), (same, {}), (one, {"c": "only"}), (one, {}), (one, {"c": "other"})):
        assert model.posterior(row).prob("a") == pytest.approx(0.75, rel=1e-9)


def test_words_that_are_unknown_add_nothing_beside_those_that_are_known() -> None:
    model = fitted("words")
    row = dict.fromkeys((SKY, WIND, COUNT, "z"))
    known = spoken(model, {**row, SAID: "w0x1 and"})[SAID]
    assert known.any()
    np.testing.assert_array_equal(spoken(model, {**row, SAID: "w0x1 nobody and 'knows' these"})[SAID], known)
