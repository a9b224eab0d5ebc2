"""Every export scores awkward rows as the model does, by really running it; what a language cannot say, it refuses.

Awkward: missing, unseen, extreme and badly spelled cells, and names that would break any text that is not quoted.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from conformance.databases import Duck, Lite, Postgres, postgres

import likely
from likely import Model
from likely.errors import SettingError

SKY, COUNT, WIND = "sky = [red] \"'; --", "n°", "wind, m/s"
TARGET = "to <b>play</b>?"
LEVELS = ["sun", "'); drop table x; --", 'a "b" c', "back\\slash", "ünï ☃", "<script>&amp;", "{x}%s", "true"]
CLASSES = ["no", "'yes'", "perhaps & <so>"]
TYPES = {SKY: "nominal", COUNT: "nominal of numbers", WIND: "number", "z": "number", TARGET: "nominal"}

Row = dict[str, Any]


def training(rows: int = 240, gaps: float = 0.08) -> dict[str, list[Any]]:
    rng = np.random.default_rng(11)
    target = rng.integers(0, 3, rows)
    sky = [LEVELS[(k + rng.integers(0, 5)) % len(LEVELS)] for k in target]
    gone = rng.random((rows, 4)) < gaps
    wind = 10 + 3 * target + rng.normal(size=rows) * (1 + target)
    z = np.round(np.exp(rng.normal(size=rows) * 2) * (1.5**target), 3)
    columns = [sky, rng.choice([0.0, 1.0, 2.5], rows).tolist(), wind.tolist(), z.tolist()]
    out = {
        name: [None if g else v for v, g in zip(column, gone[:, k], strict=True)]
        for k, (name, column) in enumerate(zip((SKY, COUNT, WIND, "z"), columns, strict=True))
    }
    return {**out, TARGET: [CLASSES[k] for k in target]}


ASKED: dict[str, list[Any]] = {
    SKY: [*LEVELS, "never seen", "'", "?", "NA", "", None, "SUN"],
    COUNT: [0.0, 1.0, 2.5, 7.0, -0.0, math.nan, None, 1e300],
    WIND: [10.0, 13.2, 16.0, None, math.nan, math.inf, -math.inf, 1e300, -1e300, 5e-324, 1e-200, 1e9, -40.0],
    "z": [0.0, 1.0, None, 1e-300, 1e154, -5.0, 1.7e308, 2.25, math.nan],
}


def asked() -> list[Row]:
    """All cells one by one beside ordinary ones, then some at random."""
    plain = {SKY: "sun", COUNT: 1.0, WIND: 12.0, "z": 1.0}
    rows = [plain, dict.fromkeys(plain)]
    rows += [{**plain, name: cell} for name, cells in ASKED.items() for cell in cells]
    rng = np.random.default_rng(3)
    rows += [{name: cells[rng.integers(0, len(cells))] for name, cells in ASKED.items()} for _ in range(40)]
    return rows


LEARNERS: dict[str, likely.NaiveBayes | Any] = {
    "naive": likely.NaiveBayes(),
    "without smoothing": likely.NaiveBayes(pseudo_count=0),
    "gaps as evidence": likely.NaiveBayes(missing="level", unseen="reserve"),
    "bins": likely.NaiveBayes(numbers="binned", bins_closed="right"),
    "kernels": likely.NaiveBayes(numbers="kernel"),
    "a block of levels": likely.NaiveBayes(blocks=((SKY, COUNT),), pseudo_count=0.5),
    "a block of bins": likely.NaiveBayes(
        blocks=((SKY, WIND, "z"),),
        numbers={WIND: "binned", "z": "binned"},
        bins={WIND: "frequency", "z": (0.5, 1.5)},
        bin_count=3,
        bins_closed="right",
        unseen="reserve",
        missing="level",
    ),
    "a table of bins": likely.FullBayes(density="table", bins="frequency", bin_count=3, pseudo_count=0.5),
    "a block of numbers": likely.NaiveBayes(blocks=((WIND, "z"),), missing="level"),
    "prior": likely.Prior(),
    "logistic": likely.Logistic(ridge=0.1),
    "linear": likely.LeastSquares(),
    "duels": likely.LeastSquares(mode="pairwise"),
    "tree": likely.TreeAugmented(),
    "additive": likely.Additive(rounds=20),
    "forest": likely.Forest(trees=5, leaves=12),
    "logistic, bins": likely.Logistic(ridge=0.1, numbers="binned"),
    "bins, cooled": likely.NaiveBayes(numbers="binned", temperature=0.5),
    "logistic, squares": likely.Logistic(ridge=0.1, numbers="squares"),
    # With missing="level" being missing has a weight, where training had gaps; else a missing cell is unknown.
    "logistic, gaps": likely.Logistic(ridge=0.1, missing="level"),
    "logistic, squares, gaps": likely.Logistic(ridge=0.1, numbers="squares", missing="level"),
    "logistic, bins, gaps": likely.Logistic(ridge=0.1, numbers="binned", missing="level"),
    "without gaps, logistic": likely.Logistic(missing="level", ridge=0.1),
    "without gaps, logistic, squares": likely.Logistic(missing="level", ridge=0.1, numbers="squares"),
    "without gaps, logistic, bins": likely.Logistic(missing="level", ridge=0.1, numbers="binned"),
    "pool": likely.Pool(
        (
            likely.NaiveBayes(),
            likely.TunedNaiveBayes(),
            likely.Logistic(),
            likely.Logistic(numbers="binned", ridge=3.0),
            likely.Logistic(numbers="squares", ridge=3.0),
            likely.Additive(order=2, rounds=30),
            likely.Additive(order="any", rounds=30),
        ),
        weights=(0.3, 0.2, 0.25, 0.4, 0.15, 0.5, 0.35),
    ),
    "pool of densities, lines and a block": likely.Pool(
        (
            likely.NaiveBayes(missing="level"),
            likely.Logistic(ridge=0.1, missing="level"),
            likely.NaiveBayes(blocks=((WIND, "z"),), missing="level"),
        ),
        weights=(0.3, 0.5, 0.4),
    ),
    "pool of tables": likely.Pool(
        (
            likely.NaiveBayes(numbers="binned"),
            likely.Logistic(numbers="binned", ridge=3.0),
            likely.Additive(order=2, rounds=30),
            likely.Additive(order="any", rounds=30),
            likely.Forest(trees=5, leaves=12),
        ),
        weights=(0.3, 0.4, 0.5, 0.35, 0.4),
    ),
}
SUMS = {
    "additive",
    "forest",
    "logistic, bins",
    "logistic, bins, gaps",
    "bins, cooled",
    "without gaps, logistic, bins",
    "pool of tables",
}
LINES = {"logistic", "linear", "logistic, squares", "without gaps, logistic", "without gaps, logistic, squares"}
LINES |= {"logistic, gaps", "logistic, squares, gaps"}
BINS = {"a block of bins", "a table of bins"}
POOLS = {"pool", "pool of densities, lines and a block"}
EVERYWHERE = {"naive", "without smoothing", "bins", "prior"}
SAID = {
    "sql": EVERYWHERE | {"gaps as evidence", "a block of levels", "a block of numbers"} | POOLS | BINS | LINES | SUMS,
    "onnx": EVERYWHERE
    | {"gaps as evidence", "kernels", "a block of levels", "a block of numbers"}
    | POOLS
    | BINS
    | LINES
    | SUMS,
    "pmml": EVERYWHERE - {"prior"} | SUMS | {"logistic", "without gaps, logistic", "logistic, gaps"},
    "json": set(LEARNERS),
    "python": set(LEARNERS),
    "javascript": set(LEARNERS),
}


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    data, whole = training(), training(gaps=0)
    return {
        name: likely.fit(whole if name.startswith("without gaps") else data, TARGET, learner, types=TYPES)
        for name, learner in LEARNERS.items()
    }


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres() as found:
        if found is None:
            pytest.skip("needs the programs of PostgreSQL (initdb, postgres, psql), and they cannot be had")
        yield found


# The model is kept beside its answer: the id of one that is gone may be given to the next.
WANTED: dict[tuple[int, str], tuple[Model, likely.Posterior]] = {}


def is_averaged(model: Model, row: Row) -> bool:
    """Whether a cell is unknown that the model averages over: languages with nothing but arithmetic have no answer."""
    if model.references is None:
        return False
    (batch,) = model.batches(model.table_of_one(row))
    cells = [batch.cells[axis.name] for axis in model.references.axes]
    gone = [bool(own.codes[0] == -1) if hasattr(own, "codes") else not math.isfinite(own[0]) for own in cells]
    return any(gone) and not all(gone) and gone not in model.references.usual.tolist()


def agree(
    model: Model, row: Row, chances: list[float], prediction: str | None, close: float = 1e-9, ties: bool = True
) -> None:
    """The same probabilities, and the same class: of equals the first, where a language can say so (`ties`)."""
    key = id(model), repr(row)
    if key not in WANTED:
        WANTED[key] = model, model.posterior(row)
    wanted = WANTED[key][1]
    assert chances == pytest.approx(wanted.matrix[0].tolist(), abs=close), row
    best = sorted(wanted.matrix[0])[::-1]
    if best[0] - best[1] > close or wanted.undefined[0] or (ties and best[0] == best[1]):
        assert prediction == wanted.best, row


@pytest.mark.parametrize("to", SAID)
def test_what_a_language_cannot_say_is_refused_with_a_sentence(models: dict[str, Model], to: Any) -> None:
    for name, model in models.items():
        if name in SAID[to]:
            assert likely.export(model, to)
            assert likely.export(model, to) == likely.export(model, to)
        elif (to, name) != ("pmml", "prior"):
            with pytest.raises(SettingError, match=r"^[A-Z].* cannot .*\. |PMML (leaves|says)") as found:
                likely.export(model, to)
            assert str(found.value).endswith(".")


# -- SQL ------------------------------------------------------------------------------------------------------------

COLUMNS = ["id", SKY, COUNT, WIND, "z"]
KINDS = ["integer", "text", "double precision", "double precision", "double precision"]
TABLE = "the rows; drop"


def in_sql(base: Any, model: Model, dialect: str | None) -> None:
    query = likely.export(model, "sql", dialect=dialect, table=f'"{TABLE}"', keep=["id"])
    rows = asked()
    found = base.run(query, TABLE, COLUMNS, KINDS, [[k, *(row[c] for c in COLUMNS[1:])] for k, row in enumerate(rows)])
    assert len(found) == len(rows)
    for key, prediction, *chances in found:
        if is_averaged(model, rows[int(key)]):
            assert prediction is None and chances == [None] * len(model.classes)
            continue
        agree(model, rows[int(key)], [float(p) for p in chances], prediction)


@pytest.mark.parametrize("base", [Duck, Lite])
@pytest.mark.parametrize("name", sorted(SAID["sql"]))
def test_sql_in_this_process(models: dict[str, Model], name: str, base: Any) -> None:
    in_sql(base(), models[name], base.dialect)


@pytest.mark.parametrize(("name", "base"), zip(sorted(SAID["sql"]), cycle([Duck, Lite]), strict=False))
def test_sql_of_no_dialect(models: dict[str, Model], name: str, base: Any) -> None:
    in_sql(base(), models[name], None)


@pytest.mark.parametrize("name", sorted(SAID["sql"]))
def test_sql_in_postgresql(models: dict[str, Model], name: str, server: Postgres) -> None:
    for dialect in (None, "postgres"):
        in_sql(server, models[name], dialect)


def test_sql_of_numbers_at_both_ends_of_the_range(server: Postgres) -> None:
    # PostgreSQL raises an error where a product is too large or too small for a double.
    ends = [1e300, 5e-324, -1.7e308, 1e-200, 0.0, 3.5]
    data = {"x": ends * 6, "t": ["a", "b", "c", "b"] * 9}
    rows = [{"x": v} for v in (*ends, 1.7e308, 1e154, 1e-290, -5e-324, None)]
    for learner in (likely.NaiveBayes(), likely.Logistic(), likely.LeastSquares()):
        model = likely.fit(data, "t", learner, types={"x": "number"})
        found = server.run(likely.export(model, "sql"), "rows", ["x"], ["double precision"], [[r["x"]] for r in rows])
        for row, (_, prediction, *chances) in zip(rows, found, strict=True):
            agree(model, row, [float(p) for p in chances], prediction)


@pytest.mark.parametrize("learner", [likely.FullBayes(), likely.LinearDiscriminant()])
def test_normal_densities_of_several_numbers(learner: Any, server: Postgres) -> None:
    rng = np.random.default_rng(2)
    names, mixed = ["a", "b", "c", "d"], rng.normal(size=(4, 4))
    x = rng.normal(size=(200, 4)) @ mixed + 1e6
    target = [("u", "v", "w")[k] for k in (x[:, 0] + x[:, 1] > 2e6) + (x[:, 2] > 1e6).astype(int)]
    gone = rng.random((200, 4)) < 0.1
    columns = {
        n: [None if g else float(v) for v, g in zip(x[:, k], gone[:, k], strict=True)] for k, n in enumerate(names)
    }
    model = likely.fit({**columns, "t": target}, "t", learner, types=dict.fromkeys(names, "number"))
    every = [{n: float(x[k, j]) if k >> j & 1 else None for j, n in enumerate(names)} for k in range(16)]
    rows: list[Row] = [*every, *({**every[15], "a": v} for v in (1e300, -1.7e308, 5e-324, math.inf, math.nan, 1e6))]
    cells = [[row[n] for n in names] for row in rows]
    for base in (Duck(), Lite(), server):
        query = likely.export(model, "sql")
        found = base.run(query, "rows", names, ["double precision"] * 4, cells)
        for row, (*_, prediction, a, b, c) in zip(rows, found, strict=True):
            agree(model, row, [float(a), float(b), float(c)], prediction)
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(likely.export(model, "onnx"))
    feed = {n: np.array([[math.nan if r[n] is None else r[n]] for r in rows]) for n in names}
    for row, prediction, own in zip(rows, *session.run(None, feed), strict=True):
        agree(model, row, own.tolist(), prediction or None)
    wide = {f"n{k}": rng.normal(size=60).tolist() for k in range(7)}
    many = likely.fit({**wide, "t": ["a", "b"] * 30}, "t", learner, types=dict.fromkeys(wide, "number"))
    for to in ("sql", "onnx"):
        with pytest.raises(SettingError, match="7 numbers together"):
            likely.export(many, to)  # type: ignore[arg-type]


def test_sql_of_dates(server: Postgres) -> None:
    days = ["2020-01-31", "2020-02-01", "2021-07-01", "2021-08-02", "2019-12-31"] * 4
    model = likely.fit({"day": days, "t": [d[:4] > "2020" for d in days]}, "t", types={"day": "date"})
    rows = [{"day": d} for d in ("2020-01-31", "2021-12-31", "1969-12-31", None)]
    with pytest.raises(SettingError, match="dialect='postgres'"):
        likely.export(model, "sql")
    for base in (Duck(), Lite(), server):
        kind = "date" if base.dialect != "sqlite" else "text"
        query = likely.export(model, "sql", dialect=base.dialect, table="t")
        for day, prediction, *chances in base.run(query, "t", ["day"], [kind], [[r["day"]] for r in rows]):
            agree(model, {"day": None if day is None else str(day)}, [float(p) for p in chances], prediction)


def test_sql_reads_cells_as_the_model_does(models: dict[str, Model]) -> None:
    query = likely.export(models["naive"], "sql")
    rows = [[f"\u00a0{LEVELS[1]}\t", 2.5, 12.0, 1.0], [" ? ", 1.0, 12.0, 1.0]]
    found = Lite().run(query, "rows", COLUMNS[1:], KINDS[1:], rows)
    for row, (*_, prediction, a, b, c) in zip(rows, found, strict=True):
        agree(models["naive"], dict(zip(COLUMNS[1:], row, strict=True)), [a, b, c], prediction)
    assert found[0][:4] == tuple(rows[0])  # without `keep`, the attributes are given back


def test_sql_of_many_classes_and_attributes() -> None:
    rng = np.random.default_rng(0)
    data = {f"a{k}": rng.integers(0, 2, 300).astype(str).tolist() for k in range(40)}
    data["t"] = [f"c{k}" for k in rng.integers(0, 9, 300)]
    model = likely.fit(data, "t", likely.NaiveBayes(), types={f"a{k}": "nominal" for k in range(40)})
    row = {name: cells[0] for name, cells in data.items() if name != "t"}
    query = likely.export(model, "sql", keep=["a0"])
    ((_, prediction, *chances),) = Duck().run(query, "rows", list(row), ["text"] * 40, [list(row.values())])
    agree(model, row, chances, prediction)


@pytest.mark.parametrize("table", ["", "a.b.c.d", 'x"', "a..b", "nul\0"])
def test_sql_refuses_what_is_no_table_or_column(models: dict[str, Model], table: str) -> None:
    with pytest.raises(SettingError, match="is not a table"):
        likely.export(models["naive"], "sql", table=table)
    with pytest.raises(SettingError, match="Did you mean 'postgres'"):
        likely.export(models["naive"], "sql", dialect="postgre")
    with pytest.raises(SettingError, match="is of SQL"):
        likely.export(models["naive"], "json", table="x")


# -- ONNX -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(SAID["onnx"]))
def test_onnx(models: dict[str, Model], name: str) -> None:
    in_onnx(models[name])


def run_onnx(written: bytes, rows: list[Row]) -> Iterator[tuple[Row, str, list[float]]]:
    """Each row, with what the graph says of it."""
    runtime = pytest.importorskip("onnxruntime")
    runtime.set_default_logger_severity(3)
    session = runtime.InferenceSession(written)
    feed: dict[str, Any] = {}
    for one in session.get_inputs():
        if one.type == "tensor(string)":
            feed[one.name] = np.array([[r[one.name] or ""] for r in rows], object)
        else:
            feed[one.name] = np.array([[math.nan if r[one.name] is None else r[one.name]] for r in rows], np.float64)
    predictions, chances = session.run(["prediction", "probabilities"], feed)
    yield from zip(rows, predictions, chances.tolist(), strict=True)


def in_onnx(model: Model) -> None:
    written = likely.export(model, "onnx")
    for row, prediction, own in run_onnx(written, asked()):
        if is_averaged(model, row):
            assert not prediction and all(map(math.isnan, own))
            continue
        agree(model, row, own, prediction or None)
    described = pytest.importorskip("onnxruntime").InferenceSession(written).get_modelmeta().custom_metadata_map
    assert json.loads(described["classes"]) == list(model.classes) and described["target"] == TARGET


# -- PMML -----------------------------------------------------------------------------------------------------------

PMML = "{http://www.dmg.org/PMML-4_4}"
CHILDREN = {
    "PMML": [
        "Header",
        "DataDictionary",
        "TransformationDictionary",
        "MiningModel",
        "NaiveBayesModel",
        "RegressionModel",
    ],
    "MiningModel": ["MiningSchema", "Output", "Segmentation"],
    "Segment": ["True", "MiningModel", "TreeModel", "RegressionModel"],
    "TreeModel": ["MiningSchema", "Output", "Node"],
    "RegressionModel": ["MiningSchema", "Output", "RegressionTable"],
    "RegressionTable": ["NumericPredictor", "CategoricalPredictor"],
    "MapValues": ["FieldColumnPair", "InlineTable"],
    "NaiveBayesModel": ["MiningSchema", "Output", "BayesInputs", "BayesOutput"],
    "BayesInput": ["DerivedField", "TargetValueStats", "PairCounts"],
    "DiscretizeBin": ["Interval"],
    "PairCounts": ["TargetValueCounts"],
    "TargetValueStat": ["GaussianDistribution"],
}
REQUIRED = {
    "PMML": {"version"},
    "DataField": {"name", "optype", "dataType"},
    "Value": {"value"},
    "NaiveBayesModel": {"functionName", "threshold"},
    "MiningField": {"name"},
    "OutputField": {"name", "dataType", "feature"},
    "BayesInput": {"fieldName"},
    "RegressionModel": {"functionName"},
    "MiningModel": {"functionName"},
    "TreeModel": {"functionName"},
    "Segmentation": {"multipleModelMethod"},
    "RegressionTable": {"intercept"},
    "NumericPredictor": {"name", "coefficient"},
    "CategoricalPredictor": {"name", "value", "coefficient"},
    "MapValues": {"outputColumn"},
    "FieldColumnPair": {"field", "column"},
    "BayesOutput": {"fieldName"},
    "DerivedField": {"optype", "dataType"},
    "Discretize": {"field"},
    "DiscretizeBin": {"binValue"},
    "Interval": {"closure"},
    "PairCounts": {"value"},
    "TargetValueCount": {"value", "count"},
    "TargetValueStat": {"value"},
    "GaussianDistribution": {"mean", "variance"},
}


@pytest.mark.parametrize("name", sorted(SAID["pmml"]))
def test_pmml_keeps_to_its_schema(models: dict[str, Model], name: str) -> None:
    root = ElementTree.fromstring(likely.export(models[name], "pmml"))
    assert root.tag == PMML + "PMML" and root.get("version") == "4.4"
    for element in root.iter():
        kind = element.tag.removeprefix(PMML)
        assert REQUIRED.get(kind, set()) <= element.attrib.keys(), kind
        if kind in CHILDREN:
            order = [CHILDREN[kind].index(child.tag.removeprefix(PMML)) for child in element]
            assert order == sorted(order), kind
    fields = root.findall(f".//{PMML}DataField")
    assert root.find(f".//{PMML}DataDictionary").get("numberOfFields") == str(len(fields))
    named = {field.get("name") for field in fields}
    top = root[-1].find(PMML + "MiningSchema")  # models of segments may also use what those before them put out
    assert {e.get("name") for e in top} == named
    put_out = {e.get("name") for e in root.iter(PMML + "OutputField")}
    assert {e.get("name") for e in root.iter(PMML + "MiningField")} <= named | put_out
    assert named == {SKY, COUNT, WIND, "z", TARGET} or name == "additive"  # which may find nothing in some of them


def test_pmml_by_another_program(models: dict[str, Model]) -> None:
    if shutil.which("java") is None:
        pytest.skip("needs Java, and there is none")
    for name in sorted(SAID["pmml"]):
        in_pmml(models[name])


def in_pmml(model: Model) -> None:
    text = likely.export(model, "pmml")
    assert ("rows without unknown cells" in text) == (model.references is not None)
    held = pytest.importorskip("pypmml").Model.fromString(text)
    for row in asked():
        (batch,) = model.batches(model.table_of_one(row))
        if model.log_joint(batch).max() < -600:
            continue  # that program multiplies densities, which vanish so far out
        if not model.generative and any(isinstance(v, float) and 1e6 < abs(v) < math.inf for v in row.values()):
            continue  # nor does it take the largest score out before it takes powers of e
        cells = {k: v for k, v in row.items() if v is not None and v == v and v not in (math.inf, -math.inf)}
        if COUNT in cells:
            cells[COUNT] = str(int(cells[COUNT])) if float(cells[COUNT]).is_integer() else str(cells[COUNT])
        if is_averaged(model, row):
            continue  # PMML is for complete rows, and says so
        found = held.predict(cells)
        # The program that reads PMML names the class itself, of equals whichever rounding favours.
        agree(model, row, [found[f"p({c})"] for c in model.classes], found["prediction"], ties=False)


# -- Python ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_python_by_itself(models: dict[str, Model], name: str, tmp_path: Path) -> None:
    likely.export(models[name], "python", tmp_path / "model.py")
    program = (
        "import json, runpy, sys; m = runpy.run_path(sys.argv[1]); "
        "print(json.dumps([[m['predict'](r), [*m['posterior'](r).values()]] for r in json.load(sys.stdin)]))"
    )
    # -S and -I: nothing that is installed can be imported, so the file stands alone.
    words = [sys.executable, "-S", "-I", "-c", program, tmp_path / "model.py"]
    done = subprocess.run(words, input=json.dumps(asked()), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for row, (prediction, chances) in zip(asked(), json.loads(done.stdout), strict=True):
        agree(models[name], row, chances, prediction)


def test_what_is_not_installed_is_named(models: dict[str, Model], monkeypatch: pytest.MonkeyPatch) -> None:
    for to, library in (("sql", "sqlglot"), ("onnx", "onnx")):
        with monkeypatch.context() as patch:
            for name in [
                n for n in sys.modules if n.startswith("likely.portable.languages.") and not n.endswith(".export")
            ]:
                patch.delitem(sys.modules, name)
            patch.setitem(sys.modules, library, None)
            with pytest.raises(SettingError, match=rf"pip install 'likely\[{to}\]'"):
                likely.export(models["naive"], to)  # type: ignore[arg-type]
        assert likely.export(models["naive"], to)  # type: ignore[arg-type]


def test_a_density_has_no_class_to_name() -> None:
    model = likely.fit({"a": ["x", "y"] * 9, "b": ["u", "v"] * 9}, learner=likely.Density())
    for to in ("sql", "onnx", "pmml"):
        with pytest.raises(SettingError, match="no classes"):
            likely.export(model, to)  # type: ignore[arg-type]
    assert likely.export(model, "python") and likely.export(model, "json")


def test_extreme_models_are_told_or_refused() -> None:
    huge = {"x": [1e300, -1e300, 1e299, 2e299] * 5, "t": ["a", "b", "a", "b"] * 5}
    model = likely.fit(huge, "t", types={"x": "number"})
    with pytest.raises(SettingError, match="beyond a double"):
        likely.export(model, "pmml")
    query = likely.export(model, "sql")
    rows: list[Row] = [{"x": v} for v in (1e300, -1.7e308, 0.0, 1.7e308, 5e-324)]
    for row, (_, prediction, *chances) in zip(
        rows, Duck().run(query, "rows", ["x"], ["double"], [[r["x"]] for r in rows]), strict=True
    ):
        agree(model, row, chances, prediction)
    odd = likely.fit({"a": ["x\0", "y", "z"] * 9, "t": ["a", "b", "c"] * 9}, "t", types={"a": "nominal"})
    for to in ("sql", "pmml"):
        with pytest.raises(SettingError, match=r"cannot hold|zero character"):
            likely.export(odd, to)  # type: ignore[arg-type]
    refusing = likely.fit(training(), TARGET, likely.NaiveBayes(unseen="error"), types=TYPES)
    for to in ("sql", "onnx", "pmml"):
        with pytest.raises(SettingError, match="cannot refuse a row"):
            likely.export(refusing, to)  # type: ignore[arg-type]
