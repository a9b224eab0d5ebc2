"""The plan of the house, enforced: imports go one way, and each outside library has one room that may import it.

Reads the sources as text (ast) and imports nothing, so imports inside functions and under TYPE_CHECKING count too.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "likely"
MOST_FILES = 15


def _measure() -> ModuleType:
    """scripts/measure as a module: what counts circles and class tests, as a developer sees them too."""
    loader = SourceFileLoader("measure", str(ROOT / "scripts" / "measure"))
    spec = spec_from_loader("measure", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


MEASURE = _measure()

# From the lowest floor to the highest. A room imports from floors below its own; rooms on one floor may import
# each other in one direction only (test_rooms_form_no_circle).
FLOORS: tuple[frozenset[str], ...] = tuple(
    frozenset({room})
    for room in (
        "errors",
        "machinery",
        "table",
        "sums",
        "models",
        "intake",
        "apply",
        "evaluate",
        "portable",
        "present",
        "likely",  # the front door, likely/__init__.py
        "classroom",
        "spark",
        "sklearn",
        "web",
        "testing",
        "cli",
        "__main__",
    )
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

# Narrower than the floors say.
ALONE = {"machinery": {"errors"}}
FORBIDDEN = {("intake/engine.py", "models")}
PLAIN_PYTHON = ("classroom",)
"""Rooms without compiled loops."""

# The one place that may import each outside library: a folder (with the slash) or a file, relative to src/likely.
LIBRARIES = {
    "pyarrow": "table/",
    "duckdb": "table/",
    "adbc_driver_manager": "table/",
    "adbc_driver_postgresql": "table/",
    "adbc_driver_sqlite": "table/",
    "python_calamine": "table/formats/containers.py",
    "deltalake": "table/elsewhere.py",
    "pyiceberg": "table/elsewhere.py",
    "fsspec": "table/elsewhere.py",
    "pyspark": "spark/",
    "numba": "machinery/native/",
    "llvmlite": "machinery/native/",
    "msgspec": "sums/state.py",
    "click": "cli/",
    "rich": "cli/",
    "fastapi": "web/",
    "pydantic": "web/",
    "starlette": "web/",
    "uvicorn": "web/",
    "jinja2": "present/page/writing.py",
    "resvg_py": "present/charts/drawing.py",
    "sqlglot": "portable/languages/",
    "onnx": "portable/languages/",
    "sklearn": "sklearn/",
    "scipy": "sklearn/",
}
EVERYWHERE = {"numpy"}


class Import(NamedTuple):
    """One imported module: `lazy` when importing the file does not run it."""

    file: str
    line: int
    module: str
    lazy: bool

    def __str__(self) -> str:
        return f"src/likely/{self.file}:{self.line}: imports {self.module}"


def room_of(file: str) -> str:
    """The room of a file, given its path relative to src/likely: 'sums/state.py' is in sums."""
    if file == "__init__.py":
        return "likely"
    return file.split("/")[0].removesuffix(".py")


def room_named(module: str) -> str | None:
    """The room that a dotted name of ours leads to; None for the modules of others."""
    package, _, rest = module.partition(".")
    if package != "likely":
        return None
    first = rest.split(".")[0]
    # `from likely import fit` may mean the room or a name at the front door; a room wins.
    return first if first in FLOOR else "likely"


def imports_of(file: str, text: str) -> Iterator[Import]:
    """Every import in a source text, wherever it stands."""
    package = ["likely", *file.split("/")[:-1]]

    def visit(node: ast.AST, lazy: bool) -> Iterator[Import]:
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield Import(file, line, alias.name, lazy)
            case ast.ImportFrom(module=module, names=names, level=level):
                parts = package[: len(package) - level + 1] if level else []
                origin = ".".join([*parts, *([module] if module else [])])
                for alias in names:
                    yield Import(file, line, f"{origin}.{alias.name}", lazy)
            case ast.Call(
                func=ast.Name(id=called) | ast.Attribute(attr=called), args=[ast.Constant(value=str(name)), *_]
            ):
                if called in {"import_module", "__import__"} and not name.startswith("."):
                    yield Import(file, line, name, lazy)
        lazy = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            typing_only = isinstance(node, ast.If) and child in node.body and "TYPE_CHECKING" in ast.unparse(node.test)
            yield from visit(child, lazy or typing_only)

    yield from visit(ast.parse(text, filename=file), False)


def breach_of_floors(found: Import) -> str | None:
    """Why an import breaks the one-way rule, or None."""
    here, there = room_of(found.file), room_named(found.module)
    if there is None:
        return None
    if here not in FLOOR:
        return f"src/likely/{found.file}:{found.line}: the room {here} has no floor; give it one in FLOORS"
    if here == "likely":
        if FLOOR[there] > FLOOR[here] and there != "classroom":
            return f"{found}: the front door does not open onto {there}"
        if there not in {"errors", "likely"} and not found.lazy:
            return f"{found}: the front door imports rooms only inside functions, so that `import likely` stays light"
        return None
    if {(here, there), (found.file, there)} & FORBIDDEN:
        return f"{found}: {here} never imports {there}"
    if here in PLAIN_PYTHON and found.module.startswith("likely.machinery.jit"):
        return f"{found}: {here} is plain Python"
    if there != here and here in ALONE and there not in ALONE[here]:
        return f"{found}: {here} imports {', '.join(sorted(ALONE[here]))} of the house and nothing else"
    if there != here and FLOOR[there] > FLOOR[here]:
        return f"{found}: {here} is below {there}; imports go down only"
    return None


def breach_of_libraries(found: Import) -> str | None:
    """Why an import of an outside library stands in the wrong room, or None."""
    library = found.module.split(".")[0]
    if library == "likely" or library in EVERYWHERE or library in sys.stdlib_module_names:
        return None
    place = LIBRARIES.get(library)
    if place is None:
        return f"{found}: {library} has no room; give it one in LIBRARIES, or do without it"
    if found.file == place or (place.endswith("/") and found.file.startswith(place)):
        return None
    return f"{found}: {library} may be imported only in src/likely/{place}"


def circles(imports: list[Import]) -> list[str]:
    """The circles in the graph of rooms, as sentences (one at a time is enough to act on)."""
    graph: dict[str, set[str]] = {}
    for found in imports:
        here, there = room_of(found.file), room_named(found.module)
        if there is not None and there != here and here != "likely":
            graph.setdefault(here, set()).add(there)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        ring: list[str] = error.args[1]
        edges = {(later, earlier) for earlier, later in pairwise(ring)}
        lines = [str(found) for found in imports if (room_of(found.file), room_named(found.module)) in edges]
        return [f"rooms import each other in a circle ({' ← '.join(ring)}):", *lines]
    return []


@cache
def house() -> list[Import]:
    """Every import of the package."""
    found: list[Import] = []
    for path in sorted(SOURCE.rglob("*.py")):
        found += imports_of(path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8"))
    return found


@cache
def source_trees() -> dict[str, ast.Module]:
    """Every module of the package, read once for all who ask."""
    return {
        MEASURE.module_of(path, SOURCE): ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")
    }


def test_imports_go_one_way() -> None:
    breaches = [breach for found in house() if (breach := breach_of_floors(found))]
    assert not breaches, "\n".join(["the one-way rule is broken:", *breaches])


def test_rooms_form_no_circle() -> None:
    found = circles(house())
    assert not found, "\n".join(found)


def test_neither_files_nor_packages_form_a_circle() -> None:
    """Imports inside functions and for type checkers count: a circle that is hidden is still one."""
    packages = {MEASURE.module_of(path, SOURCE) for path in SOURCE.rglob("__init__.py")}
    found = all_circles(source_trees(), packages)
    assert not found, "\n".join(found)


def all_circles(trees: dict[str, ast.Module], packages: set[str]) -> list[str]:
    """Circles of files, and of packages seen from each folder, by scripts/measure."""
    graph, _ = MEASURE.import_graph(trees, packages)
    graph.pop("likely", None)  # the front door opens onto every room, and rooms take what is public from it
    graph = {here: there - {"likely"} for here, there in graph.items()}
    return [", ".join(ring) for ring in [*MEASURE.circles(graph), *MEASURE.package_circles(graph, packages)]]


@pytest.mark.parametrize(
    "files",
    [
        {"a/one.py": "from likely.a.two import x", "a/two.py": "def f():\n    from likely.a.one import y"},
        {
            "a/one.py": "from likely.a.b.two import x",
            "a/b/__init__.py": "",
            "a/b/two.py": "",
            "a/b/three.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from likely.a.one import y",
        },
    ],
)
def test_a_hidden_circle_is_found(files: dict[str, str]) -> None:
    files = {"__init__.py": "", "a/__init__.py": "", **files}
    trees = {MEASURE.module_of(SOURCE / file, SOURCE): ast.parse(text) for file, text in files.items()}
    assert all_circles(trees, {name for file, name in zip(files, trees, strict=True) if file.endswith("__init__.py")})


def test_no_folder_is_crowded() -> None:
    counts = {folder: len(list(folder.glob("*.py"))) - 1 for folder in SOURCE.rglob("*") if folder.is_dir()}
    crowded = [f"{folder.relative_to(SOURCE)}: {count}" for folder, count in counts.items() if count > MOST_FILES]
    assert not crowded, "\n".join([f"folders of more than {MOST_FILES} files; make rooms within rooms:", *crowded])


def test_nobody_outside_asks_a_model_for_its_class() -> None:
    found = MEASURE.class_tests(source_trees())
    assert not found, "\n".join(["models answer for themselves through contracts and shapes:", *found])


def test_outside_libraries_keep_to_their_rooms() -> None:
    breaches = [breach for found in house() if (breach := breach_of_libraries(found))]
    assert not breaches, "\n".join(["an outside library is in the wrong room:", *breaches])


def test_every_room_is_on_a_floor() -> None:
    rooms = {room_of(path.relative_to(SOURCE).as_posix()) for path in SOURCE.rglob("*.py")}
    assert rooms, f"no sources under src/{SOURCE.name}"
    assert rooms <= FLOOR.keys(), f"rooms without a floor in FLOORS: {sorted(rooms - FLOOR.keys())}"


# The rules are worth as much as the breaches they catch, so some are planted here.
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("table/schema.py", "from likely.sums import counts"),
        ("table/schema.py", "def f():\n    import likely.models.naive.product"),
        ("sums/exact.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..models import product"),
        ("models/prior.py", "from likely import fit"),
        ("models/prior.py", "from likely import NaiveBayes"),
        ("models/prior.py", "import importlib\nimportlib.import_module('likely.cli')"),
        ("intake/engine.py", "from ..models import product"),
        ("classroom/odds.py", "from likely.machinery.jit import kernel"),
        ("machinery/words.py", "from ..classroom import joint"),
        ("errors.py", "from . import machinery"),
        ("__init__.py", "from likely.table.schema import Schema"),
        ("__init__.py", "def main():\n    import likely.cli"),
        ("attic/old.py", "from likely import errors"),
    ],
)
def test_the_one_way_rule_catches(file: str, text: str) -> None:
    assert any(breach_of_floors(found) for found in imports_of(file, text))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("sums/exact.py", "import pyarrow as pa"),
        ("cli/commands/evaluate.py", "from duckdb import connect"),
        ("sums/kernels.py", "def f():\n    from numba import njit"),
        ("sums/summary.py", "import msgspec"),
        ("present/page/writing.py", "import rich.table"),
        ("models/prior.py", "import scipy.special"),
        ("table/source.py", "__import__('pandas')"),
    ],
)
def test_the_library_rule_catches(file: str, text: str) -> None:
    assert any(breach_of_libraries(found) for found in imports_of(file, text))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (
            "table/source.py",
            "import pyarrow.csv, duckdb, numpy, gzip\nfrom . import schema\nfrom likely.errors import InputError",
        ),
        ("machinery/native/inner.py", "import numba"),
        ("sums/state.py", "import msgspec\nfrom ..table.schema import Schema\nfrom ..machinery.jit import kernel"),
        (
            "__init__.py",
            "from .errors import LikelyError\ndef __getattr__(name):\n    from .apply.fitting import fit as f",
        ),
        ("__init__.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .apply.fitting import fit"),
        ("cli/commands/evaluate.py", "import click, rich\nimport likely\nfrom likely.present.report import contents"),
    ],
)
def test_the_rules_allow(file: str, text: str) -> None:
    for found in imports_of(file, text):
        assert breach_of_floors(found) is None
        assert breach_of_libraries(found) is None


def test_two_rooms_of_one_floor_may_not_import_each_other() -> None:
    one_way = list(imports_of("evaluate/crossval/folds.py", "from likely.apply.fitting import fit"))
    assert not circles(one_way)
    assert circles([*one_way, *imports_of("apply/fitting.py", "def f():\n    from ..evaluate import scores")])
