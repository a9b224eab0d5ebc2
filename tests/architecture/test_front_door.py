"""The front door: which names it shows, that each explains itself, and that opening it loads nothing heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import likely
from likely.models.registry import FAMILY

# The public names of the package. A change here is a change for users: write it into CHANGELOG.md.
EXPECTED = [
    "Additive",
    "Auto",
    "TunedNaiveBayes",
    "LinearDiscriminant",
    "Forest",
    "FullBayes",
    "Density",
    "Decision",
    "Loss",
    "ask",
    "decide",
    "doctor",
    "drift",
    "Knowledge",
    "LikelyError",
    "LeastSquares",
    "Logistic",
    "TextLogistic",
    "Regression",
    "regress",
    "Model",
    "NaiveBayes",
    "Neighbors",
    "Mixture",
    "Gibbs",
    "OneDependence",
    "OneRule",
    "Pool",
    "Posterior",
    "Prior",
    "Schema",
    "Summary",
    "Text",
    "Tokens",
    "TreeAugmented",
    "compare",
    "counterfactual",
    "database",
    "Counterfactual",
    "Curve",
    "curve",
    "explain",
    "Ledger",
    "fit",
    "learn",
    "joint",
    "load",
    "look",
    "plot",
    "summarize",
    "remarks",
    "repeats",
    "Sureness",
    "sureness",
    "Window",
    "by_missing",
    "tables",
    "changes",
    "export",
    "card",
    "straight_line",
    "two_numbers",
]

HEAVY = ["numba", "pyarrow.dataset", "sklearn", "duckdb", "rich", "pandas"]


def loaded_by(statement: str) -> set[str]:
    """The modules that a fresh process holds after a statement."""
    program = f"{statement}\nimport sys\nprint(*sorted(sys.modules), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines())


def test_the_front_door_shows_exactly_the_expected_names() -> None:
    import likely

    assert sorted(likely.__all__) == sorted(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_every_public_name_has_a_docstring(name: str) -> None:
    import likely

    # The class's own text: what it would inherit from object or from Exception explains nothing.
    thing = getattr(likely, name)
    text = vars(thing).get("__doc__") if isinstance(thing, type) else thing.__doc__
    assert text and text.strip(), f"likely.{name} has no docstring"


def test_opening_the_front_door_loads_nothing_heavy() -> None:
    loaded = loaded_by("import likely")
    assert "likely" in loaded
    present = [module for module in HEAVY if module in loaded]
    assert not present, f"`import likely` loads {', '.join(present)}; import them where they are used"


def test_rooms_do_not_hide_public_names() -> None:
    # Python binds likely.fit to the module once anything imports likely/fit.py; the public function must survive that.
    program = (
        "import importlib, pkgutil, types, likely\n"
        "for found in pkgutil.iter_modules(likely.__path__, 'likely.'):\n"
        "    if found.name.removeprefix('likely.') in likely.__all__:\n"
        "        importlib.import_module(found.name)\n"
        "print(*[name for name in likely.__all__ if isinstance(getattr(likely, name), types.ModuleType)])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stdout.split(), f"public names hidden by modules of the same name: {done.stdout.strip()}"


def test_what_type_checkers_see_of_learners_is_what_is_registered() -> None:
    """The one exception to "a learner is registered in one line": checkers read imports, not tables."""
    tree = ast.parse(Path(likely.__file__).read_text(encoding="utf-8"))
    seen = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in FAMILY
    }
    assert seen == {name: f"likely.models.{entry.learner}" for name, entry in FAMILY.items()}


def test_every_registered_face_is_a_class_of_its_learner() -> None:
    faces = pytest.importorskip("likely.sklearn")
    registered = {entry.face: name for name, entry in FAMILY.items() if entry.face}
    named = {name for name in faces.__all__ if hasattr(getattr(faces, name), "_maker")}
    assert named == registered.keys()
    assert {name: getattr(faces, name)._maker.__name__ for name in registered} == registered
