"""What learns where nobody says: one function decides, and every face asks it."""

from __future__ import annotations

import ast
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely
from likely.apply.fitting import load_model
from likely.apply.streams import follow
from likely.models.default import LEAST_ROWS, Default, default_learner, is_unasked

SOURCE = Path(likely.__file__).parent
ROWS = 120
TABLE = {"a": list(np.resize(["p", "q", "q"], ROWS)), "x": list(np.arange(ROWS) / 7), "t": list("xyy" * (ROWS // 3))}

# Every file outside models/ that lets something learn without being told what, and what for. Spark uses fitting.py.
FACES = {
    "apply/fitting.py": {"fit", "sums"},
    "apply/streams.py": {"sums"},
    "evaluate/curve.py": {"fit"},
    "evaluate/study.py": {"textbook"},
    "evaluate/doctor.py": {"doubt"},
    "evaluate/look.py": {"fit", "textbook"},
    "evaluate/compare.py": {"textbook"},
    "spark/fitting.py": {"sums"},
}


def purposes(text: str) -> set[str]:
    """The purposes for which a source text asks for the default learner."""
    out: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "default_learner":
            out |= {n.value for n in ast.walk(node.args[0]) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return out


def test_every_face_asks_the_one_function() -> None:
    found = {p.relative_to(SOURCE).as_posix(): purposes(p.read_text(encoding="utf-8")) for p in SOURCE.rglob("*.py")}
    assert {p: what for p, what in found.items() if what and not p.startswith("models/")} == FACES


def test_no_face_has_a_learner_of_its_own() -> None:
    """`learner or NaiveBayes()` and its kin are how the faces once drifted apart."""
    for path in SOURCE.rglob("*.py"):
        if path.relative_to(SOURCE).parts[0] == "models":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            parts = node.values[1:] if isinstance(node, ast.BoolOp) else [getattr(node, "body", None)]
            parts += [node.orelse] if isinstance(node, ast.IfExp) else []
            if isinstance(node, ast.BoolOp | ast.IfExp):
                made = [p.func.id for p in parts if isinstance(p, ast.Call) and isinstance(p.func, ast.Name)]
                assert not {"NaiveBayes", "Auto", "TunedNaiveBayes", "Density"} & set(made), f"{path}:{node.lineno}"


@pytest.mark.parametrize(
    ("rows", "name", "reason"),
    [
        (LEAST_ROWS - 1, "NaiveBayes", "few rows"),
        (LEAST_ROWS, "Auto", "chosen"),
        (300_000, "Auto", "chosen"),
    ],
)
def test_fit_goes_by_the_number_of_rows(rows: int, name: str, reason: str) -> None:
    table = {"a": np.resize(["p", "q", "q"], rows), "t": np.resize(["x", "y"], rows)}
    found = default_learner("fit", likely.summarize(table, "t"))
    assert (type(found.learner).__name__, found.reason) == (name, reason)


def test_other_tables_and_purposes() -> None:
    summary, without = likely.summarize(TABLE, "t"), likely.summarize(TABLE)
    words = likely.summarize({"a": ["one word", "two words"] * 60, "t": ["x", "y"] * 60}, "t", types={"a": "text"})
    assert default_learner("fit", without) == Default(likely.NaiveBayes(), "no target")
    assert default_learner("fit", words) == Default(likely.Auto(), "chosen")
    few = likely.summarize({"a": ["one word", "two words"], "t": ["x", "y"]}, "t", types={"a": "text"})
    assert default_learner("fit", few) == Default(likely.NaiveBayes(), "few rows")
    assert default_learner("fit", likely.summarize({"t": ["x", "y"]}, "t")).reason == "nothing to choose"
    assert default_learner("sums", summary) == default_learner("sums") == Default(likely.NaiveBayes(), "sums")
    textbook = Default(likely.NaiveBayes(), "textbook")
    assert default_learner("textbook", summary) == default_learner("textbook") == textbook
    assert default_learner("doubt", summary).learner == likely.TunedNaiveBayes()
    assert default_learner("doubt", words).learner == likely.NaiveBayes()


@pytest.mark.parametrize("rows", [LEAST_ROWS - 1, LEAST_ROWS])
def test_what_is_taken_unasked_is_told_from_what_was_named(rows: int) -> None:
    """The page asks, to write commands without a learner where none is needed."""
    summary = likely.summarize({"a": np.resize(["p", "q", "q"], rows), "t": np.resize(["x", "y"], rows)}, "t")
    usual = default_learner("fit", summary).learner
    for learner in (usual, likely.NaiveBayes(), likely.NaiveBayes(pseudo_count=2), likely.Auto(), likely.Auto(parts=3)):
        assert is_unasked(learner, summary) == (learner == usual)


def test_the_faces_take_what_it_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With another rule for everything, every face has another learner."""
    asked: list[str] = []
    other = likely.NaiveBayes(pseudo_count=0.25)

    def rule(purpose: str, summary: Any = None) -> Default:
        asked.append(purpose)
        return Default(other, "sums")

    for path in FACES:
        if not path.startswith("cli/"):
            room = import_module(f"likely.{path.removesuffix('.py').replace('/', '.')}")
            monkeypatch.setattr(room, "default_learner", rule)
    models = [likely.fit(TABLE, "t"), likely.fit(TABLE, schema=likely.summarize(TABLE, "t").schema)]
    likely.summarize(TABLE, "t").save(tmp_path / "s.likely")
    models.append(load_model(tmp_path / "s.likely"))
    models.append(likely.Window("t", rows=60).learn(TABLE).model)
    models.append(follow(BytesIO(b"a,t\n" + b"p,x\nq,y\n" * 9), "t", every=6, write=lambda model: None))
    assert all(model.learner == other for model in models)
    assert asked == ["fit", "fit", "sums", "sums", "sums"]
    asked.clear()
    assert "pseudo_count=0.25" in likely.look(TABLE, "t", folds=2).learner
    likely.curve(TABLE, "t", folds=2, steps=2)
    likely.repeats(TABLE, "t", folds=2, most=0)
    likely.doctor(TABLE, "t", folds=2)
    # A look at a table in which a column gives the class away is a look without that column as well.
    assert asked == [*["textbook", "fit", "fit"] * 2, "fit", "textbook", "doubt"]
