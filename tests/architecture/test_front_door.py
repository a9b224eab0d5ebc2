"""The front door: which names it shows, that each explains itself, and that opening it loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

# The public names of the package. A change here is a change for users: write it into CHANGELOG.md.
EXPECTED = [
    "Additive",
    "Auto",
    "TunedNaiveBayes",
    "LinearDiscriminant",
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
    "repeats",
    "Sureness",
    "sureness",
    "Window",
    "by_missing",
    "tables",
    "changes",
    "export",
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
